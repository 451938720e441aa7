//! `--stats` and `--metrics` of whole streams, compared with what emulated links did.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use strandcast_net::emulate::{Direction, Relay};
use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::loss::LossModel;
use strandcast_netem::number::Number;

use crate::common::link::link;
use crate::common::{LONG, clip, file, port, run, seconds, spawn, start};

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn figures(path: &Path) -> Vec<Value> {
    lines(path).into_iter().filter(|line| line["media"].is_object()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Seconds of the day of a line.
fn clock(line: &Value) -> f64 {
    let time = line["time"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
    let part = |from: usize, to: usize| time[from..to].parse::<f64>().unwrap();
    part(11, 13) * 3600.0 + part(14, 16) * 60.0 + part(17, 23)
}

/// Counters of a link at a time of the day, forwards: bytes offered, packets delivered and lost.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: f64,
    bytes: u64,
    delivered: u64,
    lost: u64,
}

/// Counters of a link at times of the day.
struct Witness {
    seen: Arc<Mutex<Vec<Seen>>>,
    over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Witness {
    fn of(relay: Relay) -> (Witness, Arc<Relay>) {
        let relay = Arc::new(relay);
        let (seen, over) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<AtomicBool>::default());
        let (watched, into, end) = (Arc::clone(&relay), Arc::clone(&seen), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() % 86_400.0;
                let stats = watched.stats().forward;
                into.lock().unwrap().push(Seen {
                    at: now,
                    bytes: stats.offered.bytes,
                    delivered: stats.delivered.packets,
                    lost: stats.dropped_loss.packets,
                });
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        (Witness { seen, over, thread }, relay)
    }

    fn end(self) -> Vec<Seen> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        Arc::try_unwrap(self.seen).unwrap().into_inner().unwrap()
    }
}

/// The longest time in which a link delivered nothing.
fn longest_gap(seen: &[Seen]) -> f64 {
    let (mut longest, mut since) = (0.0_f64, seen[0]);
    for now in seen.iter().filter(|now| now.delivered > 0) {
        if now.delivered != since.delivered {
            if since.delivered > 0 {
                longest = longest.max(now.at - since.at);
            }
            since = *now;
        }
    }
    longest
}

/// The least and the most that a counter of the link had near a time. A line has the figures of a moment before its time: a
/// look each quarter of a second, and the way to the file. A busy machine delays both, and the link, by as much again.
fn near(seen: &[Seen], time: f64, counter: fn(&Seen) -> u64) -> (f64, f64) {
    let near = seen.iter().filter(|seen| (seen.at - time).abs() <= 0.3).map(|seen| counter(seen) as f64);
    near.fold((f64::MAX, 0.0_f64), |(least, most), now| (least.min(now), most.max(now)))
}

/// The link and each line count the same bytes, within 2 %.
fn bytes_agree(figures: &[Value], seen: &[Seen]) {
    for line in &figures[2..] {
        let bytes = number(&line["wire"]["sent_bytes"]);
        let (least, most) = near(seen, clock(line), |seen| seen.bytes);
        println!("line {bytes}, link {least} to {most}");
        assert!(bytes >= 0.98 * least && bytes <= 1.02 * most, "{bytes} and {least} to {most}");
    }
}

/// The link dropped packets, and the sender declared their chunks lost: the same number in each line, within 2 %.
fn losses_agree(figures: &[Value], seen: &[Seen]) {
    for line in figures {
        let path = &line["paths"][0];
        let (lost, chunks) = (number(&path["chunks_lost"]), number(&path["chunks"]));
        let (least, most) = near(seen, clock(line), |seen| seen.lost);
        println!("lost {lost} of {chunks}, link {least} to {most}");
        // There are some 1000 packets. Those without data are lost as well, and the last losses are not known yet: 3
        // packets each.
        assert!(lost >= 0.98 * least - 6.0 && lost <= 1.02 * most + 6.0, "{lost} and {least} to {most}");
        let share = number(&path["loss_total"]);
        assert!((share - lost / chunks).abs() < 1e-9, "{share} is not {lost} of {chunks}");
    }
    assert!(number(&figures.last().unwrap()["paths"][0]["chunks_lost"]) > 20.0);
}

/// Each late message has a cause, in each line; and what the link did is the most frequent one.
fn causes_agree(sent: &[Value], got: &[Value]) {
    let sum = |line: &Value, key: &str| -> f64 {
        line["media"][key].as_object().into_iter().flatten().map(|(_, value)| number(value)).sum()
    };
    let media =
        |line: &Value, keys: [&str; 2]| keys.iter().map(|key| number(&line["media"][key])).sum::<f64>();
    for line in sent {
        assert_eq!(sum(line, "late_by"), media(line, ["late", "messages_dropped"]), "{}", line["media"]);
    }
    for line in got {
        assert_eq!(sum(line, "late_by"), media(line, ["late", "lost"]), "{}", line["media"]);
    }
    let (sent, got) = (&sent.last().unwrap()["media"], &got.last().unwrap()["media"]);
    println!("{} {} {}", sent["late_by"], sent["held_s"], got["late_by"]);
    // Some 4 s of a stream were lost in the hole, and data waited there.
    let (late, held) = (number(&sent["late"]), number(&sent["held_s"]["no-path"]));
    assert!(late > 100.0 && held > 1.0, "{sent}");
    assert!(number(&sent["late_by"]["no-path"]) > 0.3 * late, "{sent}");
    let silence = number(&got["late_by"]["silence"]);
    assert!(silence >= 0.9 * (number(&got["late"]) + number(&got["lost"])), "{got}");
}

/// The value of a metric in a file of `--metrics`.
fn metric(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(&format!("{name}{{")));
    let value = line.and_then(|line| line.rsplit(' ').next()).unwrap_or_else(|| panic!("no {name}: {text}"));
    value.parse().unwrap()
}

/// The file of metrics has the figures of the last line: counts within 2 %, since one more line may have come meanwhile.
fn metrics_agree(text: &str, line: &Value) {
    for (name, key) in [
        ("strandcast_wire_sent_bytes_total", "/wire/sent_bytes"),
        ("strandcast_messages_total", "/media/messages"),
        ("strandcast_media_bytes_total", "/media/bytes"),
        ("strandcast_path_chunks_total", "/paths/0/chunks"),
        ("strandcast_path_bytes_total", "/paths/0/bytes"),
        ("strandcast_path_down_seconds_total", "/paths/0/down_s"),
    ] {
        let (metric, figure) = (metric(text, name), number(line.pointer(key).unwrap()));
        assert!((metric - figure).abs() <= 0.02 * figure.max(1.0), "{name} is {metric}, and {key} {figure}");
    }
}

/// Rates are those of the lines' intervals, without a gap between them.
fn rates_agree(figures: &[Value]) {
    let last = figures.last().unwrap();
    let first = &figures[0];
    let summed = |rate: &dyn Fn(&Value) -> f64| -> f64 {
        figures.iter().map(|line| rate(line) * number(&line["interval_s"]) / 8.0).sum()
    };
    for (rate, bytes) in [
        (summed(&|line| number(&line["wire"]["sent_bps"])), "/wire/sent_bytes"),
        (summed(&|line| number(&line["paths"][0]["rate_bps"])), "/paths/0/bytes"),
    ] {
        let grown = number(last.pointer(bytes).unwrap()) - number(first.pointer(bytes).unwrap());
        assert!((rate / grown - 1.0).abs() < 0.02, "{rate} of {grown}");
    }
}

/// A file has the outage, opened and closed.
fn outage_agrees(file: &std::path::Path, gap: f64, slack: f64) {
    let outages: Vec<Value> = lines(file)
        .into_iter()
        .filter(|l| l["event"].as_str().is_some_and(|e| e.starts_with("outage")))
        .collect();
    let names: Vec<&str> = outages.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["outage", "outage-over"], "{outages:?}");
    let reported = number(&outages[1]["outage_s"]);
    assert!(
        outages[1]["returned"] == true && (reported - gap).abs() < 0.02 * gap + slack,
        "{reported} instead of {gap}"
    );
    assert!(figures(file).iter().any(|line| line["state"] == "outage"));
}

