//! The session: senders come and go, and one at a time is played.

use std::time::{Duration, Instant};

use strandcast_keys::catalog::{SchemePlan, SharedCatalog};
use strandcast_media::playout;
use strandcast_net::driver::{AssociationHandle, Listener, Server};
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::rx::Message;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::incoming::{Arrival, IncomingStream, PendingSender, handshake};
use super::summary::Summary;
use super::takeover::{Claim, Times, Verdict, decide};
use super::wait::{closed, event, read, sleep};
use crate::admission::admit;
use crate::args::ReceiveArgs;
use crate::capture::Capture;
use crate::error::CliError;
use crate::key::{Gate, spare_store};
use crate::listening::listen_lines;
use crate::media_url::MediaUrl;
use crate::memory::Memory;
use crate::output::Output;
use crate::print;
use crate::send::{BUSY, REFUSED, REPLACED};
use crate::show::{Monitor, Role, Stats, StreamEvent, duration};
use crate::signals::{self, Stop, stopped};
use crate::transport;

/// Timeout for a sender to close after the end, including retransmissions.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// After a signal: time beyond the latency to close the association and to write the rest.
const LAST: Duration = Duration::from_millis(500);
/// The part of it that writing gets at least.
const MIN_FLUSH: Duration = Duration::from_millis(100);
/// How long to wait for a sender whose abort may have been forged.
const FORGED_ABORT_GRACE: Duration = Duration::from_secs(2);

struct Session {
    listener: Listener,
    /// Who may send; none: streams are not encrypted.
    gate: Option<Gate>,
    output: Output,
    monitor: Monitor,
    stop: Stop,
    ready: (UnboundedSender<Arrival>, UnboundedReceiver<Arrival>),
    stream: Option<IncomingStream>,
    /// The sender that waits to replace the stream.
    next: Option<PendingSender>,
    memory: Memory,
    latency: Option<Duration>,
    silence: Duration,
    once: bool,
    /// Print summaries as JSON; `true`: on standard error, because standard output carries media.
    json: Option<bool>,
    /// When everything has to be over, once the user wants the end.
    over: Option<Instant>,
    messages: Vec<Message>,
}

/// The next event.
enum Step {
    Stop,
    Accepted(Option<AssociationHandle>),
    Ready(Arrival),
    NextClosed(CloseReason),
    Event(Option<Event>),
    Messages,
    Timer,
    Tick,
    /// What is played cannot be written any more.
    Unwritable(CliError),
}

/// Receives streams.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: ReceiveArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let scheme = transport::scheme(&args.transport.scheme, &**catalog)?;
    let mut stop = signals::watch()?;
    let mut session = tokio::select! {
        session = open(args, &scheme, stop.clone()) => session?,
        () = stopped(&mut stop) => return Ok(()),
    };
    let outcome = session.receive().await;
    session.close(&outcome).await;
    if let Some(gate) = &mut session.gate {
        gate.end().await.iter().for_each(|line| session.monitor.line(line));
    }
    if outcome.is_err() {
        // The error counts; an unread output must not hold it back.
        let _: Result<_, _> = tokio::time::timeout(CLOSE_TIMEOUT, session.flush()).await;
        return outcome;
    }
    session.flush().await
}

/// Opens everything and listens.
async fn open(args: ReceiveArgs, scheme: &SchemePlan, stop: Stop) -> Result<Session, CliError> {
    if let MediaUrl::File(path) = &args.output {
        spare_store(&args.transport.seal, path)?;
    }
    let memory = args.limit.memory;
    let stats = Stats::open(args.stats.stats.as_ref())?;
    let addresses = transport::listen(args.listen.as_ref()).await?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let endpoint = transport::endpoint(&args.transport, scheme, true);
    let mut gate = Gate::open(&args.transport.seal)?;
    let associations = memory.beside_playout(gate.is_some());
    let endpoint = EndpointConfig { memory: associations, decodes_unasked: false, ..endpoint };
    let seal = gate.as_mut().map(|gate| gate.seal(memory.sessions()));
    let server = Server { endpoint, listen: addresses, seal, tap: capture.tap() };
    let listener = server.listen().map_err(|e| transport::open_error(&e))?;
    let output = Output::open(&args.output, args.overwrite, memory.output()).await?;
    let mut monitor = Monitor::new(Role::Receive, stats);
    let locals: Vec<String> = listener.driver().local_addrs().iter().map(ToString::to_string).collect();
    monitor.line(&format!("listening on UDP {}, playing to {}", locals.join(", "), args.output));
    match &mut gate {
        Some(gate) => gate.invite(listener.driver().local_addrs()),
        None => monitor.line("warning: streams are neither encrypted nor authenticated"),
    }
    Ok(Session {
        listener,
        gate,
        output,
        monitor,
        stop,
        ready: unbounded_channel(),
        stream: None,
        next: None,
        memory,
        latency: args.latency.map(|ms| Duration::from_millis(u64::from(ms))),
        silence: args.silence,
        once: args.once,
        json: args.transport.json.then_some(args.output == MediaUrl::Pipe),
        over: None,
        messages: Vec::new(),
    })
}

