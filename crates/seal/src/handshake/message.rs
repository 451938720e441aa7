//! Layout of a handshake's messages, in the clear and inside Noise's payloads (docs/adr/0017-sealed-datagrams.md).

use ring::hmac;
use subtle::ConstantTimeEq as _;

use crate::aead::{Cipher, Ciphers};
use crate::identity::{Token, TokenId};
use crate::keys::HandshakeId;

/// The version of the wire that is spoken here.
pub(crate) const VERSION: u8 = 1;
/// Bytes of message 1.
pub(crate) const MESSAGE_1: usize = 1200;
/// Most bytes of an SCTP packet that rides in message 1.
pub(crate) const MOST_1: usize = PAYLOAD_1 - FIELDS_1;
/// Most bytes of an SCTP packet that rides in message 2: the message is never longer than the one it answers.
pub(crate) const MOST_2: usize = MESSAGE_1 - HEADER_2 - NOISE_2 - FIELDS_2 - MAC;

/// Bytes of a cookie.
pub(super) const COOKIE: usize = 16;
const MAC: usize = 16;
/// Type, version, two zero bytes, the initiator's id, the token's id.
pub(super) const HEADER_1: usize = 20;
/// The same without the token's id.
pub(super) const HEADER_2: usize = 12;
const COOKIE_AT: usize = MAC_AT - COOKIE;
const MAC_AT: usize = MESSAGE_1 - MAC;
/// What Noise adds to the payload of message 1: an ephemeral key, an encrypted static key, a tag.
const NOISE_1: usize = 32 + 48 + 16;
/// To that of message 2: an ephemeral key, a tag.
const NOISE_2: usize = 32 + 16;
/// Bytes of the payload of message 1, padding included.
pub(super) const PAYLOAD_1: usize = COOKIE_AT - HEADER_1 - NOISE_1;
/// Ciphers, flags, the handshake continued, length of the packet.
const FIELDS_1: usize = 1 + 1 + 16 + 2;
/// Cipher, answer, length of the packet.
const FIELDS_2: usize = 1 + 1 + 2;
/// Bytes of a retry.
const RETRY: usize = HEADER_2 + COOKIE + MAC;

const TYPE_1: u8 = 2;
const TYPE_2: u8 = 3;
const TYPE_RETRY: u8 = 4;
const CONTINUES: u8 = 1;

/// Why a datagram isn't the message that it was taken for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum NotOne {
    /// Another type or length, or zero bytes that aren't.
    Malformed,
    /// Another version.
    Version,
}

/// What the responder answers beside the SCTP packet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// A new session.
    New = 0,
    /// The session of the handshake that was named goes on.
    Continued = 1,
    /// That session isn't known any more.
    Unknown = 2,
    /// The sender's key may not connect.
    Refused = 3,
}

/// HMAC-SHA-256 over `parts`, cut to 16 bytes.
pub(super) fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; MAC] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    parts.iter().for_each(|part| context.update(part));
    let mut out = [0; MAC];
    out.iter_mut().zip(context.sign().as_ref()).for_each(|(o, b)| *o = *b);
    out
}

/// Whether the last bytes of `message` are its MAC under `token`. Takes as long for any bytes of one length.
fn authentic(token: &Token, message: &[u8]) -> bool {
    message.split_last_chunk::<MAC>().is_some_and(|(covered, sent)| mac(token.mac_key(), &[covered]).ct_eq(sent).into())
}

/// The clear bytes in front of the initiator's id.
fn start(kind: u8) -> [u8; 4] {
    [kind, VERSION, 0, 0]
}

fn check_start(datagram: &[u8], kind: u8) -> Result<(), NotOne> {
    match datagram {
        [k, version, ..] if *k == kind && *version != VERSION => Err(NotOne::Version),
        _ if datagram.starts_with(&start(kind)) => Ok(()),
        _ => Err(NotOne::Malformed),
    }
}

