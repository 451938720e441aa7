//! Layout of headers, data packets and short control packets.

use super::word;

/// Length of a packet header in bytes.
pub(crate) const HEADER: usize = 16;

/// Types of control packets.
const HANDSHAKE: u16 = 0;
const KEEP_ALIVE: u16 = 1;
const ACK: u16 = 2;
const NAK: u16 = 3;
const SHUTDOWN: u16 = 5;
const ACK_ACK: u16 = 6;
const DROP_REQUEST: u16 = 7;
const USER_DEFINED: u16 = 0x7fff;
/// Subtypes of [`USER_DEFINED`]: key material, and the answer to key material.
const KM_REQUEST: u16 = 3;
const KM_RESPONSE: u16 = 4;

const CONTROL: u32 = 1 << 31;

/// Key with which a payload is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyFlag {
    Clear,
    Even,
    Odd,
}

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data<'a> {
    pub seq: u32,
    /// True if the packet contains a whole message.
    pub whole: bool,
    /// Key of the payload. `None` stands for both keys, which no data packet may have.
    pub key: Option<KeyFlag>,
    pub retransmitted: bool,
    pub message: u32,
    pub payload: &'a [u8],
}

/// Fields of an acknowledgement. A light acknowledgement has only the first field, and a small one the first four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ack {
    /// Number of a full acknowledgement; 0 for other acknowledgements.
    pub number: u32,
    /// Number of the first packet that is not acknowledged.
    pub next: u32,
    /// Round-trip time and its deviation in microseconds.
    pub rtt: Option<(u32, u32)>,
    /// Number of packets for which the receiver's buffer has room.
    pub room: Option<u32>,
    /// Receiving rate in packets per second and in bytes per second.
    pub rate: (u32, u32),
}

/// Contents of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    Data(Data<'a>),
    Handshake(&'a [u8]),
    KeepAlive,
    Ack(Ack),
    /// A coded list of lost packets.
    Nak(&'a [u8]),
    Shutdown,
    AckAck(u32),
    DropRequest {
        message: u32,
        first: u32,
        last: u32,
    },
    KmRequest(&'a [u8]),
    KmResponse(&'a [u8]),
    /// A control packet of another type, which is skipped.
    Other,
}

/// An SRT packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet<'a> {
    /// Timestamp of the packet: microseconds since the sender's start, modulo 2³².
    pub timestamp: u32,
    /// Socket id of the destination.
    pub to: u32,
    pub body: Body<'a>,
}

impl<'a> Packet<'a> {
    /// Reads the packet in a datagram. Returns `None` if the datagram is not an SRT packet.
    pub fn read(data: &'a [u8]) -> Option<Packet<'a>> {
        let (first, second) = (word(data, 0)?, word(data, 4)?);
        let (timestamp, to) = (word(data, 8)?, word(data, 12)?);
        let rest = &data[HEADER..];
        let body = if first & CONTROL == 0 {
            data_packet(first, second, rest)
        } else {
            control(first, second, rest)?
        };
        Some(Packet { timestamp, to, body })
    }
}

fn data_packet(first: u32, second: u32, payload: &[u8]) -> Body<'_> {
    let key = match second >> 27 & 3 {
        0 => Some(KeyFlag::Clear),
        1 => Some(KeyFlag::Even),
        2 => Some(KeyFlag::Odd),
        _ => None,
    };
    Body::Data(Data {
        seq: first,
        whole: second >> 30 == 3,
        key,
        retransmitted: second >> 26 & 1 == 1,
        message: second & 0x03ff_ffff,
        payload,
    })
}

fn control(first: u32, second: u32, rest: &[u8]) -> Option<Body<'_>> {
    let (kind, subtype) = ((first >> 16) as u16 & 0x7fff, first as u16);
    Some(match kind {
        HANDSHAKE => Body::Handshake(rest),
        KEEP_ALIVE => Body::KeepAlive,
        ACK => Body::Ack(Ack {
            number: second,
            next: word(rest, 0)? & !CONTROL,
            rtt: word(rest, 4).zip(word(rest, 8)),
            room: word(rest, 12),
            rate: (word(rest, 16).unwrap_or(0), word(rest, 24).unwrap_or(0)),
        }),
        NAK => Body::Nak(rest),
        SHUTDOWN => Body::Shutdown,
        ACK_ACK => Body::AckAck(second),
        DROP_REQUEST => Body::DropRequest {
            message: second,
            first: word(rest, 0)? & !CONTROL,
            last: word(rest, 4)? & !CONTROL,
        },
        USER_DEFINED if subtype == KM_REQUEST => Body::KmRequest(rest),
        USER_DEFINED if subtype == KM_RESPONSE => Body::KmResponse(rest),
        _ => Body::Other,
    })
}

/// Writer of packets for one destination, into a buffer.
pub(crate) struct Writer<'a> {
    pub out: &'a mut Vec<u8>,
    pub timestamp: u32,
    pub to: u32,
}

