// SPDX-License-Identifier: Apache-2.0
//! Externs with providers, on both engines: one that only computes, one that counts calls an instance, one
//! that draws, and one that drops, holds, releases and emits packets. Results, states and actions have to be
//! equal, and providers have to keep to what declarations say.

use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, Interpreter, Outcome, PacketContext};
use ir::ready::ReadyProgram;
use ir::{Bits, ExternId, Program};
use jit::{BoundInstance, Compiled, Unit};
use state::externs::{
    CallShape, EmitTo, ExternInstance, ExternPacket, ExternProvider, ExternRegistry, PacketAction,
    ProviderEffects, PureExtern,
};
use state::{Cells, Store};
use std::sync::Arc;

const HEAD: &str = "
#include <core.p4>
#include <v1model.p4>
@pure extern bit<8> popcount(in bit<32> x);
extern Counted { Counted(bit<32> first); bit<32> next(); @noSideEffects bit<32> last(); }
@random extern bit<8> noise(in bit<8> most);
extern Xor { Xor(bit<32> k); void add(in bit<32> number, inout bit<16> seen); }
header number_t { bit<32> n; bit<16> seen; bit<8> ones; bit<32> one; bit<32> two; bit<8> drawn; }
struct headers_t { number_t h; }
struct meta_t { }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
";

const TAIL: &str = "
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const INGRESS: &str = "
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    Counted(10) one;
    Counted(200) two;
    Xor(3) parity;
    apply {
        hdr.h.ones = popcount(hdr.h.n) + popcount(7);
        hdr.h.one = one.next();
        if (hdr.h.n[0:0] == 1) { hdr.h.two = two.next() + two.last(); }
        hdr.h.drawn = noise(100) ^ noise(99);
        parity.add(hdr.h.n, hdr.h.seen);
    }
}
";

fn popcount() -> PureExtern {
    PureExtern {
        name: "popcount".into(),
        signature: (1, 1),
        evaluate: |arguments, widths_bits| {
            let ones = u64::from(arguments[0].low_u64().count_ones());
            vec![Bits::from_u64(widths_bits[0], ones)]
        },
    }
}

fn number(arguments: &[Arc<str>]) -> Result<u64, String> {
    let [number] = arguments else { return Err("it takes one number".to_string()) };
    number.parse().map_err(|_| format!("`{number}` is no number"))
}

/// Gives numbers in order, from the constructor's argument on.
struct Counted;

struct Count(u64);

impl ExternProvider for Counted {
    fn name(&self) -> &str {
        "Counted"
    }

    fn effects(&self, method: &str) -> ProviderEffects {
        let writes_state = method == "next";
        ProviderEffects { reads_state: true, writes_state, ..ProviderEffects::NONE }
    }

    fn check(&self, call: &CallShape) -> Result<(), String> {
        match &*call.method {
            "next" | "last" => Ok(()),
            other => Err(format!("it has no method `{other}`")),
        }
    }

    fn instantiate(&self, arguments: &[Arc<str>]) -> Result<Box<dyn ExternInstance>, String> {
        Ok(Box::new(Count(number(arguments)?)))
    }
}

impl ExternInstance for Count {
    fn call(
        &mut self,
        method: &str,
        _: &[Bits],
        packet: &mut ExternPacket<'_>,
    ) -> Result<Vec<Bits>, String> {
        self.0 += u64::from(method == "next");
        Ok(vec![Bits::from_u64(packet.result_widths_bits()[0], self.0)])
    }

    fn snapshot(&self) -> Vec<u8> {
        self.0.to_be_bytes().to_vec()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), String> {
        let bytes = snapshot.try_into().map_err(|_| "it is not eight bytes".to_string())?;
        self.0 = u64::from_be_bytes(bytes);
        Ok(())
    }
}

/// Draws.
struct Noise;

impl ExternProvider for Noise {
    fn name(&self) -> &str {
        "noise"
    }

    fn effects(&self, _: &str) -> ProviderEffects {
        ProviderEffects { draws_random: true, ..ProviderEffects::NONE }
    }

    fn check(&self, _: &CallShape) -> Result<(), String> {
        Ok(())
    }

    fn instantiate(&self, _: &[Arc<str>]) -> Result<Box<dyn ExternInstance>, String> {
        Ok(Box::new(Noise))
    }
}

impl ExternInstance for Noise {
    fn call(
        &mut self,
        _: &str,
        arguments: &[Bits],
        packet: &mut ExternPacket<'_>,
    ) -> Result<Vec<Bits>, String> {
        Ok(vec![packet.random(&Bits::zero(arguments[0].width_bits()), &arguments[0])])
    }

