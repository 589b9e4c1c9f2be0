// SPDX-License-Identifier: Apache-2.0
//! Compiled hashes and checksums against [`interpreter::hash`].

use super::*;
use crate::codegen::values::harness::Harness;
use interpreter::bit_string::BitString;
use ir::{Bits, Calculation, CalculationId, CrcParameters, OriginId, Program};
use proptest::prelude::*;
use state::{Batch, Replication, Store, Update};
use std::sync::Arc;

const WIDTHS_BITS: [u32; 4] = [16, 32, 8, 21];

/// A calculation of each width, with parameters of its own.
fn replication(parameters: [Option<CrcParameters>; 4]) -> Arc<Replication> {
    let calculation = |width_bits| Calculation {
        name: format!("crc{width_bits}").into(),
        parameters: match width_bits {
            32 => CrcParameters::CRC32,
            _ => CrcParameters { width_bits, ..SMALL },
        },
        origin: OriginId(0),
    };
    let calculations = WIDTHS_BITS.map(calculation).to_vec();
    let program = Program { calculations, ..Program::default() };
    let store = Store::new(Arc::new(program)).expect("a program without tables");
    let updates = parameters.into_iter().zip(0..).map(|(parameters, at)| {
        Update::SetCrcParameters { calculation: CalculationId(at), parameters }
    });
    let outcome = store.write_configuration(Batch::updates(0, updates));
    assert!(outcome.is_ok(), "{outcome:?}");
    store.configuration().replication().clone()
}

const SMALL: CrcParameters = CrcParameters { polynomial: 7, ..CrcParameters::CRC16 };

fn crc_parameters(width_bits: u32) -> impl Strategy<Value = Option<CrcParameters>> {
    let mask = u64::MAX >> (64 - width_bits);
    let parameters =
        any::<([u64; 3], [bool; 2])>().prop_map(move |(numbers, flags)| CrcParameters {
            width_bits,
            polynomial: numbers[0] & mask,
            initial: numbers[1] & mask,
            final_xor: numbers[2] & mask,
            reflect_input: flags[0],
            reflect_output: flags[1],
        });
    prop::option::of(parameters)
}

/// One function: an algorithm over some inputs, which are constants or varbits in memory.
#[derive(Clone, Debug)]
struct Case {
    algorithm: HashAlgorithm,
    /// The value, and for a varbit by how much it could be longer.
    inputs: Vec<(Bits, Option<u32>)>,
    /// Bytes of a packet and where its rest begins.
    payload: Option<(Vec<u8>, u64)>,
}

impl Case {
    fn stream(&self) -> Vec<u8> {
        let mut stream = BitString::new();
        self.inputs.iter().for_each(|(value, _)| stream.push(value));
        let mut bytes = stream.into_bytes();
        if let Some((packet, from_bits)) = &self.payload {
            let mut rest = BitString::new();
            rest.push_rest(packet, *from_bits as usize);
            bytes.extend(rest.into_bytes());
        }
        bytes
    }

    /// The varbits: length, then words.
    fn memory(&self) -> Vec<u64> {
        let mut memory = vec![0];
        for (value, above) in &self.inputs {
            let words = (value.width_bits() + above.unwrap_or(0)).div_ceil(64).max(1) as usize;
            memory.push(u64::from(value.width_bits()));
            let at = memory.len();
            memory.resize(at + words, 0);
            value.write_words(&mut memory[at..]);
        }
        memory
    }

    fn emit(&self, values: &mut Values<'_, '_>, memory: Value, numbers: Value) -> Value {
        let mut offset_bytes = 16;
        let mut inputs = Vec::new();
        for (value, above) in &self.inputs {
            let width_bits = value.width_bits() + above.unwrap_or(0);
            let ty = match above {
                Some(_) => ValueType::Varbit(width_bits),
                None => ValueType::Bits(width_bits),
            };
            inputs.push((ty, values.load_words(ty, memory, offset_bytes)));
            offset_bytes += 8 + 8 * width_bits.div_ceil(64).max(1) as i32;
        }
        let [replication, packet, length_bytes, from_bits] =
            [0, 8, 16, 24].map(|at| values.load_word(numbers, at));
        let payload = self.payload.is_some().then_some(Payload { packet, length_bytes, from_bits });
        values.hash_bytes(self.algorithm, &inputs, payload, Some(replication))
    }
}

