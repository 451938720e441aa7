//! A coupled window that keeps a state over all paths, OLIA (draft-khalili-mptcp-congestion-control-05): that the strategy of
//! a shell can say it. Numbers by hand, with segments of 1000 bytes.

use strandcast_proto::policy::contract::fixture::MTU;
use strandcast_proto::policy::{LossCause, LossTrigger, PathId, Signal, View};
use strandcast_proto::rfc::{Avoidance, Progress};
use strandcast_proto::wire::Tsn;

use super::play::{Play, near};
use crate::congestion::{Coupled, InitialWindow, TcpConfig, TcpWindows};

/// Bytes acknowledged by path: between the last two losses, and since the last one (ℓ₁ and ℓ₂ of the draft).
#[derive(Debug, Default)]
struct Olia(Vec<(f64, f64)>);

impl Olia {
    fn of(&mut self, path: PathId) -> &mut (f64, f64) {
        if self.0.len() <= path.index() {
            self.0.resize(path.index() + 1, (0.0, 0.0));
        }
        &mut self.0[path.index()]
    }

    /// α of §3: paths that are best by ℓ²/rtt and have no largest window take from those that have one.
    fn alpha(&self, view: &View<'_>, path: PathId) -> f64 {
        let worth = |c: &Coupled| {
            let (before, since) = self.0.get(c.path.index()).copied().unwrap_or_default();
            let l = f64::max(before, since);
            l * l / c.rtt
        };
        let best = Coupled::all(view).map(|c| worth(&c)).fold(0.0, f64::max);
        let largest = Coupled::all(view).map(|c| c.cwnd).fold(0.0, f64::max);
        let is_largest = |c: &Coupled| c.cwnd >= largest;
        let collected = |c: &Coupled| worth(c) >= best && !is_largest(c);
        let count = |f: &dyn Fn(&Coupled) -> bool| Coupled::all(view).filter(|c| f(c)).count() as f64;
        let (n, gains) = (count(&|_| true), count(&collected));
        match Coupled::of(view, path) {
            Some(c) if collected(&c) => 1.0 / (n * gains),
            Some(c) if is_largest(&c) && gains > 0.0 => -1.0 / (n * count(&is_largest)),
            _ => 0.0,
        }
    }
}

impl Avoidance for Olia {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Acked(ack) => self.of(ack.path).1 += ack.newly_acked as f64,
            Signal::LossEvent { path, .. } => {
                let since = core::mem::take(&mut self.of(*path).1);
                self.of(*path).0 = since;
            }
            _ => {}
        }
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let Some(own) = Coupled::of(now.view, now.path) else { return now.reno() };
        let sum: f64 = Coupled::all(now.view).map(|c| c.rate()).sum();
        let kelly = own.cwnd / (own.rtt * own.rtt * sum * sum);
        (kelly + self.alpha(now.view, now.path) / own.cwnd) * now.acked * now.segment
    }
}

/// Two paths of 100 and `other` segments, both with round trips of 100 ms, in congestion avoidance.
fn two(other: u64) -> Play {
    let config = TcpConfig {
        initial_window: InitialWindow::Segments(100),
        initial_ssthresh: Some(1),
        when_full: false,
        ..TcpConfig::default()
    };
    let mut play = Play::with(Box::new(TcpWindows::new(config, Olia::default())), 2);
    play.picture.paths[1].limit.cwnd = other * MTU;
    play
}

/// Window of path 0, 100 segments, after an ACK of 10 segments' worth in steps of one.
fn grown(mut play: Play, other: u64) -> f64 {
    for _ in 0..10 {
        play.picture.paths[1].limit.cwnd = other * MTU;
        play.ack_of(0, 1, 0, None);
    }
    play.cwnd()
}

/// Path 0 is the largest and the best: nothing is shifted, w/rtt²/(Σw/rtt)² = 100/150² an ACK.
#[test]
fn nothing_is_shifted_to_the_best_path_when_it_is_the_largest() {
    near(grown(two(50), 50), 100.0 + 10.0 * 100.0 / 22_500.0, 5e-3);
}

/// Path 1 got more bytes through between its losses, with a smaller window: path 0 gives, −1/(2·1)/w an ACK.
#[test]
fn bytes_between_losses_say_which_path_is_best() {
    let mut play = two(50);
    play.ack_of(1, 60, 0, None);
    let (path, trigger) = (PathId(1), LossTrigger::FastRetransmit);
    play.tell(&Signal::LossEvent { path, trigger, highest: Tsn(70), cause: LossCause::Congestion });
    near(grown(play, 50), 100.0 + 10.0 * (100.0 / 22_500.0 - 0.5 / 100.0), 5e-3);
    // Beside a window three times as large path 0 is the best, once more was acknowledged there: it takes +1/2/w.
    let mut play = two(300);
    play.ack_of(0, 1, 0, None);
    let before = play.cwnd();
    let after = grown(play, 300);
    near(after - before, 10.0 * (100.0 / 160_000.0 + 0.5 / 100.0), 5e-3);
}
