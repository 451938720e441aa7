//! Importance of packets for the rest of the stream, and the frame of each packet.

use crate::ts::{FrameType, Marks, NULL_PID, Packet, PesHeader, ProgramTable, is_reference};

/// Importance of a packet: the part of the stream that is useless without it, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Worth {
    /// Importance for the packet itself only: stuffing, and frames to which no other frames refer.
    Disposable,
    /// Unknown importance: video without known frame types, and all packets before the stream's tables.
    #[default]
    Unknown,
    /// Frames to which other frames refer, sound, and all other data except video.
    Reference,
    /// Importance for everything that follows: tables, and frames at which decoding may start.
    Key,
}

/// Importance and frame of a packet or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    /// Importance; the highest one of several packets.
    pub worth: Worth,
    /// Number of the video frame that contains the whole message. Frames are numbered in the order in which they begin.
    /// `None`: the message is not part of a video frame, or has parts of several frames.
    pub frame: Option<u64>,
}

impl Part {
    /// Combines both parts.
    pub fn union(self, other: Part) -> Part {
        Part { worth: self.worth.max(other.worth), frame: self.frame.filter(|f| other.frame == Some(*f)) }
    }
}

/// Determines the importance of each packet of a stream.
#[derive(Debug, Default)]
pub(super) struct Weigher {
    table: ProgramTable,
    /// The current frame.
    frame: Part,
    frames: u64,
}

impl Weigher {
    /// Returns importance and frame of the next packet of the stream, whose marks are `marks`.
    pub fn weigh(&mut self, packet: &Packet, marks: Marks) -> Part {
        self.table.observe(packet);
        let apart = |worth| Part { worth, frame: None };
        match self.table.program().map(|p| p.video) {
            _ if packet.pid() == NULL_PID => apart(Worth::Disposable),
            _ if self.table.carries(packet.pid()) => apart(Worth::Key),
            None => apart(Worth::Unknown),
            Some(Some(video)) if video.pid == packet.pid() => {
                if packet.unit_start() {
                    self.begin(packet, marks);
                }
                // The first frame of the stream has not begun.
                self.frame
            }
            Some(_) => apart(Worth::Reference),
        }
    }

    fn begin(&mut self, packet: &Packet, marks: Marks) {
        self.frames += 1;
        let data = PesHeader::parse(packet.payload()).and_then(|pes| packet.payload().get(pes.data_at..));
        let referred = || data.and_then(is_reference);
        let worth = match marks.frame_type {
            _ if marks.random_access => Worth::Key,
            Some(FrameType::I) => Worth::Key,
            Some(_) if referred() == Some(false) => Worth::Disposable,
            Some(FrameType::B) if referred().is_none() => Worth::Disposable,
            Some(FrameType::B | FrameType::P) => Worth::Reference,
            None => Worth::Unknown,
        };
        self.frame = Part { worth, frame: Some(self.frames) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Build, carry, pat, pmt};
    use crate::ts::Marker;

    const VIDEO: u16 = 0x101;
    const SOUND: u16 = 0x102;

    /// A packet in which a frame begins, up to the first bytes of its slice.
    fn frame(random_access: bool, slice: &[u8]) -> Packet {
        let unit = [&[0, 0, 1, 0xe0, 0, 0, 0x80, 0, 0, 0, 0, 1][..], slice].concat();
        Build { unit_start: true, random_access, ..Build::new(VIDEO, 0) }.payload(&unit).packet()
    }

    fn more(pid: u16) -> Packet {
        Build::new(pid, 0).payload(&[1; 100]).packet()
    }

    fn weigh(packets: &[Packet]) -> Vec<Part> {
        let (mut marker, mut weigher) = (Marker::new(), Weigher::default());
        packets.iter().map(|p| weigher.weigh(p, marker.mark(p))).collect()
    }

    /// Slices of Table 7-6: first_mb_in_slice is 0, and slice_type is 0 (P) or 1 (B). The NAL headers have nal_ref_idc
    /// 2 or 0.
    #[test]
    fn frames_weigh_what_others_take_from_them() {
        let mut packets = [carry(0, &pat()), carry(0x1000, &pmt(VIDEO))].concat();
        let tables = packets.len();
        packets.extend([
            more(VIDEO),
            frame(true, &[0x65, 0xff]),
            more(VIDEO),
            more(SOUND),
            frame(false, &[0x41, 0b1100_0000]),
            frame(false, &[0x01, 0b1100_0000]),
            frame(false, &[0x41, 0b1010_0000]),
            frame(false, &[0x01, 0b1010_0000]),
            more(VIDEO),
            more(NULL_PID),
        ]);
        let parts = weigh(&packets);
        assert!(parts[..tables].iter().all(|p| *p == Part { worth: Worth::Key, frame: None }));
        let parts: Vec<_> = parts[tables..].iter().map(|p| (p.worth, p.frame)).collect();
        use Worth::{Disposable, Key, Reference, Unknown};
        let expected = [
            (Unknown, None),
            (Key, Some(1)),
            (Key, Some(1)),
            (Reference, None),
            (Reference, Some(2)),
            (Disposable, Some(3)),
            (Reference, Some(4)),
            (Disposable, Some(5)),
            (Disposable, Some(5)),
            (Disposable, None),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn nothing_is_known_before_the_tables() {
        assert_eq!(weigh(&[more(VIDEO), frame(true, &[0x65, 0xff])]), [Part::default(); 2]);
    }

    #[test]
    fn a_message_is_worth_its_best_packet_and_of_a_frame_if_all_of_it_is() {
        let part = |worth, frame| Part { worth, frame };
        let both = part(Worth::Reference, Some(1)).union(part(Worth::Disposable, Some(1)));
        assert_eq!(both, part(Worth::Reference, Some(1)));
        assert_eq!(both.union(part(Worth::Key, Some(2))), part(Worth::Key, None));
        assert_eq!(both.union(part(Worth::Reference, None)).union(both), part(Worth::Reference, None));
    }
}
