// SPDX-License-Identifier: Apache-2.0
//! The user's P4_16 in front of the dispatcher and behind it (Lucid §8.1): every token keeps its
//! place in the user's file, so that what is wrong is told there.

use super::Context;
use source::{Diagnostics, FileId, SourceMap, Span};

/// Adds the files' declarations to the program; which files they are.
pub(super) fn write(context: &mut Context<'_>, map: &mut SourceMap) -> Vec<FileId> {
    let options = context.options;
    let mut files = Vec::new();
    for (hook, given) in [("before", &options.before), ("after", &options.after)] {
        let Some(given) = given else { continue };
        let file = map.add(given.name.clone(), given.text.clone());
        files.push(file);
        let mut found = Diagnostics::new();
        let tokens = p4::lexer::lex(map, file, &mut found);
        context.found.append(found);
        let is_hook =
            |pair: &[p4::token::Token]| &*pair[0].text == "control" && &*pair[1].text == hook;
        if !tokens.windows(2).any(is_hook) {
            context.refuse(
                Span::new(file, 0, 0),
                format!("`{}` declares no control `{hook}`", given.name),
                format!("declare `control {hook}{}`", super::PARAMETERS),
            );
        }
        for token in &tokens {
            let text = map.slice(token.span).to_string();
            if !text.is_empty() {
                context.put(token.span, text);
            }
        }
    }
    files
}
