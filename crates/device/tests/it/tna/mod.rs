// SPDX-License-Identifier: Apache-2.0
//! TNA programs from P4 source to ports, on both engines.

mod generator;
mod harness;
mod packet_paths;
mod register_bodies;
mod registers;
mod switch;
