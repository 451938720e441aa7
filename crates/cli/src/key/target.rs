//! The receiver that a command line names for `send` and `perf client`.

use std::fmt;
use std::str::FromStr;

use strandcast::pairing::{Name, looks_like_pairing};
use strandcast_net::resolve::HostPort;
use zeroize::Zeroizing;

/// The receiver that a command line names.
#[derive(Clone)]
pub(crate) enum Target {
    /// `HOST[:PORT]`: a receiver without a pairing.
    Host(HostPort),
    /// `@NAME`: a receiver that `strandcast key add` has stored.
    Named(String),
    /// `sc1-...`: a receiver with a pairing string. The string is read later, so that no diagnostic of the command line
    /// repeats it.
    Paired(Zeroizing<String>),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(_) => Ok(Target::Named(text.parse::<Name>()?.as_str().to_owned())),
            None if looks_like_pairing(text) => Ok(Target::Paired(Zeroizing::new(text.to_owned()))),
            None => text.parse().map(Target::Host).map_err(|error| format!("{error}")),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Host(host) => write!(f, "{host}"),
            Target::Named(name) => write!(f, "@{name}"),
            Target::Paired(_) => f.write_str("sc1-(hidden)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_apart_and_strings_are_never_repeated() {
        let shown = |text: &str| format!("{:?}", text.parse::<Target>().unwrap());
        assert_eq!(shown("studio.example"), "studio.example");
        assert_eq!(shown("[::1]:7"), "[::1]:7");
        assert_eq!(shown("@studio"), "@studio");
        for text in ["sc1-000", "SC1-mistyped", "sc9-0"] {
            assert_eq!(shown(text), "sc1-(hidden)");
        }
        for text in ["host:0", "@", "@a b", "@@"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
