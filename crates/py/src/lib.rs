//! `strandcast._native`: scenarios, runs, policies written in Python, and the command. The Python
//! package uses this module, and documents and types the parts that it exports.

mod check;
#[cfg(feature = "command")]
mod command;
mod error;
mod explain;
#[cfg(feature = "command")]
mod live;
mod policy;
mod results;
mod runs;
mod source;
mod stats;
mod traces;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::check::{check, schemes, warnings};
    #[cfg(feature = "command")]
    #[pymodule_export]
    use super::command::{command, perf};
    #[pymodule_export]
    use super::explain::explain;
    #[cfg(feature = "command")]
    #[pymodule_export]
    use super::live::{Drain, Feeder, KeyStore, Stream, Waiter, receive, send};
    #[pymodule_export]
    use super::policy::{
        Act, Assignment, Backlog, Block, Blocked, Chunk, Flight, Limit, MessageHead, Path, RepairOffer,
        Signal, Symbol, SymbolAssignment, Tariff, Transmission, View, contract_case,
    };
    #[pymodule_export]
    use super::results::{Results, Table};
    #[pymodule_export]
    use super::runs::run;
    #[pymodule_export]
    use super::source::{Source, canonical, parse_amount};
    #[pymodule_export]
    use super::stats::{metrics, sign_tests, stat, unit};
    #[pymodule_export]
    use super::traces::{csv_trace, mahimahi_trace};
    #[pymodule_export]
    const RESULTS_EPOCH: u32 = strandcast_lab::RESULTS_EPOCH;
    #[pymodule_export]
    const MOST_RUNS: u32 = strandcast_lab::batch::MOST_RUNS;
    #[pymodule_export]
    const FEWEST: u64 = strandcast_lab::result::FEWEST;
    #[pymodule_export]
    const RARE: (&str, &str, &str) = super::stats::RARE;
    #[pymodule_export]
    const COMMIT: Option<&str> = super::results::BUILD.commit;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
