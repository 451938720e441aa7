//! A stream from its first association to its end.

use std::convert::Infallible;
use std::time::Duration;

use strandcast_keys::catalog::SharedCatalog;
use strandcast_media::MediaTime;
use strandcast_media::ingest::Ingest;
use strandcast_media::pace::PaceConfig;
use strandcast_media::pack::PackConfig;
use strandcast_net::clock::Clock;
use strandcast_net::driver::AssociationHandle;
use strandcast_net::entropy;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use tokio::task::JoinHandle;

use super::backoff::Backoff;
use super::connect::{PAUSE, Plan, REFUSED, is_busy};
use super::monitor::AssociationMonitor;
use super::prepare::{Prepared, open, scheme};
use super::pump::Pump;
use super::refusals::Refusals;
use crate::admission::admits;
use crate::args::{Retry, SendArgs};
use crate::error::CliError;
use crate::input::Input;
use crate::media_url::MediaUrl;
use crate::print;
use crate::show::Monitor;
use crate::signals::{self, Stop, stopped};

/// Default time to try to connect; a live input, once connected, retries forever.
const RETRY: Duration = Duration::from_secs(30);
/// Minimum silence before an association is given up, even with a shorter retry time: the path may only be slow.
const MIN_SILENCE: Duration = Duration::from_secs(5);
/// Timeout of a close by the receiver, which may have been forged.
const CLOSING: Duration = Duration::from_millis(1500);
/// Time limit for the last acknowledgements at the end, in addition to the latency.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// The same if the user wants the end.
const LAST: Duration = Duration::from_millis(500);

/// The association, or the attempt to connect.
enum Connection {
    Up(AssociationHandle),
    Search(JoinHandle<Result<AssociationHandle, CliError>>),
}

struct Session {
    plan: Plan,
    retry: Retry,
    refusals: Refusals,
    backoff: Backoff,
    /// When the receiver started to close.
    closing: Option<tokio::time::Instant>,
    clock: Clock,
    place: MediaUrl,
    input: Input,
    pump: Pump,
    connection: Connection,
    watch: AssociationMonitor,
    stop: Stop,
    /// The input has ended, or the user has stopped it.
    over: bool,
    /// The user has ended the stream: no further connection attempts.
    stopped: bool,
    /// The receiver has accepted nothing yet: a file restarts with the next association.
    rewind: bool,
    admission: Admission,
}

/// Whether the receiver plays the stream.
#[derive(Debug, Default)]
struct Admission {
    /// The receiver at the other end of this association says so, once it does.
    says: bool,
    /// It plays what comes over this association.
    given: bool,
    /// How long a stream that has ended waits for it.
    until: Option<tokio::time::Instant>,
}

/// The next event.
enum Step {
    Stop,
    Read(Result<usize, CliError>),
    Timer,
    Tick,
    Event(Option<Event>),
    Said(Message),
    Found(Result<AssociationHandle, CliError>),
}

/// Sends a stream.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(mut args: SendArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let scheme = scheme(&args, &**catalog)?;
    let mut stop = signals::watch()?;
    let opened = tokio::select! {
        opened = open(&mut args, scheme) => opened?,
        () = stopped(&mut stop) => return Ok(()),
    };
    let Prepared { plan, input, advice, mut monitor } = opened;
    let first = args.retry.unwrap_or(Retry::For(RETRY));
    let association = tokio::select! {
        found = plan.connect(first, args.retry.is_some()) => found?,
        () = stopped(&mut stop) => return plan.given_up(),
        never = tell(&plan, &mut monitor) => match never {},
    };
    if let Some(cipher) = plan.reports.cipher() {
        monitor.line(&format!("encrypted with {cipher}"));
    }
    let live = args.input.is_live();
    let retry = args.retry.unwrap_or(if live { Retry::Forever } else { first });
    let latency = Duration::from_millis(u64::from(args.latency));
    let clock = Clock::start();
    let mut pump = Pump::new(ingest(live, latency, MediaTime::ZERO)?, latency);
    pump.observe_first(&association).await;
    let refusals = Refusals::new(args.retry.is_some(), tokio::time::Instant::now());
    let watch = AssociationMonitor::new(monitor, &plan, advice);
    let json = plan.transport.json;
    let admission = Admission::with(&association).await;
    let connection = Connection::Up(association);
    let (place, over, stopped, rewind) = (args.input, false, false, false);
    let mut session = Session {
        plan,
        retry,
        refusals,
        backoff: Backoff::default(),
        closing: None,
        clock,
        place,
        input,
        pump,
        connection,
        watch,
        stop,
        over,
        stopped,
        rewind,
        admission,
    };
    let outcome = session.stream().await;
    session.leave(&outcome).await;
    session.finish(outcome, json)
}

