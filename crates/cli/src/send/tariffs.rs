//! What links cost, over all associations of a stream: what one used, the next one has no more.

use std::sync::{Arc, Mutex, PoisonError};

use strandcast_net::driver::{AssociationHandle, Snapshot, Uplink};
use strandcast_proto::policy::Tariff;
use tokio::time::Instant;

use crate::args::TariffSpec;
use crate::error::CliError;
use crate::show::bytes;

/// See the [module](self). Clones share what is left.
#[derive(Clone, Debug, Default)]
pub(super) struct Tariffs(Arc<Mutex<Vec<Link>>>);

#[derive(Clone, Debug)]
struct Link {
    spec: TariffSpec,
    left: Option<u64>,
    until: Option<Instant>,
}

impl Tariffs {
    /// Those of the command line, whose times begin now.
    ///
    /// # Errors
    /// [`CliError::Usage`]: one names no path.
    pub(super) fn new(specs: Vec<TariffSpec>, uplinks: &[Uplink]) -> Result<Tariffs, CliError> {
        if let Some(unmatched) = specs.iter().find(|s| uplinks.iter().all(|u| u.name != s.link)) {
            let names: Vec<&str> = uplinks.iter().map(|u| u.name.as_str()).collect();
            let (link, names) = (&unmatched.link, names.join(", "));
            return Err(CliError::Usage(format!("--tariff: {link} is none of the paths {names}")));
        }
        let now = Instant::now();
        let link = |spec: TariffSpec| Link { left: spec.left, until: spec.lasts.map(|l| now + l), spec };
        Ok(Tariffs(Arc::new(Mutex::new(specs.into_iter().map(link).collect()))))
    }

    /// Lines on what may still be used, which begins to count with this run.
    pub(super) fn caps(&self) -> Vec<String> {
        let links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let capped = links.iter().filter_map(|link| Some((&link.spec.link, link.left?)));
        let line = |(link, left)| {
            format!("{link}: {} from now on; what was used before this run is not known", bytes(left))
        };
        capped.map(line).collect()
    }

    /// Tells the transport of a new association.
    pub(super) async fn tell(&self, association: &AssociationHandle) {
        let links = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for Link { spec, left, until } in links {
            let until = until.map(|at| association.now() + at.saturating_duration_since(Instant::now()));
            let tariff = Tariff { class: spec.class, per_gb: spec.price, left, until };
            // An association that has ended needs none.
            let _ = association.set_tariff(&spec.link, tariff).await;
        }
    }

    /// Notes what is left.
    pub(super) fn note(&self, seen: &Snapshot) {
        for link in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            let path = seen.paths.iter().find(|p| p.name == link.spec.link);
            link.left = path.and_then(|p| p.view.tariff.left).or(link.left);
        }
    }
}
