use strandcast_proto::policy::PathSet;
use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};

use super::super::blocking::Remedy;
use super::*;

const ROUND_TRIP: Duration = Duration::from_millis(100);
/// Measurements are over with the third sample that does not grow.
const QUICK: WidestConfig = WidestConfig {
    spill: Spill::Never,
    widest_gain: 0.25,
    widest_margin: 0.1,
    widest_measure: Duration::ZERO,
    widest_refresh: Some(Duration::from_secs(10)),
    blocking: BlockingConfig { head_of_line: Remedy::Own, penalty: true },
};

fn backlog(retransmission: bool, tried: PathSet) -> Backlog {
    let bytes = 100 * MTU;
    Backlog {
        bytes,
        messages: 1,
        next_len: MTU,
        next_expires: None,
        retransmission,
        tried,
        ..Backlog::default()
    }
}

/// A sender over paths of 100 ms whose windows are 10 packets.
struct Play {
    picture: Picture,
    scheduler: Widest,
    tsn: u32,
}

impl Play {
    fn new(paths: u8, config: WidestConfig) -> Self {
        let mut picture = Picture::new(paths);
        picture.paths.iter_mut().for_each(|p| p.limit.cwnd = 10 * MTU);
        Play { picture, scheduler: Widest::new(config), tsn: 1 }
    }

    fn tell(&mut self, signal: &Signal<'_>) {
        self.scheduler.on_signal(&self.picture.view(), signal);
    }

    /// A round trip later these packets of `path` are acknowledged: a rate of 10 packets per second each.
    fn round(&mut self, path: u8, packets: u32, limited: bool) {
        self.picture.now += ROUND_TRIP;
        let (low, high) = (self.tsn, self.tsn + packets - 1);
        self.tsn = high + 1;
        let flight = if limited { 10 * MTU } else { MTU };
        let sent = Instant::ZERO + (self.picture.now.saturating_since(Instant::ZERO) - ROUND_TRIP);
        let acked = AckInfo { newest_sent: Some(sent), ..ack(path, high, (low, high), flight) };
        self.tell(&Signal::Acked(&acked));
    }

    /// Measures `path`: a first round of `packets` packets, then three without growth.
    fn measured(&mut self, path: u8, packets: u32) {
        self.scheduler.look(&self.picture.view());
        self.picture.paths[usize::from(path)].in_flight = MTU;
        self.tell(&Signal::Sent(&chunk(self.tsn, &[path])));
        for _ in 0..=FLAT {
            assert!(self.scheduler.measuring(PathId(path)));
            self.round(path, packets, true);
        }
        assert!(!self.scheduler.measuring(PathId(path)));
    }

    fn goes(&mut self) -> Option<u8> {
        let next = self.scheduler.next(&self.picture.view(), &backlog(false, PathSet::default()));
        next.map(|a| a.paths[0].0)
    }

    /// The windows of these paths are full, the others empty.
    fn full(&mut self, paths: &[u8]) {
        for p in &mut self.picture.paths {
            p.in_flight = if paths.contains(&p.id.0) { 10 * MTU } else { 0 };
        }
    }

    /// Packets per second.
    fn known(&self, path: u8) -> f64 {
        self.scheduler.known(PathId(path)) / MTU as f64
    }
}

/// 40 and 100 packets per second: all originals on path 1, and none elsewhere while it is full (Guo, Liu and Lian 2010,
/// §4).
#[test]
fn originals_take_the_widest_path_alone() {
    let mut play = Play::new(2, QUICK);
    play.measured(0, 4);
    play.measured(1, 10);
    assert_eq!((play.known(0), play.known(1)), (40.0, 100.0));
    assert_eq!(play.goes(), Some(1));
    play.full(&[1]);
    assert_eq!(play.goes(), None, "they wait");
}

#[test]
fn spilt_originals_take_the_widest_of_the_others() {
    let mut play = Play::new(3, WidestConfig { spill: Spill::WhenFull, ..QUICK });
    play.measured(0, 4);
    play.measured(1, 10);
    play.measured(2, 6);
    for (full, goes) in [(&[][..], Some(1)), (&[1], Some(2)), (&[1, 2], Some(0)), (&[0, 1, 2], None)] {
        play.full(full);
        assert_eq!(play.goes(), goes, "{full:?}");
    }
}

/// Retransmissions that a loss policy leaves to the scheduler: the lowest round-trip time, of paths not tried if there
/// are any.
#[test]
fn what_is_sent_again_takes_the_fastest_path() {
    let mut play = Play::new(3, QUICK);
    play.measured(1, 10);
    for (p, ms) in play.picture.paths.iter_mut().zip([50, 100, 20]) {
        p.srtt = Some(Duration::from_millis(ms));
    }
    let mut again = |tried: &[u8]| {
        let tried = tried.iter().map(|p| PathId(*p)).collect();
        let next = play.scheduler.next(&play.picture.view(), &backlog(true, tried));
        next.map(|a| (a.paths[0].0, a.chunks))
    };
    assert_eq!(again(&[1]), Some((2, 1)));
    assert_eq!(again(&[2]), Some((0, 1)));
}

