//! A socket of the driver. The socket may be closed for a time.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::time::{Duration, Instant};

use super::uplink::Candidate;
use crate::clock::Clock;
use crate::interface::{Interface, PathSpec, route_mtu};
use crate::socket::{BindSpec, PathSocket, Received, SendOutcome, SocketError, Transmit, is_fatal};

/// Maximum number of bytes that wait for a socket whose kernel buffer is full. Further datagrams are dropped, as in
/// every other queue on the path.
const MAX_WAITING: usize = 1 << 20;
/// Pause after an error when receiving, because a socket may return an error at every attempt.
const PAUSE: Duration = Duration::from_millis(10);
/// A socket that returns nothing but errors for this long is replaced.
const RECEIVE_GRACE: Duration = Duration::from_secs(1);
/// Time between two attempts to listen again.
const RETRY: Duration = Duration::from_secs(1);
/// A socket without an error for this long counts as working, even if no datagram arrived.
const WELL: Duration = Duration::from_secs(10);
/// Maximum number of events kept for an application that does not read them.
const MOST_EVENTS: usize = 64;

/// An event of an address on which a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenEvent {
    /// The socket is unusable. The driver opens another socket, if possible at once.
    Lost {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        why: String,
    },
    /// No other socket can be opened now, or another socket failed before any datagram arrived. The driver tries again
    /// every second.
    Failed {
        /// The address.
        address: SocketAddr,
        /// The reason, in one line.
        why: String,
        /// Time since this address could last receive.
        lasts: Duration,
    },
    /// Another socket is open and works.
    Restored {
        /// The address.
        address: SocketAddr,
    },
}

/// A place for one socket. The socket may be closed for a time.
pub(super) struct SocketSlot {
    /// The uplink or the listening address. An uplink has one slot for each of its routes to the peer.
    pub id: LinkId,
    pub socket: Option<PathSocket>,
    /// The last address and port of the socket. When the socket is opened again, this address and port are tried first.
    bound: Option<SocketAddr>,
    /// The local port that is tried first. 0: the system chooses one.
    pub port: u16,
    /// The peer address to which an uplink sends. `None` for a listening socket.
    pub remote: Option<SocketAddr>,
    /// The local address of this socket's path at the association. `None` if there is no path.
    pub placed: Option<SocketAddr>,
    /// Time at which the current attempt or use of this route began. `None` while the route is unused.
    pub tried: Option<Instant>,
    /// Start of the last attempt or use.
    pub last_tried: Instant,
    /// True if the last list of interfaces had no address for this socket.
    missing: bool,
    /// The IP-level MTU that the user configured.
    asked_mtu: Option<u16>,
    /// IP-level MTU to `remote` as reported by the system.
    route_mtu: Option<u16>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    /// Start of the current series of errors when receiving, and time of the next attempt.
    failing: Option<(Instant, Instant)>,
    /// For a listening socket: the state that is needed to open it again.
    listening: Option<Listening>,
}

/// Binding of a listening socket, and its failures.
struct Listening {
    spec: BindSpec,
    /// Time at which the socket was last opened.
    opened: Instant,
    /// Reason why the socket was closed. It is kept until it is reported.
    why: Option<String>,
    /// Time for which this socket could not receive since it last worked. `None` while it works.
    deaf: Option<Duration>,
    /// Time since which it cannot receive.
    since: Option<Instant>,
    /// Time of the next attempt to open the socket.
    next: Instant,
}

/// Datagrams for which the kernel's buffer has no room.
struct Waiting {
    remote: SocketAddr,
    src_ip: Option<std::net::IpAddr>,
    segment_size: usize,
    fragment: bool,
    contents: Vec<u8>,
}

impl SocketSlot {
    fn new(id: LinkId, remote: Option<SocketAddr>, asked_mtu: Option<u16>) -> Self {
        SocketSlot {
            id,
            socket: None,
            bound: None,
            port: 0,
            remote,
            placed: None,
            tried: None,
            last_tried: Instant::ZERO,
            missing: false,
            asked_mtu,
            route_mtu: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            failing: None,
            listening: None,
        }
    }

    /// A slot for a route of an uplink.
    pub fn path(id: LinkId, remote: SocketAddr, mtu: Option<u16>) -> Self {
        SocketSlot::new(id, Some(remote), mtu)
    }

