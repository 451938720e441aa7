//! A blocked side output, or a blocked output of media, stops neither the stream nor its end.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::terminal::Terminal;
use crate::common::{LONG, clip, file, port, run, seconds, start};

/// Time for a signal to end a command: latency and a second, and what a busy machine takes.
const SOON: Duration = Duration::from_secs(4);

fn played(out: &Path) -> u64 {
    std::fs::metadata(out).map_or(0, |m| m.len())
}

fn fifo(name: &str) -> PathBuf {
    let path = file(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn strandcast(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
    command.args(args.split_whitespace());
    command
}

/// Ends a command with a signal; its code and how long that took.
#[track_caller]
fn ends(child: &mut Child, signal: Signal) -> (Option<i32>, Duration) {
    let begun = Instant::now();
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), begun.elapsed());
        }
        if begun.elapsed() > LONG {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
fn grows(out: &Path) {
    let (before, begun) = (played(out), Instant::now());
    while played(out) < before + 100_000 {
        assert!(begun.elapsed() < SOON, "{} bytes and no more", played(out));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ctrl-S at either end.
#[test]
fn a_terminal_that_is_stopped_stops_nothing_else() {
    for stopped in ["receive", "send"] {
        let (port, out) = (port(), file(&format!("stopped-{stopped}.ts")));
        let receive = format!("receive 127.0.0.1:{port} {} --plain", out.display());
        let send = format!("send {} 127.0.0.1:{port} --latency 300 --plain", clip().display());
        let (mine, other) = if stopped == "receive" { (&receive, &send) } else { (&send, &receive) };
        let first = (stopped == "send").then(|| start(other.trim_end_matches("--plain")));
        first.iter().for_each(|receiver| receiver.says("listening"));
        let mut terminal = Terminal::start(&mut strandcast(mine), 80);
        terminal.shows(if first.is_some() { "active" } else { "listening" });
        let _other = first.unwrap_or_else(|| start(other.trim_end_matches("--plain")));
        terminal.shows("active");
        terminal.types("\x13");
        std::thread::sleep(Duration::from_secs(1));
        grows(&out);
        grows(&out);
        let begun = Instant::now();
        terminal.signal(Signal::SIGTERM);
        let (code, _) = terminal.end();
        println!("{stopped}: {code:?} {:?} after SIGTERM", begun.elapsed());
        assert_eq!(code, Some(0), "{stopped}");
        assert!(begun.elapsed() < SOON, "{stopped}: {:?}", begun.elapsed());
    }
}

#[test]
fn pipes_without_a_reader_hold_up_nothing() {
    for option in ["--stats=", "--pcap "] {
        let (port, out) = (port(), file(&format!("unread{}.ts", option.trim())));
        let (input, bytes) = seconds(2, &format!("unread{}-in.ts", option.trim()));
        let pipes = [0, 1].map(|n| fifo(&format!("unread{}-{n}", option.trim())));
        let receiver = start(&format!(
            "receive 127.0.0.1:{port} {} --once {option}{}",
            out.display(),
            pipes[0].display()
        ));
        receiver.says("listening");
        let send = format!("send {} 127.0.0.1:{port} --latency 1000", input.display());
        run(&format!("{send} {option}{}", pipes[1].display())).succeeds();
        receiver.end().succeeds();
        assert!(std::fs::read(&out).unwrap() == bytes, "{option}");
    }
}

/// Data that the reader of a pipe misses are counted.
#[test]
fn a_pipe_that_pauses_gets_what_fits_and_the_rest_is_counted() {
    let (port, out, pipe) = (port(), file("pause.ts"), fifo("pause"));
    let receive = format!("receive 127.0.0.1:{port} {} --once --pcap {}", out.display(), pipe.display());
    let receiver = start(&receive);
    receiver.says("listening");
    let mut reader = File::open(&pipe).unwrap();
    let mut begin = [0; 24];
    reader.read_exact(&mut begin).unwrap();
    assert_eq!(begin[..4], 0xa1b2_3c4d_u32.to_le_bytes());
    let (input, bytes) = seconds(3, "pause-in.ts");
    run(&format!("send {} 127.0.0.1:{port} --latency 1000", input.display())).succeeds();
    let rest = std::thread::spawn(move || {
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        rest.len()
    });
    receiver.end().succeeds();
    assert!(std::fs::read(&out).unwrap() == bytes);
    let captured = rest.join().unwrap();
    assert!(captured > bytes.len(), "all packets fit the queue: {captured}");
}

#[test]
fn an_output_that_is_not_read_stops_neither_refusals_nor_the_end() {
    let port = port();
    let receive = format!("receive 127.0.0.1:{port} - --plain");
    let mut command = strandcast(&receive);
    let said = file("stalled.err");
    let err = File::create(&said).unwrap();
    let mut receiver = command.stdout(Stdio::piped()).stderr(err).spawn().unwrap();
    let send = format!("send {} 127.0.0.1:{port} --latency 300", clip().display());
    let _first = start(&send);
    // More than a pipe takes.
    std::thread::sleep(Duration::from_secs(3));
    let second = start(&send);
    second.end().fails(5, &["already receiving"]);
    let (code, took) = ends(&mut receiver, Signal::SIGTERM);
    let said = std::fs::read_to_string(said).unwrap();
    println!("{took:?}: {said}");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.lines().last().unwrap().contains("standard output is not read"), "{said}");
    assert!(took < SOON, "{took:?}");
}

#[test]
fn a_pipe_to_play_to_may_have_no_reader_yet() {
    let (port, pipe) = (port(), fifo("later.ts"));
    let receive = format!("receive 127.0.0.1:{port} {}", pipe.display());
    let receiver = start(&receive);
    receiver.says("listening");
    let begun = Instant::now();
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    // With a reader that comes after the stream has begun, nothing is lost.
    let receiver = start(&format!("{receive} --once"));
    receiver.says("listening");
    let (input, bytes) = seconds(2, "later-in.ts");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 1000", input.display()));
    receiver.says("receiving from");
    std::thread::sleep(Duration::from_millis(500));
    let mut got = Vec::new();
    File::open(&pipe).unwrap().read_to_end(&mut got).unwrap();
    sender.end().succeeds();
    receiver.end().succeeds();
    assert!(got == bytes, "{} bytes", got.len());
}

/// A pipe that has no writer yet.
#[test]
fn an_input_that_does_not_open_does_not_hold_up_the_end() {
    let pipe = fifo("nothing.ts");
    let mut sender =
        strandcast(&format!("send {} 127.0.0.1:{} --plain", pipe.display(), port())).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let (code, took) = ends(&mut sender, Signal::SIGTERM);
    assert_eq!(code, Some(0));
    assert!(took < SOON, "{took:?}");
}

/// A lost ssh connection, and a supervisor's second signal at once.
#[test]
fn a_hang_up_ends_a_stream_as_an_interrupt_does() {
    let (port, out) = (port(), file("hang-up.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 300", clip().display()));
    receiver.until("data", || played(&out) > 100_000);
    sender.signal(Signal::SIGHUP);
    let sender = sender.end();
    sender.succeeds();
    assert!(sender.err.contains("sent "), "{}", sender.err);
    receiver.says("played ");
    receiver.signal(Signal::SIGHUP);
    receiver.signal(Signal::SIGTERM);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
}

/// `nohup` keeps a command from the end of its session.
#[test]
fn an_ignored_hang_up_stays_ignored() {
    let (port, out) = (port(), file("nohup.ts"));
    let program = env!("CARGO_BIN_EXE_strandcast");
    let command = format!("trap '' HUP; exec {program} receive 127.0.0.1:{port} {} --plain", out.display());
    let mut child = Command::new("sh").args(["-c", &command]).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGHUP).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    assert_eq!(ends(&mut child, Signal::SIGTERM).0, Some(0));
}
