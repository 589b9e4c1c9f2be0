// SPDX-License-Identifier: Apache-2.0
//! Stages that Tofino's compiler gives the emitted applications, measured once: p4c at commit 34b86e9b (7 August 2026),
//! `p4c-barefoot --target tofino --arch tna`, on the programs that `plane emit --target tna --spec run.yaml` writes.

/// What the compiler did with an application.
enum Outcome {
    /// It accepted the program, and its assembler the result.
    Stages { ingress: u32, egress: u32 },
    /// It did not.
    Refused(&'static str),
}

const RESULTS: [(&str, Outcome); 10] = [
    ("stateful_firewall", Outcome::Refused("not compiled in 25 minutes of a busy machine")),
    ("fast_rerouter", Outcome::Stages { ingress: 8, egress: 3 }),
    ("dns_defense", Outcome::Stages { ingress: 6, egress: 3 }),
    ("starflow", Outcome::Stages { ingress: 12, egress: 3 }),
    ("sro", Outcome::Refused("not compiled in 25 minutes of a busy machine")),
    ("distributed_firewall", Outcome::Stages { ingress: 5, egress: 3 }),
    ("distributed_firewall_aging", Outcome::Stages { ingress: 6, egress: 3 }),
    ("rip", Outcome::Stages { ingress: 8, egress: 3 }),
    (
        "nat",
        Outcome::Refused(
            "its checksum links 41 values of 32 bits by sums and moves, which have to lie in one group of containers",
        ),
    ),
    ("count_min", Outcome::Stages { ingress: 7, egress: 3 }),
];

fn result(name: &str) -> Option<&'static Outcome> {
    RESULTS.iter().find(|(known, _)| *known == name).map(|(_, outcome)| outcome)
}

/// Stages of an application of `examples/lucid` by the name of its folder: ingress and egress, or a dash.
pub(super) fn stages(name: &str) -> String {
    match result(name) {
        Some(Outcome::Stages { ingress, egress }) => format!("{ingress} + {egress}"),
        Some(Outcome::Refused(_)) | None => "-".to_owned(),
    }
}

/// What the column says, and why it has dashes.
pub(super) fn remark<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut text = String::from(
        "Tofino's compiler: stages of ingress and of egress, which share the twelve of the chip, for the applications \
         of examples/lucid with the options of their run.yaml; measured once with p4c 34b86e9b (7 August 2026), whose \
         assembler accepted the results. A dash is a program that it did not compile.",
    );
    for name in names {
        if let Some(Outcome::Refused(reason)) = result(name) {
            text.push_str(&format!(" {name}: {reason}."));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_has_its_reason_in_the_remark() {
        let names = || RESULTS.iter().map(|(name, _)| *name);
        let text = remark(names());
        for name in names() {
            assert!(crate::lucid::published::published(name).is_some(), "{name}");
            let is_dash = stages(name) == "-";
            assert_eq!(text.contains(&format!(" {name}: ")), is_dash, "{name}");
        }
        assert_eq!(stages("rip_single"), "-");
    }
}
