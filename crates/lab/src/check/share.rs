//! Max-min fair shares of the network. The max-min fair shares are approximate upper bounds of the rates of flows.

use std::collections::BTreeMap;

use super::facts::{Facts, FlowFacts, LinkFacts, PathFacts};
use super::pftk::{Sender, packets_per_s};

/// SCTP's minimum window after a loss, in packets (RFC 9260 §7.2.3).
const SCTP_MIN_WINDOW: f64 = 4.0;
/// Rate in bit/s of a path that nothing else limits.
const UNBOUNDED: f64 = 1e11;
/// Rate that stands for a channel that is always in use. It is large compared with [`NEGLIGIBLE`].
const CHANNEL: f64 = 1e7;
/// Rate in bit/s. Lower rates count as zero.
const NEGLIGIBLE: f64 = 1.0;

/// A path's rate while capacity is distributed.
struct Stream {
    rate: f64,
    most: f64,
    open: bool,
    /// Bounds that limit the stream.
    bounds: Vec<usize>,
}

/// A limit that several streams share: the rate of a link, or the offered load of an application.
struct Bound {
    /// Capacity in bit/s that is not distributed yet.
    left: f64,
    /// Streams with their weights.
    members: Vec<(usize, f64)>,
}

/// IP-level rates in bit/s, by flow and path. If flows are identical, the rates are the rates of one of them. The rates
/// are max-min fair over links with these capacities. Windows, losses and applications also limit them. Background load
/// has precedence over flows.
pub(super) fn rates(facts: &Facts) -> Vec<Vec<f64>> {
    let (mut streams, mut bounds) = streams_and_bounds(facts);
    // Each round closes the streams that have reached a bound.
    while streams.iter().any(|stream| stream.open) {
        let rooms = rooms(&streams, &bounds);
        let open = || streams.iter().enumerate().filter(|(_, stream)| stream.open);
        let step = open().map(|(i, _)| rooms[i]).fold(UNBOUNDED, f64::min);
        for bound in &mut bounds {
            bound.left -= step * bound.growing(&streams);
        }
        streams.iter_mut().filter(|stream| stream.open).for_each(|stream| stream.rate += step);
        let rooms = self::rooms(&streams, &bounds);
        for (room, stream) in rooms.into_iter().zip(&mut streams) {
            stream.open &= room > NEGLIGIBLE;
        }
    }
    let mut rates = streams.into_iter().map(|stream| stream.rate);
    facts.flows.iter().map(|flow| rates.by_ref().take(flow.paths.len()).collect()).collect()
}

/// Returns all streams, flow by flow, and the bounds that limit them.
fn streams_and_bounds(facts: &Facts) -> (Vec<Stream>, Vec<Bound>) {
    let (mut streams, mut bounds): (Vec<Stream>, Vec<Bound>) = (Vec::new(), Vec::new());
    let mut links: BTreeMap<&str, usize> = BTreeMap::new();
    for flow in &facts.flows {
        let offered = flow.offered_bps.map(|bps| bps * f64::from(flow.packet) / f64::from(flow.payload));
        let app = offered.map(|left| {
            bounds.push(Bound { left, members: Vec::new() });
            bounds.len() - 1
        });
        for path in &flow.paths {
            let most = max_rate(flow, path);
            let mut stream = Stream { rate: 0.0, most, open: most > NEGLIGIBLE, bounds: Vec::new() };
            let mut hold = |bound: usize, bounds: &mut Vec<Bound>, weight: f64| {
                stream.bounds.push(bound);
                bounds[bound].members.push((streams.len(), weight));
            };
            app.into_iter().for_each(|bound| hold(bound, &mut bounds, 1.0));
            for link in path.out.iter().chain(&path.back) {
                let Some(radio) = facts.radios.iter().find(|radio| radio.name == link.name) else { continue };
                let bound = *links.entry(&link.name).or_insert_with(|| {
                    bounds.push(Bound { left: radio.reuse * CHANNEL, members: Vec::new() });
                    bounds.len() - 1
                });
                hold(bound, &mut bounds, f64::from(flow.count) * channel(flow, path, link));
            }
            for link in &path.out {
                let Some(capacity) = facts.capacity_bps.get(&link.name) else { continue };
                let bound = *links.entry(&link.name).or_insert_with(|| {
                    let left = (capacity - background(facts, &link.name)).max(0.0);
                    bounds.push(Bound { left, members: Vec::new() });
                    bounds.len() - 1
                });
                hold(bound, &mut bounds, f64::from(flow.count));
            }
            streams.push(stream);
        }
    }
    (streams, bounds)
}

