//! A path specification, as users write it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use super::address::{Interface, is_link_local, zone};
use crate::socket::BindSpec;

/// Minimum IP-level MTU of a path. For IPv6, RFC 8200 §5 guarantees 1280 bytes. IPv4 links may have a lower MTU. Below
/// 576 bytes (RFC 791 §3.1), the headers leave hardly any room for payload.
const MIN_MTU: u16 = 576;

/// The interface and the address of a path. It is written as `if=wlan0`, `bind=192.0.2.7`, `bind=fe80::7%wlan0` or a
/// combination of `if` and `bind`. `mtu=1400` may follow. Commas separate the parts. A specification that was read from
/// text has `if` or `bind` or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "Path")]
pub struct PathSpec {
    /// Name of the interface, or a pattern for names, such as `wwan*`. `*` stands for any characters, and `?` stands
    /// for any single character.
    pub interface: Option<String>,
    /// The local address.
    pub address: Option<IpAddr>,
    /// IP-level MTU in bytes. `None`: the default of the transport.
    pub mtu: Option<u16>,
}

/// Reason why a path specification is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathSpecError {
    /// The text is not `KEY=VALUE`, or the key is unknown.
    #[error("path {0:?}: expected if=INTERFACE, bind=ADDRESS or mtu=BYTES, separated by commas")]
    Unknown(String),
    /// A key is given twice.
    #[error("path: {0}= is given twice")]
    Duplicate(&'static str),
    /// The interface name is empty.
    #[error("path: if= needs an interface's name")]
    NoName,
    /// The text is not an address.
    #[error("path: {0:?} is not an IP address")]
    BadAddress(String),
    /// The text is not an MTU.
    #[error("path: mtu={0}: expected {MIN_MTU} to 65535 bytes")]
    BadMtu(String),
    /// The specification has neither interface nor address.
    #[error("path {0:?} names neither an interface (if=) nor an address (bind=)")]
    Unbound(String),
}

/// Reason why a path cannot be opened on this machine at present.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// No interface with this name has an address.
    #[error("no network interface called {0} has an address")]
    NoInterface(String),
    /// The interface is down.
    #[error("interface {0} is down")]
    Down(String),
    /// The interface has no address of the remote's family.
    #[error("interface {0} has no address to reach {1} from")]
    NoAddress(String, IpAddr),
    /// No interface of this machine has the address.
    #[error("no interface has the address {0}")]
    NotLocal(IpAddr),
    /// The address belongs to another interface.
    #[error("address {0} belongs to interface {1}, not {2}")]
    OtherInterface(IpAddr, String, String),
    /// The zone of the remote address is another interface.
    #[error("{0} belongs to a different link than interface {1}")]
    OtherLink(SocketAddr, String),
    /// The address and the remote are of different families.
    #[error("address {0} cannot reach {1}: one is IPv4, the other IPv6")]
    OtherFamily(IpAddr, IpAddr),
    /// The loopback interface does not lead to other machines.
    #[error("{0} reaches this machine only, but {1} is another machine: name the interface that leads there")]
    Loopback(String, IpAddr),
    /// The interface has addresses, but none of the remote's family.
    #[error("{0} has no {family} address, and {1} needs one", family = if .1.is_ipv4() { "IPv4" } else { "IPv6" })]
    NoFamily(String, IpAddr),
    /// No table has a route over the interface.
    #[error(
        "{0} has no route to {1} in any table: ip route add default dev {0} metric 1000, with via GATEWAY where there is one"
    )]
    NoRoute(String, IpAddr),
    /// A table has a route over the interface, and no rule leads to this table.
    #[error(
        "{0} has no route to {1} in the main table, and no rule leads to the one in table {2}: ip rule add oif {0} table {2}"
    )]
    UnusedTable(String, IpAddr, u32),
}

