//! Videos in the form that the simulator sends, and the facts about them that meters need.

use std::sync::Arc;

use strandcast_media::trace::FrameTrace;
use strandcast_proto::time::Instant;
use strandcast_sim::traffic::{self, ConstantVideo, Level, LiveConfig, LiveVideo, Source, TracedVideo};

use super::BuildError;
use super::values::frames;
use crate::result::meter::{VideoFrame, VideoSource, VideoSpec};
use crate::scenario::{App, Burst, Frames, KeyFrames, Named, Number, Pause, TraceFile, Video};

/// Source of a video's messages. The source sends from `start` on, and before `stop`. `level` makes a number that may
/// change. `trace` reads a trace, or returns a trace that has already been read.
pub(super) fn video_source(
    video: &Video,
    level: impl FnOnce(&Number) -> Box<dyn Level>,
    trace: impl FnOnce(&TraceFile) -> Arc<FrameTrace>,
    start: Instant,
    stop: Instant,
) -> Box<dyn Source> {
    match &video.frames {
        Frames::Constant { rate } => Box::new(ConstantVideo::new(video.size, *rate, start, stop)),
        Frames::Live { rate, burst, spacing, key_frames, pause } => {
            let config = LiveConfig {
                rate_bps: *rate,
                size: video.size,
                burst: burst.map(burst_of),
                spacing: level(spacing),
                key_frames: key_frames.map(|KeyFrames { every, times }| traffic::KeyFrames { every, times }),
                pauses: in_order(pause),
            };
            Box::new(LiveVideo::new(config, start, stop))
        }
        Frames::Trace { file, repeat } => {
            Box::new(TracedVideo::new(trace(file), *repeat, video.size, start, stop))
        }
    }
}

fn burst_of(burst: Burst) -> traffic::Burst {
    match burst {
        Burst::Time(time) => traffic::Burst::Time(time),
        Burst::Bytes(bytes) => traffic::Burst::Bytes(bytes),
    }
}

fn in_order(pauses: &Named<Pause>) -> Vec<traffic::Pause> {
    let pause = |&Pause { from, to, keep }: &Pause| traffic::Pause { from, to, keep };
    let mut all: Vec<_> = pauses.values().map(pause).collect();
    all.sort_by_key(|pause| pause.from);
    all
}

/// Description of the video that an application sends between `start` and `end`. `None` if the application sends no
/// video. `level` makes a number that may change.
pub(super) fn video(
    app: &App,
    level: impl FnOnce(&Number) -> Box<dyn Level>,
    start: Instant,
    end: Instant,
    key: &str,
) -> Result<Option<VideoSpec>, BuildError> {
    let App::Video(video) = app else { return Ok(None) };
    let trace = match &video.frames {
        Frames::Trace { file, .. } => Some(frames(file, &format!("{key}.app.trace"))?),
        Frames::Constant { .. } | Frames::Live { .. } => None,
    };
    let source = match &video.frames {
        Frames::Constant { rate } => {
            VideoSource::Constant { rate_bps: *rate, message_bytes: video.size, start, end }
        }
        Frames::Live { .. } | Frames::Trace { .. } => {
            let trace = |_: &TraceFile| trace.expect("the trace of this video was read just now");
            let listed = listed(video_source(video, level, trace, start, end));
            match &video.frames {
                Frames::Live { key_frames: None, .. } => VideoSource::Messages(listed),
                _ => VideoSource::Frames(listed),
            }
        }
    };
    let Video { deadline, prebuffer, psnr_deadline, expire, .. } = *video;
    Ok(Some(VideoSpec { source, deadline, prebuffer, psnr_deadline, complete: !expire }))
}

/// All frames, each with the numbers of its messages.
fn listed(mut source: Box<dyn Source>) -> Vec<VideoFrame> {
    let mut all: Vec<VideoFrame> = Vec::new();
    let mut number = None;
    let mut message = 0;
    while let Some(emission) = source.next() {
        let Some(frame) = emission.frame else { continue };
        if number != Some(frame.number) {
            number = Some(frame.number);
            let (kind, capture) = (frame.kind, frame.capture);
            all.push(VideoFrame { kind, capture, bytes: 0, messages: message..message });
        }
        message += 1;
        if let Some(last) = all.last_mut() {
            last.bytes += emission.bytes;
            last.messages.end = message;
        }
    }
    all
}
