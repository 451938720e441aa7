//! Names, units and meanings of all metrics.

/// Aggregation of a metric over several equal flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// Rates and counts are added up.
    Sum,
    /// Delays and shares are averaged over the flows.
    Mean,
    /// The largest value counts.
    Max,
}

/// Meaning of a metric's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name, with its unit.
    pub name: &'static str,
    /// Aggregation over flows.
    pub across: Across,
    /// Description of the count.
    pub meaning: &'static str,
}

/// Definition of a metric; `None` for a counter that a transport named itself.
pub fn definition(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.iter().find(|definition| definition.name == name)
}

/// Ends of names with a unit, and the unit.
const UNITS: &[(&str, &str)] = &[
    ("bps", "bit/s"),
    ("ms", "ms"),
    ("s", "s"),
    ("bytes", "bytes"),
    ("packets", "packets"),
    ("db", "dB"),
    ("tsn", "TSN"),
];

/// Returns the unit of a metric, by the end of its name; empty for a count or a share.
pub fn unit(name: &str) -> &'static str {
    let end = name.rsplit_once('_').map_or("", |(_, end)| end);
    UNITS.iter().find(|(known, _)| *known == end).map_or("", |(_, unit)| unit)
}

/// Metrics that are 0 in many runs, so that a few runs determine their mean.
pub const RARE: &[&str] = &["missed_ratio", "freezes_per_min", "underflows"];

/// Returns whether a metric is one of [`RARE`].
pub fn is_rare(name: &str) -> bool {
    RARE.contains(&name)
}

const fn sum(name: &'static str, meaning: &'static str) -> Definition {
    Definition { name, across: Across::Sum, meaning }
}

const fn mean(name: &'static str, meaning: &'static str) -> Definition {
    Definition { name, across: Across::Mean, meaning }
}

const fn max(name: &'static str, meaning: &'static str) -> Definition {
    Definition { name, across: Across::Max, meaning }
}

