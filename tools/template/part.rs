// A template for a new part. It belongs to no crate: copy a section into the file that its first line names, replace
// `Example` and `example` by your names, and delete what you do not need. Then work through the checklist in
// CONTRIBUTING.md.
//
// The lines from one `// ----` to the next are one file, or what a file gets. A scheduler's file, for example:
//
//     sed -n '\|^// ---- schedule/example.rs|,\|^// ---- schedule/mod.rs|p' tools/template/part.rs | grep -v '^// ---' |
//         sed 's/Example/LeastUsed/g; s/example/least_used/g' > crates/schemes/src/schedule/least_used.rs
//
// Only the word in specs is written with a hyphen: `LeastUsed = "least-used", least_used: schedule::LeastUsedConfig;`.
//
// Paths are below crates/schemes/src. The shortest real parts: congestion/lia.rs, schedule/lowest_rtt.rs,
// preset/lia.rs.

// ==== 1. A congestion control =====================================================================================
// ---- congestion/example.rs --------------------------------------------------------------------------------------

//! One sentence about its behaviour: windows that grow by a weight, so that all of them together grow as one TCP.
//!
//! A. Author, B. Author, "Title", journal or RFC, year.
//!
//! | paper | here |
//! |---|---|
//! | eq. 1, a = g/n², n: number of paths | [`Example::weight`] |
//! | eq. 2, an ACK: w_r += a/w_r | [`Example::increase`], in bytes: times acked·SMSS |
//! | a loss leaves one half | the default of [`Avoidance::decrease`] |
//! | slow start, recovery, timeout | the shell, [`TcpWindows`](super::TcpWindows) |
//!
//! Constants: g = 1 (section 4 of the paper).
//!
//! With one path a is 1: Reno's window. `ASSUMED`, with the key that changes it where there is one:
//! - paths that do not count ([`Coupled`]) are not in n and grow as Reno's;
//! - g is the same on all paths (`gain`).

use strandcast_keys::keys;
use strandcast_proto::policy::{PathId, View};
use strandcast_proto::rfc::{Avoidance, Progress};

use super::coupled::Coupled;
use super::window::AvoidancePart;

keys! {
    /// The increase of the paper, and its keys.
    #[derive(Copy)]
    pub struct Example {
        /// all windows together, as a multiple of one TCP (g of eq. 1)
        gain: f64 [0.01, 10.0] = 1.0,
    }
}

// A window of its own kind, without an `Avoidance`, implements `WindowPart`; it says why TCP flows can't have it if
// they can't.
impl AvoidancePart for Example {
    const PAPER: &'static str = "Author et al., year";
    const SUMMARY: &'static str = "increases weighted by the number of paths, together those of one TCP";

    fn avoidance(&self) -> impl Avoidance + 'static {
        *self
    }

    // Other defaults of what all windows of TCP and MPTCP flows have:
    //
    //     fn flow(&self, flow: &mut FlowConfig) { flow.counting = Counting::Bytes; }
}

impl Example {
    /// The share of Reno's increase that `path` takes; `None` if the path does not count.
    fn weight(&self, view: &View<'_>, path: PathId) -> Option<f64> {
        Coupled::of(view, path)?;
        let paths = Coupled::all(view).count() as f64;
        Some(self.gain / (paths * paths))
    }
}

impl Avoidance for Example {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        self.weight(now.view, now.path).unwrap_or(1.0) * now.reno()
    }

    // A loss that does not leave one half:
    //
    //     fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 { ... the share of the window that is left ... }
    //
    // State that follows signals, which arrive before `increase` and `decrease`; drop it when a path closes:
    //
    //     fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) { ... }
    //
    // A state per path that reads no other path: wrap it, `rfc::PerPath::new(Example::default())`.
}

// ---- congestion/mod.rs: two lines, in alphabetical order ---------------------------------------------------------

mod example;

pub use example::Example;

// ---- congestion/table.rs: one line, at the end of Congestions ---------------------------------------------------

        Example = "example", example: super::example::Example;

// ---- congestion/tests/mod.rs: one line ---------------------------------------------------------------------------

mod example;

// ---- congestion/tests/example.rs ---------------------------------------------------------------------------------

//! Numbers by hand from eqs 1 and 2 of the paper, with segments of 1000 bytes.

use strandcast_proto::policy::LossTrigger::FastRetransmit;
use strandcast_proto::policy::PathState;

use super::play::{Play, near};

/// Windows of 100 segments on `paths` paths, in congestion avoidance.
fn windows(paths: u8) -> Play {
    Play::new("example,cut=window", paths, 100, Some(1))
}

/// Eq. 2: an ACK of a segment adds a/100 segments, a = 1, 1/4, 1/9; ten of them, since windows are whole bytes.
#[test]
fn an_ack_adds_a_share_by_the_number_of_paths() {
    for (paths, weight) in [(1, 1.0), (2, 1.0 / 4.0), (3, 1.0 / 9.0)] {
        let mut play = windows(paths);
        (0..10).for_each(|_| play.ack(1));
        near(play.cwnd(), 100.0 + 10.0 * weight / 100.0, 1.5e-3);
    }
}

