//! Sources and destinations of media on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use strandcast_net::resolve::HostPort;

use crate::secrets::has_secret;

/// A file, a pipe, or a UDP address of media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MediaUrl {
    /// `-`: standard input or output.
    Pipe,
    /// `udp://[GROUP@]HOST:PORT`.
    Udp(UdpUrl),
    /// Anything else.
    File(PathBuf),
}

/// A UDP source or destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UdpUrl {
    /// The multicast group to join on HOST's interface; only input has one.
    pub(crate) group: Option<String>,
    /// Input: the address to listen on, or the group itself. Output: the receiver.
    pub(crate) host: String,
    /// The UDP port.
    pub(crate) port: u16,
}

impl FromStr for MediaUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if has_secret(text) {
            return Err("a pairing string is no place for media: strandcast key add NAME reads it".to_owned());
        }
        if text == "-" {
            return Ok(MediaUrl::Pipe);
        }
        if let Some(rest) = text.strip_prefix("udp://") {
            return parse_udp(rest).map(MediaUrl::Udp).map_err(|e| format!("{text}: {e}"));
        }
        match text.split_once("://") {
            Some((scheme, _)) => Err(format!("{scheme}:// is not supported: expected a file, - or udp://")),
            None if text.is_empty() => Err("a file's name cannot be empty".to_owned()),
            None => Ok(MediaUrl::File(PathBuf::from(text))),
        }
    }
}

fn parse_udp(text: &str) -> Result<UdpUrl, String> {
    let (group, host) = match text.split_once('@') {
        Some(("", host)) => (None, host),
        Some((group, host)) => (Some(group.to_owned()), host),
        None => (None, text),
    };
    // `udp://:5000` and `udp://@:5000`: every address of this machine.
    let host = if host.starts_with(':') { format!("0.0.0.0{host}") } else { host.to_owned() };
    let HostPort { host, port } = host.parse().map_err(|e| format!("{e}"))?;
    let port = port.ok_or("needs a port: udp://HOST:PORT")?;
    Ok(UdpUrl { group, host, port })
}

impl fmt::Display for MediaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MediaUrl::Pipe => f.write_str("-"),
            MediaUrl::File(path) => path.display().fmt(f),
            MediaUrl::Udp(udp) => {
                let group = udp.group.as_ref().map(|g| format!("{g}@")).unwrap_or_default();
                let host = HostPort { host: udp.host.clone(), port: Some(udp.port) };
                write!(f, "udp://{group}{host}")
            }
        }
    }
}

/// `[HOST][:PORT]` to listen on; a number alone is a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    /// A name or an address; none means all addresses.
    pub(crate) host: Option<String>,
    /// The UDP port, where one is given.
    pub(crate) port: Option<u16>,
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix(':').unwrap_or(text);
        if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
            let port = number.parse().ok().filter(|&p: &u16| p > 0);
            let port = port.ok_or_else(|| format!("{number} is not a port (1 to 65535)"))?;
            return Ok(Listen { host: None, port: Some(port) });
        }
        let HostPort { host, port } = text.parse().map_err(|e| format!("{e}"))?;
        let any = matches!(host.as_str(), "0.0.0.0" | "::" | "*");
        Ok(Listen { host: (!any).then_some(host), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(group: Option<&str>, host: &str, port: u16) -> MediaUrl {
        MediaUrl::Udp(UdpUrl { group: group.map(str::to_owned), host: host.to_owned(), port })
    }

    #[test]
    fn urls_in_all_notations() {
        let parsed = |text: &str| text.parse::<MediaUrl>().unwrap();
        assert_eq!(parsed("-"), MediaUrl::Pipe);
        assert_eq!(parsed("a/b.ts"), MediaUrl::File("a/b.ts".into()));
        assert_eq!(parsed("udp://127.0.0.1:5004"), udp(None, "127.0.0.1", 5004));
        assert_eq!(parsed("udp://:5004"), udp(None, "0.0.0.0", 5004));
        assert_eq!(parsed("udp://@239.1.1.1:5004"), udp(None, "239.1.1.1", 5004));
        assert_eq!(parsed("udp://239.1.1.1@192.0.2.1:5004"), udp(Some("239.1.1.1"), "192.0.2.1", 5004));
        assert_eq!(parsed("udp://[::1]:5004"), udp(None, "::1", 5004));
        for text in ["-", "a/b.ts", "udp://239.1.1.1@192.0.2.1:5004", "udp://[::1]:5004"] {
            assert_eq!(parsed(text).to_string(), text);
        }
    }

    #[test]
    fn invalid_urls_are_reported() {
        for (text, word) in [
            ("udp://127.0.0.1", "port"),
            ("udp://h:0", "port"),
            ("rtp://127.0.0.1:1", "rtp://"),
            ("", "empty"),
        ] {
            let error = text.parse::<MediaUrl>().unwrap_err();
            assert!(error.contains(word) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn listening_addresses() {
        let parsed = |text: &str| text.parse::<Listen>().map(|l| (l.host, l.port));
        assert_eq!(parsed("9899"), Ok((None, Some(9899))));
        assert_eq!(parsed(":9899"), Ok((None, Some(9899))));
        assert_eq!(parsed("0.0.0.0:1"), Ok((None, Some(1))));
        assert_eq!(parsed("192.0.2.1"), Ok((Some("192.0.2.1".into()), None)));
        assert_eq!(parsed("[::1]:7"), Ok((Some("::1".into()), Some(7))));
        assert!(parsed("70000").is_err() && parsed("h:x").is_err() && parsed("").is_err());
    }
}
