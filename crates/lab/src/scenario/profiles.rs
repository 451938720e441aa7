//! Constants of SCTP, by profile.
//!
//! | constant | `rfc`: this project's own | `ns2`: the SCTP agent of ns-2.35 |
//! |---|---|---|
//! | IP-level MTU | 1400: fits most tunnels | 1500: `mtu_` |
//! | encapsulation | UDP (RFC 6951), 28 bytes | none, 20 bytes of IP |
//! | receive buffer | 1 MiB | 65536: `initialRwnd_` |
//! | send buffer | 1 MiB | 1 MiB: ns-2's is as large as needed |
//! | RTO.Initial, Min, Max | 1, 1, 60 s (RFC 9260 §16) | 3, 1, 60 s (RFC 4960 §15) |
//! | Max.Burst | 4 packets (RFC 9260 §16) | 4: `useMaxBurst_` |
//! | SACK.Delay, packets a SACK | 200 ms, 2 (RFC 9260 §6.2) | 200 ms, 2: `sackDelay_`, `useDelayedSacks_` |
//! | HB.interval | 30 s (RFC 9260 §16) | 30 s: `heartbeatInterval_` |
//! | Path.Max.Retrans, Association.Max.Retrans | 5, 10 (RFC 9260 §16) | 5, 10: `pathMaxRetrans_`, `associationMaxRetrans_` |
//! | reports between two Strandcast peers | yes | yes: paths join by them; schemes may also use them |
//! | initial window | RFC 9260 §7.2.1 | the same rule: its traces begin with 4380 bytes, though `initialCwnd_` is 2 |
//! | initial ssthresh | arbitrarily high | 65536 bytes: `initialSsthresh_` |
//! | least window after a halving | 4 MTU (RFC 9260 §7.2.3) | 2 MTU, as its CMT agent; its single-path agent has 4 |
//! | growth in slow start, bursts | by the packets that one SACK stands for | by the letter of the RFC (`strict`) |
//! | lost retransmissions | noticed by later packets | by timeout |
//! | failed paths are probed | every 500 ms | at the RTO, which backs off |

use core::time::Duration;

use super::keys::app::AppKind;
use super::keys::sctp::{IP, Sctp, SctpProfile};
use super::model::{App, Flow, Scenario, Transport};
use super::typed::Kind;
use super::value::Named;

/// Number of bytes of SCTP's common header and of the header of a DATA chunk.
const SCTP_DATA: u16 = 12 + 16;

/// The constants of a profile. `None`: there is no such profile.
pub fn sctp(profile: &str) -> Option<Sctp> {
    SctpProfile::from_word(profile).map(SctpProfile::constants)
}

impl SctpProfile {
    /// Constants of the profile.
    pub fn constants(self) -> Sctp {
        match self {
            SctpProfile::Rfc | SctpProfile::Live => Sctp::of(self),
            SctpProfile::Ns2 => ns2(),
        }
    }
}

/// Constants of ns-2. All constants are listed here, so that they do not depend on Strandcast's defaults.
fn ns2() -> Sctp {
    Sctp {
        profile: SctpProfile::Ns2,
        seal: false,
        mtu: 1500,
        encapsulation: IP,
        receive_buffer: 65_536,
        send_buffer: 1 << 20,
        buffer_limit: None,
        rto_initial: Duration::from_secs(3),
        rto_min: Duration::from_secs(1),
        rto_max: Duration::from_secs(60),
        max_burst: 4,
        sack_delay: Duration::from_millis(200),
        sack_frequency: 2,
        heartbeat_interval: Duration::from_secs(30),
        path_max_retrans: 5,
        association_max_retrans: 10,
        rto_min_strandcast: None,
        sack_delay_strandcast: None,
        tail_probes: false,
        reordering: false,
        ack_delays: false,
        silence_timeout: None,
        failed_after: None,
        reports: true,
        scheme_defaults: "initial-ssthresh=65536,half-floor=2,strict=on,rtx-again=off,probe-interval=0"
            .into(),
    }
}

impl Scenario {
    /// Name of the set of constants of each flow's transport, by the name of the flow. UDP has no constants.
    pub fn profiles(&self) -> Named<String> {
        let of = |flow: &Flow| Some(flow.transport.profile()?.to_owned());
        self.flows.iter().filter_map(|(name, flow)| Some((name.clone(), of(flow)?))).collect()
    }
}

impl Scenario {
    /// Word of the key `app.kind` of each flow, by the flow's name.
    pub fn apps(&self) -> Named<String> {
        let of = |flow: &Flow| match flow.app {
            App::Bulk { .. } => AppKind::Bulk,
            App::Finite { .. } => AppKind::Finite,
            App::Cbr { .. } => AppKind::Cbr,
            App::Poisson { .. } => AppKind::Poisson,
            App::OnOff { .. } => AppKind::OnOff,
            App::Video(_) => AppKind::Video,
        };
        self.flows.iter().map(|(name, flow)| (name.clone(), of(flow).word().to_owned())).collect()
    }
}

impl Transport {
    /// Name of the profile of a transport. UDP has no profile.
    pub fn profile(&self) -> Option<&str> {
        match self {
            Transport::Sctp { sctp, .. } => Some(sctp.profile.name()),
            Transport::Tcp { tcp, .. } | Transport::Mptcp { tcp, .. } => Some(&tcp.profile),
            Transport::Udp { .. } => None,
        }
    }
}

impl Scenario {
    /// Keys of schemes that flows over SCTP set (`scheme_defaults`). Flows that set no key are left out.
    pub fn scheme_defaults(&self) -> Vec<&str> {
        let flows = self.flows.values().filter_map(|flow| match &flow.transport {
            Transport::Sctp { sctp, .. } => Some(&*sctp.scheme_defaults),
            _ => None,
        });
        flows.filter(|text| !text.is_empty()).collect()
    }
}

impl Sctp {
    /// Length in bytes of the longest message that fits one packet. It is a multiple of 4, so that no padding is
    /// needed.
    pub fn largest_payload(&self) -> u32 {
        u32::from(self.mtu).saturating_sub(self.headers() + u32::from(SCTP_DATA)) / 4 * 4
    }
}
