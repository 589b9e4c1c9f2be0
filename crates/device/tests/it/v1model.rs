// SPDX-License-Identifier: Apache-2.0
//! The v1model device with hand-built programs: the ends of ingress and egress as in `simple_switch`, metadata, queues,
//! pauses, swaps, and determinism.

use crate::hand_built::{CLONE, Code, DIGEST, RECIRCULATE, RESUBMIT, TRUNCATE, program};
use crate::setup::{ENGINES, group, on, session, write};
use control::target::{Batch, DeviceItem};
use device::trace::{PASSES_KEPT_PER_PACKET, TraceNode, json, text};
use device::{
    Device, DeviceError, DeviceOptions, DropReason, EngineChoice, ExternProblem, LoadError,
    OutputPath, PortOptions, TrafficManagerOptions,
};
use ir::{Bits, Program, RegisterId};
use state::{CellRange, CloneSession, Update};
use std::sync::Arc;

const MICROSECOND: u64 = 1_000_000;

fn nothing(_: &mut Code) {}

/// Runs a scenario on each engine.
fn on_both(scenario: impl Fn(EngineChoice)) {
    for engine in ENGINES {
        scenario(engine);
    }
}

fn device(engine: EngineChoice, program: Arc<Program>) -> Device {
    Device::new(program, on(engine)).expect("loads")
}

/// A packet: op, arg, a, b, then a payload.
fn packet(op: u8, arg: u8) -> Vec<u8> {
    let mut bytes = vec![op, arg, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(b"payload");
    bytes
}

/// Outputs: (port, time, op, arg, a, b, length).
type Seen = (u32, u64, u8, u8, u32, u32, usize);

fn outputs(device: &mut Device) -> Vec<Seen> {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    device
        .drain_transmitted()
        .into_iter()
        .map(|sent| {
            let bytes = &sent.bytes;
            let (a, b) = (number(&bytes[2..6]), number(&bytes[6..10]));
            (sent.port, sent.time_ps, bytes[0], bytes[1], a, b, bytes.len())
        })
        .collect()
}

fn run(device: &mut Device, port: u32, bytes: Vec<u8>) -> Vec<Seen> {
    device.inject(port, device.now_ps(), bytes).expect("not in the past");
    device.run_to_completion().expect("no assertion fails");
    outputs(device)
}

fn drops(device: &Device) -> Vec<(DropReason, u64)> {
    device.statistics().drops.iter().map(|(reason, count)| (*reason, *count)).collect()
}

#[test]
fn unicast_keeps_the_payload_and_defaults_to_port_0() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.when("hdr.h.op", 1, |code| {
                        code.copy("hdr.h.arg", "standard_metadata.egress_spec")
                    })
                },
                nothing,
            ),
        );
        device.inject(3, 5, packet(1, 7)).expect("not in the past");
        device.run_to_completion().expect("no assertion fails");
        let sent = device.drain_transmitted();
        assert_eq!(sent.len(), 1);
        assert_eq!((sent[0].port, sent[0].time_ps), (7, 5));
        assert_eq!(sent[0].bytes, packet(1, 7));
        assert_eq!(run(&mut device, 3, packet(0, 9)), [(0, 5, 0, 9, 0, 0, 17)]);
        let statistics = device.statistics();
        assert_eq!(statistics.ports[&3].received_packets, 2);
        assert_eq!(statistics.ports[&7].sent_bytes, 17);
    });
}

#[test]
fn ingress_metadata() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.when("hdr.h.op", 1, |code| {
                        code.copy("standard_metadata.ingress_port", "hdr.h.a");
                        code.copy("standard_metadata.packet_length", "hdr.h.b");
                    });
                    code.when("hdr.h.op", 2, |code| {
                        code.copy("standard_metadata.ingress_global_timestamp", "hdr.h.a");
                        code.copy("standard_metadata.instance_type", "hdr.h.b");
                    });
                },
                nothing,
            ),
        );
        assert_eq!(run(&mut device, 300, packet(1, 0)), [(0, 0, 1, 0, 300, 17, 17)]);
        device.advance(7 * MICROSECOND + 999_999).expect("no assertion fails");
        assert_eq!(run(&mut device, 1, packet(2, 0))[0].4, 7);
    });
}

