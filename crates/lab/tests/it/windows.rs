//! Every window of the table in all three of its places: an SCTP association, a TCP flow and an MPTCP flow.

use core::time::Duration;

use strandcast_lab::scenario::{App, Scenario, Transport};
use strandcast_lab::simulation::Simulation;
use strandcast_schemes::{congestions, parse_spec};
use strandcast_testing::lab::*;

/// Two links of 4 and 2 Mbit/s with 20 ms of delay, and a greedy sender on the first `paths` of them.
fn network(transport: Transport, paths: usize) -> Scenario {
    let links = [("l1", link("a", "b", 4e6, 0.02, 40)), ("l2", link("a", "b", 2e6, 0.02, 40))];
    let both: &[&[&str]] = &[&["l1"], &["l2"]];
    let mut scenario =
        scenario(&links, vec![("x", flow(transport, App::Bulk { size: 1400 }, &both[..paths]))]);
    (scenario.run.time, scenario.run.warmup) = (Duration::from_secs(25), Duration::from_secs(5));
    scenario
}

/// Share of the others' least load that a window leaves unused by its design: over all paths, and alone.
fn modest(window: &str) -> (f64, f64) {
    match window {
        // Halves whenever a queue has doubled.
        "wvegas" => (0.8, 1.0),
        // A loss takes one segment, of all that the first slow start was too much.
        "mpiad" => (0.7, 0.7),
        _ => (1.0, 1.0),
    }
}

#[track_caller]
fn carries(what: &str, transport: Transport, paths: usize, least_bps: f64) {
    let goodput = goodput(&run(&network(transport, paths), 1), "x");
    println!("{what}: {:.2} Mbit/s", goodput / 1e6);
    assert!(goodput > least_bps, "{what}: {goodput} bit/s");
}

#[test]
fn every_window_of_the_table_runs_in_all_three_places() {
    let mut tcp_windows = 0;
    for one in congestions() {
        // Presets whose other parts go with any window, and with one that needs a receiver of its own.
        let specs = [("cmt", 2, 5.2e6), ("sctp-rev", 1, 3.4e6)];
        let specs = specs.map(|(preset, paths, least)| (format!("{preset},cc={}", one.name), paths, least));
        let (spec, paths, least) =
            specs.into_iter().find(|s| parse_spec(&s.0).is_ok()).expect("a preset has it");
        let (together, alone) = modest(one.name);
        carries(&spec, sctp(&spec), paths, together * least);
        let mptcp = mptcp(one.name);
        match one.not_for_tcp {
            None => {
                tcp_windows += 1;
                carries(&format!("tcp {}", one.name), tcp(one.name), 1, alone * 3.4e6);
                carries(&format!("mptcp {}", one.name), mptcp, 2, together * 5.2e6);
            }
            Some(why) => {
                for transport in [tcp(one.name), mptcp] {
                    let refused = Simulation::new(&network(transport, 1), &Presets, 1, None).err();
                    let said = refused.expect("it is not for them").message;
                    assert!(said.contains(why) && said.contains("choose from lia, reno"), "{said}");
                }
            }
        }
    }
    assert!(tcp_windows >= 4, "{tcp_windows}");
}
