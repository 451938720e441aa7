//! Configuration of AODV.

use strandcast_keys::{keys, words};

words! {
    /// Rules of the protocol.
    pub enum Profile {
        /// The rules of ns-2.35.
        Ns2 = "ns2",
        /// The rules of RFC 3561.
        Rfc = "rfc",
    }
}

words! {
    /// Reach of the first request for an unknown destination.
    pub enum FirstSearch {
        /// The whole network (ns-2.35).
        Network = "network",
        /// Five hops (RFC 3561 §6.4).
        Ring = "ring",
    }
}

words! {
    /// Reaction of a node to a failed link near the destination of a route.
    pub enum Repair {
        /// ns-2.35's local repair: a new route must be newer, or shorter than the old one, and a failed
        /// attempt ends late and without a route error.
        Ns2 = "ns2",
        /// RFC 3561 §6.12: the sequence number is raised first, and a failed attempt ends with a route error.
        Rfc = "rfc",
        /// A route error alone.
        Off = "off",
    }
}

keys! {
    /// The keys of AODV.
    pub struct AodvConfig {
        /// rules that apply to keys that are not set: search=network, repair=ns2; or search=ring, repair=rfc
        profile: Profile = Profile::Ns2,
        /// reach of the first request for an unknown destination: the whole network, or a ring of five hops
        search: FirstSearch = FirstSearch::Network,
        /// local repair of links nearer to the destination than to the source
        repair: Repair = Repair::Ns2,
    }
}

impl AodvConfig {
    /// Returns the values of a profile.
    pub fn of(profile: Profile) -> Self {
        match profile {
            Profile::Ns2 => AodvConfig::default(),
            Profile::Rfc => AodvConfig { profile, search: FirstSearch::Ring, repair: Repair::Rfc },
        }
    }
}
