//! Every error gives one clear line and an exit code, without waiting.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::common;
use crate::common::{clip, file, port, run, seconds, start};

#[test]
fn invalid_command_lines() {
    run("send").fails(2, &["INPUT"]);
    run("send a.ts 127.0.0.1:0").fails(2, &["port"]);
    run("send a.ts 127.0.0.1 --path wlan0").fails(2, &["wlan0", "if="]);
    run("receive udp://127.0.0.1").fails(2, &["port"]);
    run("demo --network moon").fails(2, &["moon", "field"]);
    for command in [
        "perf server --port 9877",
        "receive --port=9877 out.ts",
        "send --port 1 a.ts h",
        "perf client h -p 1",
    ] {
        run(command).fails(2, &["HOST:PORT"]);
    }
}

#[test]
fn an_unknown_scheme_is_answered_with_a_suggestion() {
    let input = clip();
    run(&format!("send {} 127.0.0.1 --scheme cmtt", input.display())).fails(2, &["cmtt", "did you mean cmt"]);
    run("receive --scheme cmt,rtx=sam out.ts").fails(2, &["sam", "did you mean same"]);
    run("perf client 127.0.0.1 --scheme nope").fails(2, &["nope", "sctp"]);
}

#[test]
fn schemes_and_verbs_of_the_python_package() {
    for scheme in ["mine.py:Mine", "lab.policies:Mine,base=cmt"] {
        run(&format!("perf client 127.0.0.1 --scheme {scheme}"))
            .fails(2, &[scheme, "Python package", "pip install ."]);
    }
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples/first.toml");
    run(&format!("simulate {scenario} --scheme cmt,mine.py:Mine"))
        .fails(2, &["mine.py:Mine", "pip install ."]);
    for verb in [
        "figures",
        "oracle x.toml",
        "figures xu2015 --quick",
        "figures --help",
        "sweep x.toml --grid a=1",
        "plot -- --out",
    ] {
        let name = verb.split(' ').next().unwrap();
        run(verb).fails(2, &[name, "needs the Python package", "pip install ."]);
    }
}

#[test]
fn missing_networks() {
    let send = format!("send {}", clip().display());
    run(&format!("{send} 127.0.0.1 --path if=nope0")).fails(4, &["nope0"]);
    run(&format!("{send} 127.0.0.1 --path bind=192.0.2.1")).fails(4, &["192.0.2.1"]);
    // RFC 1035 §2.3.4: a label has at most 63 octets, so no server is queried.
    let host = "x".repeat(64);
    run(&format!("{send} {host}")).fails(4, &["cannot resolve", &host]);
}

#[test]
fn a_port_in_use() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let out = file("never.ts");
    for command in
        [format!("receive 127.0.0.1:{port} {}", out.display()), format!("perf server 127.0.0.1:{port}")]
    {
        run(&command).fails(4, &[&port.to_string(), "in use"]);
    }
    assert!(!out.exists(), "an output is not touched without need");
}

#[test]
fn inputs_without_a_stream() {
    let send = |path: &std::path::Path| run(&format!("send {} 127.0.0.1", path.display()));
    send(&file("missing.ts")).fails(3, &["missing.ts", "no such file"]);
    send(std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))).fails(3, &["directory"]);
    let text = file("text.ts");
    std::fs::write(&text, "no transport stream ".repeat(10_000)).unwrap();
    send(&text).fails(3, &["text.ts", "not an MPEG transport stream"]);
    let empty = file("empty.ts");
    std::fs::write(&empty, "").unwrap();
    send(&empty).fails(3, &["empty.ts", "empty"]);
}

#[test]
fn a_peer_that_never_answers() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let ended = run(&format!("send {} {address} --retry 1.5", clip().display()));
    ended.fails(5, &["no answer", &address.to_string()]);
    assert!((Duration::from_secs(1)..Duration::from_secs(6)).contains(&ended.took), "{:?}", ended.took);
}

#[test]
fn a_full_disk_ends_both_sides() {
    let port = port();
    let (clip, _) = seconds(4, "full.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} /dev/full"));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 200", clip.display()));
    receiver.end().fails(3, &["/dev/full", "no space left"]);
    sender.end().fails(5, &["refuses", "cannot write"]);
}

#[test]
fn an_output_that_cannot_be_created() {
    run(&format!("receive 127.0.0.1:{} /nonexistent/out.ts", port())).fails(3, &["/nonexistent/out.ts"]);
}

