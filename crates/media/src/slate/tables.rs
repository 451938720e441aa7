//! Program tables of a source, and of the output (§2.4.4).

use crate::ts::{
    CRC_LEN, NULL_PID, PAT_PID, Packet, Sections, TABLE_PAT, TABLE_PMT, body, crc32_mpeg2, is_video,
    parse_pat,
};

/// Byte of a section that has `version_number`.
const VERSION: usize = 5;
/// Byte of a section that has `section_number`.
const NUMBER: usize = 6;

/// An elementary stream of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) pid: u16,
    pub(super) stream_type: u8,
    /// Descriptors of the stream.
    pub(super) info: Vec<u8>,
}

impl Stream {
    pub(super) fn is_video(&self) -> bool {
        is_video(self.stream_type)
    }

    /// Returns whether the stream is audio. The type shows this or, for private data, the descriptors (ETSI EN 300 468,
    /// table 12; `registration_descriptor` for Opus).
    pub(super) fn is_audio(&self) -> bool {
        match self.stream_type {
            0x03 | 0x04 | 0x0f | 0x11 | 0x1c | 0x2d | 0x81 | 0x87 => true,
            0x06 => descriptors(&self.info).any(|(tag, data)| match tag {
                0x05 => matches!(data, [b'O', b'p', b'u', b's', ..] | [b'A', b'C', b'-', b'3', ..] | b"BSSD"),
                0x6a | 0x7a | 0x7b | 0x7c => true,
                _ => false,
            }),
            _ => false,
        }
    }
}

fn descriptors(mut rest: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let ([tag, len], after) = rest.split_first_chunk::<2>()?;
        let (data, after) = after.split_at_checked(usize::from(*len))?;
        rest = after;
        Some((*tag, data))
    })
}

/// A program map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Map {
    pub(super) number: u16,
    /// PID of the program's PCR; `None`: the program has no PCR.
    pub(super) pcr_pid: Option<u16>,
    pub(super) streams: Vec<Stream>,
}

impl Map {
    /// Reads a section; `None` if it is damaged, not in force, or belongs to another program.
    fn parse(section: &[u8], number: u16) -> Option<Map> {
        let (_, body) = body(section, TABLE_PMT).filter(|(of, _)| *of == number)?;
        let (head, rest) = body.split_first_chunk::<4>()?;
        let pcr_pid = u16::from_be_bytes([head[0], head[1]]) & 0x1fff;
        let info = usize::from(u16::from_be_bytes([head[2], head[3]]) & 0x0fff);
        let mut rest = rest.get(info..)?;
        let mut streams = Vec::new();
        while let Some((stream, more)) = rest.split_first_chunk::<5>() {
            let pid = u16::from_be_bytes([stream[1], stream[2]]) & 0x1fff;
            let len = usize::from(u16::from_be_bytes([stream[3], stream[4]]) & 0x0fff);
            let (info, more) = more.split_at_checked(len)?;
            streams.push(Stream { pid, stream_type: stream[0], info: info.to_vec() });
            rest = more;
        }
        Some(Map { number, pcr_pid: (pcr_pid != NULL_PID).then_some(pcr_pid), streams })
    }

    pub(super) fn video(&self) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.is_video())
    }

    pub(super) fn audio(&self) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.is_audio())
    }

    /// The map as a section of version 0.
    pub(super) fn section(&self) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend((self.pcr_pid.unwrap_or(NULL_PID) | 0xe000).to_be_bytes());
        body.extend(0xf000_u16.to_be_bytes());
        for stream in &self.streams {
            let len = u16::try_from(stream.info.len()).unwrap_or_default() & 0x0fff;
            body.push(stream.stream_type);
            body.extend((stream.pid | 0xe000).to_be_bytes());
            body.extend((len | 0xf000).to_be_bytes());
            body.extend(&stream.info);
        }
        section(TABLE_PMT, self.number, &body)
    }
}

/// A program association of one program, as a section of version 0.
pub(super) fn association(number: u16, map_pid: u16) -> Vec<u8> {
    let [high, low] = (map_pid | 0xe000).to_be_bytes();
    let [first, second] = number.to_be_bytes();
    section(TABLE_PAT, 1, &[first, second, high, low])
}

fn section(table: u8, extension: u16, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(VERSION + body.len() + CRC_LEN).unwrap_or_default() | 0xb000;
    let mut section = vec![table];
    section.extend(len.to_be_bytes());
    section.extend(extension.to_be_bytes());
    section.extend([0xc1, 0, 0]);
    section.extend(body);
    let crc = crc32_mpeg2(&section);
    section.extend(crc.to_be_bytes());
    section
}

fn version(section: &[u8]) -> u8 {
    section.get(VERSION).map_or(0, |byte| byte >> 1 & 0x1f)
}

/// Returns the section with another version.
fn with_version(mut section: Vec<u8>, version: u8) -> Vec<u8> {
    if let Some(byte) = section.get_mut(VERSION) {
        *byte = *byte & 0xc1 | (version & 0x1f) << 1;
    }
    let end = section.len().saturating_sub(CRC_LEN);
    section.truncate(end);
    let crc = crc32_mpeg2(&section);
    section.extend(crc.to_be_bytes());
    section
}

