//! Names, units and meanings of all metrics.

/// Method of combining a metric over several equal flows.
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
    /// Meaning in words: what was counted or measured.
    pub meaning: &'static str,
}

/// Definition of a metric. `None` for a counter that a transport named itself.
pub fn definition(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.iter().find(|definition| definition.name == name)
}

/// Last parts of metric names that show a unit. Each has the unit.
const UNITS: &[(&str, &str)] = &[
    ("bps", "bit/s"),
    ("ms", "ms"),
    ("s", "s"),
    ("bytes", "bytes"),
    ("packets", "packets"),
    ("db", "dB"),
    ("tsn", "TSN"),
];

/// Returns the unit of a metric, which follows from the end of its name. The unit of a count or a share is empty.
pub fn unit(name: &str) -> &'static str {
    let end = name.rsplit_once('_').map_or("", |(_, end)| end);
    UNITS.iter().find(|(known, _)| *known == end).map_or("", |(_, unit)| unit)
}

/// Metrics that are 0 in many runs. The few other runs therefore determine their mean.
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
    mean("share", "only paths: goodput of the path / goodput of all paths"),
    mean(
        "jain",
        "only identical flows: Jain's index of their goodput, (Σx)² / (n·Σx²); 1 if all are equal, also if \
         all are zero",
    ),
    sum("sent_packets", "packets with data sent"),
    sum("control_packets", "packets without data that the sender sent"),
    sum(
        "delivered_packets",
        "packets with data that brought new data; on a link: all packets that it delivered",
    ),
    sum("duplicate_packets", "packets with data that brought no new data"),
    sum("delivered_bytes", "flows only: bytes delivered to the receiving application"),
    sum(
        "damaged_packets",
        "packets with data that arrived damaged and were dropped because of their checksums",
    ),
    sum(
        "refused_packets",
        "packets with data that arrived undamaged and were dropped, because the receive buffer had no room, \
         or the association had ended",
    ),
    sum(
        "lost_packets",
        "packets with data lost in the network: the sum of `lost_queue_packets`, `lost_random_packets` and \
         `lost_down_packets`, and over radios also of `lost_routing_packets`. A radio may drop a packet \
         that has arrived, if the ACK of the next station was lost",
    ),
    sum(
        "lost_queue_packets",
        "packets that were dropped by a full queue of a link or of a station, by CoDel or FQ-CoDel, or by a \
         policer",
    ),
    sum("lost_random_packets", "packets that a loss model took"),
    sum(
        "lost_down_packets",
        "packets that were lost because a link was down, or went down while they were queued or in transit",
    ),
    sum(
        "lost_routing_packets",
        "only flows over radios: packets that a router dropped: it had no route, the limit of hops was \
         reached, or a neighbour did not answer",
    ),
    mean("hops_mean", "only flows over radios: mean number of radio hops of a packet"),
    mean("loss_ratio", "`lost_packets` / `sent_packets`"),
    sum("retransmitted_packets", "packets with data that had been sent before"),
    sum(
        "retransmitted_fast_packets",
        "the transport's count: chunks (SCTP) or segments (TCP) declared lost because later ones were \
         acknowledged",
    ),
    sum("retransmitted_timeout_packets", "chunks or segments declared lost by a timeout"),
    sum(
        "spurious_packets",
        "retransmissions that the sender itself found needless, because the data had arrived; copies by tail \
         probes do not count",
    ),
    sum("timeouts", "expiries of the retransmission timer (T3-rtx, RTO)"),
    sum(
        "tail_probes",
        "tail probes: times at which data were sent again because the acknowledgement of the last packets was late \
         (RFC 8985 §7.2), where the scheme does so. With another path, a probe sends two packets",
    ),
    sum(
        "sources_sent",
        "only flows that code (`fec=…`, coded blocks), as all metrics down to `symbol_overhead`: source \
         symbols sent, without retransmissions",
    ),
    sum("source_bytes", "bytes of source symbols sent, symbol headers included"),
    sum("repairs_sent", "repair symbols sent"),
    sum("repair_bytes", "bytes of repair symbols sent, symbol headers included"),
    sum("sources_received", "source symbols that arrived"),
    sum("sources_late", "source symbols that arrived again, or after they had been recovered"),
    sum("repairs_received", "repair symbols that arrived"),
    sum("repairs_unused", "repair symbols that brought no new or no useful information"),
    sum(
        "recovered",
        "messages (with blocks: source symbols) that were computed from repair symbols before they arrived, \
         in time or not. Frames that were too late are also in `late_frames`",
    ),
    sum("symbols_refused", "symbols dropped by the receiver: malformed, contradictory, or too far ahead"),
    mean(
        "redundancy",
        "`repair_bytes` / `source_bytes`, both within the counted time; absent without source symbols. The \
         cap `redundancy=` holds over the whole association, so that a part of a run may exceed it",
    ),
    mean(
        "symbol_overhead",
        "only coded blocks: (`source_bytes` + `repair_bytes` - `delivered_bytes`) / `delivered_bytes`",
    ),
    sum(
        "opportunistic_resends",
        "chunks or segments that were also sent on this path because they blocked a buffer on a slower \
         path. Only SCTP with profile `live` or the key `head-of-line` of a scheduler, and MPTCP with \
         `opportunistic`",
    ),
    sum(
        "head_of_line_penalties",
        "reductions of the window of this path because its data blocked a buffer. Only where \
         `opportunistic_resends` exists, or where a scheduler asked for a reduction",
    ),
    sum(
        "potentially_failed",
        "only SCTP with `failed_after` (profile `live`): number of times that a path became potentially \
         failed (RFC 7829)",
    ),
    sum("failed", "only SCTP with `failed_after`: number of times that a path became inactive"),
    sum(
        "needless_pf",
        "number of `potentially_failed` although the receiver got a packet by this path during the \
         preceding RTO",
    ),
    sum(
        "needless_failed",
        "number of `failed` although the receiver got a packet by this path during the preceding RTO",
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
        "only SCTP with buffers that may grow: largest size of the send buffer since the start",
    ),
    max(
        "receive_buffer_most_bytes",
        "only SCTP with buffers that may grow: largest size of the receive buffer since the start",
    ),
    mean("cwnd_limited_s", "only TCP: time in which only the congestion windows blocked sending"),
    mean("app_limited_s", "only TCP: time in which there was nothing to send"),
    sum(
        "loss_events",
        "only TCP: fast recoveries and sequences of timeouts, the loss indications of Padhye et al.",
    ),
    sum(
        "unsent_expired_messages",
        "only SCTP flows whose messages have a lifetime (`app.expire`), as all metrics down to \
         `abandoned_ended_messages`: messages whose lifetime ended before any part of them was sent",
    ),
    sum(
        "unsent_too_late_messages",
        "messages that the scheduler abandoned because they would have been late by every path",
    ),
    sum(
        "unsent_too_far_messages",
        "messages that the scheduler gave up because the delays of the paths alone, without queues, \
         exceeded their remaining time",
    ),
    sum(
        "unsent_makes_way_messages",
        "messages that the scheduler gave up because they blocked a path that would deliver later messages \
         in time",
    ),
    sum("unsent_group_messages", "messages that the scheme gave up with their whole frame"),
    sum("unsent_ended_messages", "messages that were not sent, not even in part, when the association ended"),
    sum(
        "abandoned_expired_messages",
        "messages that were abandoned after a part of them was sent (RFC 3758), because their lifetime \
         ended before all of it was acknowledged",
    ),
    sum(
        "abandoned_too_late_messages",
        "partly sent messages that the scheduler gave up as in `unsent_too_late_messages`",
    ),
    sum(
        "abandoned_too_far_messages",
        "partly sent messages that the scheduler gave up as in `unsent_too_far_messages`",
    ),
    sum(
        "abandoned_makes_way_messages",
        "partly sent messages that the scheduler gave up as in `unsent_makes_way_messages`",
    ),
    sum("abandoned_group_messages", "partly sent messages that the scheme gave up with their whole frame"),
    sum("abandoned_loss_policy_messages", "partly sent messages that the loss policy gave up after a loss"),
    sum(
        "abandoned_ended_messages",
        "partly sent messages that were not wholly acknowledged when the association ended",
    ),
    mean("delay_mean_ms", "network delay: time from the departure to the arrival of each copy that arrives"),
    mean("delay_p50_ms", "median of the network delay"),
    mean("delay_p95_ms", "95th percentile of the network delay"),
    mean("delay_p99_ms", "99th percentile of the network delay"),
    max("delay_max_ms", "maximum of the network delay"),
    mean(
        "message_delay_mean_ms",
        "only flows: time from the submission of a message to its delivery in order, after all earlier \
         messages that are not abandoned. With `app.expire` of sctp, delivery is unordered, and the time \
         is that of each message alone",
    ),
    mean("message_delay_p50_ms", "median of the delay from submission to delivery"),
    mean("message_delay_p95_ms", "95th percentile of the delay from submission to delivery"),
    mean("message_delay_p99_ms", "99th percentile of the delay from submission to delivery"),
    max("message_delay_max_ms", "maximum of the delay from submission to delivery"),
    mean(
        "delivery_delay_mean_ms",
        "only flows of sctp without coded blocks: time from the first departure of the first bytes of a \
         message to its delivery, in order or, with `app.expire`, unordered. For a bulk flow \
         `message_delay` also contains the wait in the send buffer",
    ),
    mean("delivery_delay_p50_ms", "median of the delay from first sending to delivery"),
    mean("delivery_delay_p95_ms", "95th percentile of the delay from first sending to delivery"),
    mean("delivery_delay_p99_ms", "99th percentile of the delay from first sending to delivery"),
    max("delivery_delay_max_ms", "maximum of the delay from first sending to delivery"),
    mean(
        "jitter_mean_ms",
        "only flows: mean of |D_k - D_k-1|, where D is the network delay of packets with data in the order \
         of arrival, over all paths",
    ),
    mean(
        "jitter_rfc3550_ms",
        "final value of J += (|D_k - D_k-1| - J) / 16 over the same packets (RFC 3550 section 6.4.1)",
    ),
    max(
        "reorder_max_tsn",
        "only flows: largest |tsn_k - tsn_k-1| between consecutive packets with data in the order of \
         arrival, over all paths and with retransmissions; a packet counts with its first TSN",
    ),
    mean(
        "reorder_mean_tsn",
        "mean of the difference in `reorder_max_tsn`; it is 1 in perfect order if a packet carries one chunk",
    ),
    sum("reorder_count", "number of arrivals at which the difference in `reorder_max_tsn` is not 1"),
    sum(
        "path_changes",
        "only flows: number of packets with new data that were sent over another path than the packet with \
         new data before them",
    ),
    max(
        "longest_gap_ms",
        "only flows: longest time without a delivery after the first departure. The time until the end \
         counts if some data that were sent were not delivered",
    ),
    // Video.
    mean("missed_ratio", "units that arrived late or never / units whose deadline has passed"),
    mean(
        "decodable_ratio",
        "pictures that can be decoded / pictures, both of counted units. With frames: `frames_decodable` / \
         `frames_sent`. A video without frames counts as 25 pictures per second, in groups of 25. Such a \
         picture needs all its messages in time, and all earlier pictures of its group",
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
        "times at which a player that waits for late media ran out of media before the end of the video. \
         The player begins with `prebuffer` of media in order, plays in real time, and then waits for \
         `prebuffer` again. Not with `expire`",
    ),
    sum(
        "due_messages",
        "only videos without frames, as `late_messages` and `missed_messages`: messages whose deadline has \
         passed",
    ),
    sum("late_messages", "`due_messages` that arrived after their deadline"),
    sum("missed_messages", "`due_messages` that arrived after their deadline or never"),
    sum("late_frames", "only videos with frames: `frames_sent` that were complete, but after their deadline"),
    sum("missed_frames", "`frames_sent` that were complete after their deadline or never"),
    mean(
        "psnr_eq17_db",
        "PSNR of equation 17. CRT is the number of bytes that were in order at most `app.psnr_deadline` \
         after their capture (default: `deadline`; 2 s in profile `ns2`), divided by the length of the \
         video. Captures count if their `psnr_deadline` has passed at the end. ASSUMED: the paper does not \
         state when CRT is measured",
    ),
    mean(
        "psnr_eq17_end_db",
        "PSNR of equation 17, where CRT is the number of bytes in order when sending ends, divided by the \
         length of the video",
    ),
    mean(
        "psnr_eq17_bins_db",
        "PSNR of equation 17 in each 10 s, where CRT is the rate of bytes in order in that time; mean of \
         the dB",
    ),
    mean(
        "psnr_model_db",
        "only videos with a frame trace: mean over frames. A decodable frame has 36 dB (I), 34 dB (P) or 33 \
         dB (B). A picture that has been frozen for d frames has max(15, q - 6 - 1.5 (d - 1)), where q is \
         the dB of the last decodable frame. Only differences are meaningful",
    ),
    sum(
        "frames_sent",
        "pictures whose deadline (`deadline` after capture) has passed, without headers (type H)",
    ),
    sum(
        "frames_received",
        "`frames_sent` with all messages delivered by the deadline, whether or not their references arrived",
    ),
    sum(
        "frames_decodable",
        "`frames_received` with their references. An I frame needs the header before it, by the deadline of \
         the I frame. A P frame needs the last I or P frame, decodable. A B frame needs the I or P frames \
         that are shown before and after it, decodable, if there are such. Pictures are shown in the order \
         of capture. If frames are sent in the order of capture, a B frame needs the two I or P frames \
         before it",
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
    sum("repeated_packets", "only links with `arq`: retransmissions by the link itself"),
    mean(
        "queue_mean_packets",
        "mean over time of the number of waiting packets, without the packet being sent",
    ),
    max("queue_max_packets", "largest number of waiting packets since the start of the run"),
    sum(
        "served_share",
        "a flow's share of a link with several flows: bytes of the flow / all bytes that left the link's \
         transmitter, including cross traffic and acknowledgements. `served_bps` of the flow goes with it. \
         The text table shows it for links with a utilisation of 0.5 or more",
    ),
    // Radios.
    sum("frames", "frames on the air; each counts once, however many stations receive it"),
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
    sum("route_failures", "searches for a route that were given up"),
    sum("route_repairs", "local repairs begun"),
    sum("salvaged_packets", "packets sent on by another path after a link had failed"),
    sum(
        "paths_apart_packets",
        "packets sent by their source while originals and retransmissions had different paths",
    ),
    sum(
        "paths_together_packets",
        "packets sent by their source while originals and retransmissions had the same path",
    ),
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
