//! Packetization layer path MTU discovery (RFC 8899) of one path: which sizes are probed and when, and what follows from the
//! answers. Sizes are those of IP packets. It sends nothing and knows no clock.
//!
//! SCTP acknowledges, so that no CONFIRMATION_TIMER runs (§5.1.1); losses of data ask for a probe of the current size instead
//! ([`Discovery::suspect`]). Where data leave is where probes leave: an idle path is not probed (§5.1.1 permits that).

use crate::time::{Duration, Instant};

/// BASE_PLPMTU: what nearly all paths carry (§5.1.2).
pub(crate) const BASE_PLPMTU: u16 = 1200;
/// MIN_PLPMTU: what each host takes (RFC 1122 §3.3.2).
pub(crate) const MIN_PLPMTU: u16 = 576;
/// MAX_PROBES: probes of a size that are lost before it counts as too large (§5.1.2). As many losses of data in a row raise
/// the suspicion of a black hole.
const MAX_PROBES: u32 = 3;
/// PROBE_TIMER at the least (§5.1.1); the path's retransmission timeout if that is longer.
const PROBE_TIMER: Duration = Duration::from_secs(1);
/// PMTU_RAISE_TIMER: how long the result of a search is taken for granted (§5.1.1).
const PMTU_RAISE_TIMER: Duration = Duration::from_secs(600);
/// In the error state, how long until the sizes between MIN_PLPMTU and BASE_PLPMTU are tried again.
const ERROR_TIMER: Duration = Duration::from_secs(30);
/// A search ends when it could gain less than this, bytes: chunks are padded to four.
const RESOLUTION: u32 = 8;

/// The states of RFC 8899 §5.2.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum DiscoveryState {
    /// Packets have a size that is yet to be confirmed, or was confirmed and is suspect.
    Base,
    /// Larger sizes than that of packets are probed.
    Searching,
    /// The size of packets is the largest found.
    SearchComplete,
    /// BASE_PLPMTU does not arrive: packets have MIN_PLPMTU, and sizes between the two are probed.
    Error,
}

/// What the next step waits for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Wait {
    /// Data leave on the path.
    Data,
    /// The next opportunity to send.
    Output,
    /// PROBE_TIMER or PMTU_RAISE_TIMER.
    Timer(Instant),
}

/// A probe that was sent. Repetitions have its nonce: an answer to any of them confirms the size.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Probe {
    /// PROBED_SIZE.
    size: u16,
    nonce: u64,
    sent: Instant,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Discovery {
    state: DiscoveryState,
    plpmtu: u16,
    max_plpmtu: u16,
    /// MAX_PLPMTU as far as the configuration goes.
    most: u16,
    /// What the driver said last that interface and route take.
    told: Option<u16>,
    /// The smallest size found too large, or MAX_PLPMTU + 1 while none is.
    too_large: u32,
    probe: Option<Probe>,
    /// PROBE_COUNT.
    count: u32,
    wait: Wait,
    /// When PMTU_RAISE_TIMER expires.
    raise: Option<Instant>,
    /// Losses of data since anything was acknowledged.
    losses: u32,
    /// When a size was last confirmed.
    confirmed: Option<Instant>,
}

impl Discovery {
    /// Packets have `plpmtu` bytes to begin with; sizes up to `most` are searched.
    pub fn new(plpmtu: u16, most: u16) -> Self {
        let most = most.max(plpmtu);
        Discovery {
            state: DiscoveryState::Base,
            plpmtu,
            max_plpmtu: most,
            most,
            told: None,
            too_large: u32::from(most) + 1,
            probe: None,
            count: 0,
            wait: Wait::Data,
            raise: None,
            losses: 0,
            confirmed: None,
        }
    }

    /// The PLPMTU: bytes that an IP packet may have.
    pub fn plpmtu(&self) -> u16 {
        self.plpmtu
    }

