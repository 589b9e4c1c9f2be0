// SPDX-License-Identifier: Apache-2.0
//! Index of the declarations: by binder, with full names in the order of the text, and the locals that some
//! statement assigns. It evaluates nothing.

use crate::check::{CheckedProgram, Definition};
use crate::syntax::ast::{
    Block, Declaration, DeclarationKind, EventSort, Expression, ExpressionKind, HandlerSort,
    NodeId, Parameter, ParserActionKind, ParserBlock, ParserStep, Path, Program, Statement,
    StatementKind,
};
use source::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A function.
#[derive(Clone, Copy)]
pub(super) struct Function<'a> {
    pub name: &'a str,
    pub parameters: &'a [Parameter],
    pub body: &'a Block,
}

/// A constructor of a user type.
#[derive(Clone, Copy)]
pub(super) struct Constructor<'a> {
    pub parameters: &'a [Parameter],
    pub value: &'a Expression,
}

/// An event as declared.
#[derive(Clone, Copy)]
pub(super) struct EventDeclaration<'a> {
    pub id: NodeId,
    pub sort: EventSort,
    pub wire_number: Option<(u128, Span)>,
    pub parameters: &'a [Parameter],
    pub span: Span,
}

/// A handler; of an event with a body, that body.
#[derive(Clone, Copy)]
pub(super) struct Handler<'a> {
    pub sort: HandlerSort,
    /// The use of the event's name; `None` if the event was declared with this body.
    pub event: Option<&'a Path>,
    pub parameters: &'a [Parameter],
    pub body: &'a Block,
}

/// An action.
#[derive(Clone, Copy)]
pub(super) struct ActionDeclaration<'a> {
    pub span: Span,
    pub install_parameters: &'a [Parameter],
    pub match_parameters: &'a [Parameter],
    pub body: &'a Block,
}

/// A memop.
#[derive(Clone, Copy)]
pub(super) struct MemopDeclaration<'a> {
    pub span: Span,
    pub parameters: &'a [Parameter],
}

/// A parser.
#[derive(Clone, Copy)]
pub(super) struct ParserDeclaration<'a> {
    pub span: Span,
    pub parameters: &'a [Parameter],
    pub body: &'a ParserBlock,
}

/// How a statement may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paths {
    /// On how many paths what follows it runs (2 for more).
    pub falls: u8,
    /// Whether some path returns.
    pub returns: bool,
}

impl Paths {
    pub const THROUGH: Paths = Paths { falls: 1, returns: false };
}

/// All declarations.
#[derive(Default)]
pub(super) struct Index<'a> {
    /// Full names, with modules.
    pub names: HashMap<NodeId, Arc<str>>,
    /// Globals, constants and externs in order, by binder.
    pub values: Vec<NodeId>,
    pub constants: HashMap<NodeId, &'a Expression>,
    pub globals: HashMap<NodeId, &'a Expression>,
    pub externs: HashMap<NodeId, Span>,
    pub extern_functions: HashMap<NodeId, Span>,
    pub symbolics: Vec<(NodeId, Span)>,
    pub symbolic_sizes: Vec<(NodeId, Span)>,
    pub functions: HashMap<NodeId, Function<'a>>,
    pub constructors: HashMap<NodeId, Constructor<'a>>,
    pub memops: HashMap<NodeId, MemopDeclaration<'a>>,
    pub actions: HashMap<NodeId, ActionDeclaration<'a>>,
    pub events: Vec<EventDeclaration<'a>>,
    pub event_places: HashMap<NodeId, usize>,
    /// By the event's binder.
    pub handlers: HashMap<NodeId, Vec<Handler<'a>>>,
    pub parsers: Vec<(NodeId, ParserDeclaration<'a>)>,
    /// Conditions of module aliases.
    pub aliases: HashMap<NodeId, &'a Expression>,
    /// Locals and parameters that some statement assigns to.
    pub assigned: HashSet<NodeId>,
    /// Paths of statements other than plain steps.
    paths: HashMap<NodeId, Paths>,
}

