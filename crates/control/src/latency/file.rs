// SPDX-License-Identifier: Apache-2.0
//! Files of latency models: TOML to a [`DriverModel`], with a diagnostic for each mistake. A value may stand with its
//! source: `base = { value = "3us", source = "measured" }`.

use super::{BarrierKind, Duration, ItemCost, ItemKind, LatencyModel};
use document::{Conventions, FieldNames, Fields, Format, Messages, Node, NodeKind};
use source::quantity::{TIME, in_largest_unit};
use source::{Code, Diagnostics, Explanation, FileId, Severity, SourceMap};

/// Not TOML.
pub const SYNTAX: Code = Code("CTL-E0201");
/// A field that driver models do not have.
pub const UNKNOWN_FIELD: Code = Code("CTL-E0202");
/// A value of the wrong kind or out of range.
pub const WRONG_VALUE: Code = Code("CTL-E0203");
/// A field that is needed.
pub const MISSING: Code = Code("CTL-E0204");

/// The explanations of the codes of driver models.
pub static EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: SYNTAX,
        title: "a driver model is not TOML",
        text: "Driver models are TOML files: sections in brackets, fields as `name = value`. The message says what was \
               expected where.",
        wrong: "[write-entry\nbase = \"5us\"\n",
        right: "[write-entry]\nbase = \"5us\"\n[other]\nbase = \"5us\"\n",
    },
    Explanation {
        code: UNKNOWN_FIELD,
        title: "a driver model has a field that is none",
        text: "Sections are `driver` (`atomic`, `batch`, `reply`, `passes-end-within`), the kinds of items (`write-entry`, \
               `read-entries`, `write-default`, `write-registers`, `read-registers`, `write-counters`, `read-counters`) and \
               `other`, each with `base` and `byte`.",
        wrong: "[write-entries]\nbase = \"5us\"\n[other]\nbase = \"5us\"\n",
        right: "[write-entry]\nbase = \"5us\"\n[other]\nbase = \"5us\"\n",
    },
    Explanation {
        code: WRONG_VALUE,
        title: "a value of a driver model cannot be",
        text: "Times are texts with a unit, such as \"5us\"; `{ min = \"4us\", max = \"6us\" }` is uniform between both, \
               `{ min = \"4us\", mean = \"1us\" }` has an exponential tail of this mean. Each may stand with its origin: \
               `{ value = \"5us\", source = \"measured\" }`.",
        wrong: "[write-entry]\nbase = 5\n[other]\nbase = \"5us\"\n",
        right: "[write-entry]\nbase = \"5us\"\n[other]\nbase = \"5us\"\n",
    },
    Explanation {
        code: MISSING,
        title: "a driver model lacks a field",
        text: "`other` needs `base`: the cost of items whose kind has no section. A section of a kind needs `base`, too.",
        wrong: "[write-entry]\nbase = \"5us\"\n",
        right: "[other]\nbase = \"5us\"\n",
    },
];

/// The model of Mantis's testbed, which is built in.
const PCIE_CHIP: &str = include_str!("pcie-chip.toml");

const EXPECTED_TIME: &str = "a time with its unit (ps, ns, us, ms, s), such as \"5us\"";

static CONVENTIONS: Conventions = Conventions {
    syntax: SYNTAX,
    syntax_help: "a driver model has sections in brackets and fields as `name = value`",
    wrong_type: WRONG_VALUE,
    wrong_value: WRONG_VALUE,
    missing: MISSING,
    unknown_field: UNKNOWN_FIELD,
    repeated_field: UNKNOWN_FIELD,
    unused_fields: Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: &[],
    reference: "",
    number_in_text: None,
};

/// The section of each kind of item.
const KINDS: [(&str, ItemKind); 7] = [
    ("write-default", ItemKind::WriteDefault),
    ("write-entry", ItemKind::WriteEntry),
    ("read-entries", ItemKind::ReadEntries),
    ("write-registers", ItemKind::WriteRegisters),
    ("read-registers", ItemKind::ReadRegisters),
    ("write-counters", ItemKind::WriteCounters),
    ("read-counters", ItemKind::ReadCounters),
];

/// A latency model with the origins of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverModel {
    /// What it describes.
    pub description: String,
    /// The source of the whole model; may be empty.
    pub source: String,
    /// The model.
    pub model: LatencyModel,
    /// The values that name their source.
    pub inputs: Vec<ModelInput>,
}

