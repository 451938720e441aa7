//! The final summary of `send`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::error::CliError;
use crate::show::{
    BuffersNow, CodingNow, GivenUpNow, PathNow, WireNow, bits_per_s, bytes, count, duration, outages, percent,
};

/// The whole stream as seen by its sender; `--json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) input: String,
    pub(super) peer: String,
    pub(super) scheme: String,
    pub(super) seconds: f64,
    /// Messages submitted to the transport.
    pub(super) messages: u64,
    /// Bytes of media in them.
    pub(super) bytes: u64,
    /// Messages of the input, also those that were never submitted.
    #[serde(skip)]
    pub(super) all: u64,
    /// Messages that expired before delivery, as far as the sender knows.
    pub(super) expired: u64,
    /// Messages of frames that the scheme gave up before any of them was sent.
    pub(super) messages_dropped: u64,
    /// Associations after the first.
    pub(super) reconnects: u64,
    /// Outages: no packets from the receiver for 2 s, or a lost association.
    pub(super) outages: u64,
    pub(super) longest_outage_s: f64,
    /// Packets missing in the input itself.
    pub(super) input_gaps: u64,
    /// Losses of sync in the input.
    pub(super) input_resyncs: u64,
    /// The transport's buffers, of the last association.
    pub(super) buffers: BuffersNow,
    /// What the media took on the wire, in the last association.
    pub(super) wire: WireNow,
    /// The paths at their last, with what they carried in all, which were down while they were not there.
    pub(super) paths: Vec<PathNow>,
    /// The scheme's diagnostics at the end.
    pub(super) diagnostics: Vec<&'static str>,
    /// The scheme's own counters, of the last association.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) counters: BTreeMap<&'static str, u64>,
    /// Messages of the last association that went no further, by cause.
    #[serde(skip_serializing_if = "GivenUpNow::is_nothing")]
    pub(super) given_up: GivenUpNow,
    /// Symbols, if any were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) coding: Option<CodingNow>,
}

impl Summary {
    /// Text lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "sent {} ({}) in {}, {} {}",
            count(self.messages, "message"),
            bytes(self.bytes),
            duration(Duration::from_secs_f64(self.seconds)),
            self.expired,
            // What repair symbols brought in time, only the receiver knows.
            if self.coding.is_some() { "not acknowledged in time" } else { "expired" },
        )];
        if self.messages_dropped > 0 {
            let messages = count(self.messages_dropped, "message");
            lines.push(format!("{messages} dropped as whole frames, since not all could be in time"));
        }
        if self.input_gaps + self.input_resyncs > 0 {
            let (gaps, syncs) = (count(self.input_gaps, "gap"), self.input_resyncs);
            lines.push(format!("the input itself had {gaps} and lost sync {syncs} times"));
        }
        lines.extend(outages(self.outages, self.longest_outage_s));
        for path in &self.paths {
            let loss = path.loss.map_or("-".to_owned(), percent);
            let rate = bits_per_s(path.bytes as f64 * 8.0 / self.seconds.max(1e-3));
            let (name, sent) = (&path.name, bytes(path.bytes));
            lines.push(format!("  {name}: {sent}, {rate}, {loss} lost, {:.1} s down", path.down_s));
        }
        lines.extend(self.coding.as_ref().map(CodingNow::line));
        lines.extend(self.wire.line());
        lines.push(self.buffers.sent());
        lines
    }

    /// Whether the stream was of use.
    ///
    /// # Errors
    /// [`CliError::Unmet`]: most messages expired.
    pub(super) fn verdict(&self) -> Result<(), CliError> {
        let all = self.all;
        match self.expired * 2 > all {
            true => {
                Err(CliError::Unmet(format!("{} of {all} messages were not delivered in time", self.expired)))
            }
            false => Ok(()),
        }
    }

    /// The JSON output.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("numbers and names always serialise")
    }
}
