//! A stream from its first association to its end.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use strandcast_media::MediaTime;
use strandcast_net::clock::Clock;
use strandcast_net::driver::AssociationHandle;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use tokio::task::JoinHandle;

use super::admission::Admission;
use super::backoff::Backoff;
use super::connect::{PAUSE, Plan, is_busy};
use super::intake::{Said, Timing};
use super::monitor::AssociationMonitor;
use super::pump::Pump;
use super::refusals::Refusals;
use crate::error::Error;
use crate::live::admission::admits;
use crate::live::event::Event as News;
use crate::live::feed::Reporter;
use crate::live::idle::Idle;
use crate::live::input::Input;
use crate::live::retry::Retry;
use crate::live::stats::Role;
use crate::live::stop::{Stop, stopped};
use crate::live::words::REFUSED;
use crate::text::why;

/// Number of bytes of one read.
const CHUNK: usize = 64 << 10;
/// Interval between two checks of the reason why there is no connection.
const TELL: Duration = Duration::from_millis(250);
/// Time without any answer after which the addresses and causes are reported.
const UNANSWERED: Duration = Duration::from_secs(4);
/// Default time to try to connect. After a sender with a live input was once connected, it tries without a limit.
const RETRY: Duration = Duration::from_secs(30);
/// Minimum silence before the sender gives up an association. The minimum silence also applies if the retry time is
/// shorter, because the path may only be slow.
const MIN_SILENCE: Duration = Duration::from_secs(5);
/// Time limit of a shutdown that the receiver began. The time limit is short because the SHUTDOWN may be forged.
const CLOSING: Duration = Duration::from_millis(1500);
/// Time limit for the last acknowledgements at the end, in addition to the latency.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for the last acknowledgements if the application requests the end.
const LAST: Duration = Duration::from_millis(500);

/// The association, or the attempt to connect.
enum Connection {
    Up(AssociationHandle),
    Search(JoinHandle<Result<AssociationHandle, Error>>),
}

struct Session<I> {
    plan: Plan,
    retry: Retry,
    refusals: Refusals,
    backoff: Backoff,
    /// Time at which the receiver started to close.
    closing: Option<tokio::time::Instant>,
    clock: Clock,
    input: I,
    timing: Timing,
    said: Said,
    idle: Idle,
    /// Buffer for bytes of the input.
    buffer: Vec<u8>,
    pump: Pump,
    connection: Connection,
    watch: AssociationMonitor,
    stop: Stop,
    /// True if the input has ended, or the application has stopped it.
    over: bool,
    /// True if the application has ended the stream. The sender then makes no further attempts to connect.
    stopped: bool,
    /// True if the receiver has accepted no part of the stream yet. With the next association, a file then starts from
    /// its beginning.
    rewind: bool,
    admission: Admission,
}

/// The next event.
enum Step {
    Stop,
    Read(io::Result<usize>),
    Timer,
    Tick,
    Event(Option<Event>),
    Said(Message),
    Found(Result<AssociationHandle, Error>),
}

/// Sends a stream.
///
/// # Errors
/// The errors of [`Sender::wait`](super::Sender::wait).
pub(super) async fn run<I: Input>(
    plan: Plan,
    input: I,
    timing: Timing,
    asked: Option<Retry>,
    reporter: Reporter,
    mut stop: Stop,
) -> Result<(), Error> {
    let first = asked.unwrap_or(Retry::For(RETRY));
    let association = tokio::select! {
        found = plan.connect(first, asked.is_some()) => found?,
        () = stopped(&mut stop) => return plan.given_up(),
        never = tell(&plan, &reporter) => match never {},
    };
    if let Some(cipher) = plan.reports.cipher() {
        reporter.report(News::Encrypted(cipher));
    }
    let live = input.is_live();
    let retry = asked.unwrap_or(if live { Retry::Forever } else { first });
    let clock = Clock::start();
    let mut pump = Pump::new(timing.ingest(&input, MediaTime::ZERO)?, timing.latency);
    pump.observe_first(&association).await;
    let refusals = Refusals::new(asked.is_some(), tokio::time::Instant::now());
    let watch = AssociationMonitor::new(reporter, &plan);
    let admission = Admission::with(&association).await;
    let connection = Connection::Up(association);
    let mut session = Session {
        plan,
        retry,
        refusals,
        backoff: Backoff::default(),
        closing: None,
        clock,
        input,
        timing,
        said: Said::default(),
        idle: Idle::new(clock.now()),
        buffer: vec![0; CHUNK],
        pump,
        connection,
        watch,
        stop,
        over: false,
        stopped: false,
        rewind: false,
        admission,
    };
    let outcome = session.stream().await;
    session.leave(&outcome).await;
    let unwritten = session.plan.tariffs.finish().await;
    unwritten.into_iter().for_each(|event| session.watch.report(event));
    session.finish(outcome)
}

