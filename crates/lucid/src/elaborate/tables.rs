// SPDX-License-Identifier: Apache-2.0
//! Elaborates match tables: creation, lookups, installs.

use super::builder::Builder;
use super::calls::{Call, ResultUse};
use super::values::Value;
use super::{Elaborated, Elaborator, Scope, codes};
use crate::check::{Builtin, TableType, Type};
use crate::core::{
    self, ActionId, Constant, Expression, ExpressionKind, GlobalId, GlobalKind,
    StatementKind as Core, Table, arithmetic,
};
use crate::syntax::ast;
use source::{Diagnostic, Span};

/// The default priority of entries; of equal priorities the earlier entry wins.
const DEFAULT_PRIORITY: u32 = 50;

impl<'a> Elaborator<'a> {
    /// `Table.create(capacity, [actions], default, arguments)`
    pub(super) fn create_table(
        &mut self,
        call: Call<'a>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = call.expression.span;
        let ty = self.type_of(call.expression.id, scope, span)?;
        let Type::Table(ty) = self.shape(&ty, span)? else {
            return Err(self.internal(span, "a table of another type"));
        };
        let mut values = Vec::with_capacity(call.arguments.len());
        for argument in call.arguments {
            let value = self.expression(argument, scope, builder)?;
            values.push(self.known_in(value, builder)?);
        }
        let (capacity, actions, default, arguments) = match values.as_slice() {
            [capacity, actions, default, arguments] => (capacity, actions, default, arguments),
            [capacity, actions, default] => (capacity, actions, default, &Value::Void),
            _ => return Err(self.internal(span, "a table with other arguments")),
        };
        let capacity = self.table_capacity(capacity, call.arguments[0].span, builder)?;
        let mut listed = Vec::new();
        for action in actions.leaves() {
            let action = self.as_action(action, span)?;
            if !listed.contains(&action) {
                listed.push(action);
            }
        }
        let default_action = self.as_action(default, span)?;
        if !listed.contains(&default_action) {
            // A default action that is not listed is one of the table's actions all the same.
            listed.push(default_action);
        }
        let last = call.arguments.last().map_or(span, |argument| argument.span);
        let what = "an argument of a table's default action";
        let default_arguments = self.constants(arguments, last, what)?;
        let given = default_arguments.iter().map(core::constant_type).collect();
        self.action_takes(default_action, given, last, builder)?;
        let table = self.table(&ty, span)?;
        let table = Table { capacity, actions: listed, default_action, default_arguments, ..table };
        self.new_global(GlobalKind::Table(table), span, builder)
    }

    /// A table of a type, without entries and actions.
    fn table(&mut self, ty: &TableType, span: Span) -> Elaborated<Table> {
        let mut key_widths = Vec::new();
        for (name, ty) in self.flatten("key", &ty.key, span)? {
            match ty {
                core::Type::Int(width) => key_widths.push(width),
                core::Type::Bool => key_widths.push(1),
                other => {
                    let what = super::operators::describe_type(other);
                    let message = format!("a table's key cannot hold {what} (`{name}`)");
                    return Err(self.error(codes::OPERAND, span, message));
                }
            }
        }
        let arguments = self.flatten("", &ty.argument, span)?;
        let results = self.flatten("", &ty.result, span)?;
        let (names, result_types): (Vec<String>, Vec<core::Type>) = results.into_iter().unzip();
        Ok(Table {
            key_widths,
            argument_types: arguments.into_iter().map(|(_, ty)| ty).collect(),
            result_types,
            result_names: names.into_iter().map(|name| name.as_str().into()).collect(),
            capacity: 0,
            actions: Vec::new(),
            default_action: ActionId(0),
            default_arguments: Vec::new(),
        })
    }

    fn as_action(&mut self, value: &Value, span: Span) -> Elaborated<ActionId> {
        match value {
            Value::Action(id) => Ok(*id),
            _ => Err(self.internal(span, "an action that is not known")),
        }
    }

