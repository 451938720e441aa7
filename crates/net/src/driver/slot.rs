//! A socket of the driver, which may be closed for the moment.

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

/// Bytes queued for a socket whose kernel buffer is full; more are dropped, as in any queue on the way.
const MAX_WAITING: usize = 1 << 20;
/// A socket that fails to receive is left alone for so long, for it may fail as often as it is asked.
const PAUSE: Duration = Duration::from_millis(10);
/// A socket that receives nothing but errors for so long is replaced.
const RECEIVE_GRACE: Duration = Duration::from_secs(1);
/// Time between two attempts to listen again.
const RETRY: Duration = Duration::from_secs(1);
/// A socket that did not fail for so long was well, whether or not anything came.
const WELL: Duration = Duration::from_secs(10);
/// Events that are kept for an application that does not read them.
const MOST_EVENTS: usize = 64;

/// What happened to an address that a server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenEvent {
    /// Its socket is of no use any more. Another one is opened, at once if that is possible.
    Lost {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        why: String,
    },
    /// No other socket can be opened now, or it failed as well before anything came; that is tried each second.
    Failed {
        /// The address.
        address: SocketAddr,
        /// The reason, in one line.
        why: String,
        /// For how long nothing was received there.
        lasts: Duration,
    },
    /// There is another socket.
    Restored {
        /// The address.
        address: SocketAddr,
    },
}

/// A slot for one socket, which may be closed for the moment.
pub(super) struct SocketSlot {
    /// The uplink or listening address; an uplink has a slot for each way to the peer.
    pub id: LinkId,
    pub socket: Option<PathSocket>,
    /// The address and port last bound, tried first when the socket is reopened.
    bound: Option<SocketAddr>,
    /// The local port to try on the first bind; 0 leaves the choice to the system.
    pub port: u16,
    /// The peer's address of an uplink; `None` for a listening socket.
    pub remote: Option<SocketAddr>,
    /// The local address that the association has for the path of this socket; `None`: there is no path.
    pub placed: Option<SocketAddr>,
    /// Since when this way is tried or used; `None`: it is not.
    pub tried: Option<Instant>,
    /// When that began last.
    pub last_tried: Instant,
    /// The last list of interfaces had no address for it.
    missing: bool,
    /// The IP-level MTU that the user wants.
    asked_mtu: Option<u16>,
    /// IP-level MTU to `remote` as the system knows it.
    route_mtu: Option<u16>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    /// Since when it fails to receive, and when that is tried again.
    failing: Option<(Instant, Instant)>,
    /// How a listening socket is opened again.
    listening: Option<Listening>,
}

/// What a listening socket is bound to, and its failures.
struct Listening {
    spec: BindSpec,
    /// When it was opened last.
    opened: Instant,
    /// Why it was closed, as long as that is not reported.
    why: Option<String>,
    /// For how long nothing could be received, since it was well last; `None`: it is well.
    deaf: Option<Duration>,
    /// Since when nothing can be received now.
    since: Option<Instant>,
    /// When it is to be opened again.
    next: Instant,
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

    /// A slot for a way of an uplink.
    pub fn path(id: LinkId, remote: SocketAddr, mtu: Option<u16>) -> Self {
        SocketSlot::new(id, Some(remote), mtu)
    }

    /// A slot for a socket that listens, as `spec` has it but for its port.
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

    /// Whether this is the socket of the path that has `local` as its own address.
    pub fn serves(&self, link: LinkId, local: SocketAddr) -> bool {
        let here = self.remote.is_none() || self.bound == Some(local) || self.placed == Some(local);
        self.id == link && here
    }

    /// IP-level MTU of an uplink's path, if configured or less than `default`.
    pub fn mtu(&self, default: u16) -> Option<u16> {
        let asked = self.asked_mtu.unwrap_or(default);
        let mtu = self.route_mtu.map_or(asked, |most| most.min(asked));
        (self.asked_mtu.is_some() || mtu < default).then_some(mtu)
    }

    /// IP-level MTU of an uplink's path at the most: the configured one, or what interface and route take.
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

    /// The interfaces have no address for it. Whether that is the first time, and it still has a socket: another look is due.
    pub fn is_missing(&mut self) -> bool {
        self.socket.is_some() && !std::mem::replace(&mut self.missing, true)
    }

    /// Drops the socket and the datagrams queued for it.
    pub fn close(&mut self) {
        self.socket = None;
        self.failing = None;
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    /// Gives up a socket that is of no use.
    pub fn broke(&mut self, error: &io::Error) {
        self.close();
        if let Some(listening) = &mut self.listening {
            listening.why = Some(error.to_string());
        }
    }

    /// Whether it waits after an error of receiving.
    pub fn pauses(&self, clock: Clock) -> bool {
        self.failing.is_some_and(|(_, again)| clock.now() < again)
    }

    /// There is nothing to receive, and no error either.
    pub fn is_idle(&mut self) {
        self.failing = None;
    }

    /// Received something.
    pub fn on_received(&mut self) {
        self.failing = None;
        if let Some(listening) = &mut self.listening {
            (listening.deaf, listening.since) = (None, None);
        }
    }

    /// Failed to receive. The system may be short of something for a moment.
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

    /// When it is to be looked after, apart from datagrams that come.
    pub fn deadline(&self) -> Option<Instant> {
        let again = self.failing.map(|(_, again)| again);
        let lost = self.listening.as_ref().filter(|_| self.socket.is_none());
        let open = lost.map(|listening| if listening.why.is_some() { Instant::ZERO } else { listening.next });
        again.into_iter().chain(open).min()
    }

    /// Opens a listening socket again.
    pub fn listen_again(&mut self, now: Instant, events: &mut VecDeque<ListenEvent>) {
        let (None, Some(address), Some(listening)) = (&self.socket, self.bound, &mut self.listening) else {
            return;
        };
        let mut report = |event| {
            // The newest count.
            if events.len() >= MOST_EVENTS {
                events.pop_front();
            }
            events.push_back(event);
        };
        if let Some(why) = listening.why.take() {
            listening.next = (listening.opened + RETRY).max(now);
            let since = *listening.since.get_or_insert(now);
            // An open socket to which nothing comes is not deaf.
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

    /// Brings the socket in line with the interfaces. Returns the error if it could not be opened.
    pub fn refresh(&mut self, to: &Candidate, interfaces: &[Interface]) -> Option<SocketError> {
        let Candidate { bind, remote } = to;
        self.missing = false;
        // What the system does not say now has not changed.
        self.route_mtu = route_mtu(bind, *remote).or(self.route_mtu);
        // An address that is there is kept, also if another one would be the first choice now.
        let owner = bind.interface.as_ref().and_then(|name| interfaces.iter().find(|i| i.name == *name));
        let same = |bound: SocketAddr| {
            bind.address.is_none_or(|ip| ip == bound.ip()) || owner.is_some_and(|i| i.owns(bound.ip()))
        };
        let bound = self.bound.filter(|b| same(*b));
        if self.socket.is_some() && bound.is_some() {
            return None;
        }
        self.close();
        // The same address and port keep the path's 4-tuple.
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

    /// Sends, or queues for later; IP may `fragment` the datagrams. `Err`: datagrams of this size are too big.
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

    /// Sends queued datagrams as far as the kernel takes them; whether any were sent.
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
