//! The keys of lines of `--stats`: one table for the documentation, the JSON Schema and the metrics.

use Kind::{Count, Map, Number, Text};
use Side::{Both, Receiver, Sender};

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A whole number that is 0 or more.
    Count,
    Number,
    Text,
    /// An object whose keys are names and whose values are numbers.
    Map,
}

/// The side whose lines contain a key: sender, receiver or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Sender,
    Receiver,
}

#[cfg(test)]
impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Both => "both",
            Sender => "sender",
            Receiver => "receiver",
        }
    }
}

/// A key of a line. In its name `[]` stands for each element of an array.
#[cfg_attr(not(test), expect(dead_code, reason = "the documentation is made from the same table, by a test"))]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) unit: &'static str,
    pub(super) side: Side,
    /// An example of the value, as JSON.
    pub(super) example: &'static str,
    pub(super) meaning: &'static str,
    pub(super) optional: bool,
    /// The metric of `--metrics` that has this value, if any.
    pub(super) metric: Option<Metric>,
}

/// A metric of Prometheus. The metric is a counter if its name ends in `_total`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    /// Factor from the unit of the key to the unit of the metric.
    pub(super) factor: f64,
}

impl Metric {
    /// Returns whether the value of the metric can only increase.
    pub(super) fn is_counter(self) -> bool {
        self.name.ends_with("_total")
    }
}

impl Key {
    /// Marks a value that can be null or absent.
    const fn optional(mut self) -> Key {
        self.optional = true;
        self
    }

    const fn metric(self, name: &'static str) -> Key {
        self.scaled(name, 1.0)
    }

    const fn scaled(mut self, name: &'static str, factor: f64) -> Key {
        self.metric = Some(Metric { name, factor });
        self
    }
}

