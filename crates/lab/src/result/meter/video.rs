//! Results of a flow's video from the viewer's point of view.

use core::ops::Range;
use core::time::Duration;

use strandcast_media::quality::{decodable, frozen_psnr_db};
use strandcast_media::ts::FrameType;
use strandcast_proto::time::Instant;

use super::Window;
use super::order::Message;
use super::player::Player;
use super::viewer::{LivePlayer, Messages, Nominal, Seen, underflows};
use crate::result::Frame;

/// Length of an interval. The mean of eq. 17 is taken over the values of such intervals.
const BIN: Duration = Duration::from_secs(10);
/// Smallest deficit in eq. 17, as a share of the expected rate. The deficit corresponds to 60 dB.
const MIN_DEFICIT: f64 = 1e-3;

/// A video that a flow carries.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoSpec {
    /// Frames that the application sends.
    pub source: VideoSource,
    /// Time from capture to playing. A frame that is not complete by then is late.
    pub deadline: Duration,
    /// Playing time of the media that the player buffers before it begins. It buffers as much again after an underflow.
    pub prebuffer: Duration,
    /// True if all data are eventually delivered, so that a player can wait for them.
    pub complete: bool,
    /// Time from capture. Bytes count for eq. 17 only if they are in order within this time. ASSUMED: the paper does
    /// not specify when its rate is measured.
    pub psnr_deadline: Duration,
}

/// Frames of a video.
#[derive(Clone, Debug, PartialEq)]
pub enum VideoSource {
    /// One message after the other, without frames.
    Constant {
        /// Rate in bit/s.
        rate_bps: f64,
        /// Bytes per message.
        message_bytes: u32,
        /// Capture time of the first message.
        start: Instant,
        /// Time before which all messages except the first are captured.
        end: Instant,
    },
    /// Frames in the order in which they are sent.
    Frames(Vec<VideoFrame>),
    /// Messages at arbitrary times, each as a frame. The messages do not show where pictures begin and end.
    Messages(Vec<VideoFrame>),
}

impl VideoSource {
    /// Frames or messages that are listed individually.
    fn listed(&self) -> Option<&[VideoFrame]> {
        match self {
            VideoSource::Constant { .. } => None,
            VideoSource::Frames(units) | VideoSource::Messages(units) => Some(units),
        }
    }
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoFrame {
    /// Type of the frame. `None` for a header, on which all frames depend.
    pub kind: Option<FrameType>,
    /// Time of capture, which is also the time of display.
    pub capture: Instant,
    /// Size of the frame.
    pub bytes: u32,
    /// Numbers of the frame's messages. The numbers ascend from frame to frame without gaps.
    pub messages: Range<u64>,
}

/// Equation 17: 20 log10(MAX / |EXP - CRT|) with MAX = EXP. If the measured rate is higher than the expected rate, it
/// counts as the expected rate. If the deficit is less than a thousandth, it counts as a thousandth, so that the result
/// is at most 60 dB. A measured rate of 0 gives 0 dB.
pub fn eq17_db(expected_bps: f64, measured_bps: f64) -> f64 {
    let deficit = 1.0 - (measured_bps / expected_bps).clamp(0.0, 1.0);
    -20.0 * libm::log10(deficit.max(MIN_DEFICIT))
}

/// Part of a [`FlowMeter`](super::FlowMeter) that evaluates a video.
#[derive(Debug)]
pub(super) struct VideoMeter {
    spec: VideoSpec,
    window: Window,
    /// Time from the first capture to the end of the last frame, limited to the window.
    life: Window,
    end: Instant,
    /// Expected rate, bit/s.
    rate_bps: f64,
    /// Time for which each frame is shown. Zero for a video of constant rate.
    frame_time: Duration,
    frames: Vec<Progress>,
    player: Player,
    /// Viewer of a video of constant rate.
    viewer: Option<Messages>,
    /// Number of bytes that were in order at most `psnr_deadline` after their capture.
    in_time: u64,
    /// Number of bytes that were in order by the end of sending.
    by_end: u64,
    /// Number of bytes that came into order in each interval.
    bins: Vec<u64>,
    stream: Stream,
}

/// Progress of a frame.
#[derive(Clone, Copy, Debug)]
struct Progress {
    missing: u64,
    /// Time at which the frame was complete.
    whole: Option<Instant>,
}

/// The video as a stream of bytes.
#[derive(Debug, Default)]
struct Stream {
    /// Bytes that arrived but do not complete a unit yet.
    rest: u64,
    /// Number of complete units. A unit is a frame, or a message of a video of constant rate.
    units: u64,
}

impl VideoMeter {
    pub fn new(spec: VideoSpec, window: Window) -> Self {
        let (start, end, rate_bps) = extent(&spec.source);
        let life = Window { from: window.from.max(start), to: window.to.min(end) };
        let (frames, frame_time) = match spec.source.listed() {
            None => (Vec::new(), Duration::ZERO),
            Some(frames) => {
                let progress = |f: &VideoFrame| {
                    let missing = f.messages.end - f.messages.start;
                    Progress { missing, whole: (missing == 0).then_some(f.capture) }
                };
                let time = (end - start) / u32::try_from(frames.len()).unwrap_or(u32::MAX).max(1);
                (frames.iter().map(progress).collect(), time)
            }
        };
        let bins = (life.to - life.from).as_nanos() / BIN.as_nanos();
        let viewer = match &spec.source {
            VideoSource::Constant { rate_bps, message_bytes, start, end } => {
                let interval_s = f64::from(*message_bytes) * 8.0 / rate_bps;
                let player = LivePlayer::new(spec.deadline, spec.prebuffer, window);
                let judged = judged(life, *end, window, spec.deadline);
                Some(Messages::new([*start, *end], interval_s, spec.deadline, judged, player))
            }
            VideoSource::Frames(_) | VideoSource::Messages(_) => None,
        };
        VideoMeter {
            player: Player::new(spec.prebuffer, window),
            viewer,
            spec,
            window,
            life,
            end,
            rate_bps,
            frame_time,
            frames,
            in_time: 0,
            by_end: 0,
            bins: vec![0; bins as usize],
            stream: Stream::default(),
        }
    }

