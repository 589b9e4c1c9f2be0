// SPDX-License-Identifier: Apache-2.0
//! Random functions with early returns, loops, records and calls inside expressions: what the
//! elaborated program prints is what the functions print when they are run as they are written.

use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Setup, Simulation};
use lucid_reference::specification::{Format, read};
use proptest::prelude::*;
use source::{RenderOptions, SourceMap, render_text};
use std::fmt::Write;
use std::sync::Arc;

/// Parameters `a` and `b`, locals `x` and `y`.
const VARIABLES: [&str; 4] = ["a", "b", "x", "y"];

#[derive(Clone, Debug)]
enum Expression {
    Number(u32),
    Variable(usize),
    /// `r#p` or `r#q`.
    Field(bool),
    /// The innermost loop's variable; 0 outside.
    Loop,
    Add(Box<Expression>, Box<Expression>),
    Subtract(Box<Expression>, Box<Expression>),
    /// A function further up, counted from the nearest; a number if there is none.
    Call(usize, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Debug)]
enum Condition {
    Equal(Expression, Expression),
    Less(Expression, Expression),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Clone, Debug)]
enum Statement {
    Assign(usize, Expression),
    /// `r = {p = ...; q = ...};`
    Record(Expression, Expression),
    /// `r = {q = r#p; p = r#q};`
    Swap,
    /// `r = {r with p = ...};` or `q`.
    With(bool, Expression),
    /// `r = turn(b, r);`, a function that returns records early.
    Turn(Condition),
    Print(Expression),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// Branches for 0, 1, ..., and one for the rest or none.
    Match(Expression, Vec<Vec<Statement>>, Option<Vec<Statement>>),
    For(u32, Vec<Statement>),
    Return(Expression),
}

#[derive(Clone, Debug)]
struct Function {
    body: Vec<Statement>,
    last: Expression,
}

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        (0u32..4).prop_map(Expression::Number),
        (0usize..4).prop_map(Expression::Variable),
        any::<bool>().prop_map(Expression::Field),
        Just(Expression::Loop),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| Expression::Add(a.into(), b.into())),
            two.prop_map(|(a, b)| Expression::Subtract(a.into(), b.into())),
            (0usize..2, inner.clone(), inner).prop_map(|(f, a, b)| Expression::Call(
                f,
                a.into(),
                b.into()
            )),
        ]
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        (expression(), expression()).prop_map(|(a, b)| Condition::Equal(a, b)),
        (expression(), expression()).prop_map(|(a, b)| Condition::Less(a, b)),
    ];
    leaf.prop_recursive(1, 3, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.prop_map(|a| Condition::Not(a.into())),
            two.clone().prop_map(|(a, b)| Condition::And(a.into(), b.into())),
            two.prop_map(|(a, b)| Condition::Or(a.into(), b.into())),
        ]
    })
}

fn statement() -> impl Strategy<Value = Statement> {
    let leaf = prop_oneof![
        2 => (0usize..4, expression()).prop_map(|(to, value)| Statement::Assign(to, value)),
        1 => (expression(), expression()).prop_map(|(p, q)| Statement::Record(p, q)),
        1 => Just(Statement::Swap),
        1 => (any::<bool>(), expression()).prop_map(|(p, value)| Statement::With(p, value)),
        1 => condition().prop_map(Statement::Turn),
        2 => expression().prop_map(Statement::Print),
        2 => expression().prop_map(Statement::Return),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let block = proptest::collection::vec(inner, 0..3);
        prop_oneof![
            (condition(), block.clone(), block.clone())
                .prop_map(|(condition, then, other)| Statement::If(condition, then, other)),
            (
                expression(),
                proptest::collection::vec(block.clone(), 1..3),
                proptest::option::of(block.clone())
            )
                .prop_map(|(subject, branches, rest)| Statement::Match(subject, branches, rest)),
            (0u32..3, block).prop_map(|(bound, body)| Statement::For(bound, body)),
        ]
    })
}

