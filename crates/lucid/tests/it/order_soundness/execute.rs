// SPDX-License-Identifier: Apache-2.0
//! All executions of a model program, by sets of states: what has been passed so far, on any path. It
//! shares nothing with the order check. Two readings: `exact` is what happens; `careful` takes the
//! cases in which the check is documented as conservative as happening (see `lucid::order`).

use super::model::{Base, Bound, Path, Program, Step, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// A global or a part of it by numbers: the global, then fields and elements. In abstract runs a
/// parameter is a number from `PARAMETER` up.
pub type Place = Vec<usize>;

/// Behind all parts of what comes before it.
const WHOLE: usize = usize::MAX;

/// Places of parameters without constraints.
pub const PARAMETER: usize = 1000;

/// The latest place passed, for each thing whose order to the others is unknown: all globals
/// together, and each parameter.
type State = BTreeMap<usize, Place>;

type States = BTreeSet<State>;

/// An event value made, with its globals.
pub type Instance = (usize, Vec<Place>);

/// What a run is for.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub careful: bool,
    /// The symbolic size.
    pub symbolic: usize,
    /// Length of parameters of any length in abstract runs.
    pub abstract_length: usize,
    /// Parameters known to be in order: of a handler, by its event.
    pub declared: Option<(usize, usize)>,
    /// Whether unknown orders between parameters and others are violations.
    pub closed: bool,
}

/// One run over all paths.
pub struct Run<'p> {
    program: &'p Program,
    reading: Reading,
    pub violated: bool,
    pub made: BTreeSet<Instance>,
}

struct Frame<'f> {
    parameters: &'f [Ty],
    arguments: &'f [Place],
    /// Lengths of arguments that are vectors.
    lengths: Vec<usize>,
    loops: BTreeMap<usize, usize>,
    module: Option<usize>,
}

/// Where control can be after statements.
#[derive(Default)]
struct Ends {
    on: States,
    returned: States,
}

fn class(place: &Place) -> usize {
    if place[0] >= PARAMETER { place[0] } else { 0 }
}

/// Whether all of one place is before all of another.
fn before(one: &Place, two: &Place) -> bool {
    one < two && !two.starts_with(one) && !one.starts_with(two)
}

/// The state behind a place, if it is not behind it already.
fn passes(mut state: State, place: &Place) -> State {
    let latest = state.entry(class(place)).or_insert_with(|| place.clone());
    if *latest < *place {
        latest.clone_from(place);
    }
    state
}

