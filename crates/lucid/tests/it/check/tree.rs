// SPDX-License-Identifier: Apache-2.0
//! All expressions and all paths of a tree that checking should say something about.

use lucid::syntax::ast::{
    Block, Constraint, Declaration, DeclarationKind, Expression, ExpressionKind, GenerateTarget,
    InterfaceItem, InterfaceItemKind, Parameter, ParserActionKind, ParserBlock, ParserStep, Path,
    Pattern, PatternKind, Program, Size, SizeKind, StatementKind, Type, TypeKind,
};

#[derive(Default)]
struct Walk<'a> {
    expressions: Vec<&'a Expression>,
    paths: Vec<&'a Path>,
}

/// All expressions.
pub fn expressions(program: &Program) -> Vec<&Expression> {
    walk(program).expressions
}

/// All paths with their texts, without those of built-in types and `start` in constraints.
pub fn paths(program: &Program) -> Vec<(&Path, String)> {
    let shown = |path: &Path| {
        path.segments.iter().map(|segment| &*segment.name).collect::<Vec<_>>().join(".")
    };
    walk(program).paths.into_iter().map(|path| (path, shown(path))).collect()
}

fn walk(program: &Program) -> Walk<'_> {
    let mut walk = Walk::default();
    walk.declarations(&program.declarations);
    walk
}

impl<'a> Walk<'a> {
    fn declarations(&mut self, declarations: &'a [Declaration]) {
        for declaration in declarations {
            self.declaration(&declaration.kind);
        }
    }

    fn declaration(&mut self, kind: &'a DeclarationKind) {
        match kind {
            DeclarationKind::Size { value, .. } => value.iter().for_each(|size| self.size(size)),
            DeclarationKind::Constant { ty, value, .. } => {
                self.ty(ty);
                self.expression(value);
            }
            DeclarationKind::Symbolic { ty, .. } | DeclarationKind::Extern { ty, .. } => {
                self.ty(ty);
            }
            DeclarationKind::ExternFunction { parameters, .. } => self.parameters(parameters),
            DeclarationKind::Global { ty, value, .. } => {
                ty.iter().for_each(|ty| self.ty(ty));
                self.expression(value);
            }
            DeclarationKind::Event { parameters, constraints, body, .. } => {
                self.parameters(parameters);
                self.constraints(constraints);
                body.iter().for_each(|body| self.block(body));
            }
            DeclarationKind::Handler { event, parameters, body, .. } => {
                self.paths.push(event);
                self.parameters(parameters);
                self.block(body);
            }
            DeclarationKind::Function { return_type, parameters, constraints, body, .. } => {
                self.ty(return_type);
                self.parameters(parameters);
                self.constraints(constraints);
                self.block(body);
            }
            DeclarationKind::Memop { parameters, body, .. } => {
                self.parameters(parameters);
                self.block(body);
            }
            DeclarationKind::UserType { ty, .. } => self.ty(ty),
            DeclarationKind::Constructor { ty, parameters, value, .. } => {
                self.ty(ty);
                self.parameters(parameters);
                self.expression(value);
            }
            DeclarationKind::Module { interface, declarations, .. } => {
                interface.iter().flatten().for_each(|item| self.item(item));
                self.declarations(declarations);
            }
            DeclarationKind::ModuleAlias { condition, then, otherwise, .. } => {
                self.expression(condition);
                self.paths.extend([then, otherwise]);
            }
            DeclarationKind::Action {
                return_type,
                install_parameters,
                match_parameters,
                body,
                ..
            } => {
                self.ty(return_type);
                self.parameters(install_parameters);
                self.parameters(match_parameters);
                self.block(body);
            }
            DeclarationKind::Parser { parameters, body, .. } => {
                self.parameters(parameters);
                self.parser_block(body);
            }
        }
    }

