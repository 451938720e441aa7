//! Policies written in Python, as schemes.

mod act;
mod answer;
mod backlog;
mod catalog;
mod contract;
mod failure;
mod scheme;
mod signal;
mod view;

pub(crate) use act::{Act, Flight};
pub(crate) use answer::{Assignment, Limit, SymbolAssignment};
pub(crate) use backlog::{Backlog, MessageHead};
pub(crate) use catalog::{Plan, Policies};
pub(crate) use contract::contract_case;
pub(crate) use failure::Failure;
pub(crate) use signal::{Chunk, Signal, Symbol, Transmission};
pub(crate) use view::{Block, Blocked, Path, RepairOffer, Tariff, View};
