//! Cookies that opened an association, recorded so that no cookie opens a second one.

use std::collections::BTreeSet;

use super::cookie::Cookie;
use crate::time::{Duration, Instant};

/// Maximum number of recorded cookies.
const MOST: usize = 8192;

/// Decision whether a valid cookie may open an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// The cookie is new and may be used.
    First,
    /// The cookie was used before.
    Again,
    /// The cookie is older than the recorded ones, so it is unknown whether it was used.
    Forgotten,
}

/// Cookies that opened an association and are still valid. If there are too many, the oldest are dropped. Cookies of
/// their age are then refused, and peers with such a cookie start again with INIT.
#[derive(Debug, Default)]
pub(super) struct UsedCookies {
    /// Used cookies, each by the time at which it was created and its verification tags.
    used: BTreeSet<(Instant, u32, u32)>,
    /// Creation time up to which cookies were dropped.
    forgotten: Option<Instant>,
}

fn name(cookie: &Cookie) -> (Instant, u32, u32) {
    (cookie.created, cookie.local_tag.0, cookie.peer.tag.0)
}

impl UsedCookies {
    pub fn check(&self, cookie: &Cookie) -> Use {
        if self.used.contains(&name(cookie)) {
            Use::Again
        } else if self.forgotten.is_some_and(|t| cookie.created <= t) {
            Use::Forgotten
        } else {
            Use::First
        }
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Records `cookie` until the cookie is older than `life`.
    pub fn remember(&mut self, now: Instant, life: Duration, cookie: &Cookie) {
        while self.used.first().is_some_and(|(created, ..)| *created + life < now) {
            self.used.pop_first();
        }
        self.used.insert(name(cookie));
        while self.used.len() > MOST
            && let Some((created, ..)) = self.used.pop_first()
        {
            self.forgotten = Some(created);
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::association::Capabilities;
    use crate::wire::{Tsn, VerificationTag};

    const LIFE: Duration = Duration::from_secs(60);

    /// Returns cookie number `n` of a series in which a cookie is created every 0.1 ms.
    fn cookie(n: u32) -> Cookie {
        let peer = Capabilities {
            tag: VerificationTag(7),
            a_rwnd: 1,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
            partial: false,
            reports: false,
            auth: None,
            coding: None,
            addresses: Default::default(),
        };
        Cookie {
            created: Instant::from_nanos(u64::from(n) * 100_000),
            remote: ([192, 0, 2, 1], 1).into(),
            local_tag: VerificationTag(n),
            initial_tsn: Tsn(1),
            tie: Default::default(),
            ports: (1, 1),
            random: Bytes::new(),
            peer,
        }
    }

    #[test]
    fn a_flood_is_remembered_in_bounds_and_no_cookie_counts_twice() {
        let mut used = UsedCookies::default();
        for n in 0..100_000 {
            let now = cookie(n).created;
            assert_eq!(used.check(&cookie(n)), Use::First, "{n}");
            used.remember(now, LIFE, &cookie(n));
            assert!(used.used.len() <= MOST);
            assert_ne!(used.check(&cookie(n / 2)), Use::First, "{n}");
        }
        assert_eq!(used.check(&cookie(99_999)), Use::Again);
        assert_eq!(used.check(&cookie(10)), Use::Forgotten);
    }

    #[test]
    fn what_is_too_old_anyway_makes_room() {
        let mut used = UsedCookies::default();
        for n in 0..1000 {
            used.remember(cookie(n).created, LIFE, &cookie(n));
        }
        let later = cookie(900_000);
        used.remember(later.created, LIFE, &later);
        assert_eq!(used.used.len(), 1);
        assert_eq!(used.forgotten, None);
    }
}
