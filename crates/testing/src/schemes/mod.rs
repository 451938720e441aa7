//! Windows and coded schedulers that are driven without an association, for tests and benchmarks of their cost.

pub mod clocked;
pub mod symbols;
