//! Rates that count only as far as something tested them, and queueing delays between bounds.

use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk, loss_of};

use super::*;

/// A path of a round trip of 1 ms, its estimates, and what was acknowledged of it.
struct Path {
    delivery: Delivery,
    picture: Picture,
    tsn: u32,
}

impl Path {
    fn new() -> Self {
        let mut picture = Picture::new(1);
        let trip = Duration::from_millis(1);
        let path = &mut picture.paths[0];
        (path.srtt, path.min_rtt, path.limit.cwnd) = (Some(trip), Some(trip), 100 * MTU);
        Path { delivery: Delivery::default(), picture, tsn: 0 }
    }

    fn estimate(&self) -> Estimate {
        let mut out = Estimate::default();
        self.delivery.estimate(PathId(0), &mut out);
        out
    }

    fn rate(&self) -> Option<f64> {
        self.estimate().delivery_rate.map(|rate| rate.bytes_per_s())
    }

    fn queue(&self) -> f64 {
        self.estimate().queue.expect("it was measured")
    }

    fn is_tested(&self) -> bool {
        let path = PathView { est: self.estimate(), ..self.picture.paths[0].clone() };
        tested(self.picture.now, &path)
    }

    /// `chunks` of `len` bytes leave at once; one SACK acknowledges all `after_ms` later, which the peer may have held
    /// back for `held_ms`.
    fn burst(&mut self, chunks: u32, len: u64, after_ms: u64, held_ms: u64) {
        let (first, sent) = (self.tsn + 1, self.picture.now);
        for n in 0..chunks {
            self.tsn += 1;
            self.picture.paths[0].in_flight = u64::from(n + 1) * len;
            let info = strandcast_proto::policy::ChunkInfo { len, ..chunk(self.tsn, &[0]) };
            self.delivery.on_signal(&self.picture.view(), &Signal::Sent(&info));
        }
        self.picture.now += Duration::from_millis(after_ms);
        let bytes = u64::from(chunks) * len;
        let acked = AckInfo {
            newly_acked: bytes,
            newly_acked_chunks: chunks,
            newest_sent: Some(sent),
            held: Duration::from_millis(held_ms),
            ..ack(0, self.tsn, (first, self.tsn), bytes)
        };
        self.picture.paths[0].in_flight = 0;
        self.delivery.on_signal(&self.picture.view(), &Signal::Acked(&acked));
    }

    fn pause(&mut self, ms: u64) {
        self.picture.now += Duration::from_millis(ms);
    }
}

/// A message of a byte every second, whose SACKs the peer holds back for 25 ms (RFC 9260 §6.2).
#[test]
fn keep_alives_are_neither_a_rate_nor_a_queue() {
    let mut path = Path::new();
    path.burst(2, MTU, 1, 0);
    for _ in 0..10 {
        path.pause(1000);
        path.burst(1, 17, 26, 25);
    }
    assert!(path.rate().is_none_or(|rate| rate > 1e5), "{:?}", path.rate());
    assert_eq!(path.queue(), 0.0);
    assert!(!path.is_tested());
}

/// A delay shorter than the peer's delay is not a queue; a longer one is.
#[test]
fn a_queue_is_what_a_held_acknowledgement_does_not_explain() {
    let mut path = Path::new();
    path.burst(2, MTU, 10, 0);
    (0..20).for_each(|_| path.burst(1, MTU, 30, 25));
    assert_eq!(path.queue(), 0.0);
    (0..40).for_each(|_| path.burst(1, MTU, 75, 25));
    assert!((path.queue() - 0.040).abs() < 0.001, "{}", path.queue());
    path.burst(2, MTU, 10, 0);
    assert_eq!(path.queue(), 0.0, "a lower value counts at once");
}

