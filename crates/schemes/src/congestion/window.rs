//! Interface between a window and the table of windows. The interface consists of the window's keys, its description,
//! and functions that make it for SCTP and TCP flows.

use core::fmt::Debug;

use strandcast_keys::Keyed;
use strandcast_proto::policy::CongestionControl;
use strandcast_proto::rfc::{Avoidance, WindowConfig};

use super::flow::FlowConfig;
use super::{TcpConfig, TcpWindows};
use crate::part::{Estimators, Others};

/// The windows of all paths.
pub(super) type Windows = Box<dyn CongestionControl>;

/// Configuration of a congestion control.
pub trait WindowPart: Keyed + Debug {
    /// Paper or document that describes the window.
    fn paper(&self) -> &'static str;

    /// Description in one sentence, for people.
    fn summary(&self) -> &'static str;

    /// Makes the windows of an SCTP association.
    fn sctp(&self, config: WindowConfig) -> Windows;

    /// Makes the windows of a TCP or MPTCP flow.
    ///
    /// # Errors
    /// Returns the reason why TCP and MPTCP flows cannot use the window.
    fn tcp(&self, config: TcpConfig) -> Result<Windows, &'static str>;

    /// Replaces defaults of the keys that all windows of TCP and MPTCP flows share.
    fn flow(&self, _: &mut FlowConfig) {}

    /// Adds the estimators that the window reads in addition to the core's measurements.
    fn estimators(&self, _: &mut Estimators) {}

    /// Returns the reason, in one line, why the window cannot be combined with the other parts of an SCTP scheme.
    /// Returns `None` if it can.
    fn refuses(&self, _: &Others) -> Option<&'static str> {
        None
    }
}

/// Configuration of a congestion control that is an [`Avoidance`] in TCP's windows.
pub(super) trait AvoidancePart: Keyed + Debug {
    /// Paper or document that describes the window.
    const PAPER: &'static str;
    /// Description in one sentence, for people.
    const SUMMARY: &'static str;

    /// Growth and decrease of the windows of all paths of one association or connection.
    fn avoidance(&self) -> impl Avoidance + 'static;

    /// Makes the windows of an SCTP association.
    fn sctp(&self, config: WindowConfig) -> Windows {
        Box::new(TcpWindows::new(config.into(), self.avoidance()))
    }

    /// Replaces defaults of the keys that all windows of TCP and MPTCP flows share.
    fn flow(&self, _: &mut FlowConfig) {}
}

impl<P: AvoidancePart> WindowPart for P {
    fn paper(&self) -> &'static str {
        P::PAPER
    }

    fn summary(&self) -> &'static str {
        P::SUMMARY
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        AvoidancePart::sctp(self, config)
    }

    fn tcp(&self, config: TcpConfig) -> Result<Windows, &'static str> {
        Ok(Box::new(TcpWindows::new(config, self.avoidance())))
    }

    fn flow(&self, flow: &mut FlowConfig) {
        AvoidancePart::flow(self, flow);
    }
}
