// SPDX-License-Identifier: Apache-2.0
//! The walk of the syntax tree, written once: a macro that `visit` and `visit_mut` use for a visitor
//! of borrowed trees and for one that may change the tree. Every `match` names all forms, so that a
//! new form of the tree does not compile until it is walked.

/// Defines a visitor: the trait `$Visitor`, the trait `$Visited` of what it visits, and the walks.
/// `[$r]` is the borrow of a type, `[$b]` that of an expression, `[$list]` a list of `T`.
macro_rules! walker {
    (
        $Visitor:ident [$($visitor:tt)*], $Visited:ident, $accept:ident,
        [$($r:tt)*] [$($b:tt)*] [$($list:tt)*]
        [$($life:tt)*] [$($generic:tt)*]
    ) => {
        /// A walk of the tree in the order of the text. A method is called for each part of its kind;
        /// its default goes on to what the part consists of, by the function `walk_...` of the same
        /// name. A method of one's own acts before or after it calls that function, or does not call
        /// it and so leaves the part's inside out.
        pub trait $Visitor $($life)*: Sized {
            /// Called before each node's inside is walked; the walk goes in when it returns `true`.
            fn enter<T: Node>(&mut self, node: $($r)* T) -> bool {
                let _ = node;
                true
            }

            /// Called after the inside of a node that was gone into.
            fn leave<T: Node>(&mut self, node: $($r)* T) {
                let _ = node;
            }

            /// A list of nodes of one kind. The default visits them in order.
            fn list<T: $Visited $($life)*>(&mut self, list: $($list)*) {
                for node in list {
                    T::$accept(node, self);
                }
            }

            /// The identity of a node, once for each node that has one of its own.
            fn id(&mut self, id: $($r)* NodeId) {
                let _ = id;
            }

            /// A place: that of a node, name, block or annotation.
            fn span(&mut self, span: $($r)* Span) {
                let _ = span;
            }

            /// A name: declared, used in a path, or that of a member, argument or match kind.
            fn name(&mut self, name: $($r)* Name) {
                self.span($($b)* name.span);
            }

            /// A reference by name.
            fn path(&mut self, path: $($r)* Path) {
                self.name($($b)* path.name);
            }

            /// An annotation.
            fn annotation(&mut self, annotation: $($r)* Annotation) {
                walk_annotation(self, annotation);
            }

            /// A block: of statements, or the body of an action, function, control or switch case.
            fn block(&mut self, block: $($r)* Block) {
                walk_block(self, block);
            }

            /// The transition of a state.
            fn transition(&mut self, transition: $($r)* Transition) {
                walk_transition(self, transition);
            }

            walker!(@methods [$($r)*] [$($b)*]
                declaration: Declaration, walk_declaration;
                statement: Statement, walk_statement;
                expression: Expression, walk_expression;
                type_ref: TypeRef, walk_type_ref;
                parameter: Parameter, walk_parameter;
                field: Field, walk_field;
                method: Method, walk_method;
                state: State, walk_state;
                state_ref: StateRef, walk_state_ref;
                select_case: SelectCase, walk_select_case;
                switch_case: SwitchCase, walk_switch_case;
                argument: Argument, walk_argument;
                field_value: (Name, Expression), walk_field_value;
                table_property: TableProperty, walk_table_property;
                key_element: KeyElement, walk_key_element;
                action_ref: ActionRef, walk_action_ref;
                entry: Entry, walk_entry;
                enum_member: EnumMember, walk_enum_member;
                declared_name: DeclaredName, walk_declared_name;
                variable: Variable, walk_variable;
            );
        }

        /// A kind of node that a visitor has a method for.
        pub trait $Visited $($life)*: Node {
            /// Hands the node to the visitor's method for its kind.
            fn $accept<V: $($visitor)*>(node: $($r)* Self, visitor: &mut V);
        }

        walker!(@visited $Visited [$($life)*] [$($generic)*] $accept [$($visitor)*] [$($r)*]
            declaration: Declaration;
            statement: Statement;
            expression: Expression;
            type_ref: TypeRef;
            parameter: Parameter;
            field: Field;
            method: Method;
            state: State;
            state_ref: StateRef;
            select_case: SelectCase;
            switch_case: SwitchCase;
            argument: Argument;
            field_value: (Name, Expression);
            table_property: TableProperty;
            key_element: KeyElement;
            action_ref: ActionRef;
            entry: Entry;
            enum_member: EnumMember;
            declared_name: DeclaredName;
            variable: Variable;
        );

        /// Visits the declarations of a program.
        pub fn walk_program<$($generic)* V: $($visitor)*>(v: &mut V, program: $($r)* Program) {
            v.list($($b)* program.declarations);
        }

        fn annotations<$($generic)* V: $($visitor)*>(v: &mut V, list: $($r)* Vec<Annotation>) {
            for annotation in list {
                v.annotation(annotation);
            }
        }

        /// Visits what an annotation consists of. Tokens are not visited.
        pub fn walk_annotation<$($generic)* V: $($visitor)*>(
            v: &mut V,
            annotation: $($r)* Annotation,
        ) {
            v.span($($b)* annotation.span);
            v.name($($b)* annotation.name);
            match $($b)* annotation.body {
                AnnotationBody::Empty | AnnotationBody::Unstructured(_) => {}
                AnnotationBody::Expressions(expressions) => v.list(expressions),
                AnnotationBody::Pairs(pairs) => v.list(pairs),
            }
        }

        /// Visits the annotations and statements of a block.
        pub fn walk_block<$($generic)* V: $($visitor)*>(v: &mut V, block: $($r)* Block) {
            v.span($($b)* block.span);
            annotations(v, $($b)* block.annotations);
            v.list($($b)* block.statements);
        }

        /// Visits what a type consists of.
        pub fn walk_type_ref<$($generic)* V: $($visitor)*>(v: &mut V, ty: $($r)* TypeRef) {
            deeper(|| {
                v.id($($b)* ty.id);
                v.span($($b)* ty.span);
                match $($b)* ty.kind {
                    TypeRefKind::Bool
                    | TypeRefKind::Error
                    | TypeRefKind::MatchKind
                    | TypeRefKind::String
                    | TypeRefKind::Void
                    | TypeRefKind::Integer
                    | TypeRefKind::Bit(None)
                    | TypeRefKind::DontCare
                    | TypeRefKind::Invalid => {}
                    TypeRefKind::Bit(Some(width))
                    | TypeRefKind::SignedBit(width)
                    | TypeRefKind::Varbit(width) => v.expression(width),
                    TypeRefKind::Named(path) => v.path(path),
                    TypeRefKind::Specialized(path, arguments) => {
                        v.path(path);
                        v.list(arguments);
                    }
                    TypeRefKind::Stack(element, size) => {
                        v.type_ref(element);
                        v.expression(size);
                    }
                    TypeRefKind::Tuple(elements) => v.list(elements),
                    TypeRefKind::List(element) => v.type_ref(element),
                }
            });
        }

        /// Visits what an expression consists of.
        pub fn walk_expression<$($generic)* V: $($visitor)*>(
            v: &mut V,
            expression: $($r)* Expression,
        ) {
            deeper(|| {
                v.id($($b)* expression.id);
                v.span($($b)* expression.span);
                match $($b)* expression.kind {
                    ExpressionKind::Integer { value: _, width: _ }
                    | ExpressionKind::Bool(_)
                    | ExpressionKind::String(_)
                    | ExpressionKind::ErrorType
                    | ExpressionKind::This
                    | ExpressionKind::Dots
                    | ExpressionKind::Default
                    | ExpressionKind::DontCare
                    | ExpressionKind::InvalidHeader
                    | ExpressionKind::Invalid => {}
                    ExpressionKind::Path(path) => v.path(path),
                    ExpressionKind::Type(ty) => v.type_ref(ty),
                    ExpressionKind::List(elements) | ExpressionKind::TupleKeyset(elements) => {
                        v.list(elements);
                    }
                    ExpressionKind::Struct { fields, rest: _ } => v.list(fields),
                    ExpressionKind::Extension(extension) => walk_extension(v, extension),
                    ExpressionKind::Unary(_, operand) => v.expression(operand),
                    ExpressionKind::Binary(_, left, right)
                    | ExpressionKind::Index(left, right)
                    | ExpressionKind::Mask(left, right)
                    | ExpressionKind::Range(left, right) => {
                        v.expression(left);
                        v.expression(right);
                    }
                    ExpressionKind::Conditional(first, second, third)
                    | ExpressionKind::Slice { base: first, high: second, low: third }
                    | ExpressionKind::PlusSlice { base: first, low: second, width: third } => {
                        v.expression(first);
                        v.expression(second);
                        v.expression(third);
                    }
                    ExpressionKind::Cast(ty, operand) => {
                        v.type_ref(ty);
                        v.expression(operand);
                    }
                    ExpressionKind::Member(base, name) => {
                        v.expression(base);
                        v.name(name);
                    }
                    ExpressionKind::Call(call) => {
                        let Call { callee, type_arguments, arguments } = $($b)* **call;
                        v.expression(callee);
                        v.list(type_arguments);
                        v.list(arguments);
                    }
                }
            });
        }

        /// Visits what an argument consists of.
        pub fn walk_argument<$($generic)* V: $($visitor)*>(v: &mut V, argument: $($r)* Argument) {
            if let Some(name) = $($b)* argument.name {
                v.name(name);
            }
            v.expression($($b)* argument.value);
        }

        /// Visits the name and the value of a field in a struct expression or annotation.
        pub fn walk_field_value<$($generic)* V: $($visitor)*>(
            v: &mut V,
            field: $($r)* (Name, Expression),
        ) {
            v.name($($b)* field.0);
            v.expression($($b)* field.1);
        }

        /// Visits what a statement consists of.
        pub fn walk_statement<$($generic)* V: $($visitor)*>(
            v: &mut V,
            statement: $($r)* Statement,
        ) {
            deeper(|| {
                v.id($($b)* statement.id);
                v.span($($b)* statement.span);
                match $($b)* statement.kind {
                    StatementKind::Empty
                    | StatementKind::Exit
                    | StatementKind::Return(None)
                    | StatementKind::Break
                    | StatementKind::Continue => {}
                    StatementKind::Assign { target, operator: _, value } => {
                        v.expression(target);
                        v.expression(value);
                    }
                    StatementKind::Call(call) => v.expression(call),
                    StatementKind::If { condition, then, otherwise } => {
                        v.expression(condition);
                        v.statement(then);
                        if let Some(otherwise) = otherwise {
                            v.statement(otherwise);
                        }
                    }
                    StatementKind::Block(block) => v.block(block),
                    StatementKind::Return(Some(value)) => v.expression(value),
                    StatementKind::Switch { subject, cases } => {
                        v.expression(subject);
                        v.list(cases);
                    }
                    StatementKind::For { annotations: notes, init, condition, update, body } => {
                        annotations(v, notes);
                        v.list(init);
                        v.expression(condition);
                        v.list(update);
                        v.statement(body);
                    }
                    StatementKind::ForIn { annotations: notes, variable, collection, body } => {
                        annotations(v, notes);
                        v.variable(variable);
                        v.expression(collection);
                        v.statement(body);
                    }
                    StatementKind::Declaration(declaration) => v.declaration(declaration),
                    StatementKind::Extension(extension) => walk_extension(v, extension),
                }
            });
        }

        /// Visits the label and the body of a switch case.
        pub fn walk_switch_case<$($generic)* V: $($visitor)*>(
            v: &mut V,
            case: $($r)* SwitchCase,
        ) {
            v.expression($($b)* case.label);
            if let Some(body) = $($b)* case.body {
                v.block(body);
            }
        }

        /// Visits what a loop variable consists of.
        pub fn walk_variable<$($generic)* V: $($visitor)*>(v: &mut V, variable: $($r)* Variable) {
            v.id($($b)* variable.id);
            annotations(v, $($b)* variable.annotations);
            v.type_ref($($b)* variable.ty);
            v.name($($b)* variable.name);
        }

        /// Visits what a declaration consists of. The name comes before what is declared.
        pub fn walk_declaration<$($generic)* V: $($visitor)*>(
            v: &mut V,
            declaration: $($r)* Declaration,
        ) {
            v.id($($b)* declaration.id);
            v.span($($b)* declaration.span);
            annotations(v, $($b)* declaration.annotations);
            v.name($($b)* declaration.name);
            match $($b)* declaration.kind {
                DeclarationKind::Constant { ty, value } => {
                    v.type_ref(ty);
                    v.expression(value);
                }
                DeclarationKind::Variable { ty, initializer } => {
                    v.type_ref(ty);
                    if let Some(initializer) = initializer {
                        v.expression(initializer);
                    }
                }
                DeclarationKind::Instance { ty, arguments, body } => {
                    v.type_ref(ty);
                    v.list(arguments);
                    if let Some(body) = body {
                        v.list(body);
                    }
                }
                DeclarationKind::Action { parameters, body } => {
                    v.list(parameters);
                    v.block(body);
                }
                DeclarationKind::Function { signature: of, body } => {
                    walk_signature(v, of);
                    v.block(body);
                }
                DeclarationKind::ExternFunction(of) => walk_signature(v, of),
                DeclarationKind::ExternObject { type_parameters, methods } => {
                    v.list(type_parameters);
                    v.list(methods);
                }
                DeclarationKind::Parser(parser) => {
                    walk_block_type(v, $($b)* parser.signature);
                    v.list($($b)* parser.constructor_parameters);
                    v.list($($b)* parser.locals);
                    v.list($($b)* parser.states);
                }
                DeclarationKind::Control(control) => {
                    walk_block_type(v, $($b)* control.signature);
                    v.list($($b)* control.constructor_parameters);
                    v.list($($b)* control.locals);
                    v.block($($b)* control.body);
                }
                DeclarationKind::ParserType(of)
                | DeclarationKind::ControlType(of)
                | DeclarationKind::PackageType(of) => walk_block_type(v, of),
                DeclarationKind::Header(list)
                | DeclarationKind::HeaderUnion(list)
                | DeclarationKind::Struct(list) => {
                    v.list($($b)* list.type_parameters);
                    v.list($($b)* list.fields);
                }
                DeclarationKind::Enum { underlying, members } => {
                    if let Some(underlying) = underlying {
                        v.type_ref(underlying);
                    }
                    v.list(members);
                }
                DeclarationKind::Error(names) | DeclarationKind::MatchKind(names) => v.list(names),
                DeclarationKind::Typedef(TypedefTarget::Type(ty))
                | DeclarationKind::NewType(ty) => v.type_ref(ty),
                DeclarationKind::Typedef(TypedefTarget::Declaration(inner)) => v.declaration(inner),
                DeclarationKind::Table(table) => v.list($($b)* table.properties),
                DeclarationKind::ValueSet { element, size } => {
                    v.type_ref(element);
                    v.expression(size);
                }
                DeclarationKind::Extension(extension) => walk_extension(v, extension),
                DeclarationKind::Invalid => {}
            }
        }

        /// Visits the parts of a form of a dialect. Tokens are not visited.
        pub fn walk_extension<$($generic)* V: $($visitor)*>(
            v: &mut V,
            extension: $($r)* Extension,
        ) {
            for part in $($b)* extension.parts {
                match part {
                    ExtensionPart::Token(_) => {}
                    ExtensionPart::Name(name) => v.name(name),
                    ExtensionPart::Type(ty) => v.type_ref(ty),
                    ExtensionPart::Expression(expression) => v.expression(expression),
                    ExtensionPart::Parameters(parameters) => v.list(parameters),
                    ExtensionPart::Block(block) => v.block(block),
                }
            }
        }

        /// Visits the result, the type parameters and the parameters of a function or method.
        pub fn walk_signature<$($generic)* V: $($visitor)*>(v: &mut V, signature: $($r)* Signature) {
            v.type_ref($($b)* signature.result);
            v.list($($b)* signature.type_parameters);
            v.list($($b)* signature.parameters);
        }

        /// Visits the type parameters and the parameters of a parser, control or package.
        pub fn walk_block_type<$($generic)* V: $($visitor)*>(v: &mut V, signature: $($r)* BlockType) {
            v.list($($b)* signature.type_parameters);
            v.list($($b)* signature.parameters);
        }

        /// Visits what a parameter consists of.
        pub fn walk_parameter<$($generic)* V: $($visitor)*>(
            v: &mut V,
            parameter: $($r)* Parameter,
        ) {
            v.id($($b)* parameter.id);
            v.span($($b)* parameter.span);
            annotations(v, $($b)* parameter.annotations);
            v.type_ref($($b)* parameter.ty);
            v.name($($b)* parameter.name);
            if let Some(default) = $($b)* parameter.default {
                v.expression(default);
            }
        }

        /// Visits what a field consists of.
        pub fn walk_field<$($generic)* V: $($visitor)*>(v: &mut V, field: $($r)* Field) {
            v.id($($b)* field.id);
            v.span($($b)* field.span);
            annotations(v, $($b)* field.annotations);
            v.type_ref($($b)* field.ty);
            v.name($($b)* field.name);
        }

        /// Visits what a method or constructor consists of.
        pub fn walk_method<$($generic)* V: $($visitor)*>(v: &mut V, method: $($r)* Method) {
            v.id($($b)* method.id);
            v.span($($b)* method.span);
            annotations(v, $($b)* method.annotations);
            v.name($($b)* method.name);
            walk_signature(v, $($b)* method.signature);
        }

        /// Visits the statements and the transition of a state.
        pub fn walk_state<$($generic)* V: $($visitor)*>(v: &mut V, state: $($r)* State) {
            v.id($($b)* state.id);
            v.span($($b)* state.span);
            annotations(v, $($b)* state.annotations);
            v.name($($b)* state.name);
            v.list($($b)* state.statements);
            if let Some(transition) = $($b)* state.transition {
                v.transition(transition);
            }
        }

        /// Visits what a transition consists of.
        pub fn walk_transition<$($generic)* V: $($visitor)*>(
            v: &mut V,
            transition: $($r)* Transition,
        ) {
            match transition {
                Transition::Direct(target) => v.state_ref(target),
                Transition::Select { id, span, subjects, cases } => {
                    v.id(id);
                    v.span(span);
                    v.list(subjects);
                    v.list(cases);
                }
            }
        }

        /// Visits a state's name where it is used.
        pub fn walk_state_ref<$($generic)* V: $($visitor)*>(v: &mut V, state: $($r)* StateRef) {
            v.id($($b)* state.id);
            v.name($($b)* state.name);
        }

        /// Visits the keyset and the target of a select case.
        pub fn walk_select_case<$($generic)* V: $($visitor)*>(
            v: &mut V,
            case: $($r)* SelectCase,
        ) {
            v.expression($($b)* case.keyset);
            v.state_ref($($b)* case.target);
        }

        /// Visits what a property of a table consists of.
        pub fn walk_table_property<$($generic)* V: $($visitor)*>(
            v: &mut V,
            property: $($r)* TableProperty,
        ) {
            v.id($($b)* property.id);
            v.span($($b)* property.span);
            annotations(v, $($b)* property.annotations);
            match $($b)* property.kind {
                TablePropertyKind::Key(elements) => v.list(elements),
                TablePropertyKind::Actions(actions) => v.list(actions),
                TablePropertyKind::Entries(entries) => v.list(entries),
                TablePropertyKind::Custom { name, value } => {
                    v.name(name);
                    v.expression(value);
                }
            }
        }

        /// Visits what a table key consists of.
        pub fn walk_key_element<$($generic)* V: $($visitor)*>(v: &mut V, key: $($r)* KeyElement) {
            v.id($($b)* key.id);
            v.expression($($b)* key.expression);
            v.name($($b)* key.match_kind);
            annotations(v, $($b)* key.annotations);
        }

        /// Visits what an action of a table or entry consists of.
        pub fn walk_action_ref<$($generic)* V: $($visitor)*>(v: &mut V, action: $($r)* ActionRef) {
            v.id($($b)* action.id);
            v.span($($b)* action.span);
            annotations(v, $($b)* action.annotations);
            v.path($($b)* action.path);
            if let Some(arguments) = $($b)* action.arguments {
                v.list(arguments);
            }
        }

        /// Visits what an entry consists of.
        pub fn walk_entry<$($generic)* V: $($visitor)*>(v: &mut V, entry: $($r)* Entry) {
            v.id($($b)* entry.id);
            v.span($($b)* entry.span);
            if let Some(priority) = $($b)* entry.priority {
                v.expression(priority);
            }
            v.expression($($b)* entry.keyset);
            v.action_ref($($b)* entry.action);
            annotations(v, $($b)* entry.annotations);
        }

        /// Visits what a member of an enum consists of.
        pub fn walk_enum_member<$($generic)* V: $($visitor)*>(
            v: &mut V,
            member: $($r)* EnumMember,
        ) {
            v.id($($b)* member.id);
            v.name($($b)* member.name);
            if let Some(value) = $($b)* member.value {
                v.expression(value);
            }
        }

        /// Visits a declared name.
        pub fn walk_declared_name<$($generic)* V: $($visitor)*>(
            v: &mut V,
            name: $($r)* DeclaredName,
        ) {
            v.id($($b)* name.id);
            v.name($($b)* name.name);
        }

        /// Walks deep trees on a stack that grows.
        fn deeper(walk: impl FnOnce()) {
            stacker::maybe_grow(128 * 1024, 1024 * 1024, walk);
        }
    };
    (@methods [$($r:tt)*] [$($b:tt)*]) => {};
    (@methods [$($r:tt)*] [$($b:tt)*] $method:ident: $kind:ty, $walk:ident; $($rest:tt)*) => {
        #[doc = concat!("A `", stringify!($kind), "`: by default it is entered, walked and left.")]
        fn $method(&mut self, node: $($r)* $kind) {
            // `&mut *node` lends a mutable node again; of a borrowed one it is the same borrow.
            if self.enter($($b)* *node) {
                $walk(self, $($b)* *node);
                self.leave(node);
            }
        }

        walker!(@methods [$($r)*] [$($b)*] $($rest)*);
    };
    (@visited $Visited:ident [$($life:tt)*] [$($generic:tt)*] $accept:ident [$($visitor:tt)*]
        [$($r:tt)*]) => {};
    (@visited $Visited:ident [$($life:tt)*] [$($generic:tt)*] $accept:ident [$($visitor:tt)*]
        [$($r:tt)*] $method:ident: $kind:ty; $($rest:tt)*) => {
        impl<$($generic)*> $Visited $($life)* for $kind {
            fn $accept<V: $($visitor)*>(node: $($r)* Self, visitor: &mut V) {
                visitor.$method(node);
            }
        }

        walker!(@visited $Visited [$($life)*] [$($generic)*] $accept [$($visitor)*] [$($r)*]
            $($rest)*);
    };
}
