//! Sealed drivers over loopback sockets.

pub mod nat;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use strandcast_net::driver::{
    AssociationHandle, Client, ClientSeal, Listener, PacketTap, SealHooks, Server, ServerSeal, Uplink,
};
use strandcast_net::interface::PathSpec;
use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_seal::{Access, Grant, Peer, SealEvent, SecretKey, Token};
use strandcast_testing::plain;
use tokio::time::timeout;

pub const LOOPBACK: &str = "127.0.0.1:0";
/// Upper bound on any wait here on a loaded machine.
pub const LONG: Duration = Duration::from_secs(30);

pub fn sender() -> SecretKey {
    SecretKey::from_bytes([1; 32])
}

pub fn receiver() -> SecretKey {
    SecretKey::from_bytes([2; 32])
}

pub fn token() -> Token {
    Token::from_bytes([3; 32])
}

pub fn peer() -> Peer {
    Peer { key: receiver().public(), token: token() }
}

/// Admits the sender alone.
pub fn access() -> Access {
    let senders = BTreeSet::from([sender().public()]);
    let grants = vec![Grant { token: token(), senders, open: false, once: false }];
    Access { grants, revoked: BTreeSet::new() }
}

pub fn endpoint() -> EndpointConfig {
    let accept: SchemeFactory = Arc::new(|_| plain::simple());
    EndpointConfig {
        transport: Arc::new(TransportConfig::live()),
        accept: Some(accept),
        ..EndpointConfig::default()
    }
}

pub type Events = Arc<Mutex<Vec<SealEvent>>>;

/// Callbacks that record events.
pub fn hooks() -> (SealHooks, Events) {
    let events = Events::default();
    let book = Arc::clone(&events);
    let on_event = Box::new(move |_, event: &SealEvent| book.lock().expect("no panic").push(event.clone()));
    (SealHooks { on_event: Some(on_event), keylog: None }, events)
}

pub fn listen(seal: Option<ServerSeal>, tap: Option<PacketTap>) -> Listener {
    let listen = vec![LOOPBACK.parse().expect("an address")];
    Server { endpoint: endpoint(), listen, seal, tap }.listen().expect("loopback can be bound")
}

pub fn sealed_server(access: Access) -> (Listener, Events) {
    let (hooks, events) = hooks();
    (listen(Some(ServerSeal { identity: receiver(), access, max_sessions: None, hooks }), None), events)
}

pub fn connect(
    to: SocketAddr,
    paths: usize,
    seal: Option<ClientSeal>,
    tap: Option<PacketTap>,
) -> AssociationHandle {
    let spec = PathSpec::address("127.0.0.1".parse().expect("an address"));
    let uplinks = vec![Uplink::new(spec, &[to]); paths];
    let endpoint = EndpointConfig { accept: None, ..endpoint() };
    let client = Client { endpoint, uplinks, port: 5000, scheme: plain::simple(), seal, tap };
    client.connect().expect("loopback can be bound")
}

pub fn sealed_client(
    to: SocketAddr,
    paths: usize,
    identity: SecretKey,
    peer: Peer,
) -> (AssociationHandle, Events) {
    let (hooks, events) = hooks();
    (connect(to, paths, Some(ClientSeal { identity, peer, hooks }), None), events)
}

pub async fn pair(paths: usize) -> (AssociationHandle, AssociationHandle, Listener) {
    let (mut listener, _) = sealed_server(access());
    let to = listener.driver().local_addrs()[0];
    let (client, _) = sealed_client(to, paths, sender(), peer());
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
    let server = timeout(LONG, listener.accept()).await.expect("in time").expect("a driver");
    (client, server, listener)
}

/// Sends `n` messages and checks that every one arrives in order.
pub async fn carry(from: &AssociationHandle, to: &AssociationHandle, n: u32) {
    for i in 0..n {
        let message: Bytes = i.to_be_bytes().repeat(250).into();
        from.send(message.clone(), SendOptions::default()).await.expect("open");
        let got = timeout(LONG, to.recv()).await.expect("in time").expect("a message");
        assert_eq!(got.payload, message);
    }
}
