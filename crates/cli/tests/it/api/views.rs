//! Views of the API.

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
