// SPDX-License-Identifier: Apache-2.0
//! Reads values of a TOML document and notes what is wrong with them. Fields that nobody asked for are
//! errors, since a misspelt limit would be no limit. What the fields mean is the parent module's.

use super::units::{rate_bps, time_ps};
use crate::explanation::{
    CONFIGURATION_FIELD, CONFIGURATION_MISSING, CONFIGURATION_SYNTAX, CONFIGURATION_VALUE,
};
use source::{Code, Diagnostic, Diagnostics, FileId, Span, printable};
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A table of the document and which of its fields have been asked for.
pub(super) struct Section<'a> {
    /// With a dot at the end; empty for the document.
    path: String,
    range: Range<usize>,
    table: Option<&'a DeTable<'a>>,
    asked: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub fn get(&mut self, field: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.push(field);
        self.table?.iter().find(|(name, _)| name.get_ref() == field).map(|(_, value)| value)
    }

    pub fn name_of(&self, field: &str) -> String {
        format!("{}{field}", self.path)
    }

    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The place of a field, or of the section where it is not there.
    pub fn range_of(&self, field: &str) -> Range<usize> {
        let found =
            self.table.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == field));
        found.map_or(self.range.clone(), |(_, value)| value.span())
    }

    pub fn is_there(&self) -> bool {
        self.table.is_some()
    }
}

/// What has been found so far.
pub(super) struct Reader {
    file: FileId,
    diagnostics: Diagnostics,
}

impl Reader {
    pub fn new(file: FileId) -> Reader {
        Reader { file, diagnostics: Diagnostics::new() }
    }

