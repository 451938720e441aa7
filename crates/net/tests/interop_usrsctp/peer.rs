//! Our side: one association over plain sockets, with the options and the JSON of `usrsctp_peer`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant as Wall};

use bytes::Bytes;
use serde_json::{Value, json};
use strandcast_proto::association::{CloseReason, Event, SendError, SendOptions, Transmit};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, PathId};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::{Spec, parse_spec};

use crate::pcap::Capture;
use crate::stream::{Half, Places, pattern};

/// Bytes handed over but not yet acknowledged, at most.
const AHEAD: usize = 200_000;
/// The same with a lifetime: more would expire before any of it is sent.
const AHEAD_MORTAL: usize = 20_000;

/// The options of `usrsctp_peer`; `--scheme NAME` is its `--cmt`, `--pcap FILE` captures what this side sees.
pub struct Options(BTreeMap<String, String>);

impl Options {
    pub fn parse(args: impl Iterator<Item = String>) -> Self {
        let mut options = BTreeMap::new();
        let mut args = args.peekable();
        while let Some(key) = args.next() {
            let value = args.next_if(|next| !next.starts_with("--")).unwrap_or_default();
            options.insert(key.trim_start_matches("--").to_owned(), value);
        }
        Options(options)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn number(&self, key: &str, default: u64) -> u64 {
        self.text(key).map_or(default, |n| n.parse().expect("a number"))
    }

    fn flag(&self, key: &str) -> bool {
        self.text(key).is_some()
    }

    fn addresses(&self, key: &str, port: u16) -> Vec<SocketAddrV4> {
        let one = |a: &str| SocketAddrV4::new(a.parse::<Ipv4Addr>().expect("an IPv4 address"), port);
        self.text(key).map_or_else(Vec::new, |list| list.split(',').map(one).collect())
    }

    fn scheme(&self) -> Spec {
        parse_spec(self.text("scheme").unwrap_or("sctp")).expect("a scheme")
    }
}

pub struct Peer {
    options: Options,
    start: Wall,
    endpoint: Endpoint,
    sockets: Vec<(UdpSocket, SocketAddrV4)>,
    capture: Option<Capture>,
    id: Option<AssociationId>,
    sent: Half,
    received: Half,
    places: Places,
    connected: bool,
    shutting: bool,
    closed: Option<CloseReason>,
}

impl Peer {
    pub fn new(options: Options) -> Self {
        let spec = options.scheme();
        let mut transport = TransportConfig::default();
        spec.tune(&mut transport);
        let udp_port = options.number("udp-port", 9899) as u16;
        let bind = options.addresses("bind", udp_port);
        transport.announce = bind.len() > 1;
        let locals = bind.iter().enumerate().map(|(n, a)| (LinkId(n as u32), SocketAddr::V4(*a))).collect();
        let config = EndpointConfig {
            transport: Arc::new(transport),
            accept: Some(Arc::new(move |seeds| spec.build(seeds))),
            locals,
            ..EndpointConfig::default()
        };
        let open = |a: &SocketAddrV4| {
            let socket = UdpSocket::bind(a).expect("a free port");
            socket.set_nonblocking(true).expect("a socket");
            (socket, *a)
        };
        Peer {
            start: Wall::now(),
            endpoint: Endpoint::new(config, &Seeds::new(options.number("udp-port", 1), 0)),
            sockets: bind.iter().map(open).collect(),
            capture: options.text("pcap").map(|path| Capture::create(Path::new(path))),
            options,
            id: None,
            sent: Half::default(),
            received: Half::default(),
            places: Places::default(),
            connected: false,
            shutting: false,
            closed: None,
        }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(1_000_000_000) + self.start.elapsed()
    }

    /// Runs the association to its end; what became of it.
    pub fn run(mut self) -> Value {
        if self.options.flag("listen") {
            eprintln!("listening");
        } else {
            self.connect();
        }
        let limit = Duration::from_secs(self.options.number("timeout", 30));
        while self.start.elapsed() < limit && self.closed.is_none() {
            if !self.turn() {
                sleep(Duration::from_micros(200));
            }
        }
        // Stays a little, in case the last word was lost.
        let end = Wall::now();
        while end.elapsed() < Duration::from_millis(200) {
            self.turn();
            sleep(Duration::from_millis(1));
        }
        self.report()
    }

    fn connect(&mut self) {
        let remotes = self.options.addresses("connect", self.options.number("remote-udp", 9899) as u16);
        let path = |(n, (_, local)): (usize, &(UdpSocket, SocketAddrV4))| {
            let remote = remotes.get(n).or(remotes.first()).expect("a remote address");
            let (local, remote) = (SocketAddr::V4(*local), SocketAddr::V4(*remote));
            (FourTuple { link: LinkId(n as u32), local, remote }, None)
        };
        let paths = self.sockets.iter().enumerate().map(path).collect();
        let scheme = self.options.scheme().build(&Seeds::new(1, 0));
        let connect = Connect { paths, port: 5000, scheme, transport: None };
        self.id = Some(self.endpoint.connect(self.now(), connect).expect("a free endpoint"));
    }

    /// One round over everything; whether anything happened.
    fn turn(&mut self) -> bool {
        let mut busy = self.receive();
        let now = self.now();
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
        }
        busy |= self.read();
        self.write();
        self.close_when_done();
        busy | self.transmit()
    }