/// Reports why there is no connection yet.
async fn tell(plan: &Plan, reporter: &Reporter) -> Infallible {
    let (begun, mut silent) = (tokio::time::Instant::now(), true);
    loop {
        tokio::time::sleep(TELL).await;
        let known = plan.untold();
        silent &= known.is_none();
        let said = (silent && begun.elapsed() >= UNANSWERED).then(|| plan.silent(begun.elapsed()));
        silent &= said.is_none();
        known
            .into_iter()
            .chain(said.map(|why| News::Waiting { why }))
            .for_each(|event| reporter.report(event));
    }
}

impl<I: Input> Session<I> {
    /// Returns whether the association may end after the end of the stream. It must not end while the receiver could
    /// still refuse the stream.
    fn may_close(&mut self) -> bool {
        if self.admission.given || self.stopped || self.connection.association().is_none() {
            return true;
        }
        let latest = tokio::time::Instant::now() + self.pump.latency() + CLOSE_TIMEOUT;
        tokio::time::Instant::now() >= *self.admission.until.get_or_insert(latest)
    }

    /// Records that the receiver plays the stream.
    fn admitted(&mut self) {
        self.admission.given = true;
        self.watch.admitted();
        if self.refusals.admitted() {
            self.watch.report(News::Admitted { peer: self.plan.to.label.clone() });
        }
    }

    fn now(&self) -> MediaTime {
        MediaTime::from_nanos(self.clock.now().as_nanos())
    }

    /// Sends until the end of the stream is acknowledged.
    async fn stream(&mut self) -> Result<(), Error> {
        loop {
            while !(self.pump.ended && self.may_close()) {
                if !self.rewind {
                    self.pump.pump(self.now(), self.connection.association(), |_, _| ());
                }
                match self.step().await {
                    Step::Stop => self.stop(),
                    Step::Read(read) => self.read(read)?,
                    Step::Timer => {}
                    Step::Tick => self.tick().await,
                    Step::Event(event) => self.event(event).await?,
                    Step::Said(message) if admits(&message.payload) => self.admitted(),
                    Step::Said(_) => {}
                    Step::Found(found) => self.found(found).await?,
                }
            }
            if self.finish_stream().await? {
                return Ok(());
            }
        }
    }

    /// Waits for the next event.
    async fn step(&mut self) -> Step {
        let next = self.pump.poll_timeout().filter(|_| !self.rewind);
        let due = next.and_then(|at| self.clock.deadline(Instant::from_nanos(at.as_nanos())));
        let wants_input = !self.over && !self.rewind && self.pump.wants_input(self.now());
        let Session { input, buffer, connection, watch, stop, stopped: asked, .. } = self;
        tokio::select! {
            () = stopped(stop), if !*asked => Step::Stop,
            read = input.read(buffer), if wants_input => Step::Read(read),
            () = sleep_until(due) => Step::Timer,
            () = watch.tick() => Step::Tick,
            step = connection.next_step() => step,
        }
    }

    fn stop(&mut self) {
        (self.over, self.stopped) = (true, true);
        let now = self.now();
        self.pump.stop(now);
        // Without an association, the message that ends the stream cannot be sent.
        self.pump.ended |= self.connection.association().is_none();
    }

    fn read(&mut self, read: io::Result<usize>) -> Result<(), Error> {
        let len = read.map_err(|error| self.unreadable(&error))?;
        self.over |= len == 0;
        let now = self.now();
        if let Some(after) = self.idle.seen(self.clock.now()) {
            self.watch.report(News::IdleOver { what: self.input.name(), after });
        }
        let Some(read) = self.buffer.get(..len) else {
            let name = self.input.name();
            return Err(Error::Media(format!("{name} returned more bytes than there was room for")));
        };
        let taken = self.pump.push(now, read);
        taken.map_err(|e| Error::Media(format!("cannot send {}: {e}", self.input.name())))
    }

    fn unreadable(&self, error: &io::Error) -> Error {
        Error::Media(format!("cannot read {}: {}", self.input.name(), why(error)))
    }

