// SPDX-License-Identifier: Apache-2.0
//! Signatures of the built-in functions, in the paper's spellings too, and types of the built-in values.

use super::Checker;
use super::checked::{Builtin, Size, TableType, Type};

/// The type of a built-in function at one call.
pub(super) struct BuiltinType {
    /// The name of each argument in messages, and its type.
    pub parameters: Vec<(&'static str, Type)>,
    pub result: Type,
    /// The numbers of arguments that there is a form for, in words, if not `parameters.len()`.
    pub takes: Option<&'static str>,
}

impl Checker {
    /// The type of a built-in function called with `count` arguments; `None` if it is no function.
    pub(super) fn builtin_type_of(
        &mut self,
        builtin: Builtin,
        given: usize,
    ) -> Option<BuiltinType> {
        let variables = &mut self.variables;
        let width = variables.fresh_size();
        let cell = Type::Int(width.clone());
        let array = Type::Array(width.clone());
        let memop = |arguments: usize| Type::Memop { arguments, width: width.clone() };
        let mut takes = None;
        let (parameters, result) = match builtin {
            Builtin::ArrayCreate => (vec![("the number of cells", variables.fresh_int())], array),
            Builtin::PairArrayCreate => {
                let pairs = Type::PairArray(width.clone());
                (vec![("the number of pairs", variables.fresh_int())], pairs)
            }
            Builtin::CounterCreate => {
                (vec![("the initial value", cell)], Type::Counter(width.clone()))
            }
            Builtin::CounterAdd => {
                let counter = Type::Counter(width.clone());
                (vec![("the counter", counter), ("the number to add", cell.clone())], cell)
            }
            // With a memop, `get` is `getm` and `set` is `setm` (Lucid §4.2).
            Builtin::ArrayGet | Builtin::ArrayGetm | Builtin::ArraySet | Builtin::ArraySetm => {
                let mut parameters =
                    vec![("the array", array), ("the index", variables.fresh_int())];
                let plain = match builtin {
                    Builtin::ArrayGet => Some(2),
                    Builtin::ArraySet => Some(3),
                    _ => None,
                };
                match builtin {
                    Builtin::ArrayGet => {
                        takes = Some("an array and an index (or, with a memop, four arguments)");
                    }
                    Builtin::ArraySet => {
                        takes = Some(
                            "an array, an index and a value (or, with a memop, four arguments)",
                        );
                    }
                    _ => {}
                }
                if plain.is_none() || given == 4 {
                    parameters.push(("the memop", memop(2)));
                    parameters.push(("the memop's argument", cell.clone()));
                } else if builtin == Builtin::ArraySet {
                    parameters.push(("the value", cell.clone()));
                }
                // What is written may be taken for the old value, as in the reference.
                (parameters, cell)
            }
            Builtin::ArrayUpdate => (
                vec![
                    ("the array", array),
                    ("the index", variables.fresh_int()),
                    ("the memop that reads", memop(2)),
                    ("its argument", cell.clone()),
                    ("the memop that writes", memop(2)),
                    ("its argument", cell.clone()),
                ],
                cell,
            ),
            Builtin::ArrayUpdateComplex | Builtin::PairArrayUpdate => {
                let (of, arguments) = match builtin {
                    Builtin::ArrayUpdateComplex => (array, 3),
                    _ => (Type::PairArray(width.clone()), 4),
                };
                let parameters = vec![
                    ("the array", of),
                    ("the index", variables.fresh_int()),
                    ("the memop", memop(arguments)),
                    ("the first argument", cell.clone()),
                    ("the second argument", cell.clone()),
                    ("the default", cell.clone()),
                ];
                (parameters, cell)
            }
            Builtin::TableCreate
            | Builtin::TableLookup
            | Builtin::TableInstall
            | Builtin::TableInstallTernary => {
                let table = TableType {
                    key: variables.fresh_type(),
                    install: variables.fresh_type(),
                    argument: variables.fresh_type(),
                    result: variables.fresh_type(),
                };
                let action = Type::Action(Box::new(table.clone()));
                let of = Type::Table(Box::new(table.clone()));
                match builtin {
                    Builtin::TableCreate => {
                        // The list of actions is checked apart: it may be a vector or a tuple.
                        let parameters = vec![
                            ("the number of entries", variables.fresh_int()),
                            ("the actions", action.clone()),
                            ("the default action", action),
                            ("the default action's argument", table.install),
                        ];
                        (parameters, of)
                    }
                    Builtin::TableLookup => {
                        let parameters = vec![
                            ("the table", of),
                            ("the key", table.key),
                            ("the argument", table.argument),
                        ];
                        (parameters, table.result)
                    }
                    _ => {
                        let mut parameters =
                            vec![("the table", of), ("the key", table.key.clone())];
                        if builtin == Builtin::TableInstallTernary {
                            parameters.push(("the mask", table.key));
                        }
                        parameters.push(("the action", action));
                        parameters.push(("the action's argument", table.install));
                        (parameters, Type::Void)
                    }
                }
            }
            Builtin::EventDelay => {
                let delay = Type::Int(Size::constant(32));
                (vec![("the event", Type::Event), ("the delay in nanoseconds", delay)], Type::Event)
            }
            Builtin::EventLocate => (
                vec![("the event", Type::Event), ("the switch", variables.fresh_int())],
                Type::Event,
            ),
            Builtin::EventLocateMany => {
                (vec![("the event", Type::Event), ("the switches", Type::Group)], Type::Event)
            }
            Builtin::SysTime | Builtin::SysRandom => (Vec::new(), Type::Int(Size::constant(32))),
            Builtin::SysDequeueDepth => (Vec::new(), cell),
            Builtin::PayloadEmpty => (Vec::new(), Type::Payload),
            Builtin::PayloadParse => (vec![("the packet", Type::Bitstring)], Type::Payload),
            Builtin::SelfSwitch
            | Builtin::This
            | Builtin::IngressPort
            | Builtin::RecirculationPort
            | Builtin::LucidEtherType
            | Builtin::Checksum
            | Builtin::LucidParser
            | Builtin::Cell1
            | Builtin::Cell2 => return None,
        };
        Some(BuiltinType { parameters, result, takes })
    }

    /// The type of a built-in value. The width of ports follows from their use, because targets differ.
    pub(super) fn builtin_value_type(&mut self, builtin: Builtin) -> Option<Type> {
        match builtin {
            Builtin::SelfSwitch | Builtin::RecirculationPort | Builtin::Checksum => {
                Some(Type::Int(Size::constant(32)))
            }
            Builtin::IngressPort => Some(self.variables.fresh_int()),
            Builtin::LucidEtherType => Some(Type::Int(Size::constant(16))),
            Builtin::This => Some(Type::Event),
            _ => None,
        }
    }
}
