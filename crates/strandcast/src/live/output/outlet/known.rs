//! Troubles of an output that were reported.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::MOST_REASONS;

/// Time of writing without a trouble after which the trouble counts as ended. If the trouble returns later, it is
/// reported again.
pub(super) const OVER: Duration = Duration::from_secs(10);

/// Reasons for lost messages that were reported. Each has the start of the present time of writing without this
/// trouble.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<String, Option<Instant>>);

impl Known {
    /// Records the troubles that occurred when data were written at `now`. Returns the troubles to report.
    pub(super) fn note(&mut self, troubles: &[(String, u64)], now: Instant) -> Vec<String> {
        let is_over = |clean: &Option<Instant>| clean.is_some_and(|since| now - since >= OVER);
        if troubles.iter().any(|(why, _)| self.0.get(why).is_none_or(is_over)) {
            self.0.retain(|_, clean| !is_over(clean));
        }
        for (why, clean) in &mut self.0 {
            match troubles.iter().any(|(trouble, _)| trouble == why) {
                true => *clean = None,
                false => drop(clean.get_or_insert(now)),
            }
        }
        let mut fresh = Vec::new();
        for (why, _) in troubles {
            if self.0.len() < MOST_REASONS && !self.0.contains_key(why) {
                self.0.insert(why.clone(), None);
                fresh.push(why.clone());
            }
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reports of writing at these seconds, with these troubles.
    fn reports(writes: &[(u64, &[&str])]) -> Vec<(u64, String)> {
        let (begun, mut known) = (Instant::now(), Known::default());
        let mut all = Vec::new();
        for (second, troubles) in writes {
            let troubles: Vec<(String, u64)> = troubles.iter().map(|why| ((*why).to_owned(), 1)).collect();
            let fresh = known.note(&troubles, begun + Duration::from_secs(*second));
            all.extend(fresh.into_iter().map(|why| (*second, why)));
        }
        all
    }

    #[test]
    fn a_trouble_that_lasts_is_reported_once() {
        let lasts: Vec<(u64, &[&str])> = (0..100).map(|second| (second, &["full"][..])).collect();
        assert_eq!(reports(&lasts), [(0, "full".to_owned())]);
        // Without a listener, the output loses every second datagram.
        let alternates: Vec<(u64, &[&str])> =
            (0..100).map(|second| (second, if second % 2 == 0 { &["absent"][..] } else { &[] })).collect();
        assert_eq!(reports(&alternates), [(0, "absent".to_owned())]);
    }

    #[test]
    fn a_trouble_that_was_over_is_reported_again() {
        let writes: &[(u64, &[&str])] =
            &[(0, &["full"]), (1, &[]), (5, &["slow"]), (11, &["full"]), (12, &["full"]), (20, &["slow"])];
        let expected = [(0, "full"), (5, "slow"), (11, "full")].map(|(at, why)| (at, why.to_owned()));
        assert_eq!(reports(writes), expected);
        assert_eq!(reports(&[(0, &["full"]), (1, &[]), (10, &["full"])]), [(0, "full".to_owned())]);
        // No data were written in between, so that the trouble has not ended.
        assert_eq!(reports(&[(0, &["full"]), (99, &["full"])]), [(0, "full".to_owned())]);
    }

    #[test]
    fn reasons_are_bounded_and_those_that_are_over_make_room() {
        let names: Vec<String> =
            (0..MOST_REASONS as u64 * 2).map(|number| format!("reason {number}")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let (first, later) = all.split_at(MOST_REASONS);
        let reported = reports(&[(0, &all), (1, &[]), (11, later)]);
        let at = |second: u64| reported.iter().filter(move |(at, _)| *at == second).count();
        assert_eq!((at(0), at(11)), (first.len(), later.len()));
    }
}
