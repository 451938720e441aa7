//! A store with identities, pairing strings and known peers.

use std::path::PathBuf;

use pyo3::prelude::*;
use strandcast::pairing::{Name, Pairing, Store, fingerprint, wall_clock};
use strandcast::{Error, HostPort};

use super::settings::store;
use crate::error;

/// A store of keys.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct KeyStore(Store);

#[pymethods]
impl KeyStore {
    /// Opens the store whose identity is in this file. None means the store of the user.
    #[new]
    fn new(py: Python<'_>, key: Option<PathBuf>) -> PyResult<KeyStore> {
        Ok(KeyStore(store(py, key)?))
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// Returns the short form of the key. Makes the identity if there has never been one.
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        let identity = self.work(py, |store| store.identity_or_new())?;
        Ok(fingerprint(&identity.0.public()))
    }

    /// Returns a new pairing string.
    fn pair(&self, py: Python<'_>, hosts: Vec<String>, once: bool, lasts: Option<f64>) -> PyResult<String> {
        let host = |text: &String| text.parse().map_err(|e| error::value(&format!("host {text:?}: {e}")));
        let hosts: Vec<HostPort> = hosts.iter().map(host).collect::<PyResult<_>>()?;
        let lasts = lasts.map(|lasts| super::runtime::seconds("lasts", lasts)).transpose()?;
        let expires = lasts.map(|lasts| wall_clock() + lasts.as_secs().max(1));
        let text = self.work(py, |store| store.pair(&hosts, once, expires))?;
        Ok(text.to_string())
    }

    /// Stores a pairing under a name.
    fn add_receiver(&self, py: Python<'_>, name: &str, pairing: &str) -> PyResult<()> {
        let name: Name = name.parse().map_err(|e| error::value(&format!("name {name:?}: {e}")))?;
        let pairing = Pairing::decode(pairing).map_err(|e| error::value(&e.to_string()))?;
        self.work(py, |store| store.add_receiver(&name, &pairing))
    }

    /// Returns the names of all receivers.
    fn receivers(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let receivers = self.work(py, Store::receivers)?;
        Ok(receivers.iter().map(|(name, _)| name.to_owned()).collect())
    }

    /// Returns all senders: the name or the short form of the key, and whether the sender was revoked.
    fn senders(&self, py: Python<'_>) -> PyResult<Vec<(String, bool)>> {
        let senders = self.work(py, Store::senders)?;
        Ok(senders.senders().iter().map(|sender| (sender.label(), sender.revoked)).collect())
    }

    /// Revokes a sender.
    fn revoke(&self, py: Python<'_>, sender: &str) -> PyResult<()> {
        let revoke =
            |store: &Store| store.change_senders(|senders| senders.revoke(sender, wall_clock()).map(drop));
        self.work(py, revoke)
    }
}

impl KeyStore {
    /// Other Python threads run meanwhile, because files may be locked for a while.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Store) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&self.0)).map_err(|e| error::live(py, &e))
    }
}
