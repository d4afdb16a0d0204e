//! Every message of the lexer and the parser, one constructor each: the `E01xx` family.
//!
//! Messages have the form "expected …, found …"; hints say what to type instead.

use saltus_base::{Code, Diagnostic, Place, Span};

use crate::token::Kind;

fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code(code), span, message)
}

pub fn bad_character(span: Span, text: &str) -> Diagnostic {
    let d = error("E0101", span, format!("expected Modelica text, found the character `{text}`"));
    match text.chars().next() {
        Some('“' | '”' | '„') => d.hint("strings stand in straight double quotes: \"…\"").fix_by("\""),
        Some('‘' | '’' | '`') => d.hint("quoted identifiers stand in straight single quotes: '…'").fix_by("'"),
        Some('–' | '—' | '−') => d.hint("the minus sign of Modelica is the hyphen `-`").fix_by("-"),
        Some('\u{a0}') => d.hint("this is a non-breaking space; type an ordinary one").fix_by(" "),
        Some('#') => d.hint("comments begin with `//`").fix_by("//"),
        Some('%') => d.hint("comments begin with `//`; the remainder of a division is `mod(a, b)`"),
        Some(c) if !c.is_ascii() => {
            d.hint("letters outside ASCII are allowed in strings, comments and quoted identifiers ('…') only")
        }
        _ => d,
    }
}

/// Messages about text that is not a token, or not the token that was meant.
pub fn is_skipped_text(code: Code) -> bool {
    matches!(code.0, "E0101" | "E0102" | "E0104")
}

pub fn unterminated_string(span: Span) -> Diagnostic {
    error("E0102", span, "expected a closing `\"`, found none")
        .hint("close the string with `\"`; a double quote inside a string is written `\\\"`")
}

pub const UNTERMINATED_COMMENT: Code = Code("E0103");

pub fn unterminated_comment(span: Span) -> Diagnostic {
    error(UNTERMINATED_COMMENT.0, span, "expected `*/`, found the end of the file")
        .hint("close the comment with `*/`, or use `//` for the rest of one line")
}

pub fn unterminated_quoted_ident(span: Span) -> Diagnostic {
    error("E0104", span, "expected a closing `'`, found the end of the line")
        .hint("single quotes enclose identifiers such as 'my name'; strings stand in double quotes: \"…\"")
}

pub fn foreign_operator(span: Span, found: &str, meant: Kind) -> Diagnostic {
    let meant = meant.text();
    error("E0105", span, format!("expected an operator of Modelica, found `{found}`"))
        .hint(format!("write `{meant}` instead of `{found}`"))
        .fix_by(meant)
}

pub fn unknown_escape(span: Span, found: &str) -> Diagnostic {
    error("E0106", span, format!("expected an escape sequence such as `\\n`, found `{found}`"))
        .hint("a backslash in a string is written `\\\\`")
        .fix_by(&format!("\\{found}"))
}

pub fn exponent_without_digits(span: Span) -> Diagnostic {
    error("E0107", span, "expected digits behind the `e` of a number, found none")
        .hint("write for example `1e3` or `1e-3`")
}

pub fn number_with_letters(span: Span, found: &str) -> Diagnostic {
    error("E0107", span, format!("expected a number or an identifier, found `{found}`"))
        .hint("identifiers begin with a letter or `_`; a product is written with `*`")
}

pub fn expected(span: Span, what: &str, found: &str) -> Diagnostic {
    error("E0108", span, format!("expected {what}, found {found}"))
}

/// The span is the empty place just behind the previous token.
pub fn missing_semicolon(span: Span, found: &str) -> Diagnostic {
    error("E0109", span, format!("expected `;`, found {found}")).hint("end this line with `;`").fix_by_inserting(";")
}

pub fn unclosed_bracket(span: Span, open: Span, opening: Kind, found: &str) -> Diagnostic {
    let closing = closing_of(opening).text();
    error("E0110", span, format!("expected `{closing}`, found {found}"))
        .label(open, format!("this `{}` is not closed", opening.text()))
        .hint(format!("close it with `{closing}`"))
        .fix_by_inserting(closing)
}

pub fn stray_closing_bracket(span: Span, found: Kind) -> Diagnostic {
    error("E0111", span, format!("expected `;`, found `{}`", found.text()))
        .hint(format!("no bracket is open here; remove the `{}`", found.text()))
        .fix_by_removing()
}

