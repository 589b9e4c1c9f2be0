// SPDX-License-Identifier: Apache-2.0
//! The packet generator: packets that a device makes at times of its clock. *Trains* are equal packets at equal intervals,
//! as a CPU sends them (Lucid §3.2); *applications* are those of Tofino's generator, with its header before the packet.

mod application;
mod sources;
mod train;

pub use application::{
    GENERATOR_APPLICATIONS, GENERATOR_PORT, GeneratorApplication, GeneratorTimer, MAX_BATCHES,
};
pub(crate) use sources::{MAX_TRAINS, Sources};
pub use train::{GENERATED_PACKET, PacketTrain, TrainTarget};