    /// A slot for a listening socket. `spec` is the socket's binding without the port.
    pub fn listening(id: LinkId, socket: PathSocket, spec: BindSpec) -> Self {
        let spec = BindSpec { port: socket.local_addr().port(), ..spec };
        let (opened, next) = (Instant::ZERO, Instant::ZERO);
        let listening = Listening { spec, opened, why: None, deaf: None, since: None, next };
        let mut slot = SocketSlot { listening: Some(listening), ..SocketSlot::new(id, None, None) };
        slot.take(socket);
        slot
    }

    /// The 4-tuple of a received batch.
    pub fn tuple_of(&self, received: &Received) -> Option<FourTuple> {
        let mut local = self.bound?;
        if let Some(ip) = received.local_ip.filter(|_| local.ip().is_unspecified() && self.remote.is_none()) {
            local.set_ip(ip);
        }
        Some(FourTuple::new(self.id, local, received.remote))
    }

    /// The 4-tuple of an uplink's path while it has a socket.
    pub fn tuple(&self) -> Option<FourTuple> {
        self.socket.as_ref()?;
        Some(FourTuple::new(self.id, self.bound?, self.remote?))
    }

    /// Returns whether this is the socket of the path with local address `local`.
    pub fn serves(&self, link: LinkId, local: SocketAddr) -> bool {
        let here = self.remote.is_none() || self.bound == Some(local) || self.placed == Some(local);
        self.id == link && here
    }

    /// IP-level MTU of an uplink's path. `None` unless the MTU is configured or is below `default`.
    pub fn mtu(&self, default: u16) -> Option<u16> {
        let asked = self.asked_mtu.unwrap_or(default);
        let mtu = self.route_mtu.map_or(asked, |most| most.min(asked));
        (self.asked_mtu.is_some() || mtu < default).then_some(mtu)
    }

    /// Maximum IP-level MTU of an uplink's path. It is the configured MTU if there is one, else the limit of the
    /// interface and the route.
    pub fn mtu_limit(&self) -> Option<u16> {
        self.asked_mtu.into_iter().chain(self.route_mtu).min()
    }

