// SPDX-License-Identifier: Apache-2.0
//! `ExternProvider`: implementations of externs that no architecture describes. Each [`Cells`](crate::Cells) has its
//! own instance of each extern, so pipeline instances share no state. Engines call instances; the device executes the
//! packet actions of an instance after the block.

use ir::{Bits, CallEffects, Extern, ExternAccess, ExternId, Operation, OriginId, Program};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The effects of one method's calls. The effects of a provider must be a subset of those that the P4 declaration
/// states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderEffects {
    /// Whether results depend on the instance's state, the packet's bytes or time.
    pub reads_state: bool,
    /// Whether calls change the instance's state.
    pub writes_state: bool,
    /// Whether calls draw random numbers.
    pub draws_random: bool,
    /// Whether calls may drop, hold, release or emit packets.
    pub acts_on_packets: bool,
}

impl ProviderEffects {
    /// The method only computes.
    pub const NONE: ProviderEffects = ProviderEffects {
        reads_state: false,
        writes_state: false,
        draws_random: false,
        acts_on_packets: false,
    };

    /// The method may have all effects.
    pub const ALL: ProviderEffects = ProviderEffects {
        reads_state: true,
        writes_state: true,
        draws_random: true,
        acts_on_packets: true,
    };

    /// Returns an effect that the declaration lacks, if there is one.
    fn missing_from(self, declared: &CallEffects) -> Option<&'static str> {
        let changes = self.writes_state || self.acts_on_packets;
        match declared.access {
            ExternAccess::Pure if self.reads_state || changes => {
                Some("its declaration says `@pure`, but the provider keeps state")
            }
            ExternAccess::Reads if changes => Some(
                "its declaration says `@noSideEffects`, but the provider changes state or acts on packets",
            ),
            _ if self.draws_random && declared.random.is_none() => Some(
                "the provider draws random numbers; write `@random` before the extern's declaration",
            ),
            _ => None,
        }
    }
}

/// How a program calls a method: widths in bits of the arguments (`in` and `inout`), and of the results
/// (the return value, then `out` and `inout` arguments), structs and headers taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallShape {
    /// Method name; empty for a function.
    pub method: Arc<str>,
    /// Of arguments.
    pub argument_widths_bits: Vec<u32>,
    /// Of results.
    pub result_widths_bits: Vec<u32>,
}

/// What implements an extern object type or an extern function.
pub trait ExternProvider: Send + Sync {
    /// The extern type's or function's name in P4.
    fn name(&self) -> &str;

    /// Returns the effects of a method's calls.
    fn effects(&self, method: &str) -> ProviderEffects;

    /// Checks that instances support a call.
    ///
    /// # Errors
    ///
    /// What is wrong with it: a phrase for the user.
    fn check(&self, call: &CallShape) -> Result<(), String>;

    /// Makes an instance. `arguments` are the constructor's, printed as P4: numbers in decimal.
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments: a phrase for the user.
    fn instantiate(&self, arguments: &[Arc<str>]) -> Result<Box<dyn ExternInstance>, String>;
}

/// The state of one extern in one pipeline instance.
pub trait ExternInstance: Send + Sync {
    /// Runs a call: one result for each of [`ExternPacket::result_widths_bits`].
    ///
    /// # Errors
    ///
    /// A sentence for the user. It ends the block, and the packet with it.
    fn call(
        &mut self,
        method: &str,
        arguments: &[Bits],
        packet: &mut ExternPacket<'_>,
    ) -> Result<Vec<Bits>, String>;

    /// Returns the state as bytes, for copies of a pipeline instance and for swaps of programs.
    fn snapshot(&self) -> Vec<u8>;

    /// Restores a state from [`ExternInstance::snapshot`] of the same provider.
    ///
    /// # Errors
    ///
    /// What is wrong with it. The state is then unchanged.
    fn restore(&mut self, snapshot: &[u8]) -> Result<(), String>;
}