fn function() -> impl Strategy<Value = Function> {
    (proptest::collection::vec(statement(), 0..5), expression())
        .prop_map(|(body, last)| Function { body, last })
}

/// The functions as source.
struct Writer {
    text: String,
    /// Which function is written.
    function: usize,
    loops: usize,
}

impl Writer {
    fn expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Number(number) => number.to_string(),
            Expression::Variable(variable) => VARIABLES[*variable].to_owned(),
            Expression::Field(first) => if *first { "r#p" } else { "r#q" }.to_owned(),
            Expression::Loop if self.loops == 0 => "0".to_owned(),
            Expression::Loop => format!("size_to_int(i{})", self.loops),
            Expression::Add(a, b) => {
                format!("({} + {})", self.expression(a), self.expression(b))
            }
            Expression::Subtract(a, b) => {
                format!("({} - {})", self.expression(a), self.expression(b))
            }
            Expression::Call(up, a, b) => match self.function.checked_sub(up + 1) {
                Some(function) => {
                    format!("f{function}({}, {})", self.expression(a), self.expression(b))
                }
                None => "3".to_owned(),
            },
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Equal(a, b) => {
                format!("({} == {})", self.expression(a), self.expression(b))
            }
            Condition::Less(a, b) => format!("({} < {})", self.expression(a), self.expression(b)),
            Condition::Not(a) => format!("!{}", self.condition(a)),
            Condition::And(a, b) => format!("({} && {})", self.condition(a), self.condition(b)),
            Condition::Or(a, b) => format!("({} || {})", self.condition(a), self.condition(b)),
        }
    }

    fn block(&mut self, statements: &[Statement]) {
        self.text.push_str("{ ");
        for statement in statements {
            self.statement(statement);
            if ends(statement) {
                break;
            }
        }
        self.text.push_str("} ");
    }

    fn statement(&mut self, statement: &Statement) {
        let simple = match statement {
            Statement::Assign(to, value) => {
                format!("{} = {}; ", VARIABLES[*to], self.expression(value))
            }
            Statement::Record(p, q) => {
                format!("r = {{p = {}; q = {}}}; ", self.expression(p), self.expression(q))
            }
            Statement::Swap => "r = {q = r#p; p = r#q}; ".to_owned(),
            Statement::With(first, value) => {
                let label = if *first { "p" } else { "q" };
                format!("r = {{r with {label} = {}}}; ", self.expression(value))
            }
            Statement::Turn(condition) => format!("r = turn({}, r); ", self.condition(condition)),
            Statement::Print(value) => format!("printf(\"%d\", {}); ", self.expression(value)),
            Statement::Return(value) => format!("return {}; ", self.expression(value)),
            Statement::If(condition, then, other) => {
                let _ = write!(self.text, "if {} ", paren(&self.condition(condition)));
                self.block(then);
                if !other.is_empty() {
                    self.text.push_str("else ");
                    self.block(other);
                }
                return;
            }
            Statement::Match(subject, branches, rest) => {
                let _ = write!(self.text, "match ({}) with ", self.expression(subject));
                for (at, branch) in branches.iter().enumerate() {
                    let _ = write!(self.text, "| {at} -> ");
                    self.block(branch);
                }
                if let Some(rest) = rest {
                    self.text.push_str("| _ -> ");
                    self.block(rest);
                }
                return;
            }
            Statement::For(bound, body) => {
                self.loops += 1;
                let _ = write!(self.text, "for (i{} < {bound}) ", self.loops);
                self.block(body);
                self.loops -= 1;
                return;
            }
        };
        self.text.push_str(&simple);
    }
}

fn paren(condition: &str) -> String {
    if condition.starts_with('(') { condition.to_owned() } else { format!("({condition})") }
}

