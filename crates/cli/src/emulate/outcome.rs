//! Counters of the links, at the end.

use std::time::Duration;

use serde_json::{Value, json};
use strandcast::text::duration;
use strandcast_netem::link::{Count, LinkStats};

use super::pump::{LATE_MS, Punctuality, State};

/// If the share of late packets is above this limit, the result of the run means little.
const TOO_LATE: f64 = 0.01;
/// Number of late packets that even a run with few packets may have.
const FEW: u64 = 10;
/// If the simulation is delayed by more than this time, a line reports the delay.
const BEHIND: Duration = Duration::from_millis(100);

/// Prints a table of all links. If the machine was late, also prints a line about the delay.
pub(super) fn text(state: &State) -> Vec<String> {
    let mut lines = vec![format!(
        "{:<20} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "link", "packets", "delivered", "lost", "queue full", "down"
    )];
    for (link, direction, stats) in state.emulation.links() {
        let LinkStats { offered, delivered, dropped_loss, dropped_queue, dropped_down, .. } = stats;
        lines.push(format!(
            "{:<20} {:>10} {:>10} {:>10} {:>10} {:>10}",
            format!("{link} {direction}"),
            offered.packets,
            delivered.packets,
            dropped_loss.packets,
            dropped_queue.packets,
            dropped_down.packets,
        ));
    }
    lines.extend(tardiness(&state.punctuality));
    lines
}

/// Returns lines about packets that this machine delivered late or not at all.
fn tardiness(punctuality: &Punctuality) -> Vec<String> {
    let Punctuality { packets, late, worst, refused, behind, overrun } = punctuality;
    let mut lines = Vec::new();
    if *refused > 0 {
        lines.push(format!(
            "{refused} of {packets} packets were refused by a device: it was down at that end"
        ));
    }
    if *behind >= BEHIND || *overrun > 0 {
        lines.push(format!(
            "the simulation of this network was up to {} late, and {overrun} packets did not get into it: it is too large \
             for this machine in real time",
            duration(*behind)
        ));
    }
    let share = late[0] as f64 / (*packets).max(1) as f64;
    if late[0] >= FEW && share > TOO_LATE {
        lines.push(format!(
            "this machine delivered {:.1} % of {packets} packets more than 1 ms late (worst {:.1} ms): it is too busy for \
             these links, repeat the run with less other work",
            share * 100.0,
            worst.as_secs_f64() * 1e3
        ));
    }
    lines
}

/// Returns the counters of all links as JSON, for programs.
pub(super) fn json(state: &State) -> Value {
    let both = |count: Count| json!({ "packets": count.packets, "bytes": count.bytes });
    let links: Vec<Value> = state
        .emulation
        .links()
        .map(|(link, direction, stats)| {
            json!({
                "link": link, "direction": direction, "offered": both(stats.offered), "delivered": both(stats.delivered),
                "dropped_queue": both(stats.dropped_queue), "dropped_loss": both(stats.dropped_loss),
                "dropped_down": both(stats.dropped_down), "max_queue": stats.max_queue,
            })
        })
        .collect();
    let Punctuality { packets, late, worst, refused, behind, overrun } = state.punctuality;
    let late: Vec<Value> =
        LATE_MS.iter().zip(late).map(|(ms, packets)| json!({ "ms": ms, "packets": packets })).collect();
    json!({
        "links": links,
        "emulator": { "packets": packets, "later_than": late, "worst_ms": worst.as_secs_f64() * 1e3, "refused": refused,
            "behind_ms": behind.as_secs_f64() * 1e3, "overrun": overrun },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_in_time_is_not_mentioned() {
        let (worst, behind) = (Duration::from_millis(7), Duration::from_millis(9));
        let good = Punctuality { packets: 1000, late: [10, 1, 0], worst, behind, ..Punctuality::default() };
        assert_eq!(tardiness(&good), [""; 0]);
        let bad = Punctuality { late: [11, 1, 0], refused: 3, behind: Duration::from_secs(2), ..good };
        let lines = tardiness(&bad);
        assert!(lines[0].starts_with("3 of 1000 packets"), "{lines:?}");
        assert!(lines[1].contains("up to 2"), "{lines:?}");
        assert!(lines[2].starts_with("this machine delivered 1.1 % of 1000 packets"), "{lines:?}");
    }
}
