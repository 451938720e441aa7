//! Networks with names. Each consists of paths between a sender and a receiver.

use core::time::Duration;

use crate::link::{LinkConfig, Queue, Rate};
use crate::loss::LossModel;

/// Queue limit of every link in this module, in packets.
const QUEUE_PACKETS: usize = 50;
/// Mean burst length of the paper's Markov loss, in packets. ASSUMED: the value of the mean burst length, because the
/// paper gives only the loss rate.
const XU2015_MEAN_BURST: f64 = 3.0;

/// One path of a network, with one link in each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct PathNetwork {
    /// Name of the path in tables and in configurations.
    pub name: String,
    /// Link from the sender of media to the receiver.
    pub forward: LinkConfig,
    /// Link from the receiver of media to the sender.
    pub reverse: LinkConfig,
}

impl PathNetwork {
    /// Returns the path without random loss.
    pub fn lossless(self) -> Self {
        PathNetwork { forward: self.forward.lossless(), reverse: self.reverse.lossless(), ..self }
    }
}

/// Returns the network of a reporter in the field with three uplinks: `wifi`, `lte`, `lte-weak`. A single uplink cannot
/// carry 1 Mbit/s of video, and any two uplinks can. Each uplink has equal links in both directions.
pub fn field() -> Vec<PathNetwork> {
    let path = |name: &str, rate_kbps, delay_ms, loss| {
        let link = link(rate_kbps, delay_ms, vec![loss]);
        PathNetwork { name: name.to_owned(), forward: link.clone(), reverse: link }
    };
    vec![
        path("wifi", 900, 15, LossModel::uniform(0.005)),
        path("lte", 800, 45, LossModel::uniform(0.002)),
        path("lte-weak", 500, 120, LossModel::bursts(0.02, 5.0)),
    ]
}

/// Returns the three paths of Table II in Xu et al. (2015): `umts` (WCDMA), `wimax` (IEEE 802.16), `wlan` (IEEE
/// 802.11), each with uniform and Markov loss.
///
/// ASSUMED: the access delay is the middle of the 10-20 ms in Xu et al., in addition to the core's 100 or 50 ms.
/// Uniform loss, for which Xu et al. give ranges, is 1 % on `wimax` and 5 % on `wlan`. Only the direction of the data
/// has loss, as with an error model on the sender's access link. Differs: the queue of `umts` has 50 packets, as the
/// other queues have (Table II: 80).
pub fn xu2015() -> Vec<PathNetwork> {
    let path = |name: &str, rate_kbps, delay_ms, p| {
        let losses = vec![LossModel::uniform(p), LossModel::bursts(0.01, XU2015_MEAN_BURST)];
        let forward = link(rate_kbps, delay_ms, losses);
        PathNetwork { name: name.to_owned(), reverse: forward.clone().lossless(), forward }
    };
    vec![path("umts", 384, 115, 0.02), path("wimax", 10_000, 65, 0.01), path("wlan", 2_000, 65, 0.05)]
}

fn link(rate_kbps: u64, delay_ms: u64, losses: Vec<LossModel>) -> LinkConfig {
    LinkConfig {
        rate: Rate::Constant(rate_kbps * 1000),
        delay: Duration::from_millis(delay_ms).into(),
        queue: Queue::packets(QUEUE_PACKETS),
        losses,
        ..LinkConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_lose_what_they_say() {
        let expect = |paths: Vec<PathNetwork>, expected: [(&str, f64, f64); 3]| {
            for (path, (name, forward, reverse)) in paths.into_iter().zip(expected) {
                assert_eq!(path.name, name);
                for (link, loss) in [(&path.forward, forward), (&path.reverse, reverse)] {
                    assert_eq!(link.validate(), Ok(()), "{name}");
                    assert!((link.mean_loss() - loss).abs() < 1e-12, "{name}");
                }
                assert_eq!(path.lossless().forward.mean_loss(), 0.0, "{name}");
            }
        };
        expect(field(), [("wifi", 0.005, 0.005), ("lte", 0.002, 0.002), ("lte-weak", 0.02, 0.02)]);
        let both = |p: f64| 1.0 - (1.0 - p) * 0.99;
        expect(xu2015(), [("umts", both(0.02), 0.0), ("wimax", both(0.01), 0.0), ("wlan", both(0.05), 0.0)]);
    }

    #[test]
    fn no_path_of_the_field_carries_a_megabit_and_any_two_do() {
        let rates: Vec<f64> = field().iter().filter_map(|path| path.forward.rate.mean_bps()).collect();
        assert!(rates.iter().all(|&rate| rate < 1e6));
        for without in 0..rates.len() {
            assert!(rates.iter().sum::<f64>() - rates[without] > 1e6, "without path {without}");
        }
    }
}
