// SPDX-License-Identifier: Apache-2.0
//! Rules of Tofino's compiler that P4_16 does not know, on the printed programs of all examples: what a
//! parser may select on and write, indexes of stateful tables, register actions, operands of sums.

use crate::tna::{example, examples, small};
use std::collections::{BTreeMap, BTreeSet};

/// Texts from a line that begins so to its closing brace, by what follows on that line.
fn blocks<'t>(text: &'t str, begins: &str) -> Vec<(String, Vec<&'t str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    let mut indent = None;
    for line in text.lines() {
        let (depth, trimmed) = (line.len() - line.trim_start().len(), line.trim());
        match indent {
            None => {
                if let Some(name) = trimmed.strip_prefix(begins).filter(|_| line.ends_with('{')) {
                    let name = name.split([' ', '(']).next().unwrap_or("");
                    found.push((name.to_string(), Vec::new()));
                    indent = Some(depth);
                }
            }
            Some(outer) if depth == outer && trimmed.starts_with('}') => indent = None,
            Some(_) => {
                if let Some((_, lines)) = found.last_mut() {
                    lines.push(trimmed);
                }
            }
        }
    }
    found
}

fn printed() -> Vec<(String, String)> {
    let print = |path: std::path::PathBuf| {
        (path.display().to_string(), example(&path).compiled.built.print())
    };
    examples().into_iter().map(print).collect()
}

/// The parser has no access to what is behind it: it selects on what the same state extracts, or looks ahead.
#[test]
fn ingress_parsers_select_on_what_is_there() {
    let mut selects = 0;
    for (name, text) in printed() {
        let start = text.find("parser IngressParser(").expect("a parser");
        let end = text[start..].find("\ncontrol ").map_or(text.len(), |at| start + at);
        for (state, lines) in blocks(&text[start..end], "state ") {
            let body = lines.join(" ");
            let Some((_, keys)) = body.split_once("select(") else { continue };
            selects += 1;
            let keys = keys.split('{').next().unwrap_or("");
            for key in keys.split(',').map(|key| key.trim().trim_end_matches(')')) {
                let header = match key.split('.').collect::<Vec<_>>().as_slice() {
                    ["hdr", header, ..] => format!("hdr.{header}"),
                    ["ig_intr_md", ..] => "ig_intr_md".to_string(),
                    _ => continue,
                };
                let extracts = format!("pkt.extract({header});");
                assert!(body.contains(&extracts), "{name}: state {state} selects on {key}");
            }
        }
    }
    assert!(selects > 100, "{selects}");
}

/// What a state of a parser writes, and where it goes on.
fn state<'t>(lines: &[&'t str]) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut writes, mut next) = (Vec::new(), Vec::new());
    for line in lines {
        if let Some(header) = line.strip_prefix("pkt.extract(") {
            writes.extend(header.split(')').next());
        } else if let Some((to, _)) = line.split_once(" = ") {
            writes.push(to);
        } else if let Some(to) = line.strip_prefix("transition ") {
            next.extend(to.strip_suffix(';'));
        } else if let Some((_, to)) = line.rsplit_once(": ") {
            next.extend(to.strip_suffix(';'));
        }
    }
    (writes, next)
}