#[test]
fn the_output_of_a_sender_that_dies_is_kept() {
    let (port, out) = (port(), file("torn.ts"));
    let command = format!("receive 127.0.0.1:{port} {} --once --silence 1.5", out.display());
    let receiver = start(&command);
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 200", clip().display()));
    let received = || std::fs::metadata(&out).map_or(0, |m| m.len());
    receiver.until("data", || received() > 100_000);
    sender.signal(Signal::SIGKILL);
    receiver.end().fails(5, &["127.0.0.1", "lost"]);
    let (kept, sent) = (std::fs::read(&out).unwrap(), std::fs::read(clip()).unwrap());
    assert!(kept.len() > 100_000 && sent.starts_with(&kept), "{} bytes kept", kept.len());
}

#[test]
fn the_death_of_a_receiver_is_noticed() {
    let port = port();
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", file("dead.ts").display()));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --retry 1", clip().display()));
    receiver.says("receiving from");
    receiver.signal(Signal::SIGKILL);
    let ended = sender.end();
    ended.fails(5, &["no answer", &port.to_string()]);
    assert!(ended.err.contains("connecting again") && ended.took < Duration::from_secs(15), "{ended:?}");
}

#[test]
fn a_pipe_without_a_stream() {
    let port = port();
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", file("broken.ts").display()));
    receiver.says("listening");
    let text = file("text-pipe.ts");
    std::fs::write(&text, "no transport stream ".repeat(10_000)).unwrap();
    let pipe = std::fs::File::open(&text).unwrap();
    let sender = common::start_with(&format!("send - 127.0.0.1:{port}"), pipe.into()).end();
    sender.fails(3, &["standard input", "not an MPEG transport stream"]);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
}

/// An address in place of an output, and the other way round.
#[test]
fn addresses_are_not_taken_for_outputs() {
    for (command, words) in [
        ("receive :9899", ":9899 is a port, not an output: receive :9899 OUTPUT"),
        ("receive 9899", "9899 is a port, not an output"),
        ("receive 0.0.0.0:9899", "0.0.0.0:9899 is an address, not an output"),
        ("receive rec.ts :9899", "LISTEN comes first: receive :9899 rec.ts"),
        ("receive lo x.ts", "lo is an interface: give its address"),
    ] {
        run(command).fails(2, &[words]);
    }
    for name in [":9899", "9899", "0.0.0.0:9899"] {
        assert!(!std::path::Path::new(name).exists(), "{name} was made");
    }
}

#[test]
fn terminals_are_no_place_for_media() {
    use crate::common::terminal::Terminal;
    let program = env!("CARGO_BIN_EXE_strandcast");
    for (arguments, words) in [
        (vec!["receive", "127.0.0.1:1", "-", "--plain"], "standard output is a terminal"),
        (vec!["send", "-", "127.0.0.1:1", "--plain"], "standard input is a terminal"),
    ] {
        let terminal = Terminal::start(std::process::Command::new(program).args(arguments), 200);
        terminal.shows(words);
        assert_eq!(terminal.end().0, Some(2));
    }
}

#[test]
fn closed_standard_output_is_no_output() {
    let port = port();
    let line = format!("exec {} receive --plain 127.0.0.1:{port} - >&-", env!("CARGO_BIN_EXE_strandcast"));
    let ended = common::spawn(std::process::Command::new("sh").args(["-c", &line])).end();
    ended.fails(3, &["cannot write standard output: it is closed"]);
}

#[test]
fn wrong_numbers_have_the_range_in_words() {
    for (command, words) in [
        ("send a h --latency -1", "-1 is not a whole number from 20 to 60000: milliseconds"),
        ("send a h --latency 2s", "2s is not a whole number from 20 to 60000"),
        ("send a h --latency 1e3", "1e3 is not a whole number from 20 to 60000"),
        ("send a h --mtu 0", "0 is not a whole number from 576 to 65535: bytes"),
        ("send a h --retry -3", "number of seconds"),
        ("receive a.ts --silence -1", "number of seconds"),
        ("perf client h --time 0", "0.1 s or more"),
        ("simulate a --jobs 0", "0 is not a number from 1 to 1024"),
        ("simulate a --jobs -1", "-1 is not a number from 1 to 1024"),
        ("simulate a --seed -1", "-1 is not a whole number from 0 to"),
        ("explain a --flow v --message -1", "-1 is not a whole number from 0 to"),
        ("send a h --rate -1", "\"-1\" is not a rate"),
        ("send a h --buffer -1", "'-1' for '--buffer <SIZE>'"),
        ("key pair --expires -1", "\"-1\" is not a time from 1m to 365d"),
        ("send a h --rate fast", "as in 4Mbit/s"),
    ] {
        let ended = run(command);
        ended.fails(2, &[words]);
        assert!(!ended.err.contains("..=") && !ended.err.contains("invalid digit"), "{}", ended.err);
    }
}

