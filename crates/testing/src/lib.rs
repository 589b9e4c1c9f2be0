// SPDX-License-Identifier: Apache-2.0
//! The ground of the tests: random choices ([`Choices`]), tapes that shrink ([`tape`]), the number of random cases
//! ([`cases()`]), golden files ([`golden`]), programs that tests start ([`programs`]), whether live networks can be made ([`live`]),
//! emitted hardware in Verilator ([`verilator`]), a validator of JSON schemas ([`json_schema`]), drawn assignments to stages
//! ([`draw()`](draw::draw)) and cuts by them ([`cuts`]), and generators of P4 programs with entries and packets ([`p4`]). Only tests,
//! benches, examples and fuzz targets depend on this crate. `differential` runs what is generated here.

pub mod cases;
pub mod choices;
pub mod cuts;
pub mod disk;
pub mod draw;
pub mod golden;
pub mod json_schema;
pub mod live;
pub mod p4;
pub mod programs;
pub mod tape;
pub mod verilator;

pub use cases::{cases, seeds};
pub use choices::Choices;
pub use disk::Disk;
