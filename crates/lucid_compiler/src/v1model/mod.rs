// SPDX-License-Identifier: Apache-2.0
//! From the normal form to P4_16 for v1model: one control a handler, with the user's names and the
//! control flow of the source. Dispatch, serialisation and delay are `scheduler`'s; what the control
//! plane has to set up is decided where compiled programs run.
//!
//! The text is put together piece by piece, each with the place in the Lucid source that it stands
//! for; [`p4::build`] reads and checks it.

mod accesses;
mod calculations;
mod generated;
mod handlers;
mod parsers;
pub(super) mod shapes;
mod tables;
mod user;

use super::names::Names;
use super::scheduler;
use crate::compiled::{Compiled, GlobalPlace, PortGroup};
use crate::interface::TargetInterface;
use crate::options::{Delay, Options};
use lucid::core::{EventId, ExternId, GlobalId, GlobalKind, Program};
use p4::build::ProgramBuilder;
use shapes::Shapes;
use source::{Code, Diagnostic, Diagnostics, Explanation, SourceMap, Span};
use std::sync::{Arc, LazyLock};
use user::UserDeclarations;
pub use user::add_files;
pub(super) use user::tokens as user_tokens;

/// What v1model cannot do, or this compiler not yet.
pub const NOT_ON_TARGET: Code = Code("LU-E0790");
/// The user's P4 around the dispatcher does not go with the rest of the program.
pub const USER_P4: Code = Code("LU-E0791");
/// The P4_16 program that was made is wrong: a mistake of ours.
pub const INTERNAL: Code = Code("LU-E0799");

/// What `plane explain` says about these codes.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: NOT_ON_TARGET,
        title: "the target cannot do this",
        text: "The reference interpreter runs it, but no P4_16 program for this target can do it. The \
               message says what would do instead.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: USER_P4,
        title: "P4 of yours that does not go with the rest of the program",
        text: "What `--p4-before` and `--p4-after` name is put into the program that the compiler makes. Its \
               names have to be others than those of the program, and its control `before` or `after` takes \
               `inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t \
               standard_metadata`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INTERNAL,
        title: "the compiler made a wrong P4_16 program",
        text: "This is a mistake in Planewright. The notes tell what the P4_16 checker found; please \
               report them with the program.",
        wrong: "",
        right: "",
    },
];

/// Names that the compiler declares in a program.
const OWN_NAMES: &[&str] = &[
    "standard_metadata",
    "hdr",
    "meta",
    "packet",
    "headers_t",
    "metadata_t",
    "lucid_t",
    "packet_parser",
    "ingress",
    "egress",
    "deparser",
    "verify_checksums",
    "compute_checksums",
    "before",
    "after",
    "configuration",
    "configure",
    "forward",
    "forward_to",
    "unreachable",
    "at_once",
    "known",
    "member",
    "at_switch",
    "lengths",
    "measure",
    "PLACE_HERE",
    "PLACE_SWITCH",
    "PLACE_PORT",
    "PLACE_GROUP",
    "PLACE_FLOOD",
    "PLACE_SWITCHES",
    "SOURCE",
    "RECIRCULATED",
    "ETHERTYPE_LUCID",
];

/// The interface that programs include.
const INTERFACE_FILE: &str = "v1model.p4";

static INTERFACE: LazyLock<TargetInterface> =
    LazyLock::new(|| TargetInterface::new(INTERFACE_FILE, OWN_NAMES));

/// Parameters of every control that the compiler writes, and of the user's.
pub(super) static PARAMETERS: LazyLock<String> =
    LazyLock::new(|| INTERFACE.parameters("Ingress", &["headers_t", "metadata_t"]));

/// A piece of the program and what it stands for.
pub(super) type Piece = (Span, String);

