//! The keys of a scenario file, by table. Each key has a type, a default and a meaning. Readers, writers, the schema
//! and the reference are derived from these declarations.

pub(super) mod app;
pub(super) mod cross;
pub(super) mod flow;
pub(super) mod link;
pub(super) mod loss;
pub(super) mod radio;
pub(super) mod root;
pub(super) mod sctp;