#[test]
fn a_rejecting_parser_goes_on_to_ingress() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| code.copy("standard_metadata.parser_error", "standard_metadata.egress_spec"),
                nothing,
            ),
        );
        device.inject(0, 0, vec![1, 2, 3]).expect("not in the past");
        device.run_to_completion().expect("no assertion fails");
        let sent = device.drain_transmitted();
        assert_eq!(sent.len(), 1);
        assert_eq!((sent[0].port, &sent[0].bytes[..]), (1, &[1, 2, 3][..]));
    });
}

#[test]
fn drop_in_ingress_and_in_egress() {
    on_both(|engine| {
        let drop = |code: &mut Code| code.set("standard_metadata.egress_spec", 511);
        let mut device = device(
            engine,
            program(|code| code.when("hdr.h.op", 1, drop), |code| code.when("hdr.h.op", 2, drop)),
        );
        assert_eq!(run(&mut device, 0, packet(1, 0)), []);
        assert_eq!(run(&mut device, 0, packet(2, 0)), []);
        assert_eq!(run(&mut device, 0, packet(3, 0)).len(), 1);
        assert_eq!(drops(&device), [(DropReason::IngressDrop, 1), (DropReason::EgressDrop, 1)]);
    });
}

#[test]
fn multicast_wins_over_drop_and_numbers_its_copies() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.copy("hdr.h.arg", "standard_metadata.mcast_grp");
                    code.set("standard_metadata.egress_spec", 511);
                },
                |code| {
                    code.copy("standard_metadata.egress_rid", "hdr.h.a");
                    code.copy("standard_metadata.instance_type", "hdr.h.b");
                },
            ),
        );
        write(&device, [group(5, &[(2, 20), (1, 10), (2, 21)])]);
        assert_eq!(
            run(&mut device, 0, packet(0, 5)),
            [(1, 0, 0, 5, 10, 5, 17), (2, 0, 0, 5, 20, 5, 17), (2, 0, 0, 5, 21, 5, 17)]
        );
        assert_eq!(run(&mut device, 0, packet(0, 6)), []);
        assert_eq!(drops(&device), [(DropReason::NoReplicas, 1)]);
    });
}

#[test]
fn an_ingress_clone_is_the_packet_as_received() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.set("meta.kept", 7);
                    code.set("meta.lost", 8);
                    code.request(CLONE, &[3, 1]);
                    code.set("hdr.h.op", 99);
                    code.set("standard_metadata.egress_spec", 1);
                },
                |code| {
                    code.when("standard_metadata.instance_type", 1, |code| {
                        code.copy("meta.kept", "hdr.h.a");
                        code.copy("meta.lost", "hdr.h.b");
                    });
                    code.when("standard_metadata.instance_type", 0, |code| {
                        code.copy("meta.lost", "hdr.h.b");
                    });
                },
            ),
        );
        assert_eq!(run(&mut device, 0, packet(0, 5)), [(1, 0, 99, 5, 0, 8, 17)]);
        assert_eq!(drops(&device), [(DropReason::NoCloneSession, 1)]);
        write(&device, [session(3, &[(4, 0)])]);
        assert_eq!(
            run(&mut device, 0, packet(0, 5)),
            [(1, 0, 99, 5, 0, 8, 17), (4, 0, 0, 5, 7, 0, 17)]
        );
        assert_eq!(device.statistics().cloned, 1);
    });
}

#[test]
fn an_egress_clone_is_the_packet_at_the_end_of_egress() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| code.set("standard_metadata.egress_spec", 1),
                |code| {
                    code.when("standard_metadata.instance_type", 0, |code| {
                        code.set("meta.kept", 7);
                        code.set("meta.lost", 8);
                        code.set("hdr.h.op", 50);
                        code.set("hdr.x.$valid", 1);
                        code.request(CLONE, &[3, 1]);
                        code.set("standard_metadata.egress_spec", 511);
                    });
                    code.when("standard_metadata.instance_type", 2, |code| {
                        code.copy("meta.kept", "hdr.h.a");
                        code.copy("standard_metadata.packet_length", "hdr.h.b");
                    });
                },
            ),
        );
        write(&device, [session(3, &[(4, 0)])]);
        // The original is dropped; its clone has the added header and counts it.
        assert_eq!(run(&mut device, 0, packet(0, 5)), [(4, 0, 50, 5, 7, 18, 18)]);
    });
}

