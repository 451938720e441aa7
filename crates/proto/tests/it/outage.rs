//! No packets pass on any path for up to a minute: the association continues, and so do data as soon as one path
//! returns.

use strandcast_proto::association::{Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::time::{Duration, Instant};
use strandcast_testing::endpoints::*;

const LIFETIME: Duration = Duration::from_millis(500);

/// Parameters as in the presets for several paths: potentially failed after one error, probed twice per second.
fn live() -> TransportConfig {
    TransportConfig {
        pf_max_retrans: Some(0),
        failed_probe_interval: Some(ms(500)),
        ..TransportConfig::live()
    }
}

struct Outage {
    transport: TransportConfig,
    seed: u64,
    length: Duration,
    /// True for each direction that is dead: towards the server, and back.
    dead: [bool; 2],
    /// Wire that returns first; the other follows 3 s later.
    first: usize,
    /// True if messages are sent before, during and after the outage.
    busy: bool,
    /// Age of the oldest message that may be delivered.
    oldest: Duration,
}

impl Outage {
    fn new(seed: u64, seconds: u64) -> Self {
        let length = Duration::from_secs(seconds);
        Outage {
            transport: live(),
            seed,
            length,
            dead: [true; 2],
            first: seed as usize % 2,
            busy: true,
            oldest: LIFETIME + ms(100),
        }
    }

    /// Time from the first path's return to the first delivery of a message sent after it.
    fn gap(&self) -> Duration {
        let mut w = TestPair::new(&[10, 40], self.transport.clone(), self.seed);
        w.up();
        let from = w.now + ms(3000 + 37 * self.seed);
        let back = from + self.length;
        let mut number = 0_u64;
        let mut sent = Vec::new();
        let mut gap = None;
        while w.now < back + ms(6000) {
            for wire in 0..2 {
                let until = if wire == self.first { back } else { back + ms(3000) };
                let out = (from..until).contains(&w.now);
                w.wires[wire].up = self.dead.map(|dead| !(out && dead));
            }
            if self.busy || w.now < from || w.now >= back {
                let options = SendOptions { lifetime: Some(LIFETIME), ..SendOptions::default() };
                let mut message = pattern(0, 1000);
                message[..8].copy_from_slice(&number.to_be_bytes());
                let id = w.apps[CLIENT].id.expect("connected");
                // A full buffer refuses what cannot be sent.
                let _ = w.ends[CLIENT].send(w.now, id, message.into(), options);
                sent.push(w.now);
                number += 1;
                w.pump();
            }
            let seen = w.apps[SERVER].messages.len();
            w.run(ms(10));
            for message in &w.apps[SERVER].messages[seen..] {
                let number = u64::from_be_bytes(message.payload[..8].try_into().expect("eight bytes"));
                let at: Instant = sent[number as usize];
                assert!(w.now - at <= self.oldest, "{}: stale, sent {:?} ago", self.what(), w.now - at);
                if at >= back && gap.is_none() {
                    gap = Some(w.now - back);
                }
            }
        }
        for side in 0..2 {
            let closed = w.apps[side].events.iter().find(|e| matches!(e, Event::Closed(_)));
            assert!(closed.is_none(), "{}: {closed:?} at side {side}", self.what());
        }
        assert!(w.states(CLIENT).iter().all(|s| *s == strandcast_proto::policy::PathState::Active));
        gap.unwrap_or_else(|| panic!("{}: nothing was delivered after it", self.what()))
    }

    fn what(&self) -> String {
        let Outage { seed, length, dead, first, busy, .. } = self;
        format!("seed {seed}, {length:?}, dead {dead:?}, path {first} first, busy {busy}")
    }

    fn check(&self) {
        let gap = self.gap();
        assert!(gap <= ms(1000), "{}: delivery after {gap:?}", self.what());
    }
}

#[test]
fn a_total_outage_of_a_minute_ends_nothing_and_delivery_is_back_within_a_second() {
    for seed in 0..10 {
        for seconds in [3, 8, 20, 45, 60] {
            Outage::new(seed, seconds).check();
        }
    }
}

#[test]
fn outages_of_one_direction_do_not_either() {
    for seed in 0..10 {
        for seconds in [3, 20, 60] {
            for dead in [[true, false], [false, true]] {
                Outage { dead, ..Outage::new(seed, seconds) }.check();
            }
        }
    }
}

#[test]
fn neither_do_outages_while_nothing_is_sent() {
    for seed in 0..10 {
        Outage { busy: false, ..Outage::new(seed, 60) }.check();
    }
}

/// A preset without early path failure and without probes. Data sent on the path that is still dead wait for their
/// timeout, and later messages wait for them.
/// timeout, and later messages with it.
#[test]
fn rfc_path_management_is_enough() {
    for seed in 0..10 {
        for seconds in [3, 20, 60] {
            let oldest = ms(2500);
            Outage { transport: TransportConfig::live(), oldest, ..Outage::new(seed, seconds) }.check();
        }
    }
}

/// Silence is tolerated up to a limit.
#[test]
fn a_peer_that_never_answers_again_is_given_up() {
    let mut w = TestPair::new(&[10, 40], live(), 1);
    w.up();
    w.send(CLIENT, pattern(0, 1000), SendOptions::default());
    w.run(ms(1000));
    for wire in &mut w.wires {
        wire.up = [false; 2];
    }
    let from = w.now;
    w.send(CLIENT, pattern(0, 1000), SendOptions::default());
    assert!(w.run_until(ms(70_000), |w| w.association(CLIENT).is_closed()));
    assert!((ms(65_000)..ms(68_000)).contains(&(w.now - from)), "after {:?}", w.now - from);
}

/// The other path delivers all the time. A queue there makes its packets late: none of them is lost, and none is sent
/// again except as a probe of the tail before the path's round-trip times are known to be that long: two chunks; and
/// one for a probe of the dead path, if its acknowledgement was lost with it.
#[test]
fn one_dead_path_is_no_silence() {
    for seed in 0..10 {
        let mut w = TestPair::new(&[10, 40], live(), seed);
        w.up();
        w.wires[0].delay = ms(150);
        for i in 0..400 {
            w.wires[1].up = [i < 200; 2];
            for _ in 0..3 {
                w.send(CLIENT, pattern(0, 1000), SendOptions::default());
            }
            w.run(ms(10));
        }
        w.run(ms(2000));
        let [fine, dead] = [P0, P1].map(|p| w.association(CLIENT).path_stats(p).unwrap().clone());
        assert!(dead.timeouts > 0, "seed {seed}");
        assert_eq!((fine.timeouts, fine.lost_timeout, fine.lost_fast), (0, 0, 0), "seed {seed}: {fine:?}");
        let twice = w.association(SERVER).stats().duplicates_received;
        let probed = 2 * fine.tail_probes + dead.tail_probes.min(1);
        assert!(twice <= probed && fine.tail_probes <= 1, "seed {seed}: {twice} twice; {fine:?}");
    }
}
