//! `strandcast simulate`: results are independent of the number of threads, and kept when it ends early.

use std::path::Path;

use bytes::Bytes;
use nix::sys::signal::Signal;
use serde_json::Value;
use strandcast_proto::wire::Packet;

use crate::common::{captured, file, run, start};
use crate::scenarios::{TWO_PATHS, folder, scenario};

/// The JSON without machine-dependent values.
fn without_speed(mut json: Value) -> String {
    let speed = json.as_object_mut().expect("an object").remove("speed").expect("there is a speed");
    assert!(speed["packet_hops_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{speed}");
    json.to_string()
}

#[test]
fn results_do_not_depend_on_threads() {
    let file = scenario("threads.toml", TWO_PATHS);
    let simulate = |jobs: u32| {
        let ended = run(&format!(
            "simulate {} --scheme cmt,rtx=same,sctp --runs 3 --jobs {jobs} --json",
            file.display()
        ));
        ended.succeeds();
        without_speed(ended.json())
    };
    assert_eq!(simulate(1), simulate(2));
}

#[test]
fn json_has_the_documented_keys() {
    let file = scenario("json.toml", TWO_PATHS);
    let ended = run(&format!(
        "simulate {} --scheme cmt,rtx=same,sctp --runs 2 --seed 7 --json --set links.x.loss.uniform.rate=0.02",
        file.display()
    ));
    ended.succeeds();
    let json = ended.json();
    assert_eq!(json["schema"], "strandcast-result-1");
    assert_eq!(json["scenario"]["title"], "two paths");
    assert_eq!(json["scenario"]["set"], serde_json::json!(["links.x.loss.uniform.rate=0.02"]));
    assert_eq!(json["scenario"]["profiles"], serde_json::json!({ "data": "rfc" }));
    assert_eq!(json["scenario"]["hash"].as_str().map(str::len), Some(64));
    assert_eq!(json["seed"], 7);
    let runs: Vec<(&str, u64)> = json["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| (run["scheme"].as_str().expect("a word"), run["seed"].as_u64().expect("a number")))
        .collect();
    assert_eq!(runs, [("cmt,rtx=same", 7), ("cmt,rtx=same", 8), ("sctp", 7), ("sctp", 8)]);
    for pointer in [
        "/flows/data/sctp/goodput_bps/mean",
        "/flows/data/cmt,rtx=same/paths/x/goodput_bps/ci95",
        "/links/x/forward/sctp/utilisation/n",
        "/paired/cmt,rtx=same-sctp/data/goodput_bps/mean",
        "/speed/packet_hops_per_s",
    ] {
        assert!(json.pointer(pointer).is_some_and(Value::is_number), "{pointer}: {json:#}");
    }
    // Two paths carry more than one, seed by seed.
    assert!(json["paired"]["cmt,rtx=same-sctp"]["data"]["goodput_bps"]["mean"].as_f64() > Some(0.0));
}

#[test]
fn the_terminal_gets_a_table_and_folders_get_files() {
    let (file, out) = (scenario("files.toml", TWO_PATHS), folder("files"));
    let command = format!("simulate {} --out {} --csv --series 500ms", file.display(), out.display());
    let ended = run(&command);
    ended.succeeds();
    let table = String::from_utf8(ended.out).expect("text");
    assert!(table.starts_with("two paths") && table.contains("goodput"), "{table}");
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(text("runs.csv").contains("goodput_bps") && text("summary.csv").contains("goodput_bps"));
    let result: Value = serde_json::from_str(&text("result.json")).expect("JSON");
    // Results name no folder of the machine.
    assert_eq!(result["scenario"]["file"], file.file_name().expect("a name").to_str().expect("text"));
    assert_eq!(text("scenario.toml"), TWO_PATHS);
    // 5 s of 0.5 s steps.
    let series = text("series/cmt-1.csv");
    let times = series.lines().filter(|line| line.contains("delivered_bytes")).count();
    assert_eq!(times, 10, "{series}");
    assert!(series.contains("cwnd"), "{series}");
}

#[test]
fn the_schema_is_json() {
    let ended = run("schema");
    ended.succeeds();
    let schema = ended.json();
    assert!(schema["$schema"].as_str().is_some_and(|s| s.contains("2020-12")), "{schema:#}");
    assert!(schema["properties"]["links"].is_object(), "{schema:#}");
}

#[test]
fn ctrl_c_keeps_finished_runs() {
    let (file, out) = (scenario("stop.toml", TWO_PATHS), folder("stop"));
    let command = format!(
        "simulate {} --runs 100000 --jobs 1 --json --out {} --series 1s",
        file.display(),
        out.display()
    );
    let simulate = start(&command);
    simulate.until("two series", || finished(&out.join("series")) >= 2);
    simulate.signal(Signal::SIGINT);
    let ended = simulate.end();
    ended.fails(130, &["interrupted after", "of 100000 runs"]);
    let runs = ended.json()["runs"].as_array().expect("a list").len();
    assert!((2..1000).contains(&runs), "{runs} runs");
    assert_eq!(finished(&out.join("series")), runs, "exactly the finished runs have a series");
    let kept = std::fs::read_to_string(out.join("result.json")).expect("it is written");
    assert_eq!(
        serde_json::from_str::<Value>(&kept).expect("JSON")["runs"].as_array().map(Vec::len),
        Some(runs)
    );
}

/// Complete files in a folder.
fn finished(folder: &Path) -> usize {
    let Ok(files) = std::fs::read_dir(folder) else { return 0 };
    files.filter(|f| f.as_ref().is_ok_and(|f| !f.file_name().to_string_lossy().ends_with(".part"))).count()
}

#[test]
fn a_full_disk_is_one_line() {
    // Ten hours: it must stop once writing fails.
    let file = scenario("full.toml", &TWO_PATHS.replace("5 s", "36000 s"));
    for option in ["--trace", "--pcap"] {
        let command = format!("simulate {} {option} /dev/full", file.display());
        run(&command).fails(3, &["/dev/full", "No space left"]);
    }
}

#[test]
fn a_folder_that_cannot_be_created_is_found_before_the_first_run() {
    let scenario = scenario("nowhere.toml", &TWO_PATHS.replace("5 s", "100000 s"));
    let taken = file("taken");
    std::fs::write(&taken, "").expect("it is written");
    run(&format!("simulate {} --out {}", scenario.display(), taken.display())).fails(3, &["taken"]);
}

#[test]
fn a_trace_has_the_outcome_of_each_packet() {
    let (file, out) = (scenario("trace.toml", TWO_PATHS), file("trace.csv"));
    run(&format!("simulate {} --trace {}", file.display(), out.display())).succeeds();
    let text = std::fs::read_to_string(&out).expect("it is written");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time_s,event,flow,path,link,packet,length,payload,again,what"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 10), "{:?}", rows.iter().find(|row| row.len() != 10));
    let times: Vec<f64> = rows.iter().map(|row| row[0].parse().expect("a time")).collect();
    assert!(times.is_sorted() && times[0] >= 0.0);
    let of = |event: &str, link: &str| rows.iter().filter(|r| r[1] == event && r[4] == link).count();
    for link in ["x", "y.reverse"] {
        let under_way = of("enter", link).checked_sub(of("leave", link));
        assert!(under_way.is_some_and(|packets| packets < 100), "{link}: {under_way:?}");
    }
    // 1 % of x's packets are lost, and at most 20 wait.
    assert!(of("lose", "x") > 0 && of("lose", "y") == 0 && of("drop", "x") > 0);
    assert!(rows.iter().any(|row| row[1] == "send" && row[9].starts_with("DATA ") && row[3] == "y"));
    assert!(rows.iter().any(|row| row[1] == "send" && row[9].starts_with("SACK") && row[7] == "0"));
    let submitted = rows.iter().filter(|row| row[1] == "submit").count();
    let delivered = rows.iter().filter(|row| row[1] == "deliver").count();
    assert!(delivered > 500 && delivered <= submitted, "{delivered} of {submitted}");
}

#[test]
fn a_trace_takes_one_run() {
    let file = scenario("traces.toml", TWO_PATHS);
    for option in ["--trace", "--pcap"] {
        let command = format!("simulate {} --runs 2 {option} x", file.display());
        run(&command).fails(2, &[option, "--runs 1"]);
        let command = format!("simulate {} --scheme cmt,sctp {option} x", file.display());
        run(&command).fails(2, &[option]);
    }
}

/// A capture has the packets that the trace says were sent, at the same times and in the same order; each is a whole SCTP
/// packet, with a valid checksum unless the flow is sealed (RFC 9653), to or from the address of its path.
#[test]
fn a_capture_has_each_packet_that_was_sent() {
    let seal = TWO_PATHS.replace("compare = true", "compare = true\nseal = true");
    for (name, text) in [("clear", TWO_PATHS), ("sealed", &seal)] {
        let (scenario, trace, pcap) =
            (scenario(&format!("{name}.toml"), text), file(name), file(&format!("{name}.pcap")));
        let options = format!("--trace {} --pcap {}", trace.display(), pcap.display());
        run(&format!("simulate {} {options}", scenario.display())).succeeds();
        let text = std::fs::read_to_string(&trace).expect("it is written");
        let sent =
            text.lines().map(|line| line.split(',').collect::<Vec<_>>()).filter(|row| row[1] == "send");
        let sent: Vec<_> = sent.filter(|row| row[9] != "seal").collect();
        let records = captured::records(&pcap);
        assert_eq!(records.len(), sent.len(), "{name}");
        for (row, (nanos, packet)) in sent.iter().zip(&records) {
            assert_eq!(format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000), row[0], "{row:?}");
            let sctp = Bytes::copy_from_slice(&packet[28..]);
            let whole = if name == "clear" { Packet::parse(sctp) } else { Packet::authentic(sctp) };
            let chunks = whole.expect("a whole packet").chunks().count();
            assert_eq!(
                chunks,
                row[9].split(' ').filter(|word| word.parse::<u32>().is_err()).count(),
                "{row:?}"
            );
            let path = if row[3] == "x" { 1 } else { 2 };
            assert!(packet[12..16] == [10, 0, 0, path] || packet[16..20] == [10, 0, 0, path], "{row:?}");
        }
        let data = sent.iter().zip(&records).filter(|(row, _)| row[9].starts_with("DATA"));
        assert!(
            data.clone().count() > 500 && data.clone().all(|(_, (_, p))| p[12] == 10),
            "the sender's are data"
        );
        run(&format!("simulate {} --pcap {}", scenario.display(), pcap.display())).fails(2, &["has content"]);
    }
}

mod thorough {
    use std::process::Command;

    use super::*;

    /// `packaging/wireshark/strandcast.lua`: tshark dissects each REPORT without an error, and what the last ARRIVED report
    /// counts per path is what the trace says has left the path's link by then.
    #[test]
    fn wireshark_reads_reports() {
        let parts = std::env::var("STRANDCAST_PARTS").unwrap_or_default();
        if !parts.split(' ').any(|part| part == "tshark") {
            println!("not run: tshark is not in STRANDCAST_PARTS");
            return;
        }
        let (scenario, trace) = (scenario("reports.toml", TWO_PATHS), file("reports.csv"));
        let pcap = file("reports.pcap");
        let options = format!("--scheme strand --trace {} --pcap {}", trace.display(), pcap.display());
        run(&format!("simulate {} {options}", scenario.display())).succeeds();
        let fields =
            tshark(&pcap, &["strandcast.kind", "strandcast.malformed", "strandcast.arrived.packets"]);
        assert!(fields.iter().all(|row| row[1].is_empty()), "no malformed item");
        let rows =
            fields.iter().filter(|row| row[0].split(',').any(|kind| kind == "0x0009") && !row[2].is_empty());
        let (counted, reports) = (rows.clone().next_back().expect("a report"), rows.count());
        assert!(reports > 300, "{reports} reports");
        let counted: Vec<u64> = counted[2].split(',').map(|n| n.parse().expect("a number")).collect();
        let text = std::fs::read_to_string(&trace).expect("it is written");
        let left = |link: &str| {
            let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
            rows.filter(|row| row[1] == "leave" && row[4] == link && row[7] != "0").count() as u64
        };
        for (path, link) in ["x", "y"].into_iter().enumerate() {
            // Packets that left after the last report was sent: fewer than wait in a queue.
            assert!(
                counted[path] <= left(link) && counted[path] + 20 > left(link),
                "{link}: {counted:?} of {}",
                left(link)
            );
        }
    }

    /// Values of fields, one row per packet.
    fn tshark(pcap: &Path, fields: &[&str]) -> Vec<Vec<String>> {
        let dissector =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/wireshark/strandcast.lua");
        let mut command = Command::new("tshark");
        command.arg("-n").arg("-X").arg(format!("lua_script:{}", dissector.display())).arg("-r").arg(pcap);
        command.args(["-T", "fields"]);
        command.args(fields.iter().flat_map(|field| ["-e", *field]));
        let ended = command.output().expect("tshark starts");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let text = String::from_utf8(ended.stdout).expect("text");
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }
}
