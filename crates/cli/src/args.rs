//! The command line.

mod analysis;
mod api;
mod ctl;
mod doctor;
mod emulate;
mod key;
mod manual;
mod parse;
mod receive;
mod schemes;
mod serve;
mod tariff;
mod values;

pub(crate) use analysis::{CheckArgs, ExplainArgs};
pub(crate) use api::{ApiArgs, ApiPlace};
pub(crate) use ctl::{CtlArgs, CtlVerb, Switch};
pub(crate) use doctor::DoctorArgs;
pub(crate) use emulate::EmulateArgs;
pub(crate) use key::{DecryptArgs, KeyArgs, KeyPairArgs, KeyVerb, SealArgs};
pub(crate) use manual::ManualArgs;
pub(crate) use receive::ReceiveArgs;
pub(crate) use schemes::SchemesArgs;
pub(crate) use serve::ServeArgs;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Parser, Subcommand, ValueEnum};
use strandcast::Memory;
use strandcast::live::{LinkTariff, Retry};
use strandcast::pairing::Name;
use strandcast::perf::{MAX_MESSAGE, MIN_MESSAGE};
use strandcast_lab::batch::{LAST_SEED, Until};
use strandcast_net::interface::PathSpec;

use self::tariff::tariff;
use self::values::{bit_rate, latency, retry, some_seconds, step, whole};
use crate::error::EXIT_CODES;
use crate::help::TABLE_HELP;
use crate::key::Target;
use crate::media_url::{Listen, MediaUrl};
use crate::memory::{Buffer, memory};

/// End of the long help of commands with a table.
static TABLE_AND_CODES: LazyLock<String> = LazyLock::new(|| format!("{TABLE_HELP}\n\n{EXIT_CODES}"));

/// Default scheme of commands that carry live media.
pub(crate) const LIVE_SCHEME: &str = "strand";
/// Default scheme of `perf`, which measures bulk.
const BULK_SCHEME: &str = "bond";

/// Send live video over several networks at once.
#[derive(Debug, Parser)]
#[command(name = "strandcast", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send an MPEG transport stream to a receiver over all available networks
    Send(SendArgs),
    /// Receive a stream and play it out at send time + `latency`
    Receive(ReceiveArgs),
    /// Receive many streams over one port: who may send which, and where each is played
    Serve(ServeArgs),
    /// Look at a running `serve`, and control it
    Ctl(CtlArgs),
    /// Send a clip over three emulated links; no single link could carry it
    Demo(DemoArgs),
    /// Make a page with plots of a stream from the statistics (--stats) of its ends
    Report(ReportArgs),
    /// Measure bulk transfer
    Perf(PerfArgs),
    /// Pair sender and receiver, once, and manage keys
    Key(KeyArgs),
    /// Find out what prevents a stream from reaching a receiver, and how to fix it
    Doctor(DoctorArgs),
    /// Decrypt a recorded stream with the keys of --keylog
    Decrypt(DecryptArgs),
    /// List the schemes that `--scheme` takes
    Schemes(SchemesArgs),
    /// Run a scenario in the simulator
    Simulate(SimulateArgs),
    /// Run programs over a scenario's network, in real time
    Emulate(EmulateArgs),
    /// Analyse a scenario's network before running it
    Check(CheckArgs),
    /// Explain why a message or frame of a simulated flow was late
    Explain(ExplainArgs),
    /// Print the JSON Schema of scenario files, or of lines of --stats
    Schema(SchemaArgs),
    /// Draw the figures of the papers from runs of their scenarios (Python package)
    Figures(LabArgs),
    /// Run a scenario over a grid of settings, on all cores or a cluster (Python package)
    Sweep(LabArgs),
    /// Tell how much of a live flow can be on time at most (Python package)
    Oracle(LabArgs),
    /// Plot traces and time series (Python package)
    Plot(LabArgs),
    /// Write manual pages and completions of shells, for packages
    #[command(hide = true)]
    Manual(ManualArgs),
}

impl Command {
    /// Returns whether the command runs as long as a stream or a measurement. If its output is not read, such a command
    /// must not block.
    pub(crate) fn runs_long(&self) -> bool {
        let streams =
            matches!(self, Command::Send(_) | Command::Receive(_) | Command::Demo(_) | Command::Perf(_));
        streams || matches!(self, Command::Serve(args) if !args.check)
    }
}