/// Hardware joins the bits of two writes: a packet's path through a parser writes a field once.
#[test]
fn parsers_write_a_field_once() {
    fn walk(
        states: &BTreeMap<String, (Vec<&str>, Vec<&str>)>,
        name: &str,
        seen: &mut BTreeMap<String, BTreeSet<String>>,
    ) -> BTreeSet<String> {
        if let Some(known) = seen.get(name) {
            return known.clone();
        }
        let Some((writes, next)) = states.get(name) else { return BTreeSet::new() };
        let mut later = BTreeSet::new();
        for next in next {
            later.extend(walk(states, next, seen));
        }
        for (at, write) in writes.iter().enumerate() {
            let again = |other: &str| {
                let inside = |field: &str, of: &str| {
                    field.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'))
                };
                other == *write || inside(other, write) || inside(write, other)
            };
            let here = writes[at + 1..].iter().copied();
            let other = later.iter().map(String::as_str).chain(here).find(|other| again(other));
            assert!(other.is_none(), "state {name} writes {write}, and later {other:?}");
        }
        later.extend(writes.iter().map(ToString::to_string));
        seen.insert(name.to_string(), later.clone());
        later
    }
    let mut programs = printed();
    let waits = "event e(int x); handle e(int x) { generate Event.delay(e(x), 5000); }";
    programs.push(("waits".to_string(), small(waits).compiled.built.print()));
    let mut states_seen = 0;
    for (name, text) in &programs {
        for parser in ["parser IngressParser(", "parser EgressParser("] {
            let start = text.find(parser).expect("a parser");
            let end = text[start..].find("\ncontrol ").map_or(text.len(), |at| start + at);
            let found = blocks(&text[start..end], "state ");
            let states: BTreeMap<String, _> =
                found.iter().map(|(state, lines)| (state.clone(), self::state(lines))).collect();
            assert_eq!(states.len(), found.len(), "{name}: {parser}");
            let mut seen = BTreeMap::new();
            walk(&states, "start", &mut seen);
            states_seen += seen.len();
        }
    }
    assert!(states_seen > 500, "{states_seen}");
}

/// The parser has no access to what is more than 32 bytes behind it: it copies no field from there.
#[test]
fn parsers_copy_from_what_is_near() {
    /// Bytes of the headers, by their names.
    fn sizes(text: &str) -> BTreeMap<String, u32> {
        let mut types: BTreeMap<String, u32> = BTreeMap::new();
        for (ty, lines) in blocks(text, "header ") {
            let bits = |line: &&str| {
                let (_, rest) = line.split_once("bit<")?;
                rest.split('>').next()?.parse::<u32>().ok()
            };
            types.insert(ty, lines.iter().filter_map(bits).sum::<u32>() / 8);
        }
        let (_, fields) = blocks(text, "struct headers_t").remove(0);
        let field = |line: &&str| {
            let (ty, name) = line.trim_end_matches(';').split_once(' ')?;
            Some((format!("hdr.{name}"), types.get(ty).copied()?))
        };
        fields.iter().filter_map(field).collect()
    }
    /// Goes along all paths with the headers behind the parser, nearest last; gives how many copies it saw.
    fn walk(
        name: &str,
        states: &BTreeMap<String, Vec<&str>>,
        sizes: &BTreeMap<String, u32>,
        state: &str,
        mut behind: Vec<String>,
    ) -> usize {
        let Some(lines) = states.get(state) else { return 0 };
        let mut copies = 0;
        for line in lines {
            if let Some(header) = line.strip_prefix("pkt.extract(") {
                behind.push(header.trim_end_matches(");").to_string());
            } else if let Some((to, from)) = line.split_once(" = ")
                && from.starts_with("hdr.")
            {
                let header = from.rsplit_once('.').map_or(from, |(header, _)| header);
                let at = behind.iter().position(|one| one == header);
                let at = at.unwrap_or_else(|| panic!("{name}: {state}: {line}"));
                let bytes: u32 = behind[at..].iter().filter_map(|one| sizes.get(one)).sum();
                assert!(bytes <= 32, "{name}: {state}: {to} comes from {bytes} bytes behind");
                copies += 1;
            }
        }
        let (_, next) = self::state(lines);
        copies
            + next
                .into_iter()
                .map(|next| walk(name, states, sizes, next, behind.clone()))
                .sum::<usize>()
    }
    let mut copies = 0;
    for (name, text) in printed() {
        let start = text.find("parser IngressParser(").expect("a parser");
        let end = text[start..].find("\ncontrol ").map_or(text.len(), |at| start + at);
        let states: BTreeMap<String, Vec<&str>> =
            blocks(&text[start..end], "state ").into_iter().collect();
        copies += walk(&name, &states, &sizes(&text), "start", Vec::new());
    }
    assert!(copies > 0);
}

