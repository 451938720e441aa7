//! Estimate of the cost of a run.

use std::time::Duration;

use super::facts::{Facts, LinkFacts};

/// Costs in nanoseconds of one processor: for each packet that leaves a link, and for each SCTP data packet at both
/// ends together. `cargo bench -p strandcast-lab` measured them on a machine of 2024.
const HOP_NS: f64 = 400.0;
const SCTP_NS: f64 = 2500.0;
/// Cost in nanoseconds of one processor per frame on the air. It includes the cost of the frame's packet at routers.
const FRAME_NS: f64 = 1000.0;
/// Mean number of acknowledgements per data packet.
const ACKS: f64 = 0.5;

/// The expected cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Number of data packets of flows and background load.
    pub(super) packets: f64,
    /// Number of packets that leave a link, including acknowledgements. A packet counts once for each link.
    pub(super) packet_hops: f64,
    /// Number of frames on the air.
    pub(super) frames: f64,
    /// Time on one processor.
    pub(super) time: Duration,
}

/// The cost of one run with these IP-level rates, by flow and path. If flows are identical, the rates are the rates of
/// one of them.
pub(super) fn cost(facts: &Facts, rates: &[Vec<f64>]) -> Cost {
    let mut cost = Cost::default();
    let mut nanos = 0.0;
    for (flow, rates) in facts.flows.iter().zip(rates) {
        let all: f64 = rates.iter().sum();
        let seconds = flow.to.saturating_sub(flow.from).as_secs_f64();
        let whole = flow.total_bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(flow.payload));
        let all_packets = (all * seconds / 8.0 / f64::from(flow.packet)).min(whole) * f64::from(flow.count);
        for (path, rate) in flow.paths.iter().zip(rates) {
            let packets = if all > 0.0 { all_packets * rate / all } else { 0.0 };
            let acks = if flow.ack > 0 { ACKS } else { 0.0 };
            cost.packets += packets;
            let sum = |of: fn(&LinkFacts) -> f64| {
                let sum = |links: &[LinkFacts]| links.iter().map(of).sum::<f64>();
                packets * (sum(&path.out) + acks * sum(&path.back))
            };
            let (hops, frames) = (sum(LinkFacts::hops), sum(LinkFacts::frames));
            cost.packet_hops += hops;
            cost.frames += frames;
            nanos += hops * HOP_NS
                + frames * FRAME_NS
                + if flow.transport == "sctp" { packets * SCTP_NS } else { 0.0 };
        }
    }
    for cross in &facts.background {
        let packets = cross.rate_bps * cross.time.as_secs_f64() / 8.0 / cross.packet;
        let hops = packets * (1.0 + ACKS) * cross.links.len() as f64;
        cost.packets += packets;
        cost.packet_hops += hops;
        nanos += hops * HOP_NS;
    }
    cost.time = Duration::from_secs_f64((nanos / 1e9).clamp(0.0, 1e9));
    cost
}
