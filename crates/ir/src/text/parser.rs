// SPDX-License-Identifier: Apache-2.0
//! Splits the text into items and reads every item but regions, which `code_parser` reads. An error
//! ends its item only, so that one run reports an error an item.

use super::code_parser;
use super::cursor::{Cursor, Declared, Parsed};
use super::reference::List;
use super::token::{Token, TokenKind, tokenize};
use super::words;
use super::{ParsedText, TextError};
use crate::{
    Action, ActionCall, ActionId, ActionParameter, ActionProfile, ActionProfileId, Block,
    BlockParameter, Calculation, CountUnit, Counter, CounterId, CrcParameters, Entry, Extern,
    FieldList, Header, HeaderField, HeaderId, HeaderType, HeaderTypeId, ItemRef, Key, KeyPattern,
    MatchKind, Meter, MeterId, Origin, OriginId, Program, RegionId, RegisterArray, Request, Slot,
    SlotId, Stack, Table, TableAction, Union, ValueSet,
};
use p4::ast::NodeId;
use source::{FileId, Span};
use std::collections::HashMap;
use std::sync::Arc;

const KEYWORDS: [&str; 21] = [
    "ir",
    "error",
    "origin",
    "slot",
    "header_type",
    "header",
    "stack",
    "union",
    "table",
    "action",
    "register",
    "counter",
    "meter",
    "action_profile",
    "value_set",
    "calculation",
    "request",
    "extern",
    "field_list",
    "region",
    "block",
];

/// The program that a text describes, and the lines of its items.
pub(super) fn parse(text: &str) -> Result<ParsedText, Vec<TextError>> {
    let tokens = tokenize(text).map_err(|error| vec![error])?;
    let items = split(&tokens).map_err(|error| vec![error])?;
    let declared = declared(&items);
    let mut parser =
        Parser { declared: &declared, program: Program::default(), lines: HashMap::new() };
    let errors: Vec<TextError> =
        items.into_iter().filter_map(|item| parser.item(item).err()).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let Parser { mut program, lines, .. } = parser;
    if declared.nowhere_used.get() {
        program.origins.push(Origin::at(Span::NONE));
    }
    Ok(ParsedText { program, lines })
}

/// Cuts at keywords that are first on their line and in no brackets.
fn split(tokens: &[Token]) -> Result<Vec<&[Token]>, TextError> {
    let mut starts = Vec::new();
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Punctuation('{' | '(' | '[') => depth += 1,
            TokenKind::Punctuation('}' | ')' | ']') => depth = depth.saturating_sub(1),
            TokenKind::Word(word)
                if depth == 0 && token.first_on_line && KEYWORDS.contains(&word.as_str()) =>
            {
                starts.push(at);
            }
            _ => {}
        }
    }
    if let Some(token) = tokens.first()
        && starts.first() != Some(&0)
    {
        return Err(TextError {
            line: token.line,
            column: token.column,
            message: format!("expected an item, found {}", token.kind.describe()),
        });
    }
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    Ok(starts.iter().zip(ends).map(|(start, end)| &tokens[*start..end]).collect())
}

/// The names of all items, so that references may point ahead.
fn declared(items: &[&[Token]]) -> Declared {
    let mut declared = Declared::default();
    let mut counts: HashMap<List, u32> = HashMap::new();
    for item in items {
        let text = |at: usize| match item.get(at).map(|token| &token.kind) {
            Some(TokenKind::Word(text) | TokenKind::Quoted(text)) => Some(text),
            _ => None,
        };
        let Some(TokenKind::Word(keyword)) = item.first().map(|token| &token.kind) else {
            continue;
        };
        if keyword == "origin" {
            declared.nowhere += 1;
        }
        let Some(list) = List::of_keyword(keyword) else { continue };
        let is_instance = matches!(
            item.get(2).map(|token| &token.kind), Some(TokenKind::Word(word)) if word == "instance");
        let name = match list {
            List::Regions => text(2),
            List::Externs if is_instance => text(3),
            _ => text(1),
        };
        let count = counts.entry(list).or_default();
        if let Some(name) = name {
            declared.names.entry((list, name.clone())).or_default().push(*count);
        }
        *count += 1;
    }
    declared
}

