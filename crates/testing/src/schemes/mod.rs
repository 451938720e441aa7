//! Windows and coded schedulers driven without an association, for tests and benches of their cost.

pub mod clocked;
pub mod symbols;
