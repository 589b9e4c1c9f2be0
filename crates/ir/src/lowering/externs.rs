// SPDX-License-Identifier: Apache-2.0
//! [`ExternMeaning`]: how an architecture's extern objects and calls become IR. Externs without a meaning lower
//! to [`Operation::CallExtern`] (P4_16 v1.2.5 §4.3, §8.24).

use super::{Location, Lowered, Lowering, Shape, Value};
use crate::architecture::Description;
use crate::{
    ActionProfileId, CallEffects, CounterId, CrcParameters, Extern, ExternAccess, ExternId,
    HashAlgorithm, MeterId, Operand, Operation, OriginId, Place, RandomSite, RegisterId, RequestId,
    SlotId, ValueType,
};
use p4::ast::{Annotation, Declaration, Direction, Expression, ExpressionKind, NodeId, Parameter};
use p4::random_sites::DRAWING_ANNOTATION;
use p4::typed::{Type, TypeKind};
use std::sync::Arc;

/// An architecture: its description, and the meaning of its externs if it has any.
pub(crate) struct Architecture {
    /// The description.
    pub(crate) description: &'static Description,
    /// The meaning of externs; without one they lower to [`Operation::CallExtern`].
    pub(crate) externs: Option<&'static dyn ExternMeaning>,
}

/// The meaning of an architecture's externs in the IR.
pub(crate) trait ExternMeaning: Sync {
    /// Makes an extern object; `None` if it has no meaning.
    fn construct<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        construction: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>>;

    /// Makes the code of an extern's call; `None` if it has no meaning.
    fn call<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        call: &ExternCall<'a>,
    ) -> Lowered<Option<Value>>;

    /// Completes the program when all blocks are lowered.
    fn finish(&self, lowering: &mut Lowering<'_>) -> Lowered<()> {
        let _ = lowering;
        Ok(())
    }
}

/// The use of a calculation, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CalculationKind {
    /// `hash`
    Hash,
    /// `update_checksum`
    Update,
    /// `verify_checksum`
    Verify,
}

/// Index into the extern objects of a lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectId(pub(crate) u32);

impl ObjectId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of an extern object in the IR.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ObjectKind {
    /// A register array with cells of this layout.
    Register(RegisterId, Shape),
    /// An indirect counter.
    Counter(CounterId),
    /// A direct counter.
    DirectCounter(CounterId),
    /// An indirect meter.
    Meter(MeterId),
    /// A direct meter.
    DirectMeter(MeterId),
    /// An action profile or selector.
    ActionProfile(ActionProfileId),
    /// A hash function.
    Hash(HashAlgorithm),
    /// A running one's complement sum.
    InternetChecksum(SlotId),
    /// A random number generator with its bounds.
    Random(Operand, Operand),
    /// A stream of digests.
    Digest(RequestId),
    /// A function on the cells of a register.
    RegisterFunction(RegisterId, Shape, NodeId),
    /// A register of one cell that the program only reads.
    RegisterParameter(RegisterId, Shape),
    /// A hash function with this output width in bits.
    SizedHash(HashAlgorithm, u32),
    /// Parameters of a hash function.
    Polynomial(CrcParameters),
    /// A meter, or a direct one, and the numbers that it gives for green, yellow and red.
    ColouredMeter(MeterId, bool, [u8; 3]),
    /// A checksum unit: its running one's complement sum.
    ChecksumUnit(SlotId),
    /// A counter of a parser, 8 bits.
    ParserCounter(SlotId),
    /// Asks the device for something by name; with a number, only where the program chose that type.
    Emission(&'static str, Option<u64>),
    /// A stream of messages with a layout; with a number, only where the program chose that type.
    TypedDigest(Arc<str>, Shape, Option<u64>),
    /// Takes part in the package only.
    Inert,
    /// An extern without a meaning.
    Unknown(ExternId),
}

/// An extern object.
#[derive(Clone, Debug)]
pub(crate) struct ExternObject {
    /// Name of its type.
    pub(crate) type_name: Arc<str>,
    /// Its kind.
    pub(crate) kind: ObjectKind,
}

/// The construction of an extern object.
pub(crate) struct Construction<'c> {
    /// Name of the extern type.
    pub(crate) type_name: Arc<str>,
    /// Control-plane name of the object.
    pub(crate) name: Arc<str>,
    /// Type arguments, closed.
    pub(crate) type_arguments: Vec<Type>,
    /// An argument a parameter.
    pub(crate) arguments: Vec<Option<&'c Expression>>,
    /// The initializer in braces: implementations of abstract methods.
    pub(crate) initializer: &'c [Declaration],
    /// The object's origin.
    pub(crate) origin: OriginId,
}

