//! TLS of an API's address: the certificate, the key, and handshakes in progress.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ParsedCertificate};
use rustls::version::TLS13;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::guard::{Names, Place};
use super::pem::{bytes, certificates};
use crate::error::Error;
use crate::live::serve::ApiConfig;

/// Time limit for a handshake.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Maximum number of handshakes that have not ended. If this number is reached, a new handshake ends the oldest
/// handshake of the address that has the most. An address that begins handshakes and never ends them therefore cannot
/// lock out other addresses.
const HANDSHAKES: usize = 64;

/// A certificate and its key.
#[derive(Clone)]
pub(super) struct Tls {
    acceptor: TlsAcceptor,
    own: CertificateDer<'static>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads the files that a configuration names, or returns `None` if the configuration names no files.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a line that contains the file and the remedy.
    pub(super) fn read(config: &ApiConfig) -> Result<Option<Tls>, Error> {
        match (&config.certificate, &config.certificate_key) {
            (Some(certificate), Some(key)) => read(certificate, key).map(Some).map_err(Error::Usage),
            (None, None) => Ok(None),
            _ => Err(Error::Usage("a certificate needs its key, and a key its certificate".to_owned())),
        }
    }

    /// Returns the kind of access of requests over TLS.
    pub(super) fn place(&self) -> Place {
        Place::Address { names: Names::Certificate(self.own.clone()), scheme: "https" }
    }

    /// Waits for a client's handshake. Returns `None` if the handshake fails or takes too long.
    pub(super) async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        tokio::time::timeout(HANDSHAKE, self.acceptor.accept(stream)).await.ok()?.ok()
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Tls, String> {
    let chain = certificates(certificate)?;
    let own = chain[0].clone();
    let refused = |path: &Path, why: &str| Err(format!("{}: {why}", path.display()));
    if ParsedCertificate::try_from(&own).is_err() {
        return refused(certificate, "its first certificate is broken, or no X.509 version 3");
    }
    let (text, mode) = bytes(key)?;
    if mode & 0o007 != 0 {
        return refused(key, &format!("other users can read this key: chmod o= {}", key.display()));
    }
    let Ok(private) = PrivateKeyDer::from_pem_slice(&text) else {
        return refused(
            key,
            "it has no private key in PEM without a passphrase (-----BEGIN PRIVATE KEY-----)",
        );
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_protocol_versions(&[&TLS13]).map_err(|error| error.to_string())?;
    let mut config = match builder.with_no_client_auth().with_single_cert(chain, private) {
        Ok(config) => config,
        Err(rustls::Error::InconsistentKeys(_)) => {
            return refused(
                key,
                &format!("it is not the key of the certificate in {}", certificate.display()),
            );
        }
        Err(error) => return refused(key, &format!("this key cannot be used: {error}")),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Each connection makes a full handshake: the server keeps no TLS sessions for clients.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Tls { acceptor: TlsAcceptor::from(Arc::new(config)), own })
}

/// Handshakes in progress, with the oldest handshake first.
#[derive(Debug, Default)]
pub(super) struct Handshakes(VecDeque<(IpAddr, AbortHandle)>);

impl Handshakes {
    /// Adds the task of a handshake with `from`. If there are too many handshakes, ends the oldest handshake of the
    /// address that has the most handshakes.
    pub(super) fn add(&mut self, from: IpAddr, task: AbortHandle) {
        self.0.retain(|(_, task)| !task.is_finished());
        if self.0.len() >= HANDSHAKES {
            let of = |ip: IpAddr| self.0.iter().filter(|(one, _)| *one == ip).count();
            let most = self.0.iter().map(|(ip, _)| of(*ip)).max();
            let at = self.0.iter().position(|(ip, _)| Some(of(*ip)) == most).unwrap_or(0);
            if let Some((_, oldest)) = self.0.remove(at) {
                oldest.abort();
            }
        }
        self.0.push_back((from, task));
    }
}
