//! The two ends of an SCTP flow: applications of a [`SctpHost`](crate::host::SctpHost).

use core::time::Duration;

use bytes::{Bytes, BytesMut};
use strandcast_proto::app::App;
use strandcast_proto::association::{Dropped, Event, SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::PathId;
use strandcast_proto::time::Instant;

use super::Feed;
use crate::host::TracedApp;
use crate::net::TraceEvent;
use crate::traffic::Frame;

/// Number of bytes at the beginning of every message: the message's number and time of submission.
const HEADER: usize = 16;
/// Stream of keep-alives; `ALIVE_LIFETIME` is their lifetime. A keep-alive is a message of one byte, as in `strandcast
/// send`.
const ALIVE: u16 = 1;
const ALIVE_LIFETIME: Duration = Duration::from_secs(2);
/// Size in bytes of the blocks from which messages are cut. One allocation then serves many messages.
const BLOCK: usize = 64 * 1024;

/// Returns the number of the message that begins with `data`; `None` if `data` is too short for a message of a
/// [`FlowSource`].
pub fn message_number(data: &[u8]) -> Option<u64> {
    data.first_chunk::<8>().map(|number| u64::from_be_bytes(*number))
}

/// Plan for a path that joins or leaves during the flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPlan {
    /// 4-tuple of the path at the client.
    pub tuple: FourTuple,
    /// Time at which the path joins or leaves.
    pub at: Instant,
    /// True if the path joins, false if it leaves.
    pub joins: bool,
}

/// Configuration of an SCTP flow.
#[derive(Debug)]
pub struct SctpFlow {
    /// Parameters with which the association is opened.
    pub connect: Connect,
    /// Path of `connect` that becomes the primary path. `None` keeps the path of the handshake as primary.
    pub primary: Option<PathId>,
    /// Time at which the association is opened.
    pub start: Instant,
    /// Time at which the application stops. Buffered data are still sent.
    pub stop: Option<Instant>,
    /// Messages that the application sends.
    pub feed: Feed,
    /// Time after capture at which messages of a video are given up.
    pub lifetime: Option<Duration>,
    /// Time without a message after which the application sends a keep-alive of one byte. `None` turns keep-alives off.
    pub keep_alive: Option<Duration>,
    /// Paths that join and leave, in order of time.
    pub plan: Vec<PathPlan>,
}

/// The sending application.
#[derive(Debug)]
pub struct FlowSource {
    connect: Option<Connect>,
    primary: Option<PathId>,
    start: Instant,
    stop: Option<Instant>,
    feed: Feed,
    lifetime: Option<Duration>,
    keep_alive: Option<Duration>,
    /// Time of the next keep-alive, if no message is sent before.
    alive_at: Instant,
    plan: std::collections::VecDeque<PathPlan>,
    association: Option<AssociationId>,
    connected: bool,
    full: bool,
    ended: bool,
    message: u64,
    /// Message numbers that the transport assigned to keep-alives. Keep-alives and other messages share one sequence of
    /// numbers.
    alive: Vec<u64>,
    block: BytesMut,
    events: Vec<TraceEvent>,
}

impl FlowSource {
    /// Creates a source that has not started yet.
    pub fn new(flow: SctpFlow) -> Self {
        let SctpFlow { connect, primary, start, stop, feed, lifetime, keep_alive, plan } = flow;
        FlowSource {
            connect: Some(connect),
            primary,
            start,
            stop,
            feed,
            lifetime,
            keep_alive,
            alive_at: Instant::MAX,
            plan: plan.into(),
            association: None,
            connected: false,
            full: false,
            ended: false,
            message: 0,
            alive: Vec::new(),
            block: BytesMut::new(),
            events: Vec::new(),
        }
    }

    fn payload(&mut self, at: Instant, bytes: u32) -> Bytes {
        let size = (bytes as usize).max(HEADER);
        if self.block.len() < size {
            self.block = BytesMut::zeroed(BLOCK.max(size));
        }
        let mut payload = self.block.split_to(size);
        payload[..8].copy_from_slice(&self.message.to_be_bytes());
        payload[8..HEADER].copy_from_slice(&at.as_nanos().to_be_bytes());
        payload.freeze()
    }

    fn follow_plan(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        while let Some(PathPlan { tuple, joins, .. }) = self.plan.pop_front_if(|p| p.at <= now) {
            if joins {
                // Refused only by peers other than Strandcast, and both ends are Strandcast.
                let _ = endpoint.add_path(now, id, tuple, None);
            } else {
                let _ = endpoint.with(id, |a| {
                    let mut all = a.paths().iter().map(|p| p.id);
                    let is = |t: FourTuple| FourTuple { sealed: tuple.sealed, ..t } == tuple;
                    match all.find(|p| a.tuple(*p).is_some_and(is)) {
                        Some(path) => a.remove_path(now, path),
                        None => Ok(()),
                    }
                });
            }
        }
    }