/// A call of an extern function or method.
pub(crate) struct ExternCall<'c> {
    /// Name of the function or method.
    pub(crate) name: Arc<str>,
    /// The object of a method.
    pub(crate) object: Option<ObjectId>,
    /// Annotations of the function, or of the method and of the object's type.
    pub(crate) annotations: [&'c [Annotation]; 2],
    /// Parameters.
    pub(crate) parameters: &'c [Parameter],
    /// An argument a parameter.
    pub(crate) arguments: Vec<Option<&'c Expression>>,
    /// Type arguments of the function or method, closed.
    pub(crate) type_arguments: Vec<Type>,
    /// Type of the result, closed.
    pub(crate) result: Type,
}

impl<'c> ExternCall<'c> {
    /// The argument of a parameter.
    pub(crate) fn argument(&self, index: usize) -> Option<&'c Expression> {
        self.arguments.get(index).copied().flatten()
    }
}

impl<'a> Lowering<'a> {
    /// The value of an argument of an extern; an error when it is left out.
    pub(crate) fn extern_value(&mut self, call: &ExternCall<'a>, index: usize) -> Lowered<Value> {
        match call.argument(index) {
            Some(expression) => self.evaluate(expression),
            None => Err(self.missing_fact("an argument")),
        }
    }

    /// The value of an argument as one operand.
    pub(crate) fn extern_operand(
        &mut self,
        call: &ExternCall<'a>,
        index: usize,
    ) -> Lowered<Operand> {
        match call.argument(index) {
            Some(expression) => match self.evaluate(expression)? {
                Value::Integer(value) => {
                    let signed = value.sign() == num_bigint::Sign::Minus;
                    let width = if signed { 64 } else { (value.bits() as u32).max(1) };
                    Ok(Operand::Constant(crate::Bits::from_bigint(width, &value)))
                }
                Value::Scalar(operand) => Ok(operand),
                // A struct as an index or bound is its fields laid end to end.
                value => Ok(self.pack(&value)),
            },
            None => Err(self.missing_fact("an argument")),
        }
    }

    /// All scalars of an argument.
    pub(crate) fn extern_scalars(
        &mut self,
        call: &ExternCall<'a>,
        index: usize,
    ) -> Lowered<Vec<Operand>> {
        let value = self.extern_value(call, index)?;
        Ok(self.flatten(&value))
    }

    /// Where an `out` argument of an extern goes, with its layout.
    pub(crate) fn extern_target(
        &mut self,
        call: &ExternCall<'a>,
        index: usize,
    ) -> Lowered<(Location, Shape)> {
        match call.argument(index) {
            Some(expression) if matches!(expression.kind, ExpressionKind::DontCare) => {
                Ok((Location::Nothing, Shape::bits(0)))
            }
            Some(expression) => {
                let location = self.target(expression)?;
                let ty = self.type_of(expression)?;
                Ok((location, self.shape(&ty)?))
            }
            None => Ok((Location::Nothing, Shape::bits(0))),
        }
    }

    /// Stores one operand in a location of a scalar layout, with the width that it has.
    pub(crate) fn store_number(
        &mut self,
        (location, shape): &(Location, Shape),
        value: Operand,
    ) -> Lowered<()> {
        if *location == Location::Nothing {
            return Ok(());
        }
        let value = self.fit(Value::Scalar(value), false, shape)?;
        self.store(location, &value)
    }

    /// The width of a layout laid end to end in bits; headers without validity.
    pub(crate) fn packed_width(&mut self, shape: &Shape) -> u32 {
        match shape {
            Shape::Scalar(ty, _) => ty.width_bits(),
            Shape::Struct(fields) => fields
                .iter()
                .map(|(_, shape)| self.packed_width(shape))
                .fold(0, u32::saturating_add),
            Shape::Header(ty) => self
                .flat_fields(*ty)
                .iter()
                .map(|field| field.ty.width_bits())
                .fold(0, u32::saturating_add),
            Shape::Union(_) | Shape::Empty => 0,
            Shape::Stack(element, size) => self.packed_width(element).saturating_mul(*size),
        }
    }

    /// A value as one number, the first field in the highest bits.
    pub(crate) fn pack(&mut self, value: &Value) -> Operand {
        let mut packed = super::number(0, 0);
        for operand in self.flatten(value) {
            packed = self.binary(crate::BinaryOperation::Concat, packed, operand);
        }
        packed
    }

    /// The reverse of [`Lowering::pack`].
    pub(crate) fn unpack(&mut self, packed: &Operand, shape: &Shape) -> Value {
        let mut from = self.width(packed);
        self.unpack_from(packed, shape, &mut from)
    }