pub fn wrong_closing_bracket(span: Span, open: Span, opening: Kind, found: Kind) -> Diagnostic {
    let closing = closing_of(opening).text();
    error("E0112", span, format!("expected `{closing}`, found `{}`", found.text()))
        .label(open, format!("`{}` is opened here", opening.text()))
        .hint(format!("write `{closing}` instead of `{}`", found.text()))
        .fix_by(closing)
}

pub fn end_name(span: Span, start: Span, expected: &str, found: &str) -> Diagnostic {
    let has_name = !found.is_empty();
    let found = if !has_name { "`end` without a name".to_owned() } else { format!("`end {found}`") };
    let d = error("E0113", span, format!("expected `end {expected}`, found {found}"))
        .label(start, format!("`{expected}` begins here"))
        .hint(format!("write `end {expected};`"));
    if has_name { d.fix_by(expected) } else { d.fix_by(&format!("end {expected}")) }
}

pub fn missing_class_end(span: Span, start: Span, name: &str, found: &str) -> Diagnostic {
    error("E0114", span, format!("expected `end {name}`, found {found}"))
        .label(start, format!("`{name}` begins here"))
        .hint(format!("close the class with `end {name};`"))
        .fix_by_inserting(&format!("\nend {name};\n"))
}

pub fn missing_block_end(span: Span, start: Span, block: Kind, found: &str, after_else_if: Option<Span>) -> Diagnostic {
    let block = block.text();
    let d = error("E0115", span, format!("expected `end {block}`, found {found}"))
        .label(start, format!("this `{block}` is not closed"));
    match after_else_if {
        Some(place) => d
            .label(place, "`else if` opens a second `if`")
            .hint("write `elseif` in one word; then one `end if;` closes everything"),
        None => d.hint(format!("close it with `end {block};`")),
    }
}

pub fn wrong_block_end(span: Span, start: Span, block: Kind, found: &str) -> Diagnostic {
    let block = block.text();
    error("E0116", span, format!("expected `end {block}`, found `end {found}`"))
        .label(start, format!("the `{block}` begins here"))
        .hint(format!("write `end {block};`"))
}

pub fn stray_end(span: Span, found: &str) -> Diagnostic {
    error("E0117", span, format!("expected nothing to close here, found `end {found}`"))
        .hint(format!("no `{found}` is open; remove this line or add the beginning"))
}

pub fn keyword_as_identifier(span: Span, found: Kind) -> Diagnostic {
    let word = found.text();
    error("E0118", span, format!("expected an identifier, found the keyword `{word}`"))
        .hint(format!("choose another name such as `{word}_`; keywords cannot be names"))
        .fix_by(&format!("{word}_"))
}

pub fn assign_in_equation(span: Span) -> Diagnostic {
    error("E0119", span, "expected `=` in an equation, found `:=`")
        .hint("equations use `=`; assignments with `:=` belong into an `algorithm` section")
        .fix_by("=")
}

pub fn equals_in_algorithm(span: Span) -> Diagnostic {
    error("E0120", span, "expected `:=` in an algorithm, found `=`")
        .hint("assignments use `:=`; equations with `=` belong into an `equation` section")
        .fix_by(":=")
}

pub fn comparison_as_equation(span: Span) -> Diagnostic {
    error("E0121", span, "expected `=` in an equation, found `==`")
        .hint("`==` compares inside an expression; an equation is written with `=`")
        .fix_by("=")
}

pub fn comparison_as_assignment(span: Span) -> Diagnostic {
    error("E0121", span, "expected `:=` in an algorithm, found `==`")
        .hint("`==` compares inside an expression; an assignment is written with `:=`")
        .fix_by(":=")
}

pub fn comparison_as_modification(span: Span) -> Diagnostic {
    error("E0121", span, "expected `=`, found `==`").hint("`==` compares; a value is given with `=`").fix_by("=")
}

pub fn missing_then(span: Span, start: Span, block: Kind, found: &str) -> Diagnostic {
    let block = block.text();
    error("E0122", span, format!("expected `then`, found {found}"))
        .label(start, format!("belongs to this `{block}`"))
        .hint(format!("write `{block} condition then`"))
        .fix_by_inserting(" then ")
}

pub fn missing_loop(span: Span, start: Span, block: Kind, found: &str) -> Diagnostic {
    let (block, form) = match block {
        Kind::While => ("while", "while condition loop"),
        _ => ("for", "for i in 1:n loop"),
    };
    error("E0123", span, format!("expected `loop`, found {found}"))
        .label(start, format!("belongs to this `{block}`"))
        .hint(format!("write `{form}`"))
        .fix_by_inserting(" loop ")
}

