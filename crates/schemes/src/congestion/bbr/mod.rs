//! BBR sends at the rate that a path delivers. The data in flight exceed the bandwidth-delay product only a little.
//!
//! [`V3`] implements draft-ietf-ccwg-bbr-06. [`V1`] implements the rules that Linux has under the name `bbr`. Each of
//! the two is a model of one path that does not depend on the transport. [`shell`] passes events of SCTP and of
//! simulated TCP to the models, and [`rate`] measures delivery rates.
//!
//! | draft-ietf-ccwg-bbr-06 | here |
//! |---|---|
//! | §2.5 to §2.10, constants | [`constants`] |
//! | §4.1 delivery-rate samples | [`rate::Sampler`] |
//! | §4.1.2.4 application-limited phases | [`shell`] |
//! | §5.3 state machine, §5.5 model, §5.6 window and rate | [`v3`] |
//! | §5.3.1.2 full pipe, §5.5.1 rounds, §5.5.3 filter | [`filters`] |
//!
//! `ASSUMED`, because the draft leaves a choice open, or because an association differs from the draft's connection:
//! * Random draws come from the nanoseconds of the clock ([`model::draw`]).
//! * BBR.offload_budget is one quantum, as for QUIC (§5.5.8.2).
//! * If losses prove spurious (§5.5.11), bounds and window return to their former values. The state machine does not
//!   return to its former state. Simulated TCP has no signal for such losses.
//! * The loss policy may attribute losses to the radio or to a path that failed. Such losses do not show that too many
//!   data are in flight.
//! * The scheduler may leave a path unused although the path could send. The application then counts as the limit of
//!   the path.
//! * If a path blocks the other paths, it keeps the share β of its window until it probes again.

mod constants;
mod control;
mod filters;
mod guard;
pub mod model;
mod policer;
mod probe_rtt;
pub mod rate;
pub mod shell;
mod state;
mod v1;
mod v3;

use strandcast_keys::{keys, words};
use strandcast_proto::rfc::WindowConfig;

use super::TcpConfig;
use super::window::{WindowPart, Windows};
use shell::{Headers, Paced};
use v1::V1;
use v3::V3;

pub use guard::GuardConfig;

words! {
    /// Source of the rules.
    pub enum Version {
        /// draft-ietf-ccwg-bbr-06.
        Three = "3",
        /// Linux' `tcp_bbr.c`.
        One = "1",
    }
}

keys! {
    /// Keys of BBR.
    #[derive(Copy)]
    pub struct BbrConfig {
        /// rules: those of draft-ietf-ccwg-bbr, or version 1, as in Linux
        version as "bbr-version": Version = Version::Three,
    }
}

impl BbrConfig {
    fn windows(&self, config: TcpConfig, headers: Headers) -> Windows {
        match self.version {
            Version::Three => Box::new(Paced::new(config.initial_window, headers, V3::new)),
            Version::One => Box::new(Paced::new(config.initial_window, headers, V1::new)),
        }
    }
}

impl WindowPart for BbrConfig {
    fn paper(&self) -> &'static str {
        "draft-ietf-ccwg-bbr-06"
    }

    fn summary(&self) -> &'static str {
        "as fast as the path delivers, with about a bandwidth-delay product in flight; one model per path"
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        self.windows(config.into(), Headers::SCTP)
    }

    fn tcp(&self, config: TcpConfig) -> Result<Windows, &'static str> {
        Ok(self.windows(config, Headers::NONE))
    }
}
