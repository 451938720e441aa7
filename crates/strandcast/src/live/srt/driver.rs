//! A socket, an endpoint of SRT and the task that drives them.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, ConnectionId, Direction, Endpoint, Event, Refusal};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::url::{SrtMode, SrtUrl};
use crate::error::Error;
use crate::live::input::first;
use crate::text::why;

/// Largest datagram that is read, in bytes. A payload is smaller.
pub(in crate::live) const DATAGRAM: usize = 2048;
/// Payloads that wait for their reader.
const WAITING: usize = 2048;
/// Pause between two calls.
const PAUSE: Duration = Duration::from_secs(1);
/// Datagrams that are read before others get their turn.
const TOGETHER: usize = 64;
/// Shortest sleep: the timer of the runtime counts milliseconds.
const TICK: Duration = Duration::from_millis(1);
/// Bytes of the socket's buffers.
const BUFFER: usize = 4 << 20;

/// The application's end of a driver.
pub(in crate::live) enum Media {
    /// Payloads that were received.
    Receive(mpsc::Receiver<Vec<u8>>),
    /// Payloads to send.
    Send(mpsc::Sender<Vec<u8>>),
}

/// The task of an input or output. It ends when this is dropped.
#[derive(Debug)]
pub(in crate::live) struct Driver {
    task: JoinHandle<()>,
    /// Reason why the driver ended by itself.
    reason: Arc<Mutex<Option<String>>>,
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
        let reason = Arc::default();
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
            was_open: false,
            out: Vec::new(),
            reason: Arc::clone(&reason),
        };
        Ok((Driver { task: tokio::spawn(link.run(port)), reason }, media))
    }

    /// Error for a task that has ended by itself.
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
    // Smaller buffers than requested may lose packets, which are sent again.
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
    /// The listener that is called.
    peer: Option<SocketAddr>,
    seeds: Seeds,
    calls: u64,
    /// Time of the next call.
    call_at: Option<Instant>,
    clock: tokio::time::Instant,
    open: Vec<ConnectionId>,
    /// True once there was a connection.
    was_open: bool,
    out: Vec<u8>,
    reason: Arc<Mutex<Option<String>>>,
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
            let wake = self.wake();
            tokio::select! {
                _ = self.socket.readable() => self.read(),
                () = tokio::time::sleep(wake) => {}
                payload = next(&mut port) => match payload {
                    Some(payload) => self.send(&payload),
                    None => return,
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
            // An error of the system, such as an unreachable port, loses a datagram at most.
            let Ok((len, from)) = self.socket.try_recv_from(&mut buffer) else { return };
            self.endpoint.handle_datagram(self.now(), from, &buffer[..len]);
        }
    }

    /// Sends a payload to each peer. Without a peer it is lost.
    fn send(&mut self, payload: &[u8]) {
        let now = self.now();
        for id in &self.open {
            // A slow peer loses its own packets.
            let _ = self.endpoint.send(now, *id, payload);
        }
    }

    /// Takes what the endpoint sends, delivers and reports.
    ///
    /// # Errors
    /// The listener refuses for a reason that does not go away.
    fn settle(&mut self, port: &Port) -> Result<(), Refusal> {
        let now = self.now();
        if self.call_at.is_some_and(|at| at <= now) {
            self.call(now);
        }
        while let Some(to) = self.endpoint.poll_output(now, &mut self.out) {
            // A full buffer of the system loses a datagram as a network does.
            let _ = self.socket.try_send_to(&self.out, to);
        }
        while let Some((_, payload)) = self.endpoint.poll_media(now) {
            if let Port::Receive(port) = port {
                // A reader that does not read loses the newest payloads.
                let _ = port.try_send(payload);
            }
        }
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Connected { id, .. } => {
                    self.open.push(id);
                    self.was_open = true;
                }
                Event::Ended { id, .. } => {
                    self.open.retain(|open| *open != id);
                    self.call_at = self.peer.map(|_| now + PAUSE);
                }
                Event::Failed { refusal } if is_final(refusal) && !self.was_open => return Err(refusal),
                Event::Failed { .. } => self.call_at = Some(now + PAUSE),
                Event::Refused { .. } => {}
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

/// The next payload to send; for a receiver never.
async fn next(port: &mut Port) -> Option<Vec<u8>> {
    match port {
        Port::Send(port) => port.recv().await,
        Port::Receive(_) => std::future::pending().await,
    }
}

/// Returns true if another call gets the same answer.
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
