// SPDX-License-Identifier: Apache-2.0
//! The state of the declaration that is checked: its locals, loops and written variables, and the checks
//! deferred to its end, after unification: widths of literals, bounds of slices and indices, and the
//! variables that stay because the declaration is polymorphic.

use super::Checker;
use super::checked::{Instantiation, Signature, Size, SizeTerm, Type, Variable};
use super::codes;
use super::locals::Locals;
use super::scopes::Namespace;
use super::signed::SignedComparison;
use super::variables::Equation;
use crate::syntax::ast::{Binder, NodeId, Segment};
use source::{Diagnostic, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Width in bits of integers without a known width.
pub(super) const DEFAULT_WIDTH: u128 = 32;

/// The kind of the declaration that is checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Frame {
    /// Constants, sizes, events.
    #[default]
    Value,
    /// The value of a global.
    Global,
    /// The body of a constructor.
    Constructor,
    Handler,
    /// With the type it returns and where that is written.
    Function(Type, Span),
    /// With the number of its arguments and the width of its cells.
    Memop(usize, Size),
    /// With the type it returns and where that is written.
    Action(Type, Span),
    Parser,
}

/// State of the check of one declaration.
#[derive(Default)]
pub(super) struct Body {
    pub frame: Frame,
    /// Names in scope, latest last.
    pub locals: Locals,
    /// Loop variables in scope, latest last.
    pub loops: Vec<(Arc<str>, NodeId)>,
    /// `'a` as a size.
    pub written_sizes: HashMap<Arc<str>, Variable>,
    /// `'a` as a type.
    pub written_types: HashMap<Arc<str>, Variable>,
    /// Whether a `'a` that was not seen before is an error, because all must be declared.
    pub closed: bool,
    /// The event whose own body is being checked, and where that names it.
    pub own_event: Option<NodeId>,
    pub own_uses: Vec<NodeId>,
    /// Undeclared names that were already reported.
    pub reported: HashSet<(Namespace, Arc<str>)>,
    pub equations: Vec<Equation>,
    pub later: Vec<DeferredCheck>,
    /// Types to resolve at the end, besides those of the checks above.
    pub typed: Vec<NodeId>,
    pub instantiated: Vec<NodeId>,
    pub bounds: Vec<NodeId>,
    pub sized: Vec<NodeId>,
    pub written: Vec<NodeId>,
    pub skipped: Vec<NodeId>,
}

/// A check for when the declaration's types are known.
pub(super) enum DeferredCheck {
    /// A literal fits its width.
    Literal { value: u128, width: Size, span: Span },
    /// A pattern can match; only a warning, as a pattern that cannot is harmless.
    Pattern { value: u128, width: Size, span: Span },
    /// The highest bit of a slice is there.
    Slice { high: Size, width: Size, span: Span },
    /// An index with the bounds of the loops around it is below the length.
    Index { index: Size, bounds: Vec<(NodeId, Size)>, length: Size, span: Span },
    /// A loop's bound must be known once the declaration's own variables are.
    Bound { bound: Size, span: Span },
    /// A local, parameter or result may not hold persistent state.
    NotGlobal { ty: Type, what: NotGlobal, span: Span },
    /// A global, or a constructor's result, must hold persistent state.
    Global { ty: Type, name: Segment },
    /// `==` and `!=` compare it.
    Comparable { ty: Type, span: Span },
    /// A comparison does not take integers for signed.
    Ordered { slip: SignedComparison, width: Size, span: Span },
    /// Its bits can be hashed.
    Hashable { ty: Type, span: Span },
    /// Its bits can be read from a packet.
    Readable { ty: Type, span: Span },
    /// It can be converted to an integer.
    Castable { ty: Type, span: Span },
    /// A value was made and dropped.
    Dropped { ty: Type, span: Span },
}

/// A construct that may not hold persistent state.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NotGlobal {
    Local(Arc<str>),
    Constant(Arc<str>),
    Extern(Arc<str>),
    Symbolic(Arc<str>),
    Result(Arc<str>),
    /// A record, vector or tuple built while the program runs.
    Built,
}

impl Checker {
    /// Starts a declaration.
    pub(super) fn begin(&mut self, frame: Frame) {
        self.body = Body { frame, ..Body::default() };
    }

    /// Records a binder with its type.
    pub(super) fn bind_name(&mut self, binder: &Binder, ty: Type) {
        self.name_binder(binder);
        self.out.types.insert(binder.id, ty);
        self.body.typed.push(binder.id);
    }

