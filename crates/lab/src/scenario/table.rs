//! A table of the file at work: its keys are known, their values are what they should be, or one line says why not.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{ScenarioError, hint};
use super::keys::{Fallback, Key, Keys, Kinds, Takes};
use super::model::{Named, TraceFile};
use super::tree::{self, Branch, Node, Place, Value};
use super::units::Quantity;
use super::{LARGEST_TRACE, Warning, input, warning};

/// What all parts of one file share.
pub(super) struct Source<'a> {
    /// The file, as errors call it.
    pub file: &'a str,
    /// The folder that files are relative to.
    pub folder: &'a Path,
    /// Contents of the files read so far.
    pub files: RefCell<BTreeMap<PathBuf, Arc<str>>>,
    /// What is probably not meant, in the order in which it was read.
    pub warnings: RefCell<Vec<Warning>>,
}

impl Source<'_> {
    /// A mistake in `key`, which was said at `at`.
    pub fn error(&self, at: &Place, key: &str, message: impl Into<String>) -> ScenarioError {
        let (line, set) = match at {
            Place::Line(line) => (Some(*line), None),
            Place::Set(argument) => (None, Some(argument.to_string())),
        };
        ScenarioError { file: self.file.into(), line, set, key: key.into(), message: message.into() }
    }
}

pub(super) type Read<T> = Result<T, ScenarioError>;

/// `links` and `b.c` make `links."b.c"`.
pub(super) fn dotted(key: &str, part: &str) -> String {
    let bare = !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let part = if bare { part.to_string() } else { format!("\"{part}\"") };
    if key.is_empty() { part } else { format!("{key}.{part}") }
}

/// A table.
pub(super) struct Table<'a> {
    source: &'a Source<'a>,
    /// Its key, with those above it.
    pub key: String,
    at: Place,
    branch: Branch,
    keys: &'static Keys,
    /// What to say if an argument has made this table, where something of the file was meant.
    unknown: Option<String>,
}

impl<'a> Table<'a> {
    /// The whole file.
    pub fn root(source: &'a Source<'a>, branch: Branch, keys: &'static Keys) -> Read<Self> {
        let node = Node { at: Place::Line(1), value: Value::Table(branch) };
        Item { source, key: String::new(), takes: &Takes::Constants, node }.table(keys, None)
    }

    /// The value of a key, or its default.
    pub fn maybe(&self, name: &str) -> Option<Item<'a>> {
        let key = self.key_of(name);
        let node = match (self.branch.get(name), &key.fallback) {
            (Some(node), _) => node.clone(),
            (None, Fallback::Is(text)) => Node { at: self.at.clone(), value: tree::value(text, &self.at) },
            (None, _) => return None,
        };
        Some(Item { source: self.source, key: dotted(&self.key, name), takes: &key.takes, node })
    }

    /// The value of a key that must be there, or its default.
    pub fn need(&self, name: &str) -> Read<Item<'a>> {
        self.maybe(name).ok_or_else(|| {
            let takes = &self.key_of(name).takes;
            let missing = || format!("`{name}` is missing; it is {}", describe(takes));
            self.error(self.unknown.clone().unwrap_or_else(missing))
        })
    }

    fn key_of(&self, name: &str) -> &'static Key {
        self.keys.get(name).expect("readers ask for keys that the table has")
    }

    /// Whether the file, or an argument, gives a key.
    pub fn has(&self, name: &str) -> bool {
        self.branch.contains_key(name)
    }

    /// The table of a key; empty if it isn't given.
    pub fn inner(&self, name: &str) -> Read<Table<'a>> {
        match &self.key_of(name).takes {
            Takes::Table(keys) => self.item_or_empty(name).table(keys, None),
            _ => unreachable!("{name} is a key for a table"),
        }
    }

    /// The tables of a key, by name.
    pub fn each(&self, name: &str) -> Read<Vec<(String, Table<'a>)>> {
        let Takes::Named(keys) = &self.key_of(name).takes else {
            unreachable!("{name} is a key for tables by name");
        };
        let tables = self.kinds_by(name, |_, item| Ok(("", item.table(keys, None)?)))?;
        Ok(tables.into_iter().map(|(name, _, table)| (name, table)).collect())
    }

    /// The tables of a key and their kinds, by name.
    pub fn kinds(&self, name: &str) -> Read<Vec<(String, &'static str, Table<'a>)>> {
        let Takes::Kinds(kinds) = &self.key_of(name).takes else {
            unreachable!("{name} is a key for tables of several kinds");
        };
        self.kinds_by(name, |name, item| item.kind(kinds, kinds.default.unwrap_or(name)))
    }

    fn kinds_by(
        &self,
        name: &str,
        read: impl Fn(&str, Item<'a>) -> Read<(&'static str, Table<'a>)>,
    ) -> Read<Vec<(String, &'static str, Table<'a>)>> {
        let mut tables = Vec::new();
        for (name, item) in self.item_or_empty(name).children()? {
            let (kind, table) = read(&name, item)?;
            tables.push((name, kind, table));
        }
        let said = tables.iter().filter(|(.., table)| !table.is_set());
        let names: Vec<String> = said.map(|(name, ..)| name.clone()).collect();
        for (name, _, table) in &mut tables {
            table.stands_beside(name, &names);
        }
        Ok(tables)
    }

    /// Notes which names of the file could have been meant by a table that an argument has made.
    fn stands_beside(&mut self, name: &str, names: &[String]) {
        if self.is_set() {
            let hint = hint(name, names.iter().map(String::as_str));
            self.unknown = Some(format!("the file has no `{}`{hint}", self.key));
        }
    }

    /// The value of a key for a table; an empty one if it isn't given.
    pub fn item_or_empty(&self, name: &str) -> Item<'a> {
        self.maybe(name).unwrap_or_else(|| Item {
            source: self.source,
            key: dotted(&self.key, name),
            takes: &self.key_of(name).takes,
            node: Node { at: self.at.clone(), value: Value::Table(Branch::new()) },
        })
    }

    /// A mistake that no single key has made.
    pub fn error(&self, message: impl Into<String>) -> ScenarioError {
        self.source.error(&self.at, &self.key, message)
    }

    /// A mistake in the value of a key, or in its absence.
    pub fn error_at(&self, name: &str, message: impl Into<String>) -> ScenarioError {
        let at = self.branch.get(name).map_or(&self.at, |node| &node.at);
        self.source.error(at, &dotted(&self.key, name), message)
    }

    /// Whether an argument has made this table.
    fn is_set(&self) -> bool {
        matches!(self.at, Place::Set(_))
    }
}

