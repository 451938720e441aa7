//! Windows have at least one segment and finite size after any events on any paths.

use proptest::prelude::*;

use strandcast_proto::policy::fixture::{MTU, chunk};
use strandcast_proto::policy::{LossCause, LossTrigger, PathId, PathState, Signal};
use strandcast_proto::rfc::WindowConfig;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

use super::play::Play;
use crate::congestion::{Congestions, congestions};

const PATHS: u8 = 4;
/// No test sends as much.
const MOST: u64 = 1 << 40;

static TRIGGERS: [LossTrigger; 3] =
    [LossTrigger::FastRetransmit, LossTrigger::Timeout, LossTrigger::HeadOfLine];
static STATES: [PathState; 4] =
    [PathState::Active, PathState::PotentiallyFailed, PathState::Inactive, PathState::Closed];

#[derive(Clone, Debug)]
enum Op {
    Ack {
        segments: u32,
        full: bool,
        measured: bool,
    },
    Loss(LossTrigger, u64),
    /// Microseconds.
    Rtt(Option<u64>),
    Wait(u64),
    Send(u64),
    Becomes(PathState),
}

fn op() -> impl Strategy<Value = (u8, Op)> {
    let op = prop_oneof![
        12 => (1..20u32, prop::bool::weighted(0.8), any::<bool>())
            .prop_map(|(segments, full, measured)| Op::Ack { segments, full, measured }),
        2 => (prop::sample::select(&TRIGGERS[..]), 0..200u64).prop_map(|(trigger, flight)| Op::Loss(trigger, flight)),
        3 => prop::option::weighted(0.9, prop_oneof![Just(0), 0..1000u64, 0..=10_000_000u64]).prop_map(Op::Rtt),
        2 => (0..=10_000_000u64).prop_map(Op::Wait),
        3 => (0..200_000u64).prop_map(Op::Send),
        2 => prop::sample::select(&STATES[..]).prop_map(Op::Becomes),
    ];
    (0..PATHS, op)
}

fn act(play: &mut Play, path: u8, op: &Op) {
    let (id, index) = (PathId(path), usize::from(path));
    match *op {
        Op::Ack { segments, full, measured } => {
            let seen = &play.picture.paths[index];
            let flight = if full { seen.limit.cwnd } else { 500 };
            let rtt = seen.srtt.filter(|_| measured);
            play.ack_of(path, segments, flight, rtt);
        }
        Op::Loss(trigger, flight) => {
            play.picture.paths[index].in_flight = flight * MTU;
            let highest = Tsn(play.acked[index] + flight as u32);
            play.tell(&Signal::LossEvent { path: id, trigger, highest, cause: LossCause::Congestion });
        }
        Op::Rtt(us) => play.picture.paths[index].srtt = us.map(Duration::from_micros),
        Op::Wait(us) => play.wait(Duration::from_micros(us)),
        Op::Send(in_flight) => {
            play.picture.paths[index].in_flight = in_flight;
            let next = play.acked[index] + (in_flight / MTU) as u32 + 1;
            play.tell(&Signal::Sent(&chunk(next, &[path])));
        }
        Op::Becomes(state) => {
            play.picture.paths[index].state = state;
            play.tell(&Signal::PathChanged(id));
        }
    }
}

/// Fault of the windows after each of `ops`.
fn fault(mut play: Play, ops: &[(u8, Op)]) -> Option<String> {
    for (n, (path, op)) in ops.iter().enumerate() {
        act(&mut play, *path, op);
        for p in play.picture.paths.iter().filter(|p| p.state != PathState::Closed) {
            let fits = (MTU..MOST).contains(&p.limit.cwnd);
            if !fits || p.limit.ssthresh.is_some_and(|s| !(MTU..MOST).contains(&s)) {
                return Some(format!("step {n}, {op:?} on path {path}: {:?} of {:?}", p.limit, p.id));
            }
        }
        for p in &play.picture.paths {
            let mut gauges = Vec::new();
            play.cc.gauges(p.id, &mut gauges);
            if let Some(bad) = gauges.iter().find(|(_, value)| !value.is_finite()) {
                return Some(format!("step {n}, {op:?} on path {path}: {bad:?} of {:?}", p.id));
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Round-trip times of 0 to 10 s or none, losses, timeouts and penalties anywhere, paths that join, fail, leave and
    /// come back: for every window of the table that flows can have, with the shell of flows and with that of SCTP. A
    /// failure is printed step by step.
    #[test]
    fn no_window_is_below_a_segment_or_no_number(ops in prop::collection::vec(op(), 1..250)) {
        let all = Congestions::default();
        let names: Vec<_> = congestions().into_iter().filter(|c| c.not_for_tcp.is_none()).map(|c| c.name).collect();
        for (name, part) in all.all().into_iter().filter(|(name, _)| names.contains(name)) {
            prop_assert_eq!(fault(Play::new(name, PATHS, 4, None), &ops), None, "{}", name);
            prop_assert_eq!(fault(Play::new(name, PATHS, 4, Some(2)), &ops), None, "{}", name);
            let sctp = Play::with(part.sctp(WindowConfig::default()), PATHS);
            prop_assert_eq!(fault(sctp, &ops), None, "{} of SCTP", name);
        }
    }
}
