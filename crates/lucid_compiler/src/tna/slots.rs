// SPDX-License-Identifier: Apache-2.0
//! The slots of generated events as handlers fill them, and the rules by which `serialise` sends what is in them. The
//! tables of the rules are written in `scheduler_tables`.

use crate::atomic::program::{AtomicProgram, Operand, Operation, Payload, SlotField, VariableKind};
use crate::wire::PlaceKind;
use pisa::{Gress, VariableId};

/// What handlers may write to the frame of a slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotShape {
    /// Whether some statement says what kind of place.
    pub(super) writes_kind: bool,
    /// Whether some statement writes a delay.
    pub(super) writes_delay: bool,
    /// Whether `serialise` asks whether there is one. Otherwise an event with a delay goes round once more.
    pub(super) asks_delay: bool,
    /// Kinds of ports that an event may leave by.
    pub(super) ports: Vec<PlaceKind>,
    /// Those that it leaves by at once where it has no delay. By the others it leaves when it came round.
    pub(super) direct: Vec<PlaceKind>,
    /// Whether bytes may follow an event of some statement that do not belong to it. It goes round to lose them.
    pub(super) cuts: bool,
    /// Whether some statement generates an event that goes as it is.
    pub(super) keeps: bool,
}

impl SlotShape {
    /// Bits of the key of `serialise`.
    fn key_bits(&self) -> u32 {
        let kind = if self.direct.is_empty() { 0 } else { 3 };
        1 + kind + if self.asks_delay { 32 } else { 0 } + u32::from(self.asks_cut())
    }

    /// Whether `serialise` asks whether bytes are to be cut off.
    pub(super) fn asks_cut(&self) -> bool {
        self.cuts && self.keeps
    }

    /// Whether they are in every case.
    fn always_cuts(&self) -> bool {
        self.cuts && !self.keeps
    }
}

/// Bits of a ternary key, and blocks of TCAM (44 bits, 512 entries) that a table of Tofino may have.
const MAX_KEY_BITS: u32 = 512;

const MAX_BLOCKS: usize = 24;

/// Whether a table has room for what `serialise` asks.
fn has_room(shapes: &[SlotShape]) -> bool {
    let key_bits: u32 = shapes.iter().map(SlotShape::key_bits).sum();
    let rules = rule_count(shapes);
    key_bits <= MAX_KEY_BITS && key_bits.div_ceil(44) as usize * rules.div_ceil(512) <= MAX_BLOCKS
}

/// Where there are too many slots for one table the last ones are asked less: what would wait or leave at
/// once goes round first.
fn make_room(shapes: &mut [SlotShape]) {
    for leaves_at_once in [false, true] {
        for at in (0..shapes.len()).rev() {
            if has_room(shapes) {
                return;
            }
            if leaves_at_once || shapes[at].direct.is_empty() {
                shapes[at].asks_delay = false;
                shapes[at].direct.clear();
            }
        }
    }
}

/// What may stand in each slot's frame, ingress.
pub(super) fn slot_shapes(atomic: &AtomicProgram) -> Vec<SlotShape> {
    let mut shapes = Vec::new();
    let mut shape = |slot: u32, change: &mut dyn FnMut(&mut SlotShape)| {
        let at = slot as usize;
        if shapes.len() <= at {
            shapes.resize(at + 1, SlotShape::default());
        }
        change(&mut shapes[at]);
    };
    for statement in atomic.statements.iter().filter(|one| one.gress == Gress::Ingress) {
        if let Operation::Generate { slot, payload, .. } = &statement.operation {
            shape(*slot, &mut |shape| match payload {
                Payload::Cut => shape.cuts = true,
                Payload::Kept | Payload::Absent => shape.keeps = true,
            });
        }
        for (to, from) in written(&statement.operation) {
            let VariableKind::Slot { slot, field, .. } = atomic.variable(to).kind else { continue };
            shape(slot, &mut |shape| match field {
                SlotField::DelayNs => shape.writes_delay = true,
                SlotField::PlaceKind => {
                    shape.writes_kind = true;
                    let all = [PlaceKind::Port, PlaceKind::Group, PlaceKind::Flood];
                    for kind in all {
                        let may_be = match from {
                            Some(Operand::Constant(value)) => value == u128::from(kind.field()),
                            _ => true,
                        };
                        if may_be && !shape.ports.contains(&kind) {
                            shape.ports.push(kind);
                        }
                    }
                }
                SlotField::Place | SlotField::Number => {}
            });
        }
    }
    // Slots that nothing generates have no headers.
    let generated = atomic.statements.iter().filter_map(|statement| match statement.operation {
        Operation::Generate { slot, .. } if statement.gress == Gress::Ingress => Some(slot),
        _ => None,
    });
    shapes.truncate(generated.max().map_or(0, |slot| slot as usize + 1));
    for shape in shapes.iter_mut().filter(|shape| !shape.always_cuts()) {
        shape.asks_delay = shape.writes_delay;
        shape.direct.clone_from(&shape.ports);
    }
    make_room(&mut shapes);
    shapes
}

