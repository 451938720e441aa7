//! Captures: pcap files for Wireshark, with the datagrams of connections.
//!
//! A [`PcapWriter`] writes the datagrams that a program passes to it. A [`PcapReader`] reads captures of this and of other
//! programs. [`decrypt`] writes the SCTP packets in a capture of encrypted datagrams. It needs the [`Keys`] of the
//! connections, which a [`KeyLog`](crate::pairing::KeyLog) receives.
//!
//! ```
//! use std::time::Duration;
//!
//! use strandcast::capture::{Keys, PcapReader, PcapWriter, decrypt};
//!
//! let mut file = Vec::new();
//! let mut recorded = PcapWriter::new(&mut file)?;
//! recorded.datagram(Duration::ZERO, "10.0.0.1:40000".parse()?, "192.0.2.1:9899".parse()?, b"sealed")?;
//!
//! let mut keys = Keys::default();
//! for line in "STRANDCAST1 ...".lines() {
//!     keys.add(line);
//! }
//! let mut packets = PcapWriter::new(Vec::new())?;
//! let done = decrypt(&mut PcapReader::open(&file[..])?, &mut keys, &mut packets)?;
//! assert_eq!((done.packets, done.closed), (0, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use strandcast_net::pcap::{
    Captured, DecryptError, Decrypted, PcapError, PcapReader, PcapWriter, decrypt,
};
/// Keys of connections, which are read from the lines of a key log.
pub use strandcast_seal::KeyLog as Keys;
