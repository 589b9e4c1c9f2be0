// SPDX-License-Identifier: Apache-2.0
//! Random programs whose first choices are the bytes: the IR as lowered and the simplified IR must
//! mean the same, with entries and packets made for the program.
#![no_main]

use differential::campaign;
use testing::Choices;
use testing::p4::Knobs;
use differential::subject::DeviceSubject;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut left = DeviceSubject::named("lowered").expect("it has a name");
    let mut right = DeviceSubject::named("interpreter").expect("it has a name");
    let knobs = Knobs { size: 2, random: false, calls: false };
    let mut choices = Choices::from_bytes(bytes.to_vec());
    if let Err(failure) = campaign::run(&mut choices, knobs, 10, (&mut left, &mut right)) {
        panic!("{failure}");
    }
});