#[test]
fn figures_agree_with_what_the_link_did() {
    let (port, out, sent, got) =
        (port(), file("agree.ts"), file("agree-send.jsonl"), file("agree-receive.jsonl"));
    let delay = Number::from(Duration::from_millis(20));
    let good = LinkConfig {
        rate: Rate::Constant(4_000_000),
        delay,
        queue: Queue::packets(100),
        ..LinkConfig::default()
    };
    let lossy = LinkConfig { losses: vec![LossModel::uniform(0.05)], ..good.clone() };
    let (witness, relay) = Witness::of(link(port, lossy, good));
    let receiver =
        start(&format!("receive 127.0.0.1:{port} {} --once --stats={}", out.display(), got.display()));
    receiver.says("listening");
    let to = relay.local_addr();
    let metrics = file("agree.prom");
    let args = format!("--stats={} --metrics {}", sent.display(), metrics.display());
    let sender = start(&format!("send {} {to} --latency 1000 {args}", clip().display()));
    receiver.until("ten seconds", || figures(&got).len() >= 10);
    let hole = |on| [Direction::Forward, Direction::Reverse].map(|way| relay.set_black_hole(way, on));
    let before_the_hole = figures(&sent).len();
    hole(true);
    std::thread::sleep(Duration::from_secs(4));
    hole(false);
    sender.end();
    receiver.end().succeeds();
    let seen = witness.end();

    let figures_sent = figures(&sent);
    assert!(figures_sent.len() > 20, "{}", figures_sent.len());
    let stream = figures_sent[0]["stream"].as_str().unwrap();
    assert!(stream.len() == 8 && figures(&got).iter().all(|line| line["stream"] == stream), "{stream}");
    bytes_agree(&figures_sent, &seen);
    rates_agree(&figures_sent);
    losses_agree(&figures_sent[2..before_the_hole], &seen);
    causes_agree(&figures_sent, &figures(&got));
    // A program that ends leaves its last counts.
    metrics_agree(&std::fs::read_to_string(&metrics).unwrap(), figures_sent.last().unwrap());
    println!("outage {}", longest_gap(&seen));
    // A receiver has the times of messages. Another packet than the last or first message shows with the next look, a
    // quarter of a second later. A sender has looks alone, one at each end of the outage.
    outage_agrees(&got, longest_gap(&seen), 0.25);
    outage_agrees(&sent, longest_gap(&seen), 0.5);
    // The page of both files.
    let page = file("agree.html");
    let report = run(&format!("report {} {} --out {}", sent.display(), got.display(), page.display()));
    report.succeeds();
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains(stream) && text.contains("longest outage") && text.contains("Round-trip time"));
    run(&format!("report {} --out {}", sent.display(), page.display())).fails(2, &["has content"]);
}