/// What parsers read in the order of an event's parameters is the event. A path that finds a whole event behind a
/// header does not read this header, which belongs to the event.
#[test]
fn handlers_read_headers_of_parsers() {
    let parsed = |outer: &str, generated: &str, kinds: &str| {
        small(&format!(
            "const int<16> KIND = 7;
             packet event one(int<16> kind, int x, int y, Payload.t p);
             packet event two(int<16> kind, int<8> z, Payload.t p);
             handle one(int<16> kind, int x, int y, Payload.t p) {{
                 generate_port(1, one(kind, y, x + 1, p));
             }}
             handle two(int<16> kind, int<8> z, Payload.t p) {{ generate_port(2, two(kind, z, p)); }}
             parser long(bitstring b, int<16> kind, int x) {{
                 int y = read(b);
                 generate one({generated}, Payload.parse(b));
             }}
             parser main(bitstring b) {{
                 int<16> kind = read(b);
                 {outer}
                 match kind with
                 | KIND -> {{ int x = read(b); long(b, kind, x); }}
                 {kinds}
                 | _ -> {{ int<8> z = read(b); generate two(kind, z, Payload.parse(b)); }}
             }}"
        ))
        .compiled
        .built
        .print()
    };
    let events = "| 666 -> { do_lucid_parsing(b); }";
    let text = parsed("", "kind, x, y", events);
    let start = text.find("control Ingress(").expect("an ingress");
    let ingress = &text[start..];
    assert!(!text[..start].contains("hdr.in_one.kind = "), "{text}");
    assert!(ingress.contains(".x = hdr.read2_long.y;"), "{text}");
    assert!(ingress.contains(".y = hdr.read1_main.x + 32w1;"), "{text}");
    // The header is read where it is decided on, and not in front of a whole event.
    assert!(text.contains("transition select(pkt.lookahead<bit<16>>()) {"), "{text}");
    assert_eq!(text.matches("pkt.advance(16);").count(), 1, "{text}");
    // A whole event is read into the same headers, and `two` has the first of them as well.
    let whole = "pkt.extract(hdr.read0_main);\n        pkt.extract(hdr.read1_main);\n        \
                 pkt.extract(hdr.read2_long);";
    assert_eq!(text.matches(whole).count(), 1, "{text}");
    let two = "pkt.extract(hdr.read0_main);\n        pkt.extract(hdr.read3_main);";
    assert_eq!(text.matches(two).count(), 2, "{text}");
    // Another order, another value.
    for generated in ["kind, y, x", "kind, x, 5", "8, x, y"] {
        let text = parsed("", generated, events);
        assert!(text.contains("hdr.in_one.setValid();"), "{generated}: {text}");
        assert!(text.contains("= hdr.in_one.kind;"), "{generated}: {text}");
    }
    // Something between them that belongs to no event.
    let text = parsed("skip(8, b);", "kind, x, y", events);
    assert!(text.contains("hdr.in_one.setValid();"), "{text}");
    // Headers that a path has read before it finds a whole event.
    let late =
        "| 9 -> { int x = read(b); match x with | 1 -> { do_lucid_parsing(b); } | _ -> { drop; } }";
    let text = parsed("", "kind, x, y", late);
    assert!(text.contains("hdr.in_one.setValid();"), "{text}");
}

/// An event for this switch by its number arrives at port 0, whatever port the packet came by.
#[test]
fn the_port_is_decided_before_it_is_written() {
    for (name, text) in printed() {
        for line in ["ig_md.ingress_port = 0;", "ig_md.ingress_port = ig_intr_md.ingress_port;"] {
            assert_eq!(text.matches(line).count(), 1, "{name}: {line}");
        }
    }
}

/// Tables of one stage may write parts of one container only on branches that exclude each other.
#[test]
fn tables_for_what_waits_are_on_a_branch_of_their_own() {
    for (name, text) in printed() {
        let start = text.find("control Egress(").expect("an egress");
        let apply = &text[text[start..].find("apply {").expect("what it applies") + start..];
        let apply: Vec<&str> = apply.lines().map(str::trim).collect();
        let at = |wanted: &str| apply.iter().position(|line| line.starts_with(wanted));
        let waits = at("if (hdr.bridge.task == 1) {").expect("a branch");
        assert_eq!(
            &apply[waits + 1..waits + 4],
            &["wait.apply();", "mask.apply();", "count_down.apply();"],
            "{name}"
        );
        assert!(apply[waits + 4].starts_with('}'), "{name}: {}", apply[waits + 4]);
        if let Some(leave) = at("leave.apply();") {
            assert!(apply[waits + 4].starts_with("} else") && leave > waits + 4, "{name}");
        }
    }
}

