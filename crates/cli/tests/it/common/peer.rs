//! A scripted peer of a command: associations with contents chosen by a test.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use strandcast_media::MediaTime;
use strandcast_media::pack::{Body, Header, Message};
use strandcast_net::driver::{AssociationHandle, Client, ClientSeal, Listener, Server, Uplink};
use strandcast_net::interface::PathSpec;
use strandcast_proto::association::{CloseReason, SendOptions};
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::rfc;
use tokio::runtime::Handle;

use super::LONG;

/// The default SCTP port of commands.
const SCTP_PORT: u16 = 5000;
/// Time between two messages of an active sender.
const STEP: Duration = Duration::from_millis(50);

/// A thread on which all associations of a test run.
#[derive(Clone)]
pub struct PeerRuntime {
    handle: Handle,
    begun: Instant,
}

impl PeerRuntime {
    pub fn start() -> PeerRuntime {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        PeerRuntime { handle, begun: Instant::now() }
    }

    fn wait<T>(&self, for_what: &str, future: impl Future<Output = T>) -> T {
        let limited = async { tokio::time::timeout(LONG, future).await };
        self.handle.block_on(limited).unwrap_or_else(|_| panic!("no {for_what}"))
    }

    /// Connects from 127.0.0.`host` to a port here, without encryption.
    pub fn connect(&self, host: u8, port: u16) -> Peer {
        self.connect_with(host, port, None)
    }

    /// Connects from 127.0.0.`host` to a port here, with these keys.
    pub fn connect_with(&self, host: u8, port: u16, seal: Option<ClientSeal>) -> Peer {
        let from = IpAddr::V4(Ipv4Addr::new(127, 0, 0, host));
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        let spec = PathSpec::address(from);
        let client = Client {
            endpoint: EndpointConfig { port: SCTP_PORT, ..EndpointConfig::default() },
            uplinks: vec![Uplink::new(spec, &[to])],
            port: SCTP_PORT,
            scheme: Box::new(rfc::scheme()),
            seal,
            tap: None,
        };
        let association = self.wait("association", async {
            let association = client.connect().unwrap();
            association.connected().await.unwrap();
            association
        });
        Peer { runtime: self.clone(), association }
    }

    /// Listens on a port here.
    pub fn listen(&self, port: u16) -> Door {
        let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
        let endpoint = EndpointConfig { port: SCTP_PORT, accept: Some(accept), ..EndpointConfig::default() };
        let server = Server {
            endpoint,
            listen: vec![SocketAddr::from(([127, 0, 0, 1], port))],
            seal: None,
            tap: None,
        };
        let listener = self.wait("listener", async { server.listen().unwrap() });
        Door { runtime: self.clone(), listener }
    }
}

/// The address that commands connect to.
pub struct Door {
    runtime: PeerRuntime,
    listener: Listener,
}

impl Door {
    /// The next association.
    pub fn accept(&mut self) -> Peer {
        let association = self.runtime.wait("client", self.listener.accept()).expect("the driver runs");
        Peer { runtime: self.runtime.clone(), association }
    }
}

/// An association with a command.
pub struct Peer {
    runtime: PeerRuntime,
    association: AssociationHandle,
}

impl Peer {
    /// The first media message.
    pub fn first_media(&self) -> Message {
        self.runtime.wait("media", async {
            loop {
                let message = self.association.recv().await.expect("the association lives");
                if let Ok(media) = Message::decode(message.payload) {
                    return media;
                }
            }
        })
    }

    /// Sends bytes on a stream.
    pub fn says(&self, stream: u16, payload: Bytes) {
        let options = SendOptions { stream, ..SendOptions::default() };
        self.runtime.wait("room", self.association.send(payload, options)).unwrap();
    }

    /// Sends a stream with this session number, one transport packet filled with `mark` at a time, until it is dropped
    /// or closed. A later continuation starts where the stream would be by then.
    pub fn talks(&self, session: u32, mark: u8) -> Talk {
        let association = self.association.clone();
        let begun = tokio::time::Instant::from_std(self.runtime.begun);
        let first = (begun.elapsed().as_millis() / STEP.as_millis()) as u32;
        let talk = async move {
            for sequence in first.. {
                let sent = MediaTime::from_micros(u64::from(sequence) * STEP.as_micros() as u64);
                let lifetime = Some(Duration::from_millis(100));
                let header = Header { session, sequence, sent, lifetime, ..Header::default() };
                let mut packet = vec![mark; 188];
                packet[0] = 0x47;
                let wire = Message { header, body: Body::Data(packet.into()) }.encode();
                if association
                    .send(wire, SendOptions { unordered: true, ..SendOptions::default() })
                    .await
                    .is_err()
                {
                    return;
                }
                // Send times are actual: on a busy machine the next message is still sent at its own time.
                tokio::time::sleep_until(begun + STEP * (sequence + 1)).await;
            }
        };
        Talk(self.runtime.handle.spawn(talk))
    }

    /// Aborts; the command receives these words.
    pub fn abort(&self, words: &str) {
        self.association.abort(words);
        self.closed();
    }

    /// Closes gracefully, as if the stream had ended.
    pub fn leaves(&self) {
        self.association.shutdown();
        self.closed();
    }

    /// Falls silent permanently, as if the process had been killed.
    pub fn dies(&self) {
        self.association.driver().stop();
        self.runtime.wait("end", self.association.driver().finished());
    }

    /// Waits for the end.
    pub fn closed(&self) -> CloseReason {
        self.runtime.wait("close", self.association.closed())
    }

    /// Reason of the end, if it came within `time`.
    pub fn closes_within(&self, time: Duration) -> Option<CloseReason> {
        let closed = async { tokio::time::timeout(time, self.association.closed()).await.ok() };
        self.runtime.handle.block_on(closed)
    }
}

/// A stream that is being sent.
pub struct Talk(tokio::task::JoinHandle<()>);

impl Drop for Talk {
    fn drop(&mut self) {
        self.0.abort();
    }
}
