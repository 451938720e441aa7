//! Behaviour of the network itself, with datagrams.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use strandcast_netem::link::LinkConfig;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use super::*;
use crate::flow::{Feed, UdpSender, UdpSink};
use crate::traffic::Cbr;

/// Packets of the sender, one per millisecond.
const PACKETS: u64 = 1000;

/// Records times at which packets enter and leave links.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<(Instant, DirectedLinkId, u64)>>>);

impl Observer for Log {
    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, _: EnqueueOutcome) {
        self.0.lock().expect("one thread").push((now, wire, meta.id));
    }
}

/// A source connected by a link to a router, from which two links lead to a sink; routes take the first of
/// them.
fn diamond(log: &Log, overhead: Option<(Duration, &str)>) -> Network<Log> {
    let mut network = Network::new(&Seeds::new(1, 0), log.clone());
    let wires = ["up", "left", "right"].map(|label| network.add_wire(LinkConfig::default(), label));
    let [from, to] = network.next_agents();
    let route =
        network.add_route((from, to), 0, wires[..2].iter().copied().map(Step::Link).collect(), overhead);
    let stop = Instant::from_millis(PACKETS);
    let source = Cbr::new(125, Box::new(1e6), Instant::ZERO, stop);
    network.add_agent(FlowId(0), UdpSender::new(Feed::timed(Box::new(source)), route, 28));
    network.add_agent(FlowId(0), UdpSink::default());
    network.wake_all();
    network.run_until(stop + Duration::from_secs(1));
    network
}

fn over(log: &Log, wire: u32) -> u64 {
    log.0.lock().expect("one thread").iter().filter(|(_, w, _)| *w == DirectedLinkId(wire)).count() as u64
}

#[test]
fn packets_follow_their_route() {
    let log = Log::default();
    let network = diamond(&log, None);
    assert_eq!([0, 1, 2].map(|wire| over(&log, wire)), [PACKETS, PACKETS, 0]);
    assert_eq!((network.packet_hops(), network.unroutable()), (2 * PACKETS, 0));
}

/// A delay of U(0, 400 µs) before packets 1 ms apart never makes one wait for another: waits are uniform.
#[test]
fn a_hosts_overhead_is_uniform() {
    let log = Log::default();
    diamond(&log, Some((Duration::from_micros(400), "host")));
    let entered = log.0.lock().expect("one thread").clone();
    let waits: Vec<f64> = entered
        .iter()
        .filter(|(_, wire, _)| *wire == DirectedLinkId(0))
        .map(|(at, _, id)| (at.as_nanos() - id * 1_000_000) as f64 / 400_000.0)
        .collect();
    assert_eq!(waits.len() as u64, PACKETS);
    assert!(waits.iter().all(|wait| (0.0..=1.0).contains(wait)));
    // Five standard errors of the mean of 1000 uniform numbers.
    let mean = waits.iter().sum::<f64>() / PACKETS as f64;
    assert!((mean - 0.5).abs() < 5.0 / (12.0 * PACKETS as f64).sqrt(), "{mean}");
}

#[test]
fn a_hosts_overhead_keeps_the_order() {
    let log = Log::default();
    diamond(&log, Some((Duration::from_millis(20), "host")));
    let entered = log.0.lock().expect("one thread").clone();
    let ids: Vec<u64> =
        entered.iter().filter(|(_, wire, _)| *wire == DirectedLinkId(0)).map(|(_, _, id)| *id).collect();
    assert_eq!(ids, (0..PACKETS).collect::<Vec<_>>());
}
