//! Asking again and again, beside the driver's loop.

use std::collections::BTreeMap;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use strandcast_proto::policy::LinkId;
use strandcast_proto::time::Instant;
use tokio::task::JoinHandle;

use super::reading::{MonitorStats, Reading, Tally};
use super::refusal::Refusal;
use super::source::Source;
use super::station::Station;

/// Between two looks at an interface: several in an estimation interval, few enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(200);
/// Until an interface that refused is asked again: it may have become another's.
const PATIENCE: Duration = Duration::from_secs(5);

/// What each interface answered, and the way to ask again.
type Answers = (Source, Vec<(u32, Result<Vec<Station>, Refusal>)>);

/// Polls the wireless interfaces among a driver's. Drivers of radios may take milliseconds for an answer, some ask
/// their firmware: that happens on a thread for what blocks, one round at a time. Without such interfaces nothing
/// happens at all.
pub(crate) struct Monitor {
    /// Not here while a round is under way.
    source: Option<Source>,
    is_wireless: fn(&str) -> bool,
    round: Option<JoinHandle<Answers>>,
    /// Links and their interfaces' indices.
    watched: Vec<(LinkId, u32)>,
    tallies: BTreeMap<LinkId, Tally>,
    /// When interfaces that refused are asked again.
    refused: BTreeMap<u32, Instant>,
    next: Instant,
    /// What came of it so far.
    pub(crate) stats: MonitorStats,
}

impl Monitor {
    /// A monitor that asks the kernel.
    pub(crate) fn new() -> Self {
        Monitor::of(Source::kernel())
    }

    /// A monitor that asks `source`.
    pub(crate) fn of(source: Source) -> Self {
        Monitor {
            is_wireless: source.is_wireless,
            source: Some(source),
            round: None,
            watched: Vec::new(),
            tallies: BTreeMap::new(),
            refused: BTreeMap::new(),
            next: Instant::ZERO,
            stats: MonitorStats::default(),
        }
    }

    /// Takes these links for all there are, and their interfaces (name and index) for those to watch, as far as they are
    /// wireless.
    pub(crate) fn watch(&mut self, links: &[(LinkId, Option<(&str, u32)>)]) {
        let wireless = |(link, of): &(LinkId, Option<(&str, u32)>)| {
            let (name, index) = (*of)?;
            (self.is_wireless)(name).then_some((*link, index))
        };
        self.watched = links.iter().filter_map(wireless).collect();
        self.tallies.retain(|link, _| links.iter().any(|(known, _)| known == link));
        self.refused.retain(|index, _| self.watched.iter().any(|(_, of)| of == index));
    }

    /// Asks when it is time to; hands on what was answered. Whether anything was.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, now: Instant, mut tell: impl FnMut(Reading)) -> bool {
        if self.poll_timeout().is_some_and(|at| at <= now) {
            self.ask(now);
        }
        let Some(round) = &mut self.round else { return false };
        let Poll::Ready(answered) = Pin::new(round).poll(cx) else { return false };
        self.round = None;
        // A round that was cut short by the end of the runtime, or by a fault of its own, is the last one.
        let Ok((source, answers)) = answered else { return false };
        self.source = Some(source);
        for (index, answer) in answers {
            self.take(now, index, answer, &mut tell);
        }
        true
    }

    /// When to ask again.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        (self.source.is_some() && !self.watched.is_empty()).then_some(self.next)
    }

    fn ask(&mut self, now: Instant) {
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
        tell: &mut impl FnMut(Reading),
    ) {
        for (link, _) in self.watched.iter().filter(|(_, of)| *of == index) {
            let tally = self.tallies.entry(*link).or_default();
            let answer = answer.as_ref().map_err(|refusal| *refusal);
            match answer.and_then(|stations| tally.update(stations)) {
                Ok(Some(mut reading)) => {
                    self.stats.readings += 1;
                    reading.sample.link = *link;
                    tell(reading);
                }
                Ok(None) => self.stats.alone += 1,
                Err(refusal) => {
                    self.stats.refused += 1;
                    self.stats.last = Some(refusal);
                    self.refused.insert(index, now + PATIENCE);
                }
            }
        }
    }
}
