//! Whatever the network does, every preset delivers reliable messages once, unchanged and in order.

#[path = "../../proto/tests/adversary/mod.rs"]
mod adversary;
#[path = "../../proto/tests/common/mod.rs"]
mod common;

use adversary::{Kind, Make, Tune, holds};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::parse_spec;

fn make(spec: &str) -> Box<dyn Scheme> {
    parse_spec(spec).expect("a preset").build(&Seeds::new(1, 0))
}

fn tune(spec: &str, config: &mut TransportConfig) {
    parse_spec(spec).expect("a preset").tune(config);
}

fn check(name: &str, make: Make, tune: Tune) {
    for kind in [Kind::Plain, Kind::PotentiallyFailed, Kind::SmallBuffers] {
        holds(&format!("-p strandcast-schemes --test properties {name}"), kind, 250, make, tune);
    }
}

/// A test for each spec.
macro_rules! presets {
    ($($name:ident: $spec:literal,)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), || make($spec), |config| tune($spec, config));
        }
    )*};
}

presets! {
    sctp: "sctp",
    cmt: "cmt",
    cmt_retransmits_on_the_same_path: "cmt,rtx=same",
    cmt_retransmits_as_soon_as_possible: "cmt,rtx=asap",
    cmt_retransmits_by_ssthresh: "cmt,rtx=ssthresh",
    cmt_retransmits_by_loss_rate: "cmt,rtx=lossrate",
    lia: "lia",
    redundant: "redundant",
    cmt_la: "cmt-la",
}

#[test]
fn no_preset_is_left_out() {
    let covered = ["sctp", "cmt", "lia", "redundant", "cmt-la"];
    let all: Vec<&str> = strandcast_schemes::presets().iter().map(|p| p.name).collect();
    assert_eq!(all, covered);
}
