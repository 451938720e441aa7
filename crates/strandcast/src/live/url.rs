//! URLs of media.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use strandcast_net::resolve::HostPort;

/// A UDP input or output: `udp://[GROUP@]HOST:PORT[?if=NAME&ttl=N&source=ADDRESS]`, or `rtp://` in place of `udp://`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UdpUrl {
    /// True if each datagram of an output has a header of RTP (RFC 2250). Inputs accept datagrams with and without it.
    pub rtp: bool,
    /// Multicast group that an input joins or to which an output sends. The interface is the one that has the host's
    /// address.
    pub group: Option<String>,
    /// For an input, the address to listen on, or the multicast group. For an output, the destination.
    pub host: String,
    /// UDP port.
    pub port: u16,
    /// Name of an interface. An input joins a group on it, and the datagrams of an output leave by it.
    pub interface: Option<String>,
    /// For an output, number of routers that a datagram may pass. The default is the system's default, which is 1 for
    /// groups.
    pub ttl: Option<u8>,
    /// For an input, the only sender of the group that is received (RFC 4607).
    pub source: Option<IpAddr>,
}

/// Prefixes of URLs of UDP and RTP.
const UDP: &str = "udp://";
const RTP: &str = "rtp://";

impl FromStr for UdpUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<UdpUrl, String> {
        let refuse = |why: &dyn fmt::Display| format!("{text}: {why}");
        let (rtp, prefix) = if text.starts_with(RTP) { (true, RTP) } else { (false, UDP) };
        let Some(rest) = text.strip_prefix(prefix) else {
            let kind = text.split_once("://").map_or(text, |(kind, _)| kind);
            return Err(format!("{kind}:// is not supported: expected udp:// or rtp://"));
        };
        let (group, host) = match rest.split_once('@') {
            Some(("", host)) => (None, host),
            Some((group, host)) => (Some(group.to_owned()), host),
            None => (None, rest),
        };
        let (host, query) = host.split_once('?').map_or((host, None), |(host, query)| (host, Some(query)));
        // `udp://:5000` and `udp://@:5000`: every address of this machine.
        let host = if host.starts_with(':') { format!("0.0.0.0{host}") } else { host.to_owned() };
        let HostPort { host, port } = host.parse().map_err(|e| refuse(&e))?;
        let port = port.ok_or_else(|| refuse(&format_args!("needs a port: {prefix}HOST:PORT")))?;
        let mut url = UdpUrl { rtp, group, host, port, interface: None, ttl: None, source: None };
        for option in query.into_iter().flat_map(|query| query.split('&')) {
            url.set(option).map_err(|e| refuse(&e))?;
        }
        Ok(url)
    }
}

impl UdpUrl {
    fn set(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "if" if !value.is_empty() => self.interface = Some(value.to_owned()),
            "ttl" => {
                let ttl = value.parse().ok().filter(|ttl: &u8| *ttl > 0);
                self.ttl = Some(ttl.ok_or_else(|| format!("ttl={value} is not a number from 1 to 255"))?);
            }
            "source" => {
                let source = value.parse().map_err(|_| format!("source={value} is not an address"))?;
                self.source = Some(source);
            }
            "pkt_size" => {
                return Err(
                    "leave pkt_size= out: any size is received, and 1316 bytes or less are sent".to_owned()
                );
            }
            _ => return Err(format!("{option} is not an option: if=NAME, ttl=N and source=ADDRESS are")),
        }
        Ok(())
    }
}

impl fmt::Display for UdpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = self.group.as_ref().map(|group| format!("{group}@")).unwrap_or_default();
        let prefix = if self.rtp { RTP } else { UDP };
        write!(f, "{prefix}{group}{}", HostPort { host: self.host.clone(), port: Some(self.port) })?;
        let interface = self.interface.as_ref().map(|name| format!("if={name}"));
        let ttl = self.ttl.map(|ttl| format!("ttl={ttl}"));
        let source = self.source.map(|source| format!("source={source}"));
        let options: Vec<String> = interface.into_iter().chain(ttl).chain(source).collect();
        if options.is_empty() { Ok(()) } else { write!(f, "?{}", options.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_all_notations() {
        let of = |text: &str| text.parse::<UdpUrl>().map(|url| (url.group, url.host, url.port));
        assert!(of("a/b.ts").is_err());
        assert_eq!(of("udp://127.0.0.1:5004"), Ok((None, "127.0.0.1".into(), 5004)));
        assert_eq!(of("udp://:5004"), Ok((None, "0.0.0.0".into(), 5004)));
        assert_eq!(of("udp://@239.1.1.1:5004"), Ok((None, "239.1.1.1".into(), 5004)));
        assert_eq!(of("udp://[::1]:5004"), Ok((None, "::1".into(), 5004)));
        for text in [
            "udp://239.1.1.1@192.0.2.1:5004",
            "udp://[::1]:5004",
            "udp://[ff15::7]:5004?if=eth0&ttl=8&source=2001:db8::1",
            "rtp://239.1.1.1@192.0.2.1:5004?ttl=8",
        ] {
            let url = text.parse::<UdpUrl>().unwrap();
            assert_eq!((url.to_string().as_str(), url.rtp), (text, text.starts_with("rtp")));
        }
    }

    #[test]
    fn invalid_urls_are_reported() {
        for (text, word) in [
            ("udp://127.0.0.1", "port"),
            ("udp://h:0", "port"),
            ("rtp://127.0.0.1", "needs a port: rtp://HOST:PORT"),
            ("rist://127.0.0.1:1", "rist:// is not supported"),
            ("udp://h:1?pkt_size=1316", "leave pkt_size= out"),
            ("udp://h:1?ttl=0", "1 to 255"),
            ("udp://h:1?ttl=x", "1 to 255"),
            ("udp://h:1?if=", "if=NAME"),
            ("udp://h:1?source=eth0", "not an address"),
            ("udp://h:1?overrun_nonfatal=1", "if=NAME, ttl=N and source=ADDRESS"),
        ] {
            let error = text.parse::<UdpUrl>().unwrap_err();
            assert!(error.contains(word) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
