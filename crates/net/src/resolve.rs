//! Resolution of host names to addresses.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::str::FromStr;
use std::time::Duration;

use crate::interface::interfaces;

/// Maximum time that the system's resolver may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reason why a host has no usable address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The system's resolver failed.
    #[error("cannot resolve {host}: {source}")]
    Failed {
        /// The name to resolve.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// The name has no address.
    #[error("{0} has no address")]
    NoAddress(String),
    /// The zone of a link-local address does not name an interface.
    #[error("{0}: unknown network interface {1}")]
    NoZone(Ipv6Addr, String),
    /// The resolver did not answer in time.
    #[error("cannot resolve {0}: no answer within 10 s")]
    TimedOut(String),
}

/// Returns every address of `host`, each once, with the port `port`. The order is the system's order of preference.
/// `host` is a name, an IPv4 address, or an IPv6 address with or without brackets. A link-local address may have its
/// interface as the zone: `fe80::1%eth0`.
///
/// # Errors
/// [`ResolveError`], a one-line diagnostic.
pub async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, ResolveError> {
    let bare = unbracketed(host);
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    if let Some((ip, zone)) = bare.split_once('%')
        && let Ok(ip) = ip.parse::<Ipv6Addr>()
    {
        let index = index_of(zone).ok_or_else(|| ResolveError::NoZone(ip, zone.to_owned()))?;
        return Ok(vec![SocketAddrV6::new(ip, port, 0, index).into()]);
    }
    let found = tokio::time::timeout(TIMEOUT, tokio::net::lookup_host((bare, port))).await;
    let found = found.map_err(|_| ResolveError::TimedOut(host.to_owned()))?;
    let found = found.map_err(|source| ResolveError::Failed { host: host.to_owned(), source })?;
    let mut addresses = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    match addresses.is_empty() {
        true => Err(ResolveError::NoAddress(host.to_owned())),
        false => Ok(addresses),
    }
}

/// Index of an interface that is given by its name or index.
fn index_of(zone: &str) -> Option<u32> {
    let by_name = interfaces().unwrap_or_default().into_iter().find(|i| i.name == zone).and_then(|i| i.index);
    by_name.or_else(|| zone.parse().ok().filter(|index| *index > 0))
}

fn unbracketed(host: &str) -> &str {
    host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host)
}

/// A `HOST[:PORT]`. These forms are accepted: `example.org`, `example.org:9899`, `192.0.2.1:9899`,
/// `[2001:db8::1]:9899`, `2001:db8::1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port, if one is given.
    pub port: Option<u16>,
}

/// Reason why a `HOST[:PORT]` is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostPortError {
    /// The host before the port is missing.
    #[error("{0:?} names no host")]
    NoHost(String),
    /// The port is not a number from 1 to 65535.
    #[error("{0:?} is not a UDP port (1 to 65535)")]
    BadPort(String),
    /// A bracket is missing, or text follows the closing bracket.
    #[error("{0:?}: an IPv6 address with a port is written [ADDRESS]:PORT")]
    BadBrackets(String),
}

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, HostPortError> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let brackets = || HostPortError::BadBrackets(text.to_owned());
            let (host, tail) = rest.split_once(']').ok_or_else(brackets)?;
            match tail.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if tail.is_empty() => (host, None),
                None => return Err(brackets()),
            }
        } else {
            match text.split_once(':') {
                // The text has several colons and no brackets, so that it is an IPv6 address without a port.
                Some((_, rest)) if rest.contains(':') => (text, None),
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            }
        };
        if host.is_empty() {
            return Err(HostPortError::NoHost(text.to_owned()));
        }
        let port = port.map(parse_port).transpose()?;
        Ok(HostPort { host: host.to_owned(), port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.port, self.host.contains(':')) {
            (Some(port), true) => write!(f, "[{}]:{port}", self.host),
            (Some(port), false) => write!(f, "{}:{port}", self.host),
            (None, _) => f.write_str(&self.host),
        }
    }
}

fn parse_port(text: &str) -> Result<u16, HostPortError> {
    let port = text.parse().ok().filter(|&port: &u16| port > 0);
    port.ok_or_else(|| HostPortError::BadPort(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Option<u16>) {
        let HostPort { host, port } = text.parse().unwrap();
        (host, port)
    }

    #[test]
    fn host_and_port_in_all_notations() {
        assert_eq!(parsed("example.org"), ("example.org".into(), None));
        assert_eq!(parsed("example.org:9899"), ("example.org".into(), Some(9899)));
        assert_eq!(parsed("192.0.2.1:1"), ("192.0.2.1".into(), Some(1)));
        assert_eq!(parsed("[2001:db8::1]:9899"), ("2001:db8::1".into(), Some(9899)));
        assert_eq!(parsed("[2001:db8::1]"), ("2001:db8::1".into(), None));
        assert_eq!(parsed("2001:db8::1"), ("2001:db8::1".into(), None));
    }

    #[test]
    fn notation_survives_printing() {
        for text in ["example.org", "example.org:9899", "[2001:db8::1]:9899", "::1", "[fe80::1%eth0]:9899"] {
            assert_eq!(text.parse::<HostPort>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn each_wrong_notation_has_its_own_error() {
        let error = |text: &str| text.parse::<HostPort>().unwrap_err();
        assert_eq!(error(":9899"), HostPortError::NoHost(":9899".into()));
        assert_eq!(error(""), HostPortError::NoHost(String::new()));
        for port in ["0", "65536", "x", "", "-1"] {
            assert_eq!(error(&format!("h:{port}")), HostPortError::BadPort(port.into()));
        }
        for text in ["[::1", "[::1]9899", "[::1]x:1"] {
            assert_eq!(error(text), HostPortError::BadBrackets(text.into()));
        }
        assert!(!error("h:0").to_string().contains('\n'));
    }

    #[tokio::test]
    async fn addresses_need_no_resolver() {
        let local: SocketAddr = "[::1]:7".parse().unwrap();
        assert_eq!(resolve("[::1]", 7).await.unwrap(), [local]);
        assert_eq!(resolve("::1", 7).await.unwrap(), [local]);
        assert_eq!(resolve("192.0.2.1", 7).await.unwrap(), ["192.0.2.1:7".parse().unwrap()]);
    }

    #[tokio::test]
    async fn link_local_addresses_have_their_zone() {
        let lo = interfaces().unwrap().into_iter().find(|i| i.loopback).unwrap();
        for zone in [lo.name.clone(), lo.index.unwrap().to_string()] {
            let host: HostPort = format!("[fe80::1%{zone}]:9").parse().unwrap();
            let expected = SocketAddrV6::new("fe80::1".parse().unwrap(), 9, 0, lo.index.unwrap());
            assert_eq!(resolve(&host.host, 9).await.unwrap(), [expected.into()]);
        }
        let error = resolve("fe80::1%nonesuch9", 9).await.unwrap_err();
        assert_eq!(error.to_string(), "fe80::1: unknown network interface nonesuch9");
    }

    #[tokio::test]
    async fn names_resolve_to_each_address_once() {
        let mut found = resolve("localhost", 9).await.unwrap();
        assert!(found.iter().all(|a| a.ip().is_loopback() && a.port() == 9), "{found:?}");
        let all = found.len();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), all);
    }

    #[tokio::test]
    async fn an_unresolvable_name_gives_one_line() {
        // A label has at most 63 octets (RFC 1035 §2.3.4), so that no server is queried.
        let name = "x".repeat(64);
        let error = resolve(&name, 1).await.unwrap_err().to_string();
        assert!(error.contains(&name) && !error.contains('\n'), "{error}");
    }
}
