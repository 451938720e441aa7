//! Traces of frame sizes: a video as a list of frames, without its pictures.

mod frames;
mod parse;
#[cfg(test)]
mod tests;

pub use frames::{FrameTrace, TracedFrame};
pub use parse::TraceError;
