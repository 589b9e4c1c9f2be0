// SPDX-License-Identifier: Apache-2.0
//! [`P4R`]: the forms that P4R adds to P4_16 (Mantis, Figure 3). `declarations` makes values of them.

use super::c_text;
use p4::ast::{DeclarationKind, Extension, Program, TypeRef};
use p4::dialect::{Dialect, ExtensionReader, FormPlace, Unparsed};
use p4::token::{Token, TokenKind as T};
use std::ops::Range;

/// `malleable value T name { init = expression; }`
pub(crate) const VALUE: &str = "malleable value";
/// `malleable field T name { init = path; alts { path, path } }`
pub(crate) const FIELD: &str = "malleable field";
/// `reaction name(arguments) { C }`
pub(crate) const REACTION: &str = "reaction";
/// `init { C }`
pub(crate) const INIT: &str = "init";
/// `c { C }`
pub(crate) const SHARED: &str = "c";
/// `state { C }`
pub(crate) const STATE: &str = "state";
/// `${name}`
pub(crate) const REFERENCE: &str = "reference";

/// The word before a malleable table, which is an annotation of it.
pub(crate) const MALLEABLE: &str = "malleable";

/// P4R as a dialect of P4_16.
pub struct P4R;

impl Dialect for P4R {
    fn name(&self) -> &'static str {
        "P4R"
    }

    fn characters(&self) -> &'static str {
        "$"
    }

    fn verbatim(&self, text: &str) -> Vec<Range<usize>> {
        c_text::find(text)
    }

    fn is_annotation(&self, word: &Token, next: &Token) -> bool {
        word.kind == T::Identifier && &*word.text == MALLEABLE && next.kind == T::Table
    }

    fn form<'t>(
        &self,
        place: FormPlace,
        ahead: &dyn Fn(usize) -> &'t Token,
    ) -> Option<&'static str> {
        let first = ahead(0);
        let is_c = || ahead(1).kind == T::Verbatim;
        // `init() { C }`, which is reported.
        let is_function = || ahead(1).kind == T::OpenParen && ahead(2).kind == T::CloseParen;
        match (place, first.kind, &*first.text) {
            (FormPlace::TopLevel, T::Identifier, MALLEABLE) => match &*ahead(1).text {
                "value" => Some(VALUE),
                "field" => Some(FIELD),
                _ => None,
            },
            (FormPlace::TopLevel, T::Identifier, "reaction")
                if ahead(1).kind == T::Identifier && ahead(2).kind == T::OpenParen =>
            {
                Some(REACTION)
            }
            (FormPlace::TopLevel, T::Identifier, "init") if is_c() || is_function() => Some(INIT),
            (FormPlace::TopLevel, T::Identifier, "c") if is_c() => Some(SHARED),
            (FormPlace::TopLevel, T::State, _) if is_c() => Some(STATE),
            (FormPlace::Expression, T::Foreign, _) => Some(REFERENCE),
            _ => None,
        }
    }

    fn read(&self, form: &'static str, reader: &mut dyn ExtensionReader) -> Result<(), Unparsed> {
        match form {
            REFERENCE => {
                if !reader.ahead(0).text.starts_with("${") {
                    return Err(reader.unexpected("`${name}`"));
                }
                reader.token();
                Ok(())
            }
            VALUE => {
                reader.token();
                reader.token();
                reader.type_ref()?;
                reader.name("a malleable value")?;
                reader.expect(T::OpenBrace, "after the name of a malleable value")?;
                word(reader, "init")?;
                reader.expect(T::Assign, "after `init`")?;
                reader.expression()?;
                reader.expect(T::Semicolon, "after the initial value")?;
                reader.expect(T::CloseBrace, "after the initial value")
            }
            FIELD => read_field(reader),
            REACTION => read_reaction(reader),
            _ => {
                reader.token();
                reader.verbatim("before the text in C")
            }
        }
    }

    fn type_of<'p>(&self, extension: &Extension, program: &'p Program) -> Option<&'p TypeRef> {
        let name = referred(extension)?;
        program.declarations.iter().find_map(|declaration| match &declaration.kind {
            DeclarationKind::Extension(malleable)
                if *declaration.name.text == *name && matches!(malleable.form, VALUE | FIELD) =>
            {
                malleable.types().next()
            }
            _ => None,
        })
    }

    fn declared<'p>(&self, program: &'p Program) -> Vec<&'p str> {
        let named = |declaration: &'p p4::ast::Declaration| match &declaration.kind {
            DeclarationKind::Extension(malleable) if matches!(malleable.form, VALUE | FIELD) => {
                Some(&*declaration.name.text)
            }
            _ => None,
        };
        program.declarations.iter().filter_map(named).collect()
    }

    fn is_variable(&self, _: &Extension) -> bool {
        true
    }
}

