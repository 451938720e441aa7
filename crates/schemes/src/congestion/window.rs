//! Interface of a window to the table of windows: its keys, its description, and how it is built for SCTP and for TCP
//! flows.

use core::fmt::Debug;

use strandcast_keys::Keyed;
use strandcast_proto::policy::CongestionControl;
use strandcast_proto::rfc::{Avoidance, WindowConfig};

use super::flow::FlowConfig;
use super::{TcpConfig, TcpWindows};
use crate::part::{Estimators, Others};

/// The windows of all paths.
pub(super) type Windows = Box<dyn CongestionControl>;

/// The configuration of a congestion control.
pub trait WindowPart: Keyed + Debug {
    /// Paper or document that describes it.
    fn paper(&self) -> &'static str;

    /// One sentence for people.
    fn summary(&self) -> &'static str;

    /// The windows of an SCTP association.
    fn sctp(&self, config: WindowConfig) -> Windows;

    /// The windows of a TCP or MPTCP flow.
    ///
    /// # Errors
    /// Why it is not for such flows.
    fn tcp(&self, config: TcpConfig) -> Result<Windows, &'static str>;

    /// Replaces defaults of what can be set of all windows of TCP and MPTCP flows.
    fn flow(&self, _: &mut FlowConfig) {}

    /// Adds what it reads of paths beyond the core's own measurements.
    fn estimators(&self, _: &mut Estimators) {}

    /// Reason why it does not go with the other parts of an SCTP scheme, in one line.
    fn refuses(&self, _: &Others) -> Option<&'static str> {
        None
    }
}

/// The configuration of a congestion control that is an [`Avoidance`] in the shell of TCP's windows.
pub(super) trait AvoidancePart: Keyed + Debug {
    /// Paper or document that describes it.
    const PAPER: &'static str;
    /// One sentence for people.
    const SUMMARY: &'static str;

    /// Growth and decrease of the windows of all paths of one association or connection.
    fn avoidance(&self) -> impl Avoidance + 'static;

    /// The windows of an SCTP association.
    fn sctp(&self, config: WindowConfig) -> Windows {
        Box::new(TcpWindows::new(config.into(), self.avoidance()))
    }

    /// Replaces defaults of what can be set of all windows of TCP and MPTCP flows.
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
