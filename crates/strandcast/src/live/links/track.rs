//! Changes of links between two reports.

use std::time::Duration;

use strandcast_proto::time::Instant;

use super::trouble::PathTrouble;

/// State of a link at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::live) enum LinkState {
    /// The link carries data.
    Active,
    /// No packet has arrived over the link yet.
    Starting,
    /// No packet has arrived over the link for several seconds.
    Mute,
    /// The link does not answer.
    Silent,
    /// The link has failed, and is used again once it answers.
    Failed,
    /// The interface, the address or the route of the link is gone.
    Gone,
    /// The link could never be used.
    LeftOut,
}

impl LinkState {
    const ALL: [LinkState; 7] = [
        LinkState::Active,
        LinkState::Starting,
        LinkState::Mute,
        LinkState::Silent,
        LinkState::Failed,
        LinkState::Gone,
        LinkState::LeftOut,
    ];

    /// Name of the state in messages to the receiver.
    pub(super) fn name(self) -> &'static str {
        match self {
            LinkState::Active => "active",
            LinkState::Starting => "starting",
            LinkState::Mute => "mute",
            LinkState::Silent => "silent",
            LinkState::Failed => "failed",
            LinkState::Gone => "gone",
            LinkState::LeftOut => "left-out",
        }
    }

    pub(super) fn named(name: &str) -> Option<LinkState> {
        LinkState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A link at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::live) struct LinkReport {
    /// Number of the link within one association. A new name of the link does not change its number.
    pub(in crate::live) id: Option<u32>,
    /// Name of the link.
    pub(in crate::live) name: String,
    /// State of the link.
    pub(in crate::live) state: LinkState,
    /// Reason why the link carries no data.
    pub(in crate::live) why: String,
    /// Numbers of the link's paths. Both ends use the same numbers for paths.
    pub(in crate::live) paths: Vec<u16>,
}

/// Maximum number of stored links. A limit is needed because a peer may name new links without end, and because the
/// names of tunnels change.
const MOST_KNOWN: usize = 64;
/// Maximum number of changes that are reported in a period. Also the length of the period in seconds.
const MOST_CHANGES: u32 = 64;

#[derive(Debug)]
struct Known {
    last: LinkReport,
    /// True if the link existed from the beginning and has not carried data yet.
    expected: bool,
    /// End of the last time in which the link carried data.
    since: Instant,
}

/// Detects changes of links. Links are identified by their number within an association, and by their name across
/// associations.
#[derive(Debug, Default)]
pub(in crate::live) struct Tracker {
    known: Vec<Known>,
    begun: bool,
    /// Number of reports in the current period of [`MOST_CHANGES`] seconds, and end of the period.
    reported: (u32, Instant),
    /// Links that had other names at the last update: the name before, and the name since then.
    renamed: Vec<(String, String)>,
}

impl Tracker {
    /// Makes a tracker. The links `absent` cannot be used for the given reasons. The tracker does not report this,
    /// because it is already known.
    pub(in crate::live) fn knowing(absent: &[(String, String)]) -> Tracker {
        let known = |(name, why): &(String, String)| {
            let (name, why, paths) = (name.clone(), why.clone(), Vec::new());
            let last = LinkReport { id: None, name, state: LinkState::LeftOut, why, paths };
            Known { last, expected: false, since: Instant::ZERO }
        };
        Tracker { known: absent.iter().map(known).collect(), begun: false, ..Tracker::default() }
    }

    /// Prepares for another association, in which numbers identify other links.
    pub(in crate::live) fn restart(&mut self) {
        self.known.iter_mut().for_each(|known| known.last.id = None);
    }

    /// Returns the links that got other names at the last update: the name before, and the name since then. The limit
    /// of changes does not apply to them.
    pub(in crate::live) fn renamed(&self) -> &[(String, String)] {
        &self.renamed
    }

    /// Returns the name and the change of each link that has changed.
    pub(in crate::live) fn update(
        &mut self,
        now: Instant,
        links: &[LinkReport],
    ) -> Vec<(String, PathTrouble)> {
        let mut changes = Vec::new();
        self.renamed.clear();
        let first = !self.begun;
        self.begun |= !links.is_empty();
        for link in links {
            let same = |known: &&mut Known| match (known.last.id, link.id) {
                (Some(before), Some(now)) => before == now,
                _ => known.last.name == link.name,
            };
            let change = match self.known.iter_mut().find(same) {
                Some(known) => {
                    if known.last.name != link.name {
                        let before = std::mem::replace(&mut known.last.name, link.name.clone());
                        self.renamed.push((before.clone(), link.name.clone()));
                        changes.push((link.name.clone(), PathTrouble::Renamed(before)));
                    }
                    known.update(now, link)
                }
                None => {
                    let known = Known { last: link.clone(), expected: first, since: now };
                    self.known.push(known);
                    appeared(link, first)
                }
            };
            changes.extend(change.map(|change| (link.name.clone(), change)));
        }
        self.forget(links);
        self.limit(now, &mut changes);
        changes
    }

    /// Removes the oldest links that no longer exist, if there are too many.
    fn forget(&mut self, links: &[LinkReport]) {
        let mut excess = self.known.len().saturating_sub(MOST_KNOWN);
        self.known.retain(|known| {
            let goes = excess > 0 && !links.iter().any(|link| link.name == known.last.name);
            excess -= usize::from(goes);
            !goes
        });
    }

    /// Drops changes beyond [`MOST_CHANGES`] in a period.
    fn limit(&mut self, now: Instant, changes: &mut Vec<(String, PathTrouble)>) {
        let (count, end) = &mut self.reported;
        if now >= *end {
            (*count, *end) = (0, now + Duration::from_secs(MOST_CHANGES.into()));
        }
        changes.truncate((MOST_CHANGES - *count) as usize);
        *count += changes.len() as u32;
    }
}

