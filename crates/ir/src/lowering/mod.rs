// SPDX-License-Identifier: Apache-2.0
//! From typed P4_16 to the pipeline IR. The program's `main` is evaluated at compile time (§18.2);
//! parsers, controls, functions and directly called actions are inlined where they are applied; types
//! are laid out as slots. An architecture's description and the meanings of its externs are handed in
//! (`ExternMeaning`).
//!
//! Arguments are passed by reference where that equals copying in and out (P4_16 v1.2.5 §6.8), otherwise by
//! copy.

mod builder;
mod calls;
mod casts;
mod constants;
mod entries;
mod expressions;
mod externs;
mod inlining;
mod instances;
mod keysets;
mod locations;
mod loops;
mod names;
mod nodes;
mod operators;
mod packets;
mod parsers;
mod probes;
mod program;
mod register_functions;
mod repetitions;
mod shapes;
mod statements;
mod storage;
mod switches;
mod tables;
#[cfg(test)]
mod tests;
mod values;

pub use names::{annotation_string, annotation_text, control_plane_name};

pub(crate) use builder::{bit, constant, number};
pub(crate) use externs::{
    Architecture, CalculationKind, Construction, ExternCall, ExternMeaning, ExternObject, ObjectId,
    ObjectKind,
};
pub(crate) use names::{annotation_named, annotation_numbers, annotation_values};
pub use probes::{PROBE_REQUEST, ProbeEnd, probe_label};
pub(crate) use shapes::Shape;
pub(crate) use storage::Location;
pub(crate) use values::Value;

use crate::architecture::Description;
use crate::codes::lowering as codes;
use crate::{ActionId, BlockId, OriginId, Program, SlotId, TableId, ValueSetId};
use builder::Builder;
use instances::{BlockInstance, InstanceId};
use nodes::Nodes;
use p4::ast::{Annotation, NodeId};
use p4::random_sites::RandomSites;
use p4::typed::{Type, TypedProgram};
use source::{Code, Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Largest number of instructions of a lowered program.
pub const INSTRUCTION_LIMIT: u64 = 250_000;

/// Largest number of slots of a lowered program.
const SLOT_LIMIT: u64 = 250_000;

/// Largest number of unrolled iterations of a loop; longer loops become back edges.
pub const UNROLL_LIMIT: u32 = 1_024;

/// Lowers a checked program for the one of these architectures that declares its package, with probes at both ends of
/// these controls: blocks of the package and instances that are applied, by their control-plane names. Returns
/// `None` without an error if the program has no `main`, and `None` with errors otherwise.
pub(crate) fn lower_with_probes(
    typed: &TypedProgram,
    architectures: &[Architecture],
    probes: &[Arc<str>],
    diagnostics: &mut Diagnostics,
) -> Option<Program> {
    let main = typed.main?;
    let mut lowering = Lowering::new(typed, architectures);
    lowering.probes = probes.to_vec();
    let outcome = lowering.main(main);
    let failed = outcome.is_err() || lowering.diagnostics.has_errors();
    diagnostics.append(lowering.diagnostics);
    if failed {
        return None;
    }
    repetitions::number(&mut lowering.program);
    Some(lowering.program)
}

/// An error that was reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

/// The result of lowering something.
pub(crate) type Lowered<T> = Result<T, Reported>;

/// The current meaning of a declared name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Binding {
    /// Storage.
    Location(Location),
    /// A value that does not change.
    Value(Value),
    /// An extern object.
    Object(ObjectId),
    /// An array of extern objects.
    Objects(Vec<Binding>),
    /// The object of an array that an index chooses at run time.
    Choice(Vec<Binding>, crate::Operand),
    /// An instance of a parser or control.
    Block(InstanceId),
    /// An instance of a package, by its parameters' names.
    Package(Vec<(Arc<str>, Binding)>),
    /// `packet_in` or `packet_out`.
    Packet,
}

/// Targets of `return`, `break` and `continue`.
#[derive(Clone, Default)]
pub(crate) struct Flow {
    /// `return`: the block after the body, and where the value goes.
    result: Option<(BlockId, Option<Location>)>,
    /// `break`.
    break_to: Option<BlockId>,
    /// `continue`.
    continue_to: Option<BlockId>,
}

/// Copies that `exit` makes before it leaves, the innermost last.
#[derive(Clone)]
pub(crate) struct CopyOut {
    /// Where to.
    to: Location,
    /// Where from.
    from: Location,
}

/// The contents of an origin: node, span, parent, atomic block.
type OriginKey = (Option<NodeId>, Span, Option<OriginId>, Option<u32>);

