//! The data that a receiver gives to a sender once. They are the receiver's addresses, its key, and a token that admits
//! the sender.
//!
//! ```text
//! | flags 1 | receiver's public key 32 | token 32 | host | host ...     host: | kind 1 | address 4, 16 or name 1 + n | port 2 |
//! ```

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use strandcast_net::resolve::HostPort;
use strandcast_seal::{Peer, PublicKey, Token};
use zeroize::Zeroizing;

use super::text::{LONGEST, PAIRING, TextError};

/// Flag: the token admits one sender.
const ONCE: u8 = 1;
/// Kinds of hosts.
const V4: u8 = 4;
const V6: u8 = 6;
const NAME: u8 = 1;
/// Maximum length of a host name (RFC 1035 §2.3.4, as text).
const MAX_NAME: usize = 253;

/// A pairing. The text of a pairing is a secret, because its token admits a sender.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pairing {
    /// If true, the token admits only the first sender.
    pub once: bool,
    /// Hosts on which the receiver listens. Each has a port.
    pub hosts: Vec<HostPort>,
    /// Key of the receiver, and the token.
    pub peer: Peer,
}

impl Pairing {
    /// Returns the pairing as text: `sc1-...`. Returns `None` if there are too many hosts for the longest text, or if a
    /// host is invalid.
    pub fn encode(&self) -> Option<Zeroizing<String>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST));
        bytes.push(if self.once { ONCE } else { 0 });
        bytes.extend_from_slice(&self.peer.key.0);
        bytes.extend_from_slice(&*self.peer.token.to_bytes());
        for host in &self.hosts {
            let start = bytes.len();
            match host.host.parse() {
                Ok(IpAddr::V4(v4)) => {
                    bytes.push(V4);
                    bytes.extend(v4.octets());
                }
                Ok(IpAddr::V6(v6)) => {
                    bytes.push(V6);
                    bytes.extend(v6.octets());
                }
                Err(_) => {
                    bytes.extend([NAME, u8::try_from(host.host.len()).ok()?]);
                    bytes.extend(host.host.bytes().map(|b| b.to_ascii_lowercase()));
                }
            }
            bytes.extend(host.port?.to_be_bytes());
            if bytes.len() > LONGEST || bytes[start] == NAME && !is_host_name(host.host.as_bytes()) {
                return None;
            }
        }
        (!self.hosts.is_empty()).then(|| PAIRING.encode(&bytes))
    }

    /// Parses a pairing.
    ///
    /// # Errors
    /// Returns [`TextError`] if the text is of another kind, cut short, mistyped, or from a newer version.
    pub fn decode(text: &str) -> Result<Pairing, TextError> {
        let bytes = PAIRING.decode(text)?;
        // The checksum is correct. If the bytes cannot be read, a newer version has written them.
        let newer = TextError::Newer(PAIRING);
        let mut rest = Bytes(&bytes);
        let flags = rest.byte().filter(|flags| flags & !ONCE == 0).ok_or(newer.clone())?;
        let (Some(key), Some(token)) = (rest.array(), rest.array()) else { return Err(newer) };
        let peer = Peer { key: PublicKey(key), token: Token::from_bytes(token) };
        let mut hosts = Vec::new();
        while !rest.0.is_empty() {
            hosts.push(rest.host().ok_or(newer.clone())?);
        }
        if hosts.is_empty() { Err(newer) } else { Ok(Pairing { once: flags & ONCE != 0, hosts, peer }) }
    }
}

/// Returns whether a text is probably a pairing string. It is probable if the text begins like pairing strings of any
/// version. Error messages never contain such a text.
pub fn looks_like_pairing(text: &str) -> bool {
    !matches!(PAIRING.decode(text), Err(TextError::OtherKind(_)))
}

