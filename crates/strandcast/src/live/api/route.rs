//! The table of routes. The router and the description of the API are derived from this table.

use Action::{
    Allow, Description, EndSession, Events, Health, LinkOff, LinkOn, Media, Metrics, Page, Ready, Reload,
    Revoke, Senders, Session, Sls, StartOutput, StartSession, StartStream, StopOutput, StopStream, Stream,
    Streams, Tariff,
};
use Right::{Anyone, Control, View};
use Verb::{Get, Post};

use super::body::{EVENTS, JSON, MEDIA, METRICS, TEXT};
use super::page::File;

/// Right that a request has. Each right includes all rights that are listed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Right {
    Anyone,
    View,
    Control,
}

/// Method of a route. `HEAD` is `GET` with a response that has no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
}

impl Verb {
    pub(super) fn name(self) -> &'static str {
        match self {
            Get => "GET",
            Post => "POST",
        }
    }

    /// Returns whether a request has this method.
    fn is(self, method: &str) -> bool {
        method == self.name() || self == Get && method == "HEAD"
    }
}

/// Effect of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Streams,
    Stream,
    StopStream,
    StartStream,
    StopOutput,
    StartOutput,
    Senders,
    Allow,
    Revoke,
    Reload,
    LinkOff,
    LinkOn,
    Tariff,
    Events,
    Media,
    Metrics,
    Sls,
    Health,
    Ready,
    Description,
    Page(File),
    Session,
    StartSession,
    EndSession,
}

/// A route.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) verb: Verb,
    /// Path. `{name}` stands for one part of the path.
    pub(super) path: &'static str,
    pub(super) right: Right,
    pub(super) action: Action,
    /// Content type of the response.
    pub(super) kind: &'static str,
    pub(super) summary: &'static str,
}

const fn route(
    (verb, path): (Verb, &'static str),
    right: Right,
    action: Action,
    kind: &'static str,
    summary: &'static str,
) -> Route {
    Route { verb, path, right, action, kind, summary }
}

/// All routes.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route((Get, "/v1/streams"), View, Streams, JSON, "all streams"),
    route((Get, "/v1/streams/{name}"), View, Stream, JSON, "a stream"),
    route((Post, "/v1/streams/{name}/stop"), Control, StopStream, JSON, "stops a stream: senders are refused"),
    route((Post, "/v1/streams/{name}/start"), Control, StartStream, JSON, "starts a stream that was stopped"),
    route((Post, "/v1/streams/{name}/outputs/{number}/stop"), Control, StopOutput, JSON, "stops an output"),
    route((Post, "/v1/streams/{name}/outputs/{number}/start"), Control, StartOutput, JSON,
        "starts an output that was stopped"),
    route((Post, "/v1/streams/{name}/links/{link}/off"), Control, LinkOff, JSON, "switches a link of a sender off"),
    route((Post, "/v1/streams/{name}/links/{link}/on"), Control, LinkOn, JSON, "switches a link on again"),
    route((Post, "/v1/streams/{name}/links/{link}/tariff"), Control, Tariff, JSON,
        "replaces the costs of a link of a sender: `?class=2&left=5GB&for=30d&price=4.5`, each of them optional, \
         or `month=5GB&day=15` in place of `left` and `for`"),
    route((Get, "/v1/senders"), Control, Senders, JSON, "senders of this server, as in `key list --json`"),
    route((Post, "/v1/senders/{who}/allow"), Control, Allow, JSON,
        "allows a sender, as `key allow`; `?as=NAME` names it"),
    route((Post, "/v1/senders/{who}/revoke"), Control, Revoke, JSON, "revokes a sender, as `key revoke`"),
    route((Post, "/v1/reload"), Control, Reload, JSON, "reads the configuration again, as SIGHUP"),
    route((Get, "/v1/events"), View, Events, EVENTS, "events from now on"),
    route((Get, "/streams/{name}.ts"), View, Media, MEDIA,
        "media of the stream, from the next key frame on; with `?from=last` from the last one"),
    route((Get, "/metrics"), View, Metrics, METRICS, "metrics of all streams for Prometheus"),
    route((Get, "/stats"), View, Sls, JSON, "streams with a sender, as SRT-live-server's statistics"),
    route((Get, "/healthz"), Anyone, Health, TEXT, "200 while the server works, else 503"),
    route((Get, "/readyz"), Anyone, Ready, TEXT, "200 while the server takes senders, 503 once it ends"),
    route((Get, "/openapi.json"), View, Description, JSON, "description of the API (OpenAPI 3.1)"),
    route((Get, "/"), Anyone, Page(File::Html), File::Html.kind(), "the page"),
    route((Get, "/page.js"), Anyone, Page(File::Script), File::Script.kind(), "its script"),
    route((Get, "/page.css"), Anyone, Page(File::Style), File::Style.kind(), "its style"),
    route((Get, "/mpegts.js"), Anyone, Page(File::Player), File::Player.kind(), "its player, for some browsers"),
    route((Get, "/v1/session"), Anyone, Session, JSON, "right of this browser: `none`, `look` or `control`"),
    route((Post, "/v1/session"), Anyone, StartSession, JSON, "gives a cookie for the token of `Authorization`"),
    route((Post, "/v1/session/end"), Anyone, EndSession, JSON, "removes the cookie"),
];