    fn snapshot(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// Keeps the exclusive or of packets. The k-th packet is held until the next one, which releases it, a
/// packet with the parity leaves, and packets whose number is 13 are dropped.
struct Xor;

#[derive(Clone)]
struct Parity {
    k: u64,
    seen: u64,
    bytes: Vec<u8>,
}

impl ExternProvider for Xor {
    fn name(&self) -> &str {
        "Xor"
    }

    fn effects(&self, _: &str) -> ProviderEffects {
        ProviderEffects { draws_random: false, ..ProviderEffects::ALL }
    }

    fn check(&self, call: &CallShape) -> Result<(), String> {
        match (&*call.method, call.argument_widths_bits.as_slice()) {
            ("add", [32, 16]) => Ok(()),
            _ => Err("it has `add(bit<32>, bit<16>)` only".to_string()),
        }
    }

    fn instantiate(&self, arguments: &[Arc<str>]) -> Result<Box<dyn ExternInstance>, String> {
        Ok(Box::new(Parity { k: number(arguments)?, seen: 0, bytes: Vec::new() }))
    }
}

impl ExternInstance for Parity {
    fn call(
        &mut self,
        _: &str,
        arguments: &[Bits],
        packet: &mut ExternPacket<'_>,
    ) -> Result<Vec<Bits>, String> {
        match arguments[0].low_u64() {
            13 => packet.drop_packet(),
            99 => return Err("99 is not added".to_string()),
            _ => {}
        }
        self.bytes.resize(self.bytes.len().max(packet.bytes().len()), 0);
        for (sum, byte) in self.bytes.iter_mut().zip(packet.bytes()) {
            *sum ^= byte;
        }
        if self.seen > 0 && self.seen.is_multiple_of(self.k) {
            packet.release(self.seen);
        }
        self.seen += 1;
        if self.seen.is_multiple_of(self.k) {
            packet.hold(self.seen, Some(packet.now_ps() + 1_000));
            packet.emit(std::mem::take(&mut self.bytes), EmitTo::Port(9));
        }
        Ok(vec![Bits::from_u64(16, arguments[1].low_u64() + self.seen)])
    }

    fn snapshot(&self) -> Vec<u8> {
        [&self.seen.to_be_bytes()[..], &self.bytes].concat()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), String> {
        let (seen, bytes) =
            snapshot.split_first_chunk().ok_or_else(|| "it is too short".to_string())?;
        *self = Parity { k: self.k, seen: u64::from_be_bytes(*seen), bytes: bytes.to_vec() };
        Ok(())
    }
}

fn registry() -> ExternRegistry {
    ExternRegistry::new().with(popcount()).with(Counted).with(Noise).with(Xor)
}

struct Around {
    packet: u64,
}

impl Environment for Around {
    fn now_ps(&self) -> u64 {
        self.packet * 100
    }

    fn packet_length_bytes(&self) -> u64 {
        18
    }

    fn random_key(&self) -> RandomKey {
        RandomKey { seed: 1, device: 2, packet: self.packet, pass: 0 }
    }

    fn log_line(&mut self, _: &str) {}

    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err(format!("no provider for {}", call.declaration.type_name))
    }
}

fn program(ingress: &str) -> Arc<Program> {
    let ready = ReadyProgram::of_text("externs.p4", format!("{HEAD}{ingress}{TAIL}"));
    ready.unwrap_or_else(|error| panic!("{error}")).program().clone()
}

fn extern_of(program: &Program, instance: &str) -> ExternId {
    let at = program.externs.iter().position(|it| &*it.instance == instance);
    ExternId(at.expect("it is called") as u32)
}

/// Parser, ingress and deparser of one packet on one engine.
struct Engine {
    program: Arc<Program>,
    store: Store,
    cells: Cells,
    compiled: Option<(Compiled, BoundInstance)>,
}

/// How a packet ends: the ingress's outcome, what leaves, and what the externs ask for.
type Ended = (Outcome, Vec<u8>, Vec<(ExternId, PacketAction)>);

impl Engine {
    fn new(program: &Arc<Program>, is_compiled: bool) -> Engine {
        let cells = Cells::with_externs(program, &registry()).expect("all is provided");
        Engine { cells, ..Engine::bare(program, is_compiled) }
    }

    fn bare(program: &Arc<Program>, is_compiled: bool) -> Engine {
        let units: Vec<Unit> =
            (0..program.blocks.len()).map(|at| Unit::block("block", at)).collect();
        Engine {
            program: program.clone(),
            store: Store::new(program.clone()).expect("its entries fit"),
            cells: Cells::new(program),
            compiled: is_compiled.then(|| {
                let compiled = Compiled::new(program.clone(), &units).expect("it compiles");
                (compiled, BoundInstance::default())
            }),
        }
    }

