// SPDX-License-Identifier: Apache-2.0
//! Programs for the test of the order check: a small model of Lucid that has all that orders are
//! about and nothing else, and its generator. It is read from a tape of numbers, so that a shorter
//! tape of smaller numbers is a simpler program, which is how failures shrink.

use testing::Choices;

/// What a global, a field or a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Array,
    Counter,
    Table,
    /// Of `Program::records`.
    Record(usize),
    /// Of a known length.
    Vector(Box<Ty>, usize),
    /// A parameter of any length.
    Sized(Box<Ty>),
    /// A vector whose length is the symbolic size.
    Symbolic(Box<Ty>),
    /// The type of a module.
    Opaque(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    Global(usize),
    Parameter(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Field(usize),
    At(usize),
    /// The variable of a loop around, by its number.
    Loop(usize),
}

/// A global, a parameter, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    pub base: Base,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub enum Bound {
    Known(usize),
    /// The length of this parameter.
    Parameter(usize),
    /// The symbolic size.
    Symbolic,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    /// Accesses in one expression, left to right, with how each is done.
    Access(Vec<(Path, Ty, usize)>),
    If(Vec<Stmt>, Option<Vec<Stmt>>),
    /// Branches, and whether the last is a wildcard.
    Match(Vec<Vec<Stmt>>, bool),
    For {
        variable: usize,
        bound: Bound,
        body: Vec<Stmt>,
    },
    Call {
        function: usize,
        arguments: Vec<Path>,
        unordered: bool,
    },
    Make {
        event: usize,
        arguments: Vec<Path>,
    },
    Return,
}

/// What a module's interface says of a function: `start <= p`, `p < q`, `end p`. `None` writes
/// nothing, which means the first and the last for a single parameter.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    pub written: bool,
    pub start: Option<usize>,
    pub ordered: Option<(usize, usize)>,
    pub end: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub parameters: Vec<Ty>,
    /// `a < b` over parameters.
    pub declared: Option<(usize, usize)>,
    /// `end p`.
    pub declared_end: Option<usize>,
    pub module: Option<(usize, Interface)>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub parameters: Vec<Ty>,
    pub declared: Option<(usize, usize)>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Fields; `None` is an integer. Those of modules are here too.
    pub records: Vec<Vec<Option<Ty>>>,
    /// Records of modules.
    pub modules: Vec<usize>,
    pub globals: Vec<Ty>,
    pub events: Vec<Event>,
    pub functions: Vec<Function>,
    /// Handlers of events without globals.
    pub handlers: Vec<Vec<Stmt>>,
}

/// What a body can name.
struct Names<'p> {
    program: &'p Program,
    parameters: &'p [Ty],
    /// The module it is in.
    module: Option<usize>,
    /// Loops around: variable and bound.
    loops: Vec<(usize, Bound)>,
    next_variable: usize,
    /// Whether it may return.
    function: bool,
    /// Whether it names globals, or only its parameters.
    globals: bool,
}

