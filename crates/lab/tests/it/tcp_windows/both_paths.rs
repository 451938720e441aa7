//! Two unequal paths without others on them and without loss, 20 Mbit/s with 10 ms and 10 Mbit/s with 40 ms, queues of one
//! product of bandwidth and delay: their sum, and what small receive windows leave of it. All windows over ten seeds:
//! `python3 -m bench friendliness sum buffers`.

use strandcast_lab::scenario::Scenario;
use strandcast_schemes::congestions;
use strandcast_testing::lab;

use super::{between_two_hosts, link, mean};

const SEEDS: u64 = 3;
/// The sum of both products, bytes: 20 Mbit/s · 10 ms + 10 Mbit/s · 40 ms.
const BDP: u64 = 25_000 + 50_000;

/// One flow over these links. All data packets have 1500 bytes: headers of 40, timestamps of 12, MPTCP's mapping of 28.
fn alone(cc: &str, ways: &[&str], receive_window: u64, more: &str) -> Scenario {
    let (transport, segment) = if ways.len() > 1 { ("mptcp", 1420) } else { ("tcp", 1448) };
    let links = link("x", 20.0, 10.0, 17) + &link("y", 10.0, 40.0, 33);
    let paths: String = ways.iter().map(|way| format!("paths.{way}.via = ['{way}']\n")).collect();
    between_two_hosts(&format!(
        "{links}[run]\ntime = '40 s'\nwarmup = '10 s'\n[flows.ours]\ntransport = '{transport}'\nfrom = 'a'\nto = 'b'\n\
         start = {{ uniform = [0, 1] }}\nprofile = 'linux'\ncc = '{cc},count=bytes'\ntcp.segment = {segment}\n\
         tcp.receive_window = {receive_window}\n{more}{paths}",
    ))
}

/// Mbit/s, run by run.
fn goodput(scenario: &Scenario, seeds: u64) -> Vec<f64> {
    (1..=seeds).map(|seed| lab::goodput(&lab::run(scenario, seed), "ours") / 1e6).collect()
}

/// At least 95 % of the payload that both links carry.
#[test]
fn unequal_paths_carry_their_sum() {
    let names =
        ["uncoupled", "reno", "ewtcp", "lia", "balia", "cubic", "mpcubic", "mpsqrt", "mpiad", "mpmtp"];
    for name in names {
        assert!(congestions().iter().any(|one| one.name == name), "{name} is not a window");
    }
    for cc in names.map(|name| if name == "mpmtp" { "mpmtp,delta=one" } else { name }) {
        let share = mean(&goodput(&alone(cc, &["x", "y"], 16 << 20, ""), SEEDS)) / (30.0 * 1420.0 / 1500.0);
        println!("{cc}: {share:.4} of the payload capacity");
        assert!(share >= 0.95, "{cc}: {share:.4} of the payload capacity");
    }
}

/// Each scheduler of MPTCP carries the sum of both links, less what it leaves idle by design, and with a receive window of two
/// products at least what TCP does on the better one.
fn both_paths(seeds: u64) {
    let best = mean(&goodput(&alone("cubic", &["x"], 2 * BDP, ""), seeds));
    for scheduler in ["lowest-rtt", "ecf", "blest", "daps", "linux"] {
        let more = format!("scheduler = '{scheduler}'\n");
        let share =
            mean(&goodput(&alone("cubic", &["x", "y"], 16 << 20, &more), seeds)) / (30.0 * 1420.0 / 1500.0);
        let small = mean(&goodput(&alone("cubic", &["x", "y"], 2 * BDP, &more), seeds));
        println!(
            "{scheduler}: {share:.4} of the payload capacity; with two products {small:.2}, TCP {best:.2} Mbit/s"
        );
        assert!(share >= 0.85, "{scheduler}: {share:.4}");
        assert!(small >= 0.97 * best, "{scheduler}: {small:.2}, TCP {best:.2}");
    }
}

/// With reinjection, a receive window of one or two products leaves no run more than 3 % below TCP on the better path
/// with the same window.
fn a_small_receive_window(seeds: u64) {
    for (cc, tcp) in [("reno", "reno"), ("lia", "reno"), ("cubic", "cubic")] {
        for times in [1, 2] {
            let window = times * BDP;
            let best =
                ["x", "y"].map(|way| mean(&goodput(&alone(tcp, &[way], window, ""), seeds))).into_iter();
            let best = best.fold(0.0, f64::max);
            let ours = goodput(&alone(cc, &["x", "y"], window, "tcp.opportunistic = true\n"), seeds);
            println!("{cc}, {window} bytes: {ours:.2?}, TCP {best:.2} Mbit/s");
            assert!(
                ours.iter().all(|rate| *rate >= 0.97 * best),
                "{cc}, {window}: {ours:.2?}, TCP {best:.2}"
            );
        }
    }
}

#[test]
fn every_scheduler_uses_both_paths() {
    both_paths(1);
}

#[test]
fn a_small_receive_window_costs_no_more_than_the_second_path() {
    a_small_receive_window(1);
}

mod thorough {
    use super::*;

    #[test]
    fn every_scheduler_uses_both_paths() {
        both_paths(SEEDS);
    }

    #[test]
    fn a_small_receive_window_costs_no_more_than_the_second_path() {
        a_small_receive_window(SEEDS);
    }
}
