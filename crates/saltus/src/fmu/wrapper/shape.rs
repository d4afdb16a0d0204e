//! Arrays in the wrapper: element by element where their sizes are numbers, by loops where structural parameters give them.

use saltus_fmi::{Causality, Dimension, Type, Values};

use super::{Wrapper, float};

impl Wrapper<'_> {
    /// Sizes as Modelica writes them: numbers, or names of structural parameters.
    fn size_texts(&self, variable: usize) -> Vec<String> {
        let sizes = self.sizes(variable);
        let dimensions = self.model.variables[variable].dimensions.iter().zip(sizes);
        let text = |(dimension, size): (&Dimension, u64)| match *dimension {
            Dimension::Variable(at) if self.model.variables[at].causality == Causality::StructuralParameter => {
                self.name(at)
            }
            _ => size.to_string(),
        };
        dimensions.map(text).collect()
    }

    pub(super) fn is_symbolic(&self, variable: usize) -> bool {
        let is_structural = |d: &Dimension| matches!(*d, Dimension::Variable(at) if self.model.variables[at].causality == Causality::StructuralParameter);
        self.model.variables[variable].dimensions.iter().any(is_structural)
    }

    /// `[2, n]` behind the name of an array.
    pub(super) fn dimensions(&self, variable: usize) -> String {
        let sizes = self.size_texts(variable);
        if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) }
    }

    /// Start values of a vector whose size is not known: those that are given, the last one for all elements behind them.
    pub(super) fn symbolic_start(&self, variable: usize) -> Option<String> {
        let Some(Values::Float(values)) = &self.model.variables[variable].start else { return None };
        let (last, others) = values.split_last()?;
        if self.model.variables[variable].dimensions.len() != 1 {
            return None;
        }
        let k = self.own.name("fmu_k");
        let cases = others.iter().enumerate().map(|(i, x)| format!("if {k} == {} then {} else", i + 1, float(*x)));
        let cases: Vec<String> = cases.collect();
        let count = self.count_text(&[variable]);
        Some(format!("{{{} {} for {k} in 1:{count}}}", cases.join(" "), float(*last)))
    }

    /// Number of scalars of variables: `3`, `2 + n*m`.
    pub(super) fn count_text(&self, variables: &[usize]) -> String {
        let (symbolic, plain): (Vec<usize>, Vec<usize>) = variables.iter().partition(|&&v| self.is_symbolic(v));
        let number: usize = plain.iter().map(|&v| self.n_elements(v)).sum();
        let mut parts: Vec<String> = symbolic.iter().map(|&v| self.size_texts(v).join("*")).collect();
        if number > 0 || parts.is_empty() {
            parts.insert(0, number.to_string());
        }
        parts.join(" + ")
    }

    /// Element number `k` of an array, row by row.
    fn element(&self, variable: usize, k: &str) -> String {
        let sizes = self.size_texts(variable);
        let mut subscripts = Vec::new();
        for (i, size) in sizes.iter().enumerate() {
            let stride = sizes[i + 1..].join("*");
            let row = if stride.is_empty() { format!("{k} - 1") } else { format!("div({k} - 1, {stride})") };
            subscripts.push(if i == 0 { format!("{row} + 1") } else { format!("mod({row}, {size}) + 1") });
        }
        match sizes.len() {
            1 => format!("{}[{k}]", self.name(variable)),
            _ => format!("{}[{}]", self.name(variable), subscripts.join(", ")),
        }
    }

    /// Equations for all elements; `line` gets the name of an element and its place, row by row from 1.
    pub(super) fn each(&self, variable: usize, line: impl Fn(&str, &str) -> String) -> Vec<String> {
        if self.is_symbolic(variable) {
            let k = self.own.name("fmu_k");
            let inner = line(&self.element(variable, &k), &k);
            let count = self.count_text(&[variable]);
            return vec![format!("for {k} in 1:{count} loop {inner} end for;")];
        }
        let elements = self.elements(variable).into_iter().enumerate();
        elements.map(|(i, name)| line(&name, &(i + 1).to_string())).collect()
    }

    /// Equations for all elements of several variables, which follow one another in a vector.
    pub(super) fn each_of(&self, variables: &[usize], line: impl Fn(&str, &str) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        for (i, &variable) in variables.iter().enumerate() {
            let before = self.count_text(&variables[..i]);
            let is_first = before == "0";
            lines.extend(self.each(variable, |name, k| {
                match (is_first, k.parse::<usize>(), before.parse::<usize>()) {
                    (true, ..) => line(name, k),
                    (_, Ok(k), Ok(before)) => line(name, &(before + k).to_string()),
                    _ => line(name, &format!("{before} + {k}")),
                }
            }));
        }
        lines
    }

    /// Values of variables as one vector of numbers.
    pub(super) fn values(&self, variables: &[usize]) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut plain: Vec<String> = Vec::new();
        for &at in variables {
            let kind = self.model.variables[at].kind;
            let number = |name: String| match kind {
                Type::Boolean => format!("if {name} then 1.0 else 0.0"),
                Type::Clock => format!("if edge({name}) then 1.0 else 0.0"),
                _ => name,
            };
            if !self.is_symbolic(at) {
                plain.extend(self.elements(at).into_iter().map(number));
                continue;
            }
            if !plain.is_empty() {
                parts.push(format!("{{{}}}", plain.join(", ")));
                plain.clear();
            }
            let k = self.own.name("fmu_k");
            parts.push(match self.model.variables[at].dimensions.len() {
                1 if kind.is_float() => self.name(at),
                _ => format!("{{{} for {k} in 1:{}}}", number(self.element(at, &k)), self.count_text(&[at])),
            });
        }
        if !plain.is_empty() {
            parts.push(format!("{{{}}}", plain.join(", ")));
        }
        match &parts[..] {
            [] => "zeros(0)".into(),
            [one] => one.clone(),
            _ => format!("cat(1, {})", parts.join(", ")),
        }
    }
}
