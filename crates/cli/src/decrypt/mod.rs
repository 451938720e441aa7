//! `strandcast decrypt`.

mod capture;
mod run;

pub(crate) use run::run;
