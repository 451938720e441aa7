//! The driver's event loop.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use strandcast_proto::app::App;
use strandcast_proto::association::{Event, PathChange};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::policy::PathState;
use strandcast_proto::time::Instant;
use tokio::time::Sleep;

use super::control::Control;
use super::core::Core;
use crate::clock::Clock;
use crate::pool::RecvPool;
use crate::socket::{PathSocket, Received, Transmit};

/// Number of batches that are read from one socket before the endpoint answers.
const BATCHES_PER_TURN: usize = 4;
/// Number of rounds before the task lets other tasks run.
const TURNS: usize = 32;
/// Delay of the first check of the interfaces.
const INTERFACE_POLL: Duration = Duration::from_secs(1);
/// Minimum time between two checks of the interfaces, even if the kernel announces many changes.
const SETTLE: Duration = Duration::from_millis(100);

/// The state of a running driver.
pub(super) struct Task<A> {
    pub core: Core,
    pub app: Option<A>,
    pub control: Arc<Control>,
    /// The only association of a client. The task ends a short time after the association was released.
    pub client: Option<AssociationId>,
    clock: Clock,
    pool: RecvPool,
    buffer: Vec<u8>,
    timer: Pin<Box<Sleep>>,
    /// Time at which the timer fires. The timer may fire early.
    armed: Instant,
    next_interface_poll: Instant,
    last_interface_poll: Instant,
    /// Time for which the task continues after the release. A peer that missed the last chunk can request it in this
    /// time.
    linger: Duration,
    ends: Option<Instant>,
}

impl<A: App> Task<A> {
    pub fn new(
        core: Core,
        app: A,
        control: Arc<Control>,
        client: Option<AssociationId>,
        clock: Clock,
    ) -> Self {
        Task {
            core,
            app: Some(app),
            control,
            client,
            clock,
            pool: RecvPool::new(),
            buffer: Vec::new(),
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
            armed: Instant::MAX,
            next_interface_poll: clock.now() + INTERFACE_POLL,
            last_interface_poll: Instant::ZERO,
            linger: Duration::ZERO,
            ends: None,
        }
    }