impl Names<'_> {
    /// The parts of something: its own fields or elements.
    fn parts(&self, path: &Path, ty: &Ty) -> Vec<(Path, Ty)> {
        let part = |step, ty: &Ty| {
            let mut part = path.clone();
            part.steps.push(step);
            (part, ty.clone())
        };
        let by_loop = |matches: &dyn Fn(&Bound) -> bool, ty: &Ty| -> Vec<(Path, Ty)> {
            let own = self.loops.iter().filter(|(_, bound)| matches(bound));
            own.map(|(variable, _)| part(Step::Loop(*variable), ty)).collect()
        };
        match ty {
            Ty::Array | Ty::Counter | Ty::Table => Vec::new(),
            Ty::Opaque(module) if self.module != Some(*module) => Vec::new(),
            Ty::Opaque(_) | Ty::Record(_) => {
                let record = match ty {
                    Ty::Opaque(module) => self.program.modules[*module],
                    Ty::Record(record) => *record,
                    _ => unreachable!("matched above"),
                };
                let fields = self.program.records[record].iter().enumerate();
                fields.filter_map(|(at, ty)| Some(part(Step::Field(at), ty.as_ref()?))).collect()
            }
            Ty::Vector(ty, length) => {
                let mut parts: Vec<_> = (0..*length).map(|at| part(Step::At(at), ty)).collect();
                let same = |bound: &Bound| matches!(bound, Bound::Known(own) if own == length);
                parts.extend(by_loop(&same, ty));
                parts
            }
            Ty::Sized(ty) => by_loop(
                &|bound| matches!((bound, path.base), (Bound::Parameter(own), Base::Parameter(p)) if *own == p),
                ty,
            ),
            Ty::Symbolic(ty) => by_loop(&|bound| matches!(bound, Bound::Symbolic), ty),
        }
    }

    /// All that can be named, in the order of declarations.
    fn all(&self) -> Vec<(Path, Ty)> {
        let mut all = Vec::new();
        let count = if self.globals { self.program.globals.len() } else { 0 };
        let globals = self.program.globals[..count].iter().enumerate();
        let parameters = self.parameters.iter().enumerate();
        let mut work: Vec<(Path, Ty)> = globals
            .map(|(at, ty)| (Base::Global(at), ty))
            .chain(parameters.map(|(at, ty)| (Base::Parameter(at), ty)))
            .map(|(base, ty)| (Path { base, steps: Vec::new() }, ty.clone()))
            .collect();
        while let Some((path, ty)) = work.pop() {
            work.extend(self.parts(&path, &ty));
            all.push((path, ty));
        }
        all.sort_by(|(one, _), (two, _)| one.cmp(two));
        all
    }
}

/// Whether something of this type can be handed over for a parameter.
fn fits(ty: &Ty, parameter: &Ty) -> bool {
    match parameter {
        Ty::Sized(element) => match ty {
            Ty::Vector(own, _) | Ty::Sized(own) | Ty::Symbolic(own) => own == element,
            _ => false,
        },
        parameter => ty == parameter,
    }
}

struct Body<'p, 't> {
    tape: &'t mut Choices,
    names: Names<'p>,
    /// Where the last access was among all that can be accessed, so that most go forward.
    last: Option<Path>,
    budget: usize,
}

impl Body<'_, '_> {
    /// One of these, most often one behind the last access.
    fn choose(&mut self, from: Vec<(Path, Ty)>) -> Option<(Path, Ty)> {
        let behind = |(path, _): &(Path, Ty)| self.last.as_ref().is_none_or(|last| path > last);
        let forward: Vec<(Path, Ty)> = from.iter().filter(|each| behind(each)).cloned().collect();
        let from = if self.tape.one_in(24) { from } else { forward };
        if from.is_empty() {
            return None;
        }
        let limit = if self.tape.one_in(3) { from.len() } else { from.len().min(2) };
        let chosen = from[self.tape.below(limit)].clone();
        // Behind all its parts.
        let mut last = chosen.0.clone();
        last.steps.push(Step::Loop(usize::MAX));
        self.last = Some(last);
        Some(chosen)
    }

    fn access(&mut self) -> Option<Stmt> {
        let count = if self.tape.one_in(5) { 2 } else { 1 };
        let mut list = Vec::new();
        for _ in 0..count {
            let leaf = |ty: &Ty| matches!(ty, Ty::Array | Ty::Counter | Ty::Table);
            let leaves = self.names.all().into_iter().filter(|(_, ty)| leaf(ty)).collect();
            let (path, ty) = self.choose(leaves)?;
            list.push((path, ty, self.tape.below(3)));
        }
        Some(Stmt::Access(list))
    }

    fn arguments(&mut self, parameters: &[Ty]) -> Option<Vec<Path>> {
        let mut arguments = Vec::new();
        for parameter in parameters {
            let fitting = |ty: &Ty| fits(ty, parameter);
            let all = self.names.all().into_iter().filter(|(_, ty)| fitting(ty)).collect();
            arguments.push(self.choose(all)?.0);
        }
        Some(arguments)
    }

