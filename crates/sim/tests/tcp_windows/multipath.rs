//! The three goals of linked increases (RFC 6356 §2).

use std::time::Duration;

use strandcast_sim::tcp::{Config, Profile};

use crate::network::{Bottleneck, Network, Way};

const SECONDS: f64 = 100.0;

fn way(link: usize, rtt_ms: u64) -> Way {
    Way { link, rtt: Duration::from_millis(rtt_ms) }
}

fn config() -> Config {
    Config { receive_window: 16 << 20, opportunistic: false, ..Config::from(Profile::Rfc) }
}

/// Mean rates in Mbit/s of the flows, first of which is `ours`, after the first ten seconds.
fn rates(seeds: u64, links: &[Bottleneck], flows: &[(&str, &[Way])]) -> Vec<f64> {
    let mut total = vec![0.0; flows.len()];
    for seed in 1..=seeds {
        let mut network = Network::new(seed, links);
        for (i, (cc, ways)) in flows.iter().enumerate() {
            let start = network.draw(&format!("start {i}"), 1.0);
            network.add(cc, &config(), start, ways);
        }
        network.run_until(10.0);
        let before: Vec<u64> = (0..flows.len()).map(|f| network.delivered(f)).collect();
        network.run_until(SECONDS);
        for (f, rate) in total.iter_mut().enumerate() {
            *rate += (network.delivered(f) - before[f]) as f64 * 8e-6 / (SECONDS - 10.0) / seeds as f64;
        }
    }
    total
}

const LINK: Bottleneck = Bottleneck { mbps: 10.0, queue: 50 };

/// Goal 2, do no harm: over a shared bottleneck two coupled subflows take what one TCP would, uncoupled ones about two.
#[test]
fn it_takes_one_share_of_a_shared_bottleneck() {
    let share = |cc: &str| {
        let both = [way(0, 50), way(0, 50)];
        let tcp: &[Way] = &[way(0, 50)];
        let rates = rates(5, &[LINK], &[(cc, &both), ("reno", tcp), ("reno", tcp), ("reno", tcp)]);
        println!("{cc}: {rates:.2?}");
        rates[0] / (rates[1..].iter().sum::<f64>() / 3.0)
    };
    let (coupled, uncoupled) = (share("lia"), share("reno"));
    assert!((0.6..1.2).contains(&coupled), "{coupled:.2} shares");
    assert!(uncoupled > 1.6, "{uncoupled:.2} shares");
}

/// Goal 1, improve throughput: as much as TCP in its place would get on the best of its paths.
#[test]
fn it_is_as_fast_as_tcp_on_the_best_path() {
    let (near, far): (&[Way], &[Way]) = (&[way(0, 20)], &[way(1, 100)]);
    let links = [LINK, Bottleneck { mbps: 4.0, queue: 30 }];
    let rest = [("reno", near), ("reno", far)];
    let with = |cc, ways| rates(5, &links, &[(cc, ways), rest[0], rest[1]])[0];
    let best = f64::max(with("reno", near), with("reno", far));
    let ours = with("lia", &[way(0, 20), way(1, 100)]);
    println!("best {best:.2}, ours {ours:.2}");
    assert!(ours > 0.95 * best, "{ours:.2} Mbit/s, TCP {best:.2}");
}

/// Goal 3, balance congestion: less of it goes over the congested link than of uncoupled subflows.
#[test]
fn it_moves_away_from_congestion() {
    let crowded = |cc: &str| {
        let (a, b): (&[Way], &[Way]) = (&[way(0, 50)], &[way(1, 50)]);
        let mut shares = 0.0;
        for seed in 1..=5 {
            let mut network = Network::new(seed, &[LINK, LINK]);
            for (i, ways) in [&[way(0, 50), way(1, 50)], a, b, b, b, b, b].into_iter().enumerate() {
                let start = network.draw(&format!("start {i}"), 1.0);
                network.add(if i == 0 { cc } else { "reno" }, &config(), start, ways);
            }
            network.run_until(SECONDS);
            let sent = [0, 1].map(|s| network.flows[0].sender.stats(s).bytes_acked as f64);
            shares += sent[1] / (sent[0] + sent[1]) / 5.0;
        }
        shares
    };
    let (coupled, uncoupled) = (crowded("lia"), crowded("reno"));
    println!("coupled {coupled:.3}, uncoupled {uncoupled:.3}");
    // Two and six flows a link: uncoupled 1/6 to 1/2 of it, a quarter.
    assert!((0.2..0.35).contains(&uncoupled), "{uncoupled:.3}");
    assert!(coupled < 0.7 * uncoupled, "{coupled:.3} over the congested link, uncoupled {uncoupled:.3}");
}
