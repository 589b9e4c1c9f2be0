// SPDX-License-Identifier: Apache-2.0
//! Explanations of the codes about tables, actions, annotations and control-plane names.

use super::explain;
use source::Explanation;

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    explain(
        super::INVALID_TABLE_PROPERTY,
        "a table property that is repeated, misplaced or of the wrong type",
        "`key`, `actions`, `default_action`, `entries` and `size` are given once; the default action comes \
         after the actions, the entries after the key (P4_16 v1.2.5 §14.2.1).",
        "control c() {\n    action a() { }\n    table t {\n        default_action = a;\n        actions = { a; }\n    }\n    \
         apply { t.apply(); }\n}\n",
        "control c() {\n    action a() { }\n    table t {\n        actions = { a; }\n        default_action = a;\n    }\n    \
         apply { t.apply(); }\n}\n",
    ),
    explain(
        super::UNKNOWN_TABLE_PROPERTY,
        "a table property that has no meaning",
        "Tables may have properties that an architecture defines (P4_16 v1.2.5 §14.2.1). None defines this \
         one, so it has no effect; perhaps it is misspelt.",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        actions = { NoAction; }\n        \
         defualt_action = NoAction;\n    }\n    apply { t.apply(); }\n}\n",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        actions = { NoAction; }\n        \
         default_action = NoAction;\n    }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::INVALID_TABLE_KEY,
        "a key that cannot be matched or has no name",
        "Keys are numbers, `bool`, enums, errors and `varbit`. A key that is computed needs a `@name` for \
         the control plane (P4_16 v1.2.5 §14.2.1.1, §18.3.1.3).",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        key = { x + 1 : exact; }\n        \
         actions = { NoAction; }\n    }\n    apply { t.apply(); }\n}\n",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        \
         key = { x + 1 : exact @name(\"next\"); }\n        actions = { NoAction; }\n    }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::UNKNOWN_MATCH_KIND,
        "a match kind that nothing declares",
        "core.p4 declares `exact`, `lpm` and `ternary`; architectures declare more, such as `range` and \
         `optional` (P4_16 v1.2.5 §7.1.3).",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        key = { x : prefix; }\n        \
         actions = { NoAction; }\n    }\n    apply { t.apply(); }\n}\n",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        key = { x : lpm; }\n        \
         actions = { NoAction; }\n    }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::ACTION_NOT_IN_TABLE,
        "an action that is not in the table's list",
        "The default action and the actions of entries come from the table's `actions` (P4_16 v1.2.5 \
         §14.2.1.3).",
        "control c() {\n    action a() { }\n    action b() { }\n    table t {\n        actions = { a; }\n        \
         default_action = b;\n    }\n    apply { t.apply(); b(); }\n}\n",
        "control c() {\n    action a() { }\n    action b() { }\n    table t {\n        actions = { a; b; }\n        \
         default_action = b;\n    }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::INVALID_ACTION_ARGUMENTS,
        "arguments of an action that do not fit a table",
        "In `actions`, parameters with a direction are bound and the others are left to the control \
         plane; as a default or in an entry all have arguments (P4_16 v1.2.5 §14.2.1.2).",
        "control c(inout bit<8> x) {\n    action a(bit<8> data) { x = data; }\n    table t {\n        \
         actions = { a(1); }\n    }\n    apply { t.apply(); }\n}\n",
        "control c(inout bit<8> x) {\n    action a(bit<8> data) { x = data; }\n    table t {\n        \
         actions = { a; }\n        default_action = a(1);\n    }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::INVALID_ENTRY,
        "an entry that does not fit its table",
        "An `exact` key takes single values; `lpm` takes masks of ones followed by zeros; ranges are for \
         `range`; priorities are for tables whose entries could match alike (P4_16 v1.2.5 §14.2.1.4).",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        key = { x : exact; }\n        \
         actions = { NoAction; }\n        const entries = { 1 &&& 3 : NoAction; }\n    }\n    apply { t.apply(); }\n}\n",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        key = { x : ternary; }\n        \
         actions = { NoAction; }\n        const entries = { 1 &&& 3 : NoAction; }\n    }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::MISSING_ACTIONS,
        "a table without `actions`",
        "Every table lists the actions it can run; the list may be empty (P4_16 v1.2.5 §14.2).",
        "control c() {\n    table t { size = 4; }\n    apply { t.apply(); }\n}\n",
        "control c() {\n    table t { actions = { } size = 4; }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::UNREACHABLE_ENTRY,
        "an entry that is never used",
        "An earlier entry of the `const` list has the same keys and is found first (P4_16 v1.2.5 \
         §14.2.1.4).",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        key = { x : ternary; }\n        \
         actions = { NoAction; }\n        const entries = { 1 : NoAction; 1 : NoAction; }\n    }\n    \
         apply { t.apply(); }\n}\n",
        "#include <core.p4>\ncontrol c(inout bit<8> x) {\n    table t {\n        key = { x : ternary; }\n        \
         actions = { NoAction; }\n        const entries = { 1 : NoAction; 2 : NoAction; }\n    }\n    \
         apply { t.apply(); }\n}\n",
    ),
    explain(
        super::FURTHER_NAME,
        "a second `@name` of one object",
        "An object has one name for the control plane, so at most one `@name` (P4_16 v1.2.5 §18.3.2). The \
         first one counts.",
        "control c() {\n    @name(\"a\") @name(\"b\") action act() { }\n    apply { act(); }\n}\n",
        "control c() {\n    @name(\"a\") action act() { }\n    apply { act(); }\n}\n",
    ),
    explain(
        super::INVALID_ANNOTATION,
        "an annotation whose body is wrong",
        "`@name`, `@deprecated` and `@noWarn` take one string; `@hidden`, `@optional` and others take \
         nothing; values in `@name[...]` are constant numbers, strings and `bool`s (P4_16 v1.2.5 §20).",
        "@name(5) action a() { }\n",
        "@name(\"five\") action a() { }\n",
    ),
    explain(
        super::DUPLICATE_CONTROL_PLANE_NAME,
        "two objects with one control-plane name",
        "The control plane names tables, actions and value sets by their full names, which `@name` can \
         change; a name that starts with a dot is complete as it is (P4_16 v1.2.5 §18.3).",
        "control c() {\n    @name(\".go\") action a() { }\n    @name(\".go\") action b() { }\n    apply { a(); b(); }\n}\n",
        "control c() {\n    @name(\".go\") action a() { }\n    @name(\".stay\") action b() { }\n    apply { a(); b(); }\n}\n",
    ),
    explain(
        super::REPEATED_CONTROL_PLANE_NAME,
        "several actions with one control-plane name",
        "Actions of the same name in two controls have the same complete `@name`, as in programs \
         translated from P4_14. A control plane that looks actions up by name reaches only one of them (P4_16 v1.2.5 \
         §18.3).",
        "control c() {\n    @name(\".go\") action a() { }\n    apply { a(); }\n}\n\
         control d() {\n    @name(\".go\") action a() { }\n    apply { a(); }\n}\n",
        "control c() {\n    action a() { }\n    apply { a(); }\n}\ncontrol d() {\n    action a() { }\n    apply { a(); }\n}\n",
    ),
];
