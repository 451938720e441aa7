//! Rules for replacing the current sender.

use super::incoming::{IncomingStream, PendingSender};
use std::time::Duration;
use strandcast_proto::time::Instant;

/// Required silence of the current sender before one from the same address may replace it.
const SAME_ADDRESS: Duration = Duration::from_secs(2);
/// The same for a sender from another address that names the current stream: a sender gives up an association after
/// this silence and returns over any uplink.
const SAME_STREAM: Duration = Duration::from_secs(5);
/// Maximum delay of packets that the current sender sent before it fell silent.
const STRAGGLERS: Duration = Duration::from_secs(1);

/// What a waiting sender has in common with the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// It names the current stream. The number is sent in the clear: any observer of a packet knows it.
    pub(super) same_stream: bool,
    /// One of its confirmed paths leads to an IP address of the current sender.
    pub(super) same_address: bool,
}

impl Claim {
    pub(super) fn of(sender: &PendingSender, stream: &IncomingStream) -> Claim {
        Claim {
            same_stream: sender.media.header.session == stream.session && stream.ended.is_none(),
            same_address: sender.addresses.iter().any(|a| stream.addresses.contains(a)),
        }
    }

    /// Required silence of the current sender. `left`: its association has ended; `limit`: silence after which a sender
    /// is given up.
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

/// The decision about a waiting sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It replaces the current sender.
    Replaces,
    /// Undecided: the current sender may have gone.
    Waits,
    /// The current sender is active.
    Refused,
}

/// Decides at `now` about a sender that arrived at `came`, while the current one was last active at `heard`.
pub(super) fn decide(claim: Claim, left: bool, limit: Duration, times: Times) -> Verdict {
    let Times { now, came, heard } = times;
    if now - heard >= claim.silence(left, limit) {
        Verdict::Replaces
    } else if !left && heard > came + STRAGGLERS {
        Verdict::Refused
    } else {
        Verdict::Waits
    }
}

/// Times of events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: Instant,
    /// When the waiting sender arrived.
    pub(super) came: Instant,
    /// When the last packet of the current sender arrived.
    pub(super) heard: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn claim(same_stream: bool, same_address: bool) -> Claim {
        Claim { same_stream, same_address }
    }

    /// The time after the current sender's last packet at which a sender replaces it, in steps of 0.1 s.
    fn enters(claim: Claim, left: bool, limit: Duration) -> Duration {
        let at = |tenths: u64| Instant::from_millis(5000 + 100 * tenths);
        let judged = |t: &u64| decide(claim, left, limit, Times { now: at(*t), came: at(0), heard: at(0) });
        let first = (0..1000).find(|t| judged(t) == Verdict::Replaces).expect("every sender eventually");
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
        // The limit is the longest wait.
        let short = Duration::from_millis(500);
        for who in [claim(true, false), claim(false, true), claim(false, false)] {
            assert_eq!(enters(who, false, short), short, "{who:?}");
        }
    }

    #[test]
    fn a_sender_that_talks_is_never_replaced() {
        let at = Instant::from_millis;
        for who in [claim(true, true), claim(false, true), claim(true, false), claim(false, false)] {
            // A sender without input is active once per second.
            for now in (0..60_000).step_by(250) {
                let times = Times { now: at(now), came: at(100), heard: at(now / 1000 * 1000) };
                let verdict = decide(who, false, LIMIT, times);
                let expected = if now < 2000 { Verdict::Waits } else { Verdict::Refused };
                assert_eq!(verdict, expected, "{who:?} at {now} ms");
            }
        }
    }
}
