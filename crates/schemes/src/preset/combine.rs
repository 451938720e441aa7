//! Keys that all presets made of parts share, so that any scheduler goes with any congestion control.

use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    CongestionControl, Feedback, LossPolicy, Parts, PathEstimator, Scheduler, Scheme,
};
use strandcast_proto::rfc::{Advance, PrimaryPath, RfcFeedback, RfcLoss, WindowConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Duration;

use crate::congestion;
use crate::estimate::{Delivery, LossRate, LossRateConfig, PeerRate, RateConfig, RttMin};
use crate::feedback::DelayedAck;
use crate::feedback::rounds::{Rounds, RoundsConfig};
use crate::recovery::{OnChosenPath, RetransmissionAware, Rtx, SfrConfig, SplitFastRetransmit};
use crate::registry::{Key, Params, Value};
use crate::schedule::{EarliestArrival, LossOrdered, LowestRtt, ReceiverChoice, Redundant, RoundRobin, Turn};

// Keys that schemes with a mind of their own have too.
pub(super) const DAC: Key = Key::switch(
    "dac",
    "on",
    "count the packets a SACK stands for as misses, and ask the receiver to delay SACKs; off overrides feedback=dac",
);
pub(super) const RTX_AGAIN: Key = Key::switch(
    "rtx-again",
    "on",
    "notice the loss of a retransmission by later packets of its path, not by timeout only (loss=sfr)",
);
pub(super) const FR_FREEZE: Key =
    Key::switch("fr-freeze", "off", "no growth and no second cut in fast recovery");
pub(super) const INITIAL_CWND: Key = Key::number(
    "initial-cwnd",
    (0, 64, "MTU"),
    "0",
    "initial window, 0: RFC 9260's min(4·MTU, max(2·MTU, 4404))",
);
pub(super) const INITIAL_SSTHRESH: Key = Key::number(
    "initial-ssthresh",
    (0, 1 << 30, "bytes"),
    "0",
    "initial slow-start threshold, 0: arbitrarily high",
);
pub(super) const STRICT: Key = Key::switch(
    "strict",
    "off",
    "RFC 9260 to the letter in slow start and Max.Burst, however many packets a SACK stands for",
);
pub(super) const PF: Key =
    Key::switch("pf", "on", "doubt a path at its first timeout (potentially failed, RFC 7829)");
pub(super) const PROBE_INTERVAL: Key = Key::number(
    "probe-interval",
    (0, 60_000, "ms"),
    "500",
    "probe failed paths at least this often, 0: RFC 9260's back-off",
);
pub(super) const RTO_MIN: Key =
    Key::number("rto-min", (0, 60_000, "ms"), "0", "RTO.Min, 0: the transport's own");

/// The shared keys.
pub(super) const KEYS: &[Key] = &[
    Key::one_of(
        "scheduler",
        &["round-robin", "lowest-rtt", "redundant", "primary", "loss-order", "receiver", "earliest-arrival"],
        "which path takes new data",
    ),
    Key::one_of(
        "cc",
        congestion::NAMES,
        "congestion control: RFC 9260's windows, or others of the table of windows (docs/schemes/combinations.md)",
    ),
    Key::one_of(
        "loss",
        &["sfr", "rfc", "raf"],
        "loss detection: split by path, RFC 9260 §7.2.4 over all paths, or that with two misses while losses grow",
    ),
    Key::one_of(
        "feedback",
        &["dac", "rfc", "rounds"],
        "acknowledgement: delayed across gaps, RFC 9260 §6.7, or that with rounds and the receiver's rates",
    ),
    Key::one_of(
        "rtx",
        &["cwnd", "same", "asap", "ssthresh", "lossrate", "scheduler"],
        "where lost chunks go (loss=sfr)",
    ),
    Key::one_of("turn", &["window", "packet"], "length of a turn (scheduler=round-robin)"),
    Key::number("copies", (1, 16, ""), "16", "paths a chunk is sent on at most (scheduler=redundant)"),
    Key::decimal("psi", (0.0, 1.0, ""), "0.875", "weight of the old round-trip time (scheduler=loss-order)"),
    Key::decimal("c", (0.1, 10.0, ""), "1.2247", "constant of Mathis' model (scheduler=loss-order)"),
    Key::number(
        "mss",
        (100, 65_535, "bytes"),
        "1500",
        "segment size of Mathis' model (scheduler=loss-order)",
    ),
    Key::number(
        "m",
        (1, 1000, "samples"),
        "20",
        "what a jitter indicator is taken over (scheduler=loss-order, loss=raf)",
    ),
    Key::one_of(
        "rttmin",
        &["path", "global"],
        "least round-trip time of Vegas' goodput: the path's, or the least of all (scheduler=loss-order)",
    ),
    Key::decimal(
        "tie",
        (0.0, 1.0, ""),
        "0.01",
        "loss rates this near each other are equal (scheduler=loss-order)",
    ),
    Key::switch(
        "demote-unreliable",
        "off",
        "paths whose loss rate stands out and rises come last (scheduler=loss-order)",
    ),
    Key::decimal(
        "thresh",
        (0.0, 1.0, ""),
        "0.02",
        "loss rate from which on a path is congested (feedback=rounds)",
    ),
    Key::decimal(
        "loss-gain",
        (0.01, 1.0, ""),
        "0.25",
        "weight of a round in the loss rate (feedback=rounds)",
    ),
    Key::number("kappa", (1, 64, "rates"), "8", "what a rate is smoothed over (feedback=rounds)"),
    Key::decimal(
        "hysteresis",
        (0.0, 10.0, ""),
        "0",
        "lead of a path in three rounds before the receiver asks for it, as a share; 0: any, at once (feedback=rounds)",
    ),
    Key::number(
        "train",
        (10, 60_000, "ms"),
        "100",
        "least time between two pairs of probes on a path without data (feedback=rounds)",
    ),
    DAC,
    RTX_AGAIN,
    Key::switch("cuc", "on", "windows grow by their own path's progress, not by the cumulative TSN"),
    FR_FREEZE,
    Key::number("half-floor", (1, 64, "MTU"), "4", "least window after a halving"),
    INITIAL_CWND,
    INITIAL_SSTHRESH,
    STRICT,
    PF,
    PROBE_INTERVAL,
    RTO_MIN,
];

/// Puts the chosen parts together.
pub(super) fn build(name: &str, params: &Params, seeds: &Seeds) -> Box<dyn Scheme> {
    Box::new(Parts {
        name: name.into(),
        estimators: estimators(params),
        loss: loss(params, seeds),
        cc: windows(params),
        scheduler: scheduler(params),
        feedback: feedback(params),
    })
}

/// What scheduler and congestion control need to know of the paths.
fn estimators(params: &Params) -> Vec<Box<dyn PathEstimator>> {
    let mut all: Vec<Box<dyn PathEstimator>> = Vec::new();
    // First: what a scheduler measures by a rule of its own replaces it.
    if params.word("cc") == "queue-aware" || params.word("scheduler") == "earliest-arrival" {
        all.push(Box::new(Delivery::default()));
    }
    if params.word("scheduler") == "loss-order" {
        all.push(Box::new(loss_rate(params)));
    }
    if params.word("cc") == "receiver-rate" {
        all.push(Box::new(PeerRate::default()));
    }
    all
}

fn loss_rate(params: &Params) -> LossRate {
    LossRate::new(LossRateConfig {
        psi: params.decimal("psi"),
        c: params.decimal("c"),
        samples: params.number("m") as usize,
        mss: params.number("mss"),
        rtt_min: if params.word("rttmin") == "global" { RttMin::Global } else { RttMin::Path },
    })
}

fn scheduler(params: &Params) -> Box<dyn Scheduler> {
    match params.word("scheduler") {
        "primary" => Box::new(PrimaryPath),
        "lowest-rtt" => Box::new(LowestRtt),
        "redundant" => Box::new(Redundant::new(params.number("copies") as usize)),
        "loss-order" => Box::new(LossOrdered {
            tie: params.decimal("tie"),
            demote_unreliable: params.switch("demote-unreliable"),
        }),
        "receiver" => Box::new(ReceiverChoice::default()),
        "earliest-arrival" => Box::new(EarliestArrival::default()),
        _ if params.word("turn") == "packet" => Box::new(RoundRobin::new(Turn::Packet)),
        _ => Box::new(RoundRobin::new(Turn::Window)),
    }
}

fn windows(params: &Params) -> Box<dyn CongestionControl> {
    let set = |key| Some(params.number(key)).filter(|n| *n > 0);
    let config = WindowConfig {
        initial_mtus: set("initial-cwnd").map(|n| n as u32),
        initial_ssthresh: set("initial-ssthresh"),
        half_floor_mtus: params.number("half-floor") as u32,
        advance: if params.switch("cuc") { Advance::Pseudo } else { Advance::Cumulative },
        freeze_in_recovery: params.switch("fr-freeze"),
        strict: params.switch("strict"),
    };
    congestion::sctp(params.word("cc"), config)
}

fn loss(params: &Params, seeds: &Seeds) -> Box<dyn LossPolicy> {
    let single: Box<dyn LossPolicy> = match params.word("loss") {
        "rfc" => Box::new(RfcLoss::default()),
        "raf" => Box::new(RetransmissionAware::new(params.number("m") as usize)),
        _ => return split(params, seeds),
    };
    if params.word("scheduler") == "receiver" { Box::new(OnChosenPath::new(single)) } else { single }
}

fn split(params: &Params, seeds: &Seeds) -> Box<dyn LossPolicy> {
    let rtx = match params.word("rtx") {
        "same" => Rtx::Same,
        "asap" => Rtx::Asap,
        "ssthresh" => Rtx::Ssthresh,
        "lossrate" => Rtx::LossRate,
        "scheduler" => Rtx::Scheduler,
        _ => Rtx::Cwnd,
    };
    let config = SfrConfig { dac: params.switch("dac"), repeat: params.switch("rtx-again"), rtx };
    Box::new(SplitFastRetransmit::new(config, seeds.stream("scheme/retransmission ties")))
}

fn feedback(params: &Params) -> Box<dyn Feedback> {
    match params.word("feedback") {
        "dac" if params.switch("dac") => Box::new(DelayedAck::default()),
        "rounds" => Box::new(Rounds::new(RoundsConfig {
            rates: RateConfig {
                threshold: params.decimal("thresh"),
                loss_gain: params.decimal("loss-gain"),
                history: params.number("kappa") as usize,
            },
            hysteresis: params.decimal("hysteresis"),
            train: Duration::from_millis(params.number("train")),
        })),
        _ => Box::new(RfcFeedback),
    }
}

/// Why these parts don't go together, in one line.
pub(crate) fn conflict(params: &Params) -> Option<&'static str> {
    let has = |key, word| params.values.get(key) == Some(&Value::Word(word));
    let rounds = has("feedback", "rounds");
    if has("scheduler", "receiver") && !rounds {
        return Some("scheduler=receiver needs feedback=rounds: the receiver chooses a path by rounds");
    }
    if has("cc", "receiver-rate") && !rounds {
        return Some("cc=receiver-rate needs feedback=rounds: the receiver finds its rate by rounds");
    }
    if rounds && !has("scheduler", "receiver") && !has("scheduler", "primary") {
        return Some(
            "feedback=rounds needs scheduler=receiver or scheduler=primary: rounds follow one path at a time",
        );
    }
    None
}

/// Path failure, probing and timeouts.
pub(super) fn tune(params: &Params, config: &mut TransportConfig) {
    let ms = |key| Some(params.number(key)).filter(|n| *n > 0).map(Duration::from_millis);
    config.pf_max_retrans = params.switch("pf").then_some(0);
    config.failed_probe_interval = ms("probe-interval");
    if let Some(least) = ms("rto-min") {
        (config.rto_min, config.rto_min_ours) = (least, None);
    }
    config.rto_max = config.rto_max.max(config.rto_min);
    config.strict_rfc |= params.switch("strict");
}
