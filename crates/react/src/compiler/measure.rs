// SPDX-License-Identifier: Apache-2.0
//! Measured fields (Mantis §4.2, Mantis §5.2, Figure 9): at the end of a pipeline they go to words of two copies, with a count of
//! packets. `register_writes` and `register_actions` measure registers.

use super::architectures::Style;
use super::ends::{Ends, Exits};
use super::finishing::measures_fields;
use super::names::{STATE, working_copy};
use super::packing::{BinLimits, sorted_first_fit};
use super::plan::{MeasuredBits, MeasuredPack, MeasuredValue};
use super::translator::{Beginning, Translator};
use crate::interface::{ArgumentKind, Scalar, path_text};
use crate::language::{ArgumentSource, Gress, codes};
use p4::ast::{ControlDeclaration, Declaration, DeclarationKind, NodeId, Statement, StatementKind};
use p4::visit_mut::VisitMut;
use source::{Diagnostic, Span};

/// Bits of a measured word.
const WORD_BITS: u32 = 32;

/// A condition with an expression.
type Choice = (Option<String>, String);

/// A value to measure: the expression of the first choice whose condition holds, else 0.
struct Value {
    /// Conditions with expressions of type `bit<width>`.
    choices: Vec<Choice>,
    width: u32,
    /// The first word of the reaction's input.
    input: usize,
}

impl Value {
    /// The value as one expression.
    fn expression(&self) -> String {
        expression_of(&self.choices, &format!("{}w0", self.width))
    }
}

/// The first of these expressions whose condition holds, or else another.
fn expression_of(choices: &[Choice], otherwise: &str) -> String {
    choices.iter().rev().fold(otherwise.to_string(), |rest, (condition, text)| match condition {
        Some(condition) => format!("({condition} ? {text} : {rest})"),
        None => text.clone(),
    })
}

/// A statement with the first of these expressions whose condition holds.
fn chain(choices: &[Choice], statement: impl Fn(&str) -> String) -> String {
    choices.iter().rev().fold(String::new(), |rest, (condition, text)| match condition {
        Some(condition) => format!("if ({condition}) {{ {} }} else {{ {rest} }} ", statement(text)),
        None => statement(text),
    })
}

/// Bits of a value in a word.
struct Part {
    value: usize,
    /// The lowest bit in the value.
    from: u32,
    /// The lowest bit in the word.
    at: u32,
    width: u32,
}

/// A pack with what its words are made of.
struct Layout {
    pack: MeasuredPack,
    values: Vec<Value>,
    words: Vec<Vec<Part>>,
}

impl Layout {
    /// The expression of bits of a value.
    fn slice(&self, part: &Part, expression: &str) -> String {
        match part.width == self.values[part.value].width {
            true => expression.to_string(),
            false => format!("({expression})[{}:{}]", part.from + part.width - 1, part.from),
        }
    }

    /// The declarations of the registers, and statements that write them, on v1model.
    fn writes(&self) -> (String, String) {
        let (mut declarations, mut text) = (String::new(), String::new());
        let copy = working_copy(self.pack.group);
        for (name, parts) in self.pack.words.iter().zip(&self.words) {
            let unused = WORD_BITS - parts.iter().map(|part| part.width).sum::<u32>();
            let mut pieces: Vec<String> = Vec::new();
            if unused > 0 {
                pieces.push(format!("{unused}w0"));
            }
            pieces.extend(
                parts.iter().map(|part| self.slice(part, &self.values[part.value].expression())),
            );
            let expression = pieces.join(" ++ ");
            declarations.push_str(&format!("register<bit<32>>(2) {name}; "));
            text.push_str(&format!("{name}.write((bit<32>){STATE}.{copy}, {expression}); "));
        }
        let sequence = &self.pack.sequence;
        declarations.push_str(&format!("register<bit<32>>(2) {sequence}; "));
        text.push_str(&format!(
            "{{ bit<32> p4r_count; {sequence}.read(p4r_count, (bit<32>){STATE}.{copy}); \
             {sequence}.write((bit<32>){STATE}.{copy}, p4r_count + 1); }} "
        ));
        (declarations, text)
    }

