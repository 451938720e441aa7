//! Reader of files that `--pcap` has written.

use std::path::Path;

/// The SCTP packets over IPv4 of a capture that may still be written.
pub fn packets(path: &Path) -> Vec<Vec<u8>> {
    // After the headers of IP and UDP.
    records(path).into_iter().map(|(_, packet)| packet[28..].to_vec()).collect()
}

/// The IP packets of a capture that may still be written, each with its time in nanoseconds.
pub fn records(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let file = std::fs::read(path).unwrap_or_default();
    let (mut rest, mut found) = (file.get(24..).unwrap_or_default(), Vec::new());
    while rest.len() >= 16 {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let Some(packet) = rest.get(16..16 + word(8) as usize) else { break };
        found.push((u64::from(word(0)) * 1_000_000_000 + u64::from(word(4)), packet.to_vec()));
        rest = &rest[16 + packet.len()..];
    }
    found
}
