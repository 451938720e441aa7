//! The final summary of `send`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::error::Error;
use crate::live::stats::{BuffersNow, CodingNow, GivenUpNow, PathNow, WireNow};
use crate::text::{bits_per_s, bytes, causes, count, duration, outages, percent};

/// Summary of a whole stream at its sender. The summary serialises in the form that `send --json` prints.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SendSummary {
    /// Name of the input.
    pub input: String,
    /// Name of the receiver.
    pub peer: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Seconds since the start.
    pub seconds: f64,
    /// Number of messages submitted to the transport.
    pub messages: u64,
    /// Bytes of media in submitted messages.
    pub bytes: u64,
    /// Number of messages of the input, including those that were never submitted.
    #[serde(skip)]
    pub all: u64,
    /// Number of messages that expired before delivery, according to acknowledgements. The number includes messages
    /// that were lost and not retransmitted. The receiver may have recovered such messages.
    pub expired: u64,
    /// Number of messages of frames that the scheme gave up before any of them was sent. `expired` does not include
    /// these messages.
    pub messages_dropped: u64,
    /// Messages that were dropped, by cause ([`DropCause`](crate::live::DropCause)).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub drops: BTreeMap<&'static str, u64>,
    /// Number of messages that expired or were dropped, by cause. The cause of a message is the one that delayed it
    /// longest. The names of causes are those of `explain`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub late_by: BTreeMap<&'static str, u64>,
    /// Seconds for which new data waited, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub held_s: BTreeMap<&'static str, f64>,
    /// Number of associations after the first.
    pub reconnects: u64,
    /// Number of outages: no packets from the receiver for 2 s, or a lost association.
    pub outages: u64,
    /// Duration of the longest outage.
    pub longest_outage_s: f64,
    /// Number of packets missing in the input itself.
    pub input_gaps: u64,
    /// Number of losses of sync in the input.
    pub input_resyncs: u64,
    /// Buffers of the transport in the last association.
    pub buffers: BuffersNow,
    /// Bytes of the media on the wire, over all associations.
    pub wire: WireNow,
    /// The last row of each path with its totals. A path counts as down while it does not exist.
    pub paths: Vec<PathNow>,
    /// The scheme's diagnostics at the end.
    pub diagnostics: Vec<&'static str>,
    /// The scheme's own counters in the last association.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<&'static str, u64>,
    /// Messages of the last association that were given up, by cause.
    #[serde(skip_serializing_if = "GivenUpNow::is_nothing")]
    pub given_up: GivenUpNow,
    /// Counters of symbols, if any symbols were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<CodingNow>,
}

impl SendSummary {
    /// Returns the summary as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "sent {} ({}) in {}, {} {}",
            count(self.messages, "message"),
            bytes(self.bytes),
            duration(Duration::from_secs_f64(self.seconds)),
            self.expired,
            // Only the receiver can count messages that repair symbols recovered in time.
            if self.coding.is_some() { "not acknowledged in time" } else { "expired" },
        )];
        if self.messages_dropped > 0 {
            let messages = count(self.messages_dropped, "message");
            lines.push(format!("{messages} dropped as whole frames, since not all could be in time"));
        }
        if !self.drops.is_empty() {
            lines.push(format!("dropped by cause: {}", causes(&self.drops)));
        }
        if !self.late_by.is_empty() {
            lines.push(format!("held up longest by: {}", causes(&self.late_by)));
        }
        if self.input_gaps + self.input_resyncs > 0 {
            let (gaps, syncs) = (count(self.input_gaps, "gap"), self.input_resyncs);
            lines.push(format!("the input itself had {gaps} and lost sync {syncs} times"));
        }
        lines.extend(outages(self.outages, self.longest_outage_s));
        for path in &self.paths {
            let loss = path.loss_total.map_or("-".to_owned(), percent);
            let rate = bits_per_s(path.bytes as f64 * 8.0 / self.seconds.max(1e-3));
            let (name, sent) = (&path.name, bytes(path.bytes));
            lines.push(format!("  {name}: {sent}, {rate}, {loss} lost, {:.1} s down", path.down_s));
        }
        lines.extend(self.coding.as_ref().map(CodingNow::line));
        lines.extend(self.wire.line());
        lines.push(self.buffers.sent());
        lines
    }

    /// Returns an error if the stream did not reach its goal.
    ///
    /// # Errors
    /// Returns [`Error::Unmet`] if most messages expired.
    pub(super) fn verdict(&self) -> Result<(), Error> {
        let all = self.all;
        match self.expired * 2 > all {
            true => {
                Err(Error::Unmet(format!("{} of {all} messages were not delivered in time", self.expired)))
            }
            false => Ok(()),
        }
    }
}
