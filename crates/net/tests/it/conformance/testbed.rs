//! Operations of a script on either test bed.

use std::sync::Arc;
use std::time::Duration;

use strandcast_netem::link::{LinkConfig, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::association::{Event, PathChange, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig};
use strandcast_proto::policy::{PathId, PathState, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::parse_spec;

use super::log::{Line, Log};

/// Hosts: the server, then the clients.
pub const SERVER: usize = 0;
pub const CLIENT: usize = 1;
pub const OTHER: usize = 2;
/// The first association of any host.
pub const FIRST: AssociationId = AssociationId(0);
/// Time limit of any step, even on a busy machine.
pub const LONG: Duration = Duration::from_secs(20);

pub trait Testbed {
    /// Starts connecting a client over its first `paths` paths.
    fn connect(&mut self, client: usize, paths: usize);
    /// Opens path `n` of a connected client.
    fn add_path(&mut self, client: usize, n: usize);
    fn remove_path(&mut self, client: usize, path: PathId);
    /// Makes the NAT on path `n` of a client lose its mapping.
    fn rebind(&mut self, client: usize, n: usize);
    /// Makes path `n` of a client drop everything in both directions, while `on`.
    fn black_hole(&mut self, client: usize, n: usize, on: bool);
    fn with<T: Send + 'static>(
        &mut self,
        host: usize,
        f: impl FnOnce(Instant, &mut Endpoint) -> T + Send + 'static,
    ) -> T;
    fn logs(&self) -> Vec<Log>;
    /// Advances time until `done`. Returns whether that was reached.
    fn run_until(&mut self, limit: Duration, done: impl FnMut(&[Log]) -> bool) -> bool;

    fn send(&mut self, host: usize, text: &str, size: usize, options: SendOptions) {
        let payload: Vec<u8> =
            text.bytes().chain(std::iter::repeat(b'.')).take(size.max(text.len())).collect();
        self.with(host, move |now, e| e.send(now, FIRST, payload.into(), options)).expect("room to send");
    }

    /// Waits until `host` has seen `event` `times` times.
    fn see_times(&mut self, host: usize, event: &Event, times: usize) {
        let is = |line: &Line| matches!(line, Line::Event(e) if e == event);
        let seen = self.run_until(LONG, |logs| logs[host].iter().filter(|(_, l)| is(l)).count() >= times);
        assert!(seen, "host {host} never saw {event:?}: {:#?}", self.logs()[host]);
    }

    fn see(&mut self, host: usize, event: Event) {
        self.see_times(host, &event, 1);
    }

    /// Waits until both sides have seen the first `paths` paths become usable.
    fn up(&mut self, paths: usize) {
        for path in (0..paths).map(|n| PathId(n as u8)) {
            self.see(CLIENT, Event::Path(path, PathChange::State(PathState::Active)));
            self.see(SERVER, Event::Path(path, PathChange::State(PathState::Active)));
        }
    }

    /// Waits until `host` has received `number` messages.
    fn receive(&mut self, host: usize, number: usize) {
        let count = |log: &Log| log.iter().filter(|(_, l)| matches!(l, Line::Message(_))).count();
        let all = self.run_until(LONG, |logs| count(&logs[host]) >= number);
        assert!(all, "host {host} did not get {number} messages: {:#?}", self.logs()[host]);
    }
}

/// Both directions of each path.
pub fn network(delay_ms: u64) -> PathNetwork {
    let delay = Number::from(Duration::from_millis(delay_ms));
    let link = LinkConfig { rate: Rate::Constant(50_000_000), delay, ..LinkConfig::default() };
    PathNetwork { name: format!("{delay_ms} ms"), forward: link.clone(), reverse: link }
}

/// Fast detection, but slow enough for a busy machine.
fn transport() -> TransportConfig {
    TransportConfig {
        rto_initial: Duration::from_millis(600),
        rto_min: Duration::from_millis(600),
        rto_max: Duration::from_millis(1200),
        max_init_retrans: 1,
        pf_max_retrans: Some(0),
        path_max_retrans: 20,
        association_max_retrans: 40,
        failed_probe_interval: Some(Duration::from_millis(600)),
        ..TransportConfig::default()
    }
}

pub fn scheme() -> Box<dyn Scheme> {
    parse_spec("cmt").expect("a preset").build(&Seeds::new(1, 0))
}

pub fn client_config() -> EndpointConfig {
    EndpointConfig { transport: Arc::new(transport()), ..EndpointConfig::default() }
}

pub fn server_config() -> EndpointConfig {
    EndpointConfig { accept: Some(Arc::new(|_| scheme())), max_associations: 1, ..client_config() }
}
