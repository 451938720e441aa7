//! Rates that the receiver requests, as the sender stores them.

use strandcast_proto::policy::{
    Estimate, Moves, PathEstimator, PathId, PathState, Policy, Report, Signal, View,
};
use strandcast_proto::units::Rate;

use crate::feedback::rounds::{Notice, Order};

/// Greatest valid rate in bytes per second.
const MOST: u64 = 1 << 40;

/// Estimator that writes the last rate that the receiver requested for each path.
#[derive(Clone, Default, Debug)]
pub struct PeerRate {
    /// Rates by path slot.
    paths: Vec<Asked>,
    order: Order,
}

#[derive(Copy, Clone, Default, Debug)]
struct Asked {
    rate: Option<Rate>,
    round: Option<u32>,
}

impl PeerRate {
    fn path(&mut self, path: PathId) -> &mut Asked {
        if self.paths.len() <= path.index() {
            self.paths.resize(path.index() + 1, Asked::default());
        }
        &mut self.paths[path.index()]
    }

    fn hear(&mut self, report: &Report) {
        let Some(path) = report.subject else { return };
        let rate = |bytes: u64| Rate::from_bytes_per_s(bytes.min(MOST) as f64);
        match Notice::read(report) {
            Some(Notice::Rate { rate: asked, round }) => {
                let of = self.path(path);
                // Reports may overtake each other.
                let old = of.round.is_some_and(|r| (round.wrapping_sub(r) as i32) < 0);
                if let Some(asked) = asked.filter(|_| !old) {
                    (of.rate, of.round) = (Some(rate(asked)), Some(round));
                }
            }
            Some(Notice::Switch { rate: asked, serial }) if self.order.follows(serial) => {
                let of = self.path(path);
                of.rate = asked.map(rate).or(of.rate);
            }
            _ => {}
        }
    }
}

impl Policy for PeerRate {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Peer(report) => self.hear(report),
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_some_and(|p| p.state == PathState::Closed) =>
            {
                *self.path(*path) = Asked::default();
            }
            _ => {}
        }
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        Moves::by(signal)
    }
}

impl PathEstimator for PeerRate {
    fn estimate(&self, path: PathId, out: &mut Estimate) {
        out.peer_rate = self.paths.get(path.index()).and_then(|p| p.rate);
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::Picture;

    use super::*;

    fn asked(peer: &PeerRate, path: u8) -> Option<f64> {
        let mut out = Estimate::default();
        peer.estimate(PathId(path), &mut out);
        out.peer_rate.map(Rate::bytes_per_s)
    }

    #[test]
    fn the_newest_round_counts() {
        let mut picture = Picture::new(2);
        let mut peer = PeerRate::default();
        let tell = |peer: &mut PeerRate, rate, round| {
            let report = Notice::Rate { rate, round }.report(Some(PathId(1)));
            peer.on_signal(&picture.view(), &Signal::Peer(&report));
            asked(peer, 1)
        };
        assert_eq!(tell(&mut peer, None, u32::MAX), None, "no rate yet");
        assert_eq!(tell(&mut peer, Some(1000), u32::MAX), Some(1000.0));
        assert_eq!(tell(&mut peer, Some(2000), 0), Some(2000.0), "rounds wrap around");
        assert_eq!(tell(&mut peer, Some(900), u32::MAX), Some(2000.0), "overtaken");
        assert_eq!(tell(&mut peer, Some(500), 0), Some(500.0), "the same round again: a timeout");
        assert_eq!(asked(&peer, 0), None, "the other path");
        assert_eq!(tell(&mut peer, Some(u64::MAX), 1), Some(MOST as f64));
        picture.paths[1].state = PathState::Closed;
        peer.on_signal(&picture.view(), &Signal::PathChanged(PathId(1)));
        assert_eq!(asked(&peer, 1), None);
    }

    #[test]
    fn a_switch_brings_a_rate_unless_it_was_overtaken() {
        let picture = Picture::new(2);
        let mut peer = PeerRate::default();
        for (serial, path, rate) in [(1, 1, 700), (3, 0, 800), (2, 1, 600), (3, 0, 500)] {
            let report = Notice::Switch { rate: Some(rate), serial }.report(Some(PathId(path)));
            peer.on_signal(&picture.view(), &Signal::Peer(&report));
        }
        assert_eq!((asked(&peer, 0), asked(&peer, 1)), (Some(800.0), Some(700.0)));
    }
}
