//! The sender's half of the rate control of Cao et al. (2016), with PMDCS 1000 bytes, srtt 100 ms, RTO 1 s.

use strandcast_proto::policy::fixture::{MTU, Picture, ack};
use strandcast_proto::policy::{
    CongestionControl as _, Limit, LossCause, LossTrigger, PathEstimator as _, PathId, PathState,
    Policy as _, Signal,
};
use strandcast_proto::rfc::WindowConfig;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

use crate::congestion::ReceiverPaced;
use crate::estimate::PeerRate;
use crate::feedback::rounds::Notice;

const P0: PathId = PathId(0);
const P1: PathId = PathId(1);

/// Pacing counts IP and UDP, the receiver does not: 1012 bytes of SCTP are 1040 of IP.
fn pacing(limit: Limit) -> f64 {
    limit.pacing.expect("the receiver asked").bytes_per_s() * 1012.0 / 1040.0
}

struct Harness {
    picture: Picture,
    peer: PeerRate,
    cc: ReceiverPaced,
}

impl Harness {
    fn new() -> Self {
        let mut harness = Harness {
            picture: Picture::new(2),
            peer: PeerRate::default(),
            cc: ReceiverPaced::new(WindowConfig::default()),
        };
        harness.tell(&Signal::PathChanged(P0));
        harness
    }

    fn tell(&mut self, signal: &Signal<'_>) {
        self.peer.on_signal(&self.picture.view(), signal);
        for path in &mut self.picture.paths {
            self.peer.estimate(path.id, &mut path.est);
        }
        self.cc.on_signal(&self.picture.view(), signal);
    }

    fn asked(&mut self, path: PathId, rate: u64, round: u32) {
        self.tell(&Signal::Peer(&Notice::Rate { rate: Some(rate), round }.report(Some(path))));
    }

    fn timeout(&mut self, path: PathId) {
        let (trigger, highest, cause) = (LossTrigger::Timeout, Tsn(9), LossCause::Congestion);
        self.tell(&Signal::LossEvent { path, trigger, highest, cause });
    }
}

fn near(got: f64, wanted: f64) {
    assert!((got - wanted).abs() < 1e-6 * wanted, "{got}, not {wanted}");
}

#[test]
fn windows_of_rfc_9260_stand_in_before_the_first_rate() {
    let mut s = Harness::new();
    let initial = s.cc.limit(P0);
    assert_eq!((initial.cwnd, initial.pacing), (4 * MTU, None), "min(4·MTU, max(2·MTU, 4404))");
    s.tell(&Signal::Acked(&ack(0, 2, (1, 2), 4 * MTU)));
    assert_eq!(s.cc.limit(P0).cwnd, 5 * MTU, "slow start");
    s.tell(&Signal::Peer(&Notice::Rate { rate: None, round: 1 }.report(Some(P0))));
    assert_eq!(s.cc.limit(P0).pacing, None, "a round without a rate");
}

#[test]
fn data_are_paced_at_the_receivers_rate_with_two_products_as_window() {
    let mut s = Harness::new();
    s.asked(P0, 100_000, 1);
    near(pacing(s.cc.limit(P0)), 100e3);
    assert_eq!(s.cc.limit(P0).cwnd, 20_000, "2 · 100 kB/s · 100 ms");
    assert_eq!(s.cc.limit(P1).pacing, None, "the other path has none");
    s.picture.paths[0].srtt = Some(Duration::from_millis(200));
    s.tell(&Signal::Acked(&ack(0, 2, (1, 2), 4000)));
    assert_eq!(s.cc.limit(P0).cwnd, 40_000, "it follows the round-trip time");
    s.asked(P0, 1, 2);
    assert_eq!(s.cc.limit(P0).cwnd, 2 * MTU, "two packets at least");
    s.picture.paths[0].srtt = None;
    s.asked(P0, u64::MAX, 3);
    assert!(s.cc.limit(P0).cwnd <= 1 << 32, "bounded, whatever is asked");
}

#[test]
fn after_a_timeout_one_packet_until_the_receiver_is_heard() {
    let mut s = Harness::new();
    s.timeout(P0);
    assert_eq!((s.cc.limit(P0).cwnd, s.cc.limit(P0).pacing), (MTU, None), "no rate yet: RFC 9260");
    s.asked(P0, 100_000, 1);
    s.timeout(P0);
    let one = Limit { cwnd: MTU, ..Limit::default() };
    assert_eq!(s.cc.limit(P0), one);
    s.asked(P1, 70_000, 1);
    s.tell(&Signal::Acked(&ack(0, 2, (1, 2), 4000)));
    assert_eq!(s.cc.limit(P0), one, "the other path's rate and an acknowledgement say nothing of it");
    s.asked(P0, 50_000, 2);
    near(pacing(s.cc.limit(P0)), 50e3);
}

/// Algorithm 1, line 12.
#[test]
fn a_switch_brings_the_rate_of_the_new_path() {
    let mut s = Harness::new();
    s.asked(P0, 100_000, 1);
    s.tell(&Signal::Peer(&Notice::Switch { rate: Some(120_000), serial: 1 }.report(Some(P1))));
    near(pacing(s.cc.limit(P1)), 120e3);
    near(pacing(s.cc.limit(P0)), 100e3);
}

#[test]
fn a_slot_used_again_has_no_rate() {
    let mut s = Harness::new();
    s.asked(P0, 100_000, 1);
    s.picture.paths[0].state = PathState::Closed;
    s.tell(&Signal::PathChanged(P0));
    assert_eq!(s.cc.limit(P0), Limit::default());
}
