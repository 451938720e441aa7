//! Recordings are kept, and no option writes over keys.

use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::common::home::Home;
use crate::common::{file, port, run, seconds, start};

/// A folder of its own.
fn folder(name: &str) -> PathBuf {
    let path = file(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn a_recording_is_overwritten_only_on_demand_and_only_by_a_stream() {
    let (port, out) = (port(), file("kept.ts"));
    std::fs::write(&out, "the only copy").unwrap();
    let receive = format!("receive 127.0.0.1:{port} {}", out.display());
    run(&receive).fails(2, &["has content", "--overwrite", "%Y%m%d-%H%M%S"]);
    let receiver = start(&format!("{receive} --overwrite"));
    receiver.says("listening");
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
    assert_eq!(std::fs::read(&out).unwrap(), b"the only copy", "no stream came");
    let receiver = start(&format!("{receive} --overwrite --once"));
    receiver.says("listening");
    let (input, bytes) = seconds(1, "kept-in.ts");
    run(&format!("send {} 127.0.0.1:{port} --latency 1000", input.display())).succeeds();
    receiver.end().succeeds();
    assert!(std::fs::read(&out).unwrap() == bytes);
    // An empty file, a device and a pipe have nothing to lose.
    std::fs::write(&out, "").unwrap();
    for place in [out.to_str().unwrap(), "/dev/null", "/dev/full"] {
        let receiver = start(&format!("receive 127.0.0.1:{port} {place}"));
        receiver.says("listening");
        receiver.signal(Signal::SIGTERM);
        receiver.end().succeeds();
    }
}

/// Statistics are added to what is there; a capture, and one that is made readable, need a new or empty file, and advice
/// replaces nothing but advice.
#[test]
fn no_option_empties_a_file() {
    let (port, folder) = (port(), folder("named"));
    let (input, _) = seconds(1, "named-in.ts");
    let place = |name: &str| folder.join(name).display().to_string();
    let whole = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let send = format!("send {} 127.0.0.1:{port} --retry 1 --latency 1000", input.display());
    let kept = b"the only copy";
    for name in ["pcap", "advice", "stats"] {
        std::fs::write(folder.join(name), kept).unwrap();
    }
    std::fs::set_permissions(folder.join("pcap"), std::fs::Permissions::from_mode(0o644)).unwrap();
    for command in [
        format!("{send} --pcap {}", place("pcap")),
        format!("receive 127.0.0.1:{port} {} --pcap {}", place("out"), place("pcap")),
        format!("perf server 127.0.0.1:{port} --pcap {}", place("pcap")),
        format!("perf client 127.0.0.1:{port} --pcap {}", place("pcap")),
    ] {
        run(&command).fails(2, &["pcap has content: name another file"]);
        assert_eq!(whole("pcap"), kept, "{command}");
    }
    let mode = std::fs::metadata(folder.join("pcap")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "what is refused is left as it is");
    run(&format!("{send} --scheme bond,advice=on --advice {}", place("advice")))
        .fails(2, &["advice has content that is not advice: name another file"]);
    assert_eq!(whole("advice"), kept);
    for run_of_it in 1..=2 {
        let receiver = start(&format!("receive 127.0.0.1:{port} {} --overwrite --once", place("out")));
        receiver.says("listening");
        run(&format!("{send} --stats={}", place("stats"))).succeeds();
        receiver.end().succeeds();
        assert!(whole("stats").starts_with(b"the only copy\n"), "run {run_of_it}");
    }
    let lines = String::from_utf8(whole("stats")).unwrap();
    assert!(lines.lines().skip(1).all(|line| line.starts_with('{') && line.ends_with('}')), "{lines}");
    let capture = place("new");
    run(&format!("{send} --pcap {capture}")).fails(5, &["no answer"]);
    std::fs::write(folder.join("log"), "").unwrap();
    let decrypt = format!("decrypt {capture} {} --keylog {}", place("pcap"), place("log"));
    run(&decrypt).fails(2, &["pcap has content: name another file"]);
    assert_eq!(whole("pcap"), kept);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A disk that is full from the beginning: here, a limit of no bytes for each file.
#[test]
fn a_recording_that_cannot_be_begun_leaves_no_empty_file() {
    let (port, folder) = (port(), folder("full"));
    let (input, bytes) = seconds(1, "full-in.ts");
    let receive = |limit: &str| {
        let command = format!("trap '' XFSZ; {limit} exec \"$@\"");
        let pattern = folder.join("%Y%m%d-%H%M%S.ts");
        let listen = format!("127.0.0.1:{port}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &command, "sh", env!("CARGO_BIN_EXE_strandcast"), "receive", &listen]);
        shell.arg(pattern).args(["--plain", "--once"]);
        let receiver = crate::common::spawn(&mut shell);
        receiver.says("listening");
        let sent = run(&format!("send {} {listen} --latency 1000", input.display()));
        (sent, receiver.end())
    };
    for _ in 0..2 {
        let (_, received) = receive("ulimit -f 0;");
        received.fails(3, &["cannot write"]);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
    let (sent, received) = receive("");
    sent.succeeds();
    received.succeeds();
    let all: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(all.len(), 1);
    assert!(std::fs::read(&all[0]).unwrap() == bytes);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn each_stream_has_a_file_named_by_the_time() {
    let (port, folder) = (port(), folder("recordings"));
    let pattern = folder.join("%Y%m%d-%H%M%S.ts");
    let receive = format!("receive 127.0.0.1:{port} {}", pattern.display());
    let receiver = start(&receive);
    receiver.says("listening");
    let names = || {
        let found = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<PathBuf> = found.collect();
        all.sort();
        all
    };
    assert_eq!(names().len(), 0, "no stream, no file");
    let (input, bytes) = seconds(1, "recordings-in.ts");
    for n in 1..=2 {
        run(&format!("send {} 127.0.0.1:{port} --latency 1000", input.display())).succeeds();
        receiver.until("its summary", || receiver.said().matches("played ").count() == n);
        assert_eq!(names().len(), n);
    }
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    receiver.succeeds();
    for name in names() {
        assert!(std::fs::read(&name).unwrap() == bytes, "{}", name.display());
        let words = format!("recording into {}\n", name.display());
        assert!(receiver.err.contains(&words), "{}", receiver.err);
        let stem = name.file_stem().unwrap().to_str().unwrap();
        assert!(stem.starts_with("20") && stem.as_bytes()[8] == b'-', "{stem}");
    }
    run(&format!("receive 127.0.0.1:{port} {}/%Y-%q.ts", folder.display())).fails(2, &["%q is no field"]);
    run(&format!("receive 127.0.0.1:{port} {}/none/%Y.ts", folder.display())).fails(3, &["no such folder"]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A stream for which there is no name is refused; the receiver continues.
#[test]
fn a_stream_without_a_name_for_its_recording_is_refused_and_the_next_one_is_not() {
    let (port, folder) = (port(), folder("names"));
    let pattern = folder.join("%Y.ts");
    let year = {
        let probe = start(&format!("receive 127.0.0.1:{port} {}", pattern.display()));
        probe.says("listening");
        let (input, _) = seconds(1, "names-in.ts");
        run(&format!("send {} 127.0.0.1:{port} --latency 1000", input.display())).succeeds();
        probe.says("played ");
        probe.signal(Signal::SIGTERM);
        probe.end().succeeds();
        let first = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().file_name();
        first.into_string().unwrap().trim_end_matches(".ts").to_owned()
    };
    for n in 2..10_000 {
        std::fs::write(folder.join(format!("{year}-{n}.ts")), "").unwrap();
    }
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", pattern.display()));
    receiver.says("listening");
    let (input, bytes) = seconds(1, "names-in.ts");
    let send = format!("send {} 127.0.0.1:{port} --latency 1000", input.display());
    run(&send).fails(5, &["no name for another recording"]);
    receiver.says("not recorded: ");
    let free = folder.join(format!("{year}-77.ts"));
    std::fs::remove_file(&free).unwrap();
    run(&send).succeeds();
    receiver.says("played ");
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
    assert!(std::fs::read(&free).unwrap() == bytes);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Not those of the command's own store, and not those of another.
#[test]
fn no_option_writes_over_keys() {
    let (own, other) = (Home::new("keys-own"), Home::new("keys-other"));
    for home in [&own, &other] {
        let text = home.pairing("127.0.0.1:9899", "");
        home.reads("key add studio", &text).succeeds();
    }
    let capture = own.path().join("capture.pcap");
    let header = [0xa1b2_3c4d_u32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4], [0, 0, 4, 0], [101, 0, 0, 0]];
    std::fs::write(&capture, header.concat()).unwrap();
    let log = own.path().join("log");
    std::fs::write(&log, "").unwrap();
    let (input, _) = seconds(1, "keys-in.ts");
    let (input, capture, log) = (input.display(), capture.display(), log.display());
    for home in [&own, &other] {
        for name in ["identity", "identity.senders", "identity.receivers"] {
            let keys = home.store().join(name);
            let before = std::fs::read(&keys).unwrap();
            assert!(!before.is_empty());
            let (port, keys) = (port(), keys.display());
            for command in [
                format!("send {input} @studio --stats={keys}"),
                format!("send {input} @studio --scheme bond,advice=on --advice {keys}"),
                format!("send {input} @studio --pcap {keys}"),
                format!("send {input} @studio --keylog {keys}"),
                format!("receive 127.0.0.1:{port} /dev/null --stats={keys}"),
                format!("receive 127.0.0.1:{port} {keys} --overwrite"),
                format!("receive 127.0.0.1:{port} {keys}"),
                format!("decrypt {capture} {keys} --keylog {log}"),
                format!("perf server 127.0.0.1:{port} --pcap {keys}"),
            ] {
                let ended = own.run(&command);
                assert_eq!(ended.code, Some(3), "{command}: {ended:?}");
                assert!(std::fs::read(home.store().join(name)).unwrap() == before, "{command}");
            }
        }
    }
}

/// The maker of a file, or of another name of it, can read the data that are written to it.
#[test]
fn captures_and_key_logs_are_their_users_alone() {
    let home = Home::new("shared");
    let port = port();
    let path = |name: &str| home.path().join(name);
    let make = |name: &str| {
        std::fs::write(path(name), "").unwrap();
        std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    for option in ["--pcap", "--keylog"] {
        let refused = |name: &str, words: &str| {
            let receive = format!("receive 127.0.0.1:{port} /dev/null {option} {}", path(name).display());
            home.run(&receive).fails(3, &[words]);
            assert_eq!(std::fs::metadata(path(name)).unwrap().len(), 0, "{option} {name}");
        };
        for name in ["file", "link", "other"] {
            let _ = std::fs::remove_file(path(name));
        }
        make("file");
        std::fs::hard_link(path("file"), path("other")).unwrap();
        refused("file", "has other names");
        std::fs::remove_file(path("other")).unwrap();
        symlink(path("file"), path("link")).unwrap();
        refused("link", "link");
        // Only root can give a file away.
        if chown(path("file"), Some(65_534), None).is_ok() {
            refused("file", "belongs to another user");
        }
    }
}

/// Not even root's command takes keys that another user could have put there.
#[test]
fn keys_of_another_user_are_not_taken() {
    let home = Home::new("foreign");
    home.run("key new").succeeds();
    let identity = home.store().join("identity");
    if chown(&identity, Some(65_534), None).is_err() {
        println!("only root can give a file away: not tested");
        return;
    }
    home.run("key show").fails(3, &["belongs to another user", "chown"]);
    chown(&identity, Some(0), None).unwrap();
    home.run("key show").succeeds();
}

#[test]
fn an_output_that_is_a_port_is_a_mistake() {
    for place in [":9899", "9899"] {
        run(&format!("receive {place}")).fails(2, &["is a port, not an output"]);
        assert!(!Path::new(place).exists());
    }
}
