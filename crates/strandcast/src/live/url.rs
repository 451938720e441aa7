//! URLs of media.

use std::fmt;
use std::str::FromStr;

use strandcast_net::resolve::HostPort;

use crate::error::Error;

/// A UDP input or output: `udp://[GROUP@]HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpUrl {
    /// The multicast group: an input joins it on the host's interface, an output sends to it.
    pub group: Option<String>,
    /// Input: the address to listen on, or the group itself. Output: the destination.
    pub host: String,
    /// The UDP port.
    pub port: u16,
}

/// Prefix of the URLs.
const PREFIX: &str = "udp://";

impl UdpUrl {
    /// The URL of a text; `None`: it has no `://`, as the name of a file.
    ///
    /// # Errors
    /// [`Error::Usage`]: a URL of another kind, or one without a port.
    pub fn of(text: &str) -> Result<Option<UdpUrl>, Error> {
        match text.split_once("://") {
            Some(_) => text.parse().map(Some).map_err(Error::Usage),
            None => Ok(None),
        }
    }
}

impl FromStr for UdpUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<UdpUrl, String> {
        let refuse = |why: &dyn fmt::Display| format!("{text}: {why}");
        let Some(rest) = text.strip_prefix(PREFIX) else {
            let kind = text.split_once("://").map_or(text, |(kind, _)| kind);
            return Err(format!("{kind}:// is not supported: expected a file or udp://"));
        };
        let (group, host) = match rest.split_once('@') {
            Some(("", host)) => (None, host),
            Some((group, host)) => (Some(group.to_owned()), host),
            None => (None, rest),
        };
        // `udp://:5000` and `udp://@:5000`: every address of this machine.
        let host = if host.starts_with(':') { format!("0.0.0.0{host}") } else { host.to_owned() };
        let HostPort { host, port } = host.parse().map_err(|e| refuse(&e))?;
        let port = port.ok_or_else(|| refuse(&"needs a port: udp://HOST:PORT"))?;
        Ok(UdpUrl { group, host, port })
    }
}

impl fmt::Display for UdpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = self.group.as_ref().map(|group| format!("{group}@")).unwrap_or_default();
        write!(f, "{PREFIX}{group}{}", HostPort { host: self.host.clone(), port: Some(self.port) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_all_notations() {
        let of = |text: &str| UdpUrl::of(text).unwrap().map(|url| (url.group, url.host, url.port));
        assert_eq!(of("a/b.ts"), None);
        assert_eq!(of("udp://127.0.0.1:5004"), Some((None, "127.0.0.1".into(), 5004)));
        assert_eq!(of("udp://:5004"), Some((None, "0.0.0.0".into(), 5004)));
        assert_eq!(of("udp://@239.1.1.1:5004"), Some((None, "239.1.1.1".into(), 5004)));
        assert_eq!(of("udp://[::1]:5004"), Some((None, "::1".into(), 5004)));
        for text in ["udp://239.1.1.1@192.0.2.1:5004", "udp://[::1]:5004"] {
            assert_eq!(text.parse::<UdpUrl>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_urls_are_reported() {
        for (text, word) in
            [("udp://127.0.0.1", "port"), ("udp://h:0", "port"), ("rtp://127.0.0.1:1", "rtp://")]
        {
            let error = UdpUrl::of(text).unwrap_err().to_string();
            assert!(error.contains(word) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