/// A value with its key.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub source: &'a Source<'a>,
    /// Its key, with those above it.
    pub key: String,
    /// What the key takes.
    pub takes: &'static Takes,
    pub node: Node,
}

impl<'a> Item<'a> {
    /// A mistake in this value.
    pub fn error(&self, message: impl Into<String>) -> ScenarioError {
        self.source.error(&self.node.at, &self.key, message)
    }

    /// Notes that this value is probably not meant.
    pub fn warn(&self, message: impl Into<String>) {
        self.source.warnings.borrow_mut().push(Warning { at: self.error(message) });
    }

    /// Notes it if this value, `n` of the quantity's first unit, has no unit and is one that nobody means.
    pub fn doubt(&self, quantity: Quantity, n: f64) {
        let plain = match &self.node.value {
            Value::Integer(_) | Value::Float(_) => true,
            Value::Text(text) => text.trim().parse::<f64>().is_ok(),
            _ => false,
        };
        if let Some(message) = warning::doubt(&self.key, quantity, n).filter(|_| plain) {
            self.warn(message);
        }
    }

    /// It should be something else.
    pub fn wrong(&self, expected: &str) -> ScenarioError {
        self.error(format!("{} is not what belongs here; it is {expected}", self.node.value.describe()))
    }

    pub fn text(&self) -> Read<String> {
        match &self.node.value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong("text in quotes")),
        }
    }

    pub fn switch(&self) -> Read<bool> {
        match &self.node.value {
            Value::Switch(on) => Ok(*on),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// One of these words.
    pub fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Read<T> {
        let names = words.iter().map(|(name, _)| *name);
        let text = match &self.node.value {
            Value::Text(text) => text,
            _ => return Err(self.wrong(&names.collect::<Vec<_>>().join(" or "))),
        };
        let found = words.iter().find(|(name, _)| name == text);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| self.error(format!("there is no `{text}`{}", hint(text, names))))
    }

    /// A table with these keys.
    pub fn table(self, keys: &'static Keys, tag: Option<(&'static Kinds, &str)>) -> Read<Table<'a>> {
        let Value::Table(branch) = self.node.value else {
            return Err(self.wrong("a table"));
        };
        let known = |name: &str| keys.get(name).is_some() || tag.is_some_and(|(kinds, _)| kinds.tag == name);
        let stranger = branch.iter().filter(|(name, _)| !known(name)).min_by_key(|(_, node)| line(&node.at));
        if let Some((name, node)) = stranger {
            let message = match tag.and_then(|(kinds, kind)| elsewhere(kinds, kind, name)) {
                Some(message) => message,
                None => format!("unknown key{}", hint(name, keys.iter().map(|key| key.name))),
            };
            return Err(self.source.error(&node.at, &dotted(&self.key, name), message));
        }
        Ok(Table { source: self.source, key: self.key, at: self.node.at, branch, keys, unknown: None })
    }

    /// A table of one of these kinds; `implied` is the kind of one that doesn't say.
    pub fn kind(self, kinds: &'static Kinds, implied: &str) -> Read<(&'static str, Table<'a>)> {
        let Value::Table(branch) = &self.node.value else {
            return Err(self.wrong("a table"));
        };
        let names = kinds.names();
        let name = match branch.get(kinds.tag) {
            Some(node) => {
                let words: Vec<_> = names.map(|name| (name, name)).collect();
                self.part(dotted(&self.key, kinds.tag), node).word(&words)?
            }
            None => names.clone().find(|name| *name == implied).ok_or_else(|| {
                let message = format!("`{implied}` is no {} by itself, and none is given", kinds.tag);
                self.error(format!("{message}{}", hint(implied, names)))
            })?,
        };
        let keys = kinds.get(name).expect("it is one of the names");
        Ok((name, self.table(keys, Some((kinds, name)))?))
    }

    /// A value inside this one.
    pub fn part(&self, key: String, node: &Node) -> Item<'a> {
        Item { source: self.source, key, takes: self.takes, node: node.clone() }
    }

    /// The values of a table whose keys are names.
    pub fn children(self) -> Read<Vec<(String, Item<'a>)>> {
        let Value::Table(branch) = self.node.value else {
            return Err(self.wrong("a table of named tables"));
        };
        let child = |(name, node): (String, Node)| {
            let item = Item { source: self.source, key: dotted(&self.key, &name), takes: self.takes, node };
            let bad = name.is_empty() || name.chars().any(|c| c.is_control() || c == '#');
            if bad {
                Err(item.error("a name has at least one letter, no `#` and no control characters"))
            } else {
                Ok((name, item))
            }
        };
        branch.into_iter().map(child).collect()
    }

    /// The elements of a list.
    pub fn list(&self, expected: &str) -> Read<Vec<Item<'a>>> {
        let Value::List(list) = &self.node.value else {
            return Err(self.wrong(expected));
        };
        Ok(list.iter().map(|node| self.part(self.key.clone(), node)).collect())
    }

    /// The file that is named here.
    pub fn file(&self) -> Read<TraceFile> {
        let name = self.text()?;
        let path = self.source.folder.join(&name);
        if let Some(text) = self.source.files.borrow().get(&path) {
            return Ok(TraceFile { path, text: text.clone() });
        }
        let text = input::text(&path, LARGEST_TRACE).map_err(|why| {
            let mend = if path.exists() { "" } else { "; files are relative to the scenario's folder" };
            self.error(format!("{} {why}{mend}", path.display()))
        })?;
        self.source.files.borrow_mut().insert(path.clone(), text.clone());
        Ok(TraceFile { path, text })
    }

    /// A mistake in a line of a file that is named here.
    pub fn error_in(&self, file: &TraceFile, line: usize, message: &str) -> ScenarioError {
        ScenarioError {
            file: file.path.display().to_string(),
            line: Some(line),
            set: None,
            key: self.key.clone(),
            message: message.into(),
        }
    }
}

