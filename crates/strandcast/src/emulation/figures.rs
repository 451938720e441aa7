//! Counters of the links and of the machine.

use std::time::Duration;

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use strandcast_lab::simulation::Emulation;

use crate::text::duration;

/// Delays in milliseconds beyond which a packet counts as late.
const LATE_MS: [u64; 3] = [1, 5, 20];
/// If the share of late packets is above this limit, the result of the run means little.
const TOO_LATE: f64 = 0.01;
/// Number of late packets that even a run with few packets may have.
const FEW: u64 = 10;
/// If the simulation is delayed by more than this time, a line reports the delay.
const BEHIND: Duration = Duration::from_millis(100);

/// Counters of an emulated network since its start.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Figures {
    /// All links in both directions.
    pub links: Vec<LinkFigures>,
    /// Punctuality of this machine.
    pub emulator: Punctuality,
}

/// Counters of one direction of a link. They have the packets of all flows together.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct LinkFigures {
    /// Name of the link.
    pub link: String,
    /// `forward` or `reverse`.
    pub direction: &'static str,
    /// Packets that were offered to the link.
    pub offered: Packets,
    /// Packets that reached the other end.
    pub delivered: Packets,
    /// Packets that arrived at a full queue, or that a managed queue or a policer dropped.
    pub dropped_queue: Packets,
    /// Packets that were lost at random after the transmitter.
    pub dropped_loss: Packets,
    /// Packets that were dropped because the link was down.
    pub dropped_down: Packets,
    /// Maximum number of packets that waited.
    pub max_queue: usize,
}

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Packets {
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Delays of this machine: the time from the delivery of a packet in the network to its delivery to a device.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Punctuality {
    /// Number of packets that were delivered.
    pub packets: u64,
    /// Number of packets that were more than 1 ms, 5 ms and 20 ms late.
    #[serde(rename = "later_than", serialize_with = "later_than")]
    pub late: [u64; 3],
    /// The greatest delay. In JSON, its unit is the millisecond.
    #[serde(rename = "worst_ms", serialize_with = "milliseconds")]
    pub worst: Duration,
    /// Number of packets that a device did not accept, without packets that a link has damaged.
    pub refused: u64,
    /// The longest delay of the simulation of the network. In JSON, its unit is the millisecond.
    #[serde(rename = "behind_ms", serialize_with = "milliseconds")]
    pub behind: Duration,
    /// Number of packets that were dropped because programs wrote faster than the network accepted packets.
    pub overrun: u64,
}

impl Figures {
    /// Reads the counters.
    pub(super) fn of(emulation: &Emulation, emulator: Punctuality) -> Figures {
        let packets = |packets, bytes| Packets { packets, bytes };
        let links = emulation.links().map(|(link, direction, of)| LinkFigures {
            link: link.to_owned(),
            direction,
            offered: packets(of.offered.packets, of.offered.bytes),
            delivered: packets(of.delivered.packets, of.delivered.bytes),
            dropped_queue: packets(of.dropped_queue.packets, of.dropped_queue.bytes),
            dropped_loss: packets(of.dropped_loss.packets, of.dropped_loss.bytes),
            dropped_down: packets(of.dropped_down.packets, of.dropped_down.bytes),
            max_queue: of.max_queue,
        });
        Figures { links: links.collect(), emulator }
    }

    /// Returns a table of all links as lines of text. If the machine was late, further lines report the delay.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{:<20} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "link", "packets", "delivered", "lost", "queue full", "down"
        )];
        for of in &self.links {
            lines.push(format!(
                "{:<20} {:>10} {:>10} {:>10} {:>10} {:>10}",
                format!("{} {}", of.link, of.direction),
                of.offered.packets,
                of.delivered.packets,
                of.dropped_loss.packets,
                of.dropped_queue.packets,
                of.dropped_down.packets,
            ));
        }
        lines.extend(tardiness(&self.emulator));
        lines
    }
}

impl Punctuality {
    /// Counts a packet that was delivered to a device `late` after its time.
    pub(super) fn count(&mut self, late: Duration, refused: bool) {
        self.packets += 1;
        self.worst = self.worst.max(late);
        for (count, ms) in self.late.iter_mut().zip(LATE_MS) {
            *count += u64::from(late > Duration::from_millis(ms));
        }
        self.refused += u64::from(refused);
    }
}

/// A delay, and the number of packets that were later.
#[derive(Serialize)]
struct Later {
    ms: u64,
    packets: u64,
}

fn later_than<S: Serializer>(late: &[u64; 3], to: S) -> Result<S::Ok, S::Error> {
    let mut all = to.serialize_seq(Some(late.len()))?;
    for (ms, packets) in LATE_MS.into_iter().zip(*late) {
        all.serialize_element(&Later { ms, packets })?;
    }
    all.end()
}

fn milliseconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64() * 1e3)
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
