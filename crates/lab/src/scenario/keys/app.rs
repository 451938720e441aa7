//! Keys of the applications of flows.

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
    /// kind of source
    APP: AppKind = "app" by "kind", Some("bulk"), {
        /// As much as the transport takes.
        Bulk = "bulk": BulkKeys,
        /// A number of bytes.
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
    /// Distribution of the times on and off.
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
            "sctp: what fits one packet (rfc 1344, ns2 1452, less what a scheme puts before data); others: 1400",
        ),
    }
}

table! {
    /// A number of bytes, then the flow ends.
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
        /// mean rate; without `burst` the source sends a message of `size` bytes every 8 · `size` / `rate` seconds
        rate: Optional<f64> = CONSTANT_RATE.otherwise("`trace`"),
        /// each line of the file is a frame: number, type, time in seconds, bytes
        trace: Optional<TraceFile> = FILE.otherwise("`rate`"),
        /// with `trace`: whether the trace begins again after its last frame
        repeat as "loop": Given<bool> = SWITCH.or("false"),
        /// with `rate`: how much the source hands over at once: all messages due within a time, or a number of bytes
        burst: Optional<Burst> = BURST.otherwise("one message"),
        /// with `burst`: time between two messages of a burst; `every = "packet"` draws it once for each burst
        spacing: Given<Number> = CHANGING_TIME.or("0 s").at_most(Longest::Minute),
        /// with `burst`: each burst is a frame, and some frames are key frames, which are longer
        key_frames: Inner = Inner::of(&KeyFramesKeys::KEYS, "each message is a frame"),
        /// with `rate`: a pause in which no messages are sent, or several pauses by name
        pause: Outages = Outages::of(&PauseKeys::KEYS, "never"),
        /// sctp: the flow sends a message of one byte when it has sent nothing for this time; `strandcast send` does so
        /// after 1 s
        keep_alive: Optional<Duration> = SPAN.otherwise("none").at_most(Longest::Minute),
        /// time from the capture of a frame until it is played; what arrives later is late
        deadline: Given<Duration> = SPAN.or("1 s").at_most(Longest::Minute),
        /// sctp: if true, the sender gives messages up after their deadline (RFC 3758), and delivery is unordered: no
        /// message waits for an earlier one
        expire: Given<bool> = SWITCH.or("false"),
        /// least delay of the player, and its pause after an underflow; of `stalls` the media that the player buffers
        prebuffer: Given<Duration> = TIME.or("2 s").at_most(Longest::Minute),
        /// bytes that are in order later than this after their capture do not count for `psnr_eq17_db`
        psnr_deadline: Optional<Duration> = SPAN.otherwise("`deadline`; 2 s in profile `ns2`").at_most(Longest::Minute),
    }
}

table! {
    /// Key frames, which are longer than other frames; the mean rate stays `rate`.
    KEY_FRAMES: KeyFramesKeys = "key_frames" {
        /// frames from one key frame to the next; the first frame is a key frame
        every: Given<u32> = whole::<u32, 2, 1_000_000>().required(),
        /// bytes of a key frame, as a multiple of the bytes of another frame
        times: Given<f64> = PLAIN.or("10"),
    }
}

table! {
    /// A pause in which no messages are sent.
    PAUSE: PauseKeys = "pause" {
        /// start of the pause, counted from the start of the flow
        from: Given<Duration> = TIME.required(),
        /// end of the pause, counted from the start of the flow
        to: Given<Duration> = SPAN.required(),
        /// if true, the source hands over at the end of the pause what was due during it; otherwise the video stands
        /// still
        keep: Given<bool> = SWITCH.or("false"),
    }
}
