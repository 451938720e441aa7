//! Layout of sealed datagrams: types, offsets and limits (docs/wire-format.md).

use strandcast_proto::path::Envelope;

/// The current version of sealed datagrams. No other version is supported.
pub(crate) const VERSION: u8 = 2;
/// Number of bytes of an authentication tag.
pub(crate) const TAG: usize = 16;
/// Bytes before the ciphertext of a data datagram: the type, the connection id and the packet number. The bytes before
/// the ciphertext are authenticated but not encrypted.
pub(crate) const DATA_HEADER: usize = 13;
/// Numbers of bytes that a seal adds before and after each packet.
pub(crate) const ENVELOPE: Envelope = Envelope { front: DATA_HEADER, back: TAG };
/// Bytes of the shortest plaintext, which is a control message without data.
pub(crate) const MIN_PLAINTEXT: usize = 3;
/// Bytes of the header that all handshake datagrams have: the type, the version, two zeros, and the initiator's id.
pub(crate) const HANDSHAKE_HEADER: usize = 12;
/// Length of message 1 in bytes. Every message 1 has this length.
pub(crate) const MESSAGE_1: usize = 1200;
/// Unencrypted bytes at the beginning of message 1: the header and the token's id.
pub(crate) const MESSAGE_1_CLEAR: usize = HANDSHAKE_HEADER + 8;
/// Offset of the cookie in message 1. The message of Noise ends here.
pub(crate) const MESSAGE_1_COOKIE: usize = MESSAGE_1_MAC - COOKIE;
/// Offset of the MAC in message 1. The MAC covers all bytes before it.
pub(crate) const MESSAGE_1_MAC: usize = MESSAGE_1 - MAC;
/// Maximum length of message 2 in bytes. The maximum lengths of message 2 and of message 1 are equal. Message 2
/// therefore fits the same paths, and is not longer than the message that it answers.
pub(crate) const MAX_MESSAGE_2: usize = MESSAGE_1;
/// Bytes of the shortest message 2 of Noise: an ephemeral key, and the tag of an empty payload.
const MIN_NOISE_2: usize = 32 + TAG;
/// Bytes of the MAC at the end of each handshake message.
pub(crate) const MAC: usize = 16;
/// Number of bytes of a cookie.
pub(crate) const COOKIE: usize = 16;

/// Type of a datagram, which is its first byte.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A sealed packet or control message.
    Data = 1,
    /// Message 1: the initiator's message of the handshake.
    Message1 = 2,
    /// Message 2: the responder's message of the handshake.
    Message2 = 3,
    /// Retry: the responder demands a cookie.
    Retry = 4,
    /// Hint of the receiver that it does not use a seal.
    PlainHere = 5,
    /// Hint that the receiver does not support the version of a handshake message. The datagram with this hint names
    /// the version of the receiver.
    OtherVersion = 6,
}

/// Route bytes: the first two bytes of each id in datagrams to a responder. Route bytes are equal in all datagrams of a
/// session, on all paths and across all handshakes. A load balancer without state can therefore send all datagrams of a
/// session to one worker or machine ([`RouteBytes::of_datagram`]). Route bytes are not secret and give no access.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RouteBytes(pub [u8; 2]);

impl RouteBytes {
    /// Returns the route bytes of a datagram to a responder. The route bytes are bytes 1 and 2 of a datagram of type 1.
    /// In a datagram of another type, they are bytes 4 and 5. Returns `None` if the datagram is too short.
    pub fn of_datagram(datagram: &[u8]) -> Option<Self> {
        let at = if *datagram.first()? == Kind::Data as u8 { 1 } else { 4 };
        datagram.get(at..)?.first_chunk().copied().map(RouteBytes)
    }

    /// Returns the route bytes of an initiator's id.
    pub(crate) fn of_id([first, second, ..]: [u8; 8]) -> Self {
        RouteBytes([first, second])
    }

    /// Writes the route bytes at the beginning of an id.
    pub(crate) fn begin(self, id: &mut [u8; 8]) {
        id[..2].copy_from_slice(&self.0);
    }
}

/// Connection id, which names the receiving path of a data datagram.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ConnectionId(pub [u8; 8]);

