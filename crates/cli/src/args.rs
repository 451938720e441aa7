//! The command line.

use crate::batch::LAST_SEED;
use crate::error::EXIT_CODES;
use crate::memory::{Buffer, Memory};
use crate::perf::{LARGEST, SMALLEST};
use crate::place::{Listen, Place};
use clap::{ArgGroup, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use strandcast_net::interface::PathSpec;
use strandcast_net::resolve::HostPort;

/// Send live video over several networks at once.
#[derive(Debug, Parser)]
#[command(name = "strandcast", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send an MPEG transport stream to a receiver, over every network there is
    Send(SendArgs),
    /// Receive a stream and play it out, `latency` after it was sent
    Receive(ReceiveArgs),
    /// Watch a clip cross three emulated links that none could carry alone
    Demo(DemoArgs),
    /// Measure bulk transfer
    Perf(PerfArgs),
    /// List the schemes that `--scheme` takes
    Schemes(SchemesArgs),
    /// Run a scenario in the simulator
    Simulate(SimulateArgs),
    /// Say what a scenario's network is like before it is run
    Check(CheckArgs),
    /// Say why a message or frame of a simulated flow was late
    Explain(ExplainArgs),
    /// Print the JSON Schema of scenario files
    Schema,
    /// Draw the figures of the papers, each from runs of its scenario (Python package)
    Figures(LabArgs),
    /// Run a scenario over a grid of settings, on all cores or a cluster (Python package)
    Sweep(LabArgs),
    /// Plot traces and time series (Python package)
    Plot(LabArgs),
}

/// What every command that speaks over the network takes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TransportArgs {
    /// SCTP port, on both sides (the UDP port goes with the host)
    #[arg(long, value_name = "PORT", default_value_t = 5000, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) sctp_port: u16,
    /// Preset and its parameters: bond or cmt,rtx=ssthresh (see `strandcast schemes`)
    #[arg(long, value_name = "SPEC", default_value = "bond")]
    pub(crate) scheme: String,
    /// IP-level MTU in bytes of paths that name none
    #[arg(long, value_name = "BYTES", default_value_t = 1400, value_parser = clap::value_parser!(u16).range(576..))]
    pub(crate) mtu: u16,
    /// Let the send and the receive buffer of an association grow to this size if the paths need it
    #[arg(long, value_name = "SIZE", default_value = "16MiB")]
    pub(crate) buffer: Buffer,
    /// Write every packet to this file, for Wireshark
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Print the final summary as JSON on standard output (standard error if that carries media)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SendArgs {
    /// FILE (sent at its own pace), - (standard input) or udp://[GROUP@]HOST:PORT
    pub(crate) input: Place,
    /// The receiver: HOST[:PORT], a UDP port, 9899 unless given
    #[arg(value_name = "HOST[:PORT]")]
    pub(crate) host: HostPort,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) stats: StatsArgs,
    /// Play out this many milliseconds after sending; what would come later is dropped
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=60_000))]
    pub(crate) latency: u32,
    /// Seconds to keep trying when no path leads to the receiver (`forever` once a live input was connected, else 30) or
    /// it refuses (not at all unless given)
    #[arg(long, value_name = "SECONDS")]
    pub(crate) retry: Option<Retry>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, allow_missing_positional = true)]
pub(crate) struct ReceiveArgs {
    /// [HOST][:PORT] to listen on; all addresses and UDP port 9899 unless given
    pub(crate) listen: Option<Listen>,
    /// FILE, - (standard output) or udp://HOST:PORT
    pub(crate) output: Place,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    #[command(flatten)]
    pub(crate) stats: StatsArgs,
    /// Play out this many milliseconds after sending; what the sender says unless given
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(20..=60_000))]
    pub(crate) latency: Option<u32>,
    /// End with the first sender's stream
    #[arg(long)]
    pub(crate) once: bool,
    /// Give a sender up that was silent for this many seconds; others may follow it sooner (docs/cli.md)
    #[arg(long, value_name = "SECONDS", default_value = "65", value_parser = seconds)]
    pub(crate) silence: Duration,
    #[command(flatten)]
    pub(crate) limit: MemoryArgs,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PathArgs {
    /// A path: if=wlan0, bind=192.0.2.7 or both, with mtu=1400 if need be; repeat for more. Without any: every
    /// interface that is up and has a route to HOST
    #[arg(long = "path", value_name = "SPEC")]
    pub(crate) paths: Vec<PathSpec>,
}

