//! Reports: HTML pages about streams. A report is one file that contains everything, with plots as inline SVG. It loads
//! nothing, and is readable in light and dark mode and on telephones.
//!
//! A [`StreamReport`] is about a stream of the past. It is made from the [lines](super::lines) of statistics of the
//! stream's sender, of its receiver, or of both. A program that keeps these lines can write the report at any time:
//!
//! ```
//! use serde_json::json;
//! use strandcast::live::report::StreamReport;
//!
//! let line = |second: u64| {
//!     json!({
//!         "time": format!("2026-11-23T16:31:{second:02}.000Z"), "role": "receive", "stream": "0000beef",
//!         "peer": "van1", "scheme": "strand", "paths": [],
//!         "media": { "messages": 100 * second, "bytes": 131_600 * second, "late": 0, "lost": 0, "rate_bps": 1.05e6 },
//!     })
//! };
//! let lines: Vec<_> = (0..60).map(line).collect();
//! let report = StreamReport::of(&lines, None)?;
//! assert_eq!(report.stream(), "0000beef");
//! assert!(report.html().starts_with("<!doctype html>"));
//! # Ok::<(), strandcast::live::report::ReportError>(())
//! ```
//!
//! A [`trial`] is a stream whose two ends are in one process.

mod axis;
mod chart;
mod ends;
mod page;
mod points;
mod stream;
mod stream_page;
pub mod trial;

pub use stream::{ReportError, StreamReport};
