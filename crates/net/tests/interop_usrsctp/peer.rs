//! Strandcast's side: one association of the driver, with the options and the JSON of `usrsctp_peer`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use strandcast_net::driver::{AssociationHandle, Client, PacketTap, Server, Snapshot, Uplink};
use strandcast_net::interface::PathSpec;
use strandcast_net::pcap::PcapWriter;
use strandcast_proto::association::{CloseReason, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::{Spec, parse_spec};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::stream::{Half, Places, pattern};

/// Maximum of unacknowledged bytes with a lifetime: more would expire before being sent.
const AHEAD: usize = 20_000;

/// The options of `usrsctp_peer`; `--scheme NAME` replaces its `--cmt`, `--pcap FILE` captures the packets of
/// this side, `--kbps N` sends at a rate. A connecting end uses UDP ports of the system's choice.
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

    fn addresses(&self, key: &str) -> Vec<IpAddr> {
        let one = |a: &str| a.parse().expect("an address");
        self.text(key).map_or_else(Vec::new, |list| list.split(',').map(one).collect())
    }

    fn scheme(&self) -> Spec {
        parse_spec(self.text("scheme").unwrap_or("sctp")).expect("a scheme")
    }

    fn endpoint(&self) -> EndpointConfig {
        let spec = self.scheme();
        let announce = self.addresses("bind").len() > 1;
        let mut transport = TransportConfig { announce, ..TransportConfig::default() };
        spec.tune(&mut transport);
        let accept = Arc::new(move |seeds: &Seeds| spec.build(seeds));
        EndpointConfig { transport: Arc::new(transport), accept: Some(accept), ..EndpointConfig::default() }
    }

    fn tap(&self) -> Option<PacketTap> {
        let file = File::create(self.text("pcap")?).expect("a capture file");
        let pcap = PcapWriter::new(BufWriter::new(file)).expect("room on the disk");
        Some(pcap.into_tap(|error| panic!("the capture: {error}")))
    }

    fn connect(&self) -> AssociationHandle {
        let port = self.number("remote-udp", 9899) as u16;
        let remotes: Vec<SocketAddr> =
            self.addresses("connect").into_iter().map(|a| SocketAddr::new(a, port)).collect();
        let uplink = |address| Uplink::new(PathSpec::address(address), &remotes);
        let client = Client {
            endpoint: self.endpoint(),
            uplinks: self.addresses("bind").into_iter().map(uplink).collect(),
            port: 5000,
            scheme: self.scheme().build(&Seeds::new(1, 0)),
            seal: None,
            tap: self.tap(),
        };
        client.connect().expect("a client")
    }

    async fn listen(&self) -> AssociationHandle {
        let port = self.number("udp-port", 9899) as u16;
        let listen = self.addresses("bind").into_iter().map(|a| SocketAddr::new(a, port)).collect();
        let server = Server { endpoint: self.endpoint(), listen, seal: None, tap: self.tap() };
        let mut listener = server.listen().expect("free ports");
        eprintln!("listening");
        listener.accept().await.expect("an association")
    }
}

#[derive(Default)]
struct Tally {
    sent: Half,
    received: Half,
    places: Places,
    closing: bool,
}

/// Runs an association to its end and returns the report.
pub async fn run(options: &Options) -> Value {
    let tally = RefCell::default();
    let limit = Duration::from_secs(options.number("timeout", 30));
    let ended = timeout(limit, async {
        let association = if options.flag("listen") { options.listen().await } else { options.connect() };
        let (_, (), ()) = tokio::join!(
            association.connected(),
            write(&association, options, &tally),
            read(&association, options, &tally)
        );
        let reason = association.closed().await;
        // Stays a little, in case the last chunk was lost.
        sleep(Duration::from_millis(200)).await;
        (reason, association.snapshot().await)
    });
    let (reason, snapshot) = ended.await.map_or((None, None), |(reason, last)| (Some(reason), last));
    report(options, &tally.borrow(), reason, snapshot)
}

async fn write(association: &AssociationHandle, options: &Options, tally: &RefCell<Tally>) {
    let (total, size) = (options.number("send", 0), options.number("size", 1400));
    let how = SendOptions {
        unordered: options.flag("unordered"),
        lifetime: options.text("pr-ttl").map(|ms| Duration::from_millis(ms.parse().expect("ms"))),
        ..SendOptions::default()
    };
    let (start, kbps) = (Instant::now(), options.number("kbps", 0));
    let mut at = 0;
    while at < total {
        let message = pattern(at, size.min(total - at) as usize);
        if let Some(ms) = (at * 8).checked_div(kbps) {
            sleep_until(start + Duration::from_millis(ms)).await;
        } else if how.lifetime.is_some() {
            room(association).await;
        }
        if association.send(message.clone().into(), how).await.is_err() {
            break;
        }
        tally.borrow_mut().sent.count(&message);
        at += message.len() as u64;
    }
    close_when_done(association, options, tally);
}

async fn room(association: &AssociationHandle) {
    while association.snapshot().await.is_some_and(|s| s.send_buffered > AHEAD) {
        sleep(Duration::from_millis(1)).await;
    }
}

async fn read(association: &AssociationHandle, options: &Options, tally: &RefCell<Tally>) {
    let size = options.number("size", 1400);
    while let Some(message) = association.recv().await {
        let mut state = tally.borrow_mut();
        state.received.count(&message.payload);
        state.places.take(&message.payload, size);
        drop(state);
        close_when_done(association, options, tally);
    }
}

fn close_when_done(association: &AssociationHandle, options: &Options, tally: &RefCell<Tally>) {
    let (send, expect) = (options.number("send", 0), options.number("expect", 0));
    let mine = (send > 0 || expect > 0) && !options.flag("await-close");
    let mut tally = tally.borrow_mut();
    if mine && !tally.closing && tally.sent.bytes >= send && tally.received.bytes >= expect {
        tally.closing = true;
        association.shutdown();
    }
}

fn report(options: &Options, tally: &Tally, reason: Option<CloseReason>, last: Option<Snapshot>) -> Value {
    let (closed, error) = match reason {
        Some(CloseReason::Shutdown) => ("graceful", None),
        Some(CloseReason::PeerAborted(words)) => ("aborted", Some(words)),
        Some(other) => ("failed", Some(format!("{other:?}"))),
        None => ("timeout", None),
    };
    let (stats, paths) = last.map(|s| (s.stats, s.paths)).unwrap_or_default();
    let path = |p: &strandcast_net::driver::PathSnapshot| json!({ "name": p.name, "bytes_sent": p.stats.bytes_sent, "bytes_received": p.stats.bytes_received });
    json!({
        "role": if options.flag("listen") { "listen" } else { "connect" },
        "closed": closed,
        "error": error,
        "sent": tally.sent.json(),
        "received": tally.received.json(),
        "unplaced": tally.places.unplaced,
        "abandoned": stats.messages_abandoned() + stats.messages_expired(),
        "bad_chunks": stats.bad_chunks,
        "bad_packets": stats.bad_packets,
        "peer_errors": stats.peer_errors,
        "paths": paths.iter().map(path).collect::<Vec<_>>(),
    })
}