/// Share of a radio's channel that one bit/s of a flow at IP level occupies. The share is in parts of [`CHANNEL`].
fn channel(flow: &FlowFacts, path: &PathFacts, link: &LinkFacts) -> f64 {
    let back = !path.out.iter().any(|out| std::ptr::eq(out, link));
    let packets = if back { 1.0 / f64::from(flow.ack_every.max(1)) } else { 1.0 };
    let used = if back && flow.ack == 0 { 0.0 } else { packets * link.channel_s() };
    used / (f64::from(flow.packet) * 8.0) * CHANNEL
}

/// Background load on a link, bit/s.
fn background(facts: &Facts, link: &str) -> f64 {
    let cross = facts.background.iter().filter(|cross| cross.links.iter().any(|name| name == link));
    cross.map(|cross| cross.rate_bps).sum()
}

impl Bound {
    /// Total weight of the streams with this bound that can still grow.
    fn growing(&self, streams: &[Stream]) -> f64 {
        self.members.iter().filter(|(stream, _)| streams[*stream].open).map(|(_, weight)| weight).sum()
    }
}

/// Returns one amount per stream. All open streams can grow together by this amount until one of the stream's bounds is
/// reached.
fn rooms(streams: &[Stream], bounds: &[Bound]) -> Vec<f64> {
    let of_bounds: Vec<f64> =
        bounds.iter().map(|bound| bound.left / bound.growing(streams).max(1.0)).collect();
    let room = |stream: &Stream| {
        let held = stream.bounds.iter().map(|bound| of_bounds[*bound]);
        held.fold(stream.most - stream.rate, f64::min).max(0.0)
    };
    streams.iter().map(room).collect()
}

/// Maximum rate of a flow on a path in bit/s at IP level, whatever the rates of links.
fn max_rate(flow: &FlowFacts, path: &PathFacts) -> f64 {
    if path.spare || path.is_cut() { 0.0 } else { random_bps(flow, path) }
}

