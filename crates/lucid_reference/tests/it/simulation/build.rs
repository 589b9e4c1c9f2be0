// SPDX-License-Identifier: Apache-2.0
//! Core programs and runs written by hand, for tests of the simulation that do not need the
//! language: short functions for what tests use, nothing more.

use lucid::core::*;
use lucid::syntax::ast::{BinaryOperator, EventSort};
use lucid_reference::specification::{Argument, Input, InputKind, Run};
use source::Span;
use std::sync::Arc;

pub fn int(value: u128, width: u32) -> Expression {
    let kind = ExpressionKind::Constant(Constant::Int(value, width));
    Expression { kind, ty: Type::Int(width), span: Span::NONE }
}

pub fn local(at: u32, ty: Type) -> Expression {
    Expression { kind: ExpressionKind::Local(LocalId(at)), ty, span: Span::NONE }
}

pub fn of(kind: ExpressionKind, ty: Type) -> Expression {
    Expression { kind, ty, span: Span::NONE }
}

pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    let ty = match operator {
        BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::Greater
        | BinaryOperator::LessOrEqual
        | BinaryOperator::GreaterOrEqual => Type::Bool,
        BinaryOperator::Concatenate => match (left.ty, right.ty) {
            (Type::Int(left), Type::Int(right)) => Type::Int(left + right),
            _ => panic!("concatenation of no integers"),
        },
        _ => left.ty,
    };
    of(ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), ty)
}

pub fn event_value(event: u32, arguments: Vec<Expression>) -> Expression {
    of(ExpressionKind::Event { event: EventId(event), arguments }, Type::Event)
}

pub fn delayed(event: Expression, nanoseconds: Expression) -> Expression {
    let (event, nanoseconds) = (Box::new(event), Box::new(nanoseconds));
    of(ExpressionKind::Delay { event, nanoseconds }, Type::Event)
}

pub fn statement(kind: StatementKind) -> Statement {
    Statement { kind, span: Span::NONE, inlined_at: Arc::from([]) }
}

pub fn generate(event: Expression) -> Statement {
    generate_to(event, Destination::Event)
}

pub fn generate_to(event: Expression, destination: Destination) -> Statement {
    statement(StatementKind::Generate { event, destination })
}

/// To a cell of 32 bits, by the memop that every builder has.
pub fn add_to_cell(
    global: u32,
    index: Expression,
    value: Expression,
    result: Option<u32>,
) -> Statement {
    let set = Some(Use::Memop(MemopId(0), value));
    let access = Access::Simple { get: Some(Use::Old), set };
    let result = result.map(LocalId);
    statement(StatementKind::Access { global: GlobalId(global), index, access, result })
}

pub fn set_cell(global: u32, index: Expression, value: Expression) -> Statement {
    let access = Access::Simple { get: None, set: Some(Use::Value(value)) };
    statement(StatementKind::Access { global: GlobalId(global), index, access, result: None })
}

pub fn if_else(
    condition: Expression,
    then: Vec<Statement>,
    otherwise: Vec<Statement>,
) -> Statement {
    statement(StatementKind::If { condition, then, otherwise })
}

pub fn locals(list: &[(&str, Type)]) -> Vec<Local> {
    list.iter()
        .map(|(name, ty)| Local { name: Arc::from(*name), ty: *ty, span: Span::NONE })
        .collect()
}

/// A program built up.
pub struct Builder {
    pub program: Program,
}

impl Builder {
    pub fn new() -> Builder {
        let cell = Type::Int(32);
        let sum = binary(BinaryOperator::Add, local(0, cell), local(1, cell));
        let plus = Memop {
            name: Arc::from("plus"),
            span: Span::NONE,
            width_bits: 32,
            argument_count: 2,
            body: MemopBody::Return(sum),
        };
        Builder { program: Program { memops: vec![plus], ..Program::default() } }
    }

    pub fn array(mut self, name: &str, width_bits: u32, length: u64) -> Builder {
        let kind = GlobalKind::Array { width_bits, length };
        self.program.globals.push(Global { name: Arc::from(name), span: Span::NONE, kind });
        self
    }

    pub fn global(mut self, name: &str, kind: GlobalKind) -> Builder {
        self.program.globals.push(Global { name: Arc::from(name), span: Span::NONE, kind });
        self
    }

    /// An event with a handler; `extra` are locals after the parameters.
    pub fn event(
        self,
        name: &str,
        parameters: &[(&str, Type)],
        extra: &[(&str, Type)],
        statements: Vec<Statement>,
    ) -> Builder {
        self.event_of(EventSort::Background, name, parameters, extra, Some(statements))
    }

    pub fn event_of(
        mut self,
        sort: EventSort,
        name: &str,
        parameters: &[(&str, Type)],
        extra: &[(&str, Type)],
        statements: Option<Vec<Statement>>,
    ) -> Builder {
        let mut all = locals(parameters);
        all.extend(locals(extra));
        let parameter_count = parameters.len() as u32;
        let handler = statements.map(|statements| Body {
            span: Span::NONE,
            locals: all,
            parameter_count,
            statements,
        });
        self.program.events.push(Event {
            name: Arc::from(name),
            declared_name: Arc::from(name),
            global_arguments: Vec::new(),
            span: Span::NONE,
            sort,
            wire_number: self.program.events.len() as u32 + 1,
            parameters: locals(parameters),
            handler,
            egress_handler: None,
            control_handler: None,
        });
        self
    }

    /// Gives the event declared last an egress handler.
    pub fn egress(mut self, extra: &[(&str, Type)], statements: Vec<Statement>) -> Builder {
        if let Some(event) = self.program.events.last_mut() {
            let mut all = event.parameters.clone();
            let parameter_count = all.len() as u32;
            all.extend(locals(extra));
            event.egress_handler =
                Some(Body { span: Span::NONE, locals: all, parameter_count, statements });
        }
        self
    }

    pub fn done(self) -> Arc<Program> {
        if let Err(wrong) = verify(&self.program) {
            panic!("the core program does not hold together: {wrong:?}");
        }
        Arc::new(self.program)
    }
}

/// A run of these switches without links and inputs, for 1 ms.
pub fn run(switches: u32) -> Run {
    Run { switches, max_time_ps: 1_000_000_000, ..Run::default() }
}

/// An event at a time in nanoseconds, at switch 0, port 0.
pub fn input(time_ns: u64, name: &str, arguments: &[u128]) -> Input {
    let arguments = arguments.iter().map(|value| Argument::Int(*value)).collect();
    Input {
        time_ps: Some(time_ns * 1000),
        locations: Vec::new(),
        kind: InputKind::Event { name: name.to_string(), arguments },
        field_spans: Default::default(),
    }
}
