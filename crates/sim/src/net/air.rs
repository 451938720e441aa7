//! Radios with the routers of their stations.

use strandcast_netem::engine::{Engine, Fingerprint};
use strandcast_proto::time::Instant;
use strandcast_radio::{Destination, Priority, Radio, RadioEvent, RadioOutput, Reception, StationId};
use strandcast_routing::{Address, Context, Datagram, Link, NextHop, Routing, RoutingOutput, Transmit};

use super::event::Event;
use super::{Frame, Observer, Packet, RadioId, RadioNote};

/// A radio with a router on each of its stations. The address of a router is the number of its station.
///
/// The delay between router and interface queue (25 µs in ns-2) is omitted, because it would need one event per packet
/// and hop.
#[derive(Debug)]
pub struct Air {
    id: RadioId,
    radio: Radio<Frame>,
    routers: Vec<Router>,
    /// Packets that wait before they enter an interface queue. `None` marks a free entry.
    delayed: Vec<Option<(StationId, Transmit<Packet>)>>,
    free: Vec<u32>,
    radio_out: RadioOutput<Frame>,
    events: Vec<RadioEvent<Frame>>,
    routing_out: RoutingOutput<Packet>,
}

#[derive(Debug)]
struct Router {
    routing: Box<dyn Routing<Packet>>,
    /// Time of the earliest scheduled event. Later events have no effect.
    alarm: Option<Instant>,
}

/// State outside a radio that the radio changes.
pub(super) struct Surroundings<'a, W> {
    pub now: Instant,
    pub engine: &'a mut Engine<Event>,
    pub fingerprint: &'a mut Fingerprint,
    pub observer: &'a mut W,
    /// Packets that have left the radio.
    pub delivered: &'a mut Vec<Packet>,
    /// Number of arrivals of agents' packets at stations. Each hop counts.
    pub hops: &'a mut u64,
}

impl Air {
    pub(super) fn new(id: RadioId, radio: Radio<Frame>, routers: Vec<Box<dyn Routing<Packet>>>) -> Self {
        let routers = routers.into_iter().map(|routing| Router { routing, alarm: None }).collect();
        Air {
            id,
            radio,
            routers,
            delayed: Vec::new(),
            free: Vec::new(),
            radio_out: RadioOutput::default(),
            events: Vec::new(),
            routing_out: RoutingOutput::default(),
        }
    }

    /// Returns the radio.
    pub fn radio(&self) -> &Radio<Frame> {
        &self.radio
    }

    /// Returns the router of a station.
    pub fn router(&self, station: StationId) -> &dyn Routing<Packet> {
        &*self.routers[station.0 as usize].routing
    }

    /// Reports each frame to the observer from now on.
    pub(super) fn report_frames(&mut self) {
        self.radio_out.frames = Some(Vec::new());
    }

    /// Returns the number of stations.
    pub fn stations(&self) -> usize {
        self.routers.len()
    }

    /// Starts the routers of all stations.
    pub(super) fn start<W: Observer>(&mut self, cx: &mut Surroundings<'_, W>) {
        self.radio.start(&mut self.radio_out);
        for station in 0..self.routers.len() as u32 {
            self.call(StationId(station), cx, |routing, context, out| routing.start(context, out));
        }
        self.settle(cx);
    }

    /// Passes a packet of an agent to the router of its station.
    pub(super) fn originate<W: Observer>(
        &mut self,
        from: StationId,
        to: StationId,
        packet: Packet,
        cx: &mut Surroundings<'_, W>,
    ) {
        let datagram = Datagram::new(Address(from.0), Address(to.0), packet.meta.len, packet);
        self.call(from, cx, |routing, context, out| routing.originate(context, datagram, out));
        self.settle(cx);
    }

    /// Handles an alarm of the radio.
    pub(super) fn handle_alarm<W: Observer>(
        &mut self,
        alarm: strandcast_radio::Alarm,
        cx: &mut Surroundings<'_, W>,
    ) {
        self.radio.handle_alarm(cx.now, alarm, &mut self.radio_out);
        self.settle(cx);
    }

