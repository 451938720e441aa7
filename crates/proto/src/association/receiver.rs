//! The receiving half: TSNs, reassembly, what may be held, and when to acknowledge (RFC 9260 §6.2, §6.7).

mod arrivals;
mod coded;
mod data;
mod memory;
mod sacks;
mod sizing;

pub(super) use data::PacketData;

use bytes::BytesMut;

use super::acknowledger::Acknowledger;
use super::buffer_size::ReceiveSize;
use super::context::Context;
use super::lifecycle::State;
use super::right_sizing::Buffer;
use crate::coding::Decoding;
use crate::config::TransportConfig;
use crate::policy::PathId;
use crate::rx::{ArrivedRequest, Message, Reassembly, TsnTracker};
use crate::time::Instant;
use crate::wire::Tsn;
use crate::wire::chunk::GapBlock;

/// What reading gave and did.
#[derive(Debug)]
pub(crate) struct Reading {
    pub message: Option<Message>,
    /// What is held may have changed: symbols are read that give no message.
    pub changed: bool,
    /// An acknowledgement is due.
    pub acknowledges: bool,
    /// There is more, which has to wait.
    pub waits: bool,
    /// What was read can't be decoded: the association has ended.
    pub undecodable: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Receiver {
    tracker: TsnTracker,
    reassembly: Reassembly,
    /// How much it may hold.
    size: ReceiveSize,
    acks: Acknowledger,
    /// The last advertised window was closed; tell when it opens.
    window_closed: bool,
    streams: u16,
    gaps: Vec<GapBlock>,
    /// What the endpoint lets the association hold, and whether payloads are copied (see [`super::Association::allow`]).
    allowed: usize,
    copies: bool,
    /// What makes messages of what arrives, if the peer codes.
    decoding: Option<Decoding>,
    /// The application wants what comes: it is decoded.
    wanted: bool,
    /// The peer sends copies and wants to know by which path each arrived.
    names_arrivals: bool,
    /// Whether it wants to know what arrived by each path, and by which ways.
    arrived: ArrivedRequest,
    /// Of what items that name them are cut.
    arrivals_block: BytesMut,
}

impl Receiver {
    pub fn new(config: &TransportConfig, peer_initial_tsn: Tsn, streams: u16) -> Self {
        Receiver {
            tracker: TsnTracker::new(peer_initial_tsn),
            reassembly: Reassembly::new(peer_initial_tsn),
            size: ReceiveSize::new(config),
            acks: Acknowledger::new(),
            window_closed: false,
            streams,
            gaps: Vec::new(),
            allowed: usize::MAX,
            copies: false,
            decoding: None,
            wanted: true,
            names_arrivals: false,
            arrived: ArrivedRequest::default(),
            arrivals_block: BytesMut::new(),
        }
    }

    /// Reads on: the next message, in the order their streams allow. `sent`: heap of what waits to be sent and acknowledged,
    /// bytes.
    pub fn read(&mut self, cx: &mut Context, sent: usize) -> Reading {
        let coded = self.decoding.is_some();
        let open = cx.state != State::Closed;
        let message = if coded { self.decode(cx, sent) } else { self.pop(cx, sent) };
        if let Some(message) = &message {
            cx.stats.messages_received += 1;
            cx.stats.bytes_received += message.payload.len() as u64;
        }
        Reading {
            changed: coded || message.is_some(),
            acknowledges: self.sack_due().is_some(),
            waits: message.is_none() && self.decode_timeout().is_some(),
            undecodable: open && cx.state == State::Closed,
            message,
        }
    }

    /// The next message as the peer's chunks carried it.
    fn pop(&mut self, cx: &Context, sent: usize) -> Option<Message> {
        let message = self.reassembly.pop()?;
        self.shrink_size(message.payload.len());
        self.window_may_open(cx, sent);
        Some(message)
    }

    /// The peer wants to know by which path each copy arrives.
    pub fn name_arrivals(&mut self) {
        self.names_arrivals = true;
    }

    /// The peer wants to know what arrives by each path; false if it makes no sense how it says so.
    pub fn report_arrived(&mut self, serial: u32, payload: &[u8]) -> bool {
        self.arrived.ask(serial, payload)
    }

    /// Gives memory back that a burst needed.
    pub fn shrink(&mut self) {
        self.reassembly.shrink();
        self.tracker.shrink();
        self.gaps = Vec::new();
    }

    /// The highest TSN below which nothing is missing.
    pub fn cum_tsn(&self) -> Tsn {
        self.tracker.cum_tsn()
    }

    /// Bytes of the receive buffer in use.
    pub fn buffered(&self) -> usize {
        self.reassembly.buffered_bytes()
    }

    /// The receive buffer, as applications see it.
    pub fn buffer(&self) -> Buffer {
        Buffer { size: self.size.size, used: self.buffered(), most_used: self.size.most }
    }

    /// The path of the SACK that is due.
    pub fn sack_due(&self) -> Option<PathId> {
        self.acks.due()
    }

    pub fn sack_timeout(&self) -> Option<Instant> {
        self.acks.timeout()
    }

    /// SACK.Delay may be over, and the wait of symbols.
    pub fn on_timers(&mut self, cx: &mut Context, now: Instant) {
        let due = |t: Option<Instant>| t.is_some_and(|t| t <= now);
        if due(self.sack_timeout()) {
            self.acks.on_timeout();
        }
        if due(self.decode_timeout()) {
            self.on_decode_timeout(cx, now);
        }
    }

    /// A SACK leaves by `via` as soon as possible.
    pub fn sack_by(&mut self, now: Instant, via: PathId) {
        self.acks.schedule(now, via, None);
    }

    /// The SACK that is due can't leave where it would: it goes by `via`; not `possible`: not at all.
    pub fn redirect_sack(&mut self, via: PathId, possible: bool) {
        self.acks.redirect(via, possible);
    }

    /// DATA packets since the last SACK.
    pub fn packets_since_sack(&self) -> u32 {
        self.acks.packets()
    }

    /// Blocks of TSNs that arrived beyond a gap.
    #[cfg(any(test, feature = "testing"))]
    pub fn blocks(&self) -> usize {
        self.tracker.blocks()
    }

    /// What a peer can make us hold has bounds.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_bounded(&self) {
        let (heap, granted) = (self.chunks_heap(), self.size.size);
        assert!(heap <= 2 * granted + (1 << 20), "{heap} bytes for a receive buffer of {granted}");
        if let Some((heap, bound)) = self.decoding.as_ref().and_then(|d| Some((d.heap(), d.bound()?))) {
            assert!(heap <= bound, "{heap} bytes to decode, {bound} at the most");
        }
    }
}
