// SPDX-License-Identifier: Apache-2.0
//! The stable diagnostic codes of P4R with their explanations: `R-E01xx` declarations and uses of malleables, `R-E02xx`
//! reactions and their arguments, `R-W..` likewise.

use source::{Code, Explanation};

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $text:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($code);)*

        /// The explanations of P4R's codes.
        pub static EXPLANATIONS: &[Explanation] = &[
            $(Explanation { code: $name, title: $title, text: $text, wrong: "", right: "" },)*
        ];
    };
}

codes! {
    DUPLICATE = "R-E0101", "Two malleables or reactions have one name",
        "Malleable values, malleable fields and reactions share one name space with each other. Give one of them another name.";
    WRONG_TYPE = "R-E0102", "The type of a malleable is not one that it can have",
        "A malleable value is `bit<W>`, `int<W>` (W up to 64), `bool`, an enum with an underlying type or a new type over these. All alternatives of a malleable field have exactly its type (Mantis, section 4.1): which one is meant is decided at run time.";
    NO_SUCH_FIELD = "R-E0103", "A path does not lead to a field in the control that uses it",
        "The alternatives of a malleable field, and `ing` and `egr` arguments, are paths that begin with the name of a parameter or variable of a control. Alternatives are resolved in each control that uses the malleable field, arguments in the ingress or the egress control.";
    INITIAL_NO_ALTERNATIVE = "R-E0104", "The initial field is not among the alternatives",
        "Write it into `alts`, or choose one of them for `init`.";
    VALUE_WRITTEN = "R-E0105", "The data plane writes a malleable value",
        "Only reactions assign to malleable values; to packets they are constants of a pass. Use a variable of your own, or a malleable field.";
    MISPLACED = "R-E0106", "A malleable stands where it has no value",
        "Malleables are loaded at the beginning of the ingress and of the egress control (Mantis, section 4.1). They stand in these controls, in controls that they apply and in their actions and tables, not in parsers, checksum verification, functions or constants. A control behind them that has their metadata as a parameter, such as that of `update_checksum` or a deparser of Tofino, reads copies made at the end of the pipeline, and does not write them.";
    UNUSED = "R-W0101", "A malleable is never used",
        "Neither the data plane nor a reaction names it.";
    UNKNOWN_ANNOTATION = "R-W0201", "A reaction has an annotation that means nothing",
        "Reactions have the annotations `@rate` and `@cost`.";
    NOT_CONSTANT = "R-E0107", "The initial value is not a constant of the type",
        "`init` of a malleable value is a compile-time constant that fits the type.";
    TABLE_NOT_MALLEABLE = "R-E0108", "A malleable table has a property that has no two versions",
        "Each entry of a malleable table stands in the table twice, once for each version (Mantis, section 5.1.2). A direct meter would have two buckets, and members of action profiles and selectors would not be versioned. Use an indirect meter with an index in action data, or leave the table ordinary.";
    MASK_ON_EXACT = "R-E0109", "A masked malleable field is an exact key",
        "A mask belongs to a ternary key: with several alternatives an exact column becomes ternary anyway. Write `ternary`.";
    FIELD_LIST = "R-E0110", "A malleable is in a field list",
        "`@field_list` names fields of the metadata that cloned, resubmitted and recirculated packets keep. A malleable is no field: assign it to one, and put the annotation there.";
    NO_SUCH_REGISTER = "R-E0201", "There is no such register",
        "`reg` names a register of the ingress control, of the egress control, of a control that they apply, or of the file.";
    RANGE = "R-E0202", "The range of cells lies beyond the register",
        "The range `[first:last]` includes both; the last index of a register of n cells is n - 1.";
    ARGUMENT_TYPE = "R-E0203", "An argument of a reaction is neither a value nor a header",
        "`ing` and `egr` name a field of type `bit`, `int`, `bool` or an enum with an underlying type, or a header after the word `header`. List the fields of a struct one by one.";
    ARGUMENT_NAME = "R-E0204", "Two arguments have one name in C, or a name that C reserves",
        "A field is named in C as in P4, such as `hdr.ipv4.ttl`, a register by its name. Rename an argument with `as NAME`.";
    BOTH_PIPELINES = "R-E0205", "A register that ingress and egress use is an argument",
        "Each pipeline measures with a version bit of its own (Mantis, section 5), so no instant is the same for both. Use a register for each pipeline.";
    ANNOTATION = "R-E0206", "An annotation of a reaction has no time",
        "`@rate(\"10ms\")` is the time from call to call, `@cost(\"500ns\")` the simulated time of the body. Both are a number with the unit ns, us, ms or s.";
    NO_PIPELINE = "R-E0207", "The program has no ingress or egress control",
        "A P4R program instantiates a package such as V1Switch, whose ingress and egress controls hold malleables and arguments of reactions.";
    SECOND_INIT = "R-E0208", "A program has one `init` at most",
        "Put both texts into one.";
    NEVER_SET = "R-E0209", "A reaction takes what no packet sets",
        "Nothing in the program writes this metadata, so the reaction would read zero for ever.";
    APPLY_IN_EXPRESSION = "R-E0211", "The result of applying a table stands inside an expression",
        "The default action of a malleable table stands in a table of its own, which is applied on a miss. So the application stands alone, as the condition of an `if`, or as the subject of a `switch`.";
    TABLE_NAME = "R-E0213", "Two malleable tables have one name in C",
        "Reactions call a table by the last part of its control-plane name, such as `t_add_act`. Rename one of the tables, also where a control with a malleable table is instantiated twice.";
    ARCHITECTURE = "R-E0212", "P4R programs for this architecture are not compiled",
        "The compiler mirrors registers with the externs of one architecture. docs/p4r.md lists the architectures that it knows.";
    RESULT_TAKEN = "R-E0214", "An access of a measured register has no room for the value written",
        "On Tofino a packet accesses an array once, and the access has one result. A measured register is copied by this result, so its register action returns the value that it writes: the function ends with `result = value;`, without `return`. `execute` is called in a statement of its own, and an action does not use the result.";
    WIDE_CELLS = "R-E0215", "The cells of a measured register have more than 32 bits",
        "On Tofino a cell has 64 bits. A cell of the copies holds a value and the number of writes, 32 bits each (Mantis, section 5.2). Split the register into several, which reactions take one by one.";
    EXIT = "R-E0210", "A packet may leave the pipeline before it is measured",
        "Fields are measured at the end of the pipeline's control. An `exit` in a control that it applies would skip this. Use `return`, or a flag that the rest of the pipeline tests.";
}
