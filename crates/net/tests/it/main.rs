//! Integration tests of `strandcast-net`, one binary.

mod allocations;
mod common;
mod conformance;
mod presets;
mod sealed;
mod sealed_paths;
