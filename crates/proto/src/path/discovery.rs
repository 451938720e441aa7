//! Packetization layer path MTU discovery (RFC 8899) of one path: sizes and times of probes, and the effects of their
//! answers. All sizes are those of IP packets. This module sends no packets and has no clock.
//!
//! SCTP has acknowledgements, so no CONFIRMATION_TIMER runs (RFC 8899 §5.1.1). Instead, losses of data cause a probe of
//! the current size ([`Discovery::suspect`]). Probes are sent only on paths that carry data. An idle path is not
//! probed, which RFC 8899 §5.1.1 permits.

use crate::time::{Duration, Instant};

/// BASE_PLPMTU: the size that nearly all paths carry (RFC 8899 §5.1.2).
pub(crate) const BASE_PLPMTU: u16 = 1200;
/// MIN_PLPMTU: the size that every host accepts (RFC 1122 §3.3.2).
pub(crate) const MIN_PLPMTU: u16 = 576;
/// MAX_PROBES: number of lost probes after which a size counts as too large (RFC 8899 §5.1.2). The same number of
/// consecutive losses of data causes the suspicion of a black hole.
const MAX_PROBES: u32 = 3;
/// PROBE_TIMER: minimum wait for the answer to a probe (RFC 8899 §5.1.1). If the path's retransmission timeout is
/// longer, the wait has the length of this timeout.
const PROBE_TIMER: Duration = Duration::from_secs(1);
/// PMTU_RAISE_TIMER: time for which the result of a search stays valid (RFC 8899 §5.1.1).
const PMTU_RAISE_TIMER: Duration = Duration::from_secs(600);
/// Time in the error state before the sizes between MIN_PLPMTU and BASE_PLPMTU are probed again.
const ERROR_TIMER: Duration = Duration::from_secs(30);
/// Minimum gain in bytes for which a search continues. Chunks are padded to a multiple of four bytes, so a smaller gain
/// is of no use.
const RESOLUTION: u32 = 8;

/// The states of discovery (RFC 8899 §5.2).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum DiscoveryState {
    /// The size of packets is not yet confirmed. Or it was confirmed, and is now suspected to be too large.
    Base,
    /// The search probes sizes larger than the present size of packets.
    Searching,
    /// The search is complete: packets have the largest size found.
    SearchComplete,
    /// Packets of BASE_PLPMTU bytes do not arrive. Packets have MIN_PLPMTU bytes, and sizes between the two values are
    /// probed.
    Error,
}

/// Event for which the next step of discovery waits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Wait {
    /// Data are sent on the path.
    Data,
    /// Another packet can be sent.
    Output,
    /// PROBE_TIMER or PMTU_RAISE_TIMER expires.
    Timer(Instant),
}

/// A probe that was sent. Repetitions of a probe have the same nonce, and an answer to any of them confirms the size.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Probe {
    /// PROBED_SIZE: size of the probe.
    size: u16,
    nonce: u64,
    sent: Instant,
}

/// Discovery of one path; see the [module](self).
#[derive(Debug)]
pub(crate) struct Discovery {
    state: DiscoveryState,
    plpmtu: u16,
    max_plpmtu: u16,
    /// MAX_PLPMTU, as configured.
    most: u16,
    /// Last limit that the driver reported for interface and route.
    told: Option<u16>,
    /// Smallest size that was found too large. If no size was found too large, the value is MAX_PLPMTU + 1.
    too_large: u32,
    probe: Option<Probe>,
    /// PROBE_COUNT: number of lost probes of this size.
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
    /// Starts discovery with packets of `plpmtu` bytes. Discovery searches sizes up to `most`.
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

    /// Returns the PLPMTU: the maximum size in bytes of an IP packet.
    pub fn plpmtu(&self) -> u16 {
        self.plpmtu
    }

