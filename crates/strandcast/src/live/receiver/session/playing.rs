//! Playout of a session: passes media that are due to the outputs.

use strandcast_media::playout;

use super::{News, Session};
use crate::live::output::{Message, To};
use crate::live::stats::StreamEvent;

impl Session {
    /// Queues due output.
    pub(super) fn play(&mut self) {
        self.play_some(usize::MAX);
        self.splice(0);
    }

    /// Queues due output until it has `most` bytes. Returns whether more output is due.
    pub(super) fn play_some(&mut self, most: usize) -> bool {
        let mut bytes = 0;
        while bytes < most {
            let Some(stream) = &mut self.stream else { return false };
            let now = stream.association.now();
            // Data that leave the buffer may instead wait for the output.
            let rushed = if stream.player.is_drained() { self.memory.playout() } else { 0 };
            let Some(output) = stream.player.poll(now) else { return false };
            match output {
                playout::Output::Data(released) => {
                    bytes += released.payload.len();
                    self.write(&released.payload, rushed);
                }
                playout::Output::Ended(ended) => stream.ended = Some(ended),
                playout::Output::Restarted(session) => {
                    stream.session = session;
                    self.end_splice();
                }
                playout::Output::Clock(change) => {
                    let seconds = (now - stream.begun).as_secs_f64();
                    if let Some(what) = StreamEvent::of(change) {
                        self.reporter.report(News::Stream { seconds, peer: stream.peer.clone(), what });
                    }
                }
            }
        }
        true
    }

    /// Queues a message of the sender.
    fn write(&mut self, message: &[u8], rushed: usize) {
        let to = match &mut self.slate {
            None => To::All,
            Some(splice) => {
                splice.push(message);
                To::WithoutSlate
            }
        };
        self.queue(Message { bytes: message, of_sender: true }, rushed, to);
        self.splice(rushed);
    }

    /// Queues the messages that are due for outputs with a slate.
    fn splice(&mut self, rushed: usize) {
        while let Some((bytes, of_sender)) = self.slate.as_mut().and_then(|splice| splice.poll()) {
            self.queue(Message { bytes: &bytes, of_sender }, rushed, To::WithSlate);
        }
        let change = self.slate.as_mut().and_then(|splice| splice.change());
        change.into_iter().for_each(|event| self.report(event));
    }

    fn queue(&mut self, message: Message<'_>, rushed: usize, to: To) {
        for output in self.output.write(message, rushed, to) {
            self.reporter.report(News::Unread { output });
        }
    }

    /// Records that the sender has ended, or that another one begins. Outputs with a slate then receive the slate until
    /// the next key frame.
    pub(super) fn end_splice(&mut self) {
        self.slate.iter_mut().for_each(|splice| splice.end());
    }
}
