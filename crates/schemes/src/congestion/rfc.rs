//! RFC 9260's window: `rfc::Aimd` with `rfc::Reno` of the core.

use strandcast_proto::rfc::{Aimd, Reno};

use super::window::{Row, Sctp};

/// Its row in the table.
pub(super) const ROW: Row = Row {
    paper: "RFC 9260",
    summary: "one MTU more per round trip, half at a loss, counted in bytes; one window per path",
    sctp: Sctp::new(|config| Box::new(Aimd::new(config, Reno))),
    tcp: Err("it is SCTP's window, TCP's is reno"),
};
