//! TCP's window (RFC 5681): the shell [`TcpWindows`] with `rfc::Reno` of the core.

use strandcast_proto::rfc::Reno;

use super::TcpWindows;
use super::window::{Row, Sctp, plain};

/// Its row in the table.
pub(super) const ROW: Row = Row {
    paper: "RFC 5681",
    summary: "one segment more per round trip, half at a loss; one window per path",
    sctp: Sctp::new(|config| Box::new(TcpWindows::new(config.into(), Reno))),
    tcp: Ok(|_| plain(|config| Box::new(TcpWindows::new(config, Reno)))),
};
