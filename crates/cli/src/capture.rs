//! `--pcap`.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use strandcast::files::{Opened, new_output};
use strandcast::live::Taps;
use strandcast_net::driver::{PacketDirection, PacketTap};
use strandcast_net::pcap::PcapWriter;

use crate::args::SealArgs;
use crate::error::{CliError, why};
use crate::key::spare_store;
use crate::print;
use crate::writer::{Plain, Writer};

/// Maximum size of the queue for the capture file or pipe, in bytes. The queue holds several seconds of packets.
const MOST: usize = 8 << 20;

/// A capture file that all associations of a command share, if the user requests a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capture(Option<Arc<Mutex<PcapWriter<Records>>>>);

impl Capture {
    /// Opens the file given by `--pcap`. The file contains packets before encryption, so that only its owner may read
    /// it.
    ///
    /// # Errors
    /// Returns [`CliError::Usage`] if the file has content. Returns [`CliError::Media`] if the file cannot be created.
    /// Returns [`CliError::Store`] if the file is a file of keys, or belongs to other users as well.
    pub(crate) fn open(path: Option<&Path>, seal: &SealArgs) -> Result<Capture, CliError> {
        let Some(path) = path else { return Ok(Capture(None)) };
        spare_store(seal, path)?;
        let name = path.display().to_string();
        let tell = print::troubles("capture", "packet", &name);
        let writer = match new_output(path, true)? {
            Opened::File(file) => Writer::start("capture", MOST, move || Plain::new(Ok(file), tell)),
            Opened::Pipe(open) => Writer::start("capture", MOST, move || Plain::new(open(), tell)),
        };
        let pcap = writer.and_then(|writer| {
            let mut pcap = PcapWriter::new(Records { writer, record: Vec::new() })?;
            pcap.flush()?;
            Ok(pcap)
        });
        let pcap = pcap.map_err(|e| CliError::Media(format!("cannot write {name}: {}", why(&e))))?;
        Ok(Capture(Some(Arc::new(Mutex::new(pcap)))))
    }

    /// Returns the taps for streams.
    pub(crate) fn taps(&self) -> Option<Taps> {
        self.0.is_some().then(|| {
            let capture = self.clone();
            Taps::new(move || capture.tap().expect("there is a file"))
        })
    }

    /// Returns the tap for a driver.
    pub(crate) fn tap(&self) -> Option<PacketTap> {
        let shared = self.0.clone()?;
        Some(Box::new(move |_, tuple, way, payload| {
            let mut pcap = shared.lock().unwrap_or_else(PoisonError::into_inner);
            // Several drivers may write to the capture, and each driver has a different clock. The time of day is
            // therefore used.
            let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let (from, to) = match way {
                PacketDirection::Sent => (tuple.local, tuple.remote),
                PacketDirection::Received => (tuple.remote, tuple.local),
            };
            // Putting a packet into the queue never fails. If the file cannot be written, the writer prints a line and
            // the capture ends.
            let _ = pcap.datagram(at, from, to, payload).and_then(|()| pcap.flush());
        }))
    }
}

/// Queues only whole records. A packet that does not fit into the queue therefore does not damage the file.
#[derive(Debug)]
struct Records {
    writer: Writer,
    record: Vec<u8>,
}

impl io::Write for Records {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.put(&self.record);
        self.record.clear();
        Ok(())
    }
}
