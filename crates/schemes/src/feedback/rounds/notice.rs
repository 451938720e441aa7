//! Messages between the two halves, in REPORT items.
//!
//! | kind | meaning | subject | payload |
//! |---|---|---|---|
//! | 0x110 | the packet's round and its number on its path: before DATA, with HEARTBEAT | – | round (32 bits), number (32 bits) |
//! | 0x111 | the rate asked for and the round that begins with it: with SACK, HEARTBEAT ACK | the path | rate in bytes/s (64 bits, 0: none yet), round (32 bits) |
//! | 0x112 | go there: on its own, reliable | the path | rate in bytes/s (64 bits, 0: none), serial (32 bits) |
//! | 0x113 | nothing to send: on its own | the path | – |

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use strandcast_proto::policy::{PathId, Report};

const LABEL: u16 = 0x110;
const RATE: u16 = 0x111;
const SWITCH: u16 = 0x112;
const QUIET: u16 = 0x113;

/// Length of a label on the wire in bytes. A label consists of a REPORT chunk header, an item header, round and number.
pub const LABEL_LEN: usize = 4 + 8 + 8;
/// Total length of round and number in bytes.
const LABEL_PAYLOAD: usize = 8;
/// Size in bytes of the blocks from which payloads are cut. With such blocks, a payload needs no separate allocation.
pub(super) const BLOCK: usize = 4096;
/// Number of labels that are encoded at one time. Several labels can be encoded together because packets of the same
/// path and round have consecutive numbers.
const AHEAD: u32 = 16;

/// Content of a REPORT item between the two halves.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// Round of this packet, and its number on its path.
    Label {
        /// The sender's round.
        round: u32,
        /// Number of the packet, counted from 0 on each path.
        number: u32,
    },
    /// Rate at which the sender should use the path that is the subject of the report.
    Rate {
        /// Rate in bytes per second. `None` if it is unknown.
        rate: Option<u64>,
        /// The round that begins when the rate is used.
        round: u32,
    },
    /// Order to send data on the path that is the subject of the report.
    Switch {
        /// Rate in bytes per second.
        rate: Option<u64>,
        /// Serial number, which rises with each switch.
        serial: u32,
    },
    /// The sender has no data for the path that is the subject of the report.
    Quiet,
}

impl Notice {
    /// Returns the notice in a report. Returns `None` for other reports.
    pub fn read(report: &Report) -> Option<Notice> {
        let mut bytes = &report.payload[..];
        let rate = |b: &mut &[u8]| Some(b.try_get_u64().ok()?).map(|r| Some(r).filter(|r| *r > 0));
        Some(match report.kind {
            LABEL => Notice::Label { round: bytes.try_get_u32().ok()?, number: bytes.try_get_u32().ok()? },
            RATE => Notice::Rate { rate: rate(&mut bytes)?, round: bytes.try_get_u32().ok()? },
            SWITCH => Notice::Switch { rate: rate(&mut bytes)?, serial: bytes.try_get_u32().ok()? },
            QUIET => Notice::Quiet,
            _ => return None,
        })
    }

    /// Encodes the notice as a report about `subject`.
    pub fn report(self, subject: Option<PathId>) -> Report {
        self.report_from(subject, &mut BytesMut::new())
    }

    /// Encodes the notice as a report whose payload is cut from `block`. Once earlier payloads have been written, this
    /// allocates no memory.
    pub fn report_from(self, subject: Option<PathId>, block: &mut BytesMut) -> Report {
        let (kind, reliable) = match self {
            Notice::Label { round, number } => {
                block.put_u32(round);
                block.put_u32(number);
                (LABEL, false)
            }
            Notice::Rate { rate, round } => {
                block.put_u64(rate.unwrap_or(0));
                block.put_u32(round);
                (RATE, false)
            }
            Notice::Switch { rate, serial } => {
                block.put_u64(rate.unwrap_or(0));
                block.put_u32(serial);
                (SWITCH, true)
            }
            Notice::Quiet => (QUIET, false),
        };
        let payload = if block.is_empty() { Bytes::new() } else { block.split().freeze() };
        Report { kind, subject, via: None, reliable, payload }
    }
}