/// What an operation writes, with the value where it is a plain one.
pub(super) fn written(operation: &Operation) -> Vec<(VariableId, Option<Operand>)> {
    match operation {
        Operation::Move { to, from } => vec![(*to, Some(*from))],
        Operation::Compute { to, .. }
        | Operation::Slice { to, .. }
        | Operation::Concatenate { to, .. }
        | Operation::Hash { to, .. }
        | Operation::Checksum { to, .. }
        | Operation::Random { to } => vec![(*to, None)],
        Operation::Memory { result, .. } => result.iter().map(|to| (*to, None)).collect(),
        Operation::Lookup { results, .. } => {
            results.iter().flatten().map(|to| (*to, None)).collect()
        }
        Operation::Generate { .. } => Vec::new(),
    }
}

/// Whether an event may go to a group of switches.
pub(super) fn spreads(atomic: &AtomicProgram) -> bool {
    atomic.statements.iter().any(|statement| {
        written(&statement.operation).iter().any(|(to, from)| {
            let kind = u128::from(PlaceKind::Switches.field());
            let is_kind = matches!(
                atomic.variable(*to).kind,
                VariableKind::Slot { field: SlotField::PlaceKind, .. }
            );
            is_kind && !matches!(from, Some(Operand::Constant(value)) if *value != kind)
        })
    })
}

/// Whether egress ever has several slots, or takes off a frame.
pub(super) fn may_be_several(slots: &[SlotShape]) -> bool {
    slots.len() > 1 || slots.iter().any(|shape| !shape.direct.is_empty())
}

/// What a rule of `serialise` asks of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotTest {
    /// Whether an event is there; any.
    pub(super) is_there: Option<bool>,
    /// Its kind of place; any.
    pub(super) kind: Option<PlaceKind>,
    /// Without a delay; any.
    pub(super) is_due: bool,
    /// Whether bytes are to be cut off; any.
    pub(super) is_cut: Option<bool>,
}

/// What a rule of `serialise` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serialisation {
    /// One event to the recirculation port, to be handled at once.
    Round(u32),
    /// One event to the recirculation port, to wait.
    Delayed(u32),
    /// One event to the recirculation port, to lose the bytes that do not belong to it.
    Cut(u32),
    /// Several to the recirculation port: as many copies as the highest slot has a number.
    Copies(u32),
    /// A slot leaves by a port, others go round in so many copies (0: there are none).
    Direct(u32, PlaceKind, u32),
}

/// How many rules `serialise` has.
pub(super) fn rule_count(slots: &[SlotShape]) -> usize {
    let direct: usize = slots.iter().map(|shape| shape.direct.len()).sum();
    let alone =
        |shape: &SlotShape| 1 + usize::from(shape.asks_delay) + usize::from(shape.asks_cut());
    let alone: usize = slots.iter().map(alone).sum();
    direct * slots.len() + alone + slots.len().saturating_sub(1)
}

/// The rules of `serialise`, in order.
pub(super) fn serialise_rules(slots: &[SlotShape]) -> Vec<(Vec<SlotTest>, Serialisation)> {
    let count = slots.len();
    let any = vec![SlotTest::default(); count];
    let mut rules = Vec::new();
    for (at, shape) in slots.iter().enumerate() {
        for kind in &shape.direct {
            let mut base = any.clone();
            base[at] = SlotTest {
                is_there: Some(true),
                kind: Some(*kind),
                is_due: shape.asks_delay,
                is_cut: shape.asks_cut().then_some(false),
            };
            for highest in (0..count).rev().filter(|highest| *highest != at) {
                let mut tests = base.clone();
                tests[highest].is_there = Some(true);
                let what = Serialisation::Direct(at as u32, *kind, highest as u32 + 1);
                rules.push((tests, what));
            }
            rules.push((base, Serialisation::Direct(at as u32, *kind, 0)));
        }
    }
    for (at, shape) in slots.iter().enumerate() {
        let mut alone = vec![SlotTest { is_there: Some(false), ..SlotTest::default() }; count];
        alone[at].is_there = Some(true);
        if shape.cuts {
            let mut cut = alone.clone();
            cut[at].is_cut = shape.asks_cut().then_some(true);
            rules.push((cut, Serialisation::Cut(at as u32)));
        }
        if shape.always_cuts() {
            continue;
        }
        if shape.asks_delay {
            let mut due = alone.clone();
            due[at].is_due = true;
            rules.push((due, Serialisation::Round(at as u32)));
            rules.push((alone, Serialisation::Delayed(at as u32)));
        } else {
            rules.push((alone, Serialisation::Round(at as u32)));
        }
    }
    for highest in (1..count).rev() {
        let mut tests = any.clone();
        tests[highest].is_there = Some(true);
        rules.push((tests, Serialisation::Copies(highest as u32 + 1)));
    }
    rules
}