/// What a line says of a key that other kinds have.
fn elsewhere(kinds: &Kinds, kind: &str, name: &str) -> Option<String> {
    let others = kinds.each.iter().filter(|(_, keys)| keys.get(name).is_some()).map(|(other, _)| *other);
    let others: Vec<_> = others.collect();
    let has = if others.len() == 1 { "has" } else { "have" };
    (!others.is_empty())
        .then(|| format!("{} `{kind}` has no such key; {} {has}", kinds.tag, others.join(", ")))
}

/// For the first mistake in a table: lines before arguments.
fn line(at: &Place) -> usize {
    match at {
        Place::Line(line) => *line,
        Place::Set(_) => usize::MAX,
    }
}

/// What a key takes, for one who has forgotten it.
pub(super) fn describe(takes: &Takes) -> String {
    match takes {
        Takes::Text => "text in quotes".into(),
        Takes::Switch => "true or false".into(),
        Takes::Word(words) => words.join(" or "),
        Takes::Whole(least, most) => format!("a whole number from {least} to {most}"),
        Takes::Size(least, most) => format!("whole bytes from {least} to {most}"),
        Takes::Amount(quantity, _) => quantity.describe().into(),
        Takes::Number(quantity, ..) => format!("{}, or one that changes", quantity.describe()),
        Takes::Rate => format!("{}, or one that changes, or \"infinite\"", Quantity::Rate.describe()),
        Takes::Limit => "a number of packets, bytes as \"64 KiB\", or \"unlimited\"".into(),
        Takes::Links => "a list of links as [\"a\", \"b\"]".into(),
        Takes::File => "the name of a file".into(),
        Takes::Table(_) | Takes::Kind(_) | Takes::Down(_) | Takes::Constants => "a table".into(),
        Takes::Named(_) | Takes::Kinds(_) => "a table of named tables".into(),
    }
}

/// What each named table says, by name.
pub(super) fn named<T, U>(entries: Vec<(String, T)>, mut read: impl FnMut(T) -> Read<U>) -> Read<Named<U>> {
    entries.into_iter().map(|(name, entry)| Ok((name, read(entry)?))).collect()
}
