//! Recorded losses of packets.

use crate::number::TraceError;
use crate::number::content_lines;

/// List of lost packets, by their ordinal on the link. The first packet on the link has the ordinal 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossList {
    ordinals: Vec<u64>,
}

impl LossList {
    /// Reads a file with one ordinal per line, in ascending order. Empty lines, and comments after `#`, are skipped.
    ///
    /// # Errors
    /// Returns the first invalid line, as an error.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut ordinals: Vec<u64> = Vec::new();
        for (line, content) in content_lines(text) {
            let problem = match content.parse() {
                Err(_) => {
                    format!("`{content}` is not the ordinal of a packet; write one whole number per line")
                }
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
            return Err(TraceError::new(1, "the list is empty; write one ordinal per line"));
        }
        Ok(LossList { ordinals })
    }

    /// Returns the ordinals in ascending order. There is at least one.
    pub fn ordinals(&self) -> &[u64] {
        &self.ordinals
    }

    /// Returns the last ordinal, which is the number of packets that the list covers.
    pub(super) fn len(&self) -> u64 {
        *self.ordinals.last().expect("a list has an ordinal")
    }
}