#[test]
fn a_clone_session_may_multicast_and_cut() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.request(CLONE, &[9, 0]);
                    code.set("standard_metadata.egress_spec", 511);
                },
                |code| code.copy("standard_metadata.egress_rid", "hdr.h.a"),
            ),
        );
        write(&device, [group(2, &[(6, 60)])]);
        let content = CloneSession {
            multicast_group: Some(2),
            packet_length_bytes: Some(12),
            ..CloneSession::default()
        };
        write(&device, [Update::InsertCloneSession { session: 9, content }]);
        assert_eq!(run(&mut device, 0, packet(1, 5)), [(6, 0, 1, 5, 60, 0, 12)]);
    });
}

#[test]
fn resubmission_starts_over_with_the_field_list() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.when("standard_metadata.instance_type", 0, |code| {
                        code.set("hdr.h.op", 77);
                        code.set("meta.kept", 3);
                        code.set("meta.lost", 3);
                        code.set("standard_metadata.mcast_grp", 4);
                        code.request(RESUBMIT, &[1]);
                    });
                    code.when("standard_metadata.instance_type", 6, |code| {
                        code.copy("meta.kept", "hdr.h.a");
                        code.copy("meta.lost", "hdr.h.b");
                        code.set("standard_metadata.egress_spec", 2);
                    });
                },
                nothing,
            ),
        );
        assert_eq!(run(&mut device, 8, packet(1, 5)), [(2, 0, 1, 5, 3, 0, 17)]);
        assert_eq!(device.statistics().resubmitted, 1);
    });
}

#[test]
fn recirculation_parses_the_deparsed_packet() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.set("standard_metadata.egress_spec", 2);
                    code.when("standard_metadata.instance_type", 4, |code| {
                        code.copy("meta.kept", "hdr.h.a");
                        code.copy("standard_metadata.packet_length", "hdr.h.b");
                    });
                },
                |code| {
                    code.when("hdr.h.op", 1, |code| {
                        code.set("hdr.h.op", 2);
                        code.set("hdr.x.$valid", 1);
                        code.set("meta.kept", 6);
                        code.request(RECIRCULATE, &[1]);
                    });
                },
            ),
        );
        assert_eq!(run(&mut device, 8, packet(1, 5)), [(2, 0, 2, 5, 6, 18, 18)]);
        assert_eq!(device.statistics().recirculated, 1);
    });
}

#[test]
fn recirculation_has_a_rate_of_its_own() {
    on_both(|engine| {
        let traffic_manager = TrafficManagerOptions {
            recirculation: PortOptions {
                // 17 bytes take 17 microseconds.
                rate_bps: Some(8_000_000),
                latency_ps: 5,
                ..PortOptions::internal()
            },
            ..TrafficManagerOptions::default()
        };
        let options = DeviceOptions { traffic_manager, ..on(engine) };
        let recirculate_twice = program(nothing, |code| {
            code.add("hdr.h.op", 255);
            code.request(RECIRCULATE, &[0]);
            code.when("hdr.h.op", 0, |code| code.set("standard_metadata.egress_spec", 511));
        });
        let mut device = Device::new(recirculate_twice, options).expect("loads");
        device.inject(0, 0, packet(3, 0)).expect("not in the past");
        device.inject(0, 0, packet(1, 0)).expect("not in the past");
        device.run_to_completion().expect("no assertion fails");
        assert_eq!(device.now_ps(), 2 * (17 * MICROSECOND + 5));
        assert_eq!(drops(&device), [(DropReason::EgressDrop, 2)]);
    });
}

#[test]
fn endless_passes_end_at_the_limit() {
    on_both(|engine| {
        let endless: [fn(&mut Code); 2] =
            [|code| code.request(RESUBMIT, &[0]), |code| code.set("meta.kept", 0)];
        for (at, ingress) in endless.into_iter().enumerate() {
            let code = program(ingress, |code| {
                code.request(CLONE, &[1, 0]);
                code.request(RECIRCULATE, &[0]);
            });
            let options = DeviceOptions { pass_limit: Some(100), ..on(engine) };
            let mut device = Device::new(code, options).expect("loads");
            write(&device, [session(1, &[(1, 0)])]);
            assert_eq!(run(&mut device, 0, packet(1, 5)), [], "program {at}");
            assert!(device.statistics().drops[&DropReason::PassLimit] > 0, "program {at}");
            assert_eq!(device.next_event_ps(), None);
        }
    });
}

#[test]
fn truncate_takes_the_smallest_length() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.request(TRUNCATE, &[12]);
                    code.request(TRUNCATE, &[15]);
                },
                nothing,
            ),
        );
        assert_eq!(run(&mut device, 0, packet(1, 5)), [(0, 0, 1, 5, 0, 0, 12)]);
    });
}