pub fn foreign_elseif(span: Span, found: &str) -> Diagnostic {
    error("E0124", span, format!("expected `elseif`, found `{found}`"))
        .hint(format!("write `elseif` instead of `{found}`"))
        .fix_by("elseif")
}

pub fn foreign_block_end(span: Span, found: &str, block: Kind) -> Diagnostic {
    let block = block.text();
    error("E0124", span, format!("expected `end {block}`, found `{found}`"))
        .hint(format!("write `end {block}` in two words"))
        .fix_by(&format!("end {block}"))
}

pub fn element_after_equations(span: Span, section: Span, found: &str) -> Diagnostic {
    error("E0125", span, format!("expected an equation or a statement, found a declaration beginning with {found}"))
        .label(section, "this section has begun here")
        .hint("move the declaration above this section, or begin a new `public` or `protected` section before it")
}

pub fn chained_power(span: Span, first: Span) -> Diagnostic {
    error("E0126", span, "expected one power, found a second one behind it")
        .label(first, "the first power")
        .hint("`a^b^c` has no meaning in Modelica; write `(a^b)^c` or `a^(b^c)`")
}

pub fn chained_relation(span: Span, first: Span) -> Diagnostic {
    error("E0127", span, "expected one comparison, found a second one behind it")
        .label(first, "the first comparison")
        .hint("write `a < b and b < c` instead of `a < b < c`")
}

pub fn sign_needs_parentheses(span: Span, found: Kind) -> Diagnostic {
    let sign = found.text();
    error("E0128", span, format!("expected an operand, found the sign `{sign}`"))
        .hint(format!("a sign behind another operator needs parentheses: `({sign}x)`"))
}

pub fn operand_needs_parentheses(span: Span, found: Kind) -> Diagnostic {
    let word = found.text();
    error("E0129", span, format!("expected an operand, found `{word}`"))
        .hint(format!("put the whole `{word} …` in parentheses"))
}

pub fn too_deep(span: Span, limit: u32) -> Diagnostic {
    error("E0130", span, format!("expected at most {limit} levels of nesting, found more"))
        .hint("split the expression or class into smaller ones")
}

pub fn too_long_chain(span: Span, limit: u32) -> Diagnostic {
    error(
        "E0131",
        span,
        format!("expression too deeply nested: expected at most {limit} levels of operators, found more"),
    )
    .hint("split it, for example with auxiliary variables or `sum(…)`")
}

pub fn not_an_equation(span: Span) -> Diagnostic {
    error("E0132", span, "expected an equation, found an expression alone")
        .hint("write `left = right;`, or call a function such as `assert(…);`")
}

pub fn not_a_statement(span: Span) -> Diagnostic {
    error("E0133", span, "expected a statement, found an expression alone")
        .hint("write `variable := expression;`, or call a function")
}

pub fn not_assignable(span: Span) -> Diagnostic {
    error("E0134", span, "expected a variable on the left of `:=`, found an expression")
        .hint("only variables such as `x`, `a.b[3]` or `(x, y)` can be assigned to")
}

pub fn tuple_needs_call(span: Span) -> Diagnostic {
    error("E0135", span, "expected a function call on the right of `(…) :=`, found another expression")
        .hint("only a call gives several results; assign single values one by one")
}

/// The grammar has the annotation of a class at its end; other tools accept it anywhere, and libraries rely on that.
pub fn annotation_not_last(span: Span) -> Diagnostic {
    error("W0136", span, "expected the end of the class behind its annotation, found more")
        .hint("the annotation of a class is its last part; move it to just before `end`")
}

/// The constraining clause of Modelica 2, which libraries still have.
pub fn extends_as_constraint(span: Span) -> Diagnostic {
    error("W0153", span, "expected `constrainedby` or `;`, found `extends`")
        .hint("write `constrainedby`: `extends` behind a declaration is the notation of Modelica 2")
        .fix_by("constrainedby")
}

/// Up to Modelica 3.3 a class could be made with `flow`, `parameter` and the like; the grammar now has `input` and `output` only.
pub fn prefix_of_class(span: Span) -> Diagnostic {
    error("W0155", span, "expected `input`, `output` or the name of a class behind `=`, found another prefix")
        .hint("write the prefix in front of the variables of this class")
}

/// `model extends M`: what it extends is inherited, so it can only be a redeclaration.
pub fn class_extends_without_redeclare(span: Span) -> Diagnostic {
    error("W0154", span, "expected `redeclare` before a class that extends the inherited one of its name")
        .hint("write `redeclare model extends …`")
        .fix_at(Place::BeforeElement, span, "redeclare ")
}

