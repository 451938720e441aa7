//! Senders come and go; one at a time is played.

use super::door::{Claim, Times, Verdict, judge};
use super::guest::{Candidate, Guest, introduce};
use super::summary::Summary;
use crate::args::ReceiveArgs;
use crate::capture::Capture;
use crate::catalog::SharedCatalog;
use crate::error::CliError;
use crate::memory::Memory;
use crate::output::Output;
use crate::place::Place;
use crate::print;
use crate::send::{BUSY, REFUSED};
use crate::show::{Happening, Monitor, Role, Stats, duration};
use crate::signals::{self, Stop, stopped};
use crate::transport;
use std::time::Duration;
use strandcast_media::playout;
use strandcast_net::driver::{AssociationHandle, Listener, Server};
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::rx::Message;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long a sender may take to close after the end: its last packets may have to come again.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long a sender may take to come back after a farewell that was not its own.
const FORGED: Duration = Duration::from_secs(2);

struct Session {
    listener: Listener,
    output: Output,
    monitor: Monitor,
    stop: Stop,
    door: (UnboundedSender<Candidate>, UnboundedReceiver<Candidate>),
    guest: Option<Guest>,
    /// Waits to follow the guest.
    next: Option<Candidate>,
    memory: Memory,
    latency: Option<Duration>,
    silence: Duration,
    once: bool,
    /// Print summaries as JSON; on standard error if that is all there is left.
    json: Option<bool>,
    /// A summary could not be printed.
    unprinted: Option<CliError>,
    messages: Vec<Message>,
}

/// What happened next.
enum Step {
    Stop,
    Accepted(Option<AssociationHandle>),
    Introduced(Candidate),
    NextClosed(CloseReason),
    Event(Option<Event>),
    Messages,
    Due,
    Tick,
}

/// Receives streams.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: ReceiveArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let scheme = transport::scheme(&args.transport.scheme, &**catalog)?;
    let stop = signals::watch()?;
    let stats = Stats::open(args.stats.stats.as_ref())?;
    let addresses = transport::listen(args.listen.as_ref()).await?;
    let capture = Capture::open(args.transport.pcap.as_deref())?;
    let memory = args.limit.memory;
    let endpoint = transport::endpoint(&args.transport, &scheme, true);
    let endpoint = EndpointConfig { memory: memory.beside_playout(), ..endpoint };
    let server = Server { endpoint, listen: addresses, tap: capture.tap() };
    let listener = server.listen().map_err(|e| transport::open_error(&e))?;
    let output = Output::open(&args.output).await?;
    let mut monitor = Monitor::new(Role::Receive, stats);
    let locals: Vec<String> = listener.driver().local_addrs().iter().map(ToString::to_string).collect();
    monitor.line(&format!("listening on UDP {}, playing to {}", locals.join(", "), args.output));
    monitor.line("warning: streams are neither encrypted nor authenticated");
    let mut session = Session {
        listener,
        output,
        monitor,
        stop,
        door: unbounded_channel(),
        guest: None,
        next: None,
        memory,
        latency: args.latency.map(|ms| Duration::from_millis(u64::from(ms))),
        silence: args.silence,
        once: args.once,
        json: args.transport.json.then_some(args.output == Place::Pipe),
        unprinted: None,
        messages: Vec::new(),
    };
    let outcome = session.receive().await;
    session.leave(&outcome).await;
    outcome.and(session.unprinted.map_or(Ok(()), Err))
}

impl Session {
    /// Until the user or `--once` ends it.
    async fn receive(&mut self) -> Result<(), CliError> {
        loop {
            match self.step().await {
                Step::Stop => return self.stop().await,
                Step::Accepted(None) => return Err(CliError::Network("the transport stopped".into())),
                Step::Accepted(Some(association)) => {
                    tokio::spawn(introduce(association, self.door.0.clone()));
                }
                Step::Introduced(candidate) => self.introduced(candidate),
                Step::NextClosed(reason) => self.next_closed(&reason),
                Step::Event(event) => self.event(event.as_ref()),
                Step::Messages => self.read().await,
                Step::Due => {}
                Step::Tick => self.tick().await,
            }
            self.play().await?;
            self.settle().await?;
            if let Some(outcome) = self.maybe_finish() {
                return outcome;
            }
        }
    }