    /// The same on Tofino, with variables for the words. Fields of a header are put into the words under one condition, and
    /// each array is accessed once.
    fn actions(&self) -> (String, String, Beginning) {
        let (mut declarations, mut beginning) = (String::new(), Beginning::default());
        let copy = working_copy(self.pack.group);
        let mut guarded: Vec<(String, String)> = Vec::new();
        let (mut plain, mut chains, mut executes) = (String::new(), String::new(), String::new());
        let action = |name: &str, body: &str| {
            format!(
                "Register<bit<32>, bit<1>>(2, 0) {name}; \
                 RegisterAction<bit<32>, bit<1>, bit<32>>({name}) {name}_put = {{ \
                 void apply(inout bit<32> word) {{ {body} }} }}; "
            )
        };
        for (name, parts) in self.pack.words.iter().zip(&self.words) {
            beginning.variables.push_str(&format!("bit<32> {name}_in; "));
            beginning.resets.push_str(&format!("{name}_in = 0; "));
            declarations.push_str(&action(name, &format!("word = {name}_in;")));
            for part in parts {
                let target = match part.width {
                    WORD_BITS => format!("{name}_in"),
                    width => format!("{name}_in[{}:{}]", part.at + width - 1, part.at),
                };
                let assign = |text: &str| format!("{target} = {}; ", self.slice(part, text));
                match self.values[part.value].choices.as_slice() {
                    [(None, text)] => plain.push_str(&assign(text)),
                    [(Some(condition), text)] => {
                        match guarded.iter_mut().find(|(known, _)| known == condition) {
                            Some((_, body)) => body.push_str(&assign(text)),
                            None => guarded.push((condition.clone(), assign(text))),
                        }
                    }
                    choices => chains.push_str(&chain(choices, assign)),
                }
            }
            executes.push_str(&format!("{name}_put.execute({STATE}.{copy}); "));
        }
        let sequence = &self.pack.sequence;
        declarations.push_str(&action(sequence, "word = word + 1;"));
        executes.push_str(&format!("{sequence}_put.execute({STATE}.{copy}); "));
        let guarded =
            guarded.iter().map(|(condition, body)| format!("if ({condition}) {{ {body} }} "));
        let guarded: String = guarded.collect();
        (declarations, format!("{plain}{guarded}{chains}{executes}"), beginning)
    }
}

