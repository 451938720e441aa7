//! Settings that senders and receivers share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use strandcast::Scheme;
use strandcast::pairing::Store;
use strandcast::transport::TransportOptions;
use strandcast_keys::catalog::{Catalog as _, SchemePlan};

use crate::error;
use crate::policy::{Failure, Plan, Policies};

/// A scheme, given as text or as the name of a class, and the Python classes by their names.
pub(super) type Chosen = (String, BTreeMap<String, Plan>);

/// Settings of the transport at one end: the SCTP port, the MTU in bytes, and the size of the buffers
/// in bytes.
pub(super) type Transport = (u16, u16, usize);

/// The chosen scheme. Its failure record keeps the first exception of its policies.
///
/// # Errors
/// `SchemeError`.
pub(super) fn scheme(py: Python<'_>, (name, policies): Chosen) -> PyResult<(Scheme, Arc<Failure>)> {
    let failure = Arc::new(Failure::default());
    let plan = Policies::new(policies, &failure).scheme(&name, "");
    let SchemePlan { tune, build } = plan.map_err(|e| error::scheme(py, &e.to_string()))?;
    Ok((Scheme::custom(name, move |config| tune(config), build), failure))
}

pub(super) fn transport((sctp_port, mtu, buffer): Transport) -> TransportOptions {
    let mut options = TransportOptions::default();
    (options.sctp_port, options.mtu, options.buffer) = (sctp_port, mtu, buffer);
    options
}

/// Returns the store whose identity is in this file. `None` means the store of the user.
///
/// # Errors
/// Raises `StrandcastError` if the user has no home.
pub(super) fn store(py: Python<'_>, key: Option<PathBuf>) -> PyResult<Store> {
    let homeless = || error::other(py, "HOME is not set: name the identity's file with `key`");
    strandcast_cli::user_store(key.as_deref()).ok_or_else(homeless)
}
