//! A socket, an endpoint of SRT and the task that drives them.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, ConnectionId, Direction, Endpoint, Event, Refusal, Stats};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::refused::Refused;
use super::url::{SrtMode, SrtUrl};
use crate::error::Error;
use crate::live::input::first;
use crate::text::why;

/// Size in bytes of the largest datagram that is read. A payload is always smaller.
pub(in crate::live) const DATAGRAM: usize = 2048;
/// Size in bytes of the largest payload that is sent. It holds seven transport packets, as in other programs for SRT.
const PAYLOAD: usize = 7 * 188;
/// Maximum number of payloads that wait for their reader. Also the maximum number of messages that wait to be sent.
const WAITING: usize = 2048;
/// Pause between two calls.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of datagrams that are read before other work has its turn.
const TOGETHER: usize = 64;
/// Shortest sleep, because the timer of the runtime counts milliseconds.
const TICK: Duration = Duration::from_millis(1);
/// Size of the socket's buffers in bytes.
const BUFFER: usize = 4 << 20;

/// The application's end of a driver.
pub(in crate::live) enum Media {
    /// Payloads that were received.
    Receive(mpsc::Receiver<Vec<u8>>),
    /// Messages to send. Each is a whole number of transport packets.
    Send(mpsc::Sender<Vec<u8>>),
}

/// Numbers of messages that peers did not receive, by reason.
#[derive(Debug, Default)]
struct Missed {
    /// True once a peer has been connected.
    connected: AtomicBool,
    /// Messages that were sent while no peer was connected.
    alone: AtomicU64,
    /// Messages that a connected peer did not get.
    late: AtomicU64,
}

impl Missed {
    fn was_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }
}

/// The task of an input or an output. Dropping this ends the task and notifies peers.
#[derive(Debug)]
pub(in crate::live) struct Driver {
    task: JoinHandle<()>,
    /// Reason why the driver ended without a request.
    reason: Arc<Mutex<Option<String>>>,
    missed: Arc<Missed>,
    refused: Arc<Refused>,
}

impl Driver {
    /// Opens a socket for a URL's mode and place and starts the task.
    ///
    /// # Errors
    /// [`Error::Network`].
    pub(in crate::live) async fn start(url: &SrtUrl, config: Config) -> Result<(Driver, Media), Error> {
        let refuse = |e: &io::Error| Error::Network(format!("cannot open {url}: {}", why(e)));
        let place = first(&url.host, url.port).await?;
        let any: SocketAddr = if place.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let local = if url.mode == SrtMode::Listener { place } else { any };
        let socket = open(local).map_err(|e| refuse(&e))?;
        let seeds = strandcast_net::entropy::seeds().map_err(|e| refuse(&e))?;
        let clock = tokio::time::Instant::now();
        let direction = config.direction;
        let (endpoint, peer) = match url.mode {
            SrtMode::Listener => (Endpoint::listen(config.clone(), &seeds.child("listener")), None),
            SrtMode::Caller => {
                let seeds = seeds.child("call 0");
                (Endpoint::call(Instant::ZERO, config.clone(), place, &seeds), Some(place))
            }
        };
        let (received, taken) = mpsc::channel(WAITING);
        let (media, port) = match direction {
            Direction::Receive => (Media::Receive(taken), Port::Receive(received)),
            Direction::Send => (Media::Send(received), Port::Send(taken)),
        };
        let (reason, missed, refused) = <(Arc<_>, Arc<_>, Arc<_>)>::default();
        let link = Link {
            socket,
            endpoint,
            config,
            peer,
            seeds,
            calls: 0,
            call_at: None,
            clock,
            open: Vec::new(),
            closing: false,
            out: Vec::new(),
            reason: Arc::clone(&reason),
            missed: Arc::clone(&missed),
            refused: Arc::clone(&refused),
        };
        Ok((Driver { task: tokio::spawn(link.run(port)), reason, missed, refused }, media))
    }

    /// Waits until the task has ended. After the sender of media is dropped, the task ends once the sent media are
    /// played and peers are notified.
    pub(in crate::live) async fn finished(&mut self) {
        let _: Result<(), _> = (&mut self.task).await;
    }

