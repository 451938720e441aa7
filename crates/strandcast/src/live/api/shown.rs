//! State of a stream in the form in which an API shows it.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::live::lines::object;
use crate::live::output::{ViewFrom, Viewer};
use crate::live::receiver::Receiver;
use crate::live::sender::{LinkSetting, Sender};
use crate::live::serve::StreamNow;

/// The state of a stream at one time, in the form in which an API shows it.
#[derive(Debug)]
pub struct Shown {
    pub(super) name: String,
    /// Description of the stream as JSON: the keys of its last line of statistics, and keys that only the API has.
    pub(super) described: Value,
    view: View,
}

/// Place where the media of a stream can be viewed.
#[derive(Debug)]
enum View {
    /// A stream of a server.
    Served(Box<StreamNow>),
    Receiver(Arc<Receiver>),
    /// The stream of a sender, which plays no media.
    Nowhere,
}

impl Shown {
    /// Shows a stream of a server. `line` is its last [line](crate::live::lines::Line::value) of statistics, or null.
    pub fn served(stream: StreamNow, line: &Value) -> Shown {
        let config = &stream.config;
        let name = config.name.as_str().to_owned();
        let mut more = json!({
            "senders": config.senders,
            "latency_ms": config.latency.map(|latency| latency.as_millis()),
            "outputs": stream.outputs,
        });
        if stream.stopped {
            more["state"] = json!("stopped");
        }
        Shown::of(name, line, more, View::Served(Box::new(stream)))
    }

    /// Shows the stream of a sender. `line` is its last line of statistics, or null.
    pub fn sender(name: &str, sender: &Sender, latency_ms: u32, line: &Value) -> Shown {
        let links: Vec<Value> = sender.links().iter().map(setting).collect();
        let more = json!({ "senders": [], "latency_ms": latency_ms, "outputs": [], "links": links });
        Shown::of(name.to_owned(), line, more, View::Nowhere)
    }

    /// Shows the stream of a receiver. If [`ReceiverConfig::watched`](crate::live::ReceiverConfig::watched) is true,
    /// clients can begin with the last key frame. `line` is the last line of statistics, or null.
    pub fn receiver(name: &str, receiver: &Arc<Receiver>, latency_ms: Option<u32>, line: &Value) -> Shown {
        let more = json!({ "senders": [], "latency_ms": latency_ms, "outputs": receiver.outputs() });
        Shown::of(name.to_owned(), line, more, View::Receiver(Arc::clone(receiver)))
    }

    fn of(name: String, line: &Value, more: Value, view: View) -> Shown {
        let mut described = object(line.clone());
        described.insert("name".to_owned(), json!(name));
        described.extend(object(more));
        Shown { name, described: Value::Object(described), view }
    }

    /// Begins to view the media, or returns the reason why this cannot be.
    pub(super) fn view(&self, from: ViewFrom) -> Result<Viewer, String> {
        match &self.view {
            View::Served(stream) => {
                stream.view(from).ok_or_else(|| format!("the stream {} is stopped", self.name))
            }
            View::Receiver(receiver) => receiver.view(from).ok_or_else(|| "the receiver ends".to_owned()),
            View::Nowhere => {
                Err("a sender does not play its stream: view the stream at the receiver".to_owned())
            }
        }
    }
}

/// Returns the settings of a link in the form in which the API shows them.
fn setting(link: &LinkSetting) -> Value {
    let tariff = link.tariff.as_ref().map(|tariff| {
        json!({
            "class": tariff.class,
            "price": tariff.price,
            "left_bytes": tariff.left,
            "month_bytes": link.month,
            "month_begins": tariff.month_begins,
            "lasts_s": tariff.lasts.map(|lasts| lasts.as_secs_f64()),
        })
    });
    json!({ "link": link.link, "on": link.on, "tariff": tariff })
}