/// The unencrypted fields of a received datagram. None of the unencrypted fields is authenticated yet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Datagram<'a> {
    /// A sealed packet or control message. `Keys::open` reads the rest of the datagram.
    Data { id: ConnectionId },
    /// Message 1 of a handshake.
    Message1(Message1<'a>),
    /// Message 2 of a handshake.
    Message2 { initiator: [u8; 8], noise: &'a [u8], signed: Signed<'a> },
    /// A retry with a cookie. Message 1 must be sent again with this cookie.
    Retry { initiator: [u8; 8], cookie: [u8; COOKIE], signed: Signed<'a> },
    /// A hint that the receiver runs without a seal.
    PlainHere { initiator: [u8; 8] },
    /// A hint that the peer uses another version. The layout of this hint is equal in all versions.
    OtherVersion { initiator: [u8; 8], version: u8 },
}

/// The fields of message 1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Message1<'a> {
    /// Initiator's id of the handshake.
    pub initiator: [u8; 8],
    /// Identifier of the token to which the MAC and the pre-shared key belong.
    pub token: [u8; 8],
    /// The unencrypted bytes, which the prologue of Noise covers.
    pub clear: &'a [u8],
    /// The message of Noise.
    pub noise: &'a [u8],
    /// The cookie. The cookie is all zeros if no retry demanded one.
    pub cookie: [u8; COOKIE],
    /// The MAC, and the bytes that it covers.
    pub signed: Signed<'a>,
}

/// A MAC, and the bytes before it, which it covers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signed<'a> {
    /// Bytes that the MAC covers.
    pub covered: &'a [u8],
    /// Value of the MAC.
    pub mac: &'a [u8; MAC],
}

impl<'a> Signed<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        message.split_last_chunk().map(|(covered, mac)| Signed { covered, mac })
    }
}

/// Reason for which a datagram is not a sealed datagram.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Malformed {
    /// The type of the datagram is unknown. A plain SCTP packet has its source port at the position of the type.
    Kind,
    /// A handshake message (types 2 to 5) has a version other than [`VERSION`].
    Version(u8),
    /// The datagram is too short or too long for its type, or reserved bytes are not zero.
    Layout,
}

impl<'a> Datagram<'a> {
    /// Reads the unencrypted fields of a datagram.
    ///
    /// # Errors
    ///
    /// Returns a [`Malformed`] error if the datagram is not a sealed datagram.
    pub(crate) fn parse(datagram: &'a [u8]) -> Result<Self, Malformed> {
        match datagram.first() {
            Some(&first) if first == Kind::Data as u8 => data(datagram).ok_or(Malformed::Layout),
            Some(2..=5) => match handshake_version(datagram) {
                Some(VERSION) => handshake(datagram).ok_or(Malformed::Layout),
                Some(other) => Err(Malformed::Version(other)),
                None => Err(Malformed::Layout),
            },
            Some(6) => hint(datagram).ok_or(Malformed::Layout),
            _ => Err(Malformed::Kind),
        }
    }
}

/// Returns the header that handshake messages have in all versions: the type, the version, two reserved zeros, and the
/// initiator's id.
fn header(datagram: &[u8]) -> Option<(u8, u8, [u8; 8])> {
    match *datagram.first_chunk::<HANDSHAKE_HEADER>()? {
        [kind, version, 0, 0, ref initiator @ ..] => Some((kind, version, *initiator)),
        _ => None,
    }
}

/// Returns the initiator's id and the version of a message 1 or 2 of another version.
pub(crate) fn other_version(datagram: &[u8]) -> Option<([u8; 8], u8)> {
    let (kind, version, initiator) = header(datagram)?;
    (matches!(kind, 2 | 3) && version != VERSION).then_some((initiator, version))
}

fn hint(datagram: &[u8]) -> Option<Datagram<'_>> {
    let (_, version, initiator) = header(datagram).filter(|_| datagram.len() == HANDSHAKE_HEADER)?;
    (version != VERSION).then_some(Datagram::OtherVersion { initiator, version })
}

fn data(datagram: &[u8]) -> Option<Datagram<'_>> {
    let (header, body) = datagram.split_first_chunk::<DATA_HEADER>()?;
    let id = ConnectionId(*header[1..].first_chunk()?);
    (body.len() >= MIN_PLAINTEXT + TAG).then_some(Datagram::Data { id })
}

fn handshake_version(datagram: &[u8]) -> Option<u8> {
    datagram.first_chunk::<HANDSHAKE_HEADER>().map(|header| header[1])
}

