//! Statistics in the format of SRT-live-server. Some programs switch scenes by the bit rate in these statistics.

use serde_json::{Map, Value, json};

/// Returns the statistics of these streams. Each stream is described as in `/v1/streams`. A stream without a sender is
/// left out.
pub(super) fn statistics<'a>(streams: impl Iterator<Item = &'a Value>) -> Value {
    let publishers =
        streams.filter_map(|stream| Some((stream["name"].as_str()?.to_owned(), publisher(stream)?)));
    json!({ "publishers": publishers.collect::<Map<_, _>>(), "status": "ok" })
}

/// Describes a stream with a sender. Programs that read the statistics need a number for every member, and 0 stands for
/// a value that is not measured.
fn publisher(stream: &Value) -> Option<Value> {
    if matches!(stream["state"].as_str(), None | Some("waiting" | "stopped")) {
        return None;
    }
    let media = stream["media"].as_object()?;
    let number = |key: &str| media.get(key).and_then(Value::as_f64).unwrap_or_default();
    let (rate, late, lost) = (number("rate_bps"), number("late"), number("lost"));
    // The size of a missing message is unknown. The mean size of the played messages is used in its place.
    let size = number("bytes") / number("messages").max(1.0);
    let paths = stream["paths"].as_array().map(Vec::as_slice).unwrap_or_default();
    let rtt = paths.iter().filter_map(|path| path["rtt_ms"].as_f64()).min_by(f64::total_cmp);
    Some(json!({
        "bitrate": whole(rate / 1e3),
        "bytesRcvDrop": whole(late * size),
        "bytesRcvLoss": whole(lost * size),
        "mbpsBandwidth": stream["wire"]["received_bps"].as_f64().unwrap_or_default() / 1e6,
        "mbpsRecvRate": rate / 1e6,
        "msRcvBuf": whole(number("buffer_ms")),
        "pktRcvDrop": whole(late),
        "pktRcvLoss": whole(lost),
        "rtt": rtt.unwrap_or_default(),
        "uptime": whole(stream["seconds"].as_f64().unwrap_or_default()),
    }))
}

/// Returns the nearest whole number that fits into the 32 bits of such programs.
fn whole(number: f64) -> i32 {
    number.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_with_a_sender_is_a_publisher_and_all_its_members_are_numbers() {
        let van = json!({
            "name": "van1", "state": "streaming", "seconds": 751.6,
            "media": {
                "rate_bps": 4_012_800.0, "messages": 100, "bytes": 131_600, "late": 2, "lost": 3, "buffer_ms": 412.5,
            },
            "wire": { "received_bps": 4_253_520.0 },
            "paths": [{ "rtt_ms": 156.2 }, { "rtt_ms": null }, { "rtt_ms": 31.5 }],
        });
        let begins =
            json!({ "name": "van2", "state": "outage", "media": { "buffer_ms": null }, "paths": [] });
        let none = json!({ "name": "van3", "state": "waiting", "media": null });
        let stopped = json!({ "name": "van4", "state": "stopped", "media": { "rate_bps": 1.0 } });
        let all = [van, begins, none, stopped];
        let statistics = statistics(all.iter());
        assert_eq!(
            statistics["publishers"]["van1"],
            json!({
                "bitrate": 4013, "bytesRcvDrop": 2632, "bytesRcvLoss": 3948, "mbpsBandwidth": 4.25352,
                "mbpsRecvRate": 4.0128, "msRcvBuf": 413, "pktRcvDrop": 2, "pktRcvLoss": 3, "rtt": 31.5, "uptime": 752,
            })
        );
        let begins = statistics["publishers"]["van2"].as_object().expect("it has a sender");
        assert!(begins.len() == 10 && begins.values().all(Value::is_number), "{begins:?}");
        assert_eq!(statistics["publishers"].as_object().map(Map::len), Some(2));
        assert_eq!(statistics["status"], "ok");
    }
}
