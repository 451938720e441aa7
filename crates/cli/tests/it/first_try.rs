//! The default loses nothing of a live input that comes in bursts, at the first try: no option but the latency.
//!
//! `python3 -m bench first-try` has the whole grid; these are the cells that a user meets first, side by side.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use strandcast_net::emulate::Relay;
use strandcast_netem::link::LinkConfig;
use strandcast_netem::number::Number;

use crate::common::home::Home;
use crate::common::link::link;
use crate::common::{Ended, Running, file, port, start, start_with};

const TS: usize = 188;
/// Packets of a datagram.
const IN_DATAGRAM: usize = 7;
/// Duration of an input.
const LASTS: Duration = Duration::from_secs(4);
/// Lateness of a timer from which a failed attempt does not count and is repeated, and the maximum number of attempts.
const MOST_STALL: Duration = Duration::from_millis(50);
const TRIES: usize = 5;

/// Form of a live input.
#[derive(Clone, Copy, Debug)]
enum Input {
    /// Over UDP: all data that are encoded in this number of milliseconds at once.
    Bursts(u64),
    /// A pipe, read in blocks of this size in bytes.
    Blocks(usize),
}

#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    input: Input,
    rate_bps: u64,
    /// Time from the start of the sender to the first bytes.
    idle_ms: u64,
    latency_ms: u64,
    /// Round-trip time of an emulated link; 0: loopback alone.
    round_trip_ms: u64,
    sealed: bool,
}

const CASE: Case = Case {
    name: "",
    input: Input::Bursts(100),
    rate_bps: 4_000_000,
    idle_ms: 0,
    latency_ms: 300,
    round_trip_ms: 0,
    sealed: false,
};

const CASES: [Case; 11] = [
    Case { name: "frames at once", input: Input::Bursts(40), ..CASE },
    Case { name: "frames behind silence", input: Input::Bursts(40), idle_ms: 3000, ..CASE },
    Case { name: "bursts behind silence", idle_ms: 3000, ..CASE },
    Case { name: "sealed bursts", idle_ms: 3000, sealed: true, ..CASE },
    Case { name: "slow bursts", input: Input::Bursts(260), rate_bps: 1_000_000, latency_ms: 200, ..CASE },
    Case { name: "long bursts", input: Input::Bursts(500), idle_ms: 3000, latency_ms: 500, ..CASE },
    Case { name: "frames behind a long silence", input: Input::Bursts(40), idle_ms: 11_000, ..CASE },
    Case { name: "blocks of a pipe", input: Input::Blocks(8 << 10), ..CASE },
    Case { name: "large blocks", input: Input::Blocks(64 << 10), idle_ms: 3000, ..CASE },
    Case { name: "bursts over 2 ms", idle_ms: 3000, round_trip_ms: 2, ..CASE },
    Case { name: "frames over 40 ms", input: Input::Bursts(40), idle_ms: 3000, round_trip_ms: 40, ..CASE },
];

/// Processes and relays of a case while it runs.
#[derive(Default)]
struct Held {
    _homes: Vec<Home>,
    _link: Option<Relay>,
}

impl Case {
    fn file(&self, end: &str) -> PathBuf {
        file(&format!("first-{}.{end}", self.name.replace(' ', "-")))
    }

    /// (when, bytes) of what comes at once.
    fn schedule(&self) -> Vec<(Duration, usize)> {
        let bytes = |time: Duration| (self.rate_bps as f64 / 8.0 * time.as_secs_f64()) as usize;
        let (every, size) = match self.input {
            Input::Bursts(ms) => {
                let every = Duration::from_millis(ms);
                (every, bytes(every) / (TS * IN_DATAGRAM) * (TS * IN_DATAGRAM))
            }
            Input::Blocks(size) => (Duration::from_secs_f64(size as f64 * 8.0 / self.rate_bps as f64), size),
        };
        let count = LASTS.as_nanos() / every.as_nanos();
        (0..count as u32).map(|n| (every * n, size)).collect()
    }

