// SPDX-License-Identifier: Apache-2.0
//! Every access that the memop checker accepts fits one stateful ALU of Tofino, which then does what
//! the memops say; on generated memops of two, three and four arguments.

use super::evaluate;
use arithmetic::random::SplitMix64;
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_compiler::atomic::program::{MemoryAccess, MemoryUse, Operand};
use lucid_compiler::atomic::stateful::configure;
use lucid_compiler::atomic::{program, translate};
use lucid_compiler::normal::normalize;
use pisa::HardwareModel;
use source::{SourceMap, Span};

/// Numbers from a seed.
struct Numbers(SplitMix64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0.next_number()
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.next() as usize % list.len()]
    }

    /// A value that memops tell apart: small, or any.
    fn value(&mut self) -> u128 {
        match self.next() % 3 {
            0 => u128::from(self.next() % 4),
            1 => u128::from(u32::MAX) - u128::from(self.next() % 3),
            _ => u128::from(self.next() as u32),
        }
    }
}

fn value(numbers: &mut Numbers, cell: &str, argument: &str) -> String {
    let leaves = [cell, argument, "1", "7"];
    match numbers.next() % 3 {
        0 => numbers.of(&leaves).to_owned(),
        _ => {
            let operator = numbers.of(&["+", "-", "&", "|", "^^", "|+|", "|-|"]);
            format!("{} {operator} {}", numbers.of(&leaves), numbers.of(&leaves))
        }
    }
}

fn condition(numbers: &mut Numbers, cell: &str, argument: &str) -> String {
    let operator = numbers.of(&["==", "!=", "<", ">", "<=", ">="]);
    let left = value(numbers, cell, argument);
    format!("{left} {operator} {}", numbers.of(&[argument, cell, "3"]))
}

fn two(numbers: &mut Numbers, name: &str) -> String {
    let mut expression = || value(numbers, "stored", "x");
    let (one, other) = (expression(), expression());
    let body = match numbers.next() % 2 {
        0 => format!("return {one};"),
        _ => {
            let condition = condition(numbers, "stored", "x");
            format!("if ({condition}) {{ return {one}; }} else {{ return {other}; }}")
        }
    };
    format!("memop {name}(int stored, int x) {{ {body} }}\n")
}

fn complex(numbers: &mut Numbers, pair: bool) -> String {
    let cells = if pair { ["c1", "c2"] } else { ["c1", "c1"] };
    let arguments = ["x", "y"];
    let mut text = String::from(if pair {
        "memop m(int c1, int c2, int x, int y) {"
    } else {
        "memop m(int c1, int x, int y) {"
    });
    for name in ["b1", "b2"] {
        let (cell, argument) = (numbers.of(&cells), numbers.of(&arguments));
        text += &format!(" bool {name} = {};", condition(numbers, cell, argument));
    }
    let guards = ["b1", "b2", "b1 && b2", "b1 || b2", "!b1", "!b2 && b1"];
    for cell in ["cell1", "cell2"] {
        let mut update = || {
            let (from, argument) = (numbers.of(&cells), numbers.of(&arguments));
            format!("{cell} = {};", value(numbers, from, argument))
        };
        let (one, other) = (update(), update());
        let (first, second) = (numbers.of(&guards), numbers.of(&guards));
        text += &match numbers.next() % 3 {
            0 => String::new(),
            1 => format!(" if ({first}) {{ {one} }}"),
            _ => format!(" if ({first}) {{ {one} }} else {{ if ({second}) {{ {other} }} }}"),
        };
    }
    if !numbers.next().is_multiple_of(4) {
        let output = numbers.of(&["cell1", "cell2", "c1"]);
        text += &format!(" if ({}) {{ return {output}; }}", numbers.of(&guards));
    }
    text + " }\n"
}

fn accepted(text: &str) -> Option<Program> {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let symbolics = Symbolics::default();
    let compiled =
        front::compile(&mut map, "memops.dpt", text.to_owned(), &files, &symbolics, &[]).ok()?;
    Some(normalize(&compiled.program))
}

