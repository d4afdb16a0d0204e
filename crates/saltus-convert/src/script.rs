//! What a conversion script says (specification 18.11.2.1).
//!
//! ```text
//! convertClass("P.Old", "P.New");                         every class below P.Old as well
//! convertElement({"P.Sine"}, "freqHz", "f");
//! convertModifiers("P.Pipe", {"d"}, {"r=%d%/2"});         modifiers of a component or a base class
//! convertMessage("P.Gone", "There is no replacement.");
//! ```
//!
//! A script is a sequence of Modelica statements, so the Modelica parser reads it. Names are those of the old version. Arrays of
//! names stand for a call with each element. The order of the calls does not matter: two that say different things about one name
//! are an error.

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
    /// Adds the rules of another script, which may be about the same names: it is for another version.
    pub fn extend(&mut self, other: Script) {
        self.classes.extend(other.classes);
        self.elements.extend(other.elements);
        self.modifiers.extend(other.modifiers);
        self.messages.extend(other.messages);
    }

    /// Adds the rules of a text; the number of statements that are none of the known ones, or what it says about one name twice.
    pub fn add(&mut self, text: &str) -> Result<usize, String> {
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
                        StatementKind::Call(call) => self.add_call(call, &names)?.is_some(),
                        _ => false,
                    };
                    n_unknown += usize::from(!is_known);
                }
            }
        }
        self.check_elements()?;
        self.check_modifiers()?;
        Ok(n_unknown)
    }

    fn check_elements(&self) -> Result<(), String> {
        let mut known: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for rule in &self.elements {
            for class in &rule.classes {
                let first = *known.entry((class, &rule.old)).or_insert(&rule.new);
                if first != rule.new {
                    return Err(ambiguous(&format!("{class}.{}", rule.old), first, &rule.new));
                }
            }
        }
        Ok(())
    }

    /// The same modifiers of a class are replaced in one way; `cardinality(c)=0` and `=1` are different conditions.
    fn check_modifiers(&self) -> Result<(), String> {
        let mut known = BTreeMap::new();
        for rule in self.modifiers.iter().filter(|rule| !rule.old.is_empty()) {
            for class in &rule.classes {
                let first = *known.entry((class, &rule.old)).or_insert(&rule.new);
                if *first != rule.new {
                    let old: Vec<&str> = rule.old.iter().map(|(name, _)| name.as_str()).collect();
                    return Err(ambiguous(&format!("{class}({})", old.join(", ")), &texts(first), &texts(&rule.new)));
                }
            }
        }
        Ok(())
    }

    /// `None` for a call that is none of the known ones.
    fn add_call(&mut self, call: &Call, names: &Interner) -> Result<Option<()>, String> {
        let Some(first) = call.name.parts.first() else { return Ok(None) };
        let argument = |i: usize| call.arguments.get(i).and_then(strings);
        let each = |n: usize| vectorized((0..n).map(argument).collect::<Option<Vec<_>>>()?);
        match names.text(first.name.name) {
            "convertClass" => {
                let Some(all) = each(2) else { return Ok(None) };
                for [old, new] in all.iter().filter_map(|call| <&[String; 2]>::try_from(call.as_slice()).ok()) {
                    match self.classes.insert(old.clone(), new.clone()) {
                        Some(other) if other != *new => return Err(ambiguous(old, &other, new)),
                        _ => {}
                    }
                }
            }
            // The condition is about a modifier that only an instance has.
            "convertClassIf" => {
                let Some(all) = each(4) else { return Ok(None) };
                for [old, element, value, new] in all.into_iter().filter_map(|call| <[String; 4]>::try_from(call).ok())
                {
                    let text =
                        format!("where `{element}` is modified to `{value}` it is `{new}` now, without that modifier");
                    self.messages.push(MessageRule { classes: vec![old], text });
                }
            }
            "convertElement" => {
                let Some(all) = each(3) else { return Ok(None) };
                for [class, old, new] in all.into_iter().filter_map(|call| <[String; 3]>::try_from(call).ok()) {
                    self.elements.push(ElementRule { classes: vec![class], old, new });
                }
            }
            "convertModifiers" => {
                let (Some(classes), Some(old), Some(new)) = (argument(0), argument(1), argument(2)) else {
                    return Ok(None);
                };
                let with_value = |text: &String| Some((split(text).0, split(text).1?));
                let old = old.iter().map(|text| split(text)).collect();
                self.modifiers.push(ModifierRule { classes, old, new: new.iter().filter_map(with_value).collect() });
            }
            "convertMessage" => {
                let Some(all) = each(2) else { return Ok(None) };
                for [class, text] in all.into_iter().filter_map(|call| <[String; 2]>::try_from(call).ok()) {
                    self.messages.push(MessageRule { classes: vec![class], text });
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
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

fn ambiguous(name: &str, first: &str, second: &str) -> String {
    format!("the script is ambiguous: `{name}` becomes `{first}` and `{second}`")
}

/// The arguments of each of the calls that a call with arrays stands for (specification 12.4.6); nothing if their sizes differ.
fn vectorized(arguments: Vec<Vec<String>>) -> Option<Vec<Vec<String>>> {
    let n = arguments.iter().map(Vec::len).find(|&n| n != 1).unwrap_or(1);
    if arguments.iter().any(|list| list.len() != 1 && list.len() != n) {
        return None;
    }
    let call =
        |k: usize| arguments.iter().filter_map(move |list| list.get(if list.len() == 1 { 0 } else { k }).cloned());
    Some((0..n).map(|k| call(k).collect()).collect())
}

fn texts(new: &[(String, String)]) -> String {
    new.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
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
        assert_eq!(n_unknown, Ok(1));
        assert_eq!(script.class("P.Units.Length"), "P.New.Units.Length");
        assert_eq!(script.class("P.Units.Temp"), "P.Temperature");
        assert_eq!(script.class("P.Unitsystem"), "P.Unitsystem");
        assert_eq!(script.elements[0].classes, ["P.Sine"]);
        assert_eq!(script.elements[1].classes, ["P.Cosine"]);
        assert_eq!(script.modifiers[0].old, [("d".to_owned(), Some("2".to_owned()))]);
        assert_eq!(script.modifiers[0].new, [("r".to_owned(), "%d%/2".to_owned())]);
        assert!(script.modifiers[1].new.is_empty());
    }

    #[test]
    fn arrays_stand_for_a_call_with_each_element() {
        let mut script = Script::default();
        let n_unknown = script.add(
            "convertClass({\"P.A\", \"P.B\"}, {\"P.C\", \"P.D\"});
             convertElement({\"P.A\", \"P.B\"}, {\"x\", \"y\"}, \"z\");
             convertMessage({\"P.E\", \"P.F\"}, \"Gone.\");
             convertClass({\"P.G\", \"P.H\"}, {\"P.I\", \"P.J\", \"P.K\"});",
        );
        assert_eq!(n_unknown, Ok(1));
        assert_eq!((script.class("P.A").as_str(), script.class("P.B").as_str()), ("P.C", "P.D"));
        let rule = |class: &str, old: &str| ElementRule {
            classes: vec![class.to_owned()],
            old: old.to_owned(),
            new: "z".to_owned(),
        };
        assert_eq!(script.elements, [rule("P.A", "x"), rule("P.B", "y")]);
        assert_eq!(script.messages.len(), 2);
    }

    #[test]
    fn ambiguous_scripts_are_refused() {
        let added = |text: &str| Script::default().add(text);
        assert_eq!(
            added("convertClass(\"P.A\", \"P.B\"); convertClass(\"P.A\", \"P.C\");"),
            Err("the script is ambiguous: `P.A` becomes `P.B` and `P.C`".to_owned())
        );
        assert_eq!(
            added("convertElement(\"P.A\", \"x\", \"y\"); convertElement({\"P.B\", \"P.A\"}, \"x\", \"z\");"),
            Err("the script is ambiguous: `P.A.x` becomes `y` and `z`".to_owned())
        );
        assert_eq!(
            added("convertModifiers(\"P.A\", {\"x\"}, {\"y=%x%\"}); convertModifiers(\"P.A\", {\"x\"}, {\"z=%x%\"});"),
            Err("the script is ambiguous: `P.A(x)` becomes `y=%x%` and `z=%x%`".to_owned())
        );
        // The same said twice, and names inside of others.
        let same = "convertClass(\"P.A\", \"P.B\"); convertClass(\"P.A\", \"P.B\"); convertClass(\"P.A.C\", \"P.D\");
            convertElement(\"P.A\", \"x\", \"y\"); convertElement(\"P.A\", \"x\", \"y\"); convertElement(\"P.A\", \"x.z\", \"w\");";
        assert_eq!(added(same), Ok(0));
    }

    #[test]
    fn a_conversion_under_a_condition_is_left_to_the_user() {
        let mut script = Script::default();
        assert_eq!(script.add("convertClassIf(\"P.A\", \"mode\", \"1\", \"P.B\");"), Ok(0));
        assert_eq!(script.messages[0].classes, ["P.A"]);
        assert_eq!(script.messages[0].text, "where `mode` is modified to `1` it is `P.B` now, without that modifier");
    }
}