/// The fastest path is the first; others are measured only with what it has no room for.
#[test]
fn a_source_that_one_path_carries_measures_no_other() {
    let mut play = Play::new(2, QUICK);
    play.picture.paths[1].srtt = Some(Duration::from_millis(20));
    assert_eq!(play.goes(), Some(1));
    play.full(&[1]);
    assert_eq!(play.goes(), Some(0), "nothing is known of it");
    play.measured(0, 4);
    play.full(&[1]);
    assert_eq!(play.goes(), Some(0), "the other is not known yet, and less wide so far");
    play.measured(1, 5);
    play.full(&[0]);
    assert_eq!(play.goes(), Some(1));
}

/// 20, 40, 80, 90, 90, 90 packets per second: from 80 on less than a quarter more. 80 + 10 (1 - 0.75³) = 85.78.
#[test]
fn a_measurement_ends_when_three_samples_do_not_grow() {
    let mut play = Play::new(1, QUICK);
    play.scheduler.look(&play.picture.view());
    let packets = [2, 4, 8, 9, 9, 9];
    for (i, packets) in packets.into_iter().enumerate() {
        assert!(play.scheduler.measuring(PathId(0)), "sample {i}");
        play.round(0, packets, true);
    }
    assert!(!play.scheduler.measuring(PathId(0)));
    assert!((play.known(0) - 85.78125).abs() < 1e-9, "{}", play.known(0));
}

/// A measurement lasts for a second, eleven samples of 100 ms, however flat they are; its rate is their average then.
#[test]
fn a_measurement_takes_its_time() {
    let mut play = Play::new(1, WidestConfig::default());
    play.scheduler.look(&play.picture.view());
    for sample in 0..11 {
        assert!(play.scheduler.measuring(PathId(0)), "sample {sample}");
        play.round(0, 4, true);
    }
    assert!(!play.scheduler.measuring(PathId(0)));
    assert!((play.known(0) - 40.0).abs() < 1e-9);
}

/// Twenty packets per second of a source that sends no more say nothing; a measurement continues until the window was
/// full.
#[test]
fn a_thin_source_ends_no_measurement() {
    let mut play = Play::new(1, QUICK);
    play.scheduler.look(&play.picture.view());
    play.round(0, 4, true);
    for _ in 0..20 {
        play.round(0, 2, false);
    }
    assert!(play.scheduler.measuring(PathId(0)));
    assert!((play.known(0) - 40.0).abs() < 1e-9);
}

/// 100 + (60 - 100)/4 = 90, and 90 + (140 - 90)/4 = 102.5; 20 packets per second of a source that sends no more count
/// nothing.
#[test]
fn later_samples_are_averaged() {
    let mut play = Play::new(1, QUICK);
    play.measured(0, 10);
    play.round(0, 6, true);
    assert!((play.known(0) - 90.0).abs() < 1e-9, "{}", play.known(0));
    play.round(0, 2, false);
    assert!((play.known(0) - 90.0).abs() < 1e-9);
    play.round(0, 14, false);
    assert!((play.known(0) - 102.5).abs() < 1e-9, "a higher sample also counts for a thin source");
}

/// 100 and 110 packets per second are as good as equal, 120 are not.
#[test]
fn a_path_has_to_be_wider_by_the_margin() {
    for (packets, margin, goes) in [(11, 0.1, 0), (12, 0.1, 1), (11, 0.05, 1), (12, 0.3, 0)] {
        let mut play = Play::new(2, WidestConfig { widest_margin: margin, ..QUICK });
        assert_eq!(play.goes(), Some(0), "equal round-trip times: the first");
        play.measured(0, 10);
        play.measured(1, packets);
        assert_eq!(play.goes(), Some(goes), "{packets} packets, margin {margin}");
    }
}

/// After ten seconds without a sample a path takes what the widest one has no room for, until it is measured again.
#[test]
fn old_bandwidths_are_measured_again() {
    for (refresh, again) in [(Some(Duration::from_secs(10)), Some(0)), (None, None)] {
        let mut play = Play::new(2, WidestConfig { widest_refresh: refresh, ..QUICK });
        play.measured(0, 4);
        play.measured(1, 10);
        play.full(&[1]);
        for _ in 0..90 {
            play.round(1, 10, true);
        }
        assert_eq!(play.goes(), None, "nine seconds and four round trips");
        for _ in 0..6 {
            play.round(1, 10, true);
        }
        assert_eq!(play.goes(), again);
        if refresh.is_some() {
            play.measured(0, 20);
            play.full(&[]);
            assert_eq!(play.goes(), Some(0), "it has become the widest");
        }
    }
}

#[test]
fn a_path_that_comes_back_is_measured_anew() {
    let mut play = Play::new(2, QUICK);
    play.measured(0, 4);
    play.measured(1, 10);
    play.picture.paths[1].state = PathState::PotentiallyFailed;
    play.tell(&Signal::PathChanged(PathId(1)));
    assert_eq!(play.goes(), Some(0));
    play.picture.paths[1].state = PathState::Active;
    play.tell(&Signal::PathChanged(PathId(1)));
    assert_eq!(play.goes(), Some(0), "nothing is known of it any more");
    play.full(&[0]);
    assert_eq!(play.goes(), Some(1));
    play.measured(1, 10);
    play.full(&[]);
    assert_eq!(play.goes(), Some(1));
}

#[test]
fn changes_and_measurements_are_counted() {
    let mut play = Play::new(2, QUICK);
    play.goes();
    play.measured(0, 4);
    play.goes();
    play.measured(1, 10);
    play.goes();
    let mut counters = Vec::new();
    play.scheduler.counters(&mut counters);
    assert_eq!(counters, [("widest_changes", 1), ("bandwidths_measured", 2)]);
}
