//! The page of a trial.

use super::data::{PathReport, Recording, Summary};
use super::plots::plots;
use crate::live::report::chart::escape;
use crate::live::report::page::{events, page, tiles_of};
use crate::text::{bits_per_s, bytes, count, percent};

impl Summary {
    /// Returns the report as an HTML page with this title. The page contains everything, also the plots of `recording`.
    pub fn html(&self, title: &str, recording: &Recording) -> String {
        let mut body = header(self);
        body += &tiles(self);
        for plot in plots(self, recording) {
            body += &plot.html();
        }
        body += &paths(self);
        body += &events(&recording.events);
        page(title, &body)
    }
}

fn header(summary: &Summary) -> String {
    let verdict = match summary.failures.as_slice() {
        [] => "<p class=\"verdict good\">The stream was delivered.</p>".to_owned(),
        failures => {
            let list: String = failures.iter().map(|f| format!("<li>{}</li>", escape(f))).collect();
            format!("<div class=\"verdict bad\">Targets missed:<ul>{list}</ul></div>")
        }
    };
    format!(
        "<header><h1>One video over {} links</h1>\
         <p>Network <b>{}</b>, scheme <b>{}</b>, profile <b>{}</b>, latency <b>{} ms</b>, seed <b>{}</b>. \
         The video has {} on average.</p>{verdict}</header>\n",
        summary.paths.len(),
        escape(&summary.network),
        escape(&summary.scheme),
        escape(summary.profile),
        summary.latency_ms,
        summary.seed,
        bits_per_s(summary.media_bps),
    )
}

fn tiles(summary: &Summary) -> String {
    let share = |n: u64| n as f64 / summary.messages_sent.max(1) as f64;
    let same =
        if summary.bytes_identical { "every byte as it was sent" } else { "bytes differ from those sent" };
    let mut tiles = vec![
        ("delivered in time", percent(share(summary.messages_delivered)), {
            let of = count(summary.messages_sent, "message");
            format!("of {of}")
        }),
        ("late", percent(share(summary.messages_late)), count(summary.messages_late, "message")),
        ("lost", percent(share(summary.messages_lost)), count(summary.messages_lost, "message")),
        ("continuity", percent(summary.continuity), count(summary.underflows, "underflow")),
        ("played out", bytes(summary.bytes_delivered), same.to_owned()),
    ];
    if let Some(overhead) = summary.wire.overhead {
        let redundancy = summary.wire.redundancy.map_or_else(|| "-".into(), percent);
        tiles.push((
            "on the wire",
            format!("{overhead:.3}"),
            format!("bytes per byte of media, {redundancy} redundant"),
        ));
    }
    if let Some(coding) = &summary.coding {
        // Inserts this tile after the tile of late and lost messages.
        let sent = count(coding.repairs_sent, "repair symbol");
        tiles.insert(3, ("recovered", coding.recovered.to_string(), format!("by {sent}")));
        if let Some(share) = coding.redundancy {
            let cap = coding
                .allowed
                .map_or_else(|| "of the source".into(), |cap| format!("of {} allowed", percent(cap)));
            tiles.insert(4, ("redundancy", percent(share), cap));
        }
    }
    tiles_of(&tiles)
}

/// Column titles of the table of paths.
const COLUMNS: [&str; 10] =
    ["path", "link", "bytes", "share", "goodput", "lost", "resent", "RTT", "down", "suspected, failed"];

fn paths(summary: &Summary) -> String {
    let mut rows = String::new();
    for (i, path) in summary.paths.iter().enumerate() {
        rows += &path_row(i, path);
    }
    let head: String = COLUMNS.iter().map(|name| format!("<th>{name}")).collect();
    format!(
        "<section><h2>Paths</h2><table class=\"cards\"><thead><tr>{head}</tr></thead>\n\
         <tbody>{rows}</tbody></table></section>\n"
    )
}

/// Makes the row of a path. On narrow screens each value is shown next to its column's name.
fn path_row(i: usize, path: &PathReport) -> String {
    let values = [
        format!("<span class=\"key p{i}\">{}</span>", escape(&path.name)),
        format!(
            "{}, {:.0} ms, {} loss",
            bits_per_s(path.link_bps),
            path.link_delay_ms,
            percent(path.link_loss)
        ),
        bytes(path.bytes),
        percent(path.share),
        bits_per_s(path.goodput_bps),
        percent(path.loss),
        path.retransmissions.to_string(),
        path.rtt(),
        format!("{:.1} s", path.down_s),
        path.verdicts.brief(),
    ];
    let cells: String = COLUMNS
        .iter()
        .zip(values)
        .map(|(name, value)| format!("<td data-label=\"{name}\">{value}"))
        .collect();
    format!("<tr>{cells}</tr>")
}