/// Returns the change to report for a link that appears for the first time.
fn appeared(link: &LinkReport, first: bool) -> Option<PathTrouble> {
    match link.state {
        LinkState::Active if !first => Some(PathTrouble::Joined),
        LinkState::Gone | LinkState::LeftOut => Some(PathTrouble::LeftOut(link.why.clone())),
        LinkState::Mute => Some(PathTrouble::Mute(link.why.clone())),
        LinkState::Silent => Some(PathTrouble::Silent),
        LinkState::Failed => Some(PathTrouble::Failed),
        LinkState::Active | LinkState::Starting => None,
    }
}

impl Known {
    fn update(&mut self, now: Instant, link: &LinkReport) -> Option<PathTrouble> {
        let before = self.last.state;
        self.last.id = link.id;
        // A link counts as returned only after it has carried data.
        if link.state == LinkState::Starting || (before, &self.last.why) == (link.state, &link.why) {
            return None;
        }
        self.last = link.clone();
        if before == LinkState::Active {
            self.since = now;
        }
        let away = now - self.since;
        match link.state {
            LinkState::Active => match before {
                LinkState::Active => None,
                LinkState::Starting if std::mem::take(&mut self.expected) => None,
                LinkState::Starting | LinkState::LeftOut => Some(PathTrouble::Joined),
                LinkState::Gone => Some(PathTrouble::Returned(away)),
                LinkState::Mute | LinkState::Silent | LinkState::Failed => Some(PathTrouble::Over),
            },
            LinkState::Gone => Some(PathTrouble::Gone(link.why.clone())),
            LinkState::LeftOut => Some(PathTrouble::LeftOut(link.why.clone())),
            LinkState::Mute => Some(PathTrouble::Mute(link.why.clone())),
            LinkState::Silent => Some(PathTrouble::Silent),
            LinkState::Failed => Some(PathTrouble::Failed),
            LinkState::Starting => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(id: u32, name: &str, state: LinkState) -> LinkReport {
        let why = if state == LinkState::Active { "" } else { "a reason" };
        LinkReport { id: Some(id), name: name.into(), state, why: why.into(), paths: Vec::new() }
    }

    fn at(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    #[test]
    fn each_change_is_told_once_and_the_beginning_is_none() {
        use LinkState::{Active, Gone, LeftOut, Silent, Starting};
        let mut tracker = Tracker::default();
        let mut told = |seconds, links: &[LinkReport]| tracker.update(at(seconds), links);
        let one = |name: &str, change| vec![(name.to_owned(), change)];
        assert_eq!(told(0, &[link(0, "a", Active), link(1, "b", Starting)]), []);
        assert_eq!(told(1, &[link(0, "a", Active), link(1, "b", Active)]), []);
        assert_eq!(told(2, &[link(0, "a", Silent), link(1, "b", Active)]), one("a", PathTrouble::Silent));
        assert_eq!(told(3, &[link(0, "a", Silent)]), []);
        assert_eq!(told(4, &[link(0, "a", Active)]), one("a", PathTrouble::Over));
        assert_eq!(told(5, &[link(0, "a", Gone)]), one("a", PathTrouble::Gone("a reason".into())));
        // An interface that has returned has not carried data yet.
        assert_eq!(told(7, &[link(0, "a", Starting)]), []);
        assert_eq!(told(9, &[link(0, "a", Active)]), one("a", PathTrouble::Returned(Duration::from_secs(4))));
        assert_eq!(told(10, &[link(2, "c", Starting)]), []);
        assert_eq!(told(11, &[link(2, "c", Active)]), one("c", PathTrouble::Joined));
        let left_out = LinkReport { id: None, ..link(0, "d", LeftOut) };
        assert_eq!(
            told(12, std::slice::from_ref(&left_out)),
            one("d", PathTrouble::LeftOut("a reason".into()))
        );
        assert_eq!(told(13, &[left_out]), []);
        assert_eq!(told(14, &[link(3, "d", Active)]), one("d", PathTrouble::Joined));
    }

    /// A peer that names new links without end. Neither memory nor the number of lines may grow with their number.
    #[test]
    fn links_without_end_are_neither_remembered_nor_reported() {
        let mut tracker = Tracker::default();
        let mut reported = 0;
        for n in 0..10_000_u32 {
            let links: Vec<LinkReport> =
                (0..40).map(|k| link(40 * n + k, &format!("{n}-{k}"), LinkState::Gone)).collect();
            reported += tracker.update(Instant::from_millis(u64::from(n) * 250), &links).len();
            assert!(tracker.known.len() <= MOST_KNOWN);
        }
        // During 2500 s, at most one line per second is printed, and the first lines appear at once.
        assert!((2000..=2600).contains(&reported), "{reported}");
    }

    #[test]
    fn a_link_keeps_its_number_in_an_association_and_its_name_beyond() {
        use LinkState::{Active, Gone};
        let mut tracker = Tracker::default();
        tracker.update(at(0), &[link(0, "a", Active), link(1, "b", Active)]);
        let renamed = tracker.update(at(1), &[link(0, "x", Active), link(1, "b", Active)]);
        assert_eq!(renamed, [("x".to_owned(), PathTrouble::Renamed("a".into()))]);
        tracker.update(at(2), &[link(1, "b", Gone)]);
        tracker.restart();
        let back = tracker.update(at(5), &[link(0, "b", Active), link(1, "x", Active)]);
        assert_eq!(back, [("b".to_owned(), PathTrouble::Returned(Duration::from_secs(3)))]);
    }
}
