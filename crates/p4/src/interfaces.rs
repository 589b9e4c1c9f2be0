// SPDX-License-Identifier: Apache-2.0
//! The built-in interfaces: the core library and the published architectures, which a program can
//! include without files. Their texts are in `include/`.

use crate::preprocessor::IncludeLoader;

/// Loads no files: only the built-in interfaces can be included.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterfacesOnly;

impl IncludeLoader for InterfacesOnly {
    fn load(&self, _path: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// Names and texts. `psa.p4` is what p4c's default search path finds under that name.
static INTERFACES: &[(&str, &str)] = &[
    ("core.p4", include_str!("../include/core.p4")),
    ("v1model.p4", include_str!("../include/v1model.p4")),
    ("psa.p4", include_str!("../include/psa.p4")),
    ("bmv2/psa.p4", include_str!("../include/psa.p4")),
    ("dpdk/psa.p4", include_str!("../include/dpdk/psa.p4")),
    ("pna.p4", include_str!("../include/pna.p4")),
    ("bmv2/pna.p4", include_str!("../include/bmv2/pna.p4")),
    ("dpdk/pna.p4", include_str!("../include/dpdk/pna.p4")),
    ("tc/pna.p4", include_str!("../include/tc/pna.p4")),
    ("tna.p4", include_str!("../include/tna.p4")),
    ("tofino.p4", include_str!("../include/tofino.p4")),
    ("ebpf_model.p4", include_str!("../include/ebpf_model.p4")),
    ("ubpf_model.p4", include_str!("../include/ubpf_model.p4")),
    ("xdp_model.p4", include_str!("../include/xdp_model.p4")),
];

/// Table properties that published architectures give a meaning, by interface.
static TABLE_PROPERTIES: &[(&str, &[&str])] = &[
    ("v1model.p4", &["implementation", "counters", "meters", "support_timeout"]),
    (
        "psa.p4",
        &[
            "psa_implementation",
            "psa_direct_counter",
            "psa_direct_meter",
            "psa_idle_timeout",
            "psa_empty_group_action",
        ],
    ),
    (
        "pna.p4",
        &[
            "pna_implementation",
            "pna_direct_counter",
            "pna_direct_meter",
            "pna_idle_timeout",
            "pna_empty_group_action",
            "add_on_miss",
            "default_idle_timeout_for_data_plane",
            "idle_timeout_with_auto_delete",
        ],
    ),
    (
        "tna.p4",
        &[
            "registers",
            "requires_versioning",
            "filters",
            "proxy_hash",
            "dynamic_table_scale",
            "idletime_precision",
            "idle_timeout",
            "alpm",
            "atcam",
        ],
    ),
];

/// Returns the table properties that published architectures give a meaning.
pub fn table_properties() -> impl Iterator<Item = &'static str> {
    TABLE_PROPERTIES.iter().flat_map(|(_, properties)| *properties).copied()
}

/// Returns the text of the built-in interface that `#include <name>` finds.
pub fn interface(name: &str) -> Option<&'static str> {
    INTERFACES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the names of all built-in interfaces.
pub fn interface_names() -> impl Iterator<Item = &'static str> {
    INTERFACES.iter().map(|(name, _)| *name)
}
