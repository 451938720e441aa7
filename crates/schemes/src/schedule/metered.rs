//! Restricts the paths that a chunk may take, by the costs of their links
//! ([`Tariff`](strandcast_proto::policy::Tariff)).
//!
//! * *Classes*: a path of a higher class takes a chunk only if no path of a lower class delivers it in time, even after
//!   one loss. The higher class is then open. An open class also takes chunks that have time to wait. It is closed
//!   again when no chunk has needed it for the time [`SPARE`]. Data without a deadline use the lowest class.
//! * *Allowance*: the remaining allowance, less the share [`RESERVE`], is spread evenly over the time for which it must
//!   last. A link may therefore use a part of it at any time. Unused parts accumulate, but only over the time
//!   [`SAVED`]. A path that has used its present part takes no data while another path is usable.
//! * *Cap*: a path whose allowance is used up completely takes no data, even if it is the only path.
//!
//! All constants are `ASSUMED`.

use smallvec::SmallVec;

use strandcast_proto::policy::{LinkId, PathSet, PathView, View};
use strandcast_proto::time::{Duration, Instant};

use super::earliest_arrival::Choices;

/// Lowest class to which two further restrictions apply. Links of this class and of higher classes carry no chunk that
/// another link would deliver sooner, and no second copy of a chunk.
pub(super) const METERED: u8 = 2;
/// Time after which a class is closed again if it was not needed.
const SPARE: Duration = Duration::from_secs(5);
/// Share of the remaining allowance that is kept in reserve.
const RESERVE: f64 = 0.05;
/// Longest time for which an allowance accumulates.
const SAVED: Duration = Duration::from_secs(600);

/// State of the rules in the [module](self).
#[derive(Debug, Default)]
pub(super) struct Metered {
    /// Highest open class. Paths of this class and of lower classes are open; 0 is the lowest class.
    open: u8,
    /// Time at which the open class was last needed.
    needed: Instant,
    buckets: SmallVec<[(LinkId, Bucket); 4]>,
}

/// Number of bytes that a link may use now, and the time to which it applies.
#[derive(Copy, Clone, Debug)]
struct Bucket {
    /// Number of bytes. It is negative if the link has used more than its part.
    tokens: f64,
    /// Time at which `left` was read.
    at: Instant,
    left: u64,
}

impl Metered {
    /// Returns the paths of `choices` that a chunk may not take. `left` is the time in seconds after which the chunk is
    /// useless. `None`: it never becomes useless.
    pub fn barred(&mut self, view: &View<'_>, choices: &Choices<'_>, left: Option<f64>) -> PathSet {
        let mut barred = PathSet::default();
        if choices.iter().all(|c| free(c.0)) {
            return barred;
        }
        let capped = |p: &PathView| p.tariff.left == Some(0);
        choices.iter().filter(|c| capped(c.0)).for_each(|c| barred.insert(c.0.id));
        let spent: PathSet = choices.iter().filter(|c| self.spent(view, c.0)).map(|c| c.0.id).collect();
        let may = |p: &PathView, without: PathSet| !without.contains(p.id);
        if choices.iter().any(|c| may(c.0, barred) && !spent.contains(c.0.id)) {
            spent.iter().for_each(|p| barred.insert(p));
        }
        let some = choices.iter().filter(|c| may(c.0, barred));
        let Some(least) = some.clone().map(|c| c.0.tariff.class).min() else { return barred };
        let most = match left {
            Some(left) => self.class(view.now, choices, barred, left, least),
            None => least,
        };
        some.filter(|c| c.0.tariff.class > most)
            .map(|c| c.0.id)
            .collect::<PathSet>()
            .iter()
            .for_each(|p| barred.insert(p));
        barred
    }

    /// Returns the highest class that the chunk may take. `least` is the lowest class of any path.
    fn class(&mut self, now: Instant, choices: &Choices<'_>, barred: PathSet, left: f64, least: u8) -> u8 {
        let may = choices.iter().filter(|c| !barred.contains(c.0.id));
        if self.open > least && now.saturating_since(self.needed) >= SPARE {
            let lower = may.clone().map(|c| c.0.tariff.class).filter(|class| *class < self.open);
            (self.open, self.needed) = (lower.max().unwrap_or(least), now);
        }
        let open = self.open.max(least);
        // Returns the lowest class with a path on which a chunk would be in time. The path must deliver it in time even
        // if the delivery takes `rounds` times as long.
        let fits = |rounds: f64| {
            let fit = may.clone().filter(move |c| rounds * (c.1.arrival + c.1.resend) <= left);
            fit.map(|c| c.0.tariff.class).min()
        };
        let ready = may.clone().filter(|c| c.0.has_room() && c.1.arrival + c.1.resend <= left);
        let wanted = match (fits(2.0), fits(1.0)) {
            // A path of an open class delivers the chunk in time even if the delivery takes twice as long: the chunk
            // can wait for room on it.
            (Some(class), _) if class <= open => class,
            // A path of an open class that has room takes the chunk at once. A class that is not open takes the chunk
            // only if no open class delivers it in time.
            (_, Some(class)) => ready.map(|c| c.0.tariff.class).filter(|c| *c <= open).min().unwrap_or(class),
            // The chunk is late on every path, so that any class may take it.
            _ => may.clone().map(|c| c.0.tariff.class).max().unwrap_or(least),
        };
        if wanted > least && wanted >= self.open {
            (self.open, self.needed) = (wanted, now);
        }
        wanted
    }

    /// Returns whether the path's link has used its present allowance.
    fn spent(&mut self, view: &View<'_>, path: &PathView) -> bool {
        let (Some(left), Some(until)) = (path.tariff.left, path.tariff.until) else { return false };
        let rest = until.saturating_since(view.now).as_secs_f64();
        if rest <= 0.0 {
            return false;
        }
        let rate = left as f64 * (1.0 - RESERVE) / rest;
        let most = rate * SAVED.as_secs_f64().min(rest);
        let known = self.buckets.iter().position(|b| b.0 == path.link);
        let at = known.unwrap_or_else(|| {
            self.buckets.push((path.link, Bucket { tokens: most, at: view.now, left }));
            self.buckets.len() - 1
        });
        let bucket = &mut self.buckets[at].1;
        let earned = rate * view.now.saturating_since(bucket.at).as_secs_f64();
        let used = bucket.left.saturating_sub(left) as f64;
        bucket.tokens = (bucket.tokens + earned - used).min(most);
        (bucket.at, bucket.left) = (view.now, left);
        bucket.tokens <= 0.0
    }
}

/// Returns whether the path has no tariff.
fn free(path: &PathView) -> bool {
    path.tariff.class == 0 && path.tariff.left.is_none()
}

#[cfg(test)]
mod tests;
