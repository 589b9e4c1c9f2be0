// SPDX-License-Identifier: Apache-2.0
//! Measurements (Mantis §4.2, Mantis §5.2, Figure 9): at the end of a pipeline fields go to words of two copies, with a count of
//! packets; each write of a measured register goes to the working copy too, with a count of writes of the cell.

use super::finishing::measures_fields;
use super::packing::{BinLimits, sorted_first_fit};
use super::plan::{MeasuredBits, MeasuredPack, MeasuredRegister, MeasuredValue};
use super::translator::{STATE, Translator, WORKING_COPY};
use super::usage::written_register;
use crate::interface::{ArgumentKind, Scalar, path_text};
use crate::language::arguments::register_shape;
use crate::language::{ArgumentSource, Gress, codes};
use p4::ast::{ControlDeclaration, Declaration, DeclarationKind, NodeId, Statement, StatementKind};
use p4::visit_mut::{VisitMut, walk_statement};
use source::{Diagnostic, Span};

/// Bits of a measured word.
const WORD_BITS: u32 = 32;

/// A value to measure.
struct Value {
    /// The expression in P4_16, of type `bit<width>`.
    text: String,
    width: u32,
    /// The first word of the reaction's input.
    input: usize,
}

impl Translator<'_> {
    /// The packed words of a pipeline, and the statements that write them, as text.
    fn packs(&self, gress: Gress) -> (Vec<MeasuredPack>, String) {
        let mut packs = Vec::new();
        let mut text = String::new();
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
                let mut parts = Vec::new();
                let mut high = bin.iter().map(|piece| pieces[*piece].2).sum::<u32>();
                let unused = WORD_BITS - high;
                for piece in bin {
                    let (value, low, width) = pieces[*piece];
                    high -= width;
                    placed[value].push((low, MeasuredBits { word, low: high, width }));
                    let whole = width == values[value].width;
                    let expression = &values[value].text;
                    parts.push(match whole {
                        true => expression.clone(),
                        false => format!("({expression})[{}:{low}]", low + width - 1),
                    });
                }
                let mut expression = parts.join(" ++ ");
                if unused > 0 {
                    expression = format!("{unused}w0 ++ {expression}");
                }
                let name = format!("{stem}_word{word}");
                text.push_str(&format!(
                    "{name}.write((bit<32>){STATE}.{WORKING_COPY}, {expression}); "
                ));
                words.push(name.into());
            }
            let sequence = format!("{stem}_sequence");
            text.push_str(&format!(
                "{{ bit<32> p4r_count; {sequence}.read(p4r_count, (bit<32>){STATE}.{WORKING_COPY}); \
                 {sequence}.write((bit<32>){STATE}.{WORKING_COPY}, p4r_count + 1); }} "
            ));
            let values = values.iter().zip(placed).map(|(value, mut pieces)| {
                pieces.sort_by_key(|(low, _)| *low);
                let pieces = pieces.into_iter().map(|(_, bits)| bits).collect();
                MeasuredValue { input: value.input, pieces }
            });
            let values = values.collect();
            packs.push(MeasuredPack { reaction, gress, words, sequence: sequence.into(), values });
        }
        (packs, text)
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
                        let text = as_bits(&text, ty);
                        let text = match &header {
                            Some(header) => {
                                format!("({header}.isValid() ? {text} : {}w0)", ty.width_bits)
                            }
                            None => text,
                        };
                        values.push(Value { text, width: ty.width_bits, input });
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
                    let text = as_bits(&self.malleable_text(name), ty);
                    values.push(Value { text, width: ty.width_bits, input: first });
                }
                _ => {}
            }
        }
        // Validities follow the arguments.
        for (at, path) in interface.validities.iter().enumerate() {
            let text = path_text(path);
            let is_here = headers.iter().any(|(header, of)| *header == text && *of == gress);
            if is_here {
                let text = format!("({text}.isValid() ? 1w1 : 1w0)");
                values.push(Value { text, width: 1, input: input + at });
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

    /// The value of a malleable as an expression in P4_16.
    fn malleable_text(&self, name: &str) -> String {
        let Some(field) = self.field_index(name) else { return format!("{STATE}.{name}") };
        let mut text = self.alternative(field, 0);
        if let Some(selector) = self.selector(field) {
            for alternative in 1..self.alternatives[field] {
                let other = self.alternative(field, alternative);
                text = format!("({selector} == {alternative} ? {other} : {text})");
            }
        }
        text
    }

    /// Adds the registers of measured words to a pipeline's control, and their writes to each of its ends.
    pub(super) fn add_measurements(
        &mut self,
        gress: Gress,
        control: &mut ControlDeclaration,
    ) -> Vec<MeasuredPack> {
        let (packs, text) = self.packs(gress);
        if packs.is_empty() {
            return packs;
        }
        let mut declarations = String::new();
        for pack in &packs {
            for register in pack.words.iter().chain([&pack.sequence]) {
                declarations.push_str(&format!("register<bit<32>>(2) {register}; "));
            }
        }
        let mut locals = self.locals(Span::NONE, &declarations);
        locals.append(&mut control.locals);
        control.locals = locals;
        let mut ends = Ends { translator: self, text: &text };
        for local in &mut control.locals {
            if let DeclarationKind::Action { body, .. } = &mut local.kind {
                // `return` in an action ends the action only.
                let mut exits = Exits { ends: &mut ends };
                body.statements.iter_mut().for_each(|statement| exits.statement(statement));
            }
        }
        control.body.statements.iter_mut().for_each(|statement| ends.statement(statement));
        let last = self.statements(Span::NONE, &text, Vec::new());
        control.body.statements.extend(last);
        packs
    }

    /// Whether a pipeline applies a control before it measures fields.
    pub(super) fn is_applied_while_measuring(&self, control: NodeId) -> bool {
        let is_pipeline = self.program.pipelines.iter().any(|one| one.control == control);
        let reactions = &self.program.declarations.reactions;
        let measures =
            |gress: &Gress| reactions.iter().any(|reaction| measures_fields(reaction, *gress));
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
                "`exit` in control `{}` skips the measurement of fields",
                control.name.text
            );
            self.found.push(
                Diagnostic::error(codes::EXIT, span, message)
                    .help("use `return` and a flag that the control's caller tests"),
            );
        }
    }

    /// Mirrors the writes of measured registers in a control, and adds the copies of those that it declares.
    pub(super) fn mirror_registers(
        &mut self,
        control: &mut ControlDeclaration,
    ) -> Vec<(NodeId, MeasuredRegister)> {
        let mut added = Vec::new();
        let mut locals = Vec::with_capacity(control.locals.len());
        for local in std::mem::take(&mut control.locals) {
            let copies = self.register_copies(&local);
            locals.push(local);
            if let Some((node, register, declarations)) = copies {
                locals.extend(self.locals(Span::NONE, &declarations));
                added.push((node, register));
            }
        }
        control.locals = locals;
        for local in &mut control.locals {
            if let DeclarationKind::Action { body, .. } = &mut local.kind {
                let mut mirror = Mirror { translator: self };
                body.statements.iter_mut().for_each(|statement| mirror.statement(statement));
            }
        }
        let mut mirror = Mirror { translator: self };
        control.body.statements.iter_mut().for_each(|statement| mirror.statement(statement));
        added
    }

    /// The copies of a register that is an argument, and their declarations.
    pub(super) fn register_copies(
        &self,
        declaration: &Declaration,
    ) -> Option<(NodeId, MeasuredRegister, String)> {
        if !self.usage.measured_registers.contains(&declaration.id) {
            return None;
        }
        let (_, size) = register_shape(&self.program.typed, declaration)?;
        let ty = cell_type(declaration)?;
        let name = declaration.name.text.clone();
        let copy_cells = size.max(1).next_power_of_two();
        let (copies, times) = (format!("p4r_{name}_copies"), format!("p4r_{name}_times"));
        let cells = 2 * copy_cells;
        let text = format!("register<{ty}>({cells}) {copies}; register<bit<32>>({cells}) {times};");
        let gress = Gress::Ingress;
        let register = MeasuredRegister {
            register: name.clone(),
            name,
            gress,
            copies: copies.into(),
            times: times.into(),
            copy_cells,
            size,
        };
        Some((declaration.id, register, text))
    }
}

