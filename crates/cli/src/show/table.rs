//! The live table: one line for the stream and one per path.

use std::time::Duration;

use strandcast::live::{PathNow, Role, Stats};
use strandcast::text::{bits_per_s, bytes, count, duration, ms, percent};
use strandcast_keys::text::printable;

/// Rows of at most 79 columns.
pub(crate) fn table(now: &Stats, colour: bool) -> Vec<String> {
    let mut rows = vec![paint(&headline(now), "1", colour)];
    rows.extend(now.coding.as_ref().map(|coding| format!("  {}", coding.brief())));
    rows.push(paint(&titles(), "2", colour));
    rows.extend(now.paths.iter().filter(|p| p.state != "closed").map(|p| row(p, colour)));
    rows
}

fn headline(now: &Stats) -> String {
    let media = &now.media;
    let total: f64 = now.paths.iter().map(|p| p.rate_bps).sum();
    let elapsed = duration(Duration::from_secs_f64(now.seconds));
    let buffer = match (media.buffer_ms, now.role) {
        (Some(ms), _) => format!("buffer {ms:.0} ms"),
        (None, _) => format!("buffer {}", bytes(media.buffer_bytes)),
    };
    let losses = match now.role {
        Role::Send => format!("{} expired", media.late),
        Role::Receive | Role::Both => format!("{} late, {} lost", media.late, media.lost),
    };
    let messages = count(media.messages, "message");
    format!("{elapsed}  {}  {}  {messages}, {losses}, {buffer}", printable(&now.scheme), bits_per_s(total))
}

fn titles() -> String {
    format!("{:<18} {:>12} {:>8} {:>8} {:>9}  {}", "path", "rate", "RTT", "loss", "window", "state")
}

fn row(path: &PathNow, colour: bool) -> String {
    let dash = || "-".to_owned();
    let rtt = path.rtt_ms.map_or_else(dash, |rtt| ms(Duration::from_secs_f64(rtt / 1e3)));
    let loss = path.loss.map_or_else(dash, percent);
    let window = path.window_bytes.map_or_else(dash, bytes);
    let name: String = printable(&path.name).chars().take(18).collect();
    let state = match path.state {
        "active" => paint(path.state, "32", colour),
        "suspended" | "unconfirmed" => paint(path.state, "33", colour),
        _ => paint(path.state, "31", colour),
    };
    format!("{name:<18} {:>12} {rtt:>8} {loss:>8} {window:>9}  {state}", bits_per_s(path.rate_bps))
}

fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
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
        (path.window_bytes, path.in_flight_bytes, path.bytes) = (Some(23_400), 11_000, 1_000_000);
        path
    }

    fn snapshot(paths: Vec<PathNow>) -> Stats {
        let mut now = Stats::default();
        (now.seconds, now.role, now.paths) = (754.0, Role::Receive, paths);
        (now.peer, now.scheme) = ("192.0.2.1:9899".to_owned(), "cmt".to_owned());
        (now.media.messages, now.media.late, now.media.lost) = (123_456, 12, 3);
        now
    }

    #[test]
    fn rows_fit_a_terminal_and_columns_stand_below_each_other() {
        let long = path("an-interface-with-a-long-name", "potentially-failed");
        let rows = table(&snapshot(vec![path("wifi", "active"), long]), false);
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|r| r.chars().count() < 80), "{rows:#?}");
        let end_of = |row: &str, text: &str| row.find(text).map(|at| at + text.len());
        assert_eq!(end_of(&rows[1], "window"), end_of(&rows[2], "23.4 kB"));
        assert_eq!(rows[1].find("state"), rows[2].find("active"));
        assert!(rows[2].contains("612 kbit/s") && rows[2].contains("0.60 %"), "{rows:#?}");
    }

    #[test]
    fn symbols_have_a_row_where_there_are_any() {
        let stats =
            CodingStats { sources_received: 9, repairs_received: 2, recovered: 1, ..Default::default() };
        let coding = CodingNow::of(&stats, Sides::default());
        let mut now = snapshot(vec![path("wifi", "active")]);
        now.coding = coding;
        let rows = table(&now, false);
        assert_eq!((rows.len(), rows[1].as_str()), (4, "  repair: 1 packet recovered"));
    }

    #[test]
    fn unknown_values_are_dashes_and_closed_paths_are_hidden() {
        let mut unknown = path("wifi", "active");
        (unknown.rtt_ms, unknown.loss, unknown.window_bytes) = (None, None, None);
        let rows = table(&snapshot(vec![unknown, path("gone", "closed")]), false);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2].split_whitespace().filter(|w| *w == "-").count(), 3, "{rows:#?}");
    }
}