/// The destination of an emitted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmitTo {
    /// A queue of an egress port; the packet skips egress.
    Port(u32),
    /// Ingress, as if the packet arrived at this port.
    Ingress(u32),
}

/// A packet action of an extern. The device executes actions in order after the block that issued them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketAction {
    /// The packet continues before the effects of later actions. Without this action it continues after them.
    Forward,
    /// The device drops the packet.
    Drop,
    /// The device holds the packet until a later action of the same extern releases it by its ticket.
    Hold {
        /// The extern's number for it. If the number is in use, the device drops the older packet.
        ticket: u64,
        /// The device releases it at this time at the latest.
        until_ps: Option<u64>,
    },
    /// The device releases a held packet.
    Release {
        /// Its number.
        ticket: u64,
    },
    /// The device drops a held packet.
    DropHeld {
        /// Its number.
        ticket: u64,
    },
    /// A new packet.
    Emit {
        /// All of it, from the first header on.
        bytes: Vec<u8>,
        /// Where it goes.
        to: EmitTo,
    },
}

/// Services of an engine for a call: time, length, random numbers.
pub trait CallServices {
    /// Device time in picoseconds.
    fn now_ps(&self) -> u64;

    /// Returns the packet's length for counters, in bytes.
    fn packet_length_bytes(&self) -> u64;

    /// A random number from `low` to `high`, both included and of one width.
    fn random(&mut self, low: &Bits, high: &Bits) -> Bits;
}

/// The packet of a call, with the packet actions.
pub struct ExternPacket<'a> {
    bytes: &'a [u8],
    result_widths_bits: &'a [u32],
    effects: &'a CallEffects,
    services: &'a mut dyn CallServices,
    actions: &'a mut Vec<PacketAction>,
    exceeded: Option<&'static str>,
}

impl ExternPacket<'_> {
    /// The packet at the parser of this pass.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Returns the packet's length for counters, in bytes.
    pub fn length_bytes(&self) -> u64 {
        self.services.packet_length_bytes()
    }

    /// Device time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.services.now_ps()
    }

    /// Widths in bits of the results that the call has to give.
    pub fn result_widths_bits(&self) -> &[u32] {
        self.result_widths_bits
    }

    /// A random number from `low` to `high`, both included and of one width; `low` when the declaration does
    /// not say `@random`, and then the call fails.
    pub fn random(&mut self, low: &Bits, high: &Bits) -> Bits {
        if self.effects.random.is_none() {
            self.exceeded = Some("draw random numbers");
            return low.clone();
        }
        self.services.random(low, high)
    }

    /// Forwards the packet before the next actions: a packet emitted later leaves after it.
    pub fn forward(&mut self) {
        self.act(PacketAction::Forward);
    }

    /// Drops the packet.
    pub fn drop_packet(&mut self) {
        self.act(PacketAction::Drop);
    }

    /// Holds the packet under a ticket, at most until a time ([`PacketAction::Hold`]).
    pub fn hold(&mut self, ticket: u64, until_ps: Option<u64>) {
        self.act(PacketAction::Hold { ticket, until_ps });
    }

    /// Releases a held packet.
    pub fn release(&mut self, ticket: u64) {
        self.act(PacketAction::Release { ticket });
    }

    /// Drops a held packet.
    pub fn drop_held(&mut self, ticket: u64) {
        self.act(PacketAction::DropHeld { ticket });
    }

    /// Emits a new packet.
    pub fn emit(&mut self, bytes: Vec<u8>, to: EmitTo) {
        self.act(PacketAction::Emit { bytes, to });
    }

    fn act(&mut self, action: PacketAction) {
        match self.effects.access {
            ExternAccess::Any => self.actions.push(action),
            ExternAccess::Pure | ExternAccess::Reads => self.exceeded = Some("act on packets"),
        }
    }
}

