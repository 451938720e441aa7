//! Profile `ns2` compared with ns-2.35: the MAC alone, each flow to a neighbour, on networks with hidden and
//! exposed stations. `ns2/run.py` made the results of ns-2.

use strandcast_radio::RadioConfig;
use strandcast_testing::radio::{Net, to};

fn pairs(text: &str) -> Vec<(f64, f64)> {
    let number = |text: &str| text.parse().expect("a number");
    let pair = |text: &str| text.split_once(',').map(|(a, b)| (number(a), number(b))).expect("a pair");
    text.split(';').map(pair).collect()
}

/// Mean over runs, by flow.
fn mean(runs: &[Vec<f64>]) -> Vec<f64> {
    (0..runs[0].len()).map(|i| runs.iter().map(|run| run[i]).sum::<f64>() / runs.len() as f64).collect()
}

/// Packets per second of each flow.
fn ours(places: &[(f64, f64)], flows: &[(f64, f64)], seed: u64) -> Vec<f64> {
    let mut net = Net::new(&RadioConfig::default(), places, seed);
    net.keep_log = false;
    for &(from, station) in flows {
        net.saturate(from as u32, to(station as u32), 1040);
    }
    net.run(5.0);
    let sent =
        |net: &Net| -> Vec<u64> { flows.iter().map(|flow| net.acknowledged[flow.0 as usize]).collect() };
    let before = sent(&net);
    net.run(50.0);
    sent(&net).iter().zip(before).map(|(after, before)| (after - before) as f64 / 50.0).collect()
}

/// Spearman's rank correlation; flows with equal rates keep their order.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|i, j| values[*i].total_cmp(&values[*j]));
        let mut ranks = vec![0.0; values.len()];
        order.iter().enumerate().for_each(|(rank, i)| ranks[*i] = rank as f64);
        ranks
    };
    let n = a.len() as f64;
    let squares: f64 = ranks(a).iter().zip(ranks(b)).map(|(x, y)| (x - y) * (x - y)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

#[test]
fn flows_between_neighbours_get_what_they_get_in_ns2() {
    let (networks, results) = (include_str!("ns2/networks.txt"), include_str!("ns2/results.txt"));
    let mut ratios = Vec::new();
    for (network, result) in networks.lines().zip(results.lines()) {
        let parts: Vec<&str> = network.split('|').collect();
        let (places, flows) = (pairs(parts[1]), pairs(parts[2]));
        let (name, runs) = result.split_once('|').expect("a name");
        assert_eq!(name, parts[0]);
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let ns2: Vec<Vec<f64>> = runs.split(';').map(|run| run.split(',').map(number).collect()).collect();
        let ns2 = mean(&ns2);
        let ours = mean(&(1..=3).map(|seed| ours(&places, &flows, seed)).collect::<Vec<_>>());
        let ratio = ours.iter().sum::<f64>() / ns2.iter().sum::<f64>();
        let rank = rank_correlation(&ns2, &ours);
        println!(
            "{name}: {:.1} packets per second, ratio {ratio:.4}, rank {rank:.3}",
            ours.iter().sum::<f64>()
        );
        assert!((0.97..1.03).contains(&ratio), "{name}: {ours:?}, ns-2 {ns2:?}");
        // All flows of "ten" have equal rates except for chance.
        assert!(flows.len() < 10 || name == "ten" || rank > 0.95, "{name}: {ours:?}, ns-2 {ns2:?}");
        ratios.push(ratio);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    println!("mean ratio {mean:.4}");
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
}