    /// Sends a keep-alive if one is due. No keep-alive is needed while the send buffer is full, because other messages
    /// wait in it.
    fn keep_alive(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        if self.alive_at <= now && !self.ended {
            let lifetime = Some(ALIVE_LIFETIME);
            let options = SendOptions { stream: ALIVE, unordered: true, lifetime, ..SendOptions::default() };
            self.alive.extend(endpoint.send(now, id, Bytes::from_static(&[0]), options));
            self.said(now);
        }
    }

    /// Schedules the next keep-alive for the time `keep_alive` after a message.
    fn said(&mut self, now: Instant) {
        self.alive_at = self.keep_alive.map_or(Instant::MAX, |after| now + after);
    }

    fn dropped(&mut self, dropped: &Dropped) {
        if let Err(before) = self.alive.binary_search(&dropped.message) {
            let message = dropped.message - before as u64;
            self.events.push(TraceEvent::Dropped(Dropped { message, ..*dropped }));
        }
    }

    fn submit(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        while let Some(emission) = self.feed.peek(now).filter(|_| !self.full) {
            let payload = self.payload(emission.at, emission.bytes);
            let left = |lifetime: Duration| lifetime.saturating_sub(now - emission.capture());
            let lifetime = self.lifetime.map(left);
            let of_frame = |frame: Frame| (frame.importance, Some(u64::from(frame.number)));
            let (importance, group) = emission.frame.map_or_else(Default::default, of_frame);
            let unordered = lifetime.is_some();
            let options = SendOptions { lifetime, unordered, importance, group, ..SendOptions::default() };
            let bytes = payload.len() as u32;
            match endpoint.send(now, id, payload, options) {
                Ok(_) => {
                    self.events.push(TraceEvent::Submitted { message: self.message, bytes });
                    self.message += 1;
                    self.feed.take();
                    self.said(now);
                }
                Err(SendError::Full) => self.full = true,
                Err(_) => self.ended = true,
            }
            if self.ended {
                return;
            }
        }
        if self.feed.is_done() || self.stop.is_some_and(|stop| stop <= now) {
            endpoint.shutdown(now, id);
            self.ended = true;
        }
    }
}

impl App for FlowSource {
    fn on_event(&mut self, now: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        if self.association != Some(id) {
            return;
        }
        match event {
            Event::Connected { .. } => {
                self.connected = true;
                self.said(now);
            }
            Event::Writable => self.full = false,
            Event::Dropped(dropped) => self.dropped(dropped),
            Event::Closed(_) => self.ended = true,
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if self.start <= now
            && let Some(connect) = self.connect.take()
        {
            self.association = endpoint.connect(now, connect).ok();
            self.ended = self.association.is_none();
            if let Some((id, path)) = self.association.zip(self.primary) {
                let wanted = endpoint.with(id, |a| a.set_primary(now, path));
                debug_assert!(wanted.is_ok(), "the primary is one of the paths that it connects over");
            }
        }
        let Some(id) = self.association.filter(|_| self.connected && !self.ended) else { return };
        self.follow_plan(now, endpoint, id);
        self.submit(now, endpoint, id);
        self.keep_alive(now, endpoint, id);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.connect.is_some() {
            return Some(self.start);
        }
        if !self.connected || self.ended {
            return None;
        }
        let feed = self.feed.next_at().filter(|_| !self.full);
        let alive = Some(self.alive_at).filter(|at| *at < Instant::MAX);
        let all = [feed, self.stop, self.plan.front().map(|p| p.at), alive];
        all.into_iter().flatten().min()
    }
}

impl TracedApp for FlowSource {
    fn take_events(&mut self, out: &mut Vec<TraceEvent>) {
        out.append(&mut self.events);
    }
}

/// The receiving application.
#[derive(Debug, Default)]
pub struct FlowSink {
    readable: Option<AssociationId>,
    events: Vec<TraceEvent>,
}

impl App for FlowSink {
    fn on_event(&mut self, _: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        if *event == Event::Readable {
            self.readable = Some(id);
        }
    }

    fn poll(&mut self, _: Instant, endpoint: &mut Endpoint) {
        let Some(id) = self.readable.take() else { return };
        while let Some(message) = endpoint.recv(id) {
            let Some(number) = message_number(&message.payload) else { continue };
            let Some(submitted) = message.payload[8..].first_chunk::<8>() else { continue };
            self.events.push(TraceEvent::Delivered {
                message: number,
                bytes: message.payload.len() as u32,
                submitted: Instant::from_nanos(u64::from_be_bytes(*submitted)),
            });
        }
    }
}

impl TracedApp for FlowSink {
    fn take_events(&mut self, out: &mut Vec<TraceEvent>) {
        out.append(&mut self.events);
    }
}
