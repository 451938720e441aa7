//! Bulk transfer over loopback, and the lists.

use serde_json::Value;

use crate::common::{port, run, start};

#[test]
fn results_have_the_format_of_iperf3_in_either_direction() {
    for (flag, reverse) in [("", 0), ("--reverse", 1)] {
        let port = port();
        let server = start(&format!("perf server 127.0.0.1:{port} --once"));
        server.says("listening");
        let client = run(&format!(
            "perf client 127.0.0.1:{port} --time 1 --message 1000 --scheme cmt-cl-fd --json {flag}"
        ));
        client.succeeds();
        server.end().succeeds();
        let json = client.json();
        let diagnostics: Vec<&str> =
            client.err.lines().filter(|l| l.starts_with("scheme cmt-cl-fd: ")).collect();
        let in_json = json["end"]["diagnostics"].as_array().expect("a list");
        // Also reversed: the client still reports its scheme.
        assert_eq!((diagnostics.len(), in_json.len()), (1, 1), "{}", client.err);
        assert!(diagnostics[0].contains("frame errors"), "{}", client.err);
        assert!(json["end"]["counters"]["distribution_periods"].is_u64(), "{json}");
        let number = |pointer: &str| {
            json.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {json}"))
        };
        assert_eq!(
            (number("/start/test_start/reverse"), number("/start/test_start/blksize")),
            (f64::from(reverse), 1000.0)
        );
        let (sent, received) = (number("/end/sum_sent/bytes"), number("/end/sum_received/bytes"));
        assert!(sent > 1e6 && sent == received, "{sent} {received}");
        assert!(number("/end/sum_received/bits_per_second") > 1e6);
        assert!(number("/intervals/0/sum/bits_per_second") > 1e6);
        assert!(
            number("/end/cpu_seconds_per_gb/sender") > 0.0
                && number("/end/cpu_seconds_per_gb/receiver") > 0.0
        );
    }
}

#[test]
fn clients_get_busy_from_a_busy_server() {
    let place = format!("127.0.0.1:{}", port());
    let server = start(&format!("perf server {place}"));
    server.says("listening");
    let first = start(&format!("perf client {place} --time 30 --quiet"));
    server.says("receiving from");
    let others: Vec<_> = (0..24).map(|_| start(&format!("perf client {place} --time 1 --quiet"))).collect();
    for other in others {
        other.end().fails(5, &["the server is busy with another client"]);
    }
    first.signal(nix::sys::signal::Signal::SIGINT);
    first.end().fails(1, &["interrupted"]);
    server.until("all turned away", || server.said().matches("turned away: busy").count() == 24);
}

#[test]
fn a_client_without_server_gives_up() {
    run(&format!("perf client 127.0.0.1:{} --time 1", port())).fails(5, &["does not answer"]);
}

#[test]
fn help_marks_what_only_the_python_package_has() {
    let help = String::from_utf8(run("--help").out).unwrap();
    for verb in ["figures", "sweep", "oracle", "plot"] {
        let mut lines = help.lines().filter(|line| line.trim_start().starts_with(&format!("{verb} ")));
        assert!(lines.next().is_some_and(|line| line.ends_with("(Python package)")), "{verb}: {help}");
    }
}

#[test]
fn help_documents_the_exit_codes() {
    let help = run("send --help");
    help.succeeds();
    assert!(String::from_utf8_lossy(&help.out).contains("Exit codes"));
}