pub fn expected_class(span: Span, found: &str) -> Diagnostic {
    error("E0137", span, format!("expected a class such as `model A`, found {found}"))
        .hint("a file contains classes only; put declarations and equations between `model A` and `end A;`")
}

pub fn missing_else(span: Span, start: Span, found: &str) -> Diagnostic {
    error("E0138", span, format!("expected `else`, found {found}"))
        .label(start, "this `if` has no `else`")
        .hint("an `if` expression needs a value for every case: `if c then a else b`")
}

pub fn positional_after_named(span: Span) -> Diagnostic {
    error("E0139", span, "expected a named argument `name = value`, found a positional one")
        .hint("positional arguments come before the named ones")
}

pub fn within_not_first(span: Span) -> Diagnostic {
    error("E0140", span, "expected `within` at the beginning of the file, found it behind a class")
        .hint("move `within …;` to the first line")
}

pub fn adjacent_strings(span: Span) -> Diagnostic {
    error("E0141", span, "expected `+` between two strings, found none")
        .hint("join strings with `+`: \"a\" + \"b\"")
        .fix_by_inserting("+ ")
}

pub fn else_in_when(span: Span) -> Diagnostic {
    error("E0142", span, "expected `elsewhen` or `end when`, found `else`")
        .hint("`when` has no `else`; what holds at all times stands outside of it")
}

pub fn prefix_order(span: Span, found: &str, before: &str) -> Diagnostic {
    error("E0143", span, format!("expected `{found}` before `{before}`, found it behind"))
        .hint(format!("write `{found} {before}`"))
}

pub fn repeated_prefix(span: Span, found: &str, earlier: &str) -> Diagnostic {
    let d = error("E0144", span, format!("expected a type or a class, found `{found}` behind `{earlier}`"));
    match found == earlier {
        true => d.hint(format!("remove one `{found}`")).fix_by_removing(),
        false => d.hint(format!("`{found}` and `{earlier}` exclude each other; keep one")),
    }
}

pub fn end_outside_subscripts(span: Span) -> Diagnostic {
    error("E0145", span, "expected an expression, found `end`")
        .hint("`end` has a value inside array subscripts only: `x[end]`")
}

pub fn file_too_large(span: Span) -> Diagnostic {
    error("E0146", span, "expected a file below 4 GiB, found a larger one").hint("split the package into several files")
}

pub fn empty_brackets(span: Span, what: &str, found: &str) -> Diagnostic {
    error("E0147", span, format!("expected {what}, found `{found}`"))
        .hint("an array of size zero is written `fill(0.0, 0)`")
}

pub fn empty_subscripts(span: Span) -> Diagnostic {
    error("E0147", span, "expected a subscript, found `]`")
        .hint("write `:` for a dimension whose size follows from the value, as in `x[:]`")
        .fix_by_inserting(":")
}

pub fn equation_in_declarations(span: Span, found: &str) -> Diagnostic {
    error("E0148", span, format!("expected a declaration, found an equation or a statement beginning with {found}"))
        .hint("write `equation` or `algorithm` on a line of its own before it")
        .fix_by_inserting("equation\n  ")
        .fix_by_inserting("algorithm\n  ")
}

pub fn trailing_comma(span: Span, closing: Kind) -> Diagnostic {
    error("E0149", span, format!("expected another entry behind `,`, found `{}`", closing.text()))
        .hint("remove the `,`")
        .fix_at(Place::CommaBefore, span, "")
}

pub fn semicolon_behind_class_head(span: Span) -> Diagnostic {
    error("E0150", span, "expected the contents of the class, found `;`")
        .hint("no `;` stands behind the name of a class; remove it")
        .fix_by_removing()
}

pub fn missing_comma(span: Span, closing: Kind, found: &str) -> Diagnostic {
    error("E0151", span, format!("expected `,` or `{}`, found {found}", closing.text()))
        .hint("separate entries with `,`")
        .fix_by_inserting(",")
}

pub fn number_too_large(span: Span) -> Diagnostic {
    error("E0152", span, "expected a number that a Real can hold, found a larger one")
        .hint("the largest is about 1.8e308; for no limit leave out the attribute")
}

pub fn unknown_class_word(span: Span, found: &str, meant: &str) -> Diagnostic {
    error("E0137", span, format!("expected a class such as `model A`, found `{found}`"))
        .hint(format!("did you mean `{meant}`?"))
        .fix_by(meant)
}

pub fn closing_of(opening: Kind) -> Kind {
    match opening {
        Kind::LeftBracket => Kind::RightBracket,
        Kind::LeftBrace => Kind::RightBrace,
        _ => Kind::RightParen,
    }
}
