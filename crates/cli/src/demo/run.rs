//! The run of the demo.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use strandcast::files::{Opened, open_output};
use strandcast::live::parts::{Player, Pump, Sides, Subject, Watch, sum};
use strandcast::live::report::trial::{CodingSample, PathSample, Recording, Sample, Summary, Verdicts};
use strandcast::live::{CodingNow, MediaNow, Role, StreamEvent, WireNow};
use strandcast_keys::catalog::SharedCatalog;
use strandcast_media::MediaTime;
use strandcast_media::ingest::Ingest;
use strandcast_media::pace::PaceConfig;
use strandcast_media::pack::{HEADER_LEN, Message, PackConfig};
use strandcast_media::playout;
use strandcast_net::driver;
use strandcast_proto::association::{Event, PathChange};
use strandcast_proto::policy::PathState;
use strandcast_proto::rx;
use tokio::time::Instant;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::setup::DemoSetup;
use super::verdict::{Observations, summarize};
use crate::args::DemoArgs;
use crate::error::CliError;
use crate::error::why;
use crate::print;
use crate::show::{Metrics, Monitor, Stats};
use crate::signals::{self, Stop, stopped};

/// The clip. The clip is a static and not a constant, because a constant would be in the program once per unit of
/// compilation that reads it.
static CLIP: &[u8] = include_bytes!("../../../../media/clip.ts");
/// Duration of the black hole on the best link.
const BLACK_HOLE: Duration = Duration::from_secs(5);
/// The clip's length.
const LENGTH: Duration = Duration::from_secs(24);
/// Time limit of playout beyond the clip and the latency.
const RESULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval at which the demo checks the stream.
const TICK: Duration = Duration::from_millis(250);

struct Demo {
    setup: DemoSetup,
    pump: Pump,
    player: Option<Player>,
    latency: Duration,
    output: File,
    /// Bytes that were played.
    played: Vec<u8>,
    ticks: Interval,
    watch: Watch,
    monitor: Monitor,
    stop: Stop,
    begun: Instant,
    /// Send time and bytes of each message.
    sent: Vec<(Instant, Bytes)>,
    /// Delivered bytes that differ from those sent.
    damaged: u64,
    /// Times at which the black hole begins and ends.
    hole: (Instant, Instant),
    in_hole: Option<bool>,
    over: bool,
    recording: Recording,
    /// Verdicts per path.
    verdicts: Vec<Verdicts>,
    arrived: Vec<rx::Message>,
}

/// The next event.
enum Step {
    Stop,
    SendTimer,
    PlayTimer,
    Hole,
    Arrived,
    Event(Option<Event>),
    Tick,
    GiveUp,
}

/// Runs the demo.
///
/// # Errors
/// Returns [`CliError::Unmet`] if the stream missed a target.
pub(crate) async fn run(args: DemoArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let folder = args.out.display();
    std::fs::create_dir_all(&args.out)
        .map_err(|e| CliError::Media(format!("cannot create {folder}: {}", why(&e))))?;
    let stop = signals::watch()?;
    let output = received(&args.out)?;
    let setup = DemoSetup::set(&args, &**catalog).await?;
    let latency = Duration::from_millis(u64::from(args.latency));
    let mut pump = Pump::new(
        Ingest::paced(
            MediaTime::ZERO,
            PaceConfig::default(),
            PackConfig { lifetime: Some(latency), ..PackConfig::new(1) },
        ),
        latency,
    );
    pump.observe_first(&setup.sender).await;
    pump.push(MediaTime::ZERO, CLIP)
        .and_then(|()| pump.push(MediaTime::ZERO, &[]))
        .expect("the clip is a stream");
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let begun = Instant::now();
    let opens = begun + (LENGTH - BLACK_HOLE) / 2;
    let names: Vec<String> = setup.networks.iter().map(|n| n.name.clone()).collect();
    let verdicts = vec![Verdicts::default(); names.len()];
    let mut recording = Recording::default();
    recording.names = names;
    let mut demo = Demo {
        setup,
        pump,
        player: None,
        latency,
        output,
        played: Vec::with_capacity(CLIP.len()),
        ticks,
        watch: Watch::new(Role::Both),
        monitor: Monitor::new(Role::Both, Stats::Off, Metrics::default()),
        stop,
        begun,
        sent: Vec::new(),
        damaged: 0,
        hole: (opens, opens + BLACK_HOLE),
        in_hole: None,
        over: false,
        recording,
        verdicts,
        arrived: Vec::new(),
    };
    let links = demo.recording.names.join(", ");
    demo.event(&format!(
        "sending a video of 1 Mbit/s over {links}, scheme {}, latency {latency:?}",
        args.scheme
    ));
    demo.play().await?;
    demo.finish(&args).await
}