    /// Handles the timer of a router.
    pub(super) fn handle_timeout<W: Observer>(&mut self, at: StationId, cx: &mut Surroundings<'_, W>) {
        let router = &mut self.routers[at.0 as usize];
        if router.alarm.is_some_and(|set| set <= cx.now) {
            router.alarm = None;
        }
        if router.routing.poll_timeout().is_some_and(|due| due <= cx.now) {
            self.call(at, cx, |routing, context, out| routing.handle_timeout(context, out));
            self.settle(cx);
        } else {
            self.set_alarm(at, cx);
        }
    }

    /// Lets a packet enter the interface queue after its random delay (jitter).
    pub(super) fn release<W: Observer>(&mut self, place: u32, cx: &mut Surroundings<'_, W>) {
        let waiting = self.delayed[place as usize].take();
        let (station, transmit) = waiting.expect("a delayed packet is released once");
        self.free.push(place);
        self.transmit(station, transmit, cx);
        self.settle(cx);
    }

    /// Handles the events of the radio until none is left.
    fn settle<W: Observer>(&mut self, cx: &mut Surroundings<'_, W>) {
        loop {
            for (at, alarm) in self.radio_out.alarms.drain(..) {
                cx.engine.schedule(at, Event::Radio(self.id, alarm));
            }
            for frame in self.radio_out.frames.iter_mut().flat_map(|frames| frames.drain(..)) {
                cx.observer.radio(cx.now, self.id, RadioNote::Frame(&frame));
            }
            let mut events = core::mem::take(&mut self.events);
            core::mem::swap(&mut events, &mut self.radio_out.events);
            let quiet = events.is_empty();
            for event in events.drain(..) {
                self.handle_event(event, cx);
            }
            self.events = events;
            if quiet {
                return;
            }
        }
    }

    fn handle_event<W: Observer>(&mut self, event: RadioEvent<Frame>, cx: &mut Surroundings<'_, W>) {
        match event {
            RadioEvent::Received(reception) => self.receive(reception, cx),
            RadioEvent::Sent { from, .. } => {
                self.call(from, cx, |routing, context, out| routing.handle_room(context, out));
            }
            RadioEvent::Failed { from, to, packet } => {
                let note = RadioNote::Failed { station: from, to, packet: &packet };
                cx.observer.radio(cx.now, self.id, note);
                let context = self.context(from, cx.now);
                let Air { radio, routers, routing_out, .. } = self;
                let mut queued = || radio.take_queued(from, to);
                routers[from.0 as usize].routing.handle_link_failure(
                    &context,
                    Address(to.0),
                    packet,
                    &mut queued,
                    routing_out,
                );
                self.carry_out(from, cx);
                self.call(from, cx, |routing, context, out| routing.handle_room(context, out));
            }
            RadioEvent::Dropped { from, packet, cause } => {
                let note = RadioNote::QueueDropped { station: from, packet: &packet, cause };
                cx.observer.radio(cx.now, self.id, note);
            }
        }
    }

    fn receive<W: Observer>(&mut self, reception: Reception<Frame>, cx: &mut Surroundings<'_, W>) {
        let Reception { at, from, queued, packet, .. } = reception;
        cx.observer.radio(cx.now, self.id, RadioNote::Received { station: at, from, packet: &packet });
        cx.fingerprint.add_word(cx.now.as_nanos());
        let ends = u64::from(at.0) << 40 ^ u64::from(from.0) << 16 ^ u64::from(self.id.0) << 60;
        let link = Link { from: Address(from.0), delay: cx.now - queued };
        match packet {
            Frame::Data(datagram) => {
                *cx.hops += 1;
                cx.fingerprint.add_word(datagram.body.digest() ^ ends);
                self.call(at, cx, |routing, context, out| {
                    routing.handle_datagram(context, link, datagram, out);
                });
            }
            Frame::Control(message) => {
                cx.fingerprint.add_word(u64::from(message.bytes()) ^ ends);
                self.call(at, cx, |routing, context, out| {
                    routing.handle_message(context, link, message, out);
                });
            }
        }
    }