/// The type of a register's cells as written.
fn cell_type(declaration: &Declaration) -> Option<String> {
    let DeclarationKind::Instance { ty, .. } = &declaration.kind else { return None };
    match &ty.kind {
        p4::ast::TypeRefKind::Specialized(_, arguments) => {
            arguments.first().map(p4::printer::print_type_ref)
        }
        _ => None,
    }
}

/// An expression of a scalar type as `bit<W>`.
fn as_bits(text: &str, ty: &Scalar) -> String {
    match (ty.is_bool, ty.is_signed) {
        (true, _) => format!("(({text}) ? 1w1 : 1w0)"),
        (_, true) => format!("((bit<{}>)({text}))", ty.width_bits),
        // Enums and new types need the cast, `bit<W>` does not mind it.
        _ => format!("((bit<{}>)({text}))", ty.width_bits),
    }
}

/// Puts statements in front of `return` and `exit` in a pipeline's control.
struct Ends<'t, 'p, 'x> {
    translator: &'t mut Translator<'p>,
    text: &'x str,
}

impl Ends<'_, '_, '_> {
    fn end(&mut self, statement: &mut Statement) {
        let span = statement.span;
        let id = self.translator.rewriter.fresh_id();
        let empty = Statement { id, span, kind: StatementKind::Empty };
        let end = std::mem::replace(statement, empty);
        let text = format!("{{ {} ${{end}} }}", self.text);
        if let Some(made) = self.translator.statement(span, &text, vec![("end", end.into())]) {
            *statement = made;
        }
    }
}

