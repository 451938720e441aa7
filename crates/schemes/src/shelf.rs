//! The parts by their names in specs. Each part has one line. A similar table in [`crate::congestion`] lists the
//! windows.

use crate::part::{FeedbackPart, LossPart, SchedulerPart};
use crate::{feedback, recovery, schedule};

/// Declares the words of a role. The macro also declares a struct with the configuration of every part that can fill
/// the role.
macro_rules! shelf {
    (
        $(#[$name_meta:meta])* enum $name:ident;
        $(#[$meta:meta])* struct $shelf:ident of $part:ident {
            $($variant:ident = $word:literal, $field:ident: $config:path;)+
        }
    ) => {
        strandcast_keys::words! {
            $(#[$name_meta])*
            pub enum $name {
                $(
                    #[doc = concat!("`", $word, "`.")]
                    $variant = $word,
                )+
            }
        }

        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct $shelf {
            $(
                #[doc = concat!("`", $word, "`.")]
                pub $field: $config,
            )+
        }

        impl $shelf {
            /// Returns the configuration of the part called `name`.
            pub fn part(&self, name: $name) -> &dyn $part {
                match name {
                    $($name::$variant => &self.$field,)+
                }
            }

            /// Returns the configuration of the part called `name` for modification.
            pub fn part_mut(&mut self, name: $name) -> &mut dyn $part {
                match name {
                    $($name::$variant => &mut self.$field,)+
                }
            }

            /// Returns all parts with their words.
            pub fn all(&self) -> Vec<(&'static str, &dyn $part)> {
                vec![$(($word, &self.$field),)+]
            }
        }
    };
}

pub(crate) use shelf;

shelf! {
    /// The schedulers.
    enum SchedulerName;
    /// Settings of the schedulers.
    struct Schedulers of SchedulerPart {
        RoundRobin = "round-robin", round_robin: schedule::RoundRobinConfig;
        LowestRtt = "lowest-rtt", lowest_rtt: schedule::LowestRttConfig;
        Redundant = "redundant", redundant: schedule::RedundantConfig;
        Primary = "primary", primary: schedule::PrimaryConfig;
        LossOrder = "loss-order", loss_order: schedule::LossOrderedConfig;
        Receiver = "receiver", receiver: schedule::ReceiverConfig;
        EarliestArrival = "earliest-arrival", earliest_arrival: schedule::EarliestArrivalConfig;
        Wary = "wary", wary: schedule::WaryConfig;
        Ecf = "ecf", ecf: schedule::EcfConfig;
        Blest = "blest", blest: schedule::BlestConfig;
        Daps = "daps", daps: schedule::DapsConfig;
        Linux = "linux", linux: schedule::LinuxConfig;
        Widest = "widest", widest: schedule::WidestConfig;
        Fmtcp = "fmtcp", fmtcp: schedule::FmtcpConfig;
        NcMptcp = "nc-mptcp", nc_mptcp: schedule::NcMptcpConfig;
    }
}

shelf! {
    /// The loss policies.
    enum LossName;
    /// Settings of the loss policies.
    struct Losses of LossPart {
        Sfr = "sfr", sfr: recovery::SfrConfig;
        Rfc = "rfc", rfc: recovery::RfcLossConfig;
        Raf = "raf", raf: recovery::RafConfig;
        Silence = "silence", silence: recovery::SilenceConfig;
    }
}

shelf! {
    /// The feedback policies.
    enum FeedbackName;
    /// Settings of the feedback policies.
    struct Feedbacks of FeedbackPart {
        Dac = "dac", dac: feedback::DelayedAckConfig;
        Rfc = "rfc", rfc: feedback::RfcFeedbackConfig;
        Rounds = "rounds", rounds: feedback::rounds::RoundsConfig;
        Heartbeats = "heartbeats", heartbeats: feedback::HeartbeatsConfig;
    }
}
