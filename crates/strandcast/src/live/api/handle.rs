//! Handles a request: checks the request, finds its route, checks its rights, and makes the response.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::header::{ALLOW, CONTENT_LENGTH, HeaderMap, HeaderValue, TRANSFER_ENCODING, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::board::{Board, Snapshot};
use super::body::{Body, EVENTS, JSON, MEDIA, METRICS, TEXT, refusal, response, text, value};
use super::guard::{Place, authorization, check, is_script};
use super::links::{link, tariff};
use super::media;
use super::openapi::description;
use super::page;
use super::request::{Answer, Asked, Change};
use super::route::{Action, Found, ROUTES, Right, find};
use super::session::{Sessions, Told};
use super::sls::statistics;
use super::stream;
use super::tls::Tls;
use super::tokens::Tokens;
use crate::live::output::ViewFrom;

/// Maximum number of clients at one listener whose responses have no end.
pub(super) const ENDLESS: usize = 32;
/// Time limit for a change. A stream that is changed must first end.
const CARRIED_OUT: Duration = Duration::from_secs(30);

/// State that all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) board: Arc<Board>,
    pub(super) tokens: Mutex<Arc<Tokens>>,
    /// Certificate and key of the address, if it has TLS.
    pub(super) tls: Mutex<Option<Tls>>,
    pub(super) sessions: Sessions,
    pub(super) requests: mpsc::Sender<Asked>,
    /// Semaphores for clients whose responses have no end: one for the socket, and one for the address.
    pub(super) endless: [Arc<Semaphore>; 2],
}

impl Shared {
    /// Reserves a slot for a client whose response has no end.
    fn endless(&self, place: &Place) -> Option<OwnedSemaphorePermit> {
        let [socket, address] = &self.endless;
        let of = if matches!(place, Place::Socket) { socket } else { address };
        Arc::clone(of).try_acquire_owned().ok()
    }

