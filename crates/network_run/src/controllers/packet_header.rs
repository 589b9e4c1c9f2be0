// SPDX-License-Identifier: Apache-2.0
//! The header in front of packets from and to the controller (`@controller_header`), as P4Runtime's packet metadata.

use super::mistakes::Mistake;
use crate::json_numbers::number;
use control::p4info::{ControllerHeader, P4Info};
use control::values::{self, Wanted};
use ir::{Bits, Display};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Fields of whole bytes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PacketHeader {
    fields: Vec<(Arc<str>, u32)>,
}

impl PacketHeader {
    /// The header with this name, `packet_in` or `packet_out`. `None` if the program has none, or one whose fields are not
    /// bit strings of whole bytes together.
    pub fn named(info: &P4Info, name: &str) -> Option<PacketHeader> {
        let is_it = |header: &&ControllerHeader| &*header.preamble.name == name;
        let header = info.controller_headers.iter().find(is_it)?;
        let fields =
            header.fields.iter().map(|field| Some((field.name.clone(), field.width_bits?)));
        let fields: Vec<(Arc<str>, u32)> = fields.collect::<Option<_>>()?;
        let bits: u32 = fields.iter().map(|field| field.1).sum();
        bits.is_multiple_of(8).then_some(PacketHeader { fields })
    }

    pub fn fields(&self) -> &[(Arc<str>, u32)] {
        &self.fields
    }

    /// Splits a packet from the switch into metadata and payload; `None` if it is shorter than the header.
    pub fn decode<'b>(&self, bytes: &'b [u8]) -> Option<(Map<String, Value>, &'b [u8])> {
        let width_bits: u32 = self.fields.iter().map(|field| field.1).sum();
        let (header, payload) = bytes.split_at_checked(width_bits as usize / 8)?;
        if header.is_empty() {
            return Some((Map::new(), payload));
        }
        let header = Bits::from_bytes_be(width_bits, header);
        let mut rest_bits = width_bits;
        let field = |(name, width_bits): &(Arc<str>, u32)| {
            let high = rest_bits - 1;
            rest_bits -= width_bits;
            (name.to_string(), number(&header.slice(high, rest_bits)))
        };
        Some((self.fields.iter().map(field).collect(), payload))
    }

    /// The header with this metadata; fields left out are 0.
    pub fn encode(&self, metadata: &Map<String, Value>) -> Result<Vec<u8>, Mistake> {
        for name in metadata.keys() {
            let known = || self.fields.iter().map(|field| &*field.0);
            if !known().any(|field| field == name) {
                let what = format!("the header `packet_out` has no field `{name}`");
                return Err(Mistake::new(what, one_of(name, known())));
            }
        }
        let mut header: Option<Bits> = None;
        for (name, width_bits) in &self.fields {
            let text = match metadata.get(&**name) {
                None => "0".to_string(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let wanted =
                Wanted { width_bits: *width_bits, display: &Display::Unsigned, errors: &[] };
            let value = values::read(&text, wanted).map_err(|why| {
                Mistake::new(format!("field `{name}` of `packet_out`: {why}"), "")
            })?;
            header = Some(match header {
                None => value,
                Some(before) => before.concat(&value),
            });
        }
        Ok(header.map_or_else(Vec::new, |header| header.to_bytes_be()))
    }
}

/// Advice that names the nearest of some names, or all of them.
pub(super) fn one_of<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    match source::nearest(name, known.clone()) {
        Some(near) => format!("`{near}` may be meant"),
        None => {
            let names: Vec<String> = known.map(|name| format!("`{name}`")).collect();
            match &names[..] {
                [] => "there are none".to_string(),
                [name] => format!("write {name}"),
                names => format!("write one of {}", names.join(", ")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn header() -> PacketHeader {
        let fields = [("port", 9), ("reason", 3), ("mark", 60)];
        let fields = fields.map(|(name, width_bits)| (name.into(), width_bits));
        PacketHeader { fields: fields.to_vec() }
    }

    #[test]
    fn metadata_are_the_bits_before_the_payload() {
        let json = json!({"port": 510, "reason": "0b101", "mark": "1152921504606846975"});
        let metadata = json.as_object().expect("an object");
        let mut bytes = header().encode(metadata).expect("values that fit");
        assert_eq!(bytes, [0xff, 0x5f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        bytes.extend([1, 2]);
        let (read, payload) = header().decode(&bytes).expect("long enough");
        assert_eq!((read["port"].clone(), read["reason"].clone()), (json!(510), json!(5)));
        assert_eq!((&read["mark"], payload), (&json!("1152921504606846975"), &[1_u8, 2][..]));
        assert_eq!(header().decode(&bytes[..8]), None);
    }

    #[test]
    fn fields_left_out_are_zero_and_wrong_ones_are_mistakes() {
        let check = |json: Value, expected: Result<u8, &str>| {
            let encoded = header().encode(json.as_object().expect("an object"));
            let encoded = encoded.map(|bytes| bytes[0]).map_err(|mistake| mistake.what);
            assert_eq!(encoded, expected.map_err(str::to_string));
        };
        check(json!({}), Ok(0));
        check(json!({"port": 2}), Ok(1));
        check(json!({"prot": 1}), Err("the header `packet_out` has no field `prot`"));
        let wide = "field `reason` of `packet_out`: `8` does not fit in 3 bits";
        check(json!({"reason": 8}), Err(wide));
        let list = "field `port` of `packet_out`: `[1]` is not a number for bit<9>: write it as decimal, 0x, 0o or 0b";
        check(json!({"port": [1]}), Err(list));
    }
}