    /// When [`Self::on_timer`] is due.
    pub fn timeout(&self) -> Option<Instant> {
        match self.wait {
            Wait::Timer(at) => Some(at),
            Wait::Data | Wait::Output => None,
        }
    }

    /// Data left on the path: probes that wait for that may follow.
    #[inline]
    pub fn data_left(&mut self) {
        if self.wait == Wait::Data {
            self.wait = Wait::Output;
        }
    }

    /// Whether a probe is to leave now.
    #[inline]
    pub fn due(&self) -> bool {
        self.wait == Wait::Output
    }

    /// Nothing can be probed at present: waits for data.
    pub fn put_off(&mut self) {
        self.wait = Wait::Data;
    }

    /// A probe leaves at `now`: its size and its nonce, which is `fresh` unless an earlier one of that size was lost. Its
    /// answer is waited for as long as `rto`, at least a second; that of each repetition half as long again, so that what
    /// keeps answers from coming at regular intervals does not meet all of them.
    pub fn send(&mut self, now: Instant, rto: Duration, fresh: impl FnOnce() -> u64) -> Option<(u16, u64)> {
        let Some(size) = self.next_size() else {
            self.search(now);
            return None;
        };
        let known = self.probe.filter(|p| p.size == size).map(|p| p.nonce);
        let nonce = known.unwrap_or_else(fresh);
        self.probe = Some(Probe { size, nonce, sent: now });
        self.wait = Wait::Timer(now + rto.max(PROBE_TIMER) * (2 + self.count) / 2);
        Some((size, nonce))
    }

    /// The size that is probed next; `None`: the search is complete.
    fn next_size(&self) -> Option<u16> {
        let (low, high) = (u32::from(self.plpmtu), self.too_large);
        if self.state == DiscoveryState::Base {
            return Some(self.plpmtu);
        }
        if low >= u32::from(self.max_plpmtu) {
            return None;
        }
        // The largest is the most likely.
        if high > u32::from(self.max_plpmtu) {
            return Some(self.max_plpmtu);
        }
        (high.saturating_sub(low) > RESOLUTION)
            .then(|| u16::try_from(u32::midpoint(low, high)).unwrap_or(u16::MAX))
    }

    /// The peer echoed `nonce`; whether it was a probe's.
    pub fn answered(&mut self, now: Instant, nonce: u64) -> bool {
        let Some(probe) = self.probe.take_if(|p| p.nonce == nonce) else { return false };
        self.plpmtu = probe.size.min(self.max_plpmtu);
        (self.count, self.losses, self.confirmed) = (0, 0, Some(now));
        self.state = DiscoveryState::Searching;
        self.search(now);
        true
    }

    /// Goes on with the search, or ends it.
    fn search(&mut self, now: Instant) {
        if self.next_size().is_some() {
            self.wait = Wait::Data;
            return;
        }
        match self.state {
            DiscoveryState::Error => {
                self.too_large = u32::from(BASE_PLPMTU) + 1;
                self.wait = Wait::Timer(now + ERROR_TIMER);
            }
            _ => {
                self.state = DiscoveryState::SearchComplete;
                let pending = self.raise.filter(|at| *at > now);
                self.raise = Some(pending.unwrap_or(now + PMTU_RAISE_TIMER));
                self.wait = Wait::Timer(self.raise.unwrap_or(Instant::MAX));
            }
        }
    }

    /// PROBE_TIMER or PMTU_RAISE_TIMER expired. A probe is lost only if what was sent with it or later `arrived` on the same
    /// path, by when it did last (§4.3: a path that is down is no black hole). True: nothing tells; a small packet is to be
    /// sent that does.
    #[must_use]
    pub fn on_timer(&mut self, now: Instant, rto: Duration, arrived: impl FnOnce(Instant) -> bool) -> bool {
        let Some(probe) = self.probe else {
            self.raise_again();
            return false;
        };
        if !arrived(probe.sent) {
            self.wait = Wait::Timer(now + rto.max(PROBE_TIMER));
            return true;
        }
        self.count += 1;
        if self.count >= MAX_PROBES {
            self.failed(now, probe.size);
        } else {
            // What is suspect is probed although no more data leave.
            self.wait = if self.state == DiscoveryState::Base { Wait::Output } else { Wait::Data };
        }
        false
    }

