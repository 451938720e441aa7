//! Metrics of links that no longer exist. The metrics of such a link remain for a day.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

/// Time for which the metrics of a link remain after the link has gone.
const KEPT: Duration = Duration::from_secs(24 * 3600);
/// Maximum number of links of a stream that have gone. The limit is needed because a sender may use new names again and
/// again.
const MOST: usize = 64;
/// Keys that remain for a link that has gone: its counts. The state and the rates of the link are left out.
const COUNTS: [&str; 6] = ["id", "name", "bytes", "chunks", "chunks_lost", "down_s"];

/// Links of the streams of a server. A link stays in this list for a day after it has gone.
#[derive(Debug, Default)]
pub(in crate::live) struct Gone(BTreeMap<String, Vec<Link>>);

#[derive(Debug)]
struct Link {
    counts: Map<String, Value>,
    seen: Instant,
}

impl Link {
    fn is(&self, path: &Value) -> bool {
        self.counts.get("id") == path.get("id") && self.counts.get("name") == path.get("name")
    }
}

impl Gone {
    /// Adds to each line the links that existed during the last day. There is one line for each stream.
    pub(in crate::live) fn with(&mut self, lines: Vec<Value>, now: Instant) -> Vec<Value> {
        self.0.retain(|name, _| lines.iter().any(|line| line["name"] == name.as_str()));
        lines.into_iter().map(|line| self.one(line, now)).collect()
    }

    fn one(&mut self, mut line: Value, now: Instant) -> Value {
        let Some(name) = line["name"].as_str() else { return line };
        let known = self.0.entry(name.to_owned()).or_default();
        let mut paths = line["paths"].as_array().cloned().unwrap_or_default();
        known.retain(|link| now - link.seen < KEPT && !paths.iter().any(|path| link.is(path)));
        known.drain(..known.len().saturating_sub(MOST));
        let gone = known.iter().map(|link| {
            let mut counts = link.counts.clone();
            counts.insert("state".to_owned(), json!("closed"));
            Value::Object(counts)
        });
        let gone: Vec<Value> = gone.collect();
        for path in &paths {
            let counts = COUNTS.iter().filter_map(|key| Some(((*key).to_owned(), path.get(*key)?.clone())));
            known.push(Link { counts: counts.collect(), seen: now });
        }
        paths.extend(gone);
        if let (false, Some(object)) = (paths.is_empty(), line.as_object_mut()) {
            object.insert("paths".to_owned(), Value::Array(paths));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(paths: &[(u32, &str, u64)]) -> Value {
        let path = |(id, name, bytes): &(u32, &str, u64)| json!({ "id": id, "name": name, "bytes": bytes, "state": "active", "rtt_ms": 40.0 });
        json!({ "name": "van1", "paths": paths.iter().map(path).collect::<Vec<_>>() })
    }

    fn names(line: &Value) -> Vec<(String, String)> {
        let name = |path: &Value| {
            let text = |key: &str| path[key].as_str().unwrap_or_default().to_owned();
            (text("name"), text("state"))
        };
        line["paths"].as_array().map(|paths| paths.iter().map(name).collect()).unwrap_or_default()
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
    }

    #[test]
    fn a_link_that_has_gone_stays_for_a_day_and_returns() {
        let (mut gone, start) = (Gone::default(), Instant::now());
        let hour = |hours: u64| start + Duration::from_secs(3600 * hours);
        let both = line(&[(0, "lte", 7), (1, "wifi", 8)]);
        assert_eq!(gone.with(vec![both.clone()], hour(0)), [both]);
        let one = gone.with(vec![line(&[(0, "lte", 9)])], hour(1));
        assert_eq!(names(&one[0]), pairs(&[("lte", "active"), ("wifi", "closed")]));
        assert_eq!(one[0]["paths"][1]["bytes"], 8);
        assert!(one[0]["paths"][1].get("rtt_ms").is_none(), "it is no longer measured");
        let none = gone.with(vec![json!({ "name": "van1", "state": "waiting" })], hour(2));
        assert_eq!(names(&none[0]), pairs(&[("wifi", "closed"), ("lte", "closed")]));
        let back = gone.with(vec![line(&[(1, "wifi", 1)])], hour(3));
        assert_eq!(names(&back[0]), pairs(&[("wifi", "active"), ("lte", "closed")]));
        let later = gone.with(vec![json!({ "name": "van1" })], hour(26));
        assert_eq!(names(&later[0]), pairs(&[("wifi", "closed")]));
        assert!(gone.with(Vec::new(), hour(27)).is_empty() && gone.0.is_empty());
    }

    #[test]
    fn a_sender_with_ever_new_links_has_a_bounded_number_of_labels() {
        let (mut gone, now) = (Gone::default(), Instant::now());
        let mut most = 0;
        for number in 0..1000 {
            let lines = gone.with(vec![line(&[(number, "tun", 1)])], now);
            most = most.max(names(&lines[0]).len());
        }
        assert_eq!(most, MOST + 1);
    }
}
