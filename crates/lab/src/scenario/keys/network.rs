//! Keys of links.

use super::{Changes, Fallback, Key, Keys, Kinds, Least, Takes};
use crate::scenario::units::Quantity;
use Fallback::{Else, Is, Required};

const SHARE: Takes = Takes::Amount(Quantity::Share, Least::Zero);
const TIME: Takes = Takes::Amount(Quantity::Time, Least::Zero);
const DELAY: Takes = Takes::Number(Quantity::Time, Least::Zero, Changes::Freely);

const DELAY_DOC: &str = "propagation delay; drawn for each packet it keeps their order";
const RATE_DOC: &str = "rate of the transmitter";
const QUEUE_DOC: &str = "the queue in front of the transmitter";
const LOSS_DOC: &str = "random loss, by name; every packet passes all models, behind the transmitter";
const ARQ_DOC: &str = "retransmission by the link itself";
const REORDER_DOC: &str = "some packets arrive behind later ones";
const DUPLICATE_DOC: &str = "probability that a packet arrives twice";
const CORRUPT_DOC: &str = "probability that a packet arrives damaged";

/// A link.
pub(in crate::scenario) const LINK: Keys = Keys {
    name: "link",
    doc: "A link. Its keys say what it is like from `from` to `to`, `reverse` says it of the other direction.",
    groups: &[&[
        Key::new("from", Takes::Text, Required, "the node where it begins"),
        Key::new("to", Takes::Text, Required, "the node where it ends"),
        Key::new("rate", Takes::Rate, Is("infinite"), RATE_DOC),
        Key::new("delay", DELAY, Is("0 s"), DELAY_DOC),
        Key::new("queue", Takes::Table(&QUEUE), Else("all defaults"), QUEUE_DOC),
        Key::new("loss", Takes::Kinds(&LOSS), Else("none"), LOSS_DOC),
        Key::new("arq", Takes::Table(&ARQ), Else("none"), ARQ_DOC),
        Key::new("reorder", Takes::Table(&REORDER), Else("none"), REORDER_DOC),
        Key::new("duplicate", SHARE, Is("0"), DUPLICATE_DOC),
        Key::new("corrupt", SHARE, Is("0"), CORRUPT_DOC),
        Key::new(
            "down",
            Takes::Down(&DOWN),
            Else("never"),
            "outage of both directions, or several by name; `reverse.down` replaces it for the other direction",
        ),
        Key::new(
            "wireless",
            Takes::Switch,
            Is("false"),
            "a wireless access link: it counts frames and frame errors and tells them to the hosts that send over it",
        ),
        Key::new(
            "loss_takes",
            Takes::Word(&["all", "flows"]),
            Is("all"),
            "whom random loss takes, in both directions: all packets, or those of flows but not of background load",
        ),
        Key::new(
            "reverse",
            Takes::Table(&REVERSE),
            Else("same rate, delay, queue, retransmission and outages, nothing random"),
            "the direction from `to` to `from`",
        ),
    ]],
};

const REVERSE: Keys = Keys {
    name: "reverse",
    doc: "The other direction of a link.",
    groups: &[&[
        Key::new("rate", Takes::Rate, Else("as forward"), RATE_DOC),
        Key::new("delay", DELAY, Else("as forward"), DELAY_DOC),
        Key::new("queue", Takes::Table(&REVERSE_QUEUE), Else("as forward"), QUEUE_DOC),
        Key::new("loss", Takes::Kinds(&LOSS), Else("none"), LOSS_DOC),
        Key::new("arq", Takes::Table(&ARQ), Else("as forward"), ARQ_DOC),
        Key::new("reorder", Takes::Table(&REORDER), Else("none"), REORDER_DOC),
        Key::new("duplicate", SHARE, Is("0"), DUPLICATE_DOC),
        Key::new("corrupt", SHARE, Is("0"), CORRUPT_DOC),
        Key::new(
            "down",
            Takes::Down(&DOWN),
            Else("as forward"),
            "outages of this direction instead of the link's; an empty table: none",
        ),
    ]],
};

const QUEUE_KINDS: Takes = Takes::Word(&["drop-tail"]);
const KIND_DOC: &str = "discipline; drop-tail drops what arrives when it is full";
const LIMIT_DOC: &str = "how much fits: packets, bytes with a unit, or `\"unlimited\"`";
const IN_SERVICE_DOC: &str = "whether the packet being sent counts to the limit, as in ns-2";

const QUEUE: Keys = Keys {
    name: "queue",
    doc: "The queue in front of a transmitter.",
    groups: &[&[
        Key::new("kind", QUEUE_KINDS, Is("drop-tail"), KIND_DOC),
        Key::new("limit", Takes::Limit, Is("100 packets"), LIMIT_DOC),
        Key::new("in_service", Takes::Switch, Is("false"), IN_SERVICE_DOC),
    ]],
};

