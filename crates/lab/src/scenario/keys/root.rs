//! The top of the file, and what belongs to no link and no flow.

use super::{CROSS, FLOW, Fallback, Key, Keys, LINK, Least, Takes};
use crate::scenario::units::Quantity;
use Fallback::{Else, Is};

/// The whole file.
pub(in crate::scenario) const ROOT: Keys = Keys {
    name: "scenario",
    doc: "A scenario: a network, the flows that are measured in it, and background load.",
    groups: &[&[
        Key::new("title", Takes::Text, Is(""), "what the scenario shows, for people"),
        Key::new("run", Takes::Table(&RUN), Else("all defaults"), "how long and how often it runs"),
        Key::new("host", Takes::Table(&HOST), Else("all defaults"), "what hosts add to the network"),
        Key::new("nodes", Takes::Named(&NODE), Else("none"), "hosts and routers, by name"),
        Key::new("links", Takes::Named(&LINK), Else("none"), "links between nodes, by name"),
        Key::new("flows", Takes::Kinds(&FLOW), Else("none"), "traffic that is measured, by name"),
        Key::new("cross", Takes::Named(&CROSS), Else("none"), "background load, by name"),
    ]],
};

const RUN: Keys = Keys {
    name: "run",
    doc: "How long and how often the scenario runs.",
    groups: &[&[
        Key::new(
            "time",
            Takes::Amount(Quantity::Time, Least::Positive),
            Is("60 s"),
            "simulated time of a run",
        ),
        Key::new(
            "warmup",
            Takes::Amount(Quantity::Time, Least::Zero),
            Is("0 s"),
            "results count what happens after this time",
        ),
        Key::new(
            "seed",
            Takes::Whole(0, i64::MAX),
            Is("1"),
            "seed of the first run; each later one has one more",
        ),
        Key::new("runs", Takes::Whole(1, 1_000_000), Is("1"), "how many runs, with different random draws"),
        Key::new(
            "series",
            Takes::Amount(Quantity::Time, Least::Positive),
            Else("no series"),
            "step of the time series (windows, round-trip times, rates, queues)",
        ),
    ]],
};

const HOST: Keys = Keys {
    name: "host",
    doc: "What hosts add to the network.",
    groups: &[&[Key::new(
        "overhead",
        Takes::Switch,
        Is("true"),
        "each packet waits U(0, serialisation time of 1500 bytes on the route's slowest link) before it leaves its host, \
         without reordering, so that drop-tail queues don't lock phases",
    )]],
};

const NODE: Keys = Keys { name: "node", doc: "A host or router: nothing but its name.", groups: &[] };
