//! Routes through a scenario's network.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::error::hint;
use super::model::{Cross, Direction, Link, Scenario};
use super::radio::Radio;
use super::value::Named;

/// A part of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A link, with the direction in which it is used.
    Link {
        /// The link's name.
        link: String,
        /// True for the direction from the link's `to` to its `from`.
        reverse: bool,
    },
    /// A radio, from one of its stations to another.
    Radio {
        /// The radio's name.
        radio: String,
        /// Node at which the radio is entered.
        from: String,
        /// Node at which the radio is left.
        to: String,
    },
}

/// Reason why a list of links is not a route through the network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The list of links is empty.
    #[error("it is empty; a path has at least one link")]
    Empty,
    /// A name is not the name of a link.
    #[error("there is no link `{link}`{hint}")]
    UnknownLink {
        /// The name.
        link: String,
        /// Names that could be meant.
        hint: String,
    },
    /// A link does not touch the node at which the previous links end.
    #[error("link `{link}` does not begin or end at `{node}`, which the path has reached; it joins {ends}")]
    Apart {
        /// The link.
        link: String,
        /// Node at which the previous links end.
        node: String,
        /// The two nodes of the link.
        ends: String,
    },
    /// A node occurs twice, which makes a loop.
    #[error("link `{link}` returns to `{node}`, which is a loop; a path passes each node once")]
    Loop {
        /// The link that closes the loop.
        link: String,
        /// The node.
        node: String,
    },
    /// The route uses a radio, and the node is not one of the radio's stations.
    #[error("`{node}` is not a station of radio `{radio}`; give it a place and make it one")]
    NoStation {
        /// The radio.
        radio: String,
        /// The node.
        node: String,
    },
    /// The node at which the route leaves a radio is not known.
    #[error(
        "the node at which the path leaves radio `{radio}` is not given; let a link follow that begins at one of its stations"
    )]
    Open {
        /// The radio.
        radio: String,
    },
    /// The route ends at another node.
    #[error("the path ends at `{node}`, not at `{wanted}`; add the links between them")]
    Elsewhere {
        /// Node at which the path ends.
        node: String,
        /// Node at which the path should end.
        wanted: String,
    },
}

impl Scenario {
    /// Names of the links from one node to another. If both nodes are stations of the same radio, the route is that
    /// radio. If they are not, the route is the route with the fewest links. A radio counts as two links. If several
    /// routes have equally few links, the first by name is taken. `None`: there is no route.
    pub fn route(&self, from: &str, to: &str) -> Option<Vec<String>> {
        Routes::of(self).shortest(from, to)
    }

    /// Route that a list of links forms from one node to another.
    ///
    /// # Errors
    /// The list is not a route between the nodes.
    pub fn way(&self, from: &str, to: &str, via: &[String]) -> Result<Vec<Hop>, RouteError> {
        way(self, from, Some(to), via).map_err(|(_, error)| error)
    }

    /// The node where background load begins. The node is the end of its first link that the second link does not
    /// touch. If this is not unique, it is `from` of the first link.
    pub fn source<'a>(&'a self, cross: &Cross) -> Option<&'a str> {
        source(&self.links, &cross.via)
    }

    /// Route of background load, and the node where it begins.
    ///
    /// # Errors
    /// The `via` of the load is not a route.
    pub fn cross_way(&self, cross: &Cross) -> Result<(&str, Vec<Hop>), RouteError> {
        let from = source(&self.links, &cross.via).ok_or_else(|| unknown(self, cross.via.first()))?;
        Ok((from, way(self, from, None, &cross.via).map_err(|(_, error)| error)?))
    }

    /// Returns the direction of a link for a hop. Returns `None` for a radio, or if the link does not exist.
    pub fn direction(&self, hop: &Hop) -> Option<&Direction> {
        let Hop::Link { link, reverse } = hop else { return None };
        let link = self.links.get(link)?;
        Some(if *reverse { &link.reverse } else { &link.forward })
    }
}

/// Returns the other end of a link, if the link touches `node`.
fn across<'a>(link: &'a Link, node: &str) -> Option<&'a str> {
    if link.from == node { Some(&link.to) } else { (link.to == node).then_some(&link.from) }
}

fn unknown(network: &Scenario, link: Option<&String>) -> RouteError {
    let names = network.links.keys().chain(network.radio.keys()).map(String::as_str);
    match link {
        None => RouteError::Empty,
        Some(link) => RouteError::UnknownLink { link: link.clone(), hint: hint(link, names) },
    }
}

/// Links and radios of each node. The structure is built once and used for every route.
#[derive(Debug)]
pub(super) struct Routes<'a> {
    radios: &'a Named<Radio>,
    nodes: BTreeMap<&'a str, usize>,
    /// Links of each node in the order of their names. Each has the node at its other end. The index is the node.
    links: Vec<Vec<(&'a str, usize)>>,
}

