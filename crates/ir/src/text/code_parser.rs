// SPDX-License-Identifier: Apache-2.0
//! Reads regions: basic blocks, instructions and terminators.

use super::cursor::{Cursor, Parsed};
use super::reference::List;
use super::words::{self, member_of};
use crate::{
    BasicBlock, BlockId, CallEffects, CounterId, ExternAccess, ExternId, HeaderId, HeaderRef,
    Instruction, ItemRef, MeterId, Operand, Operation, Place, RandomSite, Region, RegionId,
    RegisterId, RegisterUpdate, RequestId, SlotId, StackId, TableId, Temp, Terminator, ValueSetId,
    ValueType,
};
use std::collections::{BTreeMap, HashMap};

/// Parses a region behind the keyword `region`.
pub(super) fn region(
    cursor: &mut Cursor,
    id: RegionId,
    lines: &mut HashMap<ItemRef, u32>,
) -> Parsed<Region> {
    let kind = cursor.member(words::REGION_KIND, "the kind of the region")?;
    let name = cursor.name()?;
    cursor.expect('{')?;
    let mut code = Code { cursor, temps: BTreeMap::new(), id, lines };
    while code.cursor.eat_word("undefined") {
        let temp = code.temp()?;
        code.cursor.expect(':')?;
        code.define(temp)?;
    }
    let mut blocks = Vec::new();
    while !code.cursor.eat('}') {
        blocks.push(code.block(BlockId(blocks.len() as u32))?);
    }
    let temps = code.temps;
    // Dense from 0 on, so the largest number says how many there are.
    if let Some((last, _)) = temps.last_key_value()
        && *last as usize >= temps.len()
    {
        let missing =
            (0..).zip(temps.keys()).find(|(at, temp)| at != *temp).map_or(0, |(at, _)| at);
        return cursor.error_before(format!("t{missing} has no type in region `{name}`"));
    }
    Ok(Region { name, kind, temps: temps.into_values().collect(), blocks })
}

struct Code<'c, 'a, 'l> {
    cursor: &'c mut Cursor<'a>,
    temps: BTreeMap<u32, ValueType>,
    id: RegionId,
    lines: &'l mut HashMap<ItemRef, u32>,
}

fn numbered(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    if digits.len() > 1 && digits.starts_with('0') { None } else { digits.parse().ok() }
}

