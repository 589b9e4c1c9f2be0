// SPDX-License-Identifier: Apache-2.0
//! Verifies everything but code: storage, tables, state objects, blocks and origins.

use super::Verifier;
use crate::{
    ActionCall, BlockKind, CRC_WIDTHS_BITS, Display, HashAlgorithm, HeaderId, ItemRef, Key,
    KeyPattern, MatchKind, RegionKind, SlotId, ValueType,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Verifier<'_> {
    pub(super) fn items(&mut self) {
        self.errors_and_origins();
        self.storage();
        for at in 0..self.program.tables.len() as u32 {
            self.table(at);
        }
        self.state();
        self.blocks();
        self.names();
    }

    fn errors_and_origins(&mut self) {
        let program = self.program;
        if program.errors.first().map(|name| &**name) != Some("NoError") {
            self.error(ItemRef::Error(0), "error 0 has to be NoError");
        }
        self.require(ItemRef::Program, program.errors.len() <= 1 << 16, || {
            "there are more errors than 16 bits can number".into()
        });
        self.distinct(&program.errors.iter().collect::<Vec<_>>(), "error", ItemRef::Error);
        // 0: not seen, 1: on the present chain, 2: known to end.
        let mut marks = vec![0u8; program.origins.len()];
        for at in 0..program.origins.len() {
            let mut chain = Vec::new();
            let mut next = Some(at);
            while let Some(current) = next {
                match marks.get(current) {
                    None => {
                        let last = chain.last().copied().unwrap_or(at);
                        self.error(
                            ItemRef::Origin(last as u32),
                            format!("there is no origin @{current}"),
                        );
                        break;
                    }
                    Some(1) => {
                        self.error(
                            ItemRef::Origin(current as u32),
                            "the parents of this origin form a cycle",
                        );
                        break;
                    }
                    Some(2) => break,
                    Some(_) => {
                        marks[current] = 1;
                        chain.push(current);
                        next = program.origins[current].parent.map(|parent| parent.index());
                    }
                }
            }
            for seen in chain {
                marks[seen] = 2;
            }
            for merged in &program.origins[at].merged {
                let item_ref = ItemRef::Origin(at as u32);
                match program.origins.get(merged.index()) {
                    None => self.error(item_ref, format!("there is no origin @{}", merged.0)),
                    Some(merged) if !merged.merged.is_empty() => {
                        self.error(item_ref, "a merged origin merges others itself");
                    }
                    Some(_) => {}
                }
            }
        }
    }

    fn display(&mut self, item_ref: ItemRef, width_bits: u32, display: &Display) {
        match display {
            Display::Bool => self.require(item_ref, width_bits == 1, || {
                format!("a value of {width_bits} bits cannot be shown as bool")
            }),
            Display::Enum(name, members) => {
                for (member, value) in members {
                    self.require(item_ref, value.width_bits() == width_bits, || {
                        format!(
                            "member `{member}` of enum `{name}` does not have {width_bits} bits"
                        )
                    });
                }
            }
            Display::Unsigned | Display::Signed | Display::Error => {}
        }
    }

    fn storage(&mut self) {
        let program = self.program;
        for (at, slot) in program.slots.iter().enumerate() {
            let item_ref = ItemRef::Slot(at as u32);
            self.width(item_ref, slot.ty.width_bits());
            self.display(item_ref, slot.ty.width_bits(), &slot.display);
            self.origin(item_ref, slot.origin);
        }
        for (at, ty) in program.header_types.iter().enumerate() {
            let item_ref = ItemRef::HeaderType(at as u32);
            for field in &ty.fields {
                self.width(item_ref, field.ty.width_bits());
                self.display(item_ref, field.ty.width_bits(), &field.display);
            }
            let varbits =
                ty.fields.iter().filter(|field| matches!(field.ty, ValueType::Varbit(_))).count();
            self.require(item_ref, varbits <= 1, || "more than one field is a varbit".into());
        }
        self.headers();
        self.stacks();
        for (at, union) in program.unions.iter().enumerate() {
            let item_ref = ItemRef::Union(at as u32);
            let mut seen = HashSet::new();
            for member in &union.members {
                self.handle(item_ref, "header", member.0, program.headers.len());
                self.require(item_ref, seen.insert(*member), || {
                    format!("header #{} is a member twice", member.0)
                });
            }
        }
        for (at, list) in program.field_lists.iter().enumerate() {
            self.slots(ItemRef::FieldList(at as u32), &list.slots);
        }
    }

    fn slots(&mut self, item_ref: ItemRef, slots: &[SlotId]) {
        for slot in slots {
            self.handle(item_ref, "slot", slot.0, self.program.slots.len());
        }
    }

    fn headers(&mut self) {
        let program = self.program;
        let mut owners: HashMap<u32, usize> = HashMap::new();
        for (at, header) in program.headers.iter().enumerate() {
            let item_ref = ItemRef::Header(at as u32);
            if !self.handle(item_ref, "header type", header.ty.0, program.header_types.len()) {
                continue;
            }
            let ty = &program.header_types[header.ty.index()];
            let expected = [ValueType::Bits(1)]
                .into_iter()
                .chain(ty.fields.iter().map(|field| field.ty))
                .enumerate();
            for (offset, expected) in expected {
                let Some(slot) = header.first_slot.0.checked_add(offset as u32) else { break };
                if !self.handle(item_ref, "slot", slot, program.slots.len()) {
                    break;
                }
                let found = &program.slots[slot as usize];
                self.require(item_ref, found.ty == expected, || {
                    let what = match offset.checked_sub(1) {
                        None => "the validity bit".into(),
                        Some(field) => format!("field `{}`", ty.fields[field].name),
                    };
                    format!("slot `{}` does not have the type of {what}", found.name)
                });
                if let Some(other) = owners.insert(slot, at) {
                    let other = &program.headers[other].name;
                    self.error(
                        item_ref,
                        format!("slot `{}` belongs to header `{other}` already", found.name),
                    );
                }
            }
        }
    }

    fn stacks(&mut self) {
        let program = self.program;
        for (at, stack) in program.stacks.iter().enumerate() {
            let item_ref = ItemRef::Stack(at as u32);
            if self.handle(item_ref, "slot", stack.next.0, program.slots.len()) {
                let next = program.slots[stack.next.index()].ty;
                self.require(item_ref, next == ValueType::Bits(32), || {
                    "`next` has to have 32 bits".into()
                });
            }
            let members = stack.headers_per_element;
            self.require(item_ref, members > 0, || "an element has no header".into());
            let end = u64::from(stack.first_header.0) + u64::from(stack.size) * u64::from(members);
            if end > program.headers.len() as u64 {
                self.error(item_ref, "the stack's headers go beyond the last header");
                continue;
            }
            let ty = |element: u32, member: u32| {
                program.headers[(stack.first_header.0 + element * members + member) as usize].ty
            };
            let alike = (0..stack.size)
                .all(|element| (0..members).all(|member| ty(element, member) == ty(0, member)));
            self.require(item_ref, alike, || {
                "the elements' headers are not of the same types".into()
            });
        }
    }

    fn call(&mut self, item_ref: ItemRef, table: u32, call: &ActionCall) {
        let program = self.program;
        let table = &program.tables[table as usize];
        let Some(listed) = table.actions.get(call.action as usize) else {
            return self
                .error(item_ref, format!("the table lists no action number {}", call.action));
        };
        let Some(action) = program.actions.get(listed.action.index()) else { return };
        if action.parameters.len() != call.arguments.len() {
            return self.error(
                item_ref,
                format!(
                    "action `{}` has {} parameters, here are {} arguments",
                    action.name,
                    action.parameters.len(),
                    call.arguments.len()
                ),
            );
        }
        for (parameter, argument) in action.parameters.iter().zip(&call.arguments) {
            let Some(slot) = program.slots.get(parameter.slot.index()) else { continue };
            self.require(item_ref, slot.ty.width_bits() == argument.width_bits(), || {
                format!(
                    "parameter `{}` has {} bits, the argument {argument} does not",
                    parameter.name,
                    slot.ty.width_bits()
                )
            });
        }
    }

    fn key(&mut self, item_ref: ItemRef, key: &Key) {
        self.width(item_ref, key.width_bits);
        self.display(item_ref, key.width_bits, &key.display);
    }

    /// T3 and T4 for one key.
    fn pattern(&mut self, item_ref: ItemRef, key: &Key, pattern: &KeyPattern) {
        use MatchKind::{Lpm, Other, Range, Ternary};
        let (known, values) = match pattern {
            KeyPattern::Any => return,
            KeyPattern::Exact(value) => (true, vec![value]),
            KeyPattern::Prefix { value, .. } => {
                (matches!(key.match_kind, Lpm | Ternary | Other(_)), vec![value])
            }
            KeyPattern::Ternary { value, mask } => {
                (matches!(key.match_kind, Ternary | Other(_)), vec![value, mask])
            }
            KeyPattern::Range { low, high } => {
                (matches!(key.match_kind, Range | Other(_)), vec![low, high])
            }
        };
        self.require(item_ref, known, || {
            format!("the match kind of key `{}` does not know such a pattern", key.name)
        });
        for value in values {
            if value.width_bits() != key.width_bits {
                return self.error(
                    item_ref,
                    format!("key `{}` has {} bits, {value} does not", key.name, key.width_bits),
                );
            }
        }
        match pattern {
            KeyPattern::Prefix { value, length_bits } => {
                self.require(item_ref, *length_bits <= key.width_bits, || {
                    format!("the prefix of {length_bits} bits is longer than key `{}`", key.name)
                });
                let mask = crate::Bits::prefix_mask(key.width_bits, *length_bits);
                let kept = value.binary(crate::BinaryOperation::And, &mask);
                self.require(item_ref, kept == *value, || {
                    format!("{value} has ones behind its prefix of {length_bits} bits")
                });
            }
            KeyPattern::Ternary { value, mask } => {
                let kept = value.binary(crate::BinaryOperation::And, mask);
                self.require(item_ref, kept == *value, || {
                    format!("{value} has ones where its mask {mask} has zeros")
                });
            }
            KeyPattern::Any | KeyPattern::Exact(_) | KeyPattern::Range { .. } => {}
        }
    }

    fn table(&mut self, at: u32) {
        let program = self.program;
        let table = &program.tables[at as usize];
        let item_ref = ItemRef::Table(at);
        self.origin(item_ref, table.origin);
        for (number, listed) in table.actions.iter().enumerate() {
            let item_ref = ItemRef::TableAction(at, number as u32);
            self.handle(item_ref, "action", listed.action.0, program.actions.len());
        }
        if !(table.actions.is_empty() && table.entries.is_empty()) {
            let item_ref = ItemRef::TableDefault(at);
            self.call(item_ref, at, &table.default_action);
            let listed = table.actions.get(table.default_action.action as usize);
            self.require(item_ref, !listed.is_some_and(|listed| listed.table_only), || {
                "the default action is table_only".into()
            });
        }
        let profile = match table.implementation {
            Some(id)
                if self.handle(item_ref, "action profile", id.0, program.action_profiles.len()) =>
            {
                Some(&program.action_profiles[id.index()])
            }
            _ => None,
        };
        let has_selector = profile.is_some_and(|profile| profile.selector.is_some());
        for (number, key) in table.keys.iter().enumerate() {
            let item_ref = ItemRef::TableKey(at, number as u32);
            self.key(item_ref, key);
            self.require(item_ref, key.match_kind != MatchKind::Selector || has_selector, || {
                "a selector key needs a selector as the table's implementation".into()
            });
        }
        let matched: Vec<&Key> =
            table.keys.iter().filter(|key| key.match_kind != MatchKind::Selector).collect();
        for (number, entry) in table.entries.iter().enumerate() {
            let item_ref = ItemRef::TableEntry(at, number as u32);
            self.origin(item_ref, entry.origin);
            self.call(item_ref, at, &entry.call);
            let listed = table.actions.get(entry.call.action as usize);
            self.require(item_ref, !listed.is_some_and(|listed| listed.default_only), || {
                "the entry runs a default_only action".into()
            });
            if entry.keys.len() != matched.len() {
                let (count, expected) = (entry.keys.len(), matched.len());
                self.error(item_ref, format!("{count} patterns for {expected} keys"));
                continue;
            }
            for (key, pattern) in matched.iter().zip(&entry.keys) {
                self.pattern(item_ref, key, pattern);
            }
        }
    }

    fn state(&mut self) {
        let program = self.program;
        let mut counter_owners = HashMap::new();
        let mut meter_owners = HashMap::new();
        for (at, table) in program.tables.iter().enumerate() {
            let item_ref = ItemRef::Table(at as u32);
            for counter in &table.direct_counters {
                if self.handle(item_ref, "counter", counter.0, program.counters.len()) {
                    let item = &program.counters[counter.index()];
                    let owner = counter_owners.insert(*counter, at);
                    self.direct(item_ref, &item.name, item.size, owner);
                }
            }
            for meter in &table.direct_meters {
                if self.handle(item_ref, "meter", meter.0, program.meters.len()) {
                    let item = &program.meters[meter.index()];
                    let owner = meter_owners.insert(*meter, at);
                    self.direct(item_ref, &item.name, item.size, owner);
                }
            }
        }
        for (at, action) in program.actions.iter().enumerate() {
            let item_ref = ItemRef::Action(at as u32);
            self.origin(item_ref, action.origin);
            if self.handle(item_ref, "region", action.region.0, program.regions.len()) {
                let kind = program.regions[action.region.index()].kind;
                self.require(item_ref, kind == RegionKind::Action, || {
                    "the region of an action has to be of kind action".into()
                });
            }
            let mut seen = HashSet::new();
            for parameter in &action.parameters {
                if !self.handle(item_ref, "slot", parameter.slot.0, program.slots.len()) {
                    continue;
                }
                let ty = program.slots[parameter.slot.index()].ty;
                self.require(item_ref, matches!(ty, ValueType::Bits(_)), || {
                    format!("parameter `{}` is a varbit", parameter.name)
                });
                self.require(item_ref, seen.insert(parameter.slot), || {
                    format!("parameter `{}` shares its slot with another", parameter.name)
                });
            }
        }
        for (at, register) in program.registers.iter().enumerate() {
            let item_ref = ItemRef::Register(at as u32);
            self.origin(item_ref, register.origin);
            self.width(item_ref, register.width_bits);
            self.display(item_ref, register.width_bits, &register.display);
            self.require(item_ref, register.initial.width_bits() == register.width_bits, || {
                "the first value does not have the width of a cell".into()
            });
        }
        for (at, counter) in program.counters.iter().enumerate() {
            self.origin(ItemRef::Counter(at as u32), counter.origin);
        }
        for (at, meter) in program.meters.iter().enumerate() {
            self.origin(ItemRef::Meter(at as u32), meter.origin);
        }
        for (at, profile) in program.action_profiles.iter().enumerate() {
            let item_ref = ItemRef::ActionProfile(at as u32);
            self.origin(item_ref, profile.origin);
            self.width(item_ref, profile.selector.map_or(0, |(_, width_bits)| width_bits));
            let is_valid = match profile.selector {
                Some((HashAlgorithm::Crc(crc), _)) => crc.is_valid(),
                _ => true,
            };
            self.require(item_ref, is_valid, || {
                "a CRC has 1 to 64 bits, and its parameters are no wider".into()
            });
            if let Some((HashAlgorithm::Custom(id), _)) = profile.selector {
                let is_there = id.index() < program.calculations.len();
                self.require(item_ref, is_there, || format!("there is no calculation #{}", id.0));
            }
        }
        for (at, calculation) in program.calculations.iter().enumerate() {
            let item_ref = ItemRef::Calculation(at as u32);
            self.origin(item_ref, calculation.origin);
            let is_known = CRC_WIDTHS_BITS.contains(&calculation.parameters.width_bits);
            self.require(item_ref, is_known, || {
                let (least, most) = (CRC_WIDTHS_BITS.start(), CRC_WIDTHS_BITS.end());
                format!("a CRC has {least} to {most} bits")
            });
            self.require(item_ref, calculation.parameters.is_valid(), || {
                "parameters are wider than the CRC".into()
            });
        }
        for (at, set) in program.value_sets.iter().enumerate() {
            let item_ref = ItemRef::ValueSet(at as u32);
            self.origin(item_ref, set.origin);
            for component in &set.components {
                self.key(item_ref, component);
                self.require(item_ref, component.match_kind != MatchKind::Selector, || {
                    "a value set has no selector keys".into()
                });
            }
        }
        for (at, request) in program.requests.iter().enumerate() {
            for (_, ty) in &request.fields {
                self.width(ItemRef::Request(at as u32), ty.width_bits());
            }
        }
        for (at, item) in program.externs.iter().enumerate() {
            self.origin(ItemRef::Extern(at as u32), item.origin);
        }
    }

    /// T6 for one attached object.
    fn direct(&mut self, item_ref: ItemRef, name: &str, size: Option<u64>, owner: Option<usize>) {
        self.require(item_ref, size.is_none(), || format!("`{name}` is attached but not direct"));
        self.require(item_ref, owner.is_none(), || format!("`{name}` is attached twice"));
    }

    fn blocks(&mut self) {
        let program = self.program;
        for (at, block) in program.blocks.iter().enumerate() {
            let item_ref = ItemRef::Block(at as u32);
            self.origin(item_ref, block.origin);
            if self.handle(item_ref, "region", block.region.0, program.regions.len()) {
                let expected = match block.kind {
                    BlockKind::Parser => RegionKind::Parser,
                    BlockKind::Control => RegionKind::Control,
                    BlockKind::Deparser => RegionKind::Deparser,
                };
                let kind = program.regions[block.region.index()].kind;
                self.require(item_ref, kind == expected, || {
                    "the region's kind is not the block's kind".into()
                });
            }
            if let Some(slot) = block.parser_error {
                self.require(item_ref, block.kind == BlockKind::Parser, || {
                    "only a parser has an error slot".into()
                });
                if self.handle(item_ref, "slot", slot.0, program.slots.len()) {
                    let ty = program.slots[slot.index()].ty;
                    self.require(item_ref, ty == ValueType::Bits(16), || {
                        "the error slot has to have 16 bits".into()
                    });
                }
            }
            for parameter in &block.parameters {
                self.slots(item_ref, &parameter.slots);
            }
        }
    }

    /// P5, and roles (B1).
    fn names(&mut self) {
        let program = self.program;
        macro_rules! distinct {
            ($list:ident, $what:literal, $item_ref:ident, $field:ident) => {
                let names: Vec<&Arc<str>> = program.$list.iter().map(|item| &item.$field).collect();
                self.distinct(&names, $what, ItemRef::$item_ref);
            };
        }
        distinct!(slots, "slot", Slot, name);
        distinct!(tables, "table", Table, name);
        distinct!(registers, "register", Register, name);
        distinct!(counters, "counter", Counter, name);
        distinct!(meters, "meter", Meter, name);
        distinct!(action_profiles, "action profile", ActionProfile, name);
        distinct!(value_sets, "value set", ValueSet, name);
        distinct!(calculations, "calculation", Calculation, name);
        self.roles();
    }

    fn roles(&mut self) {
        let program = self.program;
        let blocks = &program.blocks;
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (at, block) in blocks.iter().enumerate() {
            let role = &block.role;
            let Some(first) = seen.insert(role, at) else { continue };
            let item = ItemRef::Block(at as u32);
            let are_controls = [first, at].iter().all(|at| blocks[*at].kind == BlockKind::Control);
            self.require(item, are_controls, || {
                format!("another block is called `{role}` already, and not both are controls")
            });
            self.require(item, first + 1 == at, || {
                format!("the blocks of `{role}` do not follow each other")
            });
        }
    }

    fn distinct(&mut self, names: &[&Arc<str>], what: &str, item_ref: fn(u32) -> ItemRef) {
        let mut seen = HashSet::new();
        for (at, name) in names.iter().enumerate() {
            self.require(item_ref(at as u32), seen.insert(&***name), || {
                format!("another {what} is called `{name}` already")
            });
        }
    }

    /// The header type of a member of a stack's elements.
    pub(super) fn member_type(&self, stack: u32, member: u32) -> Option<&crate::HeaderType> {
        let stack = self.program.stacks.get(stack as usize)?;
        let header = HeaderId(stack.first_header.0.checked_add(member)?);
        let header = self.program.headers.get(header.index())?;
        self.program.header_types.get(header.ty.index())
    }
}
