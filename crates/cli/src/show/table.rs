//! The live table: one line for the stream and one per path.

use std::collections::VecDeque;
use std::time::Duration;

use strandcast::live::{PathNow, Role, Stats, StreamState};
use strandcast::text::{bits_per_s, bytes, count, duration, ms};
use strandcast_keys::text::printable;

/// Number of seconds for which a missing message changes the colour of the table.
const RECENT_S: f64 = 10.0;
/// A path whose loss reaches the first limit is shown as troubled. At the second limit it is shown as bad.
const LOSSY: [f64; 2] = [0.02, 0.1];
/// A path whose free share of capacity is below this limit is shown as troubled.
const TIGHT: f64 = 0.1;

/// Control codes for the colours of a terminal.
const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

/// Messages that went missing during the last 10 s.
#[derive(Debug, Default)]
pub(crate) struct Recent(VecDeque<(f64, u64)>);

impl Recent {
    pub(crate) fn update(&mut self, now: &Stats) {
        let media = &now.media;
        self.0.push_back((now.seconds, media.late + media.lost + media.unread));
        while self.0.front().is_some_and(|(at, _)| now.seconds - at > RECENT_S) {
            self.0.pop_front();
        }
    }

    /// Returns the number of messages that went missing since the first of these figures.
    fn missing(&self) -> u64 {
        let first = self.0.front().map_or(0, |(_, missing)| *missing);
        self.0.back().map_or(0, |(_, missing)| missing.saturating_sub(first))
    }
}

/// Returns rows of at most 79 columns.
pub(crate) fn table(now: &Stats, recent: &Recent, colour: bool) -> Vec<String> {
    let trouble = recent.missing() > 0 || now.state == StreamState::Outage;
    let mut rows = vec![paint(&headline(now, recent), if trouble { RED } else { BOLD }, colour)];
    rows.extend(now.coding.as_ref().map(|coding| format!("  {}", coding.brief())));
    rows.push(paint(&titles(), DIM, colour));
    rows.extend(now.paths.iter().filter(|p| p.state != "closed").map(|p| row(p, colour)));
    rows
}

/// Returns the table for a time without figures.
pub(crate) fn idle(state: StreamState, colour: bool) -> Vec<String> {
    let text = match state {
        StreamState::Outage => "nothing comes from the sender",
        _ => "no connection: connecting",
    };
    vec![paint(text, RED, colour)]
}

fn headline(now: &Stats, recent: &Recent) -> String {
    let media = &now.media;
    let elapsed = duration(Duration::from_secs_f64(now.seconds));
    let buffer = match (media.buffer_ms, now.role) {
        (Some(ms), _) => format!("buffer {ms:.0} ms"),
        (None, _) => format!("buffer {}", bytes(media.buffer_bytes)),
    };
    let fresh = match recent.missing() {
        0 => String::new(),
        missing => format!(" ({missing} now)"),
    };
    let losses = match now.role {
        Role::Send => format!("{} expired{fresh}", media.late),
        Role::Receive | Role::Both => format!("{} late, {} lost{fresh}", media.late, media.lost),
    };
    let state = match now.state {
        StreamState::NoInput => "no input  ",
        StreamState::Outage => "no answer  ",
        _ => "",
    };
    let (messages, rate) = (count(media.messages, "message"), bits_per_s(media.rate_bps));
    format!("{elapsed}  {state}{}  {rate}  {messages}, {losses}, {buffer}", printable(&now.scheme))
}

fn titles() -> String {
    format!(
        "{:<11} {:>11} {:>13} {:>5} {:>7} {:>6}  {}",
        "path", "rate", "can carry", "free", "RTT", "loss", "state"
    )
}

fn row(path: &PathNow, colour: bool) -> String {
    let dash = || "-".to_owned();
    let rtt = path.rtt_ms.map_or_else(dash, |rtt| ms(Duration::from_secs_f64(rtt / 1e3)));
    let name: String = printable(&path.name).chars().take(11).collect();
    let free = path.capacity_bps.zip(path.headroom_bps).filter(|(capacity, _)| *capacity > 0.0);
    let free = free.map(|(capacity, headroom)| headroom / capacity);
    // Without a measurement of the capacity, the real capacity can be higher than this value.
    let known = path.capacity_age_s.is_some();
    let capacity = path
        .capacity_bps
        .map_or_else(dash, |capacity| format!("{}{}", if known { "" } else { "> " }, bits_per_s(capacity)));
    let free_text = free.filter(|_| known).map_or_else(dash, |free| format!("{:.0} %", free * 100.0));
    let tight = known && free.is_some_and(|free| free < TIGHT);
    let free_text = paint(&format!("{free_text:>5}"), if tight { YELLOW } else { "" }, colour);
    let loss = format!("{:>6}", path.loss.map_or_else(dash, short_percent));
    let loss = match path.loss {
        Some(share) if share >= LOSSY[1] => paint(&loss, RED, colour),
        Some(share) if share >= LOSSY[0] => paint(&loss, YELLOW, colour),
        _ => loss,
    };
    let state = match path.state {
        "active" => paint(path.state, GREEN, colour),
        "suspended" | "unconfirmed" => paint(path.state, YELLOW, colour),
        _ => paint(path.state, RED, colour),
    };
    let rate = bits_per_s(path.rate_bps);
    format!("{name:<11} {rate:>11} {capacity:>13} {free_text} {rtt:>7} {loss}  {state}")
}

