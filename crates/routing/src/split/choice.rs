//! Choice of the path that a datagram takes.

use core::cmp::Ordering;

use strandcast_keys::words;

use crate::address::Address;
use crate::aomdv::Path;
use crate::datagram::Class;
use crate::message::Quality;

words! {
    /// Property that makes a path the best.
    pub enum Criterion {
        /// The one with the largest bandwidth.
        Widest = "widest",
        /// The one with the least delay.
        Fastest = "fastest",
    }
}

/// Rule by which a node chooses among its paths to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The node takes the first path of the list (ns-2.35's AOMDV).
    First,
    /// A source alternates between the two paths with the fewest hops. A forwarding node takes the first path that does
    /// not lead back.
    Even,
    /// The node takes the widest path.
    Widest,
    /// A source alternates between the two widest paths. A forwarding node takes the widest path that does not lead
    /// back.
    EvenWidest,
    /// Originals and retransmissions have separate criteria (Guo, Liu and Lian 2010, §5.1). The source labels a
    /// datagram with the last hop of its path. A forwarding node keeps this path if it has the path. A forwarding node
    /// without this path takes the best path for the class.
    Classes {
        /// Criterion for the path of originals.
        original: Criterion,
        /// Criterion for the path of retransmissions.
        retransmission: Criterion,
    },
}

impl Choice {
    /// Returns the path for a datagram of this node. `turn` is kept for each destination.
    pub fn at_source(self, paths: &[Path], turn: &mut bool, class: Class) -> usize {
        match self {
            Choice::Even | Choice::EvenWidest if paths.len() > 1 => {
                let (first, second) = self.best_two(paths);
                let chosen = if *turn { second } else { first };
                *turn = !*turn;
                chosen
            }
            Choice::Even => 0,
            Choice::First | Choice::Widest | Choice::EvenWidest | Choice::Classes { .. } => {
                self.best(paths, class)
            }
        }
    }

    /// Returns the path for a datagram that another node originated and that arrived from the neighbour `from`.
    pub fn on_the_way(
        self,
        paths: &[Path],
        from: Option<Address>,
        class: Class,
        label: Option<Address>,
    ) -> usize {
        let labelled = label.and_then(|label| paths.iter().position(|path| path.last_hop == label));
        let onward = |path: &Path| Some(path.next_hop) != from;
        match self {
            Choice::Even => paths.iter().position(onward).unwrap_or(0),
            Choice::EvenWidest => {
                let onward = (0..paths.len()).filter(|at| onward(&paths[*at]));
                onward.min_by(|a, b| Criterion::Widest.compare(&paths[*a], &paths[*b])).unwrap_or(0)
            }
            Choice::Classes { .. } => labelled.unwrap_or_else(|| self.best(paths, class)),
            Choice::First | Choice::Widest => self.best(paths, class),
        }
    }

    /// Returns whether originals and retransmissions have different paths. Returns `None` if the rule ignores classes.
    pub fn apart(self, paths: &[Path]) -> Option<bool> {
        let differ = || self.best(paths, Class::Original) != self.best(paths, Class::Retransmission);
        self.labels().then(differ)
    }

    /// Returns whether sources label their datagrams.
    pub fn labels(self) -> bool {
        matches!(self, Choice::Classes { .. })
    }

    /// Returns all paths, the path of originals first.
    pub fn order(self, paths: &[Path]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..paths.len()).collect();
        match self {
            Choice::First => {}
            Choice::Even => order.sort_by_key(|at| paths[*at].hops),
            Choice::Widest | Choice::EvenWidest => {
                order.sort_by(|a, b| Criterion::Widest.compare(&paths[*a], &paths[*b]));
            }
            Choice::Classes { original, .. } => {
                order.sort_by(|a, b| original.compare(&paths[*a], &paths[*b]));
            }
        }
        order
    }

    /// Returns the best path for the datagrams of a class (originals or retransmissions). Equally good paths rank by
    /// hops. For retransmissions, a path that originals do not take is preferred.
    fn best(self, paths: &[Path], class: Class) -> usize {
        match self {
            Choice::First | Choice::Even => 0,
            Choice::Widest | Choice::EvenWidest => Criterion::Widest.best(paths, None),
            Choice::Classes { original, retransmission } => {
                let usual = original.best(paths, None);
                match class {
                    Class::Original => usual,
                    Class::Retransmission => retransmission.best(paths, Some(usual)),
                }
            }
        }
    }

    fn best_two(self, paths: &[Path]) -> (usize, usize) {
        let order = |a: &usize, b: &usize| match self {
            Choice::EvenWidest => Criterion::Widest.compare(&paths[*a], &paths[*b]),
            _ => paths[*a].hops.cmp(&paths[*b].hops),
        };
        let first = (0..paths.len()).min_by(order).unwrap_or(0);
        let second = (0..paths.len()).filter(|at| *at != first).min_by(order).unwrap_or(first);
        (first, second)
    }
}

