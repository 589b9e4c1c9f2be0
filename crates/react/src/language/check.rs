// SPDX-License-Identifier: Apache-2.0
//! What the checker of P4_16 cannot know of malleables: names, types of alternatives in each control that uses them, and
//! the places where a malleable has no value. `arguments` checks reactions.

use super::codes;
use super::declarations::FieldDeclaration;
use super::dialect::{MALLEABLE, referred};
use super::directions::Directions;
use super::paths::{Path, Unresolved, resolve, scalar};
use super::program::P4rProgram;
use crate::interface::path_text;
use p4::ast::{
    Annotation, Declaration, DeclarationKind, Direction, Expression, ExpressionKind, Extension,
    KeyElement, Name, NodeId, Statement, StatementKind, TableDeclaration, TablePropertyKind,
};
use p4::typed::{Callee, Constant, Type};
use p4::visit::{Visit, walk_declaration, walk_expression, walk_key_element, walk_statement};
use source::{Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whether a table or another declaration is `malleable`.
pub fn is_malleable(annotations: &[Annotation]) -> bool {
    annotations.iter().any(|annotation| &*annotation.name.text == MALLEABLE)
}

/// Checks declarations and uses.
pub(super) fn check(program: &P4rProgram, found: &mut Diagnostics) {
    names(program, found);
    values(program, found);
    let mut uses = Uses {
        program,
        directions: Directions::of(&program.typed),
        controls: Vec::new(),
        is_tail: false,
        outside: None,
        found,
        used: BTreeMap::new(),
        applied: applied_controls(program),
    };
    for declaration in &program.typed.program.declarations {
        uses.top_level(declaration);
    }
    let Uses { used, .. } = uses;
    let referred_in_c = referred_in_c(program);
    for name in malleable_names(program) {
        if !used.contains_key(&name.text) && !referred_in_c.contains(&*name.text) {
            let message = format!("malleable `{}` is never used", name.text);
            found.push(Diagnostic::warning(codes::UNUSED, name.span, message));
        }
    }
    field_lists(program, found);
    for field in &program.declarations.fields {
        let controls = used.get(&field.name.text).cloned().unwrap_or_default();
        check_field(program, field, &controls, found);
    }
}

/// Reports malleables as members of field lists.
fn field_lists(program: &P4rProgram, found: &mut Diagnostics) {
    for declaration in &program.typed.program.declarations {
        let is_list = |annotation: &&Annotation| &*annotation.name.text == "field_list";
        let (DeclarationKind::Extension(_), Some(annotation)) =
            (&declaration.kind, declaration.annotations.iter().find(is_list))
        else {
            continue;
        };
        let message = format!("malleable `{}` is in a field list", declaration.name.text);
        found.push(
            Diagnostic::error(codes::FIELD_LIST, annotation.span, message)
                .help("assign the malleable to a field of the metadata, and put `@field_list` before that field"),
        );
    }
}

fn malleable_names(program: &P4rProgram) -> impl Iterator<Item = &Name> {
    let values = program.declarations.values.iter().map(|value| &value.name);
    values.chain(program.declarations.fields.iter().map(|field| &field.name))
}

/// Names in `${name}` of C texts and arguments.
fn referred_in_c(program: &P4rProgram) -> BTreeSet<&str> {
    let declarations = &program.declarations;
    let bodies = declarations.reactions.iter().map(|reaction| &reaction.body);
    let texts = bodies.chain(&declarations.init).chain(&declarations.shared);
    let mut names = BTreeSet::new();
    for text in texts {
        let parts = text.text.split("${").skip(1);
        names.extend(parts.filter_map(|part| Some(part.split_once('}')?.0)));
    }
    for reaction in &declarations.reactions {
        for argument in &reaction.arguments {
            if let super::ArgumentSource::Malleable { name, .. } = &argument.source {
                names.insert(name);
            }
        }
    }
    names
}

fn names(program: &P4rProgram, found: &mut Diagnostics) {
    let reactions = program.declarations.reactions.iter().map(|reaction| &reaction.name);
    let mut known: BTreeMap<&str, Span> = BTreeMap::new();
    for name in malleable_names(program).chain(reactions) {
        match known.get(&*name.text) {
            Some(first) => {
                let message = format!("`{}` is declared twice", name.text);
                let error = Diagnostic::error(codes::DUPLICATE, name.span, message);
                found.push(error.label(*first, "the first declaration"));
            }
            None => {
                known.insert(&name.text, name.span);
            }
        }
    }
    if let [_, second, ..] = program.declarations.init.as_slice() {
        let message = "the program has a second `init`";
        found.push(
            Diagnostic::error(codes::SECOND_INIT, second.span, message)
                .help("put both texts into one"),
        );
    }
}

/// The value of a constant expression as a word of its width.
pub(super) fn constant_word(
    program: &P4rProgram,
    expression: &Expression,
    width_bits: u32,
) -> Option<u64> {
    let constants = &program.typed.constants;
    let integer = match (constants.get(&expression.id), &expression.kind) {
        (Some(Constant::Integer(value)), _) => value.clone(),
        (Some(Constant::Bool(value)), _) | (_, ExpressionKind::Bool(value)) => {
            u8::from(*value).into()
        }
        (Some(Constant::EnumMember(node, index)), _) => {
            let declaration = super::paths::declaration(&program.typed, *node)?;
            let DeclarationKind::Enum { members, .. } = &declaration.kind else { return None };
            return constant_word(program, members.get(*index)?.value.as_ref()?, width_bits);
        }
        (_, ExpressionKind::Integer { value, .. }) => value.clone(),
        _ => return None,
    };
    let modulus = num_bigint::BigInt::from(1u8) << width_bits.min(64);
    let low: num_bigint::BigInt = ((integer % &modulus) + &modulus) % &modulus;
    u64::try_from(low).ok()
}

fn values(program: &P4rProgram, found: &mut Diagnostics) {
    for value in &program.declarations.values {
        let ty = program.typed.type_refs.get(&value.ty.id);
        let scalar = ty.and_then(|ty| scalar(&program.typed, ty));
        let Some(scalar) = scalar.filter(|scalar| scalar.width_bits <= 64) else {
            let message = format!("malleable value `{}` cannot have this type", value.name.text);
            found.push(
                Diagnostic::error(codes::WRONG_TYPE, value.ty.span, message)
                    .help("use `bit<W>` or `int<W>` with W up to 64, or `bool`"),
            );
            continue;
        };
        let integer = match &program.typed.constants.get(&value.initial.id) {
            Some(Constant::Integer(value)) => Some(value.clone()),
            _ => match &value.initial.kind {
                ExpressionKind::Integer { value, .. } => Some(value.clone()),
                _ => None,
            },
        };
        let fits = integer.is_none_or(|integer| {
            let unsigned_bits = integer.bits() + u64::from(scalar.is_signed);
            unsigned_bits <= u64::from(scalar.width_bits)
                && (scalar.is_signed || integer.sign() != num_bigint::Sign::Minus)
        });
        if constant_word(program, &value.initial, scalar.width_bits).is_none() {
            let message = format!("the initial value of `{}` is not a constant", value.name.text);
            found.push(Diagnostic::error(codes::NOT_CONSTANT, value.initial.span, message));
        } else if !fits {
            let width = scalar.width_bits;
            let message =
                format!("the initial value of `{}` does not fit {width} bits", value.name.text);
            found.push(Diagnostic::error(codes::NOT_CONSTANT, value.initial.span, message));
        }
    }
}

/// Reports a path that leads nowhere in a control.
pub(super) fn unresolved(path: &Path, control: &str, why: &Unresolved) -> Diagnostic {
    let missing = match &path.steps[why.step] {
        crate::interface::PathStep::Name(name) => name.to_string(),
        crate::interface::PathStep::Index(index) => format!("[{index}]"),
    };
    let before = path_text(&path.steps[..why.step]);
    let message = match why.step {
        0 => format!("control `{control}` has no parameter or variable `{missing}`"),
        _ => format!("`{before}` in control `{control}` has no field `{missing}`"),
    };
    let error = Diagnostic::error(codes::NO_SUCH_FIELD, path.span, message);
    match source::nearest(&missing, why.candidates.iter().map(|name| &**name)) {
        Some(nearest) => error.help(format!("did you mean `{nearest}`?")),
        None if why.step == 0 => {
            let names: Vec<String> =
                why.candidates.iter().map(|name| format!("`{name}`")).collect();
            error.help(format!("the control has {}", names.join(", ")))
        }
        None => error,
    }
}

fn check_field(
    program: &P4rProgram,
    field: &FieldDeclaration,
    controls: &BTreeSet<NodeId>,
    found: &mut Diagnostics,
) {
    let name = &field.name.text;
    if !field.alternatives.iter().any(|path| path.steps == field.initial.steps) {
        let message = format!("`{}` is no alternative of `{name}`", field.initial.text());
        let error = Diagnostic::error(codes::INITIAL_NO_ALTERNATIVE, field.initial.span, message);
        let list: Vec<String> =
            field.alternatives.iter().map(|path| format!("`{}`", path.text())).collect();
        found.push(
            error.help(format!("write it into `alts`, or choose one of {}", list.join(", "))),
        );
    }
    for (at, path) in field.alternatives.iter().enumerate() {
        if field.alternatives[..at].iter().any(|earlier| earlier.steps == path.steps) {
            let message = format!("`{}` is an alternative of `{name}` twice", path.text());
            found.push(Diagnostic::error(codes::DUPLICATE, path.span, message));
        }
    }
    let Some(expected) = program.typed.type_refs.get(&field.ty.id) else { return };
    if scalar(&program.typed, expected).is_none() {
        let message = format!("malleable field `{name}` cannot have this type");
        found.push(
            Diagnostic::error(codes::WRONG_TYPE, field.ty.span, message)
                .help("use the type of its alternatives: `bit<W>`, `int<W>`, `bool` or an enum with an underlying type"),
        );
        return;
    }
    for control in controls {
        let Some((declaration, control)) = program.control(*control) else { continue };
        for path in &field.alternatives {
            match resolve(&program.typed, control, path) {
                Ok(resolved) if resolved.ty == *expected => {}
                Ok(resolved) => {
                    let is = type_text(program, &resolved.ty);
                    let wanted = type_text(program, expected);
                    let message =
                        format!("`{}` has type {is}, but `{name}` has type {wanted}", path.text());
                    let error = Diagnostic::error(codes::WRONG_TYPE, path.span, message);
                    found.push(
                        error
                            .label(field.ty.span, "the type of all alternatives")
                            .help("all alternatives have the type of the malleable field"),
                    );
                }
                Err(why) => {
                    let error = unresolved(path, &declaration.name.text, &why);
                    found.push(error.note(format!(
                        "control `{}` uses `${{{name}}}`, so each alternative is a field there",
                        declaration.name.text
                    )));
                }
            }
        }
    }
}

/// Formats a type for messages.
pub(super) fn type_text(program: &P4rProgram, ty: &Type) -> String {
    use p4::typed::TypeKind as K;
    let named = |node: &NodeId| {
        let declaration = super::paths::declaration(&program.typed, *node);
        declaration.map_or("another type".to_string(), |found| format!("`{}`", found.name.text))
    };
    match &**ty {
        K::Bit(width) => format!("`bit<{width}>`"),
        K::Int(width) => format!("`int<{width}>`"),
        K::Varbit(width) => format!("`varbit<{width}>`"),
        K::Bool => "`bool`".to_string(),
        K::Stack(element, size) => format!("{}[{size}]", type_text(program, element)),
        K::Struct(node, _)
        | K::Header(node, _)
        | K::HeaderUnion(node, _)
        | K::Enum(node)
        | K::SerializableEnum(node)
        | K::NewType(node) => named(node),
        _ => "another type".to_string(),
    }
}

/// Visits all uses of malleables.
struct Uses<'p, 'd> {
    program: &'p P4rProgram,
    directions: Directions,
    /// The control that is visited; of one behind pipelines, the controls of these.
    controls: Vec<NodeId>,
    /// Whether that is a control behind a pipeline.
    is_tail: bool,
    /// What is visited where malleables have no value.
    outside: Option<&'static str>,
    found: &'d mut Diagnostics,
    /// The controls that use each malleable.
    used: BTreeMap<Arc<str>, BTreeSet<NodeId>>,
    /// The controls of the pipelines, and all that they apply.
    applied: BTreeSet<NodeId>,
}

/// The controls of the pipelines, and all that they apply.
fn applied_controls(program: &P4rProgram) -> BTreeSet<NodeId> {
    struct Applied<'t>(&'t p4::typed::TypedProgram, Vec<NodeId>);
    impl<'a> Visit<'a> for Applied<'a> {
        fn expression(&mut self, expression: &'a Expression) {
            let callee = self.0.calls.get(&expression.id).map(|call| call.callee);
            if let Some(Callee::BlockApply(node) | Callee::DirectApply(node)) = callee {
                self.1.push(node);
            }
            walk_expression(self, expression);
        }
    }
    let pipelines = program.pipelines.iter().map(|pipeline| pipeline.control);
    let mut open = Applied(&program.typed, pipelines.collect());
    let mut applied = BTreeSet::new();
    while let Some(node) = open.1.pop() {
        if applied.insert(node)
            && let Some((declaration, _)) = program.control(node)
        {
            open.declaration(declaration);
        }
    }
    applied
}

