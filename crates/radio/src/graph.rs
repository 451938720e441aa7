//! Graph of stations: an edge connects two stations that can receive from each other.

use std::collections::VecDeque;

use crate::cells::Cells;
use crate::place::Position;

/// An undirected graph of stations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Offsets in `list`: the beginning of each station's neighbours, and the end of the list.
    begins: Vec<u32>,
    list: Vec<u32>,
}

impl Graph {
    /// Returns the unit-disk graph. An edge connects any two stations that are at most `range` metres apart.
    pub fn unit_disk(positions: &[Position], range: f64) -> Graph {
        let mut cells = Cells::default();
        cells.renew(positions, range.max(f64::MIN_POSITIVE));
        Graph::collect(positions.len(), |station| {
            let at = positions[station];
            let near = cells.near(at).filter(|&other| other as usize != station);
            near.filter(|&other| at.distance(positions[other as usize]) <= range).collect()
        })
    }

    /// Returns a graph of `n` stations from the neighbours of each station.
    pub(crate) fn collect(n: usize, neighbours: impl Fn(usize) -> Vec<u32>) -> Graph {
        let mut graph = Graph { begins: vec![0], list: Vec::new() };
        for station in 0..n {
            let mut near = neighbours(station);
            near.sort_unstable();
            graph.list.extend(near);
            graph.begins.push(graph.list.len() as u32);
        }
        graph
    }

    /// Returns the number of stations.
    pub fn len(&self) -> usize {
        self.begins.len().saturating_sub(1)
    }

    /// Returns whether the graph is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the neighbours of a station in ascending order.
    pub fn neighbours(&self, station: usize) -> &[u32] {
        &self.list[self.begins[station] as usize..self.begins[station + 1] as usize]
    }

    /// Returns the mean number of neighbours.
    pub fn mean_degree(&self) -> f64 {
        self.list.len() as f64 / self.len().max(1) as f64
    }

    /// Returns the hops on a shortest path from a station to each other station; `None` for unreachable stations.
    pub fn hops(&self, from: usize) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.len()];
        let mut border = VecDeque::from([from as u32]);
        hops[from] = Some(0);
        while let Some(at) = border.pop_front() {
            let next = hops[at as usize].map(|n| n + 1);
            for &to in self.neighbours(at as usize) {
                if hops[to as usize].is_none() {
                    hops[to as usize] = next;
                    border.push_back(to);
                }
            }
        }
        hops
    }

    /// Returns whether a path connects any two stations. A graph without stations is connected.
    pub fn is_connected(&self) -> bool {
        self.is_empty() || self.hops(0).iter().all(Option::is_some)
    }
}