    fn statement(&mut self, depth: usize) -> Option<Stmt> {
        let program = self.names.program;
        match self.tape.below(12) {
            4 | 5 if depth > 0 => {
                let last = self.last.clone();
                let then = self.block(depth - 1);
                let after = std::mem::replace(&mut self.last, last);
                let otherwise = self.tape.one_in(2).then(|| self.block(depth - 1));
                self.last = self.last.clone().max(after);
                Some(Stmt::If(then, otherwise))
            }
            6 if depth > 0 => {
                let last = self.last.clone();
                let mut after = last.clone();
                let mut branches = Vec::new();
                for _ in 0..1 + self.tape.below(3) {
                    self.last = last.clone();
                    branches.push(self.block(depth - 1));
                    after = after.max(self.last.clone());
                }
                self.last = after;
                Some(Stmt::Match(branches, self.tape.one_in(2)))
            }
            7 if depth > 0 => {
                let sized = |ty: &Ty| matches!(ty, Ty::Sized(_));
                let mut bounds: Vec<Bound> = (0..self.names.parameters.len())
                    .filter(|at| sized(&self.names.parameters[*at]))
                    .map(Bound::Parameter)
                    .collect();
                if program.globals.iter().any(|ty| matches!(ty, Ty::Symbolic(_))) {
                    bounds.push(Bound::Symbolic);
                }
                bounds.extend([2, 3, 1].map(Bound::Known));
                let bound = bounds[self.tape.below(bounds.len())].clone();
                let variable = self.names.next_variable;
                self.names.next_variable += 1;
                self.names.loops.push((variable, bound.clone()));
                let body = self.block(depth - 1);
                self.names.loops.pop();
                Some(Stmt::For { variable, bound, body })
            }
            8 | 9 if !program.functions.is_empty() => {
                let function = self.tape.below(program.functions.len());
                let arguments = self.arguments(&program.functions[function].parameters)?;
                let unordered = self.tape.one_in(12);
                Some(Stmt::Call { function, arguments, unordered })
            }
            10 if !program.events.is_empty() => {
                let event = self.tape.below(program.events.len());
                let last = self.last.take();
                let arguments = self.arguments(&program.events[event].parameters);
                self.last = last;
                Some(Stmt::Make { event, arguments: arguments? })
            }
            11 if self.names.function && depth < 2 => Some(Stmt::Return),
            _ => self.access(),
        }
    }

    fn block(&mut self, depth: usize) -> Vec<Stmt> {
        let mut statements = Vec::new();
        for _ in 0..1 + self.tape.below(3) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            let Some(statement) = self.statement(depth) else { continue };
            let returns = matches!(statement, Stmt::Return);
            statements.push(statement);
            if returns {
                break;
            }
        }
        statements
    }
}

fn body(
    tape: &mut Choices,
    program: &Program,
    parameters: &[Ty],
    module: Option<usize>,
    function: bool,
) -> Vec<Stmt> {
    // Bodies with parameters mostly name only those: others ask for much of their callers.
    let globals = parameters.is_empty() || tape.one_in(5);
    let names = Names {
        program,
        parameters,
        module,
        loops: Vec::new(),
        next_variable: 0,
        function,
        globals,
    };
    let mut body = Body { tape, names, last: None, budget: 9 };
    let mut statements = body.block(2);
    statements.extend(body.block(2));
    statements
}