fn crc(
    width_bits: u32,
    polynomial: u64,
    initial: u64,
    final_xor: u64,
    is_reflected: bool,
) -> HashAlgorithm {
    HashAlgorithm::Crc(CrcParameters {
        width_bits,
        polynomial,
        initial,
        final_xor,
        reflect_input: is_reflected,
        reflect_output: is_reflected,
    })
}

fn case() -> impl Strategy<Value = Case> {
    let algorithm = prop::sample::select(vec![
        HashAlgorithm::Crc32,
        HashAlgorithm::Crc16,
        HashAlgorithm::Custom(CalculationId(0)),
        HashAlgorithm::Custom(CalculationId(1)),
        HashAlgorithm::Custom(CalculationId(2)),
        HashAlgorithm::Custom(CalculationId(3)),
        HashAlgorithm::Random,
        HashAlgorithm::Identity,
        HashAlgorithm::Csum16,
        HashAlgorithm::Xor16,
        HashAlgorithm::OnesComplement16,
        HashAlgorithm::TargetDefault,
        crc(32, 0x1edc_6f41, 7, 0x1234_5678, true),
        crc(16, 0x8005, 0xabcd, 0x1111, true),
        crc(11, 0x385, 0x1a, 0, true),
        crc(32, 0x04c1_1db7, u64::from(u32::MAX), 0, false),
        crc(64, 0x42f0_e1eb_a9ea_3693, 0, u64::MAX, true),
        crc(8, 0x07, 0, 0, false),
        crc(5, 0x05, 0x1f, 0x1f, true),
    ]);
    let width = prop_oneof![
        4 => 0u32..=70,
        2 => prop::sample::select(vec![8u32, 16, 32, 48, 64, 128]),
        1 => 65u32..=300,
    ];
    let width = prop_oneof![60 => width, 1 => Just(5000u32)];
    let above = prop_oneof![4 => Just(None), 1 => (0u32..200).prop_map(Some)];
    let input = (width, above, any::<[u64; 3]>(), any::<bool>()).prop_map(
        |(width_bits, above, seeds, is_edge)| {
            let words: Vec<u64> = match is_edge {
                true => vec![seeds[0] % 2 * u64::MAX; width_bits.div_ceil(64) as usize],
                false => (0..width_bits.div_ceil(64))
                    .map(|at| seeds[at as usize % 3].rotate_left(at))
                    .collect(),
            };
            (Bits::from_words(width_bits, &words), above)
        },
    );
    let packet = prop::collection::vec(any::<u8>(), 0..80).prop_flat_map(|packet| {
        let bits = packet.len() as u64 * 8;
        let whole = (0..=packet.len() as u64).prop_map(|byte| byte * 8);
        (Just(packet), prop_oneof![3 => whole, 1 => 0..=bits])
    });
    let packet = prop_oneof![3 => Just(None), 1 => packet.prop_map(Some)];
    (algorithm, prop::collection::vec(input, 0..10), packet)
        .prop_map(|(algorithm, inputs, payload)| Case { algorithm, inputs, payload })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(10), ..ProptestConfig::default() })]

    #[test]
    fn hashes_are_the_interpreters(
        cases in prop::collection::vec(case(), 60),
        parameters in WIDTHS_BITS.map(crc_parameters),
    ) {
        let replication = replication(parameters);
        let mut harness = Harness::new();
        for case in &cases {
            harness.function(|values, result, [memory, numbers]| {
                let hash = case.emit(values, memory, numbers);
                values.store_word(hash, result, 0);
            });
        }
        let compiled = harness.compile();
        for (at, case) in cases.iter().enumerate() {
            let (packet, from_bits) = case.payload.clone().unwrap_or_default();
            let numbers = [
                &raw const *replication as u64,
                packet.as_ptr() as u64,
                packet.len() as u64,
                from_bits,
            ];
            let found = compiled.run(at, [&case.memory(), &numbers], 1);
            let expected = interpreter::hash::hash(case.algorithm, &case.stream(), &replication);
            prop_assert_eq!(found[0], expected, "{:?}", case);
        }
    }
}

