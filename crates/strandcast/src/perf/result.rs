//! A measurement's results: text lines, and JSON in the format of `iperf3 -J`.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use strandcast_seal::Cipher;

use super::bulk::Gap;
use super::control::Totals;
use super::usage::Cpu;
use crate::live::{BuffersNow, CodingNow, PathNow, WireNow};
use crate::text::{bits_per_s, bytes};

/// The parameters of a measurement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Setup {
    /// The server.
    pub host: String,
    /// UDP port of the server.
    pub port: u16,
    /// The scheme in the form that the user gave.
    pub scheme: String,
    /// Sending time.
    pub time: Duration,
    /// Bytes per message.
    pub message: usize,
    /// True if the server sends.
    pub reverse: bool,
}

/// An interval of the measurement, which lasts about a second.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Interval {
    /// Start of the interval, in seconds since the start of the measurement.
    pub from_s: f64,
    /// End of the interval, in seconds since the start of the measurement.
    pub to_s: f64,
    /// Bytes of payload that were acknowledged to the client or received by the client.
    pub bytes: u64,
    /// State of the paths at the end of the interval. Rates are means over the interval.
    pub paths: Vec<PathNow>,
}

/// The results of the whole measurement, from the client's view.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The parameters.
    pub setup: Setup,
    /// Cipher of the datagrams, or `None` if they were not encrypted.
    pub cipher: Option<Cipher>,
    /// The intervals.
    pub intervals: Vec<Interval>,
    /// The sender's totals.
    pub sent: Totals,
    /// The receiver's totals.
    pub received: Totals,
    /// The longest gap in delivery, if the client was the receiver.
    pub gap: Option<Gap>,
    /// Time from the start to the results, in seconds.
    pub elapsed_s: f64,
    /// Processor time of the client during [`Outcome::elapsed_s`].
    pub local: Cpu,
    /// Processor time of the server.
    pub remote: Cpu,
    /// Number of chunks that the client retransmitted.
    pub retransmissions: u64,
    /// State of the client's buffers at the end.
    pub buffers: BuffersNow,
    /// Bytes on the wire for the payload, counted by the client.
    pub wire: WireNow,
    /// Diagnostic lines of the client's scheme at the end.
    pub diagnostics: Vec<&'static str>,
    /// Counters that the scheme itself provides.
    pub counters: Vec<(&'static str, u64)>,
    /// Symbols that the client sent or received, if any.
    pub coding: Option<CodingNow>,
}