impl<'a> Index<'a> {
    pub fn new(checked: &'a CheckedProgram) -> Index<'a> {
        let tree: &'a Program = &checked.tree;
        let mut index = Index::default();
        index.declarations(checked, &tree.declarations, "");
        index
    }

    /// How a statement may end.
    pub fn paths(&self, statement: &Statement) -> Paths {
        self.paths.get(&statement.id).copied().unwrap_or(Paths::THROUGH)
    }

    fn declarations(
        &mut self,
        checked: &'a CheckedProgram,
        declarations: &'a [Declaration],
        module: &str,
    ) {
        for declaration in declarations {
            stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
                self.declaration(checked, declaration, module);
            });
        }
    }

    fn declaration(
        &mut self,
        checked: &'a CheckedProgram,
        declaration: &'a Declaration,
        module: &str,
    ) {
        let span = declaration.span;
        let name = match &declaration.kind {
            DeclarationKind::Size { name, .. }
            | DeclarationKind::Constant { name, .. }
            | DeclarationKind::Symbolic { name, .. }
            | DeclarationKind::Extern { name, .. }
            | DeclarationKind::ExternFunction { name, .. }
            | DeclarationKind::Global { name, .. }
            | DeclarationKind::Event { name, .. }
            | DeclarationKind::Function { name, .. }
            | DeclarationKind::Memop { name, .. }
            | DeclarationKind::UserType { name, .. }
            | DeclarationKind::Constructor { name, .. }
            | DeclarationKind::Module { name, .. }
            | DeclarationKind::ModuleAlias { name, .. }
            | DeclarationKind::Action { name, .. }
            | DeclarationKind::Parser { name, .. } => Some(name),
            DeclarationKind::Handler { .. } => None,
        };
        let full_name = match name {
            Some(name) if module.is_empty() => name.name.clone(),
            Some(name) => format!("{module}.{}", name.name).into(),
            None => "".into(),
        };
        if let Some(name) = name {
            self.names.insert(name.id, full_name.clone());
        }
        match &declaration.kind {
            DeclarationKind::Size { name, value: None } => {
                self.symbolic_sizes.push((name.id, name.span));
            }
            DeclarationKind::Size { .. } | DeclarationKind::UserType { .. } => {}
            DeclarationKind::Constant { name, value, .. } => {
                self.values.push(name.id);
                self.constants.insert(name.id, value);
            }
            DeclarationKind::Symbolic { name, .. } => self.symbolics.push((name.id, name.span)),
            DeclarationKind::Extern { name, .. } => {
                self.values.push(name.id);
                self.externs.insert(name.id, name.span);
            }
            DeclarationKind::ExternFunction { name, .. } => {
                self.extern_functions.insert(name.id, span);
            }
            DeclarationKind::Global { name, value, .. } => {
                self.values.push(name.id);
                self.globals.insert(name.id, value);
            }
            DeclarationKind::Event { name, sort, wire_number, parameters, body, .. } => {
                self.event_places.insert(name.id, self.events.len());
                let (sort, wire_number) = (*sort, *wire_number);
                self.events.push(EventDeclaration {
                    id: name.id,
                    sort,
                    wire_number,
                    parameters,
                    span,
                });
                if let Some(body) = body {
                    let sort = HandlerSort::Ingress;
                    let handler = Handler { sort, event: None, parameters, body };
                    self.handlers.entry(name.id).or_default().push(handler);
                    self.block(checked, body);
                }
            }
            DeclarationKind::Handler { event, sort, parameters, body } => {
                let handler = Handler { sort: *sort, event: Some(event), parameters, body };
                if let Some(Definition::Event(id)) = checked.definitions.get(&event.id) {
                    self.handlers.entry(*id).or_default().push(handler);
                }
                self.block(checked, body);
            }
            DeclarationKind::Function { name, parameters, body, .. } => {
                let function = Function { name: &name.name, parameters, body };
                self.functions.insert(name.id, function);
                self.block(checked, body);
            }
            DeclarationKind::Memop { name, parameters, .. } => {
                self.memops.insert(name.id, MemopDeclaration { span, parameters });
            }
            DeclarationKind::Constructor { name, parameters, value, .. } => {
                let constructor = Constructor { parameters, value };
                self.constructors.insert(name.id, constructor);
            }
            DeclarationKind::Module { declarations, .. } => {
                self.declarations(checked, declarations, &full_name);
            }
            DeclarationKind::ModuleAlias { name, condition, .. } => {
                self.aliases.insert(name.id, condition);
            }
            DeclarationKind::Action {
                name, install_parameters, match_parameters, body, ..
            } => {
                let action = ActionDeclaration { span, install_parameters, match_parameters, body };
                self.actions.insert(name.id, action);
                self.block(checked, body);
            }
            DeclarationKind::Parser { name, parameters, body } => {
                self.parsers.push((name.id, ParserDeclaration { span, parameters, body }));
                self.parser_block(checked, body);
            }
        }
    }

    fn assigned(&mut self, checked: &CheckedProgram, target: &Path) {
        if let Some(Definition::Local(id)) = checked.definitions.get(&target.id) {
            self.assigned.insert(*id);
        }
    }

    /// How a block may end; records it for its statements.
    fn block(&mut self, checked: &CheckedProgram, block: &Block) -> Paths {
        let mut all = Paths::THROUGH;
        for statement in &block.statements {
            let paths =
                stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.statement(checked, statement));
            if paths != Paths::THROUGH {
                self.paths.insert(statement.id, paths);
            }
            // What follows a statement that falls through on two paths is one piece under a
            // condition, so a block has one place for what follows it.
            all.returns |= paths.returns;
            all.falls = all.falls.min(paths.falls);
        }
        all
    }

    fn statement(&mut self, checked: &CheckedProgram, statement: &Statement) -> Paths {
        match &statement.kind {
            StatementKind::Assign { target, .. } => {
                self.assigned(checked, target);
                Paths::THROUGH
            }
            StatementKind::Return(_) => Paths { falls: 0, returns: true },
            StatementKind::If { then, otherwise, .. } => {
                let then = self.block(checked, then);
                let otherwise = match otherwise {
                    Some(otherwise) => self.block(checked, otherwise),
                    None => Paths::THROUGH,
                };
                either(then, otherwise)
            }
            StatementKind::Match { branches, .. } => {
                let mut all = Paths { falls: 0, returns: false };
                let mut open = true;
                for branch in branches {
                    all = either(all, self.block(checked, &branch.body));
                    open &= !branch.patterns.iter().all(super::matches::is_wildcard);
                }
                if open { either(all, Paths::THROUGH) } else { all }
            }
            StatementKind::For { body, .. } => {
                // How often the body runs is not known here.
                let body = self.block(checked, body);
                if body.returns { Paths { falls: 2, returns: true } } else { Paths::THROUGH }
            }
            StatementKind::Skip
            | StatementKind::Local { .. }
            | StatementKind::Call(_)
            | StatementKind::Print { .. }
            | StatementKind::Generate { .. }
            | StatementKind::TableInstall { .. } => Paths::THROUGH,
        }
    }

    fn parser_block(&mut self, checked: &CheckedProgram, block: &ParserBlock) {
        for action in &block.actions {
            if let ParserActionKind::Assign { target, .. } = &action.kind {
                let mut target = target;
                while let ExpressionKind::Field { record, .. }
                | ExpressionKind::Index { vector: record, .. } = &target.kind
                {
                    target = record;
                }
                if let ExpressionKind::Name(path) = &target.kind {
                    self.assigned(checked, path);
                }
            }
        }
        if let ParserStep::Match { branches, .. } = &block.step {
            for branch in branches {
                stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
                    self.parser_block(checked, &branch.body);
                });
            }
        }
    }
}

fn either(one: Paths, other: Paths) -> Paths {
    Paths { falls: (one.falls + other.falls).min(2), returns: one.returns | other.returns }
}
