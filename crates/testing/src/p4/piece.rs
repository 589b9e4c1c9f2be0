// SPDX-License-Identifier: Apache-2.0
//! [`Piece`]: a generated program as a tree of text with holes. The role of a piece says how a shrinker may make it
//! smaller. `generator` makes the tree, the crate `differential` shrinks it.

/// How a shrinker may make a piece smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Not at all, but its parts may change.
    Fixed,
    /// By removing it: a statement, a declaration, a field, an entry, a case.
    Droppable,
    /// By removing it, or by replacing it with a list of statements in it: an `if`, a loop, a block.
    Compound,
    /// By replacing it with an expression in it of the same type, or with the simplest one.
    Expression {
        /// The type as P4 text.
        ty: String,
        /// The simplest expression of the type.
        simplest: String,
    },
    /// The statements in a compound piece, which may stand alone.
    Body,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How it may be made smaller.
    pub role: Role,
    /// Its text and the pieces in it, in order.
    pub parts: Vec<Part>,
}

/// Text, or a piece inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A piece.
    Piece(Piece),
}

impl Piece {
    /// A piece from a text in which each `$` stands for the next of the operands. There are as many
    /// operands as `$`.
    pub fn new(role: Role, template: &str, operands: Vec<Piece>) -> Piece {
        let mut parts = Vec::new();
        let mut operands = operands.into_iter();
        for (number, text) in template.split('$').enumerate() {
            if number > 0 {
                parts.extend(operands.next().map(Part::Piece));
            }
            if !text.is_empty() {
                parts.push(Part::Text(text.to_string()));
            }
        }
        Piece { role, parts }
    }

    /// A piece that only its parts make smaller.
    pub fn fixed(template: &str, operands: Vec<Piece>) -> Piece {
        Piece::new(Role::Fixed, template, operands)
    }

    /// Text that stays.
    pub fn text(text: impl Into<String>) -> Piece {
        Piece { role: Role::Fixed, parts: vec![Part::Text(text.into())] }
    }

    /// A piece that may go.
    pub fn droppable(template: &str, operands: Vec<Piece>) -> Piece {
        Piece::new(Role::Droppable, template, operands)
    }

    /// Pieces one after the other.
    pub fn sequence(role: Role, pieces: Vec<Piece>) -> Piece {
        Piece { role, parts: pieces.into_iter().map(Part::Piece).collect() }
    }

    /// The text of the tree, indented by its braces.
    pub fn print(&self) -> String {
        let mut flat = String::new();
        self.flatten(&mut flat);
        let mut text = String::new();
        let mut depth = 0usize;
        for line in flat.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let closing = line.starts_with('}') || line.starts_with(')');
            let level = if closing { depth.saturating_sub(1) } else { depth };
            text.push_str(&"    ".repeat(level));
            text.push_str(line);
            text.push('\n');
            let opened = line.matches(['{', '(']).count();
            let closed = line.matches(['}', ')']).count();
            depth = (depth + opened).saturating_sub(closed);
        }
        text
    }

    fn flatten(&self, text: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Piece(piece) => piece.flatten(text),
            }
        }
    }

    /// How many pieces the tree has.
    pub fn size(&self) -> usize {
        1 + self.pieces().map(Piece::size).sum::<usize>()
    }

    /// The pieces directly inside.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.parts.iter().filter_map(|part| match part {
            Part::Piece(piece) => Some(piece),
            Part::Text(_) => None,
        })
    }

    /// The piece at a path of part numbers.
    pub fn at_mut(&mut self, path: &[usize]) -> Option<&mut Piece> {
        let Some((first, rest)) = path.split_first() else { return Some(self) };
        match self.parts.get_mut(*first)? {
            Part::Piece(piece) => piece.at_mut(rest),
            Part::Text(_) => None,
        }
    }

    /// The piece at a path of part numbers.
    pub fn at(&self, path: &[usize]) -> Option<&Piece> {
        let Some((first, rest)) = path.split_first() else { return Some(self) };
        match self.parts.get(*first)? {
            Part::Piece(piece) => piece.at(rest),
            Part::Text(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_and_lines_indented() {
        let sum = Piece::fixed("($ + $)", vec![Piece::text("a"), Piece::text("b")]);
        let body = Piece::droppable("x = $;\n", vec![sum]);
        let piece = Piece::fixed("if (c) {\n$}\n", vec![body]);
        assert_eq!(piece.print(), "if (c) {\n    x = (a + b);\n}\n");
        assert_eq!(piece.size(), 5);
        assert_eq!(piece.at(&[1, 1]).map(Piece::print), Some("(a + b)\n".to_string()));
    }
}