/// The program in the making, with what its parts have to know of each other.
pub(super) struct Context<'p> {
    pub(super) program: &'p Program,
    pub(super) options: &'p Options,
    pub(super) names: Names,
    pub(super) shapes: Shapes,
    pub(super) pieces: Vec<Piece>,
    pub(super) comments: Vec<(String, String)>,
    pub(super) found: Diagnostics,
    pub(super) port_groups: Vec<PortGroup>,
    pub(super) switch_groups: Vec<PortGroup>,
    pub(super) floods: bool,
    /// Whether an event leaves by a port, and may have others beside it.
    pub(super) mixes: bool,
    /// Whether an event is delayed.
    pub(super) delays: bool,
    /// Calculations, in the order in which they were written; with a polynomial if they are hashes.
    pub(super) calculations: Vec<Option<u32>>,
    pub(super) globals: Vec<GlobalPlace>,
    /// Names of the fields of the metadata that hold externs.
    pub(super) externs: Vec<String>,
    /// Control of each handler that has one: name, and whether it is of egress.
    pub(super) handlers: Vec<HandlerControl>,
    /// Whether a parser makes an event with a payload that is empty whatever the packet has.
    pub(super) empties_payload: bool,
}

/// The control of one or, where they share a table, several handlers.
pub(super) struct HandlerControl {
    pub(super) name: String,
    pub(super) events: Vec<EventId>,
    pub(super) egress: bool,
}

impl Context<'_> {
    /// Adds text of the program.
    pub(super) fn put(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
    }

    /// Says that the target cannot do something.
    pub(super) fn refuse(&mut self, span: Span, what: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::error(NOT_ON_TARGET, span, what).help(help));
    }

    /// What to write in front of a call of `hash`, so that [`calculations::name`] finds it.
    pub(super) fn calculation(&mut self, polynomial: Option<u32>) -> String {
        self.calculations.push(polynomial);
        let mark = calculations::MARK;
        format!("{mark}{}{mark}", self.calculations.len() - 1)
    }

    /// Whether some handler runs in egress.
    pub(super) fn has_egress_handlers(&self) -> bool {
        self.handlers.iter().any(|handler| handler.egress)
    }

    /// The register of an array, pair array or counter.
    pub(super) fn register(&self, global: GlobalId) -> Option<(Arc<str>, u32, bool)> {
        self.globals.iter().find_map(|place| match place {
            GlobalPlace::Register { global: of, name, cell_bits, is_pair } if *of == global => {
                Some((name.clone(), *cell_bits, *is_pair))
            }
            _ => None,
        })
    }

    /// The metadata field of an extern.
    pub(super) fn extern_field(&self, number: ExternId) -> &str {
        &self.externs[number.0 as usize]
    }
}

/// Compiles a program in normal form. The map has its sources.
///
/// # Errors
///
/// What the target cannot do; spans point into the map.
pub fn compile(
    program: &Program,
    mut map: SourceMap,
    options: &Options,
) -> Result<Compiled, Diagnostics> {
    let mut names = INTERFACE.names();
    let shapes = Shapes::new(program, &mut names);
    let mut metadata_names = Names::new(&[]);
    let externs =
        program.externs.iter().map(|one| metadata_names.fresh(&format!("extern_{}", one.name)));
    let externs = externs.collect();
    let mut context = Context {
        program,
        options,
        names,
        shapes,
        pieces: Vec::new(),
        comments: Vec::new(),
        found: Diagnostics::new(),
        port_groups: Vec::new(),
        switch_groups: Vec::new(),
        floods: false,
        mixes: false,
        delays: false,
        calculations: Vec::new(),
        globals: Vec::new(),
        externs,
        handlers: Vec::new(),
        empties_payload: false,
    };
    registers(&mut context);
    let registers = std::mem::take(&mut context.pieces);
    parsers::write(&mut context);
    let parser = std::mem::take(&mut context.pieces);
    handlers::write(&mut context);
    let handlers = std::mem::take(&mut context.pieces);
    scheduler::ingress::write(&mut context);
    scheduler::egress::write(&mut context);
    scheduler::deparser(&mut context);
    let scheduler = std::mem::take(&mut context.pieces);
    scheduler::constants(&mut context);
    shapes::write(&mut context);
    scheduler::metadata(&mut context);
    context.pieces.extend(registers);
    context.pieces.extend(parser);
    context.pieces.extend(handlers);
    let own = map.clone();
    let user = user::read(&mut context, &mut map);
    context.pieces.extend(scheduler);
    let hashes = calculations::name(&mut context);
    if context.found.has_errors() {
        return Err(context.found);
    }
    finish(context, (own, map), options, hashes, &user)
}

