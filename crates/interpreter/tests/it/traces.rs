// SPDX-License-Identifier: Apache-2.0
//! Traces of real blocks: what people read, and what programs read.

use crate::harness::{bits, program, run_observed};
use interpreter::trace::{
    Recorder, STEPS_KEPT_PER_BLOCK, TraceNode, render_text, render_text_with, to_json,
    to_json_with_places,
};
use interpreter::{Interpreter, PacketContext};
use ir::{ActionId, KeyPattern, TableId};
use state::{Batch, BoundAction, Cells, NewEntry, Store, Update};
use std::sync::Arc;

fn check_text(kind: &str, code: &str, packet: &[u8], expected: &str) {
    let program = program(kind, code);
    let mut recorder = Recorder::new(program.clone());
    run_observed(program, packet, vec![], Some(&mut recorder));
    let text: String = recorder.take().iter().map(render_text).collect();
    assert_eq!(text.trim_end(), expected.trim());
}

#[test]
fn parsers_show_states_and_headers() {
    check_text(
        "parser",
        "extract h
         goto block1
         block1 \"the options\":
         extract v varbit 32w16
         advance 32w9
         return",
        &[0x12, 0x34, 1, 2, 3, 4],
        "
parser code
  state start
    extract h {p = 1, q = 564}
  state the options
    extract v {n = 1, o = 0x0203 (16 bits), z = 4}
    parser error PacketTooShort
    error: error.NoError -> error.PacketTooShort
  outcome: reject with error.PacketTooShort
",
    );
}

#[test]
fn controls_show_what_they_do() {
    check_text(
        "control",
        "store h.$valid, 1w1
         t0: bit<1>, t1: bit<32> = apply t(8w3)
         t2: bit<12> = register_access r[8w1] update {
           yield 12w9
         }
         count n[8w2]
         t3: bit<2> = meter m[8w0]
         t4: bit<1> = value_set_contains vs(16w7)
         t5: bit<16> = hash crc16 (8w1)
         t6: bit<8> = random 8w5 to 8w5 at s
         request clone(32w1, 8w2)
         log \"hello {}\" (8w1)
         t7: bit<8>, t8: bit<8> = call doubler method both (8w1, 8w2)
         shift_stack s by 1
         store a, 8w0
         exit",
        &[],
        "
control code
  h: set valid
  table t: key {a = 3}, miss, default action count_itself()
    count explicit
  register r[1]: 5 -> 9
  count n[2]
  meter m[0]: green
  value set vs does not contain {type = 7}
  hash crc16: 49345
  random 5 .. 5: 5
  request clone {session = 0x00000001, reason = 2}
  log: hello 1
  extern doubler.both: arguments [1, 2], results [2, 4]
  shift stack s by 1
  outcome: exit
",
    );
}

#[test]
fn a_whole_packet_is_one_tree() {
    let program = Arc::new(ir::text::parse(include_str!("data/router.ir")).expect("it parses"));
    assert_eq!(ir::verify(&program), Ok(()));
    let store = Store::new(program.clone()).expect("the program is sound");
    let mut cells = Cells::new(&program);
    let keys = vec![KeyPattern::Prefix { value: bits(32, 0x0a000000), length_bits: 8 }];
    let action = BoundAction { action: ActionId(0), arguments: vec![bits(48, 0xfe), bits(9, 3)] };
    let entry = NewEntry::direct(keys, 0, action);
    let update = Update::InsertEntry { table: TableId(0), entry };
    assert!(store.write_batch(&mut cells, Batch::updates(0, [update])).is_ok());

    let interpreter = Interpreter::new(program.clone());
    let mut context = PacketContext::new(&program);
    let mut packet = vec![0u8; 36];
    packet[5] = 0xaa;
    packet[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0x00]);
    packet[16..18].copy_from_slice(&[0, 22]);
    packet[22..24].copy_from_slice(&[64, 17]);
    packet[26..34].copy_from_slice(&[192, 168, 0, 1, 10, 1, 2, 3]);
    context.set_packet(&packet);
    let mut recorder = Recorder::new(program.clone());
    let mut environment = crate::harness::Surroundings { length_bytes: 36, log: vec![] };
    for block in 0..program.blocks.len() {
        interpreter.run_block(
            block,
            &mut context,
            &store.configuration(),
            &mut cells,
            &mut environment,
            Some(&mut recorder),
        );
    }
    let tree = TraceNode::new("packet", "1").with("port", 0u64).with_steps(recorder.take());
    let expected = "packet 1: port 0
  parser RouterParser
    state start
      extract hdr.ethernet {dst = 00:00:00:00:00:aa, src = 00:00:00:00:00:00, type = 2048}
      select -> parse_ipv4
    state parse_ipv4
      extract hdr.ipv4 {version = 4, ihl = 5, tos = 0, length = 22, id = 0, flags = 0, offset = 0, ttl = 64, protocol = 17, checksum = 0, src = 0xc0a80001 (192.168.0.1), dst = 0x0a010203 (10.1.2.3)}
  control RouterIngress (ig)
    if: true
    table routes: key {hdr.ipv4.dst = 0x0a010203 (10.1.2.3)}, hit (10.0.0.0/8), action forward(mac = 00:00:00:00:00:fe, port = 3)
      hdr.ethernet.src: 00:00:00:00:00:00 -> 00:00:00:00:00:aa
      hdr.ethernet.dst: 00:00:00:00:00:aa -> 00:00:00:00:00:fe
      meta.egress_port: 0 -> 3
      hdr.ipv4.ttl: 64 -> 63
  control RouterChecksum (ck)
    hash csum16: 44842
    hdr.ipv4.checksum: 0 -> 44842
  deparser RouterDeparser
    emit hdr.ethernet {dst = 00:00:00:00:00:fe, src = 00:00:00:00:00:aa, type = 2048}
    emit hdr.ipv4 {version = 4, ihl = 5, tos = 0, length = 22, id = 0, flags = 0, offset = 0, ttl = 63, protocol = 17, checksum = 44842, src = 0xc0a80001 (192.168.0.1), dst = 0x0a010203 (10.1.2.3)}