/// A part of a checksum, as data.
#[derive(Clone, Debug)]
enum Part {
    /// Number and width.
    Number(u64, u32),
    Run(Vec<u8>),
}

fn part() -> impl Strategy<Value = Part> {
    let number = (any::<u64>(), 0u32..=64, any::<bool>()).prop_map(|(number, width, is_edge)| {
        let number = if is_edge { u64::MAX * (number % 2) } else { number };
        Part::Number(Bits::from_u64(width, number).low_u64(), width)
    });
    let bytes = prop_oneof![any::<u8>(), Just(0), Just(0xff)];
    let short = prop::collection::vec(bytes.clone(), 0..40).prop_map(Part::Run);
    let long = prop::collection::vec(bytes, 100..300).prop_map(Part::Run);
    let zeros = (0usize..40).prop_map(|length| Part::Run(vec![0; length]));
    prop_oneof![8 => number, 5 => short, 1 => long, 1 => zeros]
}

/// The parts' bytes, and the parts with runs that do not begin at an even byte given as numbers.
fn arranged(parts: &[Part]) -> (Vec<u8>, Vec<Part>) {
    let (mut stream, mut arranged) = (BitString::new(), Vec::new());
    for part in parts {
        match part {
            Part::Run(bytes) if stream.length_bits().is_multiple_of(16) => {
                stream.push_bytes(bytes);
                arranged.push(part.clone());
            }
            Part::Run(bytes) => {
                stream.push_bytes(bytes);
                arranged.extend(bytes.chunks(8).map(|bytes| {
                    let number =
                        bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                    Part::Number(number, bytes.len() as u32 * 8)
                }));
            }
            Part::Number(number, width_bits) => {
                stream.push_number(u128::from(*number), *width_bits);
                arranged.push(part.clone());
            }
        }
    }
    (stream.into_bytes(), arranged)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(10), ..ProptestConfig::default() })]

    #[test]
    fn checksums_of_parts_are_those_of_bytes(
        cases in prop::collection::vec(prop::collection::vec(part(), 0..14), 60)
    ) {
        let mut harness = Harness::new();
        let mut inputs = Vec::new();
        for parts in &cases {
            let (stream, parts) = arranged(parts);
            // Numbers, and bytes of runs, which begin at an odd address.
            let (mut numbers, mut packet) = (vec![0], vec![0u8; 3]);
            harness.function(|values, result, [numbers_address, packet_address]| {
                let mut emitted = Vec::new();
                for part in &parts {
                    match part {
                        Part::Number(number, width_bits) => {
                            let offset_bytes = numbers.len() as i32 * 8;
                            numbers.push(*number);
                            let word = values.load_word(numbers_address, offset_bytes);
                            emitted.push(ChecksumPart::Value { word, width_bits: *width_bits });
                        }
                        Part::Run(bytes) => {
                            emitted.push(ChecksumPart::PacketRun {
                                address: packet_address,
                                offset_bytes: packet.len() as i32,
                                length_bytes: bytes.len() as u32,
                            });
                            packet.extend(bytes);
                        }
                    }
                }
                let checksum = values.checksum16(&emitted);
                values.store_word(checksum, result, 0);
            });
            packet.resize(packet.len().next_multiple_of(8), 0);
            let packet: Vec<u64> =
                packet.as_chunks().0.iter().map(|chunk| u64::from_ne_bytes(*chunk)).collect();
            inputs.push((stream, numbers, packet));
        }
        let compiled = harness.compile();
        let replication = replication([None; 4]);
        for (at, (stream, numbers, packet)) in inputs.iter().enumerate() {
            let found = compiled.run(at, [numbers, packet], 1);
            let expected =
                interpreter::hash::hash(HashAlgorithm::Csum16, stream, &replication);
            prop_assert_eq!(found[0], expected, "{:?}", cases[at]);
        }
    }
}
