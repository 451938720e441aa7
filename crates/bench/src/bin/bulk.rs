//! Bulk data over loopback: goodput, and CPU seconds per gigabyte of both ends together.
//!
//! `bulk [SECONDS] [task|handle] [SCHEME] [MTU]`. Each end runs in a separate thread.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant as Wall};

use bytes::Bytes;
use strandcast_net::driver::{AssociationHandle, Client, Server, Uplink};
use strandcast_net::interface::PathSpec;
use strandcast_proto::app::App;
use strandcast_proto::association::{Event, SendError, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::parse_spec;

const MESSAGE: usize = 1400;

/// Application that sends as fast as possible until the deadline.
struct Sender {
    id: AssociationId,
    payload: Bytes,
    until: Wall,
    full: bool,
    done: bool,
}

impl App for Sender {
    fn on_event(&mut self, _: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        match event {
            Event::Writable => self.full = false,
            Event::Closed(_) => endpoint.release(id),
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if !self.done && Wall::now() >= self.until {
            self.done = true;
            endpoint.shutdown(now, self.id);
        }
        while !self.full && !self.done {
            match endpoint.send(now, self.id, self.payload.clone(), SendOptions::default()) {
                Ok(_) => {}
                Err(SendError::Full) => self.full = true,
                Err(_) => self.done = true,
            }
        }
    }
}

/// Application that counts the messages that arrive.
#[derive(Default)]
struct Counter {
    readable: Vec<AssociationId>,
    bytes: u64,
    stop: Option<strandcast_net::driver::Driver>,
    driver: Arc<std::sync::OnceLock<strandcast_net::driver::Driver>>,
}

impl App for Counter {
    fn on_event(&mut self, _: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        match event {
            Event::Readable => self.readable.push(id),
            Event::Closed(_) => self.stop = self.driver.get().cloned(),
            _ => {}
        }
    }

    fn poll(&mut self, _: Instant, endpoint: &mut Endpoint) {
        for id in self.readable.drain(..) {
            while let Some(message) = endpoint.recv(id) {
                self.bytes += message.payload.len() as u64;
            }
        }
        if let Some(driver) = &self.stop {
            driver.stop();
        }
    }
}

/// Returns the CPU seconds of this thread.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    let ns: f64 = stat.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number");
    ns / 1e9
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn config(scheme: &str) -> EndpointConfig {
    let spec = parse_spec(scheme).expect("a scheme");
    let mut transport =
        TransportConfig { receive_buffer: 4 << 20, send_buffer: 4 << 20, ..TransportConfig::default() };
    spec.tune(&mut transport);
    let accept = Arc::new(move |seeds: &Seeds| spec.build(seeds));
    EndpointConfig { transport: Arc::new(transport), accept: Some(accept), ..EndpointConfig::default() }
}

async fn receive(handle: bool, scheme: &str, told: std::sync::mpsc::Sender<SocketAddr>) -> u64 {
    let listen = vec![SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)];
    let server = Server { endpoint: config(scheme), listen, seal: None, tap: None };
    if handle {
        let mut listener = server.listen().expect("a free port");
        told.send(listener.driver().local_addrs()[0]).expect("heard");
        let association = listener.accept().await.expect("a client");
        let (mut bytes, mut messages) = (0, Vec::new());
        while association.recv_many(&mut messages).await > 0 {
            bytes += messages.drain(..).map(|m| m.payload.len() as u64).sum::<u64>();
        }
        return bytes;
    }
    let counter = Counter::default();
    let slot = Arc::clone(&counter.driver);
    let (driver, task) = server.run(counter).expect("a free port");
    slot.set(driver.clone()).ok();
    told.send(driver.local_addrs()[0]).expect("heard");
    task.await.expect("no panic").bytes
}

async fn send(handle: bool, scheme: &str, mtu: u16, to: SocketAddr, seconds: f64) {
    let spec = PathSpec::address(to.ip()).with_mtu(mtu);
    let built = parse_spec(scheme).expect("a scheme").build(&Seeds::new(1, 0));
    let uplinks = vec![Uplink::new(spec, &[to])];
    let client =
        Client { endpoint: config(scheme), uplinks, port: 5000, scheme: built, seal: None, tap: None };
    let until = Wall::now() + Duration::from_secs_f64(seconds);
    let payload = Bytes::from(vec![0x47; MESSAGE]);
    if handle {
        let association: AssociationHandle = client.connect().expect("loopback");
        while Wall::now() < until {
            association.send(payload.clone(), SendOptions::default()).await.expect("connected");
        }
        let all = association.snapshot().await.expect("alive");
        let p = &all.paths[0];
        println!("{:?} {:?} srtt {:?} cwnd {}", all.stats, p.stats, p.view.srtt, p.view.limit.cwnd);
        association.shutdown();
        association.closed().await;
        return;
    }
    let sender = |id| Sender { id, payload, until, full: false, done: false };
    let (driver, _task) = client.run(sender).expect("loopback");
    tokio::time::sleep(Duration::from_secs_f64(seconds * 0.9)).await;
    let all = driver.snapshot(AssociationId(0)).await.expect("alive");
    let p = &all.paths[0];
    println!("{:?} {:?} srtt {:?} cwnd {}", all.stats, p.stats, p.view.srtt, p.view.limit.cwnd);
    tokio::time::sleep(Duration::from_secs_f64(seconds * 0.1 + 0.5)).await;
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seconds: f64 = args.get(1).map_or(3.0, |s| s.parse().expect("seconds"));
    let handle = args.get(2).is_some_and(|s| s == "handle");
    let scheme = args.get(3).cloned().unwrap_or_else(|| "cmt".into());
    let mtu: u16 = args.get(4).map_or(1500, |s| s.parse().expect("bytes"));
    let (told, heard) = std::sync::mpsc::channel();
    let theirs = scheme.clone();
    let receiver = std::thread::spawn(move || {
        let bytes = runtime().block_on(receive(handle, &theirs, told));
        (bytes, cpu())
    });
    let to = heard.recv().expect("an address");
    runtime().block_on(send(handle, &scheme, mtu, to, seconds));
    let sender_cpu = cpu();
    let (bytes, receiver_cpu) = receiver.join().expect("no panic");
    let gb = bytes as f64 / 1e9;
    println!(
        "{:.2} Gbit/s, CPU s/GB: sender {:.3}, receiver {:.3}, both {:.3}",
        gb * 8.0 / seconds,
        sender_cpu / gb,
        receiver_cpu / gb,
        (sender_cpu + receiver_cpu) / gb
    );
}