    /// Records where a binder is and how it is called.
    pub(super) fn name_binder(&mut self, binder: &Binder) {
        let segment = Segment { name: binder.name.clone(), span: binder.span };
        self.out.binders.insert(binder.id, segment);
    }

    /// Brings a local into scope.
    pub(super) fn local(&mut self, binder: &Binder, ty: Type) {
        self.bind_name(binder, ty);
        self.body.locals.push(binder.name.clone(), binder.id);
    }

    /// Ends a declaration: decides what is open and resolves all that was recorded. With signatures,
    /// these become polymorphic in the variables that are left in them.
    pub(super) fn finish(&mut self, mut signatures: Vec<(NodeId, Signature)>) {
        self.solve();
        let (mut types, mut sizes) = (Vec::new(), Vec::new());
        for (_, signature) in &mut signatures {
            for ty in signature.parameters.iter_mut().chain([&mut signature.result]) {
                *ty = self.variables.resolve(ty);
                self.variables.free(ty, &mut types, &mut sizes);
            }
        }
        self.generalize(&types, &sizes);
        let bounds: Vec<(Size, Span)> = self
            .body
            .later
            .iter()
            .filter_map(|later| match later {
                DeferredCheck::Bound { bound, span } => Some((bound.clone(), *span)),
                _ => None,
            })
            .collect();
        for (bound, span) in bounds {
            self.known_bound(&bound, span);
        }
        self.resolve_recorded();
        self.solve();
        for equation in std::mem::take(&mut self.body.equations) {
            let Equation { left, right, span } = equation;
            let left = self.out.show_size(&self.variables.resolve_size(&left));
            let right = self.out.show_size(&self.variables.resolve_size(&right));
            self.diagnostics.push(
                Diagnostic::error(
                    codes::NOT_DETERMINED,
                    span,
                    format!("the sizes {left} and {right} must be equal, which nothing makes sure"),
                )
                .help("write the widths out"),
            );
        }
        for later in std::mem::take(&mut self.body.later) {
            self.late_check(later);
        }
        let own_uses = std::mem::take(&mut self.body.own_uses);
        for (id, mut signature) in signatures {
            let mut variables = Vec::new();
            let (mut of_types, mut of_sizes) = (Vec::new(), Vec::new());
            for ty in signature.parameters.iter_mut().chain([&mut signature.result]) {
                *ty = self.variables.resolve(ty);
                self.variables.free(ty, &mut of_types, &mut of_sizes);
            }
            for path in &own_uses {
                // In its own body the variables stand for themselves.
                let mut own = Instantiation::default();
                own.sizes.extend(of_sizes.iter().map(|v| (*v, Size::term(SizeTerm::Variable(*v)))));
                own.types.extend(of_types.iter().map(|v| (*v, Type::Variable(*v))));
                if !of_sizes.is_empty() || !of_types.is_empty() {
                    self.out.instantiations.insert(*path, own);
                }
            }
            variables.extend(of_sizes);
            variables.extend(of_types);
            signature.variables = variables;
            self.out.signatures.insert(id, signature);
        }
        self.body = Body::default();
    }

    fn generalize(&mut self, types: &[Variable], sizes: &[Variable]) {
        let mut taken: Vec<Arc<str>> = Vec::new();
        for variable in sizes.iter().chain(types) {
            self.variables.make_rigid(*variable);
            let name = match self.variables.name(*variable) {
                Some(name) if !taken.contains(name) => name.clone(),
                _ => {
                    let letters = ('a'..='z').map(|letter| Arc::from(letter.to_string()));
                    let more = (1..).map(|number: u32| Arc::from(format!("a{number}")));
                    let mut names = letters.chain(more);
                    names.find(|name| !taken.contains(name)).unwrap_or_else(|| "a".into())
                }
            };
            taken.push(name.clone());
            self.out.variable_names.insert(*variable, name);
        }
    }

    /// Retries the equations that could not be solved before, as long as that helps.
    pub(super) fn solve(&mut self) {
        loop {
            let equations = std::mem::take(&mut self.body.equations);
            let before = equations.len();
            for Equation { left, right, span } in equations {
                self.at = span;
                if !self.unify_sizes(&left, &right) {
                    let (found, expected) = (Type::Int(left), Type::Int(right));
                    let diagnostic = self
                        .mismatch_diagnostic(span, &found, &expected, None)
                        .note("a literal without a width that nothing fixes has 32 bits")
                        .help("write the width of literals that are concatenated, as in `1w8`");
                    self.diagnostics.push(diagnostic);
                }
            }
            if self.body.equations.len() == before || self.body.equations.is_empty() {
                return;
            }
        }
    }

