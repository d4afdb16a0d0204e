//! The shape of a text: what can be folded, and what a growing selection takes next.

use std::path::Path;

use saltus::Session;
use saltus_syntax::ast::{ClassBody, ClassDef, ElementKind, Equation, EquationKind, Section, Statement, StatementKind};
use saltus_syntax::{Token, TokenKind};

use crate::file::File;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fold {
    pub start: u32,
    pub end: u32,
    pub is_comment: bool,
}

/// Parts over several lines: classes, sections, blocks, annotations, comments.
pub(crate) fn folds(session: &Session, path: &Path) -> Vec<Fold> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let mut spans = Vec::new();
    file.tree.classes.iter().for_each(|top| class_spans(&top.class, &mut spans));
    spans.extend(annotations(&file));
    let part = |&(start, end): &(u32, u32)| Fold { start, end, is_comment: false };
    let comments = file.tree.comments.iter().map(|c| Fold { start: c.span.start, end: c.span.end, is_comment: true });
    let mut found: Vec<Fold> = spans.iter().map(part).chain(comments).collect();
    found.retain(|fold| file.text.get(fold.start as usize..fold.end as usize).is_some_and(|t| t.contains('\n')));
    found.sort();
    found.dedup();
    found
}

/// Annotations with their brackets.
fn annotations(file: &File<'_>) -> Vec<(u32, u32)> {
    let (tokens, _) = saltus_syntax::tokens(file.id, file.text);
    let is_begin = |pair: &[Token]| pair[0].kind == TokenKind::Annotation && pair[1].kind == TokenKind::LeftParen;
    let begins = tokens.windows(2).enumerate().filter(|(_, pair)| is_begin(pair));
    begins.filter_map(|(at, pair)| Some((pair[0].start, closing(&tokens[at + 1..])?.end))).collect()
}

/// The bracket that closes the first one.
fn closing(tokens: &[Token]) -> Option<&Token> {
    let mut depth = 0;
    tokens.iter().find(|token| {
        depth += i32::from(token.kind.is_opening()) - i32::from(token.kind.is_closing());
        depth == 0
    })
}

fn class_spans(class: &ClassDef, found: &mut Vec<(u32, u32)>) {
    found.push((class.span.start, class.span.end));
    let ClassBody::Long(body) = &class.body else { return };
    for section in &body.sections {
        match section {
            Section::Elements { elements, .. } => {
                for element in elements {
                    found.push((element.span.start, element.span.end));
                    if let ElementKind::Class(nested) = &element.kind {
                        class_spans(&nested.class, found);
                    }
                }
            }
            Section::Equations { keyword, equations, .. } => {
                found.extend(equations.last().map(|last| (keyword.start, last.span.end)));
                equation_spans(equations, found);
            }
            Section::Algorithm { keyword, statements, .. } => {
                found.extend(statements.last().map(|last| (keyword.start, last.span.end)));
                statement_spans(statements, found);
            }
        }
    }
}

fn equation_spans(equations: &[Equation], found: &mut Vec<(u32, u32)>) {
    for equation in equations {
        found.push((equation.span.start, equation.span.end));
        match &equation.kind {
            EquationKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| equation_spans(body, found));
                equation_spans(otherwise.as_deref().unwrap_or_default(), found);
            }
            EquationKind::For { body, .. } => equation_spans(body, found),
            EquationKind::When { branches } => branches.iter().for_each(|(_, body)| equation_spans(body, found)),
            _ => {}
        }
    }
}

fn statement_spans(statements: &[Statement], found: &mut Vec<(u32, u32)>) {
    for statement in statements {
        found.push((statement.span.start, statement.span.end));
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| statement_spans(body, found));
                statement_spans(otherwise.as_deref().unwrap_or_default(), found);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => statement_spans(body, found),
            StatementKind::When { branches } => branches.iter().for_each(|(_, body)| statement_spans(body, found)),
            _ => {}
        }
    }
}

/// The parts around a byte from the word outwards, each inside of the next.
pub(crate) fn selections(session: &Session, path: &Path, offset: u32) -> Vec<(u32, u32)> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let (tokens, _) = saltus_syntax::tokens(file.id, file.text);
    let mut spans = vec![(0, file.text.len() as u32)];
    file.tree.classes.iter().for_each(|top| class_spans(&top.class, &mut spans));
    spans.extend(tokens.iter().filter(|token| token.kind != TokenKind::Eof).map(|token| (token.start, token.end)));
    let mut open: Vec<&Token> = Vec::new();
    for token in &tokens {
        if token.kind.is_opening() {
            open.push(token);
        } else if token.kind.is_closing()
            && let Some(begin) = open.pop()
        {
            spans.push((begin.end, token.start));
            spans.push((begin.start, token.end));
        }
    }
    spans.retain(|&(start, end)| start <= offset && offset <= end && start < end);
    spans.sort_by_key(|&(start, end)| end - start);
    let mut nested: Vec<(u32, u32)> = Vec::new();
    for (start, end) in spans {
        if nested.last().is_none_or(|&(s, e)| start <= s && e <= end && (start, end) != (s, e)) {
            nested.push((start, end));
        }
    }
    nested
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    #[test]
    fn blocks_fold() {
        let text = "model M\n  Real x;\nequation\n  when x > 1 then\n    y = 1;\n  end when;\nend M;\n/* a\nb */";
        let fixture = Fixture::new(text);
        let found = fixture.analysis().folds(&fixture.path);
        let first_lines: Vec<&str> =
            found.iter().map(|f| text[f.start as usize..f.end as usize].lines().next().unwrap()).collect();
        assert_eq!(first_lines, ["model M", "equation", "when x > 1 then", "/* a"]);
        assert!(found[3].is_comment);
    }

    #[test]
    fn selections_grow() {
        let fixture = Fixture::new("model M Real x = f(al$0pha + 1, 2); end M;");
        let text = fixture.text();
        let found = fixture.analysis().selections(&fixture.path, fixture.offset);
        let texts: Vec<&str> = found.iter().map(|&(s, e)| &text[s as usize..e as usize]).collect();
        assert_eq!(texts[..3], ["alpha", "alpha + 1, 2", "(alpha + 1, 2)"]);
        assert_eq!(texts.last(), Some(&text.as_str()));
    }
}
