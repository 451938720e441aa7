//! Keys of the top level, and keys of tables that belong neither to a link nor to a flow.

use core::time::Duration;

use super::cross::CrossKeys;
use super::flow::{FLOW, FlowKind};
use super::link::LinkKeys;
use super::radio::{NodeKeys, RadioKeys};
use crate::scenario::sorts::{SPAN, SWITCH, TEXT, TIME, whole};
use crate::scenario::typed::{Each, EachOf, Given, Inner, Optional, table};
use crate::scenario::warning::Longest;

table! {
    /// A scenario: a network, the flows that are measured in it, and background load.
    ROOT: RootKeys = "scenario" {
        /// purpose of the scenario, for people
        title: Given<String> = TEXT.or(""),
        /// duration and number of runs
        run: Inner = Inner::of(&RunKeys::KEYS, "all defaults"),
        /// delays that hosts add to the network
        host: Inner = Inner::of(&HostKeys::KEYS, "all defaults"),
        /// hosts and routers, by name
        nodes: Each = Each::of(&NodeKeys::KEYS, "none"),
        /// links between nodes, by name
        links: Each = Each::of(&LinkKeys::KEYS, "none"),
        /// shared radio channels, by name
        radio: Each = Each::of(&RadioKeys::KEYS, "none"),
        /// traffic that is measured, by name
        flows: EachOf<FlowKind> = EachOf::of(&FLOW, "none"),
        /// background load, by name
        cross: Each = Each::of(&CrossKeys::KEYS, "none"),
    }
}

table! {
    /// Duration and number of the scenario's runs.
    RUN: RunKeys = "run" {
        /// simulated time of a run
        time: Given<Duration> = SPAN.or("60 s"),
        /// results count what happens after this time
        warmup: Given<Duration> = TIME.or("0 s"),
        /// seed of the first run; each later one has one more
        seed: Given<u64> = whole::<u64, 0, { i64::MAX }>().or("1"),
        /// number of runs, with different random draws
        runs: Given<u32> = whole::<u32, 1, 1_000_000>().or("1"),
        /// step of the time series (windows, round-trip times, rates, queues)
        series: Optional<Duration> = SPAN.otherwise("no series").at_most(Longest::Minute),
    }
}

table! {
    /// Delays that hosts add to the network.
    HOST: HostKeys = "host" {
        /// each packet waits U(0, serialisation time of 1500 bytes on the route's slowest link) before it leaves its
        /// host, without reordering, so that drop-tail queues don't lock phases
        overhead: Given<bool> = SWITCH.or("true"),
    }
}
