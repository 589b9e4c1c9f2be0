// SPDX-License-Identifier: Apache-2.0
//! HardwareModel files: the shipped ones, examples of every code, and what a mistake says.

use super::*;
use source::{Code, RenderOptions, render_text};

fn read(text: &str) -> Result<HardwareModel, (Vec<Code>, String)> {
    let mut sources = SourceMap::new();
    let file = sources.add("mine.toml", text);
    HardwareModel::from_toml("mine", file, text).map_err(|diagnostics| {
        let codes = diagnostics.iter().map(|each| each.code).collect();
        (codes, render_text(&sources, &diagnostics, RenderOptions { color: false }))
    })
}

#[test]
fn shipped_targets_read_and_say_where_their_numbers_come_from() {
    for (name, _) in SHIPPED {
        let target = HardwareModel::named(name, Span::NONE).unwrap();
        assert_eq!(&*target.name, name);
        for (section, limits) in
            [("stage", &target.stage), ("table", &target.table), ("array", &target.array)]
        {
            for (resource, limit) in limits {
                let field = format!("{section}.{}", resource.name());
                let found = target.provenance.iter().find(|each| each.field == field);
                let found = found.unwrap_or_else(|| panic!("{name}: {field} has no source"));
                assert_eq!(found.value, limit.to_string());
                assert!(!found.source.is_empty());
            }
        }
    }
    let tofino = HardwareModel::named("tofino", Span::NONE).unwrap();
    assert_eq!((tofino.stages(), tofino.shared), (12, true));
    assert_eq!(tofino.stage[&Resource::StatefulAlus], 4);
    let rmt = HardwareModel::named("rmt", Span::NONE).unwrap();
    let bits: u32 = rmt.containers.iter().map(|each| each.width_bits * each.count).sum();
    assert_eq!((rmt.ingress_stages, rmt.egress_stages, bits), (32, 32, 4096));
    assert_eq!(HardwareModel::named("banzai", Span::NONE).unwrap().stateful_alu.templates.len(), 7);
}

#[test]
fn explanations_have_examples_that_hold() {
    for explanation in EXPLANATIONS.iter().filter(|each| !each.wrong.is_empty()) {
        let (codes, _) = read(explanation.wrong).unwrap_err();
        assert_eq!(codes, [explanation.code], "{}", explanation.wrong);
        if let Err((codes, text)) = read(explanation.right) {
            panic!("{}: {codes:?}\n{text}", explanation.code);
        }
    }
}

/// The example in the documentation.
#[test]
fn the_documented_target_reads() {
    let document = include_str!("../../../../docs/targets.md");
    let (_, rest) = document.split_once("```toml\n").unwrap();
    let (example, after) = rest.split_once("```").unwrap();
    let target = read(example).unwrap_or_else(|(_, text)| panic!("{text}"));
    assert_eq!((target.stages(), target.stage[&Resource::TcamBlocks]), (6, 24));
    for resource in Resource::ALL {
        assert!(after.contains(&format!("`{}`", resource.name())), "{}", resource.name());
    }
}

#[test]
fn several_mistakes_in_one_go() {
    let (_, text) = read(
        "[pipeline]\nstages = 0\nshared = 1\n[stage]\ntables = -3\nhash-unit = 6\n\
         [match]\nexact = \"cam\"\n[[stateful-alu.template]]\ncells = 1.5\n\
         [[containers]]\nwidth-bits = 8\n[memory]\nsram-block-bits = { source = \"?\" }\n",
    )
    .unwrap_err();
    testing::assert_snapshot!(text);
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let error = HardwareModel::named("tofino9", Span::NONE).unwrap_err();
    assert_eq!(error.code.0, "PI-E0105");
    assert_eq!(error.notes, ["these are shipped: `tofino`, `rmt`, `banzai`"]);
}

#[test]
fn stages_that_are_shared_are_as_many() {
    let (codes, _) = read("[pipeline]\nstages = 12\negress-stages = 6\n").unwrap_err();
    assert_eq!(codes[0].0, "PI-E0104");
    let apart = read("[pipeline]\nstages = 12\negress-stages = 6\nshared = false\n").unwrap();
    assert_eq!((apart.ingress_stages, apart.egress_stages, apart.stages()), (12, 6, 12));
    assert_eq!(apart.entries_limit(), 4096);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "(\\[{1,2}|pipeline|stage|stages|=|\\]{1,2}|\n|[0-9]{1,20}|\"|\\{|\\}|value|,|\\.|é){0,30}") {
        let _ = read(&text);
    }
}