struct Parser<'a> {
    declared: &'a Declared,
    program: Program,
    lines: HashMap<ItemRef, u32>,
}

impl Parser<'_> {
    fn item(&mut self, tokens: &[Token]) -> Parsed<()> {
        let mut cursor = Cursor::new(self.declared, tokens);
        let line = cursor.line();
        let keyword = cursor.word()?;
        let program = &mut self.program;
        /// Parses an item, appends it to its list and notes its line.
        macro_rules! push {
            ($list:ident, $site:ident, $parse:expr) => {{
                self.lines.insert(ItemRef::$site(program.$list.len() as u32), line);
                let item = $parse;
                self.program.$list.push(item);
            }};
        }
        match keyword {
            "ir" => program.architecture = cursor.name()?,
            "error" => push!(errors, Error, cursor.name()?),
            "origin" => push!(origins, Origin, origin(&mut cursor, program.origins.len())?),
            "slot" => push!(slots, Slot, slot(&mut cursor)?),
            "header_type" => push!(header_types, HeaderType, header_type(&mut cursor)?),
            "header" => push!(headers, Header, header(&mut cursor)?),
            "stack" => push!(stacks, Stack, stack(&mut cursor)?),
            "union" => push!(unions, Union, union(&mut cursor)?),
            "table" => {
                let at = program.tables.len() as u32;
                push!(tables, Table, table(&mut cursor, at, &mut self.lines)?);
            }
            "action" => push!(actions, Action, action(&mut cursor)?),
            "register" => push!(registers, Register, register(&mut cursor)?),
            "counter" => push!(counters, Counter, {
                let (name, unit, size, origin) = counting(&mut cursor)?;
                Counter { name, unit, size, origin }
            }),
            "meter" => push!(meters, Meter, {
                let (name, unit, size, origin) = counting(&mut cursor)?;
                Meter { name, unit, size, origin }
            }),
            "action_profile" => {
                push!(action_profiles, ActionProfile, action_profile(&mut cursor)?);
            }
            "calculation" => push!(calculations, Calculation, calculation(&mut cursor)?),
            "value_set" => push!(value_sets, ValueSet, value_set(&mut cursor)?),
            "request" => push!(requests, Request, request(&mut cursor)?),
            "extern" => push!(externs, Extern, extern_item(&mut cursor)?),
            "field_list" => push!(field_lists, FieldList, {
                let number = cursor.number()?;
                FieldList { number, slots: slots(&mut cursor)? }
            }),
            "region" => {
                let at = RegionId(program.regions.len() as u32);
                self.lines.insert(ItemRef::Region(at), line);
                let region = code_parser::region(&mut cursor, at, &mut self.lines)?;
                self.program.regions.push(region);
            }
            "block" => push!(blocks, Block, block(&mut cursor)?),
            _ => return cursor.error_before("unknown item"),
        }
        cursor.finish()
    }
}

fn origin(cursor: &mut Cursor, count: usize) -> Parsed<Origin> {
    cursor.expect('@')?;
    if cursor.number::<usize>()? != count {
        return cursor.error_before(format!("origins are numbered in order; this is @{count}"));
    }
    let mut origin = Origin::at(Span::NONE);
    if cursor.eat_word("file") {
        let file = FileId(cursor.number()?);
        cursor.expect_word("bytes")?;
        let start = cursor.number()?;
        cursor.expect_word("to")?;
        origin.span = Span { file, start, end: cursor.number()? };
    }
    if cursor.eat_word("node") {
        origin.node = Some(NodeId(cursor.number()?));
    }
    if cursor.eat_word("name") {
        origin.name = Some(cursor.name()?);
    }
    if cursor.eat_word("parent") {
        cursor.expect('@')?;
        origin.parent = Some(OriginId(cursor.number()?));
    }
    if cursor.eat_word("atomic") {
        origin.atomic = Some(cursor.number()?);
    }
    if cursor.eat_word("repetition") {
        origin.repetition = cursor.number()?;
    }
    if cursor.eat_word("merges") {
        while cursor.eat('@') {
            origin.merged.push(OriginId(cursor.number()?));
        }
    }
    Ok(origin)
}

