//! Costs of links over all associations of a stream: each association starts with the allowance that the previous one
//! left. Monthly allowances also continue over streams and processes, by a ledger.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strandcast_net::driver::{AssociationHandle, Snapshot, Uplink};
use strandcast_net::interface::{Hardware, interfaces};
use tokio::time::Instant;

use super::allowance::{Link, Seen, capped, note};
use super::keeper::Keeper;
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
    /// Returns [`Error::Usage`] if the tariff has a monthly allowance and there is no ledger.
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

    /// Returns an event for each link whose tariff has a limit: the number of bytes that may still be used on this
    /// link.
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
