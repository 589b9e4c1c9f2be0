// SPDX-License-Identifier: Apache-2.0
//! The state of malleables and how packets load it (Mantis §4.1, Mantis §5.1.1): a struct, and in each pipeline's control a
//! variable of it and init tables that are applied first.

use super::Mode;
use super::architectures::Style;
use super::names::{CELL_TYPE, LEFT, STATE, STATE_TYPE, VERSION, working_copy};
use super::packing::sorted_first_fit;
use super::plan::{InitParameter, InitTable, PipelinePlan};
use super::tables::MISS;
use super::translator::{Translator, selector_name};
use crate::language::Gress;
use p4::ast::{ControlDeclaration, Declaration, Statement};
use source::Span;

impl Translator<'_> {
    /// The declaration of the state's type.
    pub(super) fn state_type(&mut self) -> Vec<Declaration> {
        let declarations = &self.program.declarations;
        let mut fields = String::new();
        for value in &declarations.values {
            let ty = p4::printer::print_type_ref(&value.ty);
            fields.push_str(&format!("{ty} {}; ", value.name.text));
        }
        for field in &declarations.fields {
            if field.selector_bits() > 0 {
                let (bits, name) = (field.selector_bits(), selector_name(&field.name.text));
                fields.push_str(&format!("bit<{bits}> {name}; "));
            }
        }
        // A program without measurements has a working copy too.
        for group in 0..self.usage.groups.count().max(1) {
            fields.push_str(&format!("bit<1> {}; ", working_copy(group)));
        }
        fields.push_str(&format!("bit<1> {VERSION}; "));
        let mut cell = String::new();
        if self.style == Style::Tna {
            fields.push_str(&format!("bit<1> {LEFT}; {}", self.remembered_fields()));
            cell = format!("struct {CELL_TYPE} {{ bit<32> value; bit<32> time; }} ");
        }
        self.declarations(Span::NONE, &format!("{cell}struct {STATE_TYPE} {{ {fields} }}"))
    }

    /// The parameters that a pipeline loads, with widths and initial values; version bits first.
    fn init_parameters(&self, gress: Gress, mode: Mode) -> Vec<(InitParameter, u32, u64)> {
        let mut parameters = Vec::new();
        if mode == Mode::Run && self.usage.versioned.contains(&gress) {
            parameters.push((InitParameter::Version, 1, 0));
        }
        for group in self.usage.measuring.get(&gress).into_iter().flatten() {
            parameters.push((InitParameter::WorkingCopy(*group), 1, 0));
        }
        let interface = &self.program.interface;
        let is_used =
            |name: &str| self.usage.used.get(&gress).is_some_and(|used| used.contains(name));
        for (index, value) in interface.values.iter().enumerate() {
            if is_used(&value.name) {
                let width = value.ty.width_bits;
                parameters.push((InitParameter::Value(index), width, value.initial));
            }
        }
        for (index, field) in self.program.declarations.fields.iter().enumerate() {
            if is_used(&field.name.text) && field.selector_bits() > 0 {
                let initial = field.initial_index() as u64;
                parameters.push((InitParameter::Selector(index), field.selector_bits(), initial));
            }
        }
        parameters
    }

    fn parameter_name(&self, parameter: InitParameter) -> String {
        match parameter {
            InitParameter::Version => VERSION.to_string(),
            InitParameter::WorkingCopy(group) => working_copy(group),
            InitParameter::Value(index) => self.program.interface.values[index].name.to_string(),
            InitParameter::Selector(index) => {
                selector_name(&self.program.declarations.fields[index].name.text)
            }
        }
    }

    /// Adds variable, init tables and their application to the control of a pipeline. Names of the plan are local.
    pub(super) fn add_init(
        &mut self,
        gress: Gress,
        control: &mut ControlDeclaration,
        mode: Mode,
    ) -> PipelinePlan {
        let limits = self.limits.init;
        let mut parameters = self.init_parameters(gress, mode);
        let widths: Vec<u32> = parameters.iter().map(|(_, width, _)| *width).collect();
        let is_pinned = |parameter: &InitParameter| {
            matches!(parameter, InitParameter::Version | InitParameter::WorkingCopy(_))
        };
        let pinned = parameters.iter().filter(|(parameter, ..)| is_pinned(parameter)).count();
        let mut bins = match mode {
            Mode::Written => vec![(0..parameters.len()).collect()],
            Mode::Run => sorted_first_fit(&widths, pinned, limits),
        };
        if bins.len() > 1 && !self.usage.versioned.contains(&gress) {
            // Init tables behind the master have versions too.
            parameters.insert(0, (InitParameter::Version, 1, 0));
            let widths: Vec<u32> = parameters.iter().map(|(_, width, _)| *width).collect();
            bins = sorted_first_fit(&widths, pinned + 1, limits);
        }
        let beginning = self.beginnings.remove(&gress).unwrap_or_default();
        let variables = format!("{STATE_TYPE} {STATE}; {}", beginning.variables);
        let mut locals = self.locals(Span::NONE, &variables);
        if bins.len() > 1 {
            let is_miss = |local: &Declaration| &*local.name.text == MISS;
            match control.locals.iter().position(is_miss) {
                Some(at) => locals.push(control.locals.remove(at)),
                None => locals.extend(self.locals(Span::NONE, &format!("action {MISS}() {{ }}"))),
            }
        }
        let mut applies: Vec<Statement> = Vec::new();
        let mut inits = Vec::new();
        for (number, bin) in bins.iter().enumerate() {
            let suffix = if number == 0 { String::new() } else { number.to_string() };
            let half = gress.name();
            let (action, table) =
                (format!("p4r_set_{half}{suffix}"), format!("p4r_init_{half}{suffix}"));
            let (mut signature, mut body, mut initial) = (Vec::new(), String::new(), Vec::new());
            for item in bin {
                let (parameter, width, value) = parameters[*item];
                let name = self.parameter_name(parameter);
                let ty = self.parameter_type(parameter, width);
                signature.push(format!("{ty} {name}"));
                body.push_str(&format!("{STATE}.{name} = {name}; "));
                initial.push(self.literal(parameter, value));
            }
            if number == 0 {
                body.push_str(&beginning.resets);
            }
            let (signature, initial) = (signature.join(", "), initial.join(", "));
            locals.extend(
                self.locals(Span::NONE, &format!("action {action}({signature}) {{ {body} }}")),
            );
            let text = match number {
                0 => format!(
                    "table {table} {{ actions = {{ {action}; }} default_action = {action}({initial}); size = 1; }}"
                ),
                _ => format!(
                    "table {table} {{ key = {{ {STATE}.{VERSION} : exact; }} actions = {{ {action}; @defaultonly {MISS}; }} \
                     const default_action = {MISS}(); size = 2; }}"
                ),
            };
            locals.extend(self.locals(Span::NONE, &text));
            applies.extend(self.statements(Span::NONE, &format!("{table}.apply();"), Vec::new()));
            let parameters = bin.iter().map(|item| (parameters[*item].0, parameters[*item].1));
            let parameters = parameters.collect();
            inits.push(InitTable { table: table.into(), action: action.into(), parameters });
        }
        locals.append(&mut control.locals);
        control.locals = locals;
        applies.append(&mut control.body.statements);
        control.body.statements = applies;
        PipelinePlan { gress, inits }
    }

    fn parameter_type(&self, parameter: InitParameter, width: u32) -> String {
        match parameter {
            InitParameter::Value(index) => {
                p4::printer::print_type_ref(&self.program.declarations.values[index].ty)
            }
            _ => format!("bit<{width}>"),
        }
    }

    fn literal(&self, parameter: InitParameter, value: u64) -> String {
        match parameter {
            InitParameter::Value(index) => {
                p4::printer::print_expression(&self.program.declarations.values[index].initial)
            }
            _ => value.to_string(),
        }
    }
}
