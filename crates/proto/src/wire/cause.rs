//! Error causes in ERROR, ABORT and ASCONF-ACK: RFC 9260 §3.3.10, RFC 4895 §4.2, RFC 5061 §4.3.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Cause Code           |         Cause Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                  Cause-Specific Information                   \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;
use smallvec::SmallVec;

use super::cursor::Cursor;
use super::{ParseError, StreamId, Tsn, tlv};

/// An error cause: the reason of a refusal. Chunks and parameters in a cause are complete, including their headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Code 1: DATA arrived on a stream that does not exist.
    InvalidStreamIdentifier(StreamId),
    /// Code 2: parameters of these types are missing.
    MissingMandatoryParameter(SmallVec<[u16; 4]>),
    /// Code 3: the cookie arrived too late.
    StaleCookie {
        /// Microseconds by which the cookie exceeded its lifetime.
        staleness_us: u32,
    },
    /// Code 4: there is no room for the association.
    OutOfResource,
    /// Code 5: this address parameter cannot be used.
    UnresolvableAddress(Bytes),
    /// Code 6: this chunk has an unknown type.
    UnrecognizedChunkType(Bytes),
    /// Code 7: a mandatory parameter has an invalid value.
    InvalidMandatoryParameter,
    /// Code 8: these parameters have unknown types.
    UnrecognizedParameters(Bytes),
    /// Code 9: the DATA chunk with this TSN has no payload.
    NoUserData(Tsn),
    /// Code 10: COOKIE ECHO arrived during the shutdown.
    CookieReceivedWhileShuttingDown,
    /// Code 11: the restart of the association would add these addresses.
    RestartWithNewAddresses(Bytes),
    /// Code 12: the application aborted the association, for this reason.
    UserInitiatedAbort(Bytes),
    /// Code 13: the peer violated the protocol. The cause has details.
    ProtocolViolation(Bytes),
    /// Code 0xA0: this request would delete the last address.
    DeleteLastAddress(Bytes),
    /// Code 0xA1: there are no resources for this request.
    OperationRefused(Bytes),
    /// Code 0xA2: this request would delete the source address of its packet.
    DeleteSourceAddress(Bytes),
    /// Code 0xA3: the ASCONF-ACK does not answer any request.
    IllegalAsconfAck,
    /// Code 0xA4: this request is not permitted.
    NoAuthorization(Bytes),
    /// Code 0x105: this HMAC algorithm is not supported.
    UnsupportedHmac(u16),
    /// A cause with an unknown code.
    Unknown {
        /// Value of the Cause Code field.
        code: u16,
        /// Value of the Cause-Specific Information field.
        info: Bytes,
    },
}

impl Cause {
    /// Returns the value of the Cause Code field.
    pub fn code(&self) -> u16 {
        match self {
            Self::InvalidStreamIdentifier(_) => 1,
            Self::MissingMandatoryParameter(_) => 2,
            Self::StaleCookie { .. } => 3,
            Self::OutOfResource => 4,
            Self::UnresolvableAddress(_) => 5,
            Self::UnrecognizedChunkType(_) => 6,
            Self::InvalidMandatoryParameter => 7,
            Self::UnrecognizedParameters(_) => 8,
            Self::NoUserData(_) => 9,
            Self::CookieReceivedWhileShuttingDown => 10,
            Self::RestartWithNewAddresses(_) => 11,
            Self::UserInitiatedAbort(_) => 12,
            Self::ProtocolViolation(_) => 13,
            Self::DeleteLastAddress(_) => 0xa0,
            Self::OperationRefused(_) => 0xa1,
            Self::DeleteSourceAddress(_) => 0xa2,
            Self::IllegalAsconfAck => 0xa3,
            Self::NoAuthorization(_) => 0xa4,
            Self::UnsupportedHmac(_) => 0x105,
            Self::Unknown { code, .. } => *code,
        }
    }