    /// Returns the certificate and the key for the next handshake.
    pub(super) fn tls(&self) -> Option<Tls> {
        self.tls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tokens(&self) -> Arc<Tokens> {
        Arc::clone(&self.tokens.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Responds to a request.
pub(super) async fn answer<B>(shared: &Shared, place: &Place, request: &Request<B>) -> Response<Body> {
    if let Err((status, why)) = check(place, request) {
        return refusal(status, &why);
    }
    let (route, parts) = match find(request.method().as_str(), request.uri().path()) {
        Found::Route(number, parts) => (&ROUTES[number], parts),
        Found::Others(others) => return not_this_method(&others),
        Found::Nothing => {
            return refusal(StatusCode::NOT_FOUND, "there is no such path: GET /openapi.json lists all");
        }
    };
    if let Some(refused) = without_right(shared, place, request, route.right) {
        return refused;
    }
    if has_body(request.headers()) {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "no request has a body here");
    }
    if let Some(told) = Told::of(route.action) {
        return shared.sessions.answer(&shared.tokens(), place, request, told);
    }
    match changes(shared, route.action, &parts, request.uri().query()) {
        Ok(Some(change)) => carry_out(shared, change).await,
        Ok(None) => {
            let name = parts.first().copied().unwrap_or_default();
            show(shared, place, route.action, name, request.uri().query())
        }
        Err(refused) => *refused,
    }
}

fn not_this_method(others: &[&'static str]) -> Response<Body> {
    let mut refused = refusal(StatusCode::METHOD_NOT_ALLOWED, &format!("use {}", others.join(" or ")));
    if let Ok(others) = HeaderValue::from_str(&others.join(", ")) {
        refused.headers_mut().insert(ALLOW, others);
    }
    refused
}

/// Refuses a request that does not have the right to use a route.
fn without_right<B>(
    shared: &Shared,
    place: &Place,
    request: &Request<B>,
    needs: Right,
) -> Option<Response<Body>> {
    if needs == Right::Anyone || matches!(place, Place::Socket) {
        return None;
    }
    let header = authorization(request.headers());
    match (shared.sessions.right(&shared.tokens(), request), header) {
        (Some(right), _) if right >= needs => None,
        (Some(_), Some(_)) => Some(refusal(StatusCode::FORBIDDEN, "this needs a token for control")),
        (None, _) | (_, None) => {
            let why = match (header, needs) {
                (Some(_), _) => "this token is not known here",
                (None, Right::Control) => "this needs a token for control: Authorization: Bearer TOKEN",
                (None, _) => "this needs a token: Authorization: Bearer TOKEN",
            };
            let mut refused = refusal(StatusCode::UNAUTHORIZED, why);
            // For the scheme `Basic` a browser would open a dialog. The page itself has a form for tokens.
            let asks = match is_script(request.headers()) {
                true => "Bearer realm=\"strandcast\"",
                false => "Bearer realm=\"strandcast\", Basic realm=\"strandcast\"",
            };
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(asks));
            Some(refused)
        }
    }
}

/// Returns whether a request has a body.
fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes() != b"0");
    length || headers.contains_key(TRANSFER_ENCODING)
}

/// Returns the change that a route requests, or `None` if the route only shows something.
fn changes(
    shared: &Shared,
    action: Action,
    parts: &[&str],
    query: Option<&str>,
) -> Result<Option<Change>, Box<Response<Body>>> {
    let (first, second) =
        (parts.first().copied().unwrap_or_default(), parts.get(1).copied().unwrap_or_default());
    let stream = || match shared.board.snapshot() {
        Some(now) if now.stream(first).is_none() => Err(Box::new(no_stream(first))),
        _ => Ok(first.to_owned()),
    };
    let number = || {
        let why = format!("{second} is not the number of an output: outputs are numbered from 0");
        second.parse().map_err(|_| Box::new(refusal(StatusCode::NOT_FOUND, &why)))
    };
    Ok(Some(match action {
        Action::StopStream => Change::Stream { name: stream()?, on: false },
        Action::StartStream => Change::Stream { name: stream()?, on: true },
        Action::StopOutput => Change::Output { name: stream()?, number: number()?, on: false },
        Action::StartOutput => Change::Output { name: stream()?, number: number()?, on: true },
        Action::Senders => Change::Senders,
        Action::Allow => {
            let name =
                query.into_iter().flat_map(|query| query.split('&')).find_map(|one| one.strip_prefix("as="));
            Change::Allow { who: first.to_owned(), name: name.map(str::to_owned) }
        }
        Action::Revoke => Change::Revoke { who: first.to_owned() },
        Action::Reload => Change::Reload,
        // Only a sender can switch its links, and a sender has one stream.
        Action::LinkOff | Action::LinkOn => {
            stream()?;
            Change::Link { link: link(second)?, on: action == Action::LinkOn }
        }
        Action::Tariff => {
            stream()?;
            Change::Tariff(tariff(&link(second)?, query)?)
        }
        _ => return Ok(None),
    }))
}

/// Passes a change to the program, and waits for the outcome.
async fn carry_out(shared: &Shared, change: Change) -> Response<Body> {
    let (told, outcome) = oneshot::channel();
    if shared.requests.try_send(Asked { change, answer: Answer(told) }).is_err() {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once: ask again");
    }
    match tokio::time::timeout(CARRIED_OUT, outcome).await {
        Ok(Ok(Ok(done))) => value(StatusCode::OK, &done),
        Ok(Ok(Err(why))) => refusal(StatusCode::CONFLICT, &why),
        Ok(Err(_)) | Err(_) => {
            refusal(StatusCode::SERVICE_UNAVAILABLE, "the server ends, or does not answer")
        }
    }
}

/// Shows what a route is for. `name` is the first part of the path.
fn show(shared: &Shared, place: &Place, action: Action, name: &str, query: Option<&str>) -> Response<Body> {
    let board = &shared.board;
    match action {
        Action::Streams => {
            seen(board, |now| response(StatusCode::OK, JSON, Body::Whole(Some(now.streams()))))
        }
        Action::Stream => seen(board, |now| match now.stream(name) {
            Some(stream) => value(StatusCode::OK, stream),
            None => no_stream(name),
        }),
        Action::Metrics => {
            seen(board, |now| response(StatusCode::OK, METRICS, Body::Whole(Some(now.metrics()))))
        }
        Action::Sls => seen(board, |now| value(StatusCode::OK, &statistics(now.described()))),
        Action::Events => match shared.endless(place) {
            Some(slot) => response(StatusCode::OK, EVENTS, stream::events(board.events(), slot)),
            None => full(),
        },
        Action::Media => match shared.endless(place) {
            Some(slot) => seen(board, |now| viewed(now, name, begin(query), slot)),
            None => full(),
        },
        Action::Health => healthy(board.is_alive(), "the server does not answer"),
        Action::Ready => healthy(board.is_ready(), "the server begins or ends"),
        Action::Description => value(StatusCode::OK, &description()),
        Action::Page(file) => page::response(place, file),
        // `changes` and `Told` handle these actions.
        Action::StopStream
        | Action::StartStream
        | Action::StopOutput
        | Action::StartOutput
        | Action::Senders
        | Action::Allow
        | Action::Revoke
        | Action::Reload
        | Action::LinkOff
        | Action::LinkOn
        | Action::Tariff
        | Action::Session
        | Action::StartSession
        | Action::EndSession => refusal(StatusCode::NOT_FOUND, "there is nothing to see"),
    }
}

/// The point at which a viewer asks to begin.
fn begin(query: Option<&str>) -> ViewFrom {
    match query.is_some_and(|query| query.split('&').any(|one| one == "from=last")) {
        true => ViewFrom::LastKeyFrame,
        false => ViewFrom::Now,
    }
}

/// The media of a stream.
fn viewed(now: &Snapshot, name: &str, from: ViewFrom, slot: OwnedSemaphorePermit) -> Response<Body> {
    match now.view(name, from) {
        None => no_stream(name),
        Some(Err(why)) => refusal(StatusCode::CONFLICT, &why),
        Some(Ok(viewer)) => response(StatusCode::OK, MEDIA, media::body(viewer, slot)),
    }
}

fn full() -> Response<Body> {
    let why = format!("{ENDLESS} clients already receive events or media: close some of them");
    refusal(StatusCode::SERVICE_UNAVAILABLE, &why)
}

/// Makes a response from the last snapshot.
fn seen(board: &Board, show: impl FnOnce(&Snapshot) -> Response<Body>) -> Response<Body> {
    match board.snapshot() {
        Some(now) => show(&now),
        None => refusal(StatusCode::SERVICE_UNAVAILABLE, "the server begins: ask again"),
    }
}

fn no_stream(name: &str) -> Response<Body> {
    refusal(StatusCode::NOT_FOUND, &format!("there is no stream {name}: GET /v1/streams lists all"))
}

fn healthy(is: bool, why: &str) -> Response<Body> {
    match is {
        true => text(StatusCode::OK, TEXT, "ok\n"),
        false => text(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{why}\n")),
    }
}

/// Returns the bytes of the response that refuses a connection when there are too many connections.
pub(super) fn no_room() -> Vec<u8> {
    let body = "{\"error\":\"too many connections: close some\"}\n";
    let head = "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1";
    format!("{head}\r\ncontent-type: {JSON}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
