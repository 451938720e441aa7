//! Failures outside the stream do not end it; late messages are counted.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::common::peer::PeerRuntime;
use crate::common::{clip, file, port, run, seconds, start};

#[test]
fn messages_that_are_late_because_the_sender_stood_still_expire() {
    let (port, out) = (port(), file("stopped.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --json --silence 30", out.display()));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 500 --json", clip().display()));
    receiver.until("data", || std::fs::metadata(&out).is_ok_and(|m| m.len() > 50_000));
    sender.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(4));
    sender.signal(Signal::SIGCONT);
    let before = std::fs::metadata(&out).unwrap().len();
    receiver.until("data again", || std::fs::metadata(&out).unwrap().len() > before + 100_000);
    sender.signal(Signal::SIGINT);
    let sender = sender.end();
    sender.succeeds();
    assert!(sender.err.contains("this machine was suspended"), "{}", sender.err);
    receiver.until("its figures", || !receiver.out.lock().unwrap().is_empty());
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    let (sent, got) = (sender.json(), receiver.json());
    let number = |of: &serde_json::Value, key: &str| of[key].as_u64().unwrap();
    // 95 messages per second, for 3.5 s.
    let expired = number(&sent, "expired");
    println!("{expired} expired; {} late, {} lost", number(&got, "late"), number(&got, "lost"));
    assert!((250..450).contains(&expired), "{sent}");
    assert!(number(&got, "late") < 20, "messages that would be late are not sent: {got}");
}

#[test]
fn a_full_disk_for_captures_and_statistics_does_not_end_the_stream() {
    for option in ["--stats=/dev/full", "--pcap /dev/full"] {
        let (port, out) = (port(), file(&format!("beside{}.ts", option.len())));
        let (input, bytes) = seconds(4, "beside-in.ts");
        let receiver = start(&format!("receive 127.0.0.1:{port} {} --once {option}", out.display()));
        receiver.says("listening");
        let sender = run(&format!("send {} 127.0.0.1:{port} --latency 200 {option}", input.display()));
        let receiver = receiver.end();
        for side in [&sender, &receiver] {
            side.succeeds();
            let told = side.err.lines().filter(|l| l.contains("/dev/full: no space left")).count();
            assert_eq!(told, 1, "once: {}", side.err);
        }
        assert!(std::fs::read(&out).unwrap() == bytes, "{option}");
    }
}

#[test]
fn a_summary_that_cannot_be_printed_is_reported_at_the_end() {
    let (port, out) = (port(), file("unprinted.ts"));
    let (input, bytes) = seconds(1, "unprinted-in.ts");
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let strandcast = |args: String| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
        command.args(args.split_whitespace()).stdout(full()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let receiver = strandcast(format!("receive 127.0.0.1:{port} {} --once --json --plain", out.display()));
    let sender =
        strandcast(format!("send {} 127.0.0.1:{port} --latency 200 --json --plain", input.display()));
    for side in [sender, receiver] {
        let ended = side.wait_with_output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(3), "{err}");
        let last = err.lines().last().unwrap();
        assert!(last.starts_with("strandcast: cannot write to standard output: no space left"), "{err}");
    }
    assert!(std::fs::read(&out).unwrap() == bytes, "the stream was delivered");
}

/// Also when the whole file was read before the receiver was lost.
#[test]
fn a_reconnecting_sender_ends_on_request() {
    let runtime = PeerRuntime::start();
    let port = port();
    let mut door = runtime.listen(port);
    let (input, _) = seconds(1, "looking.ts");
    let sender = start(&format!("send {} 127.0.0.1:{port} --retry forever", input.display()));
    let receiver = door.accept();
    receiver.first_media();
    // It reads half a second ahead.
    std::thread::sleep(Duration::from_millis(750));
    receiver.abort("refused: no room");
    receiver.dies();
    sender.says("trying again");
    std::thread::sleep(Duration::from_secs(2));
    sender.signal(Signal::SIGINT);
    sender.end().succeeds();
}