    fn unpack_from(&mut self, packed: &Operand, shape: &Shape, from: &mut u32) -> Value {
        match shape {
            Shape::Scalar(ty, _) => {
                let width = ty.width_bits();
                if width == 0 || *from < width {
                    return Value::Scalar(super::number(width, 0));
                }
                *from -= width;
                Value::Scalar(self.slice(packed.clone(), *from + width - 1, *from))
            }
            Shape::Struct(fields) => Value::Struct(
                fields
                    .iter()
                    .map(|(name, shape)| (name.clone(), self.unpack_from(packed, shape, from)))
                    .collect(),
            ),
            Shape::Header(ty) => {
                let mut fields = Vec::new();
                for field in self.flat_fields(*ty) {
                    let scalar = Shape::Scalar(field.ty, field.display);
                    if let Value::Scalar(operand) = self.unpack_from(packed, &scalar, from) {
                        fields.push(operand);
                    }
                }
                Value::Header { ty: *ty, valid: super::bit(true), fields }
            }
            other => self.default_value(other),
        }
    }

    /// A random number between two of the same width, drawn by the call that is being lowered.
    pub(crate) fn draw(&mut self, low: Operand, high: Operand) -> Operand {
        let result = self.temp(ValueType::Bits(self.width(&low)));
        let site = crate::RandomSite::new(self.call_site.clone());
        self.emit(Operation::Random { result, low, high, site });
        Operand::Temp(result)
    }

    /// A request by name and label, made once.
    pub(crate) fn request(
        &mut self,
        name: &str,
        label: &str,
        fields: Vec<(Arc<str>, ValueType)>,
    ) -> RequestId {
        let request = crate::Request { name: name.into(), label: label.into(), fields };
        let at = self.program.requests.iter().position(|known| *known == request);
        let at = at.unwrap_or_else(|| {
            self.program.requests.push(request);
            self.program.requests.len() - 1
        });
        RequestId(at as u32)
    }

    /// Names and types of the scalars of a layout, as fields of a request.
    pub(crate) fn request_fields(
        &mut self,
        shape: &Shape,
        prefix: &str,
    ) -> Vec<(Arc<str>, ValueType)> {
        let below = |name: &str| match prefix {
            "" => name.to_owned(),
            _ => format!("{prefix}.{name}"),
        };
        match shape {
            Shape::Scalar(ty, _) => vec![(prefix.into(), *ty)],
            Shape::Struct(fields) => {
                let mut all = Vec::new();
                for (name, shape) in fields.iter() {
                    all.extend(self.request_fields(shape, &below(name)));
                }
                all
            }
            Shape::Header(ty) => self
                .flat_fields(*ty)
                .into_iter()
                .map(|field| (Arc::from(below(&field.name)), field.ty))
                .collect(),
            Shape::Union(members) => {
                let mut all = Vec::new();
                for (name, ty) in members.iter() {
                    all.extend(self.request_fields(&Shape::Header(*ty), &below(name)));
                }
                all
            }
            Shape::Stack(element, size) => {
                let mut all = Vec::new();
                for index in 0..*size {
                    all.extend(self.request_fields(element, &format!("{prefix}[{index}]")));
                }
                all
            }
            Shape::Empty => Vec::new(),
        }
    }

    /// Adds an extern object without a meaning.
    pub(crate) fn unknown_object(&mut self, construction: &Construction<'a>) -> ExternId {
        let mut arguments = Vec::new();
        for argument in construction.arguments.iter().flatten() {
            let text: Arc<str> = match self.typed.constants.get(&argument.id) {
                Some(constant) => constant_text(self, constant).into(),
                None => "...".into(),
            };
            arguments.push(text);
        }
        self.add_extern(Extern {
            type_name: construction.type_name.clone(),
            instance: construction.name.clone(),
            arguments,
            origin: construction.origin,
        })
    }

    fn add_extern(&mut self, item: Extern) -> ExternId {
        self.program.externs.push(item);
        ExternId(self.program.externs.len() as u32 - 1)
    }

    /// Lowers a call of an extern without a meaning to [`Operation::CallExtern`].
    pub(crate) fn unknown_call(&mut self, call: &ExternCall<'a>) -> Lowered<Value> {
        let (target, method): (ExternId, Arc<str>) = match call.object {
            Some(object) => match &self.objects[object.index()].kind {
                ObjectKind::Unknown(id) => (*id, call.name.clone()),
                _ => {
                    let type_name = self.objects[object.index()].type_name.clone();
                    return Err(self.not_expressible(format!(
                        "the method `{}` of `{type_name}` has no meaning here",
                        call.name
                    )));
                }
            },
            None => (self.extern_function(&call.name), "".into()),
        };
        let mut arguments = Vec::new();
        let mut targets = Vec::new();
        for (index, parameter) in call.parameters.iter().enumerate() {
            let Some(expression) = call.argument(index) else { continue };
            let ty = self.result_type(expression)?;
            if matches!(*ty, TypeKind::Extern(..)) {
                continue;
            }
            match parameter.direction {
                Direction::None | Direction::In => {
                    let value = self.evaluate(expression)?;
                    let value = match value {
                        Value::Integer(_) => {
                            let width = Shape::bits(64);
                            self.fit(value, true, &width)?
                        }
                        other => other,
                    };
                    arguments.extend(self.flatten(&value));
                }
                Direction::Out | Direction::InOut => {
                    let (location, shape) = self.extern_target(call, index)?;
                    if parameter.direction == Direction::InOut {
                        let value = self.load(&location);
                        arguments.extend(self.flatten(&value));
                    }
                    targets.push((location, shape));
                }
            }
        }
        let result_shape = self.shape(&call.result)?;
        let mut results = Vec::new();
        let returned = self.fresh_value(&result_shape, &mut results);
        let mut written = Vec::new();
        for (location, shape) in targets {
            let value = self.fresh_value(&shape, &mut results);
            written.push((location, value));
        }
        let effects = self.call_effects(call);
        self.emit(Operation::CallExtern { target, method, arguments, results, effects });
        for (location, value) in written {
            if location != Location::Nothing {
                self.store(&location, &value)?;
            }
        }
        Ok(returned)
    }

