//! The receiver's half of the delayed-acknowledgement algorithm (DAC) of classic concurrent transfer. Several paths
//! reorder packets all the time. A gap alone is therefore not a reason to acknowledge at once.

use strandcast_keys::keys;
use strandcast_proto::policy::{AckDecision, Feedback, PathId, Policy, RxInfo, Signal, View};
use strandcast_proto::rfc::RfcFeedback;

use crate::part::FeedbackPart;

keys! {
    /// The keys of [`DelayedAck`].
    pub struct DelayedAckConfig {
        /// ask the receiver to delay SACKs; off: RFC 9260's acknowledgement
        dac: bool = true,
    }
}

impl FeedbackPart for DelayedAckConfig {
    fn build(&self) -> Box<dyn Feedback> {
        if self.dac { Box::new(DelayedAck::default()) } else { Box::new(RfcFeedback) }
    }
}

/// Acknowledges every second packet, or after the time of delayed acknowledgement. Acknowledges at once duplicates, and
/// when the sender requests it. The SACK contains the number of packets that it acknowledges. Only a Strandcast peer
/// reads this number; with other peers RFC 9260 §6.7 applies.
///
/// A duplicate has two possible causes. SACKs may not arrive by their path (RFC 9260 §6.4), or copies were sent on
/// several paths and this copy is late. Every second SACK for a duplicate therefore returns by the path on which new
/// data last arrived.
#[derive(Copy, Clone, Debug, Default)]
pub struct DelayedAck {
    last_new: Option<PathId>,
    /// True if the last SACK for a duplicate returned by the path of the duplicate.
    varied: bool,
}

impl Policy for DelayedAck {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        if let Signal::Arrived(rx) = signal
            && rx.new
            && rx.tsns.is_some()
        {
            self.last_new = Some(rx.path);
        }
    }
}

impl Feedback for DelayedAck {
    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> AckDecision {
        if !view.peer_reports {
            return RfcFeedback.sack(view, rx);
        }
        let mut via = None;
        if rx.duplicate && !rx.new {
            if self.varied {
                via = self.last_new.filter(|p| view.usable().contains(*p));
            }
            self.varied = !self.varied;
        }
        AckDecision { now: rx.duplicate || rx.immediate, via }
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::PathState;
    use strandcast_proto::policy::fixture::Picture;

    use super::*;

    fn packet(path: u8) -> RxInfo {
        RxInfo {
            path: PathId(path),
            bytes: 1000,
            tsns: Some(Default::default()),
            new: true,
            duplicate: false,
            gap: false,
            filled: false,
            immediate: false,
            packets_since_sack: 1,
        }
    }

    #[test]
    fn a_gap_alone_does_not_hurry_a_sack_between_strandcast_peers() {
        let cases = [
            (packet(0), false, false),
            (RxInfo { gap: true, ..packet(0) }, false, true),
            (RxInfo { filled: true, ..packet(0) }, false, true),
            (RxInfo { duplicate: true, ..packet(0) }, true, true),
            (RxInfo { immediate: true, ..packet(0) }, true, true),
        ];
        let mut picture = Picture::new(1);
        for (rx, ours, others) in cases {
            for (reports, now) in [(true, ours), (false, others)] {
                picture.peer_reports = reports;
                let rule = DelayedAck::default().sack(&picture.view(), &rx);
                assert_eq!(rule.now, now, "{rx:?}, a Strandcast peer: {reports}");
            }
        }
    }

    #[test]
    fn sacks_for_late_copies_do_not_all_take_the_late_path() {
        let mut picture = Picture::new(2);
        let mut feedback = DelayedAck::default();
        let copy = RxInfo { new: false, duplicate: true, ..packet(0) };
        let mut via = |picture: &Picture| {
            feedback.on_signal(&picture.view(), &Signal::Arrived(&packet(1)));
            assert_eq!(feedback.sack(&picture.view(), &packet(1)).via, None, "new data: the way they came");
            feedback.on_signal(&picture.view(), &Signal::Arrived(&copy));
            feedback.sack(&picture.view(), &copy).via
        };
        let four = [via(&picture), via(&picture), via(&picture), via(&picture)];
        assert_eq!(four, [None, Some(PathId(1)), None, Some(PathId(1))]);
        picture.paths[1].state = PathState::Closed;
        assert_eq!([via(&picture), via(&picture)], [None, None]);
    }
}