/// A TCAM matches ranges of few nibbles: those of wider keys become blocks.
#[test]
fn keys_of_ranges_are_narrow() {
    let mut entries = 0;
    for (name, text) in printed() {
        let mut lines = text.lines().map(str::trim);
        assert!(!lines.any(|line| line.ends_with(": range;")), "{name}");
        entries += text.matches("32w29696 &&& 32w4294967040").count();
    }
    assert!(entries > 0, "30,000 ends in a block of 256");
    let made = small(
        "event e(int x, int<12> y); event f(); event g();
         handle e(int x, int<12> y) { if (x < 1000) { generate f(); } if (y < 1000) { generate g(); } }",
    );
    let text = made.compiled.built.print();
    let ranges = |key: &str| text.matches(&format!("hdr.in_e.{key}: range;")).count();
    assert_eq!((ranges("x"), ranges("y")), (0, 1), "{text}");
}

const DECISIONS: &str = "event e(int x, int y, int z); exit event f(int x, int y, int z);
     handle e(int x, int y, int z) {
         int first = 1; if (x > 1000 && x < 4000000001) { first = 7; }
         int second = 3; if (y > 77777 && y < 4000000003) { second = y; }
         int third = 9; if (z > 5 && z < 3000000001) { third = x; }
         generate f(first, second, third);
     }";

/// Decisions by ranges of a value each have tables of their own where one would have their product.
#[test]
fn ranges_of_several_wide_values_come_apart() {
    let text = small(DECISIONS).compiled.built.print();
    assert!(!text.contains(": range;"), "{text}");
    let keys: Vec<usize> = blocks(&text, "table ")
        .iter()
        .map(|(_, lines)| {
            ["x", "y", "z"]
                .map(|key| format!("hdr.in_e.{key}: ternary;"))
                .map(|key| lines.contains(&key.as_str()))
                .iter()
                .filter(|has| **has)
                .count()
        })
        .filter(|keys| *keys > 0)
        .collect();
    assert_eq!((keys.iter().max(), keys.iter().sum::<usize>()), (Some(&2), 3), "{text}");
}

/// One decision by ranges of several wide values is no table of Tofino: its own explanation's example, and one whose
/// entries have no number.
#[test]
fn decisions_by_ranges_that_no_table_holds_are_refused() {
    let mut explanations = lucid_compiler::explanations();
    let found = explanations.find(|each| each.code == source::Code("LU-E0783"));
    let found = found.expect("an explanation");
    let many: Vec<String> =
        (0..7).map(|at| format!("x{at} > 1431655765 && x{at} < 2863311530")).collect();
    let all: Vec<String> = (0..7).map(|at| format!("int x{at}")).collect();
    let many = format!(
        "event e({all}); exit event f(); handle e({all}) {{ if ({}) {{ generate f(); }} }}",
        many.join(" && "),
        all = all.join(", ")
    );
    for text in [found.wrong, &many] {
        let said = crate::tna::refused(text);
        assert!(said.contains("LU-E0783"), "{said}");
    }
    let text = small(found.right).compiled.built.print();
    assert!(!text.contains(": range;"), "{text}");
}