    /// Runs until the driver ends, and returns the application.
    pub async fn run(mut self) -> A {
        poll_fn(|cx| self.poll(cx)).await;
        self.app.take().expect("taken only here, where the task is moved in")
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.control.register(cx.waker());
        for turn in 0..TURNS {
            let mut busy = self.run_commands();
            busy |= self.core.sockets.flush(cx);
            let begun = self.clock.now();
            let received = self.receive(cx);
            busy |= received;
            let now = self.clock.now();
            if self.core.sealed.poll_timeout().is_some_and(|at| at <= now) {
                self.core.sealed.handle_timeout(now);
                busy = true;
            }
            if self.core.interfaces.poll_events(cx) {
                // Changes of interfaces usually come in groups.
                self.next_interface_poll =
                    self.next_interface_poll.min(now.max(self.last_interface_poll + SETTLE));
            }
            if now >= self.next_interface_poll {
                self.last_interface_poll = now;
                self.next_interface_poll = now + self.core.reconcile_interfaces(now);
                busy = true;
            }
            if self.core.sockets.poll_timeout().is_some_and(|at| at <= now) {
                self.core.sockets.listen_again(now);
                busy = true;
            }
            busy |= self.core.poll_link_monitor(cx, now);
            if busy || turn == 0 {
                self.pump(now);
            }
            if received {
                let now = self.clock.now();
                self.core.sealed.took(now, now - begun);
            }
            if self.is_over(now) {
                return Poll::Ready(());
            }
            if !busy && !self.arm_timer(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Runs the requests that are queued. Returns whether any requests were queued.
    fn run_commands(&mut self) -> bool {
        let mut any = false;
        while let Some(command) = self.control.next_command() {
            command(&mut self.core, self.clock.now());
            any = true;
        }
        any
    }

    /// Passes received datagrams to the endpoint. Returns whether any socket was ready.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        let Core { sealed, sockets, plain, .. } = &mut self.core;
        let mut any = false;
        for slot in sockets.iter_mut() {
            if slot.pauses(self.clock) {
                continue;
            }
            let Some(socket) = &slot.socket else { continue };
            let mut failure = match socket.poll_readable(cx) {
                Poll::Pending => {
                    slot.is_idle();
                    continue;
                }
                Poll::Ready(ready) => ready.err(),
            };
            any = true;
            let mut received_any = false;
            for _ in 0..BATCHES_PER_TURN {
                let received = match socket.try_recv(&mut self.pool) {
                    Ok(Some(received)) => received,
                    Ok(None) => break,
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                };
                received_any = true;
                let Some(tuple) = slot.tuple_of(&received) else { continue };
                let now = self.clock.now();
                if !sealed.is_sealed() && plain.answer(now, &received.contents, &mut self.buffer) {
                    answer(socket, &received, &self.buffer);
                    self.buffer.clear();
                }
                sealed.endpoint_mut().copy_kept(self.pool.is_scarce());
                sealed.receive(now, tuple, received.contents, received.stride);
            }
            if received_any {
                slot.on_received();
            }
            if let Some(error) = failure {
                slot.cannot_receive(self.clock.now(), &error);
            }
        }
        any
    }

    /// Runs the endpoint and the application until both have no more output.
    fn pump(&mut self, now: Instant) {
        let Some(app) = &mut self.app else { return };
        // True if anything has happened since the application was last polled.
        let mut app_is_due = true;
        loop {
            app_is_due |= self.core.send(now, &mut self.buffer);
            if let Some((id, event)) = self.core.poll_event(now) {
                if asks_for_paths(&mut self.core, self.client, id, &event) {
                    self.next_interface_poll = now;
                }
                self.linger = self.linger.max(longest_rto(self.core.endpoint(), id, &event));
                if matches!(event, Event::Closed(_)) {
                    self.core.publish_waits(now);
                }
                app.on_event(now, self.core.endpoint_mut(), id, &event);
                app_is_due = true;
            } else if app_is_due {
                app.poll(now, self.core.endpoint_mut());
                app_is_due = false;
            } else {
                let Core { sealed, waits, .. } = &mut self.core;
                return waits.update(now, sealed.endpoint());
            }
        }
    }

    fn is_over(&mut self, now: Instant) -> bool {
        if self.control.stopped() {
            return true;
        }
        if self.client.is_none_or(|id| self.core.endpoint().association(id).is_some()) {
            return false;
        }
        now >= *self.ends.get_or_insert(now + self.linger)
    }

    /// Returns true if an action is due now. If no action is due, sets the timer and returns false.
    fn arm_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let app = self.app.as_ref().and_then(App::poll_timeout);
        let Core { sealed, monitor, sockets, .. } = &self.core;
        let of_core = [sealed.poll_timeout(), monitor.poll_timeout(), sockets.poll_timeout()];
        let deadlines = of_core.into_iter().chain([app, self.ends, Some(self.next_interface_poll)]);
        let next = deadlines.flatten().min().unwrap_or(Instant::MAX);
        if next <= self.clock.now() {
            return true;
        }
        if next < self.armed
            && let Some(deadline) = self.clock.deadline(next)
        {
            self.armed = next;
            self.timer.as_mut().reset(deadline);
        }
        if self.armed != Instant::MAX && self.timer.as_mut().poll(cx).is_ready() {
            self.armed = Instant::MAX;
            return true;
        }
        false
    }
}

/// Returns whether an event requires opening or closing paths.
fn asks_for_paths(core: &mut Core, client: Option<AssociationId>, id: AssociationId, event: &Event) -> bool {
    match event {
        // Opens the uplinks that the handshake did not use.
        Event::Connected { .. } if client == Some(id) => {
            core.sockets.connected(id);
            true
        }
        // One of several routes of an uplink answers, so that the other routes are no longer needed.
        Event::Path(_, PathChange::State(PathState::Active)) => core.sockets.are_racing(),
        _ => false,
    }
}

/// Sends one datagram to the source of `received`, if that is possible without waiting. If the datagram cannot be sent,
/// nothing is lost, because the sender repeats its message.
fn answer(socket: &PathSocket, received: &Received, contents: &[u8]) {
    let Received { remote, local_ip: src_ip, .. } = *received;
    let _ = socket.try_send(&Transmit { remote, src_ip, segment_size: contents.len(), contents });
}

/// The time for which the peer may need this side after a normal close. If the peer missed the last chunk, the peer
/// requests it again within its retransmission timeout.
fn longest_rto(endpoint: &Endpoint, id: AssociationId, event: &Event) -> Duration {
    use strandcast_proto::association::CloseReason::Shutdown;
    let closed = if *event == Event::Closed(Shutdown) { endpoint.association(id) } else { None };
    let rto = closed.and_then(|a| a.paths().iter().map(|p| p.rto).max());
    rto.map_or(Duration::ZERO, |rto| rto.min(Duration::from_secs(3)).mul_f64(1.2))
}

impl<A> Drop for Task<A> {
    fn drop(&mut self) {
        self.control.end();
    }
}
