//! Interoperation with the crate sctp-proto, which webrtc-rs and str0m use.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig,
    Event as TheirEvent, Payload, ReliabilityType, ServerConfig, StreamEvent,
};
use strandcast_proto::time::Duration;

use super::{Foreign, How, OUR_ADDRESS, PeerState, UserMessage};

#[allow(clippy::disallowed_types, reason = "the crate's own notion of time: a base and what has passed")]
type StdInstant = std::time::Instant;

/// An endpoint of sctp-proto.
pub struct SctpProto {
    base: StdInstant,
    endpoint: Endpoint,
    association: Option<(AssociationHandle, Association)>,
    packets: VecDeque<Bytes>,
    messages: Vec<UserMessage>,
    state: PeerState,
    /// True if this side or the peer has requested a close.
    closing: bool,
}

impl SctpProto {
    #[allow(clippy::disallowed_types, reason = "see above")]
    /// Creates an endpoint with another configuration.
    pub fn with(config: ServerConfig) -> Self {
        SctpProto {
            base: StdInstant::now(),
            endpoint: Endpoint::new(Arc::new(EndpointConfig::new()), Some(Arc::new(config))),
            association: None,
            packets: VecDeque::new(),
            messages: Vec::new(),
            state: PeerState::Opening,
            closing: false,
        }
    }

    fn association(&mut self) -> &mut Association {
        &mut self.association.as_mut().expect("an association").1
    }

    fn take_packets(&mut self, payload: Payload) {
        const SHUTDOWN_COMPLETE: u8 = 14;
        if let Payload::RawEncode(packets) = payload {
            if packets.iter().any(|p| p[12] == SHUTDOWN_COMPLETE) {
                // Nothing follows, yet the crate raises no event then.
                self.state = PeerState::Closed;
            }
            self.packets.extend(packets);
        }
    }

    fn take_events(&mut self) {
        let Some((_, association)) = &mut self.association else { return };
        self.closing |= association.is_closing();
        while let Some(event) = association.poll() {
            match event {
                TheirEvent::Connected => self.state = PeerState::Open,
                TheirEvent::HandshakeFailed { .. } => self.state = PeerState::Aborted,
                TheirEvent::AssociationLost { .. } if self.closing => self.state = PeerState::Closed,
                TheirEvent::AssociationLost { .. } => self.state = PeerState::Aborted,
                TheirEvent::Stream(StreamEvent::Readable { id }) => {
                    let Ok(mut stream) = association.stream(id) else { continue };
                    while let Ok(Some(chunks)) = stream.read() {
                        let mut payload = vec![0; chunks.len()];
                        chunks.read(&mut payload).expect("it fits");
                        let ppid = chunks.ppi as u32;
                        self.messages.push(UserMessage { stream: id, ppid, payload: payload.into() });
                    }
                }
                _ => {}
            }
        }
    }
}

impl Foreign for SctpProto {
    const KNOWS_T_BIT: bool = false;

    fn new(_: u64) -> Self {
        SctpProto::with(ServerConfig::default())
    }

    fn connect(&mut self, _: Duration) {
        let opened = self.endpoint.connect(ClientConfig::new(), OUR_ADDRESS);
        self.association = Some(opened.expect("a free endpoint"));
    }

    fn input(&mut self, now: Duration, packet: Bytes) {
        match self.endpoint.handle(self.base + now, OUR_ADDRESS, None, None, packet) {
            Some((handle, DatagramEvent::NewAssociation(a))) => self.association = Some((handle, a)),
            Some((_, DatagramEvent::AssociationEvent(e))) => self.association().handle_event(e),
            None => {}
        }
        self.take_events();
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let (_, association) = self.association.as_ref()?;
        association.poll_timeout().map(|at| at.saturating_duration_since(self.base))
    }

    fn handle_timeout(&mut self, now: Duration) {
        let now = self.base + now;
        if let Some((_, association)) = &mut self.association {
            association.handle_timeout(now);
        }
        self.take_events();
    }

    fn output(&mut self, now: Duration) -> Option<Bytes> {
        self.take_events();
        let now = self.base + now;
        while let Some(t) = self.endpoint.poll_transmit() {
            self.take_packets(t.payload);
        }
        if self.packets.is_empty()
            && let Some(t) = self.association.as_mut().and_then(|(_, a)| a.poll_transmit(now))
        {
            self.take_packets(t.payload);
        }
        self.take_events();
        self.packets.pop_front()
    }

    fn send(&mut self, _: Duration, message: &UserMessage, how: How) {
        let (ppid, id) = (message.ppid.into(), message.stream);
        let association = self.association();
        if association.stream(id).is_err() {
            association.open_stream(id, ppid).expect("a stream");
        }
        let mut stream = association.stream(id).expect("opened");
        let (kind, value) = match how.lifetime {
            Some(lifetime) => (ReliabilityType::Timed, lifetime.as_millis() as u32),
            None => (ReliabilityType::Reliable, 0),
        };
        stream.set_reliability_params(how.unordered, kind, value).expect("open");
        let written = stream.write_with_ppi(&message.payload, ppid).expect("room to send");
        assert_eq!(written, message.payload.len());
    }

    fn received(&mut self) -> Vec<UserMessage> {
        std::mem::take(&mut self.messages)
    }

    fn shutdown(&mut self, _: Duration) {
        self.closing = true;
        self.association().shutdown().expect("established");
    }

    fn abort(&mut self, _: Duration) {
        panic!("the crate sends no ABORT on its user's behalf");
    }

    fn state(&self) -> PeerState {
        self.state
    }
}
