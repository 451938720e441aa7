//! ASCONF: [RFC 5061 §4.1.1](https://www.rfc-editor.org/rfc/rfc5061.html#section-4.1.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 193  |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                         Serial Number                         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                       Address Parameter                       \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                       ASCONF Parameters                       \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use core::net::IpAddr;

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Param, ParseError, padded, param};

/// Chunk Type of ASCONF.
pub const TYPE: u8 = 193;

/// Asks the peer to change its list of the sender's addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asconf {
    /// Serial number of the ASCONF chunk. It wraps around.
    pub serial: u32,
    /// One of the sender's addresses. The address identifies the association if the source address of the packet is
    /// new.
    pub address: IpAddr,
    /// Requests to add or delete addresses or to set the primary, in order.
    pub params: Vec<Param>,
}

impl ChunkDecode for Asconf {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self {
            serial: body.u32()?,
            address: param::parse_address(&mut body)?,
            params: param::parse_all(&mut body)?,
        })
    }
}

impl ChunkEncode for Asconf {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        4 + padded(Param::Address(self.address).len()) + param::len_all(&self.params)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.serial.to_be_bytes());
        Param::Address(self.address).write(out);
        param::write_all(out, &self.params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};
    use crate::wire::param::AddressRequest;

    #[test]
    fn follows_the_layout() {
        let bytes = [
            0xc1, 0, 0, 0x20, 0, 0, 0, 7, 0, 5, 0, 8, 192, 0, 2, 1, 0xc0, 1, 0, 0x10, 0, 0, 0, 9, 0, 5, 0, 8,
            192, 0, 2, 2,
        ];
        let request = AddressRequest { correlation_id: 9, address: [192, 0, 2, 2].into() };
        let params = vec![Param::AddIpAddress(request)];
        check(&bytes, Asconf { serial: 7, address: [192, 0, 2, 1].into(), params });
    }

    #[test]
    fn address_comes_first() {
        let bytes = [0xc1, 0, 0, 0x0c, 0, 0, 0, 7, 0xc0, 0, 0, 4];
        assert_eq!(parse(&bytes), Err(ParseError::Forbidden));
    }
}