/// Reports why there is no connection yet.
async fn tell(plan: &Plan, monitor: &mut Monitor) -> Infallible {
    loop {
        monitor.tick().await;
        plan.untold().into_iter().for_each(|line| monitor.line(&line));
    }
}

/// The input's state machine; a file starts at `origin`. A random number identifies the run of the sender.
fn ingest(live: bool, latency: Duration, origin: MediaTime) -> Result<Ingest, CliError> {
    let seeds = entropy::seeds()
        .map_err(|e| CliError::Network(format!("the system provides no random numbers: {e}")))?;
    let session = seeds.stream("session").u32();
    let pack = PackConfig { lifetime: Some(latency), ..PackConfig::new(session) };
    Ok(if live { Ingest::live(pack) } else { Ingest::paced(origin, PaceConfig::default(), pack) })
}

impl Session {
    /// Whether the end of the stream may be followed by that of the association: a receiver that has not decided yet might
    /// refuse it.
    fn may_close(&mut self) -> bool {
        if self.admission.given || self.stopped || self.connection.association().is_none() {
            return true;
        }
        let latest = tokio::time::Instant::now() + self.pump.latency() + CLOSE_TIMEOUT;
        tokio::time::Instant::now() >= *self.admission.until.get_or_insert(latest)
    }

    /// The receiver plays the stream.
    fn admitted(&mut self) {
        self.admission.given = true;
        if self.refusals.admitted() {
            self.watch.line(&format!("{} no longer refuses", self.plan.to.label));
        }
    }

    fn now(&self) -> MediaTime {
        MediaTime::from_nanos(self.clock.now().as_nanos())
    }

