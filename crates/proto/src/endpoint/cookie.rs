//! The state cookie (RFC 9260 §5.1.3): the signed state of an association. An accepting endpoint puts it into INIT ACK
//! and stores nothing. The cookie holds only the relevant parts of the INIT, because INIT ACK must be small for a small
//! INIT.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use smallvec::SmallVec;

use crate::association::{AuthParams, Capabilities};
use crate::coding::Announced;
use crate::path::SealId;
use crate::seeds::Random;
use crate::time::{Duration, Instant};
use crate::wire::{Tsn, VerificationTag};
use crate::work;

const MAC_LEN: usize = 32;

/// Flags in a cookie: its contents, and the requests of the INIT.
const PARTIAL: u8 = 1;
const REPORTS: u8 = 2;
const AUTH: u8 = 4;
const TIE: u8 = 8;
const RANDOM: u8 = 16;
/// Flag: the peer can decode.
const DECODES: u8 = 32;
/// Flag: the cookie contains the peer's coding.
const CODES: u8 = 64;
/// Number of bytes of the peer's coding.
const CODING: usize = 6;

/// Contents of a cookie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cookie {
    pub created: Instant,
    /// Address to which INIT ACK was sent. COOKIE ECHO from this address proves that the peer receives packets there
    /// (RFC 9260 §5.4).
    pub remote: SocketAddr,
    pub local_tag: VerificationTag,
    pub initial_tsn: Tsn,
    /// Tie-tags: the verification tags of an association that existed when the INIT arrived, or zero (RFC 9260 §5.2.2).
    pub tie: (VerificationTag, VerificationTag),
    pub ports: (u16, u16),
    /// RANDOM parameter of this side. The parameter is empty if INIT ACK has no such parameter.
    pub random: Bytes,
    /// Capabilities that the peer announced in its INIT.
    pub peer: Capabilities,
}

/// Signer and verifier of cookies.
#[derive(Debug)]
pub(super) struct CookieJar {
    key: [u8; 32],
}

impl CookieJar {
    pub fn new(random: &mut Random) -> Self {
        let mut key = [0; 32];
        random.fill(&mut key);
        CookieJar { key }
    }

    /// Computes the MAC of a cookie. The MAC includes the session, so a cookie is valid only within one sealed session.
    fn mac(&self, bytes: &[u8], session: SealId) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(bytes);
        work::count(bytes.len());
        if session != SealId::CLEAR {
            mac.update(&session.0.to_be_bytes());
        }
        mac
    }

    pub fn sign(&self, c: &Cookie, session: SealId) -> Bytes {
        let mut out = BytesMut::with_capacity(256);
        c.write(&mut out);
        let mac = self.mac(&out, session).finalize().into_bytes();
        out.put_slice(&mac);
        out.freeze()
    }

    /// Verifies a cookie of this endpoint. Returns its contents, and the time by which its age exceeds `life`, if it
    /// does. Returns `None` if this endpoint did not issue the cookie, or issued it for another session.
    pub fn open(
        &self,
        now: Instant,
        bytes: &Bytes,
        life: Duration,
        session: SealId,
    ) -> Option<(Cookie, Option<Duration>)> {
        let (body, mac) = bytes.split_last_chunk::<MAC_LEN>()?;
        self.mac(body, session).verify_slice(mac).ok()?;
        let cookie = Cookie::read(body)?;
        let age = now - cookie.created;
        Some((cookie, (age > life).then(|| age - life)))
    }
}

