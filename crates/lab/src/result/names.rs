//! Every metric there is.

/// How a metric of several equal flows is aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// Rates and counts add up.
    Sum,
    /// Delays and shares are averaged over the flows.
    Mean,
    /// The largest one says it.
    Max,
}

/// What a metric's name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name, with its unit.
    pub name: &'static str,
    /// How flows are taken together.
    pub across: Across,
    /// What it counts.
    pub meaning: &'static str,
}

/// The definition of a metric; `None`: a counter that a transport named itself.
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

/// Unit of a metric, which is the end of its name; empty: a count or a share.
pub fn unit(name: &str) -> &'static str {
    let end = name.rsplit_once('_').map_or("", |(_, end)| end);
    UNITS.iter().find(|(known, _)| *known == end).map_or("", |(_, unit)| unit)
}

/// Metrics that are 0 in many runs and have a mean that a few runs make.
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
    sum("goodput_bps", "application bytes delivered; of a path: new ones that came by it"),
    sum("throughput_bps", "bytes sent at IP level, control packets included"),
    mean("share", "a path's part of its flow's goodput"),
    mean("jain", "Jain's index of the goodput of flows alike"),
    sum("sent_packets", "packets with data sent, retransmissions included"),
    sum("control_packets", "packets without data sent"),
    sum(
        "delivered_packets",
        "packets with data that arrived and brought something new; of a link: all that came out",
    ),
    sum("duplicate_packets", "packets with data that arrived and brought nothing new"),
    sum("damaged_packets", "packets with data that arrived damaged"),
    sum(
        "refused_packets",
        "packets with data that arrived whole and were not taken: no room, or the association had ended",
    ),
    sum("delivered_bytes", "bytes handed to the receiving application"),
    sum("lost_packets", "packets with data lost in the network"),
    sum("lost_queue_packets", "those that found a queue full, or that its management or a policer dropped"),
    sum("lost_random_packets", "those that a loss model took"),
    sum("lost_down_packets", "those that a link took which was down"),
    sum("lost_routing_packets", "those that a router on a radio dropped"),
    mean("hops_mean", "hops on radios of packets with data that arrived, mean"),
    mean("loss_ratio", "lost_packets of sent_packets"),
    sum("retransmitted_packets", "packets sent with data that were sent before"),
    sum("retransmitted_fast_packets", "data the transport took for lost after reports of later data"),
    sum("retransmitted_timeout_packets", "data the transport took for lost after a timeout"),
    sum("spurious_packets", "retransmissions of data that had arrived, as the transport noticed"),
    sum("timeouts", "expiries of the retransmission timer"),
    sum(
        "potentially_failed",
        "times a path became potentially failed (RFC 7829), where verdicts need unanswered probes",
    ),
    sum("failed", "times a path was given up, where verdicts need unanswered probes"),
    sum(
        "needless_pf",
        "potentially_failed although the link delivered a packet of ours in the preceding RTO",
    ),
    sum("needless_failed", "failed although the link delivered a packet of ours in the preceding RTO"),
    sum("sources_sent", "source symbols sent, each once however often it was sent again"),
    sum("source_bytes", "their bytes, symbol headers included"),
    sum("repairs_sent", "repair symbols sent"),
    sum("repair_bytes", "their bytes, symbol headers included"),
    sum("sources_received", "source symbols that arrived"),
    sum("sources_late", "those that had been recovered before, or came again"),
    sum("repairs_received", "repair symbols that arrived"),
    sum("repairs_unused", "those that brought nothing that was not known"),
    sum(
        "recovered",
        "messages (of blocks: source symbols) computed from repair symbols before they arrived themselves",
    ),
    sum("symbols_refused", "symbols that were dropped: malformed, too far ahead, or contradictory"),
    mean("redundancy", "repair_bytes by source_bytes"),
    mean("symbol_overhead", "of blocks: bytes of symbols sent beyond delivered_bytes, by delivered_bytes"),
    sum("opportunistic_resends", "data sent again unlost, since they held up a buffer on a slower path"),
    sum("head_of_line_penalties", "times a window was cut since its path held up a buffer"),
    mean("rwnd_blocked_s", "time in which only the peer's receive window kept data from being sent"),
    mean("rwnd_blocked_ratio", "rwnd_blocked_s as a share of the time that counts"),
    mean("send_buffer_blocked_s", "time in which only the full send buffer kept data from being sent"),
    mean("send_buffer_blocked_ratio", "send_buffer_blocked_s as a share of the time that counts"),
    max("send_buffer_most_bytes", "the most there was in a send buffer that may grow, from the beginning on"),
    max(
        "receive_buffer_most_bytes",
        "the most there was in a receive buffer that may grow, from the beginning on",
    ),
    mean("cwnd_limited_s", "time in which only the congestion window kept data from being sent"),
    mean("app_limited_s", "time in which there was nothing to send"),
    sum("loss_events", "windows with losses"),
    sum(
        "unsent_expired_messages",
        "messages of which nothing was sent: their lifetime ended while they waited",
    ),
    sum(
        "unsent_too_late_messages",
        "those that the scheduler gave up: they would have been late by every path",
    ),
    sum(
        "unsent_too_far_messages",
        "those that the scheduler gave up: the ways alone took longer than they had",
    ),
    sum("unsent_makes_way_messages", "those that the scheduler gave up for those behind them"),
    sum("unsent_group_messages", "those that the scheme gave up with their whole frame"),
    sum("unsent_ended_messages", "those that waited when the association ended"),
    sum(
        "abandoned_expired_messages",
        "messages given up after some of them was sent: their lifetime ended before all was known to have arrived",
    ),
    sum("abandoned_too_late_messages", "those that the scheduler gave up as unsent_too_late_messages"),
    sum("abandoned_too_far_messages", "those that it gave up as unsent_too_far_messages"),
    sum("abandoned_makes_way_messages", "those that it gave up as unsent_makes_way_messages"),
    sum("abandoned_group_messages", "those that the scheme gave up with their whole frame"),
    sum("abandoned_loss_policy_messages", "those that the loss policy gave up after a loss"),
    sum("abandoned_ended_messages", "those that were not all acknowledged when the association ended"),
    mean("delay_mean_ms", "from the sending of a packet with data to its arrival"),
    mean("delay_p50_ms", "its median"),
    mean("delay_p95_ms", "its 95th percentile"),
    mean("delay_p99_ms", "its 99th percentile"),
    max("delay_max_ms", "its maximum"),
    mean("message_delay_mean_ms", "from the submission of a message to its delivery in order"),
    mean("message_delay_p50_ms", "its median"),
    mean("message_delay_p95_ms", "its 95th percentile"),
    mean("message_delay_p99_ms", "its 99th percentile"),
    max("message_delay_max_ms", "its maximum"),
    mean("delivery_delay_mean_ms", "from the first sending of a message to its delivery in order"),
    mean("delivery_delay_p50_ms", "its median"),
    mean("delivery_delay_p95_ms", "its 95th percentile"),
    mean("delivery_delay_p99_ms", "its 99th percentile"),
    max("delivery_delay_max_ms", "its maximum"),
    mean("jitter_mean_ms", "difference of the delays of packets that arrive one after the other, mean size"),
    mean("jitter_rfc3550_ms", "the same, smoothed as in RFC 3550 section 6.4.1, at the end"),
    max("reorder_max_tsn", "difference of the TSNs of packets that arrive one after the other, largest size"),
    mean("reorder_mean_tsn", "its mean size; 1 is perfect order"),
    sum("reorder_count", "how often it is not 1 in size"),
    sum("path_changes", "how often a packet with new data went by another path than the one before it"),
    max("longest_gap_ms", "longest time without a delivery"),
    mean("missed_ratio", "units (frames, or messages of a video without) late or never there, of those due"),
    mean("decodable_ratio", "pictures that could be decoded in time, of those due"),
    mean("freezes_per_min", "times a picture stayed on for more than 200 ms, a minute"),
    sum("underflows", "times a live player had nothing left to play and paused for `prebuffer`"),
    sum("stalls", "times a player that waits for all of the video ran out of it"),
    sum("due_messages", "messages of a video without frames whose deadline is over"),
    sum("late_messages", "those that came after it"),
    sum("missed_messages", "those that came after it or never"),
    sum("late_frames", "those of frames_sent that were whole after their deadline"),
    sum("missed_frames", "those that were whole after it or never"),
    mean(
        "psnr_eq17_db",
        "20 log10(EXP / |EXP - CRT|), CRT: bytes in order by `app.psnr_deadline` after capture",
    ),
    mean("psnr_eq17_end_db", "the same, CRT: bytes in order when sending ends"),
    mean("psnr_eq17_bins_db", "the same, CRT: bytes in order within each 10 s; mean of the dB"),
    mean("psnr_model_db", "mean over frames: an encoder's dB if decodable, else that of a frozen picture"),
    sum("frames_sent", "frames whose deadline is over"),
    sum("frames_received", "those that were whole by their deadline"),
    sum("frames_decodable", "those whose references were, too"),
    sum("frames_sent_i", "frames_sent, of type I"),
    sum("frames_sent_p", "frames_sent, of type P"),
    sum("frames_sent_b", "frames_sent, of type B"),
    sum("frames_received_i", "frames_received, of type I"),
    sum("frames_received_p", "frames_received, of type P"),
    sum("frames_received_b", "frames_received, of type B"),
    sum("frames_decodable_i", "frames_decodable, of type I"),
    sum("frames_decodable_p", "frames_decodable, of type P"),
    sum("frames_decodable_b", "frames_decodable, of type B"),
    mean("utilisation", "bits that left a link's transmitter, of those that could have"),
    sum("served_bps", "bits that left a link's transmitter, lost ones included"),
    sum("served_share", "a flow's part of the bits that left a link's transmitter"),
    sum("offered_packets", "packets that came to a link"),
    sum("repeated_packets", "transmissions of packets again, by the link itself"),
    mean("queue_mean_packets", "packets that wait for a link, mean over time"),
    max("queue_max_packets", "the most that waited"),
    sum("frames", "frames on the air"),
    sum("frames_rts", "frames on the air that were RTS"),
    sum("frames_cts", "those that were CTS"),
    sum("frames_data", "those that carried a packet to one station"),
    sum("frames_ack", "those that were ACK"),
    sum("frames_broadcast", "those that carried a packet to all"),
    sum("frame_retries", "RTS without CTS and data without ACK"),
    sum("frames_collided", "frames lost at the station they were for, or at one of all, to another frame"),
    sum("link_failures", "packets given up after the last retry"),
    mean("airtime", "time in which a station transmits, mean over stations, as a share"),
    mean("idle_ratio", "time in which a station neither sends, receives, senses nor waits, mean, as a share"),
    sum("routing_messages", "routing messages transmitted, each hop counting"),
    sum("routing_bytes", "their bytes at IP level"),
    sum("routing_requests", "those that were route requests"),
    sum("routing_replies", "those that were route replies"),
    sum("routing_errors", "those that were route errors"),
    sum("routing_hellos", "those that were HELLO"),
    sum("routing_probes", "those that were probes"),
    sum("route_discoveries", "searches for a route"),
    sum("route_failures", "searches given up"),
    sum("route_repairs", "local repairs begun"),
    sum("salvaged_packets", "packets sent on by another path after a link had failed"),
    sum("paths_apart_packets", "packets sent while originals and retransmissions had different paths"),
    sum("paths_together_packets", "packets sent while both had the same path"),
    sum("dropped_no_route_packets", "packets that routers dropped: no route"),
    sum(
        "dropped_send_buffer_packets",
        "packets that routers dropped: waited for a route too long, or too many",
    ),
    sum("dropped_link_packets", "packets that routers dropped: the next hop did not answer"),
    sum("dropped_hops_packets", "packets that routers dropped: too many hops"),
    sum("dropped_returned_packets", "packets that routers dropped: back at their source"),
    sum("dropped_split_packets", "packets that routers dropped: a queue of the split was full"),
    mean("offered_load", "cross traffic made, as a share of the link's rate"),
    mean("carried_load", "cross traffic that arrived, as a share of the link's rate"),
    sum("tcp_goodput_bps", "new bytes that cross traffic's TCP received"),
];