    fn run(&mut self, packet: u64, bytes: &[u8]) -> Ended {
        let mut context = PacketContext::new(&self.program);
        context.set_packet(bytes);
        let mut around = Around { packet };
        let interpreter = Interpreter::new(self.program.clone());
        let mut outcomes = Vec::new();
        for role in ["p", "ig", "dep"] {
            let at = self.program.blocks.iter().position(|block| &*block.role == role);
            let block = at.expect("v1model has it");
            outcomes.push(match &mut self.compiled {
                Some((compiled, instance)) => compiled.run_on_context(
                    block,
                    &mut context,
                    instance,
                    &self.store.forwarding(),
                    &mut self.cells,
                    &mut around,
                ),
                None => interpreter.run_block(
                    block,
                    &mut context,
                    &self.store.configuration(),
                    &mut self.cells,
                    &mut around,
                    None,
                ),
            });
        }
        (outcomes.swap_remove(1), context.outgoing_packet(), context.actions)
    }
}

fn packet(number: u32) -> Vec<u8> {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend([0; 12]);
    bytes.extend([number as u8, 0xab]);
    bytes
}

#[test]
fn engines_agree_and_states_belong_to_instances() {
    let program = program(INGRESS);
    let (mut one, mut other) = (Engine::new(&program, false), Engine::new(&program, true));
    let mut held = 0;
    let mut ended = Vec::new();
    for (at, number) in [5, 6, 13, 0xffff_ffff, 99, 8, 9, 10, 11].into_iter().enumerate() {
        let found = one.run(at as u64, &packet(number));
        assert_eq!(found, other.run(at as u64, &packet(number)), "packet {at}");
        let holds =
            |(_, action): &&(ExternId, PacketAction)| matches!(action, PacketAction::Hold { .. });
        held += found.2.iter().filter(holds).count();
        ended.push(found);
    }
    assert_eq!(held, 2);
    let parity = extern_of(&program, "I.parity");
    // Two ones in 5, three in 7; numbers 11 and 201 twice; one packet was seen.
    assert_eq!(ended[0].1[4..8], [0, 1, 5, 0]);
    assert_eq!(ended[0].1[9..15], [0, 11, 0, 0, 1, 0x92]);
    let sum: Vec<u8> = (0..18).map(|at| packet(5)[at] ^ packet(6)[at] ^ packet(13)[at]).collect();
    let expected = [
        PacketAction::Drop,
        PacketAction::Hold { ticket: 3, until_ps: Some(1_200) },
        PacketAction::Emit { bytes: sum, to: EmitTo::Port(9) },
    ];
    assert_eq!(ended[2].2, expected.map(|action| (parity, action)));
    assert_eq!(ended[3].2, [(parity, PacketAction::Release { ticket: 3 })]);
    let failed = Outcome::ExternFailed { target: parity, message: "99 is not added".to_string() };
    assert_eq!(ended[4].0, failed);
    for name in ["I.one", "I.two", "I.parity"] {
        let id = extern_of(&program, name);
        let state = one.cells.extern_snapshot(id).expect("it has a state");
        assert_eq!(Some(&state), other.cells.extern_snapshot(id).as_ref(), "{name}");
        // A copy begins with the same state, and goes on by itself.
        let mut copy = one.cells.clone();
        assert_eq!(copy.extern_snapshot(id), Some(state.clone()));
        assert_eq!(copy.restore_extern(id, &[0; 8]), Some(Ok(())));
        assert_eq!(one.cells.extern_snapshot(id), Some(state));
    }
    let count = one.cells.extern_snapshot(extern_of(&program, "I.one"));
    assert_eq!(count, Some(19u64.to_be_bytes().to_vec()));
}

#[test]
fn states_are_carried_to_the_next_program() {
    let (old, new) = (program(INGRESS), program(&INGRESS.replace("Counted(200)", "Counted(300)")));
    let mut engine = Engine::new(&old, false);
    engine.run(0, &packet(5));
    let mut store = Store::new(new.clone()).expect("its entries fit");
    let mut cells = Cells::with_externs(&new, &registry()).expect("all is provided");
    state::migrate((&engine.store, &engine.cells, &old), (&mut store, &mut cells, &new));
    let count = |name: &str| {
        let state = cells.extern_snapshot(extern_of(&new, name)).expect("it has a state");
        u64::from_be_bytes(state[..8].try_into().expect("eight bytes"))
    };
    // The constructor's argument of the second is another one now.
    assert_eq!((count("I.one"), count("I.two"), count("I.parity")), (11, 300, 1));
}

#[test]
fn passes_treat_pure_calls_as_computations() {
    let unused = "
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    Counted(1) one;
    apply {
        bit<8> a = popcount(hdr.h.n);
        bit<32> b = one.last();
        bit<32> c = one.next();
        bit<8> d = noise(3);
    }
}";
    let text = ir::text::print(&program(unused));
    let calls: Vec<&str> = text.lines().filter(|line| line.contains("= call ")).collect();
    assert_eq!(calls.len(), 2, "{text}");
    assert!(calls[0].contains("method next"), "{text}");
    assert!(calls[1].contains("noise at \"block ig/0\""), "{text}");
    assert_eq!(ir::text::parse(&text).as_ref(), Ok(&*program(unused)));
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let check =
        |head: (&str, &str), ingress: &str, registry: &ExternRegistry, expected: &[&str]| {
            let text = format!("{}{ingress}{TAIL}", HEAD.replace(head.0, head.1));
            let ready = ReadyProgram::of_text("externs.p4", text).expect("it compiles");
            let errors = Cells::with_externs(ready.program(), registry).expect_err("it is refused");
            let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(found, expected);
            for error in errors {
                let origin = &ready.program().origins[error.origin.index()];
                assert!(!origin.span.is_none(), "{error} has a place");
            }
        };
    let unchanged = ("", "");
    check(
        unchanged,
        INGRESS,
        &ExternRegistry::new().with(Noise).with(Counted),
        &[
            "there is no provider of the extern `popcount`",
            "there is no provider of the extern `I.parity.add (of Xor)`",
        ],
    );
    check(
        unchanged,
        &INGRESS.replace("Counted(10)", "Counted(10 + 1w0 ++ 31w0)").replace("Xor(3)", "Xor(8)"),
        &registry().with(PureExtern { signature: (2, 1), ..popcount() }),
        &[
            "the extern `popcount` cannot run: the provider takes 2 values and gives 1, but here are 1 and 1",
        ],
    );
    check(
        ("@random extern", "extern"),
        INGRESS,
        &registry(),
        &[
            "the extern `noise` cannot run: the provider draws random numbers; write `@random` before the \
           extern's declaration",
        ],
    );
    check(
        ("bit<32> next()", "@pure bit<32> next()"),
        INGRESS,
        &registry(),
        &[
            "the extern `I.one.next (of Counted)` cannot run: its declaration says `@pure`, but the \
             provider keeps state",
            "the extern `I.two.next (of Counted)` cannot run: its declaration says `@pure`, but the \
             provider keeps state",
        ],
    );
    check(
        ("void add", "@noSideEffects void add"),
        INGRESS,
        &registry(),
        &[
            "the extern `I.parity.add (of Xor)` cannot run: its declaration says `@noSideEffects`, but the \
           provider changes state or acts on packets",
        ],
    );
}

