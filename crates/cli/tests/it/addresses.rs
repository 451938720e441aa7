//! Receivers with several addresses, of which some do not answer.

use std::path::PathBuf;

use crate::common::home::Home;
use crate::common::{Ended, Running, clip, file, port, seconds};

/// A receiver on `at`, and a sender that has it at `hosts`.
fn pair(name: &str, at: &str, hosts: &[String]) -> (Running, Home, PathBuf, Home) {
    let (studio, van, out) =
        (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")), file(name));
    let more: Vec<String> = hosts[1..].iter().map(|host| format!("--host {host}")).collect();
    let text = studio.pairing(&hosts[0], &more.join(" "));
    van.reads("key add studio", &text).succeeds();
    let receiver = studio.start(&format!("receive {at} {} --once", out.display()));
    receiver.says("listening");
    (receiver, van, out, studio)
}

fn mute_lines(ended: &Ended) -> Vec<&str> {
    ended.err.lines().filter(|line| line.contains("carried nothing")).collect()
}

/// Nothing answers at the first address: the first attempt connects all the same, at the second.
#[test]
fn the_address_that_answers_is_found_in_the_first_attempt() {
    let port = port();
    let hosts = [format!("[::1]:{port}"), format!("127.0.0.1:{port}")];
    let (receiver, van, out, _studio) = pair("first-attempt.ts", &hosts[1], &hosts);
    let (input, bytes) = seconds(1, "first-attempt-in.ts");
    let sender = van.run(&format!("send {} @studio --path if=lo --latency 200 --retry 2", input.display()));
    sender.succeeds();
    receiver.end().succeeds();
    assert_eq!(std::fs::read(out).unwrap().len(), bytes.len());
    assert_eq!(mute_lines(&sender), Vec::<&str>::new());
}

/// A path by which the receiver cannot be reached: one line says so, once, and the other one carries all.
#[test]
fn a_path_that_never_carries_anything_is_named() {
    let port = port();
    let hosts = [format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
    let (receiver, van, out, _studio) = pair("mute.ts", &hosts[0], &hosts);
    let sender = van.run(&format!(
        "send {} @studio --path bind=127.0.0.1 --path bind=::1 --latency 300",
        clip().display()
    ));
    sender.succeeds();
    receiver.end().succeeds();
    assert_eq!(std::fs::metadata(out).unwrap().len(), std::fs::metadata(clip()).unwrap().len());
    let lines = mute_lines(&sender);
    assert_eq!(lines.len(), 1, "{}", sender.err);
    let port = port.to_string();
    for word in ["::1 carried nothing for 4 s: ", &port, "blocked", "no route to 127.0.0.1 or ::1"] {
        assert!(lines[0].contains(word), "{word}: {}", lines[0]);
    }
}
