//! Options of `ctl`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use strandcast::live::LinkTariff;
use strandcast::pairing::Name;

use super::tariff::tariff;
use crate::error::EXIT_CODES;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CtlArgs {
    /// The API: path of its socket, http://HOST:PORT or https://HOST:PORT (see [api] of the configuration, or --api)
    #[arg(value_name = "ADDR")]
    pub(crate) address: String,
    /// File with the certificate of the https:// server, or of the authority that signed it; default: the authorities
    /// that the system trusts
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) ca: Option<PathBuf>,
    /// File whose first line is the token
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) verb: CtlVerb,
}

/// State of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    Off,
    On,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CtlVerb {
    /// List the streams
    Streams {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a stream, its links and outputs as JSON
    Stream {
        /// Name of the stream
        name: Name,
    },
    /// Stop a stream, or one of its outputs
    Stop {
        /// Name of the stream
        name: Name,
        /// Number of the output, from 0
        output: Option<u8>,
    },
    /// Start a stream that was stopped, or one of its outputs
    Start {
        /// Name of the stream
        name: Name,
        /// Number of the output, from 0
        output: Option<u8>,
    },
    /// Switch a link of a sender off or on
    Link {
        /// Name of the stream
        name: Name,
        /// Name of the link
        link: String,
        /// State of the link from now on
        #[arg(value_enum)]
        to: Switch,
    },
    /// Replace the costs of a link of a sender
    Tariff {
        /// Name of the stream
        name: Name,
        /// The costs, as those of `send --tariff`: if=wwan0,class=2,left=5GB; if=wwan0 alone: none
        #[arg(value_parser = tariff)]
        spec: LinkTariff,
    },
    /// Print the senders of the server as JSON
    Senders,
    /// Allow a sender: its name, the short form of its key, or a key
    Allow {
        /// The sender
        who: String,
        /// Name for the sender
        #[arg(long = "as", value_name = "NAME")]
        name: Option<Name>,
    },
    /// Revoke a sender: its name, the short form of its key, or a key
    Revoke {
        /// The sender
        who: String,
    },
    /// Read the configuration again, as SIGHUP does
    Reload,
    /// Print events as they happen, a line of JSON for each
    Events,
    /// Print the metrics
    Metrics,
}
