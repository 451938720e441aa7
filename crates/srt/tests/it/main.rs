//! Tests of the crate from outside.

mod callers;
mod common;
mod corpus;
mod floods;
mod hostile;
mod keystreams;
mod listeners;
mod losses;
mod memory;
mod replays;
mod timing;
mod vectors;
