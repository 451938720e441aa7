//! Options of `receive`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::values::{latency, seconds};
use super::{ApiArgs, MemoryArgs, StatsArgs, TABLE_AND_CODES, TransportArgs};
use crate::error::EXIT_CODES;

#[derive(Debug, clap::Args)]
#[command(
    after_help = EXIT_CODES,
    after_long_help = TABLE_AND_CODES.as_str(),
    override_usage = "strandcast receive [OPTIONS] [LISTEN] <OUTPUT>..."
)]
pub(crate) struct ReceiveArgs {
    /// Up to eight outputs: FILE, - (standard output), udp://HOST:PORT[?if=eth0&ttl=8], rtp:// likewise or
    /// srt://[HOST]:PORT. A name with %Y %m %d %H %M %S (UTC) makes a file for each stream. Before them [HOST][:PORT] to listen on; default: all addresses, UDP port 9899
    #[arg(value_name = "OUTPUT", required = true, num_args = 1..)]
    pub(crate) places: Vec<OsString>,
    /// Overwrite a file that has content
    #[arg(long)]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    #[command(flatten)]
    pub(crate) stats: StatsArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
    /// Playout latency in milliseconds after sending; default: the sender's
    #[arg(long, value_name = "MS", value_parser = latency)]
    pub(crate) latency: Option<u32>,
    /// Exit after the first sender's stream
    #[arg(long)]
    pub(crate) once: bool,
    /// Give up a sender after this many seconds of silence; another one may replace it sooner (docs/cli.md)
    #[arg(long, value_name = "SECONDS", default_value = "65", value_parser = seconds)]
    pub(crate) silence: Duration,
    /// Send null packets, or the clip FILE again and again, to players while no sender plays (docs/operate/serve.md)
    #[arg(long, value_name = "null|FILE", conflicts_with = "once")]
    pub(crate) slate: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limit: MemoryArgs,
}
