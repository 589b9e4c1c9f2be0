// SPDX-License-Identifier: Apache-2.0
//! Programs for TNA: what tables small handlers become, that every stage that is printed is one that
//! the dependencies of the printed program allow, that all examples compile without warnings, and what
//! this target refuses. Whether they do what they mean is tested in `compiled`.

use ir::ready::ReadyProgram;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::{Loader, NoFiles};
use lucid_compiler::tna::lines::{LineKind, lines};
use lucid_compiler::tna::{Part, TnaProgram, compile_with};
use lucid_compiler::{Backend, Delay, Options};
use pisa::Problem;
use source::{Diagnostics, RenderOptions, SourceMap, Span, render_text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(path).ok())
    }
}

fn tofino() -> pisa::HardwareModel {
    pisa::HardwareModel::named("tofino", Span::NONE).expect("a shipped target")
}

fn compile_text(
    name: &str,
    text: String,
    loader: &dyn Loader,
    options: &Options,
) -> Result<TnaProgram, String> {
    let mut map = SourceMap::new();
    let show =
        |map: &SourceMap, found: &Diagnostics| render_text(map, found, RenderOptions::default());
    let core = front::compile(&mut map, name, text, loader, &Symbolics::default(), &[])
        .map_err(|found| show(&map, &found))?;
    let target = tofino();
    let layouter = |problem: &Problem| pisa::greedy::greedy(problem, &target);
    compile_with(&core.program, map.clone(), options, &layouter).map_err(|found| show(&map, &found))
}

fn options() -> Options {
    Options { target: Backend::Tna, ..Options::default() }
}

pub(crate) fn small(text: &str) -> TnaProgram {
    compile_text("small.dpt", text.to_string(), &NoFiles, &options()).expect("a right program")
}

pub(crate) fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid");
    let mut found: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the examples")
        .flatten()
        .filter(|entry| entry.file_name() != "library")
        .flat_map(|entry| std::fs::read_dir(entry.path()).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "dpt"))
        .collect();
    found.sort();
    assert_eq!(found.len(), 10, "{found:?}");
    found
}

pub(crate) fn example(path: &Path) -> TnaProgram {
    let text = std::fs::read_to_string(path).expect("an example");
    compile_text(&path.display().to_string(), text, &Disk, &options())
        .unwrap_or_else(|said| panic!("{}: {said}", path.display()))
}

/// The ingress control of the printed program.
fn ingress(made: &TnaProgram) -> String {
    let text = made.compiled.built.print();
    let start = text.find("control Ingress(").expect("an ingress");
    let end = text.find("control IngressDeparser(").expect("a deparser");
    text[start..end].to_string()
}

#[test]
fn statements_of_different_branches_share_a_table() {
    let made = small(
        "global Array.t<32> counts = Array.create(16);\n\
         memop plus(int stored, int x) { return stored + x; }\n\
         event packet_in(int<8> proto, int<4> port) {\n\
             if (proto == 6) { Array.setm(counts, port, plus, 1); }\n\
             else { if (proto == 17) { Array.setm(counts, port, plus, 2); } }\n\
         }\n",
    );
    testing::assert_snapshot!("shared_table", ingress(&made));
}

#[test]
fn generated_events_leave_as_copies() {
    let made = small(
        "event answer(int x);\n\
         event ask(int x) {\n\
             generate Event.delay(answer(x), 1000);\n\
             if (x == 1) { generate answer(x + 1); }\n\
             generate_port(3, answer(2));\n\
         }\n",
    );
    testing::assert_snapshot!("copies", made.compiled.built.print());
}

#[test]
fn memops_become_register_actions() {
    let made = small(
        "global PairArray.t<16> pairs = PairArray.create(4);\n\
         global Array.t<9> ports = Array.create(8);\n\
         global Counter.t<32> served = Counter.create(7);\n\
         memop smaller(int<9> stored, int<9> x) { if (stored < x) { return stored; } else { return x; } }\n\
         memop both(int<16> one, int<16> two, int<16> x, int<16> y) {\n\
             bool b1 = one == x;\n\
             if (b1) { cell1 = one + 1; }\n\
             if (!b1) { cell2 = y; }\n\
             if (true) { return cell1; }\n\
         }\n\
         event e(int<16> x, int<9> p) {\n\
             int<16> a = PairArray.update(pairs, 1, both, x, 5, 0);\n\
             int<9> b = Array.update(ports, 2, smaller, p, smaller, p);\n\
             int n = Counter.add(served, 1);\n\
             generate e(a, b);\n\
         }\n",
    );
    let text = ingress(&made);
    let end = text.find("action ").expect("actions");
    testing::assert_snapshot!("register_actions", &text[..end]);
}

