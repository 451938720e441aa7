//! Headers of RTP for transport packets (RFC 2250 §2, RFC 3550 §5.1).

use std::time::{Duration, Instant};

use strandcast_media::ts::{PACKET_LEN, Packet, Pcr};

/// Payload type of MPEG-2 transport streams (RFC 3551 §6).
const PAYLOAD_TYPE: u8 = 33;
/// First byte of the header: version 2, without padding, extension and contributing sources.
const VERSION: u8 = 2 << 6;
/// Marker bit of a packet whose timestamp does not continue the timestamps of earlier packets (RFC 2250 §2).
const MARKER: u8 = 0x80;
/// Number of transport packets in one datagram.
const TOGETHER: usize = 7;
/// Number of ticks of a timestamp per second.
const HZ: u64 = 90_000;
/// Difference in ticks between the program clock and the elapsed time. If the difference is larger, the clock has
/// jumped.
const JUMP: u32 = HZ as u32 / 2;
/// Time without a PCR on a PID. After this time, the PCR of another PID is used. A stream has a PCR at least every 100
/// ms (ISO/IEC 13818-1 §2.7.2).
const GONE: Duration = Duration::from_secs(1);

/// Writer of the datagrams of one source.
#[derive(Debug)]
pub(super) struct Rtp {
    sequence: u16,
    source: u32,
    clock: Clock,
    datagram: Vec<u8>,
}

/// Timestamps that follow the program clock reference (PCR) of a stream. If the stream has no PCR, they follow the
/// time.
#[derive(Debug)]
struct Clock {
    /// A timestamp and its time. It is the timestamp of the last PCR, or of the beginning.
    anchor: (u32, Instant),
    /// PID of the PCR, and the number of ticks that is added to a PCR to obtain the timestamp.
    pcr: Option<(u16, u32)>,
}

impl Rtp {
    /// Makes a writer. The sequence numbers and timestamps begin with random values (RFC 3550 §5.1).
    pub(super) fn new(now: Instant, random: [u8; 10]) -> Rtp {
        let [a, b, c, d, e, f, g, h, i, j] = random;
        let anchor = (u32::from_be_bytes([g, h, i, j]), now);
        Rtp {
            sequence: u16::from_be_bytes([a, b]),
            source: u32::from_be_bytes([c, d, e, f]),
            clock: Clock { anchor, pcr: None },
            datagram: Vec::new(),
        }
    }

    /// Passes the datagrams of a message to `send`.
    pub(super) fn write(&mut self, now: Instant, message: &[u8], mut send: impl FnMut(&[u8])) {
        for packets in message.chunks(TOGETHER * PACKET_LEN) {
            let (timestamp, jumped) = self.clock.at(now, packets);
            self.datagram.clear();
            self.datagram.extend_from_slice(&[VERSION, PAYLOAD_TYPE | if jumped { MARKER } else { 0 }]);
            self.datagram.extend_from_slice(&self.sequence.to_be_bytes());
            self.datagram.extend_from_slice(&timestamp.to_be_bytes());
            self.datagram.extend_from_slice(&self.source.to_be_bytes());
            self.datagram.extend_from_slice(packets);
            self.sequence = self.sequence.wrapping_add(1);
            send(&self.datagram);
        }
    }
}

impl Clock {
    /// Returns the timestamp of packets that leave now, and whether the program clock has jumped.
    fn at(&mut self, now: Instant, packets: &[u8]) -> (u32, bool) {
        let (anchor, since) = self.anchor;
        let passed = now.saturating_duration_since(since);
        let expected = anchor.wrapping_add(ticks(passed));
        let Some((pid, pcr)) = packets.chunks_exact(PACKET_LEN).find_map(|p| self.reference(p, passed))
        else {
            return (expected, false);
        };
        let timestamp = self.pcr.map_or(expected, |(_, offset)| pcr.wrapping_add(offset));
        let jumped = (timestamp.wrapping_sub(expected) as i32).unsigned_abs() > JUMP;
        let timestamp = if jumped { expected } else { timestamp };
        self.pcr = Some((pid, timestamp.wrapping_sub(pcr)));
        self.anchor = (timestamp, now);
        (timestamp, jumped)
    }

    /// Returns PID and PCR of a packet, if the packet has the PID that is used. The PCR is in ticks of a timestamp. The
    /// PID that is used is the first PID with a PCR, as long as PCRs continue on it.
    fn reference(&self, packet: &[u8], passed: Duration) -> Option<(u16, u32)> {
        let packet = Packet::new(packet.try_into().ok()?)?;
        let counts = self.pcr.is_none_or(|(pid, _)| pid == packet.pid() || passed > GONE);
        let pcr = packet.adaptation().and_then(|a| a.pcr).filter(|_| counts)?;
        Some((packet.pid(), (pcr.ticks() / (Pcr::HZ / HZ)) as u32))
    }
}

