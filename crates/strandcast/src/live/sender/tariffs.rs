//! Costs of links over all associations of a stream: each association starts with the allowance that the previous one
//! left.

use std::sync::{Arc, Mutex, PoisonError};

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
}

impl Tariffs {
    /// Makes the tariffs of a configuration. Their times begin now.
    ///
    /// # Errors
    /// [`Error::Usage`]: a tariff does not name a path.
    pub(super) fn new(specs: Vec<LinkTariff>, uplinks: &[Uplink]) -> Result<Tariffs, Error> {
        let is = |uplink: &Uplink, link: &str| {
            uplink.name == link || uplink.spec.is_pattern() && uplink.spec.fits(link)
        };
        if let Some(unmatched) = specs.iter().find(|s| !uplinks.iter().any(|u| is(u, &s.link))) {
            let names: Vec<&str> = uplinks.iter().map(|u| u.name.as_str()).collect();
            let (link, names) = (&unmatched.link, names.join(", "));
            return Err(Error::Usage(format!("tariff: {link} is not one of the paths {names}")));
        }
        let now = Instant::now();
        let link = |spec: LinkTariff| Link { left: spec.left, until: spec.lasts.map(|l| now + l), spec };
        Ok(Tariffs(Arc::new(Mutex::new(specs.into_iter().map(link).collect()))))
    }

    /// Returns the links that have an allowance, each with the number of bytes that may still be used since the start
    /// of this run.
    pub(super) fn caps(&self) -> Vec<(String, u64)> {
        let links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.iter().filter_map(|link| Some((link.spec.link.clone(), link.left?))).collect()
    }

    /// Sets the tariffs of a new association.
    pub(super) async fn tell(&self, association: &AssociationHandle) {
        let links = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for Link { spec, left, until } in links {
            let until = until.map(|at| association.now() + at.saturating_duration_since(Instant::now()));
            let tariff = Tariff { class: spec.class, per_gb: spec.price, left, until };
            // An association that has ended does not need tariffs.
            let _ = association.set_tariff(&spec.link, tariff).await;
        }
    }

    /// Records that an interface has another name. Its tariff continues.
    pub(super) fn renamed(&self, before: &str, name: &str) {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links
            .iter_mut()
            .filter(|link| link.spec.link == before)
            .for_each(|link| link.spec.link = name.to_owned());
    }

    /// Records the remaining allowances.
    pub(super) fn note(&self, seen: &Snapshot) {
        for link in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            let path = seen.paths.iter().find(|p| p.name == link.spec.link);
            link.left = path.and_then(|p| p.view.tariff.left).or(link.left);
        }
    }
}
