//! What is said of a key.

use crate::scenario::units::Quantity;

/// A table's keys.
pub(in crate::scenario) struct Keys {
    /// What the table is called in the schema.
    pub name: &'static str,
    /// What it stands for.
    pub doc: &'static str,
    /// Its keys; groups of them are shared between tables.
    pub groups: &'static [&'static [Key]],
}

impl Keys {
    pub fn iter(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.groups.iter().copied().flatten()
    }

    pub fn get(&self, name: &str) -> Option<&'static Key> {
        self.iter().find(|key| key.name == name)
    }
}

/// Tables of several kinds; a key of the table says which one it is.
pub(in crate::scenario) struct Kinds {
    /// What they are called in the schema.
    pub name: &'static str,
    /// The key.
    pub tag: &'static str,
    /// The kind of a table that doesn't say; `None`: the table's name says it.
    pub default: Option<&'static str>,
    /// What the key means.
    pub doc: &'static str,
    /// The kinds by name.
    pub each: &'static [(&'static str, &'static Keys)],
}

impl Kinds {
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.each.iter().map(|(name, _)| *name)
    }

    pub fn get(&self, name: &str) -> Option<&'static Keys> {
        self.each.iter().find(|(kind, _)| *kind == name).map(|(_, keys)| *keys)
    }
}

/// One key.
pub(in crate::scenario) struct Key {
    pub name: &'static str,
    pub takes: Takes,
    pub fallback: Fallback,
    /// One sentence, which fits a cell of a table.
    pub doc: &'static str,
}

impl Key {
    pub const fn new(name: &'static str, takes: Takes, fallback: Fallback, doc: &'static str) -> Self {
        Key { name, takes, fallback, doc }
    }
}

/// What holds where a key isn't given.
pub(in crate::scenario) enum Fallback {
    /// It must be given.
    Required,
    /// As if this were written, text without quotes.
    Is(&'static str),
    /// What is said here in words.
    Else(&'static str),
}

/// Which values a key takes.
pub(in crate::scenario) enum Takes {
    /// Any text.
    Text,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// Whole bytes from the first to the second, also with a unit.
    Size(i64, i64),
    /// A number with a unit.
    Amount(Quantity, Least),
    /// A number that may change.
    Number(Quantity, Least, Changes),
    /// A link's rate: a number that may change, or `"infinite"`.
    Rate,
    /// A queue's limit.
    Limit,
    /// Names of links, in order.
    Links,
    /// A file, relative to the scenario's folder.
    File,
    /// A table.
    Table(&'static Keys),
    /// Tables by names of one's own.
    Named(&'static Keys),
    /// A table of several kinds.
    Kind(&'static Kinds),
    /// Tables of several kinds by names of one's own.
    Kinds(&'static Kinds),
    /// One outage, or outages by name.
    Down(&'static Keys),
    /// Constants of TCP by key.
    Constants,
}

/// The least that a number may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) enum Least {
    /// Zero.
    Zero,
    /// Anything above zero.
    Positive,
}

/// How a number may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) enum Changes {
    /// In all ways.
    Freely,
    /// Not with each packet.
    InTime,
    /// From run to run.
    EachRun,
}