impl Session {
    /// Runs until the user or `--once` ends it.
    async fn receive(&mut self) -> Result<(), CliError> {
        loop {
            match self.step().await {
                Step::Stop => return self.stop(),
                Step::Accepted(None) => return Err(CliError::Network("the transport stopped".into())),
                Step::Accepted(Some(association)) => {
                    tokio::spawn(handshake(association, self.ready.0.clone()));
                }
                Step::Ready(Arrival::Newer(line)) => self.monitor.line(&line),
                Step::Ready(Arrival::Sender(sender)) => {
                    // What the seal knows of it came first.
                    self.poll_gate().await;
                    self.on_ready(*sender)?;
                }
                Step::NextClosed(reason) => self.next_closed(&reason),
                Step::Event(event) => self.event(event.as_ref()),
                Step::Messages => self.read().await,
                Step::Timer => {}
                Step::Tick => self.tick().await?,
                Step::Unwritable(error) => return Err(error),
            }
            self.play()?;
            self.decide_takeover()?;
            if let Some(outcome) = self.maybe_finish()? {
                return outcome;
            }
        }
    }

    /// Waits for the next event.
    async fn step(&mut self) -> Step {
        let Session { listener, monitor, output, stop, ready, stream, next, messages, .. } = self;
        let due = stream.as_ref().and_then(|g| Some((g, g.player.poll_timeout()?)));
        let due = due.map(|(g, at)| at - g.association.now());
        let reading = stream.as_ref().filter(|g| !g.left);
        tokio::select! {
            () = stopped(stop) => Step::Stop,
            accepted = listener.accept() => Step::Accepted(accepted),
            Some(sender) = ready.1.recv() => Step::Ready(sender),
            reason = closed(next.as_ref().filter(|n| !n.done)) => Step::NextClosed(reason),
            event = event(reading.filter(|g| g.closing.is_none())) => Step::Event(event),
            () = read(reading, messages) => Step::Messages,
            () = sleep(due) => Step::Timer,
            () = monitor.tick() => Step::Tick,
            error = output.failed() => Step::Unwritable(error),
        }
    }

    /// Who may send may have changed.
    async fn poll_gate(&mut self) {
        let Some(gate) = &mut self.gate else { return };
        for line in gate.poll(self.listener.driver()).await {
            self.monitor.line(&line);
        }
    }

    /// What lines call a sender: with a seal, who it is.
    fn named(&self, sender: &PendingSender) -> String {
        let label = self.gate.as_ref().zip(sender.key).map(|(gate, key)| gate.label(&key));
        label.map_or_else(|| sender.peer.clone(), |label| format!("{label} ({})", sender.peer))
    }

    fn on_ready(&mut self, sender: PendingSender) -> Result<(), CliError> {
        let sender = PendingSender { peer: self.named(&sender), ..sender };
        let Some(stream) = &self.stream else { return self.admit(sender) };
        let silence = |c: &PendingSender| Claim::of(c, stream).silence(stream.left, self.silence);
        // Only one sender waits: the one with the shorter required silence.
        let first = self.next.as_ref().is_none_or(|waiting| silence(&sender) < silence(waiting));
        let refused = if first { self.next.replace(sender) } else { Some(sender) };
        if let Some(refused) = refused {
            self.refuse(&refused);
        }
        Ok(())
    }

    fn refuse(&mut self, sender: &PendingSender) {
        let stream = self.stream.as_ref().map_or("another sender", |g| g.peer.as_str());
        let line = format!("{} refused: already receiving from {stream}", sender.peer);
        self.monitor.line(&line);
        sender.association.abort(&format!("{REFUSED}{BUSY}"));
    }

    /// The waiting sender has closed its association, gracefully or not.
    fn next_closed(&mut self, reason: &CloseReason) {
        match (&mut self.next, reason) {
            (Some(next), CloseReason::Shutdown) => next.done = true,
            _ => self.next = None,
        }
    }

