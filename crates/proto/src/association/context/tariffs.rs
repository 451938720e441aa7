//! Datagrams that arrived and left, charged to the tariffs of their links.

use smallvec::SmallVec;

use super::Context;
use crate::path::FourTuple;
use crate::policy::{LinkId, PathId, Signal, Tariff};
use crate::time::Instant;

/// Tariffs of the links that have one, including links without a path.
#[derive(Debug, Default)]
pub(in crate::association) struct Tariffs(SmallVec<[LinkTariff; 4]>);

#[derive(Debug)]
struct LinkTariff {
    link: LinkId,
    tariff: Tariff,
    /// Bytes in both directions while the link had an allowance.
    used: u64,
}

impl Tariffs {
    /// Returns the tariff of `link`.
    pub fn of(&self, link: LinkId) -> Tariff {
        self.0.iter().find(|known| known.link == link).map(|known| known.tariff).unwrap_or_default()
    }

    /// See [`crate::association::allowance_used`].
    pub fn used(&self, link: LinkId) -> u64 {
        self.0.iter().find(|known| known.link == link).map_or(0, |known| known.used)
    }

    fn entry(&mut self, link: LinkId) -> &mut LinkTariff {
        let at = self.0.iter().position(|known| known.link == link).unwrap_or_else(|| {
            self.0.push(LinkTariff { link, tariff: Tariff::default(), used: 0 });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

impl Context {
    /// See [`crate::association::Association::set_tariff`].
    pub fn set_tariff(&mut self, now: Instant, link: LinkId, tariff: Tariff) {
        self.tariffs.entry(link).tariff = tariff;
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
        if view.tariff.left.is_some() {
            let link = view.link;
            self.take_from(link, bytes);
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

    /// Takes bytes from the allowance of a link. All paths over the link share it.
    fn take_from(&mut self, link: LinkId, bytes: u64) {
        let entry = self.tariffs.entry(link);
        entry.used += bytes;
        entry.tariff.left = entry.tariff.left.map(|left| left.saturating_sub(bytes));
        let tariff = entry.tariff;
        for (_, view) in self.paths.rows_mut().filter(|(_, view)| view.link == link) {
            view.tariff = tariff;
        }
    }
}
