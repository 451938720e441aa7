//! The API of a running program.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tokio::sync::mpsc;

use super::access::Access;
use super::board::{Board, Snapshot};
use super::request::Asked;
use super::server::Running;
use super::shown::Shown;
use crate::error::Error;
use crate::live::lines::Gone;
use crate::live::serve::ApiConfig;

/// An API that runs, and the state that it shows. Dropping this value ends the API.
#[derive(Debug)]
pub struct Api {
    running: Running,
    asked: mpsc::Receiver<Asked>,
    board: Arc<Board>,
    gone: Gone,
    /// Name of the program, as a label of metrics.
    instance: String,
}

/// Passes events to the clients of an API.
#[derive(Clone, Debug)]
pub struct Events(Arc<Board>);

impl Events {
    /// Passes an event on. `line` is the event as JSON, without line ends ([`Line::text`](crate::live::lines::Line)).
    pub fn send(&self, line: &str) {
        self.0.event(line);
    }
}

impl Api {
    /// Listens, and responds to requests on a separate thread. `access` has the contents of the files that the
    /// configuration names. `instance` is the label of the program in metrics.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path of the socket exists and is not a socket, or if other machines can reach
    /// the address and `access` lacks a certificate or a token. Returns [`Error::Network`] if an address or a path is
    /// in use.
    pub fn start(config: &ApiConfig, access: Access, instance: &str) -> Result<Api, Error> {
        let board = Arc::<Board>::default();
        let (running, asked) = Running::start(config, access, Arc::clone(&board))?;
        Ok(Api { running, asked, board, gone: Gone::default(), instance: instance.to_owned() })
    }

    /// Returns a handle that passes events to the clients of this API.
    pub fn events(&self) -> Events {
        Events(Arc::clone(&self.board))
    }

    /// Waits for the next request for a change. Cancel safe.
    pub async fn asked(&mut self) -> Asked {
        match self.asked.recv().await {
            Some(asked) => asked,
            // The thread of the API has ended, so that no request ever comes.
            None => std::future::pending().await,
        }
    }

    /// Returns the addresses at which the API can be used.
    pub fn places(&self) -> &[String] {
        self.running.places()
    }

    /// Returns the address of the page for the stream `name`, or `None` if the API has no address without TLS. The
    /// result contains `token`, which opens the page ([`Access::drawn`]).
    pub fn page(&self, name: &str, token: &str) -> Option<String> {
        let place = self.places().iter().find(|place| place.starts_with("http://"))?;
        Some(format!("{place}/#/{name}?token={token}"))
    }

    /// Shows these streams. `lines` has the last line of statistics of each stream for the metrics, also of streams
    /// that are ending. Call it every second: after 10 s without a call the API reports that the program hangs.
    pub fn show(&mut self, streams: Vec<Shown>, lines: Vec<Value>) {
        let lines = lines.into_iter().filter(|line| !line.is_null()).collect();
        let metrics = self.gone.with(lines, Instant::now());
        self.board.set(Snapshot::of(streams, metrics, &self.instance));
    }

    /// Replaces the tokens, the certificate and the key. Open connections stay open.
    pub fn install(&self, access: Access) {
        self.running.install(access);
    }

    /// Shows that the program is ending, and accepts no senders.
    pub fn stopping(&self) {
        self.board.stopping();
    }
}
