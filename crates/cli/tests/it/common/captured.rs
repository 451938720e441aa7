//! Reader of files that `--pcap` has written.

use std::path::Path;

/// The SCTP packets over IPv4 of a capture that may still be written.
pub fn packets(path: &Path) -> Vec<Vec<u8>> {
    let file = std::fs::read(path).unwrap_or_default();
    let (mut rest, mut found) = (file.get(24..).unwrap_or_default(), Vec::new());
    while rest.len() >= 16 {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let Some(frame) = rest.get(16..16 + len) else { break };
        // Behind the headers of IP and UDP.
        found.push(frame[28..].to_vec());
        rest = &rest[16 + len..];
    }
    found
}
