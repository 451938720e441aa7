//! No option is without an effect and without a word.

use nix::sys::signal::Signal;

use crate::common::{file, port, run, seconds, start};

#[test]
fn what_the_scheme_would_ignore_is_refused_with_a_remedy() {
    let (input, _) = seconds(1, "ignored.ts");
    let send = format!("send {} 127.0.0.1:{}", input.display(), port());
    let advice = file("advice");
    let tariff = "--tariff if=loopback,class=2,left=200kB";
    run(&format!("{send} --scheme bond {tariff}")).fails(2, &["--tariff", "bond ignores", "--scheme strand"]);
    let advised = |scheme: &str| run(&format!("{send} --scheme {scheme} --advice {}", advice.display()));
    advised("strand,advice=off").fails(2, &["--advice", "leave out advice=off"]);
    advised("cmt-cl").fails(2, &["--advice", "cmt-cl has no advice for encoders", "--scheme strand"]);
    assert!(!advice.exists(), "nothing was opened");
    for keys in ["redundancy=10 %", "fec-when=always", "fec-window=64"] {
        let keys = keys.replace(' ', "");
        run(&format!("{send} --scheme bond,{keys}")).fails(2, &["fec=rlc"]);
    }
    run(&format!("{send} --scheme bond,nothing=1")).fails(2, &["nothing"]);
}

#[test]
fn the_default_takes_caps_and_advises_and_a_cap_says_from_when_it_counts() {
    let port = port();
    let receiver = start(&format!("receive 127.0.0.1:{port} /dev/null"));
    receiver.says("listening");
    let (input, _) = seconds(1, "capped.ts");
    let advice = file("advice");
    let sender = run(&format!(
        "send {} 127.0.0.1:{port} --tariff if=loopback,left=5MB --advice {}",
        input.display(),
        advice.display()
    ));
    sender.succeeds();
    assert!(sender.err.contains("loopback: 5.00 MB from now on"), "{}", sender.err);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
}
