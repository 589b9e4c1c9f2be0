// SPDX-License-Identifier: Apache-2.0
//! Shapes of values: what a field takes. `fields` has one table of them, from which the reader decodes documents and
//! `schema` writes the JSON schema.

/// What a value may be.
#[derive(Debug)]
pub enum Shape {
    /// A time with its unit.
    Time,
    /// A bit rate with its unit.
    Rate,
    /// A number of packets or requests per second with its unit.
    Frequency,
    /// A number of bytes.
    Size,
    /// A number from 0 to 1, or a percentage.
    Probability,
    /// A whole number of this range.
    Count {
        /// The least value.
        least: u64,
        /// The greatest value.
        most: u64,
    },
    /// A number above zero.
    Decimal,
    /// True or false.
    Truth,
    /// A text.
    Text,
    /// One of these words, each with its meaning.
    Word(&'static [(&'static str, &'static str)]),
    /// An IP address with the length of its prefix.
    Interface,
    /// An IP address.
    Ip,
    /// An IP prefix or `default`.
    Prefix,
    /// An Ethernet address.
    Mac,
    /// Bytes in hexadecimal.
    Bytes,
    /// The length of a queue in packets or bytes.
    Queue,
    /// A condition on a value of this shape.
    Condition(&'static Shape),
    /// A list.
    List(&'static Shape),
    /// A list, or one element without the list.
    OneOrMany(&'static Shape),
    /// An object with these fields.
    Record(&'static Section),
    /// An object with these fields, or the value of one of them.
    Short {
        /// The object.
        section: &'static Section,
        /// The field whose value may be written alone.
        field: &'static str,
    },
    /// An object whose names the author chooses.
    Named {
        /// What a name stands for: `a host`.
        what: &'static str,
        /// The shape of each value.
        shape: &'static Shape,
    },
    /// An object with one field, the kind of the value, and fields that all kinds have; a kind without required fields may
    /// be written as a text.
    Tagged {
        /// The value in messages: `an application`.
        what: &'static str,
        /// Fields that all kinds have. They stand inside the kind's object, or beside it.
        common: &'static [FieldShape],
        /// The kinds.
        kinds: &'static [Kind],
    },
    /// One of several shapes, tried in order.
    Any(&'static [Shape]),
}

impl Shape {
    /// Describes the values of the shape with an example, for messages about a choice of shapes.
    pub fn examples(&self) -> Vec<String> {
        let text = match self {
            Shape::Word(_) => return self.words().map(|word| format!("\"{word}\"")).collect(),
            Shape::Time => "a time such as \"10ms\"",
            Shape::Rate => "a rate such as \"10Mbps\"",
            Shape::Frequency => "a frequency such as \"1000/s\"",
            Shape::Size => "a size such as \"10KB\"",
            Shape::Probability => "a probability such as \"1%\"",
            Shape::Truth => "true or false",
            Shape::List(_) | Shape::OneOrMany(_) => "a list",
            Shape::Record(_) | Shape::Named { .. } | Shape::Tagged { .. } => "an object",
            _ => "a text",
        };
        vec![text.to_string()]
    }

    /// The words of the shape.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words: &[(&'static str, &str)] = match self {
            Shape::Word(words) => words,
            _ => &[],
        };
        words.iter().map(|(word, _)| *word)
    }
}

/// A kind of a [`Shape::Tagged`].
#[derive(Debug)]
pub struct Kind {
    /// The name.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// Describes the kind.
    pub text: &'static str,
}

impl Kind {
    /// Whether an object without fields is no value of this kind.
    pub fn needs_fields(&self) -> bool {
        match self.shape {
            Shape::Record(section) | Shape::Short { section, .. } => {
                section.fields().any(|field| field.required.is_some())
            }
            _ => true,
        }
    }
}

/// The fields of an object.
#[derive(Debug)]
pub struct Section {
    /// The object in messages: `a link`.
    pub what: &'static str,
    /// The fields, in groups that sections share.
    pub groups: &'static [&'static [FieldShape]],
    /// Names that other tools use, each with the field that it means.
    pub foreign_names: &'static [(&'static str, &'static str)],
}

impl Section {
    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = &'static FieldShape> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }
}

/// A field of a [`Section`].
#[derive(Debug)]
pub struct FieldShape {
    /// The name.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// Describes the field in the schema.
    pub text: &'static str,
    /// An example, if the field is required.
    pub required: Option<&'static str>,
}

/// An optional field.
pub const fn field(name: &'static str, shape: Shape, text: &'static str) -> FieldShape {
    FieldShape { name, shape, text, required: None }
}

impl FieldShape {
    /// The same field, required; the message about its absence shows the example.
    pub const fn required(self, example: &'static str) -> FieldShape {
        // A constant function cannot drop `self`, as it would by an update.
        let FieldShape { name, shape, text, required: _ } = self;
        FieldShape { name, shape, text, required: Some(example) }
    }
}
