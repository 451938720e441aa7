//! Views of the API.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::Served;
use crate::common::seconds;

#[test]
fn streams_and_metrics_have_the_names_of_statistics() {
    let served = Served::start("views", "");
    let (socket, port) = (&served.socket, &served.port);
    let all = port.json("/v1/streams");
    let names: Vec<&str> =
        all["streams"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(port.json("/v1/streams/a")["state"], "waiting");

    let (clip, media) = seconds(4, "api-clip.ts");
    let van = &served.studio.van;
    let sends = van.start(&format!("send {} @studio --stream a --latency 1000", clip.display()));
    let there =
        |stream: &serde_json::Value| stream["paths"].as_array().is_some_and(|paths| !paths.is_empty());
    served.server.until("a link", || there(&socket.json("/v1/streams/a")));
    let stream = port.json("/v1/streams/a");
    assert_eq!((&stream["role"], &stream["senders"][0]), (&"receive".into(), &"van1".into()), "{stream}");
    assert!(stream["peer"].as_str().is_some_and(|peer| peer.starts_with("van1")), "{stream}");
    assert!(stream["media"]["late"].is_u64() && stream["paths"][0]["bytes"].is_u64(), "{stream}");
    assert_eq!(stream["outputs"].as_array().expect("a list").len(), 1, "{stream}");
    assert_eq!(stream["outputs"][0]["unread"], 0, "{stream}");
    assert_eq!(port.json("/v1/streams/b")["state"], "waiting");
    let publishers = &port.json("/stats")["publishers"];
    assert!(publishers["a"]["bitrate"].is_u64() && publishers["a"]["pktRcvLoss"] == 0, "{publishers}");
    assert!(publishers["b"].is_null(), "it has no sender: {publishers}");
    let metrics = port.get("/metrics");
    assert!(metrics.head.contains("content-type: text/plain; version=0.0.4"), "{}", metrics.head);
    for sample in [
        "strandcast_stream_state{instance_name=\"serve\",role=\"receive\",name=\"b\",state=\"waiting\"} 1",
        "strandcast_up{instance_name=\"serve\",role=\"receive\",name=\"a\"} 1",
    ] {
        assert!(metrics.body.contains(sample), "{sample}: {}", metrics.body);
    }
    sends.end().succeeds();
    served.server.until("a recording", || served.studio.recorded("a") == [media.clone()]);
    // Its links stay in the metrics.
    served.server.until("the end of the stream", || socket.json("/v1/streams/a")["state"] == "waiting");
    let metrics = socket.get("/metrics").body;
    let closed = metrics.lines().any(|row| {
        row.starts_with("strandcast_path_state{")
            && row.ends_with("state=\"closed\"} 1")
            && row.contains("name=\"a\"")
    });
    assert!(closed, "{metrics}");

    served.server.signal(Signal::SIGTERM);
    served.server.end().succeeds();
    assert!(socket.connect().is_err(), "the socket is gone");
}

/// While a server waits for the sender of a stream that ends, Prometheus still finds all streams.
#[test]
fn metrics_keep_their_streams_while_a_server_ends() {
    let served = Served::start("ending", "");
    let (clip, _) = seconds(20, "api-ending.ts");
    let sends =
        served.studio.van.start(&format!("send {} @studio --stream a --latency 4000", clip.display()));
    let metrics = || served.port.get("/metrics").body;
    let up = |text: &str, name: &str| {
        text.contains(&format!(
            "strandcast_up{{instance_name=\"serve\",role=\"receive\",name=\"{name}\"}} 1\n"
        ))
    };
    let bytes = "strandcast_path_bytes_total{";
    served.server.until("figures of its link", || metrics().contains(bytes));
    // A sender that does not answer holds up the end of its stream for the latency and half a second.
    sends.signal(Signal::SIGSTOP);
    served.server.signal(Signal::SIGTERM);
    served.server.until("the beginning of the end", || served.port.get("/readyz").status == 503);
    // A server writes its metrics once per second.
    let until = Instant::now() + Duration::from_millis(2200);
    while Instant::now() < until {
        let text = metrics();
        assert!(up(&text, "a") && up(&text, "b") && text.contains(bytes), "{text}");
        std::thread::sleep(Duration::from_millis(100));
    }
    sends.signal(Signal::SIGCONT);
    served.server.end().succeeds();
    sends.signal(Signal::SIGTERM);
    sends.end();
}

#[test]
fn a_wrong_request_has_a_line_with_its_reason() {
    let served = Served::start("wrong", "");
    for (request, status, words) in [
        ("GET /v1/streams/c", 404, "there is no stream c"),
        ("GET /v1/streams/..%2fa", 404, "there is no stream"),
        ("GET /nothing", 404, "there is no such path"),
        ("GET //v1/streams", 404, "there is no such path"),
        ("DELETE /v1/streams", 405, "use GET"),
        ("POST /metrics", 405, "use GET"),
    ] {
        let response = served.port.asks(request, &[]);
        assert_eq!(response.status, status, "{request}: {response:?}");
        let error: serde_json::Value = serde_json::from_str(&response.body).expect("JSON");
        assert!(error["error"].as_str().is_some_and(|line| line.contains(words)), "{request}: {response:?}");
    }
    let head = served.port.asks("HEAD /v1/streams", &[]);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for header in [
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'",
    ] {
        assert!(head.head.contains(header), "{head:?}");
    }
    assert_eq!(served.port.get("/healthz").body, "ok\n");
}
