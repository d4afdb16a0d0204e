//! What is being typed, found in the tokens before the cursor: half a declaration has no syntax tree worth the name.
//!
//! ```text
//! Resistor r(R(start = f(x, |      statement `Resistor r(R(start = f(x, `
//!                                  frames: modification of Resistor ─ of its R ─ call of f, second argument
//! ```

use saltus_syntax::{Token, TokenKind as T};

/// The names of a path such as `a.b[1].c`, without subscripts.
pub(crate) type Words<'t> = Vec<&'t str>;

#[derive(Default, Debug)]
pub(crate) struct Context<'t> {
    /// Where the name that is being typed begins; the cursor if nothing of it is there yet.
    pub(crate) start: u32,
    /// What stands before the dot; `None` without a dot, empty for `.Name`.
    pub(crate) before_dot: Option<Words<'t>>,
    pub(crate) statement: Statement,
    /// Open brackets of the statement, outermost first.
    pub(crate) frames: Vec<Frame<'t>>,
    /// A value is being typed: something stands behind `=` at this level, or in an equation.
    pub(crate) in_value: bool,
    /// The path at the beginning of the statement, which in a declaration is its type.
    pub(crate) first_path: Words<'t>,
    /// A whole path stands directly before the cursor: the name of a declaration is expected.
    pub(crate) after_path: bool,
    /// Inside of a string or a comment.
    pub(crate) in_text: bool,
    /// The first argument of the innermost bracket, if that is a path and done.
    pub(crate) first_argument: Words<'t>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Statement {
    #[default]
    Plain,
    Import,
    Extends,
    Within,
    End,
    /// A short class, behind its `=`.
    ShortClass,
}

