//! The file as a tree. Every value has its position (line and key).

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A line of the file, counted from 1.
    Line(usize),
    /// A `--set` argument.
    Set(Arc<str>),
}

/// A value and its position.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub at: Location,
    pub value: Value,
}

/// Values of a table by key.
pub(super) type Branch = BTreeMap<String, Node>;

/// A TOML value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Switch(bool),
    Date(String),
    List(Vec<Node>),
    Table(Branch),
}

impl Value {
    /// Returns the name of the value's kind for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Text(text) => format!("\"{text}\""),
            Value::Integer(n) => n.to_string(),
            Value::Float(n) => n.to_string(),
            Value::Switch(on) => on.to_string(),
            Value::Date(date) => format!("the date {date}"),
            Value::List(_) => "a list".into(),
            Value::Table(_) => "a table".into(),
        }
    }
}

/// A line that is not TOML.
pub(super) struct NotToml {
    /// Line, counted from 1.
    pub line: usize,
    /// Mistake.
    pub message: String,
}

/// Parses a file into a tree.
pub(super) fn read(text: &str) -> Result<Branch, NotToml> {
    let lines = Lines::of(text);
    let wrong = |error: toml::de::Error| NotToml {
        line: lines.at(error.span().map_or(0, |span| span.start)),
        message: format!("this is not TOML: {}", error.message().trim().replace('\n', ", ")),
    };
    let table = DeTable::parse(text).map_err(wrong)?;
    branch(table.into_inner(), &|offset| Location::Line(lines.at(offset)))
        .map_err(|(offset, message)| NotToml { line: lines.at(offset), message })
}

/// Value of a `--set` argument. It is parsed as TOML. If it is not TOML, the value is the text itself.
pub(super) fn value(text: &str, at: &Location) -> Value {
    let parsed = DeValue::parse(text.trim()).ok();
    let read = parsed.and_then(|v| node(v, &|_| at.clone(), at.clone()).ok());
    read.map_or_else(|| Value::Text(text.into()), |node| node.value)
}

/// Puts `leaf` at `path`. Creates the tables of the path that are missing.
pub(super) fn set(branch: &mut Branch, path: &[String], leaf: Node) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        branch.insert(first.clone(), leaf);
        return;
    }
    let empty = || Node { at: leaf.at.clone(), value: Value::Table(Branch::new()) };
    let child = branch.entry(first.clone()).or_insert_with(empty);
    if !matches!(child.value, Value::Table(_)) {
        *child = empty();
    }
    if let Value::Table(inner) = &mut child.value {
        set(inner, rest, leaf);
    }
}

/// Removes the value at `path`. Returns false if there is no value.
pub(super) fn unset(branch: &mut Branch, path: &[String]) -> bool {
    match path {
        [] => false,
        [last] => branch.remove(last).is_some(),
        [first, rest @ ..] => match branch.get_mut(first).map(|node| &mut node.value) {
            Some(Value::Table(inner)) => unset(inner, rest),
            _ => false,
        },
    }
}

type Wrong = (usize, String);

fn branch(table: DeTable<'_>, place: &dyn Fn(usize) -> Location) -> Result<Branch, Wrong> {
    let entries = table.into_iter().map(|(key, value)| {
        let at = place(key.span().start);
        Ok((key.into_inner().into_owned(), node(value, place, at)?))
    });
    entries.collect()
}

fn node(value: Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> Location, at: Location) -> Result<Node, Wrong> {
    let offset = value.span().start;
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Value::Integer(n),
            Err(_) => {
                return Err((offset, format!("{n} is out of range; whole numbers are at most {}", i64::MAX)));
            }
        },
        DeValue::Float(n) => match n.as_str().parse() {
            Ok(n) => Value::Float(n),
            Err(_) => return Err((offset, format!("{n} is not a number"))),
        },
        DeValue::Boolean(on) => Value::Switch(on),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(list) => {
            let items = list.into_iter().map(|item| {
                let at = place(item.span().start);
                node(item, place, at)
            });
            Value::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Table(branch(table, place)?),
    };
    Ok(Node { at, value })
}

/// Positions at which the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Lines(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// Line of the byte at `offset`.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|&start| start <= offset) + 1
    }
}
