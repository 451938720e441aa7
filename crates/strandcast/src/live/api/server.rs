//! The thread of an API, and its connections.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{Semaphore, mpsc, watch};

use super::access::Access;
use super::board::Board;
use super::guard::{LOCAL, Names, Place};
use super::handle::{ENDLESS, Shared, answer, no_room};
use super::listen::{Socket, tcp};
use super::patient::Patient;
use super::request::Asked;
use super::session::Sessions;
use super::tls::Handshakes;
use crate::error::{Error, why};
use crate::live::serve::ApiConfig;

/// Maximum number of connections of each listener. A flood of connections at one listener therefore does not affect the
/// other listener.
const CONNECTIONS: usize = 128;
/// Time within which a client must send the head of a request. An idle connection is closed after the same time.
const HEAD: Duration = Duration::from_secs(5);
/// Maximum number of headers of a request.
const HEADERS: usize = 64;
/// Maximum size in bytes of a request's head, and of one write.
const BUFFER: usize = 16 << 10;
/// Time for which a client may read nothing of a response.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum number of changes that wait.
const REQUESTS: usize = 16;
/// Pause after an error of a listener, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// The thread of an API. Dropping this value ends the thread.
#[derive(Debug)]
pub(super) struct Running {
    places: Vec<String>,
    shared: Arc<Shared>,
    _socket: Option<Socket>,
    /// Dropping this sender ends the thread.
    _running: watch::Sender<()>,
}

/// Listeners, the addresses at which users reach them, and the socket to remove at the end.
#[derive(Default)]
struct Listening {
    listeners: Vec<Bound>,
    places: Vec<String>,
    socket: Option<Socket>,
}

impl Listening {
    fn start(config: &ApiConfig, secure: bool, checked: bool) -> Result<Listening, Error> {
        if let Some(address) = config.listen.filter(|at| !at.ip().is_loopback() && !checked) {
            return Err(Error::Usage(format!(
                "{address} can be reached from other machines: it needs a certificate, its key and a file of tokens"
            )));
        }
        let mut all = Listening::default();
        if let Some(path) = &config.socket {
            let (socket, listener) = Socket::listen(path)?;
            all.socket = Some(socket);
            all.places.push(path.display().to_string());
            all.listeners.push(Bound::Unix(listener));
        }
        if let Some(address) = config.listen {
            let listener = tcp(address)?;
            // If the configured port is 0, the system has chosen a free port.
            let address = listener.local_addr().map_err(refused)?;
            all.places.push(format!("{}://{address}", if secure { "https" } else { "http" }));
            all.listeners.push(if secure {
                Bound::Tls(listener)
            } else {
                Bound::Tcp(listener, plain(address))
            });
        }
        Ok(all)
    }
}

/// Returns the place for an address without TLS. Only this machine can reach the address.
fn plain(address: SocketAddr) -> Place {
    let own = match address.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let names = LOCAL.iter().map(|name| (*name).to_owned()).chain([own]).collect();
    Place::Address { names: Names::These(names), scheme: "http" }
}

fn refused(error: io::Error) -> Error {
    Error::Network(format!("cannot start the API: {}", why(&error)))
}

/// A socket that listens, and does not belong to the runtime yet.
enum Bound {
    Unix(std::os::unix::net::UnixListener),
    Tcp(std::net::TcpListener, Place),
    Tls(std::net::TcpListener),
}

impl Bound {
    /// Must be called inside a tokio runtime.
    fn open(self) -> io::Result<Listener> {
        Ok(match self {
            Bound::Unix(listener) => Listener::Unix(UnixListener::from_std(listener)?),
            Bound::Tcp(listener, place) => Listener::Tcp(TcpListener::from_std(listener)?, place),
            Bound::Tls(listener) => Listener::Tls(TcpListener::from_std(listener)?),
        })
    }
}

/// A listener, and the kind of access of its requests.
enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener, Place),
    Tls(TcpListener),
}

