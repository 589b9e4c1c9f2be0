// SPDX-License-Identifier: Apache-2.0
//! States each stateful codelet as an [`atoms::Codelet`]: for each global, an expression of its next value over the codelet's
//! globals and over inputs. Calls of helpers, and hashes of globals, are expanded into the expression. A hash of other values
//! is an input, because an earlier stage can compute it; an input that is computed from others is given with its definition.

use super::codelets::Codelet;
use super::inputs::Definitions;
use super::print_statement;
use crate::codes::check::NOT_FOR_ATOMS;
use crate::core::{Callee, Core, Expression, Statement, StatementKind, Variable, flatten_helper};
use crate::program::Operation;
use crate::syntax::ast::{BinaryOperator, LogicalOperator, UnaryOperator};
use atoms::{Binary, Graph, Node, NodeId, Unary, Words};
use source::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of parts of a codelet, with helpers in place.
const MAX_PARTS: usize = 4096;

/// A stateful codelet.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// What it does to the globals. The names of its inputs are those of `plane emit --after cse`, without `p.`.
    pub codelet: atoms::Codelet,
    /// The variables that the inputs stand for.
    pub inputs: Vec<Variable>,
    /// Where its first global is accessed.
    pub span: Span,
    /// Its statements in the order of the program, a line each.
    pub text: String,
}

/// Returns a stateful codelet of a program after the last pass as a transaction.
///
/// # Errors
///
/// The codelet looks up a cell by its own state, or grows too large.
pub fn transaction(core: &Core, codelet: &Codelet) -> Result<Transaction, Box<Diagnostic>> {
    let statements = || codelet.statements.iter().map(|at| &core.body[*at]);
    let is_access = |statement: &&Statement| match &statement.kind {
        StatementKind::Read(_, global, _) | StatementKind::Write(global, ..) => {
            codelet.states.contains(global)
        }
        _ => false,
    };
    let span = statements().find(is_access).map_or(Span::NONE, |statement| statement.span);
    let names: Vec<&str> =
        codelet.states.iter().map(|global| &*core.globals[*global].name).collect();
    let mut builder = Builder {
        core,
        codelet,
        graph: Graph::new(),
        reads_state: Vec::new(),
        updates: BTreeMap::new(),
        inputs: Vec::new(),
        definitions: Definitions::of(core),
        at: 0,
        span,
    };
    let mut values = Values { known: BTreeMap::new(), is_helper: false };
    for at in &codelet.statements {
        builder.at = *at;
        builder.statement(&core.body[*at], &mut values)?;
    }
    let computed = builder.computed();
    let updates: Vec<NodeId> = (0..names.len())
        .map(|state| match builder.updates.get(&state) {
            Some(update) => *update,
            None => builder.graph.add(Node::State(state)),
        })
        .collect();
    let Builder { graph, inputs, .. } = builder;
    let text = statements().map(|statement| print_statement(core, statement) + "\n").collect();
    let codelet = atoms::Codelet {
        name: codelet.name(core),
        states: names.iter().map(|name| (*name).to_string()).collect(),
        inputs: inputs.iter().map(|variable| name(core, *variable)).collect(),
        computed,
        graph,
        updates,
    };
    Ok(Transaction { codelet, inputs, span, text })
}

/// Returns the name of a variable: a field's own, else with its number.
fn name(core: &Core, variable: Variable) -> String {
    let name = &core.variables[variable.index()];
    match variable.index() < core.fields.len() {
        true => name.to_string(),
        false => format!("{name}_{}", variable.0),
    }
}

/// The values of variables.
#[derive(Clone)]
struct Values {
    known: BTreeMap<Variable, NodeId>,
    /// In a helper all other variables are 0; in a codelet they are inputs.
    is_helper: bool,
}

struct Builder<'c> {
    core: &'c Core,
    codelet: &'c Codelet,
    graph: Graph,
    /// Whether each node reads the state.
    reads_state: Vec<bool>,
    /// The new values of state variables.
    updates: BTreeMap<usize, NodeId>,
    inputs: Vec<Variable>,
    definitions: Definitions<'c>,
    /// The statement of the program that is being stated.
    at: usize,
    /// Where the codelet stands.
    span: Span,
}

