//! quinn: one stream, TLS_AES_128_GCM_SHA256 by ring.

use bytes::Bytes;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
use quinn_bulk::{Failure, Meter, Role, role, socket};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CipherSuite, DigitallySignedStruct, SignatureScheme};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Flow control shall never be what limits.
const WINDOW: u32 = 16 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    match role()? {
        Role::Receive(addr) => receive(addr).await,
        Role::Send(addr, time, bytes) => send(addr, time, bytes).await,
    }
}

async fn receive(addr: SocketAddr) -> Result<(), Failure> {
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let private = PrivateKeyDer::Pkcs8(key.signing_key.serialize_der().into());
    let tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], private)?;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport());
    let endpoint = endpoint(addr, Some(config))?;
    let connection = endpoint.accept().await.ok_or("nobody came")?.await?;
    let mut stream = connection.accept_uni().await?;
    let mut meter = Meter::default();
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
        meter.add(chunk.bytes.len());
    }
    meter.print();
    connection.close(0u32.into(), b"");
    endpoint.wait_idle().await;
    Ok(())
}

async fn send(addr: SocketAddr, time: Duration, bytes: usize) -> Result<(), Failure> {
    let tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyServer(provider().signature_verification_algorithms)))
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport());
    let endpoint = endpoint((addr.ip(), 0).into(), None)?;
    let connection = endpoint.connect_with(config, addr, "localhost")?.await?;
    let mut stream = connection.open_uni().await?;
    let message = Bytes::from(vec![7; bytes]);
    let end = Instant::now() + time;
    while Instant::now() < end {
        stream.write_chunk(message.clone()).await?;
    }
    stream.finish()?;
    connection.closed().await;
    endpoint.wait_idle().await;
    Ok(())
}

fn endpoint(addr: SocketAddr, server: Option<ServerConfig>) -> Result<Endpoint, Failure> {
    Ok(Endpoint::new(EndpointConfig::default(), server, socket(addr)?, Arc::new(TokioRuntime))?)
}

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(WINDOW.into()).receive_window(WINDOW.into()).send_window(WINDOW.into());
    transport.into()
}

fn provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    provider.cipher_suites.retain(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256);
    Arc::new(provider)
}

/// Takes whoever answers: this is loopback. Signatures are checked all the same.
#[derive(Debug)]
struct AnyServer(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
