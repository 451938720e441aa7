//! Selection of the messages to explain.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::sync::Arc;

use strandcast_media::trace::FrameTrace;
use strandcast_media::ts::FrameType;
use strandcast_proto::time::Instant;
use strandcast_sim::traffic::{Level, Source};

use crate::scenario::{App, Frames, Number, Scenario, TraceFile, Video};
use crate::simulation::video::video_source;

/// Message or frame to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// A message of a flow, by number from 0.
    Message(u64),
    /// A frame of a flow's video. The number of a frame counts from 0 in the order of sending.
    Frame(u32),
}

/// A frame of a video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameInfo {
    /// Number of frames that were sent before this one.
    pub number: u32,
    /// Type of the frame. `None` for a header, or if the type is unknown.
    pub kind: Option<FrameType>,
    /// Time from the capture of the frame to its submission.
    pub lag: Duration,
    /// Time from the capture of the frame to its display.
    pub deadline: Duration,
}

/// Reason why there is nothing to explain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The scenario has no such flow.
    #[error("there is no flow '{name}'; choose from {known}")]
    UnknownFlow {
        /// Name in the query.
        name: String,
        /// Names of all flows.
        known: String,
    },
    /// The flow sends a stream of bytes as fast as it can.
    #[error("flow '{0}' sends a stream of bytes, not messages; only its packets can be traced")]
    NoMessages(String),
    /// The flow carries no video.
    #[error("flow '{0}' carries no video; ask for a message")]
    NoVideo(String),
    /// The video has fewer frames, or the frame is sent after the end of the run.
    #[error("the video of flow '{flow}' has {} in this run", counted(*.frames, *.messages))]
    TooShort {
        /// The flow.
        flow: String,
        /// Number of frames that are sent before the run ends.
        frames: u64,
        /// Number of messages of these frames.
        messages: u64,
    },
    /// The run ended before the message or frame was sent.
    #[error("flow '{flow}' sent no {what} {number} in this run; it sent {}", numbers(what, *.sent))]
    NotSent {
        /// The flow.
        flow: String,
        /// `message` or `frame`.
        what: &'static str,
        /// Number in the query.
        number: u64,
        /// Number of messages that the flow sent.
        sent: u64,
    },
}

fn numbers(what: &str, count: u64) -> String {
    match count {
        0 => "none".to_owned(),
        1 => format!("{what} 0 alone"),
        _ => format!("{what}s 0 to {}", count - 1),
    }
}

fn counted(frames: u64, messages: u64) -> String {
    format!("{}, in {}", numbers("frame", frames), numbers("message", messages))
}

/// Messages that were selected, and the frame to which they belong.
pub(super) struct Meant {
    pub messages: RangeInclusive<u64>,
    pub frame: Option<FrameInfo>,
}

/// Flow of the scenario to which an instance (`tcp#2`) belongs.
pub(super) fn base(scenario: &Scenario, flow: &str) -> Option<String> {
    if scenario.flows.contains_key(flow) {
        return Some(flow.to_owned());
    }
    let (base, number) = flow.rsplit_once('#')?;
    let count = scenario.flows.get(base)?.count;
    number.parse().ok().filter(|n: &u32| (1..=count).contains(n)).map(|_| base.to_owned())
}

/// Messages that `query` selects among those that `app` sends. The run has the length `time`.
pub(super) fn meant(app: &App, flow: &str, query: Query, time: Duration) -> Result<Meant, ExplainError> {
    match (app, query) {
        (App::Video(video), _) => of_video(video, flow, query, Instant::ZERO + time),
        (_, Query::Message(number)) => Ok(Meant { messages: number..=number, frame: None }),
        (_, Query::Frame(_)) => Err(ExplainError::NoVideo(flow.to_owned())),
    }
}

/// Number of frames to which the first `messages` messages of `app` belong. `None` if the application is not a video.
pub(super) fn frames_in(app: &App, messages: u64) -> Option<u64> {
    let App::Video(video) = app else { return None };
    let Some(mut source) = source(video, Instant::MAX) else { return Some(messages) };
    let mut frames = 0;
    for _ in 0..messages {
        let Some(frame) = source.next().and_then(|emission| emission.frame) else { break };
        frames = u64::from(frame.number) + 1;
    }
    Some(frames)
}

/// Source of a video's messages. `None`: messages are at even intervals, and each is a frame.
fn source(video: &Video, stop: Instant) -> Option<Box<dyn Source>> {
    if matches!(video.frames, Frames::Constant { .. }) {
        return None;
    }
    let trace = |file: &TraceFile| {
        Arc::new(FrameTrace::parse(&file.text).expect("a scenario's traces were read with it"))
    };
    // The assignment of messages to frames does not depend on their exact times.
    let level = |number: &Number| -> Box<dyn Level> {
        Box::new(if let Number::Constant(value) = number { *value } else { 0.0 })
    };
    Some(video_source(video, level, trace, Instant::ZERO, stop))
}

fn of_video(video: &Video, flow: &str, query: Query, stop: Instant) -> Result<Meant, ExplainError> {
    let note = |number, kind, lag| FrameInfo { number, kind, lag, deadline: video.deadline };
    let Some(mut source) = source(video, stop) else {
        let number = match query {
            Query::Message(number) => number,
            Query::Frame(number) => u64::from(number),
        };
        let frame = note(number as u32, None, Duration::ZERO);
        return Ok(Meant { messages: number..=number, frame: Some(frame) });
    };
    let (mut message, mut first, mut frames) = (0, 0, 0);
    while let Some(emission) = source.next() {
        let Some(frame) = emission.frame else { continue };
        frames = u64::from(frame.number) + 1;
        let found = match query {
            Query::Message(number) => number == message,
            Query::Frame(number) => number == frame.number && frame.last,
        };
        if found {
            let messages = match query {
                Query::Message(number) => number..=number,
                Query::Frame(_) => first..=message,
            };
            let frame = note(frame.number, frame.kind, emission.at - frame.capture);
            return Ok(Meant { messages, frame: Some(frame) });
        }
        message += 1;
        if frame.last {
            first = message;
        }
    }
    Err(ExplainError::TooShort { flow: flow.to_owned(), frames, messages: message })
}