    /// Records a message that arrived. It need not be in order.
    pub fn delivered(&mut self, now: Instant, number: u64) {
        if let Some(viewer) = &mut self.viewer {
            viewer.came(now, number);
        }
        let Some(frame) = self.frame_of(number) else { return };
        let progress = &mut self.frames[frame];
        progress.missing = progress.missing.saturating_sub(1);
        if progress.missing == 0 {
            progress.whole.get_or_insert(now);
        }
    }

    /// Records a message that is in order.
    pub fn in_order(&mut self, now: Instant, message: Message) {
        let (capture, bytes) = (message.submitted, u64::from(message.bytes));
        let deadline = self.spec.psnr_deadline;
        if self.judged(deadline).contains(capture) && now <= capture + deadline {
            self.in_time += bytes;
        }
        if self.life.contains(capture) && now <= self.life.to {
            self.by_end += bytes;
        }
        let bin = (now - self.life.from).as_nanos() / BIN.as_nanos();
        if self.life.contains(now)
            && let Some(bin) = self.bins.get_mut(bin as usize)
        {
            *bin += bytes;
        }
        self.play(now, message);
    }

    /// Records further bytes of the stream.
    pub fn progressed(&mut self, now: Instant, bytes: u64) {
        self.stream.rest += bytes;
        let Some(frames) = self.spec.source.listed() else { return };
        let mut rest = self.stream.rest;
        let come = self.stream.units as usize;
        for (frame, progress) in frames.iter().zip(&mut self.frames).skip(come) {
            let Some(left) = rest.checked_sub(u64::from(frame.bytes)) else { return };
            rest = left;
            progress.missing = 0;
            progress.whole.get_or_insert(now);
        }
    }

    /// Returns the next complete message or frame of the stream.
    pub fn next_in_stream(&mut self) -> Option<Message> {
        let unit = self.stream.units;
        let message = match &self.spec.source {
            VideoSource::Constant { message_bytes, .. } => {
                let submitted = self.viewer.as_ref()?.capture(unit);
                Message { number: unit, bytes: *message_bytes, submitted }
            }
            VideoSource::Frames(frames) | VideoSource::Messages(frames) => {
                let frame = frames.get(unit as usize)?;
                let number = frame.messages.end.saturating_sub(1);
                Message { number, bytes: frame.bytes, submitted: frame.capture }
            }
        };
        self.stream.rest = self.stream.rest.checked_sub(u64::from(message.bytes))?;
        self.stream.units += 1;
        Some(message)
    }

