//! Drivers over loopback sockets; each path of each client leads through a relay.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use strandcast_net::driver::{Client, Driver, Server, Uplink};
use strandcast_net::emulate::{Direction, Relay, RelayConfig};
use strandcast_net::interface::PathSpec;
use strandcast_proto::endpoint::Endpoint;
use strandcast_proto::policy::PathId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use tokio::runtime::Runtime;

use super::log::{Log, Recorder};
use super::testbed::{FIRST, SERVER, Testbed, client_config, network, scheme, server_config};

const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

pub struct Real {
    runtime: Runtime,
    /// Clients' drivers are started when they connect.
    drivers: Vec<Option<Driver>>,
    relays: Vec<Vec<Relay>>,
    logs: Vec<Arc<Mutex<Log>>>,
}

impl Real {
    pub fn new(clients: usize, delays_ms: &[u64]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let inside = runtime.enter();
        let recorder = Recorder::default();
        let mut logs = vec![Arc::clone(&recorder.log)];
        let server = Server { endpoint: server_config(), listen: vec![LOOPBACK], seal: None, tap: None };
        let (server, _) = server.run(recorder).expect("a free port");
        let to = server.local_addrs()[0];
        let mut relays = vec![Vec::new()];
        for client in 0..clients {
            let relay = |(n, delay): (usize, &u64)| {
                let config = RelayConfig { listen: LOOPBACK, server: to, network: network(*delay) };
                Relay::start(config, &Seeds::new(client as u64, n as u64)).expect("a free port")
            };
            relays.push(delays_ms.iter().enumerate().map(relay).collect());
            logs.push(Arc::default());
        }
        drop(inside);
        let drivers = std::iter::once(Some(server)).chain((0..clients).map(|_| None)).collect();
        Real { runtime, drivers, relays, logs }
    }

    fn uplink(&self, client: usize, n: usize) -> Uplink {
        let spec = PathSpec::address(LOOPBACK.ip());
        Uplink::new(spec, &[self.relays[client][n].local_addr()])
    }

    fn driver(&self, host: usize) -> Driver {
        self.drivers[host].clone().expect("a client that has begun to connect")
    }
}

impl Testbed for Real {
    fn connect(&mut self, client: usize, paths: usize) {
        let uplinks = (0..paths.min(self.relays[client].len())).map(|n| self.uplink(client, n)).collect();
        let open = Client {
            endpoint: client_config(),
            uplinks,
            port: 5000,
            scheme: scheme(),
            seal: None,
            tap: None,
        };
        let recorder = Recorder::into(Arc::clone(&self.logs[client]));
        let _inside = self.runtime.enter();
        let (driver, _) = open.run(|_| recorder).expect("loopback");
        self.drivers[client] = Some(driver);
    }

    fn add_path(&mut self, client: usize, n: usize) {
        let (driver, uplink) = (self.driver(client), self.uplink(client, n));
        self.runtime.block_on(driver.add_path(FIRST, uplink)).expect("connected");
    }

    fn remove_path(&mut self, client: usize, path: PathId) {
        self.runtime.block_on(self.driver(client).remove_path(FIRST, path)).expect("a path");
    }

    fn rebind(&mut self, client: usize, n: usize) {
        let _inside = self.runtime.enter();
        self.relays[client][n].rebind().expect("free ports");
    }

    fn black_hole(&mut self, client: usize, n: usize, on: bool) {
        for direction in [Direction::Forward, Direction::Reverse] {
            self.relays[client][n].set_black_hole(direction, on);
        }
    }

    fn with<T: Send + 'static>(
        &mut self,
        host: usize,
        f: impl FnOnce(Instant, &mut Endpoint) -> T + Send + 'static,
    ) -> T {
        self.runtime.block_on(self.driver(host).with_endpoint(f)).expect("a running driver")
    }

    fn logs(&self) -> Vec<Log> {
        self.logs.iter().map(|log| log.lock().expect("no panic under the lock").clone()).collect()
    }

    fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&[Log]) -> bool) -> bool {
        let end = std::time::Instant::now() + limit;
        while !done(&self.logs()) {
            if std::time::Instant::now() > end {
                return false;
            }
            self.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(2)).await });
        }
        true
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _inside = self.runtime.enter();
        self.relays.clear();
        self.drivers[SERVER].as_ref().expect("started with the test bed").stop();
    }
}
