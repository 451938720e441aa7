//! Opening an association over several paths, some of which are dead.

use strandcast_proto::association::{Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::time::Duration;
use strandcast_testing::endpoints::*;

/// Number of associations that a side has seen established.
fn up(w: &TestPair, side: usize) -> usize {
    w.apps[side].events.iter().filter(|e| matches!(e, Event::Connected { .. })).count()
}

/// Time from the first attempt to the association, over paths of 10, 40 and 120 ms of which `up` work, from `dead` on.
fn connects(transport: TransportConfig, up: [bool; 3], dead: Duration, seed: u64) -> Option<Duration> {
    let mut w = TestPair::new(&[10, 40, 120], transport, seed);
    w.wires.iter_mut().for_each(|wire| wire.up = [false; 2]);
    w.connect();
    let begun = w.now;
    w.run(dead);
    for (wire, up) in w.wires.iter_mut().zip(up) {
        wire.up = [up; 2];
    }
    let done = w.run_until(ms(60_000), |w| self::up(w, CLIENT) > 0);
    done.then(|| w.now - begun)
}

#[test]
fn the_first_path_that_answers_opens_it() {
    for dead in [500, 1500, 3100, 5900, 7500] {
        for up in [[true; 3], [true, false, false], [false, true, false], [false, false, true]] {
            let took = connects(TransportConfig::live(), up, ms(dead), dead).expect("an association");
            // A second at most to the next INIT, and two round trips.
            let way = [10, 40, 120].into_iter().zip(up).find(|w| w.1).map_or(0, |w| w.0);
            assert!(took <= ms(dead + 1000 + 4 * way), "{up:?} up after {dead} ms: {took:?}");
        }
    }
    // RFC 9260 uses one path after the other and doubles its timer.
    let rfc =
        connects(TransportConfig::default(), [false, false, true], ms(7500), 1).expect("an association");
    assert!(rfc > ms(10_000), "{rfc:?}");
}

#[test]
fn answers_by_all_paths_make_one_association() {
    for seed in 0..20 {
        let mut w = TestPair::new(&[10, 11, 12], TransportConfig::live(), seed);
        w.wires.iter_mut().for_each(|wire| (wire.loss, wire.jitter) = (0.2, ms(20)));
        w.connect();
        assert!(w.run_until(ms(9000), |w| up(w, CLIENT) > 0), "seed {seed}");
        w.wires.iter_mut().for_each(|wire| (wire.loss, wire.jitter) = (0.0, ms(0)));
        w.send(CLIENT, pattern(0, 20_000), SendOptions::default());
        w.run(ms(5000));
        assert_eq!(w.received(SERVER), pattern(0, 20_000), "seed {seed}");
        assert_eq!(up(&w, SERVER), 1, "seed {seed}");
        assert_eq!(w.states(CLIENT), [strandcast_proto::policy::PathState::Active; 3], "seed {seed}");
    }
}

#[test]
fn rfc_parameters_send_one_init_at_a_time() {
    for (transport, inits) in [(TransportConfig::default(), 1), (TransportConfig::live(), 3)] {
        let mut w = TestPair::new(&[10, 40, 120], transport, 1);
        w.connect();
        let sent: u64 = (0..3).filter_map(|wire| w.sent.get(&(CLIENT, wire))).sum();
        assert_eq!(sent, inits);
    }
}
