// SPDX-License-Identifier: Apache-2.0
//! Token kinds and their spellings, with the reserved words. Words that are keywords in one place only
//! (`end`, `read`, `entry`) are names here; the parser recognizes them.

#![allow(missing_docs, reason = "most kinds are their own spelling")]

use source::Span;

/// A token of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
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

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name.
    Identifier,
    /// `'a`
    Variable,
    /// A word that starts with a digit; the parser reports malformed numbers such as `0b3` or `12ab`.
    Number,
    /// `0b1*0`
    BitPattern,
    /// `"..."`
    String,
    /// `@main`, `@7`
    Annotation,

    Mask,
    AndAnd,
    OrOr,
    Ampersand,
    SaturatingPlus,
    SaturatingMinus,
    Pipe,
    CaretCaret,
    Caret,
    EqualEqual,
    NotEqual,
    LessEqual,
    GreaterEqual,
    TripleLess,
    TripleGreater,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    Arrow,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Question,
    Not,
    Tilde,
    Hash,
    Assign,
    Semicolon,
    Colon,
    Comma,
    Dot,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,

    Include,
    True,
    False,
    If,
    Else,
    Int,
    Bool,
    Void,
    Event,
    Generate,
    GenerateMany,
    GenerateSwitch,
    GeneratePort,
    GeneratePorts,
    Printf,
    Handle,
    Fun,
    Memop,
    Return,
    Size,
    Global,
    Const,
    Extern,
    Symbolic,
    /// `hash`
    HashWord,
    Auto,
    Group,
    Match,
    With,
    Type,
    Constructor,
    Module,
    For,
    SizeToInt,
    Flood,
    Action,
    Parser,
    Bitstring,
    Underscore,

    /// After the last token.
    End,
}

/// The syntactic role of a token whose kind is ambiguous. The formatter reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// The kind is unambiguous.
    #[default]
    Plain,
    /// An operator before its operand.
    Prefix,
    /// An operator between operands, also of sizes and constraints.
    Binary,
    /// Opens sizes, types or a width: `<`, `<<`.
    AngleOpen,
    /// Closes them.
    AngleClose,
    /// Opens a body.
    BlockOpen,
    /// Closes a body.
    BlockClose,
    /// Opens a record type.
    TypeOpen,
    /// Closes a record type.
    TypeClose,
    /// Opens a group.
    ValueOpen,
    /// Opens a record or a table's entries.
    RecordOpen,
    /// Opens a vector.
    VectorOpen,
    /// Opens the constraints of a function.
    ConstraintOpen,
    /// Closes the type of a cast.
    CastClose,
    /// The `|` of a branch.
    Branch,
    /// The `:` of a slice.
    SliceColon,
    /// The `:` behind a word, as in `key_type:`.
    LabelColon,
}

/// A token's role, and whether a statement, declaration or field begins with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub role: Role,
    pub begins: bool,
}

use TokenKind as T;

/// The words that are reserved everywhere.
const RESERVED: &[(&str, TokenKind)] = &[
    ("include", T::Include),
    ("true", T::True),
    ("false", T::False),
    ("if", T::If),
    ("else", T::Else),
    ("int", T::Int),
    ("bool", T::Bool),
    ("void", T::Void),
    ("event", T::Event),
    ("generate", T::Generate),
    ("mgenerate", T::GenerateMany),
    ("generate_switch", T::GenerateSwitch),
    ("generate_port", T::GeneratePort),
    ("generate_ports", T::GeneratePorts),
    ("printf", T::Printf),
    ("handle", T::Handle),
    ("fun", T::Fun),
    ("memop", T::Memop),
    ("return", T::Return),
    ("size", T::Size),
    ("global", T::Global),
    ("const", T::Const),
    ("extern", T::Extern),
    ("symbolic", T::Symbolic),
    ("hash", T::HashWord),
    ("auto", T::Auto),
    ("group", T::Group),
    ("match", T::Match),
    ("with", T::With),
    ("type", T::Type),
    ("constr", T::Constructor),
    ("constructor", T::Constructor),
    ("module", T::Module),
    ("for", T::For),
    ("size_to_int", T::SizeToInt),
    ("flood", T::Flood),
    ("action", T::Action),
    ("parser", T::Parser),
    ("bitstring", T::Bitstring),
    ("_", T::Underscore),
];

impl TokenKind {
    /// The reserved word that `text` is.
    pub fn reserved(text: &str) -> Option<TokenKind> {
        RESERVED.iter().find(|(word, _)| *word == text).map(|(_, kind)| *kind)
    }

    /// Whether this is a reserved word.
    pub fn is_reserved(self) -> bool {
        self != T::Underscore && RESERVED.iter().any(|(_, kind)| *kind == self)
    }

    /// How a token is spelled that has one spelling; empty for others.
    pub fn spelling(self) -> &'static str {
        match self {
            T::OpenParen => "(",
            T::CloseParen => ")",
            T::OpenBracket => "[",
            T::CloseBracket => "]",
            T::OpenBrace => "{",
            T::CloseBrace => "}",
            T::Less => "<",
            T::Greater => ">",
            T::ShiftLeft => "<<",
            T::ShiftRight => ">>",
            T::Semicolon => ";",
            T::Colon => ":",
            T::Comma => ",",
            T::Dot => ".",
            T::Assign => "=",
            T::Pipe => "|",
            T::Arrow => "->",
            kind => RESERVED.iter().find(|(_, word)| *word == kind).map_or("", |(text, _)| text),
        }
    }
}
