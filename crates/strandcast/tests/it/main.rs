//! Tests of the library as its users see it, over loopback.

mod api;
mod common;
mod doctor;
mod examples;
mod ledger;
mod live;
mod pairing;
mod perf;
mod readme;
mod serve;
mod slate;
