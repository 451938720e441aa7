//! What the meters must know of a video.

use strandcast_proto::time::Instant;
use strandcast_sim::traffic::{Source, TracedVideo};

use super::BuildError;
use super::values::frames;
use crate::result::meter::{VideoFrame, VideoSource, VideoSpec};
use crate::scenario::{App, Frames, Video};

/// The video that an application sends between `start` and `end`, if it is one.
pub(super) fn video(
    app: &App,
    start: Instant,
    end: Instant,
    key: &str,
) -> Result<Option<VideoSpec>, BuildError> {
    let App::Video(video) = app else { return Ok(None) };
    let source = match &video.frames {
        Frames::Constant { rate } => {
            VideoSource::Constant { rate_bps: *rate, message_bytes: video.size, start, end }
        }
        Frames::Trace { file, repeat } => {
            let trace = frames(file, &format!("{key}.app.trace"))?;
            VideoSource::Frames(listed(TracedVideo::new(trace, *repeat, video.size, start, end)))
        }
    };
    let Video { deadline, prebuffer, psnr_deadline, .. } = *video;
    Ok(Some(VideoSpec { source, deadline, prebuffer, psnr_deadline }))
}

/// All frames, each with the numbers of its messages.
fn listed(mut source: TracedVideo) -> Vec<VideoFrame> {
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
