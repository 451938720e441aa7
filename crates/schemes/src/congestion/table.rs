//! The table of windows. Each window has one line here, which serves SCTP presets (`cc=NAME`), simulated TCP and MPTCP
//! flows (`cc = "cubic,beta=0.7"`), the documentation and error messages. Everything else about a window is in the file
//! of that window.

use strandcast_keys::{Key, Keyed as _};

use super::flow::{FlowConfig, WindowSetup};
use super::window::{WindowPart, Windows};
use crate::error::SpecError;
use crate::pairs::{pairs, split};
use crate::shelf::shelf;

// The first window is the default of SCTP presets.
shelf! {
    /// The windows.
    enum Cc;
    /// Settings of the windows.
    struct Congestions of WindowPart {
        Rfc = "rfc", rfc: super::rfc::RfcConfig;
        Lia = "lia", lia: super::lia::LiaConfig;
        Reno = "reno", reno: super::reno::RenoConfig;
        Cubic = "cubic", cubic: super::cubic::CubicConfig;
        ReceiverRate = "receiver-rate", receiver_rate: super::receiver_rate::ReceiverRateConfig;
        QueueAware = "queue-aware", queue_aware: super::queue_aware::QueueAwareConfig;
        Balia = "balia", balia: super::balia::BaliaConfig;
        Uncoupled = "uncoupled", uncoupled: super::reno::UncoupledConfig;
        Ewtcp = "ewtcp", ewtcp: super::ewtcp::Ewtcp;
        Coupled = "coupled", coupled: super::fully_coupled::FullyCoupled;
        Olia = "olia", olia: super::olia::OliaConfig;
        Wvegas = "wvegas", wvegas: super::wvegas::WvegasConfig;
        Mpsqrt = "mpsqrt", mpsqrt: super::binomial::SqrtConfig;
        Mpiad = "mpiad", mpiad: super::binomial::InverseConfig;
        Mpcubic = "mpcubic", mpcubic: super::mpcubic::MpCubicConfig;
        Mpmtp = "mpmtp", mpmtp: super::mpmtp::MpmtpConfig;
        Bbr = "bbr", bbr: super::bbr::BbrConfig;
        DelayGuard = "delay-guard", delay_guard: super::bbr::GuardConfig;
    }
}

/// A named congestion control.
#[derive(Clone, Debug)]
pub struct Congestion {
    /// The name in specs.
    pub name: &'static str,
    /// Paper or document that describes the window.
    pub paper: &'static str,
    /// Description in one sentence, for people.
    pub summary: &'static str,
    /// Reason why TCP and MPTCP flows cannot use the window, if there is one.
    pub not_for_tcp: Option<&'static str>,
    /// Keys on a TCP or MPTCP flow, with their defaults. Empty if such flows cannot use the window.
    pub keys: Vec<(Key, String)>,
}

impl Congestion {
    fn new(name: &'static str, part: &dyn WindowPart) -> Self {
        let mut flow = FlowConfig::default();
        part.flow(&mut flow);
        let not_for_tcp = part.tcp(flow.config(WindowSetup::default())).err();
        let value = |key: &Key| flow.get(key.name).or_else(|| part.get(key.name)).unwrap_or_default();
        let keys = flow.keys().into_iter().chain(part.keys()).filter(|_| not_for_tcp.is_none());
        let keys = keys.map(|key| (key, value(&key))).collect();
        Congestion { name, paper: part.paper(), summary: part.summary(), not_for_tcp, keys }
    }
}

/// Returns all windows, in the order of listings.
pub fn congestions() -> Vec<Congestion> {
    Congestions::default().all().into_iter().map(|(name, part)| Congestion::new(name, part)).collect()
}

/// Returns the windows that `spec` (`NAME[,key=value]...`) names. They are for one TCP or MPTCP flow over any number of
/// paths.
///
/// # Errors
/// [`SpecError`]. The single line of the error lists the possible values.
pub fn congestion(spec: &str, setup: WindowSetup) -> Result<Windows, SpecError> {
    let (name, rest) = split(spec);
    let known = || congestions().into_iter().filter(|c| c.not_for_tcp.is_none()).map(|c| c.name);
    let cc = Cc::from_word(name).ok_or_else(|| SpecError::unknown_congestion(name, known()))?;
    let mut all = Congestions::default();
    let part = all.part_mut(cc);
    let mut flow = FlowConfig::default();
    part.flow(&mut flow);
    for (key, text) in pairs(rest, "cubic,beta=0.7")? {
        if !(flow.set(key, text)? | part.set(key, text)?) {
            let names: Vec<_> = flow.keys().iter().chain(&part.keys()).map(|key| key.name).collect();
            return Err(SpecError::unknown_key(cc.word(), key, &names, &names));
        }
    }
    part.tcp(flow.config(setup)).map_err(|why| SpecError::not_for_tcp(cc.word(), why, known()))
}