/// Returns whether bytes are a host name. It consists of letters, digits, hyphens and dots (RFC 1123 §2.1), and of
/// underscores, which occur in practice.
fn is_host_name(name: &[u8]) -> bool {
    let valid = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    (1..=MAX_NAME).contains(&name.len()) && name.iter().all(valid)
}

/// Rest of the bytes that is not yet read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn host(&mut self) -> Option<HostPort> {
        let host = match self.byte()? {
            V4 => Ipv4Addr::from(self.array::<4>()?).to_string(),
            V6 => Ipv6Addr::from(self.array::<16>()?).to_string(),
            NAME => {
                let len = usize::from(self.byte()?);
                let (name, rest) = self.0.split_at_checked(len)?;
                self.0 = rest;
                String::from_utf8(name.to_vec()).ok().filter(|name| is_host_name(name.as_bytes()))?
            }
            _ => return None,
        };
        let port = u16::from_be_bytes(self.array()?);
        (port > 0).then_some(HostPort { host, port: Some(port) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairing(hosts: &[&str], once: bool) -> Pairing {
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let peer = Peer { key: PublicKey([3; 32]), token: Token::from_bytes([5; 32]) };
        Pairing { once, hosts, peer }
    }

    #[test]
    fn names_addresses_and_flags_survive() {
        for (hosts, once) in [
            (&["studio.example:9899"][..], false),
            (&["192.0.2.1:1", "[2001:db8::1]:65535", "a:2"][..], true),
        ] {
            let text = pairing(hosts, once).encode().unwrap();
            let read = Pairing::decode(&text).unwrap();
            let names: Vec<String> = read.hosts.iter().map(ToString::to_string).collect();
            assert_eq!((names.as_slice(), read.once), (hosts.map_to_strings().as_slice(), once));
            assert_eq!((read.peer.key, *read.peer.token.to_bytes()), (PublicKey([3; 32]), [5; 32]));
        }
    }

    trait Strings {
        fn map_to_strings(&self) -> Vec<String>;
    }

    impl Strings for &[&str] {
        fn map_to_strings(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }

    #[test]
    fn one_address_takes_128_characters() {
        // Length of the text: 4 + 2 + (1 + 32 + 32 + 1 + 4 + 2 + 4) * 8 / 5, rounded up.
        assert_eq!(pairing(&["192.0.2.1:9899"], false).encode().unwrap().len(), 128);
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let many: Vec<String> = (0..30).map(|i| format!("192.0.2.{i}:9899")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for hosts in [&many[..], &[], &["without.port"], &["a b:1"], &["größe.example:1"]] {
            assert!(pairing(hosts, false).encode().is_none(), "{hosts:?}");
        }
    }

    #[test]
    fn contents_that_a_newer_version_may_know_are_of_a_newer_version() {
        let good = PAIRING.decode(&pairing(&["a.b:1"], false).encode().unwrap()).unwrap().to_vec();
        let read = |bytes: &[u8]| Pairing::decode(&PAIRING.encode(bytes)).map(|_| ()).unwrap_err();
        let change = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            bytes
        };
        for (what, bytes) in [
            ("a flag", change(0, 2)),
            ("a kind of host", change(65, 9)),
            ("a name with a blank", change(68, b' ')),
            ("an empty name", change(66, 0)),
            ("port 0", change(good.len() - 1, 0)),
            ("no host", good[..65].to_vec()),
            ("half a host", good[..good.len() - 1].to_vec()),
            ("half a key", good[..20].to_vec()),
            ("nothing", Vec::new()),
        ] {
            assert_eq!(read(&bytes), TextError::Newer(PAIRING), "{what}");
        }
    }

    #[test]
    fn pairings_are_recognised_without_being_read() {
        for text in ["sc1-", "sc1-mistyped!", "SC9-x", "sc1"] {
            assert!(looks_like_pairing(text), "{text}");
        }
        for text in ["example.org", "sc.example", "sc1.example.org", "scanner", "@studio", "sck1-00"] {
            assert!(!looks_like_pairing(text), "{text}");
        }
    }
}
