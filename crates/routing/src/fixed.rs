//! Fixed routes, which have the fewest hops in a given graph.

use std::collections::VecDeque;
use std::sync::Arc;

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::counters::Counters;
use crate::datagram::{Datagram, Packet};
use crate::node::{Body, Context, Link, PathReport, Routing, arrive};
use crate::output::{DropCause, NextHop, RoutingOutput, Transmit};

/// Next hops and lengths of shortest paths between all nodes. The hops and lengths are computed once for all nodes.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    nodes: usize,
    /// Next hop and number of hops, by node and then by destination.
    entries: Vec<Option<(Address, u8)>>,
}

impl Routes {
    /// Computes the shortest paths by hops in a graph. `neighbours[n]` are the nodes in range of node `n`. Each node is
    /// named by its index. If several next hops lie on shortest paths, the smallest address is chosen.
    pub fn new(neighbours: &[Vec<Address>]) -> Self {
        let nodes = neighbours.len();
        let mut entries = vec![None; nodes * nodes];
        let incoming = reversed(neighbours);
        let mut distance = vec![u8::MAX; nodes];
        let mut next = VecDeque::new();
        for destination in 0..nodes {
            distance.fill(u8::MAX);
            distance[destination] = 0;
            next.push_back(destination);
            while let Some(node) = next.pop_front() {
                for &before in &incoming[node] {
                    if distance[before] == u8::MAX && distance[node] < u8::MAX - 2 {
                        distance[before] = distance[node] + 1;
                        next.push_back(before);
                    }
                }
            }
            for (node, reached) in neighbours.iter().enumerate() {
                let hops = distance[node];
                let on_the_way = reached.iter().filter(|n| distance[index(**n)].checked_add(1) == Some(hops));
                entries[node * nodes + destination] = on_the_way.min().map(|hop| (*hop, hops));
            }
        }
        Routes { nodes, entries }
    }

    /// Returns the next hop from `node` to `destination`, and the number of hops.
    pub fn get(&self, node: Address, destination: Address) -> Option<(Address, u8)> {
        let (node, destination) = (index(node), index(destination));
        if node >= self.nodes || destination >= self.nodes {
            return None;
        }
        self.entries[node * self.nodes + destination]
    }
}

fn index(address: Address) -> usize {
    address.0 as usize
}

fn reversed(neighbours: &[Vec<Address>]) -> Vec<Vec<usize>> {
    let mut incoming = vec![Vec::new(); neighbours.len()];
    for (node, reached) in neighbours.iter().enumerate() {
        for to in reached {
            incoming[index(*to)].push(node);
        }
    }
    incoming
}

/// A node that follows the fixed routes in [`Routes`]. If a link fails, its datagram is lost and the route does not
/// change.
#[derive(Clone, Debug)]
pub struct Static {
    address: Address,
    routes: Arc<Routes>,
    counters: Counters,
}

impl Static {
    /// Creates a node with the address `address`.
    pub fn new(address: Address, routes: Arc<Routes>) -> Self {
        Static { address, routes, counters: Counters::default() }
    }

    fn route<B>(&mut self, datagram: Datagram<B>, out: &mut RoutingOutput<B>) {
        match self.routes.get(self.address, datagram.destination) {
            Some((hop, _)) => out.transmit.push(Transmit {
                to: NextHop::Neighbour(hop),
                packet: Packet::Data(datagram),
                after: core::time::Duration::ZERO,
            }),
            None => self.counters.drop(out, datagram, DropCause::NoRoute),
        }
    }
}

impl<B: Body> Routing<B> for Static {
    fn originate(&mut self, _context: &Context, datagram: Datagram<B>, out: &mut RoutingOutput<B>) {
        if datagram.destination == self.address {
            return out.deliver.push(datagram);
        }
        self.route(datagram, out);
    }

    fn handle_datagram(
        &mut self,
        _context: &Context,
        _link: Link,
        datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    ) {
        if let Some(datagram) = arrive(self.address, datagram, &mut self.counters, out) {
            self.route(datagram, out);
        }
    }

    fn handle_link_failure(
        &mut self,
        _context: &Context,
        _to: Address,
        packet: Packet<B>,
        _queued: &mut dyn FnMut() -> Option<Packet<B>>,
        out: &mut RoutingOutput<B>,
    ) {
        if let Packet::Data(datagram) = packet {
            self.counters.drop(out, datagram, DropCause::LinkFailed);
        }
    }

    fn paths(&self, _now: Instant, destination: Address) -> Vec<PathReport> {
        let route = self.routes.get(self.address, destination);
        let report = |(next_hop, hops)| PathReport {
            next_hop,
            last_hop: None,
            hops,
            bandwidth: None,
            delay: None,
            sequence: None,
            advertised: None,
        };
        route.map(report).into_iter().collect()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(links: &[(u32, u32)], nodes: usize) -> Vec<Vec<Address>> {
        let mut neighbours = vec![Vec::new(); nodes];
        for &(a, b) in links {
            neighbours[a as usize].push(Address(b));
            neighbours[b as usize].push(Address(a));
        }
        neighbours
    }

    #[test]
    fn of_two_shortest_paths_the_smaller_next_hop_counts() {
        // 0 - 2 - 3 and 0 - 1 - 3, and the detour 0 - 4 - 5 - 3.
        let routes = Routes::new(&graph(&[(0, 2), (2, 3), (0, 1), (1, 3), (0, 4), (4, 5), (5, 3)], 7));
        assert_eq!(routes.get(Address(0), Address(3)), Some((Address(1), 2)));
        assert_eq!(routes.get(Address(4), Address(3)), Some((Address(5), 2)));
        assert_eq!(routes.get(Address(4), Address(2)), Some((Address(0), 2)));
    }

    #[test]
    fn an_island_has_no_route_and_neither_has_a_node_to_itself() {
        let routes = Routes::new(&graph(&[(0, 1)], 3));
        assert_eq!(routes.get(Address(0), Address(2)), None);
        assert_eq!(routes.get(Address(0), Address(0)), None);
        assert_eq!(routes.get(Address(0), Address(9)), None);
    }

    #[test]
    fn a_link_in_one_direction_is_used_in_that_direction_only() {
        let routes = Routes::new(&[vec![Address(1)], vec![Address(2)], vec![Address(0)]]);
        assert_eq!(routes.get(Address(0), Address(2)), Some((Address(1), 2)));
        assert_eq!(routes.get(Address(1), Address(0)), Some((Address(2), 2)));
    }
}