impl PathError {
    /// Returns whether the path may become usable later. For example, an interface can be plugged in, or an address can
    /// be assigned.
    pub fn may_pass(&self) -> bool {
        use PathError::{Down, NoAddress, NoFamily, NoInterface, NoRoute, NotLocal, UnusedTable};
        let no_route = matches!(self, NoFamily(..) | NoRoute(..) | UnusedTable(..));
        no_route || matches!(self, Down(_) | NoInterface(_) | NoAddress(..) | NotLocal(_))
    }
}

impl PathSpec {
    /// A path over the interface with this name, or over the interfaces that match this pattern.
    pub fn interface(name: impl Into<String>) -> PathSpec {
        PathSpec { interface: Some(name.into()), ..PathSpec::default() }
    }

    /// A path from this local address.
    pub fn address(address: IpAddr) -> PathSpec {
        PathSpec { address: Some(address), ..PathSpec::default() }
    }

    /// Sets the IP-level MTU in bytes.
    #[must_use]
    pub fn with_mtu(self, mtu: u16) -> PathSpec {
        PathSpec { mtu: Some(mtu), ..self }
    }

    /// All interfaces except loopback.
    pub fn any() -> PathSpec {
        PathSpec::interface("*")
    }

    /// Returns whether the path names its interfaces by a pattern.
    pub fn is_pattern(&self) -> bool {
        self.interface.as_ref().is_some_and(|name| name.contains(['*', '?']))
    }

    /// Returns whether the path names interfaces and no address.
    pub fn follows_interfaces(&self) -> bool {
        self.interface.is_some() && self.address.is_none()
    }

    /// Returns whether the specification names this interface. A pattern never matches loopback.
    pub fn names(&self, interface: &Interface) -> bool {
        self.fits(&interface.name) && !(interface.loopback && self.is_pattern())
    }

    /// Returns whether an interface with this name is the interface of the path, or matches the path's pattern.
    pub fn fits(&self, name: &str) -> bool {
        match &self.interface {
            Some(pattern) if self.is_pattern() => fits(pattern.as_bytes(), name.as_bytes()),
            wanted => wanted.as_deref() == Some(name),
        }
    }

    /// The interface and the address to which the socket of a path to `remote` must be bound. Interface and address are
    /// set even if the specification names only one of them. The path thus stays on its network. If the remote address
    /// is on this machine, no interface is set.
    ///
    /// # Errors
    /// [`PathError`]. Try again when the interfaces have changed.
    pub fn bind_spec(&self, interfaces: &[Interface], to: SocketAddr) -> Result<BindSpec, PathError> {
        let (owner, remote) = (self.owner(interfaces)?, to.ip());
        if let Some(owner) =
            owner.filter(|i| zone(to).is_some_and(|zone| i.index.is_some_and(|at| at != zone)))
        {
            return Err(PathError::OtherLink(to, owner.name.clone()));
        }
        if let Some(owner) = owner.filter(|i| !i.up) {
            return Err(PathError::Down(owner.name.clone()));
        }
        let here = remote.is_loopback() || interfaces.iter().any(|i| i.owns(remote));
        if let Some(owner) = owner.filter(|i| i.loopback && !here) {
            return Err(PathError::Loopback(owner.name.clone(), remote));
        }
        let address = match (self.address, owner) {
            (Some(address), _) if address.is_ipv4() != remote.is_ipv4() => {
                return Err(PathError::OtherFamily(address, remote));
            }
            (Some(address), _) => Some(address),
            (None, Some(owner)) => Some(owner.address_for(remote).ok_or_else(|| no_address(owner, remote))?),
            (None, None) => None,
        };
        let interface = owner.filter(|i| !i.loopback && !here).map(|i| i.name.clone());
        let local = address.is_some_and(|a| a.is_ipv6() && is_link_local(a));
        let scope = owner.and_then(|i| i.index).filter(|_| local).unwrap_or_default();
        Ok(BindSpec { address, scope, interface, port: 0 })
    }

