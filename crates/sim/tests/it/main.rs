//! Integration tests of `strandcast-sim`, one binary.

mod advice;
mod aggregation;
mod common;
mod failover;
mod field;
mod presets;
mod radio;
mod repair;
mod sealed;
mod silence;
mod tcp_common;
mod tcp_multipath;
mod tcp_throughput;