/// Message 1 as it is on the wire.
#[derive(Copy, Clone)]
pub(super) struct First<'a>(&'a [u8; MESSAGE_1]);

impl<'a> First<'a> {
    pub fn parse(datagram: &'a [u8]) -> Result<Self, NotOne> {
        check_start(datagram, TYPE_1)?;
        datagram.try_into().map(First).map_err(|_| NotOne::Malformed)
    }

    /// What Noise's prologue covers.
    pub fn clear(self) -> &'a [u8] {
        &self.0[..HEADER_1]
    }

    pub fn id(self) -> [u8; 8] {
        core::array::from_fn(|n| self.0[4 + n])
    }

    pub fn token(self) -> TokenId {
        TokenId(core::array::from_fn(|n| self.0[12 + n]))
    }

    /// All that is the same with any cookie.
    pub fn lasting(self) -> &'a [u8] {
        &self.0[..COOKIE_AT]
    }

    pub fn noise(self) -> &'a [u8] {
        &self.0[HEADER_1..COOKIE_AT]
    }

    pub fn cookie(self) -> &'a [u8] {
        &self.0[COOKIE_AT..MAC_AT]
    }

    pub fn authentic(self, token: &Token) -> bool {
        authentic(token, self.0)
    }
}

/// Message 1 that is written: first the clear fields, then Noise's part, at last the MAC.
pub(super) struct FirstOut(Box<[u8; MESSAGE_1]>);

impl FirstOut {
    /// With the clear fields alone.
    pub fn new(id: [u8; 8], token: TokenId) -> Self {
        let mut bytes = Box::new([0; MESSAGE_1]);
        bytes[..4].copy_from_slice(&start(TYPE_1));
        bytes[4..12].copy_from_slice(&id);
        bytes[12..HEADER_1].copy_from_slice(&token.0);
        FirstOut(bytes)
    }

    pub fn clear(&self) -> &[u8] {
        &self.0[..HEADER_1]
    }

    pub fn id(&self) -> [u8; 8] {
        core::array::from_fn(|n| self.0[4 + n])
    }

    pub fn noise_mut(&mut self) -> &mut [u8] {
        &mut self.0[HEADER_1..COOKIE_AT]
    }

    /// Writes the cookie, and the MAC over everything. Whether the bytes have changed.
    pub fn sign(&mut self, cookie: &[u8; COOKIE], token: &Token) -> bool {
        let before = *self.0.last_chunk::<{ COOKIE + MAC }>().expect("1200 bytes");
        self.0[COOKIE_AT..MAC_AT].copy_from_slice(cookie);
        let mac = mac(token.mac_key(), &[&self.0[..MAC_AT]]);
        self.0[MAC_AT..].copy_from_slice(&mac);
        !self.0.ends_with(&before)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0[..]
    }
}

/// The payload of message 1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Asking<'a> {
    pub offer: Ciphers,
    pub continues: Option<HandshakeId>,
    pub packet: &'a [u8],
}

impl<'a> Asking<'a> {
    /// `None` if the packet is too long.
    pub fn write(&self) -> Option<[u8; PAYLOAD_1]> {
        let mut out = [0; PAYLOAD_1];
        out[0] = self.offer.bits();
        if let Some(id) = self.continues {
            out[1] = CONTINUES;
            out[2..18].copy_from_slice(&id.0);
        }
        out[18..20].copy_from_slice(&u16::try_from(self.packet.len()).ok()?.to_be_bytes());
        out.get_mut(FIELDS_1..FIELDS_1 + self.packet.len())?.copy_from_slice(self.packet);
        Some(out)
    }

    /// `None` if it is anything but what [`Asking::write`] writes.
    pub fn read(payload: &'a [u8]) -> Option<Self> {
        let (fields, rest) = payload.split_first_chunk::<FIELDS_1>()?;
        let offer = Ciphers::from_bits(fields[0]).filter(|c| c.bits() != 0)?;
        let id: [u8; 16] = core::array::from_fn(|n| fields[2 + n]);
        let continues = match fields[1] {
            0 if id == [0; 16] => None,
            CONTINUES => Some(HandshakeId(id)),
            _ => return None,
        };
        let (packet, padding) = rest.split_at_checked(u16::from_be_bytes([fields[18], fields[19]]).into())?;
        padding.iter().all(|b| *b == 0).then_some(Asking { offer, continues, packet })
    }
}

