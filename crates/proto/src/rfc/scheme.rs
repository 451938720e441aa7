//! RFC 9260 as a scheme.

use super::{Aimd, PrimaryPath, Reno, RfcFeedback, RfcLoss, WindowConfig};
use crate::policy::Parts;

/// SCTP as in the RFC: one window per path, all data on the primary path with failover, three misses.
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
