//! Sending a stream.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use strandcast::live::{LinkTariff, Retry, SenderConfig};
use strandcast::pairing::{Destination, Name, Pairing, looks_like_pairing};
use strandcast::{HostPort, Path};

use super::place::Source;
use super::runtime::{seconds, wait};
use super::settings::{Chosen, Transport, scheme, store, transport};
use super::stream::{Handle, Stream};
use crate::error;

/// A link's tariff: name, class, price of 10^9 bytes, bytes left, seconds that they last, day on which months begin.
type GivenTariff = (String, u8, Option<f64>, Option<u64>, Option<f64>, Option<u8>);

/// Starts to send. `to` is a pairing string or `@NAME`. With `plain` it is a host. `key` is the file of
/// the identity.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of one call")]
pub(crate) fn send(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    to: &str,
    stream: Option<&str>,
    plain: bool,
    key: Option<PathBuf>,
    chosen: Chosen,
    latency: f64,
    retry: Option<f64>,
    paths: Vec<String>,
    tariffs: Vec<GivenTariff>,
    ledger: Option<PathBuf>,
    of_transport: Transport,
) -> PyResult<Stream> {
    let to = if plain { host(to)? } else { paired(py, to, key)? };
    let (scheme, failure) = scheme(py, chosen)?;
    let mut config = SenderConfig::new(to, scheme);
    config.stream = stream.map(stream_of).transpose()?;
    config.latency = seconds("latency", latency)?;
    config.retry = retry.map(retry_time).transpose()?;
    config.paths = paths.iter().map(|path| path_of(path)).collect::<PyResult<_>>()?;
    config.tariffs = tariffs.into_iter().map(tariff).collect::<PyResult<_>>()?;
    config.ledger = ledger;
    config.transport = transport(of_transport);
    let source = Source::of(source)?;
    let sender = wait(py, None, source.send(config))?.map_err(|e| error::live(py, &e))?;
    Ok(Stream::new(Handle::Sender(sender), Arc::clone(&failure), Vec::new()))
}

fn stream_of(name: &str) -> PyResult<Name> {
    name.parse().map_err(|e| error::value(&format!("stream={name:?}: {e}")))
}

fn host(to: &str) -> PyResult<Destination> {
    let host: HostPort = to.parse().map_err(|e| error::value(&format!("to={to:?}: {e}")))?;
    Ok(Destination::plain(host))
}

fn paired(py: Python<'_>, to: &str, key: Option<PathBuf>) -> PyResult<Destination> {
    let store = store(py, key)?;
    let found = if looks_like_pairing(to) {
        // The pairing string is a secret, and must not appear in an error message.
        let pairing = Pairing::decode(to).map_err(|e| error::value(&e.to_string()))?;
        py.detach(|| Destination::paired(&store, pairing))
    } else if let Some(name) = to.strip_prefix('@') {
        py.detach(|| Destination::named(&store, name))
    } else {
        return Err(error::value(&format!(
            "to={to:?} is not paired: give a pairing string, or @NAME of a receiver that `Store.add_receiver` keeps; \
             plain=True sends to a host without encryption"
        )));
    };
    found.map_err(|e| error::live(py, &e))
}

fn retry_time(given: f64) -> PyResult<Retry> {
    if given == f64::INFINITY { Ok(Retry::Forever) } else { seconds("retry", given).map(Retry::For) }
}

fn path_of(given: &str) -> PyResult<Path> {
    given.parse().map_err(|e| error::value(&format!("path {given:?}: {e}")))
}

fn tariff((link, class, price, left, lasts, month_begins): GivenTariff) -> PyResult<LinkTariff> {
    let mut tariff = LinkTariff::new(link);
    (tariff.class, tariff.price, tariff.left) = (class, price, left);
    tariff.month_begins = month_begins;
    tariff.lasts = lasts.map(|lasts| seconds("lasts", lasts)).transpose()?;
    Ok(tariff)
}
