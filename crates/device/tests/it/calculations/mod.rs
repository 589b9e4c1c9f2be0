// SPDX-License-Identifier: Apache-2.0
//! Custom CRCs with own parameters, from P4 source to the packet, on both engines: their names, and their parameters after a
//! swap.

use crate::setup::{ENGINES, compile, on, write};
use device::Device;
use ir::{CalculationId, CrcParameters, Program};
use state::Update;
use std::sync::Arc;

fn program() -> Arc<Program> {
    compile("program.p4", include_str!("program.p4"), &[])
}

fn of_name(program: &Program, name: &str) -> CalculationId {
    let at = program.calculations.iter().position(|item| &*item.name == name);
    CalculationId(at.expect("a calculation") as u32)
}

/// The hashes of "123456789": fixed, first, second, third, sum.
fn hashes(device: &mut Device) -> [u32; 5] {
    let mut bytes = b"123456789".to_vec();
    bytes.resize(25, 0);
    device.inject(0, device.now_ps(), bytes).unwrap();
    device.run_to_completion().unwrap();
    let sent = device.drain_transmitted().remove(0).bytes;
    let number = |from: usize, to: usize| {
        sent[from..to].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
    };
    [number(9, 11), number(11, 15), number(15, 19), number(19, 21), number(21, 25)]
}

fn set(device: &mut Device, name: &str, parameters: Option<CrcParameters>) {
    let calculation = of_name(&device.program(), name);
    let update = Update::SetCrcParameters { calculation, parameters };
    write(device, [update]);
}

// Check values of the catalogues of CRCs.
const CRC16: u32 = 0xbb3d;
const CRC32: u32 = 0xcbf4_3926;
const CASTAGNOLI: u32 = 0xe306_9283;
const BZIP2: u32 = 0xfc89_1918;
const CCITT_FALSE: u32 = 0x29b1;

#[test]
fn each_calculation_has_parameters_of_its_own() {
    for engine in ENGINES {
        let mut device = Device::new(program(), on(engine)).expect("it loads");
        let device = &mut device;
        assert_eq!(hashes(device), [CRC16, CRC32, CRC32, CRC16, CRC32], "{engine:?}");

        // The calculation in the action is first in the text, and calculations without custom CRC are counted.
        let castagnoli = CrcParameters::CRC32C;
        set(device, "calc", Some(castagnoli));
        assert_eq!(hashes(device), [CRC16, CRC32, CASTAGNOLI, CRC16, CRC32], "{engine:?}");
        let bzip2 =
            CrcParameters { reflect_input: false, reflect_output: false, ..CrcParameters::CRC32 };
        set(device, "calc_1", Some(bzip2));
        let ccitt_false = CrcParameters {
            width_bits: 16,
            polynomial: 0x1021,
            initial: 0xffff,
            final_xor: 0,
            reflect_input: false,
            reflect_output: false,
        };
        set(device, "calc_2", Some(ccitt_false));
        set(device, "calc_3", Some(castagnoli));
        let expected = [CRC16, BZIP2, CASTAGNOLI, CCITT_FALSE, CASTAGNOLI];
        assert_eq!(hashes(device), expected, "{engine:?}");
        set(device, "calc", None);
        let expected = [CRC16, BZIP2, CRC32, CCITT_FALSE, CASTAGNOLI];
        assert_eq!(hashes(device), expected, "{engine:?}");

        device.load_second(program()).expect("it loads");
        assert!(device.swap());
        assert_eq!(hashes(device), expected, "{engine:?} after the swap");
    }
}