    /// Returns whether a peer has been connected.
    pub(in crate::live) fn was_connected(&self) -> bool {
        self.missed.was_connected()
    }

    /// Returns the reasons why peers did not receive messages since the last call. Each reason has the number of
    /// messages.
    pub(in crate::live) fn missed(&self) -> Vec<(String, u64)> {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        let reasons = [
            ("no peer is connected", take(&self.missed.alone)),
            ("a peer or its path is too slow", take(&self.missed.late)),
        ];
        reasons.into_iter().filter(|(_, n)| *n > 0).map(|(why, n)| (why.to_owned(), n)).collect()
    }

    /// Returns the peers that could not connect since the last call, as text. A peer that tries again for the same reason
    /// is not repeated.
    pub(in crate::live) fn refused(&self) -> Vec<String> {
        self.refused.take()
    }

    /// Returns the error for a task that has ended without a request.
    pub(in crate::live) fn ended(&self) -> io::Error {
        let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone();
        io::Error::other(reason.unwrap_or_else(|| "the connection stopped".to_owned()))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn open(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    // Buffers that are smaller than requested may lose packets. SRT sends such packets again.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    socket.bind(&local.into())?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

/// The task's end of the media.
enum Port {
    Receive(mpsc::Sender<Vec<u8>>),
    Send(mpsc::Receiver<Vec<u8>>),
}

/// State of the task.
struct Link {
    socket: UdpSocket,
    endpoint: Endpoint,
    config: Config,
    /// Address of the listener that this end calls.
    peer: Option<SocketAddr>,
    seeds: Seeds,
    calls: u64,
    /// Time of the next call.
    call_at: Option<Instant>,
    clock: tokio::time::Instant,
    /// Connections. Each has the number of payloads that its peer did not receive.
    open: Vec<(ConnectionId, u64)>,
    /// True once the application sends no more media.
    closing: bool,
    out: Vec<u8>,
    reason: Arc<Mutex<Option<String>>>,
    missed: Arc<Missed>,
    refused: Arc<Refused>,
}

impl Link {
    fn now(&self) -> Instant {
        Instant::ZERO + self.clock.elapsed()
    }

    async fn run(mut self, mut port: Port) {
        loop {
            if let Err(refusal) = self.settle(&port) {
                let mut reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
                *reason = Some(refusal.to_string());
                return;
            }
            if self.closing && self.open.is_empty() {
                return;
            }
            let wake = self.wake();
            tokio::select! {
                _ = self.socket.readable() => self.read(),
                () = tokio::time::sleep(wake) => {}
                message = next(&mut port), if !self.closing => match message {
                    Some(message) => self.send(&message),
                    None => self.close(),
                },
            }
        }
    }

    /// Time to sleep if nothing arrives.
    fn wake(&self) -> Duration {
        let now = self.now();
        let next = [self.endpoint.poll_timeout(now), self.call_at].into_iter().flatten().min();
        next.map_or(PAUSE, |at| at.saturating_since(now).clamp(TICK, PAUSE))
    }

    fn read(&mut self) {
        let mut buffer = [0; DATAGRAM];
        for _ in 0..TOGETHER {
            // An error of the system, such as an unreachable port, loses at most one datagram.
            let Ok((len, from)) = self.socket.try_recv_from(&mut buffer) else { return };
            self.endpoint.handle_datagram(self.now(), from, &buffer[..len]);
        }
    }

    /// Sends a message to each peer. Without a peer, the message is lost.
    fn send(&mut self, message: &[u8]) {
        let now = self.now();
        if self.open.is_empty() {
            self.missed.alone.fetch_add(1, Ordering::Relaxed);
        }
        for payload in message.chunks(PAYLOAD) {
            for (id, _) in &self.open {
                // A slow peer loses only its own packets, which its connection counts.
                let _ = self.endpoint.send(now, *id, payload);
            }
        }
        self.count();
    }

    /// Ends each connection once the sent media are played.
    fn close(&mut self) {
        let now = self.now();
        (self.closing, self.peer, self.call_at) = (true, None, None);
        self.open.iter().for_each(|(id, _)| self.endpoint.close(now, *id));
    }

    /// Counts the messages that connected peers did not get.
    fn count(&mut self) {
        for (id, before) in &mut self.open {
            let lost = self.endpoint.stats(*id).map_or(*before, |stats| unsent(&stats));
            self.missed.late.fetch_add(lost - *before, Ordering::Relaxed);
            *before = lost;
        }
    }

    /// Handles the output of the endpoint. Sends packets, delivers payloads and reports events.
    ///
    /// # Errors
    /// The listener refuses for a reason that will not change.
    fn settle(&mut self, port: &Port) -> Result<(), Refusal> {
        let now = self.now();
        if self.call_at.is_some_and(|at| at <= now) {
            self.call(now);
        }
        while let Some(to) = self.endpoint.poll_output(now, &mut self.out) {
            // If the system's buffer is full, a datagram is lost, as it may be lost in a network.
            let _ = self.socket.try_send_to(&self.out, to);
        }
        while let Some((_, payload)) = self.endpoint.poll_media(now) {
            if let Port::Receive(port) = port {
                // A reader that does not read in time loses the newest payloads.
                let _ = port.try_send(payload);
            }
        }
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                // The stream has ended. This peer receives a shutdown when the task ends.
                Event::Connected { .. } if self.closing => {}
                Event::Connected { id, .. } => {
                    self.open.push((id, 0));
                    self.missed.connected.store(true, Ordering::Relaxed);
                    self.refused.connected();
                }
                Event::Ended { id, stats, .. } => {
                    let before = self.open.iter().find(|open| open.0 == id).map_or(0, |open| open.1);
                    self.missed.late.fetch_add(unsent(&stats) - before, Ordering::Relaxed);
                    self.open.retain(|open| open.0 != id);
                    self.call_at = self.peer.map(|_| now + PAUSE);
                }
                Event::Failed { refusal } if is_final(refusal) && !self.missed.was_connected() => {
                    return Err(refusal);
                }
                Event::Failed { refusal } => {
                    self.call_at = self.peer.map(|_| now + PAUSE);
                    self.peer.iter().for_each(|peer| self.refused.call(*peer, refusal));
                }
                Event::Refused { peer, refusal } => self.refused.caller(peer, refusal),
            }
        }
        Ok(())
    }

    fn call(&mut self, now: Instant) {
        self.call_at = None;
        let Some(peer) = self.peer else { return };
        self.calls += 1;
        let seeds = self.seeds.child(&format!("call {}", self.calls));
        self.endpoint = Endpoint::call(now, self.config.clone(), peer, &seeds);
    }
}

impl Drop for Link {
    /// Sends a shutdown to peers. The function does not wait for the runtime, which may be ending.
    fn drop(&mut self) {
        let (now, socket) = (self.now(), SockRef::from(&self.socket));
        self.endpoint.leave();
        while let Some(to) = self.endpoint.poll_output(now, &mut self.out) {
            let _ = socket.send_to(&self.out, &to.into());
        }
    }
}

/// Number of payloads that a peer did not receive, because there was no room or because it was too late.
fn unsent(stats: &Stats) -> u64 {
    stats.refused + stats.dropped
}

/// Waits for the next message to send. At an input, which sends no messages, it never returns.
async fn next(port: &mut Port) -> Option<Vec<u8>> {
    match port {
        Port::Send(port) => port.recv().await,
        Port::Receive(_) => std::future::pending().await,
    }
}

/// Returns true if another call would get the same answer.
fn is_final(refusal: Refusal) -> bool {
    let mistakes = [
        Refusal::BAD_SECRET,
        Refusal::UNSECURE,
        Refusal::CRYPTO,
        Refusal::VERSION,
        Refusal::MESSAGE_API,
        Refusal::CONGESTION,
        Refusal::FILTER,
        Refusal::GROUP,
    ];
    mistakes.contains(&refusal)
}
