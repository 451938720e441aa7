//! `--pcap`.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use strandcast_net::driver::{PacketDirection, PacketTap};
use strandcast_net::pcap::PcapWriter;

use crate::args::SealArgs;
use crate::error::{CliError, why};
use crate::key::spare_store;
use crate::{print, private};

/// A capture file shared by all associations of a command, if requested.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capture(Option<Shared>);

#[derive(Clone, Debug)]
struct Shared {
    /// `None` after the first error.
    writer: Arc<Mutex<Option<PcapWriter<BufWriter<File>>>>>,
    path: PathBuf,
}

impl Capture {
    /// Opens the file given by `--pcap`: packets are in it as they are before encryption, so that only its owner can read
    /// it.
    ///
    /// # Errors
    /// [`CliError::Media`]: the file cannot be created; [`CliError::Store`]: it is one of keys.
    pub(crate) fn open(path: Option<&Path>, seal: &SealArgs) -> Result<Capture, CliError> {
        let Some(path) = path else { return Ok(Capture(None)) };
        spare_store(seal, path)?;
        let writer = private::create(path).and_then(|file| PcapWriter::new(BufWriter::new(file)));
        let writer =
            writer.map_err(|e| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e))))?;
        Ok(Capture(Some(Shared { writer: Arc::new(Mutex::new(Some(writer))), path: path.to_owned() })))
    }

    /// The tap for a driver.
    pub(crate) fn tap(&self) -> Option<PacketTap> {
        let shared = self.0.clone()?;
        Some(Box::new(move |_, tuple, way, payload| {
            let mut writer = shared.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(pcap) = writer.as_mut() else { return };
            // Several drivers may write here, each with a clock of its own.
            let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let (from, to) = match way {
                PacketDirection::Sent => (tuple.local, tuple.remote),
                PacketDirection::Received => (tuple.remote, tuple.local),
            };
            if let Err(error) = pcap.datagram(at, from, to, payload) {
                *writer = None;
                print::line(&format!(
                    "capture stopped: cannot write {}: {}",
                    shared.path.display(),
                    why(&error)
                ));
            }
        }))
    }
}
