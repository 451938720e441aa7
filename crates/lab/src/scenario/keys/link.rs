//! Keys of links.

use core::time::Duration;

use strandcast_keys::words;

use super::loss::{LOSS, LossKind};
use crate::scenario::model::{DownMode, OutageLaw, QueueKind};
use crate::scenario::sorts::{
    CHANGING_TIME, CONSTANT_RATE, LIMIT, LINK_RATE, SHARE, SPAN, SWITCH, TEXT, TIME, size, whole, word,
    words_of,
};
use crate::scenario::typed::{EachOf, Given, Inner, Optional, Outages, table};
use crate::scenario::value::{LinkRate, Number, QueueLimit};
use crate::scenario::warning::Longest;

words! {
    /// Packets that random loss takes.
    pub enum LossTakes {
        /// All packets.
        All = "all",
        /// Packets of flows.
        Flows = "flows",
    }
}

words_of!(LossTakes, QueueKind, DownMode, OutageLaw);

table! {
    /// Keys of both directions of a link.
    DIRECTION: DirectionKeys {
        /// rate of the transmitter
        rate: Given<LinkRate> = LINK_RATE.or("infinite"),
        /// propagation delay
        delay: Given<Number> = CHANGING_TIME.or("0 s").at_most(Longest::Delay),
        /// if true, packets keep their order when the delay changes; otherwise a packet with a shorter delay
        /// overtakes earlier packets
        keep_order: Given<bool> = SWITCH.or("true"),
        /// token bucket before the queue
        policer: Inner = Inner::of(&PolicerKeys::KEYS, "none"),
        /// random loss, by name; every packet passes all models, behind the transmitter
        loss: EachOf<LossKind> = EachOf::of(&LOSS, "none"),
        /// the link holds some packets up, so that later packets overtake them
        reorder: Inner = Inner::of(&ReorderKeys::KEYS, "none"),
        /// probability that a packet arrives twice
        duplicate: Given<f64> = SHARE.or("0"),
        /// probability that a packet arrives damaged
        corrupt: Given<f64> = SHARE.or("0"),
    }
}

table! {
    /// A link. Its keys say what it is like from `from` to `to`, `reverse` says it of the other direction.
    LINK: LinkKeys = "link" {
        /// the node where it begins
        from: Given<String> = TEXT.required(),
        /// the node where it ends
        to: Given<String> = TEXT.required(),
        rate: Given<LinkRate> = DIRECTION.rate,
        delay: Given<Number> = DIRECTION.delay,
        keep_order: Given<bool> = DIRECTION.keep_order,
        policer: Inner = DIRECTION.policer,
        /// the queue before the transmitter
        queue: Inner = Inner::of(&QueueKeys::KEYS, "all defaults"),
        loss: EachOf<LossKind> = DIRECTION.loss,
        /// retransmission by the link itself
        arq: Inner = Inner::of(&ArqKeys::KEYS, "none"),
        reorder: Inner = DIRECTION.reorder,
        duplicate: Given<f64> = DIRECTION.duplicate,
        corrupt: Given<f64> = DIRECTION.corrupt,
        /// outage of both directions, or several outages, each under a name; `reverse.down` replaces it for the other
        /// direction
        down: Outages = Outages::of(&DownKeys::KEYS, "never"),
        /// a wireless access link: it counts frames and frame errors and reports them to the hosts that send over it
        wireless: Given<bool> = SWITCH.or("false"),
        /// packets that random loss takes, in both directions: all, or those of flows but not of background load
        loss_takes: Given<LossTakes> = word().or("all"),
        /// the direction from `to` to `from`
        reverse: Inner = Inner::of(
            &ReverseKeys::KEYS,
            "same rate, delay, order, queue, retransmission and outages, nothing random, no policer",
        ),
    }
}

table! {
    /// The other direction of a link.
    REVERSE: ReverseKeys = "reverse" {
        rate: Optional<LinkRate> = DIRECTION.rate.as_forward(),
        delay: Optional<Number> = DIRECTION.delay.as_forward(),
        keep_order: Optional<bool> = DIRECTION.keep_order.as_forward(),
        policer: Inner = DIRECTION.policer,
        /// the queue before the transmitter
        queue: Inner = Inner::of(&ReverseQueueKeys::KEYS, "as forward"),
        loss: EachOf<LossKind> = DIRECTION.loss,
        /// retransmission by the link itself
        arq: Inner = Inner::of(&ArqKeys::KEYS, "as forward"),
        reorder: Inner = DIRECTION.reorder,
        duplicate: Given<f64> = DIRECTION.duplicate,
        corrupt: Given<f64> = DIRECTION.corrupt,
        /// outages of this direction instead of the link's; an empty table: none
        down: Outages = Outages::of(&DownKeys::KEYS, "as forward"),
    }
}

