//! Requests in ASCONF (RFC 5061 §4.2). Add (0xC001), Delete (0xC002) and Set Primary (0xC004) have one layout.
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |             Type              |            Length             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |               ASCONF-Request Correlation ID                   |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                       Address Parameter                       \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use core::net::IpAddr;

use super::Param;

/// A request in ASCONF about one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRequest {
    /// Number that identifies the request, and that the answer returns.
    pub correlation_id: u32,
    /// Address that the request is about. The unspecified address stands for the source address of the packet.
    pub address: IpAddr,
}

impl AddressRequest {
    pub(super) fn len(&self) -> usize {
        4 + Param::Address(self.address).len()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.correlation_id.to_be_bytes());
        Param::Address(self.address).write(out);
    }
}
