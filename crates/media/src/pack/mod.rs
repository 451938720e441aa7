//! Messages: the wire format. A message has up to seven transport packets after a header of 20 bytes. One more message
//! ends the stream.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------------------------------+
//! |  version = 1  |0 0|typ|0|F|R|E|   lifetime in ms (0: none)    |
//! +---------------+---------------+-------------------------------+
//! |                      session identifier                       |
//! +---------------------------------------------------------------+
//! |                        sequence number                        |
//! +---------------------------------------------------------------+
//! |          send time in microseconds since the session's        |
//! |                     first message (64 bits)                   |
//! +---------------------------------------------------------------+
//! |  E = 0: one to seven transport packets of 188 bytes           |
//! |  E = 1: messages (64 bits), bytes (64 bits), CRC32c (32 bits) |
//! +---------------------------------------------------------------+
//! ```
//!
//! Integers are big-endian. `typ` is the frame type: 0 unknown, 1 I, 2 P, 3 B. The flag F is set if a frame begins in
//! the message, R if decoding may start in it, and E if it ends the stream. Reserved bits are sent as zero, and
//! receivers ignore them. The sender draws the session identifier when it starts. Sequence numbers start at 0, increase
//! by one with each message, including the message that ends the stream, and wrap. The message that ends the stream
//! carries totals: the number of data messages of the session, and the bytes of their transport packets. The checksum
//! covers these bytes in order. A message has at most 1336 bytes. The sender limits the number of packets per message
//! so that a message fits unfragmented in one SCTP packet on each path ([`Packer::limit`]). Over UDP and IPv4, seven
//! packets fit in an IP packet of at least 1392 bytes, and six packets in one of at least 1204 bytes. IPv6 needs 20
//! bytes more, and a seal 29 bytes more.

mod message;
mod packer;
#[cfg(test)]
mod tests;
mod worth;

pub use message::{Body, End, HEADER_LEN, Header, MAX_PACKETS, Malformed, Message, VERSION};
pub use packer::{Outgoing, PackConfig, Packer, Unpacker};
pub use worth::{Part, Worth};
