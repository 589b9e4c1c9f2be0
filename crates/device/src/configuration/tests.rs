// SPDX-License-Identifier: Apache-2.0
//! Device files: the options that they give, and the diagnostics of wrong ones.

use super::*;
use crate::explanation::EXPLANATIONS;
use proptest::prelude::*;
use source::{RenderOptions, SourceMap, render_text};

/// Either options, or the messages.
fn read_text(text: &str) -> Result<DeviceOptions, String> {
    let mut map = SourceMap::new();
    let file = map.add("device.toml", text);
    read(file, text)
        .map_err(|diagnostics| render_text(&map, &diagnostics, RenderOptions { color: false }))
}

fn check(text: &str, change: impl FnOnce(&mut DeviceOptions)) {
    let mut expected = DeviceOptions::default();
    change(&mut expected);
    assert_eq!(read_text(text), Ok(expected), "{text}");
}

/// The codes and texts of the messages, a line each.
fn check_wrong(text: &str, expected: &[&str]) {
    let mut map = SourceMap::new();
    let file = map.add("device.toml", text);
    let found: Vec<String> = match read(file, text) {
        Ok(_) => Vec::new(),
        Err(diagnostics) => diagnostics
            .iter()
            .map(|diagnostic| format!("{} {}", diagnostic.code.0, diagnostic.message))
            .collect(),
    };
    assert_eq!(found, expected, "{text}");
}

#[test]
fn nothing_said_is_the_default() {
    check("", |_| {});
    check("[default_port]\n[recirculation]\n", |_| {});
}

#[test]
fn passes_can_take_time() {
    check("[pass_timing]\n", |options| options.pass_timing = Some(PassTiming::default()));
    let text = r#"
        [pass_timing]
        first_stage = "50ns"
        stage = "10ns"
        stages = { "MyIngress.acl" = 3, routes = 0 }
    "#;
    check(text, |options| {
        let stages = [("MyIngress.acl".to_string(), 3), ("routes".to_string(), 0)];
        let timing = PassTiming { first_stage_ps: 50_000, stage_ps: 10_000, stages: stages.into() };
        options.pass_timing = Some(timing);
    });
    check_wrong(
        "[pass_timing]\nstage = 10\nstages = { a = -1, b = \"2\" }\nmoments = 1\n",
        &[
            "DV-E0303 `pass_timing.stage` must be a time with its unit (ps, ns, us, ms, s), such as \"100us\", not 10",
            "DV-E0303 `pass_timing.stages.\"a\"` must be a whole number from 0 to 65535, not -1",
            "DV-E0303 `pass_timing.stages.\"b\"` must be a whole number from 0 to 65535, not \"2\"",
            "DV-E0302 `pass_timing` has no field `moments`",
        ],
    );
}

