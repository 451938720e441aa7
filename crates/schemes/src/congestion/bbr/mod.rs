//! BBR: sending at the rate that a path delivers, with little more in flight than fits it.
//!
//! [`V3`] is draft-ietf-ccwg-bbr-06, [`V1`] what Linux has under the name `bbr`. Each of them is a model of one path
//! that does not depend on the transport; [`shell`] passes events to them, over SCTP and in simulated TCP alike, and
//! [`rate`] measures.
//!
//! | draft-ietf-ccwg-bbr-06 | here |
//! |---|---|
//! | §2.5 to §2.10, constants | [`constants`] |
//! | §4.1 delivery-rate samples | [`rate::Sampler`] |
//! | §4.1.2.4 application-limited phases | [`shell`] |
//! | §5.3 state machine, §5.5 model, §5.6 window and rate | [`v3`] |
//! | §5.3.1.2 full pipe, §5.5.1 rounds, §5.5.3 filter | [`filters`] |
//!
//! `ASSUMED`, where the draft leaves it open or an association is not what it describes:
//! - random draws come from the nanoseconds of the clock ([`model::draw`]);
//! - BBR.offload_budget is one quantum, as for QUIC (§5.5.8.2);
//! - if losses prove spurious (§5.5.11), bounds and window return to their former values, but no former state is
//!   entered again; simulated TCP has no signal for such losses;
//! - losses that the loss policy puts down to the radio, or to a path that failed, are not a sign of too much in flight;
//! - a path that the scheduler leaves unused although it could send is limited by the application;
//! - a path that blocks the other paths keeps β of its window until it probes again.

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
