//! Targets of the fuzzers and of the tests over their corpus. Each target reads any input as a script, and panics if a
//! property does not hold. Each target compares counters with the messages that it has given and received. It also
//! checks that the work for a peer or an input stays proportional to the number of bytes.

use core::time::Duration;

use bytes::Bytes;

use crate::MediaTime;
use crate::ingest::Ingest;
use crate::pace::PaceConfig;
use crate::pack::{Body, End, Header, Message, PackConfig, Unpacker};
use crate::playout::{Output, Playout, PlayoutConfig};
use crate::slate::{self, Clip, Slate, Splicer};
use crate::ts::{Marks, PACKET_LEN, SYNC_BYTE};

/// Maximum number of bytes that the playout of a script may hold.
const HELD: usize = 64 << 10;
/// Maximum number of outputs that a message may add: changes of the clock, the end, a new session.
const BESIDE: usize = 8;

/// The unread rest of a script.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn u8(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }
}

/// Reads bytes as messages, each preceded by its length. Every valid message must be written exactly as it was read,
/// and every invalid one must be counted.
pub fn messages(data: &[u8]) {
    let (mut rest, mut unpacker, mut refused) = (data, Unpacker::new(), 0);
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes(*length));
        let (wire, after) = after.split_at(after.len().min(length));
        rest = after;
        let wire = Bytes::copy_from_slice(wire);
        let Some(message) = unpacker.unpack(wire.clone()) else {
            refused += 1;
            assert_eq!(unpacker.malformed(), refused);
            continue;
        };
        let written = message.encode();
        assert_eq!(Message::decode(written.clone()).as_ref(), Ok(&message));
        match &message.body {
            Body::Data(payload) => {
                assert_eq!(written.len(), wire.len());
                assert!(payload.len().is_multiple_of(PACKET_LEN) && !payload.is_empty());
            }
            Body::End(_) => assert!(written.len() <= wire.len()),
        }
    }
}

/// Reads a message from a script. The session, number, send time and length are near those of the previous message.
struct Sent {
    session: u32,
    sequence: u32,
    us: u64,
}

impl Sent {
    fn next(&mut self, script: &mut Script<'_>) -> Message {
        let kind = script.u8();
        if kind & 3 == 3 {
            self.session = u32::from(script.u8());
        }
        self.sequence = match kind >> 2 & 3 {
            0 => self.sequence.wrapping_add(1),
            1 => self.sequence.wrapping_add(u32::from(script.u8())),
            2 => self.sequence.wrapping_sub(u32::from(script.u8())),
            _ => script.u32(),
        };
        self.us = match kind >> 4 & 3 {
            0 => self.us.saturating_add(10_000),
            1 => self.us.saturating_add(u64::from(script.u16()) * 100),
            2 => self.us.saturating_sub(u64::from(script.u16()) * 100),
            _ => u64::from(script.u32()) << 18,
        };
        let header = Header {
            session: self.session,
            sequence: self.sequence,
            sent: MediaTime::from_micros(self.us),
            lifetime: None,
            marks: Marks::default(),
        };
        let packets = usize::from(kind >> 6) + 1;
        let body = if kind & 0xc3 == 0xc2 {
            Body::End(End { messages: u64::from(script.u8()), bytes: 0, crc32c: 0 })
        } else {
            Body::Data(vec![0x47; packets * PACKET_LEN].into())
        };
        // The message is encoded and decoded, as on its path to a receiver.
        let wire = Message { header, body }.encode();
        Message::decode(wire)
            .unwrap_or_else(|_| Message { header: Header::default(), body: Body::End(End::default()) })
    }
}

/// Plays messages of any session, number and send time, at any time. The buffer must stay within its bound and be
/// counted correctly, and messages must be played in order.
pub fn playout(data: &[u8]) {
    let mut script = Script(data);
    let latency = Duration::from_millis(u64::from(script.u8()) * 20);
    let mut playout = Playout::new(PlayoutConfig { latency, max_bytes: HELD });
    let mut sent = Sent { session: 1, sequence: script.u32(), us: 0 };
    let mut now = MediaTime::from_millis(10_000);
    let (mut given, mut taken, mut played) = (0, 0, 0);
    let mut due = MediaTime::ZERO;
    while !script.0.is_empty() {
        match script.u8() {
            n @ 0..=200 => {
                playout.push(now, sent.next(&mut script));
                given += 1;
                now = now + Duration::from_micros(u64::from(n) * 100);
            }
            n @ 201..=250 => now = now + Duration::from_millis(u64::from(n - 200).pow(3)),
            251..=253 => {}
            _ => playout.drain(),
        }
        while let Some(output) = playout.poll(now) {
            taken += 1;
            match output {
                Output::Data(released) => {
                    assert!(released.due >= due, "{:?} before {due:?}", released.due);
                    (due, played) = (released.due, played + 1);
                }
                Output::Restarted(_) => due = MediaTime::ZERO,
                Output::Ended(_) | Output::Clock(_) => {}
            }
        }
        assert!(playout.held_bytes() <= HELD, "{} bytes held", playout.held_bytes());
        assert!(playout.poll_timeout().is_none_or(|at| at > now), "it was asked until there was nothing");
        assert!(played <= given && taken <= BESIDE * (given + 1), "{taken} outputs of {given} messages");
    }
    let counted = playout.stats();
    assert!(counted.played + counted.late + counted.duplicates + counted.overflows <= given as u64);
    assert!(playout.level(now) <= Duration::MAX);
}