/// Distance of a node that the search did not reach.
const FAR: usize = usize::MAX;

impl<'a> Routes<'a> {
    pub fn of(network: &'a Scenario) -> Self {
        let mut routes = Routes { radios: &network.radio, nodes: BTreeMap::new(), links: Vec::new() };
        for (name, link) in &network.links {
            let ends = [routes.node(&link.from), routes.node(&link.to)];
            routes.join(name, ends);
        }
        // The search treats a radio as a node to which its stations have links.
        for (name, radio) in &network.radio {
            let channel = routes.links.len();
            routes.links.push(Vec::new());
            for station in &radio.stations {
                let station = routes.node(station);
                routes.join(name, [station, channel]);
            }
        }
        routes
    }

    fn join(&mut self, name: &'a str, ends: [usize; 2]) {
        self.links[ends[0]].push((name, ends[1]));
        self.links[ends[1]].push((name, ends[0]));
    }

    fn node(&mut self, name: &'a str) -> usize {
        let next = self.links.len();
        let node = *self.nodes.entry(name).or_insert(next);
        if node == next {
            self.links.push(Vec::new());
        }
        node
    }

    /// Returns the first radio, by name, whose stations include both nodes.
    fn radio(&self, from: &str, to: &str) -> Option<&'a String> {
        let has = |radio: &Radio, node: &str| radio.stations.iter().any(|station| station == node);
        self.radios.iter().find(|(_, radio)| has(radio, from) && has(radio, to)).map(|(name, _)| name)
    }

    /// Names of the links and radios from one node to another; see [`Scenario::route`].
    pub fn shortest(&self, from: &str, to: &str) -> Option<Vec<String>> {
        if from == to {
            return Some(Vec::new());
        }
        if let Some(radio) = self.radio(from, to) {
            return Some(vec![radio.clone()]);
        }
        let (mut node, to) = (*self.nodes.get(from)?, *self.nodes.get(to)?);
        // The distances to the end are computed first. The first link by name that leads nearer to the end is then
        // always right.
        let distance = self.distances(node, to).0;
        let mut names = Vec::new();
        while node != to {
            let nearer = |(_, there): &&(&str, usize)| distance[*there] < distance[node];
            let (name, there) = self.links[node].iter().find(nearer)?;
            names.push((*name).to_owned());
            node = *there;
        }
        // One step leads into a radio, and one leads out of it.
        names.dedup();
        Some(names)
    }

    /// Returns the number of links from each node to `to`, for nodes that are nearer to it than `from`. The result also
    /// has the number of link ends that the search visited.
    fn distances(&self, from: usize, to: usize) -> (Vec<usize>, usize) {
        let mut distance = vec![FAR; self.links.len()];
        distance[to] = 0;
        let (mut next, mut looked) = (VecDeque::from([to]), 0);
        while let Some(node) = next.pop_front().filter(|_| distance[from] == FAR) {
            looked += self.links[node].len();
            for (_, there) in &self.links[node] {
                if distance[*there] == FAR {
                    distance[*there] = distance[node] + 1;
                    next.push_back(*there);
                }
            }
        }
        (distance, looked)
    }
}

/// Route of a list of links and radios. An error contains the position of the wrong link or radio.
pub(super) fn way(
    network: &Scenario,
    from: &str,
    to: Option<&str>,
    via: &[String],
) -> Result<Vec<Hop>, (usize, RouteError)> {
    let mut node = from;
    let mut seen = BTreeSet::from([node]);
    let mut hops = Vec::new();
    for (i, name) in via.iter().enumerate() {
        let (hop, there) = match (network.links.get(name), network.radio.get(name)) {
            (Some(link), _) => over_link(name, link, node),
            (None, Some(radio)) => over_radio(network, (name, radio), node, (via.get(i + 1), to)),
            (None, None) => Err(unknown(network, Some(name))),
        }
        .map_err(|error| (i, error))?;
        if !seen.insert(there) {
            return Err((i, RouteError::Loop { link: name.clone(), node: there.into() }));
        }
        hops.push(hop);
        node = there;
    }
    match to {
        _ if via.is_empty() => Err((0, RouteError::Empty)),
        Some(wanted) if wanted != node => {
            Err((via.len() - 1, RouteError::Elsewhere { node: node.into(), wanted: wanted.into() }))
        }
        _ => Ok(hops),
    }
}

fn over_link<'a>(name: &str, link: &'a Link, node: &str) -> Result<(Hop, &'a str), RouteError> {
    let Some(there) = across(link, node) else {
        let ends = format!("`{}` and `{}`", link.from, link.to);
        return Err(RouteError::Apart { link: name.into(), node: node.into(), ends });
    };
    Ok((Hop::Link { link: name.into(), reverse: link.from != node }, there))
}

