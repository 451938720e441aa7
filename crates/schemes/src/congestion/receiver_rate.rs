//! Window and pacing at the rate that the receiver requests (the sender's half of SRE-rev, Cao et al. 2016).
//!
//! DATA are paced at a_rdsr (`Estimate::peer_rate`). RFC 9260's windows are used while that rate is unknown. That rate
//! is unknown until the receiver sends its first rate, and with peers that send no rates.
//!
//! `ASSUMED`, because the paper does not specify it: a window of twice rate · srtt, at least two packets, remains as a
//! safeguard. After a timeout the window is one packet, so that one packet leaves per RTO. The window stays one packet
//! until a report of the receiver arrives. The receiver counts SCTP packets. The core adds the headers of IP and UDP
//! when it paces.

use strandcast_keys::keys;
use strandcast_proto::policy::{
    CongestionControl, Limit, LossTrigger, Moves, PathId, PathState, PathView, Policy, Signal, View,
};
use strandcast_proto::rfc::{Aimd, Reno, WindowConfig};
use strandcast_proto::units::Rate;

use super::TcpConfig;
use super::window::{WindowPart, Windows};
use crate::estimate::PeerRate;
use crate::feedback::rounds::Notice;
use crate::part::{Estimators, Others};

/// Total length of SCTP's common header and of the headers of UDP and IP, in bytes.
const HEADERS: (f64, f64) = (12.0, 28.0);
/// Size of the safety window in bandwidth-delay products. The first value is the normal one, and the second applies
/// while the path blocks other paths.
const PRODUCTS: (f64, f64) = (2.0, 1.0);
/// Assumed round-trip time in seconds while no measurement exists.
const INITIAL_RTT: f64 = 1.0;
/// Greatest window in bytes.
const MOST: f64 = (1u64 << 32) as f64;

keys! {
    /// [`ReceiverPaced`] has no keys of its own.
    pub struct ReceiverRateConfig {}
}

impl WindowPart for ReceiverRateConfig {
    fn paper(&self) -> &'static str {
        "Cao et al. 2016: SCTP-Rev"
    }

    fn summary(&self) -> &'static str {
        "paced at the rate that the receiver asks for; RFC 9260's window before the first one"
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        Box::new(ReceiverPaced::new(config))
    }

    fn tcp(&self, _: TcpConfig) -> Result<Windows, &'static str> {
        Err("its rate comes from an SCTP receiver with feedback=rounds, which TCP flows do not have")
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.add(PeerRate::default());
    }

    fn refuses(&self, others: &Others) -> Option<&'static str> {
        let refusal = "cc=receiver-rate needs feedback=rounds: the receiver finds its rate by rounds";
        (!others.rounds).then_some(refusal)
    }
}

/// One rate per path, as the receiver requests it. Without a rate, RFC 9260's window.
#[derive(Debug)]
pub struct ReceiverPaced {
    windows: Aimd<Reno>,
    /// Pacing by path slot.
    paths: Vec<Option<Paced>>,
}

#[derive(Copy, Clone, Debug)]
struct Paced {
    /// Rate of SCTP packets.
    rate: Rate,
    /// Pacing rate; `None` after a timeout.
    pacing: Option<Rate>,
    cwnd: u64,
    /// True if the path was penalised since the receiver's last report.
    penalised: bool,
}

impl Paced {
    fn new(rate: Rate, path: &PathView) -> Self {
        let packet = path.mtu as f64 + HEADERS.0;
        let pacing = Rate::from_bps(rate.bps() * (packet + HEADERS.1) / packet);
        let mut paced = Paced { rate, pacing: Some(pacing), cwnd: 0, penalised: false };
        paced.fit(path);
        paced
    }

    /// Adapts the safety window to the round-trip time.
    fn fit(&mut self, path: &PathView) {
        if self.pacing.is_some() {
            let rtt = path.srtt.map_or(INITIAL_RTT, |s| (s + path.ack_delay).as_secs_f64());
            let products = if self.penalised { PRODUCTS.1 } else { PRODUCTS.0 };
            let window = (products * self.rate.bytes_per_s() * rtt).min(MOST);
            self.cwnd = (window as u64).max(2 * path.mtu);
        }
    }

    /// Limits the path to one packet until a report of the receiver arrives. Pacing at one packet per RTO would also
    /// delay the packet after that report.
    fn timed_out(&mut self, path: &PathView) {
        (self.pacing, self.cwnd) = (None, path.mtu);
    }
}

impl ReceiverPaced {
    /// Makes a controller that uses these windows before the first rate.
    pub fn new(config: WindowConfig) -> Self {
        ReceiverPaced { windows: Aimd::new(config, Reno), paths: Vec::new() }
    }

    fn slot(&mut self, path: PathId) -> &mut Option<Paced> {
        if self.paths.len() <= path.index() {
            self.paths.resize(path.index() + 1, None);
        }
        &mut self.paths[path.index()]
    }
}

impl Policy for ReceiverPaced {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.windows.on_signal(view, signal);
        match signal {
            // A label is sent with each packet and names no path.
            Signal::Peer(report) if report.subject.is_some() => {
                let speaks =
                    matches!(Notice::read(report), Some(Notice::Rate { .. } | Notice::Switch { .. }));
                if let Some(path) = report.subject.filter(|_| speaks).and_then(|p| view.paths.get(p.index()))
                    && let Some(rate) = path.est.peer_rate.filter(|r| r.bps() > 0.0)
                {
                    *self.slot(path.id) = Some(Paced::new(rate, path));
                }
            }
            Signal::Acked(ack) => {
                if let (Some(paced), Some(path)) = (self.slot(ack.path), view.paths.get(ack.path.index())) {
                    paced.fit(path);
                }
            }
            Signal::LossEvent { path, trigger: LossTrigger::Timeout, .. } => {
                if let (Some(paced), Some(path)) = (self.slot(*path), view.paths.get(path.index())) {
                    paced.timed_out(path);
                }
            }
            Signal::LossEvent { path, trigger: LossTrigger::HeadOfLine, .. } => {
                if let (Some(paced), Some(path)) = (self.slot(*path), view.paths.get(path.index())) {
                    paced.penalised = true;
                    let before = paced.cwnd;
                    paced.fit(path);
                    paced.cwnd = paced.cwnd.min(before);
                }
            }
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_some_and(|p| p.state == PathState::Closed) =>
            {
                *self.slot(*path) = None;
            }
            _ => {}
        }
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        match signal {
            Signal::Acked(_) => Moves::All,
            _ => Moves::Own,
        }
    }
}

impl CongestionControl for ReceiverPaced {
    fn limit(&self, path: PathId) -> Limit {
        match self.paths.get(path.index()).copied().flatten() {
            Some(Paced { cwnd, pacing, .. }) => Limit { cwnd, ssthresh: None, pacing },
            None => self.windows.limit(path),
        }
    }
}
