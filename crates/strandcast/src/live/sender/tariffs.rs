//! Costs of links over all associations of a stream: each association starts with the allowance that the previous one
//! left. Monthly allowances also continue over streams and processes, by a ledger.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use strandcast_net::driver::{AssociationHandle, Snapshot, Uplink};
use strandcast_net::interface::{Hardware, Interface, interfaces};
use strandcast_proto::policy::Tariff;
use tokio::time::Instant;

use super::monthly::{Keeper, Monthly};
use crate::error::Error;
use crate::live::event::Event;
use crate::live::ledger::{Known, Ledger};
use crate::live::tariff::LinkTariff;

/// Tariffs of the [module](self). Clones share the remaining allowance.
#[derive(Clone, Debug)]
pub(super) struct Tariffs(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    links: Mutex<Vec<Link>>,
    keeper: Option<Keeper>,
}

#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) spec: LinkTariff,
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
    fn new(spec: LinkTariff) -> Link {
        let until = spec.lasts.map(|lasts| Instant::now() + lasts);
        let (left, hardware) = (spec.left, Hardware::default());
        let monthly = spec.month_begins.map(Monthly::new);
        let link = Link { spec, left, until, fresh: false, hardware, monthly };
        Link { until: link.end_of_month().or(link.until), ..link }
    }

    /// Records the link's hardware. If a link of this hardware has another name, because the interface returned while
    /// there was no association, the tariff follows it.
    fn recognise(&mut self, seen: &Snapshot) {
        let there = seen.links.iter().filter(|link| link.id.is_some() && link.why.is_none());
        if let Some(link) = there.clone().find(|link| link.name == self.spec.link) {
            self.hardware.clone_from(&link.hardware);
            return;
        }
        let by_port = there.clone().find(|link| link.hardware.same_port(&self.hardware));
        let mut same = there.filter(|link| link.hardware.same_mac(&self.hardware));
        let by_mac = || same.next().filter(|_| same.next().is_none());
        if let Some(link) = by_port.or_else(by_mac) {
            self.spec.link.clone_from(&link.name);
            self.fresh = true;
        }
    }

    /// End of the current month of a plan.
    pub(super) fn end_of_month(&self) -> Option<Instant> {
        let rest = self.monthly.as_ref()?.month.rest(SystemTime::now());
        Instant::now().checked_add(rest)
    }

    /// Begins another month.
    pub(super) fn renew(&mut self) {
        (self.left, self.until, self.fresh) = (self.spec.left, self.end_of_month(), true);
    }

    async fn tell(&self, association: &AssociationHandle) {
        let until = self.until.map(|at| association.now() + at.saturating_duration_since(Instant::now()));
        let tariff = Tariff { class: self.spec.class, per_gb: self.spec.price, left: self.left, until };
        // An association that has ended does not need tariffs.
        let _ = association.set_tariff(&self.spec.link, tariff).await;
    }
}