impl Running {
    /// Listens, and responds to requests on a separate thread. Returns the changes that requests ask for.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path of the socket exists and is not a socket. Returns [`Error::Network`]
    /// if an address or a path is in use.
    pub(super) fn start(
        config: &ApiConfig,
        access: Access,
        board: Arc<Board>,
    ) -> Result<(Running, mpsc::Receiver<Asked>), Error> {
        let Access { tokens, tls } = access;
        let checked = tls.is_some() && !tokens.is_empty();
        let tokens = Mutex::new(Arc::new(tokens));
        let (requests, asked) = mpsc::channel(REQUESTS);
        let endless = [(); 2].map(|()| Arc::new(Semaphore::new(ENDLESS)));
        let sessions = Sessions::new().map_err(refused)?;
        let Listening { listeners, places, socket } = Listening::start(config, tls.is_some(), checked)?;
        let shared = Arc::new(Shared { board, tokens, tls: Mutex::new(tls), sessions, requests, endless });
        let (running, ended) = watch::channel(());
        let (opened, outcome) = std::sync::mpsc::channel();
        let responds = Arc::clone(&shared);
        let work = move || respond(listeners, &responds, ended, &opened);
        thread::Builder::new().name("api".to_owned()).spawn(work).map_err(refused)?;
        // The thread reports the outcome before it waits for connections.
        outcome.recv().unwrap_or(Err(io::ErrorKind::BrokenPipe.into())).map_err(refused)?;
        Ok((Running { places, shared, _socket: socket, _running: running }, asked))
    }

    /// Returns the addresses at which the API can be used.
    pub(super) fn places(&self) -> &[String] {
        &self.places
    }

    /// Replaces the tokens, the certificate and the key. Open connections stay open.
    pub(super) fn install(&self, access: Access) {
        *self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(access.tokens);
        *self.shared.tls.lock().unwrap_or_else(PoisonError::into_inner) = access.tls;
    }
}

/// Responds to requests until the API ends. First reports whether the API can start.
fn respond(
    listeners: Vec<Bound>,
    shared: &Arc<Shared>,
    mut ended: watch::Receiver<()>,
    opened: &std::sync::mpsc::Sender<io::Result<()>>,
) {
    let report = |outcome| {
        // The function that started this thread waits for the report.
        let _ = opened.send(outcome);
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(Err(error)),
    };
    runtime.block_on(async move {
        for listener in listeners {
            match listener.open() {
                Ok(listener) => drop(tokio::spawn(listener.accept(Arc::clone(shared)))),
                Err(error) => return report(Err(error)),
            }
        }
        report(Ok(()));
        // This channel carries no values. The wait ends when the sender is dropped.
        let _ = ended.changed().await;
    });
}

/// A connection of any kind.
trait Connection: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Connection for T {}

impl Listener {
    /// Serves connections until the runtime ends.
    async fn accept(self, shared: Arc<Shared>) {
        let room = Room { slots: Arc::new(Semaphore::new(CONNECTIONS)), shared };
        let mut handshakes = Handshakes::default();
        loop {
            let accepted = match &self {
                Listener::Unix(listener) => listener.accept().await.map(|(stream, _)| {
                    room.admit(Box::new(stream), Place::Socket);
                }),
                Listener::Tcp(listener, place) => listener.accept().await.map(|(stream, _)| {
                    room.admit(Box::new(stream), place.clone());
                }),
                Listener::Tls(listener) => listener.accept().await.map(|(stream, peer)| {
                    // Each response is written as a whole, so that Nagle's algorithm has no benefit. If the option
                    // cannot be set, responses are only delayed.
                    let _ = stream.set_nodelay(true);
                    let task = tokio::spawn(shake_hands(stream, room.clone()));
                    handshakes.add(peer.ip(), task.abort_handle());
                }),
            };
            if accepted.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Admits a client once its handshake is complete.
async fn shake_hands(stream: TcpStream, room: Room) {
    // A listener with TLS always has a certificate and a key.
    let Some(tls) = room.shared.tls() else { return };
    if let Some(stream) = tls.accept(stream).await {
        room.admit(Box::new(stream), tls.place());
    }
}

/// Limits the number of connections of a listener.
#[derive(Clone)]
struct Room {
    slots: Arc<Semaphore>,
    shared: Arc<Shared>,
}

impl Room {
    /// Serves a connection, or refuses the connection if there are too many.
    fn admit(&self, mut stream: Box<dyn Connection>, place: Place) {
        let slot = Arc::clone(&self.slots).try_acquire_owned();
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            if let Ok(_slot) = slot {
                return connection(stream, &shared, &place).await;
            }
            let refuse = async {
                stream.write_all(&no_room()).await?;
                stream.shutdown().await
            };
            // The send buffer of a new connection is empty, so that the refusal fits into it.
            let _ = tokio::time::timeout(PAUSE, refuse).await;
        });
    }
}

/// Serves a connection until it ends.
async fn connection(stream: Box<dyn Connection>, shared: &Shared, place: &Place) {
    let responds = service_fn(|request: Request<Incoming>| async move {
        Ok::<_, Infallible>(answer(shared, place, &request.map(drop)).await)
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD).max_headers(HEADERS).max_buf_size(BUFFER);
    let io = TokioIo::new(Patient::new(stream, PATIENCE));
    // A client that leaves, or that does not send HTTP, gets no response.
    let _ = server.serve_connection(io, responds).await;
}