/// A call of an engine to an instance.
#[derive(Clone, Copy, Debug)]
pub struct InstanceCall<'a> {
    /// Method name; empty for a function.
    pub method: &'a str,
    /// Values of `in` and `inout` arguments.
    pub arguments: &'a [Bits],
    /// Widths in bits of the results.
    pub result_widths_bits: &'a [u32],
    /// The declared effects of the call.
    pub effects: &'a CallEffects,
    /// The packet at the parser of this pass.
    pub packet: &'a [u8],
}

/// An extern that only computes: its declaration in P4, marked `@pure`, and one function.
#[derive(Clone)]
pub struct PureExtern {
    /// The extern function's name.
    pub name: Arc<str>,
    /// The numbers of scalar arguments (`in` and `inout`) and of scalar results (the return value, then `out` and
    /// `inout`).
    pub signature: (usize, usize),
    /// From arguments and the widths in bits of the results to the results.
    pub evaluate: fn(&[Bits], &[u32]) -> Vec<Bits>,
}

impl ExternProvider for PureExtern {
    fn name(&self) -> &str {
        &self.name
    }

    fn effects(&self, _: &str) -> ProviderEffects {
        ProviderEffects::NONE
    }

    fn check(&self, call: &CallShape) -> Result<(), String> {
        let found = (call.argument_widths_bits.len(), call.result_widths_bits.len());
        if !call.method.is_empty() {
            return Err("the provider is one of a function, not of an object".to_string());
        }
        if found != self.signature {
            let (takes, gives) = self.signature;
            return Err(format!(
                "the provider takes {takes} values and gives {gives}, but here are {} and {}",
                found.0, found.1
            ));
        }
        Ok(())
    }

    fn instantiate(&self, _: &[Arc<str>]) -> Result<Box<dyn ExternInstance>, String> {
        Ok(Box::new(PureInstance { evaluate: self.evaluate }))
    }
}

struct PureInstance {
    evaluate: fn(&[Bits], &[u32]) -> Vec<Bits>,
}

impl ExternInstance for PureInstance {
    fn call(
        &mut self,
        _: &str,
        arguments: &[Bits],
        packet: &mut ExternPacket<'_>,
    ) -> Result<Vec<Bits>, String> {
        Ok((self.evaluate)(arguments, packet.result_widths_bits()))
    }

    fn snapshot(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// Providers by name.
#[derive(Clone, Default)]
pub struct ExternRegistry {
    providers: BTreeMap<Arc<str>, Arc<dyn ExternProvider>>,
}

impl ExternRegistry {
    /// A registry without providers.
    pub fn new() -> ExternRegistry {
        ExternRegistry::default()
    }

    /// Adds a provider and replaces one of the same name.
    pub fn add(&mut self, provider: impl ExternProvider + 'static) {
        self.providers.insert(provider.name().into(), Arc::new(provider));
    }

    /// Returns the registry with one more provider.
    pub fn with(mut self, provider: impl ExternProvider + 'static) -> ExternRegistry {
        self.add(provider);
        self
    }

    /// The provider of an extern type or function.
    pub fn provider(&self, name: &str) -> Option<&Arc<dyn ExternProvider>> {
        self.providers.get(name)
    }
}

impl PartialEq for ExternRegistry {
    /// Compares the providers by identity.
    fn eq(&self, other: &ExternRegistry) -> bool {
        let same = |(one, other): ((&Arc<str>, &Arc<dyn ExternProvider>), _)| {
            let (name, provider): (&Arc<str>, &Arc<dyn ExternProvider>) = other;
            one.0 == name && Arc::ptr_eq(one.1, provider)
        };
        self.providers.len() == other.providers.len()
            && self.providers.iter().zip(&other.providers).all(same)
    }
}

impl Eq for ExternRegistry {}

impl fmt::Debug for ExternRegistry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.providers.keys()).finish()
    }
}

