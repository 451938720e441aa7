//! Rules for replacing the current sender.

use std::time::Duration;

use strandcast_proto::time::Instant;

use super::incoming::{IncomingStream, PendingSender};

/// Required silence of the current sender before a sender from the same address may replace it.
const SAME_ADDRESS: Duration = Duration::from_secs(2);
/// Silence of the current sender after which another sender may replace it. The other sender has another address, but
/// names the current stream. After such a silence, a sender gives up its association and returns over any uplink.
const SAME_STREAM: Duration = Duration::from_secs(5);
/// Maximum delay of packets that the current sender sent before its silence.
const STRAGGLERS: Duration = Duration::from_secs(1);

/// Properties that a waiting sender shares with the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Both senders have proven their keys.
    Sealed {
        /// True if both have the same key.
        same_key: bool,
        /// True if the waiting sender names the current stream. It is then the same run of the same sender.
        same_stream: bool,
    },
    /// Neither sender has proven a key.
    Plain {
        /// True if the waiting sender names the current stream. The number of the stream is sent in the clear. Anyone
        /// who observes a packet can therefore read it.
        same_stream: bool,
        /// True if a confirmed path of the waiting sender leads to an IP address of the current sender.
        same_address: bool,
    },
}

impl Claim {
    pub(super) fn of(sender: &PendingSender, stream: &IncomingStream) -> Claim {
        let same_stream = sender.media.header.session == stream.session && stream.ended.is_none();
        match (&sender.key, &stream.key) {
            (Some(key), Some(current)) => Claim::Sealed { same_key: key == current, same_stream },
            _ => Claim::Plain {
                same_stream,
                same_address: sender.addresses.iter().any(|a| stream.addresses.contains(a)),
            },
        }
    }

    /// Returns whether the sender continues the current stream. If both senders have keys, the number of the stream
    /// alone does not prove this.
    pub(super) fn continues(self) -> bool {
        match self {
            Claim::Sealed { same_key, same_stream } => same_key && same_stream,
            Claim::Plain { same_stream, .. } => same_stream,
        }
    }

    /// Silence of the current sender that is required. `left` is true if the association of the current sender has
    /// ended. `limit` is the silence after which the receiver gives up a sender.
    pub(super) fn silence(self, left: bool, limit: Duration) -> Duration {
        let needed = match self {
            Claim::Sealed { same_key: true, .. } => Duration::ZERO,
            Claim::Sealed { same_key: false, .. } => limit,
            Claim::Plain { same_stream: true, same_address: true } if left => Duration::ZERO,
            Claim::Plain { same_address: true, .. } => SAME_ADDRESS,
            Claim::Plain { same_stream: true, same_address: false } => SAME_STREAM,
            Claim::Plain { same_stream: false, same_address: false } => limit,
        };
        needed.min(limit)
    }
}

/// Decision about a waiting sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The waiting sender replaces the current one.
    Replaces,
    /// It is undecided whether the current sender has left.
    Waits,
    /// The current sender is active.
    Refused,
}

/// Decides at `now` about a waiting sender that arrived at `came`. The current sender was last active at
/// `last_received`.
pub(super) fn decide(claim: Claim, left: bool, limit: Duration, times: Times) -> Verdict {
    let Times { now, came, last_received } = times;
    if now - last_received >= claim.silence(left, limit) {
        Verdict::Replaces
    } else if !left && last_received > came + STRAGGLERS {
        Verdict::Refused
    } else {
        Verdict::Waits
    }
}

/// Times of events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: Instant,
    /// Time at which the waiting sender arrived.
    pub(super) came: Instant,
    /// Time of the current sender's last packet.
    pub(super) last_received: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn claim(same_stream: bool, same_address: bool) -> Claim {
        Claim::Plain { same_stream, same_address }
    }

    fn sealed(same_key: bool, same_stream: bool) -> Claim {
        Claim::Sealed { same_key, same_stream }
    }

    /// Returns the time after the current sender's last packet at which the waiting sender replaces it. The time has
    /// steps of 0.1 s.
    fn enters(claim: Claim, left: bool, limit: Duration) -> Duration {
        let at = |tenths: u64| Instant::from_millis(5000 + 100 * tenths);
        let judged =
            |t: &u64| decide(claim, left, limit, Times { now: at(*t), came: at(0), last_received: at(0) });
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
        // The wait is never longer than the limit.
        let short = Duration::from_millis(500);
        for who in [claim(true, false), claim(false, true), claim(false, false)] {
            assert_eq!(enters(who, false, short), short, "{who:?}");
        }
    }

    #[test]
    fn with_keys_only_the_key_counts() {
        let at = Instant::from_millis;
        for same_stream in [true, false] {
            // The newest sender with a key replaces an older sender with the same key, whether or not the older one is
            // active.
            let times = Times { now: at(100), came: at(100), last_received: at(100) };
            assert_eq!(decide(sealed(true, same_stream), false, LIMIT, times), Verdict::Replaces);
            let other = sealed(false, same_stream);
            assert_eq!((enters(other, false, LIMIT), enters(other, true, LIMIT)), (LIMIT, LIMIT));
        }
        assert!(sealed(true, true).continues());
        assert!(
            ![sealed(true, false), sealed(false, true), sealed(false, false)].iter().any(|c| c.continues())
        );
    }

    #[test]
    fn a_sender_that_talks_is_never_replaced() {
        let at = Instant::from_millis;
        for who in [
            claim(true, true),
            claim(false, true),
            claim(true, false),
            claim(false, false),
            sealed(false, true),
            sealed(false, false),
        ] {
            // A sender without input is active once per second.
            for now in (0..60_000).step_by(250) {
                let times = Times { now: at(now), came: at(100), last_received: at(now / 1000 * 1000) };
                let verdict = decide(who, false, LIMIT, times);
                let expected = if now < 2000 { Verdict::Waits } else { Verdict::Refused };
                assert_eq!(verdict, expected, "{who:?} at {now} ms");
            }
        }
    }
}
