// SPDX-License-Identifier: Apache-2.0
//! Messages of C compilers as diagnostics: their places are in the P4R files, by the `#line` of the generated text.

use super::arguments::Arguments;
use super::codes::{C_ERROR, C_WARNING, COMPILER_FAILED};
use super::generate::GENERATED_NAME;
use super::lexer::tokens;
use super::names::path_at;
use super::tables::table_functions;
use crate::interface::{CText, Interface, PathStep, Reaction, path_text};
use source::{Diagnostic, Diagnostics, FileId, Severity, SourceMap, Span, nearest};
use std::sync::Arc;

/// A message with its place.
struct Message<'o> {
    file: &'o str,
    line: u32,
    column: Option<u32>,
    kind: &'o str,
    text: &'o str,
}

/// Reads `file:line:column: kind: text`. Names of known files may have any character.
fn message<'o>(line: &'o str, names: &[&str]) -> Option<Message<'o>> {
    let known = names
        .iter()
        .find(|name| line.strip_prefix(**name).is_some_and(|rest| rest.starts_with(':')));
    let behind_name = known.map_or(0, |name| name.len());
    let (kind, at) = ["fatal error", "error", "warning", "note"]
        .into_iter()
        .filter_map(|kind| Some((kind, line[behind_name..].find(&format!(": {kind}: "))?)))
        .min_by_key(|(_, at)| *at)?;
    let (place, text) = line.split_at(behind_name + at);
    let text = &text[kind.len() + 4..];
    let (before, last) =
        place.rsplit_once(':').filter(|(before, _)| before.len() >= behind_name)?;
    let last: u32 = last.parse().ok()?;
    let with_column = before
        .rsplit_once(':')
        .filter(|(file, _)| file.len() >= behind_name)
        .and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line, column) = match with_column {
        Some((file, line)) => (file, line, Some(last)),
        None => (before, last, None),
    };
    Some(Message { file, line, column, kind, text })
}

/// Reads `file:line: text` of a linker.
fn linker_message(line: &str) -> Option<Message<'_>> {
    let at = line.find(": undefined reference to ")?;
    let (file, number) = line[..at].rsplit_once(':')?;
    let file = file.rsplit_once(": ").map_or(file, |(_, file)| file);
    let number = number.parse().ok()?;
    Some(Message { file, line: number, column: None, kind: "error", text: &line[at + 2..] })
}

/// Returns the diagnostics in the output of a compiler that read `generated`.
pub fn diagnostics(
    output: &str,
    succeeded: bool,
    generated: &str,
    interface: &Interface,
    map: &SourceMap,
) -> Diagnostics {
    let reader = Reader { generated, interface, map };
    let mut all: Vec<Diagnostic> = Vec::new();
    let files = (0..map.file_count() as u32).map(FileId);
    let names: Vec<&str> = files.map(|file| &**map.name(file)).collect();
    for line in output.lines() {
        let Some(message) = message(line, &names).or_else(|| linker_message(line)) else {
            continue;
        };
        match (message.kind, all.pop()) {
            ("note", last) => all.extend(last.map(|last| reader.with_note(last, &message))),
            (_, last) => all.extend(last.into_iter().chain([reader.diagnostic(&message)])),
        }
    }
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    let has_place = |diagnostic: &Diagnostic| !diagnostic.primary.span.is_none();
    let has_errors = all.iter().any(is_error);
    let has_placed_errors = all.iter().any(|each| is_error(each) && has_place(each));
    let mut found = Diagnostics::new();
    for diagnostic in all {
        // What follows from an error, and what the program has no text for, would only hide it.
        let matters = match is_error(&diagnostic) {
            true => has_place(&diagnostic) || !has_placed_errors,
            false => has_place(&diagnostic) && !has_errors,
        };
        if matters {
            found.push(diagnostic);
        }
    }
    if !succeeded && !found.has_errors() {
        let last: Vec<&str> = output.lines().rev().take(3).collect();
        let mut diagnostic =
            Diagnostic::error(COMPILER_FAILED, Span::NONE, "the C compiler made no module");
        for line in last.iter().rev().filter(|line| !line.trim().is_empty()) {
            diagnostic = diagnostic.note(line.trim());
        }
        found.push(diagnostic);
    }
    found
}

