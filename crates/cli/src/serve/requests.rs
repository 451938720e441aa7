//! Requests of the API that change the server.

use std::path::Path;

use serde_json::{Value, json};
use strandcast::Error;
use strandcast::pairing::{Name, wall_clock};

use super::Serving;
use crate::api::{Asked, Change, Outcome};
use crate::error::CliError;
use crate::key::{senders_json, store};

impl Serving {
    /// Carries out a change, shows its effect, and reports the outcome.
    pub(super) async fn carry_out(&mut self, asked: Asked) {
        let outcome = self.change(asked.change).await;
        self.look().await;
        // The client may have left.
        let _ = asked.told.send(outcome);
    }

    async fn change(&mut self, change: Change) -> Outcome {
        let line = |error: Error| error.to_string();
        match change {
            Change::Stream { name, on: false } => {
                self.server.stop_stream(&name).await.map(done).map_err(line)
            }
            Change::Stream { name, on: true } => {
                self.server.start_stream(&name).await.map(done).map_err(line)
            }
            Change::Output { name, number, on: false } => {
                self.server.stop_output(&name, number).await.map(done).map_err(line)
            }
            Change::Output { name, number, on: true } => {
                self.server.start_output(&name, number).await.map(done).map_err(line)
            }
            Change::Reload => self.reload().await,
            Change::Link { .. } | Change::Tariff(_) => {
                Err("links are switched at their sender: strandcast send --api or --page".to_owned())
            }
            Change::Senders => self.keys(senders).await,
            Change::Allow { who, name } => {
                self.keys(move |key| allow(key, &who, name.as_deref()).map(done)).await
            }
            Change::Revoke { who } => self.keys(move |key| revoke(key, &who).map(done)).await,
        }
    }

    /// Runs `work` on the files of keys.
    async fn keys(
        &self,
        work: impl FnOnce(Option<&Path>) -> Result<Value, CliError> + Send + 'static,
    ) -> Outcome {
        let key = self.key.clone();
        aside(move || work(key.as_deref())).await.map_err(|error| error.to_string())
    }
}

/// Work on files may wait for disks. It therefore runs on another thread, because this thread carries the media.
pub(super) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Returns the senders in the store.
fn senders(key: Option<&Path>) -> Result<Value, CliError> {
    Ok(json!({ "senders": senders_json(&store(key)?.senders()?) }))
}

/// Allows a sender, as `key allow` does. The server starts to admit the sender within a second.
fn allow(key: Option<&Path>, who: &str, name: Option<&str>) -> Result<(), CliError> {
    let named = |text: &str| {
        let wrong = |why: &str| CliError::Usage(format!("{text:?} is not a name of a sender: {why}"));
        text.parse::<Name>().map_err(wrong)
    };
    let name = name.map(named).transpose()?;
    store(key)?.change_senders(|senders| {
        senders.allow(who, name.as_ref().map(Name::as_str), wall_clock())?;
        Ok::<_, Error>(())
    })?;
    Ok(())
}

/// Revokes a sender, as `key revoke` does. The server stops admitting the sender within a second.
fn revoke(key: Option<&Path>, who: &str) -> Result<(), CliError> {
    store(key)?.change_senders(|senders| {
        // A key that is not in the store cannot be revoked, and needs no entry.
        let known = senders.find(who).is_some();
        match known {
            true => senders.revoke(who, wall_clock()).map(drop).map_err(Error::from),
            false => Err(Error::Usage(format!("there is no sender {who}"))),
        }
    })?;
    Ok(())
}

fn done((): ()) -> Value {
    json!({ "done": true })
}