/// A value of a model and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInput {
    /// The field, such as `write-entry.base`.
    pub field: String,
    /// The value as text.
    pub value: String,
    /// Where it is from.
    pub source: String,
}

impl DriverModel {
    /// Reads a model.
    ///
    /// # Errors
    ///
    /// All mistakes, with places in `file`, which has this text.
    pub fn from_toml(file: FileId, text: &str) -> Result<DriverModel, Diagnostics> {
        let messages = Messages::new(&CONVENTIONS, Format::Toml);
        let document = messages.parse(file, text);
        let root = document.as_ref().and_then(|node| Fields::of(node, "a driver model", &messages));
        let model =
            root.and_then(|root| Reader { messages: &messages, inputs: Vec::new() }.model(root));
        model.filter(|_| !messages.has_errors()).ok_or_else(|| messages.into_diagnostics())
    }

    /// The built-in model of a switch chip behind PCIe, with the costs that fit the statements of the Mantis paper.
    pub fn pcie_chip() -> DriverModel {
        let file = SourceMap::new().add("pcie-chip.toml", PCIE_CHIP);
        DriverModel::from_toml(file, PCIE_CHIP).unwrap_or_else(|_| DriverModel {
            description: String::new(),
            source: String::new(),
            model: LatencyModel::per_item(0),
            inputs: Vec::new(),
        })
    }
}

struct Reader<'n> {
    messages: &'n Messages,
    inputs: Vec<ModelInput>,
}