    /// Starts a receiver and a sender of this case.
    fn started(&self, receiver_port: u16, place: &str, input: Stdio) -> (Running, Running, Held) {
        let receive =
            format!("receive 127.0.0.1:{receiver_port} {} --once --json", self.file("ts").display());
        let send = |to: &str| format!("send {place} {to} --latency {} --json", self.latency_ms);
        if self.sealed {
            let homes = ["studio", "van"].map(|who| Home::new(&format!("first-{who}")));
            let text = homes[0].pairing(&format!("127.0.0.1:{receiver_port}"), "");
            homes[1].reads("key add studio", &text).succeeds();
            let receiver = homes[0].start(&receive);
            receiver.says("listening");
            let sender = homes[1].start(&send("@studio"));
            return (receiver, sender, Held { _homes: homes.into(), ..Held::default() });
        }
        let receiver = start(&receive);
        receiver.says("listening");
        if self.round_trip_ms == 0 {
            return (
                receiver,
                start_with(&send(&format!("127.0.0.1:{receiver_port}")), input),
                Held::default(),
            );
        }
        let delay = Number::from(Duration::from_millis(self.round_trip_ms) / 2);
        let both = LinkConfig { delay, ..LinkConfig::default() };
        let relay = link(receiver_port, both.clone(), both);
        let sender = start_with(&send(&relay.local_addr().to_string()), input);
        (receiver, sender, Held { _link: Some(relay), ..Held::default() })
    }

    /// Sends everything. Returns the output of sender and receiver, and the number of packets sent.
    fn run(&self) -> (Ended, Ended, u32) {
        let _ = std::fs::remove_file(self.file("ts"));
        let (to, from) = (port(), port());
        match self.input {
            Input::Bursts(_) => {
                let (receiver, sender, _held) =
                    self.started(to, &format!("udp://127.0.0.1:{from}"), Stdio::null());
                sender.says("sending");
                let camera = UdpSocket::bind("127.0.0.1:0").unwrap();
                let sent = self.send(|bytes| {
                    // Burst of an interface of some hundred Mbit/s: sockets hold that amount for a process that waits.
                    for datagrams in bytes.chunks(TS * IN_DATAGRAM * 50) {
                        for datagram in datagrams.chunks(TS * IN_DATAGRAM) {
                            camera.send_to(datagram, ("127.0.0.1", from)).unwrap();
                        }
                        std::thread::sleep(Duration::from_millis(1));
                    }
                });
                let rest = self.latency_ms + self.round_trip_ms + 500;
                std::thread::sleep(Duration::from_millis(rest));
                sender.signal(Signal::SIGINT);
                (sender.end(), receiver.end(), sent)
            }
            Input::Blocks(_) => {
                let (read, mut write) = std::io::pipe().unwrap();
                let (receiver, sender, _held) = self.started(to, "-", read.into());
                let sent = self.send(|bytes| write.write_all(bytes).unwrap());
                drop(write);
                (sender.end(), receiver.end(), sent)
            }
        }
    }

    /// Gives the input to `put` at its pace; how many whole packets that was.
    fn send(&self, mut put: impl FnMut(&[u8])) -> u32 {
        let schedule = self.schedule();
        let whole: usize = schedule.iter().map(|(_, size)| size).sum();
        let bytes: Vec<u8> = (0..whole.div_ceil(TS) as u32).flat_map(packet).collect();
        let begin = Instant::now() + Duration::from_millis(self.idle_ms);
        let mut sent = 0;
        for (at, size) in schedule {
            std::thread::sleep((begin + at).saturating_duration_since(Instant::now()));
            put(&bytes[sent..sent + size]);
            sent += size;
        }
        (whole / TS) as u32
    }
}

