// SPDX-License-Identifier: Apache-2.0
//! Reads the tokens of one item one after another: words, names, numbers, values, types, references.
//! `parser` and `code_parser` decide which of them an item consists of.

use super::reference::List;
use super::token::{Token, TokenKind};
use super::words::{self, Words, member_of};
use super::{MAX_READABLE_WIDTH_BITS, TextError};
use crate::{Bits, CalculationId, CrcParameters, Display, HashAlgorithm, OriginId, ValueType};
use num_bigint::BigUint;
use std::cell::Cell;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

/// Items by list and name.
#[derive(Default)]
pub(super) struct Declared {
    pub names: HashMap<(List, String), Vec<u32>>,
    /// The origin of items that declare none.
    pub nowhere: u32,
    /// Whether an item without an origin was seen.
    pub nowhere_used: Cell<bool>,
}

pub(super) type Parsed<T> = Result<T, TextError>;

/// The tokens of one item.
pub(super) struct Cursor<'a> {
    pub declared: &'a Declared,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(declared: &'a Declared, tokens: &'a [Token]) -> Cursor<'a> {
        Cursor { declared, tokens, at: 0 }
    }

    fn peek(&self) -> Option<&'a TokenKind> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<&'a TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    /// The line of the next token.
    pub fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    /// An error at the next token.
    pub fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.error_at(self.at, message)
    }

    /// An error at the token just read.
    pub fn error_before<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.error_at(self.at.saturating_sub(1), message)
    }

    fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        let (line, column) = self
            .tokens
            .get(at)
            .or(self.tokens.last())
            .map_or((1, 1), |token| (token.line, token.column));
        Err(TextError { line, column, message: message.into() })
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        match self.peek() {
            Some(found) => self.error(format!("expected {what}, found {}", found.describe())),
            None => self.error(format!("expected {what} before the end of the item")),
        }
    }

    pub fn finish(&self) -> Parsed<()> {
        if self.at == self.tokens.len() { Ok(()) } else { self.expected("the end of the item") }
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        self.at += usize::from(found);
        found
    }

    pub fn peek_word(&self) -> Option<&'a str> {
        match self.peek() {
            Some(TokenKind::Word(word)) => Some(word),
            _ => None,
        }
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub fn word(&mut self) -> Parsed<&'a str> {
        match self.peek_word() {
            Some(word) => {
                self.at += 1;
                Ok(word)
            }
            None => self.expected("a keyword"),
        }
    }

    pub fn peek_punctuation(&self, character: char) -> bool {
        self.peek() == Some(&TokenKind::Punctuation(character))
    }

    pub fn eat(&mut self, character: char) -> bool {
        let found = self.peek_punctuation(character);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, character: char) -> Parsed<()> {
        if self.eat(character) { Ok(()) } else { self.expected(&format!("`{character}`")) }
    }

    /// A keyword of an enumeration.
    pub fn member<T: Clone>(&mut self, words: &Words<T>, what: &str) -> Parsed<T> {
        match self.peek_word().and_then(|word| member_of(words, word)) {
            Some(member) => {
                self.at += 1;
                Ok(member)
            }
            None => self.expected(what),
        }
    }

    /// A hash algorithm; a calculation is `custom` and its name, a CRC with parameters of the
    /// program is `crc WIDTH POLYNOMIAL INITIAL XOR`, then `reflected`, `reflect_input`, `reflect_output` or nothing.
    pub fn hash_algorithm(&mut self) -> Parsed<HashAlgorithm> {
        if self.eat_word("custom") {
            return Ok(HashAlgorithm::Custom(CalculationId(self.reference(List::Calculations)?)));
        }
        if !self.eat_word("crc") {
            return self.member(words::HASH, "a hash algorithm");
        }
        let width_bits = self.number()?;
        let (polynomial, initial, final_xor) = (self.number()?, self.number()?, self.number()?);
        let is_reflected = self.eat_word("reflected");
        Ok(HashAlgorithm::Crc(CrcParameters {
            width_bits,
            polynomial,
            initial,
            final_xor,
            reflect_input: is_reflected || self.eat_word("reflect_input"),
            reflect_output: is_reflected || self.eat_word("reflect_output"),
        }))
    }

    /// A name, plain or quoted.
    pub fn name(&mut self) -> Parsed<Arc<str>> {
        match self.peek() {
            Some(TokenKind::Word(text) | TokenKind::Quoted(text)) => {
                self.at += 1;
                Ok(text.as_str().into())
            }
            _ => self.expected("a name"),
        }
    }

    /// A list of quoted texts in brackets, when the word stands before it.
    pub fn texts(&mut self, word: &str) -> Parsed<Vec<Arc<str>>> {
        if self.eat_word(word) {
            self.expect('[')?;
            self.list(']', Cursor::name)
        } else {
            Ok(Vec::new())
        }
    }

    /// Whether the next token is a plain number.
    pub fn peek_number(&self, ahead: usize) -> bool {
        matches!(self.peek_at(ahead), Some(TokenKind::Number(_)))
    }

    pub fn number<T: FromStr>(&mut self) -> Parsed<T> {
        let Some(TokenKind::Number(text)) = self.peek() else { return self.expected("a number") };
        match text.parse() {
            Ok(number) => {
                self.at += 1;
                Ok(number)
            }
            Err(_) => self.error(format!("`{text}` is no number in range here")),
        }
    }

    /// A constant such as `8w0xff`.
    pub fn value(&mut self) -> Parsed<Bits> {
        let Some(TokenKind::Number(text)) = self.peek() else { return self.expected("a value") };
        let parts = text.split_once('w').and_then(|(width, digits)| {
            let digits = digits.replace('_', "");
            let number = match digits.strip_prefix("0x") {
                Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
                None => BigUint::parse_bytes(digits.as_bytes(), 10),
            };
            Some((width.parse::<u32>().ok()?, number?))
        });
        let Some((width_bits, number)) = parts else {
            return self.error(format!("`{text}` is no value of the form 8w0xff"));
        };
        if width_bits > MAX_READABLE_WIDTH_BITS {
            return self.error(format!("values here have at most {MAX_READABLE_WIDTH_BITS} bits"));
        }
        if number.bits() > u64::from(width_bits) {
            return self.error(format!("`{text}` does not fit its width"));
        }
        self.at += 1;
        Ok(Bits::from_biguint(width_bits, &number))
    }

    /// `bit<8>` or `varbit<320>`.
    pub fn value_type(&mut self) -> Parsed<ValueType> {
        if self.eat_word("varbit") {
            self.expect('<')?;
            let width = self.number()?;
            self.expect('>')?;
            Ok(ValueType::Varbit(width))
        } else {
            self.bit_type().map(ValueType::Bits)
        }
    }

    /// `bit<8>`, as its width.
    pub fn bit_type(&mut self) -> Parsed<u32> {
        self.expect_word("bit")?;
        self.expect('<')?;
        let width = self.number()?;
        self.expect('>')?;
        Ok(width)
    }

    pub fn display(&mut self) -> Parsed<Display> {
        Ok(match self.peek_word() {
            Some("unsigned") => Display::Unsigned,
            Some("signed") => Display::Signed,
            Some("bool") => Display::Bool,
            Some("error") => Display::Error,
            Some("enum") => {
                self.at += 1;
                let name = self.name()?;
                self.expect('{')?;
                let members = self.list('}', |cursor| {
                    let member = cursor.name()?;
                    cursor.expect('=')?;
                    Ok((member, cursor.value()?))
                })?;
                return Ok(Display::Enum(name, members));
            }
            _ => return self.expected("`unsigned`, `signed`, `bool`, `error` or `enum`"),
        })
        .inspect(|_| self.at += 1)
    }

    /// Items with commas between them, and the closing character.
    pub fn list<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(',') {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
    }

    /// The origin at the end of an item.
    pub fn origin(&mut self) -> Parsed<OriginId> {
        if self.eat('@') {
            self.number().map(OriginId)
        } else {
            self.declared.nowhere_used.set(true);
            Ok(OriginId(self.declared.nowhere))
        }
    }

    /// A name or `#3`, as the index into the list.
    pub fn reference(&mut self, list: List) -> Parsed<u32> {
        if self.eat('#') {
            return self.number();
        }
        let start = self.at;
        let name = self.name()?;
        match self.declared.names.get(&(list, name.to_string())).map(Vec::as_slice) {
            Some([at]) => Ok(*at),
            Some(_) => self.error_at(
                start,
                format!("more than one {} is called `{name}`; write # and its number", list.item()),
            ),
            None => self.error_at(start, format!("no {} is called `{name}`", list.item())),
        }
    }
}