    /// Reads a document, if it is one.
    pub fn document<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Reader, &mut Section<'_>) -> T,
    ) -> Option<T> {
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let span = self.span(error.span().unwrap_or(0..0));
            let message = format!("this is not TOML: {}", printable(error.message(), 80));
            self.push(
                Diagnostic::error(CONFIGURATION_SYNTAX, span, message)
                    .help("a device file has sections in brackets and fields as `name = value`"),
            );
        }
        if !errors.is_empty() {
            return None;
        }
        let mut root = Section {
            path: String::new(),
            range: document.span(),
            table: Some(document.get_ref()),
            asked: Vec::new(),
        };
        let value = read(self, &mut root);
        self.close(root);
        Some(value)
    }

    /// All that is wrong, if anything is.
    pub fn end(self) -> Result<(), Diagnostics> {
        if self.diagnostics.has_errors() { Err(self.diagnostics) } else { Ok(()) }
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub fn span(&self, range: Range<usize>) -> Span {
        let short = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        Span::new(self.file, short(range.start), short(range.end))
    }

    pub fn wrong(&mut self, range: Range<usize>, name: &str, wanted: &str, found: &str) {
        let message = format!("`{name}` has to be {wanted}");
        let diagnostic = Diagnostic::error(CONFIGURATION_VALUE, self.span(range), message);
        self.push(diagnostic.here(format!("this is {found}")).help(format!("write {wanted}")));
    }

    fn missing(&mut self, section: &Section<'_>, field: &str, wanted: &str) {
        let message = format!("`{}` is missing", section.name_of(field));
        let span = self.span(section.range.start..section.range.start);
        let help = format!("add `{field} = ...`: {wanted}");
        self.push(Diagnostic::error(CONFIGURATION_MISSING, span, message).help(help));
    }

    /// A section is done: what nobody asked for is an error.
    pub fn close(&mut self, section: Section<'_>) {
        let Some(table) = section.table else { return };
        let code: Code = CONFIGURATION_FIELD;
        for (name, value) in table.iter() {
            let text: &str = name.get_ref();
            if section.asked.contains(&text) {
                continue;
            }
            let message = format!("`{}{}` is no field", section.path, printable(text, 40));
            let known = section.asked.join("`, `");
            let range = name.span().start..value.span().end.max(name.span().end);
            self.push(
                Diagnostic::error(code, self.span(range), message)
                    .help(format!("fields here are `{known}`")),
            );
        }
    }

    fn of_value<'a>(
        &mut self,
        path: String,
        value: &'a Spanned<DeValue<'a>>,
        wanted: &str,
    ) -> Option<Section<'a>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Section {
                path: path + ".",
                range: value.span(),
                table: Some(table),
                asked: Vec::new(),
            }),
            other => {
                self.wrong(value.span(), &path, wanted, &found(other));
                None
            }
        }
    }

    /// A section in a section; empty where it is left out.
    pub fn section<'a>(&mut self, parent: &mut Section<'a>, field: &'static str) -> Section<'a> {
        let path = parent.name_of(field);
        let none =
            Section { path: path.clone(), range: parent.range(), table: None, asked: Vec::new() };
        let Some(value) = parent.get(field) else { return none };
        let wanted = format!("a section `[{path}]`");
        self.of_value(path, value, &wanted).unwrap_or(none)
    }

    /// Sections with names: `[port.1]`.
    pub fn sections<'a>(
        &mut self,
        parent: &mut Section<'a>,
        field: &'static str,
    ) -> Vec<(&'a Spanned<DeString<'a>>, Section<'a>)> {
        let all = self.section(parent, field);
        let Some(table) = all.table else { return Vec::new() };
        let mut sections = Vec::new();
        for (name, value) in table.iter() {
            let path = all.name_of(&printable(name.get_ref(), 40));
            let path = path.replace("..", ".");
            let wanted = format!("a section `[{path}]`");
            if let Some(section) = self.of_value(path, value, &wanted) {
                sections.push((name, section));
            }
        }
        sections
    }

    /// A list of sections: `[[generator]]`.
    pub fn list<'a>(&mut self, parent: &mut Section<'a>, field: &'static str) -> Vec<Section<'a>> {
        let path = parent.name_of(field);
        let Some(value) = parent.get(field) else { return Vec::new() };
        let wanted = format!("a list of sections `[[{path}]]`");
        let DeValue::Array(array) = value.get_ref() else {
            self.wrong(value.span(), &path, &wanted, &found(value.get_ref()));
            return Vec::new();
        };
        let elements = array.iter();
        elements.filter_map(|element| self.of_value(path.clone(), element, &wanted)).collect()
    }

    pub fn number(
        &mut self,
        section: &mut Section<'_>,
        field: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let name = section.name_of(field);
        let value = section.get(field)?;
        self.number_of(&name, value, range)
    }

    /// Numbers with names that the user chooses.
    pub fn named_numbers(
        &mut self,
        parent: &mut Section<'_>,
        field: &'static str,
        range: RangeInclusive<u64>,
    ) -> BTreeMap<String, u64> {
        let all = self.section(parent, field);
        let fields = all.table.into_iter().flat_map(|table| table.iter());
        let numbers = fields.filter_map(|(name, value)| {
            let shown = format!("{}\"{}\"", all.path, printable(name.get_ref(), 40));
            let number = self.number_of(&shown, value, range.clone())?;
            Some((name.get_ref().to_string(), number))
        });
        numbers.collect()
    }

    fn number_of(
        &mut self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let number = match value.get_ref() {
            DeValue::Integer(integer) => {
                u64::from_str_radix(integer.as_str(), integer.radix()).ok()
            }
            _ => None,
        };
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let wanted = format!("a number from {} to {}", range.start(), range.end());
            self.wrong(value.span(), name, &wanted, &found(value.get_ref()));
        }
        number
    }

    pub fn required_number(
        &mut self,
        section: &mut Section<'_>,
        field: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        if section.get(field).is_none() {
            let wanted = format!("a number from {} to {}", range.start(), range.end());
            self.missing(section, field, &wanted);
            return None;
        }
        self.number(section, field, range)
    }

    /// A number, or `"none"`.
    pub fn number_or_none(
        &mut self,
        section: &mut Section<'_>,
        field: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<Option<u64>> {
        let value = section.get(field)?;
        match value.get_ref() {
            DeValue::String(text) if text == "none" => Some(None),
            _ => self.number(section, field, range).map(Some),
        }
    }

    pub fn port_number(&mut self, section: &mut Section<'_>, field: &'static str) -> Option<u32> {
        self.number(section, field, 0..=u64::from(u32::MAX)).map(|number| number as u32)
    }

    pub fn required_port(&mut self, section: &mut Section<'_>) -> Option<u32> {
        let number = self.required_number(section, "port", 0..=u64::from(u32::MAX));
        number.map(|number| number as u32)
    }

    pub fn truth(&mut self, section: &mut Section<'_>, field: &'static str) -> Option<bool> {
        let name = section.name_of(field);
        let value = section.get(field)?;
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(*truth),
            other => {
                self.wrong(value.span(), &name, "true or false", &found(other));
                None
            }
        }
    }

    /// A text that means something.
    fn text<T>(
        &mut self,
        section: &mut Section<'_>,
        field: &'static str,
        wanted: &str,
        meaning: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let name = section.name_of(field);
        let value = section.get(field)?;
        let meant = match value.get_ref() {
            DeValue::String(text) => meaning(text),
            _ => None,
        };
        if meant.is_none() {
            self.wrong(value.span(), &name, wanted, &found(value.get_ref()));
        }
        meant
    }

    /// A time in picoseconds.
    pub fn time(&mut self, section: &mut Section<'_>, field: &'static str) -> Option<u64> {
        let wanted = "a time with its unit (ps, ns, us, ms, s), such as \"100us\"";
        self.text(section, field, wanted, time_ps)
    }

    pub fn required_time(
        &mut self,
        section: &mut Section<'_>,
        field: &'static str,
        wanted: &str,
    ) -> Option<u64> {
        if section.get(field).is_none() {
            self.missing(section, field, wanted);
            return None;
        }
        self.time(section, field)
    }

    /// A rate in bits per second; inside, `None` is infinite.
    pub fn rate(&mut self, section: &mut Section<'_>, field: &'static str) -> Option<Option<u64>> {
        let wanted = "a rate above 0 with its unit (b/s to Tb/s), such as \"100Gb/s\", or \"none\"";
        self.text(section, field, wanted, |text| match text {
            "none" => Some(None),
            text => rate_bps(text).filter(|rate| *rate > 0).map(Some),
        })
    }

    /// One of some words.
    pub fn choice<T: Copy>(
        &mut self,
        section: &mut Section<'_>,
        field: &'static str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let of_word =
            |text: &str| choices.iter().find(|(word, _)| *word == text).map(|(_, meant)| *meant);
        self.text(section, field, &words.join(" or "), of_word)
    }

    /// Bytes as hexadecimal digits; spaces may stand between them.
    pub fn bytes(&mut self, section: &mut Section<'_>, field: &'static str) -> Option<Vec<u8>> {
        let wanted = "bytes of two hexadecimal digits each, such as \"0180 c200 0001\"";
        self.text(section, field, wanted, |text| {
            let digits: Option<Vec<u32>> = text
                .chars()
                .filter(|letter| !letter.is_whitespace())
                .map(|letter| letter.to_digit(16))
                .collect();
            let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
            Some(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
        })
    }
}

/// A value in words.
pub(super) fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{}\"", printable(text, 40)),
        DeValue::Integer(integer) => format!("the number {}", printable(integer.as_str(), 40)),
        DeValue::Float(float) => format!("the number {}", printable(float.as_str(), 40)),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(_) => "a date".to_string(),
        DeValue::Array(_) => "a list".to_string(),
        DeValue::Table(_) => "a section".to_string(),
    }
}
