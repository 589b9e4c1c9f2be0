// SPDX-License-Identifier: Apache-2.0
//! Layouts by hand, stacks in lowered programs and in texts that place their elements oddly, and
//! storage against a list of values, one a slot.

use super::*;
use crate::{
    Display, Header, HeaderField, HeaderId, HeaderType, HeaderTypeId, OriginId, Slot, Stack,
};
use proptest::prelude::*;
use std::cmp::Ordering;

/// A program of slots alone.
fn program_of(types: &[ValueType]) -> Program {
    let slot = |(at, ty): (usize, &ValueType)| Slot {
        name: format!("slot{at}").into(),
        ty: *ty,
        display: Display::Unsigned,
        origin: OriginId(0),
    };
    Program { slots: types.iter().enumerate().map(slot).collect(), ..Program::default() }
}

fn ty() -> impl Strategy<Value = ValueType> {
    let width = prop_oneof![
        0u32..=65,
        120u32..=130,
        prop::sample::select(vec![0, 1, 63, 64, 65, 127, 128, 129, 192, 193, 2048]),
    ];
    (width, any::<bool>()).prop_map(|(width, is_varbit)| match is_varbit {
        true => ValueType::Varbit(width),
        false => ValueType::Bits(width),
    })
}

fn value() -> impl Strategy<Value = Bits> {
    (0u32..2200, prop::collection::vec(any::<u8>(), 0..275))
        .prop_map(|(width, bytes)| Bits::from_bytes_be(width, &bytes))
}

#[test]
fn slots_stand_in_order() {
    use ValueType::{Bits, Varbit};
    // Type, first word of the value, its words, the word of the length.
    let expected = [
        (Bits(1), 0, 1, None),
        (Bits(0), 1, 1, None),
        (Bits(64), 2, 1, None),
        (Bits(65), 3, 2, None),
        (Varbit(40), 6, 1, Some(5)),
        (Bits(300), 7, 5, None),
        (Varbit(128), 13, 2, Some(12)),
        (Varbit(0), 16, 1, Some(15)),
    ];
    let layout = StorageLayout::new(&program_of(&expected.map(|(ty, ..)| ty)));
    assert_eq!((layout.words(), layout.slot_count()), (17, 8));
    for (at, (ty, offset, words, length)) in expected.into_iter().enumerate() {
        let slot = SlotId(at as u32);
        let found = (
            layout.value_type(slot),
            layout.offset_words(slot),
            layout.value_words(slot),
            layout.length_word(slot),
        );
        assert_eq!(found, (ty, offset, words, length), "slot {at}");
    }
}

/// A program with a stack of three headers of a wide field and a varbit, whose elements have their first
/// slots here; a slot of one word stands between the second and the third.
fn program_with_stack(first_slots: [u32; 3]) -> Program {
    use ValueType::{Bits, Varbit};
    let element = [Bits(1), Bits(70), Varbit(40)];
    let types = [&element[..], &element[..], &[Bits(32)], &element[..]].concat();
    let mut program = program_of(&types);
    let field = |ty| HeaderField { name: "f".into(), ty, display: Display::Unsigned };
    let fields = element[1..].iter().map(|ty| field(*ty)).collect();
    program.header_types.push(HeaderType { name: "h".into(), fields });
    program.headers.extend(first_slots.map(|slot| Header {
        name: "s".into(),
        ty: HeaderTypeId(0),
        first_slot: SlotId(slot),
    }));
    let first_header = HeaderId(0);
    program.stacks.push(Stack {
        name: "s".into(),
        first_header,
        headers_per_element: 1,
        size: 3,
        next: SlotId(6),
    });
    program
}

#[test]
fn elements_at_unequal_distances_have_no_stride() {
    let stride = |first_slots, size| {
        let mut program = program_with_stack(first_slots);
        program.stacks[0].size = size;
        StorageLayout::new(&program).stack_stride_words(&program, StackId(0))
    };
    assert_eq!(stride([0, 3, 7], 3), None);
    assert_eq!(stride([3, 0, 7], 3), None, "not in order");
    assert_eq!(stride([0, 3, 7], 2), Some(5));
    assert_eq!(stride([0, 3, 7], 1), Some(0));
    assert_eq!(stride([0, 3, 7], 0), Some(0));
}

