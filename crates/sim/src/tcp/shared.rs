//! Data of a connection that are to be sent on further subflows.

use std::collections::VecDeque;

use strandcast_proto::policy::{HeadOfLine, HeadOfLineConfig, PathSet, Rules};

/// What is to be sent on further subflows, and when that is worth it.
#[derive(Debug)]
pub(super) struct Shared {
    /// What another subflow than the one it was on should send.
    reinjections: VecDeque<Reinjection>,
    /// Bytes of these.
    bytes: u64,
    /// By subflow, copies that the scheduler wants there: data sequence number and length.
    copies: Vec<VecDeque<(u64, u32)>>,
    /// What is done about a subflow that holds up the receive window; `None`: nothing.
    pub(super) remedy: Option<HeadOfLineConfig>,
    /// By its rules, and who was penalised when.
    pub(super) head_of_line: HeadOfLine,
}

/// Data of the connection that another subflow than `from` should send, too.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reinjection {
    pub(super) data_seq: u64,
    pub(super) len: u32,
    pub(super) from: u8,
}

impl Shared {
    pub(super) fn new(remedy: Option<HeadOfLineConfig>) -> Self {
        Shared {
            remedy,
            reinjections: VecDeque::new(),
            bytes: 0,
            copies: Vec::new(),
            head_of_line: HeadOfLine::new(remedy.map_or(Rules::Linux, |remedy| remedy.rules)),
        }
    }

    /// There is one subflow more.
    pub(super) fn add(&mut self) {
        self.copies.push(VecDeque::new());
    }

    /// A subflow is closed.
    pub(super) fn remove(&mut self, subflow: u8) {
        self.copies[usize::from(subflow)] = VecDeque::new();
    }

    /// What was on `from` is to be sent on another subflow, too.
    pub(super) fn again(&mut self, data_seq: u64, len: u32, from: u8) {
        self.bytes += u64::from(len);
        self.reinjections.push_back(Reinjection { data_seq, len, from });
    }

    /// The first reinjection that the receiver, who has everything below `una`, still needs.
    pub(super) fn next(&mut self, una: u64) -> Option<Reinjection> {
        loop {
            let what = *self.reinjections.front()?;
            if what.data_seq + u64::from(what.len) > una {
                return Some(what);
            }
            self.pop();
        }
    }

    /// It leaves, or is needed no longer.
    pub(super) fn pop(&mut self) {
        self.bytes -= self.reinjections.pop_front().map_or(0, |what| u64::from(what.len));
    }

    /// Copies are due on `subflows`.
    pub(super) fn owe(&mut self, subflows: PathSet, data_seq: u64, len: u32) {
        for path in subflows.iter() {
            self.copies[path.index()].push_back((data_seq, len));
        }
    }

    /// Bytes of all reinjections.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first copy that `subflow` owes and the receiver, who has everything below `una`, still needs.
    pub(super) fn owed(&mut self, subflow: usize, una: u64) -> Option<(u64, u32)> {
        let owed = &mut self.copies[subflow];
        while owed.pop_front_if(|(data_seq, len)| *data_seq + u64::from(*len) <= una).is_some() {}
        owed.front().copied()
    }

    /// The first copy that `subflow` owes leaves.
    pub(super) fn paid(&mut self, subflow: usize) {
        self.copies[subflow].pop_front();
    }
}