/// Formats a share such as `0.3 %` or `12 %`.
fn short_percent(share: f64) -> String {
    if share >= 0.0995 { format!("{:.0} %", share * 100.0) } else { percent_of_one(share) }
}

fn percent_of_one(share: f64) -> String {
    if share == 0.0 { "0 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour && !code.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandcast::live::CodingNow;
    use strandcast::live::parts::Sides;
    use strandcast_proto::coding::CodingStats;

    fn path(name: &str, state: &'static str) -> PathNow {
        let mut path = PathNow::default();
        (path.name, path.state) = (name.to_owned(), state);
        (path.rate_bps, path.rtt_ms, path.loss) = (612_000.0, Some(43.2), Some(0.006));
        (path.capacity_bps, path.headroom_bps, path.capacity_age_s) = (Some(1.2e6), Some(588e3), Some(1.0));
        path
    }

    fn snapshot(paths: Vec<PathNow>) -> Stats {
        let mut now = Stats::default();
        (now.seconds, now.role, now.paths) = (754.0, Role::Receive, paths);
        (now.peer, now.scheme) = ("192.0.2.1:9899".to_owned(), "cmt".to_owned());
        (now.media.messages, now.media.late, now.media.lost) = (123_456, 12, 3);
        now
    }

    fn plain(now: &Stats) -> Vec<String> {
        table(now, &Recent::default(), false)
    }

    #[test]
    fn rows_fit_a_terminal_and_columns_stand_below_each_other() {
        let mut long = path("an-interface-with-a-long-name", "potentially-failed");
        (long.rate_bps, long.capacity_bps, long.capacity_age_s) = (999.4e6, Some(999.4e6), None);
        (long.rtt_ms, long.loss) = (Some(10_000.0), Some(1.0));
        let rows = plain(&snapshot(vec![path("wifi", "active"), long]));
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|r| r.chars().count() < 80), "{rows:#?}");
        let end_of = |row: &str, text: &str| row.find(text).map(|at| at + text.len());
        assert_eq!(end_of(&rows[1], "can carry"), end_of(&rows[2], "1.20 Mbit/s"));
        assert_eq!(rows[1].find("state"), rows[2].find("active"));
        assert!(rows[2].contains("612 kbit/s") && rows[2].contains("0.6 %"), "{rows:#?}");
        assert!(rows[2].contains(" 49 %") && rows[3].contains("> 999 Mbit/s"), "{rows:#?}");
    }

    #[test]
    fn symbols_have_a_row_where_there_are_any() {
        let stats =
            CodingStats { sources_received: 9, repairs_received: 2, recovered: 1, ..Default::default() };
        let coding = CodingNow::of(&stats, Sides::default());
        let mut now = snapshot(vec![path("wifi", "active")]);
        now.coding = coding;
        let rows = plain(&now);
        assert_eq!((rows.len(), rows[1].as_str()), (4, "  repair: 1 packet recovered"));
    }

    #[test]
    fn unknown_values_are_dashes_and_closed_paths_are_hidden() {
        let mut unknown = path("wifi", "active");
        (unknown.rtt_ms, unknown.loss, unknown.capacity_bps) = (None, None, None);
        let rows = plain(&snapshot(vec![unknown, path("gone", "closed")]));
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2].split_whitespace().filter(|w| *w == "-").count(), 4, "{rows:#?}");
    }

    #[test]
    fn problems_are_coloured() {
        let mut bad = path("wwan0", "active");
        (bad.loss, bad.headroom_bps) = (Some(0.25), Some(1e4));
        let mut now = snapshot(vec![bad, path("wlan0", "active")]);
        let mut recent = Recent::default();
        recent.update(&now);
        let rows = table(&now, &recent, true);
        assert!(rows[0].starts_with("\x1b[1m") && rows[2].contains("\x1b[31m  25 %"), "{rows:#?}");
        assert!(rows[2].contains("\x1b[33m") && !rows[3].contains("\x1b[33m"), "{rows:#?}");
        (now.seconds, now.media.lost) = (760.0, 10);
        recent.update(&now);
        let rows = table(&now, &recent, true);
        assert!(rows[0].starts_with("\x1b[31m") && rows[0].contains("10 lost (7 now)"), "{rows:#?}");
        (now.seconds, now.media.lost) = (771.0, 10);
        recent.update(&now);
        assert!(table(&now, &recent, true)[0].starts_with("\x1b[1m"));
        now.state = StreamState::Outage;
        assert!(table(&now, &recent, true)[0].starts_with("\x1b[31m"));
    }
}
