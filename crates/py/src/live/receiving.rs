//! Receiving streams.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use strandcast::live::{Listening, ReceiverConfig, Slate};
use strandcast::pairing::Gate;
use strandcast::transport::listen_addresses;
use strandcast::{Error, HostPort, Memory};

use super::place::{Sink, play};
use super::runtime::{seconds, wait};
use super::settings::{Chosen, Transport, scheme, store, transport};
use super::stream::{Handle, Stream};
use crate::error;

/// Listens, and plays what comes. With `plain` nothing is encrypted; `key` is the identity's file. `slate` has its name,
/// and the time in seconds after which it plays.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of one call")]
pub(crate) fn receive(
    py: Python<'_>,
    outputs: Vec<Bound<'_, PyAny>>,
    overwrite: bool,
    listen: Vec<String>,
    plain: bool,
    key: Option<PathBuf>,
    chosen: Chosen,
    latency: Option<f64>,
    silence: f64,
    once: bool,
    slate: Option<(PathBuf, f64)>,
    memory: usize,
    of_transport: Transport,
) -> PyResult<Stream> {
    let (scheme, failure) = scheme(py, chosen)?;
    let mut config = ReceiverConfig::new(scheme);
    if !plain {
        let store = store(py, key)?;
        let gate = py.detach(|| Gate::open(&store, None));
        config.gate = Some(gate.map_err(|e| error::live(py, &e))?);
    }
    config.latency = latency.map(|latency| seconds("latency", latency)).transpose()?;
    config.silence = seconds("silence", silence)?;
    config.once = once;
    config.slate = slate.map(|(name, after)| read(py, &name, after)).transpose()?;
    let too_little = || error::value(&format!("memory={memory} is too little: 32 MiB is the least"));
    config.memory = Memory::new(memory).ok_or_else(too_little)?;
    config.transport = transport(of_transport);
    let sinks = outputs.iter().map(Sink::of).collect::<PyResult<Vec<Sink>>>()?;
    let started = wait(py, None, async {
        if !listen.is_empty() {
            config.listen = addresses(&listen).await?;
        }
        let listening = Listening::start(config)?;
        let addresses = listening.addresses().to_vec();
        Ok((play(sinks, overwrite, listening).await?, addresses))
    })?;
    let (receiver, addresses) = started.map_err(|e: Error| error::live(py, &e))?;
    let addresses = addresses.iter().map(ToString::to_string).collect();
    Ok(Stream::new(Handle::Receiver(receiver), failure, addresses))
}

/// The slate with this name, which plays after a time in seconds.
fn read(py: Python<'_>, name: &Path, after: f64) -> PyResult<Slate> {
    let mut slate = py.detach(|| Slate::named(name)).map_err(|e| error::live(py, &e))?;
    slate.after = seconds("slate_after", after)?;
    Ok(slate)
}

/// The addresses of all places to listen on.
async fn addresses(places: &[String]) -> Result<Vec<SocketAddr>, Error> {
    let mut all = Vec::new();
    for place in places {
        match place.parse::<SocketAddr>() {
            Ok(address) => all.push(address),
            Err(_) => {
                let HostPort { host, port } =
                    place.parse().map_err(|e| Error::Usage(format!("listen={place:?}: {e}")))?;
                all.extend(listen_addresses(Some(&host), port).await?);
            }
        }
    }
    Ok(all)
}