/// Every metric that this crate names.
pub const DEFINITIONS: &[Definition] = &[
    sum("goodput_bps", "application bytes delivered; for a path: new bytes that it delivered"),
    sum("throughput_bps", "bytes sent at IP level, control packets included"),
    mean("share", "goodput of a path, as a share of its flow's goodput"),
    mean("jain", "Jain's index of the goodput of equal flows"),
    sum("sent_packets", "packets with data sent, retransmissions included"),
    sum("control_packets", "packets without data sent"),
    sum(
        "delivered_packets",
        "packets with data that arrived with new data; for a link: all packets that it delivered",
    ),
    sum("duplicate_packets", "packets with data that arrived without new data"),
    sum("damaged_packets", "packets with data that arrived damaged"),
    sum(
        "refused_packets",
        "packets with data that arrived whole and were refused: no room, or the association had ended",
    ),
    sum("delivered_bytes", "bytes handed to the receiving application"),
    sum("lost_packets", "packets with data lost in the network"),
    sum("lost_queue_packets", "packets lost at a full queue, or dropped by its management or by a policer"),
    sum("lost_random_packets", "packets lost to a loss model"),
    sum("lost_down_packets", "packets lost because a link was down"),
    sum("lost_routing_packets", "packets lost because a router on a radio dropped them"),
    mean("hops_mean", "hops on radios per packet with data that arrived, mean"),
    mean("loss_ratio", "lost_packets / sent_packets"),
    sum("retransmitted_packets", "packets sent with data that were sent before"),
    sum(
        "retransmitted_fast_packets",
        "chunks or segments that the transport declared lost because later ones were acknowledged",
    ),
    sum(
        "retransmitted_timeout_packets",
        "chunks or segments that the transport declared lost after a timeout",
    ),
    sum("spurious_packets", "retransmissions of data that had arrived, as detected by the transport"),
    sum("timeouts", "expiries of the retransmission timer"),
    sum(
        "tail_probes",
        "packets sent again because the acknowledgement of the last ones was late (RFC 8985 §7.2)",
    ),
    sum(
        "potentially_failed",
        "times a path became potentially failed (RFC 7829), if verdicts need unanswered probes",
    ),
    sum("failed", "times a path became inactive, if verdicts need unanswered probes"),
    sum(
        "needless_pf",
        "times a path became potentially failed although its link had delivered a packet of the flow in the preceding RTO",
    ),
    sum(
        "needless_failed",
        "times a path became inactive although its link had delivered a packet of the flow in the preceding RTO",
    ),
    sum("sources_sent", "source symbols sent, without retransmissions"),
    sum("source_bytes", "bytes of source symbols sent, headers included"),
    sum("repairs_sent", "repair symbols sent"),
    sum("repair_bytes", "bytes of repair symbols sent, headers included"),
    sum("sources_received", "source symbols that arrived"),
    sum("sources_late", "source symbols that arrived after they had been recovered, or again"),
    sum("repairs_received", "repair symbols that arrived"),
    sum("repairs_unused", "repair symbols that arrived and were of no use"),
    sum(
        "recovered",
        "messages (for blocks: source symbols) computed from repair symbols before they arrived themselves",
    ),
    sum("symbols_refused", "symbols that the receiver dropped: malformed, contradictory, or too far ahead"),
    mean("redundancy", "repair_bytes / source_bytes"),
    mean(
        "symbol_overhead",
        "for blocks: bytes of symbols sent beyond delivered_bytes, divided by delivered_bytes",
    ),
    sum(
        "opportunistic_resends",
        "data sent again although not lost, because they blocked a buffer on a slower path",
    ),
    sum("head_of_line_penalties", "reductions of a path's window because its data blocked a buffer"),
    mean("rwnd_blocked_s", "time in which only the peer's receive window prevented sending"),
    mean("rwnd_blocked_ratio", "rwnd_blocked_s as a share of the time that counts"),
    mean("send_buffer_blocked_s", "time in which only the full send buffer prevented sending"),
    mean("send_buffer_blocked_ratio", "send_buffer_blocked_s as a share of the time that counts"),
    max(
        "send_buffer_most_bytes",
        "largest content of a send buffer that may grow, since the beginning of the run",
    ),
    max(
        "receive_buffer_most_bytes",
        "largest content of a receive buffer that may grow, since the beginning of the run",
    ),
    mean("cwnd_limited_s", "time in which only the congestion window prevented sending"),
    mean("app_limited_s", "time in which the application had nothing to send"),
    sum("loss_events", "windows with losses"),
    sum("unsent_expired_messages", "messages never sent because their lifetime ended while they waited"),
    sum(
        "unsent_too_late_messages",
        "messages never sent because the scheduler found that they would be late by every path",
    ),
    sum(
        "unsent_too_far_messages",
        "messages never sent because the delay of every path alone exceeded their time",
    ),
    sum(
        "unsent_makes_way_messages",
        "messages never sent because the scheduler gave them up in favour of later ones",
    ),
    sum("unsent_group_messages", "messages never sent because the scheme gave up their whole frame"),
    sum("unsent_ended_messages", "messages that waited when the association ended"),
    sum(
        "abandoned_expired_messages",
        "messages partly sent whose lifetime ended before all of them was acknowledged",
    ),
    sum("abandoned_too_late_messages", "messages partly sent and given up as in unsent_too_late_messages"),
    sum("abandoned_too_far_messages", "messages partly sent and given up as in unsent_too_far_messages"),
    sum("abandoned_makes_way_messages", "messages partly sent and given up as in unsent_makes_way_messages"),
    sum("abandoned_group_messages", "messages partly sent that the scheme gave up with their whole frame"),
    sum("abandoned_loss_policy_messages", "messages partly sent that the loss policy gave up after a loss"),
    sum(
        "abandoned_ended_messages",
        "messages partly sent that were not wholly acknowledged when the association ended",
    ),
    mean("delay_mean_ms", "time from sending a packet with data to its arrival, mean"),
    mean("delay_p50_ms", "delay, median"),
    mean("delay_p95_ms", "delay, 95th percentile"),
    mean("delay_p99_ms", "delay, 99th percentile"),
    max("delay_max_ms", "delay, maximum"),
    mean("message_delay_mean_ms", "time from the submission of a message to its delivery in order, mean"),
    mean("message_delay_p50_ms", "message delay, median"),
    mean("message_delay_p95_ms", "message delay, 95th percentile"),
    mean("message_delay_p99_ms", "message delay, 99th percentile"),
    max("message_delay_max_ms", "message delay, maximum"),
    mean(
        "delivery_delay_mean_ms",
        "time from the first transmission of a message to its delivery in order, mean",
    ),
    mean("delivery_delay_p50_ms", "delivery delay, median"),
    mean("delivery_delay_p95_ms", "delivery delay, 95th percentile"),
    mean("delivery_delay_p99_ms", "delivery delay, 99th percentile"),
    max("delivery_delay_max_ms", "delivery delay, maximum"),
    mean(
        "jitter_mean_ms",
        "difference between the delays of consecutive arrivals, mean of its absolute value",
    ),
    mean("jitter_rfc3550_ms", "jitter, smoothed as in RFC 3550 section 6.4.1, at the end"),
    max("reorder_max_tsn", "difference between the TSNs of consecutive arrivals, largest absolute value"),
    mean(
        "reorder_mean_tsn",
        "difference between the TSNs of consecutive arrivals, mean of its absolute value; 1 is perfect order",
    ),
    sum("reorder_count", "consecutive arrivals whose TSNs do not differ by 1"),
    sum("path_changes", "packets with new data that took another path than the preceding one"),
    max("longest_gap_ms", "longest time without a delivery"),
    mean(
        "missed_ratio",
        "units (frames, or messages of a video without frames) that were late or never arrived, of those due",
    ),
    mean("decodable_ratio", "pictures that could be decoded in time, of those due"),
    mean("freezes_per_min", "pictures shown for more than 200 ms, per minute"),
    sum("underflows", "times a live player had nothing left to play and paused for `prebuffer`"),
    sum("stalls", "times a player that waits for all of the video had nothing left to play"),
    sum("due_messages", "messages whose deadline is over, for a video without frames"),
    sum("late_messages", "due_messages that arrived after their deadline"),
    sum("missed_messages", "due_messages that arrived after their deadline or never"),
    sum("late_frames", "frames_sent that were whole after their deadline"),
    sum("missed_frames", "frames_sent that were whole after their deadline or never"),
    mean(
        "psnr_eq17_db",
        "20 log10(EXP / |EXP - CRT|), CRT: bytes in order by `app.psnr_deadline` after capture",
    ),
    mean("psnr_eq17_end_db", "psnr_eq17_db with CRT: bytes in order when sending ends"),
    mean("psnr_eq17_bins_db", "psnr_eq17_db with CRT: bytes in order within each 10 s; mean of the dB"),
    mean(
        "psnr_model_db",
        "mean over frames: the encoder's dB of a decodable frame, else the dB of a frozen picture",
    ),
    sum("frames_sent", "frames whose deadline is over"),
    sum("frames_received", "frames_sent that were whole by their deadline"),
    sum("frames_decodable", "frames_received whose references were also decodable"),
    sum("frames_sent_i", "frames_sent, of type I"),
    sum("frames_sent_p", "frames_sent, of type P"),
    sum("frames_sent_b", "frames_sent, of type B"),
    sum("frames_received_i", "frames_received, of type I"),
    sum("frames_received_p", "frames_received, of type P"),
    sum("frames_received_b", "frames_received, of type B"),
    sum("frames_decodable_i", "frames_decodable, of type I"),
    sum("frames_decodable_p", "frames_decodable, of type P"),
    sum("frames_decodable_b", "frames_decodable, of type B"),
    mean("utilisation", "bits that left a link's transmitter, as a share of its capacity"),
    sum("served_bps", "bits that left a link's transmitter, lost ones included"),
    sum("served_share", "a flow's share of the bits that left a link's transmitter"),
    sum("offered_packets", "packets that came to a link"),
    sum("repeated_packets", "retransmissions by the link itself"),
    mean("queue_mean_packets", "packets in a link's queue, mean over time"),
    max("queue_max_packets", "packets in a link's queue, maximum"),
    sum("frames", "frames on the air"),
    sum("frames_rts", "frames on the air that were RTS"),
    sum("frames_cts", "frames on the air that were CTS"),
    sum("frames_data", "frames on the air that carried a packet to one station"),
    sum("frames_ack", "frames on the air that were ACK"),
    sum("frames_broadcast", "frames on the air that carried a packet to all stations"),
    sum("frame_retries", "RTS without CTS and data without ACK"),
    sum("frames_collided", "frames lost to another frame at their station, or at one of all stations"),
    sum("link_failures", "packets given up after the last retry"),
    mean("airtime", "share of time in which a station transmits, mean over stations"),
    mean(
        "idle_ratio",
        "share of time in which a station neither sends, receives, senses nor waits, mean over stations",
    ),
    sum("routing_messages", "routing messages transmitted, at each hop"),
    sum("routing_bytes", "bytes of routing messages at IP level"),
    sum("routing_requests", "routing messages that were route requests"),
    sum("routing_replies", "routing messages that were route replies"),
    sum("routing_errors", "routing messages that were route errors"),
    sum("routing_hellos", "routing messages that were HELLO"),
    sum("routing_probes", "routing messages that were probes"),
    sum("route_discoveries", "searches for a route"),
    sum("route_failures", "searches given up"),
    sum("route_repairs", "local repairs begun"),
    sum("salvaged_packets", "packets forwarded on another path after a link had failed"),
    sum("paths_apart_packets", "packets sent while originals and retransmissions had different paths"),
    sum("paths_together_packets", "packets sent while both had the same path"),
    sum("dropped_no_route_packets", "packets that routers dropped: no route"),
    sum(
        "dropped_send_buffer_packets",
        "packets that routers dropped: too long or too many in the wait for a route",
    ),
    sum("dropped_link_packets", "packets that routers dropped: the next hop did not answer"),
    sum("dropped_hops_packets", "packets that routers dropped: too many hops"),
    sum("dropped_returned_packets", "packets that routers dropped: back at their source"),
    sum("dropped_split_packets", "packets that routers dropped: a queue of the split was full"),
    mean("offered_load", "cross traffic made, as a share of the link's rate"),
    mean("carried_load", "cross traffic that arrived, as a share of the link's rate"),
    sum("tcp_goodput_bps", "new bytes that cross traffic's TCP received"),
];