table! {
    /// The queue before a transmitter.
    QUEUE: QueueKeys = "queue" {
        /// discipline; drop-tail drops what arrives when it is full, `codel` (RFC 8289) drops when packets wait too
        /// long, `fq-codel` (RFC 8290) does so for each flow, and lets flows take turns
        kind: Given<QueueKind> = word().or("drop-tail"),
        /// capacity: packets, bytes with a unit, or `"unlimited"`
        limit: Optional<QueueLimit> = LIMIT.otherwise("100 packets; 1000 with `codel`, 10240 with `fq-codel`"),
        /// if true, the packet being sent counts to the limit, as in ns-2
        in_service: Given<bool> = SWITCH.or("false"),
        /// `codel`, `fq-codel`: waiting time that may stand
        target: Optional<Duration> = SPAN.otherwise("5 ms").at_most(Longest::Delay),
        /// `codel`, `fq-codel`: time for which the target must be exceeded before a packet is dropped
        interval: Optional<Duration> = SPAN.otherwise("100 ms").at_most(Longest::Delay),
        /// `fq-codel`: bytes that a flow may send in its turn
        quantum: Optional<u32> = size::<u32, 1, 65_536>().otherwise("1514"),
        /// `fq-codel`: queues to which flows are hashed
        flows: Optional<u32> = whole::<u32, 1, 65_536>().otherwise("1024"),
    }
}

table! {
    /// The queue of a link's other direction.
    REVERSE_QUEUE: ReverseQueueKeys = "reverse_queue" {
        kind: Optional<QueueKind> = QUEUE.kind.as_forward(),
        limit: Optional<QueueLimit> = QUEUE.limit.as_forward(),
        in_service: Optional<bool> = QUEUE.in_service.as_forward(),
        target: Optional<Duration> = QUEUE.target.as_forward(),
        interval: Optional<Duration> = QUEUE.interval.as_forward(),
        quantum: Optional<u32> = QUEUE.quantum.as_forward(),
        flows: Optional<u32> = QUEUE.flows.as_forward(),
    }
}

table! {
    /// A token bucket that drops packets beyond its rate and burst; none waits.
    POLICER: PolicerKeys = "policer" {
        /// rate that passes
        rate: Given<f64> = CONSTANT_RATE.required(),
        /// bytes that may pass at once after a pause; a longer packet never passes
        burst: Given<u64> = size::<u64, 1, { 1 << 50 }>().required(),
    }
}

table! {
    /// The link immediately repeats packets that random loss took, while later packets wait.
    ARQ: ArqKeys = "arq" {
        /// number of times that a packet is sent again before it is given up
        retries: Given<u8> = whole::<u8, 0, 255>().required(),
    }
}

table! {
    /// Some packets are delayed after the link, without delaying later packets.
    REORDER: ReorderKeys = "reorder" {
        /// probability that a packet is held up
        probability: Given<f64> = SHARE.required(),
        /// for how long
        extra: Given<Duration> = TIME.required().at_most(Longest::Delay),
    }
}

table! {
    /// An outage: what is queued and in flight is dropped, and what is sent meanwhile.
    DOWN: DownKeys = "down" {
        /// start of the outage
        from: Given<Duration> = TIME.required(),
        /// end of the outage
        to: Optional<Duration> = TIME.otherwise("it lasts"),
        /// the notice that the hosts at the link's ends get: none, or that their interface is gone
        mode: Given<DownMode> = word().or("silent"),
        /// it comes again: time from one start to the next
        every: Optional<Duration> = SPAN.otherwise("once"),
        /// with `every`: distribution of the times up and of the times down; with `exponential` these are means, and
        /// the first time up begins at `from`
        law: Given<OutageLaw> = word().or("constant"),
        /// with `law = "exponential"`: outages of one cause, on any links, come at the same times if their keys are
        /// equal
        cause: Optional<String> = TEXT.otherwise("the link's own"),
    }
}
