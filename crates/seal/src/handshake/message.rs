//! Layout of the messages of a handshake: the unencrypted fields, and the fields inside the payloads of Noise
//! (docs/adr/0017-sealed-datagrams.md).

use ring::hmac;
use strandcast_proto::work;
use subtle::ConstantTimeEq as _;

use crate::aead::{Cipher, Ciphers};
use crate::identity::{Token, TokenId};
use crate::keys::HandshakeId;
use crate::wire::{
    self, COOKIE, HANDSHAKE_HEADER, Kind, MAC, MESSAGE_1, RouteBytes, Signed, handshake_header,
};

/// Maximum size in bytes of an SCTP packet in message 1.
pub(crate) const MOST_1: usize = PAYLOAD_1 - FIELDS_1;
/// Maximum size in bytes of an SCTP packet in message 2.
pub(crate) const MOST_2: usize = wire::MAX_MESSAGE_2 - HANDSHAKE_HEADER - NOISE_2 - FIELDS_2 - MAC;

/// Bytes that Noise adds to the payload of message 1: an ephemeral key, an encrypted static key and a tag.
const NOISE_1: usize = 32 + 48 + 16;
/// Bytes that Noise adds to the payload of message 2: an ephemeral key and a tag.
const NOISE_2: usize = 32 + 16;
/// Bytes of the payload of message 1, including padding.
const PAYLOAD_1: usize = wire::MESSAGE_1_COOKIE - wire::MESSAGE_1_CLEAR - NOISE_1;
/// Bytes of the fields of message 1: ciphers, flags, the handshake to continue, and the length of the packet.
const FIELDS_1: usize = 1 + 1 + 16 + 2;
/// Bytes of the fields of message 2: cipher, answer, route bytes, and the length of the packet.
const FIELDS_2: usize = 1 + 1 + 2 + 2;
/// Flag of message 1: the message names a handshake whose session continues.
const CONTINUES: u8 = 1;

/// The responder's answer, which message 2 carries with the SCTP packet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The handshake opens a new session.
    New = 0,
    /// The handshake continues the session of the named handshake.
    Continued = 1,
    /// The session of the named handshake is unknown.
    Unknown = 2,
    /// The sender's key may not connect.
    Refused = 3,
    /// The receiver has no room for more sessions.
    Busy = 4,
}

/// Returns HMAC-SHA-256 over `parts`, truncated to 16 bytes.
pub(super) fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; MAC] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    parts.iter().for_each(|part| {
        work::count(part.len());
        context.update(part);
    });
    let mut out = [0; MAC];
    out.iter_mut().zip(context.sign().as_ref()).for_each(|(o, b)| *o = *b);
    out
}

/// Returns whether the sender of a message has `token`. The check takes a time that depends only on the length of the
/// message.
pub(super) fn authentic(token: &Token, message: &Signed<'_>) -> bool {
    mac(token.mac_key(), &[message.covered]).ct_eq(message.mac).into()
}

/// Writes the MAC to the end of `message`. Any host with the token can compute this MAC.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn sign(message: &mut [u8], token: &Token) {
    if let Some((covered, sent)) = message.split_last_chunk_mut::<MAC>() {
        *sent = mac(token.mac_key(), &[covered]);
    }
}

/// A message 1 that is being written: first the unencrypted fields, then the part of Noise, then the MAC.
pub(super) struct Message1(Box<[u8; MESSAGE_1]>);

impl Message1 {
    /// Returns a message 1 that contains only the unencrypted fields.
    pub fn new(id: [u8; 8], token: TokenId) -> Self {
        let mut bytes = Box::new([0; MESSAGE_1]);
        bytes[..HANDSHAKE_HEADER].copy_from_slice(&handshake_header(Kind::Message1, id));
        bytes[HANDSHAKE_HEADER..wire::MESSAGE_1_CLEAR].copy_from_slice(&token.0);
        Message1(bytes)
    }

    /// Returns the unencrypted fields, which the prologue of Noise covers.
    pub fn clear(&self) -> &[u8] {
        &self.0[..wire::MESSAGE_1_CLEAR]
    }

    pub fn noise_mut(&mut self) -> &mut [u8] {
        &mut self.0[wire::MESSAGE_1_CLEAR..wire::MESSAGE_1_COOKIE]
    }