    /// The result of the last search is no longer taken for granted.
    fn raise_again(&mut self) {
        self.wait = Wait::Data;
        if self.state == DiscoveryState::SearchComplete {
            self.state = DiscoveryState::Searching;
            self.too_large = u32::from(self.max_plpmtu) + 1;
            self.raise = None;
        }
    }

    /// MAX_PROBES probes of `size` were lost.
    fn failed(&mut self, now: Instant, size: u16) {
        (self.probe, self.count) = (None, 0);
        self.too_large = u32::from(size);
        if self.state != DiscoveryState::Base {
            return self.search(now);
        }
        if self.plpmtu > BASE_PLPMTU {
            // A black hole (§4.3): what passes is found out from below.
            self.plpmtu = BASE_PLPMTU;
            self.wait = Wait::Output;
        } else {
            self.state = DiscoveryState::Error;
            self.plpmtu = self.plpmtu.min(MIN_PLPMTU);
            self.search(now);
        }
    }

    /// Data were acknowledged.
    #[inline]
    pub fn data_acked(&mut self) {
        self.losses = 0;
    }

    /// A chunk was lost; several in a row raise the suspicion that packets are too large.
    pub fn data_lost(&mut self, now: Instant) {
        self.losses += 1;
        if self.losses >= MAX_PROBES {
            self.suspect(now);
        }
    }

    /// Packets may have become too large for the path: their size is probed, and given up if no such probe arrives.
    pub fn suspect(&mut self, now: Instant) {
        use DiscoveryState::{SearchComplete, Searching};
        self.losses = 0;
        let lately = self.confirmed.is_some_and(|at| now - at < PROBE_TIMER);
        if matches!(self.state, Searching | SearchComplete) && self.plpmtu > BASE_PLPMTU && !lately {
            (self.state, self.probe, self.count) = (DiscoveryState::Base, None, 0);
            self.wait = Wait::Output;
        }
    }

    /// The path goes on between other addresses: nothing found so far is certain.
    pub fn restart(&mut self) {
        *self = Discovery {
            told: self.told,
            max_plpmtu: self.max_plpmtu,
            ..Discovery::new(self.plpmtu, self.most)
        };
        self.too_large = u32::from(self.max_plpmtu) + 1;
    }

    /// Interface and route take packets of `mtu` bytes at most, as far as the driver knows now.
    pub fn told(&mut self, now: Instant, mtu: u16) {
        if self.told.replace(mtu) == Some(mtu) {
            return;
        }
        let most = mtu.max(MIN_PLPMTU).min(self.most);
        if most <= self.max_plpmtu {
            return self.limit(now, most);
        }
        self.max_plpmtu = most;
        self.too_large = u32::from(most) + 1;
        self.raise = None;
        if self.state == DiscoveryState::SearchComplete {
            self.raise_again();
        }
    }

    /// Packets of more than `mtu` bytes can't be sent: what a Packet Too Big message would say (§4.6).
    pub fn limit(&mut self, now: Instant, mtu: u16) {
        let mtu = mtu.max(MIN_PLPMTU);
        if mtu >= self.max_plpmtu {
            return;
        }
        self.max_plpmtu = mtu;
        self.too_large = self.too_large.min(u32::from(mtu) + 1);
        let aborted = self.probe.take_if(|p| p.size > mtu).is_some();
        let lowered = self.plpmtu > mtu;
        self.plpmtu = self.plpmtu.min(mtu);
        if aborted || lowered {
            self.count = 0;
            self.search(now);
        }
    }
}

#[cfg(test)]
mod tests;
