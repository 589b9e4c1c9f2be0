// SPDX-License-Identifier: Apache-2.0
//! The language of a file, what it must offer for a command, and what commands say where it does not. Which
//! languages there are is in `registry`.

use crate::file_kind::{self, FileKind};
use crate::registry::{end, frontends, with_devices, with_emitters, with_networks};
use frontend::{Emitter, Failure, Frontend, NetworkRuns, coded};
use std::path::{Path, PathBuf};

/// The language of a program; that of standard input for a name without a language that is no file, which its
/// reader reports.
///
/// # Errors
///
/// A message about a file that is no program.
pub fn of(path: &Path) -> Result<&'static dyn Frontend, String> {
    let by_default = frontends()[0];
    match (FileKind::of(path), FileKind::of_readable(path)) {
        (FileKind::Program(frontend), _) => Ok(frontend),
        (_, None | Some(FileKind::StandardInput)) => Ok(by_default),
        (kind, Some(_)) => {
            let all = frontends().iter();
            let names: Vec<&str> = all.clone().map(|each| each.name()).collect();
            let ends: Vec<String> = all.map(|each| end(*each)).collect();
            let is_not = format!("is not a {} program ({})", names.join(" or "), ends.join(", "));
            Err(file_kind::wrong(path, &is_not, kind))
        }
    }
}

/// That a file is not a program where a specification is to stand.
///
/// # Errors
///
/// It is one.
pub fn check_specification(path: &Path) -> Result<(), Failure> {
    match FileKind::of_readable(path) {
        Some(kind @ FileKind::Program(_)) => {
            let is_not = "is no specification of a run";
            Err(Failure::Message(file_kind::wrong(path, is_not, kind)))
        }
        _ => Ok(()),
    }
}

/// What the languages with a property are called in messages, `Lucid programs (.dpt)` and the like.
fn called(frontends: impl Iterator<Item = &'static dyn Frontend>, with_ends: bool) -> String {
    let (names, ends): (Vec<&str>, Vec<String>) =
        frontends.map(|each| (each.name(), end(each))).unzip();
    match with_ends {
        true => format!("{} programs ({})", names.join(" and "), ends.join(", ")),
        false => format!("{} programs", names.join(" and ")),
    }
}

/// That an option is for the runs of networks that this program's language has not.
pub fn only_for_networks(flag: &str, program: &Path) -> String {
    let those = called(with_networks().map(|(each, _)| each), true);
    format!("{flag} is for {those}, and `{}` is none", program.display())
}

/// That an option is for runs of one device, and the program runs in networks.
pub fn only_for_devices(flag: &str, program: &Path, frontend: &dyn Frontend) -> String {
    let (those, program) = (called(with_devices(), false), program.display());
    format!("{flag} is for {those}, and `{program}` is a {} program", frontend.name())
}

/// That an option is for programs that are written for an architecture.
pub fn only_for_architectures(flag: &str, program: &Path) -> String {
    let all = frontends().iter().copied();
    let those = called(all.filter(|each| each.has_architectures()), false);
    format!("{flag} is for {those}, and `{}` is none", program.display())
}

/// What `plane emit` compiles a program by; standard input is of the first language that has an emitter.
///
/// # Errors
///
/// The file is of another kind, or its language is run as it is.
pub fn emitter_of(path: &Path) -> Result<&'static dyn Emitter, Failure> {
    let all = || with_emitters().map(|(each, _)| each);
    let wrong = match (FileKind::of(path), FileKind::of_readable(path)) {
        (FileKind::Program(frontend), readable) => match (frontend.emitter(), readable) {
            (Some(emitter), _) => return Ok(emitter),
            (None, Some(_)) => {
                let (file, name, those) = (path.display(), frontend.name(), called(all(), true));
                coded(
                    file_kind::WRONG_KIND.0,
                    &format!(
                        "`{file}` is {name} already: `plane run` runs it, `plane layout` lays it out; \
                         `plane emit` compiles {those}"
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
            let is_not = format!("is not a {} program ({})", names.join(" or "), ends.join(", "));
            file_kind::wrong(path, &is_not, kind)
        }
    };
    Err(Failure::Message(wrong))
}

fn first_emitter() -> Result<&'static dyn Emitter, Failure> {
    let first = with_emitters().next().map(|(_, emitter)| emitter);
    first.ok_or_else(|| Failure::Message("no language has an emitter".to_string()))
}

/// Whose runs a specification describes: those of the language of the program that is named or stands beside it.
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

/// That a file is no test, with what tests there are.
pub fn is_no_test() -> String {
    let devices: Vec<&str> = with_devices().map(|each| each.name()).collect();
    let networks: Vec<&str> = with_networks().map(|(each, _)| each.name()).collect();
    format!(
        "is not a test (.stf for {}; .json, .yaml or .toml for {})",
        devices.join(" and "),
        networks.join(" and ")
    )
}

/// The program beside a test: the file of the same name of one of these languages, of the first if there is
/// none.
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
            // Who reads them says that they are not there.
            ("nowhere.py", "P4"),
            ("nowhere.dpt", "Lucid"),
        ] {
            let found = of(Path::new(name)).map(|frontend| frontend.name());
            assert_eq!(found, Ok(language), "{name}");
        }
    }

    #[test]
    fn options_say_whose_they_are() {
        let (p4, lucid) = (Path::new("x.p4"), Path::new("x.dpt"));
        let of_lucid = of(lucid).expect("a program");
        assert_eq!(
            only_for_networks("--spec", p4),
            "--spec is for Lucid programs (.dpt), and `x.p4` is none"
        );
        assert_eq!(
            only_for_devices("--entries", lucid, of_lucid),
            "--entries is for P4 programs, and `x.dpt` is a Lucid program"
        );
        assert_eq!(
            only_for_architectures("--arch", lucid),
            "--arch is for P4 programs, and `x.dpt` is none"
        );
    }
}
