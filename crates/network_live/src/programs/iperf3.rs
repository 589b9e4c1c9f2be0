// SPDX-License-Identifier: Apache-2.0
//! Reads the JSON that `iperf3` prints.

use network_run::results::{FlowResult, Measured};
use serde_json::Value;

fn picoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e12) as u64
}

/// The time of an interval.
fn active_ps(interval: &Value) -> u64 {
    let time = |name: &str| interval[name].as_f64().unwrap_or(0.0);
    picoseconds(time("end") - time("start"))
}

/// The object, and the error that it has instead of results or beside them, or that was printed beside it.
pub(super) fn parse(text: &str, printed: Option<&str>) -> (Value, Option<String>) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            let error = value["error"].as_str().map(str::to_string);
            (value, error)
        }
        Err(_) => (Value::Null, Some(printed.unwrap_or("iperf3 printed no result").to_string())),
    }
}

/// Reads the flows of a client over TCP that started at this time.
pub(super) fn tcp(value: &Value, started_ps: u64, is_sized: bool) -> Vec<Measured> {
    let streams = value["end"]["streams"].as_array();
    let flow = |stream: &Value| {
        let (sender, receiver) = (&stream["sender"], &stream["receiver"]);
        let received = receiver["bytes"].as_u64().filter(|bytes| *bytes > 0);
        let active_ps = active_ps(if received.is_some() { receiver } else { sender });
        FlowResult {
            // The receiver's count is missing if the client was ended.
            bytes: received.or(sender["bytes"].as_u64()).unwrap_or(0),
            started_ps: Some(started_ps),
            completed_ps: is_sized.then(|| started_ps.saturating_add(active_ps)),
            active_ps,
            retransmissions: sender["retransmits"].as_u64().unwrap_or(0),
            timeouts: None,
            marks: None,
            round_trip_ps: sender["mean_rtt"].as_u64().map(|time_us| time_us * 1_000_000),
            has_failed: false,
        }
    };
    let flows: Vec<Measured> =
        streams.into_iter().flatten().map(|stream| Measured::Flows(vec![flow(stream)])).collect();
    match flows.is_empty() {
        false => flows,
        true => vec![Measured::Flows(vec![FlowResult {
            started_ps: Some(started_ps),
            has_failed: true,
            ..FlowResult::default()
        }])],
    }
}

/// Reads the datagrams of a client over UDP.
pub(super) fn udp(value: &Value, size_bytes: u64) -> Measured {
    let datagrams = &value["end"]["streams"][0]["udp"];
    let number = |name: &str| datagrams[name].as_u64().unwrap_or(0);
    let sent = number("packets");
    let received = sent.saturating_sub(number("lost_packets"));
    Measured::Datagrams {
        sent,
        received,
        bytes: received * size_bytes,
        active_ps: active_ps(datagrams),
        delay_ps: None,
        jitter_ps: picoseconds(datagrams["jitter_ms"].as_f64().unwrap_or(0.0) / 1_000.0),
        marks: None,
        out_of_order: number("out_of_order"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn flows_are_those_of_the_receiver() {
        let value = json!({"end": {"streams": [
            {"sender": {"start": 0, "end": 2.0, "bytes": 300, "retransmits": 4, "mean_rtt": 1500},
             "receiver": {"start": 0, "end": 2.5, "seconds": 2.0, "bytes": 250}},
            {"sender": {"start": 0, "end": 2.0, "bytes": 300, "retransmits": 0, "mean_rtt": 7},
             "receiver": {"start": 0, "end": 2.0, "bytes": 0}}]}});
        let flows = tcp(&value, 9, true);
        let Measured::Flows(first) = &flows[0] else { panic!("a flow") };
        assert_eq!(first[0].bytes, 250);
        assert_eq!(first[0].active_ps, 2_500_000_000_000);
        assert_eq!(first[0].completed_ps, Some(2_500_000_000_009));
        assert_eq!(first[0].retransmissions, 4);
        assert_eq!(first[0].round_trip_ps, Some(1_500_000_000));
        assert_eq!(first[0].goodput_bps(), 800.0);
        let Measured::Flows(second) = &flows[1] else { panic!("a flow") };
        assert_eq!((second[0].bytes, second[0].active_ps), (300, 2_000_000_000_000));
    }

    #[test]
    fn errors_are_failed_flows() {
        let (value, error) =
            parse(r#"{"end": {}, "error": "unable to connect"}"#, Some("iperf3: odd"));
        assert_eq!(error.as_deref(), Some("unable to connect"));
        let Measured::Flows(flows) = &tcp(&value, 3, true)[0] else { panic!("a flow") };
        assert!(flows[0].has_failed && flows[0].completed_ps.is_none());
        assert_eq!(parse("", Some("iperf3: odd")).1.as_deref(), Some("iperf3: odd"));
        assert!(parse("", None).1.is_some());
    }

    #[test]
    fn datagrams_are_counted() {
        let value = json!({"end": {"streams": [{"udp": {"start": 0, "end": 1.0, "bytes": 100_000,
            "jitter_ms": 0.5, "lost_packets": 10, "packets": 100, "out_of_order": 2}}]}});
        assert_eq!(
            udp(&value, 1000),
            Measured::Datagrams {
                sent: 100,
                received: 90,
                bytes: 90_000,
                active_ps: 1_000_000_000_000,
                delay_ps: None,
                jitter_ps: 500_000_000,
                marks: None,
                out_of_order: 2
            }
        );
    }
}
