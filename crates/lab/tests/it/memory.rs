//! Memory does not grow with simulated time.

use core::time::Duration;

use allocation_counter::measure;
use strandcast_lab::scenario::*;
use strandcast_testing::lab::*;

/// Most heap that a run of `minutes` minutes holds at once.
fn most_bytes(transport: Transport, minutes: u64) -> u64 {
    let links = [("l1", link("a", "b", 300e3, 0.02, 20)), ("l2", link("a", "b", 300e3, 0.05, 20))];
    let mut flow = flow(transport, App::Bulk { size: 1400 }, &[&["l1"], &["l2"]]);
    if let Transport::Tcp { .. } = flow.transport {
        flow.paths.remove("p1");
    }
    let mut scenario = scenario(&links, vec![("x", flow)]);
    for link in scenario.links.values_mut() {
        link.forward.loss.insert("u".into(), Loss::Uniform { rate: Number::Constant(0.01) });
    }
    scenario.run.time = Duration::from_secs(minutes * 60);
    let used = measure(|| {
        run(&scenario, 1);
    });
    used.bytes_max
}

fn ten_times_as_long(minutes: u64) {
    for transport in [sctp("cmt"), tcp("cubic"), mptcp("lia")] {
        let (one, ten) =
            (most_bytes(transport.clone(), minutes), most_bytes(transport.clone(), 10 * minutes));
        // A rarer run of losses may make a ring a size larger.
        assert!(
            ten < one * 5 / 4 + 65_536,
            "{transport:?}: {one} bytes in {minutes} minutes, {ten} in ten times as long"
        );
    }
}

#[test]
fn an_hour_takes_no_more_memory_than_six_minutes() {
    ten_times_as_long(6);
}

mod thorough {
    #[test]
    fn ten_hours_take_no_more_memory_than_one() {
        super::ten_times_as_long(60);
    }
}

/// Most heap that a grid of 25 stations holds at once, with four TCP connections for `minutes` minutes.
fn most_bytes_of_radio(routing: &str, minutes: u64) -> u64 {
    let text = format!(
        "[run]\ntime = \"{minutes} min\"\n[radio.air]\nrouting = \"{routing}\"\n\
         place = {{ columns = 5, rows = 5, spacing = \"200 m\" }}\n\
         [flows.tcp]\ntransport = \"tcp\"\nends = \"random\"\ncount = 4\n"
    );
    let scenario = parse(&text, "net.toml", std::path::Path::new(""), &[]).unwrap();
    let used = measure(|| {
        run(&scenario, 1);
    });
    used.bytes_max
}

#[test]
fn ten_minutes_of_radio_take_no_more_memory_than_one() {
    for routing in ["aodv", "qaomdv,split=mpr"] {
        let (one, ten) = (most_bytes_of_radio(routing, 1), most_bytes_of_radio(routing, 10));
        // Routes that packets took are kept, at most one per second and connection.
        assert!(
            ten < one * 5 / 4 + 65_536 + 4 * 600 * 512,
            "{routing}: {one} bytes in a minute, {ten} in ten"
        );
    }
}
