//! The driver's sockets: one per uplink or listening address, reopened whenever possible.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use strandcast_proto::association;
use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::time::Instant;

use super::snapshot::SharedLinkMetadata;
use crate::interface::{Interface, PathSpec, route_mtu};
use crate::socket::{BindSpec, PathSocket, Received, SendOutcome, SocketError, Transmit};

/// Bytes queued for a socket whose kernel buffer is full; more are dropped, as in any queue on the way.
const MAX_WAITING: usize = 1 << 20;

/// The local interface and the remote addresses of a client's path.
#[derive(Clone, Debug)]
pub struct Uplink {
    /// Display name.
    pub name: String,
    /// Interface, address and MTU.
    pub spec: PathSpec,
    /// Addresses of the peer. The first reachable one is used; one in the uplink's own subnet takes precedence.
    pub remotes: Vec<SocketAddr>,
}

impl Uplink {
    /// An uplink named after its interface or address.
    pub fn new(spec: PathSpec, remotes: &[SocketAddr]) -> Self {
        let address = spec.address.map(|a| a.to_string());
        let name = spec.interface.clone().or(address).unwrap_or_else(|| "default".into());
        Uplink { name, spec, remotes: remotes.to_vec() }
    }

    /// The address to bind and the address to send to.
    fn target(&self, interfaces: &[Interface]) -> Option<(BindSpec, SocketAddr)> {
        let usable = |r: &SocketAddr| Some((self.spec.bind_spec(interfaces, r.ip()).ok()?, *r));
        let all: Vec<_> = self.remotes.iter().filter_map(usable).collect();
        let near = all.iter().find(|(bind, r)| in_one_subnet(interfaces, bind, r));
        near.or(all.first()).cloned()
    }
}

fn in_one_subnet(interfaces: &[Interface], bind: &BindSpec, remote: &SocketAddr) -> bool {
    use std::net::IpAddr;
    let bits = |ip: IpAddr| match ip {
        IpAddr::V4(v4) => (32, u128::from(u32::from(v4))),
        IpAddr::V6(v6) => (128, u128::from(v6)),
    };
    let own = interfaces.iter().flat_map(|i| &i.addresses).find(|a| Some(a.ip) == bind.address);
    own.is_some_and(|own| {
        let ((width, a), (other, b)) = (bits(own.ip), bits(remote.ip()));
        let host = width - u32::from(own.prefix_len).min(width);
        width == other && (host == 128 || a >> host == b >> host)
    })
}

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketDirection {
    /// Received.
    Received,
    /// Sent.
    Sent,
}

/// Receives every SCTP packet (UDP payload; of sealed datagrams, what is in them), for captures.
pub type PacketTap = Box<dyn FnMut(Instant, &FourTuple, PacketDirection, &[u8]) + Send>;

/// A slot for one path's socket, which may be closed for the moment.
pub(super) struct SocketSlot {
    pub id: LinkId,
    pub socket: Option<PathSocket>,
    /// The address and port last bound, tried first when the socket is reopened.
    bound: Option<SocketAddr>,
    /// The local port to try on the first bind; 0 leaves the choice to the system.
    pub port: u16,
    /// The uplink and its association; `None` for a listening socket.
    pub uplink: Option<(Uplink, Option<AssociationId>)>,
    /// The remote address of an uplink, once bound.
    pub remote: Option<SocketAddr>,
    /// IP-level MTU to `remote` as the system knows it.
    route_mtu: Option<u16>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
}

/// Datagrams that the kernel had no room for.
struct Waiting {
    remote: SocketAddr,
    src_ip: Option<std::net::IpAddr>,
    segment_size: usize,
    fragment: bool,
    contents: Vec<u8>,
}

impl SocketSlot {
    fn new(id: u32, uplink: Option<(Uplink, Option<AssociationId>)>) -> Self {
        let (waiting, waiting_bytes) = (VecDeque::new(), 0);
        let (socket, bound, port, remote, route_mtu) = (None, None, 0, None, None);
        SocketSlot { id: LinkId(id), socket, bound, port, uplink, remote, route_mtu, waiting, waiting_bytes }
    }