/// Does more than it says.
struct Liar;

impl ExternProvider for Liar {
    fn name(&self) -> &str {
        "noise"
    }

    fn effects(&self, _: &str) -> ProviderEffects {
        ProviderEffects::NONE
    }

    fn check(&self, _: &CallShape) -> Result<(), String> {
        Ok(())
    }

    fn instantiate(&self, _: &[Arc<str>]) -> Result<Box<dyn ExternInstance>, String> {
        Ok(Box::new(Liar))
    }
}

impl ExternInstance for Liar {
    fn call(
        &mut self,
        _: &str,
        arguments: &[Bits],
        packet: &mut ExternPacket<'_>,
    ) -> Result<Vec<Bits>, String> {
        packet.drop_packet();
        Ok(vec![packet.random(&Bits::zero(8), &arguments[0])])
    }

    fn snapshot(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_provider_cannot_do_more_than_the_declaration_says() {
    let ingress = "
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply { hdr.h.drawn = noise(1); }
}";
    let head = HEAD.replace("@random extern", "@pure extern");
    let ready = ReadyProgram::of_text("externs.p4", format!("{head}{ingress}{TAIL}"));
    let program = ready.expect("it compiles").program().clone();
    let registry = ExternRegistry::new().with(Liar);
    let cells = || Cells::with_externs(&program, &registry).expect("it says that it fits");
    for is_compiled in [false, true] {
        let mut engine = Engine { cells: cells(), ..Engine::bare(&program, is_compiled) };
        let (outcome, _, actions) = engine.run(0, &packet(1));
        let message = "its declaration does not let it draw random numbers".to_string();
        assert_eq!(outcome, Outcome::ExternFailed { target: ExternId(0), message });
        assert_eq!(actions, []);
    }
}
