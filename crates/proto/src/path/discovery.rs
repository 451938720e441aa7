//! Packetization layer path MTU discovery (RFC 8899) of one path: sizes and times of probes, and the consequences of
//! their answers. Sizes are those of IP packets. The module sends no packets and has no clock.
//!
//! SCTP acknowledges, so that no CONFIRMATION_TIMER runs (§5.1.1). Losses of data request a probe of the current size
//! instead ([`Discovery::suspect`]). Probes leave only on paths that carry data. An idle path is not probed, which
//! §5.1.1 permits.

use crate::time::{Duration, Instant};

/// BASE_PLPMTU: the size that nearly all paths carry (§5.1.2).
pub(crate) const BASE_PLPMTU: u16 = 1200;
/// MIN_PLPMTU: the size that each host accepts (RFC 1122 §3.3.2).
pub(crate) const MIN_PLPMTU: u16 = 576;
/// MAX_PROBES: number of lost probes after which a size counts as too large (§5.1.2). The same number of consecutive
/// losses of data raises the suspicion of a black hole.
const MAX_PROBES: u32 = 3;
/// PROBE_TIMER: minimum wait for the answer to a probe (§5.1.1). The path's retransmission timeout applies if it is
/// longer.
const PROBE_TIMER: Duration = Duration::from_secs(1);
/// PMTU_RAISE_TIMER: time for which the result of a search is assumed to hold (§5.1.1).
const PMTU_RAISE_TIMER: Duration = Duration::from_secs(600);
/// Time in the error state until the sizes between MIN_PLPMTU and BASE_PLPMTU are tried again.
const ERROR_TIMER: Duration = Duration::from_secs(30);
/// Minimum gain of a search in bytes. A search ends when it could gain less, because chunks are padded to a multiple of
/// four bytes.
const RESOLUTION: u32 = 8;

/// The states of RFC 8899 §5.2.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum DiscoveryState {
    /// The size of packets is not yet confirmed, or was confirmed and is suspected to be too large.
    Base,
    /// Sizes larger than the size of packets are probed.
    Searching,
    /// The size of packets is the largest found.
    SearchComplete,
    /// BASE_PLPMTU does not arrive. Packets have the size MIN_PLPMTU, and sizes between the two are probed.
    Error,
}

/// Event for which the next step waits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Wait {
    /// Data leave on the path.
    Data,
    /// The next opportunity to send.
    Output,
    /// PROBE_TIMER or PMTU_RAISE_TIMER.
    Timer(Instant),
}

/// A probe that was sent. Repetitions have the same nonce: an answer to any of them confirms the size.
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
    /// MAX_PLPMTU of the configuration.
    most: u16,
    /// Last limit of interface and route that the driver reported.
    told: Option<u16>,
    /// Smallest size found too large; MAX_PLPMTU + 1 if none was found.
    too_large: u32,
    probe: Option<Probe>,
    /// PROBE_COUNT.
    count: u32,
    wait: Wait,
    /// Time at which PMTU_RAISE_TIMER expires.
    raise: Option<Instant>,
    /// Number of losses of data since the last acknowledgement.
    losses: u32,
    /// Time at which a size was last confirmed.
    confirmed: Option<Instant>,
}

impl Discovery {
    /// Starts with packets of `plpmtu` bytes. Sizes up to `most` are searched.
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

    /// The PLPMTU: maximum bytes of an IP packet.
    pub fn plpmtu(&self) -> u16 {
        self.plpmtu
    }

    /// Time at which [`Self::on_timer`] is due.
    pub fn timeout(&self) -> Option<Instant> {
        match self.wait {
            Wait::Timer(at) => Some(at),
            Wait::Data | Wait::Output => None,
        }
    }

    /// Records that data left on the path. Probes that wait for data may now follow.
    #[inline]
    pub fn data_left(&mut self) {
        if self.wait == Wait::Data {
            self.wait = Wait::Output;
        }
    }

    /// Returns whether a probe is to leave now.
    #[inline]
    pub fn due(&self) -> bool {
        self.wait == Wait::Output
    }

    /// Waits for data, because no size can be probed at present.
    pub fn put_off(&mut self) {
        self.wait = Wait::Data;
    }

    /// Sends a probe at `now`. Returns its size and its nonce, which is `fresh` unless an earlier probe of that size
    /// was lost. The wait for its answer is `rto`, but at least a second. The wait becomes longer by half for each
    /// repetition, so that a disturbance at regular intervals does not affect all probes.
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

