//! Cookies that a listener creates and does not store.

use core::net::{IpAddr, SocketAddr};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;
use subtle::ConstantTimeEq as _;

/// Number of seconds for which one cookie is created. The cookie is then accepted for as long again.
const LIFETIME_S: u64 = 60;

/// Creates and checks cookies.
pub(super) struct Cookies(Hmac<Sha1>);

impl Cookies {
    pub fn new(random: &mut Random) -> Cookies {
        let mut secret = [0; 32];
        random.fill(&mut secret);
        Cookies(Hmac::new_from_slice(&secret).expect("HMAC takes keys of any length"))
    }

    /// Returns the cookie for a caller's address and id at the time `now`.
    pub fn make(&self, now: Instant, from: SocketAddr, id: u32) -> u32 {
        self.at(minute(now), from, id)
    }

    /// Returns true if this cookie was created for the caller within the last one or two minutes.
    pub fn accepts(&self, now: Instant, from: SocketAddr, id: u32, cookie: u32) -> bool {
        let minute = minute(now);
        let before = minute.checked_sub(1).map_or(0.into(), |m| self.at(m, from, id).ct_eq(&cookie));
        (self.at(minute, from, id).ct_eq(&cookie) | before).into()
    }

    fn at(&self, minute: u64, from: SocketAddr, id: u32) -> u32 {
        let address = match from.ip().to_canonical() {
            IpAddr::V4(a) => a.to_ipv6_mapped(),
            IpAddr::V6(a) => a,
        };
        let mut mac = self.0.clone();
        mac.update(&address.octets());
        mac.update(&from.port().to_be_bytes());
        mac.update(&id.to_be_bytes());
        mac.update(&minute.to_be_bytes());
        let mac = mac.finalize().into_bytes();
        u32::from_be_bytes([mac[0], mac[1], mac[2], mac[3]])
    }
}

fn minute(now: Instant) -> u64 {
    now.as_nanos() / (LIFETIME_S * 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    #[test]
    fn a_cookie_is_bound_to_its_caller_and_lasts_a_minute() {
        let cookies = Cookies::new(&mut Seeds::new(1, 0).stream("cookies"));
        let (from, other) = ("192.0.2.1:5000".parse().unwrap(), "192.0.2.1:5001".parse().unwrap());
        let at = |s: u64| Instant::from_millis(s * 1000);
        let cookie = cookies.make(at(59), from, 7);
        assert!(cookies.accepts(at(59), from, 7, cookie) && cookies.accepts(at(119), from, 7, cookie));
        assert!(!cookies.accepts(at(120), from, 7, cookie), "too old");
        assert!(!cookies.accepts(at(59), other, 7, cookie), "another port");
        assert!(!cookies.accepts(at(59), from, 8, cookie), "another id");
        let others = Cookies::new(&mut Seeds::new(2, 0).stream("cookies"));
        assert!(!others.accepts(at(59), from, 7, cookie), "another listener");
    }
}
