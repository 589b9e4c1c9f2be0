// SPDX-License-Identifier: Apache-2.0
//! Parsers, and a model of them from which packets are made that take a chosen path. States go
//! forward, but for loops over stacks, which end with the stack, and loops that count.

use super::types::literal;
use super::{Generator, Place, Type};
use crate::p4::piece::{Piece, Role};
use ir::Bits;

/// A field that a state extracts.
#[derive(Clone, Debug)]
pub struct FieldModel {
    /// As the program calls it; elements of stacks by `last`.
    pub path: String,
    /// Its width.
    pub width_bits: u32,
}

/// What a state does to the packet.
#[derive(Clone, Debug)]
pub enum Step {
    /// Reads a header.
    Extract {
        /// Fields of known width.
        fields: Vec<FieldModel>,
        /// A varbit field behind them: the field with its length in bytes, and the mask that is
        /// laid over it.
        varbit: Option<(String, u64)>,
    },
    /// Passes over bits.
    Advance(u32),
}

/// What a `select` looks at.
#[derive(Clone, Debug)]
pub enum KeyModel {
    /// Bits of a field, from `low` on.
    Field {
        /// The field.
        path: String,
        /// The lowest bit of it.
        low: u32,
    },
    /// The next bits of the packet.
    Lookahead,
    /// Something that the packet does not decide alone.
    Other,
}

/// What a case asks of a key.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Nothing.
    Any,
    /// A value where the mask has ones.
    Masked(Bits, Bits),
    /// A value between two.
    Range(Bits, Bits),
}

/// Where a parser goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A state by number.
    State(usize),
    /// The end.
    Accept,
    /// The end, with an error.
    Reject,
}

/// A case of a `select`.
#[derive(Clone, Debug)]
pub struct CaseModel {
    /// One pattern a key.
    pub patterns: Vec<Pattern>,
    /// Where it goes.
    pub target: Target,
}

/// A state.
#[derive(Clone, Debug, Default)]
pub struct StateModel {
    /// What it does to the packet, in order.
    pub steps: Vec<Step>,
    /// What decides where it goes.
    pub keys: Vec<KeyModel>,
    /// Cases in order; a state without `select` has one without keys.
    pub cases: Vec<CaseModel>,
}

/// A parser; state 0 is the first.
#[derive(Clone, Debug, Default)]
pub struct ParserModel {
    /// Its states.
    pub states: Vec<StateModel>,
}

/// Something to extract.
#[derive(Clone, Debug)]
enum Extractable {
    Header(String, usize),
    /// With the member in a stack of unions.
    Stack(String, String, usize),
}

/// A value set: its name and width.
type ValueSet = (String, u32);

