//! Failures of listening sockets. The module reports them, and has the time limit after which a command gives up.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use strandcast_net::driver::{Driver, ListenEvent};

use crate::error::Error;

/// Time without an open socket after which a command ends. A supervisor may then start it again.
const DEAF: Duration = Duration::from_secs(10);

/// A change of an address on which a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenChange {
    /// The socket failed and is being opened again.
    Lost {
        /// The address.
        address: SocketAddr,
        /// Reason of the failure.
        why: String,
    },
    /// The socket cannot be opened yet.
    Failed {
        /// Reason why the socket cannot be opened.
        why: String,
    },
    /// The socket is open again.
    Restored {
        /// The address.
        address: SocketAddr,
    },
}

impl fmt::Display for ListenChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenChange::Lost { address, why } => {
                write!(f, "the socket on UDP {address} failed ({why}); listening again")
            }
            ListenChange::Failed { why } => write!(f, "{why}; trying again"),
            ListenChange::Restored { address } => write!(f, "listening on UDP {address} again"),
        }
    }
}

/// Returns the changes of the server's addresses since the last call.
///
/// # Errors
/// Returns [`Error::Network`] if the server has not been able to listen for a while.
pub async fn listen_changes(driver: &Driver) -> Result<Vec<ListenChange>, Error> {
    let changes = driver.listen_events().await.into_iter().map(change);
    Ok(changes.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn change(event: ListenEvent) -> Result<Option<ListenChange>, Error> {
    Ok(match event {
        ListenEvent::Lost { address, why } => Some(ListenChange::Lost { address, why }),
        ListenEvent::Failed { why, lasts, .. } if lasts >= DEAF => {
            let text = format!("{why}; nothing was received for {:.0} s", lasts.as_secs_f64());
            return Err(Error::Network(text));
        }
        ListenEvent::Failed { why, .. } => Some(ListenChange::Failed { why }),
        ListenEvent::Restored { address } => Some(ListenChange::Restored { address }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: ListenEvent) -> Result<Option<String>, Error> {
        Ok(change(event)?.map(|change| change.to_string()))
    }

    #[test]
    fn each_failure_is_told_and_the_end_after_ten_seconds() {
        let address = "[::]:9899".parse().unwrap();
        let failed = |lasts| {
            let why = "UDP port 9899 is in use on ::".into();
            line(ListenEvent::Failed { address, why, lasts: Duration::from_secs(lasts) })
        };
        let lost = line(ListenEvent::Lost { address, why: "out of memory".into() }).unwrap();
        let words = "the socket on UDP [::]:9899 failed (out of memory); listening again";
        assert_eq!(lost.as_deref(), Some(words));
        let again = failed(9).unwrap();
        assert_eq!(again.as_deref(), Some("UDP port 9899 is in use on ::; trying again"));
        let end = failed(10).unwrap_err();
        assert!(matches!(end, Error::Network(_)));
        assert_eq!(end.to_string(), "UDP port 9899 is in use on ::; nothing was received for 10 s");
        let back = line(ListenEvent::Restored { address }).unwrap();
        assert_eq!(back.as_deref(), Some("listening on UDP [::]:9899 again"));
    }
}
