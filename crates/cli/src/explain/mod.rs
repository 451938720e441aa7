//! `strandcast explain`: why a message or frame of a simulated flow was late.

mod result;
mod run;

pub(crate) use run::run;
