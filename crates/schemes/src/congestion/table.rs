//! The table of windows: each is registered here, once, for SCTP presets (`cc=NAME`), for simulated TCP and MPTCP flows
//! (`cc = "cubic,beta=0.7"`), for the documentation and for what errors say.

pub use strandcast_proto::catalog::WindowSetup;
use strandcast_proto::policy::CongestionControl;
use strandcast_proto::rfc::{Aimd, Reno, WindowConfig};

use super::{
    Balia, Counting, Cubic, CubicConfig, CutOf, InitialWindow, Linked, QueueAware, ReceiverPaced, TcpConfig,
    TcpWindows,
};
use crate::error::SpecError;
use crate::registry::{Key, Params};
use crate::spec::{set, split};

/// A named congestion control.
#[derive(Copy, Clone, Debug)]
pub struct Congestion {
    /// The name in specs.
    pub name: &'static str,
    /// Where it is described.
    pub paper: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// What can be set of it on a TCP or MPTCP flow, beside [`TCP_KEYS`].
    pub keys: &'static [Key],
    /// Defaults that differ from the keys' own.
    pub defaults: &'static [(&'static str, &'static str)],
    sctp: fn(WindowConfig) -> Windows,
    /// `Err`: why it is not for such flows.
    tcp: Result<fn(&Params, TcpConfig) -> Windows, &'static str>,
}

type Windows = Box<dyn CongestionControl>;

/// What can be set of all windows of TCP and MPTCP flows.
pub const TCP_KEYS: &[Key] = &[
    Key::number(
        "l",
        (0, 1000, "segments"),
        "1",
        "what an ACK adds at most in slow start (RFC 3465), 0: all that it acknowledges",
    ),
    Key::one_of(
        "count",
        &["ack", "bytes"],
        "an ACK counts as one segment, or for what it acknowledges (RFC 3465)",
    ),
    Key::one_of("cut", &["flight", "window"], "of what a share is left after a loss"),
    Key::number("floor", (1, 64, "segments"), "2", "least threshold after a loss"),
    Key::switch("when-full", "on", "only windows that were full grow"),
    Key::switch("hystart", "off", "leave the first slow start when round-trip times rise (RFC 9406)"),
];

const CUBIC_KEYS: &[Key] = &[
    Key::decimal("beta", (0.1, 0.99, ""), "0.7", "share of the window that is left after a loss"),
    Key::decimal("c", (0.001, 100.0, "segments/s³"), "0.4", "how fast the window follows the cubic curve"),
    Key::switch("fast-convergence", "on", "leave capacity to newcomers (RFC 9438 §4.7)"),
    Key::switch("friendly", "on", "never slower than Reno would be (RFC 9438 §4.3)"),
];

/// The first is what SCTP presets have unless they say otherwise.
const ALL: &[Congestion] = &[
    Congestion {
        name: "rfc",
        paper: "RFC 9260",
        summary: "an MTU a round trip more, half at a loss, counted in bytes; a window a path",
        keys: &[],
        defaults: &[],
        sctp: |config| Box::new(Aimd::new(config, Reno)),
        tcp: Err("it is SCTP's window, TCP's is reno"),
    },
    Congestion {
        name: "lia",
        paper: "RFC 6356",
        summary: "increases coupled over all paths, together no more than one TCP",
        keys: &[],
        defaults: &[],
        sctp: |config| Box::new(Aimd::new(config, Linked)),
        tcp: Ok(|_, config| Box::new(TcpWindows::new(config, Linked))),
    },
    Congestion {
        name: "reno",
        paper: "RFC 5681",
        summary: "a segment a round trip more, half at a loss; a window a path",
        keys: &[],
        defaults: &[],
        sctp: |config| Box::new(TcpWindows::new(config.into(), Reno)),
        tcp: Ok(|_, config| Box::new(TcpWindows::new(config, Reno))),
    },
    Congestion {
        name: "cubic",
        paper: "RFC 9438",
        summary: "a cubic function of the time since the last loss; a window a path",
        keys: CUBIC_KEYS,
        defaults: &[("count", "bytes")],
        sctp: |config| Box::new(TcpWindows::new(config.into(), Cubic::per_path(CubicConfig::default()))),
        tcp: Ok(|params, config| Box::new(TcpWindows::new(config, Cubic::per_path(cubic(params))))),
    },
    Congestion {
        name: "receiver-rate",
        paper: "Cao et al. 2016: SCTP-Rev",
        summary: "paced at the rate that the receiver asks for; RFC 9260's window before the first one",
        keys: &[],
        defaults: &[],
        sctp: |config| Box::new(ReceiverPaced::new(config)),
        tcp: Err("its rate is found by a receiver with feedback=rounds"),
    },
    Congestion {
        name: "queue-aware",
        paper: "Veno, Westwood+, RFC 6356",
        summary: "half at a loss when the queue is long, else the bandwidth times the least round-trip time; coupled behind one bottleneck",
        keys: &[],
        defaults: &[],
        sctp: |config| Box::new(QueueAware::new(config)),
        tcp: Err("it needs the delivery rate and queueing delay that a scheme measures"),
    },
    Congestion {
        name: "balia",
        paper: "draft-walid-mptcp-congestion-control-04",
        summary: "increases and decreases coupled over all paths, between friendliness and responsiveness",
        keys: &[],
        defaults: &[],
        sctp: |config| Box::new(Aimd::new(config, Balia)),
        tcp: Ok(|_, config| Box::new(TcpWindows::new(config, Balia))),
    },
];

/// The names, for the key `cc`.
pub(crate) const NAMES: &[&str] = &{
    let mut names = [""; ALL.len()];
    let mut i = 0;
    while i < ALL.len() {
        names[i] = ALL[i].name;
        i += 1;
    }
    names
};

/// All windows, in the order they are listed to people.
pub fn congestions() -> &'static [Congestion] {
    ALL
}

impl Congestion {
    /// Why TCP and MPTCP flows can't have it, if they can't.
    pub fn not_for_tcp(&self) -> Option<&'static str> {
        self.tcp.err()
    }
}

/// The windows of an SCTP association that `name` (one of [`NAMES`]) stands for.
pub(crate) fn sctp(name: &str, config: WindowConfig) -> Windows {
    let found = ALL.iter().find(|c| c.name == name).expect("cc has no other words");
    (found.sctp)(config)
}

/// The windows that `spec` (`NAME[,key=value]...`) names, for one TCP or MPTCP flow over any number of paths.
///
/// # Errors
/// [`SpecError`], which says in one line what is possible instead.
pub fn congestion(spec: &str, setup: WindowSetup) -> Result<Windows, SpecError> {
    let (name, rest) = split(spec);
    let known = || ALL.iter().filter(|c| c.tcp.is_ok()).map(|c| c.name);
    let found = ALL.iter().find(|c| c.name == name);
    let found = found.ok_or_else(|| SpecError::unknown_congestion(name, known()))?;
    let build = found.tcp.map_err(|why| SpecError::not_for_tcp(found.name, why, known()))?;
    let keys: Vec<Key> = TCP_KEYS.iter().chain(found.keys).copied().collect();
    let mut params = Params::defaults(&keys, found.defaults);
    set(&mut params, found.name, &keys, rest, "cubic,beta=0.7")?;
    Ok(build(&params, config(&params, setup)))
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
