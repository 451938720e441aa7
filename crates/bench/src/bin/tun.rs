//! A scenario's link in real time between two TUN devices: `tun FILE LINK SEED CONTROL [KEY=VALUE...]`.
//!
//! Standard input is the TUN device at the link's `from`, and standard output is the device at its `to`. Both must be
//! opened with `IFF_TUN | IFF_NO_PI`, as `bench/links` does. IP packets cross the simulator's own link in both
//! directions. Queue, rate, losses and delay are those of `strandcast simulate FILE` with this seed, drawn from the
//! same random streams. KEY=VALUE changes the file as `--set` does. Packets other than IPv4 are dropped.
//!
//! CONTROL is a file or pipe with one command per line: `hole on`, `hole off`, `down on`, `down off`. Each is followed
//! by `forward`, `reverse` or `both`. When CONTROL ends, the counters of both directions are printed to standard error
//! as one line of JSON. The line has packets and bytes by outcome, `largest` (bytes of the largest packet read), `late`
//! (packets delivered more than 1, 5 and 20 ms after they were due), and `worst_ms`. A run in which the emulator was
//! late should be discarded.
//!
//! Each direction has two threads: one reads, and one waits. The system's timers expire about 50 µs late.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant as Wall};

use bytes::Bytes;
use serde_json::{Value, json};
use strandcast_lab::scenario;
use strandcast_lab::simulation::link_config;
use strandcast_netem::link::{Count, Link};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

/// Size in bytes of the largest packet that an interface can deliver.
const MAX_PACKET: usize = 65_535;
/// Delays in ms above which a packet counts as late.
const LATE_MS: [u64; 3] = [1, 5, 20];

/// One direction of the link.
struct LinkDirection {
    state: Mutex<State>,
    /// Condition variable that signals a packet or the end of an outage.
    changed: Condvar,
    begun: Wall,
}

struct State {
    link: Link<Bytes>,
    /// For each delay in [`LATE_MS`], the number of packets that were delivered later than this delay.
    late: [u64; 3],
    worst: Duration,
    /// Size in bytes of the largest packet read. If this size exceeds the MTU, the kernel did not split segments.
    largest: usize,
    /// Number of packets other than IPv4.
    strange: u64,
    /// Number of packets that the interface did not accept.
    unsent: u64,
}

impl LinkDirection {
    fn new(link: Link<Bytes>, begun: Wall) -> Arc<LinkDirection> {
        let state = State { link, late: [0; 3], worst: Duration::ZERO, largest: 0, strange: 0, unsent: 0 };
        Arc::new(LinkDirection { state: Mutex::new(state), changed: Condvar::new(), begun })
    }

    /// Locks the state. Counters and links are consistent after every step.
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Instant {
        Instant::ZERO + self.begun.elapsed()
    }

    /// Reads packets from the device into the link, in an endless loop.
    fn take(&self, mut from: File) -> io::Result<()> {
        let mut buffer = vec![0; MAX_PACKET];
        loop {
            let len = from.read(&mut buffer)?;
            let packet = &buffer[..len];
            let mut state = self.locked();
            state.largest = state.largest.max(len);
            if packet.first().is_none_or(|first| first >> 4 != 4) {
                state.strange += 1;
                continue;
            }
            // The counters record the outcome.
            let _ = state.link.enqueue(self.now(), Bytes::copy_from_slice(packet), len);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Delivers packets to the device when they are due, in an endless loop.
    fn give(&self, mut to: File) {
        let mut state = self.locked();
        loop {
            let Some(due) = state.link.poll_timeout() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let now = self.now();
            if due > now {
                let waited = self.changed.wait_timeout(state, due - now);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let late = now - due;
            state.worst = state.worst.max(late);
            for (count, ms) in state.late.iter_mut().zip(LATE_MS) {
                *count += u64::from(late > Duration::from_millis(ms));
            }
            if let Some(packet) = state.link.poll(due) {
                let sent = to.write(&packet).is_ok_and(|len| len == packet.len());
                state.unsent += u64::from(!sent);
            }
        }
    }

    fn set(&self, what: &str, on: bool) -> bool {
        let mut state = self.locked();
        match what {
            "hole" => state.link.set_black_hole(on),
            "down" => {
                let now = self.now();
                drop(state.link.set_down(now, on));
            }
            _ => return false,
        }
        true
    }

    fn counters(&self) -> Value {
        let state = self.locked();
        let s = state.link.stats_at(self.now());
        let both = |c: Count| json!({ "packets": c.packets, "bytes": c.bytes });
        json!({
            "offered": both(s.offered), "delivered": both(s.delivered), "dropped_queue": both(s.dropped_queue),
            "dropped_loss": both(s.dropped_loss), "dropped_black_hole": both(s.dropped_black_hole),
            "dropped_down": both(s.dropped_down), "max_queue": s.max_queue, "largest": state.largest,
            "strange": state.strange, "unsent": state.unsent, "late": state.late, "worst_ms": state.worst.as_secs_f64() * 1e3,
        })
    }
}

/// Opens both directions of the link, and the devices at its ends.
fn open(words: &[String]) -> Result<[Arc<LinkDirection>; 2], Box<dyn Error>> {
    let [file, name, seed, _, sets @ ..] = words else {
        return Err("usage: tun FILE LINK SEED CONTROL [KEY=VALUE...]".into());
    };
    let scenario = scenario::load(Path::new(file), sets)?;
    let link = scenario.links.get(name).ok_or_else(|| format!("{file}: no link {name}"))?;
    let (seeds, begun) = (Seeds::new(seed.parse()?, 0), Wall::now());
    let mut directions = Vec::new();
    for (direction, label) in [(&link.forward, "forward"), (&link.reverse, "reverse")] {
        let config = link_config(direction, Instant::ZERO, &seeds, &format!("links.{name}"))?;
        directions
            .push(LinkDirection::new(Link::new(config, &seeds, &format!("link {name} {label}")), begun));
    }
    let directions: [Arc<LinkDirection>; 2] =
        directions.try_into().map_err(|_| "a link has two directions")?;
    let near = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let far = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    for (direction, from, to) in [
        (&directions[0], near.try_clone()?, far.try_clone()?),
        (&directions[1], far.try_clone()?, near.try_clone()?),
    ] {
        let (reads, gives) = (Arc::clone(direction), Arc::clone(direction));
        // If a device disappears, its direction ends. The counters show this.
        thread::spawn(move || drop(reads.take(from)));
        thread::spawn(move || gives.give(to));
    }
    Ok(directions)
}

/// Applies one line of commands.
fn apply_command(directions: &[Arc<LinkDirection>; 2], line: &str) -> Result<(), String> {
    let mut words = line.split_whitespace();
    let (Some(what), Some(state), Some(which)) = (words.next(), words.next(), words.next()) else {
        return Err(format!(
            "control: '{line}' is not a command; commands are `hole|down on|off forward|reverse|both`"
        ));
    };
    let on = state == "on";
    let concerned = match which {
        "forward" => &directions[..1],
        "reverse" => &directions[1..],
        _ => &directions[..],
    };
    match concerned.iter().all(|direction| direction.set(what, on)) {
        true => Ok(()),
        false => Err(format!("control: '{what}' is not known; use hole or down")),
    }
}

fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    let directions = open(words)?;
    for line in BufReader::new(File::open(&words[3])?).lines() {
        apply_command(&directions, &line?)?;
    }
    eprintln!("{}", json!({ "forward": directions[0].counters(), "reverse": directions[1].counters() }));
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tun: {error}");
            ExitCode::FAILURE
        }
    }
}
