//! Reasons for a missing connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reasons why attempts to connect failed. A reason is reported once. The reason is reported again if another reason
/// was reported in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons(Arc<Mutex<Last>>);

#[derive(Debug, Default)]
struct Last {
    why: Option<String>,
    told: bool,
}

impl Reasons {
    /// Records the reason why an attempt failed or will fail.
    pub(super) fn failed(&self, why: String) {
        let mut last = self.lock();
        if last.why.as_ref() != Some(&why) {
            *last = Last { why: Some(why), told: false };
        }
    }

    /// Records that this reason is reported.
    pub(super) fn told(&self, why: &str) {
        *self.lock() = Last { why: Some(why.to_owned()), told: true };
    }

    /// Records that there is a connection.
    pub(super) fn connected(&self) {
        *self.lock() = Last::default();
    }

    /// Returns the last reason, if it is not reported yet.
    pub(super) fn untold(&self) -> Option<String> {
        let mut last = self.lock();
        if std::mem::replace(&mut last.told, true) {
            return None;
        }
        last.told = last.why.is_some();
        last.why.clone()
    }

    /// Returns the last reason.
    pub(super) fn last(&self) -> Option<String> {
        self.lock().why.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_told_once_until_another_one() {
        let reasons = Reasons::default();
        assert_eq!((reasons.untold(), reasons.last()), (None, None));
        for why in ["plain", "silent", "plain"] {
            for first in [true, false, false] {
                reasons.failed(why.into());
                assert_eq!(reasons.untold().as_deref(), first.then_some(why));
                assert_eq!(reasons.last().as_deref(), Some(why));
            }
        }
        reasons.told("revoked");
        reasons.failed("revoked".into());
        assert_eq!(reasons.untold(), None);
        reasons.connected();
        assert_eq!((reasons.untold(), reasons.last()), (None, None));
        reasons.failed("revoked".into());
        assert_eq!(reasons.untold().as_deref(), Some("revoked"), "again after a connection");
    }
}
