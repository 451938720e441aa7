//! Summary of `receive` at the end of a stream.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use strandcast_proto::time::Instant;

use super::incoming::IncomingStream;
use crate::live::output::OutputNow;
use crate::live::stats::{BuffersNow, CodingNow, Stats, WireNow};
use crate::text::{bytes, causes, count, duration, ms, outages, percent, shifts};

/// Summary of a stream at its receiver. The summary serialises in the form that `receive --json` prints.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReceiveSummary {
    /// Name of the sender.
    pub sender: String,
    /// Seconds since the first message arrived.
    pub seconds: f64,
    /// Time from sending to playing.
    pub latency_ms: u64,
    /// Number of messages played in time.
    pub played: u64,
    /// Bytes of media in the played messages.
    pub bytes: u64,
    /// Number of messages that arrived late.
    pub late: u64,
    /// Number of messages that never arrived.
    pub lost: u64,
    /// Messages that were late or lost, by cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub late_by: BTreeMap<&'static str, u64>,
    /// Number of messages that were sent before the first one that arrived.
    pub before: u64,
    /// Number of malformed messages.
    pub malformed: u64,
    /// Number of messages that were dropped because an output was not read.
    pub unread: u64,
    /// Number of messages that an output could not write.
    pub unsent: u64,
    /// State of each output: its name, the number of unread messages, the numbers of unsent messages by reason, and the
    /// reason why the output failed.
    pub outputs: Vec<OutputNow>,
    /// True if every byte was played as it was sent. `None` if the message that ends the stream did not arrive.
    pub identical: Option<bool>,
    /// True if the message that ends the stream arrived.
    pub complete: bool,
    /// Number of times at which due media were missing.
    pub underflows: u64,
    /// Duration of the longest gap.
    pub longest_gap_ms: f64,
    /// Share of the playing time without gaps.
    pub continuity: f64,
    /// Number of shifts of playout beyond the latency.
    pub shifts: u64,
    /// Shift at the end.
    pub shift_ms: f64,
    /// Largest shift.
    pub largest_shift_ms: f64,
    /// Number of jumps of the sender's clock.
    pub clock_jumps: u64,
    /// Number of associations after the first.
    pub reconnects: u64,
    /// Buffers of the transport in the last association.
    pub buffers: BuffersNow,
    /// Bytes of the media on the wire, over all associations.
    pub wire: WireNow,
    /// Counters of symbols, if any arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<CodingNow>,
    /// Number of outages. An outage is a time of 2 s without packets from the sender, or the loss of an association.
    pub outages: u64,
    /// Duration of the longest outage.
    pub longest_outage_s: f64,
}

impl ReceiveSummary {
    /// Makes the summary of `stream` at `now`. `last` is the last snapshot of its association.
    pub(super) fn of(
        stream: &IncomingStream,
        last: Option<&Stats>,
        now: Instant,
        outputs: Vec<OutputNow>,
    ) -> ReceiveSummary {
        let (stats, outages, latency) = (stream.player.stats(), &stream.outages, stream.player.latency);
        // During an outage, the receiver plays its buffer until the buffer is empty.
        let gap_of = |outage: Duration| outage.saturating_sub(latency);
        let once = u32::try_from(outages.count()).unwrap_or(u32::MAX);
        let silent = outages.total(now).saturating_sub(latency.saturating_mul(once)).as_secs_f64();
        let played = (now - stream.begun).as_secs_f64();
        let summary = ReceiveSummary {
            sender: stream.peer.clone(),
            seconds: (now - stream.begun).as_secs_f64(),
            latency_ms: stream.player.latency.as_millis() as u64,
            played: stats.played,
            bytes: stats.played_bytes,
            late: stats.late,
            lost: stats.lost,
            late_by: stream.came_late.messages(),
            before: stats.before,
            malformed: stream.player.malformed(),
            unread: 0,
            unsent: 0,
            outputs: Vec::new(),
            identical: stream.ended.map(|e| e.identical()),
            complete: stream.ended.is_some(),
            underflows: stats.underflows,
            longest_gap_ms: stats.longest_gap.max(gap_of(outages.longest(now))).as_secs_f64() * 1e3,
            continuity: stats.continuity().min(1.0 - silent / played.max(silent).max(1e-3)),
            shifts: stats.shifts,
            shift_ms: stats.shift.as_secs_f64() * 1e3,
            largest_shift_ms: stats.largest_shift.as_secs_f64() * 1e3,
            clock_jumps: stats.clock_jumps,
            reconnects: stream.reconnects,
            buffers: last.map_or_else(Default::default, |seen| seen.buffers),
            wire: last.map_or_else(Default::default, |seen| seen.wire),
            coding: last.and_then(|seen| seen.coding.clone()),
            outages: stream.outages.count(),
            longest_outage_s: stream.outages.longest(now).as_secs_f64(),
        };
        summary.with_outputs(outputs)
    }

