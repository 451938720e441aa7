//! Sessions of browsers. In a session a cookie replaces the token.
//!
//! The cookie of a token is a hash of the token and of a random number of this process. A browser therefore stores no
//! token. A cookie becomes invalid when the process ends or its token is removed, and the server needs no list of
//! sessions.

use std::io;

use hyper::header::{COOKIE, HeaderMap, HeaderValue, ORIGIN, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use super::body::{Body, refusal, value};
use super::guard::{Place, authorization, is_script};
use super::route::{Action, Right};
use super::tokens::{Tokens, hash_of};

const UNKNOWN: &str = "this token is not known here: use a line of a file of tokens of the server";

/// A request that concerns a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Show,
    Start,
    End,
}

impl Told {
    /// Returns the request for this action, if the action concerns a session.
    pub(super) fn of(action: Action) -> Option<Told> {
        match action {
            Action::Session => Some(Told::Show),
            Action::StartSession => Some(Told::Start),
            Action::EndSession => Some(Told::End),
            _ => None,
        }
    }
}

/// Cookies of a process.
#[derive(Debug)]
pub(super) struct Sessions {
    secret: [u8; 32],
    /// Name of the cookie. A browser sends a cookie to all ports of a machine, so that each server needs a cookie with
    /// a different name.
    name: String,
}

impl Sessions {
    /// Makes the cookies with a new secret.
    ///
    /// # Errors
    /// The system cannot provide random numbers.
    pub(super) fn new() -> io::Result<Sessions> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        Ok(Sessions::with(secret))
    }

    fn with(secret: [u8; 32]) -> Sessions {
        let name = hex(&digest(&secret, b"name", &[])[..4]);
        Sessions { secret, name: format!("strandcast-{name}") }
    }

    /// Returns the value of the cookie for the token with this hash.
    fn value(&self, token: &[u8; 32]) -> String {
        hex(&digest(&self.secret, b"value", token))
    }

    /// Returns the right of a request, or `None` if its token is unknown. A token takes precedence over a cookie. In a
    /// request of the page's script, the token or cookie with more rights counts. An unknown cookie gives no right.
    pub(super) fn right<B>(&self, tokens: &Tokens, request: &Request<B>) -> Option<Right> {
        let header = authorization(request.headers());
        let right = tokens.right(header);
        match header {
            // After a password dialog, a browser adds the password to every request. Such a request may also have a
            // cookie.
            Some(_) if is_script(request.headers()) => right.max(self.of_cookie(tokens, request)),
            Some(_) => right,
            None => right.max(self.of_cookie(tokens, request)),
        }
    }

    /// Returns the right that the cookie of a request gives.
    fn of_cookie<B>(&self, tokens: &Tokens, request: &Request<B>) -> Option<Right> {
        // If a page sends a request for a change, the browser names the site of the page in `Origin`. The guard has
        // already checked that site.
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if !reads && !request.headers().contains_key(ORIGIN) {
            return None;
        }
        let cookie = self.cookie(request.headers())?;
        tokens.found(|known| -> Choice { self.value(known).as_bytes().ct_eq(cookie) })
    }

    /// Finds the cookie of this server among the cookies of a request.
    fn cookie<'a>(&self, headers: &'a HeaderMap) -> Option<&'a [u8]> {
        let all = headers.get_all(COOKIE).iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        all.map(<[u8]>::trim_ascii).find_map(|one| one.strip_prefix(self.name.as_bytes())?.strip_prefix(b"="))
    }

    /// Responds to a request that concerns the session.
    pub(super) fn answer<B>(
        &self,
        tokens: &Tokens,
        place: &Place,
        request: &Request<B>,
        told: Told,
    ) -> Response<Body> {
        let none = tokens.right(None).unwrap_or(Right::Anyone);
        let shown = |right, cookie| match place {
            Place::Socket => shown(tokens, Right::Control, cookie),
            Place::Address { .. } => shown(tokens, right, cookie),
        };
        match told {
            Told::Show => {
                let cookie = self.of_cookie(tokens, request).is_some();
                shown(self.right(tokens, request).unwrap_or(none), cookie)
            }
            Told::Start => {
                let header = authorization(request.headers());
                match header.and_then(|header| tokens.right(Some(header)).zip(hash_of(header))) {
                    Some((right, token)) => {
                        with_cookie(shown(right, true), place, &self.name, &self.value(&token), "")
                    }
                    // The response has no challenge, because a challenge would make the browser open a dialog.
                    None => refusal(StatusCode::UNAUTHORIZED, UNKNOWN),
                }
            }
            Told::End => with_cookie(shown(none, false), place, &self.name, "", "; Max-Age=0"),
        }
    }
}

/// Returns the state of a session.
fn shown(tokens: &Tokens, right: Right, cookie: bool) -> Response<Body> {
    let right = match right {
        Right::Anyone => "none",
        Right::View => "look",
        Right::Control => "control",
    };
    value(StatusCode::OK, &json!({ "right": right, "control": tokens.can_control(), "cookie": cookie }))
}

/// Adds a cookie that scripts cannot read and that other sites cannot cause to be sent. The browser deletes the cookie
/// when the browser ends.
fn with_cookie(
    mut response: Response<Body>,
    place: &Place,
    name: &str,
    value: &str,
    more: &str,
) -> Response<Body> {
    let secure = if matches!(place, Place::Address { scheme: "https", .. }) { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}");
    // The cookie contains only letters, digits and signs of ASCII.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

fn digest(secret: &[u8; 32], what: &[u8], token: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(secret);
    hash.update(what);
    hash.update(token);
    hash.finalize().into()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
