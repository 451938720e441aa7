//! Passes datagrams from sockets to links, and from links to sockets.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use strandcast_netem::link::{Link, Payload};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;
use tokio::time::Sleep;

use super::config::{Direction, EmulateError, RelayConfig, RelayStats};
use crate::clock::Clock;
use crate::pool::RecvPool;
use crate::socket::{BindSpec, PathSocket, Received, SendOutcome, SocketError, Transmit};

/// Bytes of IPv4 and UDP headers.
const OVERHEAD: usize = 20 + 8;
/// Maximum number of clients. A further client replaces the oldest one.
const MAX_CLIENTS: usize = 64;
/// Number of batches that are read from one socket before other work.
const BATCHES_PER_TURN: usize = 64;

#[derive(Debug)]
pub(super) struct State {
    clock: Clock,
    server: SocketAddr,
    listen: PathSocket,
    clients: VecDeque<Client>,
    forward: Link<Datagram>,
    reverse: Link<Datagram>,
    pool: RecvPool,
    unsent: u64,
    /// Time of the last delivered datagram, forward and reverse.
    left: [Option<Instant>; 2],
    /// Wakes the task when its sockets have changed.
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Client {
    addr: SocketAddr,
    upstream: PathSocket,
}

/// A datagram in transit from or to a client.
#[derive(Clone, Debug)]
pub(super) struct Datagram {
    client: SocketAddr,
    contents: Bytes,
}

impl Payload for Datagram {
    fn corrupt(&mut self, random: &mut Random) {
        self.contents.corrupt(random);
    }
}

impl State {
    pub(super) fn new(config: RelayConfig, seeds: &Seeds, clock: Clock) -> Result<State, EmulateError> {
        let RelayConfig { listen, server, network } = config;
        let address = Some(listen.ip());
        let listen = PathSocket::bind(&BindSpec { address, port: listen.port(), ..BindSpec::default() })?;
        let label = |direction: &str| format!("emulate/{}/{direction}", network.name);
        Ok(State {
            clock,
            server,
            listen,
            clients: VecDeque::new(),
            forward: Link::new(network.forward, seeds, &label("forward")),
            reverse: Link::new(network.reverse, seeds, &label("reverse")),
            pool: RecvPool::new(),
            unsent: 0,
            left: [None; 2],
            waker: None,
        })
    }

    pub(super) fn local_addr(&self) -> SocketAddr {
        self.listen.local_addr()
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(super) fn link(&mut self, direction: Direction) -> &mut Link<Datagram> {
        match direction {
            Direction::Forward => &mut self.forward,
            Direction::Reverse => &mut self.reverse,
        }
    }

    pub(super) fn quiet(&self, direction: Direction) -> Option<Duration> {
        self.left[direction as usize].map(|at| self.clock.now() - at)
    }

    pub(super) fn rebind(&mut self) -> Result<(), SocketError> {
        for client in &mut self.clients {
            client.upstream = open_upstream()?;
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        Ok(())
    }

    pub(super) fn stats(&self) -> RelayStats {
        let now = self.clock.now();
        RelayStats {
            forward: self.forward.stats_at(now),
            reverse: self.reverse.stats_at(now),
            clients: self.clients.len(),
            unsent: self.unsent,
        }
    }

    /// Passes datagrams until there is no work left. Returns `Ready` only if the listening socket has failed.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, mut timer: Pin<&mut Sleep>) -> Poll<()> {
        loop {
            // The number of reads per socket is limited, so that a flood does not delay due datagrams.
            let mut more = false;
            if let Poll::Ready(ready) = self.listen.poll_readable(cx) {
                if ready.and_then(|()| self.receive_from_clients()).is_err() {
                    return Poll::Ready(());
                }
                more = true;
            }
            more |= self.poll_upstream(cx);
            self.deliver();
            if more {
                continue;
            }
            let next = self.forward.poll_timeout().into_iter().chain(self.reverse.poll_timeout()).min();
            if let Some(deadline) = next.and_then(|at| self.clock.deadline(at)) {
                timer.as_mut().reset(deadline);
                if timer.as_mut().poll(cx).is_ready() {
                    continue;
                }
            }
            self.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
    }

    /// Passes datagrams from the listening socket to the link to the server.
    fn receive_from_clients(&mut self) -> io::Result<()> {
        for _ in 0..BATCHES_PER_TURN {
            let Some(received) = self.listen.try_recv(&mut self.pool)? else { break };
            let client = received.remote;
            if self.clients.iter().any(|c| c.addr == client) || self.add_client(client) {
                offer(&mut self.forward, self.clock.now(), client, received);
            }
        }
        Ok(())
    }

    /// Opens a port in the direction of the server for a new client.
    fn add_client(&mut self, addr: SocketAddr) -> bool {
        let Ok(upstream) = open_upstream() else { return false };
        if self.clients.len() == MAX_CLIENTS {
            self.clients.pop_front();
        }
        self.clients.push_back(Client { addr, upstream });
        true
    }

    /// Passes datagrams from the server's side to the reverse link. Returns true if more datagrams may have arrived.
    fn poll_upstream(&mut self, cx: &mut Context<'_>) -> bool {
        let State { clients, reverse, pool, clock, server, .. } = self;
        let mut more = false;
        let mut read = |client: &Client| -> io::Result<()> {
            let Poll::Ready(ready) = client.upstream.poll_readable(cx) else { return Ok(()) };
            ready?;
            more = true;
            for _ in 0..BATCHES_PER_TURN {
                let Some(received) = client.upstream.try_recv(pool)? else { break };
                // The relay filters by address and port, like some NATs (RFC 4787 §5).
                if (received.remote.ip(), received.remote.port()) == (server.ip(), server.port()) {
                    offer(reverse, clock.now(), client.addr, received);
                }
            }
            Ok(())
        };
        // A client whose socket has failed is removed until it sends its next datagram.
        clients.retain(|client| read(client).is_ok());
        more
    }

    /// Forwards the datagrams that the links have delivered up to now.
    fn deliver(&mut self) {
        let now = self.clock.now();
        while let Some(Datagram { client, contents }) = self.forward.poll(now) {
            let known = self.clients.iter().find(|c| c.addr == client);
            let sent = known.is_some_and(|c| send(&c.upstream, self.server, &contents));
            self.count(Direction::Forward, sent, now);
        }
        while let Some(Datagram { client, contents }) = self.reverse.poll(now) {
            let sent = send(&self.listen, client, &contents);
            self.count(Direction::Reverse, sent, now);
        }
    }

    /// Counts a datagram that a link delivered; `sent` is true if the system accepted it.
    fn count(&mut self, direction: Direction, sent: bool, now: Instant) {
        if sent {
            self.left[direction as usize] = Some(now);
        } else {
            self.unsent += 1;
        }
    }
}

fn offer(link: &mut Link<Datagram>, now: Instant, client: SocketAddr, received: Received) {
    for contents in received.into_datagrams() {
        let len = contents.len() + OVERHEAD;
        // The statistics of the link contain the outcome.
        let _ = link.enqueue(now, Datagram { client, contents }, len);
    }
}

fn open_upstream() -> Result<PathSocket, SocketError> {
    PathSocket::bind(&BindSpec::default())
}

fn send(socket: &PathSocket, remote: SocketAddr, contents: &[u8]) -> bool {
    let transmit = Transmit { remote, src_ip: None, segment_size: contents.len(), contents };
    matches!(socket.try_send(&transmit), SendOutcome::Sent)
}