/// Figures of a receiver are those of the stream that it plays.
#[test]
fn the_second_stream_of_a_receiver_begins_at_zero() {
    let (port, out, got) = (port(), file("two.ts"), file("two.jsonl"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --stats={}", out.display(), got.display()));
    receiver.says("listening");
    for length in [4, 2] {
        let (input, _) = seconds(length, "two-in.ts");
        run(&format!("send {} 127.0.0.1:{port} --latency 200", input.display())).succeeds();
    }
    receiver.until("both ends", || receiver.said().matches("every byte as it was sent").count() == 2);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
    let all = figures(&got);
    let (first, second) = (&all[0]["stream"], &all.last().unwrap()["stream"]);
    assert!(first.is_string() && first != second, "{first} {second}");
    let second: Vec<&Value> = all.iter().filter(|line| line["stream"] == *second).collect();
    assert!(!second.is_empty());
    for line in second {
        let paths = line["paths"].as_array().unwrap();
        assert!(paths.len() == 1 && paths[0]["id"] == 0, "{line}");
        assert!(number(&paths[0]["down_s"]) >= 0.0, "{line}");
        assert!(number(&paths[0]["bytes"]) <= number(&line["wire"]["received_bytes"]), "{line}");
    }
}

/// A stream continues over another association, and so do its counters.
#[test]
fn rates_after_a_reconnect_are_those_of_what_was_sent() {
    let (port, out, sent) = (port(), file("again.ts"), file("again.jsonl"));
    let receive = format!("receive 127.0.0.1:{port} {} --overwrite", out.display());
    let receiver = start(&receive);
    receiver.says("listening");
    let send = format!("send {} 127.0.0.1:{port} --latency 300 --stats={}", clip().display(), sent.display());
    let sender = start(&send);
    sender.until("three seconds", || figures(&sent).len() >= 3);
    receiver.signal(Signal::SIGKILL);
    receiver.end();
    let before = figures(&sent).len();
    let receiver = start(&receive);
    sender.says("again");
    sender.until("three seconds more", || figures(&sent).len() >= before + 3);
    sender.signal(Signal::SIGINT);
    sender.end().succeeds();
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    // Messages that were sent before are neither late nor lost, and have a line.
    let before = receiver.err.lines().find(|line| line.ends_with(" sent before the first one that came"));
    assert!(before.is_some() && receiver.err.contains("not everything that was sent"), "{}", receiver.err);
    let all = figures(&sent);
    for pair in all.windows(2) {
        assert_eq!(pair[0]["stream"], pair[1]["stream"]);
        let grown = |key: &str| number(&pair[1]["wire"][key]) - number(&pair[0]["wire"][key]);
        let rated = |key: &str| number(&pair[1]["wire"][key]) * number(&pair[1]["interval_s"]) / 8.0;
        for (bytes, rate) in [("sent_bytes", "sent_bps"), ("received_bytes", "received_bps")] {
            // After a time without figures, the first ones are of their own last second.
            assert!(rated(rate) <= grown(bytes) + 1.0, "{rate} {} of {}", rated(rate), grown(bytes));
        }
    }
}

/// A sender that is killed sends no end of its stream: what is missing after the last message cannot be known.
#[test]
fn the_report_of_a_cut_stream_does_not_praise_it() {
    let (port, out, got, page) = (port(), file("cut.ts"), file("cut.jsonl"), file("cut.html"));
    let receive = format!("receive 127.0.0.1:{port} {} --once --silence 3", out.display());
    let receiver = start(&format!("{receive} --stats={}", got.display()));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 200", clip().display()));
    receiver.until("three seconds", || figures(&got).len() >= 3);
    sender.signal(Signal::SIGKILL);
    sender.end();
    receiver.end().fails(5, &["was lost"]);
    run(&format!("report {} --out {}", got.display(), page.display())).succeeds();
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("class=\"verdict bad\"") && text.contains("without a goodbye"), "{text}");
    assert!(!text.contains("was played in time") && !text.contains("as it was sent"), "{text}");
}

#[test]
fn the_report_replaces_neither_keys_nor_what_it_reads() {
    let (stats, keys, page) = (file("kept.jsonl"), file("kept-identity"), file("kept.html"));
    let line = serde_json::json!({
        "time": "2026-11-28T21:04:17.250Z", "role": "send", "stream": "0000beef", "peer": "@studio",
        "media": { "messages": 1, "late": 0 }, "wire": {}, "paths": [],
    });
    std::fs::write(&stats, line.to_string()).unwrap();
    std::fs::write(&keys, "# The identity of this Strandcast\nsecret\n").unwrap();
    let report = |out: &Path| run(&format!("report {} --overwrite --out {}", stats.display(), out.display()));
    report(&keys).fails(3, &["is a file of keys"]);
    assert_eq!(std::fs::read(&keys).unwrap(), b"# The identity of this Strandcast\nsecret\n");
    report(&stats).fails(2, &["kept.jsonl", "the page would replace it"]);
    assert_eq!(std::fs::read_to_string(&stats).unwrap(), line.to_string());
    std::fs::write(&page, vec![b'x'; 1 << 20]).unwrap();
    report(&page).succeeds();
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!") && text.trim_end().ends_with("</html>"), "no rest of the old content");
}

/// Each line on standard error is an event; a command that waits has lines as well.
#[test]
fn every_line_is_an_event_and_waiting_has_lines() {
    let (port, out, sent, got) =
        (port(), file("events.ts"), file("events-send.jsonl"), file("events-receive.jsonl"));
    let (input, _) = seconds(2, "events-in.ts");
    let sender =
        start(&format!("send {} 127.0.0.1:{port} --latency 200 --stats={}", input.display(), sent.display()));
    sender.until("lines while it searches", || {
        lines(&sent).iter().filter(|line| line["state"] == "connecting").count() >= 2
    });
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --stats={}", out.display(), got.display()));
    sender.end().succeeds();
    receiver.until("lines while it waits", || {
        lines(&got)
            .iter()
            .rev()
            .take_while(|line| line["state"] == "waiting" && line["stream"].is_null())
            .count()
            >= 2
    });
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    receiver.succeeds();
    let all = lines(&got);
    let texts: Vec<&str> = all.iter().filter_map(|line| line["text"].as_str()).flat_map(str::lines).collect();
    for line in receiver.err.lines() {
        assert!(texts.contains(&line), "{line:?} is no event: {texts:?}");
    }
    let event = |name: &str| {
        all.iter().find(|line| line["event"] == name).unwrap_or_else(|| panic!("no {name}: {all:?}"))
    };
    assert_eq!(event("received")["summary"]["identical"], true);
    assert_eq!(event("received")["stream"], lines(&sent).last().unwrap()["stream"]);
    assert!(number(&event("receiving")["latency"]) > 0.19);
    for line in all.iter().chain(&lines(&sent)) {
        clock(line);
        assert!(line["uptime_s"].is_number() && line["role"].is_string(), "{line}");
    }
}

/// `strandcast` in a session of its own, with its standard input as controlling terminal or without any.
fn in_a_session(terminal: bool, args: &str) -> Command {
    let mut command = Command::new("setsid");
    command.args(terminal.then_some("--ctty")).arg(env!("CARGO_BIN_EXE_strandcast"));
    command.args(args.split_whitespace()).arg("--plain");
    command
}

#[test]
fn the_hang_up_signal_opens_the_statistics_again_and_ends_a_command_without_them() {
    let (port, out, stats) = (port(), file("hup.ts"), file("hup.jsonl"));
    let old = stats.with_extension("jsonl.1");
    let receive = format!("receive 127.0.0.1:{port} {} --stats={}", out.display(), stats.display());
    let receiver = spawn(&mut in_a_session(false, &receive));
    receiver.until("a line", || !lines(&stats).is_empty());
    std::fs::rename(&stats, &old).unwrap();
    receiver.signal(Signal::SIGHUP);
    receiver.until("a line in the new file", || !lines(&stats).is_empty());
    let kept = lines(&old).len();
    receiver.until("another one", || lines(&stats).len() > 1);
    assert_eq!(lines(&old).len(), kept);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
    let plain = start(&format!("receive 127.0.0.1:{port} {} --overwrite", out.display()));
    plain.says("listening");
    plain.signal(Signal::SIGHUP);
    plain.end().succeeds();
}

/// A rotation reaches a command in a terminal too. The end of the terminal is the end of the command, as without a file.
#[test]
fn a_command_with_a_file_of_statistics_ends_with_its_terminal_and_not_before() {
    let (port, out, stats) = (port(), file("closed.ts"), file("closed.jsonl"));
    let old = stats.with_extension("jsonl.1");
    let receive = format!("receive 127.0.0.1:{port} {} --stats={}", out.display(), stats.display());
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let side = std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = in_a_session(true, &receive);
    command.stdin(side);
    let receiver = spawn(&mut command);
    // The command holds the other side as well.
    command.stdin(std::process::Stdio::null());
    receiver.until("a line", || !lines(&stats).is_empty());
    std::fs::rename(&stats, &old).unwrap();
    receiver.signal(Signal::SIGHUP);
    receiver.until("a line in the new file", || !lines(&stats).is_empty());
    drop(controller);
    receiver.end().succeeds();
}

#[test]
fn metrics_are_replaced_as_a_whole_and_have_the_figures_of_the_lines() {
    let (port, out, folder) = (port(), file("metrics.ts"), file("metrics"));
    std::fs::create_dir_all(&folder).unwrap();
    let (metrics, stats) = (folder.join("van.prom"), folder.join("van.jsonl"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    let (input, _) = seconds(4, "metrics-in.ts");
    let send = format!("send {} 127.0.0.1:{port} --latency 200", input.display());
    let sender = start(&format!("{send} --metrics {} --stats={}", metrics.display(), stats.display()));
    let begun = Instant::now();
    let mut full = 0;
    while full < 20 && begun.elapsed() < LONG {
        if let Ok(text) = std::fs::read_to_string(&metrics)
            && !text.is_empty()
        {
            assert!(text.starts_with("# HELP strandcast_up") && text.ends_with('\n'), "{text}");
            full += 1;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = || std::fs::read_to_string(&metrics).unwrap();
    sender.until("figures", || text().contains("strandcast_path_rtt_seconds{"));
    let text = text();
    let sample = |text: &str, name: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name}{{")))
            .unwrap_or_else(|| panic!("no {name}: {text}"));
        line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    // While it runs, the file has the figures of one of the lines.
    let messages = sample(&text, "strandcast_messages_total");
    let has_line = || figures(&stats).into_iter().find(|line| number(&line["media"]["messages"]) == messages);
    sender.until("the line of these figures", || has_line().is_some());
    let line = has_line().unwrap();
    assert_eq!(sample(&text, "strandcast_path_bytes_total"), number(&line["paths"][0]["bytes"]));
    let rtt = sample(&text, "strandcast_path_rtt_seconds");
    assert!((rtt - number(&line["paths"][0]["rtt_ms"]) / 1e3).abs() < 1e-9, "{rtt}");
    assert!(
        text.contains("strandcast_stream_state{instance_name=\"van\",role=\"send\",state=\"streaming\"} 1")
    );
    assert_eq!(sample(&text, "strandcast_up"), 1.0);
    sender.end().succeeds();
    receiver.end().succeeds();
    // At the end the counts stay, and nothing says that a stream continues.
    let text = std::fs::read_to_string(&metrics).unwrap();
    let last = figures(&stats).pop().unwrap();
    assert_eq!(sample(&text, "strandcast_up"), 0.0);
    assert_eq!(sample(&text, "strandcast_messages_total"), number(&last["media"]["messages"]));
    assert_eq!(sample(&text, "strandcast_path_bytes_total"), number(&last["paths"][0]["bytes"]));
    for gone in ["_state{", "_info{", "_per_second{", "_rtt_seconds{"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    run(&format!("{send} --metrics {}", stats.display())).fails(2, &["van.jsonl has other content"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_schema_of_lines_is_printed() {
    let schema = run("schema stats");
    schema.succeeds();
    assert_eq!(schema.json()["properties"]["paths"]["items"]["properties"]["bytes"]["type"], "integer");
}