const fn key(
    name: &'static str,
    (kind, unit, side): (Kind, &'static str, Side),
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key { name, kind, unit, side, example, meaning, optional: false, metric: None }
}

/// Factor from bits to bytes, because Prometheus measures data in bytes.
const BYTES_IN_BITS: f64 = 0.125;

/// Keys that every line has.
pub(super) const EVERY: &[Key] = &[
    key("time", (Text, "", Both), "\"2026-11-28T21:04:17.250Z\"", "time of day, RFC 3339, UTC"),
    key("uptime_s", (Number, "s", Both), "754.02", "time since the start of the command")
        .metric("strandcast_uptime_seconds"),
    key("role", (Text, "", Both), "\"send\"", "`send` or `receive`"),
    key(
        "stream",
        (Text, "", Both),
        "\"5f3a91c2\"",
        "number of the stream, the same at both ends; null without one",
    )
    .optional(),
];

/// Key that lines of a server's streams have.
pub(super) const SERVED: &[Key] = &[key(
    "name",
    (Text, "", Receiver),
    "\"van1\"",
    "name of the stream; only lines of `serve` have it, and not those of the server itself",
)
.optional()];

/// Keys of lines with figures; lines of times without a stream have the first two.
pub(super) const FIGURES: &[Key] = &[
    key("interval_s", (Number, "s", Both), "1.0", "time since the line before: rates are over this time"),
    key(
        "state",
        (Text, "", Both),
        "\"streaming\"",
        "`streaming`; `no-input`: the encoder is silent; `outage`: nothing comes from the peer; `connecting`: the sender \
         has no connection; `waiting`: the receiver has no sender",
    ),
    key("seconds", (Number, "s", Both), "751.25", "time since the start of the sender, or of the stream at a receiver"),
    key("peer", (Text, "", Both), "\"@studio\"", "the other end"),
    key("scheme", (Text, "", Both), "\"strand\"", "`--scheme`"),
    key("media.messages", (Count, "messages", Both), "9456", "given to the transport, or played")
        .metric("strandcast_messages_total"),
    key("media.bytes", (Count, "B", Both), "12444096", "their bytes").metric("strandcast_media_bytes_total"),
    key("media.rate_bps", (Number, "bit/s", Both), "4012800", "rate of these bytes over the interval")
        .scaled("strandcast_media_rate_bytes_per_second", BYTES_IN_BITS),
    key(
        "media.late",
        (Count, "messages", Both),
        "12",
        "sender: expired before delivery; receiver: came too late to be played",
    )
    .metric("strandcast_messages_late_total"),
    key(
        "media.late_by",
        (Map, "messages", Both),
        "{\"congestion-window\": 12}",
        "late, dropped and lost messages by [what held them up](#why-messages-were-late)",
    )
    .optional()
    .metric("strandcast_messages_held_up"),
    key(
        "media.held_s",
        (Map, "s", Sender),
        "{\"congestion-window\": 3.2}",
        "time in which new data waited, by [reason](#why-messages-were-late)",
    )
    .optional()
    .metric("strandcast_data_waited_seconds_total"),
    key("media.before", (Count, "messages", Receiver), "0", "sent before the first one that came")
        .metric("strandcast_messages_before_total"),
    key("media.lost", (Count, "messages", Receiver), "3", "never came").metric("strandcast_messages_lost_total"),
    key("media.unread", (Count, "messages", Receiver), "0", "an output did not take them")
        .metric("strandcast_messages_unread_total"),
    key("media.messages_dropped", (Count, "messages", Sender), "0", "messages of frames that the scheme gave up as a whole")
        .metric("strandcast_messages_given_up_total"),
    key(
        "media.drops",
        (Map, "messages", Sender),
        "{\"capacity\": 12}",
        "dropped messages by [cause](../cli.md#what-happens-when)",
    )
    .optional()
    .metric("strandcast_messages_dropped_total"),
    key("media.shifts", (Count, "", Receiver), "0", "shifts of playout to later")
        .metric("strandcast_playout_shifts_total"),
    key("media.shift_ms", (Number, "ms", Receiver), "0.0", "the shift now")
        .scaled("strandcast_playout_shift_seconds", 1e-3),
    key("media.clock_jumps", (Count, "", Receiver), "0", "jumps of the sender's clock")
        .metric("strandcast_sender_clock_jumps_total"),
    key("media.buffer_ms", (Number, "ms", Receiver), "412.5", "media that wait to be played; null at a sender")
        .optional()
        .scaled("strandcast_playout_buffer_seconds", 1e-3),
    key("media.buffer_bytes", (Count, "B", Both), "464000", "bytes that wait to be sent or acknowledged, or played")
        .metric("strandcast_media_buffer_bytes"),
    key("buffers.limit_bytes", (Count, "B", Both), "16777216", "`--buffer`").optional(),
    key("buffers.send.used_bytes", (Count, "B", Both), "464000", "bytes in the transport's send buffer"),
    key("buffers.send.most_used_bytes", (Count, "B", Both), "512000", "the most so far"),
    key("buffers.send.size_bytes", (Count, "B", Both), "524288", "its size now"),
    key("buffers.receive.used_bytes", (Count, "B", Both), "0", "bytes in the transport's receive buffer"),
    key("buffers.receive.most_used_bytes", (Count, "B", Both), "10800", "the most so far"),
    key("buffers.receive.size_bytes", (Count, "B", Both), "524288", "its size now"),
    key("buffers.send_blocked_s", (Number, "s", Sender), "0.0", "time in which only the full send buffer held data up")
        .metric("strandcast_send_buffer_blocked_seconds_total"),
    key("buffers.peer_blocked_s", (Number, "s", Sender), "0.0", "time in which only the peer's full buffer did")
        .metric("strandcast_peer_buffer_blocked_seconds_total"),
    key("wire.sent_bytes", (Count, "B", Both), "13190742", "datagrams sent, with headers of IP and UDP and the seal")
        .metric("strandcast_wire_sent_bytes_total"),
    key("wire.received_bytes", (Count, "B", Both), "523776", "datagrams received")
        .metric("strandcast_wire_received_bytes_total"),
    key("wire.sent_bps", (Number, "bit/s", Both), "4253520", "rate of the sent bytes over the interval"),
    key("wire.received_bps", (Number, "bit/s", Both), "168900", "rate of the received bytes over the interval"),
    key("wire.media_bytes", (Count, "B", Both), "12444096", "media sent, each byte once, and received"),
    key("wire.overhead", (Number, "", Both), "1.102", "bytes sent and received by bytes of media").optional(),
    key("wire.redundant_bytes", (Count, "B", Sender), "173000", "copies, needless retransmissions, repair symbols")
        .metric("strandcast_wire_redundant_bytes_total"),
    key("wire.redundancy", (Number, "", Sender), "0.014", "those by bytes of media sent").optional(),
    key("wire.redundancy_refused", (Count, "", Sender), "0", "copies and repair symbols beyond the scheme's cap"),
    key("advice.rate_bps", (Count, "bit/s", Sender), "5400000", "[advice](../advice.md) to the encoder")
        .optional()
        .scaled("strandcast_advice_bytes_per_second", BYTES_IN_BITS),
    key("advice.safe_bps", (Count, "bit/s", Sender), "2100000", "the same without the path that carries most").optional(),
    key("paths[].id", (Count, "", Both), "0", "number of the link, also when it is renamed or returns"),
    key("paths[].name", (Text, "", Both), "\"wwan0\"", "interface or address; at a receiver the sender's name"),
    key("paths[].state", (Text, "", Both), "\"active\"", "[state](troubleshooting.md#states-of-a-path)"),
    key("paths[].rate_bps", (Number, "bit/s", Both), "1710000", "payload with copies and retransmissions, over the interval")
        .scaled("strandcast_path_rate_bytes_per_second", BYTES_IN_BITS),
    key(
        "paths[].capacity_bps",
        (Number, "bit/s", Sender),
        "2100000",
        "the most that the link is known to carry; null: the scheme does not measure it",
    )
    .optional()
    .scaled("strandcast_path_capacity_bytes_per_second", BYTES_IN_BITS),
    key(
        "paths[].capacity_age_s",
        (Number, "s", Sender),
        "0.2",
        "time since the link, not the encoder, limited the rate; null: never, and it carries that much or more",
    )
    .optional(),
    key("paths[].headroom_bps", (Number, "bit/s", Sender), "390000", "rate that it could carry in addition")
        .optional()
        .scaled("strandcast_path_headroom_bytes_per_second", BYTES_IN_BITS),
    key("paths[].rtt_ms", (Number, "ms", Both), "156.2", "smoothed round-trip time; null: not measured")
        .optional()
        .scaled("strandcast_path_rtt_seconds", 1e-3),
    key("paths[].loss", (Number, "", Sender), "0.0012", "share of the chunks of the last 10 s that were lost; null: none sent")
        .optional()
        .metric("strandcast_path_loss_ratio"),
    key("paths[].loss_total", (Number, "", Sender), "0.0009", "share of all chunks that were lost").optional(),
    key("paths[].chunks", (Count, "", Sender), "4021", "chunks sent, with copies and retransmissions")
        .metric("strandcast_path_chunks_total"),
    key("paths[].chunks_lost", (Count, "", Sender), "4", "those that were lost").metric("strandcast_path_chunks_lost"),
    key("paths[].window_bytes", (Count, "B", Sender), "52900", "congestion window").optional(),
    key("paths[].in_flight_bytes", (Count, "B", Sender), "21700", "sent and not yet acknowledged"),
    key("paths[].bytes", (Count, "B", Both), "5298432", "payload since the start, over all connections")
        .metric("strandcast_path_bytes_total"),
    key("paths[].down_s", (Number, "s", Both), "0.0", "time for which it was not usable, since the start")
        .metric("strandcast_path_down_seconds_total"),
    key("paths[].opportunistic_resends", (Count, "", Sender), "0", "chunks also sent here: they blocked a slower path")
        .optional(),
    key("paths[].head_of_line_penalties", (Count, "", Sender), "0", "reductions of its window for that reason").optional(),
    key("paths[].estimates", (Map, "", Both), "{\"queue\": 0.004}", "the scheme's estimates, by name").optional(),
    key("paths[].allowance_bytes", (Count, "B", Sender), "4711000000", "rest of the allowance (`--tariff … left=`)")
        .optional()
        .metric("strandcast_path_allowance_bytes"),
    key("paths[].link.tx_frames", (Count, "", Both), "4100", "wireless: transmissions").optional(),
    key("paths[].link.tx_retries", (Count, "", Both), "37", "wireless: retransmissions of them").optional(),
    key("paths[].link.tx_failed", (Count, "", Both), "0", "wireless: abandoned frames").optional(),
    key("paths[].link.rx_frames", (Count, "", Both), "820", "wireless: frames received").optional(),
    key("paths[].link.rx_errors", (Count, "", Both), "0", "wireless: damaged frames").optional(),
    key("paths[].link.signal_dbm", (Number, "dBm", Both), "-61", "wireless: signal strength")
        .optional()
        .metric("strandcast_path_signal_dbm"),
    key("paths[].link.rate_bps", (Number, "bit/s", Both), "86700000", "wireless: transmit rate").optional(),
    key("diagnostics[]", (Text, "", Both), "\"the peer gives no rates\"", "input that the scheme lacks"),
    key("counters", (Map, "", Both), "{\"trains\": 7}", "the scheme's own counters, by name").optional(),
    key("given_up.unsent", (Map, "messages", Sender), "{\"expired\": 4}", "dropped before any part was sent, by [cause](../cli.md#messages-that-are-given-up)")
        .optional(),
    key("given_up.abandoned", (Map, "messages", Sender), "{\"expired\": 8}", "dropped after a part was sent").optional(),
    key("coding.sends", (Text, "", Both), "\"repair\"", "`blocks`, `repair` or null: how this side codes").optional(),
    key("coding.receives", (Text, "", Both), "null", "how the peer codes").optional(),
    key("coding.allowed", (Number, "", Both), "0.05", "cap on redundancy").optional(),
    key("coding.redundancy", (Number, "", Both), "0.049", "`repair_bytes` by `source_bytes`").optional(),
    key("coding.sources_sent", (Count, "", Both), "9456", "source symbols sent").optional(),
    key("coding.source_bytes", (Count, "B", Both), "12500000", "their bytes").optional(),
    key("coding.repairs_sent", (Count, "", Both), "463", "repair symbols sent").optional(),
    key("coding.repair_bytes", (Count, "B", Both), "612000", "their bytes").optional(),
    key("coding.sources_received", (Count, "", Both), "0", "source symbols that arrived").optional(),
    key("coding.sources_late", (Count, "", Both), "0", "those that had been recovered before, or came again").optional(),
    key("coding.repairs_received", (Count, "", Both), "0", "repair symbols that arrived").optional(),
    key("coding.repairs_unused", (Count, "", Both), "0", "those that brought nothing new").optional(),
    key("coding.recovered", (Count, "", Both), "0", "messages computed from repair symbols")
        .optional()
        .metric("strandcast_messages_recovered_total"),
    key("coding.symbols_refused", (Count, "", Both), "0", "symbols that were dropped").optional(),
    key("coding.damaged", (Count, "", Both), "0", "messages computed from forged symbols").optional(),
    key("link_monitor.readings", (Count, "", Both), "12", "queries of wireless links with an answer").optional(),
    key("link_monitor.alone", (Count, "", Both), "0", "those of an interface without a peer").optional(),
    key("link_monitor.refused", (Count, "", Both), "0", "those that were refused").optional(),
    key("link_monitor.why", (Text, "", Both), "null", "reason of the last refusal").optional(),
];

/// Keys that lines of events have, in addition to the keys of the event itself.
pub(super) const EVENTS: &[Key] = &[
    key("event", (Text, "", Both), "\"outage-over\"", "name of the event"),
    key("text", (Text, "", Both), "\"van1 is back after 8.0 s\"", "the line on standard error"),
    key(
        "left_out",
        (Count, "", Both),
        "12",
        "events before this one that were left out: too many came at once",
    )
    .optional(),
];

/// Events that only the command has, in the form of [`NAMES`].
pub(super) const NAMES_SERVED: &[(&str, &str, &str)] = &[
    ("api", "`places`", "the API can be used: `serve`, `--api`, `--page`"),
    ("link-off", "`path`", "`send`: a request has switched a link off"),
    ("link-on", "`path`", "`send`: a request has switched it on again"),
    ("tariff", "`path`", "`send`: a request has changed the costs of a link"),
    ("not-allowed", "`peer`, `asks`, `may`", "`serve`: a sender may not send the stream that it asks for"),
    ("not-started", "`peer`", "`serve`: a sender was refused: its stream is stopped"),
    ("stopped", "`output`", "`serve`: a request has stopped the stream, or an output of it"),
    ("started", "`output`", "`serve`: a request has started it again"),
    ("stream-failed", "`why`", "`serve`: a stream ended by itself, and begins again"),
    (
        "reloaded",
        "`added`, `changed`, `opened`, `removed`",
        "`serve`: the configuration was read again; names of streams",
    ),
    ("not-reloaded", "`why`", "`serve`: another configuration is wrong, and nothing has changed"),
];

/// For each event: its name, its own keys, and its meaning.
pub(super) const NAMES: &[(&str, &str, &str)] = &[
    ("missed", "`events`", "events were dropped, since they were not read"),
    ("diagnostic", "`scheme`, `what`", "the scheme lacks an input"),
    ("unprotected", "", "nothing is encrypted"),
    ("encrypted", "`cipher`", "the first connection is established"),
    ("sending", "`input`, `to`, `over`", "the start of a sender"),
    ("path-missing", "`path`, `why`", "a `--path` cannot be used yet"),
    ("capped", "`link`, `left`", "an allowance counts from here, in bytes"),
    (
        "allowance",
        "`link`, `left`, `of`, `until`",
        "rest of a monthly allowance, in bytes, and first day of the next month",
    ),
    ("ledger", "`why`", "the ledger of monthly allowances cannot be written"),
    ("waiting", "`why`", "there is no connection yet"),
    ("lost", "`why`", "the connection is lost"),
    ("connected", "`peer`, `after`", "there is another one, with the time in seconds"),
    ("refused", "`why`", "the receiver refuses"),
    ("admitted", "`peer`", "it no longer refuses"),
    (
        "path",
        "`path`, `state`, `why`, `before`, `after`, `mtu`",
        "a link changes: `joined`, `gone`, `returned` (with the time in seconds), `left-out`, `mute`, `silent`, `failed`, \
         `over` (usable again), `narrow` (larger packets vanish; bytes), `renamed`",
    ),
    (
        "dropped",
        "`cause`, `messages`, `share`, `seconds`, `input_bps`, `carried_bps`",
        "messages are dropped; again every 10 s",
    ),
    ("drops-over", "`messages`, `after`", "no longer"),
    ("idle", "`what`", "no input for 2 s"),
    ("idle-over", "`what`, `after`", "there is input again"),
    (
        "outage",
        "`seconds`, `peer`, `lost`",
        "nothing came from the peer for 2 s, or (`lost`) the connection is lost",
    ),
    (
        "outage-over",
        "`seconds`, `peer`, `outage_s`, `lost`, `returned`",
        "the end of each outage; not `returned`: the stream ended before anything came",
    ),
    ("shift", "`seconds`, `peer`, `by_ms`, `shift_ms`, `why`", "playout is later"),
    ("shift-returned", "`seconds`, `peer`", "it is not any longer"),
    ("clock-jump", "`seconds`, `peer`, `by_ms`", "the sender's clock was set"),
    ("sent", "`summary`", "the stream is over: what `send --json` prints"),
    (
        "listening",
        "`addresses`, `output`",
        "the start of a receiver; `streams` in place of `output`: of a server",
    ),
    ("socket", "`state`, `address`, `why`", "a listening address fails or returns"),
    ("receiving", "`peer`, `latency`", "a stream begins; seconds"),
    ("resumed", "`before`, `peer`, `after`", "the stream continues over another connection"),
    ("replaced", "`before`, `peer`, `same_key`, `silent`", "another sender takes its place"),
    ("busy", "`peer`, `current`", "another sender was refused"),
    ("other-version", "`peer`, `version`, `reads`", "a sender's messages have another version"),
    ("enrolled", "`sender`", "a sender has paired"),
    ("not-admitted", "`sender`, `address`, `known`", "a sender may not send"),
    ("other-seal-version", "`address`, `version`", "a sender's encryption has another version"),
    ("store-trouble", "`what`", "the file of pairings cannot be read or written"),
    ("recording", "`output`", "the file of the stream"),
    ("not-recorded", "`output`", "all names of its file are taken"),
    ("unread", "`output`", "an output is not read"),
    ("read-again", "`output`, `messages`", "it is; `messages` were dropped"),
    ("slate", "`slate`", "no sender plays: outputs with a slate get it"),
    ("slate-over", "`after`", "outputs get the sender again; the slate played for `after` seconds"),
    (
        "output-trouble",
        "`output`, `why`",
        "messages of an output are lost; once for each reason, and again after it was over",
    ),
    ("output-failed", "`output`, `why`", "an output has failed, and others continue"),
    ("received", "`summary`", "the stream is over: what `receive --json` prints"),
    ("sender-lost", "`why`", "the stream was cut"),
    ("pace", "`input`, `how`", "how the input is paced, if not by its own clock"),
    ("short-latency", "`latency`, `rtt`", "the latency is shorter than the quickest round trip; seconds"),
    ("input-trouble", "`input`, `why`", "an encoder was refused, or a call of the input has failed"),
    ("no-media", "`input`, `like`", "the input has no transport stream yet"),
    (
        "advice",
        "`seconds`, `rate_bps`, `safe_bps`",
        "only in embedding programs; the command writes `--advice`",
    ),
];
