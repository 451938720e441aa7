//! Recorded losses.

use crate::number::TraceError;
use crate::number::content_lines;

/// Which packets are lost, by their ordinal on the link: the first packet is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossList {
    ordinals: Vec<u64>,
}

impl LossList {
    /// Reads a file with one ordinal a line, ascending; empty lines and what follows a `#` are skipped.
    ///
    /// # Errors
    /// The first line that is none of these.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut ordinals: Vec<u64> = Vec::new();
        for (line, content) in content_lines(text) {
            let problem = match content.parse() {
                Err(_) => format!("`{content}` is no packet's ordinal; write one whole number a line"),
                Ok(0) => "the first packet is number 1; add 1 to all ordinals".to_owned(),
                Ok(ordinal) if ordinals.last().is_some_and(|&last| last >= ordinal) => {
                    "ordinals must ascend; sort the lines and keep each once".to_owned()
                }
                Ok(ordinal) => {
                    ordinals.push(ordinal);
                    continue;
                }
            };
            return Err(TraceError::new(line, problem));
        }
        if ordinals.is_empty() {
            return Err(TraceError::new(1, "there is no packet to lose; write one ordinal a line"));
        }
        Ok(LossList { ordinals })
    }

    /// The ordinals, ascending; there is at least one.
    pub fn ordinals(&self) -> &[u64] {
        &self.ordinals
    }

    /// The last of them: how many packets it is about.
    pub(super) fn len(&self) -> u64 {
        *self.ordinals.last().expect("a list has an ordinal")
    }
}