struct Reader<'r> {
    generated: &'r str,
    interface: &'r Interface,
    map: &'r SourceMap,
}

impl<'r> Reader<'r> {
    fn diagnostic(&self, message: &Message<'_>) -> Diagnostic {
        let (text, option) = without_option(message.text);
        let text = self.in_words_of_the_program(text);
        let place = self.place(message);
        let span = place.unwrap_or(Span::NONE);
        let mut diagnostic = match message.kind {
            "warning" => Diagnostic::warning(C_WARNING, span, text),
            _ => Diagnostic::error(C_ERROR, span, text),
        };
        if place.is_none() {
            diagnostic = diagnostic.note(format!("at {}:{}", message.file, message.line));
        }
        if let Some(option) = option.filter(|_| message.kind == "warning") {
            diagnostic = diagnostic.note(format!("reported by the C compiler's option {option}"));
        }
        match place.filter(|_| message.kind != "warning") {
            Some(span) => self.advise(diagnostic, span),
            None => diagnostic,
        }
    }

    fn with_note(&self, diagnostic: Diagnostic, note: &Message<'_>) -> Diagnostic {
        // The compiler says this once a file.
        if note.text.starts_with("each undeclared identifier") {
            return diagnostic;
        }
        let text = self.in_words_of_the_program(without_option(note.text).0);
        if let Some(span) = self.place(note) {
            return diagnostic.label(span, text);
        }
        // A function of a table: its declaration says what it takes.
        let line = self.generated.lines().nth(note.line as usize - 1);
        let functions = table_functions(self.interface);
        let declared = functions.iter().find(|function| {
            note.file.ends_with(GENERATED_NAME)
                && line.is_some_and(|line| line.contains(&format!(" {}(", function.name)))
        });
        match declared {
            Some(function) => diagnostic.note(format!("declared as `{}`", function.signature())),
            None => diagnostic,
        }
    }

    fn file(&self, name: &str) -> Option<FileId> {
        let files = (0..self.map.file_count() as u32).map(FileId);
        files.into_iter().find(|file| &**self.map.name(*file) == name)
    }

    /// Returns the token at the place of a message.
    fn place(&self, message: &Message<'_>) -> Option<Span> {
        let file = self.file(message.file)?;
        let text = self.map.text(file);
        let start: usize = text
            .split_inclusive('\n')
            .take(message.line.checked_sub(1)? as usize)
            .map(str::len)
            .sum();
        let line = text.get(start..)?.split('\n').next()?;
        let line = line.trim_end_matches('\r');
        let column = match message.column {
            Some(column) => (column as usize).saturating_sub(1).min(line.len()),
            None => line.len() - line.trim_start().len(),
        };
        let column = (0..=column).rev().find(|at| line.is_char_boundary(*at))?;
        let all = tokens(line);
        // In the arguments of a macro the compiler's place is the macro.
        let name = undeclared(message.text);
        let named = all
            .iter()
            .find(|token| token.start >= column && name.is_some_and(|name| token.is_word(name)));
        let at_column = all.iter().find(|token| token.start <= column && column < token.end);
        let token = named.or(at_column);
        let (from, to) = match (message.column, token) {
            (Some(_), Some(token)) => (token.start, token.end),
            (None, _) => (column, line.trim_end().len()),
            (Some(_), None) => (column, column),
        };
        Some(Span::new(file, (start + from) as u32, (start + to.max(from)) as u32))
    }

    /// Writes names as in the program: `x`, and `${v}` for its macros and its place in memory.
    fn in_words_of_the_program(&self, text: &str) -> String {
        let mut text = text.trim().to_string();
        let values = self.interface.values.iter().map(|value| (&value.name, "v_"));
        for (name, prefix) in
            values.chain(self.interface.fields.iter().map(|field| (&field.name, "f_")))
        {
            let written = format!("${{{name}}}");
            for generated in [
                format!("p4r_malleables.{prefix}{name}"),
                format!("'{prefix}{name}'"),
                format!("'$${name}'"),
                format!("'${name}'"),
            ] {
                let quoted = generated.starts_with('\'');
                let with = if quoted { format!("'{written}'") } else { written.clone() };
                text = text.replace(&generated, &with);
            }
        }
        // GCC and clang, for `valid(...)`.
        if text.contains("p4r_valid") || text.starts_with("member reference base type") {
            return "`valid` is asked of what is no header among the arguments".to_string();
        }
        text.replace(" (first use in this function)", "").replace('\'', "`")
    }

