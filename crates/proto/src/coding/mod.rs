//! Erasure codes between the application's messages and DATA chunks ([`strandcast_coding`]): an association may cut what it
//! sends into coded blocks, or send repair symbols beside its messages. Both ends do it below `send` and `recv`, so that
//! applications see messages alone. Decisions are the scheme's ([`crate::policy::Scheduler::next_symbol`],
//! [`crate::policy::Scheduler::next_repair`]); what may be redundant, its ledger keeps (`ledger.rs`).

mod agreement;
mod blocks;
mod budget;
mod coder;
mod config;
mod covered;
mod receiver;
mod record;
mod repair;
mod risk;
mod stats;
mod written;

pub use agreement::Mode as CodingMode;
pub(crate) use agreement::{Agreed, Announced};
#[cfg(any(test, feature = "testing"))]
pub use budget::most as most_work;
pub(crate) use coder::Coder;
pub use config::{BlockCoding, Coding, RepairCode, RepairCoding, RepairWhen};
pub(crate) use receiver::{Decoding, Undecodable};
pub(crate) use record::{BadRecord, LONGEST_RECORD};
pub(crate) use repair::Leaving;
pub use stats::CodingStats;
pub use strandcast_coding::Code;
pub use strandcast_coding::symbol::Header;
pub(crate) use written::Written;
