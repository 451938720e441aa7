//! The session of a receiver: senders arrive and leave, and one at a time is played.

mod close;
mod outputs;
mod playing;

use std::time::{Duration, Instant};

use strandcast_media::pack::VERSION;
use strandcast_net::driver::AssociationHandle;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::rx::Message;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::config::ReceiverConfig;
use super::door::Door;
use super::incoming::{Arrival, IncomingStream, Naming, PendingSender, handshake};
use super::splice::Splice;
use super::summary::ReceiveSummary;
use super::takeover::{Claim, Times, Verdict, decide};
use super::wait::{closed, event, read, sleep};
use crate::error::Error;
use crate::live::admission::admit;
use crate::live::event::Event as News;
use crate::live::feed::Reporter;
use crate::live::output::{Failure, Outlets, Switch};
use crate::live::stats::{MediaNow, Role, Subject, Watch};
use crate::live::stop::{Stop, stopped};
use crate::live::words::{BUSY, REFUSED, REPLACED};
use crate::memory::Memory;

/// Interval between two checks of the stream, its addresses and its gate.
const TICK: Duration = Duration::from_millis(250);
/// Time limit after the end of a stream. Within this time the sender must close the association, which includes its
/// retransmissions. Within the same time an output must accept the remaining data.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after a signal, in addition to the latency. In this time the association closes and the remaining data are
/// written.
const LAST: Duration = Duration::from_millis(500);
/// Size in bytes of a piece of the remaining buffer. At the end, one piece at a time is queued.
const PIECE: usize = 256 << 10;
/// Time in which the outputs take such a piece, if programs read them.
const TURN: Duration = Duration::from_millis(50);
/// Time to wait for the return of a sender whose abort may be forged.
const FORGED_ABORT_GRACE: Duration = Duration::from_secs(2);

pub(in crate::live) struct Session {
    door: Door,
    output: Outlets,
    /// Source of media for the outputs with a slate, if the stream has a slate.
    slate: Option<Splice>,
    reporter: Reporter,
    watch: Watch,
    ticks: Interval,
    stop: Stop,
    ready: Arrivals,
    stream: Option<IncomingStream>,
    /// The sender that waits to replace the stream.
    next: Option<PendingSender>,
    memory: Memory,
    latency: Option<Duration>,
    silence: Duration,
    once: bool,
    /// Deadline for the end of the session, after the application has requested the end.
    over: Option<Instant>,
    /// Summary of the last stream. The summary is kept until all data are written.
    summary: Option<ReceiveSummary>,
    messages: Vec<Message>,
    switches: UnboundedReceiver<Switch>,
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
    Switch(Switch),
    /// No more data can be written to an output.
    Unwritable(Failure),
}

/// Both ends of the queue of senders whose first message has arrived.
pub(in crate::live) type Arrivals = (UnboundedSender<Arrival>, UnboundedReceiver<Arrival>);

/// Configuration and state with which a session begins.
pub(in crate::live) struct Open {
    pub(in crate::live) config: ReceiverConfig,
    pub(in crate::live) door: Door,
    pub(in crate::live) ready: Arrivals,
    pub(in crate::live) outlets: Outlets,
    pub(in crate::live) reporter: Reporter,
    pub(in crate::live) stop: Stop,
    /// Requests to stop and to start outputs.
    pub(in crate::live) switches: UnboundedReceiver<Switch>,
}

impl Session {
    /// Receives streams until the session ends.
    ///
    /// # Errors
    /// The errors of [`Receiver::wait`](super::Receiver::wait).
    pub(in crate::live) async fn run(open: Open) -> Result<(), Error> {
        let Open { config, door, ready, outlets, reporter, stop, switches } = open;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let slate = config.slate.as_ref().filter(|_| outlets.any_takes_slate()).map(Splice::new);
        let mut session = Session {
            door,
            output: outlets,
            slate,
            reporter,
            watch: Watch::new(Role::Receive),
            ticks,
            stop,
            ready,
            stream: None,
            next: None,
            memory: config.memory,
            latency: config.latency,
            silence: config.silence,
            once: config.once,
            over: None,
            summary: None,
            messages: Vec::new(),
            switches,
        };
        let outcome = session.receive().await;
        session.end(outcome).await
    }

    fn report(&self, event: News) {
        self.reporter.report(event);
    }

    /// Runs until the application or the first stream ends it.
    async fn receive(&mut self) -> Result<(), Error> {
        loop {
            match self.step().await {
                Step::Stop => return self.stop().await,
                Step::Accepted(None) => return Err(Error::Network("the transport stopped".into())),
                Step::Accepted(Some(association)) => {
                    tokio::spawn(handshake(association, self.ready.0.clone(), Naming::Ignored));
                }
                Step::Ready(Arrival::Newer(peer, version)) => {
                    self.report(News::OtherVersion { peer, version, reads: VERSION });
                }
                Step::Ready(Arrival::Sender(sender)) => {
                    // Reports of the seal on a sender arrive before the sender.
                    self.poll_gate().await;
                    self.on_ready(*sender)?;
                }
                Step::NextClosed(reason) => self.next_closed(&reason),
                Step::Event(event) => self.event(event.as_ref()),
                Step::Messages => self.read().await,
                Step::Timer => {}
                Step::Tick => self.tick().await?,
                Step::Switch(switch) => self.output.switch(switch, self.stream.is_some()),
                Step::Unwritable(Failure::All(error)) => return Err(error),
                Step::Unwritable(Failure::One { output, why }) => {
                    self.report(News::OutputFailed { output, why });
                }
            }
            self.play();
            self.decide_takeover()?;
            if let Some(outcome) = self.maybe_finish()? {
                return outcome;
            }
        }
    }