    /// Waits for whatever comes first.
    async fn step(&mut self) -> Step {
        let Session { listener, monitor, stop, door, guest, next, messages, .. } = self;
        let due = guest.as_ref().and_then(|g| Some((g, g.player.poll_timeout()?)));
        let due = due.map(|(g, at)| at - g.association.now());
        let reading = guest.as_ref().filter(|g| !g.left);
        tokio::select! {
            () = stopped(stop) => Step::Stop,
            accepted = listener.accept() => Step::Accepted(accepted),
            Some(candidate) = door.1.recv() => Step::Introduced(candidate),
            reason = closed(next.as_ref().filter(|n| !n.done)) => Step::NextClosed(reason),
            event = event(reading.filter(|g| g.closing.is_none())) => Step::Event(event),
            () = read(reading, messages) => Step::Messages,
            () = sleep(due) => Step::Due,
            () = monitor.tick() => Step::Tick,
        }
    }

    fn introduced(&mut self, candidate: Candidate) {
        let Some(guest) = &self.guest else { return self.admit(candidate) };
        let silence = |c: &Candidate| Claim::of(c, guest).silence(guest.left, self.silence);
        // One waits: who has to wait less than the one that does takes its place.
        let first = self.next.as_ref().is_none_or(|waiting| silence(&candidate) < silence(waiting));
        let refused = if first { self.next.replace(candidate) } else { Some(candidate) };
        if let Some(refused) = refused {
            self.refuse(&refused);
        }
    }

    fn refuse(&mut self, candidate: &Candidate) {
        let guest = self.guest.as_ref().map_or("another sender", |g| g.peer.as_str());
        let line = format!("{} refused: already receiving from {guest}", candidate.peer);
        self.monitor.line(&line);
        candidate.association.abort(&format!("{REFUSED}{BUSY}"));
    }

    /// The sender that waits has closed its association, after everything was delivered or without.
    fn next_closed(&mut self, reason: &CloseReason) {
        match (&mut self.next, reason) {
            (Some(next), CloseReason::Shutdown) => next.done = true,
            _ => self.next = None,
        }
    }

    /// Lets in the sender that waits, or refuses it, once it is clear whether the guest is still there.
    async fn settle(&mut self) -> Result<(), CliError> {
        let (Some(next), Some(guest)) = (&self.next, &self.guest) else { return Ok(()) };
        if guest.ended.is_some() {
            return Ok(());
        }
        let claim = Claim::of(next, guest);
        let times = Times { now: guest.association.now(), came: next.came, heard: guest.seen };
        let verdict = judge(claim, guest.left, self.silence, times);
        let Some(next) = self.next.take_if(|_| verdict != Verdict::Waits) else { return Ok(()) };
        match verdict {
            Verdict::Enters if claim.same_stream => self.again(next),
            Verdict::Enters => self.follow(next).await?,
            Verdict::Refused | Verdict::Waits => self.refuse(&next),
        }
        Ok(())
    }

    /// The guest is back over a new association.
    fn again(&mut self, candidate: Candidate) {
        let Some(guest) = &mut self.guest else { return self.admit(candidate) };
        let (before, now) = (guest.peer.clone(), candidate.peer.clone());
        let outage = duration(guest.again(candidate));
        self.monitor.line(&format!("{before} is back as {now}, after {outage}"));
        self.monitor.restart();
    }

    /// The guest makes way for another stream: what there is of it is played at once.
    async fn follow(&mut self, candidate: Candidate) -> Result<(), CliError> {
        if let Some(guest) = &mut self.guest {
            let silent = (guest.association.now() - guest.seen).as_secs_f64();
            let (old, new) = (&guest.peer, &candidate.peer);
            self.monitor.line(&format!("{new} follows {old}, of which nothing came for {silent:.1} s"));
            guest.player.drain();
            self.play().await?;
            self.tell();
        }
        if let Some(guest) = self.guest.take() {
            guest.association.abort("replaced by a new stream");
        }
        self.admit(candidate);
        Ok(())
    }

    fn admit(&mut self, candidate: Candidate) {
        let guest = Guest::admit(candidate, self.latency, self.memory.playout());
        let latency = guest.player.latency.as_millis();
        self.monitor.line(&format!("receiving from {}, latency {latency} ms", guest.peer));
        self.monitor.restart();
        self.guest = Some(guest);
    }

    /// Of the guest's association.
    fn event(&mut self, event: Option<&Event>) {
        if let (Some(guest), Some(Event::PeerShutdown) | None) = (&mut self.guest, event) {
            guest.closing = Some(guest.association.now());
        }
    }

    async fn read(&mut self) {
        if let Some(guest) = &mut self.guest {
            guest.push(&mut self.messages).await;
        }
    }

    /// Writes what is due.
    async fn play(&mut self) -> Result<(), CliError> {
        let Some(guest) = &mut self.guest else { return Ok(()) };
        let now = guest.association.now();
        let mut any = false;
        while let Some(output) = guest.player.poll(now) {
            match output {
                playout::Output::Data(released) => {
                    self.output.write(&released.payload).await?;
                    any = true;
                }
                playout::Output::Ended(ended) => guest.ended = Some(ended),
                playout::Output::Restarted(session) => guest.session = session,
                playout::Output::Clock(change) => {
                    let seconds = (now - guest.begun).as_secs_f64();
                    let what = Happening::of(change);
                    what.iter().for_each(|what| self.monitor.tell(seconds, &guest.peer, what));
                }
            }
        }
        if any { self.output.flush().await } else { Ok(()) }
    }

