use strandcast_proto::policy::fixture::Picture;
use strandcast_proto::policy::{ChunkInfo, Importance, PathArrivals, PathId, PeerTime, Transmission};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::serial::{StreamId, Tsn};

use super::*;

/// Bins of these bytes, the last one now.
fn carried(bytes: &[f64], behind: f64) -> Carried {
    let mut carried = Carried::default();
    carried.behind = behind;
    bytes.iter().for_each(|bytes| carried.push(*bytes));
    carried
}

fn rate(paths: &[Carried], bins: usize, slack_ms: u64) -> f64 {
    bound(paths.iter(), bins, slack_ms as f64 / 1e3)
}

#[test]
fn constant_paths_carry_their_sum() {
    let paths = [carried(&[200.0; BINS], 0.0), carried(&[100.0; BINS], 0.3)];
    let found = rate(&paths, BINS, 450);
    assert!((found - 1500.0).abs() < 1e-6, "300 bytes in 0.2 s: {found}");
}

#[test]
fn what_is_not_remembered_is_forgotten() {
    let mut path = carried(&[900.0; BINS], 0.0);
    (0..BINS).for_each(|_| path.push(100.0));
    let found = rate(&[path], BINS, 450);
    assert!((found - 500.0).abs() < 1e-6, "{found}");
}

#[test]
fn a_stall_counts_when_it_is_longer_than_the_latency_allows() {
    let stalled = |bins: usize| {
        let mut bytes = [200.0; BINS];
        bytes[5..5 + bins].fill(0.0);
        rate(&[carried(&bytes, 0.0), carried(&[100.0; BINS], 0.0)], BINS, 450)
    };
    // The mean loses 200 of 7500 bytes with each bin.
    assert!(stalled(1) > 0.97 * 1500.0 && stalled(2) > 0.94 * 1500.0);
    // 1.2 s in which 100 bytes left each 0.2 s: 600 bytes in 0.75 s.
    let found = stalled(6);
    assert!((found - 800.0).abs() < 1e-6, "{found}");
}

#[test]
fn a_path_that_is_later_has_less_of_the_latency() {
    let mut bytes = [200.0; BINS];
    bytes[5..10].fill(0.0);
    // The stall of 1 s leaves what the other path carries in it; where that comes a bin later, one of five is not there
    // yet.
    let with = |behind| rate(&[carried(&bytes, 0.0), carried(&[100.0; BINS], behind)], BINS, 450);
    assert!(with(1.0) < with(0.0), "{} {}", with(1.0), with(0.0));
}

#[test]
fn a_fall_for_good_counts_after_four_bins() {
    let fallen = |bins: usize| {
        let mut bytes = [200.0; BINS];
        bytes[BINS - bins..].fill(100.0);
        rate(&[carried(&bytes, 0.0)], BINS, 450)
    };
    assert!(fallen(3) > 900.0, "{}", fallen(3));
    assert!(fallen(4) <= 1.05 * 500.0, "{}", fallen(4));
}

/// Advice for `rates`, each held for this number of tenths of a second.
fn said(rates: &[(f64, u64)]) -> Vec<f64> {
    let mut steady = Steady::default();
    let tenths = rates.iter().flat_map(|(rate, tenths)| (0..*tenths).map(move |_| *rate)).enumerate();
    tenths.map(|(tenth, rate)| steady.take(Instant::from_millis(100 * tenth as u64), rate)).collect()
}

#[test]
fn down_at_once_by_more_than_a_twentieth() {
    assert_eq!(said(&[(1000.0, 10), (951.0, 10)])[19], 1000.0);
    assert_eq!(said(&[(1000.0, 10), (940.0, 1)])[10], 940.0);
}

#[test]
fn up_after_two_seconds_by_a_twentieth_a_second() {
    let rates = said(&[(1000.0, 10), (2000.0, 200)]);
    assert_eq!(rates[29], 1000.0, "1.9 s");
    let second = rates[50] - rates[40];
    assert!((second - 100.0).abs() < 1e-6, "{second}");
    assert_eq!(rates[209], 2000.0);
}

