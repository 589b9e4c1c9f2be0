// SPDX-License-Identifier: Apache-2.0
//! Tokens of Domino, made of the preprocessor's.

use source::Span;
use std::sync::Arc;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// Where it stands; for text of a macro, where the macro is used.
    pub span: Span,
    /// The spelling.
    pub text: Arc<str>,
}

impl source::parse::Token for Token {
    type Kind = TokenKind;
    const END: TokenKind = TokenKind::End;
    const STRING: TokenKind = TokenKind::String;
    const SEMICOLON: TokenKind = TokenKind::Semicolon;
    const OPEN_BRACE: TokenKind = TokenKind::OpenBrace;
    const CLOSE_BRACE: TokenKind = TokenKind::CloseBrace;

    fn kind(&self) -> TokenKind {
        self.kind
    }

    fn span(&self) -> Span {
        self.span
    }

    fn spelling(kind: TokenKind) -> &'static str {
        kind.spelling()
    }
}

macro_rules! token_kinds {
    ($($kind:ident = $spelling:literal,)*) => {
        /// The kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is spelled out by TokenKind::spelling")]
        pub enum TokenKind {
            /// A name.
            Identifier,
            /// A word that starts with a digit.
            Number,
            /// `"..."`
            String,
            /// `'a'`
            Character,
            /// A reserved word of C without a meaning in Domino.
            Reserved,
            /// Text that is no token of C.
            Unknown,
            /// After the last token.
            End,
            $($kind,)*
        }

        impl TokenKind {
            /// Returns the kind of a word or symbol that has one spelling.
            pub fn of_spelling(text: &str) -> Option<TokenKind> {
                match text {
                    $($spelling => Some(TokenKind::$kind),)*
                    _ => None,
                }
            }

            /// Returns how the kind is spelled.
            pub fn spelling(self) -> &'static str {
                match self {
                    TokenKind::Identifier => "name",
                    TokenKind::Number => "number",
                    TokenKind::String => "string",
                    TokenKind::Character => "character",
                    TokenKind::Reserved => "reserved word",
                    TokenKind::Unknown => "unknown text",
                    TokenKind::End => "end of file",
                    $(TokenKind::$kind => $spelling,)*
                }
            }
        }
    };
}

token_kinds! {
    Int = "int", Unsigned = "unsigned", Signed = "signed", Void = "void", Struct = "struct",
    If = "if", Else = "else", For = "for", While = "while", Do = "do", Return = "return", Sizeof = "sizeof",
    PlusPlus = "++", MinusMinus = "--", Arrow = "->",
    ShiftLeftAssign = "<<=", ShiftRightAssign = ">>=",
    PlusAssign = "+=", MinusAssign = "-=", StarAssign = "*=", SlashAssign = "/=", PercentAssign = "%=",
    AmpersandAssign = "&=", PipeAssign = "|=", CaretAssign = "^=",
    ShiftLeft = "<<", ShiftRight = ">>", AndAnd = "&&", OrOr = "||",
    EqualEqual = "==", NotEqual = "!=", GreaterEqual = ">=", LessEqual = "<=",
    Plus = "+", Minus = "-", Star = "*", Slash = "/", Percent = "%", Pipe = "|", Ampersand = "&", Caret = "^",
    Tilde = "~", Not = "!", Less = "<", Greater = ">", Question = "?", Colon = ":", Comma = ",", Dot = ".",
    Assign = "=", Semicolon = ";",
    OpenParen = "(", CloseParen = ")", OpenBracket = "[", CloseBracket = "]", OpenBrace = "{", CloseBrace = "}",
}

/// Words of C that Domino reserves and does not use.
const RESERVED: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "double", "enum", "extern",
    "float", "goto", "inline", "long", "register", "restrict", "short", "static", "switch",
    "typedef", "union", "volatile", "_Bool",
];

/// Types of C that Domino does not have.
pub(super) const OTHER_TYPES: &[&str] =
    &["char", "short", "long", "float", "double", "_Bool", "bool", "enum", "union"];

/// Words before a declaration that Domino does not have.
pub(super) const QUALIFIERS: &[&str] =
    &["const", "static", "volatile", "extern", "register", "inline", "auto", "restrict"];

impl Token {
    /// Converts a token of the preprocessor.
    pub fn of(token: p4::token::Token) -> Token {
        use p4::token::TokenKind as P;
        let text = token.text;
        let kind = match token.kind {
            P::End => TokenKind::End,
            P::Integer => TokenKind::Number,
            P::String => TokenKind::String,
            P::Foreign if text.starts_with('\'') => TokenKind::Character,
            _ => TokenKind::of_spelling(&text).unwrap_or_else(|| {
                if RESERVED.contains(&&*text) {
                    TokenKind::Reserved
                } else if text
                    .starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                {
                    TokenKind::Identifier
                } else {
                    TokenKind::Unknown
                }
            }),
        };
        Token { kind, span: token.span, text }
    }
}