impl<'p> Run<'p> {
    pub fn new(program: &'p Program, reading: Reading) -> Run<'p> {
        Run { program, reading, violated: false, made: BTreeSet::new() }
    }

    /// Runs a body from its start.
    pub fn body(
        &mut self,
        body: &[Stmt],
        parameters: &[Ty],
        arguments: &[Place],
        module: Option<usize>,
    ) -> BTreeSet<Place> {
        let lengths = self.lengths(parameters, arguments);
        let frame = Frame { parameters, arguments, lengths, loops: BTreeMap::new(), module };
        let mut states = States::new();
        states.insert(State::new());
        let ends = self.block(body, frame, states);
        let mut last = BTreeSet::new();
        for state in ends.on.into_iter().chain(ends.returned) {
            last.extend(state.into_values());
        }
        last
    }

    fn lengths(&self, parameters: &[Ty], arguments: &[Place]) -> Vec<usize> {
        let length = |(ty, place): (&Ty, &Place)| match ty {
            Ty::Sized(_) => self.length(place),
            _ => 0,
        };
        parameters.iter().zip(arguments).map(length).collect()
    }

    /// How many elements the vector at a place has.
    fn length(&self, place: &Place) -> usize {
        if place[0] >= PARAMETER {
            return self.reading.abstract_length;
        }
        let mut ty = &self.program.globals[place[0]];
        for step in &place[1..] {
            ty = match ty {
                Ty::Record(record) => match &self.program.records[*record][*step] {
                    Some(ty) => ty,
                    None => return 0,
                },
                Ty::Opaque(module) => {
                    match &self.program.records[self.program.modules[*module]][*step] {
                        Some(ty) => ty,
                        None => return 0,
                    }
                }
                Ty::Vector(ty, _) | Ty::Sized(ty) | Ty::Symbolic(ty) => ty,
                Ty::Array | Ty::Counter | Ty::Table => return 0,
            };
        }
        match ty {
            Ty::Vector(_, length) => *length,
            Ty::Symbolic(_) => self.reading.symbolic,
            _ => 0,
        }
    }

    fn place(&self, path: &Path, frame: &Frame<'_>) -> Place {
        let mut place = match path.base {
            Base::Global(at) => vec![at],
            Base::Parameter(at) => frame.arguments[at].clone(),
        };
        place.extend(path.steps.iter().map(|step| match step {
            Step::Field(at) | Step::At(at) => *at,
            Step::Loop(variable) => frame.loops[variable],
        }));
        place
    }

    fn block(&mut self, body: &[Stmt], mut frame: Frame<'_>, states: States) -> Ends {
        let mut ends = Ends { on: states, returned: States::new() };
        self.statements(body, &mut frame, &mut ends);
        ends
    }

    fn statements(&mut self, body: &[Stmt], frame: &mut Frame<'_>, ends: &mut Ends) {
        for statement in body {
            if ends.on.is_empty() {
                return;
            }
            self.statement(statement, frame, ends);
        }
    }

    /// One access on all paths.
    fn access(&mut self, place: &Place, states: States) -> States {
        let mut after = States::new();
        for state in states {
            self.comes_in_time(place, &state);
            after.insert(passes(state, place));
        }
        after
    }

    fn comes_in_time(&mut self, place: &Place, state: &State) {
        for (own, latest) in state {
            if *own == class(place) {
                self.violated |= !before(latest, place);
            } else if self.reading.closed {
                let known = self.reading.declared.map(|(p, q)| (PARAMETER + p, PARAMETER + q));
                self.violated |= known != Some((*own, class(place)));
            }
        }
    }

    /// Whether one place is known to be before another.
    fn known_before(&self, one: &Place, two: &Place) -> bool {
        if class(one) == class(two) {
            return before(one, two);
        }
        let known = self.reading.declared.map(|(p, q)| (PARAMETER + p, PARAMETER + q));
        !self.reading.closed || known == Some((class(one), class(two)))
    }

    fn statement(&mut self, statement: &Stmt, frame: &mut Frame<'_>, ends: &mut Ends) {
        match statement {
            Stmt::Access(list) => {
                for (path, ..) in list {
                    let place = self.place(path, frame);
                    ends.on = self.access(&place, std::mem::take(&mut ends.on));
                }
            }
            Stmt::If(then, otherwise) => {
                let before = ends.on.clone();
                self.statements(then, frame, ends);
                let mut other = Ends { on: before, returned: States::new() };
                self.statements(otherwise.as_deref().unwrap_or_default(), frame, &mut other);
                ends.on.extend(other.on);
                ends.returned.extend(other.returned);
            }
            Stmt::Match(branches, wildcard) => {
                let before = std::mem::take(&mut ends.on);
                for branch in branches {
                    let mut own = Ends { on: before.clone(), returned: States::new() };
                    self.statements(branch, frame, &mut own);
                    ends.on.extend(own.on);
                    ends.returned.extend(own.returned);
                }
                if !wildcard {
                    ends.on.extend(before);
                }
            }
            Stmt::For { variable, bound, body } => self.repeat(*variable, bound, body, frame, ends),
            Stmt::Call { function, arguments, unordered } => {
                self.call(*function, arguments, *unordered, frame, ends);
            }
            Stmt::Make { event, arguments } => self.make(*event, arguments, frame),
            Stmt::Return => {
                let on = std::mem::take(&mut ends.on);
                ends.returned.extend(on);
            }
        }
    }

    fn make(&mut self, event: usize, arguments: &[Path], frame: &Frame<'_>) {
        let arguments: Vec<Place> = arguments.iter().map(|path| self.place(path, frame)).collect();
        let declared = self.program.events[event].declared.filter(|_| self.reading.careful);
        if let Some((p, q)) = declared {
            self.violated |= !self.known_before(&arguments[p], &arguments[q]);
        }
        self.made.insert((event, arguments));
    }

    fn repeat(
        &mut self,
        variable: usize,
        bound: &Bound,
        body: &[Stmt],
        frame: &mut Frame<'_>,
        ends: &mut Ends,
    ) {
        let mut rounds = match bound {
            Bound::Known(count) => *count,
            Bound::Parameter(at) => frame.lengths[*at],
            Bound::Symbolic => self.reading.symbolic,
        };
        let variable_bound = !matches!(bound, Bound::Known(_));
        if variable_bound && self.reading.careful {
            rounds = rounds.max(2);
        }
        let none = ends.on.clone();
        for round in 0..rounds {
            frame.loops.insert(variable, round);
            self.statements(body, frame, ends);
        }
        frame.loops.remove(&variable);
        if variable_bound && self.reading.careful {
            // All of the vectors that the loop walks through have been passed.
            let mut vectors = Vec::new();
            walked(body, variable, &mut vectors);
            let walked: Vec<Place> = vectors
                .iter()
                .filter(|path| {
                    let known = |step: &Step| match step {
                        Step::Loop(own) => frame.loops.contains_key(own),
                        _ => true,
                    };
                    path.steps.iter().all(known)
                })
                .map(|path| self.place(path, frame))
                .collect();
            let whole = |states: &States| -> States {
                let each = states.iter().map(|state| {
                    let latest = |place: &Place| {
                        let vector = walked.iter().find(|vector| place.starts_with(vector));
                        vector.map_or_else(
                            || place.clone(),
                            |vector| [vector.as_slice(), &[WHOLE]].concat(),
                        )
                    };
                    state.iter().map(|(class, place)| (*class, latest(place))).collect()
                });
                each.collect()
            };
            ends.on = whole(&ends.on);
            ends.returned = whole(&ends.returned);
            // It may run no round, too.
            ends.on.extend(none);
        }
    }

    fn call(
        &mut self,
        function: usize,
        arguments: &[Path],
        unordered: bool,
        frame: &Frame<'_>,
        ends: &mut Ends,
    ) {
        let callee = &self.program.functions[function];
        let places: Vec<Place> = arguments.iter().map(|path| self.place(path, frame)).collect();
        if self.reading.careful && !unordered {
            if let Some((p, q)) = callee.declared {
                self.violated |= !self.known_before(&places[p], &places[q]);
            }
            if let Some((module, _)) = &callee.module
                && frame.module != Some(*module)
            {
                self.opaque(function, &places, ends);
                return;
            }
        }
        let module = callee.module.as_ref().map(|(module, _)| *module);
        let callee_frame = |run: &Self| Frame {
            parameters: &callee.parameters,
            arguments: &places,
            lengths: run.inner_lengths(&callee.parameters, &places, arguments, frame),
            loops: BTreeMap::new(),
            module,
        };
        if unordered {
            // Accesses do not count, events do.
            let reading = Reading { careful: false, ..self.reading.clone() };
            let mut inner = Run::new(self.program, reading);
            let one = BTreeSet::from([State::new()]);
            inner.block(&callee.body, callee_frame(self), one);
            self.made.extend(inner.made.clone());
            if self.reading.careful {
                for (event, arguments) in inner.made {
                    if let Some((p, q)) = self.program.events[event].declared {
                        self.violated |= !self.known_before(&arguments[p], &arguments[q]);
                    }
                }
            }
            return;
        }
        let states = std::mem::take(&mut ends.on);
        let after = self.block(&callee.body, callee_frame(self), states);
        ends.on.extend(after.on);
        ends.on.extend(after.returned);
        if let Some(end) = callee.declared_end.filter(|_| self.reading.careful) {
            let end = [places[end].as_slice(), &[WHOLE]].concat();
            ends.on = std::mem::take(&mut ends.on).into_iter().map(|s| passes(s, &end)).collect();
        }
    }

    /// Lengths of vectors handed over; a parameter of any length hands its own on.
    fn inner_lengths(
        &self,
        parameters: &[Ty],
        places: &[Place],
        paths: &[Path],
        frame: &Frame<'_>,
    ) -> Vec<usize> {
        let length = |at: usize| match (&parameters[at], &paths[at]) {
            (Ty::Sized(_), Path { base: Base::Parameter(own), steps })
                if steps.is_empty() && matches!(frame.parameters[*own], Ty::Sized(_)) =>
            {
                frame.lengths[*own]
            }
            (Ty::Sized(_), _) => self.length(&places[at]),
            _ => 0,
        };
        (0..parameters.len()).map(length).collect()
    }

    /// A call as the interface declares it.
    fn opaque(&mut self, function: usize, places: &[Place], ends: &mut Ends) {
        let callee = &self.program.functions[function];
        let Some((_, interface)) = &callee.module else { return };
        let mut interface = interface.clone();
        if !interface.written && places.len() == 1 {
            interface.start = Some(0);
            interface.end = Some(0);
        }
        if let Some((p, q)) = interface.ordered {
            self.violated |= !self.known_before(&places[p], &places[q]);
        }
        let states = std::mem::take(&mut ends.on);
        for mut state in states {
            if let Some(start) = interface.start {
                self.comes_in_time(&places[start], &state);
            }
            if let Some(end) = interface.end {
                let end = [places[end].as_slice(), &[WHOLE]].concat();
                state = passes(state, &end);
            }
            ends.on.insert(state);
        }
    }
}

/// The vectors that a body indexes by a loop's variable.
fn walked(body: &[Stmt], variable: usize, vectors: &mut Vec<Path>) {
    for statement in body {
        let paths: Vec<&Path> = match statement {
            Stmt::Access(list) => list.iter().map(|(path, ..)| path).collect(),
            Stmt::Call { arguments, .. } => arguments.iter().collect(),
            Stmt::Make { .. } | Stmt::Return => Vec::new(),
            Stmt::If(then, otherwise) => {
                walked(then, variable, vectors);
                walked(otherwise.as_deref().unwrap_or_default(), variable, vectors);
                Vec::new()
            }
            Stmt::Match(branches, _) => {
                branches.iter().for_each(|branch| walked(branch, variable, vectors));
                Vec::new()
            }
            Stmt::For { body, .. } => {
                walked(body, variable, vectors);
                Vec::new()
            }
        };
        for path in paths {
            if let Some(at) = path.steps.iter().position(|step| *step == Step::Loop(variable)) {
                vectors.push(Path { base: path.base, steps: path.steps[..at].to_vec() });
            }
        }
    }
}

/// Which parameters a module's function can access first, and which last.
pub fn firsts(program: &Program, function: usize) -> BTreeSet<usize> {
    let mut firsts = BTreeSet::new();
    sequences(program, function, &mut firsts, &mut BTreeSet::new());
    firsts
}

/// See [`firsts`].
pub fn lasts(program: &Program, function: usize) -> BTreeSet<usize> {
    let mut lasts = BTreeSet::new();
    sequences(program, function, &mut BTreeSet::new(), &mut lasts);
    lasts
}

fn sequences(
    program: &Program,
    function: usize,
    firsts: &mut BTreeSet<usize>,
    lasts: &mut BTreeSet<usize>,
) {
    // The last parameter on each path so far.
    type Last = BTreeSet<Option<usize>>;
    fn walk(
        program: &Program,
        body: &[Stmt],
        arguments: &[usize],
        mut on: Last,
        firsts: &mut BTreeSet<usize>,
    ) -> (Last, Last) {
        let base = |path: &Path| match path.base {
            Base::Parameter(at) => arguments[at],
            Base::Global(at) => at,
        };
        let mut returned = Last::new();
        for statement in body {
            if on.is_empty() {
                break;
            }
            match statement {
                Stmt::Access(list) => {
                    if on.contains(&None) {
                        firsts.insert(base(&list[0].0));
                    }
                    let last = list.last().map(|(path, ..)| base(path));
                    on = BTreeSet::from([last]);
                }
                Stmt::If(then, otherwise) => {
                    let otherwise = otherwise.as_deref().unwrap_or_default();
                    let (one, left) = walk(program, then, arguments, on.clone(), firsts);
                    let (two, gone) = walk(program, otherwise, arguments, on, firsts);
                    on = one.into_iter().chain(two).collect();
                    returned.extend(left.into_iter().chain(gone));
                }
                Stmt::Match(branches, wildcard) => {
                    let mut after = if *wildcard { Last::new() } else { on.clone() };
                    for branch in branches {
                        let (own, left) = walk(program, branch, arguments, on.clone(), firsts);
                        after.extend(own);
                        returned.extend(left);
                    }
                    on = after;
                }
                Stmt::For { bound, body, .. } => {
                    let rounds = match bound {
                        Bound::Known(count) => *count,
                        _ => 2,
                    };
                    for _ in 0..rounds {
                        let (own, left) = walk(program, body, arguments, on, firsts);
                        on = own;
                        returned.extend(left);
                    }
                }
                Stmt::Call { function, arguments: paths, unordered: false } => {
                    let callee = &program.functions[*function];
                    let inner: Vec<usize> = paths.iter().map(base).collect();
                    let (own, left) = walk(program, &callee.body, &inner, on, firsts);
                    on = own.into_iter().chain(left).collect();
                }
                Stmt::Call { .. } | Stmt::Make { .. } => {}
                Stmt::Return => returned.extend(std::mem::take(&mut on)),
            }
        }
        (on, returned)
    }
    let callee = &program.functions[function];
    let arguments: Vec<usize> = (0..callee.parameters.len()).collect();
    let start = BTreeSet::from([None]);
    let (on, returned) = walk(program, &callee.body, &arguments, start, firsts);
    lasts.extend(on.into_iter().chain(returned).flatten());
}