#[test]
fn digests_carry_the_value_at_the_call() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| {
                    code.request(DIGEST, &[4]);
                    code.request(DIGEST, &[5]);
                    code.set("standard_metadata.egress_spec", 511);
                },
                |code| code.request(DIGEST, &[6]),
            ),
        );
        assert_eq!(run(&mut device, 0, packet(1, 5)), []);
        let values: Vec<(String, u64)> = device
            .drain_digests()
            .iter()
            .map(|digest| {
                (format!("{}.{}", digest.name, digest.fields[0].0), digest.fields[0].1.low_u64())
            })
            .collect();
        assert_eq!(values, [("seen.what".to_string(), 4), ("seen.what".to_string(), 5)]);
        assert_eq!(device.statistics().digests, 2);
    });
}

#[test]
fn queueing_metadata_and_priorities() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(
                |code| code.copy("hdr.h.arg", "standard_metadata.priority"),
                |code| {
                    code.when("hdr.h.op", 0, |code| {
                        code.copy("standard_metadata.enq_timestamp", "hdr.h.a");
                        code.copy("standard_metadata.deq_timedelta", "hdr.h.b");
                    });
                    code.when("hdr.h.op", 1, |code| {
                        code.copy("standard_metadata.enq_qdepth", "hdr.h.a");
                        code.copy("standard_metadata.deq_qdepth", "hdr.h.b");
                    });
                },
            ),
        );
        let port = OutputPath::Port(0);
        assert!(device.pause(port, None));
        for (time, op, priority) in [(3, 0, 0), (4, 1, 0), (5, 1, 0), (6, 0, 7)] {
            device.inject(1, time * MICROSECOND, packet(op, priority)).expect("not in the past");
        }
        device.advance(10 * MICROSECOND).expect("no assertion fails");
        assert_eq!(device.queue_depth(port, 0), 3);
        assert_eq!(outputs(&mut device), []);
        assert!(device.resume(port, None));
        device.run_to_completion().expect("no assertion fails");
        let now = 10 * MICROSECOND;
        let got = outputs(&mut device);
        assert_eq!(
            got,
            [
                (0, now, 0, 7, 6, 4, 17),
                (0, now, 0, 0, 3, 7, 17),
                (0, now, 1, 0, 1, 1, 17),
                (0, now, 1, 0, 2, 0, 17)
            ]
        );
    });
}

#[test]
fn full_queues_drop() {
    on_both(|engine| {
        let mut device = device(engine, program(nothing, nothing));
        let port = OutputPath::Port(0);
        let depth = DeviceItem::QueueDepth { packets: 2, port: Some(0), priority: None };
        assert!(device.execute(Batch::one(depth)).is_ok());
        device.pause(port, Some(0));
        for _ in 0..5 {
            device.inject(1, 0, packet(0, 0)).expect("not in the past");
        }
        device.run_to_completion().expect("no assertion fails");
        assert_eq!(drops(&device), [(DropReason::QueueFull, 3)]);
        device.resume(port, Some(0));
        device.run_to_completion().expect("no assertion fails");
        assert_eq!(outputs(&mut device).len(), 2);
    });
}

#[test]
fn a_port_sends_at_its_rate() {
    on_both(|engine| {
        let traffic_manager = TrafficManagerOptions {
            default_port: PortOptions {
                rate_bps: Some(1_000_000_000),
                latency_ps: 100,
                ..PortOptions::default()
            },
            ..TrafficManagerOptions::default()
        };
        let options = DeviceOptions {
            traffic_manager,
            ingress_latency_ps: 1_000,
            egress_latency_ps: 2_000,
            ..on(engine)
        };
        let mut device = Device::new(program(nothing, nothing), options).expect("loads");
        for _ in 0..3 {
            device.inject(1, 0, packet(0, 0)).expect("not in the past");
        }
        device.run_to_completion().expect("no assertion fails");
        let times: Vec<u64> = outputs(&mut device).iter().map(|seen| seen.1).collect();
        assert_eq!(times, [139_100, 275_100, 411_100]);
    });
}

