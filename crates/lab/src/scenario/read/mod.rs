//! Converts tables to the model.

mod app;
mod cross;
mod flow;
mod link;
mod outages;
mod queue;
mod radio;
mod root;

pub(super) use root::scenario;
