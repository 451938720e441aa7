//! Selection of the refused connections that are reported.

use strandcast_proto::time::{Duration, Instant};

use crate::identity::PublicKey;

/// Maximum number of refusals that are reported per [`INTERVAL`], for all keys together.
const MOST: usize = 8;
/// Time for which the refusal of a reported key is not reported again.
const INTERVAL: Duration = Duration::from_secs(60);

/// Keys that were refused recently, in a table of fixed size. If the table is full, refusals of further keys are not
/// reported. A peer that uses new keys again and again therefore cannot fill a log.
#[derive(Debug, Default)]
pub(crate) struct Refusals([Option<(PublicKey, Instant)>; MOST]);

impl Refusals {
    /// Returns whether the refusal of `key` must be reported. If the refusal must be reported, the report is recorded.
    pub fn is_news(&mut self, now: Instant, key: PublicKey) -> bool {
        let fresh = |at: Instant| now.saturating_since(at) < INTERVAL;
        if self.0.iter().flatten().any(|(known, at)| *known == key && fresh(*at)) {
            return false;
        }
        let place = self.0.iter_mut().find(|place| place.is_none_or(|(_, at)| !fresh(at)));
        place.map(|place| *place = Some((key, now))).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_reported_once_a_minute_and_eight_are_at_most() {
        let mut refusals = Refusals::default();
        let mut is_news =
            |s: u64, key: u8| refusals.is_news(Instant::from_millis(s * 1000), PublicKey([key; 32]));
        assert!(is_news(0, 1) && !is_news(0, 1) && !is_news(59, 1));
        assert!(is_news(60, 1) && !is_news(61, 1));
        let reported = (2..200).filter(|key| is_news(62, *key)).collect::<Vec<u8>>();
        assert_eq!(reported, (2..9).collect::<Vec<u8>>());
        assert!(!is_news(119, 200), "no room");
        assert!(is_news(120, 200) && !is_news(121, 201), "one place has become free");
    }
}