/// A register for each array, pair array and counter.
fn registers(context: &mut Context<'_>) {
    let program = context.program;
    for (at, global) in program.globals.iter().enumerate() {
        let id = GlobalId(at as u32);
        let (cell_bits, length, is_pair) = match &global.kind {
            GlobalKind::Array { width_bits, length } => (*width_bits, *length, false),
            GlobalKind::PairArray { width_bits, length } => (*width_bits, *length, true),
            GlobalKind::Counter { width_bits, .. } => (*width_bits, 1, false),
            GlobalKind::Table(_) => {
                context.globals.push(GlobalPlace::Absent(id));
                continue;
            }
        };
        let name = context.names.fresh(&global.name);
        let width_bits = if is_pair { 2 * cell_bits } else { cell_bits };
        context.put(global.span, format!("register<bit<{width_bits}>>({length}) {name};"));
        if *name != *global.name {
            context.comments.push((name.clone(), format!("{}", global.name)));
        }
        let name = Arc::from(name);
        context.globals.push(GlobalPlace::Register { global: id, name, cell_bits, is_pair });
    }
}

/// A builder of the program, with what has been written so far.
fn builder(context: &Context<'_>, map: SourceMap) -> ProgramBuilder {
    let mut builder = ProgramBuilder::new(map, &["core.p4", INTERFACE_FILE]);
    for (span, text) in &context.pieces {
        builder.put(*span, text);
    }
    builder
}

/// Reads and checks what was written. The maps are those without and with the user's P4.
fn finish(
    context: Context<'_>,
    (own, map): (SourceMap, SourceMap),
    options: &Options,
    hashes: Vec<(Arc<str>, u32)>,
    user: &UserDeclarations,
) -> Result<Compiled, Diagnostics> {
    let mut builder = ProgramBuilder::new(map, &["core.p4", INTERFACE_FILE]);
    for (declaration, text) in &context.comments {
        builder.comment(declaration, text.as_str());
    }
    for (number, (span, text)) in context.pieces.iter().enumerate() {
        if number == user.position {
            builder.put_tokens(&user.tokens);
        }
        builder.put(*span, text);
    }
    let built = builder.finish().map_err(|(wrong, _)| {
        let alone = Options { before: None, after: None, ..options.clone() };
        if !user.is_empty() && compile(context.program, own, &alone).is_ok() {
            return user.blamed(&wrong);
        }
        let text: String = context.pieces.iter().map(|(_, text)| format!("{text}\n")).collect();
        internal(&wrong, &text)
    })?;
    Ok(Compiled {
        probes: scheduler::probes::probes(&context),
        built,
        warnings: Diagnostics::new(),
        options: options.clone(),
        globals: context.globals,
        port_groups: context.port_groups,
        switch_groups: context.switch_groups,
        floods: context.floods,
        most_generated: context.shapes.slot_count,
        egress_values: false,
        mixes: context.mixes,
        delay_period_ps: match options.delay {
            Delay::Queue if context.delays => options.delay_period_ps,
            _ => 0,
        },
        hashes,
    })
}

/// The P4_16 checker does not take what was made.
fn internal(wrong: &Diagnostics, text: &str) -> Diagnostics {
    let mut found = Diagnostics::new();
    for one in wrong.iter() {
        let message = format!("the P4_16 program made of this is wrong: {}", one.message);
        let help = "this is a mistake in Planewright; please report it with the program";
        let diagnostic = Diagnostic::error(INTERNAL, one.primary.span, message).help(help);
        found.push(match one.primary.span.is_none() {
            true => diagnostic.note(text.to_string()),
            false => diagnostic,
        });
    }
    found
}

/// The number of a group among those that are known.
pub(super) fn group_number(known: &mut Vec<PortGroup>, group: PortGroup) -> u32 {
    let at = known.iter().position(|one| *one == group).unwrap_or_else(|| {
        known.push(group);
        known.len() - 1
    });
    at as u32
}
