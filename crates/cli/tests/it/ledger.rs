//! The ledger of monthly allowances.

use std::path::Path;

use nix::sys::signal::Signal;

use crate::common::{Running, clip, file, port, run, start};

/// Sum in the ledger, which has one link.
fn used(ledger: &Path) -> u64 {
    let text = std::fs::read_to_string(ledger).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("used = ")).map_or(0, |used| used.parse().unwrap())
}

fn sender(port: u16, ledger: &Path) -> Running {
    let tariff = "--tariff if=loopback,month=2MB,day=28";
    start(&format!("send {} 127.0.0.1:{port} {tariff} --ledger {}", clip().display(), ledger.display()))
}

#[test]
fn a_sender_that_is_killed_leaves_its_count() {
    let ledger = file("ledger.toml");
    let mut before = 0;
    for (signal, out) in [(Signal::SIGKILL, "ledger-1.ts"), (Signal::SIGTERM, "ledger-2.ts")] {
        let port = port();
        let receiver = start(&format!("receive 127.0.0.1:{port} {}", file(out).display()));
        receiver.says("listening");
        let sender = sender(port, &ledger);
        let left = (2_000_000 - before) as f64 / 1e6;
        sender.says(&format!("loopback: {left:.2} MB of 2.00 MB left until"));
        sender.until("a larger count", || used(&ledger) > before + 100_000);
        sender.signal(signal);
        sender.end();
        before = used(&ledger);
        receiver.signal(Signal::SIGTERM);
        receiver.end();
    }
}

#[test]
fn a_ledger_that_cannot_be_used_is_named() {
    let ledger = file("no-ledger.toml");
    std::fs::write(&ledger, "used = 3\n").unwrap();
    let send = format!("send {} 127.0.0.1:9 --tariff if=loopback,month=1GB", clip().display());
    run(&format!("{send} --ledger {}", ledger.display())).fails(3, &["no-ledger.toml:1: ", "--ledger"]);
    run(&format!("{send},left=1GB")).fails(2, &["no left= or for="]);
    run(&format!("{send} --tariff if=loopback,class=1")).fails(2, &["loopback is given twice"]);
}