impl Criterion {
    /// Returns the best path. If two paths are equally good, `avoided` is not chosen.
    fn best(self, paths: &[Path], avoided: Option<usize>) -> usize {
        let order = |a: &usize, b: &usize| {
            let avoided = |at: usize| Some(at) == avoided;
            self.compare(&paths[*a], &paths[*b]).then(avoided(*a).cmp(&avoided(*b)))
        };
        (0..paths.len()).min_by(order).unwrap_or(0)
    }

    /// Compares two paths so that the better path comes first. A path without estimates comes last.
    fn compare(self, a: &Path, b: &Path) -> Ordering {
        let known = |quality: Option<Quality>| quality.is_none();
        let measured = match (a.quality, b.quality) {
            (Some(a), Some(b)) => match self {
                Criterion::Widest => b.bandwidth.total_cmp(&a.bandwidth),
                Criterion::Fastest => a.delay.cmp(&b.delay),
            },
            (a, b) => known(a).cmp(&known(b)),
        };
        measured.then(a.hops.cmp(&b.hops))
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use strandcast_proto::time::Instant;

    use super::*;

    const MPR: Choice = Choice::Classes { original: Criterion::Widest, retransmission: Criterion::Fastest };

    /// Returns a path through `node`. The last hop of this path is 100 + `node`.
    fn path(node: u32, hops: u8, bandwidth: f64, delay_ms: u64) -> Path {
        let quality = Quality { bandwidth, delay: Duration::from_millis(delay_ms) };
        let (next_hop, last_hop) = (Address(node), Address(100 + node));
        Path { next_hop, last_hop, hops, expires: Instant::MAX, quality: Some(quality) }
    }

    #[test]
    fn on_the_way_the_label_decides_and_without_its_path_the_class() {
        let paths = [path(1, 3, 900.0, 90), path(2, 3, 500.0, 50), path(3, 3, 100.0, 10)];
        let chosen = |class, label: u32| MPR.on_the_way(&paths, None, class, Some(Address(label)));
        assert_eq!(chosen(Class::Original, 102), 1);
        assert_eq!(chosen(Class::Retransmission, 101), 0);
        assert_eq!((chosen(Class::Original, 109), chosen(Class::Retransmission, 109)), (0, 2));
    }

    #[test]
    fn of_equally_good_paths_the_shorter_counts_and_then_the_other_one() {
        let source = |paths: &[Path], class| MPR.at_source(paths, &mut false, class);
        let paths = [path(1, 4, 500.0, 50), path(2, 3, 500.0, 50), path(3, 3, 500.0, 50)];
        assert_eq!((source(&paths, Class::Original), source(&paths, Class::Retransmission)), (1, 2));
        assert_eq!(source(&paths[..1], Class::Retransmission), 0, "a single path serves both");
        let same = [path(1, 3, 900.0, 10), path(2, 3, 500.0, 50)];
        assert_eq!((source(&same, Class::Original), source(&same, Class::Retransmission)), (0, 0));
    }

    #[test]
    fn an_even_split_takes_the_two_best_and_never_leads_back() {
        let paths = [path(1, 4, 500.0, 50), path(2, 2, 100.0, 50), path(3, 3, 900.0, 50)];
        let mut turn = false;
        let mut take = |choice: Choice| choice.at_source(&paths, &mut turn, Class::Original);
        assert_eq!([take(Choice::Even), take(Choice::Even), take(Choice::Even)], [1, 2, 1]);
        take(Choice::Even);
        assert_eq!([take(Choice::EvenWidest), take(Choice::EvenWidest)], [2, 0]);
        let from = |node| Some(Address(node));
        assert_eq!(Choice::Even.on_the_way(&paths, from(1), Class::Original, None), 1);
        assert_eq!(Choice::Even.on_the_way(&paths, from(2), Class::Original, None), 0);
        assert_eq!(Choice::EvenWidest.on_the_way(&paths, from(3), Class::Original, None), 0);
        assert_eq!(Choice::Even.on_the_way(&paths[..1], from(1), Class::Original, None), 0);
    }
}