    fn reaction_at(&self, span: Span) -> Option<(usize, &'r Reaction)> {
        let within = |text: &CText| {
            text.span.file == span.file
                && text.span.start <= span.start
                && span.start < text.span.end
        };
        self.interface.reactions.iter().enumerate().find(|(_, reaction)| within(&reaction.body))
    }

    /// Adds advice to an error at a name: the arguments of the reaction, or the functions of tables.
    fn advise(&self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        let Some((index, reaction)) = self.reaction_at(span) else {
            return self.advise_outside(diagnostic, span);
        };
        let body = &reaction.body;
        // GCC and clang.
        let is_read_only =
            ["read-only", "const-qualified"].iter().any(|words| diagnostic.message.contains(words));
        if is_read_only {
            return diagnostic.help(
                "an argument is a copy of what was measured; a reaction acts by malleable values, fields and tables",
            );
        }
        let tokens = tokens(&body.text);
        let offset = (span.start - body.span.start) as usize;
        let Some(at) = tokens.iter().position(|token| token.start <= offset && offset < token.end)
        else {
            return diagnostic;
        };
        let first = (0..=at).rev().find(|first| {
            path_at(&tokens, *first).is_some_and(|path| *first <= at && at < path.end)
        });
        let Some(path) = first.and_then(|first| path_at(&tokens, first)) else { return diagnostic };
        let name = tokens[at].text;
        let is_call = tokens.get(path.end).is_some_and(|token| token.is("("));
        if is_call && path.steps.len() == 1 {
            return self.advise_call(diagnostic, name);
        }
        let is_index = |step: &PathStep| matches!(step, PathStep::Index(_));
        let indices = path.steps.iter().rev().take_while(|step| is_index(step)).count();
        let written = path_text(&path.steps[..path.steps.len() - indices]);
        let arguments = Arguments::new(index, reaction);
        if let Some(advice) = self.other_object(&written, path.steps.first()) {
            return diagnostic.help(advice);
        }
        let is_unknown = path.steps.len() > 1 || diagnostic.message.contains("undeclared");
        match is_unknown && arguments.is_unknown(&written) {
            true => arguments.advise(diagnostic, &written),
            false => diagnostic,
        }
    }

    /// Adds advice to an error at an argument outside of its reaction.
    fn advise_outside(&self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        let word = self.map.slice(span);
        let mut reactions = self.interface.reactions.iter().enumerate();
        match reactions.find(|(index, reaction)| Arguments::new(*index, reaction).has_variable(word))
        {
            Some((_, reaction)) if diagnostic.message.contains("undeclared") => diagnostic.help(format!(
                "arguments are variables of their reaction, here of `{}`: pass the value to the function",
                reaction.name
            )),
            _ => diagnostic,
        }
    }

    /// Adds what may be meant to an error about a function.
    fn advise_call(&self, diagnostic: Diagnostic, name: &str) -> Diagnostic {
        let functions = table_functions(self.interface);
        let names = functions.iter().map(|function| function.name.as_str());
        if names.clone().any(|known| known == name) {
            return diagnostic;
        }
        match nearest(name, names) {
            // Some compilers suggest it themselves.
            Some(nearest) if diagnostic.message.contains(&format!("`{nearest}`")) => {
                return diagnostic;
            }
            Some(nearest) => return diagnostic.help(format!("did you mean `{nearest}`?")),
            None => {}
        }
        let is_of = |table: &&Arc<str>| {
            name.strip_prefix(&***table).is_some_and(|rest| rest.starts_with('_'))
        };
        let tables = self.interface.tables.iter().map(|table| &table.name);
        if let Some(table) = tables.filter(is_of).max_by_key(|table| table.len()) {
            return diagnostic.help(self.functions_of(table));
        }
        let ordinary = self.interface.ordinary_tables.iter();
        match ordinary.filter(is_of).max_by_key(|table| table.len()) {
            Some(table) => diagnostic.help(format!(
                "reactions write malleable tables only: declare it as `malleable table {table}`"
            )),
            None => diagnostic,
        }
    }