/// Options of every command that uses the network.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TransportArgs {
    /// SCTP port on both sides (the UDP port is part of HOST)
    #[arg(long, value_name = "PORT", default_value_t = 5000, value_parser = whole::<u16>(1, 65_535, "an SCTP port"))]
    pub(crate) sctp_port: u16,
    /// Preset and its parameters: strand or cmt,rtx=ssthresh (see `strandcast schemes`)
    #[arg(long, value_name = "SPEC", default_value = LIVE_SCHEME)]
    pub(crate) scheme: String,
    /// IP-level MTU in bytes of paths without an mtu= of their own
    #[arg(long, value_name = "BYTES", default_value_t = 1400, value_parser = whole::<u16>(576, 65_535, "bytes"))]
    pub(crate) mtu: u16,
    /// Maximum size to which the send and the receive buffer of an association may grow
    #[arg(long, value_name = "SIZE", default_value = "16MiB")]
    pub(crate) buffer: Buffer,
    #[command(flatten)]
    pub(crate) seal: SealArgs,
    /// Capture every packet in this pcap file, new or empty, before it is encrypted
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Print the final summary as JSON on standard output (on standard error if standard output carries media)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = TABLE_AND_CODES.as_str())]
pub(crate) struct SendArgs {
    /// FILE (sent at the pace of its clock), a pipe, - (standard input), udp://[GROUP@]HOST:PORT[?if=eth0&source=192.0.2.9],
    /// rtp:// likewise or srt://[HOST]:PORT
    #[arg(value_parser = OsStringValueParser::new().try_map(|word| MediaUrl::of(&word)))]
    pub(crate) input: MediaUrl,
    /// The receiver: @NAME (see `strandcast key add`), a one-time pairing string, or with --plain HOST[:PORT], default UDP
    /// port 9899
    #[arg(value_name = "@NAME")]
    pub(crate) to: Target,
    /// Name of the stream at a receiver of many (`strandcast serve`), if this sender's key may send several there
    #[arg(long, value_name = "NAME")]
    pub(crate) stream: Option<Name>,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) stats: StatsArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
    /// Costs of a path: if=wwan0,class=2,left=5GB, optionally with for=30d and price=4.5, or month=5GB,day=15 for a plan
    /// whose months begin on the 15th; repeatable
    #[arg(long = "tariff", value_name = "SPEC", value_parser = tariff)]
    pub(crate) tariffs: Vec<LinkTariff>,
    /// File with what links with month= have used (default: `ledger.toml` in the folder of the identity)
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
    /// Keep the rate that the encoder should choose now in FILE, a line of JSON that is replaced as a whole, or write each
    /// change to a pipe
    #[arg(long, value_name = "FILE")]
    pub(crate) advice: Option<PathBuf>,
    /// Playout latency in milliseconds after sending; later messages are dropped
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = latency)]
    pub(crate) latency: u32,
    /// Bit rate of a file or a pipe without a usable clock, or in place of its clock: 4Mbit/s, 800kbit/s, 4000000
    #[arg(long, value_name = "RATE", value_parser = bit_rate)]
    pub(crate) rate: Option<u64>,
    /// Begin the file again when it ends
    #[arg(long = "loop")]
    pub(crate) repeat: bool,
    /// Send a pipe as it comes, also if it runs faster than its own clock
    #[arg(long)]
    pub(crate) no_pace: bool,
    /// Seconds to keep trying when no path leads to the receiver (default 30, or `forever` once a live input was
    /// connected) or when it refuses (default: not at all); a --path that is not there yet is then waited for
    #[arg(long, value_name = "SECONDS", value_parser = retry)]
    pub(crate) retry: Option<Retry>,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PathArgs {
    /// A path: if=wlan0, bind=192.0.2.7 or both, optionally with mtu=1400; repeatable. Default: every interface that is
    /// up and has a route to the receiver
    #[arg(long = "path", value_name = "SPEC")]
    pub(crate) paths: Vec<PathSpec>,
}

/// Options of every command that accepts untrusted peers.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MemoryArgs {
    /// Memory limit: senders wait or are refused when it is reached
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = memory)]
    pub(crate) memory: Memory,
}

/// Subject of a JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Scenario files
    Scenario,
    /// Lines of --stats
    Stats,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SchemaArgs {
    /// Subject of the schema
    #[arg(value_enum, default_value_t = SchemaOf::Scenario)]
    pub(crate) of: SchemaOf,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// Write one line of JSON per second, and one per event, to the end of FILE, or to standard error. SIGHUP opens FILE again
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "clap's representation of --stats, --stats=FILE or neither")]
    pub(crate) stats: Option<Option<PathBuf>>,
    /// Replace FILE each second by the figures as metrics of Prometheus (the textfile collector of node_exporter)
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
}

