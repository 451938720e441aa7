//! Test whether a scheme keeps the contract. [`contract::check`] tests any
//! [`Scheme`](strandcast_proto::policy::Scheme), in this repository or outside of it:
//!
//! ```
//! use strandcast_proto::rfc;
//!
//! strandcast_testing::contract::check("rfc", || Box::new(rfc::scheme()));
//! ```
//!
//! With its features, the crate has parts that tests of several crates share. The shared parts are pairs of endpoints,
//! raw peers, adversarial networks, other SCTP stacks, fuzz targets and their corpus (`harness`), scenarios in code
//! (`lab`), stations (`radio`), and windows without an association (`schemes`).
#![forbid(unsafe_code)]

pub mod contract;

#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod adversary;
#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod corpus;
#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod endpoints;
#[cfg(feature = "harness")]
pub mod fuzzing;
#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod interop;
#[cfg(feature = "lab")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod lab;
#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod live;
#[cfg(feature = "harness")]
pub mod namespaces;
#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod plain;
#[cfg(feature = "radio")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod radio;
#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod raw;
#[cfg(feature = "harness")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod recording;
#[cfg(feature = "schemes")]
#[allow(missing_docs, reason = "harnesses explain themselves in the tests that use them")]
pub mod schemes;