impl Builder<'_> {
    /// Adds a node. Operators on numbers are computed.
    fn add(&mut self, node: Node) -> NodeId {
        let words = Words::new(32);
        let number = |id: &NodeId| match self.graph.node(*id) {
            Node::Literal(number) => Some(*number),
            _ => None,
        };
        let folded = match &node {
            Node::Unary(operator, one) => number(one).map(|one| words.unary(*operator, one)),
            Node::Binary(operator, one, two) => {
                number(one).zip(number(two)).map(|(one, two)| words.binary(*operator, one, two))
            }
            Node::Select(condition, then, otherwise) if let Some(number) = number(condition) => {
                return if number != 0 { *then } else { *otherwise };
            }
            Node::Select(_, then, otherwise) if then == otherwise => return *then,
            _ => None,
        };
        let node = folded.map_or(node, Node::Literal);
        let reads = |id: &NodeId| self.reads_state[id.index()];
        let reads_state = match &node {
            Node::State(_) => true,
            Node::Unary(_, one) => reads(one),
            Node::Binary(_, one, two) => reads(one) || reads(two),
            Node::Select(one, two, three) => reads(one) || reads(two) || reads(three),
            _ => false,
        };
        let id = self.graph.add(node);
        if id.index() == self.reads_state.len() {
            self.reads_state.push(reads_state);
        }
        id
    }

    fn literal(&mut self, number: u32) -> NodeId {
        self.add(Node::Literal(number))
    }

    fn binary(&mut self, operator: Binary, one: NodeId, two: NodeId) -> NodeId {
        self.add(Node::Binary(operator, one, two))
    }

    /// Describes the inputs that follow from others; these become inputs too.
    fn computed(&mut self) -> Vec<(usize, NodeId)> {
        let direct: BTreeSet<Variable> = self.inputs.iter().copied().collect();
        let chosen = self.definitions.determined(&direct);
        let is_chosen = |variable: &Variable| chosen.contains_key(variable);
        let computed: Vec<Variable> = self.inputs.iter().copied().filter(is_chosen).collect();
        let values = computed.iter().map(|variable| self.follow(*variable, &chosen));
        let values: Vec<NodeId> = values.collect();
        let place = |variable: &Variable| self.inputs.iter().position(|one| one == variable);
        computed.iter().filter_map(place).zip(values).collect()
    }

    /// Returns the value of a variable over those that have no chosen definition.
    fn follow(&mut self, variable: Variable, chosen: &BTreeMap<Variable, &Expression>) -> NodeId {
        let Some(value) = chosen.get(&variable) else { return self.input(variable) };
        let mut operands = BTreeSet::new();
        value.each_variable(&mut |operand| operands.extend([operand]));
        operands.retain(|operand| !self.definitions.is_zero_in(*operand, variable));
        let known = operands.into_iter().map(|one| (one, self.follow(one, chosen))).collect();
        // What is not known is 0, as in a helper.
        self.expression(value, &mut Values { known, is_helper: true })
    }

    /// Returns an input, the value of a variable that another codelet computes.
    fn input(&mut self, variable: Variable) -> NodeId {
        let known = self.inputs.iter().position(|one| *one == variable);
        let input = known.unwrap_or_else(|| {
            self.inputs.push(variable);
            self.inputs.len() - 1
        });
        self.add(Node::Input(input))
    }

    fn obstacle(&self, span: Span, message: String, help: &str) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::warning(NOT_FOR_ATOMS, span, message)
                .label(
                    self.span,
                    format!("the codelet of `{}` begins here", self.codelet.name(self.core)),
                )
                .help(help),
        )
    }

    fn statement(
        &mut self,
        statement: &Statement,
        values: &mut Values,
    ) -> Result<(), Box<Diagnostic>> {
        if self.graph.nodes().len() > MAX_PARTS {
            let message =
                format!("the codelet has more than {MAX_PARTS} parts with its helpers in place");
            let help = "reduce the turns of loops, the calls of helpers or the hashes of state";
            return Err(self.obstacle(statement.span, message, help));
        }
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                let value = self.expression(value, values);
                values.known.insert(*target, value);
            }
            StatementKind::Read(target, global, index) => {
                let value = match self.codelet.states.iter().position(|state| state == global) {
                    Some(state) => self.add(Node::State(state)),
                    None => {
                        let index = self.expression(index, values);
                        if self.reads_state[index.index()] {
                            let name = &self.core.globals[*global].name;
                            let message = format!(
                                "the index of `{name}` depends on state of the same codelet"
                            );
                            let help = "an atom gets the index from the packet: compute it from fields of the packet";
                            return Err(self.obstacle(statement.span, message, help));
                        }
                        self.input(*target)
                    }
                };
                values.known.insert(*target, value);
            }
            StatementKind::Write(global, _, value) => {
                let value = self.expression(value, values);
                if let Some(state) = self.codelet.states.iter().position(|state| state == global) {
                    self.updates.insert(state, value);
                }
            }
            StatementKind::Call(target, callee, arguments) => {
                let arguments: Vec<NodeId> =
                    arguments.iter().map(|one| self.expression(one, values)).collect();
                let reads_state = arguments.iter().any(|one| self.reads_state[one.index()]);
                let value = match callee {
                    _ if !reads_state && !values.is_helper => self.input(*target),
                    Callee::Hash => self.hash(&arguments),
                    Callee::Helper(helper) => self.helper(*helper, &arguments)?,
                };
                values.known.insert(*target, value);
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition = self.expression(condition, values);
                let mut branch = |statements: &[Statement]| {
                    let mut values = values.clone();
                    statements.iter().try_for_each(|one| self.statement(one, &mut values))?;
                    Ok::<Values, Box<Diagnostic>>(values)
                };
                let (then, otherwise) = (branch(then)?, branch(otherwise)?);
                self.join(condition, &then, &otherwise, values);
            }
        }
        Ok(())
    }

    /// Sets the values behind two branches.
    fn join(&mut self, condition: NodeId, then: &Values, otherwise: &Values, values: &mut Values) {
        let zero = self.literal(0);
        for variable in then.known.keys().chain(otherwise.known.keys()) {
            let [one, two] =
                [then, otherwise].map(|one| one.known.get(variable).copied().unwrap_or(zero));
            let chosen = self.add(Node::Select(condition, one, two));
            values.known.insert(*variable, chosen);
        }
    }

    /// Returns the value of a helper.
    fn helper(&mut self, helper: usize, arguments: &[NodeId]) -> Result<NodeId, Box<Diagnostic>> {
        let (statements, value) = flatten_helper(&self.core.program, helper)?;
        let known = arguments.iter().enumerate();
        let known = known.map(|(at, argument)| (Variable(at as u32), *argument)).collect();
        let mut values = Values { known, is_helper: true };
        statements.iter().try_for_each(|one| self.statement(one, &mut values))?;
        Ok(self.expression(&value, &mut values))
    }

    /// Returns CRC-16/ARC over words, as shifts and exclusive ors ([`crate::arithmetic32::hash`]).
    fn hash(&mut self, arguments: &[NodeId]) -> NodeId {
        let [one, byte, polynomial] = [1, 0xff, 0xa001].map(|number| self.literal(number));
        let mut hash = self.literal(0);
        for word in arguments {
            for shift in [0, 8, 16, 24] {
                let shift = self.literal(shift);
                let shifted = self.binary(Binary::ShiftRightUnsigned, *word, shift);
                let taken = self.binary(Binary::And, shifted, byte);
                hash = self.binary(Binary::Xor, hash, taken);
                for _ in 0..8 {
                    let low = self.binary(Binary::And, hash, one);
                    let rest = self.binary(Binary::ShiftRightUnsigned, hash, one);
                    let reduced = self.binary(Binary::Xor, rest, polynomial);
                    hash = self.add(Node::Select(low, reduced, rest));
                }
            }
        }
        hash
    }

    fn expression(&mut self, expression: &Expression, values: &mut Values) -> NodeId {
        match expression {
            Expression::Constant(number) => self.literal(*number),
            Expression::Variable(variable) => match values.known.get(variable) {
                Some(value) => *value,
                None if values.is_helper || self.definitions.is_zero(*variable, self.at) => {
                    self.literal(0)
                }
                None => self.input(*variable),
            },
            Expression::Unary(operator, one) => {
                let one = self.expression(one, values);
                let operator = match operator {
                    UnaryOperator::Plus => return one,
                    UnaryOperator::Negate => Unary::Negate,
                    UnaryOperator::Complement => Unary::Complement,
                    UnaryOperator::Not => Unary::Not,
                };
                self.add(Node::Unary(operator, one))
            }
            Expression::Binary(operation, one, two, _) => {
                let (one, two) = (self.expression(one, values), self.expression(two, values));
                self.binary(operator(*operation), one, two)
            }
            Expression::Logical(operator, one, two) => {
                let (one, two) = (self.expression(one, values), self.expression(two, values));
                let operator = match operator {
                    LogicalOperator::And => Binary::LogicalAnd,
                    LogicalOperator::Or => Binary::LogicalOr,
                };
                self.binary(operator, one, two)
            }
            Expression::Conditional(condition, then, otherwise) => {
                let condition = self.expression(condition, values);
                let then = self.expression(then, values);
                let otherwise = self.expression(otherwise, values);
                self.add(Node::Select(condition, then, otherwise))
            }
        }
    }
}