/// All memory operations of a table have one index.
#[test]
fn a_table_has_one_index_of_each_register() {
    let two = "global Array.t<32> seen = Array.create(16);
         memop plus(int stored, int x) { return stored + x; }
         event one(int<4> i); event two(int<8> pad, int<4> at);
         handle one(int<4> i) { if (i == 3) { Array.setm(seen, 0, plus, 1); } else { Array.setm(seen, i, plus, 1); } }
         handle two(int<8> pad, int<4> at) { Array.setm(seen, at, plus, 2); }";
    let mut programs = printed();
    programs.push(("two indexes".to_string(), small(two).compiled.built.print()));
    let mut compared = 0;
    for (name, text) in programs {
        let actions: BTreeMap<String, String> = blocks(&text, "action ")
            .into_iter()
            .map(|(action, lines)| (action, lines.concat()))
            .collect();
        let tables = text.lines().enumerate().filter(|(_, line)| line.contains("table "));
        for (at, table) in tables.filter(|(_, line)| line.ends_with('{')) {
            let lines = text.lines().skip(at).skip_while(|line| line.trim() != "actions = {");
            let listed = lines.skip(1).take_while(|line| line.trim() != "}");
            let mut indexes: Vec<&str> = Vec::new();
            for action in listed {
                let body = actions.get(action.trim().trim_end_matches(';'));
                let Some((_, call)) = body.and_then(|body| body.split_once(".execute(")) else {
                    continue;
                };
                let index = call.split(");").next().unwrap_or("");
                if !indexes.contains(&index) {
                    indexes.push(index);
                }
                compared += 1;
            }
            assert!(indexes.len() <= 1, "{name}: {table}: {indexes:?}");
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Where each handler has a parameter of its own as the index, the parser puts it into one place.
#[test]
fn parameters_that_are_indexes_share_a_table() {
    let text = |second: &str| {
        small(&format!(
            "global Array.t<32> seen = Array.create(16);
             memop plus(int stored, int x) {{ return stored + x; }}
             event one(int i); event two({second} at);
             handle one(int i) {{ Array.setm(seen, i, plus, 1); }}
             handle two({second} at) {{ Array.setm(seen, at, plus, 2); }}"
        ))
        .compiled
        .built
        .print()
    };
    let shared = text("int<8> pad, int");
    for line in ["ig_md.index_of_seen = hdr.in_one.i;", "ig_md.index_of_seen = hdr.in_two.at;"] {
        assert_eq!(shared.matches(line).count(), 1, "{shared}");
    }
    assert_eq!(shared.matches(".execute(ig_md.index_of_seen);").count(), 2, "{shared}");
    assert_eq!(shared.matches("table stage0_seen").count(), 1, "{shared}");
    // A parser copies whole bytes.
    let apart = text("int<4> pad, int");
    assert_eq!(apart.matches("index_of_seen").count(), 0, "{apart}");
    assert_eq!(apart.matches("table stage0_seen").count(), 2, "{apart}");
}

/// Sums go into fields that fill no container by way of a variable.
#[test]
fn sums_are_computed_in_whole_containers() {
    let made = small(
        "event e(int<10> slot, int<6> rest, int x);
         handle e(int<10> slot, int<6> rest, int x) { generate e(slot + 1, rest & 3, x + 2); }",
    );
    let text = made.compiled.built.print();
    assert!(text.contains("ig_md.slot0_e_slot_sum = hdr.in_e.slot + 10w1;"), "{text}");
    assert!(text.contains("hdr.slot0_e.slot = ig_md.slot0_e_slot_sum;"), "{text}");
    assert!(text.contains("hdr.slot0_e.rest = hdr.in_e.rest & 6w3;"), "{text}");
    assert!(text.contains("hdr.slot0_e.x = hdr.in_e.x + 32w2;"), "{text}");
}

/// An ALU reads and writes containers of one size; a hash unit gives what it reads to a container of another size, and a
/// table gets 32 bits from hash units.
#[test]
fn values_reach_containers_of_other_sizes_by_hash_units() {
    let made = small(
        "event e(int<16> a, int<16> b, int x, int y);
         event f(int p, int q, int r); event g(int<16> p, int<16> q);
         fun int halves(int word) { return (word >> 16) + (word & 0xffff); }
         handle e(int<16> a, int<16> b, int x, int y) {
             int one = (int<32>) a + x;
             int two = (int<32>) a + (int<32>) (~b);
             int three = y - (int<32>) b;
             if (x == 0) { generate f(one, two, three); }
             else { generate g(~((int<16>) halves(halves(x + y))), a + b); }
         }",
    );
    let mut programs = printed();
    programs.push(("small".to_string(), made.compiled.built.print()));
    let mut crossings = 0;
    for (name, text) in &programs {
        for (action, lines) in blocks(text, "action ") {
            let mut by_hash = false;
            let mut brought = 0;
            for line in lines {
                by_hash |= line.starts_with("@in_hash {");
                let casts = line.matches("(bit<32>)").count();
                let is_sum = line.contains(" + ") || line.contains(" - ");
                if is_sum && casts > 0 {
                    assert!(by_hash && casts == 1, "{name}: {action}: {line}");
                    assert!(line.contains("= (bit<32>)"), "{name}: {action}: {line}");
                }
                if by_hash && line == "}" {
                    by_hash = false;
                    brought += 1;
                }
            }
            assert!(brought <= 1, "{name}: {action}");
            crossings += brought;
        }
    }
    assert!(crossings > 10, "{crossings}");
    let (_, text) = programs.last().expect("the small one");
    // A variable that is only added becomes wide where it is made; what an ALU can make wide needs no hash unit.
    assert!(text.contains("= (bit<32>) hdr.in_e.b ^ 32w65535;"), "{text}");
    assert!(text.contains(" >> 16;"), "{text}");
    assert!(!text.contains("[31:16]"), "{text}");
    assert!(text.contains("hdr.in_e.a + hdr.in_e.b;"), "{text}");
}

/// Conditions see whole cells: hardware has no slices there.
#[test]
fn conditions_of_register_actions_have_no_slices() {
    let mut conditions = 0;
    for (name, text) in printed() {
        for (action, lines) in blocks(&text, "RegisterAction<") {
            for line in lines.iter().filter(|line| line.contains("if (")) {
                conditions += 1;
                assert!(!line.contains('['), "{name}: {action}: {line}");
            }
        }
    }
    assert!(conditions > 8, "{conditions}");
}

/// A stateful ALU compares without wrapping around, and takes no constant of 32 bits.
#[test]
fn comparisons_have_no_steps() {
    let compared = |condition: &str| {
        let made = small(&format!(
            "global Array.t<32> a = Array.create(4);
             memop m(int stored, int x) {{ if ({condition}) {{ return stored; }} else {{ return x; }} }}
             event e(int x); handle e(int x) {{ Array.setm(a, 1, m, x); }}"
        ));
        let text = made.compiled.built.print();
        let at = text.find("if (value").expect("a condition");
        text[at..].lines().next().unwrap_or("").to_string()
    };
    assert_eq!(compared("stored - 1 < x"), "if (value != 32w0 && value <= hdr.in_e.x) {");
    assert_eq!(compared("stored - 1 >= x"), "if (value == 32w0 || value > hdr.in_e.x) {");
    assert_eq!(compared("x > stored - 1"), "if (value != 32w0 && value <= hdr.in_e.x) {");
    // The greatest value of 32 bits is no constant that the ALU takes.
    assert_eq!(compared("stored + 1 > x"), "if (value + 32w1 > hdr.in_e.x) {");
    assert_eq!(compared("stored < x"), "if (value < hdr.in_e.x) {");
}

/// A register action of an array of three bits for a memop, without what is around it.
fn action_of(width_bits: u32, memop: &str, call: &str) -> String {
    let made = small(&format!(
        "global Array.t<{width_bits}> a = Array.create(4);
         memop m(int<{width_bits}> stored, int<{width_bits}> x) {{ {memop} }}
         event e(int<{width_bits}> x); event f(int<{width_bits}> y);
         handle e(int<{width_bits}> x) {{ {call} }}"
    ));
    let text = made.compiled.built.print();
    let found = blocks(&text, "RegisterAction<");
    let (_, lines) = found.first().expect("a register action");
    lines.join(" ")
}

/// One stateful ALU computes at the width of hardware and cuts no sum.
#[test]
fn sums_in_narrow_cells_are_not_cut() {
    let set = "Array.setm(a, 1, m, 1);";
    // No access compares the cell: its upper bits are cut where they are read.
    let plus = action_of(3, "return stored + x;", set);
    assert_eq!(plus, "void apply(inout bit<8> value) { value = value + 8w1; }");
    let other = action_of(1, "return 1 - stored;", "Array.setm(a, 1, m, 0);");
    assert_eq!(other, "void apply(inout bit<8> value) { value = 8w1 - value; }");
    let any = action_of(9, "return stored - x;", "Array.setm(a, 1, m, x);");
    assert_eq!(any, "void apply(inout bit<16> value) { value = value - (bit<16>) hdr.in_e.x; }");
    let both = "generate f(Array.update(a, 1, m, 1, m, 1));";
    assert_eq!(
        action_of(3, "return stored + x;", both),
        "void apply(inout bit<8> value, out bit<8> rv) { rv = value + 8w1; value = value + 8w1; }"
    );
    // One compares it: the sum wraps around where its upper bits would not be zero.
    let next = "if (stored == 2) { return 0; } else { return stored + 1; }";
    assert_eq!(
        action_of(2, next, "Array.setm(a, 1, m, 0);"),
        "void apply(inout bit<8> value) { if (value == 8w2 || value == 8w3) { value = 8w0; } \
         else { value = value + 8w1; } }"
    );
    let by_three = "if (stored == x) { return stored; } else { return stored + 3; }";
    assert_eq!(
        action_of(3, by_three, "Array.setm(a, 1, m, x);"),
        "void apply(inout bit<8> value) { if (value == (bit<8>) hdr.in_e.x) { value = value; } \
         else { if (value > 8w4) { value = value - 8w5; } else { value = value + 8w3; } } }"
    );
}

/// What a register action gives has one source: the new cell, where both branches of one memop store and give it.
#[test]
fn one_memop_for_both_gives_the_new_cell() {
    let either = "if (stored < 2) { return stored; } else { return x; }";
    assert_eq!(
        action_of(32, either, "generate f(Array.update(a, 1, m, x, m, x));"),
        "void apply(inout bit<32> value, out bit<32> rv) { if (value < 32w2) { value = value; } \
         else { value = hdr.in_e.x; } rv = value; }"
    );
    let apart = action_of(32, either, "generate f(Array.update(a, 1, m, x, m, 5));");
    assert!(apart.contains("rv = hdr.in_e.x;"), "{apart}");
}

/// Memops that our devices run and Tofino's compiler refuses.
#[test]
fn memops_that_the_compiler_refuses_are_warned_of() {
    let warned = |memop: &str, call: &str| {
        let made = small(&format!(
            "global Array.t<32> a = Array.create(4);
             memop m(int stored, int x) {{ {memop} }}
             event e(int x); event f(int x);
             handle e(int x) {{ {call} }} handle f(int x) {{ {call} }}"
        ));
        let codes = made.compiled.warnings.iter().map(|one| one.code.0.to_string());
        codes.filter(|code| code == "LU-W0782").count()
    };
    let set = "Array.setm(a, 1, m, x);";
    let get = "int z = Array.getm(a, 1, m, x); generate f(z);";
    // Once for each place, however often the memop is used.
    for subtracts in ["stored - 3 < x", "x > stored - 3", "stored < x - 3"] {
        let memop = format!("if ({subtracts}) {{ return stored; }} else {{ return 1; }}");
        assert_eq!((warned(&memop, set), warned(&memop, get)), (1, 1), "{subtracts}");
    }
    for compares in ["stored - 1 < x", "stored + 3 < x", "stored < x"] {
        let memop = format!("if ({compares}) {{ return stored; }} else {{ return 1; }}");
        assert_eq!((warned(&memop, set), warned(&memop, get)), (0, 0), "{compares}");
    }
    let either = "if (stored < x) { return stored; } else { return x; }";
    let both = "int z = Array.update(a, 1, m, x, m, x); generate f(z);";
    assert_eq!((warned(either, get), warned(either, set), warned(either, both)), (1, 0, 0));
}

/// The same on all examples: what is stored is a whole cell.
#[test]
fn register_actions_of_examples_slice_no_sums() {
    let mut sums = 0;
    for (name, text) in printed() {
        for (action, lines) in blocks(&text, "RegisterAction<") {
            for line in lines.iter().filter(|line| line.contains(" + ") || line.contains(" - ")) {
                sums += 1;
                assert!(!line.contains('['), "{name}: {action}: {line}");
            }
        }
    }
    assert!(sums > 10, "{sums}");
}
