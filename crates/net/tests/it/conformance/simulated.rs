//! Hosts of the simulator.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use strandcast_proto::endpoint::{Connect, Endpoint};
use strandcast_proto::policy::PathId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_sim::host::{Direction, HostId, Net, NetPath};

use super::log::{Log, Recorder};
use super::testbed::{FIRST, SERVER, Testbed, client_config, network, scheme, server_config};

pub struct Simulated {
    net: Net,
    hosts: Vec<HostId>,
    /// Paths, by client (the server has none).
    paths: Vec<Vec<NetPath>>,
    logs: Vec<Arc<Mutex<Log>>>,
}

impl Simulated {
    pub fn new(clients: usize, delays_ms: &[u64]) -> Self {
        let mut net = Net::new(&Seeds::new(1, 0));
        let mut hosts = vec![net.add_host(server_config())];
        let mut paths = vec![Vec::new()];
        for _ in 0..clients {
            let client = net.add_host(client_config());
            paths.push(delays_ms.iter().map(|d| net.add_path(client, hosts[SERVER], network(*d))).collect());
            hosts.push(client);
        }
        let mut logs = Vec::new();
        for host in &hosts {
            let recorder = Recorder::default();
            logs.push(Arc::clone(&recorder.log));
            net.add_app(*host, recorder);
        }
        Simulated { net, hosts, paths, logs }
    }

    fn both(&mut self, client: usize, n: usize, mut f: impl FnMut(&mut Net, NetPath, Direction)) {
        for direction in [Direction::Forward, Direction::Reverse] {
            f(&mut self.net, self.paths[client][n], direction);
        }
    }
}

impl Testbed for Simulated {
    fn connect(&mut self, client: usize, paths: usize) {
        let tuple = |p: &NetPath| (self.net.tuple(*p, Direction::Forward), None);
        let paths = self.paths[client].iter().take(paths).map(tuple).collect();
        let connect = Connect { paths, port: 5000, scheme: scheme(), transport: None };
        self.with(client, |now, e| e.connect(now, connect)).expect("a fresh endpoint");
    }

    fn add_path(&mut self, client: usize, n: usize) {
        let tuple = self.net.tuple(self.paths[client][n], Direction::Forward);
        self.with(client, move |now, e| e.add_path(now, FIRST, tuple, None)).expect("connected");
    }

    fn remove_path(&mut self, client: usize, path: PathId) {
        self.with(client, move |now, e| e.with(FIRST, |a| a.remove_path(now, path))).expect("a path");
    }

    fn rebind(&mut self, client: usize, n: usize) {
        self.net.rebind(self.paths[client][n]);
    }

    fn black_hole(&mut self, client: usize, n: usize, on: bool) {
        self.both(client, n, |net, path, direction| net.set_black_hole(path, direction, on));
    }

    fn with<T: Send + 'static>(
        &mut self,
        host: usize,
        f: impl FnOnce(Instant, &mut Endpoint) -> T + Send + 'static,
    ) -> T {
        self.net.with_endpoint(self.hosts[host], f)
    }

    fn logs(&self) -> Vec<Log> {
        self.logs.iter().map(|log| log.lock().expect("no panic under the lock").clone()).collect()
    }

    fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&[Log]) -> bool) -> bool {
        let end = self.net.now() + limit;
        while !done(&self.logs()) {
            if !self.net.step(end) {
                return false;
            }
        }
        true
    }
}