    fn parse(code: u16, mut info: Cursor<'_>) -> Result<Self, ParseError> {
        let i = &mut info;
        let cause = match code {
            1 => {
                let stream_id = StreamId(i.u16()?);
                let _reserved = i.u16()?;
                Self::InvalidStreamIdentifier(stream_id)
            }
            2 => Self::MissingMandatoryParameter(parse_missing(i)?),
            3 => Self::StaleCookie { staleness_us: i.u32()? },
            4 => Self::OutOfResource,
            5 => Self::UnresolvableAddress(i.rest()),
            6 => Self::UnrecognizedChunkType(i.rest()),
            7 => Self::InvalidMandatoryParameter,
            8 => Self::UnrecognizedParameters(i.rest()),
            9 => Self::NoUserData(Tsn(i.u32()?)),
            10 => Self::CookieReceivedWhileShuttingDown,
            11 => Self::RestartWithNewAddresses(i.rest()),
            12 => Self::UserInitiatedAbort(i.rest()),
            13 => Self::ProtocolViolation(i.rest()),
            0xa0 => Self::DeleteLastAddress(i.rest()),
            0xa1 => Self::OperationRefused(i.rest()),
            0xa2 => Self::DeleteSourceAddress(i.rest()),
            0xa3 => Self::IllegalAsconfAck,
            0xa4 => Self::NoAuthorization(i.rest()),
            0x105 => Self::UnsupportedHmac(i.u16()?),
            _ => Self::Unknown { code, info: i.rest() },
        };
        info.finish()?;
        Ok(cause)
    }

    /// Returns the number of bytes with header and without padding.
    fn len(&self) -> usize {
        let info = match self {
            Self::InvalidStreamIdentifier(_) | Self::StaleCookie { .. } | Self::NoUserData(_) => 4,
            Self::MissingMandatoryParameter(types) => 4 + 2 * types.len(),
            Self::UnsupportedHmac(_) => 2,
            _ => self.opaque().map_or(0, Bytes::len),
        };
        tlv::HEADER_LEN + info
    }