/// Why a program cannot run with these providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternError {
    /// The extern: `popcount`, or `fec.encode (of Fec)`.
    pub name: String,
    /// The call, or for bad constructor arguments the declaration.
    pub origin: OriginId,
    /// What is wrong; `None` if the extern has no provider.
    pub problem: Option<String>,
}

impl fmt::Display for ExternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            None => write!(formatter, "there is no provider of the extern `{}`", self.name),
            Some(problem) => write!(formatter, "the extern `{}` cannot run: {problem}", self.name),
        }
    }
}

impl std::error::Error for ExternError {}

/// An extern of a program with its provider.
struct Slot {
    provider: Arc<dyn ExternProvider>,
    arguments: Vec<Arc<str>>,
    instance: Box<dyn ExternInstance>,
}

/// Instances of a program's externs.
#[derive(Default)]
pub(crate) struct ExternInstances {
    slots: Vec<Option<Slot>>,
}

impl ExternInstances {
    /// Instances of the program's externs. Those that it calls have to be provided.
    pub(crate) fn new(
        program: &Program,
        registry: &ExternRegistry,
    ) -> Result<ExternInstances, Vec<ExternError>> {
        let mut errors: Vec<ExternError> = Vec::new();
        let mut report = |error: ExternError| {
            if errors
                .iter()
                .all(|known| (&known.name, &known.problem) != (&error.name, &error.problem))
            {
                errors.push(error);
            }
        };
        let mut slots: Vec<Option<Slot>> = Vec::with_capacity(program.externs.len());
        for declaration in &program.externs {
            let provider = registry.provider(&declaration.type_name);
            slots.push(provider.and_then(|provider| {
                match provider.instantiate(&declaration.arguments) {
                    Ok(instance) => {
                        let (provider, arguments) =
                            (provider.clone(), declaration.arguments.clone());
                        Some(Slot { provider, arguments, instance })
                    }
                    Err(problem) => {
                        report(ExternError {
                            name: name_of_call(declaration, ""),
                            origin: declaration.origin,
                            problem: Some(problem),
                        });
                        None
                    }
                }
            }));
        }
        for (call, origin) in calls(program) {
            let Some(declaration) = program.externs.get(call.target.index()) else { continue };
            let error = |problem: Option<String>| ExternError {
                name: name_of_call(declaration, &call.shape.method),
                origin,
                problem,
            };
            let Some(provider) = registry.provider(&declaration.type_name) else {
                report(error(None));
                continue;
            };
            if let Err(problem) = provider.check(&call.shape) {
                report(error(Some(problem)));
            }
            let effects = provider.effects(&call.shape.method);
            if let Some(problem) = effects.missing_from(call.effects) {
                report(error(Some(problem.to_string())));
            }
        }
        if errors.is_empty() { Ok(ExternInstances { slots }) } else { Err(errors) }
    }

    /// Fresh instances of the same externs, by the same providers.
    pub(crate) fn fresh(&self) -> ExternInstances {
        let fresh = |slot: &Slot| {
            // The provider has accepted these arguments before.
            let instance = slot.provider.instantiate(&slot.arguments).ok()?;
            let (provider, arguments) = (slot.provider.clone(), slot.arguments.clone());
            Some(Slot { provider, arguments, instance })
        };
        ExternInstances {
            slots: self.slots.iter().map(|slot| slot.as_ref().and_then(fresh)).collect(),
        }
    }

    /// Runs a call; `None` when the extern has no instance.
    pub(crate) fn call(
        &mut self,
        id: ExternId,
        call: InstanceCall<'_>,
        services: &mut dyn CallServices,
        actions: &mut Vec<(ExternId, PacketAction)>,
    ) -> Option<Result<Vec<Bits>, String>> {
        let slot = self.slots.get_mut(id.index())?.as_mut()?;
        let mut asked = Vec::new();
        let mut packet = ExternPacket {
            bytes: call.packet,
            result_widths_bits: call.result_widths_bits,
            effects: call.effects,
            services,
            actions: &mut asked,
            exceeded: None,
        };
        let given = slot.instance.call(call.method, call.arguments, &mut packet);
        let exceeded = packet.exceeded;
        actions.extend(asked.into_iter().map(|action| (id, action)));
        Some(match exceeded {
            Some(what) => Err(format!("its declaration does not let it {what}")),
            None => given,
        })
    }

