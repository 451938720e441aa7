//! Data of a connection that another subflow must also send.

use std::collections::VecDeque;

use strandcast_proto::policy::{HeadOfLine, HeadOfLineConfig, PathSet, Rules};

/// Data that another subflow must also send, and the conditions for sending them.
#[derive(Debug)]
pub(super) struct Shared {
    /// Data that must be sent on a subflow other than their previous one.
    reinjections: VecDeque<Reinjection>,
    /// Total number of bytes in `reinjections`.
    bytes: u64,
    /// Copies that the scheduler requested, by subflow. Each has a data sequence number and a length.
    copies: Vec<VecDeque<(u64, u32)>>,
    /// Remedy for a subflow that blocks the receive window. `None` means no remedy.
    pub(super) remedy: Option<HeadOfLineConfig>,
    /// State of the remedy: its rules, and the time of each penalty.
    pub(super) head_of_line: HeadOfLine,
}

/// Data of the connection that a subflow other than `from` must also send.
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

    /// Adds the state for a further subflow.
    pub(super) fn add(&mut self) {
        self.copies.push(VecDeque::new());
    }

    /// Removes the state of a closed subflow.
    pub(super) fn remove(&mut self, subflow: u8) {
        self.copies[usize::from(subflow)] = VecDeque::new();
    }

    /// Requests that a subflow other than `from` also sends these data.
    pub(super) fn again(&mut self, data_seq: u64, len: u32, from: u8) {
        self.bytes += u64::from(len);
        self.reinjections.push_back(Reinjection { data_seq, len, from });
    }

    /// Returns the first reinjection that the receiver still needs. The receiver has all bytes below `una`.
    pub(super) fn next(&mut self, una: u64) -> Option<Reinjection> {
        loop {
            let what = *self.reinjections.front()?;
            if what.data_seq + u64::from(what.len) > una {
                return Some(what);
            }
            self.pop();
        }
    }

    /// Removes the first reinjection, because it was sent or is no longer needed.
    pub(super) fn pop(&mut self) {
        self.bytes -= self.reinjections.pop_front().map_or(0, |what| u64::from(what.len));
    }

    /// Requests copies of data on `subflows`.
    pub(super) fn owe(&mut self, subflows: PathSet, data_seq: u64, len: u32) {
        for path in subflows.iter() {
            self.copies[path.index()].push_back((data_seq, len));
        }
    }

    /// Returns the total number of bytes in the reinjections.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the first requested copy of `subflow` that the receiver still needs. The receiver has all bytes below
    /// `una`.
    pub(super) fn owed(&mut self, subflow: usize, una: u64) -> Option<(u64, u32)> {
        let owed = &mut self.copies[subflow];
        while owed.pop_front_if(|(data_seq, len)| *data_seq + u64::from(*len) <= una).is_some() {}
        owed.front().copied()
    }

    /// Removes the first requested copy of `subflow`, because it was sent.
    pub(super) fn paid(&mut self, subflow: usize) {
        self.copies[subflow].pop_front();
    }
}
