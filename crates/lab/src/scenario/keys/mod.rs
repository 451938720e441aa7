//! The keys of the file, by table: what they take, what holds without them, what they mean. Readers, writers, the schema and
//! the reference are made from this.

pub(super) mod app;
pub(super) mod cross;
pub(super) mod flow;
pub(super) mod link;
pub(super) mod loss;
pub(super) mod radio;
pub(super) mod root;
pub(super) mod sctp;
