// SPDX-License-Identifier: Apache-2.0
//! The modules with parameters that every machine is built of, as text.

/// A fixed module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: &'static str,
    /// Its SystemVerilog text.
    pub text: &'static str,
}

/// Includes modules by name.
macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$(Module { name: $name, text: include_str!(concat!("../sv/", $name, ".sv")) }),*]
    };
}

/// All fixed modules; a module comes behind those that it is built of.
pub const MODULES: &[Module] = modules![
    "mp5_hop",
    "mp5_channel",
    "mp5_directory",
    "mp5_ring",
    "mp5_oldest",
    "mp5_queue",
    "mp5_crossbar",
    "mp5_slot",
    "mp5_spray",
    "mp5_map",
    "mp5_accesses",
    "mp5_tally",
    "mp5_remap",
    "mp5_cells",
];