    fn context(&self, station: StationId, now: Instant) -> Context {
        Context { now, idle: self.radio.idle_time(now, station), room: self.radio.room(station) }
    }

    /// Calls a router, and carries out the actions that it returns.
    fn call<W: Observer>(
        &mut self,
        at: StationId,
        cx: &mut Surroundings<'_, W>,
        f: impl FnOnce(&mut dyn Routing<Packet>, &Context, &mut RoutingOutput<Packet>),
    ) {
        let context = self.context(at, cx.now);
        f(&mut *self.routers[at.0 as usize].routing, &context, &mut self.routing_out);
        self.carry_out(at, cx);
    }

    fn carry_out<W: Observer>(&mut self, at: StationId, cx: &mut Surroundings<'_, W>) {
        let reclaimed = self.reclaim(at, cx);
        let mut out = core::mem::take(&mut self.routing_out);
        for datagram in out.deliver.drain(..) {
            let note = RadioNote::Delivered { station: at, packet: &datagram.body.meta, hops: datagram.hops };
            cx.observer.radio(cx.now, self.id, note);
            cx.delivered.push(datagram.body);
        }
        for (datagram, cause) in out.drop.drain(..) {
            let note = RadioNote::RouterDropped { station: at, packet: &datagram.body.meta, cause };
            cx.observer.radio(cx.now, self.id, note);
        }
        for transmit in out.transmit.drain(..) {
            if transmit.after.is_zero() {
                self.transmit(at, transmit, cx);
            } else {
                self.delay(at, transmit, cx);
            }
        }
        self.routing_out = out;
        self.set_alarm(at, cx);
        if reclaimed {
            self.call(at, cx, |routing, context, out| routing.handle_room(context, out));
        }
    }

    /// Removes the packets that a router withdraws from the interface queue. Passes them to the router. Returns whether
    /// there were such packets.
    fn reclaim<W: Observer>(&mut self, at: StationId, cx: &mut Surroundings<'_, W>) -> bool {
        let mut any = false;
        while let Some(to) = self.routing_out.reclaim.pop() {
            while let Some(packet) = self.radio.take_queued(at, StationId(to.0)) {
                any = true;
                let context = self.context(at, cx.now);
                let routing = &mut self.routers[at.0 as usize].routing;
                routing.handle_reclaimed(&context, to, packet, &mut self.routing_out);
            }
        }
        any
    }

    fn delay<W>(&mut self, at: StationId, transmit: Transmit<Packet>, cx: &mut Surroundings<'_, W>) {
        let due = cx.now + transmit.after;
        let place = match self.free.pop() {
            Some(place) => {
                self.delayed[place as usize] = Some((at, transmit));
                place
            }
            None => {
                self.delayed.push(Some((at, transmit)));
                self.delayed.len() as u32 - 1
            }
        };
        cx.engine.schedule(due, Event::Delayed(self.id, place));
    }

    fn transmit<W: Observer>(
        &mut self,
        from: StationId,
        transmit: Transmit<Packet>,
        cx: &mut Surroundings<'_, W>,
    ) {
        let to = match transmit.to {
            NextHop::Neighbour(address) => Destination::Station(StationId(address.0)),
            NextHop::All => Destination::All,
        };
        let packet = transmit.packet;
        cx.observer.radio(cx.now, self.id, RadioNote::Offered { station: from, to, packet: &packet });
        let priority = match &packet {
            Frame::Control(_) => Priority::Urgent,
            Frame::Data(datagram) if datagram.expedited => Priority::High,
            Frame::Data(_) => Priority::Normal,
        };
        let bytes = packet.bytes();
        self.radio.send(cx.now, from, to, (packet, bytes, priority), &mut self.radio_out);
    }

    fn set_alarm<W>(&mut self, at: StationId, cx: &mut Surroundings<'_, W>) {
        let router = &mut self.routers[at.0 as usize];
        let Some(due) = router.routing.poll_timeout() else { return };
        if router.alarm.is_none_or(|set| due < set) {
            router.alarm = Some(due);
            cx.engine.schedule(due, Event::Router(self.id, at));
        }
    }
}