impl Cookie {
    fn write(&self, out: &mut BytesMut) {
        let p = &self.peer;
        let coding = p.coding.filter(|coding| coding.0.is_some());
        let tied = self.tie != Default::default();
        let flag = |on: bool, bit| if on { bit } else { 0 };
        out.put_u8(
            flag(p.partial, PARTIAL)
                | flag(p.reports, REPORTS)
                | flag(p.auth.is_some(), AUTH)
                | flag(tied, TIE)
                | flag(!self.random.is_empty(), RANDOM)
                | flag(p.coding.is_some(), DECODES)
                | flag(coding.is_some(), CODES),
        );
        out.put_u64(self.created.as_nanos());
        put_ip(out, self.remote.ip());
        out.put_u16(self.remote.port());
        for number in [self.local_tag.0, self.initial_tsn.0, p.tag.0, p.a_rwnd, p.initial_tsn.0] {
            out.put_u32(number);
        }
        for number in [self.ports.0, self.ports.1, p.outbound_streams, p.inbound_streams] {
            out.put_u16(number);
        }
        if tied {
            out.put_u32(self.tie.0.0);
            out.put_u32(self.tie.1.0);
        }
        if !self.random.is_empty() {
            put_bytes(out, &self.random);
        }
        if let Some(auth) = &p.auth {
            put_bytes(out, &auth.random);
            put_bytes(out, &auth.chunks);
            let hmacs: Vec<u8> = auth.hmacs.iter().flat_map(|h| h.to_be_bytes()).collect();
            put_bytes(out, &hmacs);
        }
        if let Some(coding) = coding {
            out.put_slice(&coding.write());
        }
        p.addresses.iter().for_each(|a| put_ip(out, *a));
    }

    /// Reads the contents of a cookie. Returns `None` if the bytes are not a cookie. After the check of the MAC this
    /// cannot occur.
    fn read(mut b: &[u8]) -> Option<Self> {
        let b = &mut b;
        let flags = b.try_get_u8().ok()?;
        let has = |bit| flags & bit > 0;
        let created = Instant::from_nanos(b.try_get_u64().ok()?);
        let remote = SocketAddr::new(ip(b)?, b.try_get_u16().ok()?);
        let mut u32 = || b.try_get_u32().ok();
        let (local_tag, initial_tsn) = (VerificationTag(u32()?), Tsn(u32()?));
        let (tag, a_rwnd, peer_tsn) = (VerificationTag(u32()?), u32()?, Tsn(u32()?));
        let mut u16 = || b.try_get_u16().ok();
        let ports = (u16()?, u16()?);
        let (outbound_streams, inbound_streams) = (u16()?, u16()?);
        let mut tag_of_tie = || if has(TIE) { b.try_get_u32().ok() } else { Some(0) };
        let tie = (VerificationTag(tag_of_tie()?), VerificationTag(tag_of_tie()?));
        let random = if has(RANDOM) { counted(b)? } else { Bytes::new() };
        let auth = if has(AUTH) {
            let (random, chunks, hmacs) = (counted(b)?, counted(b)?, counted(b)?);
            let hmacs = hmacs.chunks_exact(2).map(|h| u16::from_be_bytes([h[0], h[1]])).collect();
            Some(AuthParams { random, chunks, hmacs })
        } else {
            None
        };
        let coding = if has(CODES) {
            Some(Announced::read(b.split_off(..CODING)?)?)
        } else {
            has(DECODES).then_some(Announced(None))
        };
        let mut addresses = SmallVec::new();
        while !b.is_empty() {
            addresses.push(ip(b)?);
        }
        let (partial, reports) = (has(PARTIAL), has(REPORTS));
        let peer = Capabilities {
            tag,
            a_rwnd,
            outbound_streams,
            inbound_streams,
            initial_tsn: peer_tsn,
            partial,
            reports,
            auth,
            coding,
            addresses,
        };
        Some(Cookie { created, remote, local_tag, initial_tsn, tie, ports, random, peer })
    }
}

/// Writes the length of `bytes`, at most 255, and then `bytes`.
fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(255)];
    out.put_u8(bytes.len() as u8);
    out.put_slice(bytes);
}

/// Reads a length and the bytes that follow it. Returns a copy of these bytes. A slice would keep the whole datagram in
/// memory for the lifetime of the association.
fn counted(b: &mut &[u8]) -> Option<Bytes> {
    let len = usize::from(b.try_get_u8().ok()?);
    b.split_off(..len).map(Bytes::copy_from_slice)
}

fn put_ip(out: &mut BytesMut, ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => {
            out.put_u8(4);
            out.put_slice(&ip.octets());
        }
        IpAddr::V6(ip) => {
            out.put_u8(16);
            out.put_slice(&ip.octets());
        }
    }
}