/// What every command that serves strangers takes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MemoryArgs {
    /// Use no more memory than this: senders wait or are refused when it is used up
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub(crate) memory: Memory,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// Write a line of JSON a second to FILE, or to standard error
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "clap's way to say --stats, --stats=FILE or nothing")]
    pub(crate) stats: Option<Option<PathBuf>>,
}

/// How long to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// So long.
    For(Duration),
    /// Until stopped.
    Forever,
}

impl std::str::FromStr for Retry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "forever" => Ok(Retry::Forever),
            _ => seconds(text).map(Retry::For).map_err(|e| format!("{e}, or forever")),
        }
    }
}

/// A number of seconds, fractions allowed.
fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().filter(|s: &f64| s.is_finite() && (0.0..=1e9).contains(s));
    parsed.map(Duration::from_secs_f64).ok_or_else(|| format!("{text:?} is not a number of seconds"))
}

/// A time above nothing, with a unit or in seconds.
fn step(text: &str) -> Result<Duration, String> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let factor = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "min" => 60.0,
        _ => return Err(format!("{text:?} is no time, as in 100ms or 0.5s")),
    };
    let parsed = number.trim().parse().ok().map(|n: f64| n * factor).filter(|s| (1e-6..=1e9).contains(s));
    parsed
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("{text:?} is no time of at least 1us, as in 100ms"))
}

/// Which links the demo emulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NetworkName {
    /// Wi-Fi 0.9 Mbit/s, LTE 0.8 Mbit/s, weak LTE 0.5 Mbit/s
    Field,
    /// The three paths of Xu et al. (2015)
    // The alias goes with version 0.2.
    #[value(name = "xu2015", alias = "paper-000")]
    Xu2015,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DemoArgs {
    /// The links
    #[arg(long, value_enum, default_value_t = NetworkName::Field)]
    pub(crate) network: NetworkName,
    /// Preset and its parameters (see `strandcast schemes`)
    #[arg(long, value_name = "SPEC", default_value = "bond")]
    pub(crate) scheme: String,
    /// Play out this many milliseconds after sending
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(20..=60_000))]
    pub(crate) latency: u32,
    /// Seed of the links' random loss
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=LAST_SEED))]
    pub(crate) seed: u64,
    /// Where to write received.ts, report.html and summary.json
    #[arg(long, value_name = "FOLDER", default_value = "target/demo")]
    pub(crate) out: PathBuf,
    /// Write every packet of the sender to this file, for Wireshark
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Print summary.json on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct PerfArgs {
    #[command(subcommand)]
    pub(crate) side: PerfSide,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PerfSide {
    /// Measure towards a server
    Client(PerfClientArgs),
    /// Wait for clients, one at a time
    Server(PerfServerArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct PerfClientArgs {
    /// The server: HOST[:PORT], a UDP port, 9899 unless given
    #[arg(value_name = "HOST[:PORT]")]
    pub(crate) host: HostPort,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    /// Seconds to send
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) time: Duration,
    /// Bytes a message; as much as fits one packet unless given
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(i64::from(SMALLEST)..=i64::from(LARGEST)))]
    pub(crate) message: Option<u32>,
    /// The server sends
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Nothing while it measures; with --json nothing but that
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct PerfServerArgs {
    /// [HOST][:PORT] to listen on; all addresses and UDP port 9899 unless given
    pub(crate) listen: Option<Listen>,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    /// End after one client
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) limit: MemoryArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SimulateArgs {
    /// The scenario (TOML, see docs/scenarios.md)
    pub(crate) file: PathBuf,
    /// Change a key of the scenario: links.b.loss.uniform.rate=0.02; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Schemes to compare: cmt,rtx=same,sctp (two); each replaces that of flows with `compare = true`
    #[arg(long, value_name = "SPEC,...")]
    pub(crate) scheme: Option<String>,
    /// Runs of each scheme; what the scenario says unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Seed of the first run, the next one has one more; what the scenario says unless given
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(..=LAST_SEED))]
    pub(crate) seed: Option<u64>,
    /// Runs at a time; as many as there are processors unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Write result.json and tables of all results to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Tables in CSV instead of Parquet
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write windows, round-trip times, rates and queues to the folder, so often: 100ms, "0.5 s"
    #[arg(long, value_name = "STEP", value_parser = step)]
    pub(crate) series: Option<Duration>,
    /// Write every event of the only run to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Show no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// The scenario
    pub(crate) file: PathBuf,
    /// Change a key of the scenario; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