    /// Accepts or refuses the waiting sender once it is clear whether the current one is active.
    fn decide_takeover(&mut self) -> Result<(), CliError> {
        let (Some(next), Some(stream)) = (&self.next, &self.stream) else { return Ok(()) };
        if stream.ended.is_some() {
            return Ok(());
        }
        let claim = Claim::of(next, stream);
        let times = Times { now: stream.association.now(), came: next.came, last_received: stream.seen };
        let verdict = decide(claim, stream.left, self.silence, times);
        let Some(next) = self.next.take_if(|_| verdict != Verdict::Waits) else { return Ok(()) };
        match verdict {
            Verdict::Replaces if claim.continues() => self.resume(next)?,
            Verdict::Replaces => self.replace(next)?,
            Verdict::Refused | Verdict::Waits => self.refuse(&next),
        }
        Ok(())
    }

    /// Continues the stream over a new association.
    fn resume(&mut self, sender: PendingSender) -> Result<(), CliError> {
        let Some(stream) = &mut self.stream else { return self.admit(sender) };
        let (before, now) = (stream.peer.clone(), sender.peer.clone());
        let outage = duration(stream.resume(sender));
        admit(&stream.association);
        self.monitor.line(&format!("{before} is back as {now}, after {outage}"));
        self.monitor.restart();
        Ok(())
    }

    /// Replaces the stream by another one: its buffered rest is played at once.
    fn replace(&mut self, sender: PendingSender) -> Result<(), CliError> {
        let same_key = |stream: &IncomingStream| stream.key.is_some() && stream.key == sender.key;
        if let Some(stream) = &mut self.stream {
            let silent = (stream.association.now() - stream.seen).as_secs_f64();
            let (old, new) = (&stream.peer, &sender.peer);
            let line = match same_key(stream) {
                true => format!("the same key sends from {new} now, and replaces {old}: the newest wins"),
                false => format!("{new} replaces {old}, which was silent for {silent:.1} s"),
            };
            stream.player.drain();
            self.monitor.line(&line);
            self.play()?;
            self.report();
        }
        if let Some(stream) = self.stream.take() {
            match same_key(&stream) {
                true => stream.association.abort(&format!("{REFUSED}{REPLACED}")),
                false => stream.association.abort("replaced by a new stream"),
            }
        }
        self.admit(sender)
    }

    fn admit(&mut self, sender: PendingSender) -> Result<(), CliError> {
        self.output.begin()?;
        let stream = IncomingStream::admit(sender, self.latency, self.memory.playout());
        let latency = stream.player.latency.as_millis();
        self.monitor.line(&format!("receiving from {}, latency {latency} ms", stream.peer));
        self.monitor.restart();
        self.monitor.restart_stream();
        admit(&stream.association);
        self.stream = Some(stream);
        Ok(())
    }

    /// Handles an event of the stream's association.
    fn event(&mut self, event: Option<&Event>) {
        if let (Some(stream), Some(Event::PeerShutdown) | None) = (&mut self.stream, event) {
            stream.closing = Some(stream.association.now());
        }
    }

