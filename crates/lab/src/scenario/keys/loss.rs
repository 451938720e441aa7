//! Keys of loss models.

use core::time::Duration;

use strandcast_keys::words;
use strandcast_netem::loss::Modulation;

use crate::scenario::sorts::{
    CHANGING_RATIO, CHANGING_SHARE, FILE, SHARE, SOME_PACKETS, SPAN, SWITCH, word, words_of,
};
use crate::scenario::typed::{Given, Optional, table, variants};
use crate::scenario::value::{Number, TraceFile};
use crate::scenario::warning::Longest;

variants! {
    /// the model, if the table's name does not say it
    LOSS: LossKind = "loss" by "model", None, {
        /// Each packet by itself.
        Uniform = "uniform": UniformKeys,
        /// Two states.
        Markov = "markov": MarkovKeys,
        /// Noise.
        Snr = "snr": SnrKeys,
        /// As recorded.
        List = "list": ListKeys,
    }
}

words! {
    /// Events that move the two states.
    pub enum MovedBy {
        /// Each packet.
        Packet = "packet",
        /// Time.
        Time = "time",
    }
}

words_of!(MovedBy);

table! {
    /// Each packet is lost independently of the others.
    UNIFORM: UniformKeys = "loss_uniform" {
        /// probability that a packet is lost
        rate: Given<Number> = CHANGING_SHARE.required(),
    }
}

table! {
    /// Two states, Good and Bad: moved by each packet, or lasting exponential times.
    MARKOV: MarkovKeys = "loss_markov" {
        /// step of the state: each packet, or time
        by: Given<MovedBy> = word().or("packet"),
        /// mean loss, with `burst`: by packet
        rate: Optional<f64> = SHARE.otherwise("the four probabilities"),
        /// mean length of a burst of losses in packets, with `rate`: by packet
        burst: Optional<f64> = SOME_PACKETS.otherwise("the four probabilities"),
        /// probability of Good to Bad, by packet
        p_good_to_bad: Optional<f64> = SHARE.otherwise("by `rate` and `burst`"),
        /// probability of Bad to Good, by packet
        p_bad_to_good: Optional<f64> = SHARE.otherwise("by `rate` and `burst`"),
        /// mean time in Good, by time
        good: Optional<Duration> = SPAN.otherwise("required by time").at_most(Longest::TenMinutes),
        /// mean time in Bad, by time
        bad: Optional<Duration> = SPAN.otherwise("required by time").at_most(Longest::Minute),
        /// probability that a packet in Good is lost
        loss_good: Given<f64> = SHARE.or("0"),
        /// probability that a packet in Bad is lost
        loss_bad: Given<f64> = SHARE.or("1"),
    }
}

table! {
    /// A packet is lost if noise makes one of its bits wrong.
    SNR: SnrKeys = "loss_snr" {
        /// modulation, which says how many bits a symbol carries
        modulation: Given<Modulation> = word().required(),
        /// signal-to-noise ratio a symbol
        snr: Given<Number> = CHANGING_RATIO.required(),
    }
}

table! {
    /// Losses as they were recorded.
    LIST: ListKeys = "loss_list" {
        /// file with the packets that are lost
        file: Given<TraceFile> = FILE.required(),
        /// begin again after the last
        repeat as "loop": Given<bool> = SWITCH.or("false"),
    }
}