    fn functions_of(&self, table: &str) -> String {
        let functions = table_functions(self.interface);
        let of = functions.iter().filter(|one| *self.interface.tables[one.table].name == *table);
        let names: Vec<&str> = of.map(|function| function.name.as_str()).collect();
        match names.is_empty() {
            true => format!(
                "reactions cannot write `{table}`: it has neither keys nor a default action that may change"
            ),
            false => format!("entries of the table are written by functions: {}", names.join(", ")),
        }
    }

    /// Returns how C names a malleable or a table that is written like a variable, or an argument outside of its reaction.
    fn other_object(&self, written: &str, first: Option<&PathStep>) -> Option<String> {
        let interface = self.interface;
        let fields = interface.fields.iter().map(|field| &field.name);
        let mut malleables = interface.values.iter().map(|value| &value.name).chain(fields);
        if malleables.any(|name| **name == *written) {
            return Some(format!("a malleable is written `${{{written}}}`"));
        }
        let Some(PathStep::Name(first)) = first else { return None };
        if interface.constants.iter().any(|constant| **constant == *written) {
            return Some(format!(
                "`{written}` is a constant of the P4 text: add it to the arguments of the reaction"
            ));
        }
        let table = interface.tables.iter().find(|table| table.name == *first)?;
        Some(self.functions_of(&table.name))
    }
}

/// Returns the name in `'name' undeclared` and in `use of undeclared identifier 'name'`.
fn undeclared(text: &str) -> Option<&str> {
    let of_gcc = text.strip_prefix('\'').and_then(|rest| rest.split_once("' undeclared"));
    let of_clang = text.split_once("undeclared identifier '").map(|(_, rest)| rest);
    of_gcc.map(|(name, _)| name).or(of_clang.and_then(|rest| rest.split('\'').next()))
}

/// Splits `[-Woption]` off a message.
fn without_option(text: &str) -> (&str, Option<&str>) {
    let split = text.rsplit_once(" [-W").and_then(|(text, option)| {
        let option = option.strip_suffix(']')?;
        Some((text, option))
    });
    match split {
        Some((before, option)) => {
            let start = text.len() - option.len() - 3;
            (before, Some(&text[start..text.len() - 1]))
        }
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::{linker_message, message, without_option};

    #[test]
    fn messages_have_a_file_a_line_and_maybe_a_column() {
        let with = message("a:b.p4r:12:5: error: 'x' undeclared", &[]).expect("a message");
        assert_eq!((with.file, with.line, with.column), ("a:b.p4r", 12, Some(5)));
        assert_eq!((with.kind, with.text), ("error", "'x' undeclared"));
        let without = message("a.p4r:12: warning: odd: error: ", &[]).expect("a message");
        assert_eq!((without.file, without.line, without.column), ("a.p4r", 12, None));
        assert_eq!((without.kind, without.text), ("warning", "odd: error: "));
        assert!(message("a.p4r: In function 'f':", &[]).is_none());
        let odd = message("x:1: error: y:2: note: z", &["x:1: error: y"]).expect("a message");
        assert_eq!((odd.file, odd.line, odd.column, odd.kind), ("x:1: error: y", 2, None, "note"));
    }

    #[test]
    fn linkers_name_a_line() {
        let found = linker_message("/usr/bin/ld: a.p4r:3: undefined reference to `f'");
        let found = found.expect("a message");
        assert_eq!((found.file, found.line), ("a.p4r", 3));
    }

    #[test]
    fn options_are_split_off() {
        assert_eq!(without_option("unused [-Wunused]"), ("unused", Some("-Wunused")));
        assert_eq!(without_option("plain"), ("plain", None));
    }
}