/// A table of the output.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Last section.
    last: Option<Vec<u8>>,
    /// Difference between the versions of the tables of the output and of the source that plays.
    pub(super) offset: u8,
}

impl Table {
    /// Section for a table of another source. The version of the section is raised by one if the content differs from
    /// the last section.
    pub(super) fn switch(&mut self, section: &[u8]) -> Vec<u8> {
        let section = match &self.last {
            None => section.to_vec(),
            Some(last) => {
                let same = with_version(section.to_vec(), version(last));
                if same == *last { same } else { with_version(same, version(last).wrapping_add(1)) }
            }
        };
        self.last = Some(section.clone());
        section
    }

    /// Section for a table of a source that starts to play.
    pub(super) fn follow(&mut self, section: &[u8]) -> Vec<u8> {
        let out = self.switch(section);
        self.offset = version(&out).wrapping_sub(version(section)) & 0x1f;
        out
    }

    /// Records a section of the source that plays.
    pub(super) fn passed(&mut self, section: &[u8]) {
        self.last = Some(with_version(section.to_vec(), version(section).wrapping_add(self.offset)));
    }

    /// The last section.
    pub(super) fn last(&self) -> Option<&[u8]> {
        self.last.as_deref()
    }
}

/// Reads the tables of a source's first program.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pat_sections: Sections,
    map_sections: Sections,
    /// Section with the first program.
    pub(super) pat: Option<Vec<u8>>,
    /// Number and map PID of the first program.
    pub(super) first: Option<(u16, u16)>,
    /// Section and content of the map.
    pub(super) map: Option<(Vec<u8>, Map)>,
}

/// A table that a packet has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Completed {
    Association,
    Map,
}

impl Tables {
    /// Processes the next packet. Returns the table that it completes.
    pub(super) fn observe(&mut self, packet: &Packet) -> Option<Completed> {
        let mut completed = None;
        if packet.pid() == PAT_PID {
            let Tables { pat_sections, map_sections, pat, first, map, .. } = self;
            pat_sections.push(packet, |section| {
                // The first program is in the first section of several.
                if section.get(NUMBER) != Some(&0) {
                    return;
                }
                let Some(found) = parse_pat(section) else { return };
                if first.replace(found) != Some(found) {
                    (*map, *map_sections) = (None, Sections::default());
                }
                *pat = Some(section.to_vec());
                completed = Some(Completed::Association);
            });
        } else if let Some((number, pid)) = self.first
            && packet.pid() == pid
        {
            let map = &mut self.map;
            self.map_sections.push(packet, |section| {
                let Some(found) = Map::parse(section, number) else { return };
                *map = Some((section.to_vec(), found));
                completed = Some(Completed::Map);
            });
        }
        completed
    }
}

/// Tables of two programs. The first program has H.264 with the PCR on PID 0x101, AAC on 0x102 and its map on 0x100.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn tables_of_scripts() -> Vec<super::edit::Bytes> {
    let map = |pcr_pid| {
        let stream = |pid, stream_type| Stream { pid, stream_type, info: Vec::new() };
        Map { number: 1, pcr_pid: Some(pcr_pid), streams: vec![stream(0x101, 0x1b), stream(0x102, 0x0f)] }
    };
    let carry = super::edit::carry;
    let tables = [association(1, 0x100), association(1, 0x103)].map(|section| carry(PAT_PID, &section));
    let maps = [map(0x101), map(0x103)].map(|map| carry(0x100, &map.section()));
    [tables.concat(), maps.concat(), carry(0x103, &map(0x102).section())].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{carry, pat, pmt};

    #[test]
    fn a_map_that_is_written_reads_the_same() {
        let mut tables = Tables::default();
        for packet in carry(0, &pat()).iter().chain(&carry(0x1000, &pmt(0x101))) {
            tables.observe(packet);
        }
        assert_eq!(tables.first, Some((5, 0x1000)));
        let (_, map) = tables.map.expect("the map came");
        assert_eq!((map.video().map(|s| s.pid), map.audio().map(|s| s.pid)), (Some(0x101), Some(0x102)));
        assert_eq!(Map::parse(&map.section(), 5), Some(map));
        assert_eq!(parse_pat(&association(7, 0x1234)), Some((7, 0x1234)));
    }

    #[test]
    fn the_first_section_of_several_names_the_program() {
        let mut second = association(9, 0x200);
        second[NUMBER] = 1;
        let second = with_version(second, 0);
        let mut tables = Tables::default();
        for section in [association(7, 0x100), second] {
            for packet in carry(0, &section) {
                tables.observe(&packet);
            }
        }
        assert_eq!(tables.first, Some((7, 0x100)));
    }

    #[test]
    fn the_version_rises_with_the_content_alone() {
        let mut table = Table::default();
        let (one, two) = (association(1, 0x100), association(2, 0x100));
        assert_eq!(table.follow(&one), one);
        assert_eq!(version(&table.switch(&one)), 0);
        assert_eq!(version(&table.switch(&two)), 1);
        assert_eq!(version(&table.switch(&two)), 1);
        // The source returns with version 0. From then on, this is version 2 of the output.
        assert_eq!((version(&table.follow(&one)), table.offset), (2, 2));
        table.passed(&with_version(two.clone(), 1));
        assert_eq!(table.last(), Some(&with_version(two, 3)[..]));
    }
}
