//! For any behaviour of the network, reliable messages arrive once, unchanged and in order, and a graceful close
//! completes.

use std::sync::Arc;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::rfc;
use strandcast_proto::time::Duration;
use strandcast_testing::adversary;
use strandcast_testing::adversary::case::Op;
use strandcast_testing::adversary::{Case, Kind, holds, run};
use strandcast_testing::plain;

fn check(name: &str, kind: Kind, make: fn() -> Box<dyn Scheme>) {
    let command = format!("cargo test -p strandcast-proto --test it properties::{name}");
    let make: adversary::Make = Arc::new(make);
    let tune: adversary::Tune = Arc::new(|_| {});
    holds(&command, kind, 1000, &make, &tune);
}

#[test]
fn over_one_to_four_wires() {
    check("over_one_to_four_wires", Kind::Plain, plain::simple);
}

#[test]
fn as_rfc_9260_is_written() {
    check("as_rfc_9260_is_written", Kind::Strict, || Box::new(rfc::scheme()));
}

#[test]
fn with_the_primary_path_and_its_failover() {
    check("with_the_primary_path_and_its_failover", Kind::Plain, || Box::new(rfc::scheme()));
}

#[test]
fn with_potentially_failed_paths() {
    check("with_potentially_failed_paths", Kind::PotentiallyFailed, plain::simple);
}

#[test]
fn into_a_small_buffer_read_late() {
    check("into_a_small_buffer_read_late", Kind::SmallBuffers, plain::simple);
}

#[test]
fn into_a_small_buffer_over_the_primary_path() {
    check("into_a_small_buffer_over_the_primary_path", Kind::SmallBuffers, || Box::new(rfc::scheme()));
}

#[test]
fn from_the_first_packet_of_a_bad_network() {
    check("from_the_first_packet_of_a_bad_network", Kind::Early, plain::simple);
}

/// Parameters of the commands: tail probes, short timeouts, verdicts on unanswered probes.
fn live() -> adversary::Tune {
    Arc::new(|transport| {
        *transport = TransportConfig {
            pf_max_retrans: transport.pf_max_retrans,
            failed_probe_interval: transport.failed_probe_interval,
            max_init_retrans: transport.max_init_retrans,
            // The association must survive until the network works again.
            silence_timeout: Some(Duration::from_secs(1_000_000)),
            ..TransportConfig::live()
        };
    })
}

fn check_live(name: &str, make: impl Fn() -> Box<dyn Scheme> + Send + Sync + 'static) {
    let command = format!("cargo test -p strandcast-proto --test it properties::{name}");
    holds(&command, Kind::PotentiallyFailed, 1000, &(Arc::new(make) as adversary::Make), &live());
}

#[test]
fn with_the_parameters_for_real_paths() {
    check_live("with_the_parameters_for_real_paths", plain::simple);
}

#[test]
fn with_the_parameters_for_real_paths_over_the_primary_path() {
    check_live("with_the_parameters_for_real_paths_over_the_primary_path", || Box::new(rfc::scheme()));
}

/// Chunks that a timeout declared lost are acknowledged after all, after their path was removed.
#[test]
fn a_spurious_timeout_of_a_path_that_is_closed_by_now() {
    let send = |side, size, count| {
        let (stream, unordered, lifetime_ms) = (0, false, None);
        Op::Send { side, size, count, stream, unordered, lifetime_ms }
    };
    let ops = vec![
        Op::Die { wire: 0 },
        Op::Direction { wire: 1, from: 0, up: false },
        send(1, 553, 11),
        send(1, 4573, 19),
        send(0, 1, 1),
        Op::Remove { wire: 0 },
    ];
    let (kind, delays) = (Kind::PotentiallyFailed, vec![61, 0]);
    let case = Case { kind, seed: 0, delays, first: 2, ops, closer: 0, close_early: true };
    run(&case, &(Arc::new(plain::simple) as adversary::Make), &live());
}