/// Number of ticks of a duration, modulo 2³².
fn ticks(time: Duration) -> u32 {
    (time.as_nanos() * u128::from(HZ) / 1_000_000_000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A transport packet of a PID, with a PCR in milliseconds.
    fn packet(pid: u16, pcr: Option<u64>) -> Vec<u8> {
        let [high, low] = pid.to_be_bytes();
        let mut packet = vec![0x47, high, low, if pcr.is_some() { 0x30 } else { 0x10 }];
        if let Some(ms) = pcr {
            let base = ms * 90;
            packet.extend_from_slice(&[7, 0x10]);
            packet.extend_from_slice(&((base >> 1) as u32).to_be_bytes());
            packet.extend_from_slice(&[(base as u8 & 1) << 7 | 0x7e, 0]);
        }
        packet.resize(PACKET_LEN, 0xff);
        packet
    }

    fn written(rtp: &mut Rtp, now: Instant, message: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        rtp.write(now, message, |datagram| out.push(datagram.to_vec()));
        out
    }

    fn timestamp(datagram: &[u8]) -> u32 {
        u32::from_be_bytes(datagram[4..8].try_into().expect("a header"))
    }

    /// Requirements of RFC 3550 §5.1 and RFC 2250 §2: version 2, payload type 33, sequence numbers that grow by one and
    /// wrap, one source, and whole transport packets.
    #[test]
    fn datagrams_have_the_header_of_the_rfcs() {
        let now = Instant::now();
        let mut rtp = Rtp::new(now, [0xff, 0xff, 1, 2, 3, 4, 0, 0, 0, 9]);
        let message: Vec<u8> = (0..9).flat_map(|_| packet(256, None)).collect();
        let datagrams = written(&mut rtp, now, &message);
        assert_eq!(datagrams[0][..12], [0x80, 33, 0xff, 0xff, 0, 0, 0, 9, 1, 2, 3, 4]);
        assert_eq!(datagrams[1][..4], [0x80, 33, 0, 0]);
        assert_eq!(datagrams[0][12..], message[..7 * 188]);
        assert_eq!(datagrams[1][12..], message[7 * 188..]);
    }

    /// The program's clock determines the timestamps. The clock of this machine, which is a little faster here, does
    /// not.
    #[test]
    fn timestamps_follow_the_program_clock() {
        let begun = Instant::now();
        let mut rtp = Rtp::new(begun, [0; 10]);
        let first = timestamp(&written(&mut rtp, begun, &packet(256, Some(1000)))[0]);
        for step in 1..1000_u32 {
            let now = begun + 40 * MS * step + Duration::from_micros(4) * step;
            let datagram = &written(&mut rtp, now, &packet(256, Some(1000 + 40 * u64::from(step))))[0];
            assert_eq!((timestamp(datagram) - first, datagram[1]), (3600 * step, 33));
            // Between two references, the elapsed time determines the timestamps. Other programs of the stream do not
            // count.
            let later = written(&mut rtp, now + 10 * MS, &[packet(256, None), packet(300, Some(7))].concat());
            assert_eq!(timestamp(&later[0]) - first, 3600 * step + 900);
        }
    }

    #[test]
    fn without_a_program_clock_time_counts() {
        let begun = Instant::now();
        let mut rtp = Rtp::new(begun, [0; 10]);
        for n in 0..5000_u32 {
            let datagram = &written(&mut rtp, begun + MS / 3 * n, &packet(256, None))[0];
            assert!(timestamp(datagram).abs_diff(30 * n) <= 1, "{n}");
        }
    }

    /// The marker bit reports a jump of the clock (RFC 2250 §2). Timestamps continue.
    #[test]
    fn a_jump_of_the_program_clock_is_marked() {
        let begun = Instant::now();
        let mut rtp = Rtp::new(begun, [0; 10]);
        let mut at = |ms: u32, pid, pcr| {
            let datagram = &written(&mut rtp, begun + ms * MS, &packet(pid, Some(pcr)))[0];
            (timestamp(datagram), datagram[1] & MARKER != 0)
        };
        assert_eq!(at(0, 256, 50_000), (0, false));
        assert_eq!(at(40, 256, 50_040), (3600, false));
        assert_eq!(at(80, 256, 100), (7200, true));
        assert_eq!(at(120, 256, 140), (10_800, false));
        // The PID has disappeared. Another PID is used, and its clock has another origin.
        assert_eq!(at(2000, 300, 9000), (180_000, true));
        assert_eq!(at(2040, 300, 9040), (183_600, false));
    }
}