";
    assert_eq!(render_text(&tree), expected);
    // A checksum over the outgoing header, its own field included, is zero.
    let outgoing = context.outgoing_packet();
    assert_eq!(outgoing.len(), 36);
    let configuration = store.configuration();
    let sum = interpreter::hash::hash(
        ir::HashAlgorithm::Csum16,
        &outgoing[14..34],
        configuration.replication(),
    );
    assert_eq!(sum, 0);

    let json = to_json(&tree);
    let table = &json["steps"][1]["steps"][1];
    assert_eq!(table["step"], "table");
    assert_eq!(table["hit"], true);
    assert_eq!(table["key"]["hdr.ipv4.dst"]["value"], "0x0a010203");
    assert_eq!(table["arguments"]["port"]["text"], "3");
    assert_eq!(table["steps"][3]["after"]["text"], "63");
}

#[test]
fn places_stand_at_decisions_and_in_json() {
    let program = program(
        "control",
        "t0: bit<8> = load a
         t1: bit<1> = equal t0, 8w0
         branch t1, block1, block2 @0
         block1:
         store a, 8w1 @0
         goto block2
         block2:
         t2: bit<1>, t3: bit<32> = apply t(8w0)
         switch t3 { 32w0: block3 } default block3
         block3:
         return",
    );
    let mut recorder = Recorder::new(program.clone());
    run_observed(program, &[], vec![], Some(&mut recorder));
    let trees = recorder.take();
    let text = render_text_with(&trees[0], &|_| Some("x.p4:7".into()), &|_| None);
    assert_eq!(
        text,
        "control code
  if (x.p4:7): true
  a: 0 -> 1
  table t: key {a = 0}, miss, default action count_itself() (x.p4:7)
    count explicit
  switch -> count_itself (x.p4:7)
"
    );
    let json = to_json_with_places(&trees[0], &|_| Some("x.p4:7".into()));
    assert_eq!(json["steps"][1]["step"], "store");
    assert_eq!(json["steps"][1]["place"], "x.p4:7");
}

#[test]
fn long_loops_are_cut() {
    let program = program(
        "control",
        "goto block1
         block1:
         t0: bit<16> = load c
         t1: bit<16> = add t0, 16w1
         store c, t1
         t2: bit<1> = less_unsigned t1, 16w60000
         branch t2, block1, block2
         block2:
         return",
    );
    let mut recorder = Recorder::new(program.clone());
    let run = run_observed(program, &[], vec![], Some(&mut recorder));
    let trees = recorder.take();
    assert!(trees[0].step_count() <= STEPS_KEPT_PER_BLOCK + 3, "{}", trees[0].step_count());
    let text = render_text(&trees[0]);
    assert_eq!(run.outcome, interpreter::Outcome::Returned);
    assert!(text.ends_with("\n  … 118,000 further steps not shown\n"));
}