/// Whether nothing behind a statement runs.
fn ends(statement: &Statement) -> bool {
    let block = |block: &Vec<Statement>| block.iter().any(ends);
    match statement {
        Statement::Return(_) => true,
        Statement::If(_, then, other) => block(then) && block(other),
        Statement::Match(_, branches, Some(rest)) => branches.iter().all(block) && block(rest),
        _ => false,
    }
}

fn source(functions: &[Function]) -> String {
    let text = "type pair = { int p; int q; }
        fun pair turn(bool b, pair r) { if (b) { return {p = r#q; q = r#p + 1}; } return r; }\n";
    let mut writer = Writer { text: text.to_owned(), function: 0, loops: 0 };
    for (at, function) in functions.iter().enumerate() {
        writer.function = at;
        let begin = "int x = 0; int y = 1; pair r = {p = a; q = b};";
        let _ = write!(writer.text, "fun int f{at}(int a, int b) {{ {begin} ");
        let ended = function.body.iter().position(ends);
        for statement in &function.body[..ended.map_or(function.body.len(), |at| at + 1)] {
            writer.statement(statement);
        }
        if ended.is_none() {
            let last = writer.expression(&function.last);
            let _ = write!(writer.text, "return {last}; ");
        }
        writer.text.push_str("}\n");
    }
    let last = functions.len() - 1;
    let _ = writeln!(
        writer.text,
        "event go(int a, int b) {{ printf(\"%d\", f{last}(a, b) - f0(b, 2)); a = f{last}(b, a); \
         printf(\"%d\", a); }}"
    );
    writer.text
}

/// Runs functions as they are written.
struct Runner<'a> {
    functions: &'a [Function],
    printed: Vec<String>,
}

struct Frame {
    function: usize,
    variables: [u32; 4],
    record: (u32, u32),
    loops: Vec<u32>,
}

impl Runner<'_> {
    fn call(&mut self, function: usize, a: u32, b: u32) -> u32 {
        let mut frame =
            Frame { function, variables: [a, b, 0, 1], record: (a, b), loops: Vec::new() };
        let functions = self.functions;
        match self.block(&functions[function].body, &mut frame) {
            Some(value) => value,
            None => self.expression(&functions[function].last, &frame),
        }
    }

    fn expression(&mut self, expression: &Expression, frame: &Frame) -> u32 {
        match expression {
            Expression::Number(number) => *number,
            Expression::Variable(variable) => frame.variables[*variable],
            Expression::Field(first) => {
                if *first {
                    frame.record.0
                } else {
                    frame.record.1
                }
            }
            Expression::Loop => frame.loops.last().copied().unwrap_or(0),
            Expression::Add(a, b) => {
                let a = self.expression(a, frame);
                a.wrapping_add(self.expression(b, frame))
            }
            Expression::Subtract(a, b) => {
                let a = self.expression(a, frame);
                a.wrapping_sub(self.expression(b, frame))
            }
            Expression::Call(up, a, b) => match frame.function.checked_sub(up + 1) {
                Some(function) => {
                    let a = self.expression(a, frame);
                    let b = self.expression(b, frame);
                    self.call(function, a, b)
                }
                None => 3,
            },
        }
    }

    fn condition(&mut self, condition: &Condition, frame: &Frame) -> bool {
        match condition {
            Condition::Equal(a, b) => self.expression(a, frame) == self.expression(b, frame),
            Condition::Less(a, b) => self.expression(a, frame) < self.expression(b, frame),
            Condition::Not(a) => !self.condition(a, frame),
            Condition::And(a, b) => self.condition(a, frame) & self.condition(b, frame),
            Condition::Or(a, b) => self.condition(a, frame) | self.condition(b, frame),
        }
    }

    /// The value returned, if the block returns.
    fn block(&mut self, statements: &[Statement], frame: &mut Frame) -> Option<u32> {
        statements.iter().find_map(|statement| self.statement(statement, frame))
    }

    fn statement(&mut self, statement: &Statement, frame: &mut Frame) -> Option<u32> {
        match statement {
            Statement::Assign(to, value) => frame.variables[*to] = self.expression(value, frame),
            Statement::Record(p, q) => {
                frame.record = (self.expression(p, frame), self.expression(q, frame));
            }
            Statement::Swap => frame.record = (frame.record.1, frame.record.0),
            Statement::With(true, value) => frame.record.0 = self.expression(value, frame),
            Statement::With(false, value) => frame.record.1 = self.expression(value, frame),
            Statement::Turn(condition) => {
                if self.condition(condition, frame) {
                    frame.record = (frame.record.1, frame.record.0.wrapping_add(1));
                }
            }
            Statement::Print(value) => {
                let value = self.expression(value, frame);
                self.printed.push(value.to_string());
            }
            Statement::Return(value) => return Some(self.expression(value, frame)),
            Statement::If(condition, then, other) => {
                let chosen = if self.condition(condition, frame) { then } else { other };
                return self.block(chosen, frame);
            }
            Statement::Match(subject, branches, rest) => {
                let subject = self.expression(subject, frame) as usize;
                let chosen = branches.get(subject).or(rest.as_ref())?;
                return self.block(chosen, frame);
            }
            Statement::For(bound, body) => {
                for at in 0..*bound {
                    frame.loops.push(at);
                    let returned = self.block(body, frame);
                    frame.loops.pop();
                    if returned.is_some() {
                        return returned;
                    }
                }
            }
        }
        None
    }
}

/// What is printed.
#[derive(Default)]
struct Printed(Vec<String>);

impl Observer for Printed {
    fn observe(&mut self, observation: Observation) {
        if let ObservationKind::Printed { text, .. } = observation.kind {
            self.0.push(text.to_string());
        }
    }
}

/// What the elaborated program prints for these inputs; `None` if it is too large.
fn printed(text: &str, inputs: &[(u32, u32)]) -> Option<Vec<String>> {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let symbolics = Symbolics::default();
    let compiled = front::compile(&mut map, "random.dpt", text.to_owned(), &files, &symbolics, &[]);
    let program = match compiled {
        Ok(compiled) => compiled.program,
        Err(said) if said.iter().any(|one| one.code.0 == "LU-E0430") => return None,
        Err(said) => panic!("{}", render_text(&map, &said, RenderOptions::default())),
    };
    assert_eq!(lucid::core::verify(&program), Ok(()), "{text}");
    let events: Vec<String> = (inputs.iter())
        .map(|(a, b)| format!("{{\"name\": \"go\", \"args\": [{a}, {b}]}}"))
        .collect();
    let run = format!("{{\"switches\": 1, \"events\": [{}]}}", events.join(", "));
    let file = map.add("random.json", run);
    let (run, said) = read(&map, file, Format::Json);
    assert!(!said.has_errors(), "{}", render_text(&map, &said, RenderOptions::default()));
    let run = run.expect("no errors, so a run");
    let setup = Setup::new(Arc::new(program), &run);
    let setup = setup.unwrap_or_else(|said| panic!("{said:?}"));
    let mut simulation = Simulation::new(Arc::new(setup));
    let mut observer = Printed::default();
    simulation.run(&mut observer);
    Some(observer.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(192), ..ProptestConfig::default() })]

    #[test]
    fn elaborated_functions_do_what_is_written(
        functions in proptest::collection::vec(function(), 1..4),
        inputs in proptest::collection::vec((0u32..4, 0u32..4), 1..4),
    ) {
        let text = source(&functions);
        if let Some(found) = printed(&text, &inputs) {
            let mut runner = Runner { functions: &functions, printed: Vec::new() };
            let last = functions.len() - 1;
            for (a, b) in &inputs {
                let difference = runner.call(last, *a, *b);
                let difference = difference.wrapping_sub(runner.call(0, *b, 2));
                runner.printed.push(difference.to_string());
                let again = runner.call(last, *b, *a);
                runner.printed.push(again.to_string());
            }
            prop_assert_eq!(found, runner.printed, "{}", text);
        }
    }
}
