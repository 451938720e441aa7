//! Part of a transfer's processor time that a preset's decisions take. Bulk data are sent over four paths on loopback,
//! in the loop of `strandcast perf`, with and without shadows of the schemes.
//!
//! `cargo bench -p strandcast-bench --bench policies_sockets [-- [lifetimes] [SPEC...]]`. The benchmark exits with 1 if
//! a preset misses the bar. With `lifetimes`, each message has a lifetime, as messages of live video have. Schemes that
//! use deadlines then have more work.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant as Wall};

use bytes::Bytes;
use strandcast_net::driver::{Client, Driver, Server, Uplink};
use strandcast_net::interface::PathSpec;
use strandcast_proto::app::App;
use strandcast_proto::association::{Event, SendError, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::{Spec, parse_spec, presets};
use strandcast_testing::recording::shadows::Shadowed;

/// Maximum fraction of the processor time per packet.
const BAR: f64 = 0.10;
/// Nanoseconds that are permitted for `strand` instead, because it evaluates four paths at each report and each chunk.
const BAR_STRAND_NS: f64 = 300.0;
/// Lifetime of each message, if messages have one.
const LIFETIME: strandcast_proto::time::Duration = strandcast_proto::time::Duration::from_secs(1);
const SHADOWS: usize = 8;
const ROUNDS: usize = 5;
const PATHS: usize = 4;
const TIME: Duration = Duration::from_millis(1500);
/// Number of bytes of a message that fits a packet of 1400 bytes with the headers of any scheme.
const MESSAGE: usize = 1300;

/// Application that sends as fast as possible until the deadline.
struct Sender {
    id: AssociationId,
    payload: Bytes,
    options: SendOptions,
    until: Wall,
    full: bool,
    done: bool,
    driver: Arc<OnceLock<Driver>>,
    stop: bool,
}

impl App for Sender {
    fn on_event(&mut self, _: Instant, _: &mut Endpoint, _: AssociationId, event: &Event) {
        match event {
            Event::Writable => self.full = false,
            Event::Closed(_) => self.stop = true,
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if !self.done && Wall::now() >= self.until {
            self.done = true;
            endpoint.shutdown(now, self.id);
        }
        while !self.full && !self.done {
            match endpoint.send(now, self.id, self.payload.clone(), self.options) {
                Ok(_) => {}
                Err(SendError::Full) => self.full = true,
                Err(_) => self.done = true,
            }
        }
        if let Some(driver) = self.driver.get().filter(|_| self.stop) {
            driver.stop();
        }
    }
}

/// Application that counts the messages that arrive.
#[derive(Default)]
struct Counter {
    readable: Vec<AssociationId>,
    messages: u64,
    stop: bool,
    driver: Arc<OnceLock<Driver>>,
}

impl App for Counter {
    fn on_event(&mut self, _: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        match event {
            Event::Readable => self.readable.push(id),
            Event::Closed(_) => self.stop = true,
            _ => {}
        }
    }

    fn poll(&mut self, _: Instant, endpoint: &mut Endpoint) {
        for id in self.readable.drain(..) {
            while endpoint.recv(id).is_some() {
                self.messages += 1;
            }
        }
        if let Some(driver) = self.driver.get().filter(|_| self.stop) {
            driver.stop();
        }
    }
}

/// Returns the processor time of this thread in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    let ns: f64 = stat.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number");
    ns / 1e9
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn config(spec: &Spec, shadows: usize) -> EndpointConfig {
    let mut transport =
        TransportConfig { receive_buffer: 4 << 20, send_buffer: 4 << 20, ..TransportConfig::default() };
    spec.tune(&mut transport);
    let spec = spec.clone();
    let accept = Arc::new(move |seeds: &Seeds| Shadowed::boxed(|| spec.build(seeds), shadows));
    EndpointConfig { transport: Arc::new(transport), accept: Some(accept), ..EndpointConfig::default() }
}

async fn receive(spec: &Spec, shadows: usize, told: mpsc::Sender<SocketAddr>) -> u64 {
    let listen = vec!["127.0.0.1:0".parse().expect("an address")];
    let server = Server { endpoint: config(spec, shadows), listen, seal: None, tap: None };
    let counter = Counter::default();
    let slot = Arc::clone(&counter.driver);
    let (driver, task) = server.run(counter).expect("a free port");
    slot.set(driver.clone()).ok();
    told.send(driver.local_addrs()[0]).expect("heard");
    task.await.expect("no panic").messages
}

async fn send(spec: &Spec, shadows: usize, options: SendOptions, to: SocketAddr) {
    let path = PathSpec::address(to.ip());
    let seeds = Seeds::new(1, 0);
    let scheme = Shadowed::boxed(|| spec.build(&seeds), shadows);
    let uplinks = vec![Uplink::new(path, &[to]); PATHS];
    let client =
        Client { endpoint: config(spec, shadows), uplinks, port: 5000, scheme, seal: None, tap: None };
    let (until, payload) = (Wall::now() + TIME, Bytes::from(vec![0x47; MESSAGE]));
    let slot = Arc::default();
    let driver = Arc::clone(&slot);
    let sender =
        |id| Sender { id, payload, options, until, full: false, done: false, driver: slot, stop: false };
    let (running, task) = client.run(sender).expect("loopback");
    driver.set(running).ok();
    task.await.expect("no panic");
}

/// Returns the nanoseconds of processor time at both ends per DATA packet.
fn run(spec: &Spec, shadows: usize, options: SendOptions) -> f64 {
    let (told, heard) = mpsc::channel();
    let theirs = spec.clone();
    let receiver = std::thread::spawn(move || {
        let messages = runtime().block_on(receive(&theirs, shadows, told));
        (messages, cpu())
    });
    let to = heard.recv().expect("an address");
    let mine = spec.clone();
    let sender = std::thread::spawn(move || {
        runtime().block_on(send(&mine, shadows, options, to));
        cpu()
    });
    let used = sender.join().expect("no panic");
    let (messages, also_used) = receiver.join().expect("no panic");
    (used + also_used) * 1e9 / messages as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let lifetimes = asked.first().is_some_and(|word| word == "lifetimes");
    asked.drain(..usize::from(lifetimes));
    let options = SendOptions { lifetime: lifetimes.then_some(LIFETIME), ..SendOptions::default() };
    let all = || presets().iter().map(|p| p.name.to_owned()).collect();
    let specs: Vec<String> = if asked.is_empty() { all() } else { asked };
    println!(
        "| preset | policies, both ends, ns per DATA packet | everything, ns | share |\n|---|---|---|---|"
    );
    let mut late = Vec::new();
    for name in specs {
        let spec = parse_spec(&name).unwrap_or_else(|e| panic!("{e}"));
        let rounds: Vec<(f64, f64)> =
            (0..ROUNDS).map(|_| (run(&spec, 0, options), run(&spec, SHADOWS, options))).collect();
        let plain = median(rounds.iter().map(|r| r.0).collect());
        let policies = median(rounds.iter().map(|r| (r.1 - r.0) / SHADOWS as f64).collect());
        println!("| `{name}` | {policies:.0} | {plain:.0} | {:.1} % |", 100.0 * policies / plain);
        if policies > if name == "strand" { BAR_STRAND_NS } else { BAR * plain } {
            late.push(name);
        }
    }
    if late.is_empty() {
        println!("PASS: none takes more than {:.0} % (strand: {BAR_STRAND_NS} ns)", 100.0 * BAR);
    } else {
        let late = late.join(", ");
        println!("FAIL: more than {:.0} % (strand: {BAR_STRAND_NS} ns): {late}", 100.0 * BAR);
        std::process::exit(1);
    }
}
