//! Declaration of a key. The schema, the reference and the errors follow from it.

use super::units::Quantity;
use super::warning::Longest;

/// A table's keys.
pub(super) struct Keys {
    /// Name of the table in the schema.
    pub name: &'static str,
    /// Meaning of the table.
    pub doc: &'static str,
    /// Keys of the table. Several tables share groups of keys.
    pub groups: &'static [&'static [Key]],
}

impl Keys {
    pub fn iter(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.groups.iter().copied().flatten()
    }

    pub fn has(&self, name: &str) -> bool {
        self.iter().any(|key| key.name == name)
    }
}

/// Constants that another crate declares.
pub(super) struct ConstantSet {
    /// Name of the table in the schema.
    pub name: &'static str,
    /// The constants.
    pub keys: fn() -> Vec<Constant>,
}

/// A constant.
pub(super) struct Constant {
    pub name: String,
    /// Values, default and meaning of the key, if the reference lists it.
    pub described: Option<[String; 3]>,
}

/// Tables of several kinds; a key of the table selects the kind.
pub(super) struct Variants {
    /// Name of the kinds in the schema.
    pub name: &'static str,
    /// Name of the key that selects the kind.
    pub tag: &'static str,
    /// Default kind. `None`: the name of the table selects the kind.
    pub default: Option<&'static str>,
    /// Meaning of the key.
    pub doc: &'static str,
    /// The kinds by name.
    pub each: &'static [(&'static str, &'static Keys)],
}

impl Variants {
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.each.iter().map(|(name, _)| *name)
    }
}

/// One key.
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub name: &'static str,
    pub value_type: ValueType,
    pub default: Default,
    /// Meaning of the key in one sentence that fits a cell of a table.
    pub doc: &'static str,
    /// Bound of times. A plain number above it causes a warning.
    pub longest: Longest,
}

impl Key {
    /// Creates a key without name and meaning.
    pub const fn new(value_type: ValueType, default: Default) -> Self {
        Key { name: "", value_type, default, doc: "", longest: Longest::Day }
    }

    /// Returns the key with another name. An empty `doc` keeps the meaning.
    pub const fn named(self, name: &'static str, doc: &'static str) -> Self {
        let doc = if doc.is_empty() { self.doc } else { doc };
        Key { name, doc, ..self }
    }
}

/// Value of a key that is not given.
#[derive(Clone, Copy)]
pub(super) enum Default {
    /// The key must be given.
    Required,
    /// The default is a value as written in a file. Text has no quotes.
    Is(&'static str),
    /// The default is a value that this text describes.
    Else(&'static str),
}

/// Values that a key takes.
#[derive(Clone, Copy)]
pub(super) enum ValueType {
    /// Any text.
    Text,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number within this range.
    Whole(i64, i64),
    /// A whole number of bytes within this range, with or without a unit.
    Size(i64, i64),
    /// A number with a unit.
    Amount(Quantity, Minimum),
    /// A number that may change.
    Number(Quantity, Minimum, Variation),
    /// A link's rate: a number that may change, or `"infinite"`.
    Rate,
    /// A queue's limit.
    Limit,
    /// A time, or a number of bytes with a unit.
    Burst,
    /// Names of links and radios, in order.
    Links,
    /// Names of nodes.
    Stations,
    /// A file, relative to the scenario's folder.
    File,
    /// A table.
    Table(&'static Keys),
    /// Tables with names that the user chooses.
    NamedTables(&'static Keys),
    /// A table of several kinds.
    Variant(&'static Variants),
    /// Tables of several kinds, with names that the user chooses.
    NamedVariants(&'static Variants),
    /// One outage or pause, or several, each under a name.
    Down(&'static Keys),
    /// Constants by key.
    Constants(&'static ConstantSet),
}

impl ValueType {
    /// Text with the values that a key takes, for error messages.
    pub fn describe(self) -> String {
        match self {
            ValueType::Text => "text in quotes".into(),
            ValueType::Switch => "true or false".into(),
            ValueType::Word(words) => words.join(" or "),
            ValueType::Whole(least, most) => format!("a whole number from {least} to {most}"),
            ValueType::Size(least, most) => format!("whole bytes from {least} to {most}"),
            ValueType::Amount(quantity, _) => quantity.describe().into(),
            ValueType::Number(quantity, ..) => format!("{}, or one that changes", quantity.describe()),
            ValueType::Rate => format!("{}, or one that changes, or \"infinite\"", Quantity::Rate.describe()),
            ValueType::Limit => "a number of packets, bytes as \"64 KiB\", or \"unlimited\"".into(),
            ValueType::Burst => "a time as \"40 ms\", or a size as \"32 KiB\"".into(),
            ValueType::Links => "a list of links as [\"a\", \"b\"]".into(),
            ValueType::Stations => "a list of nodes as [\"a\", \"b\"]".into(),
            ValueType::File => "the name of a file".into(),
            ValueType::Table(_) | ValueType::Variant(_) | ValueType::Down(_) | ValueType::Constants(_) => {
                "a table".into()
            }
            ValueType::NamedTables(_) | ValueType::NamedVariants(_) => "a table of named tables".into(),
        }
    }
}

/// The least value that a number may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Minimum {
    /// Zero.
    Zero,
    /// Any positive number.
    Positive,
}

/// Ways in which a number may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Variation {
    /// The number may change in any way.
    Free,
    /// The number may change with time, but not with each packet.
    InTime,
    /// The number may be drawn anew for each run.
    EachRun,
}
