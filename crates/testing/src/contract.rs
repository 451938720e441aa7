//! The contract that every policy must keep. One call checks it: [`check`].
//!
//! A toy association drives a scheme with random but legal signals, and then lets everything recover. The toy
//! association has chunks, SACKs, T3, and paths that lose packets, fail, leave, join and are suspended. After the
//! recovery, the toy association sends signals that make no sense. The test asserts the following properties:
//! - The scheme makes progress from estimates that are all `None`. If data wait and none are in flight, something is
//!   sent within a second. Once all paths work, everything is delivered.
//! - `poll_timeout` returns a later time after each `Tick`.
//! - Equal input gives equal output: two runs with one seed agree in every decision.
//! - Assignments, retransmissions, SACKs and probes name paths that are not closed.
//! - Limits of active paths are not zero. Pacing rates and estimates are finite.
//! - `overhead` covers the reports that precede DATA. `reports` and `probe` come to an end.
//! - Chosen symbols ([`Scheduler::next_symbol`](strandcast_proto::policy::Scheduler::next_symbol)) belong to blocks in
//!   the view. Source symbols were not sent before, and repair symbols are of closed blocks. While the view has blocks
//!   and nothing is in flight, a symbol is chosen within a second, and all blocks arrive. Repair symbols
//!   ([`Scheduler::next_repair`](strandcast_proto::policy::Scheduler::next_repair)) take open paths.
//! - Actions ([`Policy::act`](strandcast_proto::policy::Policy::act)) end after a limited number of calls each time,
//!   and do not prevent data from arriving.
//! - No input causes a panic.
//!
//! A failure prints the seed, and the line that runs only the failing case.

mod harness;
mod loss;
mod model;
mod nonsense;
mod sack;
mod sender;
mod symbols;
#[cfg(test)]
mod tests;

use model::Model;
use strandcast_proto::policy::Scheme;

/// Number of cases that one call runs.
const CASES: u64 = 8;

/// Runs the contract test on schemes that the function `build` creates. Each case gets a new scheme.
///
/// # Panics
/// Panics if a scheme violates the contract.
pub fn check(name: &str, build: impl Fn() -> Box<dyn Scheme>) {
    for seed in 0..CASES {
        replay(name, seed, &build);
    }
}

/// Runs one case of [`check`] again.
///
/// # Panics
/// Panics if the scheme violates the contract.
pub fn replay(name: &str, seed: u64, build: impl Fn() -> Box<dyn Scheme>) {
    let _on_panic = Replay { name, seed };
    case(name, seed, build);
}

/// Runs one case. Only the panic itself writes to standard error, for callers that report a failure in another form.
///
/// # Panics
/// Panics if the scheme violates the contract.
pub fn case(name: &str, seed: u64, build: impl Fn() -> Box<dyn Scheme>) {
    let first = Model::run(seed, [build(), build()]);
    let second = Model::run(seed, [build(), build()]);
    assert_eq!(first, second, "{name}: same input, other output");
    let first = symbols::run(seed, build());
    assert_eq!(first, symbols::run(seed, build()), "{name}: same input, other symbols");
    nonsense::run(seed, build().as_mut());
}

/// Prints how to run a case again if the case failed.
struct Replay<'a> {
    name: &'a str,
    seed: u64,
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Replay { name, seed } = self;
            eprintln!("contract broken by {name}; again: contract::replay({name:?}, {seed}, build)");
        }
    }
}
