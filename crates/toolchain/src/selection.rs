// SPDX-License-Identifier: Apache-2.0
//! Selects the language of a file, and has the messages for options and commands that the language does not have.
//! `registry` lists the languages.

use crate::file_kind::{self, FileKind};
use crate::registry::{
    end, enumerated, frontends, with_codelets, with_devices, with_emitters, with_field_runs,
    with_networks,
};
use frontend::{CodeletSource, Emitter, Failure, Frontend, NetworkRuns, coded};
use std::path::{Path, PathBuf};

/// Returns the language of a program. Standard input, and a missing file whose name has no language, get the first
/// language of the registry; the reader reports missing files.
///
/// # Errors
///
/// The file is not a program.
pub fn of(path: &Path) -> Result<&'static dyn Frontend, String> {
    let by_default = frontends()[0];
    match (FileKind::of(path), FileKind::of_readable(path)) {
        (FileKind::Program(frontend), _) => Ok(frontend),
        (_, None | Some(FileKind::StandardInput)) => Ok(by_default),
        (kind, Some(_)) => {
            let all = frontends().iter();
            let names: Vec<&str> = all.clone().map(|each| each.name()).collect();
            let ends: Vec<String> = all.map(|each| end(*each)).collect();
            let is_not =
                format!("is not a {} program ({})", enumerated(&names, "or"), ends.join(", "));
            Err(file_kind::wrong(path, &is_not, kind))
        }
    }
}

/// Checks that a file that is given as a specification is not a program.
///
/// # Errors
///
/// The file is a program.
pub fn check_specification(path: &Path) -> Result<(), Failure> {
    match FileKind::of_readable(path) {
        Some(kind @ FileKind::Program(_)) => {
            let is_not = "is not the specification of a run";
            Err(Failure::Message(file_kind::wrong(path, is_not, kind)))
        }
        _ => Ok(()),
    }
}

/// Returns the names of languages for messages, such as `Lucid programs (.dpt)`.
fn programs_of(frontends: impl Iterator<Item = &'static dyn Frontend>) -> String {
    let (names, ends): (Vec<&str>, Vec<String>) =
        frontends.map(|each| (each.name(), end(each))).unzip();
    format!("{} programs ({})", enumerated(&names, "and"), ends.join(", "))
}

/// Returns the message for an option that the language of a program does not have.
fn only_for(
    option: &str,
    frontends: impl Iterator<Item = &'static dyn Frontend>,
    program: &Path,
    language: &dyn Frontend,
) -> String {
    let (those, program, name) = (programs_of(frontends), program.display(), language.name());
    format!("{option} applies only to {those}; `{program}` is a {name} program")
}

/// Returns the message for an option of runs in networks.
pub fn only_for_networks(option: &str, program: &Path, language: &dyn Frontend) -> String {
    only_for(option, with_networks().map(|(each, _)| each), program, language)
}

/// Returns the message for an option of tests in networks.
pub fn only_for_network_tests(option: &str, test: &Path) -> String {
    let names: Vec<&str> = with_networks().map(|(each, _)| each.name()).collect();
    format!(
        "{option} applies only to specifications of {} runs; `{}` is an STF test",
        enumerated(&names, "and"),
        test.display()
    )
}

/// Returns the message for an option of runs on one device.
pub fn only_for_devices(option: &str, program: &Path, language: &dyn Frontend) -> String {
    only_for(option, with_devices(), program, language)
}

/// Returns the message for an option of runs of tables of packets.
pub fn only_for_field_runs(option: &str, program: &Path, language: &dyn Frontend) -> String {
    only_for(option, with_field_runs().map(|(each, _)| each), program, language)
}

/// Returns the message for an option of programs that are written for an architecture.
pub fn only_for_architectures(option: &str, program: &Path, language: &dyn Frontend) -> String {
    let all = frontends().iter().copied().filter(|each| !each.architectures().is_empty());
    only_for(option, all, program, language)
}

/// Returns the source of codelets of a program's language.
///
/// # Errors
///
/// The file is not a program, or its language has no codelets.
pub fn codelet_source_of(path: &Path) -> Result<&'static dyn CodeletSource, Failure> {
    let language = of(path).map_err(Failure::Message)?;
    let those = || programs_of(with_codelets().map(|(each, _)| each));
    language.codelet_source().ok_or_else(|| {
        let (file, name) = (path.display(), language.name());
        let message = format!(
            "`plane atoms` applies only to {} and files of codelets (.atoms); `{file}` is a {name} program",
            those()
        );
        Failure::Message(coded(file_kind::WRONG_KIND.0, &message))
    })
}

