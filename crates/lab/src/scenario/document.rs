//! A scenario file that has been read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::ScenarioError;
use super::keys::root::RootKeys;
use super::model::Scenario;
use super::table::{Source, Table, dotted};
use super::tree::{self, Branch, Location, Value};
use super::{LARGEST_SCENARIO, Warning, input, read, set};

/// A scenario file, together with the arguments that change it. The scenario file keeps the place of each value. A
/// mistake that is found later, such as a scheme that does not exist, is therefore also reported with its line.
#[derive(Debug)]
pub struct Document {
    file: String,
    folder: PathBuf,
    root: Branch,
    files: BTreeMap<PathBuf, Arc<str>>,
}

impl Document {
    /// Reads a file and applies `--set` arguments to it (`links.b.loss.uniform.rate=0.02`).
    ///
    /// # Errors
    /// The file is not TOML, or is not a regular file of at most [`LARGEST_SCENARIO`] bytes. Or an argument is not
    /// `KEY=VALUE`.
    pub fn open(path: &Path, sets: &[String]) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let wrong = |message: String| ScenarioError {
            file: file.clone(),
            line: None,
            set: None,
            key: String::new(),
            message,
        };
        let text = input::text(path, LARGEST_SCENARIO).map_err(wrong)?;
        Document::parse(&text, &file, path.parent().unwrap_or(Path::new("")), sets)
    }

    /// Reads a text and applies `--set` arguments to it. Errors use `file` as its name. Names of other files in the
    /// text are relative to `folder`.
    ///
    /// # Errors
    /// The text is not TOML, or an argument is not `KEY=VALUE`.
    pub fn parse(text: &str, file: &str, folder: &Path, sets: &[String]) -> Result<Self, ScenarioError> {
        let mut root = tree::read(input::without_mark(text)).map_err(|wrong| ScenarioError {
            file: file.into(),
            line: Some(wrong.line),
            set: None,
            key: String::new(),
            message: wrong.message,
        })?;
        for argument in sets {
            set::apply(&mut root, file, argument)?;
        }
        Ok(Document { file: file.into(), folder: folder.into(), root, files: BTreeMap::new() })
    }

    /// Adds the contents of files that were read before. The contents are by path, resolved against the folder. The
    /// files are not read again. A machine without these files therefore has the same scenario.
    pub fn with_files(mut self, files: impl IntoIterator<Item = (PathBuf, Arc<str>)>) -> Self {
        self.files.extend(files);
        self
    }

    /// Builds the scenario with all defaults. It makes all checks that need only the file.
    ///
    /// # Errors
    /// The first mistake.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        self.read().map(|(scenario, _)| scenario)
    }

    /// Builds the scenario as [`scenario`](Self::scenario) does. The result also has warnings about numbers that are
    /// probably mistakes.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(&self) -> Result<(Scenario, Vec<Warning>), ScenarioError> {
        let source = self.source(self.files.clone());
        let scenario = read::scenario(&Table::root(&source, self.root.clone(), &RootKeys::KEYS)?)?;
        Ok((scenario, source.warnings.into_inner()))
    }

    fn source(&self, files: BTreeMap<PathBuf, Arc<str>>) -> Source<'_> {
        let (files, warnings) = (RefCell::new(files), RefCell::default());
        Source { file: &self.file, folder: &self.folder, files, warnings }
    }

    /// Returns an error for a mistake in the value of a key, with the line of the value. The keys begin at the top
    /// level, as in `["flows", "video", "scheme"]`. If the file does not contain the key, the line is the line of the
    /// nearest table above it.
    pub fn error(&self, keys: &[&str], message: impl Into<String>) -> ScenarioError {
        let mut at = &Location::Line(1);
        let mut branch = Some(&self.root);
        for key in keys {
            let Some(node) = branch.and_then(|branch| branch.get(*key)) else { break };
            at = &node.at;
            branch = match &node.value {
                Value::Table(inner) => Some(inner),
                _ => None,
            };
        }
        let key = keys.iter().fold(String::new(), |key, part| dotted(&key, part));
        self.source(BTreeMap::new()).error(at, &key, message)
    }
}

/// Reads a scenario from a file and applies `--set` arguments to it.
///
/// # Errors
/// Returns the first mistake in the file, in the arguments, or in a trace to which the file refers.
pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, ScenarioError> {
    Document::open(path, sets)?.scenario()
}

/// Reads a scenario from a text. `file` is its name in errors. `folder` is the folder of the files to which it refers.
///
/// # Errors
/// The first mistake in the text, the arguments, or a trace.
pub fn parse(text: &str, file: &str, folder: &Path, sets: &[String]) -> Result<Scenario, ScenarioError> {
    Document::parse(text, file, folder, sets)?.scenario()
}