#[test]
fn who_turns_often_waits_longer() {
    let mut rates = vec![(1000.0, 10)];
    for _ in 0..3 {
        rates.extend([(3000.0, 45), (900.0, 10)]);
    }
    let turned = said(&rates);
    let most = |from: usize| turned[from..from + 45].iter().copied().fold(0.0, f64::max);
    assert!(most(10) > 1100.0, "after 2 s: {}", most(10));
    assert!(most(10) > most(65) && most(65) > 900.0, "after 4 s: {}", most(65));
    assert_eq!(most(120), 900.0, "after 8 s");
}

fn chunk(tsn: u32, now: Instant) -> ChunkInfo {
    let at = Transmission::new(PathId(0), now, Tsn(tsn));
    ChunkInfo {
        tsn: Tsn(tsn),
        len: 1000,
        stream: StreamId(0),
        expires: None,
        importance: Importance::default(),
        group: None,
        transmissions: [at].into_iter().collect(),
        losses: 0,
        symbol: None,
    }
}

/// `packets` of 1000 bytes leave `apart` from each other and arrive 2 ms apart; a report names every second one.
fn timed(packets: u32, apart: Duration) -> f64 {
    let picture = Picture::new(1);
    let mut rate = PathRate::default();
    for tsn in 0..packets {
        let now = picture.now + apart * tsn;
        rate.sent(now, &chunk(tsn, now));
    }
    for tsn in (1..packets).step_by(2) {
        let arrived = u64::from(tsn + 1);
        let news = PathArrivals {
            path: PathId(0),
            tsn: Tsn(tsn),
            at: PeerTime(1_000_000 + 2000 * arrived),
            sent: None,
            packets: arrived,
            bytes: 1000 * arrived,
        };
        assert!(rate.hear(picture.now, &picture.paths[0], &news));
        assert!(!rate.hear(picture.now, &picture.paths[0], &news), "no news");
    }
    rate.get(picture.now)
}

#[test]
fn a_train_tells_the_rate_of_the_link() {
    let found = timed(16, Duration::ZERO);
    assert!((found - 500_000.0).abs() < 1.0, "1000 bytes each 2 ms: {found}");
    assert_eq!(timed(16, Duration::from_millis(1)), 0.0, "they did not leave at once");
    assert_eq!(timed(MIN_TRAIN as u32 - 1, Duration::ZERO), 0.0, "too few");
}

/// A window that was large before the rate fell is not full for seconds. If a queue takes most of the round trip,
/// arrivals show the path's rate; jitter is not such a queue.
#[test]
fn a_long_queue_shows_the_rate_whatever_the_window() {
    let mut picture = Picture::new(1);
    let path = &mut picture.paths[0];
    path.limit.cwnd = 1_000_000;
    path.in_flight = 100_000;
    path.srtt = Some(Duration::from_millis(200));
    let mut found = |queue: f64| {
        path.est.queue = Some(queue);
        let (mut rate, mut now) = (PathRate::default(), Instant::from_millis(1000));
        (0..200u32)
            .for_each(|tsn| rate.sent(now + Duration::from_millis(10 * u64::from(tsn)), &chunk(tsn, now)));
        for n in 1..200u64 {
            now += Duration::from_millis(10);
            let at = PeerTime(1_000_000 + 10_000 * n);
            let news = PathArrivals {
                path: PathId(0),
                tsn: Tsn(n as u32),
                at,
                sent: None,
                packets: n,
                bytes: 1000 * n,
            };
            rate.hear(now, path, &news);
        }
        (rate.is_known(), rate.get(now))
    };
    let (known, bytes_per_s) = found(0.15);
    assert!(known && (bytes_per_s - 100_000.0).abs() < 1000.0, "1000 bytes each 10 ms: {bytes_per_s}");
    assert!(!found(0.05).0);
}
