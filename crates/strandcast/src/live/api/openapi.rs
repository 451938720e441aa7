//! The description of the API, from the table of routes.

use serde_json::{Map, Value, json};

use super::body::JSON;
use super::route::{ROUTES, Right, Route, Verb};

/// The description of all routes (OpenAPI 3.1).
pub(super) fn description() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.verb.name().to_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Strandcast", "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "basic": { "type": "http", "scheme": "basic", "description": "the token is the password" },
            },
            "schemas": { "Error": error(), "Stream": stream() },
        },
    })
}

fn operation(route: &Route) -> Value {
    let text = |words: &str| json!({ "description": words });
    let refused = |words: &str| {
        let schema = json!({ "$ref": "#/components/schemas/Error" });
        json!({ "description": words, "content": { JSON: { "schema": schema } } })
    };
    let kind = route.kind.split(';').next().unwrap_or_default();
    let content = match route.path {
        "/v1/streams/{name}" => json!({ kind: { "schema": { "$ref": "#/components/schemas/Stream" } } }),
        _ => json!({ kind: {} }),
    };
    let mut responses = Map::new();
    responses.insert("200".into(), json!({ "description": route.summary, "content": content }));
    if route.right > Right::Anyone {
        responses.insert("401".into(), refused("without a token, or with an unknown one"));
        responses.insert("403".into(), refused("the token may not do this, or a page of another site asks"));
        responses.insert("503".into(), refused("too many clients, or the server begins or ends"));
    } else {
        responses.insert("503".into(), text("the server does not work, begins or ends"));
    }
    if route.path.contains('{') {
        responses.insert("404".into(), refused("nothing has this name"));
    }
    if route.verb == Verb::Post {
        responses.insert("409".into(), refused("nothing has changed, for this reason"));
    }
    let names = route.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let mut parameters: Vec<Value> = names
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    let queries: &[&str] = match route.path {
        "/v1/senders/{who}/allow" => &["as"],
        "/v1/streams/{name}/links/{link}/tariff" => &["class", "left", "for", "month", "day", "price"],
        _ => &[],
    };
    let query = |name: &&str| json!({ "name": name, "in": "query", "schema": { "type": "string" } });
    parameters.extend(queries.iter().map(query));
    let security = match route.right {
        Right::Anyone => json!([]),
        Right::View | Right::Control => json!([{ "bearer": [] }, { "basic": [] }]),
    };
    json!({ "summary": route.summary, "parameters": parameters, "responses": responses, "security": security })
}

fn error() -> Value {
    json!({ "type": "object", "required": ["error"], "properties": { "error": { "type": "string" } } })
}

/// Keys that a stream in the API has in addition to the keys of `strandcast schema stats`.
fn stream() -> Value {
    let text = json!({ "type": "string" });
    let output = json!({
        "type": "object",
        "required": ["name", "unread", "unsent"],
        "properties": {
            "name": text, "unread": { "type": "integer" }, "unsent": { "type": "object" }, "failed": text,
            "stopped": { "type": "boolean" },
        },
    });
    let link = json!({
        "type": "object",
        "required": ["link", "on", "tariff"],
        "properties": { "link": text, "on": { "type": "boolean" }, "tariff": { "type": ["object", "null"] } },
    });
    json!({
        "type": "object",
        "description": "the last line of statistics, as `strandcast schema stats` describes it, and these keys",
        "required": ["name", "senders", "latency_ms", "outputs"],
        "properties": {
            "name": text, "state": text, "senders": { "type": "array", "items": text },
            "latency_ms": { "type": ["integer", "null"] }, "outputs": { "type": "array", "items": output },
            "links": { "type": "array", "items": link },
        },
        "additionalProperties": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::api::route::{Found, find};

    #[test]
    fn the_description_and_the_router_have_the_same_routes() {
        let description = description();
        let mut found = 0;
        for (path, operations) in description["paths"].as_object().expect("an object") {
            for (method, operation) in operations.as_object().expect("an object") {
                let names = operation["parameters"].as_array().expect("a list");
                let names = names.iter().filter(|one| one["in"] == "path");
                let given = names.clone().fold(path.clone(), |path, one| {
                    path.replace(&format!("{{{}}}", one["name"].as_str().expect("a name")), "x")
                });
                let Found::Route(_, parts) = find(&method.to_uppercase(), &given) else {
                    panic!("{method} {path}")
                };
                assert_eq!(parts.len(), names.count(), "{path}");
                found += 1;
            }
        }
        assert_eq!(found, ROUTES.len());
    }
}
