//! The contract every policy must keep, as one call: [`check`].
//!
//! A toy association (paths that lose, fail, leave, join and are suspended; chunks; SACKs; T3) drives a scheme with
//! random but legal signals, then lets everything recover; after that it sends signals that make no sense. The test
//! asserts:
//! - progress from all-`None` estimates: with nothing in flight and data waiting something is sent within a second,
//!   and once all paths work everything is delivered;
//! - `poll_timeout` moves on after each Tick;
//! - same input, same output: two runs from one seed agree in every decision;
//! - assignments, retransmissions, SACKs and probes name paths that are not closed;
//! - limits of active paths are not zero, pacing rates and estimates are finite;
//! - `overhead` covers the reports that precede DATA; `reports` and `probe` come to an end;
//! - symbols chosen ([`Scheduler::next_symbol`](strandcast_proto::policy::Scheduler::next_symbol)) are of blocks shown, source symbols of those not
//!   sent, repair symbols of closed blocks; while blocks are shown and nothing is in flight one is chosen within a second,
//!   and all blocks arrive; repair symbols ([`Scheduler::next_repair`](strandcast_proto::policy::Scheduler::next_repair)) go to open paths;
//! - acts ([`Policy::act`](strandcast_proto::policy::Policy::act)) come to an end each time, and do not keep data from arriving;
//! - no panic, whatever comes.
//!
//! A failure prints the seed and the line that runs this case alone.

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

/// Cases a call runs.
const CASES: u64 = 8;

/// Runs the contract test on the scheme that `build` gives, each time a new one.
///
/// # Panics
/// When the contract is broken.
pub fn check(name: &str, build: impl Fn() -> Box<dyn Scheme>) {
    for seed in 0..CASES {
        replay(name, seed, &build);
    }
}

/// Runs one case of [`check`] again.
///
/// # Panics
/// When the contract is broken.
pub fn replay(name: &str, seed: u64, build: impl Fn() -> Box<dyn Scheme>) {
    let _on_panic = Replay { name, seed };
    case(name, seed, build);
}

/// Runs one case, without output on standard error except the panic's own: for callers that report it in another way.
///
/// # Panics
/// If the contract is broken.
pub fn case(name: &str, seed: u64, build: impl Fn() -> Box<dyn Scheme>) {
    let first = Model::run(seed, [build(), build()]);
    let second = Model::run(seed, [build(), build()]);
    assert_eq!(first, second, "{name}: same input, other output");
    let first = symbols::run(seed, build());
    assert_eq!(first, symbols::run(seed, build()), "{name}: same input, other symbols");
    nonsense::run(seed, build().as_mut());
}

/// Says how to run a case again when it failed.
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
