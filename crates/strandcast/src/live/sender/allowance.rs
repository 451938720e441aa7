//! The tariff of a link, and what is left of its allowance.

use std::time::SystemTime;

use strandcast_net::driver::AssociationHandle;
use strandcast_net::interface::Hardware;
use strandcast_proto::policy::{LinkId, Tariff};
use tokio::time::{Duration, Instant};

use super::monthly::Monthly;
use crate::live::event::Event;
use crate::live::tariff::LinkTariff;

/// A difference to the end of a month that shows that the clock was set.
const CLOCK_STEP: Duration = Duration::from_secs(60);

/// A link of the present association, as far as tariffs need it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) id: LinkId,
    pub(super) name: String,
    pub(super) hardware: Hardware,
    /// Bytes since the association began.
    pub(super) used: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) spec: LinkTariff,
    /// The link in the present association, once it is there, and the bytes that were counted there.
    pub(super) counted: Option<(LinkId, u64)>,
    pub(super) left: Option<u64>,
    pub(super) until: Option<Instant>,
    /// The association does not have it yet.
    pub(super) fresh: bool,
    /// Hardware of the link's interface, once it was seen.
    pub(super) hardware: Hardware,
    /// The use of a monthly allowance.
    pub(super) monthly: Option<Monthly>,
}

impl Link {
    /// A tariff whose time begins now.
    pub(super) fn new(spec: LinkTariff) -> Link {
        let until = spec.lasts.map(|lasts| Instant::now() + lasts);
        let (left, hardware) = (spec.left, Hardware::default());
        let monthly = spec.month_begins.map(Monthly::new);
        let mut link = Link { spec, counted: None, left, until, fresh: false, hardware, monthly };
        link.look_at_the_clock();
        link
    }

    /// Sets the end of a month by the clock. The clock of a machine without a battery is set after the start.
    pub(super) fn look_at_the_clock(&mut self) {
        let Some(monthly) = &self.monthly else { return };
        let until = Instant::now().checked_add(monthly.month.rest(SystemTime::now()));
        let step =
            |a: Instant, b: Instant| a.saturating_duration_since(b).max(b.saturating_duration_since(a));
        let same = self.until.zip(until).is_some_and(|(before, now)| step(before, now) < CLOCK_STEP);
        if !same {
            (self.until, self.fresh) = (until, true);
        }
    }

    /// Sets the remaining part of a monthly allowance.
    pub(super) fn reckon(&mut self) {
        let Some(monthly) = &self.monthly else { return };
        let left = self.spec.left.map(|cap| cap.saturating_sub(monthly.used()));
        if left != self.left {
            (self.left, self.fresh) = (left, true);
        }
    }

    /// The link that is counted, among those of the association.
    pub(super) fn present<'a>(&self, seen: &'a [Seen]) -> Option<&'a Seen> {
        let (id, _) = self.counted?;
        seen.iter().find(|link| link.id == id)
    }

    /// Finds the link among those of the association by its number, or else by its hardware.
    fn find<'a>(&self, seen: &'a [Seen], taken: &[LinkId]) -> Option<&'a Seen> {
        if self.counted.is_some() {
            return self.present(seen);
        }
        let free = || seen.iter().filter(|link| !taken.contains(&link.id));
        let by_port = free().find(|link| link.hardware.same_port(&self.hardware));
        by_port.or_else(|| free().find(|link| link.hardware.same_mac(&self.hardware)))
    }

    /// Counts the bytes since the last call.
    fn count(&mut self, seen: &Seen) {
        self.spec.link.clone_from(&seen.name);
        if seen.hardware != Hardware::default() {
            self.hardware.clone_from(&seen.hardware);
        }
        let before = self.counted.map_or(0, |(_, used)| used);
        // The count of an association that the peer has restarted begins again.
        let used = seen.used.checked_sub(before).unwrap_or(seen.used);
        self.counted = Some((seen.id, seen.used));
        self.left = self.left.map(|left| left.saturating_sub(used));
        if let Some(monthly) = &mut self.monthly {
            monthly.unsaved += used;
        }
    }

    /// Prepares for a new association, in which numbers of links and counts begin again.
    pub(super) fn forget(&mut self) {
        self.counted = None;
    }

    pub(super) async fn tell(&self, association: &AssociationHandle) {
        let until = self.until.map(|at| association.now() + at.saturating_duration_since(Instant::now()));
        let tariff = Tariff { class: self.spec.class, per_gb: self.spec.price, left: self.left, until };
        // An association that has ended does not need tariffs.
        let _ = association.set_tariff(&self.spec.link, tariff).await;
    }
}

/// Counts the use of each allowance. A tariff that has not found its link by hardware takes the one with its name.
pub(super) fn note(links: &mut [Link], seen: &[Seen]) {
    let mut taken: Vec<LinkId> = links.iter().filter_map(|link| Some(link.counted?.0)).collect();
    let mut rest = Vec::new();
    for (at, link) in links.iter_mut().enumerate() {
        let Some(found) = link.find(seen, &taken) else {
            rest.extend(link.counted.is_none().then_some(at));
            continue;
        };
        // In a new association the tariff was set for the previous name.
        link.fresh |= link.spec.link != found.name && link.counted.is_none();
        taken.push(found.id);
        link.count(found);
    }
    for at in rest {
        let named = |seen: &&Seen| seen.name == links[at].spec.link && !taken.contains(&seen.id);
        if let Some(found) = seen.iter().find(named) {
            taken.push(found.id);
            links[at].count(found);
        }
    }
}

/// Event with the bytes that may still be used on a link. `None`: there is no limit, or the ledger was not read.
pub(super) fn capped(link: &Link) -> Option<Event> {
    let (name, left) = (link.spec.link.clone(), link.left?);
    match (&link.monthly, link.spec.left) {
        (Some(monthly), Some(of)) => {
            monthly.is_open().then(|| Event::Allowance { link: name, left, of, until: monthly.month.end() })
        }
        _ => Some(Event::Capped { link: name, left }),
    }
}
