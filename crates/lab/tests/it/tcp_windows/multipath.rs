//! The three goals of linked increases (RFC 6356 §2).

use strandcast_lab::result::Subject;
use strandcast_lab::scenario::Scenario;
use strandcast_testing::lab;

use super::{between_two_hosts, link, mean};

const RUN: &str = "[run]\ntime = '100 s'\nwarmup = '10 s'\n";

/// A flow over links by path name. Data are 1500 bytes on the wire, MPTCP's option of 28 among them: a drop-tail queue
/// counted in packets favours longer ones.
fn flow(name: &str, cc: &str, count: u32, ways: &[&str]) -> String {
    let (transport, segment) = if ways.len() > 1 { ("mptcp", 1432) } else { ("tcp", 1460) };
    let path = |(i, link): (usize, &&str)| format!("paths.p{i}.via = ['{link}']\n");
    let paths: String = ways.iter().enumerate().map(path).collect();
    format!(
        "[flows.{name}]\ntransport = '{transport}'\nfrom = 'a'\nto = 'b'\ncount = {count}\n\
         start = {{ uniform = [0, 1] }}\ncc = '{cc}'\ntcp.segment = {segment}\ntcp.receive_window = '16 MiB'\n{paths}"
    )
}

/// Goodput of a flow in Mbit/s, mean of five seeds.
fn rate(scenario: &Scenario, flow: &str) -> f64 {
    let run = |seed| lab::goodput(&lab::run(scenario, seed), flow) / 1e6;
    mean(&(1..=5).map(run).collect::<Vec<_>>())
}

/// Goal 2, do no harm: over a shared bottleneck two coupled subflows take what one TCP would, uncoupled ones about two.
#[test]
fn it_takes_one_share_of_a_shared_bottleneck() {
    let share = |cc: &str| {
        let flows = flow("ours", cc, 1, &["l", "l"]) + &flow("tcp", "reno", 3, &["l"]);
        let scenario = between_two_hosts(&(link("l", 10.0, 50.0, 50) + &flows + RUN));
        let [ours, others] = ["ours", "tcp"].map(|flow| rate(&scenario, flow));
        println!("{cc}: {ours:.2}, others {others:.2} Mbit/s");
        ours / (others / 3.0)
    };
    let (coupled, uncoupled) = (share("lia"), share("reno"));
    assert!((0.6..1.2).contains(&coupled), "{coupled:.2} shares");
    assert!(uncoupled > 1.6, "{uncoupled:.2} shares");
}

/// Goal 1, improve throughput: as much as TCP would get on the best of its paths. Where losses are what a path has,
/// whatever is sent, RFC 6356 §4 derives alpha from just that equilibrium, for windows that stand still; windows that go
/// up and down cost a little of it where paths are unequal, and MPTCP's option takes 2 % of each packet.
fn it_is_as_fast_as_tcp(cases: &[[(u32, f64); 2]]) {
    for &[(rtt, loss), (rtt2, loss2)] in cases {
        let with = |cc: &str, ways: &[&str]| {
            let lossy = |name: &str, rtt: u32, loss: f64| {
                link(name, 100.0, f64::from(rtt), 10_000) + &format!("loss.uniform.rate = {loss}\n")
            };
            let links = lossy("x", rtt, loss) + &lossy("y", rtt2, loss2);
            let run = "[run]\ntime = '300 s'\nwarmup = '10 s'\n";
            rate(&between_two_hosts(&(links + &flow("ours", cc, 1, ways) + run)), "ours")
        };
        let best = f64::max(with("reno", &["x"]), with("reno", &["y"]));
        let ours = with("lia", &["x", "y"]);
        println!("{rtt} ms {loss}, {rtt2} ms {loss2}: {ours:.2} Mbit/s, TCP {best:.2}: {:.3}", ours / best);
        assert!((0.85..1.15).contains(&(ours / best)), "{ours:.2} Mbit/s, TCP {best:.2}");
    }
}

/// Goal 3, balance congestion: less of it goes over the congested link than of uncoupled subflows.
#[test]
fn it_moves_away_from_congestion() {
    let crowded = |cc: &str| {
        let links = link("free", 10.0, 50.0, 50) + &link("crowded", 10.0, 50.0, 50);
        let rest = flow("tcp", "reno", 1, &["free"]) + &flow("tcp2", "reno", 5, &["crowded"]);
        let scenario = between_two_hosts(&(links + &flow("ours", cc, 1, &["free", "crowded"]) + &rest + RUN));
        let crowded = Subject::Path { flow: "ours".into(), path: "p1".into() };
        let share = |seed| lab::metric(&lab::run(&scenario, seed), &crowded, "share");
        mean(&(1..=5).map(share).collect::<Vec<_>>())
    };
    let (coupled, uncoupled) = (crowded("lia"), crowded("reno"));
    println!("coupled {coupled:.3}, uncoupled {uncoupled:.3} over the congested link");
    // Two and six flows per link: uncoupled 1/6 to 1/2 of it, a quarter.
    assert!((0.2..0.35).contains(&uncoupled), "{uncoupled:.3}");
    assert!(coupled < 0.7 * uncoupled, "{coupled:.3} over the congested link, uncoupled {uncoupled:.3}");
}

#[test]
fn it_is_as_fast_as_tcp_on_the_best_path() {
    it_is_as_fast_as_tcp(&[[(50, 0.001), (50, 0.004)]]);
}

mod thorough {
    #[test]
    fn it_is_as_fast_as_tcp_on_the_best_path() {
        super::it_is_as_fast_as_tcp(&[
            [(50, 0.001), (50, 0.001)],
            [(50, 0.001), (150, 0.001)],
            [(50, 0.001), (50, 0.004)],
        ]);
    }
}
