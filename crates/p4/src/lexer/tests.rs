// SPDX-License-Identifier: Apache-2.0
//! What text becomes which tokens, and what is reported.

use super::{TriviaKind, lex_with_comments};
use crate::token::TokenKind;
use source::{Diagnostics, SourceMap};

/// The tokens with their kinds, the trivia, and the diagnostics, one to a line.
fn lexed(text: &str) -> String {
    let mut map = SourceMap::new();
    let file = map.add("test.p4", text);
    let mut diagnostics = Diagnostics::new();
    let (tokens, trivia) = lex_with_comments(&map, file, &mut diagnostics);
    let mut result = String::new();
    for token in &tokens {
        if token.kind == TokenKind::End {
            assert_eq!(token.span.start as usize, text.len());
            continue;
        }
        let kind = match token.kind {
            TokenKind::Identifier => "name",
            TokenKind::Integer => "number",
            TokenKind::String => "string",
            TokenKind::Unknown => "unknown",
            TokenKind::Foreign | TokenKind::Hole | TokenKind::TypeHole | TokenKind::ListHole => {
                "foreign"
            }
            kind if kind.is_keyword() => "keyword",
            _ => "symbol",
        };
        result.push_str(&format!("{kind} {}\n", token.text.escape_debug()));
    }
    for item in &trivia {
        let kind = match item.kind {
            TriviaKind::LineComment => "line comment",
            TriviaKind::BlockComment => "block comment",
            TriviaKind::Directive => "directive",
            TriviaKind::Excluded => "excluded",
        };
        result.push_str(&format!("{kind} {}\n", map.slice(item.span).escape_debug()));
    }
    for diagnostic in diagnostics.iter() {
        let place = map.location(diagnostic.primary.span).expect("a place");
        result.push_str(&format!(
            "{} {}:{} {}\n",
            diagnostic.code, place.line, place.column, diagnostic.message
        ));
    }
    result.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn check(text: &str, expected: &str) {
    let expected: String = expected.lines().map(|line| format!("{}\n", line.trim())).collect();
    let expected = expected.trim_start_matches('\n');
    assert_eq!(lexed(text), expected, "for {text:?}");
}

#[test]
fn words_and_numbers() {
    check(
        "bit<8> x_1 = 8w0xFF_0 + 4s0b1_1 ++ 0o17 - 0d9 _ this",
        "keyword bit\nsymbol <\nnumber 8\nsymbol >\nname x_1\nsymbol =\nnumber 8w0xFF_0\nsymbol +\n\
         number 4s0b1_1\nsymbol ++\nnumber 0o17\nsymbol -\nnumber 0d9\nkeyword _\nkeyword this\n",
    );
    // Malformed numbers stay whole.
    check(
        "8w 0xZZ 1..5 9w0b2",
        "number 8w\nnumber 0xZZ\nnumber 1\nsymbol ..\nnumber 5\nnumber 9w0b2\n",
    );
}

#[test]
fn longest_symbol_wins() {
    check(
        "a|+|=b |+| |-|= &&& && >>= >> {#} { } ... .. . +: ++",
        "name a\nsymbol |+|=\nname b\nsymbol |+|\nsymbol |-|=\nsymbol &&&\nsymbol &&\nsymbol >>=\n\
         symbol >>\nsymbol {#}\nsymbol {\nsymbol }\nsymbol ...\nsymbol ..\nsymbol .\nsymbol +:\n\
         symbol ++\n",
    );
}

#[test]
fn every_symbol_is_lexed_as_itself() {
    for (spelling, kind) in TokenKind::SYMBOLS {
        let mut map = SourceMap::new();
        let file = map.add("test.p4", *spelling);
        let tokens = super::lex(&map, file, &mut Diagnostics::new());
        assert_eq!((tokens.len(), tokens[0].kind), (2, *kind), "for {spelling}");
    }
}

#[test]
fn strings() {
    check(r#""a \" b" "" "\\" x"#, "string a \\\\\\\" b\nstring \nstring \\\\\\\\\nname x\n");
    check("\"two\nlines\" x", "string two\\nlines\nname x\n");
    check("\"joined \\\nlines\"", "string joined lines\n");
    check(
        "a = \"open;\r\nb",
        "name a\nsymbol =\nstring open\nsymbol ;\nname b\nP4-E0003 1:5 this string is never closed\n",
    );
    // A quote that begins another string does not close one.
    check(
        "(\"a)\n(\"b\")",
        "symbol (\nstring a\nsymbol )\nsymbol (\nstring b\nsymbol )\nP4-E0003 1:2 this string is never closed\n",
    );
    check("(\"a)\nb\")", "symbol (\nstring a)\\nb\nsymbol )\n");
    // After one unclosed string, the others end with their lines.
    check(
        "\"a\\\"\n\"b\"",
        "string a\\\\\\\"\\n\nname b\nstring \nP4-E0003 2:3 this string is never closed\n",
    );
}

#[test]
fn comments_and_directives_are_trivia() {
    check(
        "#include <core.p4>\r\n  # define A \\\n  b\nx // one\r\n/* two\n */ y",
        "name x\nname y\ndirective #include <core.p4>\ndirective # define A \\\\\\n  b\n\
         line comment // one\nblock comment /* two\\n */\n",
    );
    check("/**/#if 1\nx", "name x\nblock comment /**/\ndirective #if 1\n");
    check("x /* y", "name x\nblock comment /* y\nP4-E0002 1:3 this comment is never closed\n");
}

#[test]
fn unknown_characters_are_reported_once_for_a_run() {
    check(
        "a $$$ b",
        "name a\nunknown $$$\nname b\nP4-E0001 1:3 P4 does not know the characters `$$$`\n",
    );
    check(
        "\u{feff}é ä",
        "unknown é\nunknown ä\nP4-E0001 1:2 P4 does not know the character `é` (U+00E9)\n\
         P4-E0001 1:4 P4 does not know the character `ä` (U+00E4)\n",
    );
    check(
        "x = 'a' # b",
        "name x\nsymbol =\nunknown \\'a\\'\nunknown #\nname b\n\
         P4-E0001 1:5 P4 has no character constants\nP4-E0001 1:9 `#` does not belong here\n",
    );
    check("\\", "unknown \\\\\nP4-E0001 1:1 P4 does not know the character `\\`\n");
}

#[test]
fn annotation_bodies_hold_anything() {
    check(
        "@a('x' (`) $) `",
        "symbol @\nname a\nsymbol (\nunknown \\'x\\'\nsymbol (\nunknown `\nsymbol )\nunknown $\n\
         symbol )\nunknown `\nP4-E0001 1:15 P4 does not know the character ```\n",
    );
}
