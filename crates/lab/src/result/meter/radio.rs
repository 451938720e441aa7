//! Meters of radios.

use core::time::Duration;

use strandcast_proto::time::Instant;
use strandcast_radio::StationId;
use strandcast_routing::{Counters as Routed, DropCause};
use strandcast_sim::net::Air;

use super::flow::sink;
use crate::result::{Metric, Subject};

/// Counts of a radio at an instant, summed over its stations and their routers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioReading {
    /// Time of the counts.
    pub at: Instant,
    /// Number of stations.
    pub stations: usize,
    /// Counts in the order of [`COUNTS`].
    counts: [u64; COUNTS.len()],
    /// Transmission time and idle time, summed over all stations.
    transmit: Duration,
    idle: Duration,
}

/// Names of the counters.
const COUNTS: [&str; 29] = [
    "frames",
    "frames_rts",
    "frames_cts",
    "frames_data",
    "frames_ack",
    "frames_broadcast",
    "frame_retries",
    "frames_collided",
    "link_failures",
    "lost_queue_packets",
    "routing_messages",
    "routing_bytes",
    "routing_requests",
    "routing_replies",
    "routing_errors",
    "routing_hellos",
    "routing_probes",
    "route_discoveries",
    "route_failures",
    "route_repairs",
    "salvaged_packets",
    "paths_apart_packets",
    "paths_together_packets",
    "dropped_no_route_packets",
    "dropped_send_buffer_packets",
    "dropped_link_packets",
    "dropped_hops_packets",
    "dropped_returned_packets",
    "dropped_split_packets",
];

impl RadioReading {
    /// Reads the counts of a radio.
    pub fn of(air: &Air, at: Instant) -> Self {
        let mut reading = RadioReading {
            at,
            stations: air.stations(),
            counts: [0; COUNTS.len()],
            transmit: Duration::ZERO,
            idle: Duration::ZERO,
        };
        for station in (0..air.stations() as u32).map(StationId) {
            let counted = air.radio().counters(at, station);
            let on_air = [
                counted.frames(),
                counted.rts,
                counted.cts,
                counted.data,
                counted.acks,
                counted.broadcasts,
                counted.retries,
                counted.collided,
                counted.failures,
                counted.queue_drops,
            ];
            let routed = routed(&air.router(station).counters());
            for (sum, count) in reading.counts.iter_mut().zip(on_air.into_iter().chain(routed)) {
                *sum += count;
            }
            reading.transmit += counted.transmit_time;
            reading.idle += counted.idle_time;
        }
        reading
    }

    /// Returns the count with this name. Returns 0 if there is no such count.
    pub fn count(&self, name: &str) -> u64 {
        COUNTS.iter().position(|known| *known == name).map_or(0, |at| self.counts[at])
    }
}

/// Counts of a router, in the order of [`COUNTS`].
fn routed(routed: &Routed) -> [u64; 19] {
    let all = |tally: strandcast_routing::Tally| tally.sent + tally.forwarded;
    [
        routed.messages(),
        routed.bytes,
        all(routed.requests),
        all(routed.replies),
        all(routed.errors),
        routed.hellos,
        routed.probes,
        routed.discoveries,
        routed.failures,
        routed.repairs,
        routed.salvages,
        routed.apart,
        routed.together,
        routed.dropped(DropCause::NoRoute),
        routed.dropped(DropCause::SendBuffer),
        routed.dropped(DropCause::LinkFailed),
        routed.dropped(DropCause::TtlExpired),
        routed.dropped(DropCause::Returned),
        routed.dropped(DropCause::SplitQueue),
    ]
}

/// Metrics of a radio between two readings.
pub fn radio_metrics(radio: &str, begin: &RadioReading, end: &RadioReading, out: &mut Vec<Metric>) {
    let seconds = (end.at - begin.at).as_secs_f64() * end.stations.max(1) as f64;
    let mut put = sink(Subject::Radio(radio.to_owned()), out);
    for (name, (before, after)) in COUNTS.into_iter().zip(begin.counts.iter().zip(end.counts)) {
        put(name, (after - before) as f64);
    }
    put("airtime", (end.transmit - begin.transmit).as_secs_f64() / seconds);
    put("idle_ratio", (end.idle - begin.idle).as_secs_f64() / seconds);
}