impl Tariffs {
    /// Makes the tariffs of a configuration. Their times begin now. Monthly allowances continue from the sums in `ledger`.
    ///
    /// # Errors
    /// [`Error::Usage`]: a tariff does not name a path, or there is no ledger; [`Error::Store`]: the ledger cannot be
    /// read or written.
    pub(super) fn new(
        specs: Vec<LinkTariff>,
        uplinks: &[Uplink],
        ledger: Option<Ledger>,
    ) -> Result<Tariffs, Error> {
        let is = |uplink: &Uplink, link: &str| {
            uplink.name == link || uplink.spec.is_pattern() && uplink.spec.fits(link)
        };
        if let Some(unmatched) = specs.iter().find(|s| !uplinks.iter().any(|u| is(u, &s.link))) {
            let names: Vec<&str> = uplinks.iter().map(|u| u.name.as_str()).collect();
            let (link, names) = (&unmatched.link, names.join(", "));
            return Err(Error::Usage(format!("tariff: {link} is not one of the paths {names}")));
        }
        let keeper = ledger.map(Keeper::new);
        let mut links: Vec<Link> = Vec::new();
        let present = match specs.iter().any(|spec| spec.month_begins.is_some()) {
            true => interfaces().unwrap_or_default(),
            false => Vec::new(),
        };
        for spec in specs {
            check_month(&spec, keeper.as_ref())?;
            let mut link = Link::new(spec);
            let known = known(&link.spec.link, &present, uplinks);
            if let (Some(keeper), Some(known), Some(_)) = (&keeper, known, &link.monthly) {
                keeper.open(&mut link, known)?;
            }
            links.push(link);
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
        let before = links.iter().position(|link| link.spec.link == spec.link).map(|at| links.remove(at));
        if let (Some(before), Some(keeper)) = (before, &self.0.keeper) {
            keeper.close(before);
        }
        links.push(Link { fresh: true, ..Link::new(spec) });
        Ok(())
    }

    /// Gives an association the tariffs that were set since the last call.
    pub(super) async fn apply(&self, association: &AssociationHandle) {
        let mut fresh: Vec<Link> = self.lock().iter().filter(|link| link.fresh).cloned().collect();
        for link in &mut fresh {
            link.tell(association).await;
        }
        for link in self.lock().iter_mut() {
            // Another one may have been set meanwhile.
            link.fresh &= !fresh.iter().any(|told| told.spec == link.spec && told.until == link.until);
        }
    }

    /// The allowances, as events: what may still be used.
    pub(super) fn caps(&self) -> Vec<Event> {
        self.lock().iter().filter_map(|link| Some(capped(link, link.left?))).collect()
    }

    /// Sets the tariffs of a new association.
    pub(super) async fn tell(&self, association: &AssociationHandle) {
        let links = self.lock().clone();
        for link in links {
            link.tell(association).await;
        }
    }

    /// Records that interfaces have other names: each pair has the name before and the present one. Their tariffs
    /// continue.
    pub(super) fn renamed(&self, names: &[(String, String)]) {
        for link in self.lock().iter_mut() {
            if let Some((_, name)) = names.iter().find(|(before, _)| *before == link.spec.link) {
                link.spec.link.clone_from(name);
            }
        }
    }

    /// Records the remaining allowances. Returns news about monthly allowances and the ledger.
    pub(super) async fn note(&self, seen: &Snapshot) -> Vec<Event> {
        // The figures of the path of a fresh one are those of its predecessor.
        for link in self.lock().iter_mut().filter(|link| !link.fresh) {
            link.recognise(seen);
            let path = seen.paths.iter().find(|p| p.name == link.spec.link);
            let left = path.and_then(|p| p.view.tariff.left).or(link.left);
            let used = link.left.zip(left).map_or(0, |(before, left)| before.saturating_sub(left));
            link.left = left;
            if let Some(monthly) = &mut link.monthly {
                monthly.unsaved += used;
            }
        }
        let Some(keeper) = &self.0.keeper else { return Vec::new() };
        let hardware = |name: &str| {
            let link = seen.links.iter().find(|link| link.id.is_some() && link.name == name)?;
            Some(Known { name: name.to_owned(), hardware: link.hardware.clone() })
        };
        keeper.keep(|| self.lock(), hardware).await
    }

    /// Writes what the ledger does not have yet, at the end of the stream.
    pub(super) async fn finish(&self) {
        let Some(keeper) = &self.0.keeper else { return };
        keeper.finish(|| self.lock()).await;
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let links = std::mem::take(self.links.get_mut().unwrap_or_else(PoisonError::into_inner));
        if let Some(keeper) = &self.keeper {
            links.into_iter().for_each(|link| keeper.close(link));
        }
    }
}

/// Event with the bytes that may still be used on a link.
pub(super) fn capped(link: &Link, left: u64) -> Event {
    let name = link.spec.link.clone();
    match (&link.monthly, link.spec.left) {
        (Some(monthly), Some(of)) => Event::Allowance { link: name, left, of, until: monthly.month.end() },
        _ => Event::Capped { link: name, left },
    }
}

fn check_month(spec: &LinkTariff, keeper: Option<&Keeper>) -> Result<(), Error> {
    let Some(day) = spec.month_begins else { return Ok(()) };
    let why = match (spec.left, spec.lasts, keeper) {
        _ if !(1..=28).contains(&day) => format!("month begins on day {day}: expected 1 to 28"),
        (None, ..) => "a month has no allowance".to_owned(),
        (_, Some(_), _) => "the allowance of a month lasts for the month".to_owned(),
        (.., None) => {
            return Err(Error::Usage(format!("ledger: the monthly allowance of {} needs one", spec.link)));
        }
        _ => return Ok(()),
    };
    Err(Error::Usage(format!("tariff: {}: {why}", spec.link)))
}

/// The link with this name, if its interface is there. A path without an interface is known by its name.
fn known(name: &str, interfaces: &[Interface], uplinks: &[Uplink]) -> Option<Known> {
    let there = interfaces.iter().find(|interface| interface.name == name);
    let bound = || uplinks.iter().any(|uplink| uplink.name == name && !uplink.spec.follows_interfaces());
    let hardware = there.map(|interface| interface.hardware.clone());
    let hardware = hardware.or_else(|| bound().then(Hardware::default))?;
    Some(Known { name: name.to_owned(), hardware })
}
