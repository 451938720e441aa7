//! Standard error: permanent lines, and on a terminal a table below them that is redrawn.

use std::io::{IsTerminal, stderr};

use strandcast_proto::text::printable;

use crate::print;

/// Writes lines, and on a terminal keeps a table below them.
#[derive(Debug)]
pub(crate) struct Screen {
    live: bool,
    colour: bool,
    /// The table currently on the terminal.
    drawn: Vec<String>,
}

impl Screen {
    /// A screen on standard error; `live` requests the table, which only a terminal gets.
    pub(crate) fn new(live: bool) -> Self {
        let terminal = stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Screen { live: live && terminal, colour, drawn: Vec::new() }
    }

    /// Whether tables are drawn.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Whether text may be coloured.
    pub(crate) fn colour(&self) -> bool {
        self.colour
    }

    /// Prints a permanent line.
    pub(crate) fn line(&mut self, text: &str) {
        let table = std::mem::take(&mut self.drawn);
        let mut out = erase(table.len());
        out.push_str(&printable(text));
        out.push('\n');
        append(&mut out, &table);
        self.drawn = table;
        print::error_bytes(&out);
    }

    /// Redraws the table.
    pub(crate) fn table(&mut self, rows: Vec<String>) {
        if !self.live {
            return;
        }
        let mut out = erase(self.drawn.len());
        append(&mut out, &rows);
        self.drawn = rows;
        print::error_bytes(&out);
    }

    /// Removes the table.
    pub(crate) fn clear(&mut self) {
        print::error_bytes(&erase(std::mem::take(&mut self.drawn).len()));
    }
}

/// Moves up over `rows` rows and erases them.
fn erase(rows: usize) -> String {
    match rows {
        0 => String::new(),
        n => format!("\x1b[{n}A\x1b[J"),
    }
}

fn append(out: &mut String, rows: &[String]) {
    for row in rows {
        out.push_str(row);
        out.push('\n');
    }
}
