//! Clocks that others see: those who run a compiled model make its input clocks tick and ask whether its output clocks have ticked.
//!
//! ```modelica
//! input Clock c;            ⇒   input Boolean c.$tick;
//!                               Clock c = Clock(change(c.$tick));
//!
//! output Clock d;           ⇒   output Clock d;
//!                               Integer d.$count(start = 0);
//!                             equation
//!                               when d then d.$count = previous(d.$count) + 1; end when;
//!
//! Clock p = Clock(1, 10);   ⇒   parameter Real p.$interval = 1/10;   only if somebody else drives periodic clocks
//!                               input Boolean p.$tick;
//!                               Clock p = Clock(change(p.$tick), p.$interval);
//! ```
//!
//! In: a flat model. Out: the same model with these variables. A clock ticks where its Boolean changes, whatever its value. The names are
//! free: a variable of a built-in type has no components, and no identifier begins with a dollar sign.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::{
    Attributes, BaseType, BinaryOp, Builtin, Causality, Equation, EquationKind, Expr, ExprKind, FlatModel, Origin,
    Prefix, Type, VarId, Variability, Variable,
};

/// Who makes the clocks of a model tick.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ClockDriver {
    /// The model itself, as in a simulation. An input clock that nothing is connected to is a clock without a source.
    #[default]
    Model,
    /// Input clocks tick from outside; periodic ones by themselves.
    Mixed,
    /// Input clocks and periodic clocks tick from outside.
    Outside,
}

const TICK: &str = ".$tick";
const COUNT: &str = ".$count";
const INTERVAL: &str = ".$interval";

