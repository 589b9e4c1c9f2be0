// SPDX-License-Identifier: Apache-2.0
//! Schedules as JSON lines: one object a dispatch, events by name, integers beyond 64 bits as text.
//!
//! ```text
//! {"time_ps":600000,"switch":0,"port":196,"stage":"ingress","event":"count","args":[1],"cause":0,"draws":[]}
//! ```

use super::{Dispatch, Schedule};
use crate::interpreter::{EventValue, Group, Place, Value};
use crate::simulation::commands::{group_json, hexadecimal, json_number};
use crate::simulation::{Stage, codes};
use lucid::core::arithmetic::mask;
use lucid::core::{EventId, Program, Type};
use serde_json::{Value as Json, json};
use source::Code;
use std::fmt;
use std::sync::Arc;

/// A line that is no dispatch of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// From 1.
    pub line: usize,
    /// For people.
    pub message: String,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {} of the schedule: {}", self.line, self.message)
    }
}

impl std::error::Error for ScheduleError {}

impl ScheduleError {
    /// The code of all of them.
    pub fn code(&self) -> Code {
        codes::BAD_SCHEDULE
    }
}

const STAGES: [(&str, Stage); 3] =
    [("ingress", Stage::Ingress), ("egress", Stage::Egress), ("control", Stage::Control)];

fn value_to_json(program: &Program, value: &Value) -> Json {
    match value {
        Value::Int(value) => json_number(*value),
        Value::Bool(value) => json!(value),
        Value::Group(group) => group_json(group),
        Value::Payload(bytes) => json!(hexadecimal(bytes)),
        Value::Event(event) => {
            let place = match &event.place {
                Place::Here => Json::Null,
                Place::Switch(switch) => json!(switch),
                Place::Switches(group) => group_json(group),
            };
            json!({
                "event": event_name(program, event.event),
                "args": arguments_to_json(program, event),
                "delay_ns": event.delay_ns,
                "place": place,
            })
        }
    }
}

fn event_name(program: &Program, event: EventId) -> &str {
    program.events.get(event.0 as usize).map_or("", |event| event.name.as_ref())
}

fn arguments_to_json(program: &Program, event: &EventValue) -> Vec<Json> {
    event.arguments.iter().map(|value| value_to_json(program, value)).collect()
}

fn number(json: &Json) -> Option<u128> {
    match json {
        Json::Number(number) => number.as_u64().map(u128::from),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn group(json: &Json) -> Option<Group> {
    if let Some(port) = json.get("all_but") {
        return Some(Group::AllBut(u32::try_from(number(port)?).ok()?));
    }
    let member = |member: &Json| u32::try_from(number(member)?).ok();
    Some(Group::of(json.as_array()?.iter().map(member).collect::<Option<_>>()?))
}

fn value(program: &Program, json: &Json, ty: Type) -> Option<Value> {
    Some(match ty {
        Type::Int(width_bits) => {
            Value::Int(number(json).filter(|value| *value <= mask(width_bits))?)
        }
        Type::Bool => Value::Bool(json.as_bool()?),
        Type::Group => Value::Group(group(json)?),
        Type::Payload => {
            let text = json.as_str()?;
            let digits: Option<Vec<u8>> = (0..text.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
                .collect();
            Value::Payload(digits?.into())
        }
        Type::Event => {
            let mut event = event(program, json).ok()?;
            event.delay_ns = json.get("delay_ns")?.as_u64()?;
            event.place = match json.get("place")? {
                Json::Null => Place::Here,
                Json::Number(switch) => Place::Switch(u32::try_from(switch.as_u64()?).ok()?),
                other => Place::Switches(group(other)?),
            };
            Value::Event(Arc::new(event))
        }
    })
}

/// `event` and `args` of an object.
fn event(program: &Program, json: &Json) -> Result<EventValue, String> {
    let name = json.get("event").and_then(Json::as_str).ok_or("`event` should be a name")?;
    let found = program.events.iter().position(|event| event.name.as_ref() == name);
    let found = found.ok_or_else(|| format!("the program has no event `{name}`"))?;
    let parameters = &program.events[found].parameters;
    let given = json.get("args").and_then(Json::as_array).ok_or("`args` should be a list")?;
    if given.len() != parameters.len() {
        return Err(format!("`{name}` takes {} arguments", parameters.len()));
    }
    let mut arguments = Vec::with_capacity(given.len());
    for (json, parameter) in given.iter().zip(parameters) {
        let value = value(program, json, parameter.ty);
        arguments.push(value.ok_or_else(|| format!("{json} is no value of `{}`", parameter.name))?);
    }
    Ok(EventValue { event: EventId(found as u32), arguments, delay_ns: 0, place: Place::Here })
}

fn dispatch(program: &Program, line: &str) -> Result<Dispatch, String> {
    let json: Json = serde_json::from_str(line)
        .map_err(|error| format!("not JSON, at column {}", error.column().max(1)))?;
    let field = |name: &str| {
        let value = json.get(name).and_then(Json::as_u64);
        value.ok_or_else(|| format!("`{name}` should be a number"))
    };
    let small =
        |name: &str| u32::try_from(field(name)?).map_err(|_| format!("`{name}` is too large"));
    let stage = json.get("stage").and_then(Json::as_str).unwrap_or("ingress");
    let stage = STAGES.iter().find(|known| known.0 == stage);
    let (_, stage) = stage.ok_or("`stage` should be ingress, egress or control")?;
    let cause = match json.get("cause") {
        None | Some(Json::Null) => None,
        Some(_) => Some(field("cause")? as usize),
    };
    let draws = match json.get("draws") {
        None => Vec::new(),
        Some(draws) => {
            let draws = draws.as_array().map(|draws| draws.iter().map(number).collect());
            draws.flatten().ok_or("`draws` should be a list of numbers")?
        }
    };
    let dequeue_depth = match json.get("dequeue_depth") {
        None => 0,
        Some(_) => field("dequeue_depth")?,
    };
    Ok(Dispatch {
        time_ps: field("time_ps")?,
        switch: small("switch")?,
        port: small("port")?,
        stage: *stage,
        event: Arc::new(event(program, &json)?),
        cause,
        draws,
        dequeue_depth,
    })
}

impl Dispatch {
    /// As one line, without its end.
    pub fn to_json(&self, program: &Program) -> String {
        let stage = STAGES.iter().find(|known| known.1 == self.stage).map_or("", |known| known.0);
        let draws: Vec<Json> = self.draws.iter().map(|draw| json_number(*draw)).collect();
        let mut object = json!({
            "time_ps": self.time_ps,
            "switch": self.switch,
            "port": self.port,
            "stage": stage,
            "event": event_name(program, self.event.event),
            "args": arguments_to_json(program, &self.event),
            "cause": self.cause,
            "draws": draws,
        });
        if self.dequeue_depth != 0 {
            object["dequeue_depth"] = json!(self.dequeue_depth);
        }
        object.to_string()
    }
}

impl Schedule {
    /// As JSON lines.
    pub fn to_json_lines(&self, program: &Program) -> String {
        self.dispatches.iter().map(|dispatch| dispatch.to_json(program) + "\n").collect()
    }

    /// Reads JSON lines; empty lines do not count.
    pub fn from_json_lines(program: &Program, text: &str) -> Result<Schedule, ScheduleError> {
        let mut dispatches = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match dispatch(program, line) {
                Ok(dispatch) => dispatches.push(dispatch),
                Err(message) => return Err(ScheduleError { line: at + 1, message }),
            }
        }
        Ok(Schedule { dispatches })
    }
}
