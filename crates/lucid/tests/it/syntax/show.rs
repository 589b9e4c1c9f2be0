// SPDX-License-Identifier: Apache-2.0
//! Trees as short text, with all parentheses, for comparison.

use lucid::syntax::ast::*;

fn joined<T>(list: &[T], show: impl Fn(&T) -> String) -> String {
    list.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn path(path: &Path) -> String {
    path.segments.iter().map(|segment| segment.name.to_string()).collect::<Vec<_>>().join(".")
}

/// A size.
pub fn size(size: &Size) -> String {
    match &size.kind {
        SizeKind::Number(value) => value.to_string(),
        SizeKind::Named(name) => path(name),
        SizeKind::Variable(name) => format!("'{}", name.name),
        SizeKind::Auto => "auto".to_owned(),
        SizeKind::Sum(terms) => format!("(+ {})", joined(terms, self::size)),
    }
}

fn parameters(list: &[Parameter]) -> String {
    joined(list, |parameter| format!("({} {})", ty(&parameter.ty), parameter.name.name))
}

/// A type.
pub fn ty(written: &Type) -> String {
    match &written.kind {
        TypeKind::Int(None) => "int".to_owned(),
        TypeKind::Int(Some(width)) => format!("int<{}>", size(width)),
        TypeKind::Bool => "bool".to_owned(),
        TypeKind::Void => "void".to_owned(),
        TypeKind::Event => "event".to_owned(),
        TypeKind::Group => "group".to_owned(),
        TypeKind::Auto => "auto".to_owned(),
        TypeKind::Variable(name) => format!("'{}", name.name),
        TypeKind::Named { path: name, sizes, spelling } => {
            let marker = if *spelling == Spelling::Paper { "paper:" } else { "" };
            match sizes.is_empty() {
                true => path(name),
                false => format!("({marker}{} {})", path(name), joined(sizes, size)),
            }
        }
        TypeKind::Applied { path: name, arguments } => {
            format!("(of {} {})", path(name), joined(arguments, ty))
        }
        TypeKind::Record(fields) => format!("(record {})", parameters(fields)),
        TypeKind::Vector(element, length) => format!("(vector {} {})", ty(element), size(length)),
        TypeKind::Tuple(members) => format!("(tuple {})", joined(members, ty)),
        TypeKind::Memop(sizes) => format!("(memop {})", joined(sizes, size)),
        TypeKind::Bitstring => "bitstring".to_owned(),
    }
}

fn pattern_kind(kind: &PatternKind) -> String {
    match kind {
        PatternKind::Wildcard => "_".to_owned(),
        PatternKind::Number(value) => value.to_string(),
        PatternKind::Bits(bits) => {
            let digit = |bit: &Option<bool>| match bit {
                Some(true) => '1',
                Some(false) => '0',
                None => '*',
            };
            bits.iter().map(digit).collect()
        }
        PatternKind::Named(name) => path(name),
        PatternKind::Event { event, parameters: list } => {
            format!("(event {} {})", path(event), parameters(list))
        }
    }
}

fn fields(list: &[(Segment, Expression)]) -> String {
    joined(list, |(label, value)| format!("{}={}", label.name, expression(value)))
}

/// An expression.
pub fn expression(written: &Expression) -> String {
    let all = |list: &[Expression]| joined(list, expression);
    match &written.kind {
        ExpressionKind::Integer { value, width: None, .. } => value.to_string(),
        ExpressionKind::Integer { value, width: Some(width), spelling } => match spelling {
            Spelling::Later => format!("{value}w{}", size(width)),
            Spelling::Paper => format!("{value}<<{}>>", size(width)),
        },
        ExpressionKind::Boolean(value) => value.to_string(),
        ExpressionKind::String(text) => format!("{text:?}"),
        ExpressionKind::Name(name) => path(name),
        ExpressionKind::Call { function, arguments, unordered } => {
            let marker = if *unordered { "unordered:" } else { "" };
            format!("(call {marker}{} {})", path(function), all(arguments)).replace(" )", ")")
        }
        ExpressionKind::New { ty: made, arguments } => {
            format!("(new {} {})", ty(made), all(arguments))
        }
        ExpressionKind::Unary { operator, operand } => {
            format!("({operator:?} {})", expression(operand))
        }
        ExpressionKind::Binary { operator, left, right } => {
            format!("({operator:?} {} {})", expression(left), expression(right))
        }
        ExpressionKind::Cast { ty: wanted, operand } => {
            format!("(cast {} {})", ty(wanted), expression(operand))
        }
        ExpressionKind::Slice { operand, high, low } => {
            format!("(slice {} {} {})", expression(operand), size(high), size(low))
        }
        ExpressionKind::Hash { width, arguments } => {
            format!("(hash {} {})", size(width), all(arguments))
        }
        ExpressionKind::Flood(port) => format!("(flood {})", expression(port)),
        ExpressionKind::SizeToInt { size: value, width } => match width {
            Some(width) => format!("(size_to_int {} {})", size(value), size(width)),
            None => format!("(size_to_int {})", size(value)),
        },
        ExpressionKind::Record(list) => format!("(record {})", fields(list)),
        ExpressionKind::With { record, fields: list } => {
            format!("(with {} {})", expression(record), fields(list))
        }
        ExpressionKind::Field { record, label } => {
            format!("(field {} {})", expression(record), label.name)
        }
        ExpressionKind::Vector(list) => format!("(vector {})", all(list)),
        ExpressionKind::Comprehension { element, variable, bound } => {
            format!("(for {} {} {})", variable.name, size(bound), expression(element))
        }
        ExpressionKind::Index { vector, index } => {
            format!("(index {} {})", expression(vector), size(index))
        }
        ExpressionKind::Tuple(list) => format!("(tuple {})", all(list)),
        ExpressionKind::Group(list) => format!("(group {})", all(list)),
        ExpressionKind::Pattern(kind) => format!("(pattern {})", pattern_kind(kind)),
        ExpressionKind::Masked { value, mask } => {
            format!("(mask {} {})", expression(value), expression(mask))
        }
    }
}

/// A block, one statement after the other.
pub fn block(written: &Block) -> String {
    format!("[{}]", joined(&written.statements, statement))
}

fn patterns(list: &[Pattern]) -> String {
    joined(list, |pattern| pattern_kind(&pattern.kind))
}

/// A statement.
pub fn statement(written: &Statement) -> String {
    match &written.kind {
        StatementKind::Skip => "skip".to_owned(),
        StatementKind::Local { name, ty: declared, value, no_inline } => {
            let marker = if *no_inline { "noinline " } else { "" };
            format!("({marker}{} {} = {})", ty(declared), name.name, expression(value))
        }
        StatementKind::Assign { target, value, no_inline } => {
            let marker = if *no_inline { "noinline " } else { "" };
            format!("({marker}{} = {})", path(target), expression(value))
        }
        StatementKind::Call(call) => expression(call),
        StatementKind::If { condition, then, otherwise } => {
            let otherwise =
                otherwise.as_ref().map_or(String::new(), |other| format!(" else {}", block(other)));
            format!("(if {} {}{otherwise})", expression(condition), block(then))
        }
        StatementKind::Match { subjects, branches } => {
            let branches = joined(branches, |branch| {
                format!("| {} -> {}", patterns(&branch.patterns), block(&branch.body))
            });
            format!("(match {} {branches})", joined(subjects, expression))
        }
        StatementKind::Return(None) => "return".to_owned(),
        StatementKind::Return(Some(value)) => format!("(return {})", expression(value)),
        StatementKind::Print { format, arguments, .. } => {
            format!("(print {format:?} {})", joined(arguments, expression)).replace(" )", ")")
        }
        StatementKind::Generate { target, event } => {
            let event = expression(event);
            match target {
                GenerateTarget::Event => format!("(generate {event})"),
                GenerateTarget::Many => format!("(mgenerate {event})"),
                GenerateTarget::Switch(place) => format!("(switch {} {event})", expression(place)),
                GenerateTarget::Port(place) => format!("(port {} {event})", expression(place)),
                GenerateTarget::Ports(place) => format!("(ports {} {event})", expression(place)),
            }
        }
        StatementKind::For { variable, bound, body } => {
            format!("(for {} {} {})", variable.name, size(bound), block(body))
        }
        StatementKind::TableInstall { table, entries } => {
            let entries = joined(entries, |entry| {
                let priority =
                    entry.priority.map_or("-".to_owned(), |(value, _)| value.to_string());
                format!(
                    "({priority} ({}) {} ({}))",
                    joined(&entry.patterns, expression),
                    path(&entry.action),
                    joined(&entry.arguments, expression)
                )
            });
            format!("(install {} {entries})", expression(table))
        }
    }
}

fn constraints(list: &[Constraint]) -> String {
    joined(list, |constraint| match constraint {
        Constraint::Chain { operands, strict, .. } => {
            let mut text = path(&operands[0]);
            for (operand, strict) in operands[1..].iter().zip(strict) {
                text += if *strict { "<" } else { "<=" };
                text += &path(operand);
            }
            text
        }
        Constraint::End { operand, .. } => format!("end:{}", path(operand)),
    })
}

fn size_parameters(list: &[SizeParameter]) -> String {
    joined(list, |parameter| format!("'{}", parameter.name.name))
}

fn interface(items: &[InterfaceItem]) -> String {
    joined(items, |item| match &item.kind {
        InterfaceItemKind::Size { name } => format!("(size {})", name.name),
        InterfaceItemKind::Value { name, ty: declared } => {
            format!("({} {})", ty(declared), name.name)
        }
        InterfaceItemKind::Type { name, parameters, ty: defined, is_global } => format!(
            "({}type {} ({}) {})",
            if *is_global { "global " } else { "" },
            name.name,
            size_parameters(parameters),
            defined.as_ref().map_or("opaque".to_owned(), ty)
        ),
        InterfaceItemKind::Constructor { name, ty: made, parameters: list } => {
            format!("(constr {} {} {})", ty(made), name.name, parameters(list))
        }
        InterfaceItemKind::Function { name, return_type, parameters: list, constraints: order } => {
            format!(
                "(fun {} {} {} [{}])",
                ty(return_type),
                name.name,
                parameters(list),
                constraints(order)
            )
        }
        InterfaceItemKind::Event { name, parameters: list, constraints: order } => {
            format!("(event {} {} [{}])", name.name, parameters(list), constraints(order))
        }
        InterfaceItemKind::Memop { name, parameters: list } => {
            format!("(memop {} {})", name.name, parameters(list))
        }
        InterfaceItemKind::Module { name, interface: inner } => {
            format!("(module {} {})", name.name, interface(inner))
        }
    })
}

fn parser_block(written: &ParserBlock) -> String {
    let actions = joined(&written.actions, |action| match &action.kind {
        ParserActionKind::Read { name, ty: read, source } => {
            format!("(read {} {} {})", ty(read), name.name, expression(source))
        }
        ParserActionKind::Skip { ty: skipped, source } => {
            format!("(skip {} {})", ty(skipped), expression(source))
        }
        ParserActionKind::Local { name, ty: declared, value } => {
            format!("({} {} = {})", ty(declared), name.name, expression(value))
        }
        ParserActionKind::Assign { target, value } => {
            format!("({} = {})", expression(target), expression(value))
        }
    });
    let step = match &written.step {
        ParserStep::Match { subjects, branches, .. } => {
            let branches = joined(branches, |branch| {
                format!("| {} -> {}", patterns(&branch.patterns), parser_block(&branch.body))
            });
            format!("(match {} {branches})", joined(subjects, expression))
        }
        ParserStep::Generate { event, .. } => format!("(generate {})", expression(event)),
        ParserStep::Call { parser, arguments, .. } => {
            format!("(call {} {})", path(parser), joined(arguments, expression))
        }
        ParserStep::Drop { .. } => "drop".to_owned(),
    };
    format!("[{actions} {step}]").replace("[ ", "[")
}

/// A declaration.
pub fn declaration(written: &Declaration) -> String {
    let pragmas: String =
        written.pragmas.iter().map(|pragma| format!("@{} ", pragma.name)).collect();
    let shown = match &written.kind {
        DeclarationKind::Size { name, value } => {
            let value = value.as_ref().map_or("?".to_owned(), size);
            format!("(size {} {value})", name.name)
        }
        DeclarationKind::Constant { name, ty: declared, value } => {
            format!("(const {} {} {})", ty(declared), name.name, expression(value))
        }
        DeclarationKind::Symbolic { name, ty: declared } => {
            format!("(symbolic {} {})", ty(declared), name.name)
        }
        DeclarationKind::Extern { name, ty: declared } => {
            format!("(extern {} {})", ty(declared), name.name)
        }
        DeclarationKind::ExternFunction { name, parameters: list } => {
            format!("(extern {} {})", name.name, parameters(list))
        }
        DeclarationKind::Global { name, ty: declared, value } => {
            let declared = declared.as_ref().map_or("-".to_owned(), ty);
            format!("(global {declared} {} {})", name.name, expression(value))
        }
        DeclarationKind::Event {
            name,
            sort,
            wire_number,
            parameters: list,
            constraints: order,
            body,
        } => {
            let number = wire_number.map_or(String::new(), |(number, _)| format!("@{number}"));
            let body = body.as_ref().map_or(String::new(), |body| format!(" {}", block(body)));
            format!(
                "({sort:?} {}{number} {} [{}]{body})",
                name.name,
                parameters(list),
                constraints(order)
            )
        }
        DeclarationKind::Handler { event, sort, parameters: list, body } => {
            format!("(handle {sort:?} {} {} {})", path(event), parameters(list), block(body))
        }
        DeclarationKind::Function {
            name,
            return_type,
            parameters: list,
            constraints: order,
            body,
        } => {
            format!(
                "(fun {} {} {} [{}] {})",
                ty(return_type),
                name.name,
                parameters(list),
                constraints(order),
                block(body)
            )
        }
        DeclarationKind::Memop { name, parameters: list, body } => {
            format!("(memop {} {} {})", name.name, parameters(list), block(body))
        }
        DeclarationKind::UserType { name, parameters, ty: defined } => {
            format!("(type {} ({}) {})", name.name, size_parameters(parameters), ty(defined))
        }
        DeclarationKind::Constructor { name, ty: made, parameters: list, value } => {
            format!(
                "(constr {} {} {} {})",
                ty(made),
                name.name,
                parameters(list),
                expression(value)
            )
        }
        DeclarationKind::Module { name, interface: items, declarations } => {
            let items =
                items.as_ref().map_or("-".to_owned(), |items| format!("[{}]", interface(items)));
            format!("(module {} {items} {})", name.name, joined(declarations, declaration))
        }
        DeclarationKind::ModuleAlias { name, condition, then, otherwise } => format!(
            "(module {} {} {} {})",
            name.name,
            expression(condition),
            path(then),
            path(otherwise)
        ),
        DeclarationKind::Action {
            name,
            return_type,
            install_parameters,
            match_parameters,
            body,
            spelling,
        } => {
            let marker = if *spelling == Spelling::Paper { "paper:" } else { "" };
            format!(
                "({marker}action {} {} ({}) ({}) {})",
                ty(return_type),
                name.name,
                parameters(install_parameters),
                parameters(match_parameters),
                block(body)
            )
        }
        DeclarationKind::Parser { name, parameters: list, body } => {
            format!("(parser {} {} {})", name.name, parameters(list), parser_block(body))
        }
    };
    format!("{pragmas}{shown}")
}

/// A whole program, a declaration a line.
pub fn program(written: &Program) -> String {
    written.declarations.iter().map(|one| declaration(one) + "\n").collect()
}
