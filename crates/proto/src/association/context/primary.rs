//! The primary path (RFC 9260 §6.4): the path that the application requested. Until the requested path is confirmed,
//! the path of the handshake is the primary path.

use core::net::SocketAddr;

use super::Context;
use crate::path::FourTuple;
use crate::policy::{LinkId, PathId, Signal};
use crate::time::Instant;

/// The application's request for a primary path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum PrimaryRequest {
    Path(PathId),
    /// The requested path was closed. The request now applies to the next path that opens over this link to this
    /// address.
    Address(LinkId, SocketAddr),
}

impl PrimaryRequest {
    fn address(tuple: &FourTuple) -> Self {
        PrimaryRequest::Address(tuple.link, tuple.remote)
    }
}

impl Context {
    /// Handles the application's request to make `path` the primary (RFC 9260 §11.1.6). The path is open. The path
    /// becomes the primary path as soon as it is confirmed. A confirmed path becomes the primary path at once.
    pub fn want_primary(&mut self, now: Instant, path: PathId) {
        self.primary_request = Some(PrimaryRequest::Path(path));
        if self.prefer(path) {
            self.signal(now, &Signal::PathChanged(path));
            self.offer_burst(now);
        }
    }

    /// Makes `path` the primary if it is both requested and confirmed. Returns whether the primary changed.
    pub fn prefer(&mut self, path: PathId) -> bool {
        let wanted =
            self.primary_request == Some(PrimaryRequest::Path(path)) && self.paths[path.index()].confirmed;
        let changes = wanted && self.paths.seen().primary() != path;
        if changes {
            self.paths.seen_mut().set_primary(path);
            self.paths.touch();
        }
        changes
    }

    /// Handles the opening of `path`, which may be the requested primary path after a time without it.
    pub fn primary_opened(&mut self, path: PathId) {
        if self.primary_request == Some(PrimaryRequest::address(&self.paths[path.index()].tuple)) {
            self.primary_request = Some(PrimaryRequest::Path(path));
        }
    }

    /// Handles the closing of `path`. If the closed path was the primary, the first open path becomes the primary. If
    /// the application requested the closed path, the request stays and applies when the path opens again.
    pub fn primary_closed(&mut self, path: PathId) {
        if self.primary_request == Some(PrimaryRequest::Path(path)) {
            self.primary_request = Some(PrimaryRequest::address(&self.paths[path.index()].tuple));
        }
        let next = self.paths.views().iter().map(|v| v.id).find(|p| self.is_open(*p));
        if let Some(next) = next.filter(|_| self.paths.seen().primary() == path) {
            self.paths.seen_mut().set_primary(next);
        }
    }

    /// Takes over the application's request from the association with the peer's previous instance, which restarted.
    pub fn want_as(&mut self, previous: &Context) {
        self.primary_request = previous.primary_request.map(|primary_request| match primary_request {
            PrimaryRequest::Path(path) => PrimaryRequest::address(&previous.paths[path.index()].tuple),
            PrimaryRequest::Address(..) => primary_request,
        });
        for path in (0..self.paths.len()).map(|i| PathId(i as u8)) {
            self.primary_opened(path);
            self.prefer(path);
        }
    }
}
