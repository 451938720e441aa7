//! Keys of flows and of background load.

use super::{Changes, Fallback, Key, Keys, Kinds, Least, Takes};
use crate::scenario::units::Quantity;
use Fallback::{Else, Is, Required};

const TIME: Takes = Takes::Amount(Quantity::Time, Least::Zero);
const SPAN: Takes = Takes::Amount(Quantity::Time, Least::Positive);
const RATE: Takes = Takes::Number(Quantity::Rate, Least::Positive, Changes::Freely);

/// Largest message, bytes.
const MESSAGE: i64 = 1 << 24;

/// A flow.
pub(in crate::scenario) const FLOW: Kinds = Kinds {
    name: "flow",
    tag: "transport",
    default: Some("sctp"),
    doc: "the protocol",
    each: &[("sctp", &SCTP), ("tcp", &TCP), ("mptcp", &MPTCP), ("udp", &UDP)],
};

const ENDS: &[Key] = &[
    Key::new("from", Takes::Text, Required, "the sending node"),
    Key::new("to", Takes::Text, Required, "the receiving node"),
    Key::new("app", Takes::Kind(&APP), Else("`bulk`; required for udp"), "what it sends"),
    Key::new(
        "start",
        Takes::Number(Quantity::Time, Least::Zero, Changes::EachRun),
        Is("0 s"),
        "when it begins; drawn for each of `count`",
    ),
    Key::new("stop", SPAN, Else("the run's end"), "when it ends"),
    Key::new(
        "count",
        Takes::Whole(1, 100_000),
        Is("1"),
        "how many such flows, each with its own random draws",
    ),
];

const ONE_PATH: Key = Key::new(
    "paths",
    Takes::Named(&PATH),
    Else("one, `default`: the route with the fewest links"),
    "its way through the network, by a name of your own",
);
const PATHS: Key = Key::new(
    "paths",
    Takes::Named(&JOINING_PATH),
    Else("one, `default`: the route with the fewest links"),
    "its ways through the network, by name",
);

const COMPARE: Key =
    Key::new("compare", Takes::Switch, Is("false"), "`--scheme a,b` replaces this flow's `scheme` or `cc`");

const SCTP: Keys = Keys {
    name: "flow_sctp",
    doc: "A flow of this project's transport: SCTP over one or more paths.",
    groups: &[
        ENDS,
        &[
            PATHS,
            Key::new("scheme", Takes::Text, Is("cmt"), "scheme, with parameters as in `cmt,rtx=same`"),
            COMPARE,
            Key::new("primary", Takes::Text, Else("the first path by name"), "the path it prefers"),
            Key::new(
                "profile",
                Takes::Word(&["rfc", "live", "ns2"]),
                Is("rfc"),
                "whose constants `sctp` begins with",
            ),
            Key::new("sctp", Takes::Table(&SCTP_CONSTANTS), Else("the profile's"), "single constants"),
        ],
    ],
};

const TCP_PROFILES: Takes = Takes::Word(&["rfc", "ns2", "ns3", "linux"]);
const TCP_PROFILE: Key = Key::new("profile", TCP_PROFILES, Is("rfc"), "whose constants `tcp` begins with");
const TCP_CONSTANTS: Key = Key::new("tcp", Takes::Constants, Else("the profile's"), "single constants");

const TCP: Keys = Keys {
    name: "flow_tcp",
    doc: "A TCP connection.",
    groups: &[
        ENDS,
        &[
            ONE_PATH,
            Key::new(
                "cc",
                Takes::Text,
                Is("reno"),
                "congestion window, with parameters as in `cubic,beta=0.7`",
            ),
            COMPARE,
            TCP_PROFILE,
            TCP_CONSTANTS,
        ],
    ],
};

const MPTCP: Keys = Keys {
    name: "flow_mptcp",
    doc: "An MPTCP connection: a subflow on each path.",
    groups: &[
        ENDS,
        &[
            PATHS,
            Key::new("cc", Takes::Text, Is("lia"), "congestion window over all subflows, with parameters"),
            COMPARE,
            TCP_PROFILE,
            TCP_CONSTANTS,
        ],
    ],
};

const UDP: Keys = Keys {
    name: "flow_udp",
    doc: "Datagrams, never sent again.",
    groups: &[
        ENDS,
        &[ONE_PATH, Key::new("header", Takes::Size(0, 1000), Is("28"), "bytes of IP and UDP header on each")],
    ],
};

