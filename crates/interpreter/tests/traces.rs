// SPDX-License-Identifier: Apache-2.0
//! Traces of real blocks: what people read, and what programs read.

mod harness;

use harness::{bits, program, run_observed};
use interpreter::trace::{Recorder, TraceNode, render_text, to_json};
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
block code: kind parser, role code
  parser state start
    extract h: fields {p = 1, q = 564}
  parser state the options
    extract v: fields {n = 1, o = 0x0203 (16 bits), z = 4}
    parser error: error PacketTooShort
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
         t6: bit<8> = random 8w5 to 8w5
         request clone(32w1, 8w2)
         log \"hello {}\" (8w1)
         t7: bit<8>, t8: bit<8> = call doubler method both (8w1, 8w2)
         shift_stack s by 1
         store a, 8w0
         exit",
        &[],
        "
block code: kind control, role code
  h.$valid: false -> true
  table t: no hit, key {a = 3}, action count_itself()
    count explicit
  register r: index 1, read 5, written 9
  count n: index 2
  meter m: index 0, colour green
  value set vs: no member, key {type = 7}
  hash crc16: result 49345
  random: low 5, high 5, result 5
  request clone: arguments {session = 0x00000001, reason = 2}
  log: hello 1
  extern doubler.both: arguments [1, 2], results [2, 4]
  shift stack s: by 1
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
    let mut environment = harness::Surroundings { length_bytes: 36, log: vec![] };
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
  block RouterParser: kind parser, role p
    parser state start
      extract hdr.ethernet: fields {dst = 0x0000000000aa, src = 0x000000000000, type = 2048}
    parser state parse_ipv4
      extract hdr.ipv4: fields {version = 4, ihl = 5, tos = 0, length = 22, id = 0, flags = 0, offset = 0, ttl = 64, protocol = 17, checksum = 0, src = 0xc0a80001, dst = 0x0a010203}
    outcome: end
  block RouterIngress: kind control, role ig
    table routes: hit, key {hdr.ipv4.dst = 0x0a010203}, entry (0x0a000000/8), action forward(mac = 0x0000000000fe, port = 3)
      forward.mac: 0x000000000000 -> 0x0000000000fe
      forward.port: 0 -> 3
      hdr.ethernet.src: 0x000000000000 -> 0x0000000000aa
      hdr.ethernet.dst: 0x0000000000aa -> 0x0000000000fe
      meta.egress_port: 0 -> 3
      hdr.ipv4.ttl: 64 -> 63
    outcome: end
  block RouterChecksum: kind control, role ck
    hash csum16: result 44842
    hdr.ipv4.checksum: 0 -> 44842
    outcome: end
  block RouterDeparser: kind deparser, role dep
    emit hdr.ethernet: fields {dst = 0x0000000000fe, src = 0x0000000000aa, type = 2048}
    emit hdr.ipv4: fields {version = 4, ihl = 5, tos = 0, length = 22, id = 0, flags = 0, offset = 0, ttl = 63, protocol = 17, checksum = 44842, src = 0xc0a80001, dst = 0x0a010203}
    outcome: end
";
    assert_eq!(render_text(&tree), expected);
    // A checksum over the outgoing header, its own field included, is zero.
    let outgoing = context.outgoing_packet();
    assert_eq!(outgoing.len(), 36);
    let configuration = store.configuration();
    let sum = interpreter::hash::hash(ir::HashAlgorithm::Csum16, &outgoing[14..34], &configuration);
    assert_eq!(sum, 0);

    let json = to_json(&tree);
    let table = &json["steps"][1]["steps"][0];
    assert_eq!(table["step"], "table");
    assert_eq!(table["hit"], true);
    assert_eq!(table["key"]["hdr.ipv4.dst"]["value"], "0x0a010203");
    assert_eq!(table["steps"][5]["after"]["text"], "63");
}
