//! The contract test on a policy in Python.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use strandcast_proto::seeds::Seeds;
use strandcast_testing::contract::case;

use super::catalog::plan;
use super::failure::Failure;
use super::scheme::Factory;
use crate::error;

thread_local! {
    /// True if this thread's panics are reported as exceptions.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs one case of the contract test. Returns the first sentence about a broken rule, and the
/// exception that broke it. Returns `None` if no rule is broken.
#[pyfunction]
pub(crate) fn contract_case(
    py: Python<'_>,
    name: String,
    base: String,
    make: Py<PyAny>,
    seed: u64,
) -> PyResult<Option<(String, Option<Py<PyAny>>)>> {
    let failure = Arc::new(Failure::default());
    let factory = Arc::new(Factory { name: name.clone(), base, make });
    let plan = plan(&factory, "", &[], &failure).map_err(|e| error::scheme(py, &format!("{name}: {e}")))?;
    let seeds = Seeds::new(seed, 0);
    let kept = quietly(|| case(&name, seed, || (plan.build)(&seeds)));
    py.check_signals()?;
    match (failure.take(), kept) {
        (Some(raised), _) if !raised.is_instance_of::<PyException>(py) => Err(raised),
        (Some(raised), _) => {
            let told = format!("{}: {}", raised.get_type(py).name()?, raised.value(py));
            Ok(Some((told, Some(raised.into_value(py).into_any()))))
        }
        (None, Err(panic)) => Ok(Some((sentence(&*panic), None))),
        (None, Ok(())) => Ok(None),
    }
}

/// Runs a function whose panics are not printed on standard error.
fn quietly<R>(what: impl FnOnce() -> R) -> std::thread::Result<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    QUIET.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(what));
    QUIET.set(false);
    outcome
}

/// Returns the message of a broken assertion, without the state after it.
fn sentence(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
    let line = text.lines().next().unwrap_or(text);
    let line = line.strip_prefix("assertion `left == right` failed: ").unwrap_or(line);
    match line.rsplit_once(": ") {
        Some((said, state)) if state.ends_with('{') => said.to_owned(),
        _ => line.to_owned(),
    }
}