impl VisitMut for Ends<'_, '_, '_> {
    fn statement(&mut self, statement: &mut Statement) {
        match statement.kind {
            StatementKind::Return(_) | StatementKind::Exit => self.end(statement),
            _ => walk_statement(self, statement),
        }
    }
}

/// The same for `exit` only.
struct Exits<'e, 't, 'p, 'x> {
    ends: &'e mut Ends<'t, 'p, 'x>,
}

impl VisitMut for Exits<'_, '_, '_, '_> {
    fn statement(&mut self, statement: &mut Statement) {
        match statement.kind {
            StatementKind::Exit => self.ends.end(statement),
            _ => walk_statement(self, statement),
        }
    }
}

/// Adds writes of the copies behind the writes of measured registers.
struct Mirror<'t, 'p> {
    translator: &'t mut Translator<'p>,
}

impl VisitMut for Mirror<'_, '_> {
    fn statement(&mut self, statement: &mut Statement) {
        let typed = self.translator.program.typed.clone();
        let found = {
            let model = |node: NodeId| self.translator.rewriter.model_of(node);
            written_register(&typed, model, statement).map(|(node, call)| (node, call.clone()))
        };
        let Some((node, call)) = found else {
            walk_statement(self, statement);
            return;
        };
        if !self.translator.usage.measured_registers.contains(&node) {
            return;
        }
        let declaration = register_declaration(&typed, node);
        let Some((declaration, ty)) = declaration.and_then(|one| Some((one, cell_type(one)?)))
        else {
            return;
        };
        let Some((_, size)) = register_shape(&typed, declaration) else { return };
        let name = &declaration.name.text;
        let [index, value] = call.arguments.as_slice() else { return };
        let cells = size.max(1).next_power_of_two();
        let bits = cells.trailing_zeros();
        let index_text = format!(
            "p4r_index < {size} ? (p4r_index | ((bit<32>){STATE}.{WORKING_COPY} << {bits})) : {}",
            2 * cells
        );
        let text = format!(
            "{{ bit<32> p4r_index = ${{index}}; {ty} p4r_value = ${{value}}; bit<32> p4r_time; \
             {name}.write(p4r_index, p4r_value); p4r_index = {index_text}; \
             p4r_{name}_copies.write(p4r_index, p4r_value); p4r_{name}_times.read(p4r_time, p4r_index); \
             p4r_{name}_times.write(p4r_index, p4r_time + 1); }}"
        );
        let holes =
            vec![("index", index.value.clone().into()), ("value", value.value.clone().into())];
        if let Some(made) = self.translator.statement(statement.span, &text, holes) {
            *statement = made;
        }
    }
}

/// The declaration of a register.
fn register_declaration(typed: &p4::typed::TypedProgram, node: NodeId) -> Option<&Declaration> {
    typed.program.declarations.iter().find_map(|declaration| match &declaration.kind {
        _ if declaration.id == node => Some(declaration),
        DeclarationKind::Control(control) => control.locals.iter().find(|local| local.id == node),
        _ => None,
    })
}