    /// Writes the cookie, and the MAC over the whole message. Returns whether the cookie differs from the previous one.
    pub fn sign(&mut self, cookie: &[u8; COOKIE], token: &Token) -> bool {
        let place = &mut self.0[wire::MESSAGE_1_COOKIE..wire::MESSAGE_1_MAC];
        let changed = place != cookie;
        place.copy_from_slice(cookie);
        let mac = mac(token.mac_key(), &[&self.0[..wire::MESSAGE_1_MAC]]);
        self.0[wire::MESSAGE_1_MAC..].copy_from_slice(&mac);
        changed
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0[..]
    }
}

/// Writes message 2. The function `noise` writes the part of Noise to the beginning of a buffer, and returns its
/// length.
pub(super) fn message_2(
    id: [u8; 8],
    token: &Token,
    noise: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> Option<Vec<u8>> {
    let mut out = vec![0; wire::MAX_MESSAGE_2];
    out[..HANDSHAKE_HEADER].copy_from_slice(&handshake_header(Kind::Message2, id));
    let len = noise(&mut out[HANDSHAKE_HEADER..wire::MAX_MESSAGE_2 - MAC])?;
    out.truncate(HANDSHAKE_HEADER + len);
    let mac = mac(token.mac_key(), &[&out]);
    out.extend_from_slice(&mac);
    out.shrink_to_fit();
    Some(out)
}

/// Returns a retry, which demands that message 1 be sent again with `cookie`.
pub(super) fn retry(id: [u8; 8], cookie: &[u8; COOKIE], token: &Token, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&handshake_header(Kind::Retry, id));
    out.extend_from_slice(cookie);
    let mac = mac(token.mac_key(), &[out]);
    out.extend_from_slice(&mac);
}

/// Payload of message 1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Asking<'a> {
    pub offer: Ciphers,
    pub continues: Option<HandshakeId>,
    pub packet: &'a [u8],
}

impl<'a> Asking<'a> {
    /// Returns the bytes of the payload. Returns `None` if the packet is too long.
    pub fn write(&self) -> Option<[u8; PAYLOAD_1]> {
        let mut out = [0; PAYLOAD_1];
        out[0] = self.offer.to_byte();
        if let Some(id) = self.continues {
            out[1] = CONTINUES;
            out[2..18].copy_from_slice(&id.0);
        }
        out[18..20].copy_from_slice(&u16::try_from(self.packet.len()).ok()?.to_be_bytes());
        out.get_mut(FIELDS_1..FIELDS_1 + self.packet.len())?.copy_from_slice(self.packet);
        Some(out)
    }

    /// Reads the payload of a message 1. Returns `None` for bytes that [`Asking::write`] cannot have written.
    pub fn read(payload: &'a [u8]) -> Option<Self> {
        let (fields, rest) = payload.split_first_chunk::<FIELDS_1>()?;
        let offer =
            Some(Ciphers::from_byte(fields[0])).filter(|o| o.to_byte() == fields[0] && fields[0] != 0)?;
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

/// Payload of message 2.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Answering<'a> {
    pub cipher: Cipher,
    pub answer: Answer,
    /// Route bytes that all datagrams to the responder carry from now on.
    pub route: RouteBytes,
    pub packet: &'a [u8],
}

impl<'a> Answering<'a> {
    /// Returns the bytes of the payload. Returns `None` if the packet is too long.
    pub fn write(&self) -> Option<Vec<u8>> {
        let len = u16::try_from(self.packet.len()).ok().filter(|_| self.packet.len() <= MOST_2)?;
        let mut out = vec![self.cipher.to_byte(), self.answer as u8];
        out.extend_from_slice(&self.route.0);
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(self.packet);
        Some(out)
    }

    /// Reads the payload of a message 2. Returns `None` for bytes that [`Answering::write`] cannot have written.
    pub fn read(payload: &'a [u8]) -> Option<Self> {
        let ([cipher, answer, route @ .., high, low], packet) = payload.split_first_chunk::<FIELDS_2>()?;
        let cipher = Cipher::from_byte(*cipher)?;
        let answer = [Answer::New, Answer::Continued, Answer::Unknown, Answer::Refused, Answer::Busy]
            .into_iter()
            .find(|a| *a as u8 == *answer)?;
        (packet.len() == usize::from(u16::from_be_bytes([*high, *low]))).then_some(Answering {
            cipher,
            answer,
            route: RouteBytes(*route),
            packet,
        })
    }
}
