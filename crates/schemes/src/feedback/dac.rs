//! The receiver's half of the delayed-acknowledgement algorithm (DAC) of classic concurrent transfer: several paths
//! reorder packets all the time, so a gap alone is no reason to acknowledge at once.

use strandcast_proto::policy::{Feedback, Policy, RxInfo, SackRule, View};
use strandcast_proto::rfc::RfcFeedback;

/// Every second packet or after the delayed-ack time, at once for duplicates and when the sender asks for it. The SACK
/// tells how many packets it stands for, which only one of ours understands: towards other peers RFC 9260 §6.7 holds.
#[derive(Copy, Clone, Debug, Default)]
pub struct DelayedAck;

impl Policy for DelayedAck {}

impl Feedback for DelayedAck {
    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> SackRule {
        if view.peer_reports {
            SackRule { now: rx.duplicate || rx.immediate, via: None }
        } else {
            RfcFeedback.sack(view, rx)
        }
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::PathId;
    use strandcast_proto::policy::contract::fixture::Picture;

    use super::*;

    #[test]
    fn a_gap_alone_does_not_hurry_a_sack_between_two_of_ours() {
        let plain = RxInfo {
            path: PathId(0),
            bytes: 1000,
            tsns: None,
            new: true,
            duplicate: false,
            gap: false,
            filled: false,
            immediate: false,
            packets_since_sack: 1,
        };
        let cases = [
            (plain.clone(), false, false),
            (RxInfo { gap: true, ..plain.clone() }, false, true),
            (RxInfo { filled: true, ..plain.clone() }, false, true),
            (RxInfo { duplicate: true, ..plain.clone() }, true, true),
            (RxInfo { immediate: true, ..plain }, true, true),
        ];
        let mut picture = Picture::new(1);
        for (rx, ours, others) in cases {
            for (reports, now) in [(true, ours), (false, others)] {
                picture.peer_reports = reports;
                assert_eq!(DelayedAck.sack(&picture.view(), &rx).now, now, "{rx:?}, one of ours: {reports}");
            }
        }
    }
}