/// Maximum rate in bit/s at IP level that the peer's receive window and random losses permit.
pub(super) fn random_bps(flow: &FlowFacts, path: &PathFacts) -> f64 {
    if flow.transport == "udp" {
        return UNBOUNDED;
    }
    let rtt = path.base_rtt.as_secs_f64().max(1e-6);
    let least = flow.rto_min.as_secs_f64();
    let sender = Sender {
        rtt,
        t0: if flow.rto_above_srtt { rtt + least } else { rtt.max(least) },
        longest: flow.rto_max.as_secs_f64(),
        b: f64::from(flow.acked),
        least: if flow.transport == "sctp" { SCTP_MIN_WINDOW } else { 0.0 },
        repair: flow.repair,
        most: flow.receive_buffer.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(flow.payload)),
    };
    (packets_per_s(&sender, &path.losses) * f64::from(flow.packet) * 8.0).min(UNBOUNDED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::facts::{BackgroundFacts, LinkFacts, RadioHops};
    use crate::check::losses::Losses;
    use crate::check::pftk::Repair;
    use std::time::Duration;

    fn path(links: &[&str], loss: f64) -> PathFacts {
        let losses = Losses::uniform(loss);
        let link = |name: &&str| LinkFacts {
            name: (*name).to_owned(),
            rate_bps: None,
            queue_packets: None,
            queue: None,
            radio: None,
        };
        let (name, base_rtt) = (links.join(" "), Duration::from_millis(100));
        PathFacts {
            name,
            out: links.iter().map(link).collect(),
            back: Vec::new(),
            base_rtt,
            loss,
            losses,
            spare: false,
        }
    }

    /// A flow without headers and without a window.
    fn flow(paths: Vec<PathFacts>) -> FlowFacts {
        FlowFacts {
            name: "f".into(),
            transport: "tcp",
            scheme: "reno".into(),
            count: 1,
            packet: 1000,
            ack: 0,
            payload: 1000,
            message: None,
            offered_bps: None,
            total_bytes: None,
            receive_buffer: None,
            send_buffer: None,
            rto_min: Duration::from_secs(1),
            rto_max: Duration::from_secs(60),
            rto_above_srtt: false,
            acked: 1,
            ack_every: 1,
            repair: Repair::Reno,
            from: Duration::ZERO,
            to: Duration::MAX,
            coding: None,
            paths,
        }
    }

    fn shares(flows: Vec<FlowFacts>, background: Vec<BackgroundFacts>) -> Vec<Vec<f64>> {
        let capacity_bps = [("wide".to_owned(), 10e6), ("narrow".to_owned(), 4e6)].into();
        let rates = rates(&Facts { flows, background, radios: Vec::new(), capacity_bps });
        rates.into_iter().map(|paths| paths.into_iter().map(f64::round).collect()).collect()
    }

    #[test]
    fn the_smallest_share_is_maximised() {
        let both = || flow(vec![path(&["wide", "narrow"], 0.0)]);
        let (narrow, wide) = (flow(vec![path(&["narrow"], 0.0)]), flow(vec![path(&["wide"], 0.0)]));
        assert_eq!(shares(vec![both(), narrow, wide.clone()], vec![]), [[2e6], [2e6], [8e6]]);
        // Background load leaves a part of the narrow link. Each of three identical flows gets a quarter of that part.
        let three = FlowFacts { count: 3, ..both() };
        let load = BackgroundFacts {
            links: vec!["narrow".into()],
            rate_bps: 2e6,
            packet: 500.0,
            time: Duration::from_secs(1),
        };
        let narrow = flow(vec![path(&["narrow"], 0.0)]);
        assert_eq!(shares(vec![three, narrow, wide], vec![load]), [[0.5e6], [0.5e6], [8.5e6]]);
    }

    #[test]
    fn a_path_whose_ends_are_apart_carries_nothing() {
        let mut cut = path(&["wide", "air"], 0.0);
        let apart = vec![["n0".to_owned(), "n2".to_owned()]];
        let radio = RadioHops { hops: 0.0, range: (0, 0), apart, frames: 4, hop_s: 2e-3 };
        cut.out[1].radio = Some(radio);
        assert_eq!(shares(vec![flow(vec![cut]), flow(vec![path(&["wide"], 0.0)])], vec![]), [[0.0], [10e6]]);
    }

    #[test]
    fn applications_losses_and_windows_are_bounds() {
        let mut modest = flow(vec![path(&["wide"], 0.0), path(&["narrow"], 0.0)]);
        modest.offered_bps = Some(3e6);
        assert_eq!(shares(vec![modest], vec![]), [[1.5e6, 1.5e6]]);
        // At 1 % loss, W = 17.3, and a loss leads to a timeout with probability 0.21. The rate is (99 + 17.3 + 0.21) /
        // (0.1 · 9.6 + 0.21) packets per second.
        let lossy = shares(vec![flow(vec![path(&["wide"], 0.01)])], vec![])[0][0];
        assert!((780e3..800e3).contains(&lossy), "{lossy}");
        let mut small = flow(vec![path(&["wide"], 0.0)]);
        small.receive_buffer = Some(25_000);
        assert_eq!(shares(vec![small], vec![]), [[2e6]]);
        let mut spare = flow(vec![path(&["wide"], 0.0), path(&["narrow"], 0.0)]);
        spare.paths[0].spare = true;
        assert_eq!(shares(vec![spare], vec![]), [[0.0, 4e6]]);
    }

    /// 2000 flows with separate access links share one link. For each rate at which a stream stops, the algorithm
    /// visits each link of each path once.
    #[test]
    #[expect(clippy::disallowed_types, reason = "what is measured is the time of this machine")]
    fn many_flows_share_a_link() {
        let flows = 2000;
        let names: Vec<String> = (0..flows).map(|i| format!("access {i}")).collect();
        let all = names.iter().map(|name| flow(vec![path(&[name, "wide"], 0.0)])).collect();
        let mut capacity_bps: BTreeMap<String, f64> = [("wide".to_owned(), 10e6)].into();
        // Each of the first thousand flows has less than its share, and each has a different rate.
        capacity_bps.extend(names.iter().enumerate().map(|(i, name)| (name.clone(), 1e3 + 3.0 * i as f64)));
        let start = std::time::Instant::now();
        let rates = rates(&Facts { flows: all, background: Vec::new(), radios: Vec::new(), capacity_bps });
        // The algorithm needs some thousand rounds. A quadratic algorithm took minutes.
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        let sum: f64 = rates.iter().flatten().sum();
        assert!((rates[0][0] - 1e3).abs() < 2.0 && sum <= 10e6 + 1e3, "{sum}");
    }
}
