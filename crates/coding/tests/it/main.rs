//! Integration tests of `strandcast-coding`, one binary.

mod allocations;
mod common;
mod corpus;
mod decisions;
mod dense;
mod elimination;
mod hostile;
mod objects;
mod streams;