    /// Waits for the next event.
    async fn step(&mut self) -> Step {
        let Session { door, ticks, output, slate, stop, ready, stream, next, messages, switches, .. } = self;
        let due = stream.as_ref().and_then(|g| Some((g, g.player.poll_timeout()?)));
        let due = due.map(|(g, at)| at - g.association.now());
        let reading = stream.as_ref().filter(|g| !g.left);
        tokio::select! {
            () = stopped(stop) => Step::Stop,
            accepted = door.accept() => Step::Accepted(accepted),
            Some(sender) = ready.1.recv() => Step::Ready(sender),
            Some(switch) = switches.recv() => Step::Switch(switch),
            reason = closed(next.as_ref().filter(|n| !n.done)) => Step::NextClosed(reason),
            event = event(reading.filter(|g| g.closing.is_none())) => Step::Event(event),
            () = read(reading, messages) => Step::Messages,
            () = sleep(due) => Step::Timer,
            () = sleep(slate.as_ref().map(Splice::due)) => Step::Timer,
            _ = ticks.tick() => Step::Tick,
            error = output.failed() => Step::Unwritable(error),
        }
    }

    /// Applies changes of the list of senders.
    async fn poll_gate(&mut self) {
        let Some(own) = self.door.own() else { return };
        for event in own.poll_gate().await {
            self.report(News::Gate(event));
        }
    }

    /// Name of a sender in events. With a seal, the name contains the short form of the key.
    fn named(&mut self, sender: &PendingSender) -> String {
        let label = self.door.own().and_then(|own| own.label(sender.key));
        label.map_or_else(|| sender.peer.clone(), |label| format!("{label} ({})", sender.peer))
    }

    fn on_ready(&mut self, sender: PendingSender) -> Result<(), Error> {
        let sender = PendingSender { peer: self.named(&sender), ..sender };
        let Some(stream) = &self.stream else { return self.admit(sender) };
        let silence = |c: &PendingSender| Claim::of(c, stream).silence(stream.left, self.silence);
        // Only one sender can wait. The waiting sender is the sender that needs the shorter silence.
        let first = self.next.as_ref().is_none_or(|waiting| silence(&sender) < silence(waiting));
        let refused = if first { self.next.replace(sender) } else { Some(sender) };
        if let Some(refused) = refused {
            self.refuse(&refused);
        }
        Ok(())
    }

    fn refuse(&mut self, sender: &PendingSender) {
        let current = self.stream.as_ref().map_or("another sender", |g| g.peer.as_str()).to_owned();
        self.report(News::Busy { peer: sender.peer.clone(), current });
        sender.association.abort(&format!("{REFUSED}{BUSY}"));
    }

    /// Handles the end of the waiting sender's association, whether graceful or not.
    fn next_closed(&mut self, reason: &CloseReason) {
        match (&mut self.next, reason) {
            (Some(next), CloseReason::Shutdown) => next.done = true,
            _ => self.next = None,
        }
    }