    /// The 4-tuple of a received batch.
    pub fn tuple_of(&self, received: &Received) -> Option<FourTuple> {
        let mut local = self.bound?;
        if let Some(ip) = received.local_ip.filter(|_| local.ip().is_unspecified() && self.uplink.is_none()) {
            local.set_ip(ip);
        }
        Some(FourTuple::new(self.id, local, received.remote))
    }

    /// The 4-tuple of an uplink's path while it has a socket.
    pub fn tuple(&self) -> Option<FourTuple> {
        self.socket.as_ref()?;
        Some(FourTuple::new(self.id, self.bound?, self.remote?))
    }

    /// IP-level MTU of an uplink's path, if configured or less than `default`.
    pub fn mtu(&self, default: u16) -> Option<u16> {
        let (uplink, _) = self.uplink.as_ref()?;
        let asked = uplink.spec.mtu.unwrap_or(default);
        let mtu = self.route_mtu.map_or(asked, |most| most.min(asked));
        (uplink.spec.mtu.is_some() || mtu < default).then_some(mtu)
    }

    /// IP-level MTU of an uplink's path at the most: the configured one, or what interface and route take.
    pub fn mtu_limit(&self) -> Option<u16> {
        let (uplink, _) = self.uplink.as_ref()?;
        uplink.spec.mtu.into_iter().chain(self.route_mtu).min()
    }

    /// Name and index of an uplink's interface.
    pub fn interface<'a>(&self, interfaces: &'a [Interface]) -> Option<(&'a str, u32)> {
        let (uplink, _) = self.uplink.as_ref()?;
        let ip = self.bound?.ip();
        let is = |i: &&Interface| match &uplink.spec.interface {
            Some(name) => i.name == *name,
            None => i.owns(ip),
        };
        let found = interfaces.iter().find(is)?;
        Some((&found.name, found.index?))
    }

    /// Drops the socket and the datagrams queued for it.
    pub fn fail(&mut self) {
        self.socket = None;
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    /// Brings the socket in line with the interfaces. Returns the error if it should be open but could not be opened.
    pub fn refresh(&mut self, interfaces: &[Interface]) -> Option<SocketError> {
        let (uplink, _) = self.uplink.as_ref()?;
        let Some((bind, remote)) = uplink.target(interfaces) else {
            self.fail();
            return None;
        };
        self.route_mtu = route_mtu(&bind, remote);
        let same = |bound: SocketAddr| bind.address.is_none_or(|ip| ip == bound.ip());
        if self.socket.is_some() && self.bound.is_some_and(same) && self.remote == Some(remote) {
            return None;
        }
        self.fail();
        // The same port keeps the path's 4-tuple.
        let had = self.bound.filter(|b| same(*b) && self.remote == Some(remote));
        let port = had.map_or(self.port, |b| b.port());
        let again = PathSocket::bind(&BindSpec { port, ..bind.clone() });
        let socket = if port == 0 { again } else { again.or_else(|_| PathSocket::bind(&bind)) };
        self.remote = Some(remote);
        match socket {
            Ok(socket) => self.take(socket),
            Err(error) => return Some(error),
        }
        None
    }

    fn take(&mut self, socket: PathSocket) {
        self.bound = Some(socket.local_addr());
        self.socket = Some(socket);
    }

    fn wait(&mut self, transmit: &Transmit<'_>, fragment: bool) {
        if self.waiting_bytes + transmit.contents.len() > MAX_WAITING {
            return;
        }
        self.waiting_bytes += transmit.contents.len();
        let Transmit { remote, src_ip, segment_size, contents } = *transmit;
        let contents = contents.to_vec();
        self.waiting.push_back(Waiting { remote, src_ip, segment_size, fragment, contents });
    }

    /// Sends, or queues for later; IP may `fragment` the datagrams. `Err`: datagrams of this size are too big.
    fn send(
        &mut self,
        tuple: &FourTuple,
        segment_size: usize,
        fragment: bool,
        contents: &[u8],
    ) -> Result<(), usize> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let any = self.bound.is_some_and(|b| b.ip().is_unspecified()) && self.uplink.is_none();
        let src_ip = any.then(|| tuple.local.ip());
        let mut transmit = Transmit { remote: tuple.remote, src_ip, segment_size, contents };
        if !self.waiting.is_empty() {
            self.wait(&transmit, fragment);
            return Ok(());
        }
        if fragment {
            socket.send_fragmented(&transmit);
            return Ok(());
        }
        match socket.try_send(&transmit) {
            SendOutcome::Blocked(sent) => {
                transmit.contents = &contents[sent..];
                self.wait(&transmit, fragment);
            }
            SendOutcome::TooBig => {
                socket.send_fragmented(&transmit);
                return Err(segment_size.min(contents.len()));
            }
            SendOutcome::Fatal(_) => self.fail(),
            SendOutcome::Sent | SendOutcome::Unreachable => {}
        }
        Ok(())
    }

    /// Sends queued datagrams as far as the kernel takes them; whether any were sent.
    fn flush(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Some(waiting) = self.waiting.front_mut() {
            let Some(socket) = &self.socket else { return any };
            match socket.poll_writable(cx) {
                Poll::Pending => return any,
                Poll::Ready(Err(_)) => {
                    self.fail();
                    return any;
                }
                Poll::Ready(Ok(())) => any = true,
            }
            let Waiting { remote, src_ip, segment_size, fragment, contents } = waiting;
            let (remote, src_ip, segment_size) = (*remote, *src_ip, *segment_size);
            let transmit = Transmit { remote, src_ip, segment_size, contents };
            let outcome = if *fragment { SendOutcome::TooBig } else { socket.try_send(&transmit) };
            match outcome {
                SendOutcome::Blocked(sent) => {
                    contents.drain(..sent);
                    self.waiting_bytes -= sent;
                    continue;
                }
                SendOutcome::TooBig => socket.send_fragmented(&transmit),
                SendOutcome::Fatal(_) => {
                    self.fail();
                    return any;
                }
                SendOutcome::Sent | SendOutcome::Unreachable => {}
            }
            self.waiting_bytes -= self.waiting.pop_front().map_or(0, |w| w.contents.len());
        }
        any
    }
}

