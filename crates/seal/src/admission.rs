//! The keys that may connect, and the senders that enrolled after the list of keys was made.

use std::collections::{BTreeMap, BTreeSet};

use crate::identity::{Access, Enrolment, PublicKey, TokenId};

/// A list of admitted keys, and enrolments that this list may not contain yet.
///
/// The list comes from a key store. An enrolment reaches the store later, and the store may never save it. For this
/// reason, a new list does not remove enrolments that were made here.
#[derive(Debug)]
pub(crate) struct Admission {
    access: Access,
    /// Senders that enrolled at this seal. The value is true once a list contained the sender. From that time on, only
    /// the list decides whether the sender may connect.
    enrolled: BTreeMap<(TokenId, PublicKey), bool>,
    /// Tokens of single-use grants that a sender used at this seal.
    used: BTreeSet<TokenId>,
}

impl Admission {
    pub fn new(access: Access) -> Self {
        Admission { access, enrolled: BTreeMap::new(), used: BTreeSet::new() }
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Enrols a sender ([`Access::enrol`]). A later list does not undo the enrolment.
    pub fn enrol(&mut self, token: TokenId, key: PublicKey) -> Enrolment {
        let once = self.access.grant(token).is_some_and(|grant| grant.once);
        let enrolment = self.access.enrol(token, key);
        if enrolment == Enrolment::New {
            self.enrolled.insert((token, key), false);
            if once {
                self.used.insert(token);
            }
        }
        enrolment
    }

    /// Replaces the list of admitted keys. Enrolments that the new list does not contain are kept.
    pub fn replace(&mut self, access: Access) {
        self.access = access;
        let Access { grants, revoked } = &mut self.access;
        for grant in &mut *grants {
            let token = grant.token.id();
            grant.open &= !self.used.contains(&token);
            let own = (token, PublicKey([0; 32]))..=(token, PublicKey([u8::MAX; 32]));
            for ((_, key), listed) in self.enrolled.range_mut(own) {
                *listed |= grant.senders.contains(key);
                // Revoking a sender closes its grant.
                if !*listed || revoked.contains(key) {
                    grant.senders.insert(*key);
                }
            }
        }
        let tokens: BTreeSet<TokenId> = grants.iter().map(|grant| grant.token.id()).collect();
        self.enrolled.retain(|(token, _), _| tokens.contains(token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Grant, Token};

    const A: PublicKey = PublicKey([1; 32]);
    const B: PublicKey = PublicKey([2; 32]);

    fn token() -> Token {
        Token::from_bytes([7; 32])
    }

    fn list(senders: &[PublicKey], open: bool, once: bool) -> Access {
        let grant = Grant { token: token(), senders: senders.iter().copied().collect(), open, once };
        Access { grants: vec![grant], revoked: BTreeSet::new() }
    }

    #[test]
    fn a_list_without_what_was_enrolled_forgets_nothing() {
        let id = token().id();
        let mut admission = Admission::new(list(&[], true, true));
        assert_eq!(admission.enrol(id, A), Enrolment::New);
        for _ in 0..2 {
            admission.replace(list(&[], true, true));
            assert!(admission.access().admits(id, &A) && !admission.access().admits(id, &B));
        }
        // The owner has recorded that the grant was used, but not by which sender.
        admission.replace(list(&[], false, true));
        assert!(admission.access().admits(id, &A));
    }

    #[test]
    fn a_list_that_had_a_sender_decides_about_it() {
        let id = token().id();
        let mut admission = Admission::new(list(&[], true, false));
        assert_eq!(admission.enrol(id, A), Enrolment::New);
        admission.replace(list(&[A], false, false));
        assert!(admission.access().admits(id, &A));
        admission.replace(list(&[B], false, false));
        assert!(!admission.access().admits(id, &A), "taken out of the list");
    }

    #[test]
    fn a_grant_that_was_used_up_stays_so_when_it_comes_back() {
        let id = token().id();
        let mut admission = Admission::new(list(&[], true, true));
        assert_eq!(admission.enrol(id, A), Enrolment::New);
        admission.replace(Access::default());
        assert!(!admission.access().admits(id, &A));
        admission.replace(list(&[], true, true));
        assert!(!admission.access().admits(id, &A) && !admission.access().admits(id, &B));
    }

    #[test]
    fn a_grant_whose_sender_is_revoked_admits_nobody_new() {
        let id = token().id();
        let mut admission = Admission::new(list(&[], true, false));
        assert_eq!((admission.enrol(id, A), admission.enrol(id, B)), (Enrolment::New, Enrolment::New));
        for listed in [&[][..], &[B]] {
            admission.replace(Access { revoked: [A].into(), ..list(listed, true, false) });
            assert!(
                !admission.access().admits(id, &A) && !admission.access().admits(id, &PublicKey([3; 32]))
            );
            assert!(admission.access().admits(id, &B), "others stay");
        }
    }
}