impl<'n> Reader<'n> {
    /// Reads a value that may stand with its source.
    fn value(&mut self, section: &mut Fields<'n>, field: &'static str) -> Option<&'n Node> {
        let node = section.get(&[field])?;
        let NodeKind::Object(fields) = &node.kind else { return Some(node) };
        if !fields.iter().any(|inner| ["value", "source"].contains(&&*inner.name)) {
            return Some(node);
        }
        let mut inner = section.section(field);
        let found = inner.need(&["value"], "`value = \"5us\"`");
        if let (Some(found), Some(source)) = (found, inner.text("source")) {
            let value = match &found.kind {
                NodeKind::Text(text) => text.clone(),
                other => other.described(),
            };
            let field = section.path_of(field);
            self.inputs.push(ModelInput { field, value, source: source.to_string() });
        }
        inner.finish();
        found
    }

    fn time(&mut self, section: &mut Fields<'n>, field: &'static str) -> Option<u64> {
        let node = self.value(section, field)?;
        self.messages.quantity(node, &section.name_of(field), &TIME, None, EXPECTED_TIME)
    }

    fn truth(&mut self, section: &mut Fields<'n>, field: &'static str) -> Option<bool> {
        let node = self.value(section, field)?;
        self.messages.truth(node, &section.name_of(field))
    }

    /// Reads a constant or a distribution.
    fn duration(&mut self, section: &mut Fields<'n>, field: &'static str) -> Option<Duration> {
        let node = self.value(section, field)?;
        let NodeKind::Object(_) = node.kind else {
            let shown = section.name_of(field);
            let ps = self.messages.quantity(node, &shown, &TIME, None, EXPECTED_TIME)?;
            return Some(Duration::Constant(ps));
        };
        let name = section.name_of(field);
        let mut inner = Fields::of(node, &name, self.messages)?;
        inner.need(&["min"], "`min = \"4us\"`");
        let mut time = |field| inner.quantity(field, &TIME, EXPECTED_TIME);
        let (min, max, mean) = (time("min"), time("max"), time("mean"));
        let read = match (min, max, mean) {
            (Some(min_ps), Some(max_ps), None) if min_ps <= max_ps => {
                Some(Duration::Uniform { min_ps, max_ps })
            }
            (Some(min_ps), None, Some(mean_ps)) => Some(Duration::Exponential { min_ps, mean_ps }),
            (Some(min_ps), _, _) => {
                let least = in_largest_unit(min_ps);
                let message =
                    format!("{name} needs `max`, at least {least}, or `mean` beside `min`");
                let help = "`max` is for a uniform distribution, `mean` for an exponential tail";
                self.messages.error(WRONG_VALUE, node.span, message, help);
                None
            }
            (None, ..) => None,
        };
        inner.finish();
        read
    }

    fn cost(&mut self, root: &mut Fields<'n>, kind: &'static str) -> Option<ItemCost> {
        let mut section = root.section(kind);
        if !section.is_there() && kind != "other" {
            return None;
        }
        section.need(&["base"], "`base = \"5us\"`");
        let base = self.duration(&mut section, "base");
        let byte_ps = self.time(&mut section, "byte").unwrap_or(0);
        section.finish();
        Some(ItemCost { base: base?, byte_ps })
    }

    fn model(mut self, mut root: Fields<'n>) -> Option<DriverModel> {
        let description = root.text("description").unwrap_or_default().to_string();
        let source = root.text("source").unwrap_or_default().to_string();
        let mut driver = root.section("driver");
        let is_atomic = self.truth(&mut driver, "atomic").unwrap_or(false);
        let batch = self.duration(&mut driver, "batch").unwrap_or(Duration::ZERO);
        let reply = self.duration(&mut driver, "reply").unwrap_or(Duration::ZERO);
        let bound = self.time(&mut driver, "passes-end-within");
        driver.finish();
        let kinds = KINDS.into_iter();
        let items = kinds
            .filter_map(|(name, kind)| self.cost(&mut root, name).map(|cost| (kind, cost)))
            .collect();
        let other_items = self.cost(&mut root, "other");
        root.finish();
        let barrier = bound.map_or(BarrierKind::Counted, BarrierKind::Bound);
        let other_items = other_items?;
        let model = LatencyModel { batch, items, other_items, reply, is_atomic, barrier };
        Some(DriverModel { description, source, model, inputs: self.inputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::{RenderOptions, render_text};

    fn read(text: &str) -> Result<DriverModel, String> {
        let mut map = SourceMap::new();
        let file = map.add("driver.toml", text);
        DriverModel::from_toml(file, text)
            .map_err(|found| render_text(&map, &found, RenderOptions::default()))
    }

    #[track_caller]
    fn check_mistake(text: &str, expected: &str) {
        let shown = read(text).expect_err("a mistake");
        assert!(shown.contains(expected), "{shown}");
    }

    #[test]
    fn the_built_in_model_is_whole_and_names_the_source_of_each_value() {
        let chip = read(PCIE_CHIP).expect("no mistakes");
        assert_eq!(chip, DriverModel::pcie_chip());
        assert_eq!(chip.model.items.len(), KINDS.len());
        assert_eq!(
            chip.model.cost(ItemKind::ReadRegisters),
            &ItemCost::constant(4_000_000, 80_000)
        );
        assert_eq!(chip.model.barrier, BarrierKind::Bound(2_000_000));
        let values = PCIE_CHIP.lines().filter(|line| line.contains("value = ")).count();
        assert_eq!(chip.inputs.len(), values);
    }

    #[test]
    fn distributions_and_defaults_are_read() {
        let text = "[driver]\nbatch = { min = \"1us\", mean = \"2us\" }\n[other]\nbase = { min = \"4us\", max = \"6us\" }\n";
        let model = read(text).expect("no mistakes").model;
        let batch = Duration::Exponential { min_ps: 1_000_000, mean_ps: 2_000_000 };
        let base = Duration::Uniform { min_ps: 4_000_000, max_ps: 6_000_000 };
        let expected = LatencyModel {
            batch,
            other_items: ItemCost { base, byte_ps: 0 },
            ..LatencyModel::per_item(0)
        };
        assert_eq!(model, expected);
    }

    #[test]
    fn mistakes_have_places_and_advice() {
        check_mistake("[other\n", "CTL-E0201");
        check_mistake("[other]\nbase = \"1us\"\nbytes = \"1ns\"\n", "CTL-E0202");
        check_mistake("[other]\nbase = 5\n", "`other.base` must be a time with its unit");
        check_mistake(
            "[other]\nbase = { min = \"5us\", max = \"1us\" }\n",
            "`other.base` needs `max`, at least 5 us",
        );
        check_mistake("[write-entry]\nbase = \"1us\"\n", "CTL-E0204");
    }

    #[test]
    fn examples_of_explanations_are_as_they_say() {
        for explanation in EXPLANATIONS {
            check_mistake(explanation.wrong, explanation.code.0);
            read(explanation.right).expect("no mistakes");
        }
    }
}
