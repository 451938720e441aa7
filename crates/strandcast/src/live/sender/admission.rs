//! Acceptance of a stream by its receiver.

use strandcast_net::driver::AssociationHandle;

/// State of the receiver's acceptance of this stream.
#[derive(Debug, Default)]
pub(super) struct Admission {
    /// True if the receiver of this association reports whether it plays the stream.
    pub says: bool,
    /// True if the receiver plays the data of this association.
    pub given: bool,
    /// Time until which a stream that has ended waits for acceptance.
    pub until: Option<tokio::time::Instant>,
}

impl Admission {
    /// Makes the state for a new association.
    pub async fn with(association: &AssociationHandle) -> Admission {
        // The association is connected, so that the kind of the peer is known.
        let says = matches!(association.connected().await, Ok(true));
        Admission { says, ..Admission::default() }
    }
}
