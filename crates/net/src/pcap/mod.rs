//! Captures: UDP datagrams in pcap files for Wireshark.

mod decrypt;
mod read;
mod write;

pub use decrypt::{DecryptError, Decrypted, decrypt};
pub use read::{Captured, PcapError, PcapReader};
pub use write::PcapWriter;
