// SPDX-License-Identifier: Apache-2.0
//! A model program as Lucid text.

use super::model::{Base, Bound, Event, Function, Interface, Path, Program, Step, Stmt, Ty};
use std::fmt::Write;

struct Printer<'p> {
    program: &'p Program,
    parameters: &'p [Ty],
    module: Option<usize>,
    fresh: usize,
    text: String,
}

/// The text of a program.
pub fn print(program: &Program) -> String {
    let mut printer =
        Printer { program, parameters: &[], module: None, fresh: 0, text: String::new() };
    printer.whole();
    printer.text
}

fn type_name(ty: &Ty, parameter: usize, inside: Option<usize>) -> String {
    match ty {
        Ty::Array => "Array.t<32>".into(),
        Ty::Counter => "Counter.t<32>".into(),
        Ty::Table => "Table.t<<int, int, int, int>>".into(),
        Ty::Record(record) => format!("r{record}"),
        Ty::Vector(ty, length) => {
            format!("{}[{length}]", type_name(ty, parameter, inside))
        }
        Ty::Sized(ty) => format!("{}['k{parameter}]", type_name(ty, parameter, inside)),
        Ty::Symbolic(ty) => format!("{}[n]", type_name(ty, parameter, inside)),
        Ty::Opaque(module) if inside == Some(*module) => "t".into(),
        Ty::Opaque(module) => format!("M{module}.t"),
    }
}

