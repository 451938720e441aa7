//! Text from peers and files neither controls the terminal nor imitates the command's own lines.

use bytes::Bytes;
use nix::sys::signal::Signal;
use serde_json::Value;
use strandcast_keys::text::needs_escape;

use crate::common::peer::PeerRuntime;
use crate::common::{Ended, clip, file, port, run, seconds, start};
use crate::scenarios::{TWO_PATHS, folder, scenario};

/// Clears the screen, sets the title, rings the bell, imitates one of our lines, moves back, erases (C1), and reverses
/// the text direction.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;gone\u{7}\nstrandcast: all is well\r\u{9b}2J\u{85}\u{7f}\u{202e}\u{2066}\u{2028}\u{feff}";

/// Asserts that all output is safe for a terminal and contains the hostile text escaped.
#[track_caller]
fn clean(ended: &Ended, code: i32) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    let all = format!("{}{}", ended.err, std::str::from_utf8(&ended.out).expect("text"));
    let bad: Vec<char> = all.chars().filter(|&c| c != '\n' && needs_escape(c)).collect();
    assert!(bad.is_empty(), "{bad:?} in {all:?}");
    assert!(!all.lines().any(|line| line.starts_with("strandcast: all is well")), "an imitated line: {all}");
    assert!(all.contains(r"\u{1b}[2J") || all.contains(r"\u001b[2J"), "the hostile text is shown: {all}");
}

#[test]
fn a_receivers_words() {
    let runtime = PeerRuntime::start();
    let input = clip();
    for (words, code) in [(format!("refused: {EVIL}"), 5), (EVIL.to_owned(), 0)] {
        let port = port();
        let mut door = runtime.listen(port);
        let sender = start(&format!("send {} 127.0.0.1:{port} --json --stats", input.display()));
        door.accept().abort(&words);
        if code == 0 {
            let _next = door.accept();
            sender.signal(Signal::SIGINT);
            clean(&sender.end(), 0);
        } else {
            clean(&sender.end(), code);
        }
    }
}

#[test]
fn a_senders_words() {
    let runtime = PeerRuntime::start();
    let (port, out) = (port(), file("words.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once --json --stats", out.display()));
    receiver.says("listening");
    let peer = runtime.connect(1, port);
    let _talk = peer.talks(1, b'a');
    receiver.says("receiving from");
    peer.abort(&format!("refused: {EVIL}"));
    clean(&receiver.end(), 5);
}

#[test]
fn a_perf_servers_words() {
    let runtime = PeerRuntime::start();
    for json in ["", "--json"] {
        let port = port();
        let mut door = runtime.listen(port);
        let client = start(&format!("perf client 127.0.0.1:{port} {json}"));
        door.accept().abort(EVIL);
        clean(&client.end(), 5);
    }
}

