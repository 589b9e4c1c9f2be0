// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of accesses out of order: both places, where each is declared, the two accesses with the
//! calls that lead to them, and corrections. `body_check` finds the violations.

use super::Order;
use super::codes;
use super::effect::{Access, AccessSite, Link, OrderConstraint, Reason};
use super::place::{Base, Place, Relation, Step};
use super::violation::{Owner, Violation, ViolationKind};
use source::{Diagnostic, Span};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// Limit of shown accesses that need an order.
const MAX_SHOWN_NEEDS: usize = 3;

/// The verb phrase of an access in a message, after "handler h".
fn deed(access: &Access, name: &str) -> String {
    match access {
        Access::Read => format!("reads {name}"),
        Access::Write => format!("writes {name}"),
        Access::Update => format!("updates {name}"),
        Access::Count => format!("adds to {name}"),
        Access::LookUp => format!("looks up in {name}"),
        Access::Install => format!("installs into {name}"),
        Access::Opaque(function) => format!("calls {function} on {name}"),
        Access::Declared => format!("requires {name}"),
    }
}

/// The same as a label at the access.
fn deed_here(access: &Access, name: &str) -> String {
    match access {
        Access::Read => format!("{name} is read here"),
        Access::Write => format!("{name} is written here"),
        Access::Update => format!("{name} is updated here"),
        Access::Count => format!("{name} is added to here"),
        Access::LookUp => format!("{name} is looked up in here"),
        Access::Install => format!("an entry is installed into {name} here"),
        Access::Opaque(function) => format!("{function} works on {name} here"),
        Access::Declared => format!("{name} is required here"),
    }
}

/// An access as the end of a sentence, with the first call that leads to it.
fn access_clause(site: &AccessSite, name: &str) -> String {
    match &site.calls {
        None => deed(&site.access, name),
        Some(link) => format!("calls {}, which {}", link.function, deed(&site.access, name)),
    }
}

/// The arguments for the names of a constraint at a call.
fn stand_for(names: &[(&str, &str)]) -> String {
    let renamed = names.iter().filter(|(name, place)| name != place);
    let renamed: Vec<String> = renamed.map(|(name, place)| format!("{name} is {place}")).collect();
    renamed.join(" and ")
}

fn links(calls: &Option<Rc<Link>>) -> impl Iterator<Item = &Link> {
    std::iter::successors(calls.as_deref(), |link| link.next.as_deref())
}

