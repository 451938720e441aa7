//! Bytes of a message that repair symbols cover. First come the message's stream and payload protocol identifier, which
//! a repair symbol has to restore. The payload follows. Both ends construct these bytes, and neither sends them.
//!
//! | bytes | are |
//! |---:|---|
//! | 2 | stream identifier |
//! | 4 | payload protocol identifier |
//! | the rest | payload |

use crate::wire::{Ppid, StreamId};

/// Number of covered bytes before the payload.
pub(crate) const PREFIX: usize = 6;

/// Number of bytes of the length field that precedes the covered bytes in a symbol.
pub(crate) const LENGTH: usize = 2;

/// Writes the covered bytes of a message to `out`, and replaces the former content of `out`.
pub(crate) fn write(stream: StreamId, ppid: Ppid, payload: &[u8], out: &mut Vec<u8>) {
    out.clear();
    append(stream, ppid, payload, out);
}

/// Appends the covered bytes of a message to a buffer.
pub(crate) fn append(stream: StreamId, ppid: Ppid, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&stream.0.to_be_bytes());
    out.extend_from_slice(&ppid.0.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Reads a message from covered bytes. Returns `None` if there are too few bytes for a message, as a forged repair
/// symbol may cause.
pub(crate) fn read(covered: &[u8]) -> Option<(StreamId, Ppid, &[u8])> {
    let (stream, rest) = covered.split_first_chunk()?;
    let (ppid, payload) = rest.split_first_chunk()?;
    let message = (StreamId(u16::from_be_bytes(*stream)), Ppid(u32::from_be_bytes(*ppid)), payload);
    (!payload.is_empty()).then_some(message)
}

/// Returns the number of repair symbols of a Reed–Solomon block with up to `window` source symbols. Both ends must
/// create an identical codec. At a redundancy of one half, no more symbols are needed.
pub(crate) fn reed_solomon_repairs(window: u16) -> u16 {
    window.div_ceil(2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_covered_gives_the_message_back() {
        let mut out = vec![9; 3];
        write(StreamId(0x0102), Ppid(0x0304_0506), b"abc", &mut out);
        assert_eq!(out, [1, 2, 3, 4, 5, 6, b'a', b'b', b'c']);
        assert_eq!(read(&out), Some((StreamId(0x0102), Ppid(0x0304_0506), &b"abc"[..])));
        assert_eq!(read(&out[..6]), None, "no message is empty");
        assert_eq!(read(&out[..5]), None);
    }
}
