//! Queries the counters regularly, in parallel with the driver's loop.

use std::collections::BTreeMap;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use strandcast_proto::policy::LinkId;
use strandcast_proto::time::Instant;
use tokio::task::JoinHandle;

use super::reading::{LinkCounters, MonitorStats, Reading};
use super::source::Source;
use super::station::Station;
use crate::netlink::Refusal;

/// Interval between two queries of an interface. The interval allows several queries per estimation interval, and the
/// queries cost almost nothing.
const INTERVAL: Duration = Duration::from_millis(200);
/// Pause before the next query of an interface that refused a query. After the pause, its index may belong to another
/// interface.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The answer of each interface, and the source for the next query.
type Answers = (Source, Vec<(u32, Result<Vec<Station>, Refusal>)>);

/// Queries the wireless interfaces of a driver regularly. A radio driver may take milliseconds to answer, because some
/// drivers ask their firmware. The queries therefore run on a blocking thread, one round at a time. If there are no
/// wireless interfaces, nothing is queried.
pub(crate) struct Monitor {
    /// `None` while a round is in progress.
    source: Option<Source>,
    is_wireless: fn(&str) -> bool,
    round: Option<JoinHandle<Answers>>,
    /// Links and their interfaces' indices.
    watched: Vec<(LinkId, u32)>,
    counters: BTreeMap<LinkId, LinkCounters>,
    /// Time of the next query of each interface that refused.
    refused: BTreeMap<u32, Instant>,
    next: Instant,
    /// Number of queries, by outcome.
    pub(crate) stats: MonitorStats,
}

impl Monitor {
    /// A monitor that queries the kernel.
    pub(crate) fn new() -> Self {
        Monitor::of(Source::kernel())
    }

    /// A monitor that queries `source`.
    pub(crate) fn of(source: Source) -> Self {
        Monitor {
            is_wireless: source.is_wireless,
            source: Some(source),
            round: None,
            watched: Vec::new(),
            counters: BTreeMap::new(),
            refused: BTreeMap::new(),
            next: Instant::ZERO,
            stats: MonitorStats::default(),
        }
    }

    /// Replaces the set of links. Links that have a wireless interface (name and index) are queried.
    pub(crate) fn watch(&mut self, links: &[(LinkId, Option<(&str, u32)>)]) {
        let wireless = |(link, of): &(LinkId, Option<(&str, u32)>)| {
            let (name, index) = (*of)?;
            (self.is_wireless)(name).then_some((*link, index))
        };
        self.watched = links.iter().filter_map(wireless).collect();
        self.counters.retain(|link, _| links.iter().any(|(known, _)| known == link));
        self.refused.retain(|index, _| self.watched.iter().any(|(_, of)| of == index));
    }

    /// Starts the queries that are due, and passes on the answers. Returns whether any answers have arrived.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        mut report: impl FnMut(Reading),
    ) -> bool {
        if self.poll_timeout().is_some_and(|at| at <= now) {
            self.query(now);
        }
        let Some(round) = &mut self.round else { return false };
        let Poll::Ready(answered) = Pin::new(round).poll(cx) else { return false };
        self.round = None;
        // A round that the end of the runtime or a panic has cut short is the last round.
        let Ok((source, answers)) = answered else { return false };
        self.source = Some(source);
        for (index, answer) in answers {
            self.take(now, index, answer, &mut report);
        }
        true
    }

    /// Time of the next query.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        (self.source.is_some() && !self.watched.is_empty()).then_some(self.next)
    }

    fn query(&mut self, now: Instant) {
        self.next = now + INTERVAL;
        let mut indices: Vec<u32> = self.watched.iter().map(|(_, index)| *index).collect();
        indices.sort_unstable();
        indices.dedup();
        indices.retain(|index| self.refused.get(index).is_none_or(|until| *until <= now));
        if indices.is_empty() {
            return;
        }
        let Some(mut source) = self.source.take() else { return };
        self.round = Some(tokio::task::spawn_blocking(move || {
            let answers = indices.into_iter().map(|index| (index, (source.stations)(index))).collect();
            (source, answers)
        }));
    }

    fn take(
        &mut self,
        now: Instant,
        index: u32,
        answer: Result<Vec<Station>, Refusal>,
        report: &mut impl FnMut(Reading),
    ) {
        for (link, _) in self.watched.iter().filter(|(_, of)| *of == index) {
            let counters = self.counters.entry(*link).or_default();
            let answer = answer.as_ref().map_err(|refusal| *refusal);
            match answer.and_then(|stations| counters.update(stations)) {
                Ok(Some(mut reading)) => {
                    self.stats.readings += 1;
                    reading.sample.link = *link;
                    report(reading);
                }
                Ok(None) => self.stats.unassociated += 1,
                Err(refusal) => {
                    self.stats.refused += 1;
                    self.stats.last = Some(refusal);
                    self.refused.insert(index, now + RETRY_INTERVAL);
                }
            }
        }
    }
}
