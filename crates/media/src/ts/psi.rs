//! Program association and program map tables (§2.4.4), limited to the clock and the video.

use super::packet::{NULL_PID, Packet};

/// PID of the program association table.
pub(crate) const PAT_PID: u16 = 0;
pub(crate) const TABLE_PAT: u8 = 0;
pub(crate) const TABLE_PMT: u8 = 2;
/// Longest section of these tables, in bytes.
const MAX_SECTION: usize = 1024;
/// Bytes of a section's checksum.
pub(crate) const CRC_LEN: usize = 4;
/// `stream_type` of H.264 video.
const H264: u8 = 0x1b;

/// The video of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Video {
    /// PID of its packets.
    pub pid: u16,
    /// `stream_type` in the program map.
    pub stream_type: u8,
}

impl Video {
    /// Returns whether the video is H.264 (ITU-T H.264, ISO/IEC 14496-10).
    pub fn is_h264(&self) -> bool {
        self.stream_type == H264
    }
}

/// The stream's first program, from the program map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// `program_number`.
    pub number: u16,
    /// PID whose packets carry the program's PCR; `None` for a program without PCR.
    pub pcr_pid: Option<u16>,
    /// First video stream of the program.
    pub video: Option<Video>,
}

/// Reads the tables of a stream's first program from its packets and follows their changes.
#[derive(Debug, Default)]
pub struct ProgramTable {
    pat: Sections,
    pmt: Sections,
    /// Number and map PID of the first program.
    first: Option<(u16, u16)>,
    program: Option<Program>,
}

impl ProgramTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The program, once its map has been read.
    pub fn program(&self) -> Option<Program> {
        self.program
    }

    /// Returns whether packets of `pid` carry the tables of the first program.
    pub fn carries(&self, pid: u16) -> bool {
        pid == PAT_PID || self.first.is_some_and(|(_, map)| map == pid)
    }

    /// Processes the next packet of the stream.
    pub fn observe(&mut self, packet: &Packet) {
        if packet.pid() == PAT_PID {
            let first = &mut self.first;
            self.pat.push(packet, |section| *first = parse_pat(section).or(*first));
        } else if let Some((number, pid)) = self.first
            && packet.pid() == pid
        {
            let program = &mut self.program;
            self.pmt.push(packet, |section| *program = parse_pmt(section, number).or(*program));
        }
    }
}

/// Collects sections out of the packets of one PID.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    buffer: Vec<u8>,
    /// A section began and has not ended.
    open: bool,
}

impl Sections {
    /// Passes each section that ends in this packet to `each`.
    pub(crate) fn push(&mut self, packet: &Packet, mut each: impl FnMut(&[u8])) {
        let payload = packet.payload();
        if !packet.unit_start() {
            self.feed(payload, &mut each);
            return;
        }
        // pointer_field: number of bytes that still belong to the previous section.
        let Some((&pointer, rest)) = payload.split_first() else { return };
        let Some((end, start)) = rest.split_at_checked(usize::from(pointer)) else {
            self.reset(false);
            return;
        };
        self.feed(end, &mut each);
        self.reset(true);
        self.feed(start, &mut each);
    }

    fn feed(&mut self, bytes: &[u8], each: &mut impl FnMut(&[u8])) {
        if !self.open {
            return;
        }
        self.buffer.extend_from_slice(bytes);
        while let [table, high, low, ..] = self.buffer[..] {
            let len = 3 + usize::from(u16::from_be_bytes([high & 0x0f, low]));
            // A table_id of 0xff means stuffing up to the end of the packet.
            if table == 0xff || len > MAX_SECTION {
                self.reset(false);
                return;
            }
            if self.buffer.len() < len {
                return;
            }
            each(&self.buffer[..len]);
            self.buffer.drain(..len);
        }
    }

    fn reset(&mut self, open: bool) {
        self.buffer.clear();
        self.open = open;
    }
}

/// Returns `table_id_extension` and the body of a section. The body lies between the 8 bytes of the long section header
/// and the checksum. The section must belong to this table, be in force and be undamaged.
pub(crate) fn body(section: &[u8], table: u8) -> Option<(u16, &[u8])> {
    let header = section.first_chunk::<8>()?;
    let current = header[5] & 1 != 0;
    if header[0] != table || !current || crc32_mpeg2(section) != 0 {
        return None;
    }
    let body = section.get(8..section.len().checked_sub(CRC_LEN)?)?;
    Some((u16::from_be_bytes([header[3], header[4]]), body))
}

/// Number and map PID of the first program.
pub(crate) fn parse_pat(section: &[u8]) -> Option<(u16, u16)> {
    let (_, body) = body(section, TABLE_PAT)?;
    // The entry of program 0 is the PID of the network, not of a program.
    body.as_chunks::<4>()
        .0
        .iter()
        .map(|e| (u16::from_be_bytes([e[0], e[1]]), u16::from_be_bytes([e[2], e[3]]) & 0x1fff))
        .find(|&(number, _)| number != 0)
}

fn parse_pmt(section: &[u8], number: u16) -> Option<Program> {
    let (of, body) = body(section, TABLE_PMT)?;
    if of != number {
        return None;
    }
    let (head, rest) = body.split_first_chunk::<4>()?;
    let pcr_pid = u16::from_be_bytes([head[0], head[1]]) & 0x1fff;
    let info_len = usize::from(u16::from_be_bytes([head[2], head[3]]) & 0x0fff);
    let mut rest = rest.get(info_len..)?;
    let mut video = None;
    while let Some((stream, more)) = rest.split_first_chunk::<5>() {
        let pid = u16::from_be_bytes([stream[1], stream[2]]) & 0x1fff;
        let info_len = usize::from(u16::from_be_bytes([stream[3], stream[4]]) & 0x0fff);
        if video.is_none() && is_video(stream[0]) {
            video = Some(Video { pid, stream_type: stream[0] });
        }
        rest = more.get(info_len..).unwrap_or(&[]);
    }
    Some(Program { number, pcr_pid: (pcr_pid != NULL_PID).then_some(pcr_pid), video })
}

/// Returns whether a `stream_type` is video: MPEG-1, MPEG-2, MPEG-4 part 2, H.264, H.265, H.266.
pub(crate) fn is_video(stream_type: u8) -> bool {
    matches!(stream_type, 0x01 | 0x02 | 0x10 | H264 | 0x24 | 0x33)
}

/// The checksum of Annex A. Over a section that ends with its own checksum, the result is 0.
pub(crate) fn crc32_mpeg2(bytes: &[u8]) -> u32 {
    remainder(u32::MAX, bytes)
}

/// Remainder of the checksum's polynomial division after `bytes`, starting with the register `crc`.
pub(crate) fn remainder(crc: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(crc, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| {
            if crc & 0x8000_0000 != 0 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 }
        })
    })
}