    /// Accepts or refuses the waiting sender, once it is known whether the current sender is active.
    fn decide_takeover(&mut self) -> Result<(), Error> {
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
    fn resume(&mut self, sender: PendingSender) -> Result<(), Error> {
        let Some(stream) = &mut self.stream else { return self.admit(sender) };
        let (before, peer) = (stream.peer.clone(), sender.peer.clone());
        let seconds = (stream.association.now() - stream.begun).as_secs_f64();
        let (after, outage) = stream.resume(sender);
        admit(&stream.association);
        for what in outage {
            self.reporter.report(News::Stream { seconds, peer: peer.clone(), what });
        }
        self.report(News::Resumed { before, peer, after });
        self.watch.restart();
        Ok(())
    }

    /// Replaces the stream by another one. The rest of the buffer is played at once.
    fn replace(&mut self, sender: PendingSender) -> Result<(), Error> {
        let same_key = |stream: &IncomingStream| stream.key.is_some() && stream.key == sender.key;
        if let Some(stream) = &mut self.stream {
            let replaced = News::Replaced {
                before: stream.peer.clone(),
                peer: sender.peer.clone(),
                same_key: same_key(stream),
                silent: stream.association.now() - stream.seen,
            };
            stream.player.drain();
            self.report(replaced);
            self.play();
            self.end_splice();
            let summary = self.summarize();
            self.report_summary(summary);
        }
        if let Some(stream) = self.stream.take() {
            match same_key(&stream) {
                true => stream.association.abort(&format!("{REFUSED}{REPLACED}")),
                false => stream.association.abort("replaced by a new stream"),
            }
        }
        self.admit(sender)
    }

    fn admit(&mut self, sender: PendingSender) -> Result<(), Error> {
        self.output.begin();
        let stream = IncomingStream::admit(sender, self.latency, self.memory.playout());
        self.report(News::Receiving { peer: stream.peer.clone(), latency: stream.player.latency });
        self.watch.restart();
        self.watch.restart_stream();
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

    async fn tick(&mut self) -> Result<(), Error> {
        self.poll_gate().await;
        let changes = match self.door.own() {
            Some(own) => own.changes().await?,
            None => Vec::new(),
        };
        changes.into_iter().for_each(|change| self.report(News::Socket(change)));
        self.look_at_outputs()?;
        self.observe().await;
        Ok(())
    }

    /// Updates the state of the stream from its association.
    async fn observe(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        let seen = stream.association.snapshot().await;
        let now = stream.association.now();
        let seconds = (now - stream.begun).as_secs_f64();
        let Some(mut seen) = seen else {
            if let Some(what) = stream.silent(now) {
                self.reporter.report(News::Stream { seconds, peer: stream.peer.clone(), what });
            }
            return;
        };
        if let Some(what) = stream.observe(now, &seen) {
            self.reporter.report(News::Stream { seconds, peer: stream.peer.clone(), what });
        }
        let (idles, over) = stream.idles(now);
        if let Some(after) = over {
            self.reporter.report(News::IdleOver { what: stream.peer.clone(), after });
        }
        if idles {
            self.reporter.report(News::Idle { what: stream.peer.clone(), role: Role::Receive });
        }
        for (path, trouble) in stream.name_paths(now, &mut seen) {
            self.reporter.report(News::Path { path, trouble });
        }
        let (unread, late_by) = (self.output.missed(), stream.came_late.messages());
        let media = MediaNow { unread, late_by, ..stream.player.media_now(now) };
        let subject = Subject { peer: &stream.peer, stream: Some(stream.session), state: stream.state() };
        let (stats, diagnostics) = self.watch.sample(seconds, &subject, media, &seen);
        diagnostics.into_iter().for_each(|found| self.reporter.report(News::Diagnostic(found)));
        self.reporter.stats(stats);
        if now - stream.last_received >= self.silence && !stream.left {
            stream.association.abort("nothing received from the sender");
        }
        if stream.closes_too_soon(now) {
            stream.association.abort("closed before the stream's end");
        }
    }

    /// Ends the stream if it is over. If the receiver has only one stream, the end of the stream ends the session.
    fn maybe_finish(&mut self) -> Result<Option<Result<(), Error>>, Error> {
        let Some(stream) = self.stream.as_ref() else { return Ok(None) };
        let now = stream.association.now();
        let played = stream.player.poll_timeout().is_none();
        let silent = now - stream.last_received;
        // A sender that lost its connection may return within the silence limit. A sender that seems to have aborted
        // may return within a moment, because the abort may be forged.
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
        let summary = self.summarize();
        if self.once {
            self.summary = summary;
            return Ok(Some(if complete { Ok(()) } else { Err(Error::Peer(why)) }));
        }
        self.report_summary(summary);
        if !complete {
            self.report(News::SenderLost { why });
        }
        self.stream = None;
        self.end_splice();
        if let Some(next) = self.next.take() {
            self.admit(next)?;
        }
        Ok(None)
    }

    /// Plays the buffered rest, and ends.
    async fn stop(&mut self) -> Result<(), Error> {
        let latency = self.stream.as_ref().map_or(Duration::ZERO, |stream| stream.player.latency);
        let over = Instant::now() + latency + LAST;
        self.over = Some(over);
        if let Some(stream) = &mut self.stream {
            stream.player.drain();
        }
        while self.play_some(PIECE) && Instant::now() < over {
            // The outputs share the memory. Outputs that are read make room for the next piece.
            let _: Result<_, _> = tokio::time::timeout(TURN, self.output.flush(TURN)).await;
        }
        self.play();
        self.summary = self.summarize();
        Ok(())
    }

    /// Makes the summary of the stream.
    fn summarize(&mut self) -> Option<ReceiveSummary> {
        let stream = self.stream.as_mut()?;
        let (now, outputs) = (stream.association.now(), self.output.now());
        if let Some(what) = stream.outages.close(&stream.peer, now) {
            let seconds = (now - stream.begun).as_secs_f64();
            self.reporter.report(News::Stream { seconds, peer: stream.peer.clone(), what });
        }
        stream.attribute(now, false);
        let summary = ReceiveSummary::of(stream, self.watch.last(), now, outputs);
        self.diagnose();
        Some(summary)
    }

    fn report_summary(&self, summary: Option<ReceiveSummary>) {
        summary.into_iter().for_each(|summary| self.report(News::Received(Box::new(summary))));
    }

    /// Reports the diagnostics of the scheme that have not been reported yet.
    fn diagnose(&mut self) {
        self.watch.rest().into_iter().for_each(|found| self.reporter.report(News::Diagnostic(found)));
    }
}