impl Generator<'_> {
    /// The parser, a subparser in front of it perhaps, and the model.
    pub(super) fn parser(&mut self) -> (Piece, ParserModel) {
        self.place = Place::Parser;
        let mut things: Vec<Extractable> = self
            .headers
            .iter()
            .map(|place| Extractable::Header(place.path.clone(), place.ty))
            .chain(self.stacks.iter().map(|stack| {
                Extractable::Stack(stack.path.clone(), stack.member.clone(), stack.ty)
            }))
            .collect();
        // Any order; the first state keeps a header without varbit, for lengths to come from.
        for at in (1..things.len()).rev() {
            let other = self.choices.below(at + 1);
            things.swap(at, other);
        }
        let is_simple = |thing: &Extractable| match thing {
            Extractable::Header(_, ty) => self.header_types[*ty].varbit_bits.is_none(),
            Extractable::Stack(..) => false,
        };
        if let Some(at) = things.iter().position(is_simple) {
            things.swap(0, at);
        }
        let mut value_sets: Vec<ValueSet> = Vec::new();
        let mut locals = Vec::new();
        for _ in 0..self.choices.between(0, 2) {
            let (name, width) = (self.fresh("pvs"), *self.choices.pick(&self.widths));
            let width = width.min(64);
            let text = format!("value_set<bit<{width}>>(4) {name};\n");
            locals.push(Piece::droppable(&text, Vec::new()));
            value_sets.push((name, width));
        }
        let variables = self.variables.len();
        self.declare("std.ingress_port", Type::Bits(9), false);
        self.declare("std.packet_length", Type::Bits(32), false);
        for _ in 0..self.choices.between(0, 2) {
            let ty = self.any_type();
            let name = self.fresh("v");
            let value = self.literal(ty);
            let text = format!("{} {name} = $;\n", self.type_text(ty));
            locals.push(Piece::droppable(&text, vec![value]));
            self.declare(name, ty, true);
        }
        let (before, subparser) = match self.subparser(&things) {
            Some((before, call, step)) => {
                let instance = format!("{}() sub;\n", call.trim_end_matches(".apply"));
                locals.push(Piece::droppable(&instance, Vec::new()));
                (before, Some(step))
            }
            None => (Piece::text(""), None),
        };
        let mut groups: Vec<Vec<Extractable>> = Vec::new();
        for thing in things {
            match groups.last_mut() {
                Some(group)
                    if self.choices.chance(25)
                        && matches!(thing, Extractable::Header(..))
                        && matches!(group[..], [Extractable::Header(..)]) =>
                {
                    group.push(thing);
                }
                _ => groups.push(vec![thing]),
            }
        }
        let counting =
            if self.choices.chance(20) { Some(self.choices.below(groups.len())) } else { None };
        let mut states = Vec::new();
        let mut model = ParserModel::default();
        let count = groups.len();
        let mut lengths: Vec<(String, u32)> = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let sub = subparser.as_ref().filter(|_| at == count / 2);
            let (piece, state) =
                self.parser_state((at, count), group, sub, &value_sets, &mut lengths, counting);
            states.push(piece);
            model.states.push(state);
        }
        if let Some(at) = counting {
            let name = self.fresh("loops");
            locals.push(Piece::droppable(&format!("bit<8> {name} = 0;\n"), Vec::new()));
            // Beyond what the counter holds it goes round until the step limit.
            let rounds = if self.choices.chance(4) { 256 } else { self.choices.between(1, 5) };
            self.declare(name.clone(), Type::Bits(8), false);
            let body = self.statements(1, 1);
            let next = if at + 1 < count { format!("s{}", at + 1) } else { "accept".to_string() };
            let template = format!(
                "state counting {{\n{name} = {name} + 1;\n$transition select((bit<16>){name}) {{\n\
                 {rounds}: {next};\ndefault: counting;\n}}\n}}\n"
            );
            states.push(Piece::droppable(&template, vec![body]));
        }
        self.variables.truncate(variables);
        let locals = Piece::sequence(Role::Fixed, locals);
        let states = Piece::sequence(Role::Fixed, states);
        let template = "$parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta, \
                        inout standard_metadata_t std) {\n$$}\n";
        (Piece::fixed(template, vec![before, locals, states]), model)
    }

    fn fields_of(&self, path: &str, ty: usize) -> Vec<FieldModel> {
        self.header_types[ty]
            .fields
            .iter()
            .map(|(name, ty)| FieldModel {
                path: format!("{path}.{name}"),
                width_bits: self.width_bits(*ty),
            })
            .collect()
    }

    /// A parser that is called by another: its declaration, its name, what it extracts.
    fn subparser(&mut self, things: &[Extractable]) -> Option<(Piece, String, Step)> {
        if !self.choices.chance(35) {
            return None;
        }
        let Extractable::Header(path, ty) = self.choices.pick(things).clone() else { return None };
        if self.header_types[ty].varbit_bits.is_some() {
            return None;
        }
        let name = self.fresh("Sub");
        let fields = self.fields_of(&path, ty);
        let types = self.header_types[ty].fields.clone();
        let step = Step::Extract { fields, varbit: None };
        self.budget = 2;
        // It sees its parameters only.
        let all = self.variables.clone();
        self.variables.retain(|variable| {
            variable.path.starts_with("hdr.") || variable.path.starts_with("meta.")
        });
        let body = self.statements(2, 1);
        let condition = self.expression(Type::Bool, 2);
        let (field, field_type) = self.choices.pick(&types).clone();
        let field_width = self.width_bits(field_type);
        let key = match field_type {
            Type::Bits(_) => format!("{path}.{field}"),
            _ => format!("8w{}", self.choices.below(256)),
        };
        let width = if matches!(field_type, Type::Bits(_)) { field_width } else { 8 };
        let value = literal(&self.value(width));
        let error = self.literal_text(Type::Error);
        let head = format!(
            "parser {name}(packet_in packet, inout headers_t hdr, inout metadata_t meta) {{\n\
             state start {{\npacket.extract({path});\ntransition select({key}) {{\n\
             {value}: more;\ndefault: accept;\n}}\n}}\n"
        );
        let template =
            format!("{head}state more {{\n$verify($, {error});\ntransition accept;\n}}\n}}\n");
        let piece = Piece::droppable(&template, vec![body, condition]);
        self.variables = all;
        Some((piece, format!("{name}.apply"), step))
    }

    fn parser_state(
        &mut self,
        (at, count): (usize, usize),
        group: &[Extractable],
        subparser: Option<&Step>,
        value_sets: &[ValueSet],
        lengths: &mut Vec<(String, u32)>,
        counting: Option<usize>,
    ) -> (Piece, StateModel) {
        let mut body = Vec::new();
        let mut model = StateModel::default();
        let mut own: Vec<FieldModel> = Vec::new();
        let mut loops = false;
        for thing in group {
            match thing {
                Extractable::Header(path, ty) => {
                    let fields = self.fields_of(path, *ty);
                    let varbit = self.header_types[*ty].varbit_bits;
                    match (varbit, lengths.is_empty()) {
                        (Some(_), true) => continue,
                        (Some(varbit_bits), false) => {
                            let (source, width) = self.choices.pick(lengths).clone();
                            // Sometimes more than the field holds.
                            let most = u64::from(varbit_bits / 8) << self.choices.below(2);
                            let mask =
                                (most.next_power_of_two() - 1) & (u64::MAX >> (64 - width.min(64)));
                            let text = format!(
                                "packet.extract({path}, ((bit<32>)({source} & {width}w{mask})) << 3);\n"
                            );
                            body.push(Piece::droppable(&text, Vec::new()));
                            let varbit = Some((source, mask));
                            model.steps.push(Step::Extract { fields: fields.clone(), varbit });
                        }
                        (None, _) => {
                            let text = format!("packet.extract({path});\n");
                            body.push(Piece::droppable(&text, Vec::new()));
                            let step = Step::Extract { fields: fields.clone(), varbit: None };
                            model.steps.push(step);
                        }
                    }
                    let types = &self.header_types[*ty].fields;
                    for (field, (_, ty)) in fields.iter().zip(types) {
                        if let Type::Bits(width) = ty {
                            if (2..=64).contains(width) {
                                lengths.push((field.path.clone(), *width));
                            }
                            own.push(field.clone());
                        }
                    }
                }
                Extractable::Stack(path, member, ty) => {
                    loops = true;
                    let fields = self.fields_of(&format!("{path}.last{member}"), *ty);
                    let text = format!("packet.extract({path}.next{member});\n");
                    body.push(Piece::droppable(&text, Vec::new()));
                    if self.choices.chance(30)
                        && let Some(target) = self.target(Type::Bits(32))
                    {
                        let template = format!("$ = {path}.lastIndex;\n");
                        body.push(Piece::droppable(&template, vec![target]));
                    }
                    let types = &self.header_types[*ty].fields;
                    own.extend(
                        fields
                            .iter()
                            .zip(types)
                            .filter(|(_, (_, ty))| matches!(ty, Type::Bits(_)))
                            .map(|(field, _)| field.clone()),
                    );
                    model.steps.push(Step::Extract { fields, varbit: None });
                }
            }
        }
        if let Some(step) = subparser {
            body.push(Piece::droppable("sub.apply(packet, hdr, meta);\n", Vec::new()));
            model.steps.push(step.clone());
        }
        self.state_statements(&mut body, &mut model);
        let (transition, keys, cases) =
            self.transition((at, count), &own, value_sets, loops, counting);
        model.keys = keys;
        model.cases = cases;
        let name = if at == 0 { "start".to_string() } else { format!("s{at}") };
        let body = Piece::sequence(Role::Fixed, body);
        (Piece::droppable(&format!("state {name} {{\n$$}}\n"), vec![body, transition]), model)
    }

    /// What a state does besides extracting.
    fn state_statements(&mut self, body: &mut Vec<Piece>, model: &mut StateModel) {
        if self.choices.chance(15) {
            let width = self.any_width().min(64);
            if self.choices.chance(25)
                && let Some((header, ty)) = self.some_header()
                && self.header_types[ty].varbit_bits.is_none()
            {
                let name = &self.header_types[ty].name;
                let template = format!("$ = packet.lookahead<{name}>();\n");
                body.push(Piece::droppable(&template, vec![header]));
            } else if let Some(target) = self.target(Type::Bits(width)) {
                let template = format!("$ = packet.lookahead<bit<{width}>>();\n");
                body.push(Piece::droppable(&template, vec![target]));
            }
        }
        if self.choices.chance(8) {
            let bits = 8 * self.choices.between(0, 3);
            body.push(Piece::droppable(&format!("packet.advance(32w{bits});\n"), Vec::new()));
            model.steps.push(Step::Advance(bits));
        } else if self.choices.chance(4) {
            let bits = self.expression(Type::Bits(32), 1);
            let template = "packet.advance(($ & 32w3) << 3);\n";
            body.push(Piece::droppable(template, vec![bits]));
        }
        if self.choices.chance(6)
            && let Some(target) = self.target(Type::Bits(32))
        {
            body.push(Piece::droppable("$ = packet.length();\n", vec![target]));
        }
        self.budget = 2;
        if self.choices.chance(50) {
            let count = self.choices.between(1, 2);
            body.push(self.statements(count, 1));
        }
        if self.choices.chance(10) {
            let condition = self.expression(Type::Bool, 2);
            let error = self.literal(Type::Error);
            body.push(Piece::droppable("verify($, $);\n", vec![condition, error]));
        }
    }

    fn transition(
        &mut self,
        (at, count): (usize, usize),
        own: &[FieldModel],
        value_sets: &[ValueSet],
        loops: bool,
        counting: Option<usize>,
    ) -> (Piece, Vec<KeyModel>, Vec<CaseModel>) {
        let mut next = if at + 1 < count { Target::State(at + 1) } else { Target::Accept };
        let mut next_text = self.target_text(next);
        if counting == Some(at) {
            next_text = "counting".to_string();
        }
        if self.choices.chance(15) && !loops {
            let case = CaseModel { patterns: Vec::new(), target: next };
            let piece = Piece::fixed(&format!("transition {next_text};\n"), Vec::new());
            return (piece, Vec::new(), vec![case]);
        }
        let mut keys = Vec::new();
        let mut widths: Vec<Option<u32>> = Vec::new();
        let mut pieces = Vec::new();
        for _ in 0..self.choices.weighted(&[70, 22, 8]) + 1 {
            let (piece, key, width) = self.select_key(own);
            pieces.push(piece);
            keys.push(key);
            widths.push(width);
        }
        let holes = vec!["$"; keys.len()].join(", ");
        let mut template = format!("transition select({holes}) {{\n");
        let mut cases = Vec::new();
        for number in 0..self.choices.between(1, 4) {
            let target = match self.choices.weighted(&[if loops { 60 } else { 0 }, 50, 12, 4]) {
                0 => Target::State(at),
                1 if at + 1 < count => {
                    Target::State(self.choices.between(at as u32 + 1, count as u32 - 1) as usize)
                }
                3 => Target::Reject,
                _ => Target::Accept,
            };
            // The first case of a loop goes round.
            let target = if loops && number == 0 { Target::State(at) } else { target };
            let (texts, patterns): (Vec<String>, Vec<Pattern>) =
                widths.iter().map(|width| self.keyset(*width, value_sets)).unzip();
            let keyset = match &texts[..] {
                [one] => one.clone(),
                _ => format!("({})", texts.join(", ")),
            };
            let text = format!("{keyset}: {};\n", self.target_text(target));
            pieces.push(Piece::droppable(&text, Vec::new()));
            template.push('$');
            cases.push(CaseModel { patterns, target });
        }
        // A loop goes on in the end.
        if loops || self.choices.chance(90) {
            if self.choices.chance(12) {
                next = Target::Accept;
                next_text = "accept".to_string();
            }
            pieces.push(Piece::droppable(&format!("default: {next_text};\n"), Vec::new()));
            template.push('$');
            cases.push(CaseModel { patterns: Vec::new(), target: next });
        }
        template.push_str("}\n");
        (Piece::fixed(&template, pieces), keys, cases)
    }

    fn target_text(&self, target: Target) -> String {
        match target {
            Target::State(0) => "start".to_string(),
            Target::State(at) => format!("s{at}"),
            Target::Accept => "accept".to_string(),
            Target::Reject => "reject".to_string(),
        }
    }

    /// A key of a select and its width; `None` is `bool`.
    fn select_key(&mut self, own: &[FieldModel]) -> (Piece, KeyModel, Option<u32>) {
        match self.choices.weighted(&[if own.is_empty() { 0 } else { 80 }, 8, 8, 4]) {
            0 => {
                let field = self.choices.pick(own).clone();
                let (path, width) = (field.path, field.width_bits);
                if width > 4 && self.choices.chance(20) {
                    let high = self.choices.between(1, width - 1);
                    let low = self.choices.between(0, high);
                    let piece = Piece::text(format!("{path}[{high}:{low}]"));
                    return (piece, KeyModel::Field { path, low }, Some(high - low + 1));
                }
                (Piece::text(path.clone()), KeyModel::Field { path, low: 0 }, Some(width))
            }
            1 => {
                let width = *self.choices.pick(&[4, 8, 16]);
                let piece = Piece::text(format!("packet.lookahead<bit<{width}>>()"));
                (piece, KeyModel::Lookahead, Some(width))
            }
            2 => {
                let width = self.any_width().min(64);
                (self.expression(Type::Bits(width), 2), KeyModel::Other, Some(width))
            }
            _ => (self.expression(Type::Bool, 2), KeyModel::Other, None),
        }
    }

    fn keyset(&mut self, width: Option<u32>, value_sets: &[ValueSet]) -> (String, Pattern) {
        let Some(width) = width else {
            return ((*self.choices.pick(&["true", "false"])).to_string(), Pattern::Any);
        };
        let fitting: Vec<String> = value_sets
            .iter()
            .filter(|(_, other)| *other == width)
            .map(|(name, _)| name.clone())
            .collect();
        if !fitting.is_empty() && self.choices.chance(50) {
            return (self.choices.pick(&fitting).clone(), Pattern::Any);
        }
        let value = self.value(width);
        match self.choices.weighted(&[50, 20, 15, 8]) {
            0 => (literal(&value), Pattern::Masked(value, Bits::ones(width))),
            1 => {
                let mask = self.value(width);
                let text = format!("{} &&& {}", literal(&value), literal(&mask));
                (text, Pattern::Masked(value, mask))
            }
            2 => {
                let other = self.value(width);
                let (low, high) = if value.cmp_unsigned(&other).is_le() {
                    (value, other)
                } else {
                    (other, value)
                };
                (format!("{} .. {}", literal(&low), literal(&high)), Pattern::Range(low, high))
            }
            _ => ("_".to_string(), Pattern::Any),
        }
    }
}