/// Adds a radio to the route. The radio leads to the end of the route or to the start of the next link.
fn over_radio<'a>(
    network: &'a Scenario,
    (name, radio): (&str, &'a Radio),
    node: &str,
    (next, end): (Option<&String>, Option<&str>),
) -> Result<(Hop, &'a str), RouteError> {
    let station = |node: &str| radio.stations.iter().find(|station| *station == node);
    let no_station = |node: &str| RouteError::NoStation { radio: name.into(), node: node.into() };
    if station(node).is_none() {
        return Err(no_station(node));
    }
    let there = match (next, end) {
        (None, Some(end)) => station(end).ok_or_else(|| no_station(end))?,
        (None, None) => return Err(RouteError::Open { radio: name.into() }),
        (Some(next), _) => {
            let ends = network.links.get(next).map(|link| [&link.from, &link.to]);
            let mut stations = ends.into_iter().flatten().filter_map(|end| station(end));
            match (stations.next(), stations.next()) {
                (Some(only), None) => only,
                _ => return Err(RouteError::Open { radio: name.into() }),
            }
        }
    };
    Ok((Hop::Radio { radio: name.into(), from: node.into(), to: there.clone() }, there))
}

pub(super) fn source<'a>(links: &'a Named<Link>, via: &[String]) -> Option<&'a str> {
    let first = links.get(via.first()?)?;
    let second = via.get(1).and_then(|name| links.get(name));
    let touches = |node: &str| second.is_some_and(|link| across(link, node).is_some());
    Some(if touches(&first.from) && !touches(&first.to) { &first.to } else { &first.from })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;
    use proptest::prelude::*;
    use std::fmt::Write as _;
    use std::path::Path;

    fn network(nodes: usize, links: &[(usize, usize)]) -> Scenario {
        let mut text = String::new();
        for node in 0..nodes {
            let _ = writeln!(text, "[nodes.n{node}]");
        }
        for (i, (from, to)) in links.iter().enumerate() {
            // Names are not in the order of the file.
            let name = (i * 7919) % 10_007;
            let _ =
                writeln!(text, "[links.l{name}]\nfrom = \"n{from}\"\nto = \"n{to}\"\nrate = \"1 Mbit/s\"");
        }
        let (from, to) = links[0];
        let _ = writeln!(text, "[flows.f]\nfrom = \"n{from}\"\nto = \"n{to}\"\n");
        parse(&text, "test.toml", Path::new(""), &[]).expect("the network is right")
    }

    /// Returns all routes without loops. The shortest one comes first. Equally short routes are in the order of the
    /// names of their links.
    fn all(scenario: &Scenario, node: &str, to: &str, seen: &mut Vec<String>) -> Vec<Vec<String>> {
        if node == to {
            return vec![Vec::new()];
        }
        let mut ways = Vec::new();
        seen.push(node.to_owned());
        for (name, link) in &scenario.links {
            let Some(there) = across(link, node).filter(|there| !seen.iter().any(|s| s == there)) else {
                continue;
            };
            let rest = all(scenario, there, to, seen);
            ways.extend(rest.into_iter().map(|rest| [vec![name.clone()], rest].concat()));
        }
        seen.pop();
        ways.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        ways
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_route_is_the_shortest_and_the_first_by_name(
            ends in prop::collection::vec((0usize..6, 0usize..6), 1..10),
            from in 0usize..6,
            to in 0usize..6,
        ) {
            let links: Vec<(usize, usize)> = ends.into_iter().filter(|(a, b)| a != b).collect();
            prop_assume!(!links.is_empty());
            let scenario = network(6, &links);
            let (from, to) = (format!("n{from}"), format!("n{to}"));
            let first = all(&scenario, &from, &to, &mut Vec::new()).into_iter().next();
            prop_assert_eq!(scenario.route(&from, &to), first);
        }
    }

    /// A dumbbell of `flows` flows with separate access links. To find a route, the search visits each end of a link at
    /// most once.
    #[test]
    fn a_route_costs_no_more_than_the_network_is_large() {
        let flows = 500;
        let sides = (0..flows).flat_map(|i| [(2 + 2 * i, 0), (1, 3 + 2 * i)]);
        let links: Vec<(usize, usize)> = std::iter::once((0, 1)).chain(sides).collect();
        let scenario = network(2 + 2 * flows, &links);
        let routes = Routes::of(&scenario);
        for i in 0..flows {
            let (from, to) = (format!("n{}", 2 + 2 * i), format!("n{}", 3 + 2 * i));
            let looked = routes.distances(routes.nodes[&*from], routes.nodes[&*to]).1;
            assert!(looked <= 2 * links.len(), "{looked} ends of {} links", links.len());
            assert_eq!(routes.shortest(&from, &to).map(|links| links.len()), Some(3));
        }
    }
}