impl<'p> Uses<'p, '_> {
    fn top_level(&mut self, declaration: &'p Declaration) {
        let tails = self.program.tails_of(declaration.id);
        let pipelines = tails.filter_map(|tail| {
            let mut pipelines = self.program.pipelines.iter();
            pipelines.find(|pipeline| pipeline.gress == tail.gress).map(|one| one.control)
        });
        self.controls = pipelines.collect();
        self.is_tail = !self.controls.is_empty();
        self.outside = match &declaration.kind {
            DeclarationKind::Control(_) if self.applied.contains(&declaration.id) => {
                self.controls = vec![declaration.id];
                self.is_tail = false;
                None
            }
            DeclarationKind::Control(_) if self.is_tail => None,
            DeclarationKind::Control(_) => Some(
                "a control that no pipeline applies, and that does not run behind one with its metadata",
            ),
            DeclarationKind::Parser(_) => Some("a parser"),
            DeclarationKind::Function { .. } => Some("a function"),
            DeclarationKind::Action { .. } => Some("an action outside of controls"),
            _ => Some("this declaration"),
        };
        // The tokens of a malleable or a reaction are no uses.
        if !matches!(declaration.kind, DeclarationKind::Extension(_)) {
            self.declaration(declaration);
        }
    }

    fn reference(&mut self, span: Span, reference: &Extension) {
        let Some(name) = referred(reference) else { return };
        if let Some(outside) = self.outside {
            let message = format!("`${{{name}}}` stands in {outside}, where it has no value");
            self.found.push(
                Diagnostic::error(codes::MISPLACED, span, message)
                    .help("malleables stand in the ingress and egress controls, in what they apply, and in the controls behind them that share their metadata"),
            );
        }
        if !self.controls.is_empty() {
            self.used.entry(name.into()).or_default().extend(&self.controls);
        }
    }

    /// An expression that is written.
    fn written(&mut self, target: &Expression) {
        let mut root = target;
        loop {
            root = match &root.kind {
                ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => base,
                _ => break,
            };
        }
        if self.is_tail
            && let ExpressionKind::Extension(reference) = &root.kind
            && let Some(name) = referred(reference)
        {
            let message = format!("`${{{name}}}` is written behind the pipeline");
            self.found.push(
                Diagnostic::error(codes::MISPLACED, target.span, message).help(
                    "write it in the control of the pipeline; behind it a malleable is a copy",
                ),
            );
        }
        if let ExpressionKind::Extension(reference) = &root.kind
            && let Some(name) = referred(reference)
            && let Some(value) = self.program.declarations.value(name)
        {
            let message = format!("the data plane writes malleable value `{name}`");
            self.found.push(
                Diagnostic::error(codes::VALUE_WRITTEN, target.span, message)
                    .label(value.name.span, "declared as a value here")
                    .help("only reactions assign to it; use a variable, or a malleable field"),
            );
        }
    }

    fn malleable_table(&mut self, declaration: &Declaration, table: &TableDeclaration) {
        for property in &table.properties {
            let TablePropertyKind::Custom { name, .. } = &property.kind else { continue };
            let what = match &*name.text {
                "meters" => "a direct meter",
                "implementation" => "an action profile or selector",
                _ => continue,
            };
            let message = format!("malleable table `{}` has {what}", declaration.name.text);
            self.found.push(
                Diagnostic::error(codes::TABLE_NOT_MALLEABLE, property.span, message)
                    .help("leave the table ordinary, or move what it needs into actions"),
            );
        }
    }
}

