//! Live video as encoders and pipes deliver it: in bursts, with key frames and with pauses.

use core::time::Duration;

use strandcast_media::ts::FrameType;
use strandcast_proto::policy::Importance;
use strandcast_proto::time::Instant;

use super::{Emission, Frame, Level, Source};

/// Amount of data that a source delivers at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// The source delivers all messages that become due within this time.
    Time(Duration),
    /// The source delivers this number of bytes.
    Bytes(u64),
}

/// Key frames, which are longer than other frames. Key frames do not change the mean rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyFrames {
    /// Number of frames from one key frame to the next. The first frame is a key frame.
    pub every: u32,
    /// Size of a key frame as a multiple of the size of other frames.
    pub times: f64,
}

/// A pause in which the source sends no messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Start of the pause, measured from the start of the source.
    pub from: Duration,
    /// End of the pause, measured from the start of the source.
    pub to: Duration,
    /// If true, the source delivers the messages of the pause at the end of the pause. If false, the video stops during
    /// the pause.
    pub keep: bool,
}

/// Rate, bursts and pauses of a live video.
#[derive(Debug)]
pub struct LiveConfig {
    /// Mean rate outside pauses in bit/s. The mean rate must be above 0.
    pub rate_bps: f64,
    /// Number of bytes of a message, at least 1.
    pub size: u32,
    /// Amount of data that the source delivers at one time. `None` means one message.
    pub burst: Option<Burst>,
    /// Time between two messages of a burst, in seconds. The time is determined when the burst begins. A time that
    /// would be drawn for each packet is therefore drawn once per burst.
    pub spacing: Box<dyn Level>,
    /// If set, each burst is a frame, and some frames are key frames. `None` means that each message is a frame.
    pub key_frames: Option<KeyFrames>,
    /// Pauses in order of time. Each begins after the end of the previous pause.
    pub pauses: Vec<Pause>,
}

/// A video with a constant rate. The source delivers the video in bursts of whole messages at equal intervals. The
/// first burst is at the start. If only a part of a message is due by the time of a burst, the whole message is
/// delivered with the next burst.
#[derive(Debug)]
pub struct LiveVideo {
    config: LiveConfig,
    start: Instant,
    stop: Instant,
    /// Mean number of bytes of a burst.
    burst_bytes: f64,
    /// Number of bursts that have begun.
    bursts: u64,
    /// Number of messages in these bursts.
    messages: u64,
    /// Number of messages of the last burst that have not been sent; `at` is the time of the next one.
    left: u64,
    at: Instant,
    spacing: Duration,
    /// Capture time of the last burst; `is_key` is true if the burst is a key frame.
    capture: Instant,
    is_key: bool,
    /// Number of complete frames.
    frames: u32,
}

impl LiveVideo {
    /// Creates a video whose messages are sent from `start` until before `stop`.
    pub fn new(config: LiveConfig, start: Instant, stop: Instant) -> Self {
        let burst_bytes = match config.burst {
            None => f64::from(config.size),
            Some(Burst::Bytes(bytes)) => bytes.max(1) as f64,
            Some(Burst::Time(time)) => config.rate_bps / 8.0 * time.as_secs_f64(),
        };
        LiveVideo {
            config,
            start,
            stop,
            burst_bytes,
            bursts: 0,
            messages: 0,
            left: 0,
            at: start,
            spacing: Duration::ZERO,
            capture: start,
            is_key: false,
            frames: 0,
        }
    }

    /// Returns the number of whole messages in the first `bursts` bursts.
    fn due(&self, bursts: u64) -> u64 {
        let plain = |bursts: u64| bursts as f64 * self.burst_bytes;
        let bytes = match self.config.key_frames {
            None => plain(bursts),
            Some(KeyFrames { every, times }) => {
                let group = u64::from(every.max(1));
                let frame = plain(group) / (group as f64 - 1.0 + times);
                let in_group = bursts % group;
                let key = if in_group > 0 { times - 1.0 } else { 0.0 };
                plain(bursts - in_group) + frame * (in_group as f64 + key)
            }
        };
        // If rounding alone keeps the sum below a whole number, the sum counts as that number.
        (bytes / f64::from(self.config.size.max(1)) + 1e-6) as u64
    }

    /// Returns the time at which the source delivers a burst that would be due at `time` without pauses. The returned
    /// time and `time` count from the start.
    fn after_pauses(&self, time: Duration) -> Duration {
        let pause = |at: Duration, pause: &Pause| match pause {
            Pause { from, .. } if at < *from => at,
            Pause { to, keep: true, .. } => at.max(*to),
            Pause { from, to, .. } => at.saturating_add(*to - *from),
        };
        self.config.pauses.iter().fold(time, pause)
    }

    /// Advances to the next burst that contains a message. Returns `None` if no such burst begins before `stop`.
    fn next_burst(&mut self) -> Option<()> {
        while self.left == 0 {
            let seconds = self.burst_bytes * 8.0 * self.bursts as f64 / self.config.rate_bps;
            let due = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            let at = (self.start + self.after_pauses(due)).max(self.at);
            if at >= self.stop {
                return None;
            }
            self.is_key =
                self.config.key_frames.is_some_and(|key| self.bursts.is_multiple_of(key.every.max(1).into()));
            self.bursts += 1;
            let messages = self.due(self.bursts);
            self.left = messages - self.messages;
            self.messages = messages;
            (self.at, self.capture) = (at, at);
            if self.left > 0 {
                let spacing = self.config.spacing.at(at).max(0.0);
                self.spacing = Duration::try_from_secs_f64(spacing).unwrap_or(Duration::MAX);
            }
        }
        Some(())
    }

    /// Returns the frame of the next message.
    fn frame(&self) -> Frame {
        if self.config.key_frames.is_none() {
            let (kind, importance) = (Some(FrameType::I), Importance::Normal);
            return Frame { number: self.frames, kind, importance, capture: self.at, last: true };
        }
        let (kind, importance) = match self.is_key {
            true => (FrameType::I, Importance::Key),
            false => (FrameType::P, Importance::Reference),
        };
        let (number, capture, last) = (self.frames, self.capture, self.left == 1);
        Frame { number, kind: Some(kind), importance, capture, last }
    }
}

impl Source for LiveVideo {
    fn next(&mut self) -> Option<Emission> {
        self.next_burst()?;
        if self.at >= self.stop {
            return None;
        }
        let frame = self.frame();
        let emission = Emission { at: self.at, bytes: self.config.size, frame: Some(frame) };
        self.frames = self.frames.wrapping_add(u32::from(frame.last));
        self.left -= 1;
        self.at += self.spacing;
        Some(emission)
    }
}
