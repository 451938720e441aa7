//! Meters of links.

use core::time::Duration;

use strandcast_netem::link::{Count, Link, Payload};
use strandcast_proto::time::Instant;

use super::flow::sink;
use crate::result::{Metric, Subject};

/// Counts of one direction of a link at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkReading {
    /// Time of the counts.
    pub at: Instant,
    /// Packets that arrived at the link.
    pub offered: u64,
    /// Packets that the link delivered.
    pub delivered: u64,
    /// Packets lost in a queue: the queue was full, or its management or a policer dropped them.
    pub lost_queue: u64,
    /// Packets lost at random.
    pub lost_random: u64,
    /// Packets lost because the link was down.
    pub lost_down: u64,
    /// Bytes that left the transmitter.
    pub served_bytes: u64,
    /// Packets and bytes that the link sent again. `None` if the link does not retransmit.
    pub repeated: Option<Count>,
    /// Bits that the link could have sent. `None` if its rate is unlimited.
    pub capacity_bits: Option<f64>,
    /// Sum of the packets' waiting times.
    pub waited: Duration,
    /// Greatest number of packets that ever waited.
    pub queue_max: usize,
}

impl LinkReading {
    /// Reads the counts of a link.
    pub fn of<P: Payload>(link: &Link<P>, at: Instant) -> Self {
        let stats = link.stats_at(at);
        LinkReading {
            at,
            offered: stats.offered.packets,
            delivered: stats.delivered.packets,
            lost_queue: stats.dropped_queue.packets,
            lost_random: stats.dropped_loss.packets,
            lost_down: stats.dropped_down.packets + stats.dropped_black_hole.packets,
            served_bytes: stats.served.bytes,
            repeated: (link.config().retries > 0).then_some(stats.repeated),
            capacity_bits: link.capacity_bits(Instant::ZERO, at),
            waited: stats.queue_time,
            queue_max: stats.max_queue,
        }
    }
}

/// Appends the metrics of a link between two readings. The longest queue refers to the whole run up to the second
/// reading.
pub fn link_metrics(
    (link, direction): (&str, &str),
    begin: &LinkReading,
    end: &LinkReading,
    out: &mut Vec<Metric>,
) {
    let seconds = (end.at - begin.at).as_secs_f64();
    let mut put = sink(Subject::Link { link: link.to_owned(), direction: direction.to_owned() }, out);
    let served_bits = (end.served_bytes - begin.served_bytes) as f64 * 8.0;
    // If the rate of a link was always 0, the link could have sent nothing.
    if let (Some(before), Some(after)) = (begin.capacity_bits, end.capacity_bits)
        && after > before
    {
        let repeated = |reading: &LinkReading| reading.repeated.unwrap_or_default().bytes;
        let repeated_bits = (repeated(end) - repeated(begin)) as f64 * 8.0;
        put("utilisation", (served_bits + repeated_bits) / (after - before));
    }
    put("served_bps", served_bits / seconds);
    put("offered_packets", (end.offered - begin.offered) as f64);
    put("delivered_packets", (end.delivered - begin.delivered) as f64);
    put("lost_queue_packets", (end.lost_queue - begin.lost_queue) as f64);
    put("lost_random_packets", (end.lost_random - begin.lost_random) as f64);
    if let (Some(before), Some(after)) = (begin.repeated, end.repeated) {
        put("repeated_packets", (after.packets - before.packets) as f64);
    }
    put("lost_down_packets", (end.lost_down - begin.lost_down) as f64);
    put("queue_mean_packets", (end.waited - begin.waited).as_secs_f64() / seconds);
    put("queue_max_packets", end.queue_max as f64);
}