    /// Returns the time at which [`Self::on_timer`] must be called.
    pub fn timeout(&self) -> Option<Instant> {
        match self.wait {
            Wait::Timer(at) => Some(at),
            Wait::Data | Wait::Output => None,
        }
    }

    /// Records that data were sent on the path. Probes that waited for data may now be sent.
    #[inline]
    pub fn data_left(&mut self) {
        if self.wait == Wait::Data {
            self.wait = Wait::Output;
        }
    }

    /// Returns whether a probe must be sent now.
    #[inline]
    pub fn due(&self) -> bool {
        self.wait == Wait::Output
    }

    /// Waits for data again, because no size can be probed at present.
    pub fn put_off(&mut self) {
        self.wait = Wait::Data;
    }

    /// Records that a probe is sent at `now`. Returns the probe's size and nonce. The nonce is `fresh`, unless an
    /// earlier probe of this size was lost. The wait for the answer is `rto`, but at least one second. Each repetition
    /// lengthens the wait by half. A disturbance at regular intervals therefore does not affect all probes.
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

    /// Handles the peer's echo of `nonce`. Returns whether this nonce belongs to a probe of discovery.
    pub fn answered(&mut self, now: Instant, nonce: u64) -> bool {
        let Some(probe) = self.probe.take_if(|p| p.nonce == nonce) else { return false };
        self.plpmtu = probe.size.min(self.max_plpmtu);
        (self.count, self.losses, self.confirmed) = (0, 0, Some(now));
        self.state = DiscoveryState::Searching;
        self.search(now);
        true
    }

    /// Continues the search for the MTU, or ends it.
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

    /// Handles the expiry of PROBE_TIMER or PMTU_RAISE_TIMER. A probe counts as lost only if a packet sent with it or
    /// later `arrived` on the same path. A path that is down is not a black hole (RFC 8899 §4.3). Returns true if it is
    /// unknown whether such a packet arrived. The caller must then send a small packet to find out.
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

    /// Starts the search again, because its last result is too old.
    fn raise_again(&mut self) {
        self.wait = Wait::Data;
        if self.state == DiscoveryState::SearchComplete {
            self.state = DiscoveryState::Searching;
            self.too_large = u32::from(self.max_plpmtu) + 1;
            self.raise = None;
        }
    }

    /// Handles the loss of MAX_PROBES probes of size `size`.
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

    /// Records that the peer acknowledged data.
    #[inline]
    pub fn data_acked(&mut self) {
        self.losses = 0;
    }

    /// Records the loss of a chunk. Several consecutive losses cause the suspicion that packets are too large.
    pub fn data_lost(&mut self, now: Instant) {
        self.losses += 1;
        if self.losses >= MAX_PROBES {
            self.suspect(now);
        }
    }

    /// Handles the suspicion that packets are too large for the path. Packets of the present size are probed, and the
    /// size is reduced if no such probe arrives.
    pub fn suspect(&mut self, now: Instant) {
        use DiscoveryState::{SearchComplete, Searching};
        self.losses = 0;
        let lately = self.confirmed.is_some_and(|at| now - at < PROBE_TIMER);
        if matches!(self.state, Searching | SearchComplete) && self.plpmtu > BASE_PLPMTU && !lately {
            (self.state, self.probe, self.count) = (DiscoveryState::Base, None, 0);
            self.wait = Wait::Output;
        }
    }

    /// Restarts discovery after the path moved to other addresses. Earlier results may be wrong for the new addresses.
    pub fn restart(&mut self) {
        *self = Discovery {
            told: self.told,
            max_plpmtu: self.max_plpmtu,
            ..Discovery::new(self.plpmtu, self.most)
        };
        self.too_large = u32::from(self.max_plpmtu) + 1;
    }

    /// Limits packets to `mtu` bytes, as the driver reports for interface and route.
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

    /// Limits packets to `mtu` bytes, because larger packets cannot be sent. A Packet Too Big message would have this
    /// effect (RFC 8899 §4.6).
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
