//! Runs a test case and checks it.

use std::net::SocketAddr;
use std::sync::Arc;

use strandcast_proto::association::{CloseReason, Event, SendError, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{PathId, PathState, Scheme};
use strandcast_proto::time::{Duration, Instant};

use super::book::{Book, Sent};
use super::case::{Case, Kind, Op};
use crate::endpoints::{CLIENT, SERVER, TestPair, Wire, ms};

/// Function that creates a scheme.
pub type Make = Arc<dyn Fn() -> Box<dyn Scheme> + Send + Sync>;

/// Function that sets the transport's parameters that a scheme needs.
pub type Tune = Arc<dyn Fn(&mut TransportConfig) + Send + Sync>;

/// Number of steps without progress of time after which a timer counts as stuck.
const STUCK: u32 = 5000;

/// Runs `case` with schemes from the function `make` on both sides. Panics if a check fails.
pub fn run(case: &Case, make: &Make, tune: &Tune) {
    let mut play = Play::new(case, make.clone(), tune);
    play.open(make);
    for op in &case.ops {
        play.op(op);
    }
    if case.close_early {
        play.close(case.closer);
        play.run(ms(500));
    }
    play.heal();
    play.deliver_all();
    if !play.closing {
        play.close(case.closer);
    }
    play.end();
}

struct Play<'a> {
    case: &'a Case,
    w: TestPair,
    /// Records of messages, by receiver.
    books: [Book; 2],
    dead: Vec<bool>,
    /// Number of new addresses that were assigned.
    moves: u16,
    closing: bool,
}

fn transport(kind: Kind) -> TransportConfig {
    let plain = TransportConfig {
        // The association must survive until the network works again.
        association_max_retrans: 100_000,
        max_init_retrans: 100_000,
        ..TransportConfig::default()
    };
    match kind {
        Kind::Plain | Kind::Early => plain,
        Kind::Strict => TransportConfig { strict_rfc: true, ..plain },
        Kind::PotentiallyFailed => TransportConfig {
            pf_max_retrans: Some(0),
            failed_probe_interval: Some(Duration::from_secs(2)),
            rto_min: ms(200),
            ..plain
        },
        Kind::SmallBuffers => TransportConfig { receive_buffer: 3 * 1400, send_buffer: 6000, ..plain },
    }
}

impl<'a> Play<'a> {
    fn new(case: &'a Case, make: Make, tune: &Tune) -> Self {
        let mut transport = transport(case.kind);
        tune(&mut transport);
        let transports = [transport.clone(), transport];
        let w = TestPair::with(&case.delays[..case.first], transports, Arc::new(move |_| make()), case.seed);
        let dead = vec![false; case.delays.len()];
        Play { case, w, books: Default::default(), dead, moves: 0, closing: false }
    }

    fn open(&mut self, make: &Make) {
        self.w.connect_with(make());
        if self.case.kind != Kind::Early {
            self.run(ms(3000));
            assert!(self.w.apps[SERVER].id.is_some(), "connected on a good network");
        }
        for n in self.case.first..self.case.delays.len() {
            self.w.wires.push(Wire::new(n, self.case.delays[n]));
        }
    }

    fn run(&mut self, time: Duration) {
        let end = self.w.now + time;
        let (mut at, mut steps) = (Instant::ZERO, 0);
        while self.w.step(end) {
            steps = if self.w.now == at { steps + 1 } else { 0 };
            at = self.w.now;
            assert!(steps < STUCK, "time stands still at {at:?}: {:?}", self.w.reasons());
            self.look();
        }
        self.w.now = end;
        self.w.pump();
        self.look();
    }

    /// Checks the conditions that must hold after every step.
    fn look(&mut self) {
        for side in 0..2 {
            for m in self.w.apps[side].messages.drain(..) {
                self.books[side].arrived(&m);
            }
            let events = self.w.apps[side].events.len();
            assert!(events < 10_000, "{events} events: {:?}", &self.w.apps[side].events[events - 20..]);
            let Some(id) = self.w.apps[side].id else { continue };
            if let Some(a) = self.w.ends[side].association(id) {
                a.assert_consistent();
            }
            let timer = self.w.ends[side].poll_timeout();
            assert!(timer.is_none_or(|t| t >= self.w.now), "{side}: a timer at {timer:?} did not fire");
        }
    }

