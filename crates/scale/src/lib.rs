// SPDX-License-Identifier: Apache-2.0
//! MP5: one program on many pipelines with the meaning it has on one.
//!
//! The *transformer* decides which register arrays are sharded and makes the code that resolves addresses at a packet's
//! arrival. The *machine* moves packets through stages, pipelines and queues, cycle by cycle. Between them stands
//! [`work::Work`]: the machine knows groups, cells and stages, and no program.
//!
//! This crate knows no source language and does no I/O. Paper: Stateful Multi-Pipelined Programmable Switches (MP5).

pub mod ahead;
pub mod bound;
pub mod checker;
pub mod codes;
pub mod controlled_work;
pub mod design;
pub mod device_pipeline;
pub mod device_work;
pub mod experiment;
pub mod judge;
pub mod machine;
pub mod maps;
pub mod packet_fields;
pub mod presets;
pub mod report;
pub mod resolution;
pub mod sharding;
pub mod staged;
pub mod sweep;
pub mod switch_run;
pub mod synthetic;
pub mod threads;
pub mod trace;
pub mod traffic;
pub mod work;

pub use codes::EXPLANATIONS;
