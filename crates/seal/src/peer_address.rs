//! Addresses of a peer, and their proof. An address is proven once the peer has answered a challenge that was sent to
//! it. A challenge and its answer are the validation of paths in RFC 9000 §8.2.

use strandcast_proto::path::FourTuple;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use crate::control::Control;

/// Maximum ratio of bytes sent to an unproven address to bytes received from it. IP and UDP headers also count.
const MOST_AMPLIFIED: usize = 3;
/// Bytes of a challenge, including header and tag.
const CHALLENGE: usize = 13 + 3 + 8 + 16;
/// Wait after the first unanswered challenge. Each further wait is twice as long, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// A 4-tuple whose remote address is either proven or only claimed.
#[derive(Debug)]
pub(crate) struct PeerAddress {
    pub tuple: FourTuple,
    claim: Option<Claim>,
}

/// State of an unproven address.
#[derive(Debug)]
struct Claim {
    /// Number of bytes that may still be sent to the address.
    credit: usize,
    nonce: [u8; 8],
    /// Time of the next challenge, and the wait after that challenge.
    next: Instant,
    wait: Duration,
}

impl PeerAddress {
    /// Returns a proven address: this side chose it, or the peer answered the handshake from it.
    pub fn proven(tuple: FourTuple) -> Self {
        PeerAddress { tuple, claim: None }
    }

    /// Returns a claimed address, from which an authentic datagram came.
    pub fn claimed(now: Instant, tuple: FourTuple, random: &mut Random) -> Self {
        let mut nonce = [0; 8];
        random.fill(&mut nonce);
        PeerAddress { tuple, claim: Some(Claim { credit: 0, nonce, next: now, wait: FIRST_WAIT }) }
    }

    /// Returns whether the address is proven.
    pub fn is_proven(&self) -> bool {
        self.claim.is_none()
    }

    /// Marks the address as proven.
    pub fn prove(&mut self) {
        self.claim = None;
    }

    /// Records an authentic datagram of `len` bytes from the address. The datagram raises the number of bytes that may
    /// be sent there.
    pub fn earn(&mut self, len: usize) {
        let headers = headers(&self.tuple);
        if let Some(claim) = &mut self.claim {
            claim.credit += MOST_AMPLIFIED * (len + headers);
        }
    }

    /// Returns whether `len` bytes in `datagrams` datagrams may be sent to the address. If the datagrams may be sent,
    /// counts them.
    pub fn spend(&mut self, datagrams: usize, len: usize) -> bool {
        let cost = len + datagrams * headers(&self.tuple);
        let Some(claim) = &mut self.claim else { return true };
        let left = claim.credit.checked_sub(cost);
        claim.credit = left.unwrap_or(claim.credit);
        left.is_some()
    }

    /// Returns a challenge if one is due and the address may still receive its bytes. The caller counts the challenge's
    /// bytes with [`PeerAddress::spend`].
    pub fn challenge(&mut self, now: Instant) -> Option<Control> {
        self.deadline().filter(|next| *next <= now)?;
        let claim = self.claim.as_mut()?;
        claim.next = now + claim.wait;
        claim.wait = (claim.wait * 2).min(LONGEST_WAIT);
        Some(Control::Challenge(claim.nonce))
    }

    /// Returns the time of the next challenge. Returns `None` if another challenge must wait for a datagram from the
    /// address.
    pub fn deadline(&self) -> Option<Instant> {
        let cost = CHALLENGE + headers(&self.tuple);
        self.claim.as_ref().filter(|claim| claim.credit >= cost).map(|claim| claim.next)
    }

    /// Returns whether the answer `nonce`, received on the 4-tuple `from`, proves the address.
    pub fn is_answer(&self, from: &FourTuple, nonce: &[u8; 8]) -> bool {
        self.tuple == *from && self.claim.as_ref().is_some_and(|claim| claim.nonce == *nonce)
    }
}

/// Returns the bytes of the IP and UDP headers of a datagram.
fn headers(tuple: &FourTuple) -> usize {
    if tuple.remote.is_ipv6() { 48 } else { 28 }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    fn claimed() -> PeerAddress {
        PeerAddress::claimed(
            Instant::ZERO,
            FourTuple::loopback(1, 2),
            &mut Seeds::new(1, 0).stream("address"),
        )
    }

    #[test]
    fn an_unproven_address_gets_three_times_what_came_from_there() {
        let mut address = claimed();
        assert!(!address.spend(1, 1), "nothing came");
        address.earn(100);
        // 3 * (100 + 28) = 384 = 2 * (164 + 28).
        assert!(address.spend(1, 164) && address.spend(1, 164));
        assert!(!address.spend(1, 0));
        address.prove();
        assert!(address.spend(100, 100_000));
    }

    /// RFC 9000 §8.1 counts UDP payloads, and this seal also counts headers. Each datagram of a batch has its own
    /// headers.
    #[test]
    fn every_datagram_of_a_batch_costs_its_headers() {
        let mut address = claimed();
        address.earn(100);
        // 3 * (100 + 28) = 384 = 300 + 3 * 28.
        assert!(!address.spend(4, 300));
        assert!(address.spend(3, 300));
        assert!(!address.spend(1, 0));
    }

    #[test]
    fn challenges_back_off_to_three_seconds() {
        let mut address = claimed();
        assert_eq!((address.deadline(), address.challenge(Instant::ZERO)), (None, None), "nothing came");
        // 3 * (12 + 28) = 120: enough for one challenge, and for repeats, because this test does not spend
        // it.
        address.earn(12);
        let mut sent = Vec::new();
        for ms in 0..10_000 {
            if address.challenge(Instant::from_millis(ms)).is_some() {
                sent.push(ms);
            }
        }
        assert_eq!(sent, [0, 200, 600, 1400, 3000, 6000, 9000]);
    }

    #[test]
    fn only_the_nonce_from_the_very_address_proves_it() {
        let mut address = claimed();
        address.earn(100);
        let Some(Control::Challenge(nonce)) = address.challenge(Instant::ZERO) else { panic!("a challenge") };
        assert!(address.is_answer(&FourTuple::loopback(1, 2), &nonce));
        assert!(!address.is_answer(&FourTuple::loopback(1, 3), &nonce));
        assert!(!address.is_answer(&FourTuple::loopback(1, 2), &[0; 8]));
        address.prove();
        assert!(!address.is_answer(&FourTuple::loopback(1, 2), &nonce), "nothing is asked any more");
    }
}
