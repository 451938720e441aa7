//! CUBIC's window over time (RFC 9438 §4.2) in an epoch without losses.

use core::time::Duration;

use strandcast_lab::result::Subject;
use strandcast_lab::scenario::{Loss, TraceFile};
use strandcast_lab::simulation::{Control, RunOptions, Simulation};
use strandcast_testing::lab;

use super::between_two_hosts;

/// The window in segments at each millisecond.
struct Windows {
    segment: f64,
    seen: Vec<(f64, f64)>,
}

impl Control for Windows {
    fn point(&mut self, time_s: f64, subject: &Subject, metric: &'static str, value: f64) {
        if metric == "cwnd_bytes" && matches!(subject, Subject::Path { .. }) {
            self.seen.push((time_s, value / self.segment));
        }
    }
}

/// A flow that begins with a window of `segments`, one of which is lost; nothing is lost afterwards.
fn windows(profile: &str, segment: u32, segments: u32, rtt_ms: u32) -> Windows {
    let window = segments * segment;
    let mut scenario = between_two_hosts(&format!(
        "[links.l]\nfrom = 'a'\nto = 'b'\nrate = '10 Gbit/s'\ndelay = '{} ms'\nqueue.limit = '1 GB'\n[run]\ntime = '20 s'\n\
         [flows.tcp]\ntransport = 'tcp'\nfrom = 'a'\nto = 'b'\ncc = 'cubic'\nprofile = '{profile}'\n\
         tcp.segment = {segment}\ntcp.initial_window = {segments}\ntcp.initial_ssthresh = {window}\n\
         tcp.receive_window = '1 GiB'\n",
        rtt_ms / 2,
    ));
    let file = TraceFile { path: "lost.txt".into(), text: "10".into() };
    let losses = &mut scenario.links.get_mut("l").expect("it is in the text").forward.loss;
    losses.insert("once".into(), Loss::List { file, repeat: false });
    let mut windows = Windows { segment: f64::from(segment), seen: Vec::new() };
    let series = Some(Duration::from_millis(1));
    let mut simulation = Simulation::new(&scenario, &lab::Presets, 1, None).expect("it was read");
    simulation.run(RunOptions { series, recorder: None }, &mut windows);
    windows
}

fn follows_the_curve(profile: &str, segment: u32, segments: u32, rtt_ms: u32) {
    let seen = windows(profile, segment, segments, rtt_ms).seen;
    let fall = seen.windows(2).position(|w| w[1].1 < w[0].1).expect("a segment was lost");
    let (w_max, low) = (seen[fall].1, seen[fall + 1].1);
    let rise = seen.iter().skip(fall + 1).position(|w| w.1 > low).expect("recovery ends") + fall + 1;
    let k = libm::cbrt((w_max - low) / 0.4);
    for half in 0..=4 {
        let t = f64::from(half) * k / 2.0;
        let curve = 0.4 * (t - k) * (t - k) * (t - k) + w_max;
        let (_, window) = seen[rise + (t * 1e3) as usize];
        println!("{profile}, {segments} segments, {rtt_ms} ms, {half}K/2: {window:.2}, curve {curve:.2}");
        assert!((window - curve).abs() < 0.01 * curve, "{profile}, {half}K/2: {window:.2}, curve {curve:.2}");
    }
}

#[test]
fn the_window_follows_the_curve() {
    follows_the_curve("rfc", 1460, 200, 100);
    follows_the_curve("linux", 1448, 400, 60);
    follows_the_curve("ns2", 1000, 300, 100);
}
