//! Repair symbols and coded blocks, as their users see them.

use std::time::Duration;

use serde_json::Value;
use strandcast_net::emulate::Relay;
use strandcast_netem::link::LinkConfig;
use strandcast_netem::loss::LossModel;
use strandcast_netem::number::Number;

use crate::common::link::link;
use crate::common::{file, port, run, seconds, start};

/// A link to `server` of 40 ms one-way delay in both directions that loses every twentieth packet to the server.
fn lossy(server: u16) -> Relay {
    let back = LinkConfig { delay: Number::from(Duration::from_millis(40)), ..LinkConfig::default() };
    let losses = vec![LossModel::Uniform { p: Number::from(0.05) }];
    link(server, LinkConfig { losses, ..back.clone() }, back)
}

/// Nothing can be sent again within 100 ms of 40 ms there, 40 ms back and 40 ms there: what comes of what was lost was recovered.
#[test]
fn both_ends_tell_what_repair_brought_and_cost() {
    let port = port();
    let relay = lossy(port);
    let (out, stats) = (file("repaired.ts"), file("repair.jsonl"));
    let receiver = start(&format!(
        "receive 127.0.0.1:{port} {} --once --json --stats={}",
        out.display(),
        stats.display()
    ));
    receiver.says("listening");
    let (input, _) = seconds(4, "repair-in.ts");
    let scheme = "bond,fec=rlc,fec-when=always,redundancy=30%";
    let sender = run(&format!(
        "send {} {} --latency 100 --scheme {scheme} --json",
        input.display(),
        relay.local_addr()
    ));
    sender.succeeds();
    let receiver = receiver.end();
    receiver.succeeds();
    let (sent, got) = (sender.json(), receiver.json());
    let number = |json: &Value, key: &str| json[key].as_u64().unwrap_or_else(|| panic!("{key}: {json}"));
    let (mine, theirs) = (&sent["coding"], &got["coding"]);
    assert_eq!((&mine["sends"], &theirs["receives"]), (&"repair".into(), &"repair".into()), "{sent} {got}");
    assert_eq!((&theirs["sends"], &theirs["allowed"]), (&Value::Null, &Value::Null));
    let redundancy = mine["redundancy"].as_f64().unwrap();
    assert!(redundancy > 0.0 && redundancy <= 0.3 && mine["allowed"] == 0.3, "{mine}");
    assert_eq!((number(mine, "repairs_received"), number(theirs, "repairs_sent")), (0, 0));
    // About 440 messages, of which some 22 are lost.
    let recovered = number(theirs, "recovered");
    assert!(recovered >= 3 && number(theirs, "repairs_received") <= number(mine, "repairs_sent"), "{got}");
    let missing = number(&got, "late") + number(&got, "lost");
    assert_eq!(number(&got, "played") + missing, number(&sent, "messages"), "{sent} {got}");
    // Recovered messages arrived by no path.
    assert!(
        number(theirs, "sources_received") - number(theirs, "sources_late") + recovered
            <= number(&sent, "messages")
    );
    assert!(
        sender.err.contains("\nrepair: ") && sender.err.contains(" % of 30.0 % allowed)"),
        "{}",
        sender.err
    );
    assert!(
        receiver.err.contains(&format!("\nrepair: {recovered} packets recovered by ")),
        "{}",
        receiver.err
    );
    assert!(!sender.err.contains(" dropped: "), "losses are not a lack of rate: {}", sender.err);
    let lines = std::fs::read_to_string(&stats).unwrap();
    assert!(
        lines.lines().any(|line| line.contains("\"coding\":{\"sends\":null,\"receives\":\"repair\"")),
        "{lines}"
    );
}

#[test]
fn nothing_is_said_of_coding_where_nothing_is_coded() {
    let (port, out) = (port(), file("plain.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once --json", out.display()));
    receiver.says("listening");
    let (input, _) = seconds(1, "plain-in.ts");
    let sender = run(&format!("send {} 127.0.0.1:{port} --latency 200 --json", input.display()));
    let receiver = receiver.end();
    for ended in [&sender, &receiver] {
        ended.succeeds();
        assert!(ended.json().get("coding").is_none() && !ended.err.contains("repair:"), "{}", ended.err);
    }
}

#[test]
fn bulk_data_in_coded_blocks() {
    let port = port();
    let server = start(&format!("perf server 127.0.0.1:{port} --once"));
    server.says("listening");
    let client = run(&format!("perf client 127.0.0.1:{port} --time 1 --scheme fmtcp --json"));
    client.succeeds();
    let server = server.end();
    server.succeeds();
    let json = client.json();
    let coding = &json["end"]["coding"];
    assert_eq!((&coding["sends"], &coding["allowed"]), (&"blocks".into(), &Value::Null), "{json}");
    let (bytes, symbols) = (&json["end"]["sum_received"]["bytes"], &coding["repair_bytes"]);
    // A fountain: k symbols and some more for each block of k.
    let overhead = symbols.as_f64().unwrap() / bytes.as_f64().unwrap();
    assert!((1.0..1.5).contains(&overhead), "{overhead}: {json}");
    assert!(client.err.contains("\ncoding: 0 source symbols, "), "{}", client.err);
    assert!(server.err.contains("source symbols recovered by "), "{}", server.err);
}

#[test]
fn mistakes_in_coding_are_one_line() {
    for (scheme, words) in [
        ("bond,fec=foo", ["fec can't be 'foo'", "off, rlc, raptorq, rs"]),
        ("bond,fec=rlc,redundancy=500%", ["redundancy can't be '500%'", "0.1 to 50 %"]),
        ("bond,fec=rlc,fec-when=now", ["fec-when can't be 'now'", "always, late"]),
        ("fmtcp,fec=rlc", ["fec", "fmtcp"]),
    ] {
        run(&format!("perf client 127.0.0.1 --scheme {scheme}")).fails(2, &words);
    }
}
