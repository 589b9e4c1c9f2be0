// SPDX-License-Identifier: Apache-2.0
//! One pipeline instance for compiled code: addresses of its cells and tables, which are refreshed when they
//! may have moved. Cells and tables belong to `state`.
#![allow(unsafe_code)] // Addresses go from thread to thread with the instance.

use crate::runtime::pass::{Instance, Pass, SideOutputs, TAILROOM_BYTES, TableView};
use ir::{CounterId, Program, RegisterId, ValueType};
use state::Cells;
use state::forwarding::index::DirectForm;
use state::forwarding::{ForwardingState, ForwardingTable};
use std::ptr::null;

/// Tables whose lookups read at least this much memory are prefetched.
const LARGE_TABLE_BYTES: usize = 1 << 18;

/// The addresses of one pipeline instance, to be kept from burst to burst.
#[derive(Debug)]
pub struct BoundInstance {
    instance: Instance,
    registers: Vec<*mut u64>,
    counters: Vec<*mut [u64; 2]>,
    zeros: Vec<u64>,
    /// Memory that compiled code reaches by one address: the pass, the instance, and a [`TableView`] for each
    /// table.
    memory: Vec<u64>,
    /// [`Cells::identity`] of the cells at the addresses.
    cells: Option<u64>,
    /// [`ForwardingState::identity`] of the tables at the addresses.
    tables: Option<u64>,
    /// Whether some table does not fit into the nearer caches.
    has_large_table: bool,
    side_outputs: SideOutputs,
}

/// The parts of an instance that a run uses.
pub(crate) struct Refreshed<'i> {
    /// The memory that compiled code and its callers share, with the content of the previous run.
    pub pass: &'i mut Pass,
    /// Outputs of functions of the runtime, with the content of the previous run.
    pub side_outputs: &'i mut SideOutputs,
    /// Whether some table does not fit into the nearer caches.
    pub has_large_table: bool,
}

// SAFETY: only code that called `refresh` uses the addresses, and it borrows the cells and the forwarding
// state.
unsafe impl Send for BoundInstance {}
// SAFETY: no code uses the addresses through a shared reference.
unsafe impl Sync for BoundInstance {}

impl Default for BoundInstance {
    fn default() -> BoundInstance {
        BoundInstance {
            instance: Instance {
                registers: null(),
                counters: null(),
                replication: null(),
                zeros: null(),
            },
            registers: Vec::new(),
            counters: Vec::new(),
            zeros: Vec::new(),
            memory: vec![0; words(size_of::<Pass>() + size_of::<Instance>())],
            cells: None,
            tables: None,
            has_large_table: false,
            side_outputs: SideOutputs::default(),
        }
    }
}

impl BoundInstance {
    /// An instance without addresses.
    pub fn new() -> BoundInstance {
        BoundInstance::default()
    }

    /// Refreshes the addresses for a run on this version of the tables and these cells, both of this program.
    /// They are valid as long as both are borrowed and this is not called again.
    #[inline]
    pub(crate) fn refresh(
        &mut self,
        program: &Program,
        forwarding: &ForwardingState,
        cells: &mut Cells,
    ) -> Refreshed<'_> {
        if self.cells != Some(cells.identity()) || self.tables != Some(forwarding.identity()) {
            self.find(program, forwarding, cells);
        }
        // SAFETY: there is room for a pass, of whole words. Any words are a pass, as it has numbers and
        // addresses only.
        let pass = unsafe { &mut *self.memory.as_mut_ptr().cast::<Pass>() };
        Refreshed {
            pass,
            side_outputs: &mut self.side_outputs,
            has_large_table: self.has_large_table,
        }
    }

    #[cold]
    fn find(&mut self, program: &Program, forwarding: &ForwardingState, cells: &mut Cells) {
        if self.cells != Some(cells.identity()) {
            self.find_cells(program, cells);
            self.cells = Some(cells.identity());
        }
        if self.tables != Some(forwarding.identity()) {
            let count = forwarding.tables().len();
            let first = words(size_of::<Pass>() + size_of::<Instance>());
            self.memory.resize(first + count * words(size_of::<TableView>()), 0);
            let places = self.memory[first..].chunks_exact_mut(words(size_of::<TableView>()));
            for (place, table) in places.zip(forwarding.tables()) {
                place.copy_from_slice(&table_view(table));
            }
            let is_large = |table: &ForwardingTable| table.lookup_bytes() >= LARGE_TABLE_BYTES;
            self.has_large_table = forwarding.tables().any(is_large);
            self.instance.replication = std::ptr::from_ref(forwarding.replication());
            self.tables = Some(forwarding.identity());
        }
        let pass = self.memory.as_mut_ptr().cast::<Pass>();
        // SAFETY: there is room for a pass and, behind it, an instance, both of whole words.
        unsafe { pass.add(1).cast::<Instance>().write(self.instance) };
    }

    fn find_cells(&mut self, program: &Program, cells: &mut Cells) {
        let registers = (0..program.registers.len() as u32).map(RegisterId);
        self.registers = registers
            .map(|id| cells.register_words_mut(id).map_or(std::ptr::null_mut(), <[_]>::as_mut_ptr))
            .collect();
        let counters = (0..program.counters.len() as u32).map(CounterId);
        self.counters = counters
            .map(|id| cells.counter_cells_mut(id).map_or(std::ptr::null_mut(), <[_]>::as_mut_ptr))
            .collect();
        self.zeros = vec![0; largest_value_bytes(program).div_ceil(8) + TAILROOM_BYTES / 8 + 1];
        self.instance.registers = self.registers.as_ptr();
        self.instance.counters = self.counters.as_ptr();
        self.instance.zeros = self.zeros.as_ptr().cast();
    }
}

