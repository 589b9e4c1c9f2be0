// SPDX-License-Identifier: Apache-2.0
//! Programs for tests: interfaces with C texts in one file, and a host that records what reactions ask for.

use react::c::{Compiler, compile};
use react::interface::{
    Argument, ArgumentKind, CText, Host, Interface, KeyKind, MalleableField, MalleableValue,
    PathStep, Reaction, ReactionTable, Reactions, Scalar, TableAction, TableKey, TableOperation,
};
use react::module::{Code, InProcess};
use source::{Diagnostics, FileId, RenderOptions, SourceMap, Span, render_text};

/// The name of the file of every fixture.
pub const FILE: &str = "test.p4r";

/// An interface under construction, with the text of its file.
#[derive(Clone, Default)]
pub struct Fixture {
    pub interface: Interface,
    pub text: String,
}

/// `bit<W>`
pub fn bits(width_bits: u32) -> Scalar {
    Scalar::unsigned(width_bits)
}

/// `int<W>`
pub fn int(width_bits: u32) -> Scalar {
    Scalar { width_bits, is_signed: true, is_bool: false }
}

/// `bool`
pub fn boolean() -> Scalar {
    Scalar { width_bits: 1, is_signed: false, is_bool: true }
}

/// A path such as `hdr.vlan[0].id`.
pub fn path(text: &str) -> Vec<PathStep> {
    let steps = text.split(['.', '[']).map(|step| match step.strip_suffix(']') {
        Some(index) => PathStep::Index(index.parse().expect("an index")),
        None => PathStep::Name(step.into()),
    });
    steps.collect()
}

/// An argument without a name of its own.
pub fn argument(kind: ArgumentKind) -> Argument {
    Argument { name: None, span: Span::NONE, kind }
}

/// An argument with a name.
pub fn named(name: &str, kind: ArgumentKind) -> Argument {
    Argument { name: Some(name.into()), ..argument(kind) }
}

/// A field as an argument.
pub fn field(text: &str, ty: Scalar) -> ArgumentKind {
    ArgumentKind::Field { path: path(text), ty }
}

/// A range of a register as an argument.
pub fn register(name: &str, ty: Scalar, first: u64, last: u64) -> ArgumentKind {
    ArgumentKind::Register { register: name.into(), ty, first, last }
}

impl Fixture {
    pub fn new() -> Fixture {
        Fixture::default()
    }

    pub fn value(mut self, name: &str, ty: Scalar) -> Fixture {
        let span = Span::NONE;
        self.interface.values.push(MalleableValue { name: name.into(), span, ty, initial: 0 });
        self
    }

    pub fn field(mut self, name: &str, alternatives: &[&str]) -> Fixture {
        let alternatives = alternatives.iter().map(|text| (*text).into()).collect();
        let (name, span, ty) = (name.into(), Span::NONE, bits(32));
        self.interface.fields.push(MalleableField { name, span, ty, alternatives, initial: 0 });
        self
    }

    /// A table with the action `a` of these parameters.
    pub fn table(
        mut self,
        name: &str,
        keys: &[(&str, Scalar, KeyKind)],
        parameters: &[(&str, Scalar)],
        has_priorities: bool,
    ) -> Fixture {
        let keys = keys.iter().map(|(name, ty, kind)| TableKey {
            name: (*name).into(),
            ty: *ty,
            kind: *kind,
        });
        let action = |name: &str, parameters: &[(&str, Scalar)]| TableAction {
            name: name.into(),
            parameters: parameters.iter().map(|(name, ty)| ((*name).into(), *ty)).collect(),
            is_for_entries: true,
            is_for_default: true,
        };
        self.interface.tables.push(ReactionTable {
            name: name.into(),
            span: Span::NONE,
            keys: keys.collect(),
            actions: vec![action("a", parameters), action("drop", &[])],
            has_priorities,
            default_may_change: true,
        });
        self
    }

    pub fn define(mut self, name: &str, replacement: &str) -> Fixture {
        self.interface.defines.push((name.to_string(), replacement.to_string()));
        self
    }

    fn c_text(&mut self, before: &str, text: &str) -> CText {
        self.text.push_str(before);
        self.text.push_str(" {");
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let span = Span::new(FileId(0), start, self.text.len() as u32);
        self.text.push_str("}\n");
        CText { text: text.into(), span }
    }

    pub fn shared(mut self, text: &str) -> Fixture {
        let text = self.c_text("c", text);
        self.interface.shared.push(text);
        self
    }

    pub fn state(mut self, text: &str) -> Fixture {
        let text = self.c_text("state", text);
        self.interface.state.push(text);
        self
    }

    pub fn init(mut self, text: &str) -> Fixture {
        self.interface.init = Some(self.c_text("init", text));
        self
    }

    pub fn reaction(self, body: &str) -> Fixture {
        self.reaction_of(Vec::new(), &[], body)
    }

    /// A reaction with arguments, and headers whose validity is measured.
    pub fn reaction_of(
        mut self,
        arguments: Vec<Argument>,
        validities: &[&str],
        body: &str,
    ) -> Fixture {
        let name = format!("r{}", self.interface.reactions.len());
        let body = self.c_text(&format!("reaction {name}()"), body);
        self.interface.reactions.push(Reaction {
            name: name.into(),
            span: body.span,
            arguments,
            validities: validities.iter().map(|text| path(text)).collect(),
            body,
            rate_ps: None,
            cost_ps: 0,
        });
        self
    }

    pub fn map(&self) -> SourceMap {
        self.map_named(FILE)
    }

    pub fn map_named(&self, name: &str) -> SourceMap {
        let mut map = SourceMap::new();
        map.add(name, self.text.as_str());
        map
    }

    pub fn diagnostics(&self) -> Diagnostics {
        compile(&self.interface, &self.map(), &Compiler::from_environment()).1
    }

    /// Compiles without errors; warnings are errors.
    pub fn code(&self) -> Code {
        let (code, diagnostics) =
            compile(&self.interface, &self.map(), &Compiler::from_environment());
        let text = render_text(&self.map(), &diagnostics, RenderOptions::default());
        assert!(diagnostics.is_empty(), "{text}");
        code.expect("code without errors")
    }

    pub fn load(&self) -> InProcess {
        InProcess::load(&self.code()).expect("code that loads")
    }

    /// Calls the first reaction once, and returns the malleables after it with what the host recorded.
    pub fn run(&self, input: &[u64], malleables: &[u64]) -> (Vec<u64>, Recorder) {
        let mut malleables = malleables.to_vec();
        let mut host = Recorder::default();
        let called = self.load().call(0, input, &mut malleables, &mut host);
        called.expect("a reaction that returns");
        (malleables, host)
    }
}

/// A host that records operations and lines.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Operation, table, action and words.
    pub operations: Vec<(TableOperation, usize, usize, Vec<u64>)>,
    pub lines: Vec<String>,
    /// The result of the next operations; then their number.
    pub result: Option<u64>,
}

impl Host for Recorder {
    fn table(
        &mut self,
        operation: TableOperation,
        table: usize,
        action: usize,
        words: &[u64],
    ) -> u64 {
        self.operations.push((operation, table, action, words.to_vec()));
        self.result.unwrap_or(self.operations.len() as u64)
    }

    fn now_ns(&mut self) -> u64 {
        1_000_000_007
    }

    fn log(&mut self, line: &str) {
        self.lines.push(line.to_string());
    }

    fn failed_commits(&mut self) -> u64 {
        3
    }
}
