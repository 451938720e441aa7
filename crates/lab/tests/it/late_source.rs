//! An encoder that starts some seconds after its connection. The idle time must not slow the stream down later.

use std::path::Path;

use strandcast_lab::result::Subject;
use strandcast_lab::scenario::parse;
use strandcast_testing::lab::{metric, run};

/// Share of missed messages of half a minute of video over one path, whose source starts at this second.
fn missed(scheme: &str, delay_ms: u32, start_s: u32) -> f64 {
    let text = format!(
        "[run]\ntime = \"33 s\"\nwarmup = \"1 s\"\n[nodes.a]\n[nodes.b]\n\
         [links.wifi]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbit/s\"\ndelay = \"{delay_ms} ms\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nprofile = \"live\"\nscheme = \"{scheme}\"\npaths.p.via = [\"wifi\"]\n\
         app = {{ kind = \"video\", rate = \"4 Mbit/s\", size = 1316, burst = \"40 ms\", key_frames.every = 50, \
         pause = {{ from = 0, to = \"{start_s} s\" }}, keep_alive = \"1 s\", deadline = \"500 ms\", expire = true }}\n"
    );
    let scenario = parse(&text, "late.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"));
    metric(&run(&scenario, 1), &Subject::Flow("f".into()), "missed_ratio")
}

/// Slow start takes the first pictures, at most five in a hundred messages, whether the path was idle before or not.
#[test]
fn an_idle_time_before_the_first_picture_costs_no_more_than_slow_start() {
    for scheme in ["cmt", "mptcp", "strand"] {
        for delay_ms in [30, 70, 100] {
            let late = missed(scheme, delay_ms, 3);
            assert!(late < 0.05, "{scheme}, {delay_ms} ms: {late} missed");
        }
    }
}