impl Demo {
    fn at(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Shows an event on the terminal, and records the event for the report.
    fn event(&mut self, text: &str) {
        let at = self.at();
        self.monitor.line(&format!("{at:6.2} s  {text}"));
        self.recording.events.push((at, text.to_owned()));
    }

    async fn play(&mut self) -> Result<(), CliError> {
        while !self.over {
            match self.step().await {
                Step::Stop => return Err(CliError::Unmet("interrupted".into())),
                Step::SendTimer => self.send(),
                Step::PlayTimer => self.release(),
                Step::Hole => self.turn_hole(),
                Step::Arrived => self.take(),
                Step::Event(event) => self.path_event(event.as_ref()).await,
                Step::Tick => self.sample().await,
                Step::GiveUp => {
                    self.event("the end of the stream did not arrive");
                    self.over = true;
                }
            }
        }
        let written = self.output.set_len(0).and_then(|()| self.output.write_all(&self.played));
        written.map_err(|e| CliError::Media(format!("cannot write received.ts: {}", why(&e))))
    }

    async fn step(&mut self) -> Step {
        let send_at = self.pump.poll_timeout().map(|at| self.begun + (at - MediaTime::ZERO));
        let play_at = self.player.as_ref().and_then(Player::poll_timeout);
        let play_in = play_at.map(|at| at - self.setup.receiver.now());
        let hole = match self.in_hole {
            None => Some(self.hole.0),
            Some(true) => Some(self.hole.1),
            Some(false) => None,
        };
        let give_up = self.begun + LENGTH + self.latency + RESULT_TIMEOUT;
        let Demo { setup, ticks, stop, arrived, .. } = self;
        tokio::select! {
            () = stopped(stop) => Step::Stop,
            () = until(send_at) => Step::SendTimer,
            () = until(play_in.map(|t| Instant::now() + t)) => Step::PlayTimer,
            () = until(hole) => Step::Hole,
            n = setup.receiver.recv_many(arrived), if !setup.done => { setup.done = n == 0; Step::Arrived }
            event = setup.sender.event(), if !setup.silent => Step::Event(event),
            _ = ticks.tick() => Step::Tick,
            () = tokio::time::sleep_until(give_up) => Step::GiveUp,
        }
    }

    fn send(&mut self) {
        let (now, sent) = (Instant::now(), &mut self.sent);
        let media_now = MediaTime::ZERO + (now - self.begun);
        self.pump.pump(media_now, Some(&self.setup.sender), |_, wire| sent.push((now, wire.clone())));
        if self.pump.ended {
            self.setup.sender.shutdown();
        }
    }

    fn turn_hole(&mut self) {
        let open = self.in_hole.is_none();
        self.in_hole = Some(open);
        self.setup.set_black_hole(open);
        let name = &self.recording.names[self.setup.best];
        let text = if open {
            format!("{name} loses every packet from now on")
        } else {
            format!("{name} carries packets again")
        };
        self.event(&text);
    }

    fn take(&mut self) {
        let now = (Instant::now(), self.setup.receiver.now());
        for message in std::mem::take(&mut self.arrived) {
            let Ok(media) = Message::decode(message.payload.clone()) else { continue };
            let arrived = now.0 - (now.1 - message.arrived);
            if let Some((sent, _)) = self.sent.get(media.header.sequence as usize) {
                let delay = arrived.saturating_duration_since(*sent).as_secs_f64();
                self.recording.delays.push(((*sent - self.begun).as_secs_f64(), delay));
            }
            self.player.get_or_insert_with(|| Player::new(None, &media, 64 << 20)).push(message);
        }
    }

    fn release(&mut self) {
        let Some(player) = &mut self.player else { return };
        let now = self.setup.receiver.now();
        let mut changes = Vec::new();
        while let Some(output) = player.poll(now) {
            match output {
                playout::Output::Data(released) => {
                    let sent = self.sent.get(released.header.sequence as usize);
                    let same = sent.is_some_and(|(_, wire)| wire[HEADER_LEN..] == released.payload);
                    self.damaged += if same { 0 } else { released.payload.len() as u64 };
                    self.played.extend_from_slice(&released.payload);
                }
                playout::Output::Ended(_) => self.over = true,
                playout::Output::Restarted(_) => {}
                playout::Output::Clock(change) => changes.extend(StreamEvent::of(change)),
            }
        }
        for change in changes {
            self.event(&change.to_string());
        }
    }

    async fn path_event(&mut self, event: Option<&Event>) {
        self.setup.silent |= event.is_none();
        let Some(Event::Path(id, PathChange::State(state))) = event else { return };
        // This is read first, because the links continue to deliver packets.
        let quiet = self.setup.quiet();
        let seen = self.setup.sender.snapshot().await;
        let Some(path) = seen.and_then(|s| s.paths.into_iter().find(|p| p.view.id == *id)) else { return };
        let name = path.name;
        let Some(index) = self.recording.names.iter().position(|n| *n == name) else { return };
        let needless = self.setup.needless(quiet[index], &path.view);
        let (verdicts, though) =
            (&mut self.verdicts[index], if needless { ", though its link delivers" } else { "" });
        match state {
            PathState::Active => self.event(&format!("{name} is usable again")),
            PathState::PotentiallyFailed => {
                verdicts.potentially_failed += 1;
                verdicts.needless_pf += u64::from(needless);
                self.event(&format!("{name} does not answer{though}"));
            }
            PathState::Inactive => {
                verdicts.failed += 1;
                verdicts.needless_failed += u64::from(needless);
                self.event(&format!("{name} is given up until it answers{though}"));
            }
            _ => {}
        }
    }

    async fn sample(&mut self) {
        let Some(mut seen) = self.setup.sender.snapshot().await else { return };
        self.pump.observe(&seen);
        self.add_received(&mut seen).await;
        let now = self.setup.receiver.now();
        let media = self.player.as_ref().map_or_else(MediaNow::default, |p| p.media_now(now));
        let level = media.buffer_ms;
        let at_s = self.at();
        let subject = Subject { peer: "the receiver", ..Subject::default() };
        let (stats, diagnostics) = self.watch.sample(at_s, &subject, media.clone(), &seen);
        diagnostics.iter().for_each(|found| self.monitor.last_line(&found.to_string()));
        self.monitor.show(&stats);
        let paths = self.recording.names.iter().map(|name| path_sample(&seen, name)).collect();
        let coding = stats.coding.clone();
        let (late, lost) = (media.late, media.lost);
        let coding = coding.map(|coding| CodingSample::of(&coding, late, lost));
        let mut sample = Sample::default();
        (sample.at_s, sample.paths, sample.buffer_ms, sample.coding) = (at_s, paths, level, coding);
        self.recording.samples.push(sample);
    }

    /// Adds the receiver's counters of symbols to the sender's.
    async fn add_received(&self, seen: &mut driver::Snapshot) {
        if seen.coding_out.is_none() {
            return;
        }
        if let Some(receiver) = self.setup.receiver.snapshot().await {
            seen.stats.coding = sum(&seen.stats.coding, &receiver.stats.coding);
        }
    }

    /// Writes the report and returns the verdict.
    async fn finish(mut self, args: &DemoArgs) -> Result<(), CliError> {
        let mut last = self.setup.sender.snapshot().await;
        if let Some(seen) = &mut last {
            self.add_received(seen).await;
        }
        let coding = last.as_ref().and_then(coding_of);
        let wire = last.as_ref().map_or_else(Default::default, |seen| WireNow::of(&seen.stats));
        let (at, paths) = last.map_or_else(Default::default, |s| (s.at, s.paths));
        let since = |at: Instant| (at - self.begun).as_secs_f64();
        let seen = Observations {
            args,
            seconds: self.at(),
            media_seconds: LENGTH.as_secs_f64(),
            at,
            hole: (since(self.hole.0), since(self.hole.1)),
            best: self.setup.best,
            sent: (self.sent.len() as u64, CLIP.len() as u64),
            damaged: self.damaged,
            stats: self.player.as_ref().map(Player::stats).unwrap_or_default(),
            networks: &self.setup.networks,
            paths: &paths,
            verdicts: &self.verdicts,
            samples: &self.recording.samples,
            wire,
            coding,
        };
        let summary = summarize(&seen);
        self.monitor.clear();
        self.watch.rest().iter().for_each(|found| self.monitor.last_line(&found.to_string()));
        for line in summary.lines() {
            self.monitor.line(&line);
        }
        let json = serde_json::to_string_pretty(&summary).expect("numbers and names always serialise") + "\n";
        let printed = if args.json { print::json(&json) } else { Ok(()) };
        let title = format!("Strandcast demo: {}, {}", summary.network, summary.scheme);
        let page = summary.html(&title, &self.recording);
        // A failure to write one of the two files must not prevent the other file.
        let report = write(&args.out.join("report.html"), &page);
        let written = write(&args.out.join("summary.json"), &json);
        if report.is_ok() {
            self.monitor.line(&format!("report: {}", args.out.join("report.html").display()));
        }
        outcome(&summary).and(report).and(written).and(printed)
    }
}

/// Opens `received.ts`. A file of an earlier demo keeps its content until the first new byte is written.
fn received(folder: &Path) -> Result<File, CliError> {
    match open_output(&folder.join("received.ts"), false)? {
        Opened::File(file) => Ok(file),
        Opened::Pipe(_) => {
            Err(CliError::Media("received.ts is a pipe: name another folder with --out".into()))
        }
    }
}

fn outcome(summary: &Summary) -> Result<(), CliError> {
    match summary.failures.as_slice() {
        [] => Ok(()),
        failures => Err(CliError::Unmet(failures.join("; "))),
    }
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text)
        .map_err(|e| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e))))
}

/// Returns the counters of symbols at both ends.
fn coding_of(seen: &driver::Snapshot) -> Option<CodingNow> {
    CodingNow::of(&seen.stats.coding, Sides { sends: seen.coding_out, receives: seen.coding_in })
}

fn path_sample(seen: &driver::Snapshot, name: &str) -> PathSample {
    let mut sample = PathSample::default();
    if let Some(path) = seen.paths.iter().find(|p| p.name == name) {
        sample.bytes = path.stats.payload_sent;
        sample.rtt_ms = path.view.srtt.map(|rtt| rtt.as_secs_f64() * 1e3);
        sample.window_bytes = path.view.limit.cwnd;
    }
    sample
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
