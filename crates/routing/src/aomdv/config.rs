//! Configuration of AOMDV.

use strandcast_keys::{keys, words};

words! {
    /// Variant of AOMDV.
    pub enum Profile {
        /// The papers': link-disjoint paths, lost links reported by the link layer.
        Paper = "paper",
        /// That of ns-2.35 as shipped: node-disjoint paths, lost links detected by missing HELLOs.
        Ns2 = "ns2",
    }
}

words! {
    /// Elements that paths must not share.
    pub enum Disjoint {
        /// Links.
        Link = "link",
        /// Nodes.
        Node = "node",
    }
}

words! {
    /// Detection of lost links.
    pub enum Detect {
        /// The link layer has abandoned a datagram.
        LinkLayer = "link-layer",
        /// Three HELLOs are missing.
        Hello = "hello",
    }
}

words! {
    /// Distribution of a source's datagrams over the paths of AOMDV.
    pub enum AomdvSplit {
        /// All on the first path.
        None = "none",
        /// Alternately on the two best.
        Even = "even",
    }
}

keys! {
    /// Selection of the paths that are kept.
    pub struct MultipathConfig {
        /// elements that paths of one destination must not share
        disjoint: Disjoint = Disjoint::Link,
        /// detection of lost links
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
        /// rules that apply to keys that are not set: disjoint=link, detect=link-layer; or disjoint=node, detect=hello
        profile: Profile = Profile::Paper,
        /// distribution of a source's datagrams: all on the first path, or in turn on the two with the fewest hops
        split: AomdvSplit = AomdvSplit::None,
        and paths: MultipathConfig,
    }
}

impl AomdvConfig {
    /// Returns the values of a profile.
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
