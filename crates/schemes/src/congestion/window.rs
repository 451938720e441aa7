//! What a window is to the table of windows: how it is described, and how it is built for SCTP and for TCP flows.

use strandcast_keys::{BadValue, Key, Keyed};
use strandcast_proto::policy::CongestionControl;
use strandcast_proto::rfc::WindowConfig;

use super::TcpConfig;
use super::flow::FlowConfig;
use crate::part::{Estimators, Others};

/// The windows of all paths.
pub(super) type Windows = Box<dyn CongestionControl>;

/// A congestion control, without its name.
#[derive(Copy, Clone, Debug)]
pub(super) struct Row {
    /// Where it is described.
    pub paper: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Of an SCTP association.
    pub sctp: Sctp,
    /// Of a TCP or MPTCP flow; `Err`: why it is not for such flows.
    pub tcp: Result<Tcp, &'static str>,
}

/// A congestion control of SCTP associations.
#[derive(Copy, Clone, Debug)]
pub(super) struct Sctp {
    /// Builds it.
    pub build: fn(WindowConfig) -> Windows,
    /// Adds what it reads of paths beyond the core's own measurements.
    pub estimators: fn(&mut Estimators),
    /// Why it does not go with the other parts, in one line.
    pub refuses: fn(&Others) -> Option<&'static str>,
}

impl Sctp {
    /// One that needs nothing of other parts.
    pub const fn new(build: fn(WindowConfig) -> Windows) -> Self {
        Sctp { build, estimators: |_| {}, refuses: |_| None }
    }
}

/// The configuration of a congestion control of TCP and MPTCP flows, and the defaults that it replaces.
pub(super) type Tcp = fn(&mut FlowConfig) -> Box<dyn FlowWindow>;

/// The configuration of a congestion control of TCP and MPTCP flows.
pub(super) trait FlowWindow: Keyed {
    /// The windows of one flow.
    fn build(&self, config: TcpConfig) -> Windows;
}

/// A congestion control without keys of its own.
pub(super) fn plain(build: fn(TcpConfig) -> Windows) -> Box<dyn FlowWindow> {
    Box::new(Plain(build))
}

struct Plain(fn(TcpConfig) -> Windows);

impl Keyed for Plain {
    fn keys(&self) -> Vec<Key> {
        Vec::new()
    }

    fn set(&mut self, _: &str, _: &str) -> Result<bool, BadValue> {
        Ok(false)
    }

    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

impl FlowWindow for Plain {
    fn build(&self, config: TcpConfig) -> Windows {
        (self.0)(config)
    }
}