/// The name in `${name}`.
pub(crate) fn referred(reference: &Extension) -> Option<&str> {
    reference.tokens().next()?.text.strip_prefix("${")?.strip_suffix('}')
}

fn word(reader: &mut dyn ExtensionReader, expected: &str) -> Result<(), Unparsed> {
    if &*reader.ahead(0).text != expected {
        return Err(reader.unexpected(&format!("`{expected}`")));
    }
    reader.token();
    Ok(())
}

fn read_field(reader: &mut dyn ExtensionReader) -> Result<(), Unparsed> {
    reader.token();
    reader.token();
    reader.type_ref()?;
    reader.name("a malleable field")?;
    reader.expect(T::OpenBrace, "after the name of a malleable field")?;
    word(reader, "init")?;
    reader.expect(T::Assign, "after `init`")?;
    read_path(reader, "a field such as `hdr.ipv4.srcAddr`")?;
    reader.expect(T::Semicolon, "after the initial field")?;
    word(reader, "alts")?;
    reader.expect(T::OpenBrace, "after `alts`")?;
    loop {
        read_path(reader, "a field such as `hdr.ipv4.srcAddr`")?;
        match reader.ahead(0).kind {
            T::Comma => reader.token(),
            _ => break,
        };
        if reader.ahead(0).kind == T::CloseBrace {
            break;
        }
    }
    reader.expect(T::CloseBrace, "after the alternatives")?;
    if reader.ahead(0).kind == T::Semicolon {
        reader.token();
    }
    reader.expect(T::CloseBrace, "after the alternatives")
}

/// Reads `name.name[number].name`.
fn read_path(reader: &mut dyn ExtensionReader, what: &str) -> Result<(), Unparsed> {
    let is_name = |token: &Token| token.kind == T::Identifier || token.kind.is_keyword();
    if reader.ahead(0).kind != T::Identifier {
        return Err(reader.unexpected(what));
    }
    reader.token();
    loop {
        match reader.ahead(0).kind {
            T::Dot if is_name(reader.ahead(1)) => {
                reader.token();
                reader.token();
            }
            T::OpenBracket
                if reader.ahead(1).kind == T::Integer
                    && reader.ahead(2).kind == T::CloseBracket =>
            {
                reader.token();
                reader.token();
                reader.token();
            }
            T::Dot => return Err(reader.unexpected("the name of a field")),
            _ => return Ok(()),
        }
    }
}

fn read_reaction(reader: &mut dyn ExtensionReader) -> Result<(), Unparsed> {
    reader.token();
    reader.name("a reaction")?;
    reader.expect(T::OpenParen, "after the name of a reaction")?;
    while reader.ahead(0).kind != T::CloseParen {
        read_argument(reader)?;
        match reader.ahead(0).kind {
            T::Comma => reader.token(),
            T::CloseParen => break,
            _ => return Err(reader.unexpected("`,` or `)` after an argument of a reaction")),
        };
    }
    reader.expect(T::CloseParen, "after the arguments of a reaction")?;
    reader.verbatim("before the body of a reaction")
}

fn read_argument(reader: &mut dyn ExtensionReader) -> Result<(), Unparsed> {
    match &*reader.ahead(0).text {
        "ing" | "egr" => {
            reader.token();
            if reader.ahead(0).kind == T::Header {
                reader.token();
            }
            match reader.ahead(0).kind {
                T::Foreign => {
                    reader.token();
                }
                _ => read_path(reader, "a field, a header or `${name}`")?,
            }
        }
        "reg" => {
            reader.token();
            read_path(reader, "a register")?;
            if reader.ahead(0).kind == T::OpenBracket {
                reader.token();
                reader.expression()?;
                reader.expect(T::Colon, "between the first and the last cell")?;
                reader.expression()?;
                reader.expect(T::CloseBracket, "after the last cell")?;
            }
        }
        _ => read_path(
            reader,
            "an argument: `ing FIELD`, `egr FIELD`, `reg REGISTER` or a constant",
        )?,
    }
    if &*reader.ahead(0).text == "as" {
        reader.token();
        if reader.ahead(0).kind != T::Identifier && !reader.ahead(0).kind.is_keyword() {
            return Err(reader.unexpected("a name after `as`"));
        }
        reader.token();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::P4R;
    use p4::format::format_dialect;

    #[test]
    fn the_formatter_ends_lines_of_c_like_all_others() {
        let text = "const bit<8> a=1;\n\nreaction r() {\n    int  x;\n    log(\"\\r\\n\");\n}\n";
        let expected = text.replace("a=1", "a = 1");
        let found = format_dialect(&text.replace('\n', "\r\n"), Some(&P4R)).expect("formats");
        assert_eq!(found, expected);
        assert_eq!(format_dialect(&expected, Some(&P4R)).as_deref(), Ok(&*expected));
    }
}
