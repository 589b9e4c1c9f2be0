// SPDX-License-Identifier: Apache-2.0
//! Corrected memops as text for a message's help. It prints only what a memop may contain; `syntax` formats
//! whole programs.

use super::shape::MemopDeclaration;
use crate::syntax::ast::{BinaryOperator, Expression, ExpressionKind};

/// An expression over names, numbers and operators as text; `None` for others.
pub(crate) fn expression(value: &Expression) -> Option<String> {
    Some(match &value.kind {
        ExpressionKind::Integer { value, width: None, .. } => value.to_string(),
        ExpressionKind::Boolean(value) => value.to_string(),
        ExpressionKind::Name(path) => {
            let names: Vec<&str> = path.segments.iter().map(|segment| &*segment.name).collect();
            names.join(".")
        }
        ExpressionKind::Unary { operator, operand } => {
            format!("{}{}", operator.symbol(), nested(operand)?)
        }
        ExpressionKind::Binary { operator: sign, left, right } => {
            format!("{} {} {}", nested(left)?, sign.symbol(), nested(right)?)
        }
        _ => return None,
    })
}

fn nested(value: &Expression) -> Option<String> {
    let text = expression(value)?;
    Some(match value.kind {
        ExpressionKind::Binary { .. } => format!("({text})"),
        _ => text,
    })
}

/// `if (c) { return a; } else { return b; }` as a memop of three or four arguments that returns the
/// choice from `cell2` and leaves the cell alone.
pub(crate) fn as_complex(
    declared: MemopDeclaration<'_>,
    condition: &Expression,
    yes: &Expression,
    no: &Expression,
) -> Option<String> {
    let names: Vec<String> =
        declared.parameters.iter().map(|each| format!("int {}", each.name.name)).collect();
    let b1 = fresh(declared, "b1");
    Some(format!(
        "memop {}({}) {{\n    bool {b1} = {};\n    if ({b1}) {{ cell2 = {}; }} else {{ if (true) {{ \
         cell2 = {}; }} }}\n    if (true) {{ return cell2; }}\n}}",
        declared.name.name,
        names.join(", "),
        expression(condition)?,
        expression(yes)?,
        expression(no)?,
    ))
}

/// A two-argument memop with a condition of two comparisons as a memop of three arguments that
/// writes the choice and returns it.
pub(crate) fn compound(
    declared: MemopDeclaration<'_>,
    condition: &Expression,
    yes: &Expression,
    no: &Expression,
) -> Option<String> {
    let ExpressionKind::Binary {
        operator: sign @ (BinaryOperator::And | BinaryOperator::Or),
        left,
        right,
    } = &condition.kind
    else {
        return None;
    };
    let mut parameters: Vec<String> =
        declared.parameters.iter().map(|each| format!("int {}", each.name.name)).collect();
    parameters.push(format!("int {}", fresh(declared, "unused")));
    let (b1, b2) = (fresh(declared, "b1"), fresh(declared, "b2"));
    Some(format!(
        "memop {}({}) {{\n    bool {b1} = {};\n    bool {b2} = {};\n    if ({b1} {} {b2}) {{ cell1 \
         = {}; }} else {{ if (true) {{ cell1 = {}; }} }}\n    if (true) {{ return cell1; }}\n}}",
        declared.name.name,
        parameters.join(", "),
        expression(left)?,
        expression(right)?,
        sign.symbol(),
        expression(yes)?,
        expression(no)?,
    ))
}

/// A name like this one that no parameter has.
fn fresh(declared: MemopDeclaration<'_>, name: &str) -> String {
    let mut name = name.to_owned();
    while declared.parameters.iter().any(|each| *each.name.name == *name) {
        name.push('_');
    }
    name
}
