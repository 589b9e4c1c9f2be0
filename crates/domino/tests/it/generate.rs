// SPDX-License-Identifier: Apache-2.0
//! Generated programs. No expression has two effects, or an effect and a use of what it changes, that C leaves in any
//! order, so that g++ is an oracle for them.

use std::fmt::Write;
use testing::choices::Choices;

/// Returns the text of a program.
pub fn program(seed: u64) -> String {
    let mut generator = Generator {
        choices: Choices::from_seed(seed),
        text: String::new(),
        ints: Vec::new(),
        unsigneds: Vec::new(),
        arrays: Vec::new(),
        pure_helpers: Vec::new(),
        effects: Vec::new(),
        excluded: Vec::new(),
        locals: 0,
        indent: 0,
    };
    generator.program();
    generator.text
}

/// A constant of some interest.
const NUMBERS: &[i64] =
    &[0, 1, 2, 3, 4, 7, 10, 15, 31, 32, 33, 100, 255, 1000, 8000, 65535, 2147483647];

struct Generator {
    choices: Choices,
    text: String,
    /// Variables of type `int` and `unsigned`.
    ints: Vec<String>,
    unsigneds: Vec<String>,
    /// Arrays with their size.
    arrays: Vec<(String, usize)>,
    /// Helpers with two parameters and without effects.
    pure_helpers: Vec<String>,
    /// Helpers that change globals.
    effects: Vec<String>,
    /// What the current expression must not use.
    excluded: Vec<String>,
    locals: usize,
    indent: usize,
}

