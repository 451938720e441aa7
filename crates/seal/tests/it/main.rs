//! Integration tests of `strandcast-seal`, one binary.

mod access;
mod attacks;
mod common;
mod corpus;
mod memory;
mod moving;
mod sessions;
mod steering;