fn create(ty: &Ty) -> String {
    match ty {
        Ty::Array => "Array.create(4)".into(),
        Ty::Counter => "Counter.create(0)".into(),
        Ty::Table => "Table.create(8, [act], act, 0)".into(),
        Ty::Record(record) => format!("mk{record}()"),
        Ty::Vector(ty, length) => format!("[{} for i < {length}]", create(ty)),
        Ty::Symbolic(ty) => format!("[{} for i < n]", create(ty)),
        Ty::Opaque(module) => format!("M{module}.create()"),
        Ty::Sized(_) => unreachable!("only parameters have any length"),
    }
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    fn whole(&mut self) {
        self.line(0, "symbolic size n;");
        self.line(0, "action int act(int a)(int b) { return a; }");
        self.line(0, "memop plus(int stored, int y) { return stored + y; }");
        for record in 0..self.program.records.len() {
            if !self.program.modules.contains(&record) {
                self.record(record, &format!("r{record}"), &format!("mk{record}"));
            }
        }
        for module in 0..self.program.modules.len() {
            self.module(module);
        }
        for (at, event) in self.program.events.iter().enumerate() {
            let line = format!("{};", self.event_head("event", at, event, true));
            self.line(0, &line);
        }
        for (at, ty) in self.program.globals.iter().enumerate() {
            let line = format!("global {} g{at} = {};", type_name(ty, 0, None), create(ty));
            self.line(0, &line);
        }
        for (at, function) in self.program.functions.iter().enumerate() {
            if function.module.is_none() {
                self.function(at, function);
            }
        }
        for (at, event) in self.program.events.iter().enumerate() {
            let line = format!("{} {{", self.event_head("handle", at, event, false));
            self.line(0, &line);
            self.body(&event.parameters, None, &event.body);
        }
        for (at, body) in self.program.handlers.iter().enumerate() {
            self.line(0, &format!("event h{at}(int x) {{"));
            self.body(&[], None, body);
        }
    }

    fn record(&mut self, record: usize, name: &str, constructor: &str) {
        let fields = &self.program.records[record];
        let own = |at: usize| format!("f{record}_{at}");
        let inside = self.module;
        let types = fields.iter().enumerate().map(|(at, ty)| match ty {
            Some(ty) => format!("{} {};", type_name(ty, 0, inside), own(at)),
            None => format!("int {};", own(at)),
        });
        let types = types.collect::<Vec<_>>().join(" ");
        let values = fields.iter().enumerate().map(|(at, ty)| match ty {
            Some(ty) => format!("{} = {};", own(at), create(ty)),
            None => format!("{} = 7;", own(at)),
        });
        let values = values.collect::<Vec<_>>().join(" ");
        self.line(0, &format!("type {name} = {{ {types} }}"));
        self.line(0, &format!("constr {name} {constructor}() = {{ {values} }};"));
    }

    fn module(&mut self, module: usize) {
        self.module = Some(module);
        let functions = self.program.functions.iter().enumerate();
        let own: Vec<(usize, &Function, &Interface)> = functions
            .filter_map(|(at, function)| match &function.module {
                Some((own, interface)) if *own == module => Some((at, function, interface)),
                _ => None,
            })
            .collect();
        self.line(0, &format!("module M{module} : {{"));
        self.line(1, "global type t;");
        self.line(1, "constr t create();");
        for (at, function, interface) in &own {
            let mut line = format!("fun void {}", self.head(&format!("f{at}"), function));
            if interface.written {
                let mut list = Vec::new();
                list.extend(interface.start.map(|p| format!("start <= p{p}")));
                list.extend(interface.ordered.map(|(p, q)| format!("p{p} < p{q}")));
                list.extend(interface.end.map(|p| format!("end p{p}")));
                let _ = write!(line, "[{}]", list.join("; "));
            }
            self.line(1, &format!("{line};"));
        }
        self.line(0, "} {");
        self.record(self.program.modules[module], "t", "create");
        for (at, function, _) in own {
            self.function(at, function);
        }
        self.line(0, "}");
        self.module = None;
    }

    fn parameters_of(&self, parameters: &[Ty]) -> String {
        let list = parameters.iter().enumerate();
        let mut list: Vec<String> =
            list.map(|(at, ty)| format!("{} p{at}", type_name(ty, at, self.module))).collect();
        list.push("int x".into());
        list.join(", ")
    }

    fn head(&self, name: &str, function: &Function) -> String {
        format!("{name}({})", self.parameters_of(&function.parameters))
    }

    fn event_head(&self, word: &str, at: usize, event: &Event, constraint: bool) -> String {
        let mut text = format!("{word} ev{at}({})", self.parameters_of(&event.parameters));
        if let Some((p, q)) = event.declared.filter(|_| constraint) {
            let _ = write!(text, "[p{p} < p{q}]");
        }
        text
    }

    fn function(&mut self, at: usize, function: &Function) {
        let mut line = format!("fun void {}", self.head(&format!("f{at}"), function));
        let mut list = Vec::new();
        list.extend(function.declared.map(|(p, q)| format!("p{p} < p{q}")));
        list.extend(function.declared_end.map(|p| format!("end p{p}")));
        if !list.is_empty() {
            let _ = write!(line, "[{}]", list.join("; "));
        }
        self.line(0, &format!("{line} {{"));
        let module = function.module.as_ref().map(|(module, _)| *module);
        let (program, parameters) = (self.program, &function.parameters);
        let mut inner =
            Printer { program, parameters, module, fresh: 0, text: std::mem::take(&mut self.text) };
        inner.statements(1, &function.body);
        inner.line(0, "}");
        self.text = inner.text;
    }

    fn body(&mut self, parameters: &[Ty], module: Option<usize>, body: &[Stmt]) {
        let program = self.program;
        let mut inner =
            Printer { program, parameters, module, fresh: 0, text: std::mem::take(&mut self.text) };
        inner.statements(1, body);
        inner.line(0, "}");
        self.text = inner.text;
    }

    fn path(&self, path: &Path) -> String {
        let (mut text, mut ty) = match path.base {
            Base::Global(at) => (format!("g{at}"), self.program.globals[at].clone()),
            Base::Parameter(at) => (format!("p{at}"), self.parameters[at].clone()),
        };
        for step in &path.steps {
            let record = match &ty {
                Ty::Record(record) => *record,
                Ty::Opaque(module) => self.program.modules[*module],
                _ => 0,
            };
            match step {
                Step::Field(at) => {
                    let _ = write!(text, "#f{record}_{at}");
                    ty = self.program.records[record][*at].clone().unwrap_or(Ty::Array);
                }
                Step::At(at) => {
                    let _ = write!(text, "[{at}]");
                }
                Step::Loop(variable) => {
                    let _ = write!(text, "[i{variable}]");
                }
            }
            if !matches!(step, Step::Field(_))
                && let Ty::Vector(element, _) | Ty::Sized(element) | Ty::Symbolic(element) = ty
            {
                ty = *element;
            }
        }
        text
    }

    fn arguments(&self, arguments: &[Path]) -> String {
        let mut list: Vec<String> = arguments.iter().map(|path| self.path(path)).collect();
        list.push("x".into());
        list.join(", ")
    }

    fn variable(&mut self) -> String {
        self.fresh += 1;
        format!("y{}", self.fresh)
    }

    fn statements(&mut self, depth: usize, statements: &[Stmt]) {
        if statements.is_empty() {
            self.line(depth, "skip;");
        }
        for statement in statements {
            self.statement(depth, statement);
        }
    }

    fn statement(&mut self, depth: usize, statement: &Stmt) {
        match statement {
            Stmt::Access(list) => {
                let reads: Vec<String> = list
                    .iter()
                    .map(|(path, ty, _)| match ty {
                        Ty::Counter => format!("Counter.add({}, 1)", self.path(path)),
                        Ty::Table => format!("Table.lookup({}, x, x)", self.path(path)),
                        _ => format!("Array.get({}, 0)", self.path(path)),
                    })
                    .collect();
                let line = match list.as_slice() {
                    [(path, Ty::Array, 1)] => format!("Array.set({}, 0, x);", self.path(path)),
                    [(path, Ty::Array, 2)] => {
                        format!("Array.setm({}, 0, plus, x);", self.path(path))
                    }
                    _ => format!("int {} = {};", self.variable(), reads.join(" + ")),
                };
                self.line(depth, &line);
            }
            Stmt::If(then, otherwise) => {
                self.line(depth, "if (x == 3) {");
                self.statements(depth + 1, then);
                if let Some(otherwise) = otherwise {
                    self.line(depth, "} else {");
                    self.statements(depth + 1, otherwise);
                }
                self.line(depth, "}");
            }
            Stmt::Match(branches, wildcard) => {
                self.line(depth, "match x with");
                for (at, branch) in branches.iter().enumerate() {
                    let last = *wildcard && at + 1 == branches.len();
                    let pattern = if last { "_".to_owned() } else { at.to_string() };
                    self.line(depth, &format!("| {pattern} -> {{"));
                    self.statements(depth + 1, branch);
                    self.line(depth, "}");
                }
            }
            Stmt::For { variable, bound, body } => {
                let bound = match bound {
                    Bound::Known(count) => count.to_string(),
                    Bound::Parameter(at) => format!("'k{at}"),
                    Bound::Symbolic => "n".into(),
                };
                self.line(depth, &format!("for (i{variable} < {bound}) {{"));
                self.statements(depth + 1, body);
                self.line(depth, "}");
            }
            Stmt::Call { function, arguments, unordered } => {
                let callee = &self.program.functions[*function];
                let module = callee.module.as_ref().map(|(module, _)| *module);
                let prefix = match module {
                    Some(module) if self.module != Some(module) => format!("M{module}."),
                    _ => String::new(),
                };
                let mark = if *unordered { "<unordered>" } else { "" };
                let line = format!("{prefix}f{function}{mark}({});", self.arguments(arguments));
                self.line(depth, &line);
            }
            Stmt::Make { event, arguments } => {
                let line = format!("generate ev{event}({});", self.arguments(arguments));
                self.line(depth, &line);
            }
            Stmt::Return => self.line(depth, "return;"),
        }
    }
}