/// Returns the operator of atoms.
fn operator(operation: Operation) -> Binary {
    let Operation { operator, is_unsigned } = operation;
    let of_type = |signed, unsigned| if is_unsigned { unsigned } else { signed };
    match operator {
        BinaryOperator::Add => Binary::Add,
        BinaryOperator::Subtract => Binary::Subtract,
        BinaryOperator::Multiply => Binary::Multiply,
        BinaryOperator::Divide => of_type(Binary::Divide, Binary::DivideUnsigned),
        BinaryOperator::Remainder => of_type(Binary::Remainder, Binary::RemainderUnsigned),
        BinaryOperator::And => Binary::And,
        BinaryOperator::Or => Binary::Or,
        BinaryOperator::Xor => Binary::Xor,
        BinaryOperator::ShiftLeft => Binary::ShiftLeft,
        BinaryOperator::ShiftRight => of_type(Binary::ShiftRight, Binary::ShiftRightUnsigned),
        BinaryOperator::Equal => Binary::Equal,
        BinaryOperator::NotEqual => Binary::NotEqual,
        BinaryOperator::Less => of_type(Binary::Less, Binary::LessUnsigned),
        BinaryOperator::Greater => of_type(Binary::Greater, Binary::GreaterUnsigned),
        BinaryOperator::LessEqual => of_type(Binary::LessEqual, Binary::LessEqualUnsigned),
        BinaryOperator::GreaterEqual => of_type(Binary::GreaterEqual, Binary::GreaterEqualUnsigned),
    }
}