    /// Sends until the end of the stream is acknowledged.
    async fn stream(&mut self) -> Result<(), CliError> {
        loop {
            while !(self.pump.ended && self.may_close()) {
                if !self.rewind {
                    self.pump.pump(self.now(), self.connection.association(), |_, _| ());
                }
                match self.step().await {
                    Step::Stop => self.stop(),
                    Step::Read(read) => self.read(read?)?,
                    Step::Timer => {}
                    Step::Tick => self.tick().await,
                    Step::Event(event) => self.event(event)?,
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
        let Session { input, connection, watch, stop, stopped: asked, .. } = self;
        tokio::select! {
            () = stopped(stop), if !*asked => Step::Stop,
            read = input.read(), if wants_input => Step::Read(read),
            () = sleep_until(due) => Step::Timer,
            () = watch.tick() => Step::Tick,
            step = connection.next_step() => step,
        }
    }

    fn stop(&mut self) {
        (self.over, self.stopped) = (true, true);
        let now = self.now();
        self.pump.stop(now);
        // Without an association the end cannot be sent.
        self.pump.ended |= self.connection.association().is_none();
    }

    fn read(&mut self, len: usize) -> Result<(), CliError> {
        self.over |= len == 0;
        let (now, name) = (self.now(), self.input.name());
        let taken = self.pump.push(now, self.input.bytes(len));
        taken.map_err(|e| CliError::Media(format!("cannot send {name}: {e}")))
    }

    async fn tick(&mut self) {
        let now = self.now();
        let Connection::Up(association) = &self.connection else {
            return self.plan.untold().into_iter().for_each(|line| self.watch.line(&line));
        };
        self.pump.keep_alive(now, association);
        self.watch.poll(self.clock.now(), association, &mut self.pump).await;
        let silence = self.watch.silence(self.clock.now());
        // Without a retry time set by the user, the association itself detects failure.
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

    fn event(&mut self, event: Option<Event>) -> Result<(), CliError> {
        match event {
            Some(Event::PeerShutdown) => {
                self.closing = Some(tokio::time::Instant::now());
                Ok(())
            }
            Some(Event::Closed(reason)) if self.plan.is_replaced(&reason) => {
                Err(CliError::Peer(self.named(&reason)))
            }
            Some(Event::Closed(CloseReason::Shutdown)) if !self.refusals.asked => {
                Err(CliError::Peer(self.named(&CloseReason::Shutdown)))
            }
            Some(Event::Closed(CloseReason::Shutdown)) => self.refused(&CloseReason::Shutdown),
            Some(Event::Closed(reason)) if self.plan.is_final(&reason) => self.refused(&reason),
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

    /// Why the association ended, with the receiver's name.
    fn named(&self, reason: &CloseReason) -> String {
        format!("{} {}", self.plan.to.label, self.plan.words(reason))
    }

    /// Gives up the association and reconnects.
    fn search(&mut self, why: &str) {
        self.watch.line(&format!("{why}; connecting again"));
        self.watch.broke();
        let pause = self.backoff.next(tokio::time::Instant::now());
        self.search_after(pause);
    }

    fn search_after(&mut self, pause: Duration) {
        self.watch.lost();
        self.closing = None;
        // As in `stop`: without an association the end cannot be sent.
        self.pump.ended |= self.stopped;
        let (plan, retry) = (self.plan.clone(), self.retry);
        let retries_refusals = self.refusals.retries_refusals(retry, false);
        self.connection = Connection::Search(tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            plan.connect(retry, retries_refusals).await
        }));
    }

    /// The receiver refuses the stream: ends, or retries.
    fn refused(&mut self, reason: &CloseReason) -> Result<(), CliError> {
        let why = self.named(reason);
        let first = self.refusals.refused(tokio::time::Instant::now(), self.retry, is_busy(reason));
        let Some(first) = first else { return Err(CliError::Peer(why)) };
        if first {
            self.watch.line(&format!("{why}; trying again"));
        }
        self.plan.reasons.told(&why);
        self.rewind = self.may_restart();
        self.pump.ended &= !self.rewind;
        self.search_after(PAUSE);
        Ok(())
    }

    /// Whether a file can restart, because nothing of it has been received.
    fn may_restart(&self) -> bool {
        !self.refusals.let_in && !self.place.is_live() && !self.stopped
    }

    async fn found(&mut self, found: Result<AssociationHandle, CliError>) -> Result<(), CliError> {
        self.connection = Connection::Up(found?);
        let report = self.refusals.connected(tokio::time::Instant::now());
        self.watch.found(self.clock.now(), report);
        if std::mem::take(&mut self.rewind) {
            self.input = Input::open(&self.place).await?;
            let latency = self.pump.latency();
            self.pump = Pump::new(ingest(false, latency, self.now())?, latency);
            self.over = false;
            self.watch.restart();
        }
        if let Some(association) = self.connection.association() {
            self.admission = Admission::with(association).await;
            self.pump.observe_first(association).await;
        }
        Ok(())
    }

    /// Closes once everything is acknowledged or expired; false if the stream restarts instead.
    async fn finish_stream(&mut self) -> Result<bool, CliError> {
        let Connection::Up(association) = &self.connection else {
            let label = &self.plan.to.label;
            let lost = || CliError::Peer(format!("{label} was lost before it had everything"));
            // A stream that never began has nothing to lose.
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
                    // An outage is tolerated as long as the association survives, unless the user is waiting.
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
                Err(CliError::Peer(format!("{} did not say that it plays the stream", self.plan.to.label)))
            }
            reason
                if self.plan.is_final(&reason) && !self.plan.is_replaced(&reason) && self.may_restart() =>
            {
                self.refused(&reason)?;
                self.pump.ended = false;
                Ok(false)
            }
            reason => Err(CliError::Peer(format!("{} before it had everything", self.named(&reason)))),
        }
    }

    /// Aborts if there will be no end of the stream.
    async fn leave(&mut self, outcome: &Result<(), CliError>) {
        if let (Err(CliError::Media(_)), Connection::Up(association)) = (outcome, &self.connection) {
            association.abort(&format!("{REFUSED}the sender cannot read its input"));
            // Waits until the abort is sent.
            association.closed().await;
        }
    }

    /// Prints the summary, regardless of the outcome.
    fn finish(mut self, outcome: Result<(), CliError>, json: bool) -> Result<(), CliError> {
        let summary = self.watch.summary(self.clock.now(), &self.pump, self.input.name());
        self.watch.clear();
        for line in summary.lines() {
            self.watch.last_line(&line);
        }
        let printed = if json { print::json(&(summary.json() + "\n")) } else { Ok(()) };
        // Of a stream that the user ends, what was late is in the summary.
        let verdict = if self.stopped { Ok(()) } else { summary.verdict() };
        outcome.and(printed).and(verdict)
    }
}

impl Admission {
    /// That of a new association.
    async fn with(association: &AssociationHandle) -> Admission {
        // It is connected: whether the peer is a Strandcast is known.
        let says = matches!(association.connected().await, Ok(true));
        Admission { says, ..Admission::default() }
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
            Connection::Search(search) => Step::Found(search.await.unwrap_or(Err(CliError::Aborted))),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Connection::Search(search) = self {
            search.abort();
        }
    }
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
