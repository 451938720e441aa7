//! Integration tests of `strandcast-radio`, one binary.

mod dcf;
mod documentation;
mod ns2;
mod places;
mod properties;
mod throughput;
