//! Parameters of RE-CONFIG (RFC 6525 §4). Sequence numbers of requests and responses count the requests, starting at
//! the initial TSN.
//!
//! ```text
//! Outgoing SSN Reset Request (13); Incoming (14) has the first number and the streams
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Re-configuration Request Sequence Number            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Re-configuration Response Sequence Number           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                Sender's Last Assigned TSN                     |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Stream Number 1 (optional)   |             ...               |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//!
//! Re-configuration Response (16)
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Re-configuration Response Sequence Number           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                            Result                             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                 Sender's Next TSN (optional)                  |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                Receiver's Next TSN (optional)                 |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//!
//! Add Outgoing (17) and Incoming (18) Streams Request
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Re-configuration Request Sequence Number            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |     Number of new streams     |           Reserved            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use smallvec::SmallVec;

use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, StreamId, Tsn};

/// Request by which a sender resets the SSNs of its own streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingSsnReset {
    /// Sequence number of this request.
    pub request_seq: u32,
    /// Sequence number of the incoming reset request that this request answers, if any.
    pub response_seq: u32,
    /// Last TSN that the sender used before the reset.
    pub last_assigned_tsn: Tsn,
    /// Streams to be reset. An empty list means all streams.
    pub streams: SmallVec<[StreamId; 4]>,
}

/// Request that the receiver reset the SSNs of its own streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingSsnReset {
    /// Sequence number of this request.
    pub request_seq: u32,
    /// Streams to be reset. An empty list means all streams.
    pub streams: SmallVec<[StreamId; 4]>,
}

/// Response with the result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReConfigResponse {
    /// Sequence number of the request that is answered.
    pub response_seq: u32,
    /// Result code: 0 nothing to do, 1 performed, 2 denied, 3 wrong SSN, 4 another request in progress, 5 bad sequence
    /// number, 6 in progress.
    pub result: u32,
    /// Next TSNs of the responder and the requester after an SSN/TSN reset.
    pub next_tsns: Option<(Tsn, Tsn)>,
}

/// Request to add streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddStreams {
    /// Sequence number of this request.
    pub request_seq: u32,
    /// Number of additional streams.
    pub new_streams: u16,
}

fn parse_streams(value: &mut Cursor<'_>) -> Result<SmallVec<[StreamId; 4]>, ParseError> {
    let mut streams = SmallVec::new();
    while !value.is_empty() {
        streams.push(StreamId(value.u16()?));
    }
    Ok(streams)
}

fn write_streams(out: &mut Vec<u8>, streams: &[StreamId]) {
    for stream in streams {
        out.extend_from_slice(&stream.0.to_be_bytes());
    }
}

impl OutgoingSsnReset {
    pub(super) fn parse(value: &mut Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self {
            request_seq: value.u32()?,
            response_seq: value.u32()?,
            last_assigned_tsn: Tsn(value.u32()?),
            streams: parse_streams(value)?,
        })
    }

    pub(super) fn len(&self) -> usize {
        12 + 2 * self.streams.len()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request_seq.to_be_bytes());
        out.extend_from_slice(&self.response_seq.to_be_bytes());
        out.extend_from_slice(&self.last_assigned_tsn.0.to_be_bytes());
        write_streams(out, &self.streams);
    }
}

impl IncomingSsnReset {
    pub(super) fn parse(value: &mut Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { request_seq: value.u32()?, streams: parse_streams(value)? })
    }

    pub(super) fn len(&self) -> usize {
        4 + 2 * self.streams.len()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request_seq.to_be_bytes());
        write_streams(out, &self.streams);
    }
}

impl ReConfigResponse {
    pub(super) fn parse(value: &mut Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self {
            response_seq: value.u32()?,
            result: value.u32()?,
            next_tsns: if value.is_empty() { None } else { Some((Tsn(value.u32()?), Tsn(value.u32()?))) },
        })
    }

    pub(super) fn len(&self) -> usize {
        if self.next_tsns.is_some() { 16 } else { 8 }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.response_seq.to_be_bytes());
        out.extend_from_slice(&self.result.to_be_bytes());
        if let Some((sender, receiver)) = self.next_tsns {
            out.extend_from_slice(&sender.0.to_be_bytes());
            out.extend_from_slice(&receiver.0.to_be_bytes());
        }
    }
}

impl AddStreams {
    pub(super) const LEN: usize = 8;

    pub(super) fn parse(value: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let (request_seq, new_streams) = (value.u32()?, value.u16()?);
        let _reserved = value.u16()?;
        Ok(Self { request_seq, new_streams })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request_seq.to_be_bytes());
        out.extend_from_slice(&self.new_streams.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
    }
}
