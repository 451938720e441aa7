//! How flows would share the network if all were fair: about what each gets at most.

use super::facts::{Facts, FlowFacts, PathFacts};

/// What one subflow gets with random loss alone: √(3/2)·MSS/(RTT·√p) (M. Mathis et al., "The macroscopic behavior of the
/// TCP congestion avoidance algorithm", 1997).
const MATHIS: f64 = 1.22;
/// What nothing else bounds, bit/s.
const MOST: f64 = 1e11;
/// Less than this is nothing, bit/s.
const LEAST: f64 = 1.0;

/// A path's rate while links are filled.
struct Stream<'a> {
    flow: usize,
    path: &'a PathFacts,
    rate: f64,
    most: f64,
    open: bool,
}

/// The IP-level rate in bit/s of each path of each flow (of one of several alike): max-min fair over links of these
/// capacities, and none faster than its window, its losses and its application allow.
/// Background load comes first.
pub(super) fn rates(facts: &Facts) -> Vec<Vec<f64>> {
    let flows = &facts.flows;
    let mut streams: Vec<Stream<'_>> = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        let all = flow.paths.iter().map(|path| {
            let most = most(flow, path);
            Stream { flow: index, path, rate: 0.0, most, open: most > LEAST }
        });
        streams.extend(all);
    }
    // Each round closes what has filled a link, its flow or itself.
    while streams.iter().any(|stream| stream.open) {
        let rooms = |streams: &[Stream<'_>]| -> Vec<f64> {
            streams.iter().map(|stream| room(stream, streams, facts)).collect()
        };
        let open = rooms(&streams).into_iter().zip(&streams).filter(|(_, stream)| stream.open);
        let step = open.map(|(room, _)| room).fold(MOST, f64::min);
        streams.iter_mut().filter(|stream| stream.open).for_each(|stream| stream.rate += step);
        for (room, stream) in rooms(&streams).into_iter().zip(&mut streams) {
            stream.open &= room > LEAST;
        }
    }
    let of = |index| streams.iter().filter(move |stream| stream.flow == index).map(|stream| stream.rate);
    (0..flows.len()).map(|index| of(index).collect()).collect()
}

/// By how much all open streams can grow together until one thing that holds `stream` is full.
fn room(stream: &Stream<'_>, streams: &[Stream<'_>], facts: &Facts) -> f64 {
    let flows = &facts.flows;
    let mut room = stream.most - stream.rate;
    let share = |total: f64, mine: &dyn Fn(&Stream<'_>) -> bool, weight: &dyn Fn(&Stream<'_>) -> f64| {
        let mine = || streams.iter().filter(|s| mine(s));
        let used: f64 = mine().map(|s| s.rate * weight(s)).sum();
        let growing: f64 = mine().filter(|s| s.open).map(weight).sum();
        (total - used) / growing.max(1.0)
    };
    let flow = &flows[stream.flow];
    if let Some(offered) = flow.offered_bps {
        let wire = offered * f64::from(flow.packet) / f64::from(flow.payload);
        room = room.min(share(wire, &|s| s.flow == stream.flow, &|_| 1.0));
    }
    for link in &stream.path.out {
        let Some(capacity) = facts.capacity_bps.get(&link.name) else { continue };
        let cross = facts.cross.iter().filter(|cross| cross.links.contains(&link.name));
        let left = capacity - cross.map(|cross| cross.rate_bps).sum::<f64>();
        let passes = |s: &Stream<'_>| s.path.out.iter().any(|l| l.name == link.name);
        room = room.min(share(left.max(0.0), &passes, &|s| f64::from(flows[s.flow].count)));
    }
    room.max(0.0)
}

/// The most that a window and losses allow on a path, bit/s at IP level.
fn most(flow: &FlowFacts, path: &PathFacts) -> f64 {
    if path.spare {
        return 0.0;
    }
    let rtt = path.base_rtt.as_secs_f64().max(1e-6);
    let (payload, packet) = (f64::from(flow.payload), f64::from(flow.packet));
    let window = flow.receive_buffer.map_or(MOST, |bytes| bytes as f64 * 8.0 / rtt * packet / payload);
    let losses = match flow.transport {
        "udp" => MOST,
        _ if path.loss > 0.0 => MATHIS * packet * 8.0 / (rtt * path.loss.sqrt()),
        _ => MOST,
    };
    window.min(losses).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::facts::{CrossFacts, LinkFacts};
    use std::time::Duration;

    fn path(links: &[&str], loss: f64) -> PathFacts {
        let link = |name: &&str| LinkFacts {
            name: (*name).to_owned(),
            rate_bps: None,
            queue_packets: None,
            queue: None,
        };
        let (name, base_rtt) = (links.join(" "), Duration::from_millis(100));
        PathFacts {
            name,
            out: links.iter().map(link).collect(),
            back: Vec::new(),
            base_rtt,
            loss,
            spare: false,
        }
    }

    /// No headers, no window.
    fn flow(paths: Vec<PathFacts>) -> FlowFacts {
        FlowFacts {
            name: "f".into(),
            transport: "sctp",
            scheme: "cmt".into(),
            count: 1,
            packet: 1000,
            ack: 0,
            payload: 1000,
            offered_bps: None,
            total_bytes: None,
            receive_buffer: None,
            from: Duration::ZERO,
            to: Duration::MAX,
            paths,
        }
    }

    fn shares(flows: Vec<FlowFacts>, cross: Vec<CrossFacts>) -> Vec<Vec<f64>> {
        let capacity_bps = [("wide".to_owned(), 10e6), ("narrow".to_owned(), 4e6)].into();
        let rates = rates(&Facts { flows, cross, capacity_bps });
        rates.into_iter().map(|paths| paths.into_iter().map(f64::round).collect()).collect()
    }

    #[test]
    fn whoever_has_least_gets_all_that_is_fair() {
        let both = || flow(vec![path(&["wide", "narrow"], 0.0)]);
        let (narrow, wide) = (flow(vec![path(&["narrow"], 0.0)]), flow(vec![path(&["wide"], 0.0)]));
        assert_eq!(shares(vec![both(), narrow, wide.clone()], vec![]), [[2e6], [2e6], [8e6]]);
        // Three alike leave a quarter each of what is left of the narrow link by background load.
        let three = FlowFacts { count: 3, ..both() };
        let load = CrossFacts {
            links: vec!["narrow".into()],
            rate_bps: 2e6,
            packet: 500.0,
            time: Duration::from_secs(1),
        };
        let narrow = flow(vec![path(&["narrow"], 0.0)]);
        assert_eq!(shares(vec![three, narrow, wide], vec![load]), [[0.5e6], [0.5e6], [8.5e6]]);
    }

    #[test]
    fn applications_losses_and_windows_are_bounds() {
        let mut modest = flow(vec![path(&["wide"], 0.0), path(&["narrow"], 0.0)]);
        modest.offered_bps = Some(3e6);
        assert_eq!(shares(vec![modest], vec![]), [[1.5e6, 1.5e6]]);
        // 1.22 · 8000 bit / (0.1 s · √0.01).
        assert_eq!(shares(vec![flow(vec![path(&["wide"], 0.01)])], vec![]), [[976e3]]);
        let mut small = flow(vec![path(&["wide"], 0.0)]);
        small.receive_buffer = Some(25_000);
        assert_eq!(shares(vec![small], vec![]), [[2e6]]);
        let mut spare = flow(vec![path(&["wide"], 0.0), path(&["narrow"], 0.0)]);
        spare.paths[0].spare = true;
        assert_eq!(shares(vec![spare], vec![]), [[0.0, 4e6]]);
    }
}
