//! The frame of a page, and parts that several pages have.

use std::fmt::Write as _;

use super::chart::escape;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("hover.js");

/// Makes a page that contains its style, scripts and plots.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title>\n<style>\n{STYLE}</style></head>\n\
         <body><main>\n{body}</main>\n<script>\n{SCRIPT}</script>\n</body></html>\n",
        title = escape(title),
    )
}

/// Makes tiles, each with a name, a value and a note.
pub(super) fn tiles_of(tiles: &[(&str, String, String)]) -> String {
    let mut out = String::from("<section class=\"tiles\">");
    for (name, value, note) in tiles {
        let _ = write!(out, "<div><h3>{name}</h3><b>{value}</b><span>{note}</span></div>");
    }
    out + "</section>\n"
}

/// Lists events with their times in seconds since the start.
pub(super) fn events(events: &[(f64, String)]) -> String {
    let mut rows = String::new();
    for (at, text) in events {
        let _ = write!(rows, "<tr><td>{at:.2} s<td>{}</tr>", escape(text));
    }
    format!("<section><h2>Events</h2><table class=\"events\"><tbody>{rows}</tbody></table></section>\n")
}
