// SPDX-License-Identifier: Apache-2.0
//! What is put together while handlers are translated: variables with unique names, statements, nodes
//! of the graph. What statements and expressions become is said beside.

use super::super::formula::Formulas;
use super::super::groups::Groups;
use super::super::program::{
    Array, ArrayId, Given, HandlerId, MemoryAccess, Operand, Operation, Slot, SlotField, Statement,
    StatementId, Variable, VariableKind,
};
use super::super::tree::{AtomicGraph, Node};
use crate::names::Unique;
use crate::normal::GenerateSlots;
use lucid::core::walk::deep;
use lucid::core::{
    Body, Event, EventId, Expression, ExpressionKind, GlobalId, LocalId, ParserBlock, ParserStep,
    Program, Type,
};
use pisa::{Condition, Gress, Guard, GuardRule, VariableId};
use source::{Code, Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

pub(super) struct Translator<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: AtomicGraph,
    /// Over variables.
    pub(super) formulas: Formulas,
    pub(super) diagnostics: Diagnostics,
    pub(super) groups: Groups,
    names: Unique,
    kinds: HashMap<(VariableKind, u32), VariableId>,
    /// Events that the program's parsers make: they need not read all of a packet.
    parsed: HashSet<EventId>,
    arrays: HashMap<GlobalId, ArrayId>,
    // Of the handler at hand.
    pub(super) locals: Vec<Option<VariableId>>,
    pub(super) body_locals: &'a [lucid::core::Local],
    pub(super) gress: Gress,
    /// Whether bytes may follow the parameters of the handled event.
    pub(super) may_trail: bool,
    guard: Guard,
    nodes: Vec<Node>,
    pub(super) slots: std::vec::IntoIter<u32>,
    pub(super) span: Span,
    pub(super) inlined_at: Arc<[Span]>,
}

fn parsed_events(program: &Program) -> HashSet<EventId> {
    fn of_block(block: &ParserBlock, found: &mut HashSet<EventId>) {
        match &block.step {
            ParserStep::Generate(Expression {
                kind: ExpressionKind::Event { event, .. }, ..
            }) => {
                found.insert(*event);
            }
            ParserStep::Match { branches, .. } => {
                branches.iter().for_each(|(_, block)| deep(|| of_block(block, found)));
            }
            _ => {}
        }
    }
    let mut found = HashSet::new();
    program.parsers.iter().for_each(|parser| of_block(&parser.block, &mut found));
    found
}

