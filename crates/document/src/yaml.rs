// SPDX-License-Identifier: Apache-2.0
//! One YAML document to a tree of values with places. Plain scalars are resolved by the core schema
//! of YAML 1.2; anchors and aliases count, within a limit.

use crate::node::{Field, Node, NodeKind, Place, number};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span as YamlSpan};
use source::{Diagnostic, Span};
use std::collections::HashMap;

/// Deepest nesting of lists and objects.
const MAX_DEPTH: usize = 256;

/// Most values that aliases may copy: a small file can ask for billions.
const MAX_COPIED_VALUES: usize = 1_000_000;

pub(crate) fn read(place: &Place<'_>) -> Result<Node, Vec<Diagnostic>> {
    Builder::new(place).build().map_err(|diagnostic| vec![*diagnostic])
}

/// A list or an object that is not complete.
struct Open {
    start: Span,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Object { fields: Vec<Field>, key: Option<(String, Span)> },
}

struct Builder<'a, 'p> {
    place: &'p Place<'a>,
    /// Bytes at which characters begin; empty if all characters have one byte.
    offsets: Vec<u32>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    copied: usize,
}

type Failure = Box<Diagnostic>;

impl<'a, 'p> Builder<'a, 'p> {
    fn new(place: &'p Place<'a>) -> Builder<'a, 'p> {
        let text = place.text();
        let offsets = match text.is_ascii() {
            true => Vec::new(),
            false => text.char_indices().map(|(at, _)| at as u32).collect(),
        };
        Builder { place, offsets, open: Vec::new(), anchors: HashMap::new(), copied: 0 }
    }

    fn byte(&self, mark: Marker) -> usize {
        let end = self.place.text().len();
        if self.offsets.is_empty() {
            return mark.index().min(end);
        }
        self.offsets.get(mark.index()).map_or(end, |offset| *offset as usize)
    }

    fn span(&self, span: YamlSpan) -> Span {
        let (start, end) = (self.byte(span.start), self.byte(span.end));
        let covered = self.place.text().get(start..end).unwrap_or("");
        self.place.span(start, start + covered.trim_end().len())
    }

    fn failure(&self, span: Span, message: &str) -> Failure {
        Box::new(self.place.syntax(span, message))
    }

    fn build(mut self) -> Result<Node, Failure> {
        let mut root = None;
        for event in Parser::new_from_str(self.place.text()) {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = self.byte(*error.marker());
                    let span = self.place.span(at, at + 1);
                    return Err(self.failure(span, error.info()));
                }
            };
            let span = self.span(span);
            match event {
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(self.failure(span, "a second document begins; write only one"));
                }
                Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd => {}
                Event::Alias(anchor) => {
                    let Some(node) = self.anchors.get(&anchor) else {
                        return Err(self.failure(span, "an alias within its own anchor"));
                    };
                    let node = node.clone();
                    self.count_copy(&node)?;
                    // Messages point at the alias's anchor, where the value is written.
                    self.complete(node, &mut root)?;
                }
                Event::Scalar(text, style, anchor, _) => {
                    let kind = match style {
                        ScalarStyle::Plain => plain(&text),
                        _ => NodeKind::Text(text.into_owned()),
                    };
                    let node = Node { span, kind };
                    self.remember(anchor, &node)?;
                    self.complete(node, &mut root)?;
                }
                Event::SequenceStart(anchor, _) => {
                    self.start(span, anchor, Content::List(Vec::new()))?;
                }
                Event::MappingStart(anchor, _) => {
                    let content = Content::Object { fields: Vec::new(), key: None };
                    self.start(span, anchor, content)?;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let Some(open) = self.open.pop() else { continue };
                    let (kind, last) = match open.content {
                        Content::List(list) => {
                            let last = list.last().map(|node| node.span);
                            (NodeKind::List(list), last)
                        }
                        Content::Object { fields, .. } => {
                            let last = fields.last().map(|field| field.value.span);
                            (NodeKind::Object(fields), last)
                        }
                    };
                    // In block style the end mark stands at the next line: the last value's end counts.
                    let flow = span.end > span.start;
                    let end = if flow { span } else { last.unwrap_or(span) };
                    let node = Node { span: open.start.to(end), kind };
                    self.remember(open.anchor, &node)?;
                    self.complete(node, &mut root)?;
                }
            }
        }
        match root {
            Some(Node { kind: NodeKind::Null, span }) => Err(self.failure(span, "it is empty")),
            Some(node) => Ok(node),
            None => Err(self.failure(self.place.span(0, 0), "it is empty")),
        }
    }

    fn start(&mut self, start: Span, anchor: usize, content: Content) -> Result<(), Failure> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.failure(start, "lists and objects nest too deeply"));
        }
        if let Some(Open { content: Content::Object { key: None, .. }, .. }) = self.open.last() {
            return Err(self.failure(start, "the name of a field has to be a text"));
        }
        self.open.push(Open { start, anchor, content });
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &Node) -> Result<(), Failure> {
        if anchor > 0 {
            self.count_copy(node)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(())
    }

    fn count_copy(&mut self, node: &Node) -> Result<(), Failure> {
        self.copied = self.copied.saturating_add(size(node));
        if self.copied > MAX_COPIED_VALUES {
            return Err(self.failure(node.span, "aliases copy more than a million values"));
        }
        Ok(())
    }

    fn complete(&mut self, node: Node, root: &mut Option<Node>) -> Result<(), Failure> {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => *root = Some(node),
            Some(Content::List(list)) => list.push(node),
            Some(Content::Object { fields, key }) => match key.take() {
                Some((name, name_span)) => fields.push(Field { name, name_span, value: node }),
                None => match node.kind {
                    NodeKind::List(_) | NodeKind::Object(_) => {
                        return Err(self.failure(node.span, "the name of a field has to be a text"));
                    }
                    NodeKind::Text(name) => *key = Some((name, node.span)),
                    // Written as it stands: `1: x` is a field named 1.
                    _ => {
                        let start = node.span.start as usize;
                        let written = self.place.source().get(start..node.span.end as usize);
                        *key = Some((written.unwrap_or("").to_string(), node.span));
                    }
                },
            },
        }
        Ok(())
    }
}

fn size(node: &Node) -> usize {
    match &node.kind {
        NodeKind::List(list) => 1 + list.iter().map(size).sum::<usize>(),
        NodeKind::Object(fields) => {
            1 + fields.iter().map(|field| size(&field.value)).sum::<usize>()
        }
        _ => 1,
    }
}

/// A plain scalar by the core schema (YAML 1.2.2 §10.3).
fn plain(text: &str) -> NodeKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeKind::Null,
        "true" | "True" | "TRUE" => NodeKind::Bool(true),
        "false" | "False" | "FALSE" => NodeKind::Bool(false),
        _ => match number(text) {
            // `1_000` is a text in YAML 1.2.
            Some(kind) if !text.contains('_') => kind,
            _ => NodeKind::Text(text.to_string()),
        },
    }
}