/// The state of one lowering.
pub(crate) struct Lowering<'a> {
    pub(crate) typed: &'a TypedProgram,
    nodes: Nodes<'a>,
    /// The program under construction.
    pub(crate) program: Program,
    architectures: &'a [Architecture],
    /// That of the package of `main`.
    architecture: Option<&'a Architecture>,
    diagnostics: Diagnostics,
    builder: Builder,
    instruction_count: u64,
    /// Whether a limit was exceeded; lowering then stops without further errors.
    exhausted: bool,
    /// Names in use by slots, for uniqueness.
    slot_names: HashSet<Arc<str>>,
    /// Names of storage, whose slots' names start with them.
    storage_names: HashSet<Arc<str>>,
    /// Control-plane names in use.
    control_names: HashSet<(&'static str, Arc<str>)>,
    /// Values and types of names. Node numbers are unique and nothing is recursive, so one flat map
    /// serves all scopes: inlining binds anew.
    bindings: HashMap<NodeId, Binding>,
    type_arguments: HashMap<NodeId, Type>,
    header_types: HashMap<Type, crate::HeaderTypeId>,
    header_shapes: Vec<shapes::FieldShapes>,
    pub(crate) objects: Vec<ExternObject>,
    instances: Vec<BlockInstance>,
    top_instances: HashMap<NodeId, Binding>,
    local_instances: HashMap<(Option<InstanceId>, NodeId), Binding>,
    /// Declarations whose insides are being evaluated, to find recursion.
    constructing: Vec<NodeId>,
    /// The innermost instance whose body is being lowered.
    instance: Option<InstanceId>,
    /// The expansion that local variables belong to.
    context: u32,
    contexts: u32,
    variables: HashMap<(u32, NodeId), Location>,
    /// Whether the code being made may run more than once for a packet.
    repeating: bool,
    flow: Flow,
    copy_outs: Vec<CopyOut>,
    /// Set by an action that exits where arguments still have to be copied out.
    exit_flag: Option<SlotId>,
    /// Whether `exit` in the region being made is signalled by the flag.
    soft_exit: bool,
    /// Declarations being inlined, to find recursion.
    active: Vec<NodeId>,
    tables: HashMap<(InstanceId, NodeId), TableId>,
    table_actions: HashMap<(Option<InstanceId>, NodeId), ActionId>,
    /// Actions that have an origin because controls call them.
    called_actions: HashSet<(Option<InstanceId>, NodeId)>,
    table_action_nodes: Vec<Vec<NodeId>>,
    soft_exit_tables: HashSet<TableId>,
    soft_exit_regions: HashSet<crate::RegionId>,
    /// Whether the action region being made signals an exit.
    region_soft_exits: bool,
    value_sets: HashMap<(InstanceId, NodeId), ValueSetId>,
    /// Calculations by their calls, those that are custom CRCs with their place in the program.
    pub(crate) calculations: BTreeMap<(CalculationKind, NodeId), Option<crate::CalculationId>>,
    /// Header types that a warning was given for.
    header_types_warned: HashSet<crate::HeaderTypeId>,
    /// Direct counters and meters that a table has.
    attached: HashSet<ObjectId>,
    /// The innermost parser being lowered.
    machine: Option<parsers::StateMachine>,
    /// Storage that blocks share, by name.
    pub(crate) shared: HashMap<Arc<str>, Location>,
    /// Types of that storage.
    pub(crate) storage_types: HashMap<Arc<str>, Type>,
    /// The origin of the code being made.
    pub(crate) origin: OriginId,
    parent_origin: Option<OriginId>,
    origins: HashMap<OriginKey, OriginId>,
    /// The outermost `@atomic` block that is being lowered, and how many there were.
    atomic: Option<u32>,
    atomic_blocks: u32,
    span: Span,
    /// The function or action being inlined, for names of its variables.
    scope: Arc<str>,
    /// Calls that draw random numbers.
    random_sites: RandomSites,
    /// The scope of such calls in the code being lowered.
    random_scope: Arc<str>,
    /// The key of the innermost call being lowered, when it may draw.
    call_site: Arc<str>,
    /// Controls that have probes.
    probes: Vec<Arc<str>>,
}