    /// Copies the states of externs with equal types, names and constructor arguments.
    pub(crate) fn migrate(&mut self, program: &Program, from: (&ExternInstances, &Program)) {
        let (from, from_program) = from;
        for (slot, mine) in self.slots.iter_mut().zip(&program.externs) {
            let Some(slot) = slot else { continue };
            let before = from_program.externs.iter().zip(&from.slots).find(|(other, _)| {
                other.type_name == mine.type_name
                    && other.instance == mine.instance
                    && other.arguments == mine.arguments
            });
            if let Some((_, Some(before))) = before {
                // A provider that does not know the snapshot keeps its initial state.
                let _ = slot.instance.restore(&before.instance.snapshot());
            }
        }
    }

    /// The state of an extern.
    pub(crate) fn snapshot(&self, id: ExternId) -> Option<Vec<u8>> {
        Some(self.slots.get(id.index())?.as_ref()?.instance.snapshot())
    }

    /// Sets the state of an extern.
    pub(crate) fn restore(&mut self, id: ExternId, snapshot: &[u8]) -> Option<Result<(), String>> {
        Some(self.slots.get_mut(id.index())?.as_mut()?.instance.restore(snapshot))
    }
}

impl Clone for ExternInstances {
    fn clone(&self) -> ExternInstances {
        let copy = |slot: &Slot| {
            // The provider has accepted these arguments before, and restores its own snapshots.
            let mut instance = slot.provider.instantiate(&slot.arguments).ok()?;
            instance.restore(&slot.instance.snapshot()).ok()?;
            let (provider, arguments) = (slot.provider.clone(), slot.arguments.clone());
            Some(Slot { provider, arguments, instance })
        };
        ExternInstances {
            slots: self.slots.iter().map(|slot| slot.as_ref().and_then(copy)).collect(),
        }
    }
}

impl fmt::Debug for ExternInstances {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.slots.iter().flatten().map(|slot| slot.provider.name());
        formatter.debug_list().entries(names).finish()
    }
}

/// A call of an extern in a program.
struct Call<'p> {
    target: ExternId,
    shape: CallShape,
    effects: &'p CallEffects,
}

/// All calls of externs in a program.
fn calls(program: &Program) -> impl Iterator<Item = (Call<'_>, OriginId)> {
    program.regions.iter().flat_map(|region| {
        let instructions = region.blocks.iter().flat_map(|block| &block.instructions);
        instructions.filter_map(move |instruction| {
            let Operation::CallExtern { target, method, arguments, results, effects } =
                &instruction.operation
            else {
                return None;
            };
            let width_bits = |operand: &ir::Operand| match operand {
                ir::Operand::Constant(value) => value.width_bits(),
                ir::Operand::Temp(temp) => region.temps[temp.index()].width_bits(),
            };
            let shape = CallShape {
                method: method.clone(),
                argument_widths_bits: arguments.iter().map(width_bits).collect(),
                result_widths_bits: results
                    .iter()
                    .map(|result| region.temps[result.index()].width_bits())
                    .collect(),
            };
            Some((Call { target: *target, shape, effects }, instruction.origin))
        })
    })
}

/// Formats an extern and the called method for users.
fn name_of_call(declaration: &Extern, method: &str) -> String {
    match (declaration.instance.is_empty(), method.is_empty()) {
        (true, true) => declaration.type_name.to_string(),
        (true, false) => format!("{}.{method}", declaration.type_name),
        (false, true) => format!("{} (of {})", declaration.instance, declaration.type_name),
        (false, false) => {
            format!("{}.{method} (of {})", declaration.instance, declaration.type_name)
        }
    }
}
