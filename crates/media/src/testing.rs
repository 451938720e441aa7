//! Transport packets for tests.

use crate::ts::{PACKET_LEN, Packet, Pcr, crc32_mpeg2};

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

/// A section of `table` with its checksum.
pub(crate) fn section(table: u8, extension: u16, body: &[u8], current: bool) -> Vec<u8> {
    let len = u16::try_from(5 + body.len() + 4).expect("short") | 0xb000;
    let mut section = vec![table];
    section.extend(len.to_be_bytes());
    section.extend(extension.to_be_bytes());
    section.extend([0xc0 | u8::from(current), 0, 0]);
    section.extend(body);
    let crc = crc32_mpeg2(&section);
    section.extend(crc.to_be_bytes());
    section
}

/// A section in packets of `pid`, with its pointer field.
pub(crate) fn carry(pid: u16, section: &[u8]) -> Vec<Packet> {
    let unit = [&[0], section].concat();
    let chunks = unit.chunks(180).enumerate();
    chunks
        .map(|(k, chunk)| {
            let counter = u8::try_from(k % 16).expect("below 16");
            Build { unit_start: k == 0, ..Build::new(pid, counter) }.payload(chunk).packet()
        })
        .collect()
}

/// Program 5, whose map is on PID 0x1000.
pub(crate) fn pat() -> Vec<u8> {
    // Program 0 names the network's PID; program 5 has its map on 0x1000.
    section(0, 1, &[0, 0, 0xe0, 0x10, 0, 5, 0xf0, 0x00], true)
}

/// The map of program 5. The map has 400 bytes of descriptors, an AAC stream on PID 0x102 and an H.264 stream on 0x101.
pub(crate) fn pmt(pcr_pid: u16) -> Vec<u8> {
    let [high, low] = pcr_pid.to_be_bytes();
    let mut body = vec![0xe0 | high, low, 0xf1, 0x90];
    body.extend([0x55; 400]);
    body.extend([0x0f, 0xe1, 0x02, 0xf0, 2, 9, 9]);
    body.extend([0x1b, 0xe1, 0x01, 0xf0, 0]);
    section(2, 5, &body, true)
}
