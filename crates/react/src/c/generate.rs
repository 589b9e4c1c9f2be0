// SPDX-License-Identifier: Apache-2.0
//! Writes one C file of the C texts of a program: what they can name, the texts themselves with their places, and the table
//! that the loader reads. Names that it makes up begin with `p4r_` or `$`.

use super::arguments::Arguments;
use super::defines::{define, is_visible};
use super::lexer::{Kind, tokens};
use super::state::{StateVariable, state_variables};
use super::tables::{check_functions, table_functions};
use super::translate::{Names, UNKNOWN, translate};
use super::values::{
    c_name, c_type, from_words, has_c_width, mask, string_literal, wrapping_member,
};
use crate::interface::{CText, Interface};
use crate::module::ABI_VERSION;
use source::{Diagnostics, SourceMap};
use std::fmt::Write;

/// The name of the C file in messages about what no C text of the program has.
pub const GENERATED_NAME: &str = "p4r_generated.c";

/// Macros for the C texts. Each takes arguments, so that variables and members may have the same names.
const MACROS: [(&str, &str); 4] = [
    ("now", "#define now() p4r_host->now(p4r_host->context)"),
    // With <math.h>, `log(x)` is the logarithm; a format is a line of the log.
    (
        "log",
        "#define log(...) _Generic((p4r_first(__VA_ARGS__, 0)), char *: p4r_log, const char *: p4r_log, \
         default: __builtin_log)(__VA_ARGS__)",
    ),
    ("valid", "#define valid(header) ((header).p4r_valid)"),
    ("failed_commits", "#define failed_commits() p4r_host->failed_commits(p4r_host->context)"),
];

const PRELUDE: &str = r#"#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#undef linux
#undef unix

struct p4r_host {
    void *context;
    uint64_t (*table)(void *context, uint32_t operation, uint32_t table, uint32_t action, const uint64_t *words, uint64_t count);
    uint64_t (*now)(void *context);
    void (*log)(void *context, const char *line, uint64_t bytes);
    uint64_t (*failed_commits)(void *context);
};
static const struct p4r_host *p4r_host;

static __attribute__((unused, format(printf, 1, 2))) void p4r_log(const char *format, ...)
{
    char line[1024];
    __builtin_va_list values;
    __builtin_va_start(values, format);
    int bytes = __builtin_vsnprintf(line, sizeof line, format, values);
    __builtin_va_end(values);
    if (bytes >= (int)sizeof line) bytes = sizeof line - 1;
    if (bytes > 0 && line[bytes - 1] == '\n') bytes--;
    p4r_host->log(p4r_host->context, line, bytes > 0 ? bytes : 0);
}
#define p4r_first(first, ...) first

static inline __attribute__((unused)) uint64_t p4r_word(const uint8_t *bytes, unsigned count)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < count; i++) word = word << 8 | bytes[i];
    return word;
}

"#;

/// The C of a program.
#[derive(Clone, Debug)]
pub struct Generated {
    /// One C file. If there are errors, it shows a C compiler what else is wrong.
    pub text: String,
    /// Errors and warnings about the C texts.
    pub diagnostics: Diagnostics,
}

/// Writes the C file of an interface.
pub fn generate(interface: &Interface, map: &SourceMap) -> Generated {
    let mut writer = Writer {
        interface,
        map,
        names: Names::new(interface),
        text: String::from(PRELUDE),
        diagnostics: Diagnostics::new(),
    };
    let state = state_variables(interface, &mut writer.diagnostics);
    writer.malleables();
    writer.tables();
    for (_, definition) in MACROS {
        writer.line(definition);
    }
    for (name, replacement) in visible_defines(interface) {
        writer.line(&define(name, replacement));
    }
    for text in in_order(&interface.shared, &interface.state) {
        writer.c_text(text, "", "");
        writer.back();
    }
    writer.calls();
    writer.table_for_loader(&state);
    Generated { text: writer.text, diagnostics: writer.diagnostics }
}

