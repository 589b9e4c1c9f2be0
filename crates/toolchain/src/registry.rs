// SPDX-License-Identifier: Apache-2.0
//! The registry of source languages and of their capabilities. A new language is one line of [`frontends`]. `selection`
//! finds the language of a file.

use crate::domino::Domino;
use crate::lucid::Lucid;
use crate::p4::P4;
use crate::p4r::P4r;
use frontend::{CodeletSource, EmitTarget, Emitter, FieldRuns, Frontend, NetworkRuns};

/// Returns the source languages. The first one is that of standard input.
pub fn frontends() -> &'static [&'static dyn Frontend] {
    &[&P4, &P4r, &Domino, &Lucid]
}

/// Returns the file extension of a language's programs, such as `.p4`.
pub fn end(frontend: &dyn Frontend) -> String {
    format!(".{}", frontend.extensions().first().copied().unwrap_or_default())
}

/// Formats names as `P4, P4R and Lucid`, with this word before the last one.
pub fn enumerated(names: &[impl AsRef<str>], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} {word} {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// Returns the languages whose programs run in networks that specifications describe.
pub fn with_networks() -> impl Iterator<Item = (&'static dyn Frontend, &'static dyn NetworkRuns)> {
    frontends().iter().filter_map(|each| Some((*each, each.networks()?)))
}

/// Returns the languages whose programs run on captures through one device.
pub fn with_devices() -> impl Iterator<Item = &'static dyn Frontend> {
    frontends().iter().copied().filter(|each| each.networks().is_none())
}

/// Returns the languages whose programs run on tables of packets.
pub fn with_field_runs() -> impl Iterator<Item = (&'static dyn Frontend, &'static dyn FieldRuns)> {
    frontends().iter().filter_map(|each| Some((*each, each.field_runs()?)))
}

/// Returns the languages whose programs have codelets for atoms.
pub fn with_codelets() -> impl Iterator<Item = (&'static dyn Frontend, &'static dyn CodeletSource)>
{
    frontends().iter().filter_map(|each| Some((*each, each.codelet_source()?)))
}

/// Returns the languages that compile to P4_16 files.
pub fn with_emitters() -> impl Iterator<Item = (&'static dyn Frontend, &'static dyn Emitter)> {
    frontends().iter().filter_map(|each| Some((*each, each.emitter()?)))
}

/// Returns all targets of [`with_emitters`], each name once.
pub fn targets() -> Vec<EmitTarget> {
    let mut all: Vec<EmitTarget> = Vec::new();
    for target in with_emitters().flat_map(|(_, emitter)| emitter.targets()) {
        if all.iter().all(|known| known.name != target.name) {
            all.push(target);
        }
    }
    all
}

/// Returns the name of the first target, the default of commands.
pub fn default_target() -> &'static str {
    targets().first().map_or("", |target| target.name)
}

/// Returns the names of all architectures, each once.
pub fn architectures() -> Vec<&'static str> {
    let mut all: Vec<&'static str> =
        frontends().iter().flat_map(|each| each.architectures()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_languages_have_one_extension() {
        let mut all: Vec<&str> =
            frontends().iter().flat_map(|each| each.extensions()).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(frontends().iter().all(|each| !each.extensions().is_empty()));
    }
}