#[test]
fn a_failed_assertion_stops_the_run() {
    on_both(|engine| {
        let mut device = device(engine, program(|code| code.assert_is("hdr.h.op", 1), nothing));
        device.inject(0, 0, packet(1, 0)).expect("not in the past");
        device.inject(0, 9, packet(2, 0)).expect("not in the past");
        let error = device.run_to_completion().expect_err("the second packet fails");
        match &error {
            DeviceError::AssertionFailed { packet, time_ps, block, .. } => {
                assert_eq!((*packet, *time_ps, &**block), (1, 9, "My_ig"));
            }
            other => panic!("{other}"),
        }
        assert_eq!(error.to_string(), "`assert` in `My_ig` did not hold for packet 1 at 9 ps");
    });
}

#[test]
fn time_does_not_go_back() {
    on_both(|engine| {
        let mut device = device(engine, program(nothing, nothing));
        device.advance(10).expect("no assertion fails");
        assert_eq!(
            device.inject(0, 9, packet(0, 0)),
            Err(DeviceError::TimeWentBack { now_ps: 10, given_ps: 9 })
        );
    });
}

#[test]
fn programs_without_a_device_are_refused() {
    on_both(|engine| {
        let mut other = (*program(nothing, nothing)).clone();
        other.architecture = "unknown".into();
        let error = Device::new(Arc::new(other), on(engine)).expect_err("no such device");
        let LoadError::UnsupportedArchitecture { supported, .. } = &error else {
            panic!("{error}")
        };
        assert!(supported.contains(&"v1model"));
        let message = "no device runs programs for `unknown`; there are devices for: ";
        assert_eq!(error.to_string(), format!("{message}{}", supported.join(", ")));

        let calls = |code: &mut Code| {
            code.push(ir::Operation::CallExtern {
                target: ir::ExternId(0),
                method: "work".into(),
                arguments: Vec::new(),
                results: Vec::new(),
                effects: ir::CallEffects::default(),
            });
        };
        let mut other = (*program(calls, nothing)).clone();
        other.externs.push(ir::Extern {
            type_name: "Engine".into(),
            instance: "my_engine".into(),
            arguments: Vec::new(),
            origin: ir::OriginId(0),
        });
        let error = Device::new(Arc::new(other), on(engine)).expect_err("unknown extern");
        let problem = ExternProblem {
            name: "my_engine.work (of Engine)".into(),
            span: source::Span::NONE,
            problem: None,
        };
        assert_eq!(error, LoadError::UnsupportedExterns(vec![problem]));
    });
}

fn write_cell(device: &Device, index: u64, value: u64) {
    let (register, cells) = (RegisterId(0), CellRange::one(index));
    let values = Bits::from_u64(32, value).into();
    assert!(device.execute(Batch::one(Update::WriteRegister { register, cells, values })).is_ok());
}

#[test]
fn a_swapped_program_takes_registers_over() {
    on_both(|engine| {
        let mut device = device(engine, program(|code| code.set("hdr.h.a", 1), nothing));
        let second = program(|code| code.set("hdr.h.a", 2), nothing);
        write_cell(&device, 2, 55);
        assert!(!device.swap());
        device.load_second(second).expect("loads");
        assert_eq!(run(&mut device, 0, packet(0, 0))[0].4, 1);
        // One packet is in flight during the swap and stays with the first program.
        device.pause(OutputPath::Port(0), None);
        assert_eq!(run(&mut device, 0, packet(0, 0)), []);
        assert!(device.swap());
        assert_eq!(device.loaded_programs(), 2);
        assert_eq!(run(&mut device, 0, packet(0, 0)), []);
        device.resume(OutputPath::Port(0), None);
        device.run_to_completion().expect("no assertion fails");
        let seen: Vec<u32> = outputs(&mut device).iter().map(|seen| seen.4).collect();
        assert_eq!(seen, [1, 2]);
        assert_eq!(device.loaded_programs(), 1);
        let carried = device.cells().register(RegisterId(0)).and_then(|cells| cells.read(2));
        assert_eq!(carried, Some(Bits::from_u64(32, 55)));
    });
}

/// Steps of a trace from the device, without those of the interpreter.
fn outline(node: &TraceNode) -> String {
    let mut node = node.clone();
    fn without_blocks(node: &mut TraceNode) {
        node.steps.retain(|step| step.step != "block");
        node.steps.iter_mut().for_each(without_blocks);
    }
    without_blocks(&mut node);
    text(&node)
}

