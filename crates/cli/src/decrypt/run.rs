//! Conversion of a recorded capture and a key log to a capture of SCTP.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter};
use std::path::Path;

use strandcast::files::{Replacement, same_file, spare_content, spare_keys};
use strandcast_net::pcap::PcapWriter;
use strandcast_seal::KeyLog;

use super::capture::Capture;
use crate::args::DecryptArgs;
use crate::error::{CliError, why};
use crate::print;
use crate::show::count;

/// Number of leading bytes that are equal in all encrypted datagrams of a path: type and connection id.
const SAME: usize = 9;
/// Size of the shortest encrypted datagram, in bytes.
const SHORTEST: usize = 29;
/// Position of the checksum in an SCTP packet (RFC 9260 §3.1).
const CHECKSUM: std::ops::Range<usize> = 8..12;

/// Decrypts a capture.
///
/// # Errors
/// Returns [`CliError::Usage`] if the output is one of the inputs, or has content. Returns [`CliError::Media`] if a
/// file cannot be read or written. Returns [`CliError::Unmet`] if the log has no keys for any datagram of the capture.
pub(crate) fn run(args: &DecryptArgs) -> Result<(), CliError> {
    for input in [&args.capture, &args.keylog] {
        if same_file(input, &args.out) {
            let why = format!("{} would be overwritten: name another file for OUT", input.display());
            return Err(CliError::Usage(why));
        }
    }
    spare_keys(&args.out)?;
    std::fs::metadata(&args.out).map_or(Ok(()), |seen| spare_content(&args.out, &seen))?;
    let unwritable =
        |e: io::Error| CliError::Media(format!("cannot write {}: {}", args.out.display(), why(&e)));
    let mut keys = read_log(&args.keylog)?;
    let file = File::open(&args.capture).map_err(|e| unreadable(&args.capture, &why(&e)))?;
    let mut capture =
        Capture::open(BufReader::new(file)).map_err(|words| unreadable(&args.capture, &words))?;
    let (replacement, out) = Replacement::create(&args.out).map_err(unwritable)?;
    let mut out = PcapWriter::new(BufWriter::new(out)).map_err(unwritable)?;
    let (mut packets, mut control, mut closed) = (0u64, 0u64, 0u64);
    while let Some(datagram) = capture.next().map_err(|words| unreadable(&args.capture, &words))? {
        let stride = stride(datagram.payload);
        for sealed in datagram.payload.chunks_mut(stride) {
            match keys.open(sealed) {
                Some([]) => control += 1,
                Some(packet) => {
                    out.datagram(datagram.at, datagram.from, datagram.to, &checked(packet))
                        .map_err(unwritable)?;
                    packets += 1;
                }
                None => closed += 1,
            }
        }
    }
    out.flush().map_err(unwritable)?;
    print::line(&format!(
        "{} of SCTP; in addition {} of the seal, {} without keys, {} without a UDP datagram",
        count(packets, "packet"),
        count(control, "message"),
        count(closed, "datagram"),
        count(capture.others, "packet"),
    ));
    if packets == 0 {
        let (keylog, out) = (args.keylog.display(), args.out.display());
        return Err(CliError::Unmet(format!("{keylog} has no keys for any datagram: {out} is not written")));
    }
    replacement.keep().map_err(unwritable)
}

fn unreadable(path: &Path, words: &str) -> CliError {
    CliError::Media(format!("cannot read {}: {words}", path.display()))
}

/// Reads the keys of a key log.
fn read_log(path: &Path) -> Result<KeyLog, CliError> {
    let unreadable = |e: io::Error| unreadable(path, &why(&e));
    let mut keys = KeyLog::default();
    for line in BufReader::new(File::open(path).map_err(unreadable)?).lines() {
        keys.add(&line.map_err(unreadable)?);
    }
    Ok(keys)
}

/// Returns the size of each datagram except the last, for data that were captured as one packet. A kernel may cut or
/// join datagrams after or before the point of capture. All joined datagrams belong to one path, so that they begin
/// with the same bytes.
fn stride(payload: &[u8]) -> usize {
    let begin = payload.get(..SAME);
    let next = (SHORTEST..=payload.len().saturating_sub(SHORTEST))
        .find(|&at| begin.is_some() && payload.get(at..at + SAME) == begin);
    next.unwrap_or(payload.len()).max(1)
}

/// Returns the packet with its checksum. A packet in an encrypted datagram has no checksum (RFC 9653).
fn checked(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if packet.len() >= CHECKSUM.end {
        packet[CHECKSUM].fill(0);
        // RFC 9260, appendix A, gives the order of the checksum's bytes.
        let sum = crc32c::crc32c(&packet).to_le_bytes();
        packet[CHECKSUM].copy_from_slice(&sum);
    }
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_datagrams_are_told_apart() {
        let datagram = |len: usize, n: u8| {
            let mut bytes = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, n];
            bytes.resize(len, n.wrapping_mul(31));
            bytes
        };
        assert_eq!(stride(&datagram(1372, 1)), 1372);
        let joined = [datagram(1372, 1), datagram(1372, 2), datagram(40, 3)].concat();
        assert_eq!(stride(&joined), 1372);
        for short in [&[][..], &[1], &[1; 20]] {
            assert_eq!(stride(short), short.len().max(1));
        }
    }

    #[test]
    fn checksums_are_those_of_crc32c() {
        // RFC 3720, appendix B.4: 32 bytes of zero have the CRC32c aa 36 91 8a.
        assert_eq!(checked(&[0; 32])[CHECKSUM], [0xaa, 0x36, 0x91, 0x8a]);
        assert_eq!(checked(&[1, 2]), [1, 2]);
    }
}