/// Merges two lists of texts, each in order, into the order of the program where they are in one file.
fn in_order<'t>(first: &'t [CText], second: &'t [CText]) -> Vec<&'t CText> {
    let (mut first, mut second) = (first.iter().peekable(), second.iter().peekable());
    let mut merged = Vec::new();
    loop {
        let takes_second = match (first.peek(), second.peek()) {
            (Some(a), Some(b)) => a.span.file == b.span.file && b.span.start < a.span.start,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let next = if takes_second { second.next() } else { first.next() };
        let Some(next) = next else { return merged };
        merged.push(next);
    }
}

struct Writer<'i> {
    interface: &'i Interface,
    map: &'i SourceMap,
    names: Names<'i>,
    text: String,
    diagnostics: Diagnostics,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The lines that follow are generated.
    fn back(&mut self) {
        let next = self.text.bytes().filter(|byte| *byte == b'\n').count() + 2;
        let _ = writeln!(self.text, "#line {next} {}", string_literal(GENERATED_NAME));
    }

    /// Writes a text of the program between two others, at its own lines and columns.
    fn c_text(&mut self, text: &CText, open: &str, close: &str) {
        let translated = translate(text, &self.names, &mut self.diagnostics);
        self.translated(text, &translated, open, close);
    }

    fn translated(&mut self, text: &CText, translated: &str, open: &str, close: &str) {
        let place = self.map.location(text.span);
        let (file, mut line) = match &place {
            Some(place) => (string_literal(&place.file), place.line),
            None => (string_literal(GENERATED_NAME), 1),
        };
        let _ = writeln!(self.text, "#line {line} {file}");
        let column = self.bytes_before(text);
        self.text.push_str(&" ".repeat(column.saturating_sub(open.len())));
        self.text.push_str(open);
        let guarded = guarded_names(self.interface);
        for piece in translated.split_inclusive('\n') {
            if is_system_include(piece) {
                let pragma = |verb: &str| -> String {
                    guarded
                        .iter()
                        .map(|name| format!("#pragma {verb}_macro(\"{name}\")\n"))
                        .collect()
                };
                let undefined: String =
                    guarded.iter().map(|name| format!("#undef {name}\n")).collect();
                let _ = write!(self.text, "\n{}{undefined}#line {line} {file}\n", pragma("push"));
                self.text.push_str(piece.trim_end());
                let _ = write!(self.text, "\n{}#line {} {file}\n", pragma("pop"), line + 1);
            } else {
                self.text.push_str(piece);
            }
            line += 1;
        }
        // The text may end with a comment up to the end of the line.
        let last = translated.rsplit('\n').next().unwrap_or_default();
        if last.contains("//") {
            let _ = write!(self.text, "\n#line {} {file}\n", line.saturating_sub(1));
        }
        self.text.push_str(close);
        self.text.push('\n');
    }

    /// The bytes before a text on its line.
    fn bytes_before(&self, text: &CText) -> usize {
        if text.span.is_none() {
            return 0;
        }
        let before = &self.map.text(text.span.file)[..text.span.start as usize];
        before.len() - before.rfind('\n').map_or(0, |end| end + 1)
    }

    fn malleables(&mut self) {
        let interface = self.interface;
        self.line("static struct {");
        for value in &interface.values {
            let member = wrapping_member(&value.ty, &format!("v_{}", value.name));
            self.line(&format!("    {member};"));
        }
        for field in &interface.fields {
            self.line(&format!("    uint32_t f_{};", field.name));
        }
        self.line("    uint64_t p4r_unknown;\n} p4r_malleables __attribute__((unused));");
        self.line(&format!("#define {UNKNOWN} p4r_malleables.p4r_unknown"));
        for value in &interface.values {
            let name = &value.name;
            let place = format!("p4r_malleables.v_{name}");
            // The types of bit-fields differ between compilers, and `typeof` and `sizeof` refuse them.
            let read = match has_c_width(&value.ty) {
                true => place.clone(),
                false => format!("(({}){place})", c_type(&value.ty)),
            };
            self.line(&format!("#define $${name} {place}\n#define ${name} {read}"));
        }
        for field in &interface.fields {
            let name = &field.name;
            let place = format!("p4r_malleables.f_{name}");
            self.line(&format!("#define $${name} {place}\n#define ${name} {place}"));
        }
        self.line(
            "static inline void p4r_unpack(const uint64_t *p4r_words)\n{\n    (void)p4r_words;",
        );
        for (word, value) in interface.values.iter().enumerate() {
            let read = from_words(&value.ty, "p4r_words", &word.to_string());
            self.line(&format!("    p4r_malleables.v_{} = {read};", value.name));
        }
        for (index, field) in interface.fields.iter().enumerate() {
            let word = interface.values.len() + index;
            self.line(&format!("    p4r_malleables.f_{} = p4r_words[{word}];", field.name));
        }
        self.line("}\nstatic inline void p4r_pack(uint64_t *p4r_words)\n{\n    (void)p4r_words;");
        for (word, value) in interface.values.iter().enumerate() {
            let (mask, name) = (mask(&value.ty), &value.name);
            self.line(&format!(
                "    p4r_words[{word}] = (uint64_t)p4r_malleables.v_{name} & UINT64_C({mask:#x});"
            ));
        }
        for (index, field) in interface.fields.iter().enumerate() {
            let word = interface.values.len() + index;
            let (name, count) = (&field.name, field.alternatives.len());
            self.line(&format!(
                "    if (p4r_malleables.f_{name} < {count}) p4r_words[{word}] = p4r_malleables.f_{name};\n    else \
                 p4r_log(\"${{{name}}} was given the index %u, but has {count} alternatives: it stays as it was\", \
                 p4r_malleables.f_{name});"
            ));
        }
        self.line("}\n");
    }

    fn tables(&mut self) {
        check_functions(self.interface, &mut self.diagnostics);
        for function in table_functions(self.interface) {
            self.line(&function.definition());
        }
    }

    /// Writes `init` and the reactions, each as a function that the loader calls.
    fn calls(&mut self) {
        let interface = self.interface;
        if let Some(init) = &interface.init {
            self.line("static void p4r_init_body(void)");
            self.c_text(init, "{", "}");
            self.back();
            self.wrapper("p4r_init", "p4r_init_body()");
        }
        for (index, reaction) in interface.reactions.iter().enumerate() {
            let arguments = Arguments::new(index, reaction);
            let body = translate(&reaction.body, &self.names, &mut self.diagnostics);
            arguments.check_paths(&body, &mut self.diagnostics);
            self.text.push_str(&arguments.memory());
            let name = format!("p4r_reaction_{}", c_name(&reaction.name));
            self.line(&format!(
                "static void {name}(const uint64_t *p4r_in)\n{{\n    (void)p4r_in;"
            ));
            self.text.push_str(&arguments.locals());
            self.translated(&reaction.body, &body, "{", "}");
            self.back();
            self.line("}");
            self.wrapper(&format!("p4r_call_{index}"), &format!("{name}(p4r_in)"));
        }
    }

    fn wrapper(&mut self, name: &str, call: &str) {
        self.line(&format!(
            "static void {name}(const struct p4r_host *p4r_of, const uint64_t *p4r_in, uint64_t *p4r_malleable_words)\n\
             {{\n    (void)p4r_in;\n    p4r_host = p4r_of;\n    p4r_unpack(p4r_malleable_words);\n    {call};\n    \
             p4r_pack(p4r_malleable_words);\n    p4r_host = 0;\n}}\n"
        ));
    }

    fn table_for_loader(&mut self, state: &[StateVariable]) {
        let interface = self.interface;
        self.line(
            "struct p4r_call { void (*call)(const struct p4r_host *, const uint64_t *, uint64_t *); uint64_t words; };",
        );
        self.line("struct p4r_state { const char *name; const char *type; void *address; uint64_t bytes; };");
        self.line(
            "struct p4r_module { uint64_t abi; uint64_t malleable_words; struct p4r_call init; uint64_t reactions; const \
             struct p4r_call *calls; uint64_t variables; const struct p4r_state *state; };",
        );
        self.line("static const struct p4r_call p4r_calls[] = {");
        for (index, reaction) in interface.reactions.iter().enumerate() {
            self.line(&format!("    {{ p4r_call_{index}, {} }},", reaction.input_words()));
        }
        self.line("    { 0, 0 },\n};\nstatic const struct p4r_state p4r_state[] = {");
        for StateVariable { name, ty } in state {
            let ty = string_literal(ty);
            self.line(&format!("    {{ \"{name}\", {ty}, (void *)&{name}, sizeof {name} }},"));
        }
        self.line("    { 0, 0, 0, 0 },\n};");
        let init = if interface.init.is_some() { "p4r_init" } else { "0" };
        self.line(&format!(
            "extern const struct p4r_module p4r_module;\n__attribute__((visibility(\"default\"))) const struct p4r_module \
             p4r_module = {{ {ABI_VERSION}, {}, {{ {init}, 0 }}, {}, p4r_calls, {}, p4r_state }};",
            interface.malleable_words(),
            interface.reactions.len(),
            state.len(),
        ));
    }
}

fn visible_defines(interface: &Interface) -> impl Iterator<Item = &(String, String)> {
    interface.defines.iter().filter(|(name, _)| is_visible(name))
}

/// Macros that system headers must not see.
fn guarded_names(interface: &Interface) -> Vec<&str> {
    let defines = visible_defines(interface).map(|(name, _)| name.as_str());
    MACROS.iter().map(|(name, _)| *name).chain(defines).collect()
}

/// Whether a line includes a header in angle brackets.
fn is_system_include(line: &str) -> bool {
    let tokens = tokens(line);
    matches!(&tokens[..], [hash, include, open, ..]
        if hash.is("#") && include.kind == Kind::Identifier && include.text.starts_with("include") && open.is("<"))
}
