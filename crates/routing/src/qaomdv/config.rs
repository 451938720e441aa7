//! Configuration of QAOMDV.

use core::time::Duration;

use strandcast_keys::{keys, words};

use crate::aomdv::MultipathConfig;
use crate::split::Choice;
pub use crate::split::Criterion;

words! {
    /// Distribution of a source's datagrams over the paths of QAOMDV.
    pub enum QaomdvSplit {
        /// All on the widest path.
        None = "none",
        /// Alternately on the two widest.
        Even = "even",
        /// Originals and retransmissions on different paths (Guo, Liu and Lian 2010, §5.1).
        Mpr = "mpr",
    }
}

words! {
    /// Definition of idle time.
    pub enum Idle {
        /// Time in which the node neither transmits nor senses another's transmission.
        Carrier = "carrier",
        /// Time between the node's own transmissions, as in the paper.
        OwnGap = "own-gap",
    }
}

words! {
    /// Source of a node's residual bandwidth.
    pub enum Bandwidth {
        /// Smoothed fractions of idle time.
        Estimated = "estimated",
        /// The fraction of idle time in the last one to two seconds without smoothing, for comparison.
        True = "true",
    }
}

words! {
    /// Disjoint paths that a list with room takes.
    pub enum Insert {
        /// Each.
        Disjoint = "disjoint",
        /// Paths that are wider or faster than all others, as the paper's update rule says.
        Better = "better",
    }
}

words! {
    /// Queues in which retransmissions precede originals with `split=mpr`.
    pub enum Priority {
        /// The two queues of the source, as in the paper.
        Source = "source",
        /// The interface queues of all nodes as well.
        EveryNode = "every-node",
    }
}

keys! {
    /// The keys of QAOMDV.
    pub struct QaomdvConfig {
        /// distribution of a source's datagrams: all on the widest path, in turn on the two widest, or retransmissions apart
        split: QaomdvSplit = QaomdvSplit::None,
        /// path of originals with split=mpr
        original: Criterion = Criterion::Widest,
        /// path of retransmissions with split=mpr
        retransmission as "rtx": Criterion = Criterion::Fastest,
        /// with split=mpr retransmissions precede originals in the source's two queues, or also in each node's interface queue
        priority: Priority = Priority::Source,
        /// disjoint paths that a list with room takes
        insert: Insert = Insert::Disjoint,
        /// weight of a new sample of bandwidth or delay
        gain: f64 [0.01, 1.0] = 0.25,
        /// definition of idle time
        idle: Idle = Idle::Carrier,
        /// the residual bandwidth: smoothed, or the last fraction of idle time
        bandwidth: Bandwidth = Bandwidth::Estimated,
        /// raw bit rate of the channel
        capacity: f64 [10000.0, 1e10, "bit/s"] = 11e6,
        /// maximum age of the measurements of a path in use before it is searched again; 0: any age
        refresh: Option<Duration> [0, 3_600_000, "ms"] = Some(Duration::from_secs(10)),
        /// probes that a node sends at its start
        probes: u32 [0, 100, "probes"] = 5,
        and paths: MultipathConfig,
    }
}

impl QaomdvConfig {
    /// Returns the defaults. The defaults permit paths that are longer than the shortest path by any number of hops.
    pub fn usual() -> Self {
        let paths = MultipathConfig { difference: 30, ..MultipathConfig::default() };
        QaomdvConfig { paths, ..QaomdvConfig::default() }
    }

    /// Returns the rule by which nodes choose paths.
    pub fn choice(&self) -> Choice {
        match self.split {
            QaomdvSplit::None => Choice::Widest,
            QaomdvSplit::Even => Choice::EvenWidest,
            QaomdvSplit::Mpr => {
                Choice::Classes { original: self.original, retransmission: self.retransmission }
            }
        }
    }

    /// Returns whether the source distinguishes retransmissions from originals.
    pub fn classifies(&self) -> bool {
        self.split == QaomdvSplit::Mpr
    }

    /// Returns whether retransmissions precede originals in interface queues.
    pub fn expedites(&self) -> bool {
        self.priority == Priority::EveryNode
    }
}