    pub fn put(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let eq17 = |bytes: u64, window: &Window| match window.seconds() {
            seconds if seconds > 0.0 => eq17_db(self.rate_bps, bytes as f64 * 8.0 / seconds),
            _ => f64::NAN,
        };
        put("psnr_eq17_db", eq17(self.in_time, &self.judged(self.spec.psnr_deadline)));
        put("psnr_eq17_end_db", eq17(self.by_end, &self.life));
        let bin = |&bytes: &u64| eq17_db(self.rate_bps, bytes as f64 * 8.0 / BIN.as_secs_f64());
        put("psnr_eq17_bins_db", self.bins.iter().map(bin).sum::<f64>() / self.bins.len() as f64);
        if self.spec.complete {
            put("stalls", self.player.underflows() as f64);
        }
        let of_messages = |seen: Seen, put: &mut dyn FnMut(&'static str, f64)| {
            put("due_messages", seen.due as f64);
            seen.put(["late_messages", "missed_messages"], put);
        };
        match &self.spec.source {
            VideoSource::Constant { .. } => {
                let Some(viewer) = &self.viewer else { return };
                put("underflows", viewer.underflows() as f64);
                of_messages(viewer.seen(), put);
            }
            VideoSource::Messages(messages) => {
                put("underflows", self.underflows(messages));
                of_messages(self.messages(messages), put);
            }
            VideoSource::Frames(frames) => {
                put("underflows", self.underflows(frames));
                self.put_frames(frames, put).put(["late_frames", "missed_frames"], put);
            }
        }
    }

    fn underflows(&self, frames: &[VideoFrame]) -> f64 {
        let shown = order_of_display(frames).into_iter().filter(|&i| frames[i].kind.is_some());
        let units: Vec<_> = shown.map(|i| (frames[i].capture, self.frames[i].whole)).collect();
        underflows(LivePlayer::new(self.spec.deadline, self.spec.prebuffer, self.window), &units) as f64
    }

    /// Counts messages that do not show where pictures begin and end.
    fn messages(&self, messages: &[VideoFrame]) -> Seen {
        let judged = self.judged(self.spec.deadline);
        let start = messages.first().map_or(judged.from, |first| first.capture);
        let mut nominal = Nominal::new(start, judged);
        for (message, progress) in messages.iter().zip(&self.frames) {
            let due = message.capture + self.spec.deadline;
            if judged.contains(message.capture) {
                let missed = progress.whole.is_none_or(|at| at > due);
                nominal.unit(message.capture, missed.then_some(progress.whole.is_some()));
            }
        }
        nominal.seen()
    }

    /// Returns the outcome of each frame, in the order of sending. Times are seconds since `origin`.
    pub fn frames(&self, origin: Instant) -> Vec<Frame> {
        let Some(frames) = self.spec.source.listed() else { return Vec::new() };
        // Background load begins before the flows' time 0, but videos do not.
        let seconds = |at: Instant| (at - origin).as_secs_f64();
        let of = |(frame, progress): (&VideoFrame, &Progress)| Frame {
            kind: frame.kind,
            captured_s: seconds(frame.capture),
            due_s: seconds(frame.capture + self.spec.deadline),
            whole_s: progress.whole.map(seconds),
        };
        frames.iter().zip(&self.frames).map(of).collect()
    }

    /// Part of the window in which frames can be judged. The outcome of a frame may take this time.
    fn judged(&self, time: Duration) -> Window {
        judged(self.life, self.end, self.window, time)
    }

    fn frame_of(&self, number: u64) -> Option<usize> {
        let frames = self.spec.source.listed()?;
        let frame = frames.partition_point(|frame| frame.messages.end <= number);
        frames.get(frame).filter(|f| f.messages.contains(&number)).map(|_| frame)
    }

    fn play(&mut self, now: Instant, message: Message) {
        let (media, last) = match &self.spec.source {
            VideoSource::Constant { rate_bps, .. } => {
                let media = Duration::from_secs_f64(f64::from(message.bytes) * 8.0 / rate_bps);
                // Capture times are rounded to nanoseconds.
                (media, message.submitted + media + Duration::from_micros(1) >= self.end)
            }
            VideoSource::Frames(frames) | VideoSource::Messages(frames) => {
                let Some(i) = self.frame_of(message.number) else { return };
                let ends = message.number + 1 == frames[i].messages.end;
                let media =
                    if ends && self.frames[i].missing == 0 { self.frame_time } else { Duration::ZERO };
                (media, frames.last().is_some_and(|last| message.number + 1 >= last.messages.end))
            }
        };
        self.player.add(now, media, last);
    }

    /// Returns the frames in the order of display, each with a flag that is true if the frame is usable. A usable frame
    /// arrived in time. For an I frame, the header before it must also have arrived in time. A header itself has no
    /// deadline.
    fn usable(&self, frames: &[VideoFrame], shown: &[usize]) -> Vec<(Option<FrameType>, bool)> {
        let mut header = None;
        let mut usable = Vec::with_capacity(shown.len());
        for &i in shown {
            let due = frames[i].capture + self.spec.deadline;
            let in_time = |whole: Option<Instant>| whole.is_some_and(|at| at <= due);
            let whole = self.frames[i].whole;
            usable.push((
                frames[i].kind,
                match frames[i].kind {
                    None => {
                        header = Some(whole);
                        true
                    }
                    Some(FrameType::I) => in_time(whole) && header.is_none_or(in_time),
                    Some(_) => in_time(whole),
                },
            ));
        }
        usable
    }

