// SPDX-License-Identifier: Apache-2.0
//! Traces of packets of a program from P4 source, with places.

use device::trace::{json, text_with_places};
use device::{Device, DeviceOptions};
use ir::OriginId;
use ir::ready::ReadyProgram;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::SourceMap;

fn device() -> (Device, SourceMap) {
    let text = include_str!("program.p4").to_string();
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile("program.p4", text, &InterfacesOnly, &options);
    let ready = ReadyProgram::of(&mut compiled);
    let options = source::RenderOptions { color: false };
    let report = source::render_text(&compiled.map, &compiled.diagnostics, options);
    let ready = ready.unwrap_or_else(|| panic!("{report}"));
    let options = DeviceOptions { trace: true, ..DeviceOptions::default() };
    (Device::new(ready.lowered().clone(), options).expect("loads"), compiled.map)
}

fn packet(ether_type: u16, ttl: u8, protocol: u8, destination: [u8; 4]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend([ttl, protocol]);
    bytes.extend(destination);
    bytes
}

fn check(packet: Vec<u8>, expected: &str) {
    let (mut device, map) = device();
    device.inject(1, 1_500_000_000_000, packet).expect("in order");
    device.run_to_completion().expect("no assertion fails");
    let program = device.program().clone();
    let places = |origin: OriginId| {
        let place = map.location(program.origins.get(origin.index())?.span)?;
        Some(format!("{}:{}", place.file, place.line))
    };
    let traces = device.drain_traces();
    assert_eq!(text_with_places(&traces[0], &places).trim_end(), expected.trim());
}