    /// Returns the next size to probe; `None` if the search is complete.
    fn next_size(&self) -> Option<u16> {
        let (low, high) = (u32::from(self.plpmtu), self.too_large);
        if self.state == DiscoveryState::Base {
            return Some(self.plpmtu);
        }
        if low >= u32::from(self.max_plpmtu) {
            return None;
        }
        // The largest size is the most likely.
        if high > u32::from(self.max_plpmtu) {
            return Some(self.max_plpmtu);
        }
        (high.saturating_sub(low) > RESOLUTION)
            .then(|| u16::try_from(u32::midpoint(low, high)).unwrap_or(u16::MAX))
    }

    /// Handles the peer's echo of `nonce`. Returns whether the nonce belongs to a probe.
    pub fn answered(&mut self, now: Instant, nonce: u64) -> bool {
        let Some(probe) = self.probe.take_if(|p| p.nonce == nonce) else { return false };
        self.plpmtu = probe.size.min(self.max_plpmtu);
        (self.count, self.losses, self.confirmed) = (0, 0, Some(now));
        self.state = DiscoveryState::Searching;
        self.search(now);
        true
    }

    /// Continues the search, or ends it.
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

    /// Handles the expiry of PROBE_TIMER or PMTU_RAISE_TIMER. A probe counts as lost only if a packet that was sent
    /// with it or later `arrived` on the same path (§4.3: a path that is down is not a black hole). Returns true if it
    /// is unknown whether one arrived. A small packet must then be sent to find out.
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
            // A suspect size is probed even if no more data leave.
            self.wait = if self.state == DiscoveryState::Base { Wait::Output } else { Wait::Data };
        }
        false
    }

    /// Starts the search again, because the last result is too old.
    fn raise_again(&mut self) {
        self.wait = Wait::Data;
        if self.state == DiscoveryState::SearchComplete {
            self.state = DiscoveryState::Searching;
            self.too_large = u32::from(self.max_plpmtu) + 1;
            self.raise = None;
        }
    }

    /// Handles the loss of MAX_PROBES probes of `size`.
    fn failed(&mut self, now: Instant, size: u16) {
        (self.probe, self.count) = (None, 0);
        self.too_large = u32::from(size);
        if self.state != DiscoveryState::Base {
            return self.search(now);
        }
        if self.plpmtu > BASE_PLPMTU {
            // This is a black hole (§4.3). The search for the size that passes starts from below.
            self.plpmtu = BASE_PLPMTU;
            self.wait = Wait::Output;
        } else {
            self.state = DiscoveryState::Error;
            self.plpmtu = self.plpmtu.min(MIN_PLPMTU);
            self.search(now);
        }
    }

    /// Records that data were acknowledged.
    #[inline]
    pub fn data_acked(&mut self) {
        self.losses = 0;
    }

    /// Records the loss of a chunk. Several consecutive losses raise the suspicion that packets are too large.
    pub fn data_lost(&mut self, now: Instant) {
        self.losses += 1;
        if self.losses >= MAX_PROBES {
            self.suspect(now);
        }
    }

    /// Handles the suspicion that packets are too large for the path: their size is probed, and is reduced if no probe
    /// of it arrives.
    pub fn suspect(&mut self, now: Instant) {
        use DiscoveryState::{SearchComplete, Searching};
        self.losses = 0;
        let lately = self.confirmed.is_some_and(|at| now - at < PROBE_TIMER);
        if matches!(self.state, Searching | SearchComplete) && self.plpmtu > BASE_PLPMTU && !lately {
            (self.state, self.probe, self.count) = (DiscoveryState::Base, None, 0);
            self.wait = Wait::Output;
        }
    }

    /// Restarts after the path has moved to other addresses: earlier results may not hold for the new addresses.
    pub fn restart(&mut self) {
        *self = Discovery {
            told: self.told,
            max_plpmtu: self.max_plpmtu,
            ..Discovery::new(self.plpmtu, self.most)
        };
        self.too_large = u32::from(self.max_plpmtu) + 1;
    }

    /// Limits the packets of interface and route to `mtu` bytes, as the driver now reports.
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

    /// Limits packets to `mtu` bytes because larger packets cannot be sent, as a Packet Too Big message would report
    /// (§4.6).
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