    /// Name and index of the interface of a path of this uplink.
    pub fn interface<'a>(&self, spec: &PathSpec, interfaces: &'a [Interface]) -> Option<(&'a str, u32)> {
        let ip = self.bound?.ip();
        let is = |i: &&Interface| match &spec.interface {
            Some(name) => i.name == *name,
            None => i.owns(ip),
        };
        let found = interfaces.iter().find(is)?;
        Some((&found.name, found.index?))
    }

    /// Records that no interface has an address for this slot. Returns true at the first such call while the slot has a
    /// socket. The caller should then check the interfaces once more.
    pub fn is_missing(&mut self) -> bool {
        self.socket.is_some() && !std::mem::replace(&mut self.missing, true)
    }

    /// Closes the socket and drops the datagrams that wait for it.
    pub fn close(&mut self) {
        self.socket = None;
        self.failing = None;
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    /// Closes an unusable socket.
    pub fn broke(&mut self, error: &io::Error) {
        self.close();
        if let Some(listening) = &mut self.listening {
            listening.why = Some(error.to_string());
        }
    }

    /// Returns whether the socket pauses after an error when receiving.
    pub fn pauses(&self, clock: Clock) -> bool {
        self.failing.is_some_and(|(_, again)| clock.now() < again)
    }

    /// Records that an attempt to receive returned no datagram and no error.
    pub fn is_idle(&mut self) {
        self.failing = None;
    }

    /// Records a received datagram.
    pub fn on_received(&mut self) {
        self.failing = None;
        if let Some(listening) = &mut self.listening {
            (listening.deaf, listening.since) = (None, None);
        }
    }

    /// Records an error when receiving. The error may be temporary.
    pub fn cannot_receive(&mut self, now: Instant, error: &io::Error) {
        let (since, _) = *self.failing.get_or_insert((now, now));
        if is_fatal(error) || now - since >= RECEIVE_GRACE {
            self.broke(error);
            if let Some(listening) = &mut self.listening {
                listening.since.get_or_insert(since);
            }
        } else {
            self.failing = Some((since, now + PAUSE));
        }
    }

    /// Time at which the slot must act even if no datagram arrives.
    pub fn deadline(&self) -> Option<Instant> {
        let again = self.failing.map(|(_, again)| again);
        let lost = self.listening.as_ref().filter(|_| self.socket.is_none());
        let open = lost.map(|listening| if listening.why.is_some() { Instant::ZERO } else { listening.next });
        again.into_iter().chain(open).min()
    }

    /// Opens a closed listening socket again.
    pub fn listen_again(&mut self, now: Instant, events: &mut VecDeque<ListenEvent>) {
        let (None, Some(address), Some(listening)) = (&self.socket, self.bound, &mut self.listening) else {
            return;
        };
        let mut report = |event| {
            // Drops old events and keeps the newest ones.
            if events.len() >= MOST_EVENTS {
                events.pop_front();
            }
            events.push_back(event);
        };
        if let Some(why) = listening.why.take() {
            listening.next = (listening.opened + RETRY).max(now);
            let since = *listening.since.get_or_insert(now);
            // A socket that is open but receives nothing is not broken.
            listening.deaf.take_if(|_| since - listening.opened >= WELL);
            report(match listening.deaf {
                Some(deaf) => ListenEvent::Failed { address, why, lasts: deaf + (now - since) },
                None => ListenEvent::Lost { address, why },
            });
        }
        let deaf = listening.deaf.get_or_insert(Duration::ZERO);
        let lasts = *deaf + (now - *listening.since.get_or_insert(now));
        if now < listening.next {
            return;
        }
        match PathSocket::bind(&listening.spec) {
            Ok(socket) => {
                listening.opened = now;
                *deaf = lasts;
                listening.since = None;
                self.take(socket);
                report(ListenEvent::Restored { address });
            }
            Err(error) => {
                listening.next = now + RETRY;
                report(ListenEvent::Failed { address, why: error.to_string(), lasts });
            }
        }
    }

    /// Updates the socket so that it matches the interfaces. Returns the error if the socket could not be opened.
    pub fn refresh(&mut self, to: &Candidate, interfaces: &[Interface]) -> Option<SocketError> {
        let Candidate { bind, remote } = to;
        self.missing = false;
        // If the system does not report a value now, the value counts as unchanged.
        self.route_mtu = route_mtu(bind, *remote).or(self.route_mtu);
        // An existing address is kept, even if another address would now be the first choice.
        let owner = bind.interface.as_ref().and_then(|name| interfaces.iter().find(|i| i.name == *name));
        let same = |bound: SocketAddr| {
            bind.address.is_none_or(|ip| ip == bound.ip()) || owner.is_some_and(|i| i.owns(bound.ip()))
        };
        let bound = self.bound.filter(|b| same(*b));
        if self.socket.is_some() && bound.is_some() {
            return None;
        }
        self.close();
        // Address and port are kept, because they are part of the path's 4-tuple.
        let port = bound.map_or(self.port, |b| b.port());
        let address = bound.map(|b| b.ip()).or(bind.address);
        let again = PathSocket::bind(&BindSpec { port, address, ..bind.clone() });
        match if port == 0 { again } else { again.or_else(|_| PathSocket::bind(bind)) } {
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

    /// Sends datagrams, or queues them for later. If `fragment` is true, IP may fragment the datagrams. Returns an
    /// error if datagrams of this size are too big.
    pub fn send(
        &mut self,
        tuple: &FourTuple,
        segment_size: usize,
        fragment: bool,
        contents: &[u8],
    ) -> Result<(), usize> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let any = self.bound.is_some_and(|b| b.ip().is_unspecified()) && self.remote.is_none();
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
            SendOutcome::Fatal(error) => self.broke(&error),
            SendOutcome::Sent | SendOutcome::Lost => {}
        }
        Ok(())
    }

    /// Sends queued datagrams until the kernel's buffer is full. Returns whether any datagrams were sent.
    pub fn flush(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Some(waiting) = self.waiting.front_mut() {
            let Some(socket) = &self.socket else { return any };
            match socket.poll_writable(cx) {
                Poll::Pending => return any,
                Poll::Ready(Err(error)) => {
                    self.broke(&error);
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
                SendOutcome::Fatal(error) => {
                    self.broke(&error);
                    return any;
                }
                SendOutcome::Sent | SendOutcome::Lost => {}
            }
            self.waiting_bytes -= self.waiting.pop_front().map_or(0, |w| w.contents.len());
        }
        any
    }
}
