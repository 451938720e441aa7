//! Heartbeat Information, the only parameter of HEARTBEAT and HEARTBEAT ACK (RFC 9260 §3.3.5).

use bytes::Bytes;

use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, tlv};

const TYPE: u16 = 1;

/// Reads the heartbeat information. Bytes after it have no meaning.
pub(in crate::wire) fn parse_heartbeat_info(mut body: Cursor<'_>) -> Result<Bytes, ParseError> {
    let (param_type, mut value) = tlv::next(&mut body)?;
    if param_type == TYPE { Ok(value.rest()) } else { Err(ParseError::Forbidden) }
}

pub(in crate::wire) fn heartbeat_info_len(info: &Bytes) -> usize {
    tlv::HEADER_LEN + info.len()
}

pub(in crate::wire) fn write_heartbeat_info(out: &mut Vec<u8>, info: &Bytes) {
    tlv::write(out, TYPE, |out| out.extend_from_slice(info));
}
