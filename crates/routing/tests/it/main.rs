//! Integration tests of `strandcast-routing`, one binary.

mod docs;
mod memory;
