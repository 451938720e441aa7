//! Inputs that are Python objects. A Python thread reads the input and feeds the stream.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use strandcast::live::input::Input;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::error;

/// Maximum number of pieces that wait for the stream.
const WAITING: usize = 4;

/// Bytes of media, or the reason why no more bytes will come.
type Piece = Result<Vec<u8>, String>;

/// Media that a Python thread has read.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct Feeder {
    to: Mutex<Option<Sender<Piece>>>,
    input: Mutex<Option<FedInput>>,
}

#[pymethods]
impl Feeder {
    /// `live` is true if the media are sent as soon as they are made.
    #[new]
    fn new(name: String, live: bool) -> Feeder {
        let (to, from) = channel(WAITING);
        let input = FedInput { name, live, from, piece: Vec::new(), read: 0 };
        Feeder { to: Mutex::new(Some(to)), input: Mutex::new(Some(input)) }
    }

    /// Waits until there is space for the data. Returns false once the stream has ended.
    fn feed(&self, py: Python<'_>, data: &[u8]) -> bool {
        self.put(py, Ok(data.to_vec()))
    }

    /// Reports that the input has ended.
    fn end(&self) {
        *lock(&self.to) = None;
    }

    /// Records that the input cannot be read.
    fn fail(&self, py: Python<'_>, why: String) {
        self.put(py, Err(why));
    }
}

impl Feeder {
    fn put(&self, py: Python<'_>, piece: Piece) -> bool {
        let Some(to) = lock(&self.to).clone() else { return false };
        py.detach(move || to.blocking_send(piece).is_ok())
    }

    /// Returns the input that the stream uses.
    ///
    /// # Errors
    /// Raises `ValueError` if another stream uses this input.
    pub(super) fn input(&self) -> PyResult<FedInput> {
        lock(&self.input).take().ok_or_else(|| error::value("this input feeds another stream"))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An input that receives its data from a Python thread.
#[derive(Debug)]
pub(super) struct FedInput {
    name: String,
    live: bool,
    from: Receiver<Piece>,
    piece: Vec<u8>,
    /// Number of bytes of the piece that were read.
    read: usize,
}

impl Input for FedInput {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_live(&self) -> bool {
        self.live
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.piece.len() {
            match self.from.recv().await {
                Some(Ok(piece)) => (self.piece, self.read) = (piece, 0),
                Some(Err(why)) => return Err(io::Error::other(why)),
                None => return Ok(0),
            }
        }
        let rest = &self.piece[self.read..];
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        self.read += len;
        Ok(len)
    }
}

/// Media that are in memory.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) all: Vec<u8>,
    pub(super) read: usize,
}

impl Input for Held {
    fn name(&self) -> String {
        "bytes".to_owned()
    }

    fn is_live(&self) -> bool {
        false
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.all[self.read..];
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        self.read += len;
        Ok(len)
    }

    async fn rewind(&mut self) -> io::Result<()> {
        self.read = 0;
        Ok(())
    }
}
