// SPDX-License-Identifier: Apache-2.0
//! Codes of the type checker: `P4-E02xx` names and declarations, `P4-E03xx` types, `P4-E04xx`
//! expressions, `P4-E05xx` calls and instances, `P4-E06xx` statements, `P4-E07xx` parsers, `P4-E08xx`
//! tables and actions, `P4-E09xx` annotations; `P4-W..` likewise. Their explanations are in the files
//! beside.

pub mod calls;
pub mod expressions;
pub mod names;
pub mod statements;
pub mod tables;
pub mod types;

use source::{Code, Explanation};

/// Makes an explanation.
const fn explain(
    code: Code,
    title: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Explanation {
    Explanation { code, title, text, wrong, right }
}

macro_rules! codes {
    ($($(#[$documentation:meta])* $name:ident = $code:literal,)*) => {
        $($(#[$documentation])* pub const $name: Code = Code($code);)*

        /// All codes of the type checker.
        pub static ALL: &[Code] = &[$($name,)*];
    };
}

codes! {
    /// A name that nothing declares.
    NAME_NOT_FOUND = "P4-E0201",
    /// A name declared twice in one scope.
    DUPLICATE_NAME = "P4-E0202",
    /// A name of something else where a type is expected.
    NOT_A_TYPE = "P4-E0203",
    /// A type or state where a value is expected.
    NOT_A_VALUE = "P4-E0204",
    /// A member that the type does not have.
    NO_SUCH_MEMBER = "P4-E0205",
    /// A declaration that uses itself.
    RECURSIVE_DECLARATION = "P4-E0206",
    /// `main` that is no package.
    MAIN_NOT_PACKAGE = "P4-E0207",
    /// A declaration that may not stand at the top level or in a block.
    MISPLACED_DECLARATION = "P4-E0208",

    /// A value of one type where another is expected.
    TYPE_MISMATCH = "P4-E0301",
    /// A width that is negative, too large or not an integer.
    INVALID_WIDTH = "P4-E0302",
    /// A type that may not be part of another.
    INVALID_NESTING = "P4-E0303",
    /// Too many, too few or missing type arguments.
    TYPE_ARGUMENT_COUNT = "P4-E0304",
    /// A size of an array or stack that is negative or not an integer.
    INVALID_STACK_SIZE = "P4-E0305",
    /// An enum over a type that is not `bit<W>` or `int<W>`, or a member without a fitting value.
    INVALID_ENUM = "P4-E0306",
    /// `type` over a type that it cannot rename, or `typedef` likewise.
    INVALID_NEW_TYPE = "P4-E0307",
    /// A type argument that nothing determines.
    CANNOT_INFER = "P4-E0308",
    /// More than one `varbit` field in a header.
    SEVERAL_VARBITS = "P4-E0309",
    /// A type that a variable, constant, parameter or result cannot have.
    INVALID_VALUE_TYPE = "P4-E0310",

    /// An operator on a type that it is not defined for.
    INVALID_OPERAND = "P4-E0401",
    /// Operands whose types differ.
    OPERANDS_DIFFER = "P4-E0402",
    /// A value that has to be known at compile time and is not.
    NOT_CONSTANT = "P4-E0403",
    /// A division by zero or of negative numbers, or of numbers not known at compile time.
    INVALID_DIVISION = "P4-E0404",
    /// A shift by a negative or signed amount.
    INVALID_SHIFT = "P4-E0405",
    /// A slice outside of its base.
    INVALID_SLICE = "P4-E0406",
    /// A cast that does not exist.
    INVALID_CAST = "P4-E0407",
    /// An index outside of its base, or of something without elements.
    INVALID_INDEX = "P4-E0408",
    /// An assignment to something that cannot be assigned to.
    NOT_AN_L_VALUE = "P4-E0409",
    /// A condition that is not `bool`.
    CONDITION_NOT_BOOL = "P4-E0410",
    /// A field missing, unknown or given twice in `{...}`.
    INVALID_FIELDS = "P4-E0411",
    /// `...`, `default`, `_`, `{#}` or a set where it may not stand.
    MISPLACED_FORM = "P4-E0412",
    /// A number too large to handle.
    NUMBER_TOO_LARGE = "P4-E0413",
    /// `next`, `last` or `lastIndex` outside of a parser.
    STACK_CURSOR_OUTSIDE_PARSER = "P4-E0414",

    /// Arguments that do not fit the parameters in number.
    ARGUMENT_COUNT = "P4-E0501",
    /// Arguments by names that do not fit the parameters.
    ARGUMENT_NAMES = "P4-E0502",
    /// No overload, or several, fit the arguments.
    NO_MATCHING_OVERLOAD = "P4-E0503",
    /// A call of something that cannot be called.
    NOT_CALLABLE = "P4-E0504",
    /// A call at a place where it may not be.
    CALL_NOT_ALLOWED = "P4-E0505",
    /// An `out` or `inout` argument that cannot be written.
    ARGUMENT_NOT_L_VALUE = "P4-E0506",
    /// A parameter whose direction, type or default does not fit.
    INVALID_PARAMETER = "P4-E0507",
    /// An abstract method not implemented, or a function that implements none.
    ABSTRACT_METHOD = "P4-E0508",
    /// A type without instances, or not at this place.
    CANNOT_INSTANTIATE = "P4-E0509",
    /// A parser, control or package that does not fit the type it is passed as.
    BLOCK_TYPE_MISMATCH = "P4-E0510",
    /// A static assertion that fails.
    ASSERTION_FAILED = "P4-E0511",
    /// A constructor declared wrongly.
    INVALID_CONSTRUCTOR = "P4-E0512",
    /// A type that cannot be extracted, looked at ahead or emitted.
    INVALID_PACKET_TYPE = "P4-E0513",

    /// `return` without the value that the function needs or with one too many, or a path without `return`.
    INVALID_RETURN = "P4-E0601",
    /// A statement at a place where it may not be.
    MISPLACED_STATEMENT = "P4-E0602",
    /// `switch` on a type that it is not defined for.
    INVALID_SWITCH_SUBJECT = "P4-E0603",
    /// A label of a `switch` that is wrong, repeated or after `default`.
    INVALID_SWITCH_LABEL = "P4-E0604",
    /// `for ... in` over something without elements.
    INVALID_FOR_COLLECTION = "P4-E0605",

    /// A parser without a `start` state.
    NO_START_STATE = "P4-E0701",
    /// A state called `accept` or `reject`.
    RESERVED_STATE = "P4-E0702",
    /// A `select` on a type that it is not defined for.
    INVALID_SELECT_SUBJECT = "P4-E0703",
    /// A keyset that does not fit what it is compared with.
    INVALID_KEYSET = "P4-E0704",
    /// A transition to something that is no state.
    NOT_A_STATE = "P4-E0705",
    /// A parser whose states never reach `accept` or `reject`.
    PARSER_NEVER_ENDS = "P4-E0706",

    /// A table property that is unknown, repeated, misplaced or of the wrong type.
    INVALID_TABLE_PROPERTY = "P4-E0801",
    /// A key of a type that cannot be matched.
    INVALID_TABLE_KEY = "P4-E0802",
    /// A match kind that nothing declares.
    UNKNOWN_MATCH_KIND = "P4-E0803",
    /// An action that is not in the table's list.
    ACTION_NOT_IN_TABLE = "P4-E0804",
    /// Arguments of an action that do not fit a table.
    INVALID_ACTION_ARGUMENTS = "P4-E0805",
    /// An entry that does not fit its table.
    INVALID_ENTRY = "P4-E0806",
    /// A table without `actions`.
    MISSING_ACTIONS = "P4-E0807",

    /// An annotation whose body is wrong.
    INVALID_ANNOTATION = "P4-E0901",
    /// Two objects with one control-plane name.
    DUPLICATE_CONTROL_PLANE_NAME = "P4-E0902",

    /// A name that hides another.
    SHADOWED_NAME = "P4-W0201",
    /// A local declaration that nothing uses.
    UNUSED = "P4-W0202",
    /// Something marked `@deprecated` is used.
    DEPRECATED = "P4-W0203",
    /// A program for an architecture without `main`.
    MISSING_MAIN = "P4-W0204",
    /// A number that does not fit its type.
    VALUE_TRUNCATED = "P4-W0401",
    /// A comparison with only one outcome.
    CONSTANT_COMPARISON = "P4-W0402",
    /// A shift by the whole width or more.
    SHIFT_TOO_FAR = "P4-W0403",
    /// A variable or `out` parameter read before it is written.
    UNINITIALIZED_READ = "P4-W0404",
    /// An `out` parameter that is not written.
    OUT_NOT_WRITTEN = "P4-W0405",
    /// A field of a header that is not valid.
    INVALID_HEADER_READ = "P4-W0406",
    /// A variable or `out` parameter read where some path has not written it.
    MAYBE_UNINITIALIZED_READ = "P4-W0407",
    /// An `out` parameter that some path does not write.
    OUT_NOT_ALWAYS_WRITTEN = "P4-W0408",
    /// A statement that is never reached.
    UNREACHABLE_STATEMENT = "P4-W0601",
    /// A parser state that is never reached.
    UNREACHABLE_STATE = "P4-W0701",
    /// A case of `select` that is never taken.
    UNREACHABLE_CASE = "P4-W0702",
    /// A parser that can never accept.
    NEVER_ACCEPTS = "P4-W0703",
    /// An entry that is never used.
    UNREACHABLE_ENTRY = "P4-W0801",
    /// A table property that has no meaning.
    UNKNOWN_TABLE_PROPERTY = "P4-W0802",
    /// Several actions with one control-plane name.
    REPEATED_CONTROL_PLANE_NAME = "P4-W0901",
    /// A second `@name` of one object.
    FURTHER_NAME = "P4-W0902",
}
