// SPDX-License-Identifier: Apache-2.0
//! What splitting needs: a control cut in two at a boundary between statements. What the analysis says is live there
//! goes from device to device in a header that is added, the rewriter makes both programs, and a map puts the whole
//! program's control plane in front of both. Packets, digests, reads and random numbers have to be those of the whole.

use crate::seams::{bound, exact, table};
use control::map::{Mapped, Physical, TargetIndex, Translation, Virtual};
use control::target::{Batch, Fault, Item, Notification, Outcome, Reply, Target};
use device::{Device, DeviceOptions, EngineChoice};
use ir::analysis::{Analysis, StatementTree};
use ir::effects::Location;
use ir::ready::ReadyProgram;
use ir::{Bits, Display, KeyPattern, Program, RegisterId, TableId};
use p4::ast::{Declaration, DeclarationKind, NodeId, State, Statement, StatementKind};
use p4::parser::pieces::tokens_at;
use p4::rewrite::Rewriter;
use source::{Diagnostics, SourceMap, Span};
use state::{Atomicity, CellRange, Configuration, NewEntry, Read, Update};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use testing::{Choices, seeds};

/// The port of the link, on both devices.
const LINK: u32 = 300;

/// What is wrong with the cut, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// One of the live slots, by its place, stays behind.
    Forgotten(usize),
    /// Random numbers have the keys of the cut programs' own text.
    KeysLost,
    /// The map puts all tables on the first device.
    WrongDevice,
}

/// The program as written: with its random numbers' keys written into its text, as rewriters move them, and as it is.
struct Whole {
    plain: ReadyProgram,
    keyed: ReadyProgram,
    map: SourceMap,
}

static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let options = p4::preprocessor::PreprocessorOptions::default();
    let loader = p4::interfaces::InterfacesOnly;
    let text = include_str!("split.p4").to_string();
    let mut compiled = p4::compile::compile("split.p4", text, &loader, &options);
    let plain = ReadyProgram::of(&mut compiled).expect("the program is right");
    let mut tree = plain.typed().program.clone();
    p4::random_sites::annotate(&mut tree, plain.typed());
    let mut found = Diagnostics::new();
    let keyed = Arc::new(p4::check::check(tree, &mut found));
    let keyed = ReadyProgram::lower(keyed, &mut found).expect("it is as right as before");
    Whole { plain, keyed, map: compiled.map }
});

/// The program as written, as it is run.
fn program() -> &'static Arc<Program> {
    WHOLE.plain.program()
}

/// The program that is cut.
fn source(mistake: Mistake) -> &'static ReadyProgram {
    if mistake == Mistake::KeysLost { &WHOLE.plain } else { &WHOLE.keyed }
}

fn declaration<'t>(program: &'t p4::ast::Program, name: &str) -> &'t Declaration {
    let found = program.declarations.iter().find(|declaration| &*declaration.name.text == name);
    found.unwrap_or_else(|| panic!("no declaration `{name}`"))
}

fn apply_statements<'t>(program: &'t p4::ast::Program, control: &str) -> &'t [Statement] {
    match &declaration(program, control).kind {
        DeclarationKind::Control(control) => &control.body.statements,
        _ => panic!("`{control}` is no control"),
    }
}

/// A slot that goes over.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Carried {
    /// The expression in the program as written.
    place: String,
    width_bits: u32,
    is_bool: bool,
}

/// The slots that are live before the first of these statements and that the packet does not carry by itself.
fn live_before(source: &ReadyProgram, rest: &[NodeId]) -> Vec<Carried> {
    let analysis = Analysis::of(source.lowered());
    let tree = StatementTree::of(&source.typed().program);
    // A variable without a value has no code.
    let facts = rest.iter().map(|statement| analysis.statement_of(&tree.nodes_of(*statement)));
    let facts = { facts }.find(|facts| !facts.instances.is_empty()).expect("a statement with code");
    let before = facts.instances.iter().flat_map(|instance| &instance.before);
    let live: BTreeSet<_> =
        before.flat_map(|at| analysis.live_at(*at).iter().collect::<Vec<_>>()).collect();
    let carried = |slot: ir::SlotId| {
        let slot = &source.lowered().slots[slot.index()];
        let place = match slot.name.split_once('.')? {
            ("hdr", _) => return None,
            ("standard_metadata", field) => format!("standard.{field}"),
            ("MyIngress", variable) => variable.to_string(),
            _ => slot.name.to_string(),
        };
        let is_bool = slot.display == Display::Bool;
        Some(Carried { place, width_bits: slot.ty.width_bits(), is_bool })
    };
    live.into_iter().filter_map(carried).collect()
}

