//! Sealed streams over loopback: pairing once, who is admitted, and what keys decide.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common;
use crate::common::home::Home;
use crate::common::terminal::Terminal;
use crate::common::{Running, clip, file, port, run, seconds, start};

/// A receiver that plays to a file, and a sender that is paired with it as `@studio`.
struct Pair {
    studio: Home,
    van: Home,
    port: u16,
    out: std::path::PathBuf,
}

impl Pair {
    fn new(name: &str) -> Pair {
        let (studio, van) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")));
        let pair = Pair { studio, van, port: port(), out: file(&format!("{name}.ts")) };
        pair.add(&pair.van, "");
        pair
    }

    /// Pairs another sender.
    fn add(&self, van: &Home, options: &str) {
        let text = self.studio.pairing(&self.host(), options);
        van.reads("key add studio", &text).succeeds();
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn receive(&self, options: &str) -> Running {
        // The recording of an earlier receiver is not overwritten.
        let _ = std::fs::remove_file(&self.out);
        let receiver =
            self.studio.start(&format!("receive {} {} {options}", self.host(), self.out.display()));
        receiver.says("listening");
        receiver
    }

    fn played(&self) -> usize {
        std::fs::metadata(&self.out).map_or(0, |m| m.len() as usize)
    }

    /// Starts a long stream and waits until it is played.
    fn stream(&self, receiver: &Running) -> Running {
        let before = self.played();
        let sender = self.van.start(&send(&clip(), "@studio --latency 200"));
        receiver.until("its video", || self.played() > before + 20_000);
        sender
    }
}

fn send(input: &Path, rest: &str) -> String {
    format!("send {} {rest}", input.display())
}

/// The short form of a user's key.
fn short(home: &Home) -> String {
    home.run("key show --json").json()["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn a_paired_stream_arrives_unchanged_and_both_sides_name_the_cipher() {
    let pair = Pair::new("whole");
    let (input, bytes) = seconds(2, "whole-in.ts");
    let receiver = pair.receive("--once --json");
    let paths = "--path bind=127.0.0.1 --path bind=127.0.0.2 --scheme cmt";
    let sender = pair.van.run(&send(&input, &format!("@studio --latency 300 {paths}")));
    sender.succeeds();
    let receiver = receiver.end();
    receiver.succeeds();
    assert_eq!(std::fs::read(&pair.out).unwrap(), bytes);
    assert_eq!(receiver.json()["identical"], true);
    for said in [&receiver.err, &sender.err] {
        assert!(["AES-128-GCM", "ChaCha20-Poly1305"].iter().any(|cipher| said.contains(cipher)), "{said}");
        assert!(!said.contains("warning"), "{said}");
    }
    let short = short(&pair.van);
    assert!(receiver.err.contains(&format!("receiving from {short}")), "{}", receiver.err);
    let list = pair.studio.run("key list --json").json();
    assert_eq!(list["senders"][0]["fingerprint"], short, "it is enrolled: {list}");
}

#[test]
fn a_host_without_a_pairing_is_refused_before_anything_is_sent() {
    let (home, port) = (Home::new("unpaired"), port());
    let listener = std::net::UdpSocket::bind(("127.0.0.1", port)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let host = format!("127.0.0.1:{port}");
    home.run(&send(&clip(), &host)).fails(2, &["key pair", "key add NAME", "--plain"]);
    home.run(&format!("perf client {host}")).fails(2, &["key pair", "--plain"]);
    home.run(&send(&clip(), "@studio")).fails(2, &["@studio", "key add studio"]);
    home.run(&send(&clip(), "@studio --plain")).fails(2, &["--plain", "@studio"]);
    assert!(listener.recv(&mut [0; 1]).is_err(), "nothing was sent");
    let pair = Pair::new("unpaired-known");
    pair.van.run(&send(&clip(), &pair.host())).fails(2, &["paired as @studio"]);
    pair.van.run(&send(&clip(), "@studoi")).fails(2, &["@studoi", "@studio"]);
}

#[test]
fn a_one_time_string_is_taken_from_the_command_line_and_admits_its_first_sender_alone() {
    let pair = Pair::new("once");
    let (input, _) = seconds(1, "once-in.ts");
    let text = pair.studio.pairing(&pair.host(), "--once");
    let receiver = pair.receive("");
    let (first, second) = (Home::new("once-first"), Home::new("once-second"));
    for _ in 0..2 {
        first.run(&send(&input, &format!("{text} --latency 200"))).succeeds();
    }
    let list = first.run("key list --json").json();
    assert_eq!(list["receivers"].as_array().map(Vec::len), Some(0), "nothing is stored: {list}");
    let refused = second.run(&send(&input, &format!("{text} --latency 200")));
    // The output of either side admits it: by hand, it may use the same string.
    let remedy = format!("strandcast key allow {}", second_key(&second));
    refused.fails(5, &["does not admit this machine", &short(&second), &remedy]);
    receiver.says(&format!("refused {} at 127.0.0.1:", short(&second)));
    receiver.says(&format!("{remedy} admits it"));
    pair.studio.run(&format!("{} --as second", &remedy["strandcast ".len()..])).succeeds();
    second.run(&send(&input, &format!("{text} --latency 200 --retry 5"))).succeeds();
    let reusable = pair.studio.pairing(&pair.host(), "");
    let refused = first.run(&send(&input, &reusable));
    refused.fails(2, &["key add NAME"]);
    assert!(!refused.err.contains(&reusable[..20]), "it is not repeated: {}", refused.err);
}

fn second_key(home: &Home) -> String {
    home.run("key show --json").json()["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_new_pairing_works_without_a_restart() {
    let pair = Pair::new("running");
    let (input, _) = seconds(1, "running-in.ts");
    let _receiver = pair.receive("");
    let late = Home::new("running-late");
    pair.add(&late, "--expires 1h");
    late.run(&send(&input, "@studio --latency 200 --retry 10")).succeeds();
}

#[test]
fn revoking_a_sender_ends_its_stream_within_two_seconds() {
    let pair = Pair::new("revoked");
    let receiver = pair.receive("");
    let sender = pair.stream(&receiver);
    let short = short(&pair.van);
    pair.studio.run(&format!("key allow {short} --as van")).succeeds();
    pair.studio.run("key revoke van").succeeds();
    let revoked = Instant::now();
    // Data received until then are played: the latency is over by now.
    std::thread::sleep(Duration::from_secs(2).saturating_sub(revoked.elapsed()));
    let before = pair.played();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(pair.played(), before, "{}", receiver.said());
    sender.end().fails(5, &["does not admit this machine", &short]);
    pair.van.run(&send(&clip(), "@studio")).fails(5, &["does not admit this machine"]);
    // A sender that was here is known by the short form.
    receiver.says(&format!("strandcast key allow {short} admits it"));
}

#[test]
fn the_newest_sender_of_a_key_wins_and_the_other_one_ends() {
    let pair = Pair::new("same");
    let receiver = pair.receive("");
    let first = pair.van.start(&send(&clip(), "@studio --latency 200 --retry forever"));
    receiver.until("its video", || pair.played() > 20_000);
    let second = pair.stream(&receiver);
    receiver.says("the same key sends from");
    first.end().fails(5, &["another sender with the same key"]);
    let before = pair.played();
    receiver.until("more of the second", || pair.played() > before + 100_000);
    assert_eq!(receiver.said().matches("the same key sends from").count(), 1, "{}", receiver.said());
    second.signal(Signal::SIGINT);
    second.end().succeeds();
}

#[test]
fn another_key_does_not_replace_a_sender() {
    let pair = Pair::new("other");
    let receiver = pair.receive("");
    let sender = pair.stream(&receiver);
    let other = Home::new("other-other");
    pair.add(&other, "");
    other.run(&send(&clip(), "@studio --latency 200")).fails(5, &["already receiving"]);
    let before = pair.played();
    receiver.until("more of the first", || pair.played() > before + 100_000);
    sender.signal(Signal::SIGINT);
    sender.end().succeeds();
}

#[test]
fn a_killed_sender_that_starts_again_is_played_at_once() {
    let pair = Pair::new("killed");
    let receiver = pair.receive("");
    let first = pair.stream(&receiver);
    first.signal(Signal::SIGKILL);
    let killed = Instant::now();
    first.end();
    let second = pair.stream(&receiver);
    assert!(killed.elapsed() < Duration::from_secs(4), "it took {:?}: {}", killed.elapsed(), receiver.said());
    second.signal(Signal::SIGINT);
    second.end().succeeds();
}

#[test]
fn a_killed_receiver_that_starts_again_is_found() {
    let pair = Pair::new("receiver-killed");
    let receiver = pair.receive("");
    let sender = pair.stream(&receiver);
    receiver.signal(Signal::SIGKILL);
    let killed = Instant::now();
    receiver.end();
    let receiver = pair.receive("");
    receiver.until("its video", || pair.played() > 20_000);
    assert!(killed.elapsed() < Duration::from_secs(4), "it took {:?}: {}", killed.elapsed(), sender.said());
    sender.signal(Signal::SIGINT);
    sender.end().succeeds();
}

#[test]
fn between_sealed_and_plain_nothing_is_sent_and_the_remedy_is_named() {
    let pair = Pair::new("mixed");
    let receiver = pair.receive("");
    run(&send(&clip(), &pair.host())).fails(5, &["sealed", "key add", "--plain"]);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
    let receiver = start(&format!("receive {} {}", pair.host(), pair.out.display()));
    receiver.says("listening");
    pair.van.run(&send(&clip(), "@studio --retry 3")).fails(5, &["without encryption", "--plain"]);
    // The reason is printed once while the sender still tries, and again at its end.
    let sender = pair.van.start(&send(&clip(), "@studio"));
    sender.says("with --plain; trying again");
    sender.signal(Signal::SIGINT);
    let ended = sender.end();
    ended.fails(5, &["without encryption"]);
    assert_eq!(ended.err.matches("trying again").count(), 1, "{}", ended.err);
    assert_eq!(pair.played(), 0);
}

#[test]
fn an_enrolment_that_cannot_be_written_is_reported_and_the_stream_goes_on() {
    let pair = Pair::new("unwritten");
    let (input, bytes) = seconds(3, "unwritten-in.ts");
    let receiver = pair.receive("--once");
    // By then it has written where it listens.
    receiver.says("strandcast key pair");
    // The file of the next content cannot be made.
    std::fs::create_dir(pair.studio.store().join("identity.senders.new")).unwrap();
    let sender = pair.van.start(&send(&input, "@studio --latency 200"));
    receiver.says("could not be stored");
    sender.end().succeeds();
    receiver.end().succeeds();
    assert_eq!(std::fs::read(&pair.out).unwrap(), bytes);
}

#[test]
fn a_receiver_on_a_terminal_shows_how_to_pair_until_a_sender_has() {
    let (studio, van) = (Home::new("shown-studio"), Home::new("shown-van"));
    let (port, out) = (port(), file("shown.ts"));
    let receive = format!("receive 127.0.0.1:{port} {}", out.display());
    let shown = |terminal: &Terminal| {
        terminal.shows("at the sender: strandcast key add NAME");
        let screen = terminal.seen();
        let text =
            screen.lines().find(|line| line.starts_with("sc1-")).expect("a pairing string").trim().to_owned();
        assert!(screen.contains('█'), "{screen}");
        text
    };
    let first = shown(&Terminal::start(&mut studio.command(&receive), 100));
    let terminal = Terminal::start(&mut studio.command(&receive), 100);
    assert_eq!(shown(&terminal), first, "the same until it is used");
    van.reads("key add studio", &first).succeeds();
    let (input, _) = seconds(1, "shown-in.ts");
    van.run(&send(&input, "@studio --latency 200")).succeeds();
    drop(terminal);
    std::fs::remove_file(&out).unwrap();
    let terminal = Terminal::start(&mut studio.command(&receive), 100);
    terminal.shows("strandcast key pair makes a pairing string");
    assert!(!terminal.seen().contains("sc1-"), "{}", terminal.seen());
    // Elsewhere than on a terminal it is never shown.
    let other = Home::new("shown-other");
    let receiver = other.start(&format!("receive 127.0.0.1:{} {}", common::port(), out.display()));
    receiver.says("strandcast key pair");
    assert!(!receiver.said().contains("sc1-"), "{}", receiver.said());
}

#[test]
fn measurements_are_sealed_too() {
    let pair = Pair::new("perf");
    let server = pair.studio.start(&format!("perf server {} --once", pair.host()));
    server.says("listening");
    let client = pair.van.run("perf client @studio --time 1 --json --quiet");
    client.succeeds();
    let json = client.json();
    assert!(json["end"]["sum_received"]["bytes"].as_u64() > Some(1_000_000), "{json}");
    let cipher = json["start"]["test_start"]["cipher"].as_str().unwrap();
    assert!(["AES-128-GCM", "ChaCha20-Poly1305"].contains(&cipher), "{cipher}");
    server.end().succeeds();
    let plain = run("perf client 127.0.0.1:9 --time 1");
    plain.fails(5, &["does not answer"]);
    assert!(plain.err.contains("neither encrypted nor authenticated"), "{}", plain.err);
    let server = pair.studio.start(&format!("perf server {}", pair.host()));
    server.says("listening");
    let refused = run(&format!("perf client {} --time 1", pair.host()));
    refused.fails(5, &["the server refuses: this receiver is sealed"]);
    let plain = start(&format!("perf server 127.0.0.1:{}", port()));
    plain.says("neither encrypted nor authenticated");
}

#[test]
fn a_receiver_with_several_hosts_is_found_at_the_one_that_answers() {
    let pair = Pair::new("hosts");
    let (input, _) = seconds(1, "hosts-in.ts");
    let receiver = pair.receive("--once");
    let text = pair.studio.pairing(&format!("127.0.0.1:{} --host {}", port(), pair.host()), "");
    let van = Home::new("hosts-van");
    van.reads("key add studio", &text).succeeds();
    van.run(&send(&input, "@studio --latency 200")).succeeds();
    receiver.end().succeeds();
}
