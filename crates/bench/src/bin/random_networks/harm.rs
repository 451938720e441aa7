//! Test whether a scheme does harm. Its bars are those of `docs/measurements/live.md`, which were fixed before any run.

use strandcast_lab::scenario::{LinkRate, Loss, Number, Scenario};
use strandcast_proto::config::TransportConfig;

use strandcast_testing::lab::contest::PAYLOAD_SHARE;

/// The least share of the best path alone, which [`MANY`] of the networks have to reach.
const GOOD: f64 = 0.98;
/// The share of networks that reach [`GOOD`].
const MANY: f64 = 0.98;
/// The least share of the best path alone in any network.
const LEAST: f64 = 0.9;
/// The least median share of the ideal.
const OF_IDEAL: f64 = 0.95;

/// Most that all paths of a network carry, in bit/s of payload: the sum of the rates, without losses and headers, of
/// the paths whose data a receive buffer can hold. In order, a buffer of B bytes carries at most B per round trip of
/// the slowest path in use. The best set of paths therefore consists of all paths whose round-trip time is at most
/// that of some path.
pub fn ideal_bps(network: &Scenario, flow: &str) -> f64 {
    let mut paths: Vec<(f64, f64)> =
        network.flows[flow].paths.values().map(|path| of(network, &path.via)).collect();
    paths.sort_by(|a, b| a.0.total_cmp(&b.0));
    let buffer = TransportConfig::live().buffer_limit.unwrap_or(usize::MAX) as f64 * 8.0;
    let mut sum = 0.0;
    let sets = paths.into_iter().map(|(round_trip_s, bps)| {
        sum += bps;
        f64::min(sum, buffer / round_trip_s)
    });
    sets.fold(0.0, f64::max)
}

/// Least round-trip time of a path in seconds, and its maximum rate.
fn of(network: &Scenario, via: &[String]) -> (f64, f64) {
    let links = via.iter().map(|link| &network.links[link]);
    links.fold((0.0, f64::INFINITY), |(round_trip_s, bps), link| {
        let rate = match link.forward.rate {
            LinkRate::Number(Number::Constant(rate)) => rate,
            _ => f64::INFINITY,
        };
        let kept: f64 = link.forward.loss.values().map(|loss| 1.0 - mean_loss(loss)).product();
        let delay = constant(&link.forward.delay) + constant(&link.reverse.delay);
        (round_trip_s + delay, bps.min(rate * kept * PAYLOAD_SHARE))
    })
}

/// The share of packets lost, of the models that the generator draws.
fn mean_loss(loss: &Loss) -> f64 {
    match loss {
        Loss::Uniform { rate } => constant(rate),
        Loss::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => {
            let (good, bad) = (mean_good.as_secs_f64(), mean_bad.as_secs_f64());
            (good * loss_good + bad * loss_bad) / (good + bad)
        }
        _ => 0.0,
    }
}

fn constant(number: &Number) -> f64 {
    match number {
        Number::Constant(value) => *value,
        _ => 0.0,
    }
}

/// Returns whether the shares of the best path alone and of the ideal reach their bounds, and prints them.
pub fn verdict(mut of_best: Vec<f64>, mut of_ideal: Vec<f64>) -> bool {
    of_best.sort_by(f64::total_cmp);
    of_ideal.sort_by(f64::total_cmp);
    let networks = of_best.len();
    let enough = of_best.iter().filter(|ratio| **ratio >= GOOD).count();
    let (least, median) = (of_best[0], of_ideal[(networks - 1) / 2]);
    let good = [enough as f64 >= networks as f64 * MANY, least >= LEAST, median >= OF_IDEAL];
    let word = |met: bool| if met { "met" } else { "MISSED" };
    println!(
        "{enough} of {networks} networks at {GOOD} of the best path alone or above ({MANY} asked): {}",
        word(good[0])
    );
    println!("the least {least:.3} ({LEAST} asked): {}", word(good[1]));
    println!("median share of the ideal {median:.3} ({OF_IDEAL} asked): {}", word(good[2]));
    good.iter().all(|met| *met)
}
