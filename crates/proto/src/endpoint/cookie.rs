//! The state cookie (RFC 9260 §5.1.3): everything an accepting endpoint must remember, signed, so that it need not.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::seeds::Random;
use crate::time::{Duration, Instant};
use crate::wire::{Tsn, VerificationTag};

const MAC_LEN: usize = 32;
const FIXED_LEN: usize = 8 + 4 * 5 + 2 * 2 + 32;

/// What a cookie holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cookie {
    pub created: Instant,
    pub local_tag: VerificationTag,
    pub peer_tag: VerificationTag,
    pub initial_tsn: Tsn,
    /// Tags of an association that existed when the INIT came; zero without one (RFC 9260 §5.2.2).
    pub tie: (VerificationTag, VerificationTag),
    pub ports: (u16, u16),
    /// Our RANDOM parameter.
    pub random: Bytes,
    /// The peer's INIT chunk.
    pub init: Bytes,
}

/// Why a cookie was not taken.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// Not ours.
    Forged,
    /// Ours, too old by so much.
    Stale(Duration),
}

/// Signs and checks cookies.
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

    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length").chain_update(bytes)
    }

    pub fn seal(&self, c: &Cookie) -> Bytes {
        let mut out = BytesMut::with_capacity(FIXED_LEN + c.init.len() + MAC_LEN);
        out.put_u64(c.created.as_nanos());
        for tag in [c.local_tag, c.peer_tag, c.tie.0, c.tie.1] {
            out.put_u32(tag.0);
        }
        out.put_u32(c.initial_tsn.0);
        out.put_u16(c.ports.0);
        out.put_u16(c.ports.1);
        let mut random = [0; 32];
        random[..c.random.len().min(32)].copy_from_slice(&c.random[..c.random.len().min(32)]);
        out.put_slice(&random);
        out.put_slice(&c.init);
        let mac = self.mac(&out).finalize().into_bytes();
        out.put_slice(&mac);
        out.freeze()
    }

    /// Opens a cookie not older than `life`; a stale one is still told apart from a forged one.
    pub fn open(
        &self,
        now: Instant,
        bytes: &Bytes,
        life: Duration,
    ) -> Result<Cookie, (Refused, Option<Cookie>)> {
        let forged = (Refused::Forged, None);
        let Some(end) = bytes.len().checked_sub(MAC_LEN).filter(|e| *e >= FIXED_LEN) else {
            return Err(forged);
        };
        if self.mac(&bytes[..end]).verify_slice(&bytes[end..]).is_err() {
            return Err(forged);
        }
        let mut b = bytes.slice(..end);
        let created = Instant::from_nanos(b.get_u64());
        let mut tag = || VerificationTag(b.get_u32());
        let (local_tag, peer_tag, tie) = (tag(), tag(), (tag(), tag()));
        let initial_tsn = Tsn(b.get_u32());
        let ports = (b.get_u16(), b.get_u16());
        let random = b.split_to(32);
        let cookie = Cookie { created, local_tag, peer_tag, initial_tsn, tie, ports, random, init: b };
        let age = now - created;
        if age > life { Err((Refused::Stale(age - life), Some(cookie))) } else { Ok(cookie) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::Seeds;

    fn cookie() -> Cookie {
        Cookie {
            created: Instant::from_millis(5),
            local_tag: VerificationTag(1),
            peer_tag: VerificationTag(2),
            initial_tsn: Tsn(3),
            tie: (VerificationTag(4), VerificationTag(5)),
            ports: (6, 7),
            random: Bytes::from_static(&[9; 32]),
            init: Bytes::from_static(b"any chunk"),
        }
    }

    #[test]
    fn a_cookie_survives_the_trip_and_any_changed_bit_is_noticed() {
        let jar = CookieJar::new(&mut Seeds::new(1, 0).stream("jar"));
        let sealed = jar.seal(&cookie());
        let life = Duration::from_secs(60);
        assert_eq!(jar.open(Instant::from_millis(5), &sealed, life), Ok(cookie()));
        for bit in 0..sealed.len() * 8 {
            let mut bad = sealed.to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(jar.open(Instant::ZERO, &bad.into(), life), Err((Refused::Forged, None)), "bit {bit}");
        }
    }

    #[test]
    fn a_cookie_ends_with_its_life() {
        let jar = CookieJar::new(&mut Seeds::new(1, 0).stream("jar"));
        let sealed = jar.seal(&cookie());
        let life = Duration::from_secs(60);
        let end = Instant::from_millis(60_005);
        assert!(jar.open(end, &sealed, life).is_ok());
        let late = end + Duration::from_millis(3);
        let stale = Refused::Stale(Duration::from_millis(3));
        assert_eq!(jar.open(late, &sealed, life).unwrap_err().0, stale);
    }
}