    fn item(&mut self, item: &'a InterfaceItem) {
        match &item.kind {
            InterfaceItemKind::Size { .. } => {}
            InterfaceItemKind::Value { ty, .. } => self.ty(ty),
            InterfaceItemKind::Type { ty, .. } => ty.iter().for_each(|ty| self.ty(ty)),
            InterfaceItemKind::Constructor { ty, parameters, .. } => {
                self.ty(ty);
                self.parameters(parameters);
            }
            InterfaceItemKind::Function { return_type, parameters, constraints, .. } => {
                self.ty(return_type);
                self.parameters(parameters);
                self.constraints(constraints);
            }
            InterfaceItemKind::Event { parameters, constraints, .. } => {
                self.parameters(parameters);
                self.constraints(constraints);
            }
            InterfaceItemKind::Memop { parameters, .. } => self.parameters(parameters),
            InterfaceItemKind::Module { interface, .. } => {
                interface.iter().for_each(|item| self.item(item));
            }
        }
    }

    fn constraints(&mut self, constraints: &'a [Constraint]) {
        for constraint in constraints {
            match constraint {
                Constraint::Chain { operands, .. } => {
                    let named = operands.iter().filter(|path| &*path.segments[0].name != "start");
                    self.paths.extend(named);
                }
                Constraint::End { operand, .. } => self.paths.push(operand),
            }
        }
    }

    fn parameters(&mut self, parameters: &'a [Parameter]) {
        parameters.iter().for_each(|parameter| self.ty(&parameter.ty));
    }

    fn ty(&mut self, ty: &'a Type) {
        match &ty.kind {
            TypeKind::Int(Some(size)) => self.size(size),
            TypeKind::Named { path, sizes, .. } => {
                self.type_path(path);
                sizes.iter().for_each(|size| self.size(size));
            }
            TypeKind::Applied { path, arguments } => {
                self.type_path(path);
                arguments.iter().for_each(|ty| self.ty(ty));
            }
            TypeKind::Record(fields) => self.parameters(fields),
            TypeKind::Vector(element, length) => {
                self.ty(element);
                self.size(length);
            }
            TypeKind::Tuple(types) => types.iter().for_each(|ty| self.ty(ty)),
            TypeKind::Memop(sizes) => sizes.iter().for_each(|size| self.size(size)),
            _ => {}
        }
    }

    fn type_path(&mut self, path: &'a Path) {
        let builtin =
            ["Array", "PairArray", "Counter", "Table", "Payload", "memop2", "memop3", "memop4"];
        if !builtin.contains(&&*path.segments[0].name) {
            self.paths.push(path);
        }
    }

