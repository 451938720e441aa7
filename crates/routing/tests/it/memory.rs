//! Forwarding allocates no memory per datagram.

use std::sync::Arc;
use std::time::Duration;

use allocation_counter::measure;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_routing::{
    Address, Body, Context, Datagram, Link, NextHop, Packet, Routes, Routing, RoutingOutput, Transmission,
    spec,
};

#[derive(Clone, Debug)]
struct Segment(u32);

impl Body for Segment {
    fn transmission(&self) -> Option<Transmission> {
        Some(Transmission { flow: 1, end: self.0 })
    }
}

/// A chain of routers without queues and delays.
struct Chain {
    now: Instant,
    routers: Vec<Box<dyn Routing<Segment>>>,
    out: RoutingOutput<Segment>,
    waiting: Vec<(usize, usize, Packet<Segment>)>,
    delivered: usize,
}

impl Chain {
    fn new(text: &str, nodes: u32) -> Self {
        let neighbours: Vec<Vec<Address>> = (0..nodes)
            .map(|node| {
                [node.wrapping_sub(1), node + 1].into_iter().filter(|n| *n < nodes).map(Address).collect()
            })
            .collect();
        let routes = Arc::new(Routes::new(&neighbours));
        let spec = spec::parse(text).expect("it is a spec");
        let seeds = Seeds::new(1, 0);
        Chain {
            now: Instant::from_millis(1),
            routers: (0..nodes).map(|node| spec.router(Address(node), &routes, &seeds)).collect(),
            out: RoutingOutput::default(),
            waiting: Vec::new(),
            delivered: 0,
        }
    }

    fn context(&self) -> Context {
        Context { now: self.now, idle: Duration::ZERO, room: 50 }
    }

    fn send(&mut self, number: u32) {
        self.now += Duration::from_micros(100);
        let last = Address(self.routers.len() as u32 - 1);
        let datagram = Datagram::new(Address(0), last, 1000, Segment(1000 * number));
        let context = self.context();
        self.routers[0].originate(&context, datagram, &mut self.out);
        self.collect(0);
        while let Some((from, to, packet)) = self.waiting.pop() {
            let link = Link { from: Address(from as u32), delay: Duration::from_millis(1) };
            match packet {
                Packet::Data(datagram) => {
                    self.routers[to].handle_datagram(&context, link, datagram, &mut self.out)
                }
                Packet::Control(message) => {
                    self.routers[to].handle_message(&context, link, message, &mut self.out)
                }
            }
            self.collect(to);
        }
    }

    fn collect(&mut self, at: usize) {
        self.delivered += self.out.deliver.drain(..).count();
        assert!(self.out.drop.is_empty());
        for transmit in self.out.transmit.drain(..) {
            match transmit.to {
                NextHop::Neighbour(to) => self.waiting.push((at, to.0 as usize, transmit.packet)),
                NextHop::All => {
                    let others =
                        [at.wrapping_sub(1), at + 1].into_iter().filter(|to| *to < self.routers.len());
                    self.waiting.extend(others.map(|to| (at, to, transmit.packet.clone())));
                }
            }
        }
    }
}

#[test]
fn a_datagram_on_a_known_route_costs_no_allocation() {
    for text in
        ["static", "aodv", "aomdv", "aomdv,split=even", "qaomdv", "qaomdv,split=even", "qaomdv,split=mpr"]
    {
        let mut chain = Chain::new(text, 5);
        (1..20).for_each(|number| chain.send(number));
        let before = chain.delivered;
        let cost = measure(|| (20..1020).for_each(|number| chain.send(number)));
        assert_eq!(chain.delivered - before, 1000, "{text}");
        assert_eq!(cost.count_total, 0, "{text}");
    }
}