    fn op(&mut self, op: &Op) {
        let n = self.w.wires.len();
        match *op {
            Op::Run(time) => self.run(ms(time)),
            Op::Send { side, size, count, stream, unordered, lifetime_ms } => {
                let lifetime = lifetime_ms.map(ms);
                let options = SendOptions { stream, unordered, lifetime, ..SendOptions::default() };
                for _ in 0..count {
                    self.send(side, size, options);
                }
            }
            Op::Quality { wire, loss, duplicate, corrupt, jitter_ms, delay_ms } => {
                let w = &mut self.w.wires[wire % n];
                (w.loss, w.duplicate, w.corrupt) = (loss, duplicate, corrupt);
                (w.jitter, w.delay) = (ms(jitter_ms), ms(delay_ms));
            }
            Op::Direction { wire, from, up } => self.w.wires[wire % n].up[from] = up && !self.dead[wire % n],
            Op::Both { wire, up } => self.w.wires[wire % n].up = [up && !self.dead[wire % n]; 2],
            Op::Die { wire } => self.die(wire % n),
            Op::Remove { wire } => self.remove(wire % n),
            Op::Add { wire } => self.add(wire % n),
            Op::Suspend { wire, side, aside } => self.suspend(wire % n, side, aside),
            Op::Rebind { wire } => self.w.wires[wire % n].outside = self.fresh([198, 51, 100, 200]),
            Op::Move { wire } => self.relocate(wire % n),
            Op::Lazy { side, lazy } => {
                self.w.apps[side].lazy = lazy;
                if !lazy {
                    self.w.read(side);
                    self.w.pump();
                }
            }
        }
        self.look();
    }

    fn send(&mut self, side: usize, len: usize, options: SendOptions) {
        let Some(id) = self.w.apps[side].id else { return };
        let book = &mut self.books[1 - side];
        let number = book.sent.len();
        let payload = Book::payload(number, len).into();
        let options = SendOptions { ppid: number as u32, ..options };
        match self.w.ends[side].send(self.w.now, id, payload, options) {
            Ok(_) => book.sent.push(Sent {
                stream: options.stream,
                unordered: options.unordered,
                reliable: options.lifetime.is_none(),
                len,
            }),
            Err(SendError::Full) => {}
            Err(SendError::Closed) => panic!("{side} is closed: {:?}", self.w.apps[side].events),
            Err(e) => panic!("{e}"),
        }
        self.w.pump();
    }

    fn fresh(&mut self, net: [u8; 4]) -> SocketAddr {
        self.moves += 1;
        SocketAddr::from((net, 20_000 + self.moves))
    }

    /// Returns the client's open path over a wire.
    fn path(&self, wire: usize) -> Option<PathId> {
        let id = self.w.apps[CLIENT].id?;
        let a = self.w.ends[CLIENT].association(id)?;
        let over = |v: &&strandcast_proto::policy::PathView| {
            let tuple = a.tuple(v.id).expect("a view's slot");
            v.state != PathState::Closed && tuple.local == self.w.wires[wire].inside
        };
        a.paths().iter().find(over).map(|v| v.id)
    }

    /// Returns whether another wire works or may work again, and has a path that both sides use.
    fn dispensable(&self, wire: usize) -> bool {
        let served = |n: usize| {
            let Some(id) = self.w.apps[SERVER].id else { return false };
            let Some(a) = self.w.ends[SERVER].association(id) else { return false };
            let here = |p: PathId| a.tuple(p).is_some_and(|t| t.remote == self.w.wires[n].outside);
            a.paths().iter().any(|v| v.state == PathState::Active && here(v.id))
        };
        let active = |p: PathId| self.w.association(CLIENT).paths()[p.index()].state == PathState::Active;
        let good = |n: &usize| !self.dead[*n] && self.path(*n).is_some_and(active) && served(*n);
        (0..self.w.wires.len()).filter(|n| *n != wire).any(|n| good(&n))
    }

    fn die(&mut self, wire: usize) {
        if self.dispensable(wire) {
            self.dead[wire] = true;
            self.w.wires[wire].up = [false; 2];
        }
    }

    fn remove(&mut self, wire: usize) {
        if let Some(path) = self.path(wire).filter(|_| self.dispensable(wire)) {
            let (id, now) = (self.w.apps[CLIENT].id.expect("it has a path"), self.w.now);
            let removed = self.w.ends[CLIENT].with(id, |a| a.remove_path(now, path));
            assert_eq!(removed, Ok(()));
            self.w.pump();
        }
    }

    fn add(&mut self, wire: usize) {
        let Some(id) = self.w.apps[CLIENT].id else { return };
        if self.path(wire).is_none() {
            let tuple = self.w.wires[wire].client_tuple(wire);
            // Refused while the handshake lasts and once the close began.
            let _ = self.w.ends[CLIENT].add_path(self.w.now, id, tuple, None);
            self.w.pump();
        }
    }