    /// Returns the summary with a later state of its outputs.
    pub(super) fn with_outputs(mut self, outputs: Vec<OutputNow>) -> ReceiveSummary {
        self.unread = outputs.iter().map(|output| output.unread).sum();
        self.unsent = outputs.iter().flat_map(|output| output.unsent.values()).sum();
        self.outputs = outputs;
        let whole = self.outputs_took_all();
        self.identical = self.identical.map(|identical| identical && whole);
        self
    }

    fn outputs_took_all(&self) -> bool {
        self.unread + self.unsent == 0 && self.outputs.iter().all(|output| output.failed.is_none())
    }

    /// Returns true if nothing is missing but what an output did not take.
    fn output_lacks_some(&self) -> bool {
        !self.outputs_took_all() && self.late + self.lost + self.before + self.malformed == 0
    }

    /// Returns the summary as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let same = match self.identical {
            Some(true) => "every byte as it was sent",
            Some(false) if self.output_lacks_some() => {
                "everything arrived, but an output did not take all of it"
            }
            Some(false) => "not everything that was sent",
            None => "the sender's end of stream did not arrive",
        };
        let played = format!(
            "played {} ({}) from {} in {}: {same}",
            count(self.played, "message"),
            bytes(self.bytes),
            self.sender,
            duration(Duration::from_secs_f64(self.seconds)),
        );
        let gaps = format!(
            "{} late, {} lost, {}, longest gap {}, {} of the time without gaps",
            self.late,
            self.lost,
            count(self.underflows, "underflow"),
            ms(Duration::from_secs_f64(self.longest_gap_ms / 1e3)),
            percent(self.continuity),
        );
        let mut lines = vec![played, gaps];
        if !self.late_by.is_empty() {
            lines.push(format!("late or lost by cause: {}", causes(&self.late_by)));
        }
        if self.before > 0 {
            lines.push(format!("{} sent before the first one that came", count(self.before, "message")));
        }
        lines.extend(self.outputs.iter().flat_map(output_lines));
        lines.extend(shifts(self.shifts, self.largest_shift_ms, self.shift_ms));
        lines.extend(outages(self.outages, self.longest_outage_s));
        if self.clock_jumps > 0 {
            lines.push(format!("the sender's clock jumped {}", count(self.clock_jumps, "time")));
        }
        lines.extend(self.coding.as_ref().map(CodingNow::line));
        lines.extend(self.wire.line());
        lines.push(self.buffers.received());
        lines
    }
}

/// Returns the lines about data that an output did not take.
fn output_lines(output: &OutputNow) -> Vec<String> {
    let name = &output.name;
    let mut lines = Vec::new();
    if output.unread > 0 {
        lines.push(format!("{} dropped, since {name} was not read", count(output.unread, "message")));
    }
    for (why, messages) in &output.unsent {
        lines.push(format!("{} not sent to {name}: {why}", count(*messages, "message")));
    }
    lines
}
