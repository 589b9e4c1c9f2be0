// SPDX-License-Identifier: Apache-2.0
//! How many lines of a printed program are what (Lucid Figures 9 and 10). Empty lines and comments do
//! not count. What a line belongs to is seen from the declaration that it is in.

use std::collections::BTreeMap;

/// What a line of P4_16 is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineKind {
    /// Headers and structs.
    Headers,
    /// Parsers.
    Parsers,
    /// Actions.
    Actions,
    /// Registers and register actions.
    RegisterActions,
    /// Tables with their entries.
    Tables,
    /// Deparsers.
    Deparsers,
    /// Constants, hashes, random numbers, control flow.
    Other,
}

impl LineKind {
    /// All of them, in the order in which people want to read them.
    pub const ALL: [LineKind; 7] = [
        LineKind::Headers,
        LineKind::Parsers,
        LineKind::Actions,
        LineKind::RegisterActions,
        LineKind::Tables,
        LineKind::Deparsers,
        LineKind::Other,
    ];

    /// In the plural, for people.
    pub fn words(self) -> &'static str {
        match self {
            LineKind::Headers => "headers",
            LineKind::Parsers => "parsers",
            LineKind::Actions => "actions",
            LineKind::RegisterActions => "register actions",
            LineKind::Tables => "tables",
            LineKind::Deparsers => "deparsers",
            LineKind::Other => "other",
        }
    }
}

/// Lines by kind; kinds without lines are not in it. The sum is the program's lines of code.
pub fn lines(program: &str) -> BTreeMap<LineKind, u32> {
    let mut counts = BTreeMap::new();
    let mut state = State::default();
    for line in program.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        *counts.entry(state.next(line)).or_default() += 1;
    }
    counts
}

#[derive(Default)]
struct State {
    /// Open braces, brackets and parentheses.
    depth: i32,
    /// The declaration that the line is in, and the depth at which it began.
    outer: Option<LineKind>,
    /// The same inside of a control.
    inner: Option<LineKind>,
    /// Whether the outer declaration is a control whose parts are counted apart, and its body has begun.
    in_control: bool,
}

impl State {
    fn next(&mut self, line: &str) -> LineKind {
        if self.depth == 0 && self.outer.is_none() {
            self.outer = Some(outer(line));
            self.in_control = line.starts_with("control") && self.outer == Some(LineKind::Other);
        }
        let at_parts = self.in_control && self.depth == 1 && !line.starts_with(['}', ')']);
        if at_parts && self.inner.is_none() && !is_parameter(line) {
            self.inner = Some(inner(line));
        }
        let kind = self.inner.or(self.outer).unwrap_or(LineKind::Other);
        for character in line.chars() {
            match character {
                '{' | '(' => self.depth += 1,
                '}' | ')' => self.depth -= 1,
                _ => {}
            }
        }
        let ends = line.ends_with(';') || line.ends_with('}');
        if ends && self.depth <= 1 {
            self.inner = None;
        }
        if ends && self.depth == 0 {
            self.outer = None;
            self.in_control = false;
        }
        kind
    }
}

fn is_parameter(line: &str) -> bool {
    ["in ", "out ", "inout ", "packet_in ", "packet_out "].iter().any(|word| line.starts_with(word))
}

fn outer(line: &str) -> LineKind {
    let word = line.split([' ', '(', '<']).next().unwrap_or("");
    match word {
        "header" | "struct" | "header_union" | "typedef" | "type" | "enum" => LineKind::Headers,
        "parser" => LineKind::Parsers,
        "control" if line.contains("Deparser") => LineKind::Deparsers,
        _ => LineKind::Other,
    }
}

fn inner(line: &str) -> LineKind {
    let word = line.split([' ', '(', '<']).next().unwrap_or("");
    match word {
        "action" => LineKind::Actions,
        "table" | "@stage" => LineKind::Tables,
        "Register" | "RegisterAction" => LineKind::RegisterActions,
        _ => LineKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let program = "#include <core.p4>\n\n// a comment\nconst bit<8> X = 1;\nheader h {\n    bit<8> \
                       a;\n}\n\nparser P(\n    packet_in pkt\n) {\n    state start {\n    }\n}\ncontrol \
                       C(\n    inout h x\n) {\n    Register<bit<8>, bit<1>>(1) r;\n    \
                       RegisterAction<bit<8>, bit<1>, bit<8>>(r) ra = {\n        void apply() {\n        \
                       }\n    };\n    action a() {\n        ra.execute(1);\n    }\n    @stage(0)\n    table \
                       t {\n        actions = {\n            a;\n        }\n    }\n    apply {\n        \
                       t.apply();\n    }\n}\ncontrol IngressDeparser(\n    packet_out pkt\n) {\n    apply \
                       {\n    }\n}\n";
        let counted: Vec<(LineKind, u32)> = lines(program).into_iter().collect();
        assert_eq!(
            counted,
            [
                (LineKind::Headers, 3),
                (LineKind::Parsers, 6),
                (LineKind::Actions, 3),
                (LineKind::RegisterActions, 5),
                (LineKind::Tables, 6),
                (LineKind::Deparsers, 6),
                (LineKind::Other, 9),
            ]
        );
    }
}