fn statements(rewriter: &mut Rewriter, text: &str) -> Vec<Statement> {
    let mut found = Diagnostics::new();
    let tokens = tokens_at(Span::NONE, text, &mut found);
    rewriter.pieces().statements(tokens).unwrap_or_else(|found| panic!("{text}: {found:?}"))
}

fn declarations(rewriter: &mut Rewriter, text: &str) -> Vec<Declaration> {
    let mut found = Diagnostics::new();
    let tokens = tokens_at(Span::NONE, text, &mut found);
    rewriter.pieces().declarations(tokens).unwrap_or_else(|found| panic!("{text}: {found:?}"))
}

/// A rewriter of the program with the header that carries these slots, and its apply statements.
fn begin(carried: &[Carried], mistake: Mistake) -> Rewriter {
    let mut rewriter = Rewriter::of(source(mistake).typed(), WHOLE.map.clone());
    let bits: u32 = carried.iter().map(|carried| carried.width_bits).sum();
    let fields: String = (carried.iter().enumerate())
        .map(|(at, carried)| format!("bit<{}> f{at};", carried.width_bits))
        .collect();
    let padding = match bits % 8 {
        0 => String::new(),
        over => format!("bit<{}> padding;", 8 - over),
    };
    let header = declarations(&mut rewriter, &format!("header carry_h {{ {fields} {padding} }}"));
    let headers = declaration(rewriter.program(), "headers_t").id;
    rewriter.insert_before(headers, header).expect("it goes before another declaration");
    let mut field = declarations(&mut rewriter, "struct carrier_t { carry_h carry; }");
    let DeclarationKind::Struct(composite) = &mut field[0].kind else { panic!("a struct") };
    let fields = std::mem::take(&mut composite.fields);
    rewriter.append(headers, fields).expect("a struct has fields");
    rewriter
}

fn finish(mut rewriter: Rewriter) -> Arc<Program> {
    rewriter.prune();
    let rewritten = rewriter.finish().unwrap_or_else(|(found, map)| {
        let options = source::RenderOptions { color: false };
        panic!("{}", source::render_text(&map, &found, options))
    });
    // What is printed is what runs.
    let printed = ReadyProgram::of_text("cut.p4", rewritten.print());
    let mut found = Diagnostics::new();
    let ready = ReadyProgram::lower(rewritten.program, &mut found).expect("it is right");
    let printed = printed.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(printed.program().tables.len(), ready.program().tables.len());
    ready.program().clone()
}

/// Both programs of a cut before the statement of this place, and how many slots went over.
fn cut(at: usize, mistake: Mistake) -> ([Arc<Program>; 2], usize) {
    let all = apply_statements(&source(mistake).typed().program, "MyIngress");
    let ids: Vec<NodeId> = all.iter().map(|it| it.id).collect();
    let mut carried = live_before(source(mistake), &ids[at..]);
    let count = carried.len();
    let mut taken = carried.clone();
    if let Mistake::Forgotten(place) = mistake {
        taken.remove(place % count);
        carried = taken.clone();
    }
    // A variable that is declared on one side is needed on the other one, too.
    let is_variable =
        |statement: &&Statement| matches!(statement.kind, StatementKind::Declaration(_));
    let variables: Vec<NodeId> = all[..at].iter().filter(is_variable).map(|it| it.id).collect();

    let mut first = begin(&carried, mistake);
    for id in &ids[at..] {
        first.remove(*id).expect("it is a statement");
    }
    let mut code = String::from("hdr.carry.setValid();");
    for (place, carried) in carried.iter().enumerate() {
        let cast = if carried.is_bool { "(bit<1>)" } else { "" };
        code += &format!("hdr.carry.f{place} = {cast}{};", carried.place);
    }
    code += &format!("standard.egress_spec = {LINK}; standard.mcast_grp = 0;");
    let code = statements(&mut first, &code);
    let ingress = declaration(first.program(), "MyIngress").id;
    first.append(ingress, code).expect("a control has statements");
    for id in
        apply_statements(first.program(), "MyEgress").iter().map(|it| it.id).collect::<Vec<_>>()
    {
        first.remove(id).expect("it is a statement");
    }
    let emit = statements(&mut first, "packet.emit(hdr.carry);");
    let deparser = declaration(first.program(), "MyDeparser").id;
    first.prepend(deparser, emit).expect("a control has statements");

    let mut second = begin(&carried, mistake);
    for id in ids[..at].iter().filter(|id| !variables.contains(id)) {
        second.remove(*id).expect("it is a statement");
    }
    let mut code = String::new();
    for (place, carried) in carried.iter().enumerate() {
        let test = if carried.is_bool { " == 1" } else { "" };
        code += &format!("{} = hdr.carry.f{place}{test};", carried.place);
    }
    code += "hdr.carry.setInvalid();";
    let code = statements(&mut second, &code);
    match variables.last() {
        Some(last) => second.insert_after(*last, code).expect("it is a statement"),
        None => {
            let ingress = declaration(second.program(), "MyIngress").id;
            second.prepend(ingress, code).expect("a control has statements");
        }
    }
    let extract = statements(&mut second, "packet.extract(hdr.carry);");
    let start = match &declaration(second.program(), "MyParser").kind {
        DeclarationKind::Parser(parser) => {
            let is_start = |state: &&State| &*state.name.text == "start";
            parser.states.iter().find(is_start).expect("a state").id
        }
        _ => panic!("a parser"),
    };
    second.prepend(start, extract).expect("a state has statements");
    ([finish(first), finish(second)], count)
}

