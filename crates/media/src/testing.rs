//! Transport packets for tests.

use crate::ts::{PACKET_LEN, Packet, Pcr};

/// The parts of a packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Build {
    pub(crate) pid: u16,
    pub(crate) counter: u8,
    pub(crate) unit_start: bool,
    pub(crate) error: bool,
    pub(crate) discontinuity: bool,
    pub(crate) random_access: bool,
    pub(crate) pcr: Option<Pcr>,
    /// `None`: a packet without payload.
    pub(crate) payload: Option<Vec<u8>>,
}

impl Build {
    pub(crate) fn new(pid: u16, counter: u8) -> Self {
        Build { pid, counter, payload: Some(Vec::new()), ..Build::default() }
    }

    /// The packet. Stuffing in the adaptation field precedes the payload, as in PES packets.
    pub(crate) fn packet(&self) -> Packet {
        let [high, low] = self.pid.to_be_bytes();
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let mut field = vec![bit(self.discontinuity, 0x80) | bit(self.random_access, 0x40)];
        if let Some(pcr) = self.pcr {
            let (base, extension) = (pcr.ticks() / 300, pcr.ticks() % 300);
            field[0] |= 0x10;
            let bits = base << 15 | 0x3f << 9 | extension;
            field.extend_from_slice(&bits.to_be_bytes()[2..]);
        }
        let payload = self.payload.as_deref().unwrap_or(&[]);
        field.resize(PACKET_LEN - 5 - payload.len(), 0xff);
        let mut bytes = vec![0x47, high | bit(self.unit_start, 0x40) | bit(self.error, 0x80), low];
        bytes.push(0x20 | bit(self.payload.is_some(), 0x10) | self.counter & 0x0f);
        bytes.push(u8::try_from(field.len()).expect("the field is shorter than the packet"));
        bytes.extend(field);
        bytes.extend(payload);
        Packet::new(bytes.try_into().expect("field and payload fill the packet")).expect("it has a sync byte")
    }

    pub(crate) fn payload(mut self, payload: &[u8]) -> Self {
        self.payload = Some(payload.to_vec());
        self
    }
}
