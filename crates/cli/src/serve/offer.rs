//! The API of a running server.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use strandcast::live::serve::{ApiConfig, Server};
use tokio::sync::mpsc;

use crate::api::{Api, Asked, Board, Snapshot};
use crate::error::CliError;
use crate::show::{Gone, Many};

/// An API, and the state that it shows.
pub(super) struct Offer {
    api: Api,
    asked: mpsc::Receiver<Asked>,
    board: Arc<Board>,
    gone: Gone,
    /// Name of the configuration, as a label of metrics.
    instance: String,
}

impl Offer {
    /// Starts the API that the configuration at `path` names.
    ///
    /// # Errors
    /// As [`Api::start`].
    pub(super) fn start(config: &ApiConfig, path: &Path) -> Result<Offer, CliError> {
        let board = Arc::<Board>::default();
        let (api, asked) = Api::start(config, Arc::clone(&board))?;
        let instance = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Offer { api, asked, board, gone: Gone::default(), instance })
    }

    /// Shows what the server does, from now on.
    pub(super) fn watch(&self, many: &mut Many) {
        let board = Arc::clone(&self.board);
        many.watch(move |line| board.event(line));
    }

    /// Waits for the next request that changes the server. Cancel safe.
    pub(super) async fn asked(offer: Option<&mut Offer>) -> Asked {
        if let Some(offer) = offer
            && let Some(asked) = offer.asked.recv().await
        {
            return asked;
        }
        // There is no API.
        std::future::pending().await
    }

    /// Places at which the API can be used.
    pub(super) fn places(&self) -> &[String] {
        self.api.places()
    }

    /// Shows the streams as they are now.
    pub(super) async fn look(&mut self, many: &Many, server: &Server) {
        let lines = many.lines();
        let metrics = self.gone.with(lines.clone(), Instant::now());
        self.board.set(Snapshot::of(server.streams().await, &lines, metrics, &self.instance));
    }

    /// Reads the files of tokens, certificate and key again.
    ///
    /// # Errors
    /// As [`Api::reload`].
    pub(super) fn reload(&self) -> Result<(), CliError> {
        self.api.reload()
    }

    /// Shows that the server ends.
    pub(super) fn stopping(&self) {
        self.board.stopping();
    }
}