    fn receive(&mut self) -> bool {
        let mut busy = false;
        let mut buf = [0; 65_536];
        for n in 0..self.sockets.len() {
            for _ in 0..64 {
                let (socket, local) = &self.sockets[n];
                let (len, SocketAddr::V4(from)) = (match socket.recv_from(&mut buf) {
                    Ok(got) => got,
                    // A refused port is reported here; the transport's timers see to it.
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {
                        break;
                    }
                    Err(e) => panic!("receive: {e}"),
                }) else {
                    panic!("an IPv6 sender")
                };
                let (local, remote) = (SocketAddr::V4(*local), SocketAddr::V4(from));
                if let Some(capture) = &mut self.capture {
                    capture.write(from, self.sockets[n].1, &buf[..len]);
                }
                let tuple = FourTuple { link: LinkId(n as u32), local, remote };
                let data = Bytes::copy_from_slice(&buf[..len]);
                let now = self.now();
                self.endpoint.handle_input(now, Input::Datagrams { tuple, data, segment_size: len });
                busy = true;
            }
        }
        busy
    }

    fn read(&mut self) -> bool {
        let mut busy = false;
        while let Some((id, event)) = self.endpoint.poll_event() {
            busy = true;
            match event {
                Event::Connected { .. } => (self.connected, self.id) = (true, Some(id)),
                Event::Closed(reason) => self.closed = Some(reason),
                _ => {}
            }
        }
        let size = self.options.number("size", 1400);
        while let Some(message) = self.id.and_then(|id| self.endpoint.recv(id)) {
            busy = true;
            self.received.count(&message.payload);
            self.places.take(&message.payload, size);
        }
        busy
    }

    fn write(&mut self) {
        let (total, size) = (self.options.number("send", 0), self.options.number("size", 1400));
        let Some(id) = self.id.filter(|_| self.connected) else { return };
        let options = SendOptions {
            unordered: self.options.flag("unordered"),
            lifetime: self.options.text("pr-ttl").map(|ms| Duration::from_millis(ms.parse().expect("ms"))),
            ..SendOptions::default()
        };
        let ahead = if options.lifetime.is_some() { AHEAD_MORTAL } else { AHEAD };
        while self.sent.bytes < total {
            let buffered = self.endpoint.association(id).map_or(0, |a| a.send_buffered());
            let message = pattern(self.sent.bytes, size.min(total - self.sent.bytes) as usize);
            if buffered > 0 && buffered + message.len() > ahead {
                return;
            }
            match self.endpoint.send(self.now(), id, message.clone().into(), options) {
                Ok(_) => self.sent.count(&message),
                Err(SendError::Full | SendError::Closed) => return,
                Err(e) => panic!("send: {e}"),
            }
        }
    }

    fn close_when_done(&mut self) {
        let (send, expect) = (self.options.number("send", 0), self.options.number("expect", 0));
        let mine = (send > 0 || expect > 0) && !self.options.flag("await-close");
        let done = self.sent.bytes >= send && self.received.bytes >= expect;
        let Some(id) = self.id.filter(|_| mine && done && self.connected && !self.shutting) else { return };
        self.shutting = true;
        self.endpoint.shutdown(self.now(), id);
    }

    fn transmit(&mut self) -> bool {
        let mut busy = false;
        let mut buf = Vec::new();
        while let Some(Transmit { tuple, segment_size, .. }) = self.endpoint.poll_output(self.now(), &mut buf)
        {
            busy = true;
            let (socket, local) = &self.sockets[tuple.link.0 as usize];
            for datagram in buf.chunks(segment_size) {
                // What does not fit the socket's buffer is lost, as on any network.
                let _ = socket.send_to(datagram, tuple.remote);
                if let (Some(capture), SocketAddr::V4(to)) = (&mut self.capture, tuple.remote) {
                    capture.write(*local, to, datagram);
                }
            }
            buf.clear();
        }
        busy
    }

    fn report(self) -> Value {
        let (closed, error) = match &self.closed {
            Some(CloseReason::Shutdown) => ("graceful", None),
            Some(CloseReason::PeerAborted(words)) => ("aborted", Some(words.clone())),
            Some(other) => ("failed", Some(format!("{other:?}"))),
            None => ("timeout", None),
        };
        let association = self.id.and_then(|id| self.endpoint.association(id));
        let stats = association.map(|a| a.stats().clone()).unwrap_or_default();
        let path = |i: usize| {
            let s = association?.path_stats(PathId(i as u8))?;
            Some(json!({ "bytes_sent": s.bytes_sent, "bytes_received": s.bytes_received }))
        };
        json!({
            "role": if self.options.flag("listen") { "listen" } else { "connect" },
            "closed": closed,
            "error": error,
            "sent": self.sent.json(),
            "received": self.received.json(),
            "unplaced": self.places.unplaced,
            "abandoned": stats.messages_abandoned + stats.messages_expired,
            "refused": stats.refused_assignments,
            "bad_chunks": stats.bad_chunks,
            "bad_packets": stats.bad_packets,
            "peer_errors": stats.peer_errors,
            "paths": (0..8).map_while(path).collect::<Vec<_>>(),
        })
    }
}
