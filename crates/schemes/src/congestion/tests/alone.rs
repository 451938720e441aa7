//! With one path each window is the one that it extends: equal in bytes after every step of a random sender.

use strandcast_proto::policy::LossTrigger::{FastRetransmit, HeadOfLine, Timeout};
use strandcast_proto::time::Duration;

use super::play::Play;

/// A window, and the one that it is with one path.
const PAIRS: &[(&str, &str)] = &[
    ("uncoupled", "reno"),
    ("ewtcp", "reno"),
    ("ewtcp,literal=on", "reno"),
    ("coupled", "reno,floor=1,cut=window"),
    ("coupled,floor=2,cut=flight", "reno"),
    ("lia", "reno"),
    ("olia", "reno"),
    ("olia,ranking=kernel", "reno"),
    ("balia", "reno"),
    ("mpcubic", "cubic"),
    ("mpmtp", "mpmtp,delta=one,balance=off"),
];

const STEPS: u32 = 1_000_000;

/// Does the same to all of `plays`.
fn step(random: &mut fastrand::Rng, plays: &mut [Play; 2]) {
    let (kind, segments, flight) = (random.u32(..1000), random.u32(1..=4), random.u64(..60));
    let (full, time) = (random.u32(..8) > 0, Duration::from_micros(random.u64(..20_000)));
    let rtt = Duration::from_micros(random.u64(..1_000_000));
    for play in plays {
        match kind {
            0..=3 => play.lose(FastRetransmit, flight),
            4 => play.lose(Timeout, flight),
            5 => play.lose(HeadOfLine, flight),
            6..=20 => play.rtt(rtt),
            21..=40 => play.send(play.acked[0] + segments, flight * 1000),
            41..=60 => play.wait(time * 50),
            _ if full => {
                play.wait(time / 100);
                let flight = play.picture.paths[0].limit.cwnd;
                play.ack_of(0, segments, flight, Some(rtt));
            }
            _ => play.ack_of(0, segments, flight * 1000, None),
        }
    }
}

#[test]
fn one_path_is_the_window_it_extends() {
    for (seed, (spec, base)) in PAIRS.iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let mut plays = [spec, base].map(|s| Play::new(s, 1, 4, None));
        let (mut grown, mut cut) = (0, 0);
        for n in 0..STEPS {
            let before = plays[1].picture.paths[0].limit.cwnd;
            step(&mut random, &mut plays);
            let [a, b] = plays.each_ref().map(|p| p.picture.paths[0].limit);
            assert_eq!(a, b, "{spec} and {base}, seed {seed}, step {n}");
            grown += u32::from(b.cwnd > before);
            cut += u32::from(b.cwnd < before);
        }
        assert!(grown > STEPS / 10 && cut > STEPS / 1000, "{base} moved: {grown} times up, {cut} times down");
    }
}