const REVERSE_QUEUE: Keys = Keys {
    name: "reverse_queue",
    doc: "The queue of a link's other direction.",
    groups: &[&[
        Key::new("kind", QUEUE_KINDS, Else("as forward"), KIND_DOC),
        Key::new("limit", Takes::Limit, Else("as forward"), LIMIT_DOC),
        Key::new("in_service", Takes::Switch, Else("as forward"), IN_SERVICE_DOC),
    ]],
};

const LOSS: Kinds = Kinds {
    name: "loss",
    tag: "model",
    default: None,
    doc: "the model, if the table's name does not say it",
    each: &[("uniform", &UNIFORM), ("markov", &MARKOV), ("snr", &SNR), ("list", &LIST)],
};

const UNIFORM: Keys = Keys {
    name: "loss_uniform",
    doc: "Each packet is lost independently of the others.",
    groups: &[&[Key::new(
        "rate",
        Takes::Number(Quantity::Share, Least::Zero, Changes::Freely),
        Required,
        "probability that a packet is lost",
    )]],
};

const MARKOV: Keys = Keys {
    name: "loss_markov",
    doc: "Two states, Good and Bad: moved by each packet, or lasting exponential times.",
    groups: &[&[
        Key::new("by", Takes::Word(&["packet", "time"]), Is("packet"), "what moves the state"),
        Key::new("rate", SHARE, Else("the four probabilities"), "mean loss, with `burst`: by packet"),
        Key::new(
            "burst",
            Takes::Amount(Quantity::Packets, Least::Positive),
            Else("the four probabilities"),
            "mean length of a burst of losses in packets, with `rate`: by packet",
        ),
        Key::new(
            "p_good_to_bad",
            SHARE,
            Else("by `rate` and `burst`"),
            "probability of Good to Bad, by packet",
        ),
        Key::new(
            "p_bad_to_good",
            SHARE,
            Else("by `rate` and `burst`"),
            "probability of Bad to Good, by packet",
        ),
        Key::new(
            "good",
            Takes::Amount(Quantity::Time, Least::Positive),
            Else("required by time"),
            "mean time in Good, by time",
        ),
        Key::new(
            "bad",
            Takes::Amount(Quantity::Time, Least::Positive),
            Else("required by time"),
            "mean time in Bad, by time",
        ),
        Key::new("loss_good", SHARE, Is("0"), "probability that a packet in Good is lost"),
        Key::new("loss_bad", SHARE, Is("1"), "probability that a packet in Bad is lost"),
    ]],
};

const SNR: Keys = Keys {
    name: "loss_snr",
    doc: "A packet is lost if noise makes one of its bits wrong.",
    groups: &[&[
        Key::new(
            "modulation",
            Takes::Word(&["bpsk", "qpsk", "16qam", "64qam", "dbpsk", "dqpsk"]),
            Required,
            "how bits become symbols",
        ),
        Key::new(
            "snr",
            Takes::Number(Quantity::Decibel, Least::Zero, Changes::Freely),
            Required,
            "signal-to-noise ratio a symbol",
        ),
    ]],
};

const LIST: Keys = Keys {
    name: "loss_list",
    doc: "Losses as they were recorded.",
    groups: &[&[
        Key::new("file", Takes::File, Required, "which packets are lost"),
        Key::new("loop", Takes::Switch, Is("false"), "begin again behind the last"),
    ]],
};

const ARQ: Keys = Keys {
    name: "arq",
    doc: "The link sends packets again that random loss took, at once, while those behind them wait.",
    groups: &[&[Key::new(
        "retries",
        Takes::Whole(0, 255),
        Required,
        "how many times a packet is sent again before it is given up",
    )]],
};

const REORDER: Keys = Keys {
    name: "reorder",
    doc: "Some packets are held up behind the link, without holding up those behind them.",
    groups: &[&[
        Key::new("probability", SHARE, Required, "probability that a packet is held up"),
        Key::new("extra", TIME, Required, "for how long"),
    ]],
};

const DOWN: Keys = Keys {
    name: "down",
    doc: "An outage: what is queued and in flight is dropped, and what is sent meanwhile.",
    groups: &[&[
        Key::new("from", TIME, Required, "when it begins"),
        Key::new("to", TIME, Else("it lasts"), "when it ends"),
        Key::new(
            "mode",
            Takes::Word(&["silent", "notify"]),
            Is("silent"),
            "what the hosts at the link's ends notice: nothing, or that their interface is gone",
        ),
    ]],
};
