//! Coded blocks: symbols are converted to a stream of bytes, and the stream to messages.

use std::collections::VecDeque;

use strandcast_coding::blocks::BlockReceiver;
use strandcast_coding::symbol::Header;

use super::{Taken, Undecodable};
use crate::coding::agreement::Agreed;
use crate::coding::record::{Record, RecordReader};
use crate::coding::stats::CodingStats;
use crate::rx::Message;
use crate::time::Instant;
use crate::wire::{Ssn, Tsn};

/// Number of messages from one symbol for which memory stays allocated.
const KEPT: usize = 64;

/// Receiver of coded blocks; see the [module](self).
pub(super) struct BlockStream {
    receiver: BlockReceiver,
    records: RecordReader,
    /// Messages that the last source symbol completed.
    ready: VecDeque<Message>,
    /// Number of bytes in `ready`.
    ready_bytes: usize,
    /// The next sequence number of each stream.
    ssns: Vec<u16>,
    streams: u16,
    /// TSN of the last chunk, and its time of arrival. Messages that this chunk completes have this time.
    last: (Tsn, Instant),
}

impl BlockStream {
    pub fn new(agreed: &Agreed, streams: u16) -> Self {
        BlockStream {
            receiver: BlockReceiver::new(agreed.blocks()),
            records: RecordReader::default(),
            ready: VecDeque::new(),
            ready_bytes: 0,
            ssns: Vec::new(),
            streams,
            last: (Tsn(0), Instant::ZERO),
        }
    }

    pub fn take(&mut self, arrived: &Message, stats: &mut CodingStats) {
        self.last = (arrived.first_tsn, arrived.arrived);
        let repair = matches!(Header::read(&arrived.payload), Ok((Header::Repair { .. }, _)));
        let innovative = self.receiver.receive(&arrived.payload).map(|taken| taken.innovative);
        let known = Taken { repair, innovative }.count(stats);
        stats.sources_late += u64::from(!repair && known == Some(true));
    }

    pub fn pop(&mut self, longest: usize, stats: &mut CodingStats) -> Result<Option<Message>, Undecodable> {
        while self.ready.is_empty() {
            let Some(symbol) = self.receiver.poll() else { break };
            stats.recovered += u64::from(symbol.recovered);
            let mut bytes = symbol.bytes;
            while let Some(record) = self.records.read(&mut bytes, longest)? {
                if record.stream.0 >= self.streams {
                    return Err(Undecodable::Stream(record.stream.0));
                }
                let message = message(record, &mut self.ssns, self.last);
                self.ready_bytes += message.payload.len();
                self.ready.push_back(message);
            }
        }
        if self.receiver.statistics().damaged > 0 {
            stats.damaged = self.receiver.statistics().damaged;
            return Err(Undecodable::Damaged);
        }
        let message = self.ready.pop_front();
        self.ready_bytes -= message.as_ref().map_or(0, |m| m.payload.len());
        if self.ready.is_empty() && self.ready.capacity() > KEPT {
            self.ready.shrink_to(KEPT);
        }
        Ok(message)
    }

    /// Returns the work of the decoders so far.
    pub fn work(&self) -> u64 {
        self.receiver.work()
    }

    pub fn heap(&self) -> usize {
        let ready = self.ready_bytes + self.ready.capacity() * size_of::<Message>();
        self.receiver.bound() + self.records.heap() + ready + self.ssns.capacity() * size_of::<u16>()
    }

    /// Returns the maximum heap in bytes. The returned maximum includes the decoders, one message, the messages that
    /// one symbol may hold, and a sequence number per stream.
    #[cfg(any(test, feature = "testing"))]
    pub fn bound(&self, longest: usize, symbol_length: usize) -> usize {
        let messages = (symbol_length / crate::coding::record::MIN_RECORD + 1).next_power_of_two().max(KEPT);
        let ready = symbol_length + messages * size_of::<Message>();
        self.receiver.bound() + 2 * longest + ready + 4 * usize::from(self.streams)
    }
}

/// Converts a record to a message. Ordered messages get sequence numbers in the order of their stream.
fn message(record: Record, ssns: &mut Vec<u16>, (first_tsn, arrived): (Tsn, Instant)) -> Message {
    let ssn = if record.unordered { Ssn(0) } else { next_ssn(ssns, usize::from(record.stream.0)) };
    Message {
        stream: record.stream,
        ssn,
        ppid: record.ppid,
        unordered: record.unordered,
        payload: record.payload.into(),
        first_tsn,
        arrived,
    }
}

fn next_ssn(ssns: &mut Vec<u16>, stream: usize) -> Ssn {
    if stream >= ssns.len() {
        ssns.resize(stream + 1, 0);
    }
    let ssn = Ssn(ssns[stream]);
    ssns[stream] = ssn.0.wrapping_add(1);
    ssn
}
