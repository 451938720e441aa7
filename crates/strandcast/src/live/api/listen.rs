//! Sockets of an API.

use std::fs::{self, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::error::{Error, why};

/// Longest path of a socket in bytes. The system's limit is 107; the socket is made under a longer name.
const LONGEST: usize = 84;

/// A Unix socket that only its owner can open. Dropping this value removes the socket.
#[derive(Debug)]
pub(super) struct Socket {
    path: PathBuf,
    /// Device number of the file system, and inode number of the file.
    file: (u64, u64),
}

impl Socket {
    /// Listens at `path`. If a socket exists at this path and no program listens on it, the socket is replaced.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path exists and is not a socket. Other errors are [`Error::Network`].
    pub(super) fn listen(path: &Path) -> Result<(Socket, UnixListener), Error> {
        let name = path.display();
        if path.as_os_str().len() > LONGEST {
            return Err(Error::Usage(format!("{name}: the path of a socket has {LONGEST} bytes at most")));
        }
        if let Ok(found) = fs::symlink_metadata(path) {
            if !found.file_type().is_socket() {
                return Err(Error::Usage(format!("{name} is not a socket: name another path")));
            }
            if UnixStream::connect(path).is_ok() {
                let why = "another program listens there: end it, or name another path";
                return Err(Error::Network(format!("{name}: {why}")));
            }
        }
        let cannot = |e: io::Error| Error::Network(format!("cannot listen on {name}: {}", why(&e)));
        let (listener, file) = private(path).map_err(cannot)?;
        Ok((Socket { path: path.to_owned(), file }, listener))
    }
}

/// Listens at `path`. The socket is made in a folder that only its owner can enter, so that no other user can ever open
/// the socket.
fn private(path: &Path) -> io::Result<(UnixListener, (u64, u64))> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = parent.join(format!(".strandcast-{}", std::process::id()));
    let inside = folder.join("s");
    // An earlier process with this process id may have left this folder. A folder of another user stays, and causes an
    // error.
    if fs::symlink_metadata(&folder).is_ok_and(|seen| seen.is_dir() && seen.uid() == geteuid().as_raw()) {
        let _ = fs::remove_file(&inside);
        fs::remove_dir(&folder)?;
    }
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let made = (|| {
        let listener = UnixListener::bind(&inside)?;
        listener.set_nonblocking(true)?;
        fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
        let seen = fs::symlink_metadata(&inside)?;
        fs::rename(&inside, path)?;
        Ok((listener, (seen.dev(), seen.ino())))
    })();
    let _ = fs::remove_file(&inside);
    let _ = fs::remove_dir(&folder);
    made
}

impl Drop for Socket {
    fn drop(&mut self) {
        let seen = fs::symlink_metadata(&self.path);
        // Another program may have created another socket at this path.
        if seen.is_ok_and(|seen| (seen.dev(), seen.ino()) == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens on an address.
///
/// # Errors
/// [`Error::Network`].
pub(super) fn tcp(address: SocketAddr) -> Result<TcpListener, Error> {
    let cannot = |e: io::Error| Error::Network(format!("the API cannot listen on {address}: {}", why(&e)));
    let listener = TcpListener::bind(address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_private_replaces_a_dead_one_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("strandcast-api-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder of tests");
        let path = folder.join("a.sock");
        let left = folder.join(format!(".strandcast-{}", std::process::id()));
        fs::create_dir_all(&left).expect("it can be made");
        fs::write(left.join("s"), "").expect("it can be written");
        let (socket, listener) = Socket::listen(&path).expect("a free path");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        let error = Socket::listen(&path).expect_err("it is in use").to_string();
        assert!(error.contains("another program listens there"), "{error}");
        drop(listener);
        let (again, _listener) = Socket::listen(&path).expect("the other one is dead");
        drop(socket);
        assert!(path.exists(), "it is another one's");
        drop(again);
        assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 0);
        fs::write(&path, "text").expect("it can be written");
        let error = Socket::listen(&path).expect_err("it is a file").to_string();
        assert!(error.contains("is not a socket"), "{error}");
        fs::remove_dir_all(folder).expect("it was made");
    }
}
