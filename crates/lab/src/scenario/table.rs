//! A table of the file during reading. An unknown key or a value of the wrong type is an error of one line.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{ScenarioError, hint};
use super::spec::{Default, Key, Keys, Variants};
use super::tree::{self, Branch, Location, Node, Value};
use super::units::Quantity;
use super::value::{Named, TraceFile};
use super::warning::Longest;
use super::{LARGEST_TRACE, Warning, input, warning};

/// State that all parts of one file share.
pub(super) struct Source<'a> {
    /// Name of the file in errors.
    pub file: &'a str,
    /// Folder to which names of files are relative.
    pub folder: &'a Path,
    /// Contents of the files read so far.
    pub files: RefCell<BTreeMap<PathBuf, Arc<str>>>,
    /// Warnings, in the order of reading.
    pub warnings: RefCell<Vec<Warning>>,
}

impl Source<'_> {
    /// Returns the error for a mistake in `key` at the position `at`.
    pub fn error(&self, at: &Location, key: &str, message: impl Into<String>) -> ScenarioError {
        let (line, set) = match at {
            Location::Line(line) => (Some(*line), None),
            Location::Set(argument) => (None, Some(argument.to_string())),
        };
        ScenarioError { file: self.file.into(), line, set, key: key.into(), message: message.into() }
    }
}

pub(super) type Read<T> = Result<T, ScenarioError>;

/// Joins parts of a key: `links` and `b.c` become `links."b.c"`.
pub(super) fn dotted(key: &str, part: &str) -> String {
    let bare = !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let part = if bare { part.to_string() } else { format!("\"{part}\"") };
    if key.is_empty() { part } else { format!("{key}.{part}") }
}

/// A table.
pub(super) struct Table<'a> {
    source: &'a Source<'a>,
    /// Full name of the table's key.
    pub key: String,
    at: Location,
    branch: Branch,
    keys: &'static Keys,
    /// Message for a table that an argument has created by mistake, for example by a misspelt name.
    unknown: Option<String>,
}

impl<'a> Table<'a> {
    /// Creates the table of the whole file.
    pub fn root(source: &'a Source<'a>, branch: Branch, keys: &'static Keys) -> Read<Self> {
        let node = Node { at: Location::Line(1), value: Value::Table(branch) };
        Item { source, key: String::new(), longest: Longest::Day, node }.table(keys)
    }

    /// Returns the value of a key, or its default.
    pub fn given(&self, key: &Key) -> Option<Item<'a>> {
        debug_assert!(self.keys.has(key.name), "{} is a key of another table", key.name);
        let node = match (self.branch.get(key.name), key.default) {
            (Some(node), _) => node.clone(),
            (None, Default::Is(text)) => Node { at: self.at.clone(), value: tree::value(text, &self.at) },
            (None, Default::Required | Default::Else(_)) => return None,
        };
        Some(Item { source: self.source, key: dotted(&self.key, key.name), longest: key.longest, node })
    }

    /// Returns the value of a required key, or its default.
    pub fn item(&self, key: &Key) -> Read<Item<'a>> {
        self.given(key).ok_or_else(|| {
            let missing = || format!("`{}` is missing; give {}", key.name, key.value_type.describe());
            self.error(self.unknown.clone().unwrap_or_else(missing))
        })
    }

    /// Returns whether the file or an argument gives the key.
    pub fn gives(&self, name: &str) -> bool {
        self.branch.contains_key(name)
    }

    /// Calls `read` for the tables of a key, and returns the results by name.
    pub fn named<T>(
        &self,
        key: &Key,
        read: impl Fn(&str, Item<'a>) -> Read<T>,
        table: impl Fn(&mut T) -> &mut Table<'a>,
    ) -> Read<Vec<(String, T)>> {
        let mut tables = Vec::new();
        for (name, item) in self.item_or_empty(key).children()? {
            let one = read(&name, item)?;
            tables.push((name, one));
        }
        let mut names = Vec::new();
        for (name, one) in &mut tables {
            if !table(one).is_set() {
                names.push(name.clone());
            }
        }
        for (name, one) in &mut tables {
            table(one).stands_beside(name, &names);
        }
        Ok(tables)
    }

    /// Records names in the file for a table that an argument created. The argument may have been meant to change one
    /// of them.
    fn stands_beside(&mut self, name: &str, names: &[String]) {
        if self.is_set() {
            let hint = hint(name, names.iter().map(String::as_str));
            self.unknown = Some(format!("the file has no `{}`{hint}", self.key));
        }
    }

    /// Returns the table that is the value of a key. If the key is not given, the table is empty.
    pub fn item_or_empty(&self, key: &Key) -> Item<'a> {
        self.given(key).unwrap_or_else(|| Item {
            source: self.source,
            key: dotted(&self.key, key.name),
            longest: key.longest,
            node: Node { at: self.at.clone(), value: Value::Table(Branch::new()) },
        })
    }

    /// Returns the error for a mistake that does not belong to a single key.
    pub fn error(&self, message: impl Into<String>) -> ScenarioError {
        self.source.error(&self.at, &self.key, message)
    }

    /// Returns the error for a mistake in the value of a key, or for a key that is missing.
    pub fn error_at(&self, key: &Key, message: impl Into<String>) -> ScenarioError {
        let at = self.branch.get(key.name).map_or(&self.at, |node| &node.at);
        self.source.error(at, &dotted(&self.key, key.name), message)
    }

    /// Returns whether an argument has made this table.
    fn is_set(&self) -> bool {
        matches!(self.at, Location::Set(_))
    }
}