/// A numbered packet of a transport stream.
fn packet(number: u32) -> [u8; TS] {
    let mut packet = [0; TS];
    packet[..4].copy_from_slice(&[0x47, 0x01, 0x00, 0x10 | (number % 16) as u8]);
    packet[4..8].copy_from_slice(&number.to_be_bytes());
    packet
}

/// Numbers in a received stream.
fn numbers(out: &Path) -> BTreeSet<u32> {
    let bytes = std::fs::read(out).unwrap_or_default();
    bytes.chunks_exact(TS).map(|packet| u32::from_be_bytes(packet[4..8].try_into().unwrap())).collect()
}

/// A timer of 10 ms that measures its maximum lateness.
struct Guard {
    stop: Arc<AtomicBool>,
    worst_ns: Arc<AtomicU64>,
}

impl Guard {
    fn start() -> Guard {
        let guard = Guard { stop: Arc::default(), worst_ns: Arc::default() };
        let (stop, worst) = (Arc::clone(&guard.stop), Arc::clone(&guard.worst_ns));
        std::thread::spawn(move || {
            let step = Duration::from_millis(10);
            while !stop.load(Ordering::Relaxed) {
                let begun = Instant::now();
                std::thread::sleep(step);
                let late = begun.elapsed().saturating_sub(step);
                worst.fetch_max(late.as_nanos() as u64, Ordering::Relaxed);
            }
        });
        guard
    }

    fn stop(&self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        Duration::from_nanos(self.worst_ns.load(Ordering::Relaxed))
    }
}

/// Result of a case.
#[derive(Debug, PartialEq)]
enum Verdict {
    Fine,
    Wrong(String),
    /// Something was lost in each try, and the machine stalled in each.
    Stalled(&'static str),
}

/// Fails if a case was wrong, or if the machine stalled in most of them.
fn check(verdicts: &[Verdict]) {
    let wrong: Vec<&Verdict> = verdicts.iter().filter(|v| matches!(v, Verdict::Wrong(_))).collect();
    assert!(wrong.is_empty(), "{} of {} lost something:\n{wrong:#?}", wrong.len(), verdicts.len());
    let stalled: Vec<&Verdict> = verdicts.iter().filter(|v| matches!(v, Verdict::Stalled(_))).collect();
    assert!(2 * stalled.len() <= verdicts.len(), "too slow a machine to judge: {stalled:?}");
}

/// Returns the result of `attempt`, which is repeated while the machine stalls.
fn judged(name: &'static str, attempt: impl Fn() -> Result<(), String>) -> Verdict {
    for _ in 0..TRIES {
        let guard = Guard::start();
        let found = attempt();
        let stall = guard.stop();
        println!(
            "{name}: {}, a timer was {stall:?} late",
            if found.is_ok() { "fine" } else { "something lost" }
        );
        match found {
            Ok(()) => return Verdict::Fine,
            Err(wrong) if stall < MOST_STALL => return Verdict::Wrong(format!("{name}: {wrong}")),
            Err(_) => {}
        }
    }
    println!("{name}: the machine stalled {TRIES} times");
    Verdict::Stalled(name)
}

/// Data that a case lost, if any.
fn lost(case: &Case) -> Result<(), String> {
    let (sender, receiver, sent) = case.run();
    sender.succeeds();
    receiver.succeeds();
    let (told, got) = (sender.json(), receiver.json());
    let counts = [&told["expired"], &got["late"], &got["lost"]].map(serde_json::Value::as_u64);
    let came = numbers(&case.file("ts"));
    let missing = (0..sent).filter(|number| !came.contains(number)).count();
    if missing == 0 && counts == [Some(0); 3] {
        return Ok(());
    }
    Err(format!("{case:?}: {missing} of {sent} packets missing; {told}; {got}"))
}

/// One at a time: an encoder takes much of a small machine.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn bursts_of_a_live_input_lose_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let verdicts: Vec<Verdict> = std::thread::scope(|scope| {
        let running = CASES.each_ref().map(|case| scope.spawn(move || judged(case.name, || lost(case))));
        running.into_iter().map(|case| case.join().unwrap()).collect()
    });
    check(&verdicts);
}