    fn size(&mut self, size: &'a Size) {
        match &size.kind {
            SizeKind::Named(path) => self.paths.push(path),
            SizeKind::Sum(parts) => parts.iter().for_each(|part| self.size(part)),
            _ => {}
        }
    }

    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Skip => {}
                StatementKind::Local { ty, value, .. } => {
                    self.ty(ty);
                    self.expression(value);
                }
                StatementKind::Assign { target, value, .. } => {
                    self.paths.push(target);
                    self.expression(value);
                }
                StatementKind::Call(call) => self.expression(call),
                StatementKind::If { condition, then, otherwise } => {
                    self.expression(condition);
                    self.block(then);
                    otherwise.iter().for_each(|block| self.block(block));
                }
                StatementKind::Match { subjects, branches } => {
                    self.all(subjects);
                    for branch in branches {
                        branch.patterns.iter().for_each(|pattern| self.pattern(pattern));
                        self.block(&branch.body);
                    }
                }
                StatementKind::Return(value) => value.iter().for_each(|e| self.expression(e)),
                StatementKind::Print { arguments, .. } => self.all(arguments),
                StatementKind::Generate { target, event } => {
                    match target {
                        GenerateTarget::Event | GenerateTarget::Many => {}
                        GenerateTarget::Switch(e)
                        | GenerateTarget::Port(e)
                        | GenerateTarget::Ports(e) => self.expression(e),
                    }
                    self.expression(event);
                }
                StatementKind::For { bound, body, .. } => {
                    self.size(bound);
                    self.block(body);
                }
                StatementKind::TableInstall { table, entries } => {
                    self.expression(table);
                    for entry in entries {
                        self.all(&entry.patterns);
                        self.paths.push(&entry.action);
                        self.all(&entry.arguments);
                    }
                }
            }
        }
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        self.pattern_kind(&pattern.kind);
    }

    fn pattern_kind(&mut self, kind: &'a PatternKind) {
        match kind {
            PatternKind::Named(path) => self.paths.push(path),
            PatternKind::Event { event, parameters } => {
                self.paths.push(event);
                self.parameters(parameters);
            }
            PatternKind::Wildcard | PatternKind::Number(_) | PatternKind::Bits(_) => {}
        }
    }

    fn all(&mut self, list: &'a [Expression]) {
        list.iter().for_each(|e| self.expression(e));
    }

    fn expression(&mut self, e: &'a Expression) {
        self.expressions.push(e);
        match &e.kind {
            ExpressionKind::Integer { width, .. } => {
                width.iter().for_each(|width| self.size(width));
            }
            ExpressionKind::Boolean(_) | ExpressionKind::String(_) => {}
            ExpressionKind::Name(path) => self.paths.push(path),
            ExpressionKind::Call { function, arguments, .. } => {
                self.paths.push(function);
                self.all(arguments);
            }
            ExpressionKind::New { ty, arguments } => {
                self.ty(ty);
                self.all(arguments);
            }
            ExpressionKind::Unary { operand, .. } | ExpressionKind::Flood(operand) => {
                self.expression(operand);
            }
            ExpressionKind::Binary { left, right, .. }
            | ExpressionKind::Masked { value: left, mask: right } => {
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Cast { ty, operand } => {
                self.ty(ty);
                self.expression(operand);
            }
            ExpressionKind::Slice { operand, high, low } => {
                self.expression(operand);
                self.size(high);
                self.size(low);
            }
            ExpressionKind::Hash { width, arguments } => {
                self.size(width);
                self.all(arguments);
            }
            ExpressionKind::SizeToInt { size, width } => {
                self.size(size);
                width.iter().for_each(|width| self.size(width));
            }
            ExpressionKind::Record(fields) => {
                fields.iter().for_each(|(_, value)| self.expression(value));
            }
            ExpressionKind::With { record, fields } => {
                self.expression(record);
                fields.iter().for_each(|(_, value)| self.expression(value));
            }
            ExpressionKind::Field { record, .. } => self.expression(record),
            ExpressionKind::Vector(list)
            | ExpressionKind::Tuple(list)
            | ExpressionKind::Group(list) => self.all(list),
            ExpressionKind::Comprehension { element, bound, .. } => {
                self.expression(element);
                self.size(bound);
            }
            ExpressionKind::Index { vector, index } => {
                self.expression(vector);
                self.size(index);
            }
            ExpressionKind::Pattern(kind) => self.pattern_kind(kind),
        }
    }

    fn parser_block(&mut self, block: &'a ParserBlock) {
        for action in &block.actions {
            match &action.kind {
                ParserActionKind::Read { ty, source, .. } => {
                    self.ty(ty);
                    self.expression(source);
                }
                ParserActionKind::Skip { ty, source } => {
                    self.ty(ty);
                    self.expression(source);
                }
                ParserActionKind::Local { ty, value, .. } => {
                    self.ty(ty);
                    self.expression(value);
                }
                ParserActionKind::Assign { target, value } => {
                    self.expression(target);
                    self.expression(value);
                }
            }
        }
        match &block.step {
            ParserStep::Match { subjects, branches, .. } => {
                self.all(subjects);
                for branch in branches {
                    branch.patterns.iter().for_each(|pattern| self.pattern(pattern));
                    self.parser_block(&branch.body);
                }
            }
            ParserStep::Generate { event, .. } => self.expression(event),
            ParserStep::Call { parser, arguments, .. } => {
                self.paths.push(parser);
                self.all(arguments);
            }
            ParserStep::Drop { .. } => {}
        }
    }
}
