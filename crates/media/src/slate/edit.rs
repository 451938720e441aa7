//! Changes of packets, and creation of packets.

use crate::ts::{NULL_PID, PACKET_LEN, Packet, Pcr, PesHeader, SYNC_BYTE};

/// Ticks of the PCR per tick of a time stamp.
pub(super) const PER_STAMP: u64 = 300;
/// Modulus of time stamps.
pub(super) const STAMP_WRAP: u64 = 1 << 33;
/// Bytes of a packet's header.
const HEADER: usize = 4;
/// `discontinuity_indicator` in the flags of an adaptation field.
const DISCONTINUITY: u8 = 0x80;
/// `PCR_flag` in the flags of an adaptation field.
const HAS_PCR: u8 = 0x10;

/// Bytes of a packet, which begin with the sync byte.
pub(super) type Bytes = [u8; PACKET_LEN];

pub(super) fn set_counter(bytes: &mut Bytes, counter: u8) {
    bytes[3] = bytes[3] & 0xf0 | counter & 0x0f;
}

pub(super) fn set_pid(bytes: &mut Bytes, pid: u16) {
    let [high, low] = pid.to_be_bytes();
    bytes[1] = bytes[1] & 0xe0 | high & 0x1f;
    bytes[2] = low;
}

/// Sets `discontinuity_indicator`. The packet has an adaptation field with flags.
pub(super) fn set_discontinuity(bytes: &mut Bytes) {
    bytes[5] |= DISCONTINUITY;
}

/// Clears `discontinuity_indicator` of a packet that has an adaptation field with flags.
pub(super) fn clear_discontinuity(bytes: &mut Bytes) {
    bytes[5] &= !DISCONTINUITY;
}

/// Writes another PCR into a packet that has one.
pub(super) fn set_pcr(bytes: &mut Bytes, pcr: Pcr) {
    // program_clock_reference_base (33 bits), 6 reserved bits, program_clock_reference_extension (9 bits).
    let bits = (pcr.ticks() / PER_STAMP) << 15 | 0x3f << 9 | (pcr.ticks() % PER_STAMP);
    bytes[6..12].copy_from_slice(&bits.to_be_bytes()[2..]);
}

/// Adds `shift` ticks of 90 kHz to the time stamps of the PES packet that begins in this packet.
pub(super) fn shift_stamps(bytes: &mut Bytes, shift: u64) {
    let Some(packet) = Packet::new(*bytes) else { return };
    let Some(header) = PesHeader::parse(packet.payload()).filter(|_| packet.unit_start()) else { return };
    let fields = PACKET_LEN - packet.payload().len() + 9;
    for (at, stamp) in [(fields, header.pts), (fields + 5, header.dts)] {
        if let (Some(stamp), Some(field)) = (stamp, bytes.get_mut(at..at + 5)) {
            write_stamp(field, (stamp + shift) % STAMP_WRAP);
        }
    }
}

/// Writes a time stamp of 33 bits into five bytes, with marker bits. The four bits before them do not change.
fn write_stamp(field: &mut [u8], stamp: u64) {
    let bits = |from: u64, mask: u64| u8::try_from(stamp >> from & mask).unwrap_or_default();
    let stamp = [
        bits(30, 7) << 1 | 1,
        bits(22, 0xff),
        bits(15, 0x7f) << 1 | 1,
        bits(7, 0xff),
        bits(0, 0x7f) << 1 | 1,
    ];
    field[0] = field[0] & 0xf0 | stamp[0];
    field[1..].copy_from_slice(&stamp[1..]);
}

/// A packet that has a PCR and no payload.
pub(super) fn pcr_packet(pid: u16, pcr: Pcr) -> Bytes {
    let mut bytes = [0xff; PACKET_LEN];
    bytes[..6].copy_from_slice(&[SYNC_BYTE, 0, 0, 0x20, 183, HAS_PCR]);
    set_pid(&mut bytes, pid);
    set_pcr(&mut bytes, pcr);
    bytes
}

/// A null packet.
pub(super) fn null_packet() -> Bytes {
    let mut bytes = [0xff; PACKET_LEN];
    bytes[..4].copy_from_slice(&[SYNC_BYTE, 0, 0, 0x10]);
    set_pid(&mut bytes, NULL_PID);
    bytes
}

/// Packets that carry one section.
pub(super) fn carry(pid: u16, section: &[u8]) -> Vec<Bytes> {
    // pointer_field 0: the section begins at once.
    let unit = [&[0], section].concat();
    let packet = |(k, chunk): (usize, &[u8])| {
        let mut bytes = [0xff; PACKET_LEN];
        bytes[..HEADER].copy_from_slice(&[SYNC_BYTE, if k == 0 { 0x40 } else { 0 }, 0, 0x10]);
        set_pid(&mut bytes, pid);
        bytes[HEADER..HEADER + chunk.len()].copy_from_slice(chunk);
        bytes
    };
    unit.chunks(PACKET_LEN - HEADER).enumerate().map(packet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Build;

    #[test]
    fn a_made_packet_reads_as_it_was_written() {
        let pcr = Pcr::from_ticks(0x1_0000_0003 * 300 + 0x12b);
        let packet = Packet::new(pcr_packet(0x1abc, pcr)).expect("a sync byte");
        assert_eq!((packet.pid(), packet.has_payload()), (0x1abc, false));
        assert_eq!(packet.adaptation().and_then(|field| field.pcr), Some(pcr));
        let null = Packet::new(null_packet()).expect("a sync byte");
        assert_eq!((null.pid(), null.has_adaptation(), null.payload().len()), (NULL_PID, false, 184));
    }

    #[test]
    fn time_stamps_move_and_their_flags_stay() {
        // PTS 2^33 - 1 and DTS 5, whose prefixes are 0011 and 0001.
        let pes = [
            &[0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0, 10][..],
            &[0x3f, 0xff, 0xff, 0xff, 0xff],
            &[0x11, 0, 1, 0, 0x0b],
            b"data",
        ];
        let built = Build { unit_start: true, ..Build::new(0x100, 1) }.payload(&pes.concat()).packet();
        let mut bytes = *built.as_bytes();
        shift_stamps(&mut bytes, 3);
        let moved = Packet::new(bytes).expect("a sync byte");
        let header = PesHeader::parse(moved.payload()).expect("a header");
        assert_eq!((header.pts, header.dts), (Some(2), Some(8)));
        assert_eq!(&moved.payload()[header.data_at..], b"data");
        assert_eq!((moved.payload()[9] >> 4, moved.payload()[14] >> 4), (3, 1));
    }
}