    /// Returns the error for a refusal if the input cannot be sent a second time.
    fn unrepeatable(&self, refusal: &str, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::Unsupported => Error::Peer(format!(
                "{refusal}; {} cannot be sent again from its beginning",
                self.input.name()
            )),
            _ => self.unreadable(error),
        }
    }

    async fn tick(&mut self) {
        let now = self.now();
        let waits = !self.over && !self.rewind && self.input.is_live() && self.pump.wants_input(now);
        if waits && self.idle.begins(self.clock.now()) {
            self.watch.report(News::Idle { what: self.input.name(), role: Role::Send });
        }
        for news in self.said.news(&mut self.input, self.pump.ingest()) {
            self.watch.report(news);
        }
        let Connection::Up(association) = &self.connection else {
            self.watch.unconnected(self.clock.now(), &self.pump);
            return self.plan.untold().into_iter().for_each(|event| self.watch.report(event));
        };
        self.pump.keep_alive(now, association);
        self.watch.no_input = self.idle.goes_on();
        self.watch.poll(self.clock.now(), association, &mut self.pump).await;
        let silence = self.watch.silence(self.clock.now());
        // If the user has set no retry time, the association itself detects failure.
        let hopeless =
            matches!(self.retry, Retry::For(time) if self.refusals.asked && silence >= time.max(MIN_SILENCE));
        if hopeless {
            association.abort("nothing received from the receiver");
            self.search(&format!("{} was silent for {:.0} s", self.plan.to.label, silence.as_secs_f64()));
        } else if self.closing.is_some_and(|at| at.elapsed() >= CLOSING) {
            association.abort("the shutdown did not finish");
            self.search(&format!("{} started to close and did not finish", self.plan.to.label));
        } else if !self.admission.says && self.refusals.holds(tokio::time::Instant::now()) {
            self.admitted();
        }
    }

    async fn event(&mut self, event: Option<Event>) -> Result<(), Error> {
        match event {
            Some(Event::PeerShutdown) => {
                self.closing = Some(tokio::time::Instant::now());
                Ok(())
            }
            Some(Event::Closed(reason)) if self.plan.is_replaced(&reason) => {
                Err(Error::Peer(self.named(&reason)))
            }
            Some(Event::Closed(CloseReason::Shutdown)) if !self.refusals.asked => {
                Err(Error::Peer(self.named(&CloseReason::Shutdown)))
            }
            Some(Event::Closed(CloseReason::Shutdown)) => self.refused(&CloseReason::Shutdown).await,
            Some(Event::Closed(reason)) if self.plan.is_final(&reason) => self.refused(&reason).await,
            Some(Event::Closed(reason)) => {
                self.search(&self.named(&reason));
                Ok(())
            }
            None => {
                self.search(&format!("{} is gone", self.plan.to.label));
                Ok(())
            }
            Some(event) => {
                self.watch.event(self.clock.now(), &event);
                Ok(())
            }
        }
    }

    /// Text of the reason why the association ended, including the receiver's name.
    fn named(&self, reason: &CloseReason) -> String {
        format!("{} {}", self.plan.to.label, self.plan.words(reason))
    }

    /// Gives up the association and reconnects.
    fn search(&mut self, why: &str) {
        self.watch.report(News::Lost { why: why.to_owned() });
        self.watch.broke(self.clock.now());
        let pause = self.backoff.next(tokio::time::Instant::now());
        self.search_after(pause);
    }

    fn search_after(&mut self, pause: Duration) {
        self.watch.lost();
        self.closing = None;
        // Without an association, the message that ends the stream cannot be sent, as in `stop`.
        self.pump.ended |= self.stopped;
        let (plan, retry) = (self.plan.clone(), self.retry);
        let retries_refusals = self.refusals.retries_refusals(retry, false);
        self.connection = Connection::Search(tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            plan.connect(retry, retries_refusals).await
        }));
    }

    /// Handles a refusal by the receiver: ends, or retries.
    async fn refused(&mut self, reason: &CloseReason) -> Result<(), Error> {
        let why = self.named(reason);
        let first = self.refusals.refused(tokio::time::Instant::now(), self.retry, is_busy(reason));
        let Some(first) = first else { return Err(Error::Peer(why)) };
        self.rewind = self.may_restart();
        if self.rewind {
            self.input.rewind().await.map_err(|error| self.unrepeatable(&why, &error))?;
        }
        if first {
            self.watch.report(News::Refused { why: why.clone() });
        }
        self.plan.reasons.told(&why);
        self.pump.ended &= !self.rewind;
        self.search_after(PAUSE);
        Ok(())
    }

    /// Returns whether a file can restart, because no part of it has been received.
    fn may_restart(&self) -> bool {
        !self.refusals.let_in && !self.input.is_live() && !self.stopped
    }

    async fn found(&mut self, found: Result<AssociationHandle, Error>) -> Result<(), Error> {
        self.connection = Connection::Up(found?);
        let report = self.refusals.connected(tokio::time::Instant::now());
        self.watch.found(self.clock.now(), report);
        if std::mem::take(&mut self.rewind) {
            let ingest = self.timing.ingest(&self.input, self.now())?;
            self.pump = Pump::new(ingest, self.timing.latency);
            self.over = false;
            self.watch.restart();
        }
        if let Some(association) = self.connection.association() {
            self.admission = Admission::with(association).await;
            self.pump.observe_first(association).await;
        }
        Ok(())
    }

    /// Closes the association once all data are acknowledged or expired. Returns false if the stream starts again
    /// instead.
    async fn finish_stream(&mut self) -> Result<bool, Error> {
        let Connection::Up(association) = &self.connection else {
            let label = &self.plan.to.label;
            let lost = || Error::Peer(format!("{label} was lost before it had everything"));
            // If a stream never began, it has lost nothing.
            return if self.stopped && !self.refusals.let_in { Ok(true) } else { Err(lost()) };
        };
        association.shutdown();
        let (latency, more) = (self.pump.latency(), if self.stopped { LAST } else { CLOSE_TIMEOUT });
        let mut deadline = tokio::time::Instant::now() + latency + more;
        let reason = loop {
            tokio::select! {
                reason = association.closed() => break reason,
                () = stopped(&mut self.stop), if !self.stopped => {
                    self.stopped = true;
                    deadline = tokio::time::Instant::now() + latency + LAST;
                }
                () = self.watch.tick() => {
                    let silent = self.watch.poll(self.clock.now(), association, &mut self.pump).await;
                    // An outage is tolerated as long as the association survives. The exception is an application that
                    // waits for the end.
                    let bears = silent && !self.stopped;
                    if tokio::time::Instant::now() >= deadline && !bears {
                        association.abort("no answer to the end of the stream");
                        break CloseReason::Unreachable;
                    }
                }
            }
        };
        self.watch.poll(self.clock.now(), association, &mut self.pump).await;
        match reason {
            CloseReason::Shutdown if self.admission.given || self.stopped => Ok(true),
            CloseReason::Shutdown => {
                Err(Error::Peer(format!("{} did not say that it plays the stream", self.plan.to.label)))
            }
            reason
                if self.plan.is_final(&reason) && !self.plan.is_replaced(&reason) && self.may_restart() =>
            {
                self.refused(&reason).await?;
                self.pump.ended = false;
                Ok(false)
            }
            reason => Err(Error::Peer(format!("{} before it had everything", self.named(&reason)))),
        }
    }

    /// Aborts the association if the stream will not end regularly.
    async fn leave(&mut self, outcome: &Result<(), Error>) {
        if let (Err(Error::Media(_)), Connection::Up(association)) = (outcome, &self.connection) {
            association.abort(&format!("{REFUSED}the sender cannot read its input"));
            // Returns after the abort is sent.
            association.closed().await;
        }
    }

    /// Reports the summary, regardless of the outcome.
    fn finish(mut self, outcome: Result<(), Error>) -> Result<(), Error> {
        let summary = self.watch.summary(self.clock.now(), &self.pump, &self.input.name());
        // If the application ends the stream, only the summary reports late messages.
        let verdict = if self.stopped { Ok(()) } else { summary.verdict() };
        self.watch.finish(self.clock.now(), summary);
        outcome.and(verdict)
    }
}

impl Connection {
    fn association(&self) -> Option<&AssociationHandle> {
        match self {
            Connection::Up(association) => Some(association),
            Connection::Search(_) => None,
        }
    }

    async fn next_step(&mut self) -> Step {
        match self {
            Connection::Up(association) => tokio::select! {
                event = association.event() => Step::Event(event),
                Some(message) = association.recv() => Step::Said(message),
            },
            Connection::Search(search) => Step::Found(search.await.unwrap_or(Err(Error::Aborted))),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        match self {
            Connection::Search(search) => search.abort(),
            // After the end of a stream, the association is already closed.
            Connection::Up(association) => association.abort(&format!("{REFUSED}the sender has ended")),
        }
    }
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