    /// An error unless an action takes arguments of these types. Types say so already, except in
    /// the older spelling of tables.
    fn action_takes(
        &mut self,
        action: ActionId,
        given: Vec<core::Type>,
        span: Span,
        builder: &Builder,
    ) -> Elaborated<()> {
        let action = &self.program.actions[action.0 as usize];
        let installed = action.parameters.iter().take(action.install_count as usize);
        let wanted: Vec<core::Type> = installed.map(|parameter| parameter.ty).collect();
        if wanted == given {
            return Ok(());
        }
        let list = |types: &[core::Type]| {
            types.iter().map(|ty| core::type_text(*ty)).collect::<Vec<_>>().join(", ")
        };
        let message = format!(
            "the action `{}` takes ({}), here is ({})",
            action.name,
            list(&wanted),
            list(&given)
        );
        let diagnostic =
            Diagnostic::error(codes::OPERAND, span, message).label(action.span, "the action");
        Err(self.report_in(builder, diagnostic))
    }

    fn as_table(&mut self, value: Option<&Value>, span: Span) -> Elaborated<(GlobalId, Table)> {
        if let Some(Value::Global(id)) = value
            && let Some(global) = self.program.globals.get(id.0 as usize)
            && let GlobalKind::Table(table) = &global.kind
        {
            return Ok((*id, table.clone()));
        }
        Err(self.internal(span, "something that is no table"))
    }

    /// `Table.lookup(table, key, argument)`
    pub(super) fn lookup(
        &mut self,
        call: Call<'a>,
        arguments: Vec<Value>,
        result_use: ResultUse,
        scope: &Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = call.expression.span;
        let (table, shape) = self.as_table(arguments.first(), span)?;
        let key = self.key_fields(arguments.get(1), span)?;
        let mut handed = Vec::new();
        for argument in arguments.iter().skip(2) {
            for leaf in argument.leaves() {
                handed.push(self.as_scalar(leaf.clone(), span)?);
            }
        }
        let locals = |value: &Value| {
            let leaves = value.leaves();
            leaves.into_iter().map(super::builder::as_local).collect::<Option<Vec<_>>>()
        };
        let fitting = match &result_use {
            ResultUse::Into(value) => locals(value)
                .filter(|found| found.len() == shape.result_types.len())
                .map(|found| (value.clone(), found)),
            _ => None,
        };
        let (value, results) = match fitting {
            Some(fitting) => fitting,
            None => {
                let ty = self.type_of(call.expression.id, scope, span)?;
                let name = format!("{}.result", self.program.globals[table.0 as usize].name);
                let value = self.declare(builder, &name, &ty, span)?;
                let results = locals(&value).unwrap_or_default();
                (value, results)
            }
        };
        builder.emit(Core::Lookup { table, key, arguments: handed, results }, span);
        Ok(value)
    }

    /// A key's fields as integers.
    fn key_fields(&mut self, key: Option<&Value>, span: Span) -> Elaborated<Vec<Expression>> {
        let mut fields = Vec::new();
        for leaf in key.map(Value::leaves).unwrap_or_default() {
            let leaf = self.as_scalar(leaf.clone(), span)?;
            fields.push(match leaf.ty {
                core::Type::Bool => Expression::cast(leaf, 1, span),
                _ => leaf,
            });
        }
        Ok(fields)
    }

    /// `Table.install(table, key, action, arguments)` and
    /// `Table.install_ternary(table, key, mask, action, arguments)`
    pub(super) fn install_call(
        &mut self,
        builtin: Builtin,
        call: Call<'a>,
        arguments: Vec<Value>,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let span = call.expression.span;
        let ternary = builtin == Builtin::TableInstallTernary;
        let key = self.entry_key(arguments.get(1), span)?;
        let (key, action_at) = if ternary {
            let masks = self.key_fields(arguments.get(2), span)?;
            let values = key.into_iter().map(|(value, _)| value);
            let masked = values.zip(masks).map(|(value, mask)| (value, Some(mask)));
            (masked.collect(), 3)
        } else {
            (key, 2)
        };
        let Some(action) = arguments.get(action_at) else {
            return Err(self.internal(span, "an entry without an action"));
        };
        let action = self.as_action(action, span)?;
        let handed = arguments.get(action_at + 1..).unwrap_or_default();
        let installed = self.installed(handed, span)?;
        let entry = Entry { key, priority: DEFAULT_PRIORITY, action, arguments: installed };
        self.install(arguments.first(), entry, span, builder)
    }

