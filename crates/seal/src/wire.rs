//! Layout of datagrams: types, offsets, limits (docs/wire-format.md).

use strandcast_proto::path::Envelope;

/// The only version there is.
pub(crate) const VERSION: u8 = 1;
/// Bytes of an authentication tag.
pub(crate) const TAG: usize = 16;
/// Bytes in front of the ciphertext of a data datagram: type, connection id, packet number. They are authenticated, too.
pub(crate) const DATA_HEADER: usize = 13;
/// What a seal adds to each packet.
pub(crate) const ENVELOPE: Envelope = Envelope { front: DATA_HEADER, back: TAG };
/// The shortest plaintext: a control message without data.
pub(crate) const MIN_PLAINTEXT: usize = 3;
/// Bytes in front of what differs between the datagrams of a handshake: type, version, two zeros, the initiator's id.
pub(crate) const HANDSHAKE_HEADER: usize = 12;

/// The first byte of a data datagram.
const DATA: u8 = 1;

/// Which datagram of a handshake one is: its first byte.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The initiator's message.
    Message1 = 2,
    /// The responder's message.
    Message2 = 3,
    /// The responder asks for a cookie.
    Retry = 4,
    /// A hint that the receiver runs without a seal.
    PlainHere = 5,
}

impl Kind {
    fn of(first: u8) -> Option<Self> {
        let all = [Kind::Message1, Kind::Message2, Kind::Retry, Kind::PlainHere];
        all.into_iter().find(|&kind| kind as u8 == first)
    }
}

/// Which receiving path a data datagram is for.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ConnectionId(pub [u8; 8]);

/// A received datagram, as far as its first bytes tell. Nothing of it is authentic.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Datagram {
    /// A sealed packet or control message for a receiving path; `Keys::open` reads the rest.
    Data(ConnectionId),
    /// One of a handshake's, with the id that its initiator gave the attempt.
    Handshake(Kind, [u8; 8]),
}

/// Why a datagram is none of this layer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Malformed {
    /// Unknown type: a plain SCTP packet has its source port here.
    Kind,
    /// A version other than [`VERSION`].
    Version(u8),
    /// Too short for its type, or reserved bytes are not zero.
    Layout,
}

impl Datagram {
    /// Reads the first bytes of a datagram; what follows them in a handshake's is for the handshake to read.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub(crate) fn parse(datagram: &[u8]) -> Result<Self, Malformed> {
        let first = *datagram.first().ok_or(Malformed::Kind)?;
        if first == DATA {
            let (header, body) = datagram.split_first_chunk::<DATA_HEADER>().ok_or(Malformed::Layout)?;
            let id = header[1..].first_chunk().filter(|_| body.len() >= MIN_PLAINTEXT + TAG);
            return id.map(|&id| Datagram::Data(ConnectionId(id))).ok_or(Malformed::Layout);
        }
        let kind = Kind::of(first).ok_or(Malformed::Kind)?;
        let header = datagram.first_chunk::<HANDSHAKE_HEADER>().ok_or(Malformed::Layout)?;
        let &[_, version, r, s, a, b, c, d, e, f, g, h] = header;
        match (version, [r, s]) {
            (VERSION, [0, 0]) => Ok(Datagram::Handshake(kind, [a, b, c, d, e, f, g, h])),
            (VERSION, _) => Err(Malformed::Layout),
            _ => Err(Malformed::Version(version)),
        }
    }
}

/// The first bytes of each datagram of a handshake.
pub(crate) fn handshake_header(kind: Kind, initiator: [u8; 8]) -> [u8; HANDSHAKE_HEADER] {
    let mut header = [0; HANDSHAKE_HEADER];
    header[0] = kind as u8;
    header[1] = VERSION;
    header[4..].copy_from_slice(&initiator);
    header
}

/// The first bytes of a data datagram.
pub(crate) fn data_header(id: ConnectionId, number: u32) -> [u8; DATA_HEADER] {
    let mut header = [0; DATA_HEADER];
    header[0] = DATA;
    header[1..9].copy_from_slice(&id.0);
    header[9..].copy_from_slice(&number.to_be_bytes());
    header
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const INITIATOR: [u8; 8] = [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8];

    /// ADR 17, *Wire*: `| 1 | connection id 8 | packet number 4 | ciphertext | tag 16 |`.
    #[test]
    fn a_data_datagram_has_its_id_in_bytes_1_to_8_and_its_number_behind() {
        let header = data_header(ConnectionId([1, 2, 3, 4, 5, 6, 7, 8]), 0x0A0B_0C0D);
        assert_eq!(header, [1, 1, 2, 3, 4, 5, 6, 7, 8, 0x0A, 0x0B, 0x0C, 0x0D]);
        let mut datagram = header.to_vec();
        datagram.resize(13 + 3 + 16, 0);
        assert_eq!(Datagram::parse(&datagram), Ok(Datagram::Data(ConnectionId([1, 2, 3, 4, 5, 6, 7, 8]))));
        assert_eq!(Datagram::parse(&datagram[..31]), Err(Malformed::Layout));
    }

    /// ADR 17, *Wire*: `| type | version 1 | 0 0 | initiator's id 8 |`, types 2 to 5.
    #[test]
    fn the_datagrams_of_a_handshake_begin_with_type_version_and_id() {
        for (byte, kind) in [(2, Kind::Message1), (3, Kind::Message2), (4, Kind::Retry), (5, Kind::PlainHere)]
        {
            let header = handshake_header(kind, INITIATOR);
            assert_eq!(header, [byte, 1, 0, 0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8]);
            assert_eq!(Datagram::parse(&header), Ok(Datagram::Handshake(kind, INITIATOR)));
            for length in 1..12 {
                assert_eq!(Datagram::parse(&header[..length]), Err(Malformed::Layout), "{kind:?} {length}");
            }
            for (at, refused) in [(1, Malformed::Version(2)), (2, Malformed::Layout), (3, Malformed::Layout)]
            {
                let mut changed = header;
                changed[at] = 2;
                assert_eq!(Datagram::parse(&changed), Err(refused), "{kind:?} {at}");
            }
        }
    }

    #[test]
    fn other_types_are_not_of_this_layer() {
        assert_eq!(Datagram::parse(&[]), Err(Malformed::Kind));
        for first in (0..=255).filter(|first| !(1..=5).contains(first)) {
            assert_eq!(Datagram::parse(&[first; 100]), Err(Malformed::Kind), "{first}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            kind in 0u8..8,
            rest in proptest::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..64),
        ) {
            let datagram = [&[kind], &rest[..]].concat();
            let read = Datagram::parse(&datagram);
            prop_assert!((1..=5).contains(&kind) || read == Err(Malformed::Kind));
        }
    }
}