/// A value with its key.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub source: &'a Source<'a>,
    /// Full name of the value's key.
    pub key: String,
    /// Greatest time without a unit that causes no warning.
    pub longest: Longest,
    pub node: Node,
}

impl<'a> Item<'a> {
    /// Returns the error for a mistake in this value.
    pub fn error(&self, message: impl Into<String>) -> ScenarioError {
        self.source.error(&self.node.at, &self.key, message)
    }

    /// Warns that this value is probably a mistake.
    pub fn warn(&self, message: impl Into<String>) {
        self.source.warnings.borrow_mut().push(Warning { at: self.error(message) });
    }

    /// Adds a warning if this value has no unit and is improbable. `n` is the value in the quantity's first unit.
    pub fn warn_if_unlikely(&self, quantity: Quantity, n: f64) {
        let plain = match &self.node.value {
            Value::Integer(_) | Value::Float(_) => true,
            Value::Text(text) => text.trim().parse::<f64>().is_ok(),
            _ => false,
        };
        if let Some(message) = warning::warn_if_unlikely(self.longest, quantity, n).filter(|_| plain) {
            self.warn(message);
        }
    }

    /// Returns the error that the value should be `expected`.
    pub fn wrong(&self, expected: &str) -> ScenarioError {
        let infinite = match self.node.value {
            Value::Float(n) if n == f64::INFINITY => {
                "; without a limit it is \"infinite\", where a key has that"
            }
            _ => "",
        };
        let said = self.node.value.describe();
        self.error(format!("{said} cannot be used here; give {expected}{infinite}"))
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

    /// Reads one of these words, and returns the result of `find` for it.
    pub fn word<T>(
        &self,
        words: impl Iterator<Item = &'static str> + Clone,
        find: impl Fn(&str) -> Option<T>,
    ) -> Read<T> {
        let text = match &self.node.value {
            Value::Text(text) => text,
            _ => return Err(self.wrong(&words.collect::<Vec<_>>().join(" or "))),
        };
        find(text).ok_or_else(|| self.error(format!("there is no `{text}`{}", hint(text, words))))
    }

    /// Returns the value as a table with these keys.
    pub fn table(self, keys: &'static Keys) -> Read<Table<'a>> {
        self.tagged(keys, None)
    }

    /// Returns this value as a table with these keys. A key may select its kind.
    fn tagged(self, keys: &'static Keys, tag: Option<(&'static Variants, &str)>) -> Read<Table<'a>> {
        let Value::Table(branch) = self.node.value else {
            return Err(self.wrong("a table"));
        };
        let known = |name: &str| keys.has(name) || tag.is_some_and(|(kinds, _)| kinds.tag == name);
        let unknown = branch.iter().filter(|(name, _)| !known(name)).min_by_key(|(_, node)| line(&node.at));
        if let Some((name, node)) = unknown {
            let message = match tag.and_then(|(kinds, kind)| elsewhere(kinds, kind, name)) {
                Some(message) => message,
                None => format!("unknown key{}", hint(name, keys.iter().map(|key| key.name))),
            };
            return Err(self.source.error(&node.at, &dotted(&self.key, name), message));
        }
        Ok(Table { source: self.source, key: self.key, at: self.node.at, branch, keys, unknown: None })
    }