/// Message 2 as it is on the wire.
#[derive(Copy, Clone)]
pub(super) struct Second<'a>(&'a [u8]);

impl<'a> Second<'a> {
    pub fn parse(datagram: &'a [u8]) -> Result<Self, NotOne> {
        check_start(datagram, TYPE_2)?;
        let fits = (HEADER_2 + NOISE_2 + FIELDS_2 + MAC..=MESSAGE_1).contains(&datagram.len());
        if fits { Ok(Second(datagram)) } else { Err(NotOne::Malformed) }
    }

    pub fn is_for(self, id: [u8; 8]) -> bool {
        self.0[4..HEADER_2] == id
    }

    pub fn authentic(self, token: &Token) -> bool {
        authentic(token, self.0)
    }

    pub fn noise(self) -> &'a [u8] {
        &self.0[HEADER_2..self.0.len() - MAC]
    }

    /// Writes message 2; `noise` writes Noise's part of it at the end of a buffer.
    pub fn write(id: [u8; 8], token: &Token, noise: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<Vec<u8>> {
        let mut out = vec![0; MESSAGE_1];
        out[..4].copy_from_slice(&start(TYPE_2));
        out[4..HEADER_2].copy_from_slice(&id);
        let len = HEADER_2 + noise(&mut out[HEADER_2..MAC_AT])?;
        out.truncate(len);
        let mac = mac(token.mac_key(), &[&out]);
        out.extend_from_slice(&mac);
        out.shrink_to_fit();
        Some(out)
    }
}

/// The payload of message 2.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Answering<'a> {
    pub cipher: Cipher,
    pub answer: Answer,
    pub packet: &'a [u8],
}

impl<'a> Answering<'a> {
    /// `None` if the packet is too long.
    pub fn write(&self) -> Option<Vec<u8>> {
        let len = u16::try_from(self.packet.len()).ok().filter(|_| self.packet.len() <= MOST_2)?;
        let mut out = vec![self.cipher.bit(), self.answer as u8];
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(self.packet);
        Some(out)
    }

    /// `None` if it is anything but what [`Answering::write`] writes.
    pub fn read(payload: &'a [u8]) -> Option<Self> {
        let ([cipher, answer, high, low], packet) = payload.split_first_chunk::<FIELDS_2>()?;
        let cipher = [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305].into_iter().find(|c| c.bit() == *cipher)?;
        let answer = [Answer::New, Answer::Continued, Answer::Unknown, Answer::Refused]
            .into_iter()
            .find(|a| *a as u8 == *answer)?;
        (packet.len() == usize::from(u16::from_be_bytes([*high, *low])))
            .then_some(Answering { cipher, answer, packet })
    }
}

/// Writes a retry.
pub(super) fn write_retry(id: [u8; 8], cookie: &[u8; COOKIE], token: &Token, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&start(TYPE_RETRY));
    out.extend_from_slice(&id);
    out.extend_from_slice(cookie);
    let mac = mac(token.mac_key(), &[out]);
    out.extend_from_slice(&mac);
}

/// The cookie of a retry, if it answers handshake `id` and its sender has the token.
pub(super) fn read_retry(datagram: &[u8], id: [u8; 8], token: &Token) -> Option<[u8; COOKIE]> {
    check_start(datagram, TYPE_RETRY).ok()?;
    let bytes: &[u8; RETRY] = datagram.try_into().ok()?;
    let ours = bytes[4..HEADER_2] == id && authentic(token, bytes);
    ours.then(|| core::array::from_fn(|n| bytes[HEADER_2 + n]))
}