fn words(bytes: usize) -> usize {
    bytes / size_of::<u64>()
}

/// A [`TableView`] as words.
fn table_view(table: &ForwardingTable) -> [u64; size_of::<TableView>() / size_of::<u64>()] {
    let direct = table.direct();
    let can_fetch = direct.address != 0 || table.form() == DirectForm::None;
    let view = TableView {
        table: std::ptr::from_ref(table) as u64,
        records: table.first_record() as u64,
        default_record: table.default_record() as u64,
        items: direct.address as u64,
        length: direct.length as u64,
        default_leaf: u64::from(direct.default_leaf),
        is_large: u64::from(can_fetch && table.lookup_bytes() >= LARGE_TABLE_BYTES),
    };
    let TableView { table, records, default_record, items, length, default_leaf, is_large } = view;
    [table, records, default_record, items, length, default_leaf, is_large]
}

/// Bytes of the largest header or value of a program.
fn largest_value_bytes(program: &Program) -> usize {
    let bits = |ty: &ValueType| ty.width_bits() as usize;
    let headers = program
        .header_types
        .iter()
        .map(|header| header.fields.iter().map(|field| bits(&field.ty)).sum::<usize>());
    let slots = program.slots.iter().map(|slot| bits(&slot.ty));
    let temps = program.regions.iter().flat_map(|region| &region.temps).map(bits);
    headers.chain(slots).chain(temps).max().unwrap_or(0).div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{Bits, CountUnit, Counter, Display, OriginId, RegisterArray};
    use state::Store;
    use std::sync::Arc;

    fn program() -> Arc<Program> {
        let origin = OriginId(0);
        let register = |width_bits, size| RegisterArray {
            name: "r".into(),
            width_bits,
            size,
            initial: Bits::from_u64(width_bits, 7),
            display: Display::Unsigned,
            origin,
        };
        let counter =
            |size| Counter { name: "c".into(), unit: CountUnit::PacketsAndBytes, size, origin };
        Arc::new(Program {
            registers: vec![register(9, 3), register(130, 2), register(8, 1 << 30)],
            counters: vec![counter(Some(5)), counter(None)],
            ..Program::default()
        })
    }

    #[test]
    fn addresses_are_those_of_the_cells() {
        let program = program();
        let store = Store::new(program.clone()).expect("a program without tables");
        let forwarding = store.forwarding();
        let mut cells = Cells::new(&program);
        let mut bound = BoundInstance::new();
        bound.refresh(&program, &forwarding, &mut cells);
        let instance = &bound.memory[words(size_of::<Pass>())..];
        let instance = instance.as_ptr().cast::<Instance>();
        // SAFETY: the arrays have as many cells as the program says, and the cells are alive.
        unsafe {
            let registers = (*instance).registers;
            *(*registers).add(2) = 5;
            assert_eq!(*(*registers.add(1)).add(3), 7, "the second cell of three words");
            assert!((*registers.add(2)).is_null());
            *(*(*instance).counters).add(4) = [1, 2];
            assert_eq!(*(*instance).zeros.add(TAILROOM_BYTES), 0);
        }
        let five = cells.register(RegisterId(0)).and_then(|cells| cells.read(2));
        assert_eq!(five, Some(Bits::from_u64(9, 5)));
        let counted = cells.counter(CounterId(0), 4).map(|value| (value.packets, value.bytes));
        assert_eq!(counted, Some((1, 2)));

        let mut copy = cells.clone();
        let first = bound.registers[0];
        bound.refresh(&program, &forwarding, &mut cells);
        assert_eq!(bound.registers[0], first);
        bound.refresh(&program, &forwarding, &mut copy);
        assert_ne!(bound.registers[0], first);
    }
}