fn handshake(datagram: &[u8]) -> Option<Datagram<'_>> {
    let (header, rest) = datagram.split_first_chunk::<HANDSHAKE_HEADER>()?;
    let initiator = *header.last_chunk()?;
    if header[2..4] != [0, 0] {
        return None;
    }
    match header[0] {
        2 => message_1(datagram.first_chunk().filter(|_| datagram.len() == MESSAGE_1)?, initiator),
        3 => {
            let (noise, _) = rest.split_last_chunk::<MAC>()?;
            (noise.len() >= MIN_NOISE_2 && datagram.len() <= MAX_MESSAGE_2).then_some(Datagram::Message2 {
                initiator,
                noise,
                signed: Signed::parse(datagram)?,
            })
        }
        4 => {
            let (cookie, _) = rest.split_last_chunk::<MAC>()?;
            let signed = Signed::parse(datagram)?;
            Some(Datagram::Retry { initiator, cookie: cookie.try_into().ok()?, signed })
        }
        _ => rest.is_empty().then_some(Datagram::PlainHere { initiator }),
    }
}

fn message_1(datagram: &[u8; MESSAGE_1], initiator: [u8; 8]) -> Option<Datagram<'_>> {
    let signed = Signed::parse(datagram)?;
    let (before, cookie) = signed.covered.split_last_chunk()?;
    let (clear, noise) = before.split_first_chunk::<MESSAGE_1_CLEAR>()?;
    let token = *clear.last_chunk()?;
    Some(Datagram::Message1(Message1 { initiator, token, clear, noise, cookie: *cookie, signed }))
}

/// Returns the first bytes of a handshake datagram.
pub(crate) fn handshake_header(kind: Kind, initiator: [u8; 8]) -> [u8; HANDSHAKE_HEADER] {
    let mut header = [0; HANDSHAKE_HEADER];
    header[0] = kind as u8;
    header[1] = VERSION;
    header[4..].copy_from_slice(&initiator);
    header
}