    /// Adds counts of frames by type to the metrics. Returns the pictures that the viewer sees.
    fn put_frames(&self, frames: &[VideoFrame], put: &mut dyn FnMut(&'static str, f64)) -> Seen {
        let deadline = self.spec.deadline;
        let shown = order_of_display(frames);
        let in_time = |i: usize| self.frames[i].whole.map(|at| at <= frames[i].capture + deadline);
        let received: Vec<_> = shown.iter().map(|&i| (frames[i].kind, in_time(i) == Some(true))).collect();
        let usable = self.usable(frames, &shown);
        let (decodable, psnr) = (decodable(&usable), frozen_psnr_db(&usable));
        // A picture counts if its deadline is inside the window. Other pictures may be its references.
        let judged = self.judged(deadline);
        let counted: Vec<usize> = (0..shown.len())
            .filter(|&n| received[n].0.is_some() && judged.contains(frames[shown[n]].capture))
            .collect();
        let of = |kind: Option<FrameType>, which: &dyn Fn(usize) -> bool| {
            counted.iter().filter(|&&n| (kind.is_none() || received[n].0 == kind) && which(n)).count() as f64
        };
        let kinds = [None, Some(FrameType::I), Some(FrameType::P), Some(FrameType::B)];
        let names: [[&'static str; 3]; 4] = [
            ["frames_sent", "frames_received", "frames_decodable"],
            ["frames_sent_i", "frames_received_i", "frames_decodable_i"],
            ["frames_sent_p", "frames_received_p", "frames_decodable_p"],
            ["frames_sent_b", "frames_received_b", "frames_decodable_b"],
        ];
        for (kind, names) in kinds.into_iter().zip(names) {
            put(names[0], of(kind, &|_| true));
            put(names[1], of(kind, &|n| received[n].1));
            put(names[2], of(kind, &|n| decodable[n]));
        }
        let sum: f64 = counted.iter().filter_map(|&n| psnr[n]).sum();
        put("psnr_model_db", sum / counted.len() as f64);
        let count = |which: &dyn Fn(usize) -> bool| counted.iter().filter(|&&n| which(n)).count() as u64;
        let mut seen = Seen {
            due: counted.len() as u64,
            late: count(&|n| in_time(shown[n]) == Some(false)),
            missed: count(&|n| !received[n].1),
            seconds: judged.seconds(),
            ..Seen::default()
        };
        seen.show(&counted.iter().map(|&n| decodable[n]).collect::<Vec<_>>(), self.frame_time);
        seen
    }
}

/// Capture times that can be judged within a window. `life` and `end` describe the video, and the outcome of a capture
/// takes at most `time`.
fn judged(life: Window, end: Instant, window: Window, time: Duration) -> Window {
    Window { from: life.from, to: end.min(window.to - time) }
}

/// Returns the order in which frames are shown. If the capture times of the frames do not ascend, they determine the
/// order. Capture times that ascend may actually be the times at which the frames are sent. In that case, a B frame
/// that depends on two other frames is sent after the later of the two, and shown before it.
fn order_of_display(frames: &[VideoFrame]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..frames.len()).collect();
    if !frames.is_sorted_by_key(|frame| frame.capture) {
        order.sort_by_key(|&i| frames[i].capture);
        return order;
    }
    let is_b = |i: &usize| frames[*i].kind == Some(FrameType::B);
    let before_b = order.iter().take_while(|i| !is_b(i));
    if before_b.filter(|i| frames[**i].kind.is_some()).count() < 2 {
        return order;
    }
    let mut held = None;
    let mut shown = Vec::with_capacity(order.len());
    for i in order {
        match frames[i].kind {
            Some(FrameType::B) => shown.push(i),
            None => shown.extend(held.take().into_iter().chain([i])),
            Some(_) => shown.extend(held.replace(i)),
        }
    }
    shown.extend(held);
    shown
}

/// Time of the first capture, end of the last frame, and mean rate between these times in bit/s.
fn extent(source: &VideoSource) -> (Instant, Instant, f64) {
    match source {
        VideoSource::Constant { rate_bps, start, end, .. } => (*start, *end, *rate_bps),
        VideoSource::Frames(frames) | VideoSource::Messages(frames) => {
            let captures = || frames.iter().map(|frame| frame.capture);
            let (start, last) = (captures().min().unwrap_or_default(), captures().max().unwrap_or_default());
            let intervals = (frames.len() as u32).saturating_sub(1).max(1);
            let end = last + (last - start) / intervals;
            let bytes: u64 = frames.iter().map(|frame| u64::from(frame.bytes)).sum();
            (start, end, bytes as f64 * 8.0 / (end - start).as_secs_f64())
        }
    }
}
