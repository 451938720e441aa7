//! Certificates in files.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use zeroize::Zeroizing;

use crate::error::why;

/// Maximum size of a file in bytes. A file with the authorities of a system has about a quarter of this size.
const LONGEST: u64 = 1 << 20;

/// Reads the bytes of a file and its permissions.
///
/// # Errors
/// Returns a line with the name of the file and the reason.
pub(super) fn bytes(path: &Path) -> Result<(Zeroizing<Vec<u8>>, u32), String> {
    let name = path.display();
    let cannot = |error: std::io::Error| format!("cannot read {name}: {}", why(&error));
    let file = File::open(path).map_err(cannot)?;
    let seen = file.metadata().map_err(cannot)?;
    if !seen.is_file() {
        return Err(format!("{name}: it is not a file"));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    match bytes.len() as u64 > LONGEST {
        true => Err(format!("{name}: the file has more than {LONGEST} bytes")),
        false => Ok((bytes, seen.mode())),
    }
}

/// Reads the certificates of a file.
///
/// # Errors
/// Returns a line with the name of the file, the reason and the remedy.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(path)?.0).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) | Err(_) => Err(format!(
            "{}: it has no certificate in PEM (-----BEGIN CERTIFICATE-----), or a broken one",
            path.display()
        )),
    }
}
