//! The options of keys.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use strandcast::pairing::Name;
use strandcast_net::resolve::HostPort;

use crate::error::EXIT_CODES;

/// Identity of this machine.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SealArgs {
    /// The identity's file; default: $STRANDCAST_KEY, else ~/.config/strandcast/identity
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Neither encrypt nor authenticate, for other SCTP stacks; on both sides
    #[arg(long)]
    pub(crate) plain: bool,
    /// Append the keys of this run to FILE, for `strandcast decrypt`: with it anyone can read a recorded stream
    #[arg(long, value_name = "FILE", conflicts_with = "plain")]
    pub(crate) keylog: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DecryptArgs {
    /// The capture, as tcpdump writes it (classic pcap)
    pub(crate) capture: PathBuf,
    /// The capture of SCTP packets to write, for Wireshark
    pub(crate) out: PathBuf,
    /// The file that --keylog of `send`, `receive` or `perf` has written
    #[arg(long, value_name = "FILE")]
    pub(crate) keylog: PathBuf,
}

/// Keys and pairings.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) verb: KeyVerb,
    /// The identity's file; default: $STRANDCAST_KEY, else ~/.config/strandcast/identity
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) key: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyVerb {
    /// Make an identity, unless this machine has one
    New,
    /// Print this machine's public key, and a short form to read aloud
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a pairing string for a sender, with a QR code (at the receiver)
    Pair(KeyPairArgs),
    /// Add a receiver by its pairing string, which standard input has or which is asked for (at the sender)
    Add {
        /// The receiver's name: strandcast send INPUT @NAME
        name: Name,
    },
    /// List receivers, senders and open pairings, without secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Allow a sender, by its key, its name or its key's short form
    Allow {
        #[arg(value_name = "KEY")]
        who: String,
        /// The sender's name
        #[arg(long = "as", value_name = "NAME")]
        name: Option<Name>,
    },
    /// Revoke a sender and end its stream, or close a pairing string by its id in `strandcast key list`
    Revoke {
        #[arg(value_name = "KEY|NAME|ID")]
        who: String,
    },
    /// Remove a receiver
    Remove { name: Name },
}

#[derive(Debug, clap::Args)]
pub(crate) struct KeyPairArgs {
    /// Admit the first sender that uses the string, and no other
    #[arg(long)]
    pub(crate) once: bool,
    /// Admit no new sender after this time: 30m, 1h, 24h, 7d
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    pub(crate) expires: Option<Duration>,
    /// The address at which senders reach this machine, HOST[:PORT]; repeatable. Default: its own addresses
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<HostPort>,
    /// Write the string to a new file that only its owner can read, instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Parses the lifetime of a pairing string: minutes, hours or days, and at most a year.
fn lifetime(text: &str) -> Result<Duration, String> {
    let invalid = || format!("{text:?} is not a time from 1m to 365d, as in 30m, 24h or 7d");
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(invalid()),
    };
    let number: Option<u64> = number.parse().ok().filter(|n| (1..=365 * 24 * 60).contains(n));
    let time = number.map(|n| Duration::from_secs(n * seconds));
    time.filter(|time| *time <= Duration::from_secs(365 * 24 * 3600)).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairings_live_for_minutes_hours_or_days() {
        for (text, seconds) in
            [("30m", 1800), ("1h", 3600), ("24h", 86_400), ("7d", 604_800), ("365d", 31_536_000)]
        {
            assert_eq!(lifetime(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "1", "h", "0h", "-1h", "1.5h", "366d", "99999999999d", "1w", "1ü"] {
            assert!(lifetime(text).is_err(), "{text}");
        }
    }
}