impl Writer<'_> {
    fn words(&mut self, words: &[u32]) {
        words.iter().for_each(|w| self.out.extend_from_slice(&w.to_be_bytes()));
    }

    fn control(&mut self, kind: u16, subtype: u16, info: u32) {
        self.out.clear();
        let (timestamp, to) = (self.timestamp, self.to);
        self.words(&[CONTROL | u32::from(kind) << 16 | u32::from(subtype), info, timestamp, to]);
    }

    /// Writes a data packet that is a whole message. `timestamp` is the time at which the payload was submitted.
    pub fn data(&mut self, data: &Data<'_>) {
        let key = match data.key {
            Some(KeyFlag::Even) => 1,
            Some(KeyFlag::Odd) => 2,
            Some(KeyFlag::Clear) | None => 0,
        };
        let second = 3 << 30 | key << 27 | u32::from(data.retransmitted) << 26 | data.message;
        self.out.clear();
        let (timestamp, to) = (self.timestamp, self.to);
        self.words(&[data.seq & !CONTROL, second, timestamp, to]);
        self.out.extend_from_slice(data.payload);
    }

    /// Writes the header of a handshake packet. The caller appends the handshake.
    pub fn handshake(&mut self) {
        self.control(HANDSHAKE, 0, 0);
    }

    pub fn keep_alive(&mut self) {
        self.control(KEEP_ALIVE, 0, 0);
        self.words(&[0]);
    }

    pub fn shutdown(&mut self) {
        self.control(SHUTDOWN, 0, 0);
        self.words(&[0]);
    }

    pub fn ack_ack(&mut self, number: u32) {
        self.control(ACK_ACK, 0, number);
        self.words(&[0]);
    }

    /// Writes a full acknowledgement, or a light one if its number is 0.
    pub fn ack(&mut self, ack: &Ack) {
        self.control(ACK, 0, ack.number);
        self.words(&[ack.next]);
        if ack.number != 0 {
            let (rtt, deviation) = ack.rtt.unwrap_or_default();
            let (packets, bytes) = ack.rate;
            self.words(&[rtt, deviation, ack.room.unwrap_or(0), packets, packets, bytes]);
        }
    }

    /// Writes the header of a packet with a list of losses. The caller appends the list.
    pub fn nak(&mut self) {
        self.control(NAK, 0, 0);
    }

    pub fn drop_request(&mut self, first: u32, last: u32) {
        // Message 0: only the range of packets counts.
        self.control(DROP_REQUEST, 0, 0);
        self.words(&[first, last]);
    }

    pub fn key_material(&mut self, response: bool, contents: &[u8]) {
        self.control(USER_DEFINED, if response { KM_RESPONSE } else { KM_REQUEST }, 0);
        self.out.extend_from_slice(contents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = vec![9; 3];
        write(&mut Writer { out: &mut out, timestamp: 0x0102_0304, to: 0xaabb_ccdd });
        out
    }

    /// Bits of the figure "Data packet structure", assembled by hand: PP 11, O 0, KK 10, R 1, message 5.
    #[test]
    fn a_data_packet_has_the_fields_of_the_draft() {
        let data = Data {
            seq: 7,
            whole: true,
            key: Some(KeyFlag::Odd),
            retransmitted: true,
            message: 5,
            payload: b"ts",
        };
        let bytes = written(|w| w.data(&data));
        assert_eq!(bytes, b"\x00\x00\x00\x07\xd4\x00\x00\x05\x01\x02\x03\x04\xaa\xbb\xcc\xddts");
        let read = Packet::read(&bytes).unwrap();
        assert_eq!((read.timestamp, read.to, read.body), (0x0102_0304, 0xaabb_ccdd, Body::Data(data)));
    }

    /// Types in the table "SRT control packet types".
    #[test]
    fn control_packets_have_the_types_of_the_draft() {
        let ack = Ack { number: 3, next: 9, rtt: Some((100, 50)), room: Some(8), rate: (11, 13) };
        let cases: [(Vec<u8>, u32, Body<'_>); 6] = [
            (written(|w| w.keep_alive()), 0x8001_0000, Body::KeepAlive),
            (written(|w| w.shutdown()), 0x8005_0000, Body::Shutdown),
            (written(|w| w.ack_ack(4)), 0x8006_0000, Body::AckAck(4)),
            (written(|w| w.ack(&ack)), 0x8002_0000, Body::Ack(ack)),
            (
                written(|w| w.drop_request(1, 2)),
                0x8007_0000,
                Body::DropRequest { message: 0, first: 1, last: 2 },
            ),
            (written(|w| w.key_material(false, b"abcd")), 0xffff_0003, Body::KmRequest(b"abcd")),
        ];
        for (bytes, first, body) in cases {
            assert_eq!(word(&bytes, 0), Some(first));
            assert_eq!(Packet::read(&bytes).map(|p| p.body), Some(body));
        }
        assert_eq!(written(|w| w.ack(&ack)).len(), HEADER + 28, "seven words");
        assert_eq!(written(|w| w.ack(&Ack { next: 9, ..Ack::default() })).len(), HEADER + 4, "a light one");
    }

    #[test]
    fn short_datagrams_are_no_packets() {
        let whole = written(|w| w.ack(&Ack::default()));
        for len in 0..HEADER + 4 {
            assert_eq!(Packet::read(&whole[..len]), None, "{len} bytes");
        }
    }
}