    async fn tick(&mut self) {
        let Some(guest) = &mut self.guest else { return };
        let Some(seen) = guest.association.snapshot().await else { return };
        let now = guest.association.now();
        if let Some(what) = guest.observe(now, &seen) {
            self.monitor.tell((now - guest.begun).as_secs_f64(), &guest.peer, &what);
        }
        let media = guest.player.media_now(now);
        self.monitor.show((now - guest.begun).as_secs_f64(), &guest.peer, media, &seen);
        if now - guest.heard >= self.silence && !guest.left {
            guest.association.abort("nothing heard from the sender");
        }
        if guest.closes_too_soon(now) {
            guest.association.abort("closed before the stream's end");
        }
    }

    /// Ends the guest's stream if it is over; with `--once`, everything.
    fn maybe_finish(&mut self) -> Option<Result<(), CliError>> {
        let guest = self.guest.as_ref()?;
        let now = guest.association.now();
        let played = guest.player.poll_timeout().is_none();
        let silent = now - guest.heard;
        // A sender that lost its way may come back for as long as silence is borne; one that seems to have said farewell,
        // for a moment: others may have said it in its name.
        let patience = if guest.farewell.is_some() { FORGED.min(self.silence) } else { self.silence };
        let lost = guest.left && played && silent >= patience;
        if guest.ended.is_none() && !lost {
            return None;
        }
        let complete = guest.ended.is_some();
        let why = match &guest.farewell {
            Some(words) => format!("sender {} broke off: {words}", guest.peer),
            None => format!("sender {} was lost: nothing came for {:.0} s", guest.peer, silent.as_secs_f64()),
        };
        self.tell();
        match (self.once, complete) {
            (true, true) => return Some(Ok(())),
            (true, false) => return Some(Err(CliError::Peer(why))),
            (false, true) => {}
            (false, false) => self.monitor.line(&why),
        }
        self.guest = None;
        if let Some(next) = self.next.take() {
            self.admit(next);
        }
        None
    }

    /// Plays what is there and ends.
    async fn stop(&mut self) -> Result<(), CliError> {
        if let Some(guest) = &mut self.guest {
            guest.player.drain();
        }
        self.play().await?;
        self.tell();
        Ok(())
    }

    /// The summary of the guest's stream.
    fn tell(&mut self) {
        let Some(guest) = &self.guest else { return };
        let buffers = self.monitor.last().map_or_else(Default::default, |seen| seen.buffers);
        let summary = Summary::of(guest, buffers, guest.association.now());
        self.monitor.clear();
        for line in summary.lines() {
            self.monitor.line(&line);
        }
        match self.json {
            Some(true) => print::json_line(&summary.json()),
            Some(false) => {
                let printed = print::json(&(summary.json() + "\n"));
                self.unprinted = self.unprinted.take().or(printed.err());
            }
            None => {}
        }
    }

    /// Says goodbye to whoever is there.
    async fn leave(&mut self, outcome: &Result<(), CliError>) {
        self.monitor.clear();
        if let Some(next) = self.next.take() {
            next.association.abort(&format!("{REFUSED}the receiver ends"));
        }
        let Some(guest) = &self.guest else { return };
        match outcome {
            // It closes by itself, once it knows that everything has come.
            Ok(()) if guest.ended.is_some() => {}
            Ok(()) => guest.association.shutdown(),
            Err(_) => guest.association.abort(&format!("{REFUSED}the receiver cannot write what it plays")),
        }
        // A sender that does not answer is not waited for.
        let _: Result<CloseReason, _> = tokio::time::timeout(FAREWELL, guest.association.closed()).await;
    }
}

/// All messages there are; none, and nothing in `messages`, at the association's end.
async fn read(guest: Option<&Guest>, messages: &mut Vec<Message>) {
    match guest {
        Some(guest) => {
            guest.association.recv_many(messages).await;
        }
        None => std::future::pending().await,
    }
}

/// What happens to the guest's association.
async fn event(guest: Option<&Guest>) -> Option<Event> {
    match guest {
        Some(guest) => guest.association.event().await,
        None => std::future::pending().await,
    }
}

/// The end of an association.
async fn closed(candidate: Option<&Candidate>) -> CloseReason {
    match candidate {
        Some(candidate) => candidate.association.closed().await,
        None => std::future::pending().await,
    }
}

async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