#[test]
fn traces_say_where_each_pass_comes_from() {
    let code = program(
        |code| {
            code.when("standard_metadata.instance_type", 0, |code| {
                code.request(CLONE, &[1, 0]);
                code.request(RESUBMIT, &[0]);
            });
            code.set("standard_metadata.egress_spec", 511);
        },
        nothing,
    );
    let mut device = Device::new(code, DeviceOptions { trace: true, ..DeviceOptions::default() })
        .expect("loads");
    write(&device, [session(1, &[(4, 0)])]);
    run(&mut device, 2, packet(0, 0));
    let traces = device.drain_traces();
    assert_eq!(traces.len(), 1);
    assert_eq!(
        outline(&traces[0]),
        "\
packet 0
  pass 1: ingress from port 2, at 0 s
    clone to session 1
    enqueue for port 4, queue 0
    resubmit
  pass 2: egress to port 4, queue 0, cloned from pass 1, at 0 s
    transmit to port 4 at 0 s, 17 bytes
  pass 3: ingress, resubmitted from pass 1, at 0 s
    drop: ingress ended with the drop port as egress_spec
"
    );
    assert!(text(&traces[0]).contains("parser"));
}

#[test]
fn traces_of_endless_packets_end() {
    let code = program(|code| code.request(RESUBMIT, &[0]), nothing);
    let mut device = Device::new(code, DeviceOptions { trace: true, ..DeviceOptions::default() })
        .expect("loads");
    run(&mut device, 2, packet(0, 0));
    let traces = device.drain_traces();
    assert_eq!(traces[0].steps.len(), PASSES_KEPT_PER_PACKET as usize + 1);
    let text = text(&traces[0]);
    assert!(text.contains("\n  pass 100: ingress, resubmitted from pass 99, at 0 s\n"), "{text}");
    assert!(
        text.ends_with("\n  … 99,900 further passes not shown (1 dropped: pass limit)\n"),
        "{text}"
    );
    let json = json(&traces[0]);
    assert!(json.contains(r#"{"step":"ingress","pass":2,"cause":"resubmission","from_pass":1,"#));
    let rest = r#"{"step":"not_shown","name":"passes","count":99900,"dropped":{"pass limit":1}}"#;
    assert!(json.contains(rest));
}

#[test]
fn ports_have_nine_bits() {
    on_both(|engine| {
        let mut device = device(
            engine,
            program(|code| code.copy("hdr.h.arg", "standard_metadata.mcast_grp"), nothing),
        );
        assert!(device.inject(511, 0, packet(0, 0)).is_ok());
        let refused = device.inject(512, 0, packet(0, 0)).expect_err("there is no such port");
        assert_eq!(refused, DeviceError::NoSuchPort { port: 512, largest: 511 });
        assert_eq!(refused.to_string(), "there is no port 512: the largest is 511");

        write(&device, [group(1, &[(3, 1), (515, 2)])]);
        device.inject(0, 0, packet(0, 1)).expect("in order");
        device.run_to_completion().expect("no assertion fails");
        let ports: Vec<u32> = device.drain_transmitted().iter().map(|sent| sent.port).collect();
        assert!(ports.contains(&3) && ports.iter().all(|port| *port < 512), "{ports:?}");
        assert_eq!(device.statistics().drops.get(&DropReason::NoSuchPort), Some(&1));
    });
}

#[test]
fn runs_repeat_on_both_engines() {
    let once = |engine| {
        let code = program(
            |code| {
                code.copy("hdr.h.arg", "standard_metadata.mcast_grp");
                code.request(CLONE, &[1, 1]);
            },
            |code| code.copy("standard_metadata.deq_timedelta", "hdr.h.a"),
        );
        let traffic_manager = TrafficManagerOptions {
            default_port: PortOptions { rate_bps: Some(10_000_000), ..PortOptions::default() },
            ..TrafficManagerOptions::default()
        };
        let options = DeviceOptions { traffic_manager, ..on(engine) };
        let mut device = Device::new(code, options).expect("loads");
        write(&device, [session(1, &[(3, 0)])]);
        write(&device, [group(1, &[(1, 1), (2, 2), (3, 3)])]);
        for number in 0..200u64 {
            let bytes = packet(number as u8, (number % 2) as u8);
            device.inject((number % 4) as u32, number * 1_234_567, bytes).expect("in order");
        }
        device.run_to_completion().expect("no assertion fails");
        (device.drain_transmitted(), device.statistics())
    };
    let first = once(EngineChoice::Interpreter);
    assert_eq!(first, once(EngineChoice::Interpreter));
    assert_eq!(first, once(EngineChoice::Jit));
}
