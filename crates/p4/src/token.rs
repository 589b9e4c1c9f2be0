// SPDX-License-Identifier: Apache-2.0
//! Tokens of P4_16, from the lexer through the preprocessor to the parser.

use source::Span;
use std::sync::Arc;

/// One token, after preprocessing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Where it stands; for text from a macro, where the macro was used.
    pub span: Span,
    /// The spelling. For a string literal, the text between the quotes, escapes not resolved.
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
    (keywords { $($keyword:ident = $spelling:literal,)* } symbols { $($symbol:ident = $mark:literal,)* }) => {
        /// The kinds of tokens (P4_16 v1.2.5 §6.4).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is spelled out by TokenKind::spelling")]
        pub enum TokenKind {
            /// A name that is no keyword.
            Identifier,
            /// A number with an optional width and sign prefix: `10`, `8w0xFF`, `4s0b1_01`.
            Integer,
            /// A string literal.
            String,
            /// `#pragma` in the source: it starts an annotation that ends with its line. The text is
            /// the rest of the line. The parser treats it as `@pragma`.
            Pragma,
            /// A character outside of P4's alphabet; the lexer has reported it.
            Unknown,
            /// A character that P4_16 does not have and a dialect or a text with holes uses.
            Foreign,
            /// A text of another language in braces, as a dialect has it; the text includes the braces.
            Verbatim,
            /// `${name}` in a piece of a program, where an expression is put in. The text is the name.
            Hole,
            /// `${name}` in a piece of a program, where a type is put in.
            TypeHole,
            /// `${name}` in a piece of a program, where statements, declarations or states are put in.
            ListHole,
            /// The end of the input.
            End,
            $($keyword,)*
            $($symbol,)*
        }

        impl TokenKind {
            /// How it is written; for classes such as identifiers, their name in the grammar.
            pub fn spelling(self) -> &'static str {
                match self {
                    TokenKind::Identifier => "identifier",
                    TokenKind::Integer => "number",
                    TokenKind::String => "string",
                    TokenKind::Pragma => "#pragma",
                    TokenKind::Unknown => "unknown character",
                    TokenKind::Foreign => "character of a dialect",
                    TokenKind::Verbatim => "{",
                    TokenKind::Hole | TokenKind::TypeHole | TokenKind::ListHole => "hole",
                    TokenKind::End => "end of file",
                    $(TokenKind::$keyword => $spelling,)*
                    $(TokenKind::$symbol => $mark,)*
                }
            }

            /// Returns the keyword with this spelling.
            pub fn keyword(text: &str) -> Option<TokenKind> {
                match text {
                    $($spelling => Some(TokenKind::$keyword),)*
                    _ => None,
                }
            }

            /// Whether this is a keyword.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$keyword)|*)
            }

            /// All operators and punctuation with their spelling.
            pub const SYMBOLS: &'static [(&'static str, TokenKind)] = &[
                $(($mark, TokenKind::$symbol),)*
            ];
        }
    };
}

token_kinds! {
    keywords {
        Abstract = "abstract", Action = "action", Actions = "actions", Apply = "apply",
        Bool = "bool", Bit = "bit", Break = "break", Const = "const", Continue = "continue",
        Control = "control", Default = "default", Else = "else", Entries = "entries",
        Enum = "enum", Error = "error", Exit = "exit", Extern = "extern", False = "false",
        For = "for", Header = "header", HeaderUnion = "header_union", If = "if", In = "in",
        Inout = "inout", Int = "int", Key = "key", List = "list", MatchKind = "match_kind",
        Out = "out", Package = "package", Parser = "parser", Priority = "priority",
        Return = "return", Select = "select", State = "state", StringType = "string",
        Struct = "struct", Switch = "switch", Table = "table", This = "this",
        Transition = "transition", True = "true", Tuple = "tuple", Type = "type",
        Typedef = "typedef", ValueSet = "value_set", Varbit = "varbit", Void = "void",
        Underscore = "_",
    }
    symbols {
        Mask = "&&&", Range = "..", Dots = "...", ShiftLeft = "<<", ShiftRight = ">>", AndAnd = "&&", OrOr = "||",
        EqualEqual = "==", NotEqual = "!=", GreaterEqual = ">=", LessEqual = "<=",
        PlusPlus = "++", PlusColon = "+:", Plus = "+", PlusSaturating = "|+|", Minus = "-",
        MinusSaturating = "|-|", Star = "*", Slash = "/", Percent = "%", Pipe = "|",
        Ampersand = "&", Caret = "^", Tilde = "~", OpenBracket = "[", CloseBracket = "]",
        OpenBrace = "{", CloseBrace = "}", InvalidHeader = "{#}", OpenAngle = "<", CloseAngle = ">", Not = "!",
        Colon = ":", Comma = ",", Question = "?", Dot = ".", Assign = "=", Semicolon = ";",
        At = "@", OpenParen = "(", CloseParen = ")",
        PlusAssign = "+=", MinusAssign = "-=", StarAssign = "*=", SlashAssign = "/=",
        PercentAssign = "%=", AmpersandAssign = "&=", PipeAssign = "|=", CaretAssign = "^=",
        ShiftLeftAssign = "<<=", ShiftRightAssign = ">>=", PlusSaturatingAssign = "|+|=",
        MinusSaturatingAssign = "|-|=",
    }
}
