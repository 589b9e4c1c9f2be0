// SPDX-License-Identifier: Apache-2.0
//! Architectures (P4_16 v1.2.5 §17). Each has a [`Description`] as data, which lowering, devices, layout and
//! compilers ask, and the meaning of its externs, which lowering is handed. How a device runs the blocks is not
//! described here. A package without a description lowers to named blocks with storage of their own and unknown
//! externs.

pub mod boundaries;
mod description;
mod objects;
mod pna;
mod psa;
mod registry;
mod tna;
mod v1model;

pub use description::{
    BlockRole, Description, Gress, Kept, MetadataField, Ports, TableProperty, Transition,
};
pub(crate) use registry::ARCHITECTURES;
pub use registry::{descriptions, named, of, role_of, stages_of};
