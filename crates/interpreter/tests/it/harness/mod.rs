// SPDX-License-Identifier: Apache-2.0
//! A program with some of everything, into which a test puts the code of one block, and surroundings
//! that repeat.
#![allow(dead_code)] // Each test file uses its part.

use interpreter::random::RandomKey;
use interpreter::{
    BlockRun, Environment, ExternCall, Interpreter, Observer, Outcome, PacketContext, Progress,
    StopAfter,
};
use ir::{Bits, Program, moments};
use state::{Batch, Cells, Store, Update};
use std::collections::BTreeMap;
use std::sync::Arc;

const ITEMS: &str = r#"ir test
error NoError
error PacketTooShort
error StackOutOfBounds
error HeaderTooShort
error ParserInvalidArgument
slot h.$valid: bit<1> bool @0
slot h.p: bit<4> unsigned @0
slot h.q: bit<12> unsigned @0
slot v.$valid: bit<1> bool @0
slot v.n: bit<8> unsigned @0
slot v.o: varbit<40> unsigned @0
slot v.z: bit<8> unsigned @0
slot s[0].$valid: bit<1> bool @0
slot s[0].x: bit<8> unsigned @0
slot s[1].$valid: bit<1> bool @0
slot s[1].x: bit<8> unsigned @0
slot s[2].$valid: bit<1> bool @0
slot s[2].x: bit<8> unsigned @0
slot s.$next: bit<32> unsigned @0
slot a: bit<8> unsigned @0
slot b: bit<8> unsigned @0
slot c: bit<16> unsigned @0
slot value: bit<8> unsigned @0
slot error: bit<16> error @0
header_type h_t {
  p: bit<4> unsigned
  q: bit<12> unsigned
}
header_type v_t {
  n: bit<8> unsigned
  o: varbit<40> unsigned
  z: bit<8> unsigned
}
header_type x_t {
  x: bit<8> unsigned
}
header h: h_t at h.$valid
header v: v_t at v.$valid
header s[0]: x_t at s[0].$valid
header s[1]: x_t at s[1].$valid
header s[2]: x_t at s[2].$valid
stack s first s[0] headers_per_element 1 size 3 next s.$next
table t {
  key a: exact bit<8> unsigned
  action set
  action count_itself
  action leave
  default count_itself()
  direct_counter explicit
  direct_counter automatic
} @0
table u {
  key zero: exact bit<8> unsigned
  key flow: selector bit<16> unsigned
  action set
  default set(8w9)
  implementation choice
} @0
action set(value at value) runs set @0
action count_itself() runs count_itself @0
action leave() runs leave @0
register r: bit<12> unsigned size 4 initial 12w5 @0
counter n: packets_and_bytes size 4 @0
counter explicit: packets_and_bytes direct @0
counter automatic: packets_and_bytes direct @0
meter m: bytes size 4 @0
action_profile choice selector identity 8 @0
value_set vs size 4 {
  key type: ternary bit<16> unsigned
} @0
request clone label "" { session: bit<32>, reason: bit<8> }
extern doubler_t instance doubler @0
extern unknown @0
region action set {
  block0:
    return @0
}
region action count_itself {
  block0:
    count_direct explicit @0
    return @0
}
region action leave {
  block0:
    exit @0
}
origin @0
origin @1 atomic 0
"#;

/// Surroundings that repeat.
pub struct Surroundings {
    pub length_bytes: u64,
    pub log: Vec<String>,
}

impl Environment for Surroundings {
    fn now_ps(&self) -> u64 {
        1_000_000
    }

    fn packet_length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn random_key(&self) -> RandomKey {
        RandomKey { seed: 1, device: 0, packet: 2, pass: 0 }
    }

    fn log_line(&mut self, line: &str) {
        self.log.push(line.to_owned());
    }

    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        match (&*call.declaration.instance, call.method) {
            ("doubler", "both") => Ok(call
                .arguments
                .iter()
                .map(|value| value.binary(ir::BinaryOperation::Add, value))
                .collect()),
            _ => Err("there is no such extern".into()),
        }
    }
}

/// What a run left.
pub struct Run {
    pub program: Arc<Program>,
    pub store: Store,
    pub outcome: Outcome,
    pub context: PacketContext,
    pub cells: Cells,
    pub environment: Surroundings,
}

impl Run {
    /// A slot's value; `cursor` is the parser's cursor.
    pub fn slot(&self, name: &str) -> Text {
        if name == "cursor" {
            return Text(None, self.context.cursor_bits);
        }
        let slot = self.program.slot_named(name).unwrap_or_else(|| panic!("no slot `{name}`"));
        Text(Some(self.context.value(slot)), 0)
    }
}