/// Lucid Figure 8: the merged tables of Figure 6's handler.
#[test]
fn figure_8() {
    let made = small(
        "const int NUM_PORTS = 64;\n\
         const int<8> TCP = 6;\n\
         const int<8> UDP = 17;\n\
         global Array.t<32> nexthops = Array.create(64);\n\
         global Array.t<32> tcp_cts = Array.create(192);\n\
         global Array.t<32> hcts = Array.create(64);\n\
         memop plus(int stored, int x) { return stored + x; }\n\
         event count_pkt(int dst, int<8> proto) {\n\
             int idx = Array.get(nexthops, dst);\n\
             if (proto != TCP) {\n\
                 if (proto == UDP) { idx = idx + NUM_PORTS; }\n\
                 else { idx = idx + 128; }\n\
             }\n\
             Array.setm(tcp_cts, idx, plus, 1);\n\
             Array.setm(hcts, dst, plus, 1);\n\
         }\n",
    );
    // Both reads of `dst` in the first stage, both additions in one table, the count behind them.
    let stage_of = |text: &str| {
        made.layout.stages.iter().position(|stage| {
            let units = stage.tables.iter().flat_map(|table| &table.units);
            let mut names = units.map(|unit| &made.problem.units[unit.0 as usize].name);
            names.any(|name| name.contains(text))
        })
    };
    assert_eq!(stage_of("nexthops["), Some(0));
    assert_eq!(stage_of("hcts["), Some(0));
    assert_eq!(stage_of("tcp_cts["), Some(2));
    testing::assert_snapshot!("figure_8", ingress(&made));
}

/// Stages of tables as printed.
fn printed_stages(text: &str) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let mut control = String::new();
    let mut stage = None;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("control ") {
            control = rest.split('(').next().unwrap_or("").to_string();
        }
        if let Some(rest) = line.strip_prefix("@stage(") {
            stage = rest.split(')').next().and_then(|number| number.parse().ok());
        }
        if let Some(at) = line.find("table ")
            && let Some(number) = stage.take_if(|_| line.ends_with('{'))
        {
            let name = line[at + 6..].trim_end_matches('{').trim();
            found.insert(format!("{control}.{name}"), number);
        }
    }
    found
}

#[test]
fn layouts_keep_to_the_target_and_are_what_is_printed() {
    for path in examples() {
        let made = example(&path);
        let name = path.display();
        let violations = pisa::check::check(&made.problem, &tofino(), &made.layout);
        assert!(violations.is_empty(), "{name}: {violations:?}");
        let text = made.compiled.built.print();
        // Each stage has as many tables with its number as the layout says, unless a table was taken
        // apart or is empty (sums that the deparser computes).
        let printed = printed_stages(&text);
        let last = printed.values().max().copied();
        assert_eq!(last, Some(made.layout.stages.len() as u32 - 1), "{name}");
        let statements = made.parts.iter().filter(|part| matches!(part, Part::Statement(_)));
        assert_eq!(statements.count(), made.atomic.statements.len(), "{name}");
    }
}

/// The printed program, read by itself, lowered, and its dependencies found anew: whatever writes
/// what another table's key or action reads comes in an earlier stage.
#[test]
fn printed_stages_respect_the_dependencies_of_the_printed_program() {
    for path in examples() {
        let made = example(&path);
        let name = path.display().to_string();
        let text = made.compiled.built.print();
        let printed = printed_stages(&text);
        let problem = pisa::graph::problem_of(read_again(&text).lowered());
        let table_of = |unit: pisa::UnitId| {
            let unit = &problem.units[unit.0 as usize];
            printed
                .iter()
                .find(|(table, _)| unit.table.is_some() && unit.name.as_ref() == table.as_str())
        };
        let mut compared = 0;
        for dependency in &problem.dependencies {
            let (Some((before, first)), Some((after, second))) =
                (table_of(dependency.before), table_of(dependency.after))
            else {
                continue;
            };
            compared += 1;
            assert!(
                first + dependency.kind.distance() <= *second,
                "{name}: {before} in stage {first}, {after} in stage {second}: {:?}",
                dependency.kind
            );
        }
        assert!(compared > 5, "{name}: only {compared} dependencies between tables");
    }
}

