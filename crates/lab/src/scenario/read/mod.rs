//! From tables to the model.

mod app;
mod cross;
mod flow;
mod link;
mod root;

pub(super) use link::MODULATIONS;
pub(super) use root::scenario;
