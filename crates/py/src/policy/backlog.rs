//! Data that wait and their importance, in the form for Python.

use std::collections::{BTreeMap, BTreeSet};

use pyo3::prelude::*;
use strandcast_proto::policy as proto;
use strandcast_proto::policy::Importance;

use super::view::time;

/// First message of one importance that may leave.
#[pyclass(frozen, get_all, from_py_object, module = "strandcast")]
#[derive(Clone)]
pub(crate) struct MessageHead {
    /// Size of its next chunk in a window, bytes.
    next_len: u64,
    /// Time at which it becomes worthless, by the clock of `View.now`.
    next_expires: Option<f64>,
    /// Group of the message, such as a video frame.
    group: Option<u64>,
    /// Payload bytes of all messages of this importance that wait.
    bytes: u64,
}

impl From<&proto::MessageHead> for MessageHead {
    fn from(head: &proto::MessageHead) -> Self {
        MessageHead {
            next_len: head.next_len,
            next_expires: time(head.next_expires),
            group: head.group,
            bytes: head.bytes,
        }
    }
}

#[pymethods]
impl MessageHead {
    fn __repr__(&self) -> String {
        format!("<MessageHead of {} bytes>", self.bytes)
    }
}

/// Returns the word for an importance.
pub(super) fn importance_word(importance: Importance) -> &'static str {
    match importance {
        Importance::Disposable => "disposable",
        Importance::Normal => "normal",
        Importance::Reference => "reference",
        Importance::Key => "key",
    }
}

/// Data that wait to be sent.
#[pyclass(frozen, get_all, module = "strandcast")]
pub(crate) struct Backlog {
    /// Payload bytes that wait for the scheduler: not yet sent, or lost and left to it.
    bytes: u64,
    /// Number of messages that were not sent completely.
    messages: usize,
    /// Size of the next chunk in a window, bytes.
    next_len: u64,
    /// Number of payload bytes of the next chunk's message that are unsent, including the next chunk. 0
    /// for a retransmission.
    rest: u64,
    /// True if a part of the next chunk's message was sent: abandoning the message would waste that
    /// part. False for a retransmission.
    begun: bool,
    /// Time by the clock of `View.now` at which the next chunk's message becomes worthless. The next
    /// chunk may be new or lost.
    next_expires: Option<f64>,
    /// True if the next chunk was lost before: the answer then applies only to it.
    retransmission: bool,
    /// Paths on which the next chunk was sent before.
    tried: BTreeSet<u8>,
    /// Importance of the next chunk's message.
    next_importance: &'static str,
    /// Group of the next chunk's message.
    next_group: Option<u64>,
    /// First message of each importance that may leave now, the oldest message of all included. Empty if
    /// the association codes in blocks.
    heads: BTreeMap<&'static str, MessageHead>,
}

impl From<&proto::Backlog> for Backlog {
    fn from(backlog: &proto::Backlog) -> Self {
        Backlog {
            bytes: backlog.bytes,
            messages: backlog.messages,
            next_len: backlog.next_len,
            rest: backlog.rest,
            begun: backlog.begun,
            next_expires: time(backlog.next_expires),
            retransmission: backlog.retransmission,
            tried: backlog.tried.iter().map(|path| path.0).collect(),
            next_importance: importance_word(backlog.next_importance),
            next_group: backlog.next_group,
            heads: backlog.heads.iter().map(|head| (importance_word(head.importance), head.into())).collect(),
        }
    }
}

#[pymethods]
impl Backlog {
    fn __repr__(&self) -> String {
        format!("<Backlog of {} bytes in {} messages>", self.bytes, self.messages)
    }
}