/// The variables of a clock that is seen from outside, by their names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockPart<'a> {
    /// An input clock ticks where this Boolean changes.
    Tick(&'a str),
    /// How often an output clock has ticked.
    Count(&'a str),
    /// The interval of a periodic input clock in seconds.
    Interval(&'a str),
}

/// Which part of which clock a variable is.
pub fn part_of(variable: &str) -> Option<ClockPart<'_>> {
    let tick = variable.strip_suffix(TICK).map(ClockPart::Tick);
    tick.or_else(|| variable.strip_suffix(COUNT).map(ClockPart::Count))
        .or_else(|| variable.strip_suffix(INTERVAL).map(ClockPart::Interval))
}

/// The name of the parameter that is the interval of a periodic input clock.
pub fn interval_of(clock: &str) -> String {
    format!("{clock}{INTERVAL}")
}

/// The names of clocks that come from outside.
pub fn input_clocks(model: &FlatModel) -> impl Iterator<Item = &str> {
    model.variables.values().filter(|v| is_clock(v) && v.causality == Causality::Input).map(|v| v.name.as_str())
}

pub fn with_clock_variables(model: &FlatModel, driver: ClockDriver) -> FlatModel {
    let mut made = Maker { model: model.clone(), n_nameless: 0 };
    if driver == ClockDriver::Model {
        return made.model;
    }
    let clocks = |causality: Causality| -> Vec<VarId> {
        let of = |v: &Variable| is_clock(v) && v.causality == causality;
        model.variables.iter().filter(|(_, v)| of(v)).map(|(id, _)| id).collect()
    };
    clocks(Causality::Output).into_iter().for_each(|clock| made.count(clock));
    if driver == ClockDriver::Outside {
        made.drive_periodic();
    }
    clocks(Causality::Input).into_iter().for_each(|clock| made.receive(clock));
    made.model
}

fn is_clock(variable: &Variable) -> bool {
    variable.ty == Type::scalar(BaseType::Clock)
}

struct Maker {
    model: FlatModel,
    /// Periodic clocks that are no variables.
    n_nameless: usize,
}

impl Maker {
    fn add(&mut self, name: String, ty: Type, variability: Variability, span: Span) -> VarId {
        self.model.variables.push(Variable {
            name,
            ty,
            variability,
            causality: Causality::Local,
            prefix: Prefix::None,
            attributes: Attributes::default(),
            binding: None,
            description: String::new(),
            is_protected: false,
            hide_result: true,
            is_structural: false,
            is_final: false,
            span,
        })
    }

    fn load(&self, id: VarId, span: Span) -> Expr {
        Expr::new(ExprKind::Var(id), self.model.variables[id].ty.clone(), span)
    }

    /// An input clock becomes an event clock.
    fn receive(&mut self, clock: VarId) {
        let (name, span) = (self.model.variables[clock].name.clone(), self.model.variables[clock].span);
        let source = self.event_clock(&name, Expr::real(0.0, span), span);
        let variable = &mut self.model.variables[clock];
        variable.causality = Causality::Local;
        variable.binding = Some(source);
    }

    /// `Clock(change(NAME.$tick), start)`
    fn event_clock(&mut self, name: &str, start: Expr, span: Span) -> Expr {
        let tick = self.add(format!("{name}{TICK}"), Type::BOOLEAN, Variability::Discrete, span);
        self.model.variables[tick].causality = Causality::Input;
        let change = Expr::builtin(Builtin::Change, vec![self.load(tick, span)], Type::BOOLEAN, span);
        Expr::builtin(Builtin::Clock, vec![change, start], Type::scalar(BaseType::Clock), span)
    }

    /// `when NAME then NAME.$count = previous(NAME.$count) + 1; end when;`
    fn count(&mut self, clock: VarId) {
        let (name, span) = (self.model.variables[clock].name.clone(), self.model.variables[clock].span);
        let count = self.add(format!("{name}{COUNT}"), Type::INTEGER, Variability::Discrete, span);
        self.model.variables[count].attributes.start = Some(Expr::integer(0, span));
        let before = Expr::builtin(Builtin::Previous, vec![self.load(count, span)], Type::INTEGER, span);
        let sum = ExprKind::Binary(BinaryOp::Add, Box::new(before), Box::new(Expr::integer(1, span)));
        let right = Expr::new(sum, Type::INTEGER, span);
        let equation = |kind| Equation { kind, origin: Origin::Declared, component: Arc::from(""), span };
        let counts = equation(EquationKind::Equality { left: self.load(count, span), right });
        let branches = vec![(self.load(clock, span), vec![counts])];
        self.model.equations.push(equation(EquationKind::When { branches }));
    }

    /// Periodic clocks become event clocks, wherever they are constructed.
    fn drive_periodic(&mut self) {
        let ids: Vec<VarId> = self.model.variables.iter().map(|(id, _)| id).collect();
        for id in ids {
            if let Some(mut binding) = self.model.variables[id].binding.take() {
                let name = self.model.variables[id].name.clone();
                let owner = is_clock(&self.model.variables[id]).then_some(name.as_str());
                self.drive(&mut binding, owner);
                self.model.variables[id].binding = Some(binding);
            }
        }
        let mut equations = std::mem::take(&mut self.model.equations);
        self.drive_in_equations(&mut equations);
        self.model.equations = equations;
    }

    fn drive_in_equations(&mut self, equations: &mut [Equation]) {
        for equation in equations {
            match &mut equation.kind {
                EquationKind::Equality { left, right } => {
                    let owner = [&*left, &*right].into_iter().find_map(|side| self.clock_name(side));
                    [left, right].into_iter().for_each(|side| self.drive(side, owner.as_deref()));
                }
                EquationKind::If { branches, otherwise } => {
                    branches.iter_mut().for_each(|(_, body)| self.drive_in_equations(body));
                    self.drive_in_equations(otherwise);
                }
                EquationKind::When { branches } => {
                    for (condition, body) in branches {
                        self.drive(condition, None);
                        self.drive_in_equations(body);
                    }
                }
                _ => {}
            }
        }
    }

    fn clock_name(&self, e: &Expr) -> Option<String> {
        match &e.kind {
            ExprKind::Var(id) if is_clock(&self.model.variables[*id]) => Some(self.model.variables[*id].name.clone()),
            _ => None,
        }
    }

    /// `owner` is the variable that the expression is the value of.
    fn drive(&mut self, e: &mut Expr, owner: Option<&str>) {
        let Some(interval) = self.period(e) else {
            e.for_each_child_mut(&mut |child| self.drive(child, None));
            return;
        };
        let name = owner.map(str::to_owned).unwrap_or_else(|| {
            self.n_nameless += 1;
            format!("_clock{}", self.n_nameless)
        });
        let span = e.span;
        let parameter = self.add(interval_of(&name), Type::REAL, Variability::Parameter, span);
        self.model.variables[parameter].binding = Some(interval);
        let start = self.load(parameter, span);
        *e = self.event_clock(&name, start, span);
    }

    /// The interval of a constructor of a periodic clock: `Clock(counter, resolution)` or `Clock(interval)` of parameters.
    fn period(&self, e: &Expr) -> Option<Expr> {
        let ExprKind::Builtin { function: Builtin::Clock, arguments } = &e.kind else { return None };
        if !arguments.iter().all(|argument| self.is_parametric(argument)) {
            return None;
        }
        match &arguments[..] {
            [interval] if interval.ty.base == BaseType::Real => Some(interval.clone()),
            [counter, resolution] if [counter, resolution].iter().all(|a| a.ty.base == BaseType::Integer) => {
                // A counter of 0 stands for a clock that is to be inferred.
                if matches!(counter.kind, ExprKind::Integer(0)) {
                    return None;
                }
                let parts = [counter, resolution].map(|part| Box::new(part.clone().to_real()));
                let [counter, resolution] = parts;
                Some(Expr::new(ExprKind::Binary(BinaryOp::Div, counter, resolution), Type::REAL, e.span))
            }
            _ => None,
        }
    }

    fn is_parametric(&self, e: &Expr) -> bool {
        let mut is_known = true;
        e.walk(&mut |part| match &part.kind {
            ExprKind::Var(id) => is_known &= self.model.variables[*id].variability <= Variability::Parameter,
            ExprKind::Time | ExprKind::Local(_) => is_known = false,
            _ => {}
        });
        is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names_that_no_component_has() {
        assert_eq!(part_of("a.c.$tick"), Some(ClockPart::Tick("a.c")));
        assert_eq!(part_of("c.$interval"), Some(ClockPart::Interval("c")));
        assert_eq!(part_of("c.tick"), None);
    }
}
