//! Keys of what flows send.

use core::time::Duration;

use strandcast_keys::words;

use crate::scenario::app::Burst;
use crate::scenario::sorts::{
    BURST, CHANGING_RATE, CHANGING_TIME, CONSTANT_RATE, FILE, PLAIN, SPAN, SWITCH, TIME, size, whole, word,
    words_of,
};
use crate::scenario::typed::{Given, Inner, Optional, Outages, table, variants};
use crate::scenario::value::{Number, TraceFile};
use crate::scenario::warning::Longest;

/// Largest message, bytes.
const MESSAGE: i64 = 1 << 24;

variants! {
    /// what it is like
    APP: AppKind = "app" by "kind", Some("bulk"), {
        /// As much as the transport takes.
        Bulk = "bulk": BulkKeys,
        /// So many bytes.
        Finite = "finite": FiniteKeys,
        /// Messages at even intervals.
        Cbr = "cbr": CbrKeys,
        /// Messages at exponential intervals.
        Poisson = "poisson": PoissonKeys,
        /// Messages in bursts.
        OnOff = "onoff": OnOffKeys,
        /// Frames of a video.
        Video = "video": VideoKeys,
    }
}

words! {
    /// How times on and off are distributed.
    pub enum Law {
        /// Always the mean.
        Constant = "constant",
        /// Exponential.
        Exponential = "exponential",
        /// Pareto's.
        Pareto = "pareto",
    }
}

words_of!(Law);

table! {
    /// As much as the transport takes.
    BULK: BulkKeys = "app_bulk" {
        /// bytes of a message
        size: Optional<u32> = size::<u32, 1, MESSAGE>().otherwise(
            "sctp: what fits one packet (rfc 1344, ns2 1452, less what a scheme puts in front of data); others: 1400",
        ),
    }
}

table! {
    /// So many bytes, then the flow ends.
    FINITE: FiniteKeys = "app_finite" with BulkKeys {
        /// bytes in all
        bytes: Given<u64> = size::<u64, 1, { 1 << 50 }>().required(),
    }
}

table! {
    /// Messages at even intervals.
    CBR: CbrKeys = "app_cbr" with BulkKeys {
        /// rate of messages, headers not counted
        rate: Given<Number> = CHANGING_RATE.required(),
    }
}

table! {
    /// Messages at exponential intervals.
    POISSON: PoissonKeys = "app_poisson" with BulkKeys {
        /// mean rate of messages, headers not counted
        rate: Given<Number> = CHANGING_RATE.required(),
    }
}

table! {
    /// Messages at even intervals, in bursts.
    ONOFF: OnOffKeys = "app_onoff" with BulkKeys {
        /// rate of messages while on, headers not counted
        rate: Given<Number> = CHANGING_RATE.required(),
        /// mean time on
        on: Given<Duration> = SPAN.required().at_most(Longest::TenMinutes),
        /// mean time off
        off: Given<Duration> = SPAN.required().at_most(Longest::TenMinutes),
        /// distribution of both times; a Pareto sample is at most 100 means
        law: Given<Law> = word().or("constant"),
        /// shape of the Pareto law, above 1
        shape: Given<f64> = PLAIN.or("1.5"),
    }
}

table! {
    /// Frames of a video, from a trace or at a constant rate.
    VIDEO: VideoKeys = "app_video" with BulkKeys {
        /// constant rate: a message of `size` bytes every `size`/`rate`
        rate: Optional<f64> = CONSTANT_RATE.otherwise("`trace`"),
        /// a line a frame: number, type, time, bytes
        trace: Optional<TraceFile> = FILE.otherwise("`rate`"),
        /// with `trace`: begin again behind the last frame
        repeat as "loop": Given<bool> = SWITCH.or("false"),
        /// with `rate`: what is handed over at once, as a frame or a block of a pipe is: messages due within this time, or so many bytes
        burst: Optional<Burst> = BURST.otherwise("each message by itself"),
        /// with `burst`: from one message of a burst to the next; drawn for each packet it is drawn for each burst
        spacing: Given<Number> = CHANGING_TIME.or("0 s").at_most(Longest::Minute),
        /// with `burst`: bursts are frames, of which some are longer
        key_frames: Inner = Inner::of(&KeyFramesKeys::KEYS, "each message is a frame"),
        /// with `rate`: a time without messages, or several by name
        pause: Outages = Outages::of(&PauseKeys::KEYS, "never"),
        /// sctp: a message of one byte is sent after so long without others, as `strandcast send` does after 1 s
        keep_alive: Optional<Duration> = SPAN.otherwise("none").at_most(Longest::Minute),
        /// from capture to playing: what comes later is late
        deadline: Given<Duration> = SPAN.or("1 s").at_most(Longest::Minute),
        /// sctp: give messages up after their deadline (RFC 3758)
        expire: Given<bool> = SWITCH.or("false"),
        /// media buffered before playing begins, and after an underflow
        prebuffer: Given<Duration> = TIME.or("2 s").at_most(Longest::Minute),
        /// what comes in order later than this after its capture does not count for `psnr_eq17_db`
        psnr_deadline: Given<Duration> = SPAN.or("2 s").at_most(Longest::Minute),
    }
}

table! {
    /// Frames of which some are longer; `rate` stays the mean.
    KEY_FRAMES: KeyFramesKeys = "key_frames" {
        /// the first frame is a key frame, and each so many frames another one
        every: Given<u32> = whole::<u32, 2, 1_000_000>().required(),
        /// how many times as long as the others they are
        times: Given<f64> = PLAIN.or("10"),
    }
}

table! {
    /// A time without messages.
    PAUSE: PauseKeys = "pause" {
        /// when it begins, from the flow's start
        from: Given<Duration> = TIME.required(),
        /// when it ends
        to: Given<Duration> = SPAN.required(),
        /// what is due meanwhile is handed over at once at its end; otherwise the video stands still
        keep: Given<bool> = SWITCH.or("false"),
    }
}