    /// Returns the value as a table of one of these kinds, with the kind. `implied` is the kind of a table that does
    /// not give a kind.
    pub fn kind(self, kinds: &'static Variants, implied: &str) -> Read<(usize, Table<'a>)> {
        let Value::Table(branch) = &self.node.value else {
            return Err(self.wrong("a table"));
        };
        let find = |word: &str| kinds.each.iter().enumerate().find(|(_, (name, _))| *name == word);
        let (at, (name, keys)) = match branch.get(kinds.tag) {
            Some(node) => self.part(dotted(&self.key, kinds.tag), node).word(kinds.names(), find)?,
            None => find(implied).ok_or_else(|| {
                let message = format!("`{implied}` is not a {} by itself, and none is given", kinds.tag);
                self.error(format!("{message}{}", hint(implied, kinds.names())))
            })?,
        };
        Ok((at, self.tagged(keys, Some((kinds, name)))?))
    }

    /// Returns a value that is inside this value.
    pub fn part(&self, key: String, node: &Node) -> Item<'a> {
        Item { source: self.source, key, longest: self.longest, node: node.clone() }
    }

    /// Returns the values of a table whose keys are names.
    pub fn children(self) -> Read<Vec<(String, Item<'a>)>> {
        let Value::Table(branch) = self.node.value else {
            let expected = match self.key.rsplit('.').next() {
                Some("loss") => "a table of named tables, as loss.uniform.rate = 0.02",
                _ => "a table of named tables",
            };
            return Err(self.wrong(expected));
        };
        let child = |(name, node): (String, Node)| {
            let item =
                Item { source: self.source, key: dotted(&self.key, &name), longest: self.longest, node };
            let bad = name.is_empty() || name.chars().any(|c| c.is_control() || c == '#');
            if bad {
                Err(item.error("a name has at least one letter, no `#` and no control characters"))
            } else {
                Ok((name, item))
            }
        };
        branch.into_iter().map(child).collect()
    }

    /// Returns the elements of a list.
    pub fn list(&self, expected: &str) -> Read<Vec<Item<'a>>> {
        let Value::List(list) = &self.node.value else {
            return Err(self.wrong(expected));
        };
        Ok(list.iter().map(|node| self.part(self.key.clone(), node)).collect())
    }

    /// Returns the names in a list, each with its position.
    pub fn names(&self) -> Read<(Vec<Item<'a>>, Vec<String>)> {
        let items = self.list("a list of links as [\"a\", \"b\"]")?;
        let names = items.iter().map(Item::text).collect::<Read<_>>()?;
        Ok((items, names))
    }

    /// Reads the file that this value names.
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

    /// Returns the error for a mistake in a line of a file that this value names.
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

/// Text about a key that only other kinds have.
fn elsewhere(kinds: &Variants, kind: &str, name: &str) -> Option<String> {
    let others = kinds.each.iter().filter(|(_, keys)| keys.has(name)).map(|(other, _)| *other);
    let others: Vec<_> = others.collect();
    let has = if others.len() == 1 { "has" } else { "have" };
    (!others.is_empty())
        .then(|| format!("{} `{kind}` has no such key; {} {has}", kinds.tag, others.join(", ")))
}

/// Line of a mistake. The line determines the order of mistakes in a table: mistakes in lines precede mistakes in
/// arguments.
fn line(at: &Location) -> usize {
    match at {
        Location::Line(line) => *line,
        Location::Set(_) => usize::MAX,
    }
}

/// Calls `read` for named tables, and returns the results by name.
pub(super) fn named<T, U>(entries: Vec<(String, T)>, mut read: impl FnMut(T) -> Read<U>) -> Read<Named<U>> {
    entries.into_iter().map(|(name, entry)| Ok((name, read(entry)?))).collect()
}