fn ip(b: &mut &[u8]) -> Option<IpAddr> {
    match b.try_get_u8().ok()? {
        4 => Some(Ipv4Addr::from_bits(b.try_get_u32().ok()?).into()),
        _ => Some(Ipv6Addr::from_bits(b.try_get_u128().ok()?).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::Seeds;

    fn cookie() -> Cookie {
        let peer = Capabilities {
            tag: VerificationTag(2),
            a_rwnd: 100_000,
            outbound_streams: 10,
            inbound_streams: 11,
            initial_tsn: Tsn(12),
            partial: true,
            reports: true,
            auth: Some(AuthParams::with_random(Bytes::from_static(&[8; 32]))),
            coding: Announced::read(&[1, 2, 0, 16, 4, 0]),
            addresses: [[192, 0, 2, 1].into(), Ipv6Addr::LOCALHOST.into()].into_iter().collect(),
        };
        Cookie {
            created: Instant::from_millis(5),
            remote: ([192, 0, 2, 1], 40_000).into(),
            local_tag: VerificationTag(1),
            initial_tsn: Tsn(3),
            tie: (VerificationTag(4), VerificationTag(5)),
            ports: (6, 7),
            random: Bytes::from_static(&[9; 32]),
            peer,
        }
    }

    fn jar() -> CookieJar {
        CookieJar::new(&mut Seeds::new(1, 0).stream("jar"))
    }

    #[test]
    fn a_cookie_survives_the_trip_and_any_changed_bit_is_noticed() {
        let jar = jar();
        let sealed = jar.sign(&cookie(), SealId::CLEAR);
        let life = Duration::from_secs(60);
        assert_eq!(jar.open(Instant::from_millis(5), &sealed, life, SealId::CLEAR), Some((cookie(), None)));
        for bit in 0..sealed.len() * 8 {
            let mut bad = sealed.to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(jar.open(Instant::ZERO, &bad.into(), life, SealId::CLEAR), None, "bit {bit}");
        }
    }

    #[test]
    fn a_cookie_is_good_in_its_session_only() {
        let (jar, life) = (jar(), Duration::from_secs(60));
        let opens = |signed, session| {
            jar.open(cookie().created, &jar.sign(&cookie(), signed), life, session).is_some()
        };
        for signed in [SealId::CLEAR, SealId(1), SealId(1 << 40)] {
            for session in [SealId::CLEAR, SealId(1), SealId(2), SealId(1 << 40)] {
                assert_eq!(opens(signed, session), signed == session, "{signed:?}, {session:?}");
            }
        }
    }

    #[test]
    fn a_cookie_of_a_bare_init_is_small() {
        let bare = Capabilities { partial: false, reports: false, auth: None, ..cookie().peer };
        let bare = Capabilities { coding: None, addresses: SmallVec::new(), ..bare };
        let remote = (Ipv6Addr::LOCALHOST, 40_000).into();
        let c = Cookie { peer: bare, tie: Default::default(), random: Bytes::new(), remote, ..cookie() };
        let sealed = jar().sign(&c, SealId::CLEAR);
        assert_eq!(jar().open(c.created, &sealed, Duration::ZERO, SealId::CLEAR), Some((c, None)));
        assert!(sealed.len() <= 90, "{}", sealed.len());
    }

    /// A peer that decodes but does not code adds no bytes to the cookie.
    #[test]
    fn a_cookie_knows_what_the_peer_codes_and_decodes() {
        let with = |coding| Cookie { peer: Capabilities { coding, ..cookie().peer }, ..cookie() };
        let size = |coding| {
            let sealed = jar().sign(&with(coding), SealId::CLEAR);
            let opened = jar().open(Instant::from_millis(5), &sealed, Duration::ZERO, SealId::CLEAR);
            assert_eq!(opened, Some((with(coding), None)));
            sealed.len()
        };
        assert_eq!(size(Some(Announced(None))), size(None));
        assert_eq!(size(cookie().peer.coding), size(None) + CODING);
    }

    #[test]
    fn a_cookie_ends_with_its_life() {
        let jar = jar();
        let sealed = jar.sign(&cookie(), SealId::CLEAR);
        let life = Duration::from_secs(60);
        let end = Instant::from_millis(60_005);
        let stale = |now| jar.open(now, &sealed, life, SealId::CLEAR).expect("ours").1;
        assert_eq!(stale(end), None);
        assert_eq!(stale(end + Duration::from_millis(3)), Some(Duration::from_millis(3)));
    }
}