/// Puts each object of the whole program on the device whose program has it.
#[derive(Debug)]
struct Placed {
    parts: [Arc<Program>; 2],
    mistake: Mistake,
}

impl Placed {
    fn table(&self, of: TableId) -> Result<(TargetIndex, TableId), Fault> {
        let name = &program().tables[of.index()].name;
        let find = |at: usize| {
            let tables = &self.parts[at].tables;
            tables.iter().position(|table| table.name == *name).map(|id| (at, id))
        };
        let found = match self.mistake {
            Mistake::WrongDevice => {
                Some((0, of.index().min(self.parts[0].tables.len().max(1) - 1)))
            }
            _ => find(0).or_else(|| find(1)),
        };
        let gone = || Fault::Unsupported(format!("no device has `{name}`"));
        found.map(|(at, id)| (TargetIndex(at), TableId(id as u32))).ok_or_else(gone)
    }

    fn register(&self, of: RegisterId) -> Result<(TargetIndex, RegisterId), Fault> {
        let name = &program().registers[of.index()].name;
        let find = |at: usize| {
            let registers = &self.parts[at].registers;
            registers.iter().position(|register| register.name == *name).map(|id| (at, id))
        };
        let gone = || Fault::Unsupported(format!("no device has `{name}`"));
        let (at, id) = find(0).or_else(|| find(1)).ok_or_else(gone)?;
        Ok((TargetIndex(at), RegisterId(id as u32)))
    }

    /// The entry below: its table and its action by the numbers of the part.
    fn entry(
        &self,
        of: TableId,
        entry: &NewEntry,
    ) -> Result<(TargetIndex, TableId, NewEntry), Fault> {
        let (at, table) = self.table(of)?;
        let state::ActionData::Direct(action) = &entry.action else { panic!("no profiles here") };
        let name = &program().actions[action.action.index()].name;
        let id = self.parts[at.0].actions.iter().position(|action| action.name == *name);
        let id = id.ok_or_else(|| Fault::Unsupported(format!("`{name}` is not there")))?;
        let action = state::BoundAction { action: ir::ActionId(id as u32), ..action.clone() };
        let action = state::ActionData::Direct(action);
        Ok((at, table, NewEntry { action, ..entry.clone() }))
    }
}

impl Translation for Placed {
    fn program(&self) -> Arc<Program> {
        program().clone()
    }

    fn targets(&self) -> Vec<TargetIndex> {
        (0..2).map(TargetIndex).collect()
    }

    fn update(&mut self, update: &Update, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        let (target, below) = match update {
            Update::InsertEntry { table, entry } => {
                let (target, table, entry) = self.entry(*table, entry)?;
                (target, Update::InsertEntry { table, entry })
            }
            Update::ModifyEntry { table, entry } => {
                let (target, table, entry) = self.entry(*table, entry)?;
                (target, Update::ModifyEntry { table, entry })
            }
            Update::DeleteEntry { table, keys, priority } => {
                let (target, table) = self.table(*table)?;
                let (keys, priority) = (keys.clone(), *priority);
                (target, Update::DeleteEntry { table, keys, priority })
            }
            Update::WriteRegister { register, cells, values } => {
                let (target, register) = self.register(*register)?;
                let (cells, values) = (*cells, values.clone());
                (target, Update::WriteRegister { register, cells, values })
            }
            _ => return Err(Fault::Unsupported("not in this trial".to_string())),
        };
        Ok(vec![Physical::at(target, below)])
    }