/// All sockets of one driver.
#[derive(Default)]
pub(super) struct PathSockets {
    all: Vec<SocketSlot>,
    next: u32,
    pub link_metadata: SharedLinkMetadata,
}

impl PathSockets {
    pub fn add_uplink(&mut self, uplink: Uplink, owner: Option<AssociationId>) {
        self.link_metadata.lock().names.insert(LinkId(self.next), uplink.name.clone());
        self.all.push(SocketSlot::new(self.next, Some((uplink, owner))));
        self.next += 1;
    }

    /// Sets the association of all uplinks added so far.
    pub fn set_owner(&mut self, owner: AssociationId) {
        for (_, of) in self.all.iter_mut().filter_map(|l| l.uplink.as_mut()) {
            *of = Some(owner);
        }
    }

    pub fn add_listening(&mut self, socket: PathSocket) {
        let mut slot = SocketSlot::new(self.next, None);
        slot.take(socket);
        self.all.push(slot);
        self.next += 1;
    }

    pub fn forget(&mut self, id: LinkId) {
        self.all.retain(|l| l.id != id || l.uplink.is_none());
    }

    pub fn iter(&self) -> impl Iterator<Item = &SocketSlot> {
        self.all.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut SocketSlot> {
        self.all.iter_mut()
    }

    /// Local addresses of all open sockets.
    pub fn locals(&self) -> Vec<(LinkId, SocketAddr)> {
        self.all.iter().filter_map(|l| Some((l.id, l.socket.as_ref()?.local_addr()))).collect()
    }

    /// Sends queued datagrams; whether any were sent.
    pub fn flush(&mut self, cx: &mut Context<'_>) -> bool {
        self.all.iter_mut().fold(false, |any, slot| slot.flush(cx) | any)
    }

    /// Sends datagrams. `Err`: datagrams of this size are too big.
    pub fn send(&mut self, transmit: &association::Transmit, contents: &[u8]) -> Result<(), usize> {
        let association::Transmit { tuple, segment_size, fragment, .. } = transmit;
        let Some(slot) = self.all.iter_mut().find(|l| l.id == tuple.link) else { return Ok(()) };
        slot.send(tuple, *segment_size, *fragment, contents)
    }
}

/// The current interfaces; none if the system does not list them.
pub(super) fn current_interfaces() -> Vec<Interface> {
    crate::interface::interfaces().unwrap_or_else(|_: io::Error| Vec::new())
}