/// Returns the emitter of a program's language. Standard input gets the first language that has an emitter.
///
/// # Errors
///
/// The file is not a program, or its language has no emitter.
pub fn emitter_of(path: &Path) -> Result<&'static dyn Emitter, Failure> {
    let all = || with_emitters().map(|(each, _)| each);
    let wrong = match (FileKind::of(path), FileKind::of_readable(path)) {
        (FileKind::Program(frontend), readable) => match (frontend.emitter(), readable) {
            (Some(emitter), _) => return Ok(emitter),
            (None, Some(_)) => {
                let (file, name, those) = (path.display(), frontend.name(), programs_of(all()));
                coded(
                    file_kind::WRONG_KIND.0,
                    &format!(
                        "`plane emit` applies only to {those}; `{file}` is a {name} program: `plane run` \
                         runs it, `plane print` writes it as P4_16, `--target rtl` as hardware"
                    ),
                )
            }
            (None, None) => return first_emitter(),
        },
        (_, None | Some(FileKind::StandardInput)) => {
            return first_emitter();
        }
        (kind, Some(_)) => {
            let names: Vec<&str> = all().map(|each| each.name()).collect();
            let ends: Vec<String> = all().map(end).collect();
            let is_not =
                format!("is not a {} program ({})", enumerated(&names, "or"), ends.join(", "));
            file_kind::wrong(path, &is_not, kind)
        }
    };
    Err(Failure::Message(wrong))
}

fn first_emitter() -> Result<&'static dyn Emitter, Failure> {
    let first = with_emitters().next().map(|(_, emitter)| emitter);
    first.ok_or_else(|| Failure::Message("no language has an emitter".to_string()))
}

/// Returns the language whose runs a specification describes: that of the named program, or of the program beside it.
pub fn networks_of(
    specification: &Path,
    program: Option<&Path>,
) -> Option<&'static dyn NetworkRuns> {
    let named = program.and_then(|program| of(program).ok()).and_then(|each| each.networks());
    let beside = || {
        let frontends = with_networks().map(|(each, _)| each);
        program_beside(specification, frontends).and_then(|(each, _)| each.networks())
    };
    named.or_else(beside)
}

/// Returns the message for a file that is not a test.
pub fn is_no_test() -> String {
    let devices: Vec<&str> = with_devices().map(|each| each.name()).collect();
    let networks: Vec<&str> = with_networks().map(|(each, _)| each.name()).collect();
    format!(
        "is not a test (.stf for {}; .json, .yaml or .toml for {})",
        enumerated(&devices, "and"),
        enumerated(&networks, "and")
    )
}

/// Returns the program beside a test: the file of the same name of one of these languages. Without such a file it is
/// the name that a program of the first language would have.
pub fn program_beside(
    test: &Path,
    frontends: impl Iterator<Item = &'static dyn Frontend>,
) -> Option<(&'static dyn Frontend, PathBuf)> {
    let beside =
        |each: &'static dyn Frontend| Some((each, test.with_extension(each.extensions().first()?)));
    let mut all: Vec<_> = frontends.filter_map(beside).collect();
    let found = all.iter().position(|(_, path)| path.is_file()).unwrap_or(0);
    (found < all.len()).then(|| all.swap_remove(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_by_their_names() {
        for (name, language) in [
            ("a/router.p4", "P4"),
            ("headers.h", "P4"),
            ("nat.dpt", "Lucid"),
            ("NAT.DPT", "Lucid"),
            ("-", "P4"),
            // The reader reports missing files.
            ("nowhere.py", "P4"),
            ("nowhere.dpt", "Lucid"),
        ] {
            let found = of(Path::new(name)).map(|frontend| frontend.name());
            assert_eq!(found, Ok(language), "{name}");
        }
    }

    #[test]
    fn options_name_their_languages() {
        let (p4, lucid) = (Path::new("x.p4"), Path::new("x.dpt"));
        let language = |path: &Path| of(path).expect("a program");
        assert_eq!(
            only_for_networks("--spec", p4, language(p4)),
            "--spec applies only to Lucid programs (.dpt); `x.p4` is a P4 program"
        );
        assert_eq!(
            only_for_devices("--entries", lucid, language(lucid)),
            "--entries applies only to P4, P4R and Domino programs (.p4, .p4r, .domino); `x.dpt` is a Lucid program"
        );
        assert_eq!(
            only_for_architectures("--arch", lucid, language(lucid)),
            "--arch applies only to P4 and P4R programs (.p4, .p4r); `x.dpt` is a Lucid program"
        );
    }
}