    fn read(&mut self, read: &Read, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        let Read::Register { register, cells } = read else {
            return Err(Fault::Unsupported("not in this trial".to_string()));
        };
        let (target, register) = self.register(*register)?;
        Ok(vec![Physical::at(target, Read::Register { register, cells: *cells })])
    }

    fn combine(&mut self, _: &Read, replies: Vec<state::Reply>) -> Result<state::Reply, Fault> {
        replies.into_iter().next().ok_or(Fault::Gone)
    }

    fn notify(
        &mut self,
        _: TargetIndex,
        notification: Notification,
        _: &Configuration,
    ) -> Vec<Notification> {
        vec![notification]
    }
}

fn batch(choices: &mut Choices) -> Batch {
    let program = program();
    let mut items = Vec::new();
    for _ in 0..choices.between(1, 4) {
        let is_first = choices.chance(50);
        let name = if is_first { "amounts" } else { "colours" };
        let of = table(program, name);
        let number = choices.below(300) as u64;
        let action = match choices.below(6) {
            0 => bound(program, of, "discard", &[]),
            _ if is_first => bound(program, of, "set_amount", &[number, 1 + number % 5]),
            _ => bound(program, of, "paint", &[number % 256]),
        };
        let keys = if is_first {
            exact(program, of, &[choices.below(8) as u64])
        } else {
            let mask = Bits::from_u64(16, *choices.pick(&[0x80, 0xf0, 1]));
            let value = Bits::from_u64(16, choices.below(256) as u64);
            let value = value.binary(ir::BinaryOperation::And, &mask);
            let kind = Bits::from_u64(8, choices.below(4) as u64);
            vec![KeyPattern::Ternary { value, mask }, KeyPattern::Exact(kind)]
        };
        let priority = if is_first { 0 } else { choices.below(3) as i64 };
        let entry = NewEntry::direct(keys, priority, action);
        items.push(Item::from(match choices.below(4) {
            0 => Update::ModifyEntry { table: of, entry },
            1 => Update::DeleteEntry { table: of, keys: entry.keys, priority },
            _ => Update::InsertEntry { table: of, entry },
        }));
    }
    for name in ["arrivals", "totals"] {
        let register = crate::seams::register(program, name);
        let cells = CellRange { first: 0, count: None };
        items.push(Item::from(Read::Register { register, cells }));
    }
    Batch::of(items).with(Atomicity::ContinueOnError)
}

/// What answers say, but for places of entries below.
fn essence(outcome: &Outcome) -> Vec<String> {
    let result = |result: &Result<Reply, Fault>| match result {
        Err(Fault::Refused(error)) => error.code().to_string(),
        other => format!("{other:?}"),
    };
    outcome.results.iter().map(result).collect()
}

fn digests(target: &mut dyn Target) -> Vec<String> {
    let text = |notification| match notification {
        Notification::Digest { name, fields, .. } => format!("{name} {fields:?}"),
        other => format!("{other:?}"),
    };
    target.notifications().into_iter().map(text).collect()
}

fn sent(device: &mut Device) -> Vec<(u32, Vec<u8>)> {
    device.drain_transmitted().into_iter().map(|sent| (sent.port, sent.bytes)).collect()
}