#[command(group = ArgGroup::new("what").required(true).args(["frame", "message"]))]
pub(crate) struct ExplainArgs {
    /// A folder that simulate has written, or the result.json in it
    pub(crate) result: PathBuf,
    /// The flow; of several alike, one of them: tcp#2
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: String,
    /// The frame of its video, counted from 0 as they are sent
    #[arg(long, value_name = "N")]
    pub(crate) frame: Option<u32>,
    /// The message, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) message: Option<u64>,
    /// Of the run with this seed; the first one unless given
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(..=LAST_SEED))]
    pub(crate) seed: Option<u64>,
    /// And with this scheme; the first one unless given
    #[arg(long, value_name = "SPEC")]
    pub(crate) scheme: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whatever follows a verb of the Python package.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct LabArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemesArgs {
    /// Presets; all unless given
    pub(crate) names: Vec<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_papers_network_has_its_former_name_until_0_2() {
        for name in ["xu2015", "paper-000"] {
            let args = Args::try_parse_from(["strandcast", "demo", "--network", name]).unwrap();
            let Command::Demo(demo) = args.command else { panic!("{name}: not the demo") };
            assert_eq!(demo.network, NetworkName::Xu2015);
        }
    }

    #[test]
    fn listen_may_be_left_out() {
        let parse = |args: &[&str]| match Args::try_parse_from(args).unwrap().command {
            Command::Receive(r) => (r.listen, r.output),
            other => panic!("{other:?}"),
        };
        let (listen, output) = parse(&["strandcast", "receive", "out.ts"]);
        assert_eq!((listen, output), (None, Place::File("out.ts".into())));
        let (listen, output) = parse(&["strandcast", "receive", ":7000", "-"]);
        assert_eq!((listen.unwrap().port, output), (Some(7000), Place::Pipe));
    }

    #[test]
    fn stats_go_to_standard_error_or_a_file() {
        let parse = |args: &[&str]| match Args::try_parse_from(args).unwrap().command {
            Command::Send(s) => (s.stats.stats, s.paths.paths.len()),
            other => panic!("{other:?}"),
        };
        assert_eq!(parse(&["strandcast", "send", "-", "h"]).0, None);
        let (stats, paths) = parse(&[
            "strandcast",
            "send",
            "-",
            "h",
            "--stats",
            "--path",
            "if=a",
            "--path",
            "bind=::1,mtu=1300",
        ]);
        assert_eq!((stats, paths), (Some(None), 2));
        let file = parse(&["strandcast", "send", "--stats=x.jsonl", "-", "h"]).0;
        assert_eq!(file, Some(Some("x.jsonl".into())));
    }

    #[test]
    fn steps_have_units() {
        for (text, ms) in [("100ms", 100), ("0.5 s", 500), ("2", 2000), ("1 min", 60_000)] {
            assert_eq!(step(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "0", "-1s", "1h2", "ms", "nan", "inf", "1e-9"] {
            assert!(step(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_thing_is_explained() {
        let parse = |args: &str| {
            Args::try_parse_from(format!("strandcast explain out --flow v {args}").split_whitespace())
        };
        assert!(parse("--frame 3").is_ok() && parse("--message 3").is_ok());
        assert!(parse("").is_err() && parse("--frame 3 --message 3").is_err());
    }

    #[test]
    fn retry_in_seconds_or_forever() {
        assert_eq!("forever".parse(), Ok(Retry::Forever));
        assert_eq!("1.5".parse(), Ok(Retry::For(Duration::from_millis(1500))));
        assert!("-1".parse::<Retry>().is_err() && "nan".parse::<Retry>().is_err());
    }
}
