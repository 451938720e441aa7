//! The table of windows: each has one line here, for SCTP presets (`cc=NAME`), for simulated TCP and MPTCP flows
//! (`cc = "cubic,beta=0.7"`), for the documentation and for what errors say. Its row is in its own file.

use strandcast_keys::{Key, Keyed as _, words};

use super::SctpConfig;
use super::flow::{FlowConfig, WindowSetup};
use super::window::{Row, Windows};
use crate::error::SpecError;
use crate::pairs::{pairs, split};
use crate::part::{Estimators, Others};

/// Declares the words of `cc`, and what each stands for.
macro_rules! windows {
    ($($variant:ident = $word:literal: $row:expr,)+) => {
        words! {
            /// The windows.
            pub enum Cc {
                $(
                    #[doc = concat!("`", $word, "`.")]
                    $variant = $word,
                )+
            }
        }

        const ALL: &[Congestion] = &[$(Congestion {
            name: $word,
            paper: $row.paper,
            summary: $row.summary,
            row: &$row,
        },)+];

        impl Cc {
            fn row(self) -> &'static Row {
                match self {
                    $(Cc::$variant => &$row,)+
                }
            }
        }
    };
}

// The first is what SCTP presets have unless they say otherwise.
windows! {
    Rfc = "rfc": super::rfc::ROW,
    Lia = "lia": super::lia::ROW,
    Reno = "reno": super::reno::ROW,
    Cubic = "cubic": super::cubic::ROW,
    ReceiverRate = "receiver-rate": super::receiver_rate::ROW,
    QueueAware = "queue-aware": super::queue_aware::ROW,
    Balia = "balia": super::balia::ROW,
}

impl Cc {
    /// The windows of an SCTP association.
    pub(crate) fn build(self, config: SctpConfig) -> Windows {
        (self.row().sctp.build)(config.into())
    }

    /// Adds what they read of paths beyond the core's own measurements.
    pub(crate) fn estimators(self, estimators: &mut Estimators) {
        (self.row().sctp.estimators)(estimators);
    }

    /// Why they do not go with the other parts, in one line.
    pub(crate) fn refuses(self, others: &Others) -> Option<&'static str> {
        (self.row().sctp.refuses)(others)
    }
}

/// A named congestion control.
#[derive(Copy, Clone, Debug)]
pub struct Congestion {
    /// The name in specs.
    pub name: &'static str,
    /// Where it is described.
    pub paper: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    row: &'static Row,
}

impl Congestion {
    /// Why TCP and MPTCP flows can't have it, if they can't.
    pub fn not_for_tcp(&self) -> Option<&'static str> {
        self.row.tcp.err()
    }

    /// What can be set of it on a TCP or MPTCP flow, with the defaults.
    pub fn keys(&self) -> Vec<(Key, String)> {
        let Ok(make) = self.row.tcp else { return Vec::new() };
        let mut flow = FlowConfig::default();
        let own = make(&mut flow);
        let value = |key: &Key| flow.get(key.name).or_else(|| own.get(key.name)).unwrap_or_default();
        let keys = flow.keys().into_iter().chain(own.keys());
        keys.map(|key| (key, value(&key))).collect()
    }
}

/// All windows, in the order they are listed to people.
pub fn congestions() -> &'static [Congestion] {
    ALL
}

/// The windows that `spec` (`NAME[,key=value]...`) names, for one TCP or MPTCP flow over any number of paths.
///
/// # Errors
/// [`SpecError`], which says in one line what is possible instead.
pub fn congestion(spec: &str, setup: WindowSetup) -> Result<Windows, SpecError> {
    let (name, rest) = split(spec);
    let known = || ALL.iter().filter(|c| c.row.tcp.is_ok()).map(|c| c.name);
    let found = ALL.iter().find(|c| c.name == name);
    let found = found.ok_or_else(|| SpecError::unknown_congestion(name, known()))?;
    let make = found.row.tcp.map_err(|why| SpecError::not_for_tcp(found.name, why, known()))?;
    let mut flow = FlowConfig::default();
    let mut own = make(&mut flow);
    for (key, text) in pairs(rest, "cubic,beta=0.7")? {
        if !(flow.set(key, text)? | own.set(key, text)?) {
            let names: Vec<_> = found.keys().iter().map(|(key, _)| key.name).collect();
            return Err(SpecError::unknown_key(found.name, key, &names, &names));
        }
    }
    Ok(own.build(flow.config(setup)))
}