impl<'p> Visit<'p> for Uses<'p, '_> {
    fn declaration(&mut self, declaration: &'p Declaration) {
        if let DeclarationKind::Table(table) = &declaration.kind
            && is_malleable(&declaration.annotations)
        {
            self.malleable_table(declaration, table);
        }
        walk_declaration(self, declaration);
    }

    fn key_element(&mut self, key: &'p KeyElement) {
        if let ExpressionKind::Binary(p4::ast::BinaryOperator::BitAnd, left, right) =
            &key.expression.kind
            && [left, right].iter().any(|side| matches!(side.kind, ExpressionKind::Extension(_)))
            && &*key.match_kind.text == "exact"
        {
            let message = "a masked malleable field is an exact key";
            self.found.push(
                Diagnostic::error(codes::MASK_ON_EXACT, key.expression.span, message)
                    .help("write `ternary`"),
            );
        }
        walk_key_element(self, key);
    }

    fn statement(&mut self, statement: &'p Statement) {
        if let StatementKind::Assign { target, .. } = &statement.kind {
            self.written(target);
        }
        walk_statement(self, statement);
    }

    fn expression(&mut self, expression: &'p Expression) {
        match &expression.kind {
            ExpressionKind::Extension(reference) => self.reference(expression.span, reference),
            ExpressionKind::Call(call) => {
                for (argument, direction) in
                    self.directions.of_arguments(&self.program.typed, expression.id, call)
                {
                    if matches!(direction, Direction::Out | Direction::InOut) {
                        self.written(&argument.value);
                    }
                }
            }
            _ => {}
        }
        walk_expression(self, expression);
    }
}
