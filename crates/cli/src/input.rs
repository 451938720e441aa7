//! Media inputs.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use strandcast_media::MediaTime;
use strandcast_media::ingest::Ingest;
use strandcast_media::pace::PaceConfig;
use strandcast_media::pack::PackConfig;
use strandcast_net::resolve::resolve;
use strandcast_net::socket::is_fatal;
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep};

use crate::error::{CliError, why};
use crate::media_url::{MediaUrl, UdpUrl};

/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// How long a live input may do nothing but fail, and the pause before it is read again.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);
/// Time without an error after which the next one is a first one.
const APART: Duration = Duration::from_secs(1);

/// An open input.
#[derive(Debug)]
enum Source {
    File(tokio::fs::File),
    Pipe(tokio::io::Stdin),
    Udp(Live),
}

/// A UDP input. An error of the system, for want of memory say, costs a datagram at most, and not the stream.
#[derive(Debug)]
struct Live {
    socket: UdpSocket,
    /// The first and the last of errors without a datagram between them.
    failing: Option<(Instant, Instant)>,
}

/// An open input and its name.
#[derive(Debug)]
pub(crate) struct Input {
    source: Source,
    name: String,
    buffer: Vec<u8>,
}

impl Input {
    /// Opens `place`. A file is probed: one that is not a transport stream is refused at once.
    ///
    /// # Errors
    /// [`CliError::Media`], [`CliError::Network`].
    pub(crate) async fn open(place: &MediaUrl) -> Result<Input, CliError> {
        let source = match place {
            MediaUrl::Pipe => Source::Pipe(tokio::io::stdin()),
            MediaUrl::Udp(udp) => Source::Udp(Live { socket: listen(udp).await?, failing: None }),
            MediaUrl::File(path) => {
                let (place, path) = (place.clone(), path.clone());
                // A named pipe waits for somebody who writes.
                let file = tokio::task::spawn_blocking(move || {
                    let failed = |e: io::Error| CliError::Media(format!("cannot read {place}: {}", why(&e)));
                    look_into(&place, std::fs::File::open(&path).map_err(failed)?)?;
                    std::fs::File::open(&path).map_err(failed)
                });
                Source::File(tokio::fs::File::from_std(file.await.map_err(|_| CliError::Aborted)??))
            }
        };
        let name = if *place == MediaUrl::Pipe { "standard input".to_owned() } else { place.to_string() };
        Ok(Input { source, name, buffer: vec![0; CHUNK] })
    }

    /// Reads the next bytes, for [`Input::bytes`]; 0 at the end. Cancel safe.
    ///
    /// # Errors
    /// [`CliError::Media`].
    pub(crate) async fn read(&mut self) -> Result<usize, CliError> {
        let read = match &mut self.source {
            Source::File(file) => file.read(&mut self.buffer).await,
            Source::Pipe(pipe) => pipe.read(&mut self.buffer).await,
            Source::Udp(live) => live.read(&mut self.buffer).await,
        };
        read.map_err(|e| CliError::Media(format!("cannot read {}: {}", self.name, why(&e))))
    }

    /// The bytes of the last read.
    pub(crate) fn bytes(&self, len: usize) -> &[u8] {
        &self.buffer[..len]
    }

    /// Its display name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Live {
    /// Reads a datagram. Cancel safe.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.recv(buffer).await {
                Ok(len) => {
                    self.failing = None;
                    // An empty datagram is not the end.
                    if len > 0 {
                        return Ok(len);
                    }
                }
                Err(error) if is_fatal(&error) || self.lasts(Instant::now()) => return Err(error),
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Notes an error; whether it has done nothing but fail for too long.
    fn lasts(&mut self, now: Instant) -> bool {
        let first = self.failing.filter(|(_, last)| now - *last < APART).map_or(now, |(first, _)| first);
        self.failing = Some((first, now));
        now - first >= PATIENCE
    }
}

/// Reads enough of the file to recognise a transport stream with a clock.
fn look_into(place: &MediaUrl, mut file: std::fs::File) -> Result<(), CliError> {
    use std::io::Read;
    let refuse = |why: String| CliError::Media(format!("cannot send {place}: {why}"));
    let mut ingest = Ingest::paced(MediaTime::ZERO, PaceConfig::default(), PackConfig::new(0));
    let mut chunk = vec![0; CHUNK];
    loop {
        let n = file
            .read(&mut chunk)
            .map_err(|e| CliError::Media(format!("cannot read {place}: {}", why(&e))))?;
        let taken = match n {
            0 => ingest.finish(MediaTime::ZERO),
            n => ingest.push(MediaTime::ZERO, &chunk[..n]),
        };
        taken.map_err(|e| refuse(e.to_string()))?;
        if n == 0 || ingest.poll(MediaTime::MAX).is_some() {
            return Ok(());
        }
    }
}

async fn listen(udp: &UdpUrl) -> Result<UdpSocket, CliError> {
    let (place, group) = (MediaUrl::Udp(udp.clone()), udp.group.as_deref());
    let refuse = |why: String| CliError::Network(format!("cannot listen on {place}: {why}"));
    let host = first(&udp.host, udp.port).await?;
    let group = match group {
        Some(group) => Some(first(group, udp.port).await?),
        None => host.ip().is_multicast().then_some(host),
    };
    if let Some(group) = group.filter(|g| !g.ip().is_multicast()) {
        return Err(refuse(format!("{} is not a multicast group", group.ip())));
    }
    let interface = (group != Some(host)).then_some(host.ip());
    open(group.unwrap_or(host), group.map(|g| g.ip()), interface).map_err(|e| refuse(why(&e)))
}

/// The first address of a name.
pub(crate) async fn first(host: &str, port: u16) -> Result<SocketAddr, CliError> {
    let found = resolve(host, port).await.map_err(|e| CliError::Network(e.to_string()))?;
    Ok(*found.first().expect("a name that resolves has an address"))
}

fn open(local: SocketAddr, group: Option<IpAddr>, interface: Option<IpAddr>) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if group.is_some() {
        // Several programs on one machine may listen to the same group.
        socket.set_reuse_address(true)?;
    }
    // A smaller buffer than requested may lose packets, which the continuity counters detect.
    let _ = socket.set_recv_buffer_size(4 << 20);
    socket.bind(&local.into())?;
    match (group, interface) {
        (Some(IpAddr::V4(group)), Some(IpAddr::V4(interface))) => {
            socket.join_multicast_v4(&group, &interface)?
        }
        (Some(IpAddr::V4(group)), _) => socket.join_multicast_v4(&group, &std::net::Ipv4Addr::UNSPECIFIED)?,
        (Some(IpAddr::V6(group)), _) => socket.join_multicast_v6(&group, 0)?,
        (None, _) => {}
    }
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}