/// A sentence about the first difference between the whole and both parts.
fn compare(
    engine: EngineChoice,
    parts: &[Arc<Program>; 2],
    mistake: Mistake,
    seed: u64,
) -> Result<usize, String> {
    let mut choices = Choices::from_seed(seed);
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    let device =
        |program: &Arc<Program>| Device::new(program.clone(), options.clone()).expect("it loads");
    let mut whole = device(program());
    let mut whole_target = whole.target();
    let [mut first, mut second] = [device(&parts[0]), device(&parts[1])];
    let below: Vec<Box<dyn Target>> = vec![Box::new(first.target()), Box::new(second.target())];
    let map = Placed { parts: parts.clone(), mistake };
    let mut target = Mapped::new(Virtual::new(map).expect("the program is whole"), below);
    let _ = (digests(&mut whole_target), digests(&mut target));
    let mut packets = 0;
    for round in 0..6 {
        let batch = batch(&mut choices);
        let expected = essence(&whole_target.execute(batch.clone()));
        let found = essence(&target.execute(batch));
        if found != expected {
            return Err(format!("round {round}: {found:?} instead of {expected:?}"));
        }
        for _ in 0..20 {
            let mut bytes = vec![choices.below(8) as u8, choices.below(4) as u8];
            bytes.extend((choices.below(400) as u16).to_be_bytes());
            bytes.resize(20, 0x5a);
            let port = choices.below(4) as u32;
            let run = |device: &mut Device, port, bytes: Vec<u8>| {
                let now_ps = device.now_ps();
                device.inject(port, now_ps, bytes).expect("the port exists");
                device.advance(now_ps).expect("no assertion fails");
                sent(device)
            };
            let expected = run(&mut whole, port, bytes.clone());
            let mut found = Vec::new();
            for (link, bytes) in run(&mut first, port, bytes.clone()) {
                if link != LINK {
                    return Err(format!("{bytes:?} leaves the first device by port {link}"));
                }
                found.extend(run(&mut second, LINK, bytes));
            }
            packets += 1;
            if found != expected {
                return Err(format!(
                    "packet {packets}, {bytes:?}: {found:?} instead of {expected:?}"
                ));
            }
        }
        let (expected, found) = (digests(&mut whole_target), digests(&mut target));
        if found != expected {
            return Err(format!("round {round}: digests {found:?} instead of {expected:?}"));
        }
    }
    Ok(packets)
}

/// Places between statements where no state is accessed on both sides: there the control may be cut.
fn boundaries() -> Vec<usize> {
    let source = source(Mistake::None);
    let analysis = Analysis::of(source.lowered());
    let tree = StatementTree::of(&source.typed().program);
    let state = |statements: &[Statement]| -> BTreeSet<Location> {
        let facts = statements.iter().map(|it| analysis.statement_of(&tree.nodes_of(it.id)));
        let effects = facts.map(|facts| facts.effects());
        let locations = effects.flat_map(|effects| effects.reads.into_iter().chain(effects.writes));
        let is_state = |it: &Location| matches!(it, Location::Register(_) | Location::Table(_));
        locations.filter(is_state).collect()
    };
    let all = apply_statements(&source.typed().program, "MyIngress");
    let may_be_cut = |at: &usize| state(&all[..*at]).is_disjoint(&state(&all[*at..]));
    (1..all.len()).filter(may_be_cut).collect()
}

const ENGINES: [EngineChoice; 2] = [EngineChoice::Interpreter, EngineChoice::Jit];

#[test]
fn a_control_cut_in_two_means_what_it_means_whole() {
    let (mut packets, mut carried) = (0, Vec::new());
    for at in boundaries() {
        let (parts, count) = cut(at, Mistake::None);
        carried.push(count);
        for engine in ENGINES {
            for seed in seeds(4) {
                match compare(engine, &parts, Mistake::None, seed) {
                    Ok(more) => packets += more,
                    Err(why) => panic!("cut before statement {at}, seed {seed}, {engine:?}: {why}"),
                }
            }
        }
    }
    println!("{} boundaries, {packets} packets; slots carried: {carried:?}", carried.len());
}

#[test]
fn mistakes_of_cuts_are_caught() {
    let (mut forgotten, mut caught) = (0, 0);
    let is_caught = |at: usize, mistake: Mistake| {
        let (parts, _) = cut(at, mistake);
        let fails = |seed| compare(EngineChoice::Interpreter, &parts, mistake, seed).is_err();
        (0..4).any(fails)
    };
    for at in boundaries() {
        for place in 0..cut(at, Mistake::None).1 {
            forgotten += 1;
            caught += usize::from(is_caught(at, Mistake::Forgotten(place)));
        }
    }
    println!("slots forgotten: {forgotten}, caught: {caught}");
    // Slots that only the device reads (groups, priorities) have the same value on both sides here.
    assert!(caught * 2 > forgotten, "{caught} of {forgotten}");
    for mistake in [Mistake::KeysLost, Mistake::WrongDevice] {
        let caught = boundaries().into_iter().filter(|at| is_caught(*at, mistake)).count();
        println!("{mistake:?}: caught at {caught} boundaries");
        assert!(caught > 0, "{mistake:?} is not caught");
    }
}