    async fn read(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.push(&mut self.messages).await;
        }
    }

    /// Queues due output.
    fn play(&mut self) -> Result<(), CliError> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let now = stream.association.now();
        // What was in the buffer may wait for the output instead.
        let rushed = if stream.player.is_drained() { self.memory.playout() } else { 0 };
        while let Some(output) = stream.player.poll(now) {
            match output {
                playout::Output::Data(released) => {
                    let told = self.output.write(&released.payload, rushed)?;
                    told.iter().for_each(|line| self.monitor.line(line));
                }
                playout::Output::Ended(ended) => stream.ended = Some(ended),
                playout::Output::Restarted(session) => stream.session = session,
                playout::Output::Clock(change) => {
                    let seconds = (now - stream.begun).as_secs_f64();
                    let what = StreamEvent::of(change);
                    what.iter().for_each(|what| self.monitor.report(seconds, &stream.peer, what));
                }
            }
        }
        Ok(())
    }

    async fn tick(&mut self) -> Result<(), CliError> {
        self.poll_gate().await;
        listen_lines(self.listener.driver(), |line| self.monitor.line(line)).await?;
        self.recordings()?;
        self.output.recovered().iter().for_each(|line| self.monitor.line(line));
        self.observe().await;
        Ok(())
    }

    /// Looks at the outcome of recordings: a stream that has no file is refused.
    ///
    /// # Errors
    /// [`CliError::Media`]: with `--once`, the only stream has none.
    fn recordings(&mut self) -> Result<(), CliError> {
        let (lines, refused) = self.output.opened();
        lines.iter().for_each(|line| self.monitor.line(line));
        let Some(stream) = self.stream.take_if(|_| refused) else { return Ok(()) };
        stream.association.abort(&format!("{REFUSED}it has no name for another recording"));
        match self.next.take() {
            _ if self.once => Err(CliError::Media("the stream is not recorded: all names are taken".into())),
            Some(next) => self.admit(next),
            None => Ok(()),
        }
    }

    /// Looks at the stream's association.
    async fn observe(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        let Some(seen) = stream.association.snapshot().await else { return };
        let now = stream.association.now();
        if let Some(what) = stream.observe(now, &seen) {
            self.monitor.report((now - stream.begun).as_secs_f64(), &stream.peer, &what);
        }
        let media = stream.player.media_now(now);
        self.monitor.show((now - stream.begun).as_secs_f64(), &stream.peer, media, &seen);
        if now - stream.last_received >= self.silence && !stream.left {
            stream.association.abort("nothing received from the sender");
        }
        if stream.closes_too_soon(now) {
            stream.association.abort("closed before the stream's end");
        }
    }

    /// Ends the stream if it is over; with `--once`, the session.
    fn maybe_finish(&mut self) -> Result<Option<Result<(), CliError>>, CliError> {
        let Some(stream) = self.stream.as_ref() else { return Ok(None) };
        let now = stream.association.now();
        let played = stream.player.poll_timeout().is_none();
        let silent = now - stream.last_received;
        // A sender that lost its connection may return within the silence limit; one that seems to have aborted, for a
        // moment: the abort may have been forged.
        let grace =
            if stream.refusal.is_some() { FORGED_ABORT_GRACE.min(self.silence) } else { self.silence };
        let lost = stream.left && played && silent >= grace;
        if stream.ended.is_none() && !lost {
            return Ok(None);
        }
        self.recordings()?;
        let Some(stream) = self.stream.as_ref() else { return Ok(None) };
        let complete = stream.ended.is_some();
        let why = match &stream.refusal {
            Some(words) => format!("sender {} broke off: {words}", stream.peer),
            None => {
                format!("sender {} was lost: silent for {:.0} s", stream.peer, silent.as_secs_f64())
            }
        };
        self.report();
        match (self.once, complete) {
            (true, true) => return Ok(Some(Ok(()))),
            (true, false) => return Ok(Some(Err(CliError::Peer(why)))),
            (false, true) => {}
            (false, false) => self.monitor.line(&why),
        }
        self.stream = None;
        if let Some(next) = self.next.take() {
            self.admit(next)?;
        }
        Ok(None)
    }

    /// Plays the buffered rest and ends.
    fn stop(&mut self) -> Result<(), CliError> {
        let latency = self.stream.as_ref().map_or(Duration::ZERO, |stream| stream.player.latency);
        self.over = Some(Instant::now() + latency + LAST);
        if let Some(stream) = &mut self.stream {
            stream.player.drain();
        }
        self.play()?;
        self.report();
        Ok(())
    }

    /// Prints the summary of the stream.
    fn report(&mut self) {
        let Some(stream) = &self.stream else { return };
        let (now, dropped) = (stream.association.now(), self.output.dropped());
        let summary = Summary::of(stream, self.monitor.last(), now, dropped);
        self.monitor.clear();
        for line in summary.lines() {
            self.monitor.line(&line);
        }
        match self.json {
            Some(true) => print::json_line(&summary.json()),
            // What cannot be printed is reported at the end of the command.
            Some(false) => drop(print::json(&(summary.json() + "\n"))),
            None => {}
        }
    }

    /// Closes the associations.
    async fn close(&mut self, outcome: &Result<(), CliError>) {
        self.monitor.clear();
        if let Some(next) = self.next.take() {
            next.association.abort(&format!("{REFUSED}the receiver ends"));
        }
        let Some(stream) = &self.stream else { return };
        match outcome {
            // The sender closes once everything is acknowledged.
            Ok(()) if stream.ended.is_some() => {}
            Ok(()) => stream.association.shutdown(),
            Err(_) => stream.association.abort(&format!("{REFUSED}the receiver cannot write what it plays")),
        }
        let left = self.over.map(|over| over.saturating_duration_since(Instant::now()));
        let time = left.map_or(CLOSE_TIMEOUT, |left| left.min(CLOSE_TIMEOUT));
        // Does not wait for a sender that does not answer.
        let _: Result<CloseReason, _> = tokio::time::timeout(time, stream.association.closed()).await;
    }

    /// Waits until everything is written, or the user wants the end.
    async fn flush(&mut self) -> Result<(), CliError> {
        let Session { output, stop, over, .. } = self;
        let patience = async {
            stopped(stop).await;
            let left = over.map_or(LAST, |over| over.saturating_duration_since(Instant::now()));
            tokio::time::sleep(left.max(MIN_FLUSH)).await;
        };
        tokio::select! {
            flushed = output.flush() => flushed,
            () = patience => if output.is_clean() { Ok(()) } else { Err(output.unread()) },
        }
    }
}
