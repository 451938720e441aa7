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
    run(&format!("receive 127.0.0.1:{port} {}/%Y-%q.ts", folder.display())).fails(2, &["%q is not a field"]);
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

/// One to record and two to play; one that stalls and one without a reader hold up none of the others.
#[test]
fn several_outputs_have_the_stream_at_once() {
    let (port, folder) = (port(), folder("several"));
    let (input, bytes) = seconds(2, "several-in.ts");
    let (one, two, stalled) = (folder.join("one.ts"), folder.join("two.ts"), folder.join("stalled"));
    assert!(std::process::Command::new("mkfifo").arg(&stalled).status().unwrap().success());
    let player = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    player.set_read_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
    let to = player.local_addr().unwrap();
    let read = std::thread::spawn(move || {
        let (mut all, mut buffer, mut quiet) = (Vec::new(), [0; 2000], 0);
        while quiet < 60 && (all.is_empty() || quiet < 4) {
            match player.recv(&mut buffer) {
                Ok(len) => {
                    all.extend_from_slice(&buffer[..len]);
                    quiet = 0;
                }
                Err(_) => quiet += 1,
            }
        }
        all
    });
    let outputs = format!("{} udp://{to} {} {}", one.display(), stalled.display(), two.display());
    let receiver = start(&format!("receive 127.0.0.1:{port} {outputs} --json"));
    receiver.says("listening");
    run(&format!("send {} 127.0.0.1:{port} --latency 500", input.display())).succeeds();
    receiver.says("played ");
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    receiver.fails(3, &["stalled is not read"]);
    for place in [&one, &two] {
        assert!(std::fs::read(place).unwrap() == bytes, "{}", place.display());
    }
    assert!(read.join().unwrap() == bytes);
    let told = receiver.json();
    let names: Vec<&str> =
        told["outputs"].as_array().unwrap().iter().map(|o| o["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 4, "{told}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Its messages are lost, and counted; the recording is whole.
#[test]
fn a_named_pipe_that_nobody_opens_does_not_hold_up_the_end_of_the_only_stream() {
    let (port, folder) = (port(), folder("unopened"));
    let (input, bytes) = seconds(1, "unopened-in.ts");
    let (out, pipe) = (folder.join("rec.ts"), folder.join("pipe"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let outputs = format!("{} {}", out.display(), pipe.display());
    let receiver = start(&format!("receive 127.0.0.1:{port} {outputs} --once --json"));
    receiver.says("listening");
    run(&format!("send {} 127.0.0.1:{port} --latency 500", input.display())).succeeds();
    let receiver = receiver.end();
    receiver.fails(3, &["pipe is not read: the rest of the stream is lost"]);
    assert!(std::fs::read(&out).unwrap() == bytes);
    let told = receiver.json();
    let unread = |n: usize| &told["outputs"][n]["unread"];
    assert_eq!((unread(0), unread(1), &told["unread"]), (&0.into(), &told["played"], &told["played"]));
    assert_eq!(told["identical"], false);
    assert!(receiver.err.contains("messages dropped, since"), "{}", receiver.err);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A full disk ends the recording, not what is played.
#[test]
fn an_output_that_fails_leaves_the_others() {
    let (port, out) = (port(), file("others.ts"));
    let (input, bytes) = seconds(1, "others-in.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} /dev/full {} --once --json", out.display()));
    receiver.says("listening");
    run(&format!("send {} 127.0.0.1:{port} --latency 500", input.display())).succeeds();
    let receiver = receiver.end();
    receiver.fails(3, &["/dev/full", "no space left"]);
    assert!(receiver.err.contains("no space left on device; the other outputs continue"), "{}", receiver.err);
    assert!(std::fs::read(&out).unwrap() == bytes);
    let told = receiver.json();
    assert!(told["identical"] == false && told["outputs"][0]["failed"].is_string(), "{told}");
}

/// One line, and a summary that agrees with it.
#[test]
fn a_udp_output_without_a_listener_is_reported_once_and_counted() {
    let port = port();
    let (input, _) = seconds(1, "silent-in.ts");
    let absent = crate::common::port();
    let receiver = start(&format!("receive 127.0.0.1:{port} udp://127.0.0.1:{absent} --once --json"));
    receiver.says("listening");
    run(&format!("send {} 127.0.0.1:{port} --latency 500", input.display())).succeeds();
    let receiver = receiver.end();
    receiver.succeeds();
    let line = format!("udp://127.0.0.1:{absent}: there is no listener; messages are lost there");
    assert_eq!(receiver.err.matches(&line).count(), 1, "{}", receiver.err);
    let told = receiver.json();
    assert_eq!(told["outputs"][0]["unsent"]["there is no listener"], told["played"], "{told}");
    assert_eq!((&told["unsent"], &told["identical"]), (&told["played"], &false.into()), "{told}");
    assert!(receiver.err.contains("everything arrived, but an output did not take all"), "{}", receiver.err);
    let words = format!("messages not sent to udp://127.0.0.1:{absent}: there is no listener");
    assert!(receiver.err.contains(&words), "{}", receiver.err);
}

/// A player that leaves in the middle: what it had is not counted.
#[test]
fn datagrams_after_the_end_of_a_player_are_counted() {
    let port = port();
    let (input, _) = seconds(2, "left-in.ts");
    let player = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = player.local_addr().unwrap();
    let receiver = start(&format!("receive 127.0.0.1:{port} udp://{to} --once --json"));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 500", input.display()));
    player.recv(&mut [0; 2000]).unwrap();
    drop(player);
    sender.end().succeeds();
    let receiver = receiver.end();
    receiver.succeeds();
    let told = receiver.json();
    let (unsent, played) = (told["unsent"].as_u64().unwrap(), told["played"].as_u64().unwrap());
    assert!(0 < unsent && unsent < played && told["identical"] == false, "{told}");
}

/// The summary and the exit code report a stream that no peer took. Another output has everything.
#[test]
fn an_srt_output_that_never_had_a_peer_is_no_success() {
    let (port, place, out) = (port(), crate::common::port(), file("no-peer.ts"));
    let (input, bytes) = seconds(1, "no-peer-in.ts");
    let srt = format!("srt://127.0.0.1:{place}?mode=listener");
    let receiver = start(&format!("receive 127.0.0.1:{port} {} {srt} --once --json", out.display()));
    receiver.says("listening");
    run(&format!("send {} 127.0.0.1:{port} --latency 500", input.display())).succeeds();
    let receiver = receiver.end();
    receiver.fails(3, &[&format!("cannot write {srt}: no peer has connected")]);
    let line = format!("{srt}: no peer is connected; messages are lost there");
    assert_eq!(receiver.err.matches(&line).count(), 1, "{}", receiver.err);
    assert!(receiver.err.contains("everything arrived, but an output did not take all"), "{}", receiver.err);
    let words = format!("messages not sent to {srt}: no peer is connected");
    assert!(receiver.err.contains(&words), "{}", receiver.err);
    let told = receiver.json();
    assert_eq!(told["outputs"][1]["unsent"]["no peer is connected"], told["played"], "{told}");
    assert!(told["outputs"][1]["failed"].is_string() && told["identical"] == false, "{told}");
    assert!(std::fs::read(&out).unwrap() == bytes);
}

/// Headers of RFC 3550, numbers that follow each other, and every byte after them.
#[test]
fn an_rtp_output_has_the_whole_stream_behind_headers() {
    let (port, player) = (port(), std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
    let (input, bytes) = seconds(1, "rtp-in.ts");
    let to = player.local_addr().unwrap();
    let receiver = start(&format!("receive 127.0.0.1:{port} rtp://{to} --once"));
    receiver.says("listening");
    let reader = std::thread::spawn(move || {
        player.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        let (mut all, mut buffer) = (Vec::new(), [0; 2000]);
        while let Ok(len) = player.recv(&mut buffer) {
            all.push(buffer[..len].to_vec());
        }
        all
    });
    run(&format!("send {} 127.0.0.1:{port} --latency 500", input.display())).succeeds();
    receiver.end().succeeds();
    let all = reader.join().unwrap();
    let numbers: Vec<u16> = all.iter().map(|d| u16::from_be_bytes([d[2], d[3]])).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1)), "{numbers:?}");
    assert!(all.iter().all(|d| d[0] == 0x80 && d[1] & 0x7f == 33 && d[8..12] == all[0][8..12]));
    assert!(all.iter().flat_map(|d| &d[12..]).eq(&bytes), "{} datagrams", all.len());
}

/// Datagrams that the system refuses.
#[test]
fn datagrams_that_cannot_be_sent_are_counted_and_the_stream_is_not_called_whole() {
    if std::net::UdpSocket::bind("[::1]:0").is_err() {
        println!("no IPv6: not tested");
        return;
    }
    // No route leads from the loopback interface to another machine.
    let place = "[2001:db8::1]:5004";
    let port = port();
    let (input, _) = seconds(1, "refused-in.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} udp://{place}?if=lo --once --json"));
    receiver.says("listening");
    run(&format!("send {} 127.0.0.1:{port} --latency 500", input.display())).succeeds();
    let receiver = receiver.end();
    let told = receiver.json();
    assert_eq!((&told["unsent"], &told["identical"]), (&told["played"], &false.into()), "{told}");
    for words in ["; messages are lost there", "messages not sent to", "an output did not take all of it"] {
        assert!(receiver.err.contains(words), "{words}: {}", receiver.err);
    }
}