impl Generator {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.indent));
    }

    fn program(&mut self) {
        self.line("#include \"hashes.h\"");
        self.line("#define LIMIT 5");
        self.line("#define MORE(x) ((x) + LIMIT)");
        self.line("struct Packet { int a; int b; int c; unsigned u; unsigned v; int o; };");
        self.line("int s = 3; int t; unsigned w = 0xfffffff0;");
        let (one, two) = (self.choices.between(1, 9), self.choices.between(3, 40));
        self.line(&format!("int r[{one}] = {{1}};"));
        self.line(&format!("unsigned q[{two}];"));
        self.line("int read_only[4] = {5, -6, 7, 8};");
        self.arrays =
            vec![("r".into(), one as usize), ("q".into(), two as usize), ("read_only".into(), 4)];
        let globals = ["s", "t"].map(String::from);
        for helper in 0..3 {
            self.helper(helper, &globals);
        }
        self.ints = ["p.a", "p.b", "p.c", "p.o"].map(String::from).to_vec();
        self.ints.extend(globals);
        self.unsigneds = ["p.u", "p.v", "w"].map(String::from).to_vec();
        self.line("void func(struct Packet p) {");
        self.indent = 1;
        for _ in 0..self.choices.between(3, 8) {
            self.statement(3);
        }
        self.indent = 0;
        self.line("}");
    }

    fn helper(&mut self, number: usize, globals: &[String]) {
        let has_effect = number == 1;
        self.ints = vec!["x".into(), "y".into()];
        self.unsigneds = Vec::new();
        if !has_effect {
            self.ints.extend(globals.iter().cloned());
        }
        self.line(&format!("int h{number}(int x, int y) {{"));
        self.indent = 1;
        let early = self.condition(1);
        let value = self.expression(2);
        self.line(&format!("if ({early}) return {value};"));
        self.line("int n = 0;");
        let turns = self.choices.between(0, 6);
        self.line(&format!("for (int k = 0; k < {turns}; k++) {{"));
        self.indent = 2;
        self.ints.push("k".into());
        self.ints.push("n".into());
        let value = self.expression(2);
        self.line(&format!("n = {value};"));
        if self.choices.flag() {
            let condition = self.condition(1);
            self.line(&format!("if ({condition}) return n;"));
        }
        if has_effect {
            let value = self.expression(1);
            let global = self.choices.pick(globals).clone();
            self.line(&format!("{global} += {value};"));
        }
        self.indent = 1;
        self.line("}");
        self.ints.retain(|name| name != "k");
        if self.choices.flag() {
            let value = self.expression(2);
            self.line(&format!("return {value};"));
        }
        self.indent = 0;
        // C leaves the value of a function without `return` undefined.
        self.text.push_str("  return 0;\n");
        self.line("}");
        let list = if has_effect { &mut self.effects } else { &mut self.pure_helpers };
        list.push(format!("h{number}"));
    }

    fn block(&mut self, depth: u32) {
        self.indent += 1;
        let (ints, unsigneds) = (self.ints.len(), self.unsigneds.len());
        for _ in 0..self.choices.between(1, 3) {
            self.statement(depth);
        }
        self.ints.truncate(ints);
        self.unsigneds.truncate(unsigneds);
        self.indent -= 1;
    }

    fn statement(&mut self, depth: u32) {
        let kind = self.choices.weighted(&[6, 4, 3, 2, 2, 2, 3, 1, 2]);
        match kind {
            0 => {
                let (target, value) = (self.target(), self.expression(3));
                self.line(&format!("{target} = {value};"));
            }
            1 => {
                let (target, value) = (self.target(), self.expression(2));
                let operator =
                    *self.choices.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);
                self.line(&format!("{target} {operator}= {value};"));
            }
            2 if depth > 0 => {
                let condition = self.condition(2);
                self.line(&format!("if ({condition}) {{"));
                self.block(depth - 1);
                if self.choices.flag() {
                    self.line("} else {");
                    self.block(depth - 1);
                }
                self.line("}");
            }
            3 => {
                let variable = self.variable();
                let step = *self.choices.pick(&["++", "--"]);
                match self.choices.flag() {
                    true => self.line(&format!("{variable}{step};")),
                    false => self.line(&format!("{step}{variable};")),
                }
            }
            4 => {
                // Two targets, the inner one unused by the outer one's place.
                let inner = self.variable();
                self.excluded.push(inner.clone());
                let (outer, value) = (self.target(), self.expression(2));
                self.excluded.pop();
                if outer != inner {
                    self.line(&format!("{outer} = {inner} = {value};"));
                }
            }
            5 => {
                let inner = self.variable();
                self.excluded.push(inner.clone());
                let (outer, value) = (self.target(), self.expression(2));
                self.excluded.pop();
                let step = *self.choices.pick(&["++", "--"]);
                if outer != inner {
                    let stepped = if self.choices.flag() {
                        format!("{inner}{step}")
                    } else {
                        format!("{step}{inner}")
                    };
                    self.line(&format!("{outer} = {stepped} + {value};"));
                }
            }
            6 => {
                let name = format!("l{}", self.locals);
                self.locals += 1;
                let is_unsigned = self.choices.one_in(3);
                let value = self.expression(2);
                let ty = if is_unsigned { "unsigned" } else { "int" };
                self.line(&format!("{ty} {name} = {value};"));
                if is_unsigned { self.unsigneds.push(name) } else { self.ints.push(name) }
            }
            7 => {
                let condition = self.condition(2);
                self.line(&format!("if ({condition}) return;"));
            }
            _ => {
                let Some(helper) = self.effects.first().cloned() else { return };
                let (one, two) = (self.expression(1), self.expression(1));
                let target = *self.choices.pick(&["p.a", "p.o", "p.u"]);
                self.line(&format!("{target} = {helper}({one}, {two});"));
            }
        }
    }

    fn variable(&mut self) -> String {
        let all: Vec<String> = self
            .ints
            .iter()
            .chain(&self.unsigneds)
            .filter(|name| !self.excluded.contains(name))
            .cloned()
            .collect();
        self.choices.pick(&all).clone()
    }

    fn target(&mut self) -> String {
        if !self.choices.one_in(3) {
            return self.variable();
        }
        let (array, size) = self.arrays[self.choices.below(2)].clone();
        let index = self.index(size);
        format!("{array}[{index}]")
    }

    fn index(&mut self, size: usize) -> String {
        match self.choices.below(5) {
            0 => self.choices.below(size + 2).to_string(),
            1 => self.expression(1),
            2 => format!("{} % {size}", self.int()),
            3 => format!("hash2({}, {}) % {size}", self.int(), self.int()),
            _ => format!("{} & 3", self.int()),
        }
    }

    fn int(&mut self) -> String {
        let all: Vec<String> =
            self.ints.iter().filter(|name| !self.excluded.contains(name)).cloned().collect();
        match all.is_empty() {
            true => "MORE(1)".into(),
            false => self.choices.pick(&all).clone(),
        }
    }

    fn number(&mut self) -> String {
        let number = *self.choices.pick(NUMBERS);
        match self.choices.below(8) {
            0 => format!("{number}u"),
            1 => format!("(-{number})"),
            2 => format!("0x{number:x}"),
            _ => number.to_string(),
        }
    }

    /// An expression without effects that mentions a variable.
    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.choices.one_in(5) {
            return self.variable();
        }
        match self.choices.below(12) {
            0..=4 => {
                let operator =
                    *self.choices.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);
                let left = self.expression(depth - 1);
                let right = match self.choices.flag() {
                    true => self.number(),
                    false => self.expression(depth - 1),
                };
                format!("({left} {operator} {right})")
            }
            5 => format!(
                "({} {} {})",
                self.expression(depth - 1),
                self.choices.pick(&["==", "!=", "<", ">", "<=", ">="]),
                self.number()
            ),
            6 => {
                let operator = *self.choices.pick(&["-", "~", "!"]);
                format!("{operator}{}", self.expression(depth - 1))
            }
            7 => {
                let (array, size) = self.choices.pick(&self.arrays).clone();
                let index = self.index(size);
                format!("{array}[{index}]")
            }
            8 => {
                let condition = self.condition(depth - 1);
                format!("({condition} ? {} : {})", self.int(), self.int())
            }
            9 => {
                let Some(helper) = self.pure_helpers.first().cloned() else {
                    return self.variable();
                };
                // Helpers read globals.
                if self.excluded.iter().any(|name| !name.starts_with("p.")) {
                    return self.variable();
                }
                format!("{helper}({}, {})", self.expression(depth - 1), self.int())
            }
            10 => format!("(({}) ^ {})", self.condition(depth - 1), self.int()),
            _ => format!("hash2({}, {})", self.variable(), self.int()),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.variable();
        }
        match self.choices.below(6) {
            0 => format!("{} && {}", self.operand(depth - 1), self.operand(depth - 1)),
            1 => format!("{} || {}", self.operand(depth - 1), self.operand(depth - 1)),
            2 => format!("!({})", self.condition(depth - 1)),
            3 => {
                let operator = *self.choices.pick(&["<", ">", "==", "<=", ">="]);
                format!("{} {operator} {}", self.expression(depth - 1), self.expression(depth - 1))
            }
            _ => format!("{} > {}", self.expression(depth - 1), self.number()),
        }
    }

    fn operand(&mut self, depth: u32) -> String {
        format!("({})", self.condition(depth))
    }
}
