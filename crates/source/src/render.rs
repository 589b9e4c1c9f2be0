// SPDX-License-Identifier: Apache-2.0
//! Diagnostics as text with carets, and as JSON for tools. Only the lines around what is marked are
//! looked at, so the size of a file does not matter; which part of them is shown is decided in
//! `excerpt`.

mod excerpt;

use crate::{Diagnostic, Diagnostics, Severity, SourceMap, Span, printable};
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, renderer::DecorStyle,
};
use excerpt::{Excerpt, Mark, excerpts};
use serde_json::{Value, json};

/// How many columns a line of text takes at most, roughly.
const WIDTH_COLUMNS: usize = 240;

/// How to render text.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderOptions {
    /// ANSI colours.
    pub color: bool,
}

/// The longest word, such as a written-out type, that a message shows in full.
const MAX_SHOWN_WORD_LENGTH: usize = 400;

/// All diagnostics as text for a person, each with its snippet.
pub fn render_text(map: &SourceMap, diagnostics: &Diagnostics, options: RenderOptions) -> String {
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(WIDTH_COLUMNS);
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        text.push_str(&render_one(map, diagnostic, &renderer));
        text.push_str("\n\n");
    }
    text
}

fn render_one(map: &SourceMap, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let message = printable(&diagnostic.message, MAX_SHOWN_WORD_LENGTH);
    let title = level.primary_title(message).id(diagnostic.code.0);
    let mut group = Group::with_title(title);
    let mut marks = vec![Mark::new(&diagnostic.primary, true)];
    marks.extend(diagnostic.labels.iter().map(|label| Mark::new(label, false)));
    let excerpts = excerpts(map, &marks);
    for excerpt in &excerpts {
        if excerpt.cut {
            // The drawn column is not the real one, so the place is given apart.
            let origin = Origin::path(excerpt.file.as_ref());
            group = group.element(origin.line(excerpt.line).char_column(excerpt.column));
            group = group.element(snippet(excerpt));
        } else {
            group = group.element(snippet(excerpt).path(excerpt.file.as_ref()));
        }
    }
    for note in all_notes(map, diagnostic) {
        group = group.element(Level::NOTE.message(note));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

fn snippet<'a>(excerpt: &'a Excerpt<'_>) -> Snippet<'a, Annotation<'a>> {
    let snippet = Snippet::source(excerpt.text.as_str()).line_start(excerpt.first_line);
    snippet.annotations(excerpt.annotations.iter().map(|annotation| {
        let kind =
            if annotation.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let label = Some(annotation.text).filter(|text| !text.is_empty());
        kind.span(annotation.range.clone()).label(label)
    }))
}

/// The diagnostic's notes, and one that names the macro if the place is a macro's use.
fn all_notes(map: &SourceMap, diagnostic: &Diagnostic) -> Vec<String> {
    let mut notes = diagnostic.notes.clone();
    let span = diagnostic.primary.span;
    if let Some(used) = map.macro_use(span).filter(|_| !span.is_none()) {
        let place = match map.location(used.definition) {
            Some(place) => format!(", defined at {place}"),
            None => String::new(),
        };
        notes.push(format!("in the expansion of macro `{}`{place}", used.name));
    }
    notes
}

/// All diagnostics as one JSON array, an object each. Lines and columns count from 1, columns count
/// characters, and an end is one past the last character. A diagnostic without a place has `null`
/// for the file and all numbers.
pub fn render_json(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    let list: Vec<Value> = diagnostics
        .iter()
        .map(|diagnostic| {
            let mut object = place(map, diagnostic.primary.span, &diagnostic.primary.text);
            let severity = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let labels: Vec<Value> =
                diagnostic.labels.iter().map(|label| place(map, label.span, &label.text)).collect();
            object["code"] = json!(diagnostic.code.0);
            object["severity"] = json!(severity);
            object["message"] = json!(diagnostic.message);
            object["labels"] = json!(labels);
            object["notes"] = json!(all_notes(map, diagnostic));
            object["help"] = json!(diagnostic.help);
            object
        })
        .collect();
    Value::Array(list).to_string()
}

fn place(map: &SourceMap, span: Span, label: &str) -> Value {
    match (map.location(span), map.location(span.after())) {
        (Some(start), Some(end)) => json!({
            "file": &*start.file,
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
            "label": label,
        }),
        _ => json!({
            "file": null,
            "line": null,
            "column": null,
            "end_line": null,
            "end_column": null,
            "label": label,
        }),
    }
}

#[cfg(test)]
mod tests;