/// Options that would do nothing, and paths that are one.
#[test]
fn what_could_not_work_is_refused_with_the_reason() {
    let clip = clip().display().to_string();
    for (options, code, words) in [
        ("127.0.0.1 --path if=lo --path if=lo", 2, "--path if=lo is given twice"),
        ("127.0.0.1 --path bind=127.0.0.1 --path bind=127.0.0.1", 2, "--path bind=127.0.0.1 is given twice"),
        (
            "127.0.0.1 --path if=lo --path if=lo,mtu=1300",
            2,
            "--path if=lo,mtu=1300 is the same path as if=lo",
        ),
        (
            "127.0.0.1 --path if=lo --path bind=127.0.0.1",
            2,
            "--path bind=127.0.0.1 is the same path as if=lo",
        ),
        ("192.0.2.1 --path if=lo", 4, "lo reaches this machine only, but 192.0.2.1 is another machine"),
        (
            "192.0.2.1 --path bind=127.0.0.1",
            4,
            "lo reaches this machine only, but 192.0.2.1 is another machine",
        ),
        (
            "127.0.0.1 --advice a.json --scheme cmt-qa",
            2,
            "cmt-qa has no advice for encoders: use --scheme strand",
        ),
        ("127.0.0.1 --tariff if=lo,left=200kB --scheme bond", 2, "bond ignores the costs of links"),
    ] {
        run(&format!("send {clip} {options}")).fails(code, &[words]);
    }
    // `schemes NAME` lists the keys that the name has.
    let refused = run(&format!("send {clip} h --scheme bond,x=1"));
    refused.fails(2, &["scheme bond has no key 'x'"]);
    let known: BTreeSet<&str> =
        refused.err.rsplit_once("its keys are ").unwrap().1.trim().split(", ").collect();
    let listed = run("schemes bond");
    let listed = String::from_utf8_lossy(&listed.out).into_owned();
    let key = |line: &str| line.strip_prefix("    ")?.split_once('=').map(|(key, _)| key.to_owned());
    let listed: BTreeSet<String> = listed.lines().filter_map(key).filter(|key| !key.contains(' ')).collect();
    assert_eq!(listed.iter().map(String::as_str).collect::<BTreeSet<_>>(), known);
    // A measurement is no player, and a player measures nothing.
    let port = port();
    let server = start(&format!("perf server 127.0.0.1:{port}"));
    server.says("listening");
    let ended = run(&format!("send {clip} 127.0.0.1:{port}"));
    ended.fails(5, &["this is strandcast perf server, and plays no stream: run strandcast receive there"]);
}

#[test]
fn a_file_of_another_kind_is_named_with_a_remedy() {
    for (name, bytes, kind) in [
        ("clip.mp4", &b"\0\0\0\x20ftypisom"[..], "MP4"),
        ("clip.mkv", &b"\x1a\x45\xdf\xa3"[..], "Matroska"),
        ("notes.txt", &b"no stream at all\n"[..], "text"),
    ] {
        let input = file(name);
        std::fs::write(&input, [bytes, &vec![b' '; 30_000]].concat()).unwrap();
        run(&format!("send {} 127.0.0.1", input.display())).fails(3, &[kind, "ffmpeg -i"]);
    }
    let one = file("one.ts");
    std::fs::write(&one, &std::fs::read(clip()).unwrap()[..188]).unwrap();
    run(&format!("send {} 127.0.0.1", one.display())).fails(3, &["--rate"]);
    run("send rtmp://cam/live h").fails(2, &["ffmpeg -i rtmp://cam/live -c copy -f mpegts -"]);
    run("send udp://127.0.0.1:1234?pkt_size=1316 h").fails(2, &["leave pkt_size= out"]);
}

#[test]
fn a_file_that_is_not_there_reads_the_same_everywhere() {
    let missing = file("missing.toml");
    for command in ["simulate", "check"] {
        let words = format!("cannot read {}: no such file or directory", missing.display());
        let ended = run(&format!("{command} {}", missing.display()));
        ended.fails(2, &[&words]);
        assert!(!ended.err.contains("os error"), "{}", ended.err);
    }
    run(&format!("report {}", missing.display())).fails(3, &["cannot read", "no such file"]);
    run(&format!("report {}", clip().display())).fails(2, &["not files of --stats"]);
}

#[test]
fn keys_that_are_none_and_names_without_their_sign() {
    use crate::common::home::Home;
    let home = Home::new("no-keys");
    let clip = clip().display().to_string();
    home.run(&format!("send {clip} @studio --key /nonexistent/key"))
        .fails(3, &["/nonexistent/key", "no such file"]);
    let text = file("key.txt");
    std::fs::write(&text, "not a key").unwrap();
    home.run(&format!("send {clip} @studio --key {}", text.display()))
        .fails(3, &["is not an identity of Strandcast"]);
    home.run(&format!("send {clip} sc1-garbage")).fails(2, &["not a pairing string"]);
}
