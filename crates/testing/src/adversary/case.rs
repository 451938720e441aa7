//! Events of one test case.

use proptest::collection::vec;
use proptest::prelude::*;

/// Configuration of the two sides.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The default configuration.
    Plain,
    /// The configuration with `strict_rfc`.
    Strict,
    /// The configuration with the state potentially failed of RFC 7829. Failed paths are probed often.
    PotentiallyFailed,
    /// The receive buffer has room for three packets, and the send buffer for few.
    SmallBuffers,
    /// The default configuration, with a bad network from the start.
    Early,
}

/// An event of a test case.
#[derive(Clone, Debug)]
pub enum Op {
    /// `count` messages are submitted.
    Send {
        side: usize,
        size: usize,
        count: usize,
        stream: u16,
        unordered: bool,
        lifetime_ms: Option<u64>,
    },
    /// This time passes.
    Run(u64),
    /// A wire changes how it treats packets: the fractions that it loses, duplicates and corrupts, and its delay.
    Quality {
        wire: usize,
        loss: f64,
        duplicate: f64,
        corrupt: f64,
        jitter_ms: u64,
        delay_ms: u64,
    },
    /// A wire starts or stops working in this direction.
    Direction {
        wire: usize,
        from: usize,
        up: bool,
    },
    /// A wire starts or stops working in both directions.
    Both {
        wire: usize,
        up: bool,
    },
    /// A wire stops working for ever, unless it is the last wire.
    Die {
        wire: usize,
    },
    /// The client removes a path, or opens it again.
    Remove {
        wire: usize,
    },
    Add {
        wire: usize,
    },
    /// A side suspends or resumes a path.
    Suspend {
        wire: usize,
        side: usize,
        aside: bool,
    },
    /// The NAT of the client assigns a new address to the client.
    Rebind {
        wire: usize,
    },
    /// The client's own address changes. The client reports the new address.
    Move {
        wire: usize,
    },
    /// A side stops or continues to read.
    Lazy {
        side: usize,
        lazy: bool,
    },
}

/// A test case. The case can be repeated from its printed form.
#[derive(Clone, Debug)]
pub struct Case {
    pub kind: Kind,
    pub seed: u64,
    /// One-way delay of each wire in ms.
    pub delays: Vec<u64>,
    /// Number of wires that exist from the beginning. The other wires join by `Op::Add`.
    pub first: usize,
    pub ops: Vec<Op>,
    /// Side that closes the association at the end.
    pub closer: usize,
    /// True if the association is closed before the network works again.
    pub close_early: bool,
}

impl Case {
    pub fn strategy(kind: Kind) -> impl Strategy<Value = Case> {
        let delays = vec(0u64..120, 1..=4);
        let shape = (any::<u64>(), delays, 1usize..=4, 0usize..2, any::<bool>());
        (shape, vec(Op::strategy(), 1..40)).prop_map(move |(shape, ops)| {
            let (seed, delays, first, closer, close_early) = shape;
            let first = first.min(delays.len());
            Case { kind, seed, delays, first, ops, closer, close_early }
        })
    }
}

impl Op {
    fn strategy() -> impl Strategy<Value = Op> {
        let (wire, side) = (0usize..4, 0usize..2);
        let size = prop_oneof![1usize..8000, Just(1), 1300usize..1500];
        let lifetime = prop_oneof![3 => Just(None), 1 => (1u64..1500).prop_map(Some)];
        let send = (side.clone(), size, 1usize..20, 0u16..4, prop::bool::weighted(0.25), lifetime).prop_map(
            |(side, size, count, stream, unordered, lifetime_ms)| Op::Send {
                side,
                size,
                count,
                stream,
                unordered,
                lifetime_ms,
            },
        );
        let delay = prop_oneof![Just(0u64), 0u64..60];
        let quality = (wire.clone(), 0.0..0.3, 0.0..0.1, 0.0..0.1, delay, 0u64..150).prop_map(
            |(wire, loss, duplicate, corrupt, jitter_ms, delay_ms)| Op::Quality {
                wire,
                loss,
                duplicate,
                corrupt,
                jitter_ms,
                delay_ms,
            },
        );
        prop_oneof![
            8 => send,
            5 => (1u64..1500).prop_map(Op::Run),
            4 => quality,
            2 => (wire.clone(), side.clone(), any::<bool>())
                .prop_map(|(wire, from, up)| Op::Direction { wire, from, up }),
            2 => (wire.clone(), any::<bool>()).prop_map(|(wire, up)| Op::Both { wire, up }),
            1 => wire.clone().prop_map(|wire| Op::Die { wire }),
            1 => wire.clone().prop_map(|wire| Op::Remove { wire }),
            2 => wire.clone().prop_map(|wire| Op::Add { wire }),
            1 => (wire.clone(), side.clone(), any::<bool>())
                .prop_map(|(wire, side, aside)| Op::Suspend { wire, side, aside }),
            1 => wire.clone().prop_map(|wire| Op::Rebind { wire }),
            1 => wire.prop_map(|wire| Op::Move { wire }),
            1 => (side, any::<bool>()).prop_map(|(side, lazy)| Op::Lazy { side, lazy }),
        ]
    }
}
