//! Captures of simulated packets: `simulate --pcap`.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use strandcast::files::{Opened, new_output};
use strandcast_lab::batch::PacketFile;
use strandcast_lab::simulation::PacketSink;
use strandcast_net::pcap::PcapWriter;

use crate::error::{CliError, why};

/// Opens the file that `--pcap` names.
///
/// # Errors
/// Returns [`CliError::Usage`] if the file has content. Returns [`CliError::Media`] if the file cannot be written.
/// Returns [`CliError::Store`] if the file is a file of keys.
pub(crate) fn open(path: &Path) -> Result<PacketFile, CliError> {
    let cannot = |e: io::Error| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e)));
    let file = match new_output(path, false)? {
        Opened::File(file) => file,
        Opened::Pipe(open) => open().map_err(cannot)?,
    };
    let pcap = PcapWriter::new(BufWriter::new(file)).map_err(cannot)?;
    Ok(PacketFile::new(path.to_owned(), Box::new(PcapSink(pcap))))
}

/// A capture file. Time 0 of the flows is written as 1970-01-01 00:00 UTC.
struct PcapSink(PcapWriter<BufWriter<File>>);

impl PacketSink for PcapSink {
    fn packet(&mut self, at: Duration, from: SocketAddr, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        self.0.datagram(at, from, to, packet)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl fmt::Debug for PcapSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PcapSink").finish_non_exhaustive()
    }
}