/// The register action of the program's only access.
fn access(core: &Program) -> Option<MemoryAccess> {
    let graph = translate(core).expect("atomic statements");
    let arrays: &[program::Array] = &graph.program.arrays;
    Some(arrays.first()?.register_actions.first()?.access.clone())
}

/// Holds one access to the stateful ALU; whether the checker took it.
fn fits(text: &str, numbers: &mut Numbers) -> bool {
    let Some(core) = accepted(text) else { return false };
    let Some(access) = access(&core) else { return false };
    let target = HardwareModel::named("tofino", Span::NONE).expect("a target we ship");
    let configuration = configure(&core, &access).unwrap_or_else(|it| panic!("{it:?}: {text}"));
    configuration.fits(&target.stateful_alu).unwrap_or_else(|it| panic!("{it:?}: {text}"));
    for _ in 0..20 {
        let given = [numbers.value(), numbers.value()];
        let (old, found, expected);
        match &access {
            MemoryAccess::Complex { memop, .. } => {
                let memop = &core.memops[memop.0 as usize];
                let pair = memop.argument_count == 4;
                old = [numbers.value(), if pair { numbers.value() } else { 0 }];
                let default = 99;
                let (mut cells, output) = evaluate::complex(memop, old, given, default);
                let (new, out) = configuration.run(old, given);
                if !pair {
                    cells[1] = new[1];
                }
                found = (new, out.unwrap_or(default));
                expected = (cells, output);
            }
            MemoryAccess::Simple { get, set } => {
                old = [numbers.value(), 0];
                let operands = configuration.operands.map(|operand| match operand {
                    Operand::Constant(value) => value,
                    Operand::Variable(_) => numbers.value(),
                });
                let used = |side: &MemoryUse, given: u128| match side {
                    MemoryUse::Old => old[0],
                    MemoryUse::Value(_) => given,
                    MemoryUse::Add(_) => old[0].wrapping_add(given),
                    MemoryUse::Memop(id, _) => {
                        evaluate::simple(&core.memops[id.0 as usize], old[0], given)
                    }
                };
                let (new, out) = configuration.run(old, operands);
                let stored = set.as_ref().map_or(old[0], |side| used(side, operands[0]));
                let output = get.as_ref().map_or(0, |side| used(side, operands[1]));
                found = ([new[0], 0], out.unwrap_or(0));
                expected = ([stored, 0], output);
            }
        }
        assert_eq!(found, expected, "{text}\nold {old:?}, given {given:?}");
    }
    true
}

#[test]
fn accepted_pairs_of_memops_fit_one_stateful_alu() {
    let mut numbers = Numbers(SplitMix64::new(1));
    let mut count = 0;
    for _ in 0..600 {
        let memops = two(&mut numbers, "get") + &two(&mut numbers, "set");
        let text = format!(
            "{memops}global Array.t<32> a = Array.create(4);\nevent e(int p, int q);\n\
             handle e(int p, int q) {{ int r = Array.update(a, 0, get, p, set, q); \
             generate e(r, q); }}\n"
        );
        count += u32::from(fits(&text, &mut numbers));
    }
    assert!(count > 60, "only {count} pairs were accepted");
}

#[test]
fn accepted_memops_of_more_arguments_fit_one_stateful_alu() {
    let mut numbers = Numbers(SplitMix64::new(2));
    let mut counts = [0; 2];
    for at in 0..1600 {
        let pair = at % 2 == 1;
        let (kind, create) =
            if pair { ("PairArray", "PairArray.create") } else { ("Array", "Array.create") };
        let update = if pair { "PairArray.update" } else { "Array.update_complex" };
        let memop = complex(&mut numbers, pair);
        let text = format!(
            "{memop}global {kind}.t<32> a = {create}(4);\nevent e(int p, int q);\n\
             handle e(int p, int q) {{ int r = {update}(a, 0, m, p, q, 5); generate e(r, q); }}\n"
        );
        counts[usize::from(pair)] += u32::from(fits(&text, &mut numbers));
    }
    assert!(counts.iter().all(|count| *count > 30), "only {counts:?} memops were accepted");
}