/// Feeds the bytes of an input in pieces. The input is live, paced, or both. Each sent packet must have been read, and
/// packets must be sent once and in order.
pub fn ingest(data: &[u8]) {
    let mut script = Script(data);
    let (kind, piece) = (script.u8(), 1 + usize::from(script.u16()) % 2000);
    let pack = PackConfig {
        packets_per_message: 1 + usize::from(kind & 7) % 7,
        hold: Duration::from_millis(u64::from(kind >> 5) * 5),
        ..PackConfig::new(7)
    };
    let pace = PaceConfig { look_ahead: 8 << 10, rate_bps: (kind & 8 > 0).then_some(1_000_000) };
    let mut now = MediaTime::from_millis(1000);
    let credit = Duration::from_millis(20);
    let mut ingest = match (kind & 16 > 0, kind & 128 > 0) {
        (true, false) => Ingest::live(pack),
        (true, true) => Ingest::pipe(credit, Duration::ZERO, pack),
        (false, false) => Ingest::paced(now, pace, pack),
        (false, true) => Ingest::paced_live(credit, pace, pack),
    };
    let (mut given, mut sent, mut sequence) = (0, 0, 0);
    let input = script.0;
    let mut take = |ingest: &mut Ingest, given: usize, now: MediaTime| {
        while let Some(out) = ingest.poll(now) {
            let message = Message::decode(out.wire).expect("what was written can be read");
            assert_eq!(message.header.sequence, sequence);
            sequence += 1;
            if let Body::Data(payload) = message.body {
                sent += payload.len();
                assert!(payload.len() <= 7 * PACKET_LEN);
            }
        }
        assert!(sent <= given, "{sent} bytes of {given}");
    };
    for piece in input.chunks(piece) {
        given += piece.len();
        if ingest.push(now, piece).is_err() {
            return;
        }
        now = now + Duration::from_millis(4);
        ingest.handle_timeout(now);
        take(&mut ingest, given, now);
    }
    if ingest.finish(now).is_ok() {
        take(&mut ingest, given, MediaTime::MAX);
        assert_eq!(ingest.stats().packed.bytes as usize, sent);
        assert!(ingest.poll_timeout().is_none(), "all was taken");
    }
}

/// Number of packets that a splicer may return at once, beyond the packets that it was given. Such packets are packets
/// that the splicer held, tables, and half a second of a slate.
const SPLICED: usize = 1200;

/// Reads a packet from a script. It is either a packet of valid tables, or a packet with any header, adaptation field
/// and payload.
fn spliced(script: &mut Script<'_>, tables: &[[u8; PACKET_LEN]]) -> [u8; PACKET_LEN] {
    let kind = script.u8();
    if kind < 64 {
        let mut packet = tables[usize::from(kind) % tables.len()];
        packet[3] = packet[3] & 0xf0 | script.u8() & 0x0f;
        return packet;
    }
    let mut packet = [0xff; PACKET_LEN];
    packet[0] = SYNC_BYTE;
    // Most packets use the PIDs of the tables.
    packet[1..3].copy_from_slice(&(u16::from(kind & 3) | 0x100 | u16::from(kind & 4) << 12).to_be_bytes());
    let beginning = 3 + usize::from(script.u8() % 32);
    packet[3..beginning].iter_mut().for_each(|byte| *byte = script.u8());
    if kind & 8 > 0 {
        packet[1] = script.u8();
    }
    packet
}

/// Plays the packets of a sender that comes and goes, with a slate in between. Headers, clocks, tables and pictures of
/// the sender are arbitrary. The output must consist of whole packets, and time and input must bound the number of
/// packets. Finally reads the input as a clip.
pub fn slate(data: &[u8]) {
    let mut script = Script(data);
    let mut now = MediaTime::from_millis(1000);
    let tables = slate::tables_of_scripts();
    let mut splicer = Splicer::new(Slate::Null, Duration::from_millis(300), now);
    while !script.0.is_empty() {
        let mut message = Vec::new();
        match script.u8() {
            n @ 0..=220 => {
                (0..1 + n % 7).for_each(|_| message.extend(spliced(&mut script, &tables)));
                splicer.push(now, &message);
            }
            n @ 221..=250 => now = now + Duration::from_millis(u64::from(n - 220).pow(3)),
            _ => splicer.end(now),
        }
        let mut taken = 0;
        while let Some(message) = splicer.poll(now) {
            assert!(message.len().is_multiple_of(PACKET_LEN) && !message.is_empty());
            assert!(message.chunks(PACKET_LEN).all(|packet| packet[0] == SYNC_BYTE));
            taken += message.len() / PACKET_LEN;
        }
        assert!(taken <= message.len() / PACKET_LEN + SPLICED, "{taken} packets at once");
        assert!(splicer.poll_timeout() > now, "it was asked until there was nothing");
    }
    let Ok(clip) = Clip::read(data) else { return };
    let mut splicer = Splicer::new(Slate::Clip(clip.into()), Duration::from_millis(300), now);
    for _ in 0..100 {
        while splicer.poll(now).is_some() {}
        now = splicer.poll_timeout();
    }
}

#[cfg(test)]
mod tests {
    use strandcast_testing::corpus::replay;

    #[test]
    fn messages() {
        replay("messages", super::messages);
    }

    #[test]
    fn playout() {
        replay("playout", super::playout);
    }

    #[test]
    fn slate() {
        replay("slate", super::slate);
    }

    #[test]
    fn ingest() {
        replay("ingest", super::ingest);
    }
}