impl Order<'_> {
    /// A place as a user would write it.
    pub(crate) fn show(&self, place: &Place) -> String {
        let mut text = match place.base {
            Base::Start => "start".to_owned(),
            Base::Global(number) => self.index.globals[number as usize].name.to_string(),
            Base::Parameter(id) => match self.program.binders.get(&id) {
                Some(binder) => binder.name.to_string(),
                None => "?".to_owned(),
            },
        };
        for step in &place.steps {
            match step {
                Step::Field { label, .. } => {
                    text.push('#');
                    text.push_str(label);
                }
                Step::Element(index) => {
                    text.push('[');
                    text.push_str(&self.program.show_size(index));
                    text.push(']');
                }
            }
        }
        text
    }

    /// Where the beginning of a place is declared.
    fn declared(&self, place: &Place) -> Option<Span> {
        match place.base {
            Base::Start => None,
            Base::Global(number) => Some(self.index.globals[number as usize].span),
            Base::Parameter(id) => self.program.binders.get(&id).map(|binder| binder.span),
        }
    }

    /// Labels at the declarations of two places.
    fn at_declarations(&self, diagnostic: Diagnostic, one: &Place, other: &Place) -> Diagnostic {
        let mut diagnostic = diagnostic;
        if one.base == other.base {
            if let Some(span) = self.declared(one) {
                let name = self.show(&Place::whole(one.base));
                diagnostic = diagnostic.label(span, format!("{name} is declared here"));
            }
            // The fields where the two part.
            for (one, other) in one.steps.iter().zip(&other.steps) {
                if one == other {
                    continue;
                }
                for step in [one, other] {
                    if let Step::Field { label, declared, .. } = step
                        && !declared.is_none()
                    {
                        diagnostic = diagnostic.label(*declared, format!("field {label}"));
                    }
                }
                break;
            }
            return diagnostic;
        }
        for place in [one, other] {
            if let Some(span) = self.declared(place) {
                let whole = self.show(&Place::whole(place.base));
                let text = match place.base {
                    Base::Parameter(_) => format!("{whole} is a parameter"),
                    _ => format!("{whole} is declared here"),
                };
                diagnostic = diagnostic.label(span, text);
            }
        }
        diagnostic
    }

    /// Labels inside the functions that an access was reached through, and how it was reached.
    fn label_calls(
        &self,
        diagnostic: Diagnostic,
        who: &str,
        site: &AccessSite,
        name: &str,
    ) -> Diagnostic {
        if site.calls.is_none() {
            return diagnostic;
        }
        let mut diagnostic = diagnostic.label(site.span, deed_here(&site.access, name));
        let functions: Vec<&str> = links(&site.calls).map(|link| &*link.function).collect();
        if functions.len() > 1 {
            for link in links(&site.calls).skip(1) {
                diagnostic =
                    diagnostic.label(link.span, format!("{} is called here", link.function));
            }
            let path = functions.join(", which calls ");
            let deed = deed(&site.access, name);
            diagnostic = diagnostic.note(format!("{who} calls {path}, which {deed}"));
        }
        diagnostic
    }

    /// The diagnostic of a violation.
    pub(crate) fn describe(&self, violation: &Violation) -> Diagnostic {
        match &violation.demand.reason {
            Reason::Sequence { first, second, next_round } => {
                self.describe_sequence(violation, first, second, *next_round)
            }
            Reason::Declared { .. } => self.describe_declared(violation),
        }
    }

    fn describe_sequence(
        &self,
        violation: &Violation,
        first: &AccessSite,
        second: &AccessSite,
        next_round: bool,
    ) -> Diagnostic {
        let Violation { who, demand: OrderConstraint { before, after, .. }, kind, .. } = violation;
        let (one, two) = (self.show(before), self.show(after));
        // A site can only be behind itself in a later round of a loop: the same access by the same calls.
        let next_round = next_round || first == second;
        let same_call = match (&first.calls, &second.calls) {
            (Some(one), Some(two)) => one.span == two.span && one.function == two.function,
            _ => false,
        };
        let again = matches!(kind, ViolationKind::Repeated) && one == two;
        let two_named = if again { "it" } else { &*two };
        let mut deeds = match (same_call, next_round) {
            (true, false) => {
                format!(
                    "{} and then {}",
                    access_clause(first, &one),
                    deed(&second.access, two_named)
                )
            }
            (_, true) => format!(
                "{}{} in the next round of a loop {}",
                access_clause(first, &one),
                if first.calls.is_some() { ", and" } else { " and" },
                access_clause(second, two_named)
            ),
            (false, false) => format!(
                "{}{} then {}",
                access_clause(first, &one),
                if first.calls.is_some() { ", and" } else { " and" },
                access_clause(second, two_named)
            ),
        };
        if again {
            deeds.push_str(" again");
        }
        let why = match kind {
            ViolationKind::Reversed if before.base != after.base => {
                format!("but {} is declared first", self.show(&Place::whole(after.base)))
            }
            ViolationKind::Reversed => format!("but {two} comes first"),
            ViolationKind::Repeated if again => "but one pass can access it only once".to_owned(),
            ViolationKind::Repeated => match before.relation(after) {
                Relation::Within => format!("but {one} is a part of it that has been passed"),
                _ => format!("but {two} is a part of {one}, which has been passed"),
            },
            ViolationKind::Unclear => format!("and the check cannot show that {two} comes later"),
            ViolationKind::Undeclared => {
                format!("but no constraint states that {one} comes before {two}")
            }
            ViolationKind::Contradiction(_) => format!("but it needs {two} to come before {one}"),
        };
        let code = match kind {
            ViolationKind::Reversed => codes::DISORDER,
            ViolationKind::Repeated | ViolationKind::Unclear => codes::REPEATED,
            ViolationKind::Undeclared => codes::UNDECLARED,
            ViolationKind::Contradiction(_) => codes::CONTRADICTION,
        };
        let at_second = match &second.calls {
            None => deed_here(&second.access, &two),
            Some(_) if same_call => format!("{two} after {one} in this call"),
            Some(link) => format!("{} {}", link.function, deed(&second.access, &two)),
        };
        let mut diagnostic =
            Diagnostic::error(code, second.outer(), format!("{who} {deeds}, {why}"))
                .here(at_second);
        if first.outer() != second.outer() {
            let text = match &first.calls {
                None => deed_here(&first.access, &one),
                Some(link) => format!("{} {}", link.function, deed(&first.access, &one)),
            };
            diagnostic = diagnostic.label(first.outer(), text);
        }
        diagnostic = self.label_calls(diagnostic, who, first, &one);
        diagnostic = self.label_calls(diagnostic, who, second, &two);
        diagnostic = self.at_declarations(diagnostic, before, after);
        self.advice(diagnostic, violation, &one, &two, Some((first, second, next_round)))
    }

    fn describe_declared(&self, violation: &Violation) -> Diagnostic {
        let Violation { who, demand, kind, .. } = violation;
        let Reason::Declared { who: asks, names, constraint, site, of_event, .. } = &demand.reason
        else {
            // Only called for these.
            return Diagnostic::error(codes::CONSTRAINT, Span::NONE, "a constraint does not hold");
        };
        let (one, two) = (self.show(&demand.before), self.show(&demand.after));
        let sign = if demand.strict { "<" } else { "<=" };
        let asked = format!("{} {sign} {}", names.0, names.1);
        let why = match kind {
            ViolationKind::Reversed if demand.before.base != demand.after.base => {
                format!("{} is declared first", self.show(&Place::whole(demand.after.base)))
            }
            ViolationKind::Reversed => format!("{two} comes first"),
            ViolationKind::Repeated if one == two => format!("both are {one}"),
            ViolationKind::Repeated => format!("one of {one} and {two} is a part of the other"),
            ViolationKind::Unclear => format!("the check cannot show that {two} comes after {one}"),
            ViolationKind::Undeclared => {
                format!("no constraint states that {one} comes before {two}")
            }
            ViolationKind::Contradiction(_) => format!("it needs {two} to come before {one}"),
        };
        let code = match kind {
            ViolationKind::Undeclared => codes::UNDECLARED,
            ViolationKind::Contradiction(_) => codes::CONTRADICTION,
            _ => codes::ARGUMENTS,
        };
        let diagnostic = match site {
            None => {
                Diagnostic::error(code, *constraint, format!("{asks} requires {asked}, but {why}"))
            }
            Some((span, calls)) => {
                let outer = calls.as_ref().map_or(*span, |link| link.span);
                let verb = if *of_event { "makes" } else { "calls" };
                let through = match calls {
                    None => format!("{who} {verb} {asks} with {one} and {two}"),
                    Some(link) => format!(
                        "{who} calls {}, which {verb} {asks} with {one} and {two}",
                        link.function
                    ),
                };
                let mut diagnostic = Diagnostic::error(
                    code,
                    outer,
                    format!("{through}, but it requires {asked}, and {why}"),
                )
                .here(stand_for(&[(&names.0, &one), (&names.1, &two)]));
                for link in links(calls).skip(1) {
                    diagnostic =
                        diagnostic.label(link.span, format!("{} is called here", link.function));
                }
                if calls.is_some() {
                    let text = if *of_event { "the event is made here" } else { "called here" };
                    diagnostic = diagnostic.label(*span, text);
                }
                diagnostic.label(*constraint, "this constraint requires the order")
            }
        };
        let diagnostic = self.at_declarations(diagnostic, &demand.before, &demand.after);
        self.advice(diagnostic, violation, &one, &two, None)
    }

    /// The accesses that need one global before another, through others if there are any between:
    /// which two globals, who, and where. Empty if nothing needs it.
    fn needed_order(&self, earlier: u32, later: u32) -> Vec<((u32, u32), Arc<str>, Span)> {
        let mut from: BTreeMap<u32, u32> = BTreeMap::new();
        let mut work = VecDeque::from([earlier]);
        while let Some(number) = work.pop_front() {
            for next in self.witnesses.get(&number).into_iter().flat_map(BTreeMap::keys) {
                if *next <= later && !from.contains_key(next) {
                    from.insert(*next, number);
                    work.push_back(*next);
                }
            }
        }
        let mut needed = Vec::new();
        let mut at = later;
        while at != earlier {
            let Some(before) = from.get(&at) else { return Vec::new() };
            let (who, span) = &self.witnesses[before][&at];
            needed.push(((*before, at), who.clone(), *span));
            at = *before;
        }
        needed.reverse();
        needed
    }

    /// Adds the help to a violation's diagnostic.
    fn advice(
        &self,
        diagnostic: Diagnostic,
        violation: &Violation,
        one: &str,
        two: &str,
        accesses: Option<(&AccessSite, &AccessSite, bool)>,
    ) -> Diagnostic {
        let Violation { demand: OrderConstraint { before, after, .. }, kind, owner, .. } =
            violation;
        let mut diagnostic = diagnostic;
        match kind {
            ViolationKind::Reversed => {
                let mut advice = Vec::new();
                let parting = before.steps.iter().zip(&after.steps).find(|(one, two)| one != two);
                if let (Base::Global(later), Base::Global(earlier)) = (before.base, after.base)
                    && later != earlier
                {
                    let (later_name, earlier_name) = (
                        self.show(&Place::whole(before.base)),
                        self.show(&Place::whole(after.base)),
                    );
                    let needed = self.needed_order(earlier, later);
                    for (_, who, span) in needed.iter().take(MAX_SHOWN_NEEDS) {
                        diagnostic = diagnostic.label(*span, format!("{who} needs this order"));
                    }
                    if needed.is_empty() {
                        advice.push(format!("declare {later_name} before {earlier_name}"));
                    } else {
                        let mut needs: Vec<String> = needed
                            .iter()
                            .take(MAX_SHOWN_NEEDS)
                            .map(|((one, two), who, _)| {
                                let name = |number: u32| &self.index.globals[number as usize].name;
                                format!("{who} accesses {} before {}", name(*one), name(*two))
                            })
                            .collect();
                        if needed.len() > MAX_SHOWN_NEEDS {
                            needs.push(format!("so on up to {later_name}"));
                        }
                        diagnostic = diagnostic.note(format!(
                            "declaring {later_name} before {earlier_name} would not help: {}",
                            needs.join(", and ")
                        ));
                    }
                } else if let Some((Step::Field { label: later, .. }, Step::Field { label, .. })) =
                    parting
                {
                    advice.push(format!("declare field {later} before field {label}"));
                }
                match accesses {
                    Some((_, _, true)) => advice.push(
                        "generate an event for each round that accesses its part in a further pass"
                            .to_owned(),
                    ),
                    Some(_) => {
                        advice.push(format!("access {two} before {one}"));
                        advice.push(format!(
                            "generate an event that accesses {two} in a further pass"
                        ));
                    }
                    None => advice
                        .push("pass the globals in the order of their declarations".to_owned()),
                }
                for (at, text) in advice.into_iter().enumerate() {
                    diagnostic = diagnostic.help(if at == 0 { text } else { format!("or {text}") });
                }
            }
            ViolationKind::Repeated | ViolationKind::Unclear => {
                let one_array = accesses.filter(|(first, second, next_round)| {
                    one == two
                        && !next_round
                        && matches!(
                            (&first.access, &second.access),
                            (Access::Read, Access::Write) | (Access::Write, Access::Read)
                        )
                });
                if one_array.is_some() {
                    diagnostic = diagnostic.help(
                        "read and write the cell in one access with Array.update, if both are at \
                         the same index",
                    );
                }
                diagnostic = match accesses {
                    Some((_, _, true)) => diagnostic.help(
                        "use another element of a vector of globals in each round, or generate an \
                         event for each round",
                    ),
                    Some(_) => diagnostic.help(format!(
                        "generate an event that accesses {two} in a further pass, or declare a \
                         second global"
                    )),
                    None => diagnostic.help("pass different globals"),
                };
            }
            ViolationKind::Undeclared => {
                let names =
                    (self.show(&Place::whole(before.base)), self.show(&Place::whole(after.base)));
                diagnostic = diagnostic.note(
                    "an event may be made with any globals that its constraints allow, so its \
                     handler may rely on nothing else",
                );
                let event = match owner {
                    Owner::Handler { event: Some(event) } => self.index.events.get(event),
                    _ => None,
                };
                diagnostic = diagnostic.help(match event {
                    Some(event) => {
                        format!(
                            "declare it: `event {}(...)[{} < {}];`",
                            event.name, names.0, names.1
                        )
                    }
                    None => format!("declare the constraint `{} < {}`", names.0, names.1),
                });
            }
            ViolationKind::Contradiction(path) => {
                for demand in path {
                    let (one, two) = (self.show(&demand.before), self.show(&demand.after));
                    diagnostic = match &demand.reason {
                        Reason::Sequence { second, .. } => diagnostic.label(
                            second.outer(),
                            format!("{one} has to come before {two} for this"),
                        ),
                        Reason::Declared { constraint, .. } => diagnostic
                            .label(*constraint, format!("{one} has to come before {two} by this")),
                    };
                }
                diagnostic = diagnostic
                    .note("no globals can satisfy both orders")
                    .help("access each global once, in one order on all paths");
            }
        }
        diagnostic
    }
}