    /// A loop runs a number of times that the program or its symbolics say.
    fn known_bound(&mut self, bound: &Size, span: Span) {
        let resolved = self.variables.resolve_size(bound);
        let open = resolved.terms.iter().any(
            |term| matches!(term, SizeTerm::Variable(variable) if !self.variables.is_rigid(*variable)),
        );
        // What is no size has been reported at this place.
        let is_reported = self.diagnostics.iter().any(|known| known.primary.span == span);
        if open && !is_reported {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::NOT_DETERMINED,
                    span,
                    "the number of rounds of this loop is unknown",
                )
                .here(format!("`{}` has no known value", self.out.show_size(&resolved)))
                .help("use the loop variable as an index of a vector, or write a size"),
            );
        }
    }

    /// Resolves all that the declaration recorded; what is still open becomes 32 bits wide.
    fn resolve_recorded(&mut self) {
        for id in std::mem::take(&mut self.body.typed) {
            let Some(ty) = self.out.types.get(&id).cloned() else { continue };
            let resolved = self.settle(&ty, id);
            self.out.types.insert(id, resolved);
        }
        for id in std::mem::take(&mut self.body.skipped) {
            let Some(ty) = self.out.skipped_types.get(&id).cloned() else { continue };
            let resolved = self.settle(&ty, id);
            self.out.skipped_types.insert(id, resolved);
        }
        for id in std::mem::take(&mut self.body.bounds) {
            let Some(size) = self.out.loop_bounds.get(&id).cloned() else { continue };
            let resolved = self.settle_size(&size);
            self.out.loop_bounds.insert(id, resolved);
        }
        for id in std::mem::take(&mut self.body.written) {
            let Some(size) = self.out.sizes.get(&id).cloned() else { continue };
            let resolved = self.settle_size(&size);
            self.out.sizes.insert(id, resolved);
        }
        for id in std::mem::take(&mut self.body.sized) {
            let Some(sizes) = self.out.expression_sizes.remove(&id) else { continue };
            let resolved = sizes.iter().map(|size| self.settle_size(size)).collect();
            self.out.expression_sizes.insert(id, resolved);
        }
        for id in std::mem::take(&mut self.body.instantiated) {
            let Some(open) = self.out.instantiations.remove(&id) else { continue };
            let mut instantiation = Instantiation::default();
            for (variable, size) in &open.sizes {
                instantiation.sizes.insert(*variable, self.settle_size(size));
            }
            for (variable, ty) in &open.types {
                instantiation.types.insert(*variable, self.settle(ty, id));
            }
            self.out.instantiations.insert(id, instantiation);
        }
    }

    /// The type as it is after the declaration: sizes that nothing fixed are 32, types that nothing
    /// fixed are an error.
    fn settle(&mut self, ty: &Type, at: NodeId) -> Type {
        let resolved = self.variables.resolve(ty);
        let (mut types, mut sizes) = (Vec::new(), Vec::new());
        self.variables.free(&resolved, &mut types, &mut sizes);
        let mut changed = false;
        for variable in sizes {
            if !self.variables.is_rigid(variable) {
                self.variables.bind_size(variable, Size::constant(DEFAULT_WIDTH));
                changed = true;
            }
        }
        for variable in types {
            if !self.variables.is_rigid(variable) {
                if let Some(binder) = self.out.binders.get(&at).cloned() {
                    self.diagnostics.push(
                        Diagnostic::error(
                            codes::NOT_DETERMINED,
                            binder.span,
                            format!("the type of `{}` cannot be inferred", binder.name),
                        )
                        .help("write its type"),
                    );
                }
                self.variables.bind_type(variable, Type::Error);
                changed = true;
            }
        }
        if changed { self.variables.resolve(&resolved) } else { resolved }
    }

    fn settle_size(&mut self, size: &Size) -> Size {
        let resolved = self.variables.resolve_size(size);
        let mut changed = false;
        for term in &resolved.terms {
            if let SizeTerm::Variable(variable) = term
                && !self.variables.is_rigid(*variable)
            {
                self.variables.bind_size(*variable, Size::constant(DEFAULT_WIDTH));
                changed = true;
            }
        }
        if changed { self.variables.resolve_size(&resolved) } else { resolved }
    }
}