    fn suspend(&mut self, wire: usize, side: usize, aside: bool) {
        let Some(id) = self.w.apps[side].id else { return };
        let path = if side == CLIENT {
            self.path(wire)
        } else {
            let outside = self.w.wires[wire].outside;
            let Some(a) = self.w.ends[SERVER].association(id) else { return };
            let here = |p: PathId| a.tuple(p).is_some_and(|t| t.remote == outside);
            a.paths().iter().filter(|v| v.state != PathState::Closed).map(|v| v.id).find(|p| here(*p))
        };
        let now = self.w.now;
        if let Some(path) = path {
            let _ = self.w.ends[side].with(id, |a| a.suspend_path(now, path, aside));
            self.w.pump();
        }
    }

    fn relocate(&mut self, wire: usize) {
        let Some(path) = self.path(wire) else { return };
        let (id, now) = (self.w.apps[CLIENT].id.expect("it has a path"), self.w.now);
        let old = self.w.wires[wire].inside;
        self.w.wires[wire].inside = self.fresh([10, 0, 0, 77]);
        let tuple = self.w.wires[wire].client_tuple(wire);
        if self.w.ends[CLIENT].with(id, |a| a.move_path(now, path, tuple)).is_err() {
            self.w.wires[wire].inside = old;
        }
        self.w.pump();
    }

    fn close(&mut self, side: usize) {
        let side = if self.w.apps[side].id.is_some() { side } else { CLIENT };
        if let Some(id) = self.w.apps[side].id {
            self.w.ends[side].shutdown(self.w.now, id);
            self.w.pump();
            self.closing = true;
        }
    }

    /// Repairs everything except wires that stopped for ever.
    fn heal(&mut self) {
        for side in 0..2 {
            self.w.apps[side].lazy = false;
            self.w.read(side);
        }
        for n in 0..self.w.wires.len() {
            let w = &mut self.w.wires[n];
            (w.loss, w.duplicate, w.corrupt) = (0.0, 0.0, 0.0);
            w.up = [!self.dead[n]; 2];
        }
        self.w.pump();
        self.run(ms(50));
        for side in 0..2 {
            self.resume_all(side);
        }
        self.add_missing();
        self.look();
    }

    /// Opens paths again that were given up. A driver does the same.
    fn add_missing(&mut self) {
        for n in 0..self.w.wires.len() {
            self.add(n);
        }
    }

    fn resume_all(&mut self, side: usize) {
        let Some(id) = self.w.apps[side].id else { return };
        let now = self.w.now;
        for n in 0..self.w.association(side).paths().len() {
            let _ = self.w.ends[side].with(id, |a| a.suspend_path(now, PathId(n as u8), false));
        }
        self.w.pump();
    }

    fn delivered(&self) -> bool {
        self.books.iter().all(|b| b.missing().is_empty())
    }

    fn deliver_all(&mut self) {
        let end = self.w.now + Duration::from_secs(1200);
        while !self.delivered() && self.w.now < end {
            self.run(ms(1000));
            self.add_missing();
        }
        let missing: Vec<_> = self.books.iter().map(|b| b.missing()).collect();
        assert!(self.delivered(), "missing at {:?}: {missing:?}\n{}", self.w.now, self.state());
    }

    fn end(&mut self) {
        let closed = |w: &TestPair, s: usize| {
            let is_end = |e: &&Event| matches!(e, Event::Closed(_));
            w.apps[s].events.iter().find(is_end).cloned()
        };
        let end = self.w.now + Duration::from_secs(600);
        while self.w.now < end && (0..2).any(|s| self.w.apps[s].id.is_some() && closed(&self.w, s).is_none())
        {
            self.run(ms(1000));
        }
        for s in (0..2).filter(|s| self.w.apps[*s].id.is_some()) {
            let reason = closed(&self.w, s);
            let wanted = Some(Event::Closed(CloseReason::Shutdown));
            assert_eq!(reason, wanted, "side {s}\n{}", self.state());
        }
    }

    /// Returns a description of the state, for the message of a failure.
    fn state(&self) -> String {
        let mut out = format!("{:?}\n", self.w.reasons());
        for side in 0..2 {
            let Some(a) = self.w.apps[side].id.and_then(|id| self.w.ends[side].association(id)) else {
                continue;
            };
            for v in a.paths() {
                out += &format!(
                    "{side} {:?} {:?} {:?} errors {} in flight {} rto {:?}\n",
                    v.id,
                    a.tuple(v.id).map(|t| (t.local, t.remote)),
                    v.state,
                    v.error_count,
                    v.in_flight,
                    v.rto,
                );
            }
            let events = &self.w.apps[side].events;
            out += &format!("{:?}\nlast events {:?}\n", a.stats(), &events[events.len().saturating_sub(8)..]);
        }
        for (n, w) in self.w.wires.iter().enumerate() {
            out += &format!("wire {n}: {} {} up {:?}\n", w.inside, w.outside, w.up);
        }
        out
    }
}