#[test]
fn stacks_of_lowered_programs_have_strides() {
    let source = "#include <core.p4>
        header one { bit<8> a; bit<130> b; }
        header two { varbit<80> v; bit<4> w; bit<4> x; }
        header_union either { one o; two t; }
        struct headers { bit<3> before; two[4] twos; either[3] eithers; one[1] single; }
        control Block(inout headers hdr);
        package Single(Block c);
        control run(inout headers hdr) { apply { hdr.twos[1].w = 3; } }
        Single(run()) main;";
    let ready = crate::ready::ReadyProgram::of_text("case.p4", source).expect("it compiles");
    let program = ready.lowered();
    let layout = StorageLayout::new(program);
    let strides: Vec<_> = (0..program.stacks.len() as u32)
        .map(|stack| layout.stack_stride_words(program, StackId(stack)))
        .collect();
    // $valid, length, two words of v, w, x; and for a union also $valid, a, three words of b.
    assert_eq!(strides, [Some(6), Some(11), Some(0)]);
    for (stack, stride) in program.stacks.iter().zip(strides) {
        let per_element = stack.headers_per_element;
        for header in 0..stack.size * per_element {
            let at = |header: u32| &program.headers[(stack.first_header.0 + header) as usize];
            let (found, first) = (at(header), at(header % per_element));
            let distance = (header / per_element) as usize * stride.expect("it has one");
            for field in 0..=program.header_types[found.ty.index()].fields.len() as u32 {
                let slots = [found, first].map(|header| SlotId(header.first_slot.0 + field));
                let [found, first] = slots.map(|slot| layout.offset_words(slot));
                assert_eq!(found, first + distance, "field {field} of {}", at(header).name);
            }
        }
    }
}

/// A change of one slot.
#[derive(Clone, Debug)]
enum Change {
    Value(Bits),
    Number(u64),
    CopyTo(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => value().prop_map(Change::Value),
        1 => any::<u64>().prop_map(Change::Number),
        1 => any::<prop::sample::Index>().prop_map(|index| Change::CopyTo(index.index(8))),
    ]
}

/// A value in a width, zeros in front or high bits dropped.
fn fitted(value: &Bits, width_bits: u32) -> Bits {
    match value.width_bits().cmp(&width_bits) {
        Ordering::Less => value.resize(ResizeKind::ZeroExtend, width_bits),
        _ => value.resize(ResizeKind::Truncate, width_bits),
    }
}

proptest! {
    #[test]
    fn storage_is_as_a_list_of_values(
        types in prop::collection::vec(ty(), 1..8),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 0..24),
    ) {
        let layout = StorageLayout::new(&program_of(&types));
        let mut storage = vec![0; layout.words()];
        let mut model: Vec<Bits> = types
            .iter()
            .map(|ty| match ty {
                ValueType::Bits(width) => Bits::zero(*width),
                ValueType::Varbit(_) => Bits::zero(0),
            })
            .collect();
        for (at, change) in changes {
            let at = at.index(types.len());
            let slot = SlotId(at as u32);
            match change {
                Change::Value(value) => {
                    layout.set_value(&mut storage, slot, &value);
                    model[at] = match types[at] {
                        ValueType::Bits(width) => fitted(&value, width),
                        ValueType::Varbit(most) => fitted(&value, most.min(value.width_bits())),
                    };
                }
                Change::Number(number) => {
                    layout.set_number(&mut storage, slot, number);
                    model[at] = Bits::from_u64(model[at].width_bits(), number);
                }
                Change::CopyTo(to) => {
                    let to = to % types.len();
                    if types[to] == types[at] {
                        layout.copy(&mut storage, slot, SlotId(to as u32));
                        model[to] = model[at].clone();
                    }
                }
            }
            for (at, expected) in model.iter().enumerate() {
                let slot = SlotId(at as u32);
                prop_assert_eq!(&layout.value(&storage, slot), expected);
                prop_assert_eq!(layout.number(&storage, slot), expected.low_u64());
                prop_assert_eq!(layout.width_bits(&storage, slot), expected.width_bits());
                prop_assert!(layout.is_clean(&storage, slot));
            }
        }
    }
}

#[test]
fn stray_bits_are_noticed() {
    let layout = StorageLayout::new(&program_of(&[ValueType::Bits(70), ValueType::Varbit(70)]));
    let check = |storage: [u64; 5], expected: [bool; 2]| {
        let found = [0, 1].map(|slot| layout.is_clean(&storage, SlotId(slot)));
        assert_eq!(found, expected, "{storage:x?}");
    };
    check([u64::MAX, 0x3f, 70, u64::MAX, 0x3f], [true, true]);
    check([0, 0x40, 3, 7, 0], [false, true]);
    check([0, 0, 3, 8, 0], [true, false]);
    check([0, 0, 64, 0, 1], [true, false]);
    check([0, 0, 71, 0, 0], [true, false]);
}
