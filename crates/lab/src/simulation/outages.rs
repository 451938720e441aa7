//! Outages of a run.

use core::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;
use strandcast_sim::net::DirectedLinkId;

use super::BuildError;
use super::plan::{Plan, ScheduledEvent};
use super::values::cause;
use crate::scenario::{Again, Direction, Down, DownMode, OutageLaw, Scenario};

/// An outage of one direction. The times of an outage count from the flows' time 0.
struct Outage {
    from: Duration,
    to: Option<Duration>,
    notify: bool,
}

/// Greatest number of outages of a link with recurring outages. Each of them needs memory before the run. ASSUMED.
const MOST: u128 = 1_000_000;

/// Starts and ends of all outages.
///
/// # Errors
/// The outages of a link recur too often.
pub(super) fn outages(
    scenario: &Scenario,
    plan: &Plan,
    origin: Instant,
    seeds: &Seeds,
) -> Result<Vec<(Instant, ScheduledEvent)>, BuildError> {
    let mut events = Vec::new();
    for (name, link) in &scenario.links {
        let downs = link.forward.down.values().chain(link.reverse.down.values());
        let every = downs.filter_map(|down| down.again.as_ref()).map(|again| again.every).min();
        if every.is_some_and(|every| scenario.run.time.as_nanos() > MOST * every.as_nanos().max(1)) {
            let message = format!("outages recur more than {MOST} times in a run; let `every` be longer");
            return Err(BuildError::new(&format!("links.{name}.down"), &message));
        }
    }
    for (name, link) in &scenario.links {
        let Some(planned) = plan.links.get(name) else { continue };
        let mut add = |direction: &Direction, wire: DirectedLinkId| {
            for Outage { from, to, notify } in of_direction(direction, name, scenario.run.time, seeds) {
                events.push((origin + from, ScheduledEvent::Outage { wire, down: true, notify }));
                if let Some(to) = to {
                    events.push((origin + to, ScheduledEvent::Outage { wire, down: false, notify }));
                }
            }
        };
        add(&link.forward, planned[0]);
        add(&link.reverse, planned[1]);
    }
    Ok(events)
}

/// Outages of a direction. Outages that overlap are merged.
fn of_direction(direction: &Direction, link: &str, run: Duration, seeds: &Seeds) -> Vec<Outage> {
    let mut all = Vec::new();
    for (name, down) in &direction.down {
        let Down { from, to, mode, again } = down;
        let notify = *mode == DownMode::Notify;
        match (again, to) {
            (Some(again), Some(to)) => {
                let seeds = match &again.cause {
                    Some(name) => Seeds::new(cause(seeds, name), 0),
                    // Both directions share an outage.
                    None => seeds.child(&format!("link {link}")).child(&format!("down {name}")),
                };
                recurring((*from, *to), again, run, notify, seeds.stream("outages"), &mut all);
            }
            _ => all.push(Outage { from: *from, to: *to, notify }),
        }
    }
    if direction.down.values().any(|down| down.again.is_some()) { joined(all) } else { all }
}

fn recurring(
    (from, to): (Duration, Duration),
    again: &Again,
    run: Duration,
    notify: bool,
    mut random: Random,
    all: &mut Vec<Outage>,
) {
    let lasts = to.saturating_sub(from);
    let up = again.every.saturating_sub(lasts);
    let mut drawn = |mean: Duration| match again.law {
        OutageLaw::Constant => mean,
        OutageLaw::Exponential => mean.mul_f64(-libm::log(1.0 - random.unit())),
    };
    let mut at = from;
    if again.law == OutageLaw::Exponential {
        at = at.saturating_add(drawn(up));
    }
    while at < run {
        let end = at.saturating_add(drawn(lasts));
        all.push(Outage { from: at, to: Some(end), notify });
        at = end.saturating_add(drawn(up));
    }
}

/// Merges outages that overlap or touch.
fn joined(mut all: Vec<Outage>) -> Vec<Outage> {
    all.sort_by_key(|outage| outage.from);
    let mut joined: Vec<Outage> = Vec::new();
    for next in all {
        match joined.last_mut() {
            Some(last) if last.to.is_none_or(|end| end >= next.from) => {
                last.to = last.to.zip(next.to).map(|(a, b)| a.max(b));
                last.notify |= next.notify;
            }
            _ => joined.push(next),
        }
    }
    joined
}