fn rate(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

impl Interval {
    /// Returns the interval as a line of text.
    pub fn line(&self) -> String {
        let paths: Vec<String> = self
            .paths
            .iter()
            .filter(|p| p.state != "closed")
            .map(|p| format!("{} {}", p.name, bits_per_s(p.rate_bps)))
            .collect();
        let rate = bits_per_s(rate(self.bytes, self.to_s - self.from_s));
        format!(
            "{:5.1}-{:<5.1} s  {:>8}  {rate:>12}   {}",
            self.from_s,
            self.to_s,
            bytes(self.bytes),
            paths.join(", ")
        )
    }

    fn json(&self, sender: bool) -> Value {
        let streams = self.paths.iter().enumerate().map(|(socket, p)| {
            let bytes = (p.rate_bps * (self.to_s - self.from_s) / 8.0).round();
            json!({
                "socket": socket, "path": p.name, "state": p.state, "start": self.from_s, "end": self.to_s,
                "seconds": self.to_s - self.from_s, "bytes": bytes, "bits_per_second": p.rate_bps,
                "rtt": p.rtt_ms.map(|ms| (ms * 1e3).round()), "snd_cwnd": p.window_bytes, "omitted": false, "sender": sender,
            })
        });
        json!({
            "streams": streams.collect::<Vec<_>>(),
            "sum": sum(self.from_s, self.to_s, self.bytes, self.to_s - self.from_s, sender),
        })
    }
}

fn sum(from_s: f64, to_s: f64, bytes: u64, seconds: f64, sender: bool) -> Value {
    json!({
        "start": from_s, "end": to_s, "seconds": seconds, "bytes": bytes, "bits_per_second": rate(bytes, seconds),
        "omitted": false, "sender": sender,
    })
}

impl Outcome {
    /// Returns the processor time in seconds per gigabyte (10⁹ bytes) of payload, for the sender and for the receiver.
    pub fn cpu_seconds_per_gb(&self) -> (f64, f64) {
        let gb = self.received.bytes as f64 / 1e9;
        let per_gb = |cpu: &Cpu| if gb > 0.0 { cpu.total_s() / gb } else { 0.0 };
        let (local, remote) = (per_gb(&self.local), per_gb(&self.remote));
        if self.setup.reverse { (remote, local) } else { (local, remote) }
    }

    /// Returns the result as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let side = |name: &str, t: &Totals| {
            format!(
                "{name} {} in {:.2} s: {}",
                bytes(t.bytes),
                t.seconds,
                bits_per_s(rate(t.bytes, t.seconds))
            )
        };
        let (sender, receiver) = self.cpu_seconds_per_gb();
        let mut lines = vec![side("sent    ", &self.sent), side("received", &self.received)];
        lines.extend(self.coding.as_ref().map(CodingNow::line));
        lines.extend(self.wire.line());
        lines.extend(self.cipher.map(|cipher| format!("encrypted with {cipher}")));
        lines.extend([
            if self.setup.reverse { self.buffers.received() } else { self.buffers.sent() },
            format!("processor time: sender {sender:.2}, receiver {receiver:.2} s/GB"),
        ]);
        lines
    }

    /// Returns the result in the format of `iperf3 -J`.
    pub fn json(&self) -> Value {
        let sender = !self.setup.reverse;
        let (cpu_sender, cpu_receiver) = self.cpu_seconds_per_gb();
        let percent =
            |seconds: f64| if self.elapsed_s > 0.0 { seconds / self.elapsed_s * 100.0 } else { 0.0 };
        let mut sent = sum(0.0, self.sent.seconds, self.sent.bytes, self.sent.seconds, sender);
        sent["retransmits"] = json!(self.retransmissions);
        let mut received =
            sum(0.0, self.received.seconds, self.received.bytes, self.received.seconds, sender);
        if let Some(gap) = self.gap {
            received["longest_gap_s"] = json!(gap.seconds);
            received["longest_gap_at_s"] = json!(gap.at_s);
        }
        let mut all = json!({
            "start": self.start(),
            "intervals": self.intervals.iter().map(|i| i.json(sender)).collect::<Vec<_>>(),
            "end": {
                "sum_sent": sent,
                "sum_received": received,
                "cpu_utilization_percent": {
                    "host_total": percent(self.local.total_s()), "host_user": percent(self.local.user_s),
                    "host_system": percent(self.local.system_s), "remote_total": percent(self.remote.total_s()),
                    "remote_user": percent(self.remote.user_s), "remote_system": percent(self.remote.system_s),
                },
                "buffers": self.buffers,
                "wire": self.wire,
                "cpu_seconds_per_gb": { "sender": cpu_sender, "receiver": cpu_receiver },
                "diagnostics": self.diagnostics,
                "counters": self.counters.iter().copied().collect::<BTreeMap<_, _>>(),
            },
        });
        if let Some(coding) = &self.coding {
            all["end"]["coding"] = json!(coding);
        }
        all
    }

    fn start(&self) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let setup = &self.setup;
        json!({
            "version": concat!("strandcast ", env!("CARGO_PKG_VERSION")),
            "timestamp": { "timesecs": now },
            "connecting_to": { "host": setup.host, "port": setup.port },
            "test_start": {
                "protocol": "SCTP", "num_streams": 1, "blksize": setup.message, "omit": 0,
                "duration": setup.time.as_secs_f64(), "bytes": 0, "blocks": 0, "reverse": u8::from(setup.reverse),
                "scheme": setup.scheme, "cipher": self.cipher.map_or("none".to_owned(), |cipher| cipher.to_string()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::parts::Sides;
    use strandcast_proto::coding::CodingStats;

    fn outcome(reverse: bool) -> Outcome {
        let setup = Setup {
            host: "h".into(),
            port: 9899,
            scheme: "cmt".into(),
            time: Duration::from_secs(2),
            message: 1344,
            reverse,
        };
        let totals = |seconds| Totals { bytes: 500_000_000, messages: 5, seconds };
        let (mut buffers, mut wire) = (BuffersNow::default(), WireNow::default());
        (buffers.send_blocked_s, wire.overhead) = (0.25, Some(1.125));
        Outcome {
            setup,
            cipher: None,
            intervals: vec![Interval { from_s: 0.0, to_s: 1.0, bytes: 250_000_000, paths: Vec::new() }],
            sent: totals(2.0),
            received: totals(2.5),
            gap: reverse.then_some(Gap { seconds: 0.5, at_s: 1.5 }),
            elapsed_s: 4.0,
            local: Cpu { user_s: 0.5, system_s: 0.5 },
            remote: Cpu { user_s: 1.0, system_s: 2.0 },
            retransmissions: 7,
            buffers,
            wire,
            diagnostics: vec!["alone"],
            counters: vec![("probes", 3)],
            coding: None,
        }
    }

    #[test]
    fn keys_and_values_of_iperf3() {
        let json = outcome(false).json();
        let at = |pointer: &str| json.pointer(pointer).and_then(Value::as_f64);
        assert_eq!(at("/intervals/0/sum/bits_per_second"), Some(2e9));
        assert_eq!(at("/end/buffers/send_blocked_s"), Some(0.25));
        assert_eq!(at("/end/wire/overhead"), Some(1.125));
        assert_eq!(at("/end/sum_sent/bits_per_second"), Some(2e9));
        assert_eq!(at("/end/sum_received/bits_per_second"), Some(1.6e9));
        assert_eq!(at("/end/cpu_utilization_percent/host_total"), Some(25.0));
        assert_eq!(at("/end/cpu_utilization_percent/remote_system"), Some(50.0));
        assert_eq!(at("/start/test_start/blksize"), Some(1344.0));
        assert_eq!(at("/end/cpu_seconds_per_gb/sender"), Some(2.0));
        assert_eq!(at("/end/cpu_seconds_per_gb/receiver"), Some(6.0));
        assert_eq!(
            (at("/end/counters/probes"), &json["end"]["diagnostics"][0]),
            (Some(3.0), &json!("alone"))
        );
    }

    #[test]
    fn symbols_are_told_where_there_were_any() {
        let plain = outcome(false);
        assert!(plain.json()["end"].get("coding").is_none() && plain.lines().len() == 5);
        let stats =
            CodingStats { sources_sent: 9, source_bytes: 9000, repairs_sent: 1, ..Default::default() };
        let coded = Outcome { coding: CodingNow::of(&stats, Sides::default()), ..plain };
        assert_eq!(coded.json()["end"]["coding"]["sources_sent"], 9);
        assert!(coded.lines()[2].contains("9 source symbols, 1 repair symbol sent"), "{:?}", coded.lines());
    }

    #[test]
    fn the_cipher_is_named() {
        let plain = outcome(false);
        assert_eq!(plain.json()["start"]["test_start"]["cipher"], "none");
        let sealed = Outcome { cipher: Some(Cipher::Aes128Gcm), ..plain };
        assert_eq!(sealed.json()["start"]["test_start"]["cipher"], "AES-128-GCM");
        assert!(
            sealed.lines().iter().any(|line| line == "encrypted with AES-128-GCM"),
            "{:?}",
            sealed.lines()
        );
    }

    #[test]
    fn reversed_the_server_is_the_sender() {
        assert_eq!(outcome(true).cpu_seconds_per_gb(), (6.0, 2.0));
        let received = &outcome(true).json()["end"]["sum_received"];
        assert_eq!((&received["longest_gap_s"], &received["longest_gap_at_s"]), (&json!(0.5), &json!(1.5)));
        assert_eq!(outcome(false).json()["end"]["sum_received"]["longest_gap_s"], Value::Null);
    }

    #[test]
    fn nothing_received_divides_nothing() {
        let mut none = outcome(false);
        (none.received, none.sent, none.elapsed_s) = (Totals::default(), Totals::default(), 0.0);
        let mut json = none.json();
        // A measurement carries no media, so that shares of media would be null.
        json["end"].as_object_mut().expect("an object").remove("wire");
        assert!(!json.to_string().contains("null"), "JSON has no infinities");
    }
}
