// SPDX-License-Identifier: Apache-2.0
//! The text form: what is printed parses back, a written program prints as it was written, and errors
//! stand where they belong.

mod arbitrary;

use super::*;
use crate::{BlockId, OriginId, RegionId};
use arbitrary::Draw;
use proptest::prelude::*;

proptest! {
    #[test]
    fn printed_programs_parse_back(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        let program = Draw::new(&bytes).program();
        let text = print(&program);
        match parse(&text) {
            Err(errors) => prop_assert!(false, "{}\n{text}", errors[0]),
            Ok(parsed) => {
                prop_assert_eq!(&print(&parsed), &text);
                prop_assert_eq!(parsed, program);
            }
        }
    }

    #[test]
    fn any_text_gives_a_program_or_errors(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "ir", "slot", "region", "control", "t0", "block0", ":", "=", "{", "}", "(", ")", "[",
                "]", "bit", "<", "8", ">", "unsigned", "@", "0", "\n", "8w5", "load", "store", "\"x\"",
                "table", "key", "entry", "goto", "return", "#", ",", "\"", "element", "-", "8w", "w",
                "register_access", "update", "yield", "origin", "header_type", "99999999999999",
            ]),
            0..60,
        )
    ) {
        let _ = parse(&pieces.join(" "));
    }

    #[test]
    fn any_characters_give_a_program_or_errors(text in ".*") {
        let _ = parse(&text);
    }
}

/// A program as a person would write it, with one of everything.
const WRITTEN: &str = r#"ir v1model
error NoError
error PacketTooShort
slot hdr.eth.$valid: bit<1> bool @1
slot hdr.eth.dst: bit<48> unsigned @1
slot hdr.eth.type: bit<16> enum EtherType { ipv4 = 16w0x800, ipv6 = 16w0x86dd } @1
slot hdr.mpls[0].$valid: bit<1> bool @1
slot hdr.mpls[0].label: bit<20> unsigned @1
slot hdr.mpls[1].$valid: bit<1> bool @1
slot hdr.mpls[1].label: bit<20> unsigned @1
slot hdr.mpls.$next: bit<32> unsigned @1
slot "the port": bit<9> unsigned @1
slot error: bit<16> error @1
slot options: varbit<320> unsigned @1
header_type eth_t {
  dst: bit<48> unsigned
  type: bit<16> enum EtherType { ipv4 = 16w0x800, ipv6 = 16w0x86dd }
}
header_type mpls_t {
  label: bit<20> unsigned
}
header hdr.eth: eth_t at hdr.eth.$valid
header hdr.mpls[0]: mpls_t at hdr.mpls[0].$valid
header hdr.mpls[1]: mpls_t at hdr.mpls[1].$valid
stack hdr.mpls first hdr.mpls[0] headers_per_element 1 size 2 next hdr.mpls.$next
union hdr.either { hdr.mpls[0], hdr.mpls[1] }
table ingress.forward {
  key hdr.eth.dst: exact bit<48> unsigned
  key hdr.eth.type: other best bit<16> unsigned
  action ingress.set table_only
  action NoAction default_only
  const_default NoAction()
  entry priority -1 (exact 48w0x123456789abc, any) runs ingress.set(9w1) @2
  entry priority 2 (prefix 48w0x100000000000 length 4, ternary 16w0 mask 16w0xff) runs ingress.set(9w2) @2
  entry priority 3 (any, range 16w1 to 16w5) runs ingress.set(9w3) @2
  const_entries
  size 1024
  implementation profile
  direct_counter direct
  direct_meter direct
  idle_timeout
  annotation "@name(\"x\")"
} @2
action ingress.set(port at "the port" annotations ["@p4runtime_translation"]) runs ingress.set annotations ["@a", "@b"] @3
action NoAction() runs NoAction @0
register counts: bit<32> unsigned size 1024 initial 32w0 @4
counter direct: packets_and_bytes direct @4
counter indirect: packets size 16 @4
meter direct: bytes direct @4
meter indirect: packets size 16 @4
action_profile profile size 128 selector crc16 14 @4
calculation calc_0 width 32 polynomial 79764919 initial 4294967295 final_xor 0 reflect_input @4
value_set set size 4 {
  key type: ternary bit<16> unsigned
} @4
request clone_i2e label "" { session: bit<32>, options: varbit<320> }
extern fold instance my_fold arguments ["16", "{ 1, 2 }"] @4
extern free_function @4
field_list 1 { "the port", hdr.eth.type }
region parser MyParser {
  block0 start:
    extract hdr.eth @5
    extract element hdr.mpls[32w0] member 0 varbit 32w8 @5
    t0: bit<16> = load hdr.eth.type @5
    t1: bit<4> = lookahead @5
    advance 32w8 @5
    t2: bit<32> = packet_length @5
    t3: bit<1> = value_set_contains set(t0) @5
    switch t0 { 16w0x800: block1, 16w0x86dd: block0 } default block2 @6
  block1:
    goto block2 @6
  block2 "the end":
    reject 16w1 @6
}
region control MyIngress {
  undefined t4: varbit<8>
  block0:
    t0: bit<48> = load hdr.eth.dst @5
    t1: bit<16> = load hdr.eth.type @5
    t2: bit<1>, t3: bit<32> = apply ingress.forward(t0, t1) @5
    t5: bit<32> = register_access counts[t3] guard t2 update {
      t6: bit<32> = add t5, 32w1 @5
      yield t6
    } @5
    register_access counts[t5] update {
      yield 32w0xffffffff
    } @5
    t7: bit<20> = load element hdr.mpls[t3] member 0 field 1 @5
    store element hdr.mpls[t3] member 0 field 1, t7 @5
    t8: bit<16> = slice t5[31:16] @5
    t9: bit<16> = select t2, t8, 16w3 @5
    t10: bit<32> = zero_extend t9 @5
    t11: bit<32> = negate t10 @5
    count indirect[t11] @5
    t12: bit<2> = meter indirect[t11] @5
    t13: bit<16> = hash crc16 (t0, t1) payload @5
    t14: bit<16> = random 16w0 to t13 at s @5
    request clone_i2e(32w1, t4) @5
    log "value {}" (t14) @5
    assert t2 @5
    assume t2 @5
    t15: bit<8>, t16: bit<8> = call my_fold method put (t14) @5
    call free_function () @5
    shift_stack hdr.mpls by -1 @5
    branch t2, block1, block2 @6
  block1:
    exit @6
  block2:
    return @6
}
region deparser MyDeparser {
  block0:
    emit hdr.eth @5
    emit element hdr.mpls[32w1] member 0 @5
    return @6
}
region action ingress.set {
  block0:
    count_direct direct @5
    t0: bit<2> = meter_direct direct @5
    return @6
}
region action NoAction {
  block0:
    return @6
}
block p parser MyParser runs MyParser parser_error error {
  parameter b storage "" in {  }
  parameter parsedHdr storage hdr out { hdr.eth.$valid, hdr.eth.dst }
} @6
block dep deparser MyDeparser runs MyDeparser {
} @6
origin @0
origin @1 file 0 bytes 10 to 20
origin @2 file 0 bytes 30 to 40 node 7 name ingress.forward
origin @3 parent @2
origin @4
origin @5
origin @6 file 4294967295 bytes 1 to 2
"#;