impl Code<'_, '_, '_> {
    fn temp(&mut self) -> Parsed<Temp> {
        let word = self.cursor.word()?;
        match numbered(word, "t") {
            Some(number) => Ok(Temp(number)),
            None => self.cursor.error_before(format!("expected a temporary, found `{word}`")),
        }
    }

    fn block_id(&mut self) -> Parsed<BlockId> {
        let word = self.cursor.word()?;
        match numbered(word, "block") {
            Some(number) => Ok(BlockId(number)),
            None => self.cursor.error_before(format!("expected a basic block, found `{word}`")),
        }
    }

    /// The type of a temporary, after the colon.
    fn define(&mut self, temp: Temp) -> Parsed<()> {
        let ty = self.cursor.value_type()?;
        match self.temps.insert(temp.0, ty) {
            Some(known) if known != ty => {
                self.cursor.error_before(format!("t{} has another type already", temp.0))
            }
            _ => Ok(()),
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        if self.cursor.peek_number(0) {
            self.cursor.value().map(Operand::Constant)
        } else {
            self.temp().map(Operand::Temp)
        }
    }

    fn comma_operand(&mut self) -> Parsed<Operand> {
        self.cursor.expect(',')?;
        self.operand()
    }

    /// An operand in brackets.
    fn index(&mut self) -> Parsed<Operand> {
        self.cursor.expect('[')?;
        let index = self.operand()?;
        self.cursor.expect(']')?;
        Ok(index)
    }

    fn operands(&mut self) -> Parsed<Vec<Operand>> {
        self.cursor.expect('(')?;
        let mut operands = Vec::new();
        if self.cursor.eat(')') {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            if self.cursor.eat(')') {
                return Ok(operands);
            }
            self.cursor.expect(',')?;
        }
    }

    fn element(&mut self) -> Parsed<(StackId, u32, Operand)> {
        let stack = StackId(self.cursor.reference(List::Stacks)?);
        let index = self.index()?;
        self.cursor.expect_word("member")?;
        Ok((stack, self.cursor.number()?, index))
    }

    fn place(&mut self) -> Parsed<Place> {
        if self.cursor.eat_word("element") {
            let (stack, member, index) = self.element()?;
            self.cursor.expect_word("field")?;
            Ok(Place::Element { stack, member, field: self.cursor.number()?, index })
        } else {
            self.cursor.reference(List::Slots).map(|slot| Place::Slot(SlotId(slot)))
        }
    }

    fn header(&mut self) -> Parsed<HeaderRef> {
        if self.cursor.eat_word("element") {
            let (stack, member, index) = self.element()?;
            Ok(HeaderRef::Element { stack, member, index })
        } else {
            self.cursor.reference(List::Headers).map(|header| HeaderRef::Header(HeaderId(header)))
        }
    }

    fn block(&mut self, id: BlockId) -> Parsed<BasicBlock> {
        self.lines.insert(ItemRef::BasicBlock(self.id, id), self.cursor.line());
        if self.block_id()? != id {
            return self.cursor.error_before(format!("blocks are in order; this is block{}", id.0));
        }
        let name =
            if self.cursor.peek_punctuation(':') { "".into() } else { self.cursor.name()? };
        self.cursor.expect(':')?;
        let mut instructions = Vec::new();
        loop {
            let line = self.cursor.line();
            if let Some(terminator) = self.terminator()? {
                self.lines.insert(ItemRef::Terminator(self.id, id), line);
                let origin = self.cursor.origin()?;
                return Ok(BasicBlock { name, instructions, terminator, origin });
            }
            let at = instructions.len() as u32;
            self.lines.insert(ItemRef::Instruction(self.id, id, at), line);
            instructions.push(self.instruction(Some((id, at)))?);
        }
    }

    fn terminator(&mut self) -> Parsed<Option<Terminator>> {
        Ok(Some(match self.cursor.peek_word() {
            Some("goto") => {
                self.cursor.word()?;
                Terminator::Goto(self.block_id()?)
            }
            Some("branch") => {
                self.cursor.word()?;
                let condition = self.operand()?;
                self.cursor.expect(',')?;
                let then = self.block_id()?;
                self.cursor.expect(',')?;
                Terminator::Branch { condition, then, otherwise: self.block_id()? }
            }
            Some("switch") => {
                self.cursor.word()?;
                let value = self.operand()?;
                self.cursor.expect('{')?;
                let mut cases = Vec::new();
                while !self.cursor.eat('}') {
                    if !cases.is_empty() {
                        self.cursor.expect(',')?;
                    }
                    let case = self.cursor.value()?;
                    self.cursor.expect(':')?;
                    cases.push((case, self.block_id()?));
                }
                self.cursor.expect_word("default")?;
                Terminator::Switch { value, cases, default: self.block_id()? }
            }
            Some("return") => {
                self.cursor.word()?;
                Terminator::Return
            }
            Some("exit") => {
                self.cursor.word()?;
                Terminator::Exit
            }
            Some("reject") => {
                self.cursor.word()?;
                Terminator::Reject(self.operand()?)
            }
            _ => return Ok(None),
        }))
    }

    /// `site` is where the instruction stands, for the lines of an update's instructions.
    fn instruction(&mut self, site: Option<(BlockId, u32)>) -> Parsed<Instruction> {
        let mut results = Vec::new();
        while self.cursor.peek_word().is_some_and(|word| numbered(word, "t").is_some()) {
            let temp = self.temp()?;
            if self.cursor.eat(':') {
                self.define(temp)?;
            }
            results.push(temp);
            if !self.cursor.eat(',') {
                self.cursor.expect('=')?;
                break;
            }
        }
        let operation = self.operation(&results, site)?;
        Ok(Instruction { operation, origin: self.cursor.origin()? })
    }

    fn operation(&mut self, results: &[Temp], site: Option<(BlockId, u32)>) -> Parsed<Operation> {
        let word = self.cursor.word()?;
        let expected_results = match word {
            "store" | "extract" | "advance" | "emit" | "shift_stack" | "count" | "count_direct"
            | "request" | "log" | "assert" | "assume" => 0..=0,
            "apply" => 2..=2,
            "register_access" => 0..=1,
            "call" => 0..=usize::MAX,
            _ => 1..=1,
        };
        if !expected_results.contains(&results.len()) {
            return self
                .cursor
                .error_before(format!("`{word}` cannot have {} results", results.len()));
        }
        // Those operations that have no result leave it alone.
        let result = results.first().copied().unwrap_or(Temp(0));
        if let Some(operation) = member_of(words::UNARY, word) {
            return Ok(Operation::Unary { result, operation, operand: self.operand()? });
        }
        if let Some(operation) = member_of(words::BINARY, word) {
            let left = self.operand()?;
            return Ok(Operation::Binary { result, operation, left, right: self.comma_operand()? });
        }
        if let Some(kind) = member_of(words::RESIZE, word) {
            return Ok(Operation::Resize { result, kind, operand: self.operand()? });
        }
        Ok(match word {
            "slice" => {
                let operand = self.operand()?;
                self.cursor.expect('[')?;
                let high = self.cursor.number()?;
                self.cursor.expect(':')?;
                let low = self.cursor.number()?;
                self.cursor.expect(']')?;
                Operation::Slice { result, operand, high, low }
            }
            "select" => Operation::Select {
                result,
                condition: self.operand()?,
                then: self.comma_operand()?,
                otherwise: self.comma_operand()?,
            },
            "load" => Operation::Load { result, place: self.place()? },
            "store" => Operation::Store { place: self.place()?, value: self.comma_operand()? },
            "extract" => {
                let header = self.header()?;
                let varbit_bits =
                    if self.cursor.eat_word("varbit") { Some(self.operand()?) } else { None };
                Operation::Extract { header, varbit_bits }
            }
            "lookahead" => Operation::Lookahead { result },
            "advance" => Operation::Advance { bits: self.operand()? },
            "packet_length" => Operation::PacketLength { result },
            "emit" => Operation::Emit { header: self.header()? },
            "shift_stack" => {
                let stack = StackId(self.cursor.reference(List::Stacks)?);
                self.cursor.expect_word("by")?;
                Operation::ShiftStack { stack, by: self.cursor.number()? }
            }
            "apply" => {
                let table = TableId(self.cursor.reference(List::Tables)?);
                let keys = self.operands()?;
                Operation::Apply { table, keys, hit: results[0], action: results[1] }
            }
            "register_access" => self.register_access(results.first().copied(), site)?,
            "count" => Operation::Count {
                counter: CounterId(self.cursor.reference(List::Counters)?),
                index: self.index()?,
            },
            "meter" => Operation::Meter {
                meter: MeterId(self.cursor.reference(List::Meters)?),
                index: self.index()?,
                result,
            },
            "count_direct" => Operation::CountDirect {
                counter: CounterId(self.cursor.reference(List::Counters)?),
            },
            "meter_direct" => Operation::MeterDirect {
                meter: MeterId(self.cursor.reference(List::Meters)?),
                result,
            },
            "value_set_contains" => {
                let set = ValueSetId(self.cursor.reference(List::ValueSets)?);
                Operation::ValueSetContains { result, set, keys: self.operands()? }
            }
            "hash" => Operation::Hash {
                result,
                algorithm: self.cursor.hash_algorithm()?,
                inputs: self.operands()?,
                payload: self.cursor.eat_word("payload"),
            },
            "random" => {
                let low = self.operand()?;
                self.cursor.expect_word("to")?;
                let high = self.operand()?;
                self.cursor.expect_word("at")?;
                Operation::Random { result, low, high, site: RandomSite::new(self.cursor.name()?) }
            }
            "request" => Operation::Request {
                request: RequestId(self.cursor.reference(List::Requests)?),
                arguments: self.operands()?,
            },
            "log" => Operation::Log { format: self.cursor.name()?, arguments: self.operands()? },
            "assert" | "assume" => {
                Operation::Assert { condition: self.operand()?, is_assume: word == "assume" }
            }
            "call" => {
                let target = ExternId(self.cursor.reference(List::Externs)?);
                let method =
                    if self.cursor.eat_word("method") { self.cursor.name()? } else { "".into() };
                let access = match () {
                    () if self.cursor.eat_word("pure") => ExternAccess::Pure,
                    () if self.cursor.eat_word("reads") => ExternAccess::Reads,
                    () => ExternAccess::Any,
                };
                let random = match self.cursor.eat_word("at") {
                    true => Some(RandomSite::new(self.cursor.name()?)),
                    false => None,
                };
                let effects = CallEffects { access, random };
                let (arguments, results) = (self.operands()?, results.to_vec());
                Operation::CallExtern { target, method, arguments, results, effects }
            }
            _ => return self.cursor.error_before(format!("unknown instruction `{word}`")),
        })
    }

    fn register_access(
        &mut self,
        old: Option<Temp>,
        site: Option<(BlockId, u32)>,
    ) -> Parsed<Operation> {
        let register = RegisterId(self.cursor.reference(List::Registers)?);
        let index = self.index()?;
        let guard = if self.cursor.eat_word("guard") { Some(self.operand()?) } else { None };
        let mut update = None;
        if self.cursor.eat_word("update") {
            // Updates do not nest: this also bounds the recursion.
            let Some((block, at)) = site else {
                return self.cursor.error_before("an update cannot stand in an update");
            };
            self.cursor.expect('{')?;
            let mut body = Vec::new();
            while !self.cursor.eat_word("yield") {
                let inner = ItemRef::UpdateInstruction(self.id, block, at, body.len() as u32);
                self.lines.insert(inner, self.cursor.line());
                body.push(self.instruction(None)?);
            }
            let value = self.operand()?;
            self.cursor.expect('}')?;
            update = Some(RegisterUpdate { body, value });
        }
        Ok(Operation::RegisterAccess { register, index, guard, old, update })
    }
}
