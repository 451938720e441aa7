//! The receiving half of an association: TSNs, reassembly, limits of held data, and times of acknowledgements (RFC 9260
//! §6.2, §6.7).

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

/// Result and effects of a read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub message: Option<Message>,
    /// True if the amount of held data may have changed. Reading symbols changes it even if no message is returned.
    pub changed: bool,
    /// True if an acknowledgement is due.
    pub acknowledges: bool,
    /// True if more data are ready to be processed later.
    pub waits: bool,
    /// True if the data cannot be decoded. The association has then ended.
    pub undecodable: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Receiver {
    tracker: TsnTracker,
    reassembly: Reassembly,
    /// Size of the receive buffer, which limits held data.
    size: ReceiveSize,
    acks: Acknowledger,
    /// True if the last advertised window was closed. When the window opens again, the peer receives an update.
    window_closed: bool,
    streams: u16,
    gaps: Vec<GapBlock>,
    /// Heap in bytes that the endpoint allows the association, and whether payloads are copied. See
    /// [`super::Association::allow`].
    allowed: usize,
    copies: bool,
    /// Decoder of the peer's data, if the peer sends coded data.
    decoding: Option<Decoding>,
    /// True if the application reads received data. Received symbols are decoded only then.
    wanted: bool,
    /// True if the peer sends copies and requests reports of the path of each arrival.
    names_arrivals: bool,
    /// The peer's request for reports of arrivals by path, and the return paths that it names.
    arrived: ArrivedRequest,
    /// Memory block from which items about arrivals are cut.
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

    /// Reads the next message, in an order that its stream permits. `sent` is the heap in bytes of data that wait to be
    /// sent or acknowledged.
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

    /// Returns the next message, without decoding: its content is as in the peer's chunks.
    fn pop(&mut self, cx: &Context, sent: usize) -> Option<Message> {
        let message = self.reassembly.pop()?;
        self.shrink_size(message.payload.len());
        self.window_may_open(cx, sent);
        Some(message)
    }

    /// Records that the peer requests reports of the path of each copy's arrival.
    pub fn name_arrivals(&mut self) {
        self.names_arrivals = true;
    }

    /// Handles the peer's request for reports of arrivals by path. Returns false if the request is malformed.
    pub fn report_arrived(&mut self, serial: u32, payload: &[u8]) -> bool {
        self.arrived.ask(serial, payload)
    }

    /// Releases memory that was needed only for a burst.
    pub fn shrink(&mut self) {
        self.reassembly.shrink();
        self.tracker.shrink();
        self.gaps = Vec::new();
    }

    /// Returns the cumulative TSN: the highest TSN up to which no TSN is missing.
    pub fn cum_tsn(&self) -> Tsn {
        self.tracker.cum_tsn()
    }

    /// Bytes of the receive buffer in use.
    pub fn buffered(&self) -> usize {
        self.reassembly.buffered_bytes()
    }

    /// State of the receive buffer for applications.
    pub fn buffer(&self) -> Buffer {
        Buffer { size: self.size.size, used: self.buffered(), most_used: self.size.most }
    }

    /// Returns the path of the SACK that is due.
    pub fn sack_due(&self) -> Option<PathId> {
        self.acks.due()
    }

    pub fn sack_timeout(&self) -> Option<Instant> {
        self.acks.timeout()
    }

    /// Handles the end of SACK.Delay, and the end of the wait before symbols are decoded.
    pub fn on_timers(&mut self, cx: &mut Context, now: Instant) {
        let due = |t: Option<Instant>| t.is_some_and(|t| t <= now);
        if due(self.sack_timeout()) {
            self.acks.on_timeout(now);
        }
        if due(self.decode_timeout()) {
            self.on_decode_timeout(cx, now);
        }
    }

    /// Moves the due SACK to path `via`, because it cannot leave on its own path. If `possible` is false, it drops the
    /// SACK.
    pub fn redirect_sack(&mut self, via: PathId, possible: bool) {
        self.acks.redirect(via, possible);
    }

    /// Number of DATA packets since the last SACK.
    pub fn packets_since_sack(&self) -> u32 {
        self.acks.packets()
    }

    /// Number of blocks of TSNs that arrived beyond a gap.
    #[cfg(any(test, feature = "testing"))]
    pub fn blocks(&self) -> usize {
        self.tracker.blocks()
    }

    /// Checks the bounds of the memory that a peer can occupy.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_bounded(&self) {
        let (heap, granted) = (self.chunks_heap(), self.size.size);
        assert!(heap <= 2 * granted + (1 << 20), "{heap} bytes for a receive buffer of {granted}");
        if let Some((heap, bound)) = self.decoding.as_ref().and_then(|d| Some((d.heap(), d.bound()?))) {
            assert!(heap <= bound, "{heap} bytes to decode, at most {bound}");
        }
    }
}
