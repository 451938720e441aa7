//! The page of a server, if the program was built with it. `make web` bundles the page from the folder `web`.

use hyper::header::{CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderValue};
use hyper::{Response, StatusCode};

use super::body::{self, Body, TEXT, refusal};
use super::guard::Place;

/// File of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    Html,
    Script,
    Style,
    /// Player for browsers whose MediaSource does not accept MPEG-TS. The script of the page loads this player when it
    /// is needed.
    Player,
}

impl File {
    /// Returns the content type of the response.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            File::Html => "text/html; charset=utf-8",
            File::Script | File::Player => "text/javascript; charset=utf-8",
            File::Style => "text/css; charset=utf-8",
        }
    }

    /// Content in the gzip format, or `None` if the program was built without the page.
    #[cfg(page)]
    fn content(self) -> Option<&'static [u8]> {
        macro_rules! bundle {
            ($name:literal) => {
                include_bytes!(concat!(env!("OUT_DIR"), "/", $name))
            };
        }
        Some(match self {
            File::Html => bundle!("index.html.gz"),
            File::Script => bundle!("page.js.gz"),
            File::Style => bundle!("page.css.gz"),
            File::Player => bundle!("mpegts.js.gz"),
        })
    }

    /// Content in the gzip format, or `None` if the program was built without the page.
    #[cfg(not(page))]
    fn content(self) -> Option<&'static [u8]> {
        let _ = self;
        None
    }
}

/// Content security policy of the page. The page may load only its own files, and text of a peer can become neither
/// HTML nor a script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";
const NO_PAGE: &str = "This program was built without its page: run `make web`, and build it again. \
                       The API (/openapi.json) and the metrics (/metrics) work without it.\n";

/// Makes the response with a file of the page.
pub(super) fn response(place: &Place, file: File) -> Response<Body> {
    // If a tunnel led to the socket, every site that a browser shows could control the server.
    if matches!(place, Place::Socket) {
        return refusal(StatusCode::NOT_FOUND, "the page is on the address of `listen` alone");
    }
    let Some(content) = file.content() else {
        return body::text(StatusCode::NOT_IMPLEMENTED, TEXT, NO_PAGE);
    };
    let mut response = body::response(StatusCode::OK, file.kind(), Body::Whole(Some(content.into())));
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}
