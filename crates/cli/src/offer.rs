//! The API of a running command.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use strandcast::live::serve::ApiConfig;
use tokio::sync::mpsc;

use crate::api::{Access, Api, Asked, Board, Shown, Snapshot};
use crate::args::{ApiArgs, ApiPlace};
use crate::error::CliError;
use crate::show::Gone;

/// An API, and the state that the API shows.
pub(crate) struct Offer {
    api: Api,
    asked: mpsc::Receiver<Asked>,
    board: Arc<Board>,
    gone: Gone,
    /// Name of the program, as a label of metrics.
    instance: String,
    /// Token of the page, or `None` without `--page`.
    token: Option<String>,
}

impl Offer {
    /// Starts the API of a configuration, with the contents of the files that the configuration names. `instance` is
    /// the label of the program in metrics.
    ///
    /// # Errors
    /// As [`Api::start`].
    pub(crate) fn start(config: &ApiConfig, access: Access, instance: String) -> Result<Offer, CliError> {
        Offer::with(config, instance, access, None)
    }

    /// Starts the API of a command with one stream, if its options ask for one. If `controls` is true, the page may
    /// change the stream.
    ///
    /// # Errors
    /// Returns the errors of [`Api::start`]. Returns [`CliError::Usage`] if this program does not contain the page.
    pub(crate) fn of_one(args: &ApiArgs, instance: &str, controls: bool) -> Result<Option<Offer>, CliError> {
        let mut config = ApiConfig::default();
        match &args.api {
            Some(ApiPlace::Address(address)) => config.listen = Some(*address),
            Some(ApiPlace::Socket(path)) => config.socket = Some(path.clone()),
            None if !args.page => return Ok(None),
            None => {}
        }
        if !args.page {
            return Offer::start(&config, Access::read(&config)?, instance.to_owned()).map(Some);
        }
        if !crate::api::HAS_PAGE {
            let line = "--page: this program was built without its page: run `make web`, and build it again";
            return Err(CliError::Usage(line.to_owned()));
        }
        config.listen.get_or_insert(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let (access, token) = Access::drawn(controls)?;
        Offer::with(&config, instance.to_owned(), access, Some(token)).map(Some)
    }

    fn with(
        config: &ApiConfig,
        instance: String,
        access: Access,
        token: Option<String>,
    ) -> Result<Offer, CliError> {
        let board = Arc::<Board>::default();
        let (api, asked) = Api::start(config, access, Arc::clone(&board))?;
        Ok(Offer { api, asked, board, gone: Gone::default(), instance, token })
    }

    /// Returns a function that passes events to the clients of this API.
    pub(crate) fn watcher(&self) -> impl Fn(&str) + use<> {
        let board = Arc::clone(&self.board);
        move |line| board.event(line)
    }

    /// Waits for the next request for a change. Cancel safe.
    pub(crate) async fn asked(offer: Option<&mut Offer>) -> Asked {
        if let Some(offer) = offer
            && let Some(asked) = offer.asked.recv().await
        {
            return asked;
        }
        // Without an API no request ever comes.
        std::future::pending().await
    }

    /// Returns the addresses at which the API can be used.
    pub(crate) fn places(&self) -> &[String] {
        self.api.places()
    }

    /// Returns the address of the page for the stream `name`. The address contains the token that opens the page.
    pub(crate) fn page(&self, name: &str) -> Option<String> {
        let token = self.token.as_ref()?;
        let place = self.places().iter().find(|place| place.starts_with("http://"))?;
        Some(format!("{place}/#/{name}?token={token}"))
    }

    /// Shows these streams in the API. `lines` has the last line of statistics of each stream.
    pub(crate) fn show(&mut self, streams: Vec<Shown>, lines: Vec<Value>) {
        let metrics = self.gone.with(lines, Instant::now());
        self.board.set(Snapshot::of(streams, metrics, &self.instance));
    }

    /// Replaces the tokens, the certificate and the key of the API.
    pub(crate) fn install(&self, access: Access) {
        self.api.install(access);
    }

    /// Shows in the API that the command is ending.
    pub(crate) fn stopping(&self) {
        self.board.stopping();
    }
}
