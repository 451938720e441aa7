//! Tests of the crate from outside.

mod callers;
mod common;
mod corpus;
mod hostile;
mod listeners;
mod losses;
mod memory;
mod timing;
mod vectors;
