//! `strandcast doctor`.

mod page;
mod run;

pub(crate) use run::run;
