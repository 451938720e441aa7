//! Changes of the version numbers in tables that pass through the splicer.

use super::edit::Bytes;
use crate::ts::{CRC_LEN, PACKET_LEN, Packet, remainder};

/// Byte of a section that has `version_number`, after table, length and extension.
const VERSION: usize = 5;
/// Length of the shortest section with a version: the long header and the checksum.
const SHORTEST: usize = 12;
/// Length of the longest section of a PAT or PMT (ISO/IEC 13818-1, 2.4.4.3 and 2.4.4.8).
const LONGEST: usize = 1024;

/// Adds a number to the version of each section of a table, in the packets that carry the section.
///
/// No packet is delayed. The checksum of Annex A is linear. The change of the version therefore determines the change
/// of the checksum. A damaged section stays damaged.
#[derive(Debug, Default)]
pub(super) struct VersionShift {
    /// True if a section may begin or continue.
    open: bool,
    /// Number of bytes of the section so far.
    at: usize,
    head: [u8; VERSION],
    len: usize,
    /// Change of the checksum.
    change: [u8; CRC_LEN],
}

impl VersionShift {
    /// Changes the sections of the table `table` in a packet. If `extension` is given, only sections with this
    /// extension change.
    pub(super) fn apply(
        &mut self,
        packet: &Packet,
        bytes: &mut Bytes,
        (table, extension): (u8, Option<u16>),
        add: u8,
    ) {
        let payload = packet.payload().len();
        let mut from = PACKET_LEN - payload;
        if packet.unit_start() && payload > 0 {
            let begins = from + 1 + usize::from(bytes[from]);
            let ends = begins.min(PACKET_LEN);
            (from + 1..ends).for_each(|at| self.byte(&mut bytes[at], (table, extension), add));
            (self.open, self.at) = (true, 0);
            from = ends;
        }
        (from..PACKET_LEN).for_each(|at| self.byte(&mut bytes[at], (table, extension), add));
    }

    fn byte(&mut self, byte: &mut u8, (table, extension): (u8, Option<u16>), add: u8) {
        // A table_id of 0xff means stuffing up to the end of the packet.
        self.open &= !(self.at == 0 && *byte == 0xff);
        if !self.open {
            return;
        }
        match self.at {
            at if at < VERSION => {
                self.head[at] = *byte;
                if at == 2 {
                    self.len = 3 + usize::from(u16::from_be_bytes([self.head[1] & 0x0f, *byte]));
                }
                self.change = [0; CRC_LEN];
            }
            VERSION => {
                let own = u16::from_be_bytes([self.head[3], self.head[4]]);
                let is_it = self.head[0] == table && extension.is_none_or(|extension| extension == own);
                if is_it && (SHORTEST..=LONGEST).contains(&self.len) {
                    let version = (*byte >> 1).wrapping_add(add) & 0x1f;
                    let new = *byte & 0xc1 | version << 1;
                    let mut rest = vec![0; self.len - CRC_LEN - VERSION];
                    rest[0] = *byte ^ new;
                    self.change = remainder(0, &rest).to_be_bytes();
                    *byte = new;
                }
            }
            at if at + CRC_LEN >= self.len && at < self.len => *byte ^= self.change[at + CRC_LEN - self.len],
            _ => {}
        }
        self.at += 1;
        if self.at >= self.len.max(3) {
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{carry, pmt, section};
    use crate::ts::{Sections, crc32_mpeg2};

    fn shifted(packets: &[Packet], of: (u8, Option<u16>), add: u8) -> Vec<Vec<u8>> {
        let (mut shift, mut sections, mut found) = (VersionShift::default(), Sections::default(), Vec::new());
        for packet in packets {
            let mut bytes = *packet.as_bytes();
            shift.apply(packet, &mut bytes, of, add);
            sections.push(&Packet::new(bytes).expect("a sync byte"), |section| found.push(section.to_vec()));
        }
        found
    }

    #[test]
    fn a_section_over_several_packets_has_the_new_version_and_its_checksum() {
        let before = pmt(0x101);
        for add in 0..32 {
            let found = shifted(&carry(0x1000, &before), (2, Some(5)), add);
            let [section] = &found[..] else { panic!("one section") };
            assert_eq!(section[VERSION] >> 1 & 0x1f, add, "the version was 0");
            assert_eq!(crc32_mpeg2(section), 0);
            assert_eq!(section[..VERSION], before[..VERSION]);
            assert_eq!(section[6..section.len() - 4], before[6..before.len() - 4]);
        }
    }

    #[test]
    fn other_tables_and_programs_stay() {
        let (other, ours) = (section(2, 6, &[1, 2, 3, 4], true), section(2, 5, &[1, 2, 3, 4], true));
        let both = carry(0x1000, &[&other[..], &ours].concat());
        let found = shifted(&both, (2, Some(5)), 3);
        assert_eq!(found[0], other);
        assert_eq!((found[1][VERSION], crc32_mpeg2(&found[1])), (ours[VERSION] | 3 << 1, 0));
        assert_eq!(shifted(&both, (0, None), 3), [other, ours]);
    }

    #[test]
    fn a_damaged_section_stays_damaged() {
        let mut damaged = section(2, 5, &[1, 2, 3, 4], true);
        damaged[9] ^= 4;
        let found = shifted(&carry(0x1000, &damaged), (2, Some(5)), 1);
        assert_ne!(crc32_mpeg2(&found[0]), 0);
    }
}
