//! Report to the sender of the frame errors that the receiver's own links count.
//!
//! The receiver counts the frames and the frames in error of its interfaces. It reports the totals with SACKs. The
//! sender treats these totals as the counters of a second link of the same path. Xu et al., 2015, use only the links of
//! the sender. This report is therefore an extension for comparison.
//!
//! Report of kind [`FRAME_ERRORS`] about a path. The report contains the number of frames (8 bytes), the number of
//! frames in error (8), and the mean length in bytes (4). All numbers are big-endian.

use std::collections::BTreeMap;

use strandcast_proto::policy::{LinkSample, PathId, Report, ReportTrigger, Signal, View};

/// Kind of the report.
pub const FRAME_ERRORS: u16 = 0x120;

const LEN: usize = 20;

/// Sending and receiving half of the reports.
#[derive(Debug, Default)]
pub struct FrameErrors {
    /// Counters by path: frames, frames in error, and mean length. The flag is true if the counters must still be sent
    /// to the peer.
    counters: BTreeMap<PathId, (u64, u64, u32, bool)>,
}

impl FrameErrors {
    /// Counts the frames that the links of this side received.
    pub fn hear(&mut self, signal: &Signal<'_>) {
        if let Signal::Link(LinkSample { path: Some(path), rx_frames, rx_errors, frame_bytes, .. }) = signal
            && *rx_frames > 0
        {
            let entry = self.counters.entry(*path).or_default();
            let new = (entry.0, entry.1) != (*rx_frames, *rx_errors);
            *entry = (*rx_frames, *rx_errors, frame_bytes.unwrap_or(0.0) as u32, new || entry.3);
        }
    }

    /// Adds new counts to a SACK.
    pub fn reports(&mut self, view: &View<'_>, trigger: ReportTrigger, out: &mut Vec<Report>) {
        if !matches!(trigger, ReportTrigger::Sack(_)) || !view.peer_reports {
            return;
        }
        for (path, (frames, errors, length, new)) in &mut self.counters {
            if core::mem::take(new) {
                let payload = [&frames.to_be_bytes()[..], &errors.to_be_bytes(), &length.to_be_bytes()];
                out.push(Report {
                    kind: FRAME_ERRORS,
                    subject: Some(*path),
                    via: None,
                    reliable: false,
                    payload: payload.concat().into(),
                });
            }
        }
    }

    /// Reads the peer's totals from a report of frame errors. The frames that the peer received are returned as frames
    /// sent, and the frames in error as failed frames, so that they count like the frames of a second link of the path.
    /// Returns `None` for other reports.
    pub fn read(&self, report: &Report) -> Option<LinkSample> {
        let payload: &[u8; LEN] = report.payload.as_ref().try_into().ok()?;
        if report.kind != FRAME_ERRORS {
            return None;
        }
        let number = |part: &[u8]| part.iter().fold(0, |n, b| (n << 8) | u64::from(*b));
        let (tx_frames, tx_failed) = (number(&payload[..8]), number(&payload[8..16]));
        let length = number(&payload[16..]) as u32;
        let frame_bytes = (length > 0).then_some(f64::from(length));
        Some(LinkSample { path: report.subject, tx_frames, tx_failed, frame_bytes, ..LinkSample::default() })
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::Picture;

    use super::*;

    fn sample(path: u8, rx_frames: u64, rx_errors: u64) -> LinkSample {
        let path = Some(PathId(path));
        LinkSample { path, rx_frames, rx_errors, frame_bytes: Some(1500.0), ..LinkSample::default() }
    }

    #[test]
    fn what_the_receiver_saw_is_what_the_sender_reads() {
        let (mut receiver, sender) = (FrameErrors::default(), FrameErrors::default());
        let picture = Picture::new(2);
        let mut out = Vec::new();
        for s in [sample(1, 90, 1), sample(1, 100, 3), sample(0, 0, 0)] {
            receiver.hear(&Signal::Link(&s));
        }
        receiver.reports(&picture.view(), ReportTrigger::Data(PathId(0)), &mut out);
        assert!(out.is_empty(), "beside SACKs alone");
        receiver.reports(&picture.view(), ReportTrigger::Sack(PathId(0)), &mut out);
        receiver.reports(&picture.view(), ReportTrigger::Sack(PathId(0)), &mut out);
        assert_eq!(out.len(), 1, "once, and nothing of a link that received nothing");
        let read = sender.read(&out[0]).expect("it was just written");
        assert_eq!((read.path, read.tx_frames, read.tx_failed), (Some(PathId(1)), 100, 3));
        assert_eq!(read.frame_bytes, Some(1500.0));
    }

    #[test]
    fn other_peers_and_other_reports_are_left_alone() {
        let mut receiver = FrameErrors::default();
        let mut picture = Picture::new(1);
        picture.peer_reports = false;
        receiver.hear(&Signal::Link(&sample(0, 5, 5)));
        let mut out = Vec::new();
        receiver.reports(&picture.view(), ReportTrigger::Sack(PathId(0)), &mut out);
        assert!(out.is_empty());
        let report = |kind, len: usize| Report {
            kind,
            subject: None,
            via: None,
            reliable: false,
            payload: vec![0; len].into(),
        };
        for (kind, len) in [(FRAME_ERRORS, 19), (FRAME_ERRORS, 21), (FRAME_ERRORS, 0), (0x100, 20)] {
            assert_eq!(receiver.read(&report(kind, len)), None);
        }
    }
}
