//! What can be set of QAOMDV.

use core::time::Duration;

use strandcast_keys::{keys, words};

use crate::aomdv::MultipathConfig;
use crate::split::Choice;
pub use crate::split::Criterion;

words! {
    /// How a source divides datagrams among the paths of QAOMDV.
    pub enum QaomdvSplit {
        /// It takes the widest path.
        None = "none",
        /// It alternates between the two widest.
        Even = "even",
        /// Originals and retransmissions go different ways (Guo, Liu and Lian 2010, §5.1).
        Mpr = "mpr",
    }
}

words! {
    /// What time counts as idle.
    pub enum Idle {
        /// Time in which the node neither transmits nor senses another's transmission.
        Carrier = "carrier",
        /// Time between the node's own transmissions, as the paper has it.
        OwnGap = "own-gap",
    }
}

words! {
    /// Where the residual bandwidth of a node comes from.
    pub enum Bandwidth {
        /// Shares of idle time, smoothed.
        Estimated = "estimated",
        /// The share of idle time of the last one to two seconds as it is, for comparison.
        True = "true",
    }
}

keys! {
    /// The keys of QAOMDV.
    pub struct QaomdvConfig {
        /// how a source divides datagrams: all on the widest path, in turn on the two widest, or retransmissions apart
        split: QaomdvSplit = QaomdvSplit::None,
        /// path of originals with split=mpr
        original: Criterion = Criterion::Widest,
        /// path of retransmissions with split=mpr
        retransmission as "rtx": Criterion = Criterion::Fastest,
        /// weight of a new sample of bandwidth or delay
        gain: f64 [0.01, 1.0] = 0.25,
        /// what counts as idle time
        idle: Idle = Idle::Carrier,
        /// the residual bandwidth: smoothed, or the last share of idle time as it is
        bandwidth: Bandwidth = Bandwidth::Estimated,
        /// raw bit rate of the channel
        capacity: f64 [10000.0, 1e10, "bit/s"] = 11e6,
        /// how old measurements of a path in use may get before it is searched again; 0: any age
        refresh: Option<Duration> [0, 3_600_000, "ms"] = Some(Duration::from_secs(10)),
        /// probes that a node sends at its start
        probes: u32 [0, 100, "probes"] = 5,
        and paths: MultipathConfig,
    }
}

impl QaomdvConfig {
    /// The defaults: paths may be longer than the shortest by any number of hops.
    pub fn usual() -> Self {
        let paths = MultipathConfig { difference: 30, ..MultipathConfig::default() };
        QaomdvConfig { paths, ..QaomdvConfig::default() }
    }

    /// How a path is chosen.
    pub fn choice(&self) -> Choice {
        match self.split {
            QaomdvSplit::None => Choice::Widest,
            QaomdvSplit::Even => Choice::EvenWidest,
            QaomdvSplit::Mpr => {
                Choice::Classes { original: self.original, retransmission: self.retransmission }
            }
        }
    }

    /// Whether the source tells retransmissions from originals.
    pub fn classifies(&self) -> bool {
        self.split == QaomdvSplit::Mpr
    }
}
