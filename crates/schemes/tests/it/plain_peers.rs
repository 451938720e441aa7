//! Every preset with peers that do not know it: they implement RFC 9260 and skip unknown chunks. Data arrive unchanged
//! in both directions, and a scheme that depends on reports of the peer has a diagnostic without them.

use std::sync::Arc;

use strandcast_proto::association::SendOptions;
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::{Spec, parse_spec, presets};
use strandcast_testing::endpoints;
use strandcast_testing::endpoints::{CLIENT, TestPair, ms, pattern};
use strandcast_testing::interop::dcsctp::Dcsctp;
use strandcast_testing::interop::scenarios::{BOTH, close, exchange};
use strandcast_testing::interop::sctp_proto::SctpProto;
use strandcast_testing::interop::{Foreign, OurEnd, Pair};
use strandcast_testing::recording;
use strandcast_testing::recording::RecordingScheme;

fn ours(spec: &Spec) -> OurEnd {
    let mut ours = OurEnd::default();
    spec.tune(&mut ours.transport);
    let spec = spec.clone();
    ours.scheme = Arc::new(move |seeds: &Seeds| spec.build(seeds));
    ours
}

fn diagnostics<F: Foreign>(p: &Pair<F>) -> Vec<&'static str> {
    let association = p.id.and_then(|id| p.ours.association(id));
    association.expect("an association").diagnostics(p.now)
}

/// Returns whether the scheme sends something to a peer of its own kind.
fn needs_reports(spec: &Spec) -> bool {
    let (said, recorded) = (recording::Tally::default(), spec.clone());
    let tally = said.clone();
    let accept = Arc::new(move |seeds: &Seeds| RecordingScheme::boxed(recorded.build(seeds), tally.clone()));
    let mut transport = endpoints::config();
    spec.tune(&mut transport);
    let mut w = TestPair::with(&[10, 20], [transport.clone(), transport], accept, 3);
    w.connect_with(RecordingScheme::boxed(spec.build(&Seeds::new(3, 0)), said.clone()));
    w.run(ms(2000));
    for i in 0..100 {
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
        w.run(ms(10));
    }
    w.run(ms(5000));
    said.reports() > 0
}

fn delivers_both_ways<F: Foreign>() {
    for preset in presets() {
        let spec = parse_spec(preset.name).expect("a preset");
        let needs = needs_reports(&spec) || spec.build(&Seeds::new(1, 0)).hears_arrivals();
        for (seed, by) in BOTH.into_iter().enumerate() {
            for loss in [0.0, 0.05] {
                let title = format!("{}, opened by {by:?}", preset.name);
                let mut p = Pair::<F>::with(ours(&spec), &title, seed as u64 + 1, loss);
                exchange(&mut p, by, seed as u64, 50_000);
                let says = diagnostics(&p);
                assert!(!needs || says.iter().any(|s| s.contains("REPORT")), "{title}: {says:?}");
                close(&mut p, by);
            }
        }
    }
}

#[test]
fn every_preset_talks_with_dcsctp() {
    delivers_both_ways::<Dcsctp>();
}

#[test]
fn every_preset_talks_with_sctp_proto() {
    delivers_both_ways::<SctpProto>();
}

/// Two Strandcast peers never miss REPORT.
#[test]
fn nothing_is_said_of_reports_to_a_strandcast_peer() {
    for preset in presets() {
        let mut transport = endpoints::config();
        let spec = parse_spec(preset.name).expect("a preset");
        spec.tune(&mut transport);
        let accepted = spec.clone();
        let accept = Arc::new(move |seeds: &Seeds| accepted.build(seeds));
        let mut w = TestPair::with(&[10, 20], [transport.clone(), transport], accept, 3);
        w.connect_with(spec.build(&Seeds::new(3, 0)));
        w.run(ms(2000));
        let says = w.association(CLIENT).diagnostics(w.now);
        assert!(says.iter().all(|s| !s.contains("REPORT")), "{}: {says:?}", preset.name);
    }
}