#[derive(Debug)]
pub(crate) struct Frame<'t> {
    pub(crate) kind: FrameKind<'t>,
    pub(crate) n_commas: usize,
    /// Names of arguments that are there already.
    pub(crate) named: Vec<&'t str>,
    in_value: bool,
    is_redeclaration: bool,
    first_path: Words<'t>,
    /// The path that the bracket is a subscript of, which goes on behind it.
    before: Words<'t>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum FrameKind<'t> {
    /// A modification of the class with this name.
    Modifies(Words<'t>),
    /// A modification of an element of what the frame outside modifies.
    ModifiesPart(Words<'t>),
    Call(Words<'t>),
    /// `annotation(`, and what is nested in it.
    Annotation(&'t str),
    Group,
}

/// What is being typed at a byte; `in_equations` says in which kind of section.
pub(crate) fn context(text: &str, offset: u32, in_equations: bool) -> Context<'_> {
    let (tokens, comments) = saltus_syntax::tokens(saltus_base::Index::from_usize(0), text);
    let in_comment = comments.iter().any(|c| c.span.start < offset && offset <= c.span.end);
    let before = tokens.partition_point(|token| token.start < offset && token.kind != T::Eof);
    let before = &tokens[..before];
    let in_string = before.last().is_some_and(|t| t.kind == T::String && (offset < t.end || !is_closed(text, t)));
    let typed = before.last().filter(|t| t.end >= offset && (t.kind == T::Ident || t.kind.is_keyword()));
    let done = if typed.is_some() { &before[..before.len() - 1] } else { before };
    let start = typed.map_or(offset, |token| token.start);
    let statement = &done[statement_start(done, in_equations)..];
    let mut reader = Reader::new(text, in_equations);
    skip_header(statement).iter().for_each(|token| reader.read(token));
    let mut context = reader.finish(done.last());
    context.start = start;
    context.in_text = in_comment || in_string;
    context
}

fn is_closed(text: &str, string: &Token) -> bool {
    let word = &text[string.start as usize..string.end as usize];
    word.len() > 1 && word.ends_with('"')
}

/// The first token of the statement that the tokens end with.
fn statement_start(tokens: &[Token], in_equations: bool) -> usize {
    let mut n_brackets = 0;
    for (at, token) in tokens.iter().enumerate().rev() {
        let is_border = match token.kind {
            T::RightBracket => {
                n_brackets += 1;
                false
            }
            T::LeftBracket => {
                n_brackets -= 1;
                false
            }
            // Rows of a matrix that is open or closed.
            T::Semicolon => n_brackets == 0,
            T::Equation | T::Algorithm | T::Public | T::Protected => true,
            T::Then | T::Else | T::Loop => in_equations,
            _ => false,
        };
        if is_border {
            return at + 1;
        }
    }
    0
}

/// The statement without the beginning of a class that stands before it, as `model M "text"`.
fn skip_header(statement: &[Token]) -> &[Token] {
    let Some(class) = statement.iter().rposition(|token| token.kind.begins_class()) else { return statement };
    let rest = &statement[class + 1..];
    let Some(name) = rest.iter().position(|token| token.kind == T::Ident) else { return statement };
    let after = &rest[name + 1..];
    let is_long = after.first().is_none_or(|token| !matches!(token.kind, T::Equals | T::LeftParen));
    let has_brackets = statement[..class].iter().any(|token| token.kind == T::LeftParen);
    if !is_long || has_brackets || statement[..class].iter().any(|token| token.kind == T::End) {
        return statement;
    }
    let description = after.iter().take_while(|token| matches!(token.kind, T::String | T::Plus)).count();
    &after[description..]
}

struct Reader<'t> {
    text: &'t str,
    context: Context<'t>,
    /// The path that ends with the last token.
    path: Words<'t>,
    after_dot: bool,
    is_annotation: bool,
    in_equations: bool,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, in_equations: bool) -> Self {
        let context = Context { in_value: in_equations, ..Context::default() };
        Self { text, context, path: Vec::new(), after_dot: false, is_annotation: false, in_equations }
    }

    fn read(&mut self, token: &Token) {
        let word = &self.text[token.start as usize..token.end as usize];
        match token.kind {
            T::Ident => self.name(word),
            // Names of functions to us.
            T::Der | T::Connect | T::Initial | T::Pure => self.name(word),
            T::Dot => {
                self.after_dot = true;
                return;
            }
            T::LeftParen => self.open(),
            T::LeftBracket | T::LeftBrace => {
                let path = std::mem::take(&mut self.path);
                self.push(FrameKind::Group, true);
                if let Some(frame) = self.context.frames.last_mut().filter(|_| token.kind == T::LeftBracket) {
                    frame.before = path;
                }
            }
            T::RightParen | T::RightBracket | T::RightBrace => {
                let frame = self.context.frames.pop();
                let is_subscript = token.kind == T::RightBracket;
                self.path = frame.filter(|_| is_subscript).map(|frame| frame.before).unwrap_or_default();
            }
            T::Comma => self.comma(),
            T::Equals | T::Assign => self.equals(),
            T::Annotation => {
                self.is_annotation = true;
                self.path.clear();
            }
            _ => self.other(token.kind),
        }
        self.after_dot = false;
    }

    fn name(&mut self, word: &'t str) {
        if !self.after_dot {
            self.path.clear();
        }
        self.path.push(word);
        let (first, is_open) = match self.context.frames.last_mut() {
            Some(frame) => (&mut frame.first_path, frame.is_redeclaration),
            None => (&mut self.context.first_path, true),
        };
        if is_open && (first.is_empty() || self.after_dot && first.len() + 1 == self.path.len()) {
            first.clone_from(&self.path);
        }
    }

    fn open(&mut self) {
        let path = std::mem::take(&mut self.path);
        let is_annotation = std::mem::take(&mut self.is_annotation);
        let last = path.last().copied();
        let kind = match self.context.frames.last() {
            _ if is_annotation => FrameKind::Annotation(""),
            Some(frame) if matches!(frame.kind, FrameKind::Annotation(_)) => FrameKind::Annotation(last.unwrap_or("")),
            // A graphical item: `graphics = {Line(`.
            Some(Frame { kind: FrameKind::Group, .. }) if last.is_some() && self.in_annotation() => {
                FrameKind::Annotation(last.unwrap_or(""))
            }
            Some(frame) if frame.is_redeclaration && frame.in_value => FrameKind::Modifies(path),
            Some(frame) if frame.is_redeclaration => FrameKind::Modifies(frame.first_path.clone()),
            Some(Frame { kind: FrameKind::Modifies(_) | FrameKind::ModifiesPart(_), in_value: false, .. }) => {
                FrameKind::ModifiesPart(path)
            }
            None if !self.context.in_value && !self.in_equations => match self.context.statement {
                Statement::Extends | Statement::ShortClass => FrameKind::Modifies(path),
                _ => FrameKind::Modifies(self.context.first_path.clone()),
            },
            _ if path.is_empty() => FrameKind::Group,
            _ => FrameKind::Call(path),
        };
        let in_value = matches!(kind, FrameKind::Group);
        self.push(kind, in_value);
    }

    fn in_annotation(&self) -> bool {
        self.context.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Annotation(_)))
    }

    fn push(&mut self, kind: FrameKind<'t>, in_value: bool) {
        self.context.frames.push(Frame {
            kind,
            n_commas: 0,
            named: Vec::new(),
            in_value,
            is_redeclaration: false,
            first_path: Vec::new(),
            before: Vec::new(),
        });
    }

    fn comma(&mut self) {
        let path = std::mem::take(&mut self.path);
        match self.context.frames.last_mut() {
            Some(frame) => {
                if frame.n_commas == 0 {
                    self.context.first_argument = path;
                }
                frame.n_commas += 1;
                frame.in_value = matches!(frame.kind, FrameKind::Group);
                frame.is_redeclaration = false;
                frame.first_path.clear();
            }
            None => self.context.in_value = self.in_equations,
        }
    }

    fn equals(&mut self) {
        let last = self.path.last().copied();
        self.path.clear();
        match self.context.frames.last_mut() {
            Some(frame) => {
                frame.named.extend(last);
                frame.in_value = true;
            }
            None if self.context.statement == Statement::ShortClass => self.context.first_path.clear(),
            None => self.context.in_value = true,
        }
    }

    fn other(&mut self, kind: T) {
        self.path.clear();
        let is_first = self.context.first_path.is_empty() && self.context.frames.is_empty();
        match kind {
            T::Import if is_first => self.context.statement = Statement::Import,
            T::Extends if is_first => self.context.statement = Statement::Extends,
            T::Within if is_first => self.context.statement = Statement::Within,
            T::End if is_first => self.context.statement = Statement::End,
            kind if is_first && kind.begins_class() => self.context.statement = Statement::ShortClass,
            T::Redeclare | T::Replaceable => {
                if let Some(frame) = self.context.frames.last_mut() {
                    frame.is_redeclaration = true;
                }
            }
            // The condition of a component.
            T::If if self.context.frames.is_empty() => self.context.in_value = true,
            _ => {}
        }
    }

    fn finish(mut self, last: Option<&Token>) -> Context<'t> {
        let is_dot = last.is_some_and(|token| token.kind == T::Dot);
        self.context.after_path = !is_dot && !self.path.is_empty();
        self.context.before_dot = is_dot.then_some(self.path);
        if let Some(frame) = self.context.frames.last() {
            self.context.in_value = frame.in_value;
        }
        self.context
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_end(text: &str, in_equations: bool) -> Context<'_> {
        context(text, text.len() as u32, in_equations)
    }

    #[test]
    fn paths_before_a_dot() {
        assert_eq!(at_end("equation x = a.b[2, n].c", true).before_dot, Some(vec!["a", "b"]));
        assert_eq!(at_end("equation x = a.b[2].", true).before_dot, Some(vec!["a", "b"]));
        assert_eq!(at_end("equation x = f(a.", true).before_dot, Some(vec!["a"]));
        assert_eq!(at_end("equation x = a + b", true).before_dot, None);
        assert_eq!(at_end("model M A.", false).before_dot, Some(vec!["A"]));
    }

    #[test]
    fn modifications_know_what_they_modify() {
        let kinds = |text| at_end(text, false).frames.into_iter().map(|f| f.kind).collect::<Vec<_>>();
        assert_eq!(kinds("model M \"text\" P.A a("), [FrameKind::Modifies(vec!["P", "A"])]);
        assert_eq!(kinds("; parameter A a(x = 1), b("), [FrameKind::Modifies(vec!["A"])]);
        assert_eq!(kinds("; extends P.A("), [FrameKind::Modifies(vec!["P", "A"])]);
        assert_eq!(kinds("; model B = A("), [FrameKind::Modifies(vec!["A"])]);
        let nested = [FrameKind::Modifies(vec!["A"]), FrameKind::ModifiesPart(vec!["x"])];
        assert_eq!(kinds("; A a(y = 2, x("), nested);
        let redeclared = [FrameKind::Modifies(vec!["A"]), FrameKind::Modifies(vec!["C"])];
        assert_eq!(kinds("; A a(redeclare model B = C("), redeclared);
        assert_eq!(kinds("; A a(redeclare C b("), redeclared);
    }

    #[test]
    fn calls_count_their_arguments() {
        let context = at_end("equation x = 2*f(1, k = g(2), ", true);
        assert_eq!(context.frames.len(), 1);
        assert_eq!(context.frames[0].kind, FrameKind::Call(vec!["f"]));
        assert_eq!((context.frames[0].n_commas, context.frames[0].named.clone()), (2, vec!["k"]));
        let context = at_end("; Real x = f(", false);
        assert_eq!(context.frames[0].kind, FrameKind::Call(vec!["f"]));
    }

    #[test]
    fn statements() {
        assert_eq!(at_end("; import A.", false).statement, Statement::Import);
        assert_eq!(at_end("; extends A.B", false).statement, Statement::Extends);
        assert!(at_end("; parameter Real ", false).after_path);
        assert!(!at_end("; parameter ", false).after_path);
        assert!(at_end("; Real x = ", false).in_value);
        assert!(at_end("model M \"half a str", false).in_text);
        assert!(at_end("model M // comm", false).in_text);
    }

    #[test]
    fn annotations_nest() {
        let context = at_end("; annotation(Icon(graphics = {Line(points = {{0, 0}}, col", false);
        assert_eq!(context.frames.last().map(|f| f.kind.clone()), Some(FrameKind::Annotation("Line")));
        let context = at_end("; Real x annotation(Dialog(gr", false);
        assert_eq!(context.frames.last().map(|f| f.kind.clone()), Some(FrameKind::Annotation("Dialog")));
    }
}