/// Encoder of labels that does not allocate memory for each label.
#[derive(Debug, Default)]
pub(super) struct Printer {
    block: BytesMut,
    /// Encoded labels of the round, for the next numbers.
    ready: Bytes,
    round: u32,
    number: u32,
}

impl Printer {
    pub fn label(&mut self, round: u32, number: u32) -> Report {
        if self.ready.is_empty() || (self.round, self.number) != (round, number) {
            self.print(round, number);
        }
        self.number = number.wrapping_add(1);
        let payload = self.ready.split_to(LABEL_PAYLOAD);
        Report { kind: LABEL, subject: None, via: None, reliable: false, payload }
    }

    fn print(&mut self, round: u32, number: u32) {
        if self.block.capacity() < LABEL_PAYLOAD * AHEAD as usize {
            self.block = BytesMut::with_capacity(BLOCK);
        }
        for ahead in 0..AHEAD {
            let label = u64::from(round) << 32 | u64::from(number.wrapping_add(ahead));
            self.block.put_u64(label);
        }
        self.ready = self.block.split().freeze();
        self.round = round;
    }
}

/// Order of switches. Reports may overtake each other. The serial of a switch shows whether the switch is older.
#[derive(Copy, Clone, Default, Debug)]
pub struct Order {
    last: Option<u32>,
}

impl Order {
    /// Returns whether the switch with this serial is newer than all previous ones.
    pub fn follows(&mut self, serial: u32) -> bool {
        let newer = self.last.is_none_or(|last| serial.wrapping_sub(last) as i32 > 0);
        if newer {
            self.last = Some(serial);
        }
        newer
    }
}

/// Rate in bytes per second for the wire. It is at least 1, because 0 means that there is no rate.
pub(super) fn whole(rate: f64) -> u64 {
    (rate as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_come_back_as_they_were_said() {
        let all = [
            (Notice::Label { round: 7, number: u32::MAX }, 8),
            (Notice::Rate { rate: Some(u64::MAX), round: 1 }, 12),
            (Notice::Rate { rate: None, round: 0 }, 12),
            (Notice::Switch { rate: Some(5), serial: 3 }, 12),
            (Notice::Quiet, 0),
        ];
        for (notice, len) in all {
            let report = notice.report(Some(PathId(1)));
            assert_eq!((Notice::read(&report), report.payload.len()), (Some(notice), len));
            assert_eq!(report.reliable, matches!(notice, Notice::Switch { .. }), "PPSN alone is repeated");
            if len > 0 {
                let cut = Report { payload: report.payload.slice(..len - 1), ..report };
                assert_eq!(Notice::read(&cut), None, "too short: {notice:?}");
            }
        }
        let other = Report { kind: 0x150, ..Notice::Quiet.report(None) };
        assert_eq!(Notice::read(&other), None);
    }

    #[test]
    fn labels_are_cut_from_one_block() {
        let mut printer = Printer::default();
        let labels: Vec<Bytes> = (0..2000).map(|n| printer.label(1, n).payload).collect();
        for (n, label) in labels.iter().enumerate() {
            assert_eq!(label[..], [0, 0, 0, 1, 0, 0, (n >> 8) as u8, n as u8]);
        }
        let neighbours = labels.windows(2).filter(|w| w[1].as_ptr() == w[0].as_ptr().wrapping_add(8)).count();
        assert!(neighbours >= 1990, "{neighbours}: a block holds 512");
    }

    #[test]
    fn switches_are_followed_in_their_order() {
        let mut order = Order::default();
        let followed: Vec<bool> = [5, 5, 4, 6].into_iter().map(|s| order.follows(s)).collect();
        assert_eq!(followed, [true, false, false, true]);
    }

    #[test]
    fn no_rate_is_written_as_nothing() {
        assert_eq!([whole(0.2), whole(f64::NAN), whole(1500.9), whole(1e30)], [1, 1, 1500, u64::MAX]);
    }
}
