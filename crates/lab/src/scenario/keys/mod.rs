//! Every key of the file: what it takes, its default, what it means. The reader, the schema and the tables of
//! docs/scenarios.md are made from this.

mod flow;
mod network;
mod root;
mod spec;

pub(super) use flow::{APP, CROSS, FLOW};
pub(super) use network::LINK;
pub(super) use root::ROOT;
pub(super) use spec::{Changes, Fallback, Key, Keys, Kinds, Least, Takes};
