//! Writes the use of monthly allowances to the ledger, and reads the sums.

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Duration, Instant};

use super::allowance::{Link, Seen, capped};
use super::monthly::{Deposit, Monthly};
use crate::error::Error;
use crate::live::event::Event;
use crate::live::ledger::{Known, Ledger};

/// Time between two writes to the ledger. A process that is killed loses the count of this time.
const INTERVAL: Duration = Duration::from_secs(2);

/// Writes the use of links to the ledger.
#[derive(Debug)]
pub(super) struct Keeper {
    ledger: Ledger,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Time of the next write.
    next: Option<Instant>,
    writing: Option<JoinHandle<Outcome>>,
    /// Byte counts of past months, and of devices that are no longer used. They wait for the next write.
    closed: Vec<Deposit>,
    /// True if the last write failed.
    failed: bool,
}

/// Deposits and the results of writing them: the sums of the months.
type Outcome = Vec<(Deposit, Result<u64, Error>)>;

impl Keeper {
    pub(super) fn new(ledger: Ledger) -> Keeper {
        Keeper { ledger, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to count for the links that are there, from the sums in the ledger.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(super) async fn open(&self, links: &mut [Link], there: &[Known]) -> Result<(), Error> {
        let mut deposits = Vec::new();
        for link in links.iter_mut() {
            let known = there.iter().find(|known| known.name == link.spec.link).cloned();
            if let Some(monthly) = &mut link.monthly {
                monthly.known = known;
                deposits.extend(monthly.deposit());
            }
        }
        let outcome = self.write(deposits).await.unwrap_or_default();
        if let Some(error) = outcome.iter().find_map(|(_, sum)| sum.as_ref().err()) {
            return Err(error.clone());
        }
        settle(links, outcome);
        links.iter_mut().for_each(|link| link.fresh = false);
        Ok(())
    }

    /// Keeps the byte count of a link that is no longer used, for the next write.
    pub(super) fn close(&self, monthly: Monthly) {
        let mut state = self.state();
        state.closed.extend(monthly.rest());
        // A new allowance of the link is known when the ledger was read.
        state.next = None;
    }

    /// Writes the rest when the stream was cancelled. Blocks.
    pub(super) fn end(&self) {
        for Deposit { link, month, bytes, .. } in std::mem::take(&mut self.state().closed) {
            // The stream was cancelled, so that an error has no reader. The ledger then lacks at most two seconds.
            let _ = self.ledger.add(&link, month, bytes);
        }
    }

    /// Writes everything that the ledger does not have yet. Returns an event if that fails.
    pub(super) async fn finish<'a>(&self, links: impl Fn() -> MutexGuard<'a, Vec<Link>>) -> Option<Event> {
        let writing = self.state().writing.take();
        if let Some(writing) = writing {
            self.done(&links, writing.await.unwrap_or_default(), &mut Vec::new());
        }
        let mut rest = std::mem::take(&mut self.state().closed);
        rest.extend(links().iter_mut().filter_map(|link| link.monthly.as_mut()?.deposit()));
        rest.retain(|deposit| deposit.bytes > 0);
        let mut news = Vec::new();
        let outcome = self.write(rest).await.unwrap_or_default();
        self.state().failed = false;
        self.done(&links, outcome, &mut news);
        news.pop()
    }

    /// Writes to the ledger from time to time. Returns news for the user.
    pub(super) async fn keep<'a>(
        &self,
        links: impl Fn() -> MutexGuard<'a, Vec<Link>>,
        seen: &[Seen],
    ) -> Vec<Event> {
        let mut news = Vec::new();
        let done = self.state().writing.take_if(|writing| writing.is_finished());
        if let Some(done) = done {
            self.done(&links, done.await.unwrap_or_default(), &mut news);
        }
        let now = Instant::now();
        let mut state = self.state();
        if state.writing.is_some() || state.next.is_some_and(|next| now < next) {
            return news;
        }
        state.next = Some(now + INTERVAL);
        let mut closed = std::mem::take(&mut state.closed);
        let deposits = collect(&mut links(), seen, &mut closed);
        closed.extend(deposits);
        if !closed.is_empty() {
            state.writing = Some(self.write(closed));
        }
        news
    }

    /// Adds deposits to the ledger.
    fn write(&self, deposits: Vec<Deposit>) -> JoinHandle<Outcome> {
        let ledger = self.ledger.clone();
        spawn_blocking(move || {
            let add = |one: Deposit| {
                let sum = ledger.add(&one.link, one.month, one.bytes);
                (one, sum)
            };
            deposits.into_iter().map(add).collect()
        })
    }

    /// Takes the results of a write.
    fn done<'a>(
        &self,
        links: &impl Fn() -> MutexGuard<'a, Vec<Link>>,
        outcome: Outcome,
        news: &mut Vec<Event>,
    ) {
        let failed = outcome.iter().find_map(|(_, sum)| sum.as_ref().err()).map(ToString::to_string);
        let (opened, lost) = settle(&mut links(), outcome);
        let mut state = self.state();
        state.closed.extend(lost);
        let first = !std::mem::replace(&mut state.failed, failed.is_some());
        news.extend(opened);
        news.extend(failed.filter(|_| first).map(|why| Event::Ledger { why }));
    }
}

/// Takes the sums of months. Returns events about allowances that were read for the first time, and deposits that have
/// failed and belong to no present month of a link.
fn settle(links: &mut [Link], outcome: Outcome) -> (Vec<Event>, Vec<Deposit>) {
    let (mut events, mut lost) = (Vec::new(), Vec::new());
    for (deposit, sum) in outcome {
        let made = |link: &&mut Link| link.monthly.as_ref().is_some_and(|monthly| monthly.made(&deposit));
        let link = links.iter_mut().find(made);
        match (link, sum) {
            (Some(link), sum) => events.extend(credit(link, &deposit, sum.ok())),
            // Another tariff has replaced the one of the deposit, or its month or device is over.
            (None, Err(_)) => lost.push(Deposit { closed: true, ..deposit }),
            (None, Ok(_)) => {}
        }
    }
    (events, lost)
}

/// Takes the sum of a month after a deposit of this link; `None` if the deposit could not be written. Returns an event
/// if it is the first sum.
fn credit(link: &mut Link, deposit: &Deposit, sum: Option<u64>) -> Option<Event> {
    let monthly = link.monthly.as_mut()?;
    let Some(sum) = sum else {
        monthly.take_back();
        return None;
    };
    let first = monthly.credit(deposit, sum);
    link.reckon();
    capped(link).filter(|_| first)
}

/// Returns the bytes that the ledger does not have. Begins another month where it is time, and begins to count for
/// links whose hardware is seen for the first time. `closed` gets the bytes of previous months and devices.
fn collect(links: &mut [Link], seen: &[Seen], closed: &mut Vec<Deposit>) -> Vec<Deposit> {
    let mut deposits = Vec::new();
    for link in links {
        let there = link.present(seen);
        let Some(monthly) = &mut link.monthly else { continue };
        closed.extend(there.and_then(|there| monthly.meet(&there.name, &there.hardware)));
        closed.extend(monthly.turn(SystemTime::now()));
        if !monthly.is_open() || monthly.unsaved > 0 {
            deposits.extend(monthly.deposit());
        }
        link.look_at_the_clock();
        link.reckon();
    }
    deposits
}
