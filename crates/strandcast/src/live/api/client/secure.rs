//! TLS of a client. The client accepts a server's certificate if the user has a copy of it, or if an authority has
//! signed it.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};

use crate::error::{self, why};
use crate::live::api::client::ClientError;
use crate::live::api::pem::certificates;

/// Files in which systems store their authorities: Debian, Fedora, and others.
const SYSTEM: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Certificates that a client accepts.
#[derive(Debug)]
struct Known {
    /// Certificates that the user has copied from servers. For such a certificate, neither names nor dates are checked,
    /// because possession of the copy is enough.
    copies: Vec<CertificateDer<'static>>,
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Known {
    /// `named` is true if the user has named the file. If the file is the system's own, copies of servers' certificates
    /// in it are ignored.
    fn of(file: &Path, named: bool) -> Result<Known, error::Error> {
        let mut copies = certificates(file).map_err(error::Error::Store)?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(copies.iter().cloned());
        if !named {
            copies.clear();
        }
        let provider = Arc::new(ring::default_provider());
        // A file without any authority contains only copies of servers' certificates.
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        Ok(Known { copies, authorities: authorities.build().ok(), provider })
    }
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.authorities {
            _ if self.copies.contains(own) => Ok(ServerCertVerified::assertion()),
            Some(authorities) => authorities.verify_server_cert(own, others, name, ocsp, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // The client offers only TLS 1.3.
        Err(Error::General("TLS 1.2 was not offered".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, own, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Completes a TLS handshake with the server at `address` (`HOST:PORT`). `file` contains the server's certificate, or
/// the certificate of its authority. Without `file`, the authorities of the system are used.
///
/// # Errors
/// Returns [`ClientError::Certificate`] if the certificate is refused. Returns [`error::Error::Store`] if the file cannot
/// be read, and [`error::Error::Peer`] if the server does not use TLS 1.3.
pub(super) fn shake_hands(
    mut stream: TcpStream,
    address: &str,
    file: Option<&Path>,
) -> Result<StreamOwned<ClientConnection, TcpStream>, ClientError> {
    let system = || SYSTEM.iter().map(PathBuf::from).find(|path| path.exists());
    let named = file.is_some();
    let file = file.map(Path::to_owned).or_else(system);
    let known = Known::of(&file.ok_or(ClientError::NoAuthorities)?, named)?;
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let wrong = |why: &dyn std::fmt::Display| -> ClientError {
        error::Error::Peer(format!("{address}: {why}")).into()
    };
    let name = ServerName::try_from(host.to_owned()).map_err(|error| wrong(&error))?;
    let builder = ClientConfig::builder_with_provider(Arc::clone(&known.provider));
    let builder = builder.with_protocol_versions(&[&TLS13]).map_err(|error| wrong(&error))?;
    let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(known)).with_no_client_auth();
    let mut client = ClientConnection::new(Arc::new(config), name).map_err(|error| wrong(&error))?;
    // The client sends its request immediately after the handshake.
    stream.set_nodelay(true).map_err(|error| wrong(&why(&error)))?;
    while client.is_handshaking() {
        if let Err(error) = client.complete_io(&mut stream) {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
            return Err(match inner {
                Some(Error::InvalidCertificate(why)) => {
                    ClientError::Certificate { address: address.to_owned(), why: refusal(why) }
                }
                Some(_) => wrong(&"no TLS 1.3 there: write http:// if it is plain HTTP"),
                None => wrong(&format!("no handshake: {}", why(&error))),
            });
        }
    }
    Ok(StreamOwned::new(client, stream))
}

/// Returns the reason why a certificate is refused.
fn refusal(why: &CertificateError) -> String {
    match why {
        // An unknown authority may have the same name as a known authority.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its authority is not known here".into()
        }
        CertificateError::NotValidForNameContext { .. } | CertificateError::NotValidForName => {
            "it has another name".into()
        }
        CertificateError::ExpiredContext { .. } | CertificateError::Expired => "it has expired".into(),
        CertificateError::NotValidYetContext { .. } | CertificateError::NotValidYet => {
            "it is not valid yet".into()
        }
        other => other.to_string(),
    }
}
