//! Sources and destinations of media on the command line.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use strandcast::live::{SrtUrl, UdpUrl};
use strandcast::secrets::has_secret;
use strandcast_net::resolve::HostPort;

/// A file, a pipe, or an address of media over UDP or SRT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MediaUrl {
    /// `-`: standard input or standard output.
    Pipe,
    /// `udp://[GROUP@]HOST:PORT`, or `rtp://`.
    Udp(UdpUrl),
    /// `srt://[HOST]:PORT?KEY=VALUE…`.
    Srt(SrtUrl),
    /// Anything else.
    File(PathBuf),
}

impl MediaUrl {
    /// Parses an argument as the place of media. The name of a file need not be valid Unicode.
    ///
    /// # Errors
    /// A line.
    pub(crate) fn of(word: &OsStr) -> Result<MediaUrl, String> {
        word.to_str().map_or_else(|| Ok(MediaUrl::File(PathBuf::from(word))), str::parse)
    }
}

/// Returns advice for media of a kind that is not supported.
fn bridge(kind: &str, text: &str) -> String {
    match kind {
        "rtmp" | "rtmps" | "rtsp" | "rtsps" | "http" | "https" | "tcp" | "rist" => format!(
            "{kind}:// is not supported; ffmpeg reads it: ffmpeg -i {text} -c copy -f mpegts - | strandcast send - @NAME"
        ),
        _ => format!("{kind}:// is not supported: expected a file, -, udp://, rtp:// or srt://"),
    }
}

impl FromStr for MediaUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if has_secret(text) {
            return Err(
                "a pairing string is not a place for media: strandcast key add NAME reads it".to_owned()
            );
        }
        if text == "-" {
            return Ok(MediaUrl::Pipe);
        }
        match text.split_once("://") {
            Some(("udp" | "rtp", _)) => text.parse().map(MediaUrl::Udp),
            Some(("srt", _)) => text.parse().map(MediaUrl::Srt),
            Some((kind, _)) => Err(bridge(kind, text)),
            None if text.is_empty() => Err("a file's name cannot be empty".to_owned()),
            None => Ok(MediaUrl::File(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for MediaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MediaUrl::Pipe => f.write_str("-"),
            MediaUrl::File(path) => path.display().fmt(f),
            MediaUrl::Udp(udp) => udp.fmt(f),
            MediaUrl::Srt(srt) => srt.fmt(f),
        }
    }
}

/// `[HOST][:PORT]`: an address to listen on. A number alone is a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    /// A host name or an address. `None` means all addresses.
    pub(crate) host: Option<String>,
    /// The UDP port, if the user gives one.
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

    #[test]
    fn urls_in_all_notations() {
        let parsed = |text: &str| text.parse::<MediaUrl>().unwrap();
        assert_eq!(parsed("-"), MediaUrl::Pipe);
        assert_eq!(parsed("a/b.ts"), MediaUrl::File("a/b.ts".into()));
        assert!(matches!(parsed("srt://:9000?latency=200"), MediaUrl::Srt(_)));
        assert!(matches!(parsed("udp://:5004"), MediaUrl::Udp(url) if url.host == "0.0.0.0"));
        for text in
            ["-", "a/b.ts", "udp://239.1.1.1@192.0.2.1:5004", "udp://[::1]:5004", "rtp://127.0.0.1:5004"]
        {
            assert_eq!(parsed(text).to_string(), text);
        }
    }

    #[test]
    fn invalid_urls_are_reported() {
        for (text, word) in [
            ("udp://127.0.0.1", "port"),
            ("udp://h:0", "port"),
            ("rtp://127.0.0.1", "needs a port: rtp://HOST:PORT"),
            ("rtmp://a/b", "ffmpeg -i rtmp://a/b -c copy -f mpegts -"),
            ("gopher://a", "expected a file, -, udp://, rtp:// or srt://"),
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
