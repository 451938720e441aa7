//! Monthly allowances of links, and the ledger that has what was used of them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};

use super::tariffs::{Link, capped};
use crate::error::Error;
use crate::live::event::Event;
use crate::live::ledger::{Known, Ledger, Month};

/// Time between two writes to the ledger. A process that is killed loses the count of this time.
const INTERVAL: Duration = Duration::from_secs(2);

/// The use of a link in the current month.
#[derive(Clone, Debug)]
pub(super) struct Monthly {
    day: u8,
    pub(super) month: Month,
    /// The link, once its hardware was seen.
    known: Option<Known>,
    /// Bytes that the ledger does not have yet.
    pub(super) unsaved: u64,
    /// Bytes that this stream has added to the ledger in this month.
    saved: u64,
    /// Bytes in the ledger that this stream has not added: those of earlier streams and of other processes.
    others: u64,
}

impl Monthly {
    /// The use of a link whose month begins on this day.
    pub(super) fn new(day: u8) -> Monthly {
        let month = Month::of(SystemTime::now(), day);
        Monthly { day, month, known: None, unsaved: 0, saved: 0, others: 0 }
    }
}

/// Bytes to add to the ledger.
#[derive(Clone, Debug)]
struct Deposit {
    link: Known,
    month: Month,
    bytes: u64,
}

/// Deposits with their results: the sums of the months, or the reason why the remaining ones are not in the ledger.
type Outcome = (Vec<Deposit>, Vec<Result<u64, Error>>);

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
    /// True if the last write failed.
    failed: bool,
}

impl Keeper {
    pub(super) fn new(ledger: Ledger) -> Keeper {
        Keeper { ledger, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to count for a link, from what the ledger has.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(super) fn open(&self, link: &mut Link, known: Known) -> Result<(), Error> {
        let Some(monthly) = &mut link.monthly else { return Ok(()) };
        monthly.others = self.ledger.add(&known, monthly.month, 0)?;
        monthly.known = Some(known);
        link.left = link.spec.left.map(|cap| cap.saturating_sub(monthly.others));
        Ok(())
    }

    /// Writes what the ledger does not have yet of a link that is no longer counted.
    pub(super) fn close(&self, link: Link) {
        let Some(Monthly { known: Some(known), month, unsaved: 1.., .. }) = &link.monthly else { return };
        let unsaved = link.monthly.as_ref().map_or(0, |monthly| monthly.unsaved);
        // The stream has ended, so that an error has no reader. The ledger then lacks at most two seconds.
        let _ = self.ledger.add(known, *month, unsaved);
    }

    /// Writes everything that the ledger does not have yet.
    pub(super) async fn finish<'a>(&self, links: impl Fn() -> MutexGuard<'a, Vec<Link>>) {
        let writing = self.state().writing.take();
        if let Some(writing) = writing {
            let outcome = writing.await.unwrap_or_default();
            // The stream has ended, so that news have no reader.
            self.settle(&mut links(), outcome, &mut Vec::new());
        }
        let rest = collect(&mut links(), &|_: &str| None, &mut Vec::new());
        let ledger = self.ledger.clone();
        let last = tokio::task::spawn_blocking(move || write(&ledger, rest)).await.unwrap_or_default();
        self.settle(&mut links(), last, &mut Vec::new());
    }

    /// Writes to the ledger from time to time. `seen` returns a link by its name, if it is there. Returns news for the
    /// user.
    pub(super) async fn keep<'a>(
        &self,
        links: impl Fn() -> MutexGuard<'a, Vec<Link>>,
        seen: impl Fn(&str) -> Option<Known>,
    ) -> Vec<Event> {
        let done = {
            let mut state = self.state();
            state.writing.take_if(|writing| writing.is_finished())
        };
        let mut news = Vec::new();
        if let Some(done) = done {
            let outcome = done.await.unwrap_or_default();
            self.settle(&mut links(), outcome, &mut news);
        }
        let mut state = self.state();
        let now = Instant::now();
        if state.writing.is_some() || state.next.is_some_and(|next| now < next) {
            return news;
        }
        state.next = Some(now + INTERVAL);
        let deposits = collect(&mut links(), &seen, &mut news);
        if !deposits.is_empty() {
            let ledger = self.ledger.clone();
            state.writing = Some(tokio::task::spawn_blocking(move || write(&ledger, deposits)));
        }
        news
    }

    /// Takes the results of a write.
    fn settle(&self, links: &mut [Link], (deposits, sums): Outcome, news: &mut Vec<Event>) {
        let mut state = self.state();
        let failed = sums.iter().find_map(|sum| sum.as_ref().err().cloned());
        if let Some(why) = failed.clone().filter(|_| !state.failed) {
            news.push(Event::Ledger { why: why.to_string() });
        }
        state.failed = failed.is_some();
        for (deposit, sum) in deposits.into_iter().zip(sums) {
            let of_it = |link: &&mut Link| {
                link.monthly
                    .as_ref()
                    .is_some_and(|m| m.known.as_ref() == Some(&deposit.link) && m.month == deposit.month)
            };
            let Some(link) = links.iter_mut().find(of_it) else { continue };
            let Some(monthly) = &mut link.monthly else { continue };
            let Ok(sum) = sum else {
                monthly.unsaved += deposit.bytes;
                continue;
            };
            monthly.saved += deposit.bytes;
            let others = sum.saturating_sub(monthly.saved);
            let more = others.saturating_sub(monthly.others);
            monthly.others = others;
            if more > 0 {
                link.left = link.left.map(|left| left.saturating_sub(more));
                link.fresh = true;
                news.extend(link.left.map(|left| capped(link, left)));
            }
        }
    }
}

/// Adds deposits to the ledger.
fn write(ledger: &Ledger, deposits: Vec<Deposit>) -> Outcome {
    let add = |one: &Deposit| ledger.add(&one.link, one.month, one.bytes);
    let sums = deposits.iter().map(add).collect();
    (deposits, sums)
}

/// Takes the bytes that the ledger does not have. Begins another month where it is time, and begins to count for links
/// whose hardware is seen for the first time.
fn collect(links: &mut [Link], seen: &impl Fn(&str) -> Option<Known>, news: &mut Vec<Event>) -> Vec<Deposit> {
    let mut deposits = Vec::new();
    let today = SystemTime::now();
    for link in links {
        let Some(monthly) = &mut link.monthly else { continue };
        let first = monthly.known.is_none();
        if let Some(known) = seen(&link.spec.link) {
            monthly.known = Some(known);
        }
        let Some(known) = monthly.known.clone() else { continue };
        if first || monthly.unsaved > 0 {
            let bytes = std::mem::take(&mut monthly.unsaved);
            deposits.push(Deposit { link: known.clone(), month: monthly.month, bytes });
        }
        let month = Month::of(today, monthly.day);
        if month != monthly.month {
            (monthly.month, monthly.saved, monthly.others) = (month, 0, 0);
            deposits.push(Deposit { link: known, month, bytes: 0 });
            link.renew();
            news.extend(link.left.map(|left| capped(link, left)));
        }
    }
    deposits
}
