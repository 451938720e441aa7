//! Costs of links over all associations of a stream: each association starts with the allowance that the previous one
//! left. Monthly allowances also continue over streams and processes, by a ledger.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use strandcast_net::driver::{AssociationHandle, Snapshot, Uplink};
use strandcast_net::interface::{Hardware, interfaces};
use strandcast_proto::policy::{LinkId, Tariff};
use tokio::time::{Duration, Instant};

use super::monthly::{Keeper, Monthly};
use crate::error::Error;
use crate::live::event::Event;
use crate::live::ledger::{Known, Ledger};
use crate::live::tariff::LinkTariff;

/// A difference to the end of a month that shows that the clock was set.
const CLOCK_STEP: Duration = Duration::from_secs(60);

/// Tariffs of the [module](self). Clones share the remaining allowance.
#[derive(Clone, Debug)]
pub(super) struct Tariffs(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    links: Mutex<Vec<Link>>,
    keeper: Option<Keeper>,
}

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
    counted: Option<(LinkId, u64)>,
    pub(super) left: Option<u64>,
    until: Option<Instant>,
    /// The association does not have it yet.
    pub(super) fresh: bool,
    /// Hardware of the link's interface, once it was seen.
    hardware: Hardware,
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

    /// Finds the link among those of the association by its number, or otherwise by its hardware.
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

    async fn tell(&self, association: &AssociationHandle) {
        let until = self.until.map(|at| association.now() + at.saturating_duration_since(Instant::now()));
        let tariff = Tariff { class: self.spec.class, per_gb: self.spec.price, left: self.left, until };
        // An association that has ended does not need tariffs.
        let _ = association.set_tariff(&self.spec.link, tariff).await;
    }
}

