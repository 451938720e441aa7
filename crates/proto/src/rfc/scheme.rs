//! RFC 9260 as a scheme: [`scheme`].

use super::{Aimd, PrimaryPath, Reno, RfcFeedback, RfcLoss, WindowConfig};
use crate::policy::Parts;

/// Returns the scheme of SCTP as in the RFC: one window per path, all data on the primary path with failover, and three
/// misses until a loss.
pub fn scheme() -> Parts {
    Parts {
        name: "sctp".into(),
        estimators: Vec::new(),
        loss: Box::new(RfcLoss::default()),
        cc: Box::new(Aimd::new(WindowConfig::default(), Reno)),
        scheduler: Box::new(PrimaryPath),
        feedback: Box::new(RfcFeedback),
    }
}