impl<'a> Translator<'a> {
    pub(super) fn new(program: &'a Program) -> Translator<'a> {
        let mut translator = Translator {
            program,
            graph: AtomicGraph::default(),
            formulas: Formulas::default(),
            diagnostics: Diagnostics::new(),
            groups: Groups::of(program),
            names: Unique::default(),
            kinds: HashMap::new(),
            parsed: parsed_events(program),
            arrays: HashMap::new(),
            locals: Vec::new(),
            body_locals: &[],
            gress: Gress::Ingress,
            may_trail: false,
            guard: Guard::always(),
            nodes: Vec::new(),
            slots: Vec::new().into_iter(),
            span: Span::NONE,
            inlined_at: Arc::from([]),
        };
        translator.of_kind("event", 16, VariableKind::Dispatched(Gress::Ingress));
        translator
    }

    pub(super) fn finish(self) -> Result<AtomicGraph, Diagnostics> {
        if self.diagnostics.has_errors() { Err(self.diagnostics) } else { Ok(self.graph) }
    }

    pub(super) fn begin(
        &mut self,
        id: EventId,
        event: &'a Event,
        gress: Gress,
        body: &'a Body,
        slots: GenerateSlots,
    ) {
        self.gress = gress;
        let has_payload = event.parameters.iter().any(|one| one.ty == Type::Payload);
        self.may_trail = gress == Gress::Ingress && (has_payload || self.parsed.contains(&id));
        self.span = event.span;
        self.locals = vec![None; body.locals.len()];
        self.body_locals = &body.locals;
        for at in 0..body.parameter_count {
            let local = &body.locals[at as usize];
            let Some(width) = width_of(local.ty) else { continue };
            self.span = local.span;
            let kind = VariableKind::Parameter { event: id, parameter: at };
            let name = format!("{}.{}", event.name, event.parameters[at as usize].name);
            self.locals[at as usize] = Some(self.of_kind(&name, width, kind));
        }
        self.span = event.span;
        let dispatched = match gress {
            Gress::Ingress => "event",
            Gress::Egress => "egress_event",
        };
        let number = self.of_kind(dispatched, 16, VariableKind::Dispatched(gress));
        let condition = Condition::Ternary { value: u128::from(event.wire_number), mask: 0xffff };
        self.guard = Guard {
            rules: vec![GuardRule {
                conditions: BTreeMap::from([(number, condition)]),
                runs: true,
            }],
        };
        self.slots = slots.slots.iter().map(|slot| slot.most).collect::<Vec<_>>().into_iter();
    }

    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    fn add(&mut self, name: &str, width_bits: u32, kind: VariableKind) -> VariableId {
        let unique = self.names.fresh(name, '~', |_| true);
        let id = VariableId(self.graph.program.variables.len() as u32);
        let variable = Variable { name: unique, width_bits, kind, span: self.span };
        self.graph.program.variables.push(variable);
        id
    }

    /// The one variable of a kind that is no temporary.
    pub(super) fn of_kind(
        &mut self,
        name: &str,
        width_bits: u32,
        kind: VariableKind,
    ) -> VariableId {
        if let Some(known) = self.kinds.get(&(kind, width_bits)) {
            return *known;
        }
        let id = self.add(name, width_bits, kind);
        self.kinds.insert((kind, width_bits), id);
        id
    }

    pub(super) fn given(&mut self, name: &str, given: Given, width_bits: u32) -> Operand {
        Operand::Variable(self.of_kind(name, width_bits, VariableKind::Given(given)))
    }

    pub(super) fn temporary(&mut self, name: &str, width_bits: u32) -> VariableId {
        self.add(name, width_bits, VariableKind::Temporary)
    }

    pub(super) fn local(&mut self, local: LocalId) -> VariableId {
        if let Some(known) = self.locals[local.0 as usize] {
            return known;
        }
        let declared = &self.body_locals[local.0 as usize];
        let name = declared.name.clone();
        let id = self.temporary(&name, width_of(declared.ty).unwrap_or(1));
        self.locals[local.0 as usize] = Some(id);
        id
    }

    pub(super) fn slot_field(&mut self, slot: u32, field: SlotField) -> VariableId {
        let (name, width) = match field {
            SlotField::PlaceKind => ("place_kind", 16),
            SlotField::Place => ("place", 32),
            SlotField::DelayNs => ("delay_ns", 32),
            SlotField::Number => ("number", 16),
        };
        let name = format!("{}.{name}", self.slot_name(slot));
        self.of_kind(&name, width, VariableKind::Slot { gress: self.gress, slot, field })
    }

    pub(super) fn argument(
        &mut self,
        slot: u32,
        event: EventId,
        parameter: u32,
    ) -> Option<VariableId> {
        let program = self.program;
        let declared = &program.events[event.0 as usize];
        let local = &declared.parameters[parameter as usize];
        let width = width_of(local.ty)?;
        let name = format!("{}.{}.{}", self.slot_name(slot), declared.name, local.name);
        let kind = VariableKind::Argument { gress: self.gress, slot, event, parameter };
        Some(self.of_kind(&name, width, kind))
    }

    fn slot_name(&self, slot: u32) -> String {
        match self.gress {
            Gress::Ingress => format!("slot{slot}"),
            Gress::Egress => format!("egress_slot{slot}"),
        }
    }

    /// Notes that a slot may hold an event.
    pub(super) fn slot_holds(&mut self, slot: u32, event: EventId) {
        let slots = match self.gress {
            Gress::Ingress => &mut self.graph.program.slots,
            Gress::Egress => &mut self.graph.program.egress_slots,
        };
        if slots.len() <= slot as usize {
            slots.resize(slot as usize + 1, Slot::default());
        }
        let events = &mut slots[slot as usize].events;
        if let Err(at) = events.binary_search(&event) {
            events.insert(at, event);
        }
    }

    pub(super) fn array(&mut self, global: GlobalId) -> ArrayId {
        let arrays = &mut self.graph.program.arrays;
        *self.arrays.entry(global).or_insert_with(|| {
            arrays.push(Array { global, register_actions: Vec::new() });
            ArrayId(arrays.len() as u32 - 1)
        })
    }

    pub(super) fn register_action(
        &mut self,
        array: ArrayId,
        access: MemoryAccess,
        returns: bool,
    ) -> u32 {
        let actions = &mut self.graph.program.arrays[array.0 as usize].register_actions;
        super::super::memory::register_action(self.program, actions, access, returns)
    }

    /// Appends a statement.
    pub(super) fn emit(&mut self, operation: Operation) {
        let statements = &mut self.graph.program.statements;
        let id = StatementId(statements.len() as u32);
        statements.push(Statement {
            handler: Some(HandlerId(self.graph.program.handlers.len() as u32 - 1)),
            gress: self.gress,
            guard: self.guard.clone(),
            operation,
            crosses: false,
            span: self.span,
            inlined_at: self.inlined_at.clone(),
        });
        self.nodes.push(Node::Statement(id));
    }

    pub(super) fn push(&mut self, node: Node) {
        self.nodes.push(node);
    }

    /// What was appended since the last time, for an arm or a body.
    pub(super) fn take_nodes(&mut self) -> Vec<Node> {
        std::mem::take(&mut self.nodes)
    }

    /// Runs `inside` and gives what it appended.
    pub(super) fn arm(&mut self, inside: impl FnOnce(&mut Self)) -> Vec<Node> {
        let outer = std::mem::take(&mut self.nodes);
        inside(self);
        std::mem::replace(&mut self.nodes, outer)
    }

    pub(super) fn width(&self, operand: Operand, otherwise: u32) -> u32 {
        match operand {
            Operand::Variable(id) => self.graph.program.variable(id).width_bits,
            Operand::Constant(_) => otherwise,
        }
    }
}

/// Width of a type that a variable may have.
pub(super) fn width_of(ty: Type) -> Option<u32> {
    match ty {
        Type::Int(width) => Some(width),
        Type::Bool => Some(1),
        Type::Event | Type::Group | Type::Payload => None,
    }
}