fn slot(cursor: &mut Cursor) -> Parsed<Slot> {
    let name = cursor.name()?;
    cursor.expect(':')?;
    Ok(Slot {
        name,
        ty: cursor.value_type()?,
        display: cursor.display()?,
        origin: cursor.origin()?,
    })
}

fn slots(cursor: &mut Cursor) -> Parsed<Vec<SlotId>> {
    cursor.expect('{')?;
    cursor.list('}', |cursor| cursor.reference(List::Slots).map(SlotId))
}

fn header_type(cursor: &mut Cursor) -> Parsed<HeaderType> {
    let name = cursor.name()?;
    cursor.expect('{')?;
    let mut fields = Vec::new();
    while !cursor.eat('}') {
        let name = cursor.name()?;
        cursor.expect(':')?;
        fields.push(HeaderField { name, ty: cursor.value_type()?, display: cursor.display()? });
    }
    Ok(HeaderType { name, fields })
}

fn header(cursor: &mut Cursor) -> Parsed<Header> {
    let name = cursor.name()?;
    cursor.expect(':')?;
    let ty = HeaderTypeId(cursor.reference(List::HeaderTypes)?);
    cursor.expect_word("at")?;
    Ok(Header { name, ty, first_slot: SlotId(cursor.reference(List::Slots)?) })
}

fn stack(cursor: &mut Cursor) -> Parsed<Stack> {
    let name = cursor.name()?;
    cursor.expect_word("first")?;
    let first_header = HeaderId(cursor.reference(List::Headers)?);
    cursor.expect_word("headers_per_element")?;
    let headers_per_element = cursor.number()?;
    cursor.expect_word("size")?;
    let size = cursor.number()?;
    cursor.expect_word("next")?;
    let next = SlotId(cursor.reference(List::Slots)?);
    Ok(Stack { name, first_header, headers_per_element, size, next })
}

fn union(cursor: &mut Cursor) -> Parsed<Union> {
    let name = cursor.name()?;
    cursor.expect('{')?;
    let members = cursor.list('}', |cursor| cursor.reference(List::Headers).map(HeaderId))?;
    Ok(Union { name, members })
}

fn key(cursor: &mut Cursor) -> Parsed<Key> {
    let name = cursor.name()?;
    cursor.expect(':')?;
    let match_kind = if cursor.eat_word("other") {
        MatchKind::Other(cursor.name()?)
    } else {
        cursor.member(words::MATCH_KIND, "a match kind")?
    };
    let (width_bits, display) = (cursor.bit_type()?, cursor.display()?);
    Ok(Key { name, match_kind, width_bits, display, annotations: cursor.texts("annotations")? })
}

fn pattern(cursor: &mut Cursor) -> Parsed<KeyPattern> {
    let word = cursor.word()?;
    Ok(match word {
        "any" => KeyPattern::Any,
        "exact" => KeyPattern::Exact(cursor.value()?),
        "prefix" => {
            let value = cursor.value()?;
            cursor.expect_word("length")?;
            KeyPattern::Prefix { value, length_bits: cursor.number()? }
        }
        "ternary" => {
            let value = cursor.value()?;
            cursor.expect_word("mask")?;
            KeyPattern::Ternary { value, mask: cursor.value()? }
        }
        "range" => {
            let low = cursor.value()?;
            cursor.expect_word("to")?;
            KeyPattern::Range { low, high: cursor.value()? }
        }
        _ => {
            return cursor.error_before("expected `any`, `exact`, `prefix`, `ternary` or `range`");
        }
    })
}

