//! Standard error: prints permanent lines. On a terminal, also redraws a table below them.

use std::io::{IsTerminal, stderr};

use crate::{console, print};

/// Prints lines. On a terminal, keeps a table below them.
#[derive(Debug)]
pub(crate) struct Screen {
    live: bool,
    colour: bool,
}

impl Screen {
    /// Makes a screen on standard error. `live` requests a table, which only a terminal shows.
    pub(crate) fn new(live: bool) -> Self {
        let terminal = stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Screen { live: live && terminal, colour }
    }

    /// Returns whether tables are drawn.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Returns whether text may be coloured.
    pub(crate) fn colour(&self) -> bool {
        self.colour
    }

    /// Prints a permanent line.
    pub(crate) fn line(&self, text: &str) {
        print::line(text);
    }

    /// Redraws the table.
    pub(crate) fn table(&self, rows: Vec<String>) {
        if self.live {
            console::table(rows);
        }
    }

    /// Removes the table.
    pub(crate) fn clear(&self) {
        self.table(Vec::new());
    }
}
