// SPDX-License-Identifier: Apache-2.0
//! Tokens of files of atoms and codelets.

use super::codes;
use source::{Diagnostic, Diagnostics, FileId, Span};

macro_rules! kinds {
    ($($name:ident $spelling:literal,)*) => {
        /// The kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind { End, Name, Number, Bad, $($name,)* }

        /// Words and operators, longer ones first.
        const FIXED: &[(Kind, &str)] = &[$((Kind::$name, $spelling),)*];
    };
}

kinds! {
    Codelet "codelet", Define "define", State "state", Input "input", Atom "atom", Else "else", Rel "rel",
    Opt "opt", If "if", Ar "ar", Hole "C", Unsigned "u",
    LogicalOr "||", LogicalAnd "&&", Equal "==", NotEqual "!=", LessEqual "<=", GreaterEqual ">=",
    ShiftLeft "<<", ShiftRight ">>", Range "..",
    Or "|", Xor "^", And "&", Less "<", Greater ">", Add "+", Subtract "-", Multiply "*", Divide "/",
    Remainder "%", Not "!", Complement "~", Question "?", Colon ":", Assign "=", Comma ",", Dot ".",
    Semicolon ";", OpenBrace "{", CloseBrace "}", OpenParen "(", CloseParen ")", OpenBracket "[",
    CloseBracket "]",
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    pub span: Span,
}

impl source::parse::Token for Token {
    type Kind = Kind;
    const END: Kind = Kind::End;
    // There are no strings: only the lexer makes this kind.
    const STRING: Kind = Kind::Bad;
    const SEMICOLON: Kind = Kind::Semicolon;
    const OPEN_BRACE: Kind = Kind::OpenBrace;
    const CLOSE_BRACE: Kind = Kind::CloseBrace;

    fn kind(&self) -> Kind {
        self.kind
    }

    fn span(&self) -> Span {
        self.span
    }

    fn spelling(kind: Kind) -> &'static str {
        FIXED.iter().find(|(fixed, _)| *fixed == kind).map_or("", |(_, spelling)| spelling)
    }
}

/// Returns the tokens of a text, the last of which is the end, and the places of tokens that are reported here.
pub fn tokens(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> (Vec<Token>, Vec<usize>) {
    let (mut tokens, mut broken) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == '#' || rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let word =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (kind, length) = if first.is_ascii_digit() {
            (Kind::Number, word)
        } else if word > 0 {
            let fixed = FIXED.iter().find(|(_, spelling)| *spelling == &rest[..word]);
            (fixed.map_or(Kind::Name, |(kind, _)| *kind), word)
        } else {
            match FIXED.iter().find(|(_, spelling)| rest.starts_with(spelling)) {
                Some((kind, spelling)) => (*kind, spelling.len()),
                None => (Kind::Bad, first.len_utf8()),
            }
        };
        let span = Span::new(file, at as u32, (at + length) as u32);
        if kind == Kind::Bad {
            broken.push(tokens.len());
            let message = format!("`{}` means nothing here", source::printable(&rest[..length], 8));
            diagnostics.push(
                Diagnostic::error(codes::BAD_CHARACTER, span, message)
                    .help("names are letters, digits and `_`; comments begin with `#`"),
            );
        }
        tokens.push(Token { kind, span });
        at += length;
    }
    let end = text.len() as u32;
    tokens.push(Token { kind: Kind::End, span: Span::new(file, end, end) });
    (tokens, broken)
}
