//! Certificates of tests, as DER (RFC 5280 section 4.1), and a client that verifies them.

use std::net::TcpStream;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// `id-Ed25519`.
const ED25519: [u8; 7] = [0x30, 5, 6, 3, 0x2b, 0x65, 0x70];
/// `id-ce-subjectAltName`, and `id-ce-basicConstraints`.
const ALTERNATIVES: [u8; 5] = [6, 3, 0x55, 0x1d, 0x11];
const CONSTRAINTS: [u8; 5] = [6, 3, 0x55, 0x1d, 0x13];

/// A certificate and its key.
pub struct Certified {
    subject: &'static str,
    pub der: CertificateDer<'static>,
    key: Ed25519KeyPair,
    key_der: Vec<u8>,
}

fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let mut all = vec![tag];
    match u16::try_from(body.len()).expect("a short part") {
        short @ 0..=127 => all.push(short as u8),
        middle @ 128..=255 => all.extend([0x81, middle as u8]),
        long => all.extend([&[0x82], &long.to_be_bytes()[..]].concat()),
    }
    all.extend(body);
    all
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, parts)
}

fn name(common: &str) -> Vec<u8> {
    let attribute = sequence(&[&[6, 3, 0x55, 4, 3], &tlv(0x0c, &[common.as_bytes()])]);
    sequence(&[&tlv(0x31, &[&attribute])])
}

impl Certified {
    /// A certificate that this issuer signs, or itself. An authority has no names.
    fn new(subject: &'static str, issuer: Option<&Certified>, is_authority: bool) -> Certified {
        let key_der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key").as_ref().to_vec();
        let key = Ed25519KeyPair::from_pkcs8(&key_der).expect("it was made");
        let public = sequence(&[&ED25519, &tlv(3, &[&[0], key.public_key().as_ref()])]);
        let dates = sequence(&[&tlv(0x17, &[b"200101000000Z"]), &tlv(0x17, &[b"491231235959Z"])]);
        let names = sequence(&[
            &tlv(0x82, &[b"studio.example"]),
            &tlv(0x82, &[b"localhost"]),
            &tlv(0x87, &[&[127, 0, 0, 1]]),
        ]);
        let names = sequence(&[&ALTERNATIVES, &tlv(4, &[&names])]);
        let authority = sequence(&[&tlv(1, &[&[0xff]])]);
        let authority = sequence(&[&CONSTRAINTS, &tlv(1, &[&[0xff]]), &tlv(4, &[&authority])]);
        let mut extensions = if issuer.is_some() || !is_authority { names } else { Vec::new() };
        if is_authority {
            extensions.extend(authority);
        }
        let signer = issuer.map_or(subject, |issuer| issuer.subject);
        let content = sequence(&[
            &tlv(0xa0, &[&tlv(2, &[&[2]])]),
            &tlv(2, &[&[7]]),
            &ED25519,
            &name(signer),
            &dates,
            &name(subject),
            &public,
            &tlv(0xa3, &[&sequence(&[&extensions])]),
        ]);
        let signature = issuer.map_or(&key, |issuer| &issuer.key).sign(&content);
        let der = sequence(&[&content, &ED25519, &tlv(3, &[&[0], signature.as_ref()])]);
        Certified { subject, der: CertificateDer::from(der), key, key_der }
    }

    /// An authority.
    pub fn authority() -> Certified {
        Certified::new("an authority", None, true)
    }

    /// A server's certificate.
    pub fn server(&self) -> Certified {
        Certified::new("a server", Some(self), false)
    }

    /// A server's certificate as `openssl req -x509` makes it: it is an authority as well.
    pub fn alone() -> Certified {
        Certified::new("a server alone", None, true)
    }

    pub fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der)
    }

    pub fn key_pem(&self) -> String {
        pem("PRIVATE KEY", &self.key_der)
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let letter = |six: u32| match six as u8 {
        letter @ 0..=25 => letter + b'A',
        letter @ 26..=51 => letter - 26 + b'a',
        digit @ 52..=61 => digit - 52 + b'0',
        62 => b'+',
        _ => b'/',
    };
    let mut text = String::new();
    for three in der.chunks(3) {
        let bits = three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let is_there = at <= three.len();
            text.push(if is_there { char::from(letter(bits >> (18 - 6 * at) & 0x3f)) } else { '=' });
        }
    }
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

/// Shakes hands with `studio.example`.
pub fn shake_hands(
    mut stream: TcpStream,
    authority: &CertificateDer<'static>,
) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.clone()).expect("an authority");
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("studio.example").expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), name).expect("a configuration");
    while client.is_handshaking() {
        client.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(client, stream))
}