    /// Returns the interface that the specification names, or the interface that has its address.
    fn owner<'a>(&self, interfaces: &'a [Interface]) -> Result<Option<&'a Interface>, PathError> {
        let by_address = match self.address {
            Some(ip) => Some(interfaces.iter().find(|i| i.owns(ip)).ok_or(PathError::NotLocal(ip))?),
            None => None,
        };
        let Some(name) = &self.interface else { return Ok(by_address) };
        let named = interfaces.iter().find(|i| self.names(i));
        let named = named.ok_or_else(|| PathError::NoInterface(name.clone()))?;
        match (self.address, by_address) {
            // Several interfaces may have the same address. Equal addresses are common for link-local addresses.
            (Some(ip), Some(other)) if !named.owns(ip) => {
                Err(PathError::OtherInterface(ip, other.name.clone(), name.clone()))
            }
            _ => Ok(Some(named)),
        }
    }
}

impl FromStr for PathSpec {
    type Err = PathSpecError;

    fn from_str(text: &str) -> Result<Self, PathSpecError> {
        let mut spec = PathSpec::default();
        for part in text.split(',') {
            match part.split_once('=') {
                Some(("if", "")) => return Err(PathSpecError::NoName),
                Some(("if", name)) => set(&mut spec.interface, name.to_owned(), "if")?,
                Some(("bind", ip)) => {
                    let (ip, zone) = parse_address(ip)?;
                    set(&mut spec.address, ip, "bind")?;
                    if let Some(zone) = zone {
                        set(&mut spec.interface, zone, "if")?;
                    }
                }
                Some(("mtu", mtu)) => set(&mut spec.mtu, parse_mtu(mtu)?, "mtu")?,
                _ => return Err(PathSpecError::Unknown(part.to_owned())),
            }
        }
        match spec.interface.is_none() && spec.address.is_none() {
            true => Err(PathSpecError::Unbound(text.to_owned())),
            false => Ok(spec),
        }
    }
}

impl fmt::Display for PathSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.interface.as_ref().map(|name| format!("if={name}")),
            self.address.map(|ip| format!("bind={ip}")),
            self.mtu.map(|mtu| format!("mtu={mtu}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(","))
    }
}

/// Reason why an interface has no source address for `remote`.
fn no_address(interface: &Interface, remote: IpAddr) -> PathError {
    let name = interface.name.clone();
    let others = interface.addresses.iter().any(|a| !is_link_local(a.ip));
    match others
        && !interface.addresses.iter().any(|a| a.ip.is_ipv4() == remote.is_ipv4() && !is_link_local(a.ip))
    {
        true => PathError::NoFamily(name, remote),
        false => PathError::NoAddress(name, remote),
    }
}

/// Returns whether a name fits a pattern.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if fits(rest, name) => true,
        (Some((b'*', _)), Some((_, shorter))) => fits(pattern, shorter),
        (Some((of, rest)), Some((letter, shorter))) => (*of == b'?' || of == letter) && fits(rest, shorter),
        _ => false,
    }
}

fn set<T>(field: &mut Option<T>, value: T, key: &'static str) -> Result<(), PathSpecError> {
    match field.replace(value) {
        Some(_) => Err(PathSpecError::Duplicate(key)),
        None => Ok(()),
    }
}

/// Reads an address. A link-local address may name an interface as its zone: `fe80::1%eth0`. If the address names an
/// interface, the interface is returned as well.
fn parse_address(text: &str) -> Result<(IpAddr, Option<String>), PathSpecError> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let bad = || PathSpecError::BadAddress(text.to_owned());
    let (ip, zone) = match bare.split_once('%') {
        Some((ip, zone)) => (ip, Some(zone.to_owned())),
        None => (bare, None),
    };
    let ip: IpAddr = ip.parse().map_err(|_| bad())?;
    match zone {
        Some(zone) if zone.is_empty() || ip.is_ipv4() || !is_link_local(ip) => Err(bad()),
        zone => Ok((ip, zone)),
    }
}

fn parse_mtu(text: &str) -> Result<u16, PathSpecError> {
    let mtu = text.parse().ok().filter(|&mtu: &u16| mtu >= MIN_MTU);
    mtu.ok_or_else(|| PathSpecError::BadMtu(text.to_owned()))
}
