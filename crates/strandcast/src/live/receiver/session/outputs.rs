//! The outputs of a session.

use super::{News, Session};
use crate::error::Error;
use crate::live::output::Recording;
use crate::live::words::REFUSED;

impl Session {
    /// Reports events of the outputs.
    ///
    /// # Errors
    /// The errors of [`Session::recordings`].
    pub(super) fn look_at_outputs(&mut self) -> Result<(), Error> {
        self.recordings()?;
        for output in self.output.stalled() {
            self.report(News::Unread { output });
        }
        for (output, messages) in self.output.recovered() {
            self.report(News::ReadAgain { output, messages });
        }
        for (output, why) in self.output.troubles() {
            self.report(News::OutputTrouble { output, why });
        }
        self.reporter.outputs(self.output.now());
        Ok(())
    }

    /// Handles the outcome of recordings. A stream that cannot be recorded in a file is refused.
    ///
    /// # Errors
    /// Returns [`Error::Media`] if the only stream has no file.
    pub(super) fn recordings(&mut self) -> Result<(), Error> {
        let (recordings, refused) = self.output.opened();
        for recording in recordings {
            self.report(match recording {
                Recording::Opened(output) => News::Recording { output },
                Recording::Refused(_, output) => News::NotRecorded { output },
            });
        }
        let Some(stream) = self.stream.take_if(|_| refused) else { return Ok(()) };
        stream.association.abort(&format!("{REFUSED}it has no name for another recording"));
        self.end_splice();
        match self.next.take() {
            _ if self.once => Err(Error::Media("the stream is not recorded: all names are taken".into())),
            Some(next) => self.admit(next),
            None => Ok(()),
        }
    }
}
