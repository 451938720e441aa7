//! Congestion controls as people name them for TCP flows: `cubic,beta=0.7`.

use strandcast_proto::policy::CongestionControl;

use super::{Counting, Cubic, CubicConfig, CutOf, Halving, InitialWindow, Linked, TcpConfig, TcpWindows};
use crate::registry::{Key, Params};
use crate::spec::{SpecError, set, split};

/// A named congestion control.
#[derive(Copy, Clone, Debug)]
pub struct Congestion {
    /// The name in specs.
    pub name: &'static str,
    /// Where it is described.
    pub paper: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// What can be set.
    pub keys: &'static [Key],
    /// Defaults that differ from the keys' own.
    pub defaults: &'static [(&'static str, &'static str)],
    build: fn(&Params, TcpConfig) -> Box<dyn CongestionControl>,
}

/// How the windows of a flow begin.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WindowSetup {
    /// Initial window, at least one segment.
    pub initial_window_bytes: u64,
    /// Initial slow-start threshold; `None`: arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
}

const L: Key = Key::number(
    "l",
    (0, 1000, "segments"),
    "1",
    "what an ACK adds at most in slow start (RFC 3465), 0: all that it acknowledges",
);
const COUNT: Key = Key::one_of(
    "count",
    &["ack", "bytes"],
    "an ACK counts as one segment, or for what it acknowledges (RFC 3465)",
);
const CUT: Key = Key::one_of("cut", &["flight", "window"], "of what a share is left after a loss");
const FLOOR: Key = Key::number("floor", (1, 64, "segments"), "2", "least threshold after a loss");
const FULL: Key = Key::switch("when-full", "on", "only windows that were full grow");
const HYSTART: Key =
    Key::switch("hystart", "off", "leave the first slow start when round-trip times rise (RFC 9406)");

const KEYS: &[Key] = &[L, COUNT, CUT, FLOOR, FULL, HYSTART];

const CUBIC_KEYS: &[Key] = &[
    L,
    COUNT,
    CUT,
    FLOOR,
    FULL,
    HYSTART,
    Key::decimal("beta", (0.1, 0.99, ""), "0.7", "share of the window that is left after a loss"),
    Key::decimal("c", (0.001, 100.0, "segments/s³"), "0.4", "how fast the window follows the cubic curve"),
    Key::switch("fast-convergence", "on", "leave capacity to newcomers (RFC 9438 §4.7)"),
    Key::switch("friendly", "on", "never slower than Reno would be (RFC 9438 §4.3)"),
];

const ALL: &[Congestion] = &[
    Congestion {
        name: "reno",
        paper: "RFC 5681",
        summary: "a segment a round trip more, half at a loss; a window a subflow",
        keys: KEYS,
        defaults: &[],
        build: |_, config| Box::new(TcpWindows::new(config, Halving)),
    },
    Congestion {
        name: "cubic",
        paper: "RFC 9438",
        summary: "a cubic function of the time since the last loss; a window a subflow",
        keys: CUBIC_KEYS,
        defaults: &[("count", "bytes")],
        build: |params, config| Box::new(TcpWindows::new(config, Cubic::new(cubic(params)))),
    },
    Congestion {
        name: "lia",
        paper: "RFC 6356",
        summary: "increases coupled over all subflows, together no more than one TCP",
        keys: KEYS,
        defaults: &[],
        build: |_, config| Box::new(TcpWindows::new(config, Linked)),
    },
];

/// All that a TCP or MPTCP flow can name, in the order they are listed to people.
pub fn congestions() -> &'static [Congestion] {
    ALL
}

/// The windows that `spec` (`NAME[,key=value]...`) names, for one flow over any number of paths.
///
/// # Errors
/// [`SpecError`], which says in one line what is possible instead.
pub fn congestion(spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, SpecError> {
    let (name, rest) = split(spec);
    let found = ALL.iter().find(|c| c.name == name);
    let found = found.ok_or_else(|| SpecError::unknown_congestion(name, ALL.iter().map(|c| c.name)))?;
    let mut params = Params::defaults(found.keys, found.defaults);
    set(&mut params, found.name, found.keys, rest, "cubic,beta=0.7")?;
    Ok((found.build)(&params, config(&params, setup)))
}

fn config(params: &Params, setup: WindowSetup) -> TcpConfig {
    TcpConfig {
        initial_window: InitialWindow::Bytes(setup.initial_window_bytes),
        initial_ssthresh: setup.initial_ssthresh_bytes,
        slow_start_limit: Some(params.number("l") as u32).filter(|l| *l > 0),
        counting: if params.word("count") == "ack" { Counting::Acks } else { Counting::Bytes },
        cut_of: if params.word("cut") == "flight" { CutOf::Flight } else { CutOf::Window },
        floor_segments: params.number("floor") as u32,
        when_full: params.switch("when-full"),
        hystart: params.switch("hystart"),
        ..TcpConfig::default()
    }
}

fn cubic(params: &Params) -> CubicConfig {
    CubicConfig {
        beta: params.decimal("beta"),
        c: params.decimal("c"),
        fast_convergence: params.switch("fast-convergence"),
        friendly: params.switch("friendly"),
    }
}
