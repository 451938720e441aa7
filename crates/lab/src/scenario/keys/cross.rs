//! Keys of background load.

use core::time::Duration;

use strandcast_sim::tcp::Profile;

use super::app::ONOFF;
use super::flow::TCP;
use crate::scenario::constants::TCP_CONSTANTS;
use crate::scenario::sorts::{LINKS, LOAD, SHARE, SOME_SHARE, SPAN, TIME, size, whole};
use crate::scenario::typed::{Constants, Each, Given, table};
use crate::scenario::value::Number;
use crate::scenario::warning::Longest;

table! {
    /// Background load: Pareto on/off sources, part of whose packets go by TCP.
    CROSS: CrossKeys = "cross" {
        /// links it passes, in order; TCP's acknowledgements come back over them
        via: Given<Vec<String>> = LINKS.required(),
        /// bytes offered, as a share of the rate of the first link of `via`; TCP drops its backlog when it changes
        load: Given<Number> = LOAD.required(),
        /// share of packets that go by TCP; the others by UDP
        tcp_share: Given<f64> = SHARE.or("0.9"),
        /// packet sizes, by name
        sizes: Each = Each::of(
            &PacketSizeKeys::KEYS,
            "49 % of 44 B, 1.2 % of 576 B, 2.1 % of 628 B, 1.7 % of 1300 B, 46 % of 1500 B",
        ),
        /// mean time on
        on: Given<Duration> = SPAN.or("0.5 s").at_most(Longest::TenMinutes),
        /// mean time off
        off: Given<Duration> = SPAN.or("0.5 s").at_most(Longest::TenMinutes),
        shape: Given<f64> = ONOFF.shape,
        /// independent sources that share the load
        sources: Given<u32> = whole::<u32, 1, 10_000>().or("1"),
        /// time by which the load begins before the flows' time 0
        lead: Given<Duration> = TIME.or("10 s").at_most(Longest::TenMinutes),
        profile: Given<Profile> = TCP.profile,
        /// single constants
        tcp: Constants = Constants::of(&TCP_CONSTANTS, "the profile's, with `recovery = \"newreno\"`"),
    }
}

table! {
    /// A packet size of background load.
    PACKET_SIZE: PacketSizeKeys = "packet_size" {
        /// bytes at IP level
        bytes: Given<u32> = size::<u32, 1, 65_535>().required(),
        /// share of packets; shares are scaled to add up to 1
        share: Given<f64> = SOME_SHARE.required(),
    }
}