#[test]
fn everything_can_be_said() {
    let text = r#"
        clock = "ns"
        ingress_interval = "1ns"
        ingress_latency = "400ns"
        egress_latency = "200ns"
        pass_limit = "none"
        shared_buffer_bytes = 22_000_000
        cpu_port = 64
        drop_port = 511

        [default_port]
        rate = "10Gb/s"
        queue_depth = 100
        queue_bytes = 75_000
        overhead = 24

        [port.68]
        loopback = true
        rate = "100Gb/s"
        latency = "0.5us"
        queues = 4
        queue_rate = 1000000
        flow_control = [0, 0, 1, 1, 2, 2, 3, 3]

        [port.2]
        rate = "none"

        [recirculation]
        rate = "100Gb/s"
        [resubmission]
        latency = "1ns"

        [[generator]]
        port = 5
        into = "ingress"
        offset = "3ns"
        period = "1us"
        count = 9
        bytes = "00ff 10"

        [[generator]]
        port = 68
        period = "1us"
        pause = { class = 3, quanta = 7 }

        [[generator_application]]
        id = 2
        port = 70
        timer = "once"
        offset = "2ns"
        period = "5us"
        batches = 3
        batch_gap = "4ns"
        packets = 65536
        packet_gap = "1ns"
        bytes = "08"

        [[pausable_queue]]
        port = 68
        class = 1
        period = "100us"
        open = "1us"
    "#;
    check(text, |options| {
        options.timestamp_unit = TimestampUnit::Nanoseconds;
        options.ingress_interval_ps = 1000;
        options.ingress_latency_ps = 400_000;
        options.egress_latency_ps = 200_000;
        options.pass_limit = None;
        options.cpu_port = Some(64);
        options.drop_port = Some(511);
        let traffic = &mut options.traffic_manager;
        traffic.shared_buffer_bytes = Some(22_000_000);
        traffic.default_port.rate_bps = Some(10_000_000_000);
        traffic.default_port.queue_depth_packets = 100;
        traffic.default_port.queue_depth_bytes = Some(75_000);
        traffic.default_port.overhead_bytes = 24;
        let default_port = traffic.default_port.clone();
        traffic.ports.insert(2, PortOptions { rate_bps: None, ..default_port.clone() });
        let round = PortOptions {
            loopback: true,
            rate_bps: Some(100_000_000_000),
            latency_ps: 500_000,
            queue_count: 4,
            queue_rate_pps: 1_000_000,
            flow_control: Some(FlowControlOptions { queue_of_class: [0, 0, 1, 1, 2, 2, 3, 3] }),
            ..default_port
        };
        traffic.ports.insert(68, round);
        traffic.recirculation.rate_bps = Some(100_000_000_000);
        traffic.resubmission.latency_ps = 1000;
        let train = |port, target, offset_ps, count, bytes| PacketTrain {
            port,
            target,
            offset_ps,
            period_ps: 1_000_000,
            count,
            bytes,
        };
        let frame = PauseFrame::of_class(3, 7).bytes([0; 6]);
        options.packet_generator = vec![
            train(5, TrainTarget::Ingress, 3000, Some(9), vec![0, 0xff, 0x10]),
            train(68, TrainTarget::Mac, 0, None, frame),
        ];
        options.generator_applications = vec![GeneratorApplication {
            id: 2,
            port: 70,
            timer: GeneratorTimer::Once,
            offset_ps: 2000,
            period_ps: 5_000_000,
            batches: 3,
            batch_gap_ps: 4000,
            packets: 65_536,
            packet_gap_ps: 1000,
            bytes: vec![8],
        }];
        let rate_bps = Some(100_000_000_000);
        let trains = PacketTrain::pausable_queue(68, 1, 100_000_000, 1_000_000, rate_bps);
        options.packet_generator.extend(trains);
    });
}

#[test]
fn a_pausable_queue_makes_its_port_obey() {
    let text = "[[pausable_queue]]\nport = 9\nperiod = \"1ms\"\nopen = \"2us\"";
    check(text, |options| {
        let flow_control = Some(FlowControlOptions::default());
        let port = PortOptions { flow_control, ..PortOptions::default() };
        options.traffic_manager.ports.insert(9, port);
        options.packet_generator =
            PacketTrain::pausable_queue(9, 0, 1_000_000_000, 2_000_000, None);
    });
}