const VIA: Key = Key::new("via", Takes::Links, Required, "links from sender to receiver, in order");
const BACK: Key = Key::new("back", Takes::Links, Else("`via` backwards"), "links back, in order");

const PATH: Keys = Keys { name: "path", doc: "A way through the network.", groups: &[&[VIA, BACK]] };

const JOINING_PATH: Keys = Keys {
    name: "joining_path",
    doc: "A way through the network, which may come and go.",
    groups: &[&[
        VIA,
        BACK,
        Key::new("join", TIME, Else("from the start"), "when it joins"),
        Key::new("leave", TIME, Else("never"), "when it leaves"),
    ]],
};

const PROFILE: Fallback = Else("the profile's");

const SCTP_CONSTANTS: Keys = Keys {
    name: "sctp",
    doc: "Constants of SCTP.",
    groups: &[&[
        Key::new("mtu", Takes::Size(296, 65_535), PROFILE, "IP-level MTU"),
        Key::new(
            "encapsulation",
            Takes::Word(&["udp", "none"]),
            PROFILE,
            "in UDP (RFC 6951): 28 bytes of header, or straight in IP: 20",
        ),
        Key::new("receive_buffer", Takes::Size(1500, 1 << 31), PROFILE, "receive buffer"),
        Key::new("send_buffer", Takes::Size(1500, 1 << 31), PROFILE, "send buffer"),
        Key::new(
            "buffer_limit",
            Takes::Size(1500, 1 << 31),
            PROFILE,
            "how far both grow as the paths need it; in `rfc` and `ns2` they do not unless it is given",
        ),
        Key::new("rto_initial", SPAN, PROFILE, "RTO.Initial"),
        Key::new("rto_min", SPAN, PROFILE, "RTO.Min"),
        Key::new("rto_min_ours", SPAN, PROFILE, "RTO.Min between two of ours; `rto_min` alone sets both"),
        Key::new("rto_max", SPAN, PROFILE, "RTO.Max"),
        Key::new("max_burst", Takes::Whole(1, 1_000_000), PROFILE, "Max.Burst, packets"),
        Key::new("sack_delay", TIME, PROFILE, "SACK.Delay"),
        Key::new(
            "sack_delay_ours",
            TIME,
            PROFILE,
            "SACK.Delay between two of ours; `sack_delay` alone sets both",
        ),
        Key::new(
            "tail_probes",
            Takes::Switch,
            PROFILE,
            "what gets no answer is sent again before its timer expires",
        ),
        Key::new(
            "sack_frequency",
            Takes::Whole(1, 1_000_000),
            PROFILE,
            "a SACK at least every so many packets",
        ),
        Key::new("heartbeat_interval", SPAN, PROFILE, "HB.interval"),
        Key::new("path_max_retrans", Takes::Whole(0, 1_000_000), PROFILE, "Path.Max.Retrans"),
        Key::new("association_max_retrans", Takes::Whole(0, 1_000_000), PROFILE, "Association.Max.Retrans"),
        Key::new(
            "endured_silence",
            TIME,
            PROFILE,
            "silence on all paths that ends an association; 0: errors end it",
        ),
        Key::new(
            "failed_after",
            TIME,
            PROFILE,
            "least time without an answer until a path is inactive; 0: errors decide",
        ),
        Key::new("reports", Takes::Switch, PROFILE, "REPORT and AUTH: what schemes say to each other"),
        Key::new(
            "scheme_defaults",
            Takes::Text,
            PROFILE,
            "parameters added to every scheme before its own, as in `initial-cwnd=2`",
        ),
    ]],
};

/// What a flow sends.
pub(in crate::scenario) const APP: Kinds = Kinds {
    name: "app",
    tag: "kind",
    default: Some("bulk"),
    doc: "what it is like",
    each: &[
        ("bulk", &BULK),
        ("finite", &FINITE),
        ("cbr", &CBR),
        ("poisson", &POISSON),
        ("onoff", &ONOFF),
        ("video", &VIDEO),
    ],
};

const SIZE: Key = Key::new(
    "size",
    Takes::Size(1, MESSAGE),
    Else(
        "sctp: what fits one packet (rfc 1344, ns2 1452, less what a scheme puts in front of data); others: 1400",
    ),
    "bytes of a message",
);

const BULK: Keys = Keys { name: "app_bulk", doc: "As much as the transport takes.", groups: &[&[SIZE]] };

