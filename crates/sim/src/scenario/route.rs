//! Ways through a scenario's network.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::error::hint;
use super::model::{Cross, Direction, Link, Named, Scenario};

/// A link on a way, and in which direction it is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link's name.
    pub link: String,
    /// From its `to` to its `from`.
    pub reverse: bool,
}

/// Why a list of links is no way through the network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WayError {
    /// No links at all.
    #[error("there is no link in it; a way has at least one")]
    Empty,
    /// A name that no link has.
    #[error("there is no link `{link}`{hint}")]
    UnknownLink {
        /// The name.
        link: String,
        /// What could be meant.
        hint: String,
    },
    /// A link that does not touch the node where the ones before it end.
    #[error("link `{link}` does not begin or end at `{node}`, where the way has come to; it joins {ends}")]
    Apart {
        /// The link.
        link: String,
        /// Where the way has come to.
        node: String,
        /// The link's own nodes.
        ends: String,
    },
    /// A node that is passed twice: a loop.
    #[error("link `{link}` comes back to `{node}`: a loop; each node is passed once")]
    Loop {
        /// The link that closes the loop.
        link: String,
        /// The node.
        node: String,
    },
    /// The way ends elsewhere.
    #[error("the way ends at `{node}`, not at `{wanted}`; add the links between them")]
    Elsewhere {
        /// Where it ends.
        node: String,
        /// Where it should.
        wanted: String,
    },
}

impl Scenario {
    /// The names of the links from one node to another: as few as possible, and of several such ways the first by the
    /// names of the links. `None`: there is no way.
    pub fn route(&self, from: &str, to: &str) -> Option<Vec<String>> {
        route(&self.links, from, to)
    }

    /// The way which a list of links makes from one node to another.
    ///
    /// # Errors
    /// The list is no way between them.
    pub fn way(&self, from: &str, to: &str, via: &[String]) -> Result<Vec<Hop>, WayError> {
        way(&self.links, from, Some(to), via).map_err(|(_, error)| error)
    }

    /// The node where background load begins: the end of its first link that its second does not touch, or the first
    /// link's `from`.
    pub fn source<'a>(&'a self, cross: &Cross) -> Option<&'a str> {
        source(&self.links, &cross.via)
    }

    /// The way of background load, and the node where it begins.
    ///
    /// # Errors
    /// Its `via` is no way.
    pub fn cross_way(&self, cross: &Cross) -> Result<(&str, Vec<Hop>), WayError> {
        let from = source(&self.links, &cross.via).ok_or_else(|| unknown(&self.links, cross.via.first()))?;
        Ok((from, way(&self.links, from, None, &cross.via).map_err(|(_, error)| error)?))
    }

    /// What the link is like in the direction of the hop; `None`: there is no such link.
    pub fn direction(&self, hop: &Hop) -> Option<&Direction> {
        let link = self.links.get(&hop.link)?;
        Some(if hop.reverse { &link.reverse } else { &link.forward })
    }
}

/// The other end of a link, if it touches `node`.
fn across<'a>(link: &'a Link, node: &str) -> Option<&'a str> {
    if link.from == node { Some(&link.to) } else { (link.to == node).then_some(&link.from) }
}

fn unknown(links: &Named<Link>, link: Option<&String>) -> WayError {
    match link {
        None => WayError::Empty,
        Some(link) => {
            WayError::UnknownLink { link: link.clone(), hint: hint(link, links.keys().map(String::as_str)) }
        }
    }
}

pub(super) fn route(links: &Named<Link>, from: &str, to: &str) -> Option<Vec<String>> {
    // Distances to the end first: then the first link by name that comes nearer is always right.
    let mut distance = BTreeMap::from([(to, 0usize)]);
    let mut next = VecDeque::from([to]);
    while let Some(node) = next.pop_front() {
        let steps = distance[node] + 1;
        for there in links.values().filter_map(|link| across(link, node)) {
            distance.entry(there).or_insert_with(|| {
                next.push_back(there);
                steps
            });
        }
    }
    let mut names = Vec::new();
    let mut node = from;
    while node != to {
        let here = *distance.get(node)?;
        let nearer = |(name, link)| {
            let there = across(link, node)?;
            (distance[there] < here).then_some((name, there))
        };
        let (name, there): (&String, &str) = links.iter().find_map(nearer)?;
        names.push(name.clone());
        node = there;
    }
    Some(names)
}

/// The way of a list of links; an error comes with the position of the link that is wrong.
pub(super) fn way(
    links: &Named<Link>,
    from: &str,
    to: Option<&str>,
    via: &[String],
) -> Result<Vec<Hop>, (usize, WayError)> {
    let mut node = from;
    let mut seen = BTreeSet::from([node]);
    let mut hops = Vec::new();
    for (i, name) in via.iter().enumerate() {
        let link = links.get(name).ok_or_else(|| (i, unknown(links, Some(name))))?;
        let Some(there) = across(link, node) else {
            let ends = format!("`{}` and `{}`", link.from, link.to);
            return Err((i, WayError::Apart { link: name.clone(), node: node.into(), ends }));
        };
        if !seen.insert(there) {
            return Err((i, WayError::Loop { link: name.clone(), node: there.into() }));
        }
        hops.push(Hop { link: name.clone(), reverse: link.from != node });
        node = there;
    }
    match to {
        _ if via.is_empty() => Err((0, WayError::Empty)),
        Some(wanted) if wanted != node => {
            Err((via.len() - 1, WayError::Elsewhere { node: node.into(), wanted: wanted.into() }))
        }
        _ => Ok(hops),
    }
}

pub(super) fn source<'a>(links: &'a Named<Link>, via: &[String]) -> Option<&'a str> {
    let first = links.get(via.first()?)?;
    let second = via.get(1).and_then(|name| links.get(name));
    let touches = |node: &str| second.is_some_and(|link| across(link, node).is_some());
    Some(if touches(&first.from) && !touches(&first.to) { &first.to } else { &first.from })
}