/// A burst that ends within an interval counts its arrivals over at least 10 ms, and a thin burst does not lower the
/// rate.
#[test]
fn bursts_raise_the_rate_and_never_lower_it() {
    let mut path = Path::new();
    path.burst(38, MTU, 1, 0);
    path.pause(99);
    path.burst(1, MTU, 1, 0);
    let rate = path.rate().expect("a burst was seen");
    assert_eq!(rate, 38.0 * MTU as f64 / 0.010);
    for _ in 0..50 {
        path.pause(100);
        path.burst(1, MTU, 26, 25);
    }
    assert_eq!(path.rate(), Some(rate));
    assert!(!path.is_tested(), "the source paused, not the path");
}

/// A full window tests the rate, for a second.
#[test]
fn a_full_window_tests_the_rate_for_a_while() {
    let mut path = Path::new();
    path.picture.paths[0].limit.cwnd = 10 * MTU;
    path.burst(10, MTU, 20, 0);
    assert!(path.is_tested());
    path.pause(900);
    assert!(path.is_tested());
    path.pause(200);
    assert!(!path.is_tested());
}

/// The first packets of a stream fill the window while the first of them are acknowledged, one by one: they left before
/// the window was full, and show how much the source had sent by then. Those that left into a full window show the
/// path's rate.
#[test]
fn what_left_before_the_window_was_full_tests_nothing() {
    let mut path = Path::new();
    path.picture.paths[0].limit.cwnd = 10 * MTU;
    let began = path.picture.now;
    for n in 1..=10 {
        path.tsn += 1;
        path.picture.paths[0].in_flight = u64::from(path.tsn) * MTU;
        path.delivery.on_signal(&path.picture.view(), &Signal::Sent(&chunk(path.tsn, &[0])));
        path.pause(u64::from(n < 10));
    }
    let mut acked = |tsn: u32, sent_ms: u64, after_ms: u64| {
        path.pause(after_ms);
        let sent = Some(began + Duration::from_millis(sent_ms));
        let ack = AckInfo { newly_acked_chunks: 1, newest_sent: sent, ..ack(0, tsn, (tsn, tsn), MTU) };
        let ack = AckInfo { flight_before: 10 * MTU, ..ack };
        path.delivery.on_signal(&path.picture.view(), &Signal::Acked(&ack));
        path.is_tested()
    };
    assert!(!acked(1, 0, 10), "19 ms after it left alone");
    assert!(acked(10, 9, 20), "it left into a full window");
}

/// After an idle time nothing is known. Keep-alives are not load.
#[test]
fn an_idle_path_has_no_known_rate() {
    let mut path = Path::new();
    path.picture.paths[0].limit.cwnd = 10 * MTU;
    path.burst(10, MTU, 20, 0);
    assert!(path.rate().is_some());
    for _ in 0..9 {
        path.pause(1000);
        path.burst(1, 17, 26, 25);
    }
    assert!(path.rate().is_some(), "10 s are not over");
    path.pause(2000);
    path.picture.paths[0].in_flight = MTU;
    path.delivery.on_signal(&path.picture.view(), &Signal::Sent(&chunk(99, &[0])));
    assert_eq!((path.rate(), path.is_tested()), (None, false));
}

#[test]
fn spurious_losses_are_taken_back() {
    let mut path = Path::new();
    path.burst(2, MTU, 1, 0);
    let lost: Vec<_> = (10..13).map(|tsn| chunk(tsn, &[0])).collect();
    lost.iter().for_each(|chunk| path.delivery.on_signal(&path.picture.view(), &loss_of(chunk)));
    let share = path.estimate().loss.expect("it is known");
    assert!(share > 0.029, "{share}");
    let trigger = LossTrigger::FastRetransmit;
    let spurious = Signal::Spurious { path: PathId(0), trigger, chunks: 3, before: None };
    path.delivery.on_signal(&path.picture.view(), &spurious);
    assert!(path.estimate().loss.expect("it is known") < 0.001);
    lost.iter().for_each(|chunk| path.delivery.on_signal(&path.picture.view(), &loss_of(chunk)));
    let spurious =
        Signal::Spurious { path: PathId(0), trigger: LossTrigger::Timeout, chunks: 3, before: None };
    path.delivery.on_signal(&path.picture.view(), &spurious);
    assert!(path.estimate().loss.expect("it is known") > 0.029, "losses of timeouts were never counted");
}
