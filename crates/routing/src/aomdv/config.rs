//! What can be set of AOMDV.

use strandcast_keys::{keys, words};

words! {
    /// Whose AOMDV.
    pub enum Profile {
        /// The papers': link-disjoint paths, lost links reported by the link layer.
        Paper = "paper",
        /// ns-2.35's as it is shipped: node-disjoint paths, lost links noticed by missing HELLOs.
        Ns2 = "ns2",
    }
}

words! {
    /// What paths may not share.
    pub enum Disjoint {
        /// Links.
        Link = "link",
        /// Nodes.
        Node = "node",
    }
}

words! {
    /// How a lost link is noticed.
    pub enum Detect {
        /// The link layer gave a datagram up.
        LinkLayer = "link-layer",
        /// Three HELLOs are missing.
        Hello = "hello",
    }
}

words! {
    /// How a source divides datagrams among the paths of AOMDV.
    pub enum AomdvSplit {
        /// It takes the first path.
        None = "none",
        /// It alternates between the two best.
        Even = "even",
    }
}

keys! {
    /// Which paths are kept.
    pub struct MultipathConfig {
        /// what paths of the same destination may not share
        disjoint: Disjoint = Disjoint::Link,
        /// how a lost link is noticed
        detect: Detect = Detect::LinkLayer,
        /// paths per destination
        paths: usize [1, 16, "paths"] = 3,
        /// hops by which a path may be longer than the shortest
        difference: u32 [0, 30, "hops"] = 1,
    }
}

keys! {
    /// The keys of AOMDV.
    pub struct AomdvConfig {
        /// whose rules apply unless a key says otherwise: disjoint=link, detect=link-layer; or disjoint=node, detect=hello
        profile: Profile = Profile::Paper,
        /// how a source divides datagrams: all on the first path, or in turn on the two with the fewest hops
        split: AomdvSplit = AomdvSplit::None,
        and paths: MultipathConfig,
    }
}

impl AomdvConfig {
    /// A profile's values.
    pub fn of(profile: Profile) -> Self {
        let paths = match profile {
            Profile::Paper => MultipathConfig::default(),
            Profile::Ns2 => MultipathConfig {
                disjoint: Disjoint::Node,
                detect: Detect::Hello,
                ..MultipathConfig::default()
            },
        };
        AomdvConfig { profile, paths, ..AomdvConfig::default() }
    }
}