/// Paths that are not active, or have no round-trip time, do not count.
#[test]
fn alone_it_is_reno() {
    for change in [
        |play: &mut Play| play.picture.paths[1].state = PathState::Inactive,
        |play: &mut Play| {
            play.picture.paths[1].srtt = None;
        },
    ] {
        let mut play = windows(2);
        change(&mut play);
        play.ack(1);
        near(play.cwnd(), 100.01, 1e-9);
    }
}

#[test]
fn a_loss_leaves_one_half() {
    let mut play = windows(2);
    play.lose(FastRetransmit, 100);
    near(play.ssthresh().expect("a threshold"), 50.0, 1e-9);
}

// ---- congestion/tests/table.rs: nothing, or one name --------------------------------------------------------------
// The tests of all windows take it from the table. If with one path it is not Reno's: `NOT_RENO = &["cubic",
// "example"]`.

// Then: cargo test -p strandcast-schemes --lib congestion::tests
//       tools/scheme example

// ==== 2. A scheduler ==============================================================================================
// ---- schedule/example.rs -----------------------------------------------------------------------------------------

//! One sentence about its behaviour: the path whose window is the least full.
//!
//! A. Author, B. Author, "Title", journal, year.
//!
//! | paper | here |
//! |---|---|
//! | eq. 1, fullness of a path | [`Example::fullness`] |
//! | Algorithm 1, the least | [`Example::next`] |
//!
//! `ASSUMED`: fullness is compared after the next chunk; ties go to the lower path.

use strandcast_keys::keys;
use strandcast_proto::policy::{Assignment, Backlog, PathView, Policy, Scheduler, View};

use crate::part::SchedulerPart;

keys! {
    /// The keys of [`Example`].
    pub struct ExampleConfig {
        /// packets of one decision
        run: u32 [1, 64, "packets"] = 1,
    }
}

impl SchedulerPart for ExampleConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Example { run: self.run })
    }

    // Where it needs them: `estimators` that it reads, `paths` that it uses, and `refuses`, one line about parts that
    // it does not go with.
}

/// The usable path with room whose window is the least full.
#[derive(Copy, Clone, Debug)]
pub struct Example {
    /// Packets of one decision.
    pub run: u32,
}

impl Example {
    /// Share of the window that is in use with `len` bytes more, in thousandths.
    fn fullness(path: &PathView, len: u64) -> u64 {
        (path.in_flight + len) * 1000 / path.limit.cwnd.max(1)
    }
}

// A scheduler that waits for a moment in time says so in `poll_timeout` and is woken by `Signal::Tick`.
impl Policy for Example {}

impl Scheduler for Example {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        // Unmeasured values are `None`. `None` from here holds everything until the next signal.
        let with_room = view.usable_paths().filter(|p| p.has_room());
        let path = with_room.min_by_key(|p| (Example::fullness(p, backlog.next_len), p.id))?;
        Some(Assignment::on(path.id, self.run))
    }
}

// ---- schedule/mod.rs: two lines ----------------------------------------------------------------------------------

mod example;

pub use example::{Example, ExampleConfig};

// ---- shelf.rs: one line, at the end of Schedulers ----------------------------------------------------------------

        Example = "example", example: schedule::ExampleConfig;

// ---- schedule/tests.rs -------------------------------------------------------------------------------------------

/// Windows of 4, 2 and 3 packets: shares after the next packet, by hand.
#[test]
fn example_keeps_windows_equally_full() {
    let order: Vec<u8> = fill(&mut Example { run: 1 }, &mut picture()).concat();
    assert_eq!(order, [0, 2, 0, 1, 2, 0, 0, 1, 2]);
}

// Then: cargo test -p strandcast-schemes --lib schedule::tests
//       tools/scheme example

// ==== 3. A preset of known parts ==================================================================================
// ---- preset/example.rs -------------------------------------------------------------------------------------------

//! `example`: what it is for, in one sentence.
//!
//! A. Author, B. Author, "Title", journal, year.
//!
//! | paper | here |
//! |---|---|
//! | section 3, windows | `congestion::Example` |
//! | section 4, order of paths | `schedule::Example` |
//!
//! Constants: those of the parts.
//!
//! `ASSUMED`: loss detection and acknowledgement are those of `cmt`.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Name and content of the paper.
pub const PRESET: Preset = Preset {
    name: "example",
    paper: "Author et al. YEAR: Title, journal",
    summary: "one line for people: what it does and what for",
    parts: &[
        ("scheduler", "least full window first"),
        ("congestion control", "increases weighted by the number of paths"),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || {
        Combination::default().with(|parts| {
            (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::Example, Cc::Example);
        })
    },
};

// ---- preset/mod.rs: one line -------------------------------------------------------------------------------------

pub mod example;

// ---- registry.rs: one line in presets(); its place is that in all lists ------------------------------------------

        preset::example::PRESET,

// The contract test drives it from here on (`preset/tests.rs` runs all presets). The golden test prints its lines:
//       cargo test -p strandcast-lab --test it golden
//       tools/scheme example