/// Returns the first bytes of a data datagram.
pub(crate) fn data_header(id: ConnectionId, number: u32) -> [u8; DATA_HEADER] {
    let mut header = [0; DATA_HEADER];
    header[0] = Kind::Data as u8;
    header[1..9].copy_from_slice(&id.0);
    header[9..].copy_from_slice(&number.to_be_bytes());
    header
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const INITIATOR: [u8; 8] = [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8];

    fn with(kind: Kind, length: usize) -> Vec<u8> {
        let mut datagram = handshake_header(kind, INITIATOR).to_vec();
        datagram.resize(length, 0xEE);
        datagram
    }

    /// ADR 17, *Wire*: the layout is `| 1 | connection id 8 | packet number 4 | ciphertext | tag 16 |`.
    #[test]
    fn a_data_datagram_has_its_id_in_bytes_1_to_8_and_its_number_behind() {
        let header = data_header(ConnectionId([1, 2, 3, 4, 5, 6, 7, 8]), 0x0A0B_0C0D);
        assert_eq!(header, [1, 1, 2, 3, 4, 5, 6, 7, 8, 0x0A, 0x0B, 0x0C, 0x0D]);
        let mut datagram = header.to_vec();
        datagram.resize(13 + 3 + 16, 0);
        let id = ConnectionId([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Datagram::parse(&datagram), Ok(Datagram::Data { id }));
        assert_eq!(Datagram::parse(&datagram[..31]), Err(Malformed::Layout));
    }

    /// ADR 17: message 1 has 1 + 1 + 2 + 8 + 8 clear bytes, 1148 bytes of Noise, and 16 bytes each of cookie and MAC.
    #[test]
    fn message_1_has_1200_bytes_of_which_its_mac_covers_all_in_front_of_it() {
        let mut datagram = with(Kind::Message1, 1200);
        datagram[12..20].copy_from_slice(&[0xB0; 8]);
        datagram[1168..1184].fill(0xC0);
        datagram[1184..].fill(0xD0);
        let Ok(Datagram::Message1(message)) = Datagram::parse(&datagram) else { panic!("message 1") };
        assert_eq!((message.initiator, message.token), (INITIATOR, [0xB0; 8]));
        assert_eq!((message.clear, message.noise), (&datagram[..20], &datagram[20..1168]));
        assert_eq!(message.cookie, [0xC0; 16]);
        assert_eq!(message.signed, Signed { covered: &datagram[..1184], mac: &[0xD0; 16] });
        assert_eq!((MESSAGE_1_CLEAR, MESSAGE_1_COOKIE, MESSAGE_1_MAC), (20, 1168, 1184));
        for length in [1199, 1201] {
            assert_eq!(Datagram::parse(&with(Kind::Message1, length)), Err(Malformed::Layout));
        }
    }

    #[test]
    fn the_other_datagrams_of_a_handshake_have_their_lengths() {
        for (kind, shortest, longest) in
            [(Kind::Message2, 76, 1200), (Kind::Retry, 44, 44), (Kind::PlainHere, 12, 12)]
        {
            for length in 0..1500 {
                let datagram = with(kind, length);
                let good = (shortest..=longest).contains(&length);
                assert_eq!(Datagram::parse(&datagram).is_ok(), good, "{kind:?} {length}");
            }
        }
        let (retry, message_2) = (with(Kind::Retry, 44), with(Kind::Message2, 100));
        let signed = Signed { covered: &retry[..28], mac: &[0xEE; 16] };
        assert_eq!(
            Datagram::parse(&retry),
            Ok(Datagram::Retry { initiator: INITIATOR, cookie: [0xEE; 16], signed })
        );
        let signed = Signed { covered: &message_2[..84], mac: &[0xEE; 16] };
        assert_eq!(
            Datagram::parse(&message_2),
            Ok(Datagram::Message2 { initiator: INITIATOR, noise: &message_2[12..84], signed })
        );
    }

    /// ADR 17: the layout is `| 6 | the version spoken | 0 0 | initiator's id 8 |` in all versions.
    #[test]
    fn a_message_of_another_version_is_told_apart_and_so_is_its_answer() {
        for (kind, answered) in [(Kind::Message1, true), (Kind::Message2, true), (Kind::Retry, false)] {
            let mut datagram = with(kind, 40);
            assert_eq!(other_version(&datagram), None);
            datagram[1] = 9;
            assert_eq!(other_version(&datagram), answered.then_some((INITIATOR, 9)), "{kind:?}");
        }
        let expected = [6, 2, 0, 0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8];
        assert_eq!(handshake_header(Kind::OtherVersion, INITIATOR), expected);
        let mut hint = with(Kind::OtherVersion, 12);
        assert_eq!(Datagram::parse(&hint), Err(Malformed::Layout), "that there is no difference");
        hint[1] = 9;
        assert_eq!(Datagram::parse(&hint), Ok(Datagram::OtherVersion { initiator: INITIATOR, version: 9 }));
        assert_eq!(Datagram::parse(&hint[..11]), Err(Malformed::Layout));
        hint[3] = 1;
        assert_eq!(Datagram::parse(&hint), Err(Malformed::Layout));
    }

    #[test]
    fn other_versions_and_reserved_bytes_are_refused() {
        for kind in [Kind::Message1, Kind::Message2, Kind::Retry, Kind::PlainHere] {
            let mut datagram = with(kind, 28);
            datagram[1] = 1;
            assert_eq!(Datagram::parse(&datagram), Err(Malformed::Version(1)));
            for reserved in [2, 3] {
                let mut datagram = with(kind, 28);
                datagram[reserved] = 1;
                assert_eq!(Datagram::parse(&datagram), Err(Malformed::Layout));
            }
        }
    }

    proptest! {
        /// An SCTP packet begins with its source port. Only ports below 256 have a first byte of zero, and no type of a
        /// sealed datagram is zero.
        #[test]
        fn any_bytes_are_read_without_a_panic(datagram in proptest::collection::vec(any::<u8>(), 0..1300), kind in 0u8..8) {
            let mut datagram = datagram;
            if let Some(first) = datagram.first_mut() {
                *first = kind;
            }
            let read = Datagram::parse(&datagram);
            prop_assert!((1..=6).contains(&kind) || read == Err(Malformed::Kind));
            if let Some((initiator, version)) = other_version(&datagram) {
                prop_assert_eq!(read, Err(Malformed::Version(version)));
                prop_assert!(other_version(&handshake_header(Kind::OtherVersion, initiator)).is_none());
            }
        }
    }
}