/// The printed program, read by itself, as pipeline IR.
fn read_again(text: &str) -> ReadyProgram {
    let (files, options) = (p4::interfaces::InterfacesOnly, Default::default());
    let mut read = p4::compile::compile("printed.p4", text.to_string(), &files, &options);
    let ready = ReadyProgram::of(&mut read);
    let found = render_text(&read.map, &read.diagnostics, RenderOptions::default());
    assert!(read.diagnostics.is_empty(), "{found}");
    ready.expect("it has a `main`")
}

/// The printed program laid out like any P4 program: as precise as what the compiler knew.
#[test]
fn the_printed_program_needs_as_many_stages() {
    let mut needed = Vec::new();
    for path in examples() {
        let made = example(&path);
        let ready = read_again(&made.compiled.built.print());
        let problem = pisa::graph::problem_of(ready.program());
        let layout = pisa::greedy::greedy(&problem, &tofino());
        let stages = layout.map(|layout| {
            assert_eq!(pisa::check::check(&problem, &tofino(), &layout), [], "{}", path.display());
            layout.stages.len()
        });
        needed.push((
            path,
            made.layout.stages.len(),
            stages.map_err(|found| found.iter().map(|one| one.message.clone()).collect::<Vec<_>>()),
        ));
    }
    for (path, compiler, printed) in &needed {
        assert_eq!(printed.as_ref(), Ok(compiler), "{}", path.display());
    }
}

#[test]
fn examples_compile_without_warnings() {
    for path in examples() {
        let made = example(&path);
        let warnings = &made.compiled.built.warnings;
        assert!(
            warnings.is_empty(),
            "{}: {}",
            path.display(),
            render_text(&made.compiled.built.map, warnings, RenderOptions::default())
        );
        let mut found = Diagnostics::new();
        let ready = ReadyProgram::lower(made.compiled.built.program.clone(), &mut found);
        assert!(ready.is_some() && found.is_empty(), "{}: {found:?}", path.display());
        let counts = lines(&made.compiled.built.print());
        for kind in [LineKind::Headers, LineKind::Parsers, LineKind::Actions, LineKind::Tables] {
            assert!(counts.get(&kind).copied().unwrap_or(0) > 10, "{}: {kind:?}", path.display());
        }
    }
}

#[test]
fn delay_by_recirculation_compiles() {
    let options = Options { delay: Delay::Recirculation, ..options() };
    let text = "event tick(int x) { generate Event.delay(tick(x + 1), 5000); }\n";
    let made = compile_text("tick.dpt", text.to_string(), &NoFiles, &options).expect("it compiles");
    let text = made.compiled.built.print();
    assert!(text.contains("table count_down") && !text.contains("pause_h"), "{text}");
}

/// No table takes copies apart, so their number is bound by the keys of `serialise` alone.
#[test]
fn many_events_of_one_handler_fit() {
    small(
        "event one(int<8> n);\n\
         event go(int<8> n) { for (i < 40) { generate one(n); } }\n",
    );
    for generated in ["generate Event.delay(one(n), t)", "generate_port(t, Event.delay(one(n), t))"]
    {
        small(&format!(
            "event one(int<8> n);\n\
             event go(int<8> n, int t) {{ for (i < 40) {{ {generated}; }} }}\n",
        ));
    }
}

/// Returns what is said about a program that Tofino cannot run.
pub(crate) fn refused(text: &str) -> String {
    let made = compile_text("wrong.dpt", text.to_string(), &NoFiles, &options());
    made.map(|_| ()).expect_err("refused")
}

#[test]
fn what_the_target_cannot_do_is_told() {
    let five = refused(
        "global Array.t<32> a = Array.create(4);\n\
         memop plus(int s, int x) { return s + x; }\n\
         memop minus(int s, int x) { return s - x; }\n\
         memop both(int s, int x) { return s & x; }\n\
         memop either(int s, int x) { return s | x; }\n\
         event e(int<2> i, int x) {\n\
             match x with\n\
             | 1 -> { Array.setm(a, i, plus, x); }\n\
             | 2 -> { Array.setm(a, i, minus, x); }\n\
             | 3 -> { Array.setm(a, i, both, x); }\n\
             | 4 -> { Array.setm(a, i, either, x); }\n\
             | _ -> { Array.set(a, i, x); }\n\
         }\n",
    );
    assert!(five.contains("LU-E0781") || five.contains("register actions"), "{five}");
}
