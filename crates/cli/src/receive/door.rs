//! Who may take the place of the sender that is being received.

use super::guest::{Candidate, Guest};
use std::time::Duration;
use strandcast_proto::time::Instant;

/// The running sender must have been silent for so long before one from an address of its own may follow it.
const SAME_ADDRESS: Duration = Duration::from_secs(2);
/// The same for one from elsewhere that names the running stream: a sender gives an association up that was silent for
/// so long, and comes back over whatever uplink it has by then.
const SAME_STREAM: Duration = Duration::from_secs(5);
/// What the running sender sent before it fell silent may arrive as much later.
const STRAGGLERS: Duration = Duration::from_secs(1);

/// What a sender at the door has in common with the one being received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// It names the running stream. The number is sent in clear: whoever sees a packet knows it.
    pub(super) same_stream: bool,
    /// A confirmed path of it leads to an IP address that the running sender uses, too.
    pub(super) same_address: bool,
}

impl Claim {
    pub(super) fn of(candidate: &Candidate, guest: &Guest) -> Claim {
        Claim {
            same_stream: candidate.media.header.session == guest.session && guest.ended.is_none(),
            same_address: candidate.addresses.iter().any(|a| guest.addresses.contains(a)),
        }
    }

    /// How long the running sender must have been silent. `left`: its association has ended; `limit`: a sender is given
    /// up when it has been silent for so long.
    pub(super) fn silence(self, left: bool, limit: Duration) -> Duration {
        let needed = match (self.same_stream, self.same_address) {
            (true, true) if left => Duration::ZERO,
            (_, true) => SAME_ADDRESS,
            (true, false) => SAME_STREAM,
            (false, false) => limit,
        };
        needed.min(limit)
    }
}

/// What becomes of a sender at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It takes the running sender's place.
    Enters,
    /// The running sender may be gone: that remains to be seen.
    Waits,
    /// The running sender is there.
    Refused,
}

/// Judges at `now` a sender that came at `came`, while the running one was last heard at `heard`.
pub(super) fn judge(claim: Claim, left: bool, limit: Duration, times: Times) -> Verdict {
    let Times { now, came, heard } = times;
    if now - heard >= claim.silence(left, limit) {
        Verdict::Enters
    } else if !left && heard > came + STRAGGLERS {
        Verdict::Refused
    } else {
        Verdict::Waits
    }
}

/// When what happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: Instant,
    /// The sender at the door came.
    pub(super) came: Instant,
    /// Anything came from the running sender.
    pub(super) heard: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn claim(same_stream: bool, same_address: bool) -> Claim {
        Claim { same_stream, same_address }
    }

    /// The first tenth of a second, after the running sender's last packet, at which a sender enters.
    fn enters(claim: Claim, left: bool, limit: Duration) -> Duration {
        let at = |tenths: u64| Instant::from_millis(5000 + 100 * tenths);
        let judged = |t: &u64| judge(claim, left, limit, Times { now: at(*t), came: at(0), heard: at(0) });
        let first = (0..1000).find(|t| judged(t) == Verdict::Enters).expect("everybody, in the end");
        assert!((0..first).all(|t| judged(&t) == Verdict::Waits), "a silent sender is not preferred");
        Duration::from_millis(100 * first)
    }

    #[test]
    fn the_rule_as_documented() {
        let seconds = Duration::from_secs;
        for (who, running, ended) in [
            (claim(true, true), seconds(2), seconds(0)),
            (claim(false, true), seconds(2), seconds(2)),
            (claim(true, false), seconds(5), seconds(5)),
            (claim(false, false), LIMIT, LIMIT),
        ] {
            assert_eq!((enters(who, false, LIMIT), enters(who, true, LIMIT)), (running, ended), "{who:?}");
        }
        // Nobody waits longer than for a sender to be given up.
        let short = Duration::from_millis(500);
        for who in [claim(true, false), claim(false, true), claim(false, false)] {
            assert_eq!(enters(who, false, short), short, "{who:?}");
        }
    }

    #[test]
    fn a_sender_that_talks_is_never_replaced() {
        let at = Instant::from_millis;
        for who in [claim(true, true), claim(false, true), claim(true, false), claim(false, false)] {
            // It is heard once a second, as a sender without input is.
            for now in (0..60_000).step_by(250) {
                let times = Times { now: at(now), came: at(100), heard: at(now / 1000 * 1000) };
                let verdict = judge(who, false, LIMIT, times);
                let expected = if now < 2000 { Verdict::Waits } else { Verdict::Refused };
                assert_eq!(verdict, expected, "{who:?} at {now} ms");
            }
        }
    }
}
