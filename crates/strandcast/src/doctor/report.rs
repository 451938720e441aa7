//! Report of an examination.

use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

/// All facts, and the findings from them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The receiver, if one was named.
    pub target: Option<String>,
    /// Addresses of the receiver.
    pub asked: Vec<SocketAddr>,
    /// The interfaces, or a single entry if the receiver is on this machine.
    pub links: Vec<Link>,
    /// The receiver, if one was named.
    pub peer: Option<Peer>,
    /// Facts about this machine.
    pub machine: Machine,
    /// Faults.
    pub findings: Vec<Finding>,
    /// Remarks that are not faults.
    pub notes: Vec<String>,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Word for the fault, for programs.
    pub code: &'static str,
    /// All facts, and the conclusions from them.
    pub link: Option<String>,
    /// Description of the fault.
    pub what: String,
    /// Probable cause.
    pub cause: String,
    /// Command or step that removes the fault.
    pub mend: String,
}

/// An interface, as seen from this machine and from the receiver.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Link {
    /// Name of the interface.
    pub name: String,
    /// Addresses of the interface.
    pub addresses: Vec<IpAddr>,
    /// Route to the receiver, or to the Internet if no receiver is named.
    pub route: Option<Route>,
    /// Reason why no route can be used.
    pub hindrance: Option<String>,
    /// Kind of this reason: the code of a finding, or a word for notes.
    #[serde(skip)]
    pub hindered_by: Option<&'static str>,
    /// Command that removes the cause.
    #[serde(skip)]
    pub mend: Option<String>,
    /// Value of rp_filter: 0 off, 1 strict, 2 loose.
    pub rp_filter: Option<u32>,
    /// True if a strict rp_filter drops the receiver's answers.
    pub drops_answers: bool,
    /// Interfaces with the same subnet.
    pub twins: Vec<String>,
    /// True if the socket is bound only to the address, because this user has no permission to bind it to an interface.
    pub unbound: bool,
    /// Address of the receiver that was probed over this link.
    pub remote: Option<SocketAddr>,
    /// Outcome of a small datagram to the receiver.
    pub probed: Option<Probed>,
    /// True if datagrams reach the receiver. `None` if this is unknown.
    pub out: Option<bool>,
    /// True if datagrams of the receiver arrive. `None` if this was not tried.
    pub back: Option<bool>,
    /// IP-level MTU in bytes that the system expects.
    pub mtu: Option<u16>,
    /// Largest IP packet in bytes that reached the receiver, up to 1500.
    pub path_mtu: Option<u16>,
    /// Address and port of this side.
    pub local: Option<SocketAddr>,
    /// Address and port that the receiver sees.
    pub seen: Option<SocketAddr>,
    /// True if the receiver's packets still arrived after a time of silence. `None` if this was not tried.
    pub kept: Option<bool>,
    /// Address that the receiver saw after the time of silence.
    pub seen_later: Option<SocketAddr>,
}

/// Route of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// Number of the routing table; 254 is the main one.
    pub table: u32,
    /// Next router.
    pub gateway: Option<IpAddr>,
    /// Source address.
    pub source: IpAddr,
}

/// Outcome of a small datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probed {
    /// A receiver that encrypts answered.
    Sealed,
    /// A receiver without encryption, or another SCTP stack, answered.
    Plain,
    /// The host answers that no program listens at this port.
    NoProgram,
    /// This machine refuses to send, because of a filter.
    Forbidden,
    /// A router has no route to the host, or a filter rejects the datagram.
    Unreachable,
    /// No answer arrived.
    Silent,
}

impl Probed {
    /// Returns whether a packet of the receiver's host arrived.
    pub fn came_back(self) -> bool {
        matches!(self, Probed::Sealed | Probed::Plain | Probed::NoProgram)
    }
}

/// The receiver.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Peer {
    /// Short form of the key that this machine expects the receiver to have.
    pub expected: Option<String>,
    /// True once the peer has proven this key and admitted this machine.
    pub connected: bool,
    /// Reason why the peer refuses, or another reason why there is no connection.
    pub refusal: Option<String>,
    /// True if the peer refuses this machine's key.
    pub key_refused: bool,
    /// True if the receiver answered the question about the addresses of this machine.
    pub answered: bool,
    /// Usual port at which a receiver answered, if no receiver answered at the given port.
    pub other_port: Option<u16>,
    /// Seconds by which this machine's clock is ahead of the receiver's.
    pub clock_ahead_s: Option<f64>,
    /// Seconds of silence after which the links were examined again.
    pub silence_s: Option<f64>,
}

/// Facts about this machine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Machine {
    /// Sizes of the buffers that the kernel grants a socket for receiving and for sending, in bytes as the kernel
    /// counts them.
    pub buffers: Option<(usize, usize)>,
    /// File of the identity.
    pub identity: Option<String>,
    /// Short form of this machine's key.
    pub key: Option<String>,
    /// Reasons why files of keys cannot be used.
    pub store_errors: Vec<String>,
    /// Clock of this machine.
    pub clock: Clock,
}

/// Clock of this machine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Clock {
    /// Seconds since 1970.
    pub now_s: f64,
    /// Name of a key file that is newer than the clock, and the difference in seconds.
    pub newer_file: Option<(String, f64)>,
}