    /// What the annotations of the declaration say of a call.
    fn call_effects(&self, call: &ExternCall<'a>) -> CallEffects {
        let says = |name: &str| {
            call.annotations.iter().any(|list| super::annotation_named(list, name).is_some())
        };
        let access = match () {
            () if says("pure") => ExternAccess::Pure,
            () if says("noSideEffects") => ExternAccess::Reads,
            () => ExternAccess::Any,
        };
        let random = says(DRAWING_ANNOTATION).then(|| RandomSite::new(self.call_site.clone()));
        CallEffects { access, random }
    }

    fn extern_function(&mut self, name: &Arc<str>) -> ExternId {
        let known = self
            .program
            .externs
            .iter()
            .position(|item| item.instance.is_empty() && item.type_name == *name);
        match known {
            Some(at) => ExternId(at as u32),
            None => self.add_extern(Extern {
                type_name: name.clone(),
                instance: "".into(),
                arguments: Vec::new(),
                origin: self.origin,
            }),
        }
    }

    /// A value of fresh temporaries, which are added to `results` in order.
    fn fresh_value(&mut self, shape: &Shape, results: &mut Vec<crate::Temp>) -> Value {
        match shape {
            Shape::Scalar(ty, _) => {
                let temp = self.temp(*ty);
                results.push(temp);
                Value::Scalar(Operand::Temp(temp))
            }
            Shape::Struct(fields) => Value::Struct(
                fields
                    .iter()
                    .map(|(name, shape)| (name.clone(), self.fresh_value(shape, results)))
                    .collect(),
            ),
            Shape::Header(ty) => {
                let mut fields = Vec::new();
                for field in self.flat_fields(*ty) {
                    let temp = self.temp(field.ty);
                    results.push(temp);
                    fields.push(Operand::Temp(temp));
                }
                Value::Header { ty: *ty, valid: super::bit(true), fields }
            }
            Shape::Union(members) => Value::Union(
                members
                    .iter()
                    .map(|(name, ty)| {
                        (name.clone(), self.fresh_value(&Shape::Header(*ty), results))
                    })
                    .collect(),
            ),
            Shape::Stack(element, size) => Value::Stack {
                elements: (0..*size).map(|_| self.fresh_value(element, results)).collect(),
                next: super::number(32, 0),
            },
            Shape::Empty => Value::Void,
        }
    }

    /// A slot of shared storage by its full name.
    pub(crate) fn shared_slot(&self, storage: &str, field: &str) -> Option<Place> {
        let location = self.shared.get(storage)?;
        match self.member_location(location, field)? {
            Location::Scalar(place, _) => Some(place),
            _ => None,
        }
    }
}

fn constant_text(lowering: &Lowering<'_>, constant: &p4::typed::Constant) -> String {
    use p4::typed::Constant;
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Integer(value) => value.to_string(),
        Constant::String(text) => format!("\"{text}\""),
        Constant::Error(name) => format!("error.{name}"),
        Constant::MatchKind(name) => name.to_string(),
        Constant::EnumMember(id, index) => match lowering.nodes.declaration(*id) {
            Some(declaration) => match &declaration.kind {
                p4::ast::DeclarationKind::Enum { members, .. } => match members.get(*index) {
                    Some(member) => format!("{}.{}", declaration.name.text, member.name.text),
                    None => index.to_string(),
                },
                _ => index.to_string(),
            },
            None => index.to_string(),
        },
        Constant::List(items) => {
            let items: Vec<String> =
                items.iter().map(|item| constant_text(lowering, item)).collect();
            format!("{{{}}}", items.join(", "))
        }
        Constant::Struct(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name} = {}", constant_text(lowering, value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Constant::InvalidHeader => "{#}".to_owned(),
    }
}
