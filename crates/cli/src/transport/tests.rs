//! Equal configuration over sockets and in the simulator: `send` configures its transport like a simulated flow of
//! profile `live`, and the profiles of RFC 9260 and ns-2 have none of its mechanisms.

use clap::Parser as _;
use strandcast_keys::catalog::Catalog as _;
use strandcast_lab::scenario::sctp_profile;
use strandcast_lab::simulation::transport;
use strandcast_proto::config::TransportConfig;
use strandcast_schemes::{Presets, presets};

use super::options;
use crate::args::{Args, Command, TransportArgs};

/// The minimal arguments of `send`.
fn send() -> TransportArgs {
    match Args::parse_from(["strandcast", "send", "in.ts", "192.0.2.1"]).command {
        Command::Send(args) => args.transport,
        other => panic!("{other:?}"),
    }
}

/// The configuration of a simulated flow with this profile and scheme.
fn simulated(profile: &str, scheme: &str) -> TransportConfig {
    let sctp = sctp_profile(profile).expect("there is such a profile");
    let mut config = transport(&sctp);
    let plan = Presets.scheme(scheme, &sctp.scheme_defaults).expect("a preset");
    (plan.tune)(&mut config);
    config
}

#[test]
fn send_uses_profile_live() {
    for preset in presets() {
        let scheme = strandcast::Scheme::new(preset.name).expect("a preset");
        let sent = TransportConfig::clone(&options(&send()).endpoint(&scheme, false).transport);
        // Intended differences: `send` needs two streams. Simulated links have no MTU to discover, and their interfaces
        // work when they are up. The MTU of `send` is `--mtu`, whose default is the profile's.
        let TransportConfig { mtu_discovery, proves_resumed, .. } = TransportConfig::live();
        let simulated = simulated("live", preset.name);
        let told = TransportConfig { outbound_streams: 2, mtu_discovery, proves_resumed, ..simulated };
        assert_eq!(sent, told, "{}", preset.name);
    }
}

#[test]
fn profiles_of_rfc_and_ns2_have_none_of_its_mechanisms() {
    let default = TransportConfig::default();
    assert_eq!(transport(&sctp_profile("rfc").expect("there is such a profile")), default);
    let ns2 = transport(&sctp_profile("ns2").expect("there is such a profile"));
    // Constants of ns-2's agent; all the rest is RFC 9260's.
    let rest = TransportConfig {
        mtu: default.mtu,
        encapsulation: default.encapsulation,
        receive_buffer: default.receive_buffer,
        rto_initial: default.rto_initial,
        ..ns2
    };
    assert_eq!(rest, default);
}