#[test]
fn all_mistakes_are_reported_together() {
    check_wrong(
        r#"
            clock = "min"
            ingres_latency = "1ns"
            egress_latency = 5
            pass_limit = 0
            port = 3
            [default_port]
            rate = "0Gb/s"
            queues = 0
            loopback = 1
            [recirculation]
            loopback = true
            [[generator]]
            port = 1
            [[pausable_queue]]
            port = 1
            period = "1us"
            open = "1us"
        "#,
        &[
            "DV-E0303 `clock` must be \"us\" or \"ns\", not \"min\"",
            "DV-E0302 a device file has no field `ingres_latency`",
            "DV-E0303 `egress_latency` must be a time with its unit (ps, ns, us, ms, s), such as \"100us\", not 5",
            "DV-E0303 `pass_limit` must be a whole number from 1 to 4294967295, not 0",
            "DV-E0303 `port` must be a section `[port]`, not 3",
            "DV-E0303 `default_port.rate` must be a rate above 0 with its unit (b/s to Tb/s), such as \"100Gb/s\", or \"none\", not \"0Gb/s\"",
            "DV-E0303 `default_port.queues` must be a whole number from 1 to 128, not 0",
            "DV-E0303 `default_port.loopback` must be true or false, not 1",
            "DV-E0302 `recirculation` has no field `loopback`",
            "DV-E0304 `generator` has no `period`",
            "DV-E0304 a train needs either `bytes` or `pause`",
            "DV-E0303 `pausable_queue.open` must be above 0 and below `period`, not \"1us\"",
        ],
    );
    check_wrong(
        "[[generator_application]]\nid = 8\nbatches = 0\n\
         [[generator_application]]\nid = 1\nperiod = \"0ps\"\n\
         [[generator_application]]\nid = 2\nperiod = \"1us\"\n\
         [[generator_application]]\nid = 2\nperiod = \"1us\"\ntimer = \"never\"",
        &[
            "DV-E0304 `generator_application` has no `period`",
            "DV-E0303 `generator_application.id` must be a whole number from 0 to 7, not 8",
            "DV-E0303 `generator_application.batches` must be a whole number from 1 to 65536, not 0",
            "DV-E0303 `generator_application.period` must be a time above 0, not \"0ps\"",
            "DV-E0303 `generator_application.id` must be a number that no other application has, not 2",
            "DV-E0303 `generator_application.timer` must be \"periodic\" or \"once\", not \"never\"",
        ],
    );
    check_wrong("clock = ns", &["DV-E0301 this is not TOML: invalid float, expected `nan`"]);
    check_wrong("[port.x]", &["DV-E0303 a port's name must be a number, not `x`"]);
}

#[test]
fn a_file_whose_packets_could_stand_still_is_refused() {
    let text = "pass_limit = \"none\"\n[recirculation]\nlatency = \"1ns\"\n[resubmission]\nlatency = \"1ns\"\n[port.68]\nloopback = true\n";
    check_wrong(
        text,
        &["DV-E0305 packets may loop through port 68 forever without device time passing"],
    );
    assert!(read_text(&format!("{text}rate = \"1Gb/s\"")).is_ok());
    assert!(read_text(&format!("ingress_interval = \"1ns\"\n{text}")).is_ok());
}

/// The wrong example of each explanation gives its code, and the right example is accepted.
#[test]
fn explanations_are_true() {
    for entry in EXPLANATIONS.iter().filter(|entry| entry.code.0.starts_with("DV-E03")) {
        let wrong = read_text(entry.wrong).expect_err(entry.code.0);
        assert!(wrong.contains(entry.code.0), "{wrong}");
        assert!(read_text(entry.right).is_ok(), "{}", entry.code.0);
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[a-z_=\\[\\]\"0-9.{} \n]{0,60}") {
        let _ = read_text(&text);
    }

    #[test]
    fn no_value_makes_it_panic(
        field in prop::sample::select(vec![
            "clock", "pass_limit", "port", "generator", "pausable_queue", "generator_application",
            "default_port.rate", "port.1.flow_control",
            "port.1.queues", "shared_buffer_bytes", "ingress_interval", "default_port",
        ]),
        value in prop::sample::select(vec![
            "1", "-1", "99999999999999999999", "\"\"", "\"1ns\"", "[]", "[[]]", "[{}]", "{}", "true", "1.5",
            "1979-05-27", "[{port=1,period=\"0ps\",bytes=\"\"}]", "[{id=1,period=\"0ps\"}]", "[{port=1,period=\"18446744s\",open=\"1ps\"}]",
            "0x7fffffffffffffff", "[0,1,2,3,4,5,6,-7]",
        ]),
    ) {
        let _ = read_text(&format!("{field} = {value}"));
    }
}
