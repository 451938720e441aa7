//! Reliable reports. This side repeats each of its reports until the peer echoes the report's serial. This side applies
//! each report of the peer once (docs/wire-format.md).

use std::collections::VecDeque;

use bytes::Bytes;

use crate::policy::PathId;
use crate::time::{Duration, Instant};
use crate::wire::chunk::report::{
    KIND_ARRIVED_REQUEST, KIND_FIRST_SCHEME, KIND_JOIN, KIND_LEAVE, KIND_MOVED, KIND_RESUME, KIND_SUSPEND,
};
use crate::wire::chunk::{ReportItem, ReportItemFlavour};

/// Number of attempts after which a report is given up. A report is repeated without limit if no later packet would
/// carry its information.
const MAX_TRIES: u32 = 5;
/// Maximum number of reports that wait for an echo.
const MAX_RELIABLE: usize = 64;
/// Number of the peer's report serials that are kept.
const REMEMBERED_SERIALS: usize = 256;

/// A report that is repeated until its serial is echoed.
#[derive(Debug)]
pub(super) struct ReliableReport {
    pub item: ReportItem,
    /// Path on which the report is sent; `None`: any usable path.
    pub via: Option<PathId>,
    /// True if an AUTH chunk and a HEARTBEAT accompany the report (JOIN, MOVED). False if only AUTH accompanies it.
    pub auth: bool,
    pub heartbeat: bool,
    pub tries: u32,
    serial: u32,
    next: Instant,
}

impl ReliableReport {
    /// Returns whether the first attempts, which have short waits, are used up.
    pub fn patient(&self) -> bool {
        self.tries >= MAX_TRIES
    }
}

/// Reports of this side, and serials of the peer's reports.
#[derive(Debug)]
pub(super) struct Reports {
    under_way: Vec<ReliableReport>,
    last_serial: u32,
    /// Serials of the peer's applied reports, newest last.
    received_serials: VecDeque<u32>,
}

impl Reports {
    /// Creates the state of reports. The first serial of this side follows `serial`.
    pub fn new(serial: u32) -> Self {
        Reports { under_way: Vec::new(), last_serial: serial, received_serials: VecDeque::new() }
    }

    /// Returns the next serial for a report. Reports that are never repeated also have a serial.
    pub fn new_serial(&mut self) -> u32 {
        self.last_serial = self.last_serial.wrapping_add(1);
        self.last_serial
    }

    /// Keeps a scheme's report. The report is sent now, and again at `next` if no echo arrives. Returns the item to
    /// send. The result is `None` if too many reports wait for an echo.
    pub fn keep(&mut self, mut item: ReportItem, via: Option<PathId>, next: Instant) -> Option<ReportItem> {
        if self.under_way.len() >= MAX_RELIABLE {
            return None;
        }
        let serial = self.new_serial();
        item.reliability = ReportItemFlavour::Reliable(serial);
        let sent = item.clone();
        self.under_way.push(ReliableReport {
            item,
            via,
            auth: false,
            heartbeat: false,
            tries: 1,
            serial,
            next,
        });
        Some(sent)
    }

    /// Starts to send the report `kind` under AUTH. The report is about a path, or about none. Drops older reports
    /// about the path that the new report replaces.
    pub fn say(&mut self, now: Instant, kind: u16, path: Option<u16>, via: Option<PathId>, heartbeat: bool) {
        self.say_more(now, (kind, path, Bytes::new()), via, heartbeat);
    }

    /// Starts to send a report that consists of a kind, a path and a payload.
    pub fn say_more(
        &mut self,
        now: Instant,
        (kind, path, payload): (u16, Option<u16>, Bytes),
        via: Option<PathId>,
        heartbeat: bool,
    ) {
        let serial = self.new_serial();
        let reliability = ReportItemFlavour::Reliable(serial);
        let item = ReportItem { kind, path, reliability, payload };
        self.under_way.retain(|r| r.item.path != path || !outdates(kind, r.item.kind));
        if self.under_way.len() >= MAX_RELIABLE
            && let Some(oldest) = self.under_way.iter().position(|r| r.item.kind == KIND_LEAVE)
        {
            self.under_way.remove(oldest);
        }
        self.under_way.push(ReliableReport { item, via, auth: true, heartbeat, tries: 0, serial, next: now });
    }

    /// Sends the reports that are due. The function `send` returns the time after which the echo is overdue, or `None`
    /// if it sent nothing.
    pub fn resend(&mut self, now: Instant, mut send: impl FnMut(&ReliableReport) -> Option<Duration>) {
        for r in self.under_way.iter_mut().filter(|r| r.next <= now) {
            let Some(wait) = send(r) else { continue };
            r.tries += 1;
            r.next = now + wait;
        }
    }

    /// Removes and returns the reports whose attempts are used up.
    pub fn take_spent(&mut self) -> Vec<ReliableReport> {
        let spent = |r: &mut ReliableReport| r.tries > MAX_TRIES && !must_arrive(r.item.kind);
        self.under_way.extract_if(.., spent).collect()
    }

