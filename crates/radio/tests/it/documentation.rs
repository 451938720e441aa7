//! The tables of docs/models/radio.md: differences between the profiles, and their size.
//!
//! `UPDATE_DOCS=1 cargo test -p strandcast-radio --test it documentation` writes them.

use std::path::Path;
use std::{env, fs};

use strandcast_keys::Keyed as _;
use strandcast_radio::{Profile, RadioConfig, StationId};
use strandcast_testing::radio::{Net, circle, to};

const PROFILES: [Profile; 3] = [Profile::Ns2, Profile::Standard, Profile::Ns3];

/// Keys whose values differ between profiles.
fn differences() -> String {
    let configs = PROFILES.map(RadioConfig::of);
    let mut table = String::from("| key | `ns2` | `standard` | `ns3` |\n|---|---|---|---|\n");
    for key in configs[0].keys() {
        let values: Vec<String> = configs.iter().filter_map(|c| c.get(key.name)).collect();
        if values.iter().any(|value| *value != values[0]) {
            let name = key.name.replace('-', "_");
            table += &format!("| `{name}`: {} | {} |\n", key.summary, values.join(" | "));
        }
    }
    table
}

/// Mbit/s of 1040 bytes at IP level from `n` saturated stations to another, all in range, over 30 s, and the
/// fraction of frames that got no answer.
fn saturation(profile: Profile, n: u32, threshold: u32) -> String {
    let mut config = RadioConfig::of(profile);
    config.dcf.rts_threshold = threshold;
    let mut net = Net::new(&config, &circle(n as usize + 1, 50.0), 7);
    net.keep_log = false;
    for i in 0..n {
        net.saturate(i, to(n), 1040);
    }
    net.run(1.0);
    let before = net.received[n as usize];
    net.run(30.0);
    let rate = (net.received[n as usize] - before) as f64 * 8320.0 / 30e6;
    let (mut asked, mut vain) = (0, 0);
    for station in 0..n {
        let counters = net.radio.counters(net.now, StationId(station));
        asked += counters.rts + counters.data;
        vain += counters.retries;
    }
    format!("{rate:.2} ({:.0} %)", 100.0 * vain as f64 / asked as f64)
}

fn throughput() -> String {
    let mut table =
        String::from("| senders | exchange | `ns2` | `standard` | `ns3` |\n|---:|---|---:|---:|---:|\n");
    for (threshold, exchange) in [(0, "RTS, CTS"), (100_000, "data, ACK")] {
        for n in [1, 2, 10, 40] {
            let cells: Vec<String> = PROFILES.iter().map(|p| saturation(*p, n, threshold)).collect();
            table += &format!("| {n} | {exchange} | {} |\n", cells.join(" | "));
        }
    }
    table
}

#[test]
fn the_tables_are_what_the_code_gives() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models/radio.md");
    let text = fs::read_to_string(&file).expect("the page is there");
    let mut wanted = text.clone();
    for (name, table) in [("differences", differences()), ("throughput", throughput())] {
        let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
        let (from, until) = (wanted.find(&begin).expect("begin"), wanted.find(&end).expect("end"));
        wanted.replace_range(from + begin.len()..until, &format!("\n{table}\n"));
    }
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &wanted).expect("it can be written");
    } else {
        assert_eq!(text, wanted, "UPDATE_DOCS=1 cargo test -p strandcast-radio --test it documentation");
    }
}
