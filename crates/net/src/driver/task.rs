//! The loop itself.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use strandcast_proto::app::App;
use strandcast_proto::association::Event;
use strandcast_proto::endpoint::{AssociationId, Endpoint, Input};
use strandcast_proto::time::Instant;
use tokio::time::Sleep;

use super::control::Control;
use super::core::Core;
use super::links::Way;
use crate::clock::Clock;
use crate::pool::RecvPool;

/// Batches read from one socket before they are answered.
const BATCHES_A_TURN: usize = 4;
/// Turns before other tasks of the thread get theirs.
const TURNS: usize = 32;
/// How often interfaces are looked at and lost paths tried again.
const LOOK: Duration = Duration::from_secs(1);

/// A driver at work.
pub(super) struct Task<A> {
    pub core: Core,
    pub app: Option<A>,
    pub control: Arc<Control>,
    /// The one association of a client: the task ends some time after it was released.
    pub client: Option<AssociationId>,
    clock: Clock,
    pool: RecvPool,
    buffer: Vec<u8>,
    timer: Pin<Box<Sleep>>,
    /// When the timer rings; it may be early.
    armed: Instant,
    next_look: Instant,
    /// How long a peer may take to ask again for the last word.
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
            next_look: clock.now() + LOOK,
            linger: Duration::ZERO,
            ends: None,
        }
    }

    /// Runs to its end and gives the application back.
    pub async fn run(mut self) -> A {
        poll_fn(|cx| self.poll(cx)).await;
        self.app.take().expect("taken only here, where the task is moved in")
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.control.register(cx.waker());
        for turn in 0..TURNS {
            let mut busy = self.obey();
            busy |= self.core.links.flush(cx);
            busy |= self.receive(cx);
            let now = self.clock.now();
            if self.core.endpoint.poll_timeout().is_some_and(|at| at <= now) {
                self.core.endpoint.handle_timeout(now);
                busy = true;
            }
            if now >= self.next_look {
                self.next_look = now + LOOK;
                self.core.look_after_links(now);
                busy = true;
            }
            busy |= self.core.listen_to_links(cx, now);
            if busy || turn == 0 {
                self.pump(now);
            }
            if self.is_over(now) {
                return Poll::Ready(());
            }
            if !busy && !self.rings(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Runs what others want done; whether there was anything.
    fn obey(&mut self) -> bool {
        let mut any = false;
        while let Some(command) = self.control.next_command() {
            command(&mut self.core, self.clock.now());
            any = true;
        }
        any
    }

    /// Hands in what has come; whether any socket was ready.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        let Core { endpoint, links, .. } = &mut self.core;
        let mut any = false;
        let mut tap = links.tap.take();
        for link in links.iter_mut() {
            let Some(socket) = &link.socket else { continue };
            let mut lost = match socket.poll_readable(cx) {
                Poll::Pending => continue,
                Poll::Ready(ready) => ready.is_err(),
            };
            any = true;
            for _ in 0..BATCHES_A_TURN {
                let received = match socket.try_recv(&mut self.pool) {
                    Ok(Some(received)) => received,
                    Ok(None) => break,
                    Err(_) => {
                        lost = true;
                        break;
                    }
                };
                let Some(tuple) = link.tuple_of(&received) else { continue };
                let now = self.clock.now();
                if let Some(tap) = &mut tap {
                    received.datagrams().for_each(|datagram| tap(now, &tuple, Way::In, &datagram));
                }
                let (data, segment_size) = (received.contents, received.stride);
                endpoint.copy_kept(self.pool.is_scarce());
                endpoint.handle_input(now, Input::Datagrams { tuple, data, segment_size });
            }
            if lost {
                link.fail();
            }
        }
        links.tap = tap;
        any
    }

    /// Lets endpoint and application act until neither has anything more to say.
    fn pump(&mut self, now: Instant) {
        let Some(app) = &mut self.app else { return };
        // Something happened since the application was last polled.
        let mut news = true;
        loop {
            news |= self.core.send(now, &mut self.buffer);
            if let Some((id, event)) = self.core.endpoint.poll_event() {
                if self.client == Some(id) && matches!(event, Event::Connected { .. }) {
                    // Uplinks that the handshake did without.
                    self.next_look = now;
                }
                self.linger = self.linger.max(longest_rto(&self.core.endpoint, id, &event));
                app.on_event(now, &mut self.core.endpoint, id, &event);
                news = true;
            } else if news {
                app.poll(now, &mut self.core.endpoint);
                news = false;
            } else {
                return;
            }
        }
    }

    fn is_over(&mut self, now: Instant) -> bool {
        if self.control.stopped() {
            return true;
        }
        if self.client.is_none_or(|id| self.core.endpoint.association(id).is_some()) {
            return false;
        }
        now >= *self.ends.get_or_insert(now + self.linger)
    }

    /// Whether something is due now; if not, the timer will tell.
    fn rings(&mut self, cx: &mut Context<'_>) -> bool {
        let app = self.app.as_ref().and_then(App::poll_timeout);
        let of_core = [self.core.endpoint.poll_timeout(), self.core.monitor.poll_timeout()];
        let wishes = of_core.into_iter().chain([app, self.ends, Some(self.next_look)]);
        let next = wishes.flatten().min().unwrap_or(Instant::MAX);
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

/// After a graceful close the peer may have missed our last word, and asks again within its retransmission timeout.
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