#[test]
fn written_programs_print_as_they_were_written() {
    let program = parse(WRITTEN).unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_eq!(print(&program), WRITTEN);
}

#[test]
fn origins_can_be_left_out() {
    let program = parse(WRITTEN).expect("it parses");
    let bare = parse(&print_without_origins(&program)).expect("it parses");
    assert_eq!(print_without_origins(&bare), print_without_origins(&program));
    assert_eq!(bare.origins.len(), 1);
    assert!(bare.slots.iter().all(|slot| slot.origin == OriginId(0)));
}

#[test]
fn sites_know_their_lines() {
    let parsed = parse_with_lines(WRITTEN).expect("it parses");
    let line = |site: ItemRef| {
        let line = parsed.lines[&site] as usize;
        WRITTEN.lines().nth(line - 1).expect("the line exists").trim()
    };
    let (region, block) = (RegionId(1), BlockId(0));
    assert_eq!(line(ItemRef::Slot(1)), "slot hdr.eth.dst: bit<48> unsigned @1");
    assert_eq!(line(ItemRef::TableKey(0, 1)), "key hdr.eth.type: other best bit<16> unsigned");
    assert_eq!(line(ItemRef::TableDefault(0)), "const_default NoAction()");
    assert_eq!(
        line(ItemRef::UpdateInstruction(region, block, 3, 0)),
        "t6: bit<32> = add t5, 32w1 @5"
    );
    assert_eq!(line(ItemRef::Terminator(region, block)), "branch t2, block1, block2 @6");
    assert_eq!(line(ItemRef::BasicBlock(region, BlockId(2))), "block2:");
}

fn check_error(text: &str, expected: &str) {
    let errors = parse(text).expect_err("the text is wrong");
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.join("\n"), expected);
}

#[test]
fn errors_stand_where_they_belong() {
    check_error("solt x", "1:1: expected an item, found `solt`");
    check_error(
        "slot x: bit<8>",
        "1:14: expected `unsigned`, `signed`, `bool`, `error` or `enum` before the end of the item",
    );
    check_error(
        "slot x: int<8> bool\nslot y bool",
        "1:9: expected `bit`, found `int`\n2:8: expected `:`, found `bool`",
    );
    check_error("header h: t at x", "1:11: no header type is called `t`");
    check_error(
        "slot x: bit<1> bool\nslot x: bit<1> bool\nfield_list 0 { x }",
        "3:16: more than one slot is called `x`; write # and its number",
    );
    check_error("origin @1", "1:9: origins are numbered in order; this is @0");
    check_error("ir \"x", "1:4: the quoted text has no end on this line");
    let region = |code: &str| format!("region control c {{\nblock0:\n{code}\n}}");
    check_error(&region("t1: bit<8> = not 8w1\nreturn"), "5:1: t0 has no type in region `c`");
    check_error(&region("t0: bit<8> = nott 8w1\nreturn"), "3:14: unknown instruction `nott`");
    check_error(&region("t0: bit<8> = not 8w256\nreturn"), "3:18: `8w256` does not fit its width");
    check_error(&region("not 8w1\nreturn"), "3:1: `not` cannot have 0 results");
    check_error(&region("goto start"), "3:6: expected a basic block, found `start`");
    check_error(&region("return\nblock2:\nreturn"), "4:1: blocks are in order; this is block1");
}
