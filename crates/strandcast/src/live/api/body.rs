//! Bodies of responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Headers of every response. They prevent a browser from storing the response, from guessing its type, and from
/// passing it to another site.
const HEADERS: [(&str, &str); 4] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
];

pub(super) const JSON: &str = "application/json";
/// Type of server-sent events.
pub(super) const EVENTS: &str = "text/event-stream";
/// Type of a transport stream.
pub(super) const MEDIA: &str = "video/mp2t";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
/// Type of Prometheus' text format.
pub(super) const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Body of a response.
#[derive(Debug)]
pub(super) enum Body {
    /// The whole body, or `None` after the body was taken.
    Whole(Option<Bytes>),
    /// Pieces of the body, each sent when it becomes available.
    Pieces(mpsc::Receiver<Bytes>),
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Body::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Body::Pieces(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Body::Pieces(_) => SizeHint::default(),
        }
    }
}

/// Makes a response with this content type.
pub(super) fn response(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// Makes a response with this text.
pub(super) fn text(status: StatusCode, kind: &'static str, text: impl Into<String>) -> Response<Body> {
    response(status, kind, Body::Whole(Some(text.into().into())))
}

/// Makes a response with this value as JSON.
pub(super) fn value(status: StatusCode, value: &Value) -> Response<Body> {
    text(status, JSON, format!("{value}\n"))
}

/// Makes a refusal: one line with the mistake and the remedy.
pub(super) fn refusal(status: StatusCode, why: &str) -> Response<Body> {
    value(status, &json!({ "error": why }))
}
