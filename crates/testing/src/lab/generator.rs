//! Random networks as scenario files. Each depends only on (generator seed, number).
//!
//! The random numbers come from `Seeds::new(seed, 0).child("random networks").stream("network N")`, with N from 0 on.
//! The random numbers are drawn in this order:
//!
//! | what | how it is drawn |
//! |---|---|
//! | paths | 2 to 5, each as likely |
//! | rate of each | 0.2 to 50 Mbit/s, uniform in its logarithm; the same back |
//! | delay of each, one way | 1 to 400 ms, uniform in its logarithm; the same back |
//! | queue of each | 5 to 300 packets, uniform in its logarithm; the same back |
//! | loss of each, on the way out | a quarter of the links lose nothing; the mean loss of the others is 0.01 to 15 %, uniform in its logarithm |
//! | kind of loss | two in three of these links lose packets independently; the others have a chain by time (Gilbert-Elliott) that loses half of the packets in fades of 20 to 200 ms on average (uniform in the logarithm) |

use core::fmt::Write as _;

use strandcast_proto::seeds::{Random, Seeds};

/// Name of the flow in every network.
pub const FLOW: &str = "bulk";

/// Draws a number between `low` and `high` whose logarithm is uniformly distributed.
fn log_uniform(draw: &mut Random, low: f64, high: f64) -> f64 {
    low * libm::exp(draw.unit() * libm::log(high / low))
}

/// Returns the lines that describe a link's loss. The lines are empty if the link has no loss.
fn loss(draw: &mut Random) -> String {
    // All are drawn for every link, so that no draw depends on another.
    let (lossless, fades) = (draw.chance(0.25), draw.chance(1.0 / 3.0));
    let mean = log_uniform(draw, 1e-4, 0.15);
    let bad_s = log_uniform(draw, 0.02, 0.2);
    if lossless {
        String::new()
    } else if fades {
        let good_s = bad_s * (0.5 / mean - 1.0);
        format!(
            "loss.markov = {{ by = \"time\", good = \"{good_s:.4} s\", bad = \"{bad_s:.4} s\", loss_bad = 0.5 }}\n"
        )
    } else {
        format!("loss.uniform.rate = \"{:.3} %\"\n", mean * 100.0)
    }
}

/// Returns network `number` of the generator seed `seed`. The network has one bulk flow over all paths `a`, `b` and so
/// on, in profile `live`. The flow lasts `time_s` seconds, of which the first `warmup_s` do not count.
pub fn network(seed: u64, number: u64, time_s: f64, warmup_s: f64) -> String {
    let mut draw = Seeds::new(seed, 0).child("random networks").stream(&format!("network {number}"));
    let paths = 2 + draw.below(4) as usize;
    let names = &["a", "b", "c", "d", "e"][..paths];
    let mut text = format!(
        "title = \"Random network {number} of generator seed {seed}\"\n\
         run = {{ time = \"{time_s} s\", warmup = \"{warmup_s} s\" }}\n\
         nodes = {{ sender = {{}}, receiver = {{}} }}\n"
    );
    for name in names {
        let rate = log_uniform(&mut draw, 0.2, 50.0);
        let delay = log_uniform(&mut draw, 1.0, 400.0);
        let queue = log_uniform(&mut draw, 5.0, 300.0).round();
        let _ = write!(
            text,
            "[links.{name}]\nfrom = \"sender\"\nto = \"receiver\"\nrate = \"{rate:.3} Mbit/s\"\n\
             delay = \"{delay:.2} ms\"\nqueue.limit = \"{queue} packets\"\n{}",
            loss(&mut draw)
        );
    }
    let via: Vec<String> = names.iter().map(|name| format!("{name}.via = [\"{name}\"]")).collect();
    let _ = write!(
        text,
        "[flows.{FLOW}]\nfrom = \"sender\"\nto = \"receiver\"\nprofile = \"live\"\ncompare = true\npaths = {{ {} }}\n",
        via.join(", ")
    );
    text
}