/// Seconds of the encoder.
const SECONDS: usize = 8;
const PICTURES: usize = 25;

/// An encoder of 4 Mbit/s that works in real time, to `output`.
fn encoder(output: &str) -> Command {
    let mut command = Command::new("ffmpeg");
    let source = format!("-re -f lavfi -i testsrc2=size=1280x720:rate={PICTURES} -t {SECONDS}");
    command.args(["-v", "error", "-nostdin"]).args(source.split(' '));
    command.args("-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g 50".split(' '));
    command.args("-b:v 4M -maxrate 4M -bufsize 4M -f mpegts".split(' ')).arg(output);
    command
}

/// Returns an error if something was lost or a picture cannot be decoded.
fn decodes(sender: &Ended, receiver: &Ended, out: &Path) -> Result<(), String> {
    sender.succeeds();
    receiver.succeeds();
    let (told, got) = (sender.json(), receiver.json());
    let lost = [&told["expired"], &got["late"], &got["lost"]].map(serde_json::Value::as_u64);
    if lost != [Some(0); 3] {
        return Err(format!("{told} {got}"));
    }
    let mut decoder = Command::new("ffmpeg");
    decoder.args(["-v", "error", "-nostdin", "-i"]).arg(out).args(["-f", "null", "-"]);
    let decoded = decoder.output().unwrap();
    let errors = String::from_utf8_lossy(&decoded.stderr).into_owned();
    let probe = "-v error -select_streams v -count_frames -show_entries stream=nb_read_frames -of csv=p=0";
    let probed = Command::new("ffprobe").args(probe.split(' ')).arg(out).output().unwrap();
    let counted = String::from_utf8_lossy(&probed.stdout);
    let pictures = counted.lines().next().unwrap_or("").trim_matches(',').to_owned();
    let all = pictures == (SECONDS * PICTURES).to_string() && errors.is_empty();
    if all { Ok(()) } else { Err(format!("{pictures} pictures, {errors}")) }
}

/// A file that a try before this one has not written.
fn fresh(name: &str) -> std::path::PathBuf {
    let path = file(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn encoded_over_udp() -> Result<(), String> {
    let (to, from, out) = (port(), port(), fresh("first-encoder-udp.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{to} {} --once --json", out.display()));
    receiver.says("listening");
    let sender = start(&format!("send udp://127.0.0.1:{from} 127.0.0.1:{to} --latency 400 --json"));
    sender.says("sending");
    // The sender is there before the encoder.
    std::thread::sleep(Duration::from_secs(4));
    let encoded = encoder(&format!("udp://127.0.0.1:{from}?pkt_size=1316")).output().unwrap();
    assert!(encoded.status.success(), "{encoded:?}");
    std::thread::sleep(Duration::from_secs(1));
    sender.signal(Signal::SIGINT);
    decodes(&sender.end(), &receiver.end(), &out)
}

fn encoded_into_a_pipe() -> Result<(), String> {
    let (to, out) = (port(), fresh("first-encoder-pipe.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{to} {} --once --json", out.display()));
    receiver.says("listening");
    let mut encoding = encoder("-").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let pipe = encoding.stdout.take().unwrap();
    let sender = start_with(&format!("send - 127.0.0.1:{to} --latency 500 --json"), pipe.into());
    assert!(encoding.wait().unwrap().success());
    decodes(&sender.end(), &receiver.end(), &out)
}

#[test]
fn a_real_encoder_loses_nothing() {
    let parts = std::env::var("STRANDCAST_PARTS").unwrap_or_default();
    if !parts.split(' ').any(|part| part == "ffmpeg") {
        println!("not run: ffmpeg is not in STRANDCAST_PARTS");
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    check(&[
        judged("an encoder over UDP", encoded_over_udp),
        judged("an encoder into a pipe", encoded_into_a_pipe),
    ]);
}
