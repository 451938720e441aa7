//! AUTH (RFC 4895) with the empty endpoint pair shared key.

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use sha2::Sha256;
use smallvec::{SmallVec, smallvec};
use subtle::ConstantTimeEq as _;

use crate::config::TransportConfig;
use crate::seeds::Random;
use crate::wire::chunk::{Auth, asconf, asconf_ack, auth::HmacId};
use crate::wire::param::{self, Param};
use crate::wire::{Packet, Span};

/// Maximum number of bytes that are kept of a peer's RANDOM, CHUNKS and HMAC-ALGO. RFC 4895 requires 32 random bytes,
/// and there are 255 chunk types.
const LONGEST_VECTOR: usize = 1024;

/// RANDOM, CHUNKS and HMAC-ALGO of one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AuthParams {
    pub random: Bytes,
    /// Chunk types that this side requires to be authenticated.
    pub chunks: Bytes,
    pub hmacs: SmallVec<[u16; 4]>,
}

impl AuthParams {
    /// Returns the parameters of a side that does not use AUTH.
    pub fn none() -> Self {
        AuthParams { random: Bytes::new(), chunks: Bytes::new(), hmacs: SmallVec::new() }
    }

    /// Returns the parameters of this side with fresh random bytes. The returned parameters are empty if AUTH is off.
    pub fn generate(random: &mut Random, config: &TransportConfig) -> Self {
        if !config.auth {
            return AuthParams::none();
        }
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        AuthParams::with_random(Bytes::copy_from_slice(&bytes))
    }

    /// Returns the parameters of this side with the random bytes that a cookie carried.
    pub fn with_random(random: Bytes) -> Self {
        let hmacs = smallvec![HmacId::Sha256.number(), HmacId::Sha1.number()];
        AuthParams { random, chunks: Bytes::from_static(&[asconf::TYPE, asconf_ack::TYPE]), hmacs }
    }

    /// Returns the parameters of a peer. The result is `None` if the parameters are too long, or if a parameter that
    /// authentication needs is missing (RFC 4895 §6.1). RANDOM has 32 bytes, and there are 256 chunk types.
    pub fn of_peer(params: &[Param]) -> Option<Self> {
        let random =
            params.iter().find_map(|p| if let Param::Random(b) = p { Some(b.clone()) } else { None })?;
        let hmacs =
            params.iter().find_map(|p| if let Param::HmacAlgo(h) = p { Some(h.clone()) } else { None })?;
        let chunks =
            params.iter().find_map(|p| if let Param::Chunks(c) = p { Some(c.clone()) } else { None });
        let chunks = chunks.unwrap_or_default();
        let sane = random.len() < 256 && chunks.len() < 256 && hmacs.len() < 128;
        sane.then_some(AuthParams { random, chunks, hmacs })
    }

    /// Returns the parameters for INIT or INIT ACK. Without AUTH the list is empty.
    pub fn params(&self) -> Vec<Param> {
        if self.random.is_empty() {
            return Vec::new();
        }
        vec![
            Param::Random(self.random.clone()),
            Param::Chunks(self.chunks.clone()),
            Param::HmacAlgo(self.hmacs.clone()),
        ]
    }

    /// Returns RANDOM, CHUNKS and HMAC-ALGO as this side sent them, with headers and without padding (RFC 4895 §6.1). A
    /// CHUNKS parameter adds nothing if it was not sent.
    fn key_vector(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |kind: u16, value: &[u8]| {
            out.extend_from_slice(&kind.to_be_bytes());
            out.extend_from_slice(&(value.len() as u16 + 4).to_be_bytes());
            out.extend_from_slice(value);
        };
        put(param::types::RANDOM, &self.random);
        if !self.chunks.is_empty() {
            put(param::types::CHUNKS, &self.chunks);
        }
        let hmacs: Vec<u8> = self.hmacs.iter().flat_map(|h| h.to_be_bytes()).collect();
        put(param::types::HMAC_ALGO, &hmacs);
        out
    }
}

/// The association's shared key, and the HMAC algorithm.
#[derive(Clone, Debug)]
pub(crate) struct AuthKeys {
    key: Vec<u8>,
    /// Algorithm for packets of this side: the first in the peer's list that this side supports.
    pub hmac: HmacId,
}

impl AuthKeys {
    /// Returns `None` if the peer offers no supported algorithm.
    pub fn new(ours: &AuthParams, peer: &AuthParams) -> Option<Self> {
        let hmac = peer.hmacs.iter().find_map(|h| HmacId::from_number(*h))?;
        if ours.random.is_empty() {
            return None;
        }
        let (a, b) = (ours.key_vector(), peer.key_vector());
        if b.len() > LONGEST_VECTOR {
            return None;
        }
        // RFC 4895 §6.1: the numerically smaller vector comes first. Equal vectors need no order.
        let key = if less(&a, &b) { [a, b].concat() } else { [b, a].concat() };
        Some(AuthKeys { key, hmac })
    }

    /// Returns the HMAC of `bytes`.
    pub fn sign(&self, bytes: &[u8]) -> SmallVec<[u8; 32]> {
        self.mac(self.hmac, |update| update(bytes))
    }

    /// Returns whether the AUTH chunk at `span` of `packet` is correct.
    pub fn verify(&self, packet: &Packet, span: Span, auth: &Auth) -> bool {
        let Some(hmac) = HmacId::from_number(auth.hmac_id).filter(|_| auth.key_id == 0) else { return false };
        let expected = self.mac(hmac, |update| packet.authenticated(span, update));
        expected.as_slice().ct_eq(&auth.hmac).into()
    }

    fn mac(&self, hmac: HmacId, feed: impl FnOnce(&mut dyn FnMut(&[u8]))) -> SmallVec<[u8; 32]> {
        match hmac {
            HmacId::Sha1 => {
                let mut mac = Hmac::<Sha1>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
                feed(&mut |bytes| mac.update(bytes));
                SmallVec::from_slice(&mac.finalize().into_bytes())
            }
            HmacId::Sha256 => {
                let mut mac =
                    Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
                feed(&mut |bytes| mac.update(bytes));
                SmallVec::from_slice(&mac.finalize().into_bytes())
            }
        }
    }
}

/// Returns whether `a` is the smaller unsigned number in network byte order.
fn less(a: &[u8], b: &[u8]) -> bool {
    let strip = |v: &[u8]| v.iter().position(|x| *x != 0).unwrap_or(v.len());
    let (a, b) = (&a[strip(a)..], &b[strip(b)..]);
    (a.len(), a) < (b.len(), b)
}
