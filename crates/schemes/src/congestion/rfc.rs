//! RFC 9260's window: `rfc::Aimd` with `rfc::Reno` of the core.

use strandcast_proto::rfc::{Aimd, Reno};

use super::window::{Row, Sctp};

/// Its row in the table.
pub(super) const ROW: Row = Row {
    paper: "RFC 9260",
    summary: "an MTU a round trip more, half at a loss, counted in bytes; a window a path",
    sctp: Sctp::new(|config| Box::new(Aimd::new(config, Reno))),
    tcp: Err("it is SCTP's window, TCP's is reno"),
};