impl Translator<'_> {
    /// The packed words of a pipeline.
    fn packs(&self, gress: Gress) -> Vec<Layout> {
        let mut layouts = Vec::new();
        for (reaction, declaration) in self.program.declarations.reactions.iter().enumerate() {
            let values = self.measured_values(reaction, gress);
            if values.is_empty() {
                continue;
            }
            let mut pieces: Vec<(usize, u32, u32)> = Vec::new();
            for (at, value) in values.iter().enumerate() {
                let mut low = 0;
                while low < value.width {
                    let width = WORD_BITS.min(value.width - low);
                    pieces.push((at, low, width));
                    low += width;
                }
            }
            let widths: Vec<u32> = pieces.iter().map(|(_, _, width)| *width).collect();
            let limits = BinLimits { bits: WORD_BITS, items: usize::MAX };
            let bins = sorted_first_fit(&widths, 0, limits);
            let stem = format!("p4r_{}_{}", declaration.name.text, gress.name());
            let mut placed: Vec<Vec<(u32, MeasuredBits)>> = vec![Vec::new(); values.len()];
            let mut words = Vec::new();
            for (word, bin) in bins.iter().enumerate() {
                let mut at = bin.iter().map(|piece| pieces[*piece].2).sum::<u32>();
                let mut parts = Vec::new();
                for piece in bin {
                    let (value, from, width) = pieces[*piece];
                    at -= width;
                    placed[value].push((from, MeasuredBits { word, low: at, width }));
                    parts.push(Part { value, from, at, width });
                }
                words.push(parts);
            }
            let inputs = values.iter().zip(placed).map(|(value, mut pieces)| {
                pieces.sort_by_key(|(low, _)| *low);
                let pieces = pieces.into_iter().map(|(_, bits)| bits).collect();
                MeasuredValue { input: value.input, pieces }
            });
            let pack = MeasuredPack {
                reaction,
                group: self.usage.groups.of_fields(reaction),
                gress,
                words: (0..words.len()).map(|word| format!("{stem}_word{word}").into()).collect(),
                sequence: format!("{stem}_sequence").into(),
                values: inputs.collect(),
            };
            layouts.push(Layout { pack, values, words });
        }
        layouts
    }

    /// The values that a reaction takes of the packets of a pipeline.
    fn measured_values(&self, reaction: usize, gress: Gress) -> Vec<Value> {
        let written = &self.program.declarations.reactions[reaction];
        let interface = &self.program.interface.reactions[reaction];
        let mut values: Vec<Value> = Vec::new();
        let mut input = 0;
        let mut headers: Vec<(String, Gress)> = Vec::new();
        for (source, argument) in written.arguments.iter().zip(&interface.arguments) {
            let of = |in_egress: bool| if in_egress { Gress::Egress } else { Gress::Ingress };
            let first = input;
            input += argument.kind.words();
            match (&source.source, &argument.kind) {
                (ArgumentSource::Packet { in_egress, path, .. }, kind) => {
                    let header = self.header_of(of(*in_egress), path);
                    if let Some(header) = &header {
                        headers.push((header.clone(), of(*in_egress)));
                    }
                    if of(*in_egress) != gress {
                        continue;
                    }
                    let mut add = |text: String, ty: &Scalar, input: usize| {
                        let condition = header.as_ref().map(|header| format!("{header}.isValid()"));
                        let choices = vec![(condition, as_bits(&text, ty))];
                        values.push(Value { choices, width: ty.width_bits, input });
                    };
                    match kind {
                        ArgumentKind::Field { path, ty } => add(path_text(path), ty, first),
                        ArgumentKind::Header { path, fields } => {
                            let mut at = first;
                            for (name, ty) in fields {
                                add(format!("{}.{name}", path_text(path)), ty, at);
                                at += ty.words();
                            }
                        }
                        _ => {}
                    }
                }
                (
                    ArgumentSource::Malleable { in_egress, name },
                    ArgumentKind::Malleable { ty, .. },
                ) if of(*in_egress) == gress => {
                    let choices = self.malleable_choices(name, Some(ty));
                    values.push(Value { choices, width: ty.width_bits, input: first });
                }
                _ => {}
            }
        }
        // Validities follow the arguments.
        for (at, path) in interface.validities.iter().enumerate() {
            let text = path_text(path);
            let is_here = headers.iter().any(|(header, of)| *header == text && *of == gress);
            if is_here {
                let choices = vec![(Some(format!("{text}.isValid()")), "1w1".to_string())];
                values.push(Value { choices, width: 1, input: input + at });
            }
        }
        values
    }

    fn header_of(&self, gress: Gress, path: &crate::language::Path) -> Option<String> {
        let (_, control) = self.program.pipeline(gress)?;
        let typed = &self.program.typed;
        let resolved = crate::language::paths::resolve(typed, control, path).ok()?;
        resolved.header_steps.map(|count| path_text(&path.steps[..count]))
    }

    /// The values of a malleable, with conditions on its selector: as `bit<W>` if the type is given.
    fn malleable_choices(&self, name: &str, ty: Option<&Scalar>) -> Vec<Choice> {
        let value = |text: String| ty.map_or(text.clone(), |ty| as_bits(&text, ty));
        let Some(field) = self.field_index(name) else {
            return vec![(None, value(format!("{STATE}.{name}")))];
        };
        let choice = |alternative: usize| {
            let condition = self.selector(field).filter(|_| alternative > 0);
            let condition = condition.map(|selector| format!("{selector} == {alternative}"));
            (condition, value(self.alternative(field, alternative)))
        };
        (0..self.alternatives[field]).rev().map(choice).collect()
    }

    /// Adds the registers of measured words to a pipeline's control, and their writes to each of its ends.
    pub(super) fn add_measurements(
        &mut self,
        gress: Gress,
        control: &mut ControlDeclaration,
    ) -> Vec<MeasuredPack> {
        let layouts = self.packs(gress);
        let (mut declarations, mut text) = (String::new(), String::new());
        for layout in &layouts {
            match self.style {
                Style::V1model => {
                    let (own, writes) = layout.writes();
                    declarations.push_str(&own);
                    text.push_str(&writes);
                }
                Style::Tna => {
                    let (own, executes, beginning) = layout.actions();
                    declarations.push_str(&own);
                    text.push_str(&executes);
                    let all = self.beginnings.entry(gress).or_default();
                    all.variables.push_str(&beginning.variables);
                    all.resets.push_str(&beginning.resets);
                }
            }
        }
        for (target, name) in self.copies_for_tails(gress) {
            let choices = self.malleable_choices(&name, None);
            match self.style {
                Style::V1model => {
                    text.push_str(&format!("{target} = {}; ", expression_of(&choices, "")))
                }
                Style::Tna => {
                    text.push_str(&chain(&choices, |text| format!("{target} = {text}; ")))
                }
            }
        }
        if self.style == Style::Tna {
            let (own, copies) = self.copied_cells(gress);
            declarations.push_str(&own);
            text.push_str(&copies);
        }
        if text.is_empty() {
            return Vec::new();
        }
        let mut locals = self.locals(Span::NONE, &declarations);
        locals.append(&mut control.locals);
        control.locals = locals;
        match self.style {
            Style::V1model => self.measure_before_ends(control, &text),
            Style::Tna => self.join_ends(gress, control),
        }
        let last = self.statements(Span::NONE, &text, Vec::new());
        control.body.statements.extend(last);
        layouts.into_iter().map(|layout| layout.pack).collect()
    }

    /// Puts statements in front of each `return` and `exit` of a pipeline's control.
    fn measure_before_ends(&mut self, control: &mut ControlDeclaration, text: &str) {
        let mut ends = Ends { translator: self, text };
        for local in &mut control.locals {
            if let DeclarationKind::Action { body, .. } = &mut local.kind {
                // `return` in an action ends the action only.
                let mut exits = Exits { ends: &mut ends };
                body.statements.iter_mut().for_each(|statement| exits.statement(statement));
            }
        }
        control.body.statements.iter_mut().for_each(|statement| ends.statement(statement));
    }

    /// Whether a pipeline applies a control before it measures fields.
    pub(super) fn is_applied_while_measuring(&self, control: NodeId) -> bool {
        let is_pipeline = self.program.pipelines.iter().any(|one| one.control == control);
        let reactions = &self.program.declarations.reactions;
        let measures = |gress: &Gress| {
            (self.style == Style::Tna && self.usage.measuring.contains_key(gress))
                || self.usage.copied.get(gress).is_some_and(|names| !names.is_empty())
                || reactions.iter().any(|reaction| measures_fields(reaction, *gress))
        };
        let mut reachable = self.usage.reachable.iter();
        !is_pipeline
            && reachable.any(|(gress, controls)| controls.contains(&control) && measures(gress))
    }

    /// Refuses `exit` in a control that a measuring pipeline applies.
    pub(super) fn refuse_exits(&mut self, control: &Declaration) {
        struct Find(Vec<Span>);
        impl<'a> p4::visit::Visit<'a> for Find {
            fn statement(&mut self, statement: &'a Statement) {
                if matches!(statement.kind, StatementKind::Exit) {
                    self.0.push(statement.span);
                }
                p4::visit::walk_statement(self, statement);
            }
        }
        let mut find = Find(Vec::new());
        p4::visit::Visit::declaration(&mut find, control);
        for span in find.0 {
            let message = format!(
                "`exit` in control `{}` skips the measurement at the end of the pipeline",
                control.name.text
            );
            self.found.push(
                Diagnostic::error(codes::EXIT, span, message)
                    .help("use `return` and a flag that the control's caller tests"),
            );
        }
    }
}

/// An expression of a scalar type as `bit<W>`.
fn as_bits(text: &str, ty: &Scalar) -> String {
    format!("((bit<{}>)({text}))", ty.width_bits)
}
