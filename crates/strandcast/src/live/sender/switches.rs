//! Links that the application switches off and on. A link that is off remains off over all associations of a stream.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strandcast_net::driver::{AssociationHandle, Snapshot, Uplink};
use strandcast_proto::policy::PathState;

use crate::error::Error;
use crate::live::links::{LinkReport, LinkState};

/// See the [module](self). Clones share the state.
#[derive(Clone, Debug)]
pub(super) struct Switches(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Switches by the name of the link. True means that the link is on.
    links: BTreeMap<String, bool>,
    /// Names of the links that are off. The interface of such a link may be absent for a while.
    off: BTreeSet<String>,
}

impl Switches {
    /// Makes the switches of these links, all of which are on.
    pub(super) fn new(uplinks: &[Uplink]) -> Switches {
        let named = uplinks.iter().filter(|uplink| !uplink.spec.is_pattern());
        let links = named.map(|uplink| (uplink.name.clone(), false)).collect();
        Switches(Arc::new(Mutex::new(State { links, off: BTreeSet::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names of all links, and for each link whether it is on.
    pub(super) fn all(&self) -> Vec<(String, bool)> {
        let state = self.lock();
        let mut names: BTreeSet<&String> = state.links.keys().collect();
        names.extend(&state.off);
        names.into_iter().map(|name| (name.clone(), !state.off.contains(name))).collect()
    }

    /// Checks that there is a link with this name.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub(super) fn check(&self, name: &str) -> Result<(), Error> {
        let all = self.all();
        if all.iter().any(|(known, _)| known == name) {
            return Ok(());
        }
        let names: Vec<&str> = all.iter().map(|(known, _)| known.as_str()).collect();
        Err(Error::Usage(format!("{name} is not one of the links {}", names.join(", "))))
    }

    /// Switches a link. The next call of [`Switches::apply`] applies the change. Returns whether the state of the link
    /// changes.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if there is no such link, or no other link works.
    pub(super) fn turn(&self, name: &str, on: bool) -> Result<bool, Error> {
        self.check(name)?;
        let mut state = self.lock();
        if on {
            return Ok(state.off.remove(name));
        }
        let works = |(other, works): (&String, &bool)| *works && other != name && !state.off.contains(other);
        if !state.links.iter().any(works) {
            let why = format!("{name} cannot be switched off: no other link works that is on");
            return Err(Error::Usage(why));
        }
        Ok(state.off.insert(name.to_owned()))
    }

    /// Records the links as they are now.
    pub(super) fn note(&self, reports: &[LinkReport]) {
        let mut links = BTreeMap::new();
        // Two links may have the same name.
        for report in reports {
            *links.entry(report.name.clone()).or_default() |= report.state == LinkState::Active;
        }
        self.lock().links = links;
    }

    /// Records that links have other names: each pair has the name before and the present one.
    pub(super) fn renamed(&self, names: &[(String, String)]) {
        let mut state = self.lock();
        let off: Vec<&String> =
            names.iter().filter(|(before, _)| state.off.remove(before)).map(|(_, name)| name).collect();
        state.off.extend(off.into_iter().cloned());
    }

    /// Suspends the paths of links that are off, and resumes the others.
    pub(super) async fn apply(&self, seen: &Snapshot, association: &AssociationHandle) {
        let off = self.lock().off.clone();
        for path in &seen.paths {
            let wanted = off.contains(&path.name);
            if wanted != (path.view.state == PathState::Suspended) {
                // The path may have disappeared meanwhile. A path that the peer has suspended stays suspended.
                let _ = association.suspend_path(path.view.id, wanted).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, state: LinkState) -> LinkReport {
        LinkReport { id: None, name: name.into(), state, why: String::new(), paths: Vec::new() }
    }

    #[test]
    fn the_last_link_that_works_stays_on_and_a_new_name_keeps_its_state() {
        use LinkState::{Active, Failed};
        let switches = Switches::new(&[]);
        let why = |result: Result<bool, Error>| result.expect_err("it cannot").to_string();
        switches.note(&[report("a", Active), report("b", Active), report("c", Failed)]);
        assert!(why(switches.turn("d", false)).contains("d is not one of the links a, b, c"));
        assert_eq!(switches.turn("a", false), Ok(true));
        assert_eq!(switches.turn("a", false), Ok(false));
        assert!(why(switches.turn("b", false)).contains("no other link works"), "c has failed, and a is off");
        switches.note(&[report("x", Active), report("b", Active)]);
        switches.renamed(&[("a".to_owned(), "x".to_owned())]);
        let on = |name: &str, on| (name.to_owned(), on);
        assert_eq!(switches.all(), [on("b", true), on("x", false)]);
        // The interface of a link that is off may be gone for a while.
        switches.note(&[report("b", Active)]);
        assert_eq!(switches.all(), [on("b", true), on("x", false)]);
        assert_eq!(
            (switches.turn("x", true), switches.turn("x", true)),
            (Ok(true), Err(Error::Usage("x is not one of the links b".into())))
        );
        // Two links have the same name, and one of them works.
        switches.note(&[report("a", Active), report("a", Failed), report("b", Active)]);
        assert_eq!(switches.turn("b", false), Ok(true));
    }
}
