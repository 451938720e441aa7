//! Retry cookies: bound to an address and a message.

use core::net::SocketAddr;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::message::mac;
use crate::wire::COOKIE;

/// How long a secret makes cookies. They are accepted for as long again.
const LIFETIME: Duration = Duration::from_secs(60);

/// Makes and checks cookies, and keeps none of them.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Cookies {
    current: [u8; 32],
    previous: [u8; 32],
    #[zeroize(skip)]
    renew_at: Instant,
}

impl Cookies {
    pub fn new() -> Self {
        Cookies { current: [0; 32], previous: [0; 32], renew_at: Instant::ZERO }
    }

    /// The cookie that a sender at `from` has to repeat in the message with this digest.
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

    /// Whether `shown` was made for it in the last minute, or two.
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
        if now < self.renew_at && self.renew_at != Instant::ZERO {
            return;
        }
        self.previous = self.current;
        random.fill(&mut self.current);
        // After a pause, or at first, the one before is too old as well.
        if self.renew_at == Instant::ZERO || now >= self.renew_at + LIFETIME {
            random.fill(&mut self.previous);
        }
        self.renew_at = now + LIFETIME;
    }
}

fn cookie(secret: &[u8; 32], from: SocketAddr, digest: &[u8]) -> [u8; COOKIE] {
    let address = match from.ip().to_canonical() {
        core::net::IpAddr::V4(a) => a.to_ipv6_mapped(),
        core::net::IpAddr::V6(a) => a,
    };
    mac(secret, &[&address.octets(), &from.port().to_be_bytes(), digest])
}
