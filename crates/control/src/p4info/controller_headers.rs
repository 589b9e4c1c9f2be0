// SPDX-License-Identifier: Apache-2.0
//! Reads the headers of packets to and from the controller.

use super::annotations::{given_id, named};
use super::build::{Builder, Object, object_ids};
use super::{ControllerHeader, Parameter};
use crate::p4info_ids as ids;
use crate::p4info_ids::field_ids;
use ir::lowering::{annotation_string, control_plane_name};
use p4::ast::{Declaration, DeclarationKind};

impl<'a> Builder<'a> {
    pub(super) fn controller_headers(&self) -> Vec<&'a Declaration> {
        let is_wanted = |each: &&Declaration| {
            matches!(each.kind, DeclarationKind::Header(_))
                && named(&each.annotations, "controller_header").is_some()
        };
        let mut found: Vec<&Declaration> =
            self.declarations.values().copied().filter(is_wanted).collect();
        found.sort_by_key(|declaration| declaration.id);
        found
    }

    pub(super) fn headers(&mut self, headers: &[&'a Declaration]) -> Vec<ControllerHeader> {
        let object = |header: &&'a Declaration| {
            let name = control_plane_name("", &header.annotations, &header.name.text);
            Object::declared(name, Some(header))
        };
        let objects: Vec<Object<'a>> = headers.iter().map(object).collect();
        let header_ids = object_ids(ids::CONTROLLER_HEADER, &objects);
        let mut found = Vec::new();
        for ((header, object), id) in headers.iter().zip(&objects).zip(header_ids) {
            if object.is_hidden() {
                continue;
            }
            let given_name = named(&header.annotations, "controller_header");
            let name = given_name.and_then(annotation_string).unwrap_or(object.name.clone());
            let mut preamble = self.preamble(id, object, &[]);
            preamble.name = name.clone();
            preamble.alias = name;
            let fields = self.types.flattened(header.id, &[]);
            let given: Vec<Option<u32>> =
                fields.iter().map(|(_, _, field)| given_id(&field.annotations)).collect();
            let mut parameters = Vec::new();
            for ((name, ty, field), id) in fields.iter().zip(field_ids(&given)) {
                if named(&field.annotations, "hidden").is_some() {
                    continue;
                }
                parameters.push(Parameter {
                    id,
                    name: name.clone(),
                    width_bits: self.types.controller_width_bits(ty),
                    type_name: self.types.new_type_name(ty),
                    annotations: self.annotations(&field.annotations, &[]),
                });
            }
            found.push(ControllerHeader { preamble, fields: parameters });
        }
        found
    }
}
