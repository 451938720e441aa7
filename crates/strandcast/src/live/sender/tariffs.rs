//! Costs of links over all associations of a stream. Each association starts with the allowance that the previous
//! association left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strandcast_net::driver::{AssociationHandle, Snapshot, Uplink};
use strandcast_proto::policy::Tariff;
use tokio::time::Instant;

use crate::error::Error;
use crate::live::tariff::LinkTariff;

/// Tariffs of the [module](self). Clones share the remaining allowance.
#[derive(Clone, Debug, Default)]
pub(super) struct Tariffs(Arc<Mutex<Vec<Link>>>);

#[derive(Clone, Debug)]
struct Link {
    spec: LinkTariff,
    left: Option<u64>,
    until: Option<Instant>,
    /// True if the association does not have this tariff yet.
    fresh: bool,
}

impl Link {
    /// A tariff whose time begins now.
    fn new(spec: LinkTariff) -> Link {
        let until = spec.lasts.map(|lasts| Instant::now() + lasts);
        Link { left: spec.left, until, spec, fresh: false }
    }

    async fn tell(&self, association: &AssociationHandle) {
        let until = self.until.map(|at| association.now() + at.saturating_duration_since(Instant::now()));
        let tariff = Tariff { class: self.spec.class, per_gb: self.spec.price, left: self.left, until };
        // An association that has ended does not need tariffs.
        let _ = association.set_tariff(&self.spec.link, tariff).await;
    }
}

impl Tariffs {
    /// Makes the tariffs of a configuration. The times of the tariffs begin now.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a tariff does not name a path.
    pub(super) fn new(specs: Vec<LinkTariff>, uplinks: &[Uplink]) -> Result<Tariffs, Error> {
        let is = |uplink: &Uplink, link: &str| {
            uplink.name == link || uplink.spec.is_pattern() && uplink.spec.fits(link)
        };
        if let Some(unmatched) = specs.iter().find(|s| !uplinks.iter().any(|u| is(u, &s.link))) {
            let names: Vec<&str> = uplinks.iter().map(|u| u.name.as_str()).collect();
            let (link, names) = (&unmatched.link, names.join(", "));
            return Err(Error::Usage(format!("tariff: {link} is not one of the paths {names}")));
        }
        Ok(Tariffs(Arc::new(Mutex::new(specs.into_iter().map(Link::new).collect()))))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Link>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tariff of each link that has one, with the remaining bytes and the remaining time.
    pub(super) fn all(&self) -> Vec<LinkTariff> {
        let rest = |until: Instant| until.saturating_duration_since(Instant::now());
        let now =
            |link: &Link| LinkTariff { left: link.left, lasts: link.until.map(rest), ..link.spec.clone() };
        self.lock().iter().map(now).collect()
    }

    /// Replaces the tariff of a link. The time of the new tariff begins now. The next call of [`Tariffs::apply`]
    /// applies the tariff.
    pub(super) fn set(&self, spec: LinkTariff) {
        let mut links = self.lock();
        links.retain(|link| link.spec.link != spec.link);
        links.push(Link { fresh: true, ..Link::new(spec) });
    }

    /// Gives an association the tariffs that were set since the last call.
    pub(super) async fn apply(&self, association: &AssociationHandle) {
        let mut fresh: Vec<Link> = self.lock().iter().filter(|link| link.fresh).cloned().collect();
        for link in &mut fresh {
            link.tell(association).await;
        }
        for link in self.lock().iter_mut() {
            // Another tariff may have been set meanwhile.
            link.fresh &= !fresh.iter().any(|told| told.spec == link.spec && told.until == link.until);
        }
    }

    /// Returns the links that have an allowance. Each has the number of bytes that may still be used.
    pub(super) fn caps(&self) -> Vec<(String, u64)> {
        let links = self.lock();
        links.iter().filter_map(|link| Some((link.spec.link.clone(), link.left?))).collect()
    }

    /// Sets the tariffs of a new association.
    pub(super) async fn tell(&self, association: &AssociationHandle) {
        let links = self.lock().clone();
        for link in links {
            link.tell(association).await;
        }
    }

    /// Records that an interface has another name. The tariff of the interface continues.
    pub(super) fn renamed(&self, before: &str, name: &str) {
        let mut links = self.lock();
        links
            .iter_mut()
            .filter(|link| link.spec.link == before)
            .for_each(|link| link.spec.link = name.to_owned());
    }

    /// Records the remaining allowances.
    pub(super) fn note(&self, seen: &Snapshot) {
        // The association has not applied a fresh tariff yet, so that the figures of its path belong to the previous
        // tariff.
        for link in self.lock().iter_mut().filter(|link| !link.fresh) {
            let path = seen.paths.iter().find(|p| p.name == link.spec.link);
            link.left = path.and_then(|p| p.view.tariff.left).or(link.left);
        }
    }
}
