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
    // Flows and their paths.
    sum(
        "goodput_bps",
        "bytes delivered to the receiving application; of a path: new bytes received over it, without \
         symbol headers and without repair symbols between messages; of coded blocks: payload of all \
         symbols",
    ),
    sum(
        "throughput_bps",
        "bytes that the flow's sender sent at IP level, with headers, retransmissions and control packets",
    ),
    mean("share", "paths only: goodput of the path / goodput of all paths"),
    mean(
        "jain",
        "identical flows only: Jain's index of their goodput, (Σx)² / (n·Σx²); 1 if all are equal, \
         including all zero",
    ),
    sum("sent_packets", "packets with data sent"),
    sum("control_packets", "packets without data that the sender sent"),
    sum(
        "delivered_packets",
        "packets with data that arrived with new data; of a link: all packets that it delivered",
    ),
    sum("duplicate_packets", "packets with data that arrived without new data"),
    sum("delivered_bytes", "flows only: bytes delivered to the receiving application"),
    sum("damaged_packets", "packets with data that arrived damaged: their checksums refuse them"),
    sum(
        "refused_packets",
        "packets with data that arrived whole and were not taken: the receive buffer had no room, or the \
         association had ended",
    ),
    sum(
        "lost_packets",
        "packets with data lost in the network: the sum of the next three, over radios of the next four. A \
         radio may drop a packet that has arrived, if the ACK of the next station was lost",
    ),
    sum(
        "lost_queue_packets",
        "dropped at a full queue, of a link or of a station's interface, by the management of a queue \
         (`codel`, `fq-codel`), or by a policer",
    ),
    sum("lost_random_packets", "lost to a loss model"),
    sum("lost_down_packets", "the link was down, or went down while they were queued or in transit"),
    sum(
        "lost_routing_packets",
        "flows over radios only: dropped by a router: no route, a hop count over the limit, or a neighbour \
         that did not answer",
    ),
    mean("hops_mean", "flows over radios only: hops on radios of packets that left one, mean"),
    mean("loss_ratio", "`lost_packets` / `sent_packets`"),
    sum("retransmitted_packets", "packets sent with data that were sent before"),
    sum(
        "retransmitted_fast_packets",
        "the transport's count: chunks (SCTP) or segments (TCP) declared lost because later ones were \
         acknowledged",
    ),
    sum("retransmitted_timeout_packets", "chunks or segments declared lost by a timeout"),
    sum("spurious_packets", "the transport's count of retransmissions of data that had arrived"),
    sum("timeouts", "expiries of the retransmission timer (T3-rtx, RTO)"),
    sum(
        "tail_probes",
        "packets sent again because the acknowledgement of the last ones was late (RFC 8985 §7.2), where the \
         scheme sends them",
    ),
    sum(
        "sources_sent",
        "flows that code only (`fec=…`, coded blocks), as the next eleven: source symbols sent; \
         retransmissions are not counted",
    ),
    sum("source_bytes", "bytes of source symbols sent, symbol headers included"),
    sum("repairs_sent", "repair symbols sent"),
    sum("repair_bytes", "bytes of repair symbols sent, symbol headers included"),
    sum("sources_received", "source symbols that arrived"),
    sum("sources_late", "source symbols that arrived after they had been recovered, or again"),
    sum("repairs_received", "repair symbols that arrived"),
    sum("repairs_unused", "repair symbols that contained nothing new, or nothing of use"),
    sum(
        "recovered",
        "messages (of blocks: source symbols) computed from repair symbols before they arrived themselves, \
         in time or not. Those that were too late are also in `late_frames`",
    ),
    sum("symbols_refused", "symbols dropped by the receiver: malformed, contradictory, or too far ahead"),
    mean(
        "redundancy",
        "`repair_bytes` / `source_bytes`, both within the counted time; absent without source symbols. The \
         cap `redundancy=` holds from the start of the association on, so that a part of a run may lie \
         above it",
    ),
    mean(
        "symbol_overhead",
        "coded blocks only: (`source_bytes` + `repair_bytes` - `delivered_bytes`) / `delivered_bytes`",
    ),
    sum(
        "opportunistic_resends",
        "SCTP with profile `live` or the key `head-of-line` of a scheduler, MPTCP with `opportunistic`: \
         data also sent on this path because they blocked a buffer on a slower one",
    ),
    sum(
        "head_of_line_penalties",
        "as `opportunistic_resends`, and where a scheduler asked for any: reductions of this path's window \
         because its data blocked a buffer",
    ),
    sum(
        "potentially_failed",
        "SCTP with `failed_after` only (profile `live`): times a path became potentially failed (RFC 7829)",
    ),
    sum("failed", "as `potentially_failed`: times the path became inactive"),
    sum(
        "needless_pf",
        "as `potentially_failed`, although the receiver got a packet by this path during the preceding RTO",
    ),
    sum(
        "needless_failed",
        "as `failed`, although the receiver got a packet by this path during the preceding RTO",
    ),
    mean("rwnd_blocked_s", "time in which only the peer's receive window blocked sending"),
    mean("rwnd_blocked_ratio", "`rwnd_blocked_s` as a share of the counted time"),
    mean(
        "send_buffer_blocked_s",
        "SCTP only (simulated TCP has no send buffer): time in which only the full send buffer blocked \
         sending: a message was refused, all accepted data have been sent at least once, and the congestion \
         window of a usable path has room",
    ),
    mean("send_buffer_blocked_ratio", "`send_buffer_blocked_s` as a share of the counted time"),
    max(
        "send_buffer_most_bytes",
        "SCTP whose buffers may grow only: peak of the send buffer since the start",
    ),
    max("receive_buffer_most_bytes", "as above, for the receive buffer"),
    mean("cwnd_limited_s", "TCP only: time in which only the congestion windows blocked sending"),
    mean("app_limited_s", "TCP only: time in which there was nothing to send"),
    sum(
        "loss_events",
        "TCP only: loss indications as Padhye counts them, fast recoveries and sequences of timeouts",
    ),
    sum(
        "unsent_expired_messages",
        "SCTP flows whose messages have a lifetime (`app.expire`) only, as the next twelve: messages whose \
         lifetime ended while they waited, before any part of them was sent",
    ),
    sum(
        "unsent_too_late_messages",
        "messages that the scheduler abandoned because they would have been late by every path",
    ),
    sum(
        "unsent_too_far_messages",
        "messages that the scheduler gave up because the delays of the paths alone, queues apart, exceeded \
         their time",
    ),
    sum(
        "unsent_makes_way_messages",
        "messages that the scheduler gave up because they kept later messages from a path that would bring \
         these in time",
    ),
    sum("unsent_group_messages", "messages that the scheme gave up with their whole frame"),
    sum("unsent_ended_messages", "messages that waited when the association ended"),
    sum(
        "abandoned_expired_messages",
        "messages that were abandoned after a part of them was sent (RFC 3758), because their lifetime \
         ended before all of it was acknowledged",
    ),
    sum(
        "abandoned_too_late_messages",
        "partly sent messages that the scheduler gave up as in `unsent_too_late_messages`",
    ),
    sum("abandoned_too_far_messages", "abandoned messages, with the cause of `unsent_too_far_messages`"),
    sum("abandoned_makes_way_messages", "abandoned messages, with the cause of `unsent_makes_way_messages`"),
    sum("abandoned_group_messages", "partly sent messages that the scheme gave up with their whole frame"),
    sum("abandoned_loss_policy_messages", "partly sent messages that the loss policy gave up after a loss"),
    sum(
        "abandoned_ended_messages",
        "partly sent messages that were not wholly acknowledged when the association ended",
    ),
    mean(
        "delay_mean_ms",
        "network delay: from sending to arrival of each copy that arrives (not from its first transmission)",
    ),
    mean("delay_p50_ms", "median of the network delay"),
    mean("delay_p95_ms", "95th percentile of the network delay"),
    mean("delay_p99_ms", "99th percentile of the network delay"),
    max("delay_max_ms", "maximum of the network delay"),
    mean(
        "message_delay_mean_ms",
        "flows only: submission of a message to its delivery in order, that is, when it and all earlier \
         messages that are not abandoned are delivered; with `app.expire` of sctp delivery is unordered, and \
         it is the delay of each message alone",
    ),
    mean("message_delay_p50_ms", "median of the delay from submission to delivery"),
    mean("message_delay_p95_ms", "95th percentile of the delay from submission to delivery"),
    mean("message_delay_p99_ms", "99th percentile of the delay from submission to delivery"),
    max("message_delay_max_ms", "maximum of the delay from submission to delivery"),
    mean(
        "delivery_delay_mean_ms",
        "flows of sctp without coded blocks only: first sending of a message's first bytes to its delivery, \
         in order or, with `app.expire`, unordered, as above; of a bulk flow `message_delay` also has the wait \
         in the send buffer",
    ),
    mean("delivery_delay_p50_ms", "median of the delay from first sending to delivery"),
    mean("delivery_delay_p95_ms", "95th percentile of the delay from first sending to delivery"),
    mean("delivery_delay_p99_ms", "99th percentile of the delay from first sending to delivery"),
    max("delivery_delay_max_ms", "maximum of the delay from first sending to delivery"),
    mean(
        "jitter_mean_ms",
        "flows only: mean of |D_k - D_k-1|, D: network delay of packets with data as they arrive, over all \
         paths",
    ),
    mean(
        "jitter_rfc3550_ms",
        "J += (|D_k - D_k-1| - J) / 16 over the same packets (RFC 3550 section 6.4.1), final value",
    ),
    max(
        "reorder_max_tsn",
        "flows only: largest |tsn_k - tsn_k-1| between packets with data as they arrive, retransmissions \
         and all paths; the first TSN of each packet",
    ),
    mean("reorder_mean_tsn", "mean of that difference; perfect order is 1 if a packet carries one chunk"),
    sum("reorder_count", "number of arrivals at which that difference is not 1"),
    sum(
        "path_changes",
        "flows only: how often a packet with new data was sent over another path than the previous one with \
         new data",
    ),
    max(
        "longest_gap_ms",
        "flows only: longest time without a delivery, from the first sending on; until the end only if \
         something sent was not delivered",
    ),
    // Video.
    mean("missed_ratio", "units that arrived late or never / units whose deadline is over"),
    mean(
        "decodable_ratio",
        "pictures that can be decoded / pictures, both of counted units. With frames: `frames_decodable` / \
         `frames_sent`. A video without frames counts as 25 pictures per second, in groups of 25. Such a picture \
         needs all its messages in time, and all earlier pictures of its group",
    ),
    mean(
        "freezes_per_min",
        "times per minute of captures at which a picture stays for more than 200 ms because the pictures \
         after it cannot be decoded",
    ),
    sum(
        "underflows",
        "times at which a live player had nothing left to play. It plays each unit `prebuffer` after its \
         capture (`deadline`, if that is longer). If neither this unit nor a later one is there in time, \
         the player pauses for `prebuffer` and continues with the unit that is then due",
    ),
    sum(
        "stalls",
        "not with `expire`: times at which a player that waits ran out of media before the end of the \
         video. It begins with `prebuffer` of media in order, plays in real time, and then waits for \
         `prebuffer` again",
    ),
    sum("due_messages", "videos without frames only, as the next two: messages whose deadline is over"),
    sum("late_messages", "`due_messages` that arrived after their deadline"),
    sum("missed_messages", "`due_messages` that arrived after their deadline or never"),
    sum("late_frames", "videos with frames: `frames_sent` that were complete, but after their deadline"),
    sum("missed_frames", "`frames_sent` that were complete after their deadline or never"),
    mean(
        "psnr_eq17_db",
        "CRT: bytes in order at most `app.psnr_deadline` (`deadline`; 2 s in profile `ns2`) after their \
         capture / length of the video (ASSUMED: the paper does not state when CRT is measured). It counts \
         captures whose `psnr_deadline` is over at the end",
    ),
    mean("psnr_eq17_end_db", "CRT: bytes in order when sending ends / length of the video"),
    mean("psnr_eq17_bins_db", "CRT: bytes in order within each 10 s; mean of the dB over these"),
    mean(
        "psnr_model_db",
        "mean over frames, with a frame trace only: decodable I 36, P 34, B 33 dB; else a picture frozen \
         for d frames, max(15, q - 6 - 1.5 (d - 1)), q: dB of the last decodable one. Only differences mean \
         something",
    ),
    sum(
        "frames_sent",
        "pictures whose deadline (`deadline` after capture) is over; headers (type H) do not count",
    ),
    sum(
        "frames_received",
        "`frames_sent` of which all messages were delivered by the deadline, regardless of their references",
    ),
    sum(
        "frames_decodable",
        "`frames_received` that have their references: I the header before it, by the I frame's deadline; P \
         the last I or P, decodable; B the I or P before and after it as they are shown, decodable, if \
         there are such. Pictures are shown in the order of capture. If that is the order of sending and B \
         frames follow two others, a reference is shown after the B frames that follow it",
    ),
    sum("frames_sent_i", "`frames_sent` of type I"),
    sum("frames_sent_p", "pictures of type P"),
    sum("frames_sent_b", "pictures of type B"),
    sum("frames_received_i", "`frames_received` of type I"),
    sum("frames_received_p", "pictures of type P"),
    sum("frames_received_b", "pictures of type B"),
    sum("frames_decodable_i", "`frames_decodable` of type I"),
    sum("frames_decodable_p", "pictures of type P"),
    sum("frames_decodable_b", "pictures of type B"),
    // Links.
    mean(
        "utilisation",
        "bits that left the transmitter (a packet counts when its last bit leaves, with all its \
         transmissions) / bits that its rate or trace allowed to leave; absent for an infinite rate",
    ),
    sum(
        "served_bps",
        "bits at IP level that left the transmitter, including those that a loss model took afterwards",
    ),
    sum("offered_packets", "packets that arrived at the link"),
    sum("repeated_packets", "links with `arq` only: retransmissions by the link itself"),
    mean("queue_mean_packets", "waiting packets, excluding the one being sent, mean over time"),
    max("queue_max_packets", "maximum of waiting packets since the start of the run"),
    sum(
        "served_share",
        "a flow's share of a link with several flows: bytes of the flow / all bytes that left the link's \
         transmitter, including cross traffic and acknowledgements. `served_bps` of the flow goes with it. \
         The text table shows it for links with a utilisation of 0.5 or more",
    ),
    // Radios.
    sum("frames", "frames on the air, each counting once, however many stations receive it"),
    sum("frames_rts", "frames on the air that were RTS"),
    sum("frames_cts", "frames on the air that were CTS"),
    sum("frames_data", "frames on the air that carried a packet to one station"),
    sum("frames_ack", "frames on the air that were ACK"),
    sum("frames_broadcast", "frames on the air that carried a packet to all stations"),
    sum("frame_retries", "RTS that no CTS answered, and data that no ACK answered"),
    sum(
        "frames_collided",
        "frames lost to another frame at their destination; broadcasts count at each station",
    ),
    sum("link_failures", "packets given up after the last retry"),
    mean("airtime", "share of time in which a station transmits, mean over stations"),
    mean(
        "idle_ratio",
        "share of time in which a station neither transmits nor receives nor senses a carrier nor has a NAV \
         nor is in an exchange, mean over stations",
    ),
    sum("routing_messages", "routing messages transmitted, counted on each hop"),
    sum("routing_bytes", "bytes of routing messages at IP level"),
    sum("routing_requests", "routing messages that were route requests"),
    sum("routing_replies", "routing messages that were route replies"),
    sum("routing_errors", "routing messages that were route errors"),
    sum("routing_hellos", "routing messages that were HELLO"),
    sum("routing_probes", "routing messages that were probes"),
    sum("route_discoveries", "searches for a route"),
    sum("route_failures", "searches given up"),
    sum("route_repairs", "local repairs begun"),
    sum("salvaged_packets", "packets sent on by another path after a link had failed"),
    sum(
        "paths_apart_packets",
        "packets sent by their source while originals and retransmissions had different paths",
    ),
    sum("paths_together_packets", "packets sent by their source while both had the same path"),
    sum("dropped_no_route_packets", "packets that routers dropped: there was no route"),
    sum(
        "dropped_send_buffer_packets",
        "packets that waited too long for a route, or exceeded the send buffer",
    ),
    sum("dropped_link_packets", "packets whose next hop did not answer"),
    sum("dropped_hops_packets", "packets that had taken too many hops"),
    sum("dropped_returned_packets", "packets that had returned to their source"),
    sum("dropped_split_packets", "packets that found a queue of the split full"),
    // Cross traffic.
    mean(
        "offered_load",
        "bytes at IP level that its sources made, TCP's dropped backlog included / rate of its first link",
    ),
    mean("carried_load", "bytes at IP level that arrived behind its last link / rate of its first link"),
    sum("tcp_goodput_bps", "bytes that its TCP connection received, each once, headers not counted"),
];