const FINITE: Keys = Keys {
    name: "app_finite",
    doc: "So many bytes, then the flow ends.",
    groups: &[&[SIZE, Key::new("bytes", Takes::Size(1, 1 << 50), Required, "bytes in all")]],
};

const CBR: Keys = Keys {
    name: "app_cbr",
    doc: "Messages at even intervals.",
    groups: &[&[SIZE, Key::new("rate", RATE, Required, "rate of messages, headers not counted")]],
};

const POISSON: Keys = Keys {
    name: "app_poisson",
    doc: "Messages at exponential intervals.",
    groups: &[&[SIZE, Key::new("rate", RATE, Required, "mean rate of messages, headers not counted")]],
};

const SHAPE: Key = Key::new(
    "shape",
    Takes::Amount(Quantity::Plain, Least::Positive),
    Is("1.5"),
    "shape of the Pareto law, above 1",
);

const ONOFF: Keys = Keys {
    name: "app_onoff",
    doc: "Messages at even intervals, in bursts.",
    groups: &[&[
        SIZE,
        Key::new("rate", RATE, Required, "rate of messages while on, headers not counted"),
        Key::new("on", SPAN, Required, "mean time on"),
        Key::new("off", SPAN, Required, "mean time off"),
        Key::new(
            "law",
            Takes::Word(&["constant", "exponential", "pareto"]),
            Is("constant"),
            "distribution of both times; a Pareto sample is at most 100 means",
        ),
        SHAPE,
    ]],
};

const VIDEO: Keys = Keys {
    name: "app_video",
    doc: "Frames of a video, from a trace or at a constant rate.",
    groups: &[&[
        SIZE,
        Key::new(
            "rate",
            Takes::Amount(Quantity::Rate, Least::Positive),
            Else("`trace`"),
            "constant rate: a message of `size` bytes every `size`/`rate`",
        ),
        Key::new("trace", Takes::File, Else("`rate`"), "a line a frame: number, type, time, bytes"),
        Key::new("loop", Takes::Switch, Is("false"), "with `trace`: begin again behind the last frame"),
        Key::new("deadline", SPAN, Is("1 s"), "from capture to playing: what comes later is late"),
        Key::new(
            "expire",
            Takes::Switch,
            Is("false"),
            "sctp: give messages up after their deadline (RFC 3758)",
        ),
        Key::new(
            "prebuffer",
            TIME,
            Is("2 s"),
            "media buffered before playing begins, and after an underflow",
        ),
    ]],
};

/// Background load.
pub(in crate::scenario) const CROSS: Keys = Keys {
    name: "cross",
    doc: "Background load: Pareto on/off sources, part of whose packets go by TCP.",
    groups: &[&[
        Key::new(
            "via",
            Takes::Links,
            Required,
            "links it passes, in order; TCP's acknowledgements come back over them",
        ),
        Key::new(
            "load",
            Takes::Number(Quantity::Share, Least::Zero, Changes::InTime),
            Required,
            "bytes offered, as a share of the rate of the first link of `via`; TCP drops its backlog when it changes",
        ),
        Key::new(
            "tcp_share",
            Takes::Amount(Quantity::Share, Least::Zero),
            Is("0.9"),
            "share of packets that go by TCP; the others by UDP",
        ),
        Key::new(
            "sizes",
            Takes::Named(&PACKET_SIZE),
            Else("49 % of 44 B, 1.2 % of 576 B, 2.1 % of 628 B, 1.7 % of 1300 B, 46 % of 1500 B"),
            "packet sizes, by name",
        ),
        Key::new("on", SPAN, Is("0.5 s"), "mean time on"),
        Key::new("off", SPAN, Is("0.5 s"), "mean time off"),
        SHAPE,
        Key::new("sources", Takes::Whole(1, 10_000), Is("1"), "independent sources that share the load"),
        Key::new("lead", TIME, Is("10 s"), "how long before the flows' time 0 it begins"),
        TCP_PROFILE,
        Key::new(
            "tcp",
            Takes::Constants,
            Else("the profile's, with `recovery = \"newreno\"`"),
            "single constants",
        ),
    ]],
};

const PACKET_SIZE: Keys = Keys {
    name: "packet_size",
    doc: "A packet size of background load.",
    groups: &[&[
        Key::new("bytes", Takes::Size(1, 65_535), Required, "bytes at IP level"),
        Key::new(
            "share",
            Takes::Amount(Quantity::Share, Least::Positive),
            Required,
            "share of packets; shares are scaled to add up to 1",
        ),
    ]],
};