    /// Handles the peer's echo of `serial`.
    pub fn on_echo(&mut self, serial: u32) {
        self.under_way.retain(|r| r.serial != serial);
    }

    /// Drops the reports that can only be sent on `path`.
    pub fn drop_via(&mut self, path: PathId) {
        self.under_way.retain(|r| r.via != Some(path));
    }

    pub fn timeout(&self) -> Option<Instant> {
        self.under_way.iter().map(|r| r.next).min()
    }

    /// Returns whether the peer's report with this serial was applied before.
    pub fn was_received(&self, serial: u32) -> bool {
        self.received_serials.contains(&serial)
    }

    /// Records that the peer's report `serial` is applied.
    pub fn note_received(&mut self, serial: u32) {
        if self.received_serials.len() == REMEMBERED_SERIALS {
            self.received_serials.pop_front();
        }
        self.received_serials.push_back(serial);
    }

    /// Returns whether no report of the peer has been applied yet.
    pub fn nothing_received(&self) -> bool {
        self.received_serials.is_empty()
    }
}

/// Returns whether a report of `kind` about a path replaces an older report of kind `old` about the same path.
fn outdates(kind: u16, old: u16) -> bool {
    let same = |kinds: [u16; 2]| kinds.contains(&kind) && kinds.contains(&old);
    match kind {
        KIND_LEAVE => old < KIND_FIRST_SCHEME,
        // If a path moves again, or is suspended and resumed, only the last report counts.
        _ => kind == old || same([KIND_SUSPEND, KIND_RESUME]) || same([KIND_JOIN, KIND_MOVED]),
    }
}

/// Returns whether a report must arrive. A report must arrive if no later packet carries its information. A report that
/// must arrive is repeated until the association ends.
fn must_arrive(kind: u16) -> bool {
    matches!(kind, KIND_LEAVE | KIND_SUSPEND | KIND_RESUME | KIND_ARRIVED_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Sends the reports that are due at `ms`. The echoes of reports may take 100 ms. Returns the kind of each report,
    /// and its attempts so far.
    fn due(reports: &mut Reports, ms: u64) -> Vec<(u16, u32)> {
        let mut sent = Vec::new();
        reports.resend(at(ms), |r| {
            sent.push((r.item.kind, r.tries));
            Some(Duration::from_millis(100))
        });
        sent
    }

    #[test]
    fn a_report_is_sent_until_it_is_echoed_or_six_times() {
        let mut reports = Reports::new(7);
        reports.say(at(0), KIND_JOIN, Some(1), None, true);
        for round in 0..6 {
            assert_eq!(reports.timeout(), Some(at(100 * u64::from(round))));
            assert_eq!(due(&mut reports, 100 * u64::from(round)), [(KIND_JOIN, round)]);
        }
        assert_eq!(reports.take_spent().len(), 1);
        reports.say(at(0), KIND_JOIN, Some(1), None, true);
        reports.on_echo(9);
        assert_eq!((due(&mut reports, 0), reports.timeout()), (vec![], None), "serials 8 and 9");
    }

    #[test]
    fn that_a_path_left_is_said_for_ever_and_outdates_the_rest() {
        let mut reports = Reports::new(0);
        for kind in [KIND_JOIN, KIND_SUSPEND, KIND_RESUME] {
            reports.say(at(0), kind, Some(1), None, false);
        }
        assert_eq!(due(&mut reports, 0).len(), 2, "of SUSPEND and RESUME the last counts");
        reports.say(at(0), KIND_LEAVE, Some(1), None, false);
        (0..20).for_each(|n| assert_eq!(due(&mut reports, 100 * n), [(KIND_LEAVE, n as u32)]));
        assert!(reports.take_spent().is_empty());
    }

    /// A request for arrivals may be made while no path works. The return paths of the last request replace those of
    /// earlier requests.
    #[test]
    fn a_request_for_arrivals_is_made_for_ever_and_outdated_by_the_next() {
        let mut reports = Reports::new(0);
        for ways in [&b"\0\x01"[..], b"\0\x02"] {
            reports.say_more(at(0), (KIND_ARRIVED_REQUEST, None, ways.into()), None, false);
        }
        (0..20).for_each(|n| assert_eq!(due(&mut reports, 100 * n), [(KIND_ARRIVED_REQUEST, n as u32)]));
        assert!(reports.take_spent().is_empty());
        reports.resend(at(9000), |r| {
            assert_eq!(r.item.payload[..], [0, 2]);
            None
        });
    }

    #[test]
    fn the_peer_s_serials_are_remembered_up_to_a_bound() {
        let mut reports = Reports::new(0);
        (0..=REMEMBERED_SERIALS as u32).for_each(|serial| reports.note_received(serial));
        assert!(!reports.was_received(0) && reports.was_received(1) && reports.was_received(256));
    }
}
