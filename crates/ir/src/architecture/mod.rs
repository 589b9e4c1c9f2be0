// SPDX-License-Identifier: Apache-2.0
//! Architectures (P4_16 v1.2.5 §17). Each has a [`Description`] as data, which lowering, devices, layout and
//! compilers read, and the meaning of its externs, which lowering receives. How a device runs the blocks is not
//! described here. A package without a description lowers to named blocks with storage of their own and unknown
//! externs.

pub mod boundaries;
mod calculation_order;
mod description;
mod objects;
mod pna;
mod psa;
mod registry;
mod tna;
mod v1model;

pub use calculation_order::calculation_order;
pub use description::{
    BlockRole, Description, Gress, Kept, MetadataField, Ports, TableProperty, Transition,
};
pub(crate) use registry::ARCHITECTURES;
pub use registry::{descriptions, named, of, role_of, stages_of};
