//! A trial as lines of text.

use super::data::Summary;
use crate::live::CodingNow;
use crate::text::{bits_per_s, bytes, count, percent, shifts};

impl Summary {
    /// Returns the results as lines of text: a line each for the messages, for the playout and for each path.
    pub fn lines(&self) -> Vec<String> {
        let same = if self.bytes_identical { "every byte as it was sent" } else { "with wrong bytes" };
        let mut lines = vec![
            format!(
                "delivered {} of {} in time ({}), {same}; {} late, {} lost",
                self.messages_delivered,
                count(self.messages_sent, "message"),
                bytes(self.bytes_delivered),
                self.messages_late,
                self.messages_lost,
            ),
            format!(
                "playout: {} of the time without gaps, {}",
                percent(self.continuity),
                count(self.underflows, "underflow")
            ),
        ];
        lines.extend(self.wire.line());
        lines.extend(self.coding.as_ref().map(CodingNow::line));
        lines.extend(shifts(self.shifts, self.largest_shift_ms, self.shift_ms));
        for path in &self.paths {
            let rtt = path.rtt();
            lines.push(format!(
                "  {:<10} {:>8} ({}), goodput {}, {} declared lost, RTT {rtt}, down {:.1} s; suspected, failed: {}",
                path.name,
                bytes(path.bytes),
                percent(path.share),
                bits_per_s(path.goodput_bps),
                percent(path.loss),
                path.down_s,
                path.verdicts.brief(),
            ));
        }
        lines
    }
}
