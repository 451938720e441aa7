//! The chunks (RFC 9260 §3.2 and §3.3, and extensions). Each chunk has its own file.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Chunk Type   |  Chunk Flags  |         Chunk Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                          Chunk Value                          \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//! The length field counts header and value, without the padding to 4 bytes.

pub mod abort;
pub mod asconf;
pub mod asconf_ack;
pub mod auth;
pub mod cookie_ack;
pub mod cookie_echo;
pub mod data;
pub mod error;
pub mod forward_tsn;
pub mod heartbeat;
pub mod heartbeat_ack;
pub mod i_data;
pub mod i_forward_tsn;
pub mod init;
pub mod init_ack;
pub mod pad;
pub mod re_config;
pub mod report;
pub mod sack;
pub mod shutdown;
pub mod shutdown_ack;
pub mod shutdown_complete;
pub mod unknown;

#[cfg(test)]
pub(super) mod testing;

pub use abort::Abort;
pub use asconf::Asconf;
pub use asconf_ack::AsconfAck;
pub use auth::Auth;
pub use cookie_ack::CookieAck;
pub use cookie_echo::CookieEcho;
pub use data::{Data, DataHeader};
pub use error::ErrorChunk;
pub use forward_tsn::ForwardTsn;
pub use heartbeat::Heartbeat;
pub use heartbeat_ack::HeartbeatAck;
pub use i_data::IData;
pub use i_forward_tsn::IForwardTsn;
pub use init::Init;
pub use init_ack::InitAck;
pub use pad::Pad;
pub use re_config::ReConfig;
pub use report::{Report, ReportItem, ReportItemFlavour};
pub use sack::{GapBlock, Sack, SackHeader};
pub use shutdown::Shutdown;
pub use shutdown_ack::ShutdownAck;
pub use shutdown_complete::ShutdownComplete;
pub use unknown::UnknownChunk;

use super::cursor::Cursor;
use super::{ParseError, padded};

/// Number of bytes of a chunk's type, flags and length.
pub const HEADER_LEN: usize = 4;

/// Interface of a chunk for the packet writer. Every chunk and [`Chunk`] implement it.
pub trait ChunkEncode {
    /// Returns the value of the Chunk Type field.
    fn chunk_type(&self) -> u8;

    /// Returns the value of the Chunk Flags field.
    fn flags(&self) -> u8 {
        0
    }

    /// Returns the number of bytes of the chunk's value.
    fn body_len(&self) -> usize;

    /// Appends the chunk's value, which has `body_len` bytes.
    fn write_body(&self, out: &mut Vec<u8>);

    /// Returns the bytes that the chunk occupies in a packet, with header and padding.
    fn encoded_len(&self) -> usize {
        padded(HEADER_LEN + self.body_len())
    }
}

/// A chunk type that can be read from a packet.
trait ChunkDecode: Sized {
    const TYPE: u8;
    fn parse(flags: u8, body: Cursor<'_>) -> Result<Self, ParseError>;
}

macro_rules! chunks {
    ($($(#[$doc:meta])* $name:ident($type:ty),)*) => {
        /// A chunk of any type.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Chunk {
            $($(#[$doc])* $name($type),)*
            /// A chunk of an unknown type.
            Unknown(UnknownChunk),
        }

        impl Chunk {
            /// Reads the value of a chunk.
            pub(super) fn parse(chunk_type: u8, flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
                match chunk_type {
                    $(<$type as ChunkDecode>::TYPE => <$type>::parse(flags, body).map(Self::$name),)*
                    _ => Ok(Self::Unknown(UnknownChunk { chunk_type, flags, body: body.rest() })),
                }
            }

            fn encoder(&self) -> &dyn ChunkEncode {
                match self {
                    $(Self::$name(chunk) => chunk,)*
                    Self::Unknown(chunk) => chunk,
                }
            }
        }

        $(impl From<$type> for Chunk {
            fn from(chunk: $type) -> Self {
                Self::$name(chunk)
            }
        })*
    };
}

chunks! {
    /// Carries payload.
    Data(Data),
    /// Carries payload of interleaved messages.
    IData(IData),
    /// Opens an association.
    Init(Init),
    /// Answers INIT.
    InitAck(InitAck),
    /// Acknowledges data selectively.
    Sack(Sack),
    /// Probes a path.
    Heartbeat(Heartbeat),
    /// Answers HEARTBEAT.
    HeartbeatAck(HeartbeatAck),
    /// Ends an association immediately.
    Abort(Abort),
    /// Begins a graceful close.
    Shutdown(Shutdown),
    /// Answers SHUTDOWN.
    ShutdownAck(ShutdownAck),
    /// Ends a graceful close.
    ShutdownComplete(ShutdownComplete),
    /// Reports errors that do not end the association.
    Error(ErrorChunk),
    /// Carries the state cookie back.
    CookieEcho(CookieEcho),
    /// Answers COOKIE ECHO.
    CookieAck(CookieAck),
    /// Authenticates the chunks that follow it.
    Auth(Auth),
    /// Requests changes of addresses.
    Asconf(Asconf),
    /// Answers ASCONF.
    AsconfAck(AsconfAck),
    /// Reports abandoned TSNs.
    ForwardTsn(ForwardTsn),
    /// Reports abandoned TSNs of interleaved messages.
    IForwardTsn(IForwardTsn),
    /// Resets or adds streams.
    ReConfig(ReConfig),
    /// Fills a packet to a wanted size.
    Pad(Pad),
    /// Carries reports between two Strandcast peers.
    Report(Report),
}

impl ChunkEncode for Chunk {
    fn chunk_type(&self) -> u8 {
        self.encoder().chunk_type()
    }

    fn flags(&self) -> u8 {
        self.encoder().flags()
    }

    fn body_len(&self) -> usize {
        self.encoder().body_len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        self.encoder().write_body(out);
    }
}

/// Appends a chunk without its padding. Returns false if the chunk is too long for its length field. `out` then ends
/// with invalid bytes.
pub(super) fn write_frame(
    out: &mut Vec<u8>,
    chunk_type: u8,
    flags: u8,
    body: impl FnOnce(&mut Vec<u8>),
) -> bool {
    let start = out.len();
    out.extend_from_slice(&[chunk_type, flags, 0, 0]);
    body(out);
    let Ok(length) = u16::try_from(out.len() - start) else { return false };
    out[start + 2..start + HEADER_LEN].copy_from_slice(&length.to_be_bytes());
    true
}