/// The route of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// Number of the route in the table, and the parts of the request's path that match the names in the route.
    Route(usize, Vec<&'a str>),
    /// The path exists, but only for these other methods.
    Others(Vec<&'static str>),
    Nothing,
}

/// Finds the route of a request.
pub(super) fn find<'a>(method: &str, path: &'a str) -> Found<'a> {
    let mut others = Vec::new();
    for (number, route) in ROUTES.iter().enumerate() {
        let Some(parts) = parts(route.path, path) else { continue };
        if route.verb.is(method) {
            return Found::Route(number, parts);
        }
        others.push(route.verb.name());
    }
    if others.is_empty() { Found::Nothing } else { Found::Others(others) }
}

/// If `path` matches `pattern`, returns the parts of `path` that stand for the names in `pattern`.
fn parts<'a>(pattern: &str, path: &'a str) -> Option<Vec<&'a str>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut parts = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(parts),
            (Some(wanted), Some(given)) => match wanted.split_once('}') {
                Some((_, end)) => parts.push(given.strip_suffix(end).filter(|part| !part.is_empty())?),
                None if wanted == given => {}
                None => return None,
            },
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_route_and_names_stand_for_one_part() {
        assert_eq!(parts("/v1/streams/{name}", "/v1/streams/van1"), Some(vec!["van1"]));
        assert_eq!(parts("/streams/{name}.ts", "/streams/van.1.ts"), Some(vec!["van.1"]));
        for path in ["/v1/streams/", "/v1/streams/a/b", "/v1/streams", "//v1/streams/a", "/v1/streams/a/"] {
            assert_eq!(parts("/v1/streams/{name}", path), None, "{path}");
        }
        assert_eq!(parts("/streams/{name}.ts", "/streams/.ts"), None);
        assert_eq!(find("PUT", "/v1/streams"), Found::Others(vec!["GET"]));
        assert!(matches!(find("HEAD", "/v1/streams"), Found::Route(..)));
        assert!(matches!(find("HEAD", "/v1/reload"), Found::Others(_)));
        assert_eq!(find("GET", "/v2/streams"), Found::Nothing);
    }

    #[test]
    fn whatever_changes_something_is_a_post_and_needs_control() {
        for route in ROUTES {
            // A session changes only the cookie that a browser sends, and nothing on the server.
            if !matches!(route.action, StartSession | EndSession) {
                assert_eq!(
                    route.verb == Post,
                    route.right == Control && route.action != Senders,
                    "{route:?}"
                );
            }
            let path = route.path.replace("{name}", "a").replace("{who}", "a").replace("{number}", "0");
            let path = path.replace("{link}", "a");
            let Found::Route(number, _) = find(route.verb.name(), &path) else { panic!("{route:?}") };
            assert_eq!(ROUTES[number].action, route.action, "another route has its path");
        }
    }

    /// `UPDATE_DOCS=1` writes the table instead of comparing it.
    #[test]
    fn the_page_lists_every_route() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate/api.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        let mut table = "| request | right | response | effect |\n|---|---|---|---|\n".to_owned();
        for route in ROUTES {
            let right = match route.right {
                Anyone => "none",
                View => "look",
                Control => "control",
            };
            let kind = route.kind.split(';').next().unwrap_or_default();
            table += &format!(
                "| `{} {}` | {right} | `{kind}` | {} |\n",
                route.verb.name(),
                route.path,
                route.summary
            );
        }
        let (begin, end) = ("<!-- routes -->\n\n", "\n<!-- end of routes -->");
        let (before, rest) = page.split_once(begin).expect("its marks");
        let (inside, after) = rest.split_once(end).expect("its marks");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, format!("{before}{begin}{table}{end}{after}")).expect("it can be written");
        } else {
            assert_eq!(inside, table, "UPDATE_DOCS=1 writes it");
        }
    }
}