#[test]
fn a_packet_on_its_way() {
    check(packet(0x800, 64, 1, [10, 1, 2, 3]), "
packet 0
  pass 1: ingress from port 1, at 1.500 s
    parser MyParser
      state start (program.p4:37)
        extract hdr.ethernet {dst = 02:00:00:00:00:01, src = 02:00:00:00:00:02, type = 2048}
        select -> parse_ipv4 (program.p4:38)
      state parse_ipv4 (program.p4:44)
        extract hdr.ipv4 {ttl = 64, protocol = 1, dst_addr = 0x0a010203 (10.1.2.3)}
        select -> parse_request (program.p4:46)
      state parse_request (program.p4:53)
        meta.kind: Kind.none -> Kind.request
    control MyVerify (checksum verification)
    control MyIngress (ingress)
      register MyIngress.seen[3]: reads 0x00000000 (program.p4:84)
      register MyIngress.seen[3]: 0x00000000 -> 0x00000001 (program.p4:85)
      if (program.p4:86): true
      table MyIngress.routes: key {hdr.ipv4.dst_addr = 0x0a010203 (10.1.2.3)}, hit (10.0.0.0/8) priority 1, action MyIngress.forward(port = 3, mac = 02:00:00:00:00:fe) (program.p4:87)
        standard_metadata.egress_spec: 0 -> 3
        hdr.ethernet.dst: 02:00:00:00:00:01 -> 02:00:00:00:00:fe
      switch -> MyIngress.forward (program.p4:87)
      hdr.ipv4.ttl: 64 -> 63
      request digest seen_t {src = 02:00:00:00:00:02, kind = Kind.request} (program.p4:90)
    send digest seen_t
    enqueue for port 3, queue 0
  pass 2: egress to port 3, queue 0, after pass 1, at 1.500 s
    control MyEgress (egress)
    control MyCompute (checksum computation)
    deparser MyDeparser
      emit hdr.ethernet {dst = 02:00:00:00:00:fe, src = 02:00:00:00:00:02, type = 2048}
      emit hdr.ipv4 {ttl = 63, protocol = 1, dst_addr = 0x0a010203 (10.1.2.3)}
    transmit to port 3 at 1.500 s, 20 bytes
");
}

#[test]
fn a_drop_by_a_table() {
    check(packet(0x800, 64, 3, [11, 1, 2, 3]), "
packet 0
  pass 1: ingress from port 1, at 1.500 s
    parser MyParser
      state start (program.p4:37)
        extract hdr.ethernet {dst = 02:00:00:00:00:01, src = 02:00:00:00:00:02, type = 2048}
        select -> parse_ipv4 (program.p4:38)
      state parse_ipv4 (program.p4:44)
        extract hdr.ipv4 {ttl = 64, protocol = 3, dst_addr = 0x0b010203 (11.1.2.3)}
        select -> accept (program.p4:46)
    control MyVerify (checksum verification)
    control MyIngress (ingress)
      register MyIngress.seen[3]: reads 0x00000000 (program.p4:84)
      register MyIngress.seen[3]: 0x00000000 -> 0x00000001 (program.p4:85)
      if (program.p4:86): true
      table MyIngress.routes: key {hdr.ipv4.dst_addr = 0x0b010203 (11.1.2.3)}, miss, default action MyIngress.drop() (program.p4:87)
        standard_metadata.egress_spec: 0 -> 511
      switch -> MyIngress.drop (program.p4:87)
    drop: ingress ended with the drop port as egress_spec, set by action MyIngress.drop of table MyIngress.routes (program.p4:71)
");
}

#[test]
fn a_drop_outside_of_tables() {
    check(
        packet(0x800, 0, 6, [10, 1, 2, 3]),
        "
packet 0
  pass 1: ingress from port 1, at 1.500 s
    parser MyParser
      state start (program.p4:37)
        extract hdr.ethernet {dst = 02:00:00:00:00:01, src = 02:00:00:00:00:02, type = 2048}
        select -> parse_ipv4 (program.p4:38)
      state parse_ipv4 (program.p4:44)
        extract hdr.ipv4 {ttl = 0, protocol = 6, dst_addr = 0x0a010203 (10.1.2.3)}
        select -> reject (program.p4:46)
      outcome: reject (program.p4:34)
    control MyVerify (checksum verification)
    control MyIngress (ingress)
      register MyIngress.seen[3]: reads 0x00000000 (program.p4:84)
      register MyIngress.seen[3]: 0x00000000 -> 0x00000001 (program.p4:85)
      if (program.p4:86): false
      hdr.ipv4: set invalid
      standard_metadata.egress_spec: 0 -> 511
    drop: ingress ended with the drop port as egress_spec (program.p4:96)
",
    );
}

#[test]
fn a_parser_that_rejects() {
    check(packet(0x800, 8, 2, [10, 1, 2, 3]), "
packet 0
  pass 1: ingress from port 1, at 1.500 s
    parser MyParser
      state start (program.p4:37)
        extract hdr.ethernet {dst = 02:00:00:00:00:01, src = 02:00:00:00:00:02, type = 2048}
        select -> parse_ipv4 (program.p4:38)
      state parse_ipv4 (program.p4:44)
        extract hdr.ipv4 {ttl = 8, protocol = 2, dst_addr = 0x0a010203 (10.1.2.3)}
        select -> reject (program.p4:46)
      outcome: reject (program.p4:34)
    control MyVerify (checksum verification)
    control MyIngress (ingress)
      register MyIngress.seen[3]: reads 0x00000000 (program.p4:84)
      register MyIngress.seen[3]: 0x00000000 -> 0x00000001 (program.p4:85)
      if (program.p4:86): true
      table MyIngress.routes: key {hdr.ipv4.dst_addr = 0x0a010203 (10.1.2.3)}, hit (10.0.0.0/8) priority 1, action MyIngress.forward(port = 3, mac = 02:00:00:00:00:fe) (program.p4:87)
        standard_metadata.egress_spec: 0 -> 3
        hdr.ethernet.dst: 02:00:00:00:00:01 -> 02:00:00:00:00:fe
      switch -> MyIngress.forward (program.p4:87)
      hdr.ipv4.ttl: 8 -> 7
      request digest seen_t {src = 02:00:00:00:00:02, kind = Kind.none} (program.p4:90)
    send digest seen_t
    enqueue for port 3, queue 0
  pass 2: egress to port 3, queue 0, after pass 1, at 1.500 s
    control MyEgress (egress)
    control MyCompute (checksum computation)
    deparser MyDeparser
      emit hdr.ethernet {dst = 02:00:00:00:00:fe, src = 02:00:00:00:00:02, type = 2048}
      emit hdr.ipv4 {ttl = 7, protocol = 2, dst_addr = 0x0a010203 (10.1.2.3)}
    transmit to port 3 at 1.500 s, 20 bytes
");
}

#[test]
fn a_check_that_fails() {
    check(packet(0x800, 255, 6, [10, 1, 2, 3]), "
packet 0
  pass 1: ingress from port 1, at 1.500 s
    parser MyParser
      state start (program.p4:37)
        extract hdr.ethernet {dst = 02:00:00:00:00:01, src = 02:00:00:00:00:02, type = 2048}
        select -> parse_ipv4 (program.p4:38)
      state parse_ipv4 (program.p4:44)
        extract hdr.ipv4 {ttl = 255, protocol = 6, dst_addr = 0x0a010203 (10.1.2.3)}
        parser error HeaderTooShort (program.p4:45)
        standard_metadata.parser_error: error.NoError -> error.HeaderTooShort
      outcome: reject with error.HeaderTooShort (program.p4:34)
    control MyVerify (checksum verification)
    control MyIngress (ingress)
      register MyIngress.seen[3]: reads 0x00000000 (program.p4:84)
      register MyIngress.seen[3]: 0x00000000 -> 0x00000001 (program.p4:85)
      if (program.p4:86): true
      table MyIngress.routes: key {hdr.ipv4.dst_addr = 0x0a010203 (10.1.2.3)}, hit (10.0.0.0/8) priority 1, action MyIngress.forward(port = 3, mac = 02:00:00:00:00:fe) (program.p4:87)
        standard_metadata.egress_spec: 0 -> 3
        hdr.ethernet.dst: 02:00:00:00:00:01 -> 02:00:00:00:00:fe
      switch -> MyIngress.forward (program.p4:87)
      hdr.ipv4.ttl: 255 -> 254
      request digest seen_t {src = 02:00:00:00:00:02, kind = Kind.none} (program.p4:90)
    send digest seen_t
    enqueue for port 3, queue 0
  pass 2: egress to port 3, queue 0, after pass 1, at 1.500 s
    control MyEgress (egress)
    control MyCompute (checksum computation)
    deparser MyDeparser
      emit hdr.ethernet {dst = 02:00:00:00:00:fe, src = 02:00:00:00:00:02, type = 2048}
      emit hdr.ipv4 {ttl = 254, protocol = 6, dst_addr = 0x0a010203 (10.1.2.3)}
    transmit to port 3 at 1.500 s, 20 bytes
");
}

#[test]
fn a_packet_that_is_accepted_early() {
    check(
        packet(0x806, 0, 2, [10, 1, 2, 3]),
        "
packet 0
  pass 1: ingress from port 1, at 1.500 s
    parser MyParser
      state start (program.p4:37)
        extract hdr.ethernet {dst = 02:00:00:00:00:01, src = 02:00:00:00:00:02, type = 2054}
        select -> accept (program.p4:38)
    control MyVerify (checksum verification)
    control MyIngress (ingress)
      register MyIngress.seen[3]: reads 0x00000000 (program.p4:84)
      register MyIngress.seen[3]: 0x00000000 -> 0x00000001 (program.p4:85)
      if (program.p4:86): false
      standard_metadata.egress_spec: 0 -> 511
    drop: ingress ended with the drop port as egress_spec (program.p4:96)
",
    );
}

#[test]
fn json_keeps_machine_names() {
    let (mut device, _) = device();
    device.inject(1, 0, packet(0x800, 64, 1, [10, 1, 2, 3])).expect("in order");
    device.run_to_completion().expect("no assertion fails");
    let json = json(&device.drain_traces()[0]);
    assert!(json.starts_with(
        r#"{"step":"packet","name":"0","steps":[{"step":"ingress","pass":1,"cause":"port","port":1,"time_ps":0,"steps":[{"step":"block","name":"MyParser","kind":"parser","role":"p","stage":"parser","steps":"#
    ));
    assert!(json.contains(r#""arguments":{"port":{"value":"0x003","width_bits":9,"text":"3"},"#));
    assert!(!json.contains("place"));
}