/// The action by name, or its place in the table's list after `number`.
fn call(cursor: &mut Cursor, actions: &[TableAction]) -> Parsed<ActionCall> {
    let by_number = cursor.peek_word() == Some("number") && cursor.peek_number(1);
    let action = if by_number {
        cursor.expect_word("number")?;
        cursor.number()?
    } else {
        let called = ActionId(cursor.reference(List::Actions)?);
        match actions.iter().position(|listed| listed.action == called) {
            Some(at) => at as u32,
            None => return cursor.error_before("the table does not list this action above"),
        }
    };
    cursor.expect('(')?;
    Ok(ActionCall { action, arguments: cursor.list(')', Cursor::value)? })
}

fn table(cursor: &mut Cursor, at: u32, lines: &mut HashMap<ItemRef, u32>) -> Parsed<Table> {
    let mut table = Table {
        name: cursor.name()?,
        keys: Vec::new(),
        actions: Vec::new(),
        default_action: ActionCall { action: 0, arguments: Vec::new() },
        const_default_action: false,
        entries: Vec::new(),
        const_entries: false,
        size: None,
        implementation: None,
        direct_counters: Vec::new(),
        direct_meters: Vec::new(),
        idle_timeout: false,
        annotations: Vec::new(),
        origin: OriginId(0),
    };
    cursor.expect('{')?;
    while !cursor.eat('}') {
        let line = cursor.line();
        match cursor.word()? {
            "key" => {
                lines.insert(ItemRef::TableKey(at, table.keys.len() as u32), line);
                table.keys.push(key(cursor)?);
            }
            "action" => {
                lines.insert(ItemRef::TableAction(at, table.actions.len() as u32), line);
                table.actions.push(TableAction {
                    action: ActionId(cursor.reference(List::Actions)?),
                    table_only: cursor.eat_word("table_only"),
                    default_only: cursor.eat_word("default_only"),
                });
            }
            word @ ("default" | "const_default") => {
                lines.insert(ItemRef::TableDefault(at), line);
                table.default_action = call(cursor, &table.actions)?;
                table.const_default_action = word == "const_default";
            }
            "entry" => {
                lines.insert(ItemRef::TableEntry(at, table.entries.len() as u32), line);
                cursor.expect_word("priority")?;
                let priority = cursor.number()?;
                cursor.expect('(')?;
                let keys = cursor.list(')', pattern)?;
                cursor.expect_word("runs")?;
                let call = call(cursor, &table.actions)?;
                table.entries.push(Entry { keys, call, priority, origin: cursor.origin()? });
            }
            "const_entries" => table.const_entries = true,
            "size" => table.size = Some(cursor.number()?),
            "implementation" => {
                let profile = cursor.reference(List::ActionProfiles)?;
                table.implementation = Some(ActionProfileId(profile));
            }
            "direct_counter" => {
                table.direct_counters.push(CounterId(cursor.reference(List::Counters)?));
            }
            "direct_meter" => table.direct_meters.push(MeterId(cursor.reference(List::Meters)?)),
            "idle_timeout" => table.idle_timeout = true,
            "annotation" => table.annotations.push(cursor.name()?),
            _ => return cursor.error_before("unknown property of a table"),
        }
    }
    table.origin = cursor.origin()?;
    Ok(table)
}

fn action(cursor: &mut Cursor) -> Parsed<Action> {
    let name = cursor.name()?;
    cursor.expect('(')?;
    let parameters = cursor.list(')', |cursor| {
        let name = cursor.name()?;
        cursor.expect_word("at")?;
        let slot = SlotId(cursor.reference(List::Slots)?);
        Ok(ActionParameter { name, slot, annotations: cursor.texts("annotations")? })
    })?;
    cursor.expect_word("runs")?;
    let region = RegionId(cursor.reference(List::Regions)?);
    let annotations = cursor.texts("annotations")?;
    Ok(Action { name, parameters, region, annotations, origin: cursor.origin()? })
}

fn register(cursor: &mut Cursor) -> Parsed<RegisterArray> {
    let name = cursor.name()?;
    cursor.expect(':')?;
    let width_bits = cursor.bit_type()?;
    let display = cursor.display()?;
    cursor.expect_word("size")?;
    let size = cursor.number()?;
    cursor.expect_word("initial")?;
    let initial = cursor.value()?;
    Ok(RegisterArray { name, width_bits, size, initial, display, origin: cursor.origin()? })
}

