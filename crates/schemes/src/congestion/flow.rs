//! Keys of all windows of TCP and MPTCP flows.

pub use strandcast_keys::catalog::WindowSetup;
use strandcast_keys::keys;

use super::{Counting, DecreaseBase, InitialWindow, TcpConfig};

keys! {
    /// The keys of all windows of TCP and MPTCP flows.
    pub struct FlowConfig {
        /// greatest increase per ACK in slow start (RFC 3465), 0: all that the ACK acknowledges
        slow_start_limit as "l": Option<u32> [0, 1000, "segments"] = Some(1),
        /// an ACK counts as one segment, or for what it acknowledges (RFC 3465)
        counting as "count": Counting = Counting::Acks,
        /// quantity of which a loss leaves a share
        decrease_base as "cut": DecreaseBase = DecreaseBase::Flight,
        /// least threshold after a loss
        floor: u32 [1, 64, "segments"] = 2,
        /// only windows that were full grow
        when_full: bool = true,
        /// leave the first slow start when round-trip times rise (RFC 9406)
        hystart: bool = false,
    }
}

impl FlowConfig {
    /// Returns the configuration of a flow's windows with these keys.
    pub(super) fn config(&self, setup: WindowSetup) -> TcpConfig {
        TcpConfig {
            initial_window: InitialWindow::Bytes(setup.initial_window_bytes),
            initial_ssthresh: setup.initial_ssthresh_bytes,
            slow_start_limit: self.slow_start_limit,
            counting: self.counting,
            decrease_base: self.decrease_base,
            floor_segments: self.floor,
            when_full: self.when_full,
            hystart: self.hystart,
            ..TcpConfig::default()
        }
    }
}
