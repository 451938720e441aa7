//! Datagrams that arrived and left, charged to the tariffs of their links.

use smallvec::SmallVec;

use super::Context;
use crate::path::FourTuple;
use crate::policy::{LinkId, PathId, Signal, Tariff};
use crate::time::Instant;

/// Tariffs of the links that have one, including links without a path.
#[derive(Debug, Default)]
pub(in crate::association) struct Tariffs(SmallVec<[(LinkId, Tariff); 4]>);

impl Tariffs {
    /// Returns the tariff of `link`.
    pub fn of(&self, link: LinkId) -> Tariff {
        self.0.iter().find(|(l, _)| *l == link).map(|(_, tariff)| *tariff).unwrap_or_default()
    }

    fn set(&mut self, link: LinkId, tariff: Tariff) {
        match self.0.iter_mut().find(|(l, _)| *l == link) {
            Some(known) => known.1 = tariff,
            None => self.0.push((link, tariff)),
        }
    }
}

impl Context {
    /// See [`crate::association::Association::set_tariff`].
    pub fn set_tariff(&mut self, now: Instant, link: LinkId, tariff: Tariff) {
        self.tariffs.set(link, tariff);
        for i in 0..self.paths.len() {
            let path = PathId(i as u8);
            if self.paths.view(i).link == link && self.is_open(path) {
                self.paths.view_mut(i).tariff = tariff;
                self.signal(now, &Signal::PathChanged(path));
            }
        }
    }

    /// Sets the link of `path`.
    pub fn set_link(&mut self, path: PathId, link: LinkId) {
        let tariff = self.tariffs.of(link);
        let view = self.paths.view_mut(path.index());
        (view.link, view.tariff) = (link, tariff);
    }

    /// Counts a datagram of `bytes` that is sent on `path`. The bytes include the headers of IP and UDP and the
    /// envelope.
    #[inline]
    pub fn datagram_left(&mut self, path: PathId, bytes: u64) {
        self.stats.wire_sent += bytes;
        self.take_allowance(path, bytes);
    }

    #[inline]
    fn take_allowance(&mut self, path: PathId, bytes: u64) {
        let view = self.paths.view(path.index());
        if let Some(left) = view.tariff.left.filter(|left| *left > 0) {
            let tariff = Tariff { left: Some(left.saturating_sub(bytes)), ..view.tariff };
            let link = view.link;
            self.take_from(link, tariff);
        }
    }

    /// Counts a packet of `len` bytes that arrived by `path` from the address `tuple`.
    pub fn packet_came(&mut self, now: Instant, path: PathId, tuple: &FourTuple, len: usize) {
        let wire = (len + self.headers(tuple)) as u64;
        let p = &mut self.paths[path.index()];
        p.stats.packets_received += 1;
        p.stats.bytes_received += len as u64;
        p.last_received = Some(now);
        self.stats.wire_received += wire;
        self.take_allowance(path, wire);
        self.silence_ends();
        self.driver.wake();
    }

    /// Updates the tariff of all paths over `link`, which share the link's allowance.
    fn take_from(&mut self, link: LinkId, tariff: Tariff) {
        self.tariffs.set(link, tariff);
        for (_, view) in self.paths.rows_mut().filter(|(_, view)| view.link == link) {
            view.tariff = tariff;
        }
    }
}