    fn write(&self, out: &mut Vec<u8>) {
        tlv::write(out, self.code(), |out| match self {
            Self::InvalidStreamIdentifier(stream_id) => {
                out.extend_from_slice(&stream_id.0.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
            }
            Self::MissingMandatoryParameter(types) => {
                out.extend_from_slice(&(types.len() as u32).to_be_bytes());
                types.iter().for_each(|param_type| out.extend_from_slice(&param_type.to_be_bytes()));
            }
            Self::StaleCookie { staleness_us: number } | Self::NoUserData(Tsn(number)) => {
                out.extend_from_slice(&number.to_be_bytes());
            }
            Self::UnsupportedHmac(id) => out.extend_from_slice(&id.to_be_bytes()),
            _ => out.extend_from_slice(self.opaque().map_or(&[], |info| &info[..])),
        });
    }

    /// Returns the information field of a cause that stores this field as raw bytes. `None` for other causes.
    fn opaque(&self) -> Option<&Bytes> {
        match self {
            Self::UnresolvableAddress(info)
            | Self::UnrecognizedChunkType(info)
            | Self::UnrecognizedParameters(info)
            | Self::RestartWithNewAddresses(info)
            | Self::UserInitiatedAbort(info)
            | Self::ProtocolViolation(info)
            | Self::DeleteLastAddress(info)
            | Self::OperationRefused(info)
            | Self::DeleteSourceAddress(info)
            | Self::NoAuthorization(info)
            | Self::Unknown { info, .. } => Some(info),
            _ => None,
        }
    }
}

fn parse_missing(info: &mut Cursor<'_>) -> Result<SmallVec<[u16; 4]>, ParseError> {
    let count = info.u32()?;
    let mut types = SmallVec::new();
    for _ in 0..count {
        // This ends at the first missing type, whatever the count is.
        types.push(info.u16()?);
    }
    Ok(types)
}

/// Parses all causes up to the end of the chunk.
pub(super) fn parse_all(body: &mut Cursor<'_>) -> Result<Vec<Cause>, ParseError> {
    tlv::all(body, Cause::parse)
}

/// Returns the bytes of consecutive causes. Each except the last is padded.
pub(super) fn len_all(causes: &[Cause]) -> usize {
    tlv::len_all(causes.iter().map(Cause::len))
}

/// Appends consecutive causes. Each except the last is padded.
pub(super) fn write_all(out: &mut Vec<u8>, causes: &[Cause]) {
    tlv::write_all(out, causes, Cause::write);
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::wire::chunk::ErrorChunk;
    use crate::wire::chunk::testing::{check, parse};
    use crate::wire::padded;

    fn error_bytes(cause: &[u8]) -> Vec<u8> {
        let mut bytes = vec![9, 0, 0, 4 + cause.len() as u8];
        bytes.extend(cause);
        bytes.resize(padded(bytes.len()), 0);
        bytes
    }

    #[test]
    fn each_follows_its_layout() {
        let text = Bytes::from_static(b"why");
        let with_text = |code: [u8; 2]| [&code[..], &[0, 7], b"why"].concat();
        let missing = vec![0, 2, 0, 12, 0, 0, 0, 2, 0, 7, 0, 12];
        let layouts: [(Vec<u8>, Cause); 20] = [
            (vec![0, 1, 0, 8, 0, 5, 0, 0], Cause::InvalidStreamIdentifier(StreamId(5))),
            (missing, Cause::MissingMandatoryParameter(smallvec![7, 12])),
            (vec![0, 3, 0, 8, 0, 0, 0, 9], Cause::StaleCookie { staleness_us: 9 }),
            (vec![0, 4, 0, 4], Cause::OutOfResource),
            (with_text([0, 5]), Cause::UnresolvableAddress(text.clone())),
            (with_text([0, 6]), Cause::UnrecognizedChunkType(text.clone())),
            (vec![0, 7, 0, 4], Cause::InvalidMandatoryParameter),
            (with_text([0, 8]), Cause::UnrecognizedParameters(text.clone())),
            (vec![0, 9, 0, 8, 0, 0, 0, 1], Cause::NoUserData(Tsn(1))),
            (vec![0, 10, 0, 4], Cause::CookieReceivedWhileShuttingDown),
            (with_text([0, 11]), Cause::RestartWithNewAddresses(text.clone())),
            (with_text([0, 12]), Cause::UserInitiatedAbort(text.clone())),
            (with_text([0, 13]), Cause::ProtocolViolation(text.clone())),
            (with_text([0, 0xa0]), Cause::DeleteLastAddress(text.clone())),
            (with_text([0, 0xa1]), Cause::OperationRefused(text.clone())),
            (with_text([0, 0xa2]), Cause::DeleteSourceAddress(text.clone())),
            (vec![0, 0xa3, 0, 4], Cause::IllegalAsconfAck),
            (with_text([0, 0xa4]), Cause::NoAuthorization(text.clone())),
            (vec![1, 5, 0, 6, 0, 2], Cause::UnsupportedHmac(2)),
            (with_text([0x77, 0x77]), Cause::Unknown { code: 0x7777, info: text }),
        ];
        for (bytes, cause) in layouts {
            check(&error_bytes(&bytes), ErrorChunk { causes: vec![cause] });
        }
    }

    #[test]
    fn a_wrong_length_spoils_the_chunk() {
        let huge_count = [0, 2, 0, 10, 0xff, 0xff, 0xff, 0xff, 0, 7];
        assert_eq!(parse(&error_bytes(&huge_count)), Err(ParseError::Truncated));
        assert_eq!(parse(&error_bytes(&[0, 3, 0, 6, 0, 0])), Err(ParseError::Truncated));
        assert_eq!(parse(&error_bytes(&[0, 4, 0, 8, 0, 0, 0, 0])), Err(ParseError::Excess));
    }
}
