//! What can be set of AODV.

use strandcast_keys::{keys, words};

words! {
    /// Whose rules apply.
    pub enum Profile {
        /// ns-2.35's.
        Ns2 = "ns2",
        /// RFC 3561's.
        Rfc = "rfc",
    }
}

words! {
    /// How far the first request for a destination goes of which nothing is known.
    pub enum FirstSearch {
        /// Through the whole network (ns-2.35).
        Network = "network",
        /// Five hops (RFC 3561 §6.4).
        Ring = "ring",
    }
}

words! {
    /// What a node does when a link fails behind the middle of a route.
    pub enum Repair {
        /// ns-2.35's local repair: a new route has to be newer, or shorter than the old one was, and a failed attempt ends late and
        /// without a route error.
        Ns2 = "ns2",
        /// RFC 3561 §6.12: the sequence number is raised first, and a failed attempt ends with a route error.
        Rfc = "rfc",
        /// Nothing but a route error.
        Off = "off",
    }
}

keys! {
    /// The keys of AODV.
    pub struct AodvConfig {
        /// whose rules apply unless a key says otherwise: search=network, repair=ns2; or search=ring, repair=rfc
        profile: Profile = Profile::Ns2,
        /// how far the first request for an unknown destination goes: the whole network, or a ring of five hops
        search: FirstSearch = FirstSearch::Network,
        /// local repair of links nearer to the destination than to the source
        repair: Repair = Repair::Ns2,
    }
}

impl AodvConfig {
    /// A profile's values.
    pub fn of(profile: Profile) -> Self {
        match profile {
            Profile::Ns2 => AodvConfig::default(),
            Profile::Rfc => AodvConfig { profile, search: FirstSearch::Ring, repair: Repair::Rfc },
        }
    }
}
