// SPDX-License-Identifier: Apache-2.0
//! P4Info numbers of a program's objects. P4Runtime asks only that they be unique and have the type's
//! prefix; clients that hard-code numbers expect those that p4c gives: the low 24 bits of Jenkins'
//! one-at-a-time hash of the control-plane name, names in sorted order, the next free number when taken,
//! and numbers given with `@id` set aside first.

use ir::{Action, Program, Table};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Prefix of actions.
pub const ACTION: u32 = 0x01;
/// Prefix of tables.
pub const TABLE: u32 = 0x02;
/// Prefix of value sets.
pub const VALUE_SET: u32 = 0x03;
/// Prefix of headers of packets to and from the controller.
pub const CONTROLLER_HEADER: u32 = 0x04;
/// Prefix of action profiles.
pub const ACTION_PROFILE: u32 = 0x11;
/// Prefix of counters.
pub const COUNTER: u32 = 0x12;
/// Prefix of direct counters.
pub const DIRECT_COUNTER: u32 = 0x13;
/// Prefix of meters.
pub const METER: u32 = 0x14;
/// Prefix of direct meters.
pub const DIRECT_METER: u32 = 0x15;
/// Prefix of registers.
pub const REGISTER: u32 = 0x16;
/// Prefix of digests.
pub const DIGEST: u32 = 0x17;

/// Jenkins' one-at-a-time hash.
fn one_at_a_time(text: &str) -> u32 {
    let mut hash: u32 = 0;
    for byte in text.bytes() {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// Numbers for objects of one type, in the order of `objects`: name, and the number that `@id` gives. Objects of one name,
/// such as the uses of an action that bind arguments, share a number.
pub fn assign(prefix: u32, objects: &[(&str, Option<u32>)]) -> Vec<u32> {
    assign_beside(prefix, objects, BTreeSet::new())
}

/// The same for objects beside others that have numbers.
pub(crate) fn assign_beside(
    prefix: u32,
    objects: &[(&str, Option<u32>)],
    mut taken: BTreeSet<u32>,
) -> Vec<u32> {
    let mut numbers = vec![0; objects.len()];
    for (at, (_, given)) in objects.iter().enumerate() {
        if let Some(given) = given {
            // `@id` may leave the prefix out.
            let number = if given >> 24 == 0 { prefix << 24 | given } else { *given };
            numbers[at] = number;
            taken.insert(number);
        }
    }
    let mut order: Vec<usize> = (0..objects.len()).filter(|at| objects[*at].1.is_none()).collect();
    order.sort_by_key(|at| objects[*at].0);
    let mut last = None;
    for at in order {
        if let Some((name, number)) = last
            && name == objects[at].0
        {
            numbers[at] = number;
            continue;
        }
        let mut low = one_at_a_time(objects[at].0) & 0x00ff_ffff;
        while !taken.insert(prefix << 24 | low) {
            low = (low + 1) & 0x00ff_ffff;
        }
        numbers[at] = prefix << 24 | low;
        last = Some((objects[at].0, numbers[at]));
    }
    numbers
}

/// The number in an `@id(...)` among annotations as written.
pub fn given_id(annotations: &[Arc<str>]) -> Option<u32> {
    annotations.iter().find_map(|annotation| {
        let inner = annotation.trim().strip_prefix("@id")?.trim();
        let inner = inner.strip_prefix('(')?.strip_suffix(')')?.trim();
        u32::try_from(crate::values::number(inner)?).ok()
    })
}

/// Numbers of all tables.
pub fn tables(program: &Program) -> Vec<u32> {
    let objects: Vec<_> =
        program.tables.iter().map(|each| (&*each.name, given_id(&each.annotations))).collect();
    assign(TABLE, &objects)
}

/// Numbers of all actions.
pub fn actions(program: &Program) -> Vec<u32> {
    let objects: Vec<_> =
        program.actions.iter().map(|each| (&*each.name, given_id(&each.annotations))).collect();
    assign(ACTION, &objects)
}

/// Numbers of objects that have only names here.
pub fn named<'a>(prefix: u32, names: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let objects: Vec<_> = names.map(|name| (name, None)).collect();
    assign(prefix, &objects)
}

/// Gives ids to fields of an object: those that the program gives, and the next free numbers from 1.
pub(crate) fn field_ids(given: &[Option<u32>]) -> Vec<u32> {
    let mut taken: BTreeSet<u32> = given.iter().flatten().copied().collect();
    let mut next = 1;
    let mut id = |given: &Option<u32>| match given {
        Some(id) => {
            next += 1;
            *id
        }
        None => {
            while !taken.insert(next) {
                next += 1;
            }
            next
        }
    };
    given.iter().map(&mut id).collect()
}

/// Ids of the match fields of a table, those of selector keys included.
pub(crate) fn match_fields(table: &Table) -> Vec<u32> {
    let given = table.keys.iter().map(|key| given_id(&key.annotations));
    field_ids(&given.collect::<Vec<_>>())
}

/// Ids of the parameters of an action that the control plane gives.
pub(crate) fn parameters(action: &Action) -> Vec<u32> {
    let given = action.parameters.iter().map(|each| given_id(&each.annotations));
    field_ids(&given.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_fields_leave_out_given_ones() {
        assert_eq!(field_ids(&[None, None]), [1, 2]);
        assert_eq!(field_ids(&[Some(2), None, Some(1), None]), [2, 3, 1, 4]);
    }

    #[test]
    fn numbers() {
        // As p4c numbers the P4 tutorials' basic.p4.
        let tables = assign(TABLE, &[("MyIngress.ipv4_lpm", None)]);
        assert_eq!(tables, [37375156]);
        let actions = assign(
            ACTION,
            &[("MyIngress.ipv4_forward", None), ("MyIngress.drop", None), ("NoAction", None)],
        );
        assert_eq!(actions, [28792405, 25652968, 21257015]);
        assert_eq!(
            assign(TABLE, &[("a", Some(7)), ("b", Some(0x0200_0008))]),
            [0x0200_0007, 0x0200_0008]
        );
        assert_eq!(assign(ACTION, &[("b", None), ("a", None), ("b", None)])[2], {
            assign(ACTION, &[("b", None)])[0]
        });
        assert_eq!(given_id(&["@name(\"x\")".into(), "@id(0x10)".into()]), Some(16));
    }
}