/// The program on a tape.
pub fn generate(numbers: &[u16]) -> Program {
    let tape = &mut Choices::from_tape(numbers.iter().copied());
    let mut program = Program::default();
    for _ in 0..tape.below(3) {
        let record = record(tape, &program);
        program.records.push(record);
    }
    let plain = program.records.len();
    for _ in 0..tape.below(2) {
        program.modules.push(program.records.len());
        let record = record(tape, &program);
        program.records.push(record);
    }
    for _ in 0..2 + tape.below(5) {
        let ty = match tape.below(8) {
            3 => Ty::Counter,
            4 => Ty::Table,
            5 if plain > 0 => Ty::Record(tape.below(plain)),
            6 => vector(tape, plain),
            7 if !program.modules.is_empty() => Ty::Opaque(0),
            _ => Ty::Array,
        };
        program.globals.push(ty);
    }
    let modules = program.modules.len();
    let parameters = |tape: &mut Choices, sized: bool| -> Vec<Ty> {
        let count = 1 + tape.below(3);
        let parameter = |tape: &mut Choices| match tape.below(7) {
            1 if plain > 0 => Ty::Record(tape.below(plain)),
            2 if sized => Ty::Sized(Box::new(Ty::Array)),
            3 if sized && plain > 0 => Ty::Sized(Box::new(Ty::Record(tape.below(plain)))),
            4 => Ty::Counter,
            5 if modules > 0 => Ty::Opaque(0),
            _ => Ty::Array,
        };
        (0..count).map(|_| parameter(tape)).collect()
    };
    for _ in 0..tape.below(3) {
        let parameters = parameters(tape, false);
        let declared = (parameters.len() > 1 && !tape.one_in(3)).then_some((0, 1));
        program.events.push(Event { parameters, declared, body: Vec::new() });
    }
    for module in 0..program.modules.len() {
        for _ in 0..1 + tape.below(2) {
            let parameters = vec![Ty::Opaque(module); 1 + tape.below(2)];
            // A module knows nothing of what is declared behind it.
            let inside = Program { globals: Vec::new(), ..program.clone() };
            let own = |function: &Function| function.module.is_some();
            let inside = Program {
                functions: program.functions.iter().filter(|each| own(each)).cloned().collect(),
                events: Vec::new(),
                ..inside
            };
            let statements = body(tape, &inside, &parameters, Some(module), true);
            let interface = interface(tape, parameters.len());
            program.functions.push(Function {
                parameters,
                declared: None,
                declared_end: None,
                module: Some((module, interface)),
                body: statements,
            });
        }
    }
    for _ in 0..tape.below(4) {
        let parameters = parameters(tape, true);
        let declared = (parameters.len() > 1 && tape.one_in(6)).then_some((0, 1));
        let statements = body(tape, &program, &parameters, None, true);
        let declared_end = tape.one_in(10).then(|| parameters.len() - 1);
        program.functions.push(Function {
            parameters,
            declared,
            declared_end,
            module: None,
            body: statements,
        });
    }
    for event in 0..program.events.len() {
        let parameters = program.events[event].parameters.clone();
        program.events[event].body = body(tape, &program, &parameters, None, false);
    }
    for _ in 0..1 + tape.below(3) {
        let statements = body(tape, &program, &[], None, false);
        program.handlers.push(statements);
    }
    program
}

fn vector(tape: &mut Choices, records: usize) -> Ty {
    let element = Box::new(if records > 0 && tape.one_in(3) {
        Ty::Record(tape.below(records))
    } else {
        Ty::Array
    });
    match tape.below(5) {
        3 => Ty::Vector(element, 1),
        4 => Ty::Symbolic(element),
        two_or_three => Ty::Vector(element, 2 + two_or_three % 2),
    }
}

fn record(tape: &mut Choices, program: &Program) -> Vec<Option<Ty>> {
    let mut fields: Vec<Option<Ty>> = vec![Some(Ty::Array)];
    for _ in 0..tape.below(4) {
        fields.push(match tape.below(6) {
            1 => None,
            2 => Some(Ty::Counter),
            3 => Some(Ty::Vector(Box::new(Ty::Array), 2)),
            4 if !program.records.is_empty() => Some(Ty::Record(tape.below(program.records.len()))),
            5 => Some(Ty::Table),
            _ => Some(Ty::Array),
        });
    }
    fields
}

fn interface(tape: &mut Choices, parameters: usize) -> Interface {
    let all = Interface {
        written: true,
        start: Some(0),
        ordered: (parameters > 1).then_some((0, 1)),
        end: Some(parameters - 1),
    };
    match tape.below(8) {
        4 if parameters == 1 => Interface { written: false, ..all },
        5 => Interface { start: None, ..all },
        6 => Interface { ordered: None, ..all },
        7 => Interface { end: None, ..all },
        _ => all,
    }
}

/// The places that something handed over for a parameter may have.
pub fn candidates(program: &Program, parameter: &Ty) -> Vec<Vec<usize>> {
    let names = Names {
        program,
        parameters: &[],
        module: None,
        loops: Vec::new(),
        next_variable: 0,
        function: false,
        globals: true,
    };
    let place = |path: &Path| {
        let mut place = match path.base {
            Base::Global(at) | Base::Parameter(at) => vec![at],
        };
        place.extend(path.steps.iter().map(|step| match step {
            Step::Field(at) | Step::At(at) | Step::Loop(at) => *at,
        }));
        place
    };
    let all = names.all();
    all.iter().filter(|(_, ty)| fits(ty, parameter)).map(|(path, _)| place(path)).collect()
}
