//! Policies written in Python, as schemes.

mod catalog;
mod failure;

pub(crate) use catalog::Policies;
pub(crate) use failure::Failure;