/// The links that the demo emulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NetworkName {
    /// Wi-Fi 0.9 Mbit/s, LTE 0.8 Mbit/s, weak LTE 0.5 Mbit/s
    Field,
    /// The three paths of Xu et al. (2015)
    #[value(name = "xu2015")]
    Xu2015,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DemoArgs {
    /// The links
    #[arg(long, value_enum, default_value_t = NetworkName::Field)]
    pub(crate) network: NetworkName,
    /// Preset and its parameters (see `strandcast schemes`)
    #[arg(long, value_name = "SPEC", default_value = LIVE_SCHEME)]
    pub(crate) scheme: String,
    /// Playout latency in milliseconds after sending
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = latency)]
    pub(crate) latency: u32,
    /// Seed of the links' random loss
    #[arg(long, default_value_t = 1, value_parser = whole::<u64>(0, LAST_SEED, "a seed"))]
    pub(crate) seed: u64,
    /// Folder for received.ts, report.html and summary.json
    #[arg(long, value_name = "FOLDER", default_value = "target/demo")]
    pub(crate) out: PathBuf,
    /// Capture every packet of the sender in this pcap file, new or empty
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Print summary.json on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ReportArgs {
    /// Files of --stats: of the sender, of the receiver, or of both; several of each are read together
    #[arg(value_name = "STATS", required = true, num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,
    /// The page, a new file
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub(crate) out: PathBuf,
    /// Number of the stream, as in the key `stream`; default: the last one
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Option<String>,
    /// Overwrite a file that has content
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct PerfArgs {
    #[command(subcommand)]
    pub(crate) side: PerfSide,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PerfSide {
    /// Measure transfer to or from a server
    Client(PerfClientArgs),
    /// Serve clients, one at a time
    Server(PerfServerArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, mut_arg("scheme", |arg| arg.default_value(BULK_SCHEME)))]
pub(crate) struct PerfClientArgs {
    /// The server: @NAME (see `strandcast key add`), a one-time pairing string, or with --plain HOST[:PORT], default UDP
    /// port 9899
    #[arg(value_name = "@NAME")]
    pub(crate) to: Target,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    /// Seconds to send
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = some_seconds)]
    pub(crate) time: Duration,
    /// Bytes per message; default: as many as fit in one packet
    #[arg(long, value_name = "BYTES", value_parser = whole::<u32>(MIN_MESSAGE.into(), MAX_MESSAGE.into(), "bytes"))]
    pub(crate) message: Option<u32>,
    /// Let the server send
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Print nothing during the measurement; with --json only the JSON
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, mut_arg("scheme", |arg| arg.default_value(BULK_SCHEME)))]
pub(crate) struct PerfServerArgs {
    /// [HOST][:PORT] to listen on; default: all addresses, UDP port 9899
    pub(crate) listen: Option<Listen>,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    /// Exit after one client
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
    /// Set a key of the scenario: links.b.loss.uniform.rate=0.02; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Schemes to compare, such as cmt,rtx=same,sctp (two); each replaces the scheme of flows with `compare = true`
    #[arg(long, value_name = "SPEC,...")]
    pub(crate) scheme: Option<String>,
    /// Runs per scheme; default: as in the scenario
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Run until the 95 % interval of a metric is that narrow, as goodput_bps<2%; --runs is then the largest number (1000)
    #[arg(long, value_name = "METRIC<P%", conflicts_with = "trace")]
    pub(crate) until: Option<Until>,
    /// Seed of the first run, incremented for each further run; default: as in the scenario
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0, LAST_SEED, "a seed"))]
    pub(crate) seed: Option<u64>,
    /// Concurrent runs; default: one per processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Write result.json and tables of all results to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Write tables as CSV instead of Parquet
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Sample windows, round-trip times, rates and queues into the folder at this interval: 100ms, "0.5 s"
    #[arg(long, value_name = "STEP", value_parser = step)]
    pub(crate) series: Option<Duration>,
    /// Write every event of a single run to this CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write the SCTP packets of a single run to this capture, for Wireshark
    #[arg(long, value_name = "FILE", conflicts_with = "until")]
    pub(crate) pcap: Option<PathBuf>,
    /// Do not show progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// The arguments of a subcommand that the Python package implements.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct LabArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
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
    fn stats_go_to_standard_error_or_a_file() {
        let parse = |args: &[&str]| match Args::of(args).unwrap().command {
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
    fn explain_takes_a_frame_or_a_message() {
        let parse =
            |args: &str| Args::of(format!("strandcast explain out --flow v {args}").split_whitespace());
        assert!(parse("--frame 3").is_ok() && parse("--message 3").is_ok());
        assert!(parse("").is_err() && parse("--frame 3 --message 3").is_err());
    }
}
