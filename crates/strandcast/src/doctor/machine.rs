//! Facts about this machine: permissions of the kernel, keys, clock. No file is created or changed.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use strandcast_net::socket::{BindSpec, PathSocket};

use super::report::{Clock, Machine};
use crate::pairing::{Store, fingerprint};

/// Files of a store, after the identity's name.
const FILES: [&str; 3] = ["", ".receivers", ".senders"];

/// Examines this machine. Call it inside a tokio runtime.
pub(super) fn look(store: Option<&Store>, now: SystemTime) -> Machine {
    // Neither the address nor the port matters.
    let bind = BindSpec { address: Some(std::net::Ipv4Addr::LOCALHOST.into()), ..BindSpec::default() };
    let buffers = PathSocket::bind(&bind).ok().and_then(|socket| socket.kernel_buffers().ok());
    let mut machine = Machine { buffers, ..Machine::default() };
    machine.clock.now_s = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let Some(store) = store else { return machine };
    machine.identity = Some(store.path().display().to_string());
    let mut errors = Vec::new();
    match store.identity() {
        Ok(key) => machine.key = key.map(|key| fingerprint(&key.public())),
        Err(error) => errors.push(error.to_string()),
    }
    errors.extend(store.receivers().err().map(|error| error.to_string()));
    errors.extend(store.senders().err().map(|error| error.to_string()));
    machine.store_errors = errors;
    machine.clock = Clock { newer_file: newer_file(store, now), ..machine.clock };
    machine
}

/// Returns the newest of the key files and its lead in seconds, if the file is newer than the clock.
fn newer_file(store: &Store, now: SystemTime) -> Option<(String, f64)> {
    let name = |suffix: &&str| {
        let mut name = store.path().as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let ahead = FILES.iter().map(name).filter_map(|file| {
        let written = std::fs::metadata(&file).ok()?.modified().ok()?;
        let ahead = written.duration_since(now).ok()?.as_secs_f64();
        Some((file.display().to_string(), ahead))
    });
    ahead.max_by(|a, b| a.1.total_cmp(&b.1))
}