/// A value or a plain number.
pub struct Text(Option<Bits>, usize);

impl Text {
    pub fn low_u64(&self) -> u64 {
        self.0.as_ref().map_or(self.1 as u64, Bits::low_u64)
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => self.1.fmt(f),
        }
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl PartialEq<Bits> for Text {
    fn eq(&self, other: &Bits) -> bool {
        self.0.as_ref() == Some(other)
    }
}

/// A value of so many bits.
pub fn bits(width_bits: u32, value: u64) -> Bits {
    Bits::from_u64(width_bits, value)
}

/// The program around code of a block of this kind.
pub fn program(kind: &str, code: &str) -> Arc<Program> {
    let error_slot = if kind == "parser" { "parser_error error" } else { "" };
    let text = format!(
        "{ITEMS}region {kind} code {{\nblock0 start:\n{code}\n}}\n\
         block code {kind} code runs code {error_slot} {{\n}} @0\n"
    );
    let program = ir::text::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    if let Err(errors) = ir::verify(&program) {
        panic!("{}\n{text}", errors[0]);
    }
    Arc::new(program)
}

/// Runs code of a block of this kind on a packet.
pub fn run(kind: &str, code: &str, packet: &[u8]) -> Run {
    run_with(kind, code, packet, vec![])
}

/// Runs code after some updates, all of which must work.
pub fn run_with(kind: &str, code: &str, packet: &[u8], updates: Vec<Update>) -> Run {
    run_observed(program(kind, code), packet, updates, None)
}

/// Runs block 0 with a stop before every moment, each time with all it needs handed in anew.
fn run_in_steps(
    interpreter: &Interpreter,
    context: &mut PacketContext,
    store: &Store,
    cells: &mut Cells,
) -> (Outcome, Vec<String>) {
    let region = interpreter.program().blocks[0].region;
    let moments = moments::of_region(interpreter.program(), region, None, &BTreeMap::new());
    let moments = moments.expect("no stage is asked for");
    let length_bytes = context.packet.len() as u64;
    let mut environment = Surroundings { length_bytes, log: Vec::new() };
    let mut run = BlockRun::new(0);
    let mut stage = None;
    loop {
        let stop = Some(StopAfter { moments: &moments, stage });
        let configuration = store.configuration();
        match interpreter.resume(
            &mut run,
            stop,
            context,
            &configuration,
            cells,
            &mut environment,
            None,
        ) {
            Progress::Ended(outcome) => return (outcome, environment.log),
            Progress::Stopped { stage: next } => {
                assert!(Some(next) > stage, "stages never decrease");
                stage = Some(next);
            }
        }
    }
}

/// Runs the block of a program, and lets someone look on. The same with stops leaves the same.
pub fn run_observed(
    program: Arc<Program>,
    packet: &[u8],
    updates: Vec<Update>,
    observer: Option<&mut dyn Observer>,
) -> Run {
    let store = Store::new(program.clone()).expect("the program is sound");
    let mut cells = Cells::new(&program);
    for result in store.write_batch(&mut cells, Batch::updates(0, updates)).results {
        result.unwrap_or_else(|error| panic!("{error}"));
    }
    let interpreter = Interpreter::new(program.clone());
    let mut context = PacketContext::new(&program);
    context.set_packet(packet);
    let length_bytes = packet.len() as u64;
    let mut environment = Surroundings { length_bytes, log: Vec::new() };
    let configuration = store.configuration();
    let step_by_step = (context.clone(), cells.clone());
    let outcome = interpreter.run_block(
        0,
        &mut context,
        &configuration,
        &mut cells,
        &mut environment,
        observer,
    );
    let (mut context_of_steps, mut cells_of_steps) = step_by_step;
    let (outcome_of_steps, log) =
        run_in_steps(&interpreter, &mut context_of_steps, &store, &mut cells_of_steps);
    assert_eq!(outcome_of_steps, outcome);
    assert_eq!(format!("{context_of_steps:?}"), format!("{context:?}"));
    // Each set of cells has a number of its own in front.
    let contents = |cells: &Cells| {
        let text = format!("{cells:?}");
        text.split_once("registers:").expect("cells are shown").1.to_owned()
    };
    assert_eq!(contents(&cells_of_steps), contents(&cells));
    assert_eq!(log, environment.log);
    Run { program, store, outcome, context, cells, environment }
}