impl Tariffs {
    /// Makes the tariffs of a configuration. Their times begin now. Monthly allowances continue from the sums in
    /// `ledger`.
    ///
    /// # Errors
    /// [`Error::Usage`]: a tariff does not name a path, a path has two, or there is no ledger; [`Error::Store`]: the
    /// ledger cannot be read or written.
    pub(super) async fn new(
        specs: Vec<LinkTariff>,
        uplinks: &[Uplink],
        ledger: Option<Ledger>,
    ) -> Result<Tariffs, Error> {
        let keeper = ledger.map(Keeper::new);
        for (at, spec) in specs.iter().enumerate() {
            check_name(spec, uplinks)?;
            if specs[..at].iter().any(|other| other.link == spec.link) {
                return Err(Error::Usage(format!("tariff: {} is given twice", spec.link)));
            }
            check_month(spec, keeper.as_ref())?;
        }
        let mut links: Vec<Link> = specs.into_iter().map(Link::new).collect();
        links.iter_mut().for_each(|link| link.fresh = false);
        if let Some(keeper) = keeper.as_ref().filter(|_| links.iter().any(|link| link.monthly.is_some())) {
            keeper.open(&mut links, &known(uplinks)).await?;
        }
        Ok(Tariffs(Arc::new(Shared { links: Mutex::new(links), keeper })))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Link>> {
        self.0.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tariff of each link that has one, with the bytes and the time that are left, and its allowance of each month.
    pub(super) fn all(&self) -> Vec<(LinkTariff, Option<u64>)> {
        let rest = |until: Instant| until.saturating_duration_since(Instant::now());
        let now = |link: &Link| {
            let month = link.spec.left.filter(|_| link.monthly.is_some());
            (LinkTariff { left: link.left, lasts: link.until.map(rest), ..link.spec.clone() }, month)
        };
        self.lock().iter().map(now).collect()
    }

    /// Replaces the tariff of a link. Its time begins now. The next [`Tariffs::apply`] carries it out.
    ///
    /// # Errors
    /// [`Error::Usage`]: it has a monthly allowance, and there is no ledger.
    pub(super) fn set(&self, spec: LinkTariff) -> Result<(), Error> {
        check_month(&spec, self.0.keeper.as_ref())?;
        let mut links = self.lock();
        let mut new = Link { fresh: true, ..Link::new(spec) };
        if let Some(at) = links.iter().position(|link| link.spec.link == new.spec.link) {
            let before = links.remove(at);
            (new.counted, new.hardware) = (before.counted, before.hardware.clone());
            if let (Some(keeper), Some(monthly)) = (&self.0.keeper, before.monthly) {
                keeper.close(monthly);
            }
        }
        links.push(new);
        Ok(())
    }

    /// Gives an association the tariffs that were set since the last call.
    pub(super) async fn apply(&self, association: &AssociationHandle) {
        let fresh: Vec<Link> = self.lock().iter().filter(|link| link.fresh).cloned().collect();
        for link in &fresh {
            link.tell(association).await;
        }
        for link in self.lock().iter_mut() {
            // Another tariff may have been set meanwhile.
            link.fresh &= !fresh.iter().any(|told| told.spec == link.spec && told.until == link.until);
        }
    }

    /// The allowances, as events: what may still be used.
    pub(super) fn caps(&self) -> Vec<Event> {
        self.lock().iter().filter_map(capped).collect()
    }

    /// Sets the tariffs of a new association.
    pub(super) async fn tell(&self, association: &AssociationHandle) {
        self.lock().iter_mut().for_each(Link::forget);
        let links = self.lock().clone();
        for link in links {
            link.tell(association).await;
        }
    }

    /// Records the remaining allowances. Returns news about monthly allowances and the ledger.
    pub(super) async fn note(&self, snapshot: &Snapshot) -> Vec<Event> {
        let seen: Vec<Seen> = snapshot
            .links
            .iter()
            .filter_map(|link| {
                let (name, hardware) = (link.name.clone(), link.hardware.clone());
                Some(Seen { id: link.id?, name, hardware, used: link.allowance_used })
            })
            .collect();
        note(&mut self.lock(), &seen);
        match &self.0.keeper {
            Some(keeper) => keeper.keep(|| self.lock(), &seen).await,
            None => Vec::new(),
        }
    }

    /// Writes what the ledger does not have yet, at the end of the stream. Returns an event if that fails.
    pub(super) async fn finish(&self) -> Option<Event> {
        match &self.0.keeper {
            Some(keeper) => keeper.finish(|| self.lock()).await,
            None => None,
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let links = std::mem::take(self.links.get_mut().unwrap_or_else(PoisonError::into_inner));
        if let Some(keeper) = &self.keeper {
            links.into_iter().filter_map(|link| link.monthly).for_each(|monthly| keeper.close(monthly));
            keeper.end();
        }
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

fn check_name(spec: &LinkTariff, uplinks: &[Uplink]) -> Result<(), Error> {
    let is = |uplink: &Uplink| {
        uplink.name == spec.link || uplink.spec.is_pattern() && uplink.spec.fits(&spec.link)
    };
    if uplinks.iter().any(is) {
        return Ok(());
    }
    let names: Vec<&str> = uplinks.iter().map(|u| u.name.as_str()).collect();
    let (link, names) = (&spec.link, names.join(", "));
    Err(Error::Usage(format!("tariff: {link} is not one of the paths {names}")))
}

fn check_month(spec: &LinkTariff, keeper: Option<&Keeper>) -> Result<(), Error> {
    let Some(day) = spec.month_begins else { return Ok(()) };
    let link = &spec.link;
    let why = match (spec.left, spec.lasts, keeper) {
        _ if !(1..=28).contains(&day) => {
            format!("tariff: {link}: month begins on day {day}: expected 1 to 28")
        }
        (None, ..) => format!("tariff: {link}: a month has no allowance"),
        (_, Some(_), _) => format!("tariff: {link}: the allowance of a month lasts for the month"),
        (.., None) => format!("ledger: the monthly allowance of {link} needs a file"),
        _ => return Ok(()),
    };
    Err(Error::Usage(why))
}

/// The links that are there: those over interfaces, and paths that have an address alone.
fn known(uplinks: &[Uplink]) -> Vec<Known> {
    let interfaces = interfaces().unwrap_or_default();
    let bound = uplinks.iter().filter(|uplink| !uplink.spec.follows_interfaces());
    let bound = bound.map(|uplink| Known { name: uplink.name.clone(), hardware: Hardware::default() });
    let there = interfaces.iter().map(|interface| Known {
        name: interface.name.clone(),
        hardware: interface.hardware.proven(&interfaces),
    });
    there.chain(bound).collect()
}