impl<'a> Lowering<'a> {
    fn new(typed: &'a TypedProgram, architectures: &'a [Architecture]) -> Lowering<'a> {
        let mut lowering = Lowering {
            typed,
            nodes: Nodes::new(typed),
            program: Program::default(),
            architectures,
            architecture: None,
            diagnostics: Diagnostics::new(),
            builder: Builder::new("".into(), crate::RegionKind::Control),
            instruction_count: 0,
            exhausted: false,
            slot_names: HashSet::new(),
            storage_names: HashSet::new(),
            control_names: HashSet::new(),
            bindings: HashMap::new(),
            type_arguments: HashMap::new(),
            header_types: HashMap::new(),
            header_shapes: Vec::new(),
            objects: Vec::new(),
            instances: Vec::new(),
            top_instances: HashMap::new(),
            local_instances: HashMap::new(),
            constructing: Vec::new(),
            instance: None,
            context: 0,
            contexts: 0,
            variables: HashMap::new(),
            repeating: false,
            flow: Flow::default(),
            copy_outs: Vec::new(),
            exit_flag: None,
            soft_exit: false,
            active: Vec::new(),
            tables: HashMap::new(),
            table_actions: HashMap::new(),
            called_actions: HashSet::new(),
            table_action_nodes: Vec::new(),
            soft_exit_tables: HashSet::new(),
            soft_exit_regions: HashSet::new(),
            region_soft_exits: false,
            value_sets: HashMap::new(),
            calculations: BTreeMap::new(),
            header_types_warned: HashSet::new(),
            attached: HashSet::new(),
            machine: None,
            shared: HashMap::new(),
            storage_types: HashMap::new(),
            origin: OriginId(0),
            parent_origin: None,
            origins: HashMap::new(),
            atomic: None,
            atomic_blocks: 0,
            span: Span::NONE,
            scope: "".into(),
            random_sites: RandomSites::of(typed),
            random_scope: "".into(),
            call_site: "".into(),
            probes: Vec::new(),
        };
        lowering.origin = lowering.add_origin(Span::NONE, None, None);
        lowering
    }

    /// The description of the package of `main`, if it has one.
    fn architecture(&self) -> Option<&'static Description> {
        Some(self.architecture?.description)
    }

    /// The meaning of the externs of the package of `main`, if they have one.
    fn extern_meaning(&self) -> Option<&'static dyn ExternMeaning> {
        self.architecture?.externs
    }

    /// Reports an error at the place being lowered.
    pub(crate) fn error(&mut self, code: Code, message: impl Into<String>) -> Reported {
        self.error_at(self.span, code, message)
    }

    /// Reports an error at a certain place.
    pub(crate) fn error_at(
        &mut self,
        span: Span,
        code: Code,
        message: impl Into<String>,
    ) -> Reported {
        if self.exhausted {
            return Reported;
        }
        self.exhausted = code == codes::CODE_GROWTH;
        let mut diagnostic = Diagnostic::error(code, span, message);
        let mut parent = self.parent_origin;
        for _ in 0..8 {
            let Some(origin) = parent.and_then(|id| self.program.origins.get(id.index())) else {
                break;
            };
            if origin.span != span && !origin.span.is_none() {
                diagnostic = diagnostic.label(origin.span, "reached from here");
            }
            parent = origin.parent;
        }
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports a fact that the checker should have found.
    pub(crate) fn missing_fact(&mut self, what: &str) -> Reported {
        self.error(codes::INTERNAL, format!("internal: the checker did not record {what}"))
    }

    /// Reports something that the IR cannot express.
    pub(crate) fn not_expressible(&mut self, what: impl Into<String>) -> Reported {
        self.error(codes::NOT_EXPRESSIBLE, what.into())
    }

    /// A new origin below the current call.
    pub(crate) fn add_origin(
        &mut self,
        span: Span,
        node: Option<NodeId>,
        name: Option<Arc<str>>,
    ) -> OriginId {
        let key = (node, span, self.parent_origin, self.atomic);
        if name.is_none()
            && let Some(known) = self.origins.get(&key)
        {
            return *known;
        }
        let id = OriginId(self.program.origins.len() as u32);
        let named = name.is_some();
        self.program.origins.push(crate::Origin {
            node,
            name,
            parent: self.parent_origin,
            atomic: self.atomic,
            ..crate::Origin::at(span)
        });
        if !named {
            self.origins.insert(key, id);
        }
        id
    }

    /// Sets the origin of the code that follows to this node.
    pub(crate) fn at(&mut self, node: NodeId, span: Span) {
        self.span = span;
        self.origin = self.add_origin(span, Some(node), None);
    }

    /// Lowers something that is one atomic block if these annotations say so (§18.4.1) and no block around
    /// it is one already.
    fn atomically<T>(
        &mut self,
        annotations: &[Annotation],
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.atomic.is_some() || annotation_named(annotations, "atomic").is_none() {
            return work(self);
        }
        let (origin, span) = (self.origin, self.span);
        self.atomic = Some(self.atomic_blocks);
        self.atomic_blocks += 1;
        let outcome = work(self);
        self.atomic = None;
        self.origin = origin;
        self.span = span;
        outcome
    }

    /// Does something as part of an inlined call at the current origin.
    fn inside<T>(&mut self, work: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        let (origin, parent, span) = (self.origin, self.parent_origin, self.span);
        self.parent_origin = Some(origin);
        let outcome = work(self);
        self.parent_origin = parent;
        self.origin = origin;
        self.span = span;
        outcome
    }

    /// Lowers code whose calls that draw random numbers are in this scope.
    fn drawing_in<T>(
        &mut self,
        scope: Arc<str>,
        work: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<T> {
        let outer = std::mem::replace(&mut self.random_scope, scope);
        let outcome = work(self);
        self.random_scope = outer;
        outcome
    }

    /// How many parsers and controls are being inlined into one another.
    fn nesting(&self) -> usize {
        self.constructing.len().saturating_sub(1)
    }

    /// A fresh expansion for local variables.
    fn new_context(&mut self) -> u32 {
        self.contexts += 1;
        self.contexts
    }
}