#[test]
fn a_perf_clients_words() {
    let runtime = PeerRuntime::start();
    let port = port();
    let server = start(&format!("perf server 127.0.0.1:{port} --once"));
    server.says("listening");
    let peer = runtime.connect(1, port);
    let begin = format!(r#"{{"start":{{"version":1,"reverse":false,"time_ms":1000,"message":{}}}}}"#, 1000);
    peer.says(1, Bytes::from(begin));
    server.says("receiving from");
    peer.abort(EVIL);
    clean(&server.end(), 5);
}

#[test]
fn results_of_a_perf_peer_are_numbers() {
    let runtime = PeerRuntime::start();
    let port = port();
    let server = start(&format!("perf server 127.0.0.1:{port} --once"));
    server.says("listening");
    let peer = runtime.connect(1, port);
    peer.says(1, Bytes::from(format!(r#"{{"end":{{"bytes":1,"messages":1,"seconds":1e300,"{EVIL}":1}}}}"#)));
    let ended = server.end();
    ended.fails(5, &["not a client of measurements"]);
    assert!(!ended.err.contains(|c| c != '\n' && needs_escape(c)), "{ended:?}");
}

/// The hostile text as a TOML string.
fn quoted() -> String {
    let unit = |c: char| if needs_escape(c) { format!("\\U{:08X}", c as u32) } else { c.to_string() };
    EVIL.chars().map(unit).collect()
}

#[test]
fn a_scenarios_words() {
    let evil = quoted();
    let wrong = [
        ("key", TWO_PATHS.replacen("[links.x]", &format!("[links.x]\n\"{evil}\" = 1"), 1)),
        ("name", TWO_PATHS.replacen("[links.x]", &format!("[links.\"{evil}\"]"), 1)),
        ("value", TWO_PATHS.replacen("\"2 Mbit/s\"", &format!("\"{evil}\""), 1)),
        ("node", TWO_PATHS.replacen("to = \"b\"", &format!("to = \"{evil}\""), 1)),
        ("scheme", TWO_PATHS.replacen("compare = true", &format!("compare = true\nscheme = \"{evil}\""), 1)),
        ("toml", format!("{TWO_PATHS}\n{EVIL} = \n")),
    ];
    for (name, text) in wrong {
        let path = scenario(&format!("evil-{name}.toml"), &text);
        for verb in ["check", "simulate"] {
            let ended = run(&format!("{verb} {}", path.display()));
            assert_eq!(ended.code, Some(2), "{name}: {ended:?}");
            assert!(!ended.err.trim_end().contains(needs_escape), "{name}: one clean line: {:?}", ended.err);
        }
    }
}

#[test]
fn a_scenarios_title() {
    let titled = TWO_PATHS.replacen("title = \"two paths\"", &format!("title = \"{}\"", quoted()), 1);
    assert_ne!(titled, TWO_PATHS);
    let path = scenario("titled.toml", &titled);
    let out = folder("titled");
    clean(&run(&format!("check {}", path.display())), 0);
    clean(&run(&format!("simulate {} --runs 1 --quiet --out {}", path.display(), out.display())), 0);
    for verb in ["check", "simulate --quiet --runs 1"] {
        let ended = run(&format!("{verb} {} --json", path.display()));
        clean(&ended, 0);
        assert_eq!(
            ended.json().pointer("/scenario/title"),
            Some(&Value::from(EVIL)),
            "the value is the same"
        );
    }
    // A result on disk from an untrusted source.
    let result = out.join("result.json");
    let text = std::fs::read_to_string(&result).unwrap();
    let mut kept: Value = serde_json::from_str(&text).unwrap();
    let explain = || run(&format!("explain {} --flow data --message 1", out.display()));
    explain().succeeds();
    kept["version"] = EVIL.into();
    std::fs::write(&result, kept.to_string()).unwrap();
    clean(&explain(), 2);
    kept["version"] = env!("CARGO_PKG_VERSION").into();
    kept["schema"] = EVIL.into();
    std::fs::write(&result, kept.to_string()).unwrap();
    clean(&explain(), 2);
    std::fs::write(&result, text.replacen("{", &format!("{{\"{EVIL}\": 1, "), 1)).unwrap();
    assert!(!explain().err.trim_end().contains(needs_escape));
}

#[test]
fn names_of_files() {
    let (port, dir) = (port(), file("names"));
    std::fs::create_dir_all(&dir).unwrap();
    let (input, _) = seconds(1, "named.ts");
    // The harness splits arguments at blanks, so the name has none.
    let evil: String = EVIL.chars().filter(|c| !c.is_whitespace()).collect();
    let named = dir.join(format!("{evil}.ts"));
    std::fs::rename(&input, &named).unwrap();
    let receiver =
        start(&format!("receive 127.0.0.1:{port} {} --once", dir.join(format!("{evil}.out")).display()));
    receiver.says("listening");
    clean(&run(&format!("send {} 127.0.0.1:{port} --latency 100 --json", named.display())), 0);
    clean(&receiver.end(), 0);
    clean(&run(&format!("simulate {}", dir.join(format!("{evil}.toml")).display())), 2);
    clean(&run(&format!("send {} 127.0.0.1", dir.join(format!("{evil}.none")).display())), 3);
    clean(&run(&format!("explain {} --flow a --message 1", dir.join(&evil).display())), 2);
}
