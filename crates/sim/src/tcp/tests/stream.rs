//! Under any behaviour of the network, the exact stream arrives and nothing stalls.

use proptest::prelude::*;
use strandcast_proto::seeds::{Random, Seeds};

use super::*;

/// Loses, duplicates and delays segments at random, at most `rate` of them each, until `calm`.
struct Chaos {
    random: Random,
    rate: f64,
    calm: Instant,
    wire: DirectedLink,
}

impl Chaos {
    fn new(random: Random, rate: f64) -> Self {
        Chaos { random, rate, calm: ms(20_000), wire: DirectedLink::new() }
    }

    fn send(&mut self, now: Instant, segment: Segment) {
        let rate = if now < self.calm { self.rate } else { 0.0 };
        let copies = 1 + usize::from(self.random.chance(rate)) - usize::from(self.random.chance(rate));
        for _ in 0..copies {
            let late = if self.random.chance(rate) { self.random.below(300) } else { 0 };
            let damaged = self.random.chance(rate / 4.0);
            let arrival = now + Duration::from_millis(20 + late);
            let at = self.wire.partition_point(|(t, _)| *t <= arrival);
            self.wire.insert(at, (arrival, Segment { damaged, ..segment }));
        }
    }

    fn due(&self) -> Option<Instant> {
        self.wire.front().map(|(t, _)| *t)
    }

    fn arrived(&mut self, now: Instant) -> Option<Segment> {
        self.due().filter(|t| *t <= now)?;
        self.wire.pop_front().map(|(_, s)| s)
    }
}

/// Sends `bytes` with one wire per subflow. Returns the time at which all were acknowledged.
pub(super) fn transfer(
    sender: Sender,
    bytes: u64,
    rates: &[f64],
    seed: u64,
) -> Result<Instant, TestCaseError> {
    transfer_by(sender, bytes, rates, seed, |sender, now| Ok(sender.poll_output(now)))
}

/// Runs such a transfer; `poll` calls `poll_output`.
pub(super) fn transfer_by(
    mut sender: Sender,
    bytes: u64,
    rates: &[f64],
    seed: u64,
    mut poll: impl FnMut(&mut Sender, Instant) -> Result<Option<Segment>, TestCaseError>,
) -> Result<Instant, TestCaseError> {
    let seeds = Seeds::new(seed, 0);
    let mut wires: Vec<_> =
        (0..2 * rates.len()).map(|i| Chaos::new(seeds.stream(&format!("{i}")), rates[i / 2])).collect();
    let window = sender.config().receive_window;
    let mut receiver = Receiver::new(sender.config().clone());
    let mut now = Instant::ZERO;
    for _ in rates {
        sender.add_subflow(now);
    }
    sender.write(bytes);
    while !sender.is_done() {
        while let Some(segment) = poll(&mut sender, now)? {
            prop_assert!(
                segment.data_seq + u64::from(segment.len)
                    <= receiver.delivered().max(sender.data_una) + window
            );
            wires[2 * usize::from(segment.subflow)].send(now, segment);
        }
        while let Some(ack) = receiver.poll_output(now) {
            wires[2 * usize::from(ack.subflow) + 1].send(now, ack);
        }
        let timers = [sender.poll_timeout(), receiver.poll_timeout()];
        let next = wires.iter().filter_map(Chaos::due).chain(timers.into_iter().flatten()).min();
        prop_assert!(next.is_some_and(|t| t >= now), "seed {seed}: stands still at {now:?}");
        now = next.unwrap();
        prop_assert!(now < ms(2_000_000), "seed {seed}: no progress");
        for (i, wire) in wires.iter_mut().enumerate() {
            while let Some(segment) = wire.arrived(now) {
                if i % 2 == 0 {
                    receiver.handle_segment(now, &segment);
                } else {
                    sender.handle_segment(now, &segment);
                }
            }
        }
        receiver.handle_timeout(now);
        sender.handle_timeout(now);
        prop_assert!(receiver.held() + receiver.delivered() <= sender.data_nxt);
        prop_assert!(receiver.held() <= window, "seed {seed}: more than the window is held");
        for id in 0..sender.subflows() {
            check_pipe(&mut sender, id)?;
        }
    }
    prop_assert_eq!(receiver.delivered(), bytes);
    Ok(now)
}

/// Checks that the pipe equals the sum of the records.
fn check_pipe(sender: &mut Sender, id: u8) -> Result<(), TestCaseError> {
    let board = &mut sender.subflows[usize::from(id)].board;
    let copies = |r: &crate::tcp::scoreboard::Record| {
        if r.sacked { 0 } else { u64::from(!r.lost) + u64::from(r.resent) }
    };
    let pipe: u64 = board.iter_mut().map(|r| copies(r) * u64::from(r.len)).sum();
    prop_assert_eq!(board.pipe, pipe);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_exact_stream_arrives(
        seed: u64,
        rate in 0.0f64..0.4,
        profile in 0usize..4,
        recovery in prop::sample::select(vec![Recovery::Reno, Recovery::NewReno, Recovery::Sack]),
        limited_transmit: bool,
        bytes in 1u64..200_000,
    ) {
        let config = Config { recovery, limited_transmit, ..Config::from(Profile::ALL[profile].1) };
        let config = Config { segment: MSS as u32, ..config };
        transfer(Sender::new(config, reno(4)), bytes, &[rate], seed)?;
    }
}
