//! What a conversion script says (specification 18.8.2).
//!
//! ```text
//! convertClass("P.Old", "P.New");                         every class below P.Old as well
//! convertElement({"P.Sine"}, "freqHz", "f");
//! convertModifiers("P.Pipe", {"d"}, {"r=%d%/2"});         modifiers of a component or a base class
//! convertMessage("P.Gone", "There is no replacement.");
//! ```
//!
//! A script is a sequence of Modelica statements, so the Modelica parser reads it. Names are those of the old version.

use std::collections::BTreeMap;

use saltus_base::{FileId, Index, Interner};
use saltus_syntax::ast::{Call, ClassBody, Expr, ExprKind, Section, StatementKind};

/// The rules of one or more scripts, in the order of their text.
#[derive(Default, Debug)]
pub struct Script {
    /// By old name.
    pub classes: BTreeMap<String, String>,
    pub elements: Vec<ElementRule>,
    pub modifiers: Vec<ModifierRule>,
    pub messages: Vec<MessageRule>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ElementRule {
    pub classes: Vec<String>,
    pub old: String,
    pub new: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ModifierRule {
    pub classes: Vec<String>,
    /// Names with a value for where they are not modified.
    pub old: Vec<(String, Option<String>)>,
    /// Names with a text in which `%name%` stands for the old value.
    pub new: Vec<(String, String)>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MessageRule {
    pub classes: Vec<String>,
    pub text: String,
}

impl Script {
    /// Adds the rules of a text; the number of statements that are none of the known ones.
    pub fn add(&mut self, text: &str) -> usize {
        let wrapped = format!("function Script\nalgorithm\n{text}\nend Script;");
        let mut names = Interner::new();
        let parsed = saltus_syntax::parse(FileId::from_usize(0), &wrapped, &mut names);
        let mut n_unknown = parsed.diagnostics.n_errors();
        for definition in &parsed.tree.classes {
            let ClassBody::Long(body) = &definition.class.body else { continue };
            for section in &body.sections {
                let Section::Algorithm { statements, .. } = section else { continue };
                for statement in statements {
                    let is_known = match &statement.kind {
                        StatementKind::Call(call) => self.add_call(call, &names).is_some(),
                        _ => false,
                    };
                    n_unknown += usize::from(!is_known);
                }
            }
        }
        n_unknown
    }

    fn add_call(&mut self, call: &Call, names: &Interner) -> Option<()> {
        let function = names.text(call.name.parts.first()?.name.name);
        let argument = |i: usize| call.arguments.get(i).and_then(strings);
        let one = |i: usize| argument(i)?.into_iter().next();
        match function {
            "convertClass" | "convertClassIf" => {
                // The condition of the second is about a modifier that only an instance has.
                let new = if function == "convertClass" { one(1)? } else { return None };
                for old in argument(0)? {
                    self.classes.insert(old, new.clone());
                }
            }
            "convertElement" => {
                let classes = argument(0)?;
                for (old, new) in argument(1)?.into_iter().zip(argument(2)?) {
                    self.elements.push(ElementRule { classes: classes.clone(), old, new });
                }
            }
            "convertModifiers" => {
                let old = argument(1)?.iter().map(|text| split(text)).collect();
                let with_value = |text: &String| Some((split(text).0, split(text).1?));
                let new = argument(2)?.iter().filter_map(with_value).collect();
                self.modifiers.push(ModifierRule { classes: argument(0)?, old, new });
            }
            "convertMessage" => self.messages.push(MessageRule { classes: argument(0)?, text: one(1)? }),
            _ => return None,
        }
        Some(())
    }

    /// What a name is called now: the longest part of it that a rule knows is replaced.
    pub fn class(&self, old: &str) -> String {
        let mut end = old.len();
        loop {
            if let Some(new) = self.classes.get(&old[..end]) {
                return format!("{new}{}", &old[end..]);
            }
            match old[..end].rfind('.') {
                Some(dot) => end = dot,
                None => return old.to_owned(),
            }
        }
    }
}

/// `name=value` or `name`.
fn split(text: &str) -> (String, Option<String>) {
    match text.split_once('=') {
        Some((name, value)) => (name.trim().to_owned(), Some(value.trim().to_owned())),
        None => (text.trim().to_owned(), None),
    }
}

/// `"a"`, `{"a", "b"}` or `fill("", 0)`.
fn strings(e: &Expr) -> Option<Vec<String>> {
    match &e.kind {
        ExprKind::String(text) => Some(vec![text.to_string()]),
        ExprKind::Array(items) => items.iter().map(|item| strings(item)?.into_iter().next()).collect(),
        ExprKind::Call(_) => Some(Vec::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_known_part_is_replaced() {
        let mut script = Script::default();
        let n_unknown = script.add(
            "convertClass(\"P.Units\", \"P.New.Units\"); // all below
             convertClass(\"P.Units.Temp\", \"P.Temperature\");
             convertElement({\"P.Sine\", \"P.Cosine\"}, \"freqHz\", \"f\");
             convertModifiers(\"P.Pipe\", {\"d=2\"}, {\"r=%d%/2\"}, true);
             convertModifiers(\"P.Joint\", {\"offset\"}, fill(\"\", 0));
             somethingElse();",
        );
        assert_eq!(n_unknown, 1);
        assert_eq!(script.class("P.Units.Length"), "P.New.Units.Length");
        assert_eq!(script.class("P.Units.Temp"), "P.Temperature");
        assert_eq!(script.class("P.Unitsystem"), "P.Unitsystem");
        assert_eq!(script.elements[0].classes, ["P.Sine", "P.Cosine"]);
        assert_eq!(script.modifiers[0].old, [("d".to_owned(), Some("2".to_owned()))]);
        assert_eq!(script.modifiers[0].new, [("r".to_owned(), "%d%/2".to_owned())]);
        assert!(script.modifiers[1].new.is_empty());
    }
}