    /// The artifact's `table_install(table, { (patterns) -> action(arguments); ... });`
    pub(super) fn install_statement(
        &mut self,
        table: &'a ast::Expression,
        entries: &'a [ast::TableEntry],
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        self.effects_allowed(table.span, builder)?;
        let value = self.expression(table, scope, builder)?;
        let ty = self.type_of(table.id, scope, table.span)?;
        let Type::Table(ty) = self.shape(&ty, table.span)? else {
            return Err(self.internal(table.span, "something that is no table"));
        };
        for entry in entries {
            let mut key = Vec::new();
            for pattern in &entry.patterns {
                let pattern = self.expression(pattern, scope, builder)?;
                key.extend(self.entry_key(Some(&pattern), entry.span)?);
            }
            let crate::check::Definition::Action(id) = self.definition(&entry.action)? else {
                return Err(self.internal(entry.action.span, "an entry without an action"));
            };
            let action = self.action_value(id, &entry.action, &Type::Action(ty.clone()), scope)?;
            let action = self.as_action(&action, entry.action.span)?;
            let mut handed = Vec::new();
            for argument in &entry.arguments {
                handed.push(self.expression(argument, scope, builder)?);
            }
            let arguments = self.installed(&handed, entry.span)?;
            let priority = match entry.priority {
                Some((number, span)) => match u32::try_from(number) {
                    Ok(number) => number,
                    Err(_) => {
                        let message = format!("{number} is too large for a priority");
                        return Err(self.error(codes::DOES_NOT_FIT, span, message));
                    }
                },
                None => DEFAULT_PRIORITY,
            };
            let made = Entry { key, priority, action, arguments };
            self.install(Some(&value), made, entry.span, builder)?;
        }
        Ok(())
    }

    fn installed(&mut self, handed: &[Value], span: Span) -> Elaborated<Vec<Expression>> {
        let mut arguments = Vec::new();
        for value in handed {
            for leaf in value.leaves() {
                arguments.push(self.as_scalar(leaf.clone(), span)?);
            }
        }
        Ok(arguments)
    }

    /// Value and mask a field of an entry's key. A mask of all bits is none.
    fn entry_key(
        &mut self,
        key: Option<&Value>,
        span: Span,
    ) -> Elaborated<Vec<(Expression, Option<Expression>)>> {
        let mut fields = Vec::new();
        for leaf in key.map(Value::leaves).unwrap_or_default() {
            fields.push(match leaf {
                Value::Pattern { value, mask } => {
                    let whole = |mask: &Expression| match (mask.as_constant(), mask.ty) {
                        (Some(Constant::Int(bits, _)), core::Type::Int(width)) => {
                            *bits == arithmetic::mask(width)
                        }
                        _ => false,
                    };
                    (value.clone(), mask.clone().filter(|mask| !whole(mask)))
                }
                other => {
                    let value = self.as_scalar(other.clone(), span)?;
                    match value.ty {
                        core::Type::Bool => (Expression::cast(value, 1, span), None),
                        _ => (value, None),
                    }
                }
            });
        }
        Ok(fields)
    }

    fn install(
        &mut self,
        table: Option<&Value>,
        entry: Entry,
        span: Span,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let (table, shape) = self.as_table(table, span)?;
        if !shape.actions.contains(&entry.action) {
            let action = &self.program.actions[entry.action.0 as usize];
            let global = &self.program.globals[table.0 as usize];
            let message = format!("the table `{}` has no action `{}`", global.name, action.name);
            let diagnostic = Diagnostic::error(codes::UNLISTED_ACTION, span, message)
                .label(global.span, "its actions are listed here")
                .help("add the action to the list in `Table.create`");
            return Err(self.report_in(builder, diagnostic));
        }
        let Entry { key, priority, action, arguments } = entry;
        let given = arguments.iter().map(|argument| argument.ty).collect();
        self.action_takes(action, given, span, builder)?;
        let masked = |(value, mask): (Expression, Option<Expression>)| {
            // Bits outside the mask mean nothing.
            let plain = matches!(value.kind, ExpressionKind::Constant(_));
            match mask {
                Some(mask) if plain && mask.as_constant().is_some() => {
                    let and = ast::BinaryOperator::BitAnd;
                    let (ty, span) = (value.ty, value.span);
                    (Expression::binary(and, value, mask.clone(), ty, span), Some(mask))
                }
                mask => (value, mask),
            }
        };
        let key = key.into_iter().map(masked).collect();
        builder.emit(Core::Install { table, key, priority, action, arguments }, span);
        Ok(())
    }
}

/// An entry to install.
struct Entry {
    key: Vec<(Expression, Option<Expression>)>,
    priority: u32,
    action: ActionId,
    arguments: Vec<Expression>,
}
