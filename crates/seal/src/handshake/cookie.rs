//! Cookies for retries. A cookie is valid only for one address and one message.

use core::net::SocketAddr;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::message::mac;
use crate::wire::COOKIE;

/// Time for which new cookies are made with one secret. The cookies of a replaced secret stay valid for another period
/// of this length.
const LIFETIME: Duration = Duration::from_secs(60);

/// Creates and checks cookies without storing them.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Cookies {
    current: [u8; 32],
    previous: [u8; 32],
    /// Time of the next change of the secret; `None` before the first cookie.
    #[zeroize(skip)]
    renew_at: Option<Instant>,
}

impl Cookies {
    pub fn new() -> Self {
        Cookies { current: [0; 32], previous: [0; 32], renew_at: None }
    }

    /// Returns the cookie for a sender with the address `from`. The sender must send its message 1 again with this
    /// cookie. `digest` identifies the message.
    pub fn make(
        &mut self,
        now: Instant,
        from: SocketAddr,
        digest: &[u8],
        random: &mut Random,
    ) -> [u8; COOKIE] {
        self.renew(now, random);
        cookie(&self.current, from, digest)
    }

    /// Returns whether the cookie `shown` was created for this address and message within the last one or two minutes.
    pub fn accepts(
        &mut self,
        now: Instant,
        from: SocketAddr,
        digest: &[u8],
        shown: &[u8],
        random: &mut Random,
    ) -> bool {
        self.renew(now, random);
        (cookie(&self.current, from, digest).ct_eq(shown) | cookie(&self.previous, from, digest).ct_eq(shown))
            .into()
    }

    fn renew(&mut self, now: Instant, random: &mut Random) {
        match self.renew_at {
            Some(at) if now < at => return,
            Some(at) if now < at + LIFETIME => self.previous = self.current,
            // The first cookie, or a pause: the previous secret is too old as well.
            _ => random.fill(&mut self.previous),
        }
        random.fill(&mut self.current);
        self.renew_at = Some(now + LIFETIME);
    }
}

fn cookie(secret: &[u8; 32], from: SocketAddr, digest: &[u8]) -> [u8; COOKIE] {
    let address = match from.ip().to_canonical() {
        core::net::IpAddr::V4(a) => a.to_ipv6_mapped(),
        core::net::IpAddr::V6(a) => a,
    };
    mac(secret, &[&address.octets(), &from.port().to_be_bytes(), digest])
}