type Counting = (Arc<str>, CountUnit, Option<u64>, OriginId);

/// Parses the declaration behind the keyword of a counter or meter.
fn counting(cursor: &mut Cursor) -> Parsed<Counting> {
    let name = cursor.name()?;
    cursor.expect(':')?;
    let unit = cursor.member(words::COUNT_UNIT, "what is counted")?;
    let size = if cursor.eat_word("direct") {
        None
    } else {
        cursor.expect_word("size")?;
        Some(cursor.number()?)
    };
    Ok((name, unit, size, cursor.origin()?))
}

fn action_profile(cursor: &mut Cursor) -> Parsed<ActionProfile> {
    let name = cursor.name()?;
    let size = if cursor.eat_word("size") { Some(cursor.number()?) } else { None };
    let selector = if cursor.eat_word("selector") {
        Some((cursor.hash_algorithm()?, cursor.number()?))
    } else {
        None
    };
    Ok(ActionProfile { name, size, selector, origin: cursor.origin()? })
}

fn calculation(cursor: &mut Cursor) -> Parsed<Calculation> {
    let name = cursor.name()?;
    let mut number = |word: &str| {
        cursor.expect_word(word)?;
        cursor.number()
    };
    let width_bits = number("width")? as u32;
    let parameters = CrcParameters {
        width_bits,
        polynomial: number("polynomial")?,
        initial: number("initial")?,
        final_xor: number("final_xor")?,
        reflect_input: cursor.eat_word("reflect_input"),
        reflect_output: cursor.eat_word("reflect_output"),
    };
    Ok(Calculation { name, parameters, origin: cursor.origin()? })
}

fn value_set(cursor: &mut Cursor) -> Parsed<ValueSet> {
    let name = cursor.name()?;
    cursor.expect_word("size")?;
    let size = cursor.number()?;
    cursor.expect('{')?;
    let mut components = Vec::new();
    while !cursor.eat('}') {
        cursor.expect_word("key")?;
        components.push(key(cursor)?);
    }
    Ok(ValueSet { name, components, size, origin: cursor.origin()? })
}

fn request(cursor: &mut Cursor) -> Parsed<Request> {
    let name = cursor.name()?;
    cursor.expect_word("label")?;
    let label = cursor.name()?;
    cursor.expect('{')?;
    let fields = cursor.list('}', |cursor| {
        let name = cursor.name()?;
        cursor.expect(':')?;
        Ok((name, cursor.value_type()?))
    })?;
    Ok(Request { name, label, fields })
}

fn extern_item(cursor: &mut Cursor) -> Parsed<Extern> {
    let type_name = cursor.name()?;
    let instance = if cursor.eat_word("instance") { cursor.name()? } else { "".into() };
    let arguments = cursor.texts("arguments")?;
    Ok(Extern { type_name, instance, arguments, origin: cursor.origin()? })
}

fn block(cursor: &mut Cursor) -> Parsed<Block> {
    let role = cursor.name()?;
    let kind = cursor.member(words::BLOCK_KIND, "`parser`, `control` or `deparser`")?;
    let name = cursor.name()?;
    cursor.expect_word("runs")?;
    let region = RegionId(cursor.reference(List::Regions)?);
    let parser_error = if cursor.eat_word("parser_error") {
        Some(SlotId(cursor.reference(List::Slots)?))
    } else {
        None
    };
    cursor.expect('{')?;
    let mut parameters = Vec::new();
    while !cursor.eat('}') {
        cursor.expect_word("parameter")?;
        let name = cursor.name()?;
        cursor.expect_word("storage")?;
        parameters.push(BlockParameter {
            name,
            storage: cursor.name()?,
            is_input: cursor.eat_word("in"),
            is_output: cursor.eat_word("out"),
            slots: slots(cursor)?,
        });
    }
    Ok(Block { role, name, kind, region, parameters, parser_error, origin: cursor.origin()? })
}
