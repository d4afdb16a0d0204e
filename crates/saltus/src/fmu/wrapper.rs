//! The Modelica text that makes a component of an FMU.
//!
//! ```text
//! state h, output h, parameter g,      parameter Real g = -9.81;
//! two states, one event indicator  ⇒   Saltus.Blocks.RealOutput h(start = 1, fixed = true);
//!                                      {der(h), der(v)} = Saltus.FMI.derivatives(fmu, pre(fmu_n), time, {h, v}, …);
//!                                      fmu_positive = Saltus.FMI.indicators(…) .> 0;
//!                                      when {fmu_started, change(fmu_positive[1]), time >= pre(fmu_next)} then
//!                                        (fmu_n, fmu_next, …) = Saltus.FMI.event(…);  reinit(h, …);
//!                                      end when;
//! ```
//!
//! Everything depends on the number of events before the present one, so that no event is part of an algebraic loop: what it
//! changes is seen in the next round.

mod scheduled;
mod shape;

use std::fmt::Write;

use saltus_fmi::{Causality, Initial, Kind, ModelDescription, Type, Unknown, Values, Variability, Variable, Version};

use super::names::{Own, class_name, identifier, string};

/// What the wrapper is to be like.
pub struct Settings<'a> {
    pub class: &'a str,
    /// Path or URI of the FMU, as the simulation finds it.
    pub file: &'a str,
    pub kind: Kind,
    /// Variables that are neither inputs nor outputs, states or parameters are part of it too.
    pub locals: bool,
}

/// How the second line of a wrapper begins.
const MARK: &str = "// The FMU";

/// Was this text written by [`write`]?
pub fn is_wrapper(text: &str) -> bool {
    text.lines().nth(1).is_some_and(|line| line.trim_start().starts_with(MARK))
}

/// Model exchange where the FMU has it, else co-simulation, else scheduled execution.
pub fn usual_kind(model: &ModelDescription) -> Option<Kind> {
    model.kinds().into_iter().next()
}

/// The name that the class has if the user does not say another one.
pub fn usual_class(model: &ModelDescription) -> String {
    let kind = model.kinds().into_iter().next();
    class_name(kind.and_then(|kind| model.interface(kind)).map_or(&model.model_name, |i| &i.model_identifier))
}

/// The text, and what of the FMU is not part of it.
pub fn write(model: &ModelDescription, settings: &Settings) -> (String, Vec<String>) {
    let mut wrapper = Wrapper::new(model, settings);
    wrapper.write_head();
    wrapper.write_parameters();
    wrapper.write_inputs();
    wrapper.write_clocks();
    wrapper.write_states();
    wrapper.write_outputs();
    match settings.kind {
        Kind::CoSimulation => wrapper.write_co_simulation(),
        Kind::ScheduledExecution => wrapper.write_scheduled(),
        Kind::ModelExchange => wrapper.write_model_exchange(),
    }
    wrapper.write_end();
    (wrapper.text, wrapper.left_out)
}

struct Wrapper<'a> {
    model: &'a ModelDescription,
    settings: &'a Settings<'a>,
    own: Own<'a>,
    text: String,
    left_out: Vec<String>,
    /// Indices of variables.
    parameters: Vec<usize>,
    string_parameters: Vec<usize>,
    inputs: Vec<usize>,
    /// Input clocks that are triggered from outside, and output clocks.
    clocks: Vec<usize>,
    out_clocks: Vec<usize>,
    states: Vec<usize>,
    /// Outputs and other variables that are shown, without states.
    shown: Vec<usize>,
}

impl<'a> Wrapper<'a> {
    fn new(model: &'a ModelDescription, settings: &'a Settings<'a>) -> Self {
        let all = |wanted: &dyn Fn(&Variable) -> bool| -> Vec<usize> {
            (0..model.variables.len()).filter(|&v| wanted(&model.variables[v])).collect()
        };
        let is_number = |v: &Variable| !matches!(v.kind, Type::String | Type::Binary | Type::Clock);
        let is_me = settings.kind == Kind::ModelExchange;
        let states: Vec<usize> = match is_me {
            true => model.structure.derivatives.iter().filter_map(|u| model.variables[u.variable].derivative).collect(),
            false => Vec::new(),
        };
        let mut is_state = vec![false; model.variables.len()];
        states.iter().for_each(|&s| is_state[s] = true);
        let is_shown = |v: &Variable| {
            is_number(v)
                && (v.causality == Causality::Output
                    || (settings.locals && matches!(v.causality, Causality::Local | Causality::CalculatedParameter)))
        };
        // Co-simulation without event mode has no clocks.
        let has_events = match settings.kind {
            Kind::CoSimulation => model.co_simulation.as_ref().is_some_and(|cs| cs.event_mode),
            _ => true,
        };
        let (clocks, out_clocks) = if has_events { scheduled::clocks_of(model) } else { (Vec::new(), Vec::new()) };
        let left_out = all(&|v: &Variable| {
            !(is_number(v) || has_events && v.kind == Type::Clock)
                && matches!(v.causality, Causality::Input | Causality::Output | Causality::Parameter)
                && !(v.kind == Type::String && v.causality == Causality::Parameter && v.dimensions.is_empty())
        });
        Wrapper {
            model,
            settings,
            own: Own::new(model.variables.iter().map(|v| v.name.as_str())),
            text: String::new(),
            left_out: left_out.into_iter().map(|v| model.variables[v].name.clone()).collect(),
            // Structural ones first: they give others their sizes.
            parameters: [Causality::StructuralParameter, Causality::Parameter]
                .into_iter()
                .flat_map(|causality| all(&|v: &Variable| v.causality == causality && is_number(v)))
                .collect(),
            string_parameters: all(&|v: &Variable| {
                v.causality == Causality::Parameter && v.kind == Type::String && v.dimensions.is_empty()
            }),
            inputs: all(&|v: &Variable| v.causality == Causality::Input && is_number(v)),
            clocks,
            out_clocks,
            states,
            shown: all(&is_shown).into_iter().filter(|&v| !is_state[v]).collect(),
        }
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    fn name(&self, variable: usize) -> String {
        identifier(&self.model.variables[variable].name)
    }

    fn n_elements(&self, variable: usize) -> usize {
        self.model.n_elements(&self.model.variables[variable]) as usize
    }

    fn sizes(&self, variable: usize) -> Vec<u64> {
        let size = |d: &saltus_fmi::Dimension| match *d {
            saltus_fmi::Dimension::Fixed(n) => n,
            saltus_fmi::Dimension::Variable(at) => {
                self.model.variables[at].start_integer().map_or(1, |n| n.max(0) as u64)
            }
        };
        self.model.variables[variable].dimensions.iter().map(size).collect()
    }

    /// Names of all elements, row by row.
    fn elements(&self, variable: usize) -> Vec<String> {
        let name = self.name(variable);
        let mut all = vec![String::new()];
        for size in self.sizes(variable) {
            let longer = |prefix: &String, i: u64| match prefix.is_empty() {
                true => i.to_string(),
                false => format!("{prefix}, {i}"),
            };
            all = all.iter().flat_map(|prefix| (1..=size).map(move |i| longer(prefix, i))).collect();
        }
        match self.model.variables[variable].dimensions.is_empty() {
            true => vec![name],
            false => all.into_iter().map(|subscripts| format!("{name}[{subscripts}]")).collect(),
        }
    }

    fn write_head(&mut self) {
        let model = self.model;
        let what = match self.settings.kind {
            Kind::CoSimulation => "co-simulation",
            Kind::ScheduledExecution => "scheduled execution",
            Kind::ModelExchange => "model exchange",
        };
        let description = model.description.as_deref().unwrap_or("");
        self.line(format!("model {} {}", identifier(self.settings.class), string(description)));
        self.line(format!(
            "  {MARK} {} as a component: FMI {}, {what}.",
            model.model_name.replace('\n', " "),
            model.version.text()
        ));
    }

    fn write_parameters(&mut self) {
        for at in self.parameters.clone() {
            let variable = &self.model.variables[at];
            let value = start_text(variable, &self.sizes(at)).unwrap_or_else(|| "0".into());
            let (name, dims) = (self.name(at), self.dimensions(at));
            let (base, attributes) = (base_type(variable.kind), self.attributes(at, None));
            let comment = comment(variable);
            self.line(format!("  parameter {base} {name}{dims}{attributes} = {value}{comment};"));
        }
        for at in self.string_parameters.clone() {
            let variable = &self.model.variables[at];
            let value = match &variable.start {
                Some(Values::String(texts)) => string(texts.first().map_or("", String::as_str)),
                _ => "\"\"".into(),
            };
            self.line(format!("  parameter String {} = {value}{};", self.name(at), comment(variable)));
        }
    }

    /// `(start = 1, unit = "m")`
    fn attributes(&self, variable: usize, start: Option<String>) -> String {
        let variable = &self.model.variables[variable];
        let each = if variable.dimensions.is_empty() { "" } else { "each " };
        let given = self.model.effective_attributes(variable);
        let mut all = Vec::new();
        if let Some(start) = start {
            all.push(start);
        }
        if variable.kind.is_float() {
            all.extend(given.unit.as_deref().filter(|u| !u.is_empty()).map(|u| format!("{each}unit = {}", string(u))));
            all.extend(given.quantity.as_deref().map(|q| format!("{each}quantity = {}", string(q))));
            let nominal = given.nominal.filter(|n| n.is_finite() && *n > 0.0 && *n != 1.0);
            all.extend(nominal.map(|n| format!("{each}nominal = {}", float(n))));
        }
        if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
    }

    fn write_inputs(&mut self) {
        for at in self.inputs.clone() {
            let variable = &self.model.variables[at];
            let start = match self.is_symbolic(at) {
                false => start_text(variable, &self.sizes(at)),
                true => self.symbolic_start(at),
            };
            let start = start.map(|s| format!("start = {s}"));
            let discrete = if is_discrete_float(variable) { "discrete " } else { "" };
            let text = format!(
                "  {discrete}{} {}{}{}{};",
                connector(variable.kind, "Input"),
                self.name(at),
                self.dimensions(at),
                self.attributes(at, start),
                comment(variable)
            );
            self.line(text);
        }
    }

    fn write_states(&mut self) {
        for at in self.states.clone() {
            let variable = &self.model.variables[at];
            let is_exact = variable.initial() == Some(Initial::Exact);
            let each = if variable.dimensions.is_empty() { "" } else { "each " };
            let start = start_text(variable, &self.sizes(at)).map(|s| match is_exact {
                true => format!("start = {s}, {each}fixed = true"),
                false => format!("start = {s}"),
            });
            let what = if variable.causality == Causality::Output { "Saltus.Blocks.RealOutput" } else { "Real" };
            let text = format!(
                "  {what} {}{}{}{};",
                self.name(at),
                self.dimensions(at),
                self.attributes(at, start),
                comment(variable)
            );
            self.line(text);
        }
    }

    fn write_outputs(&mut self) {
        let is_sampled = self.settings.kind == Kind::CoSimulation;
        for at in self.shown.clone() {
            let variable = &self.model.variables[at];
            let is_output = variable.causality == Causality::Output;
            let is_discrete = variable.kind.is_float() && (is_sampled || is_discrete_float(variable));
            let what = match is_output {
                true => connector(variable.kind, "Output"),
                false => base_type(variable.kind),
            };
            let text = format!(
                "  {}{what} {}{}{}{};",
                if is_discrete { "discrete " } else { "" },
                self.name(at),
                self.dimensions(at),
                self.attributes(at, None),
                comment(variable)
            );
            self.line(text);
        }
    }

    /// The object with its parameters.
    fn write_unit(&mut self) {
        let kind = match self.settings.kind {
            Kind::ModelExchange => 1,
            Kind::CoSimulation => 2,
            Kind::ScheduledExecution => 3,
        };
        let numbers = |list: &[usize]| integers(list.iter().map(|v| v + 1));
        let values = self.values(&self.parameters);
        let texts: Vec<String> = self.string_parameters.iter().map(|&v| self.name(v)).collect();
        let texts = if texts.is_empty() { "fill(\"\", 0)".to_owned() } else { format!("{{{}}}", texts.join(", ")) };
        let unit = self.own.name("fmu");
        let text = format!(
            "  Saltus.FMI.Unit {unit} = Saltus.FMI.Unit({}, {}, getInstanceName(), {kind},\n    {}, {values}, {}, {texts});",
            string(self.settings.file),
            string(&self.model.token),
            numbers(&self.parameters),
            numbers(&self.string_parameters),
        );
        self.line("protected");
        self.line(text);
    }

    /// The inputs that an unknown depends on; all if it does not say.
    fn known_inputs(&self, unknown: Option<&Unknown>) -> Vec<usize> {
        let dependencies = unknown.and_then(|u| u.dependencies.as_ref());
        match dependencies {
            Some(list) => self.inputs.iter().copied().filter(|v| list.iter().any(|d| d.variable == *v)).collect(),
            None => self.inputs.clone(),
        }
    }

    /// `fmu, pre(fmu_n), time, {states}, {inputs}, {values}`
    fn point(&self, n: &str, inputs: &[usize]) -> String {
        let unit = self.own.name("fmu");
        let numbers = integers(inputs.iter().map(|v| v + 1));
        format!("{unit}, {n}, time, {}, {numbers}, {}", self.values(&self.states), self.values(inputs))
    }

    fn write_model_exchange(&mut self) {
        self.write_unit();
        let [n, next, stop, started, positive, x1] =
            ["fmu_n", "fmu_next", "fmu_stop", "fmu_started", "fmu_positive", "fmu_x"].map(|w| self.own.name(w));
        let all_states = self.states.clone();
        let has_states = !all_states.is_empty();
        let n_states = self.count_text(&all_states);
        let of_fmu: Vec<usize> = self.model.structure.event_indicators.iter().map(|u| u.variable).collect();
        // The last one is for FMUs that want an event after a step.
        let has_own = self.model.model_exchange.as_ref().is_some_and(|me| me.needs_completed_step);
        let n_of_fmu = match self.model.version {
            Version::V2 => self.model.n_event_indicators.to_string(),
            Version::V3 => self.count_text(&of_fmu),
        };
        let n_indicators = match (has_own, n_of_fmu.parse::<usize>()) {
            (false, _) => n_of_fmu.clone(),
            (true, Ok(n)) => (n + 1).to_string(),
            (true, Err(_)) => format!("{n_of_fmu} + 1"),
        };
        let has_indicators = n_indicators != "0";
        self.line(format!("  Integer {n}(start = 0, fixed = true) \"Number of events\";"));
        self.line(format!("  discrete Real {next}(start = 1e60, fixed = true) \"Time of the next event\";"));
        self.line(format!("  Boolean {stop}(start = false, fixed = true), {started};"));
        let z = self.own.name("fmu_z");
        if has_indicators {
            self.line(format!("  Boolean {positive}[{n_indicators}];"));
            self.line(format!("  Real {z}[{n_indicators}] \"Event indicators\";"));
        }
        let dx = self.own.name("fmu_dx");
        let is_symbolic = all_states.iter().any(|&s| self.is_symbolic(s));
        if is_symbolic {
            self.line(format!("  Real {dx}[{n_states}] \"Derivatives of the states\";"));
        }
        if has_states {
            self.line(format!(
                "  discrete Real {x1}[{n_states}](each start = 0, each fixed = true) \"States after an event\";"
            ));
        }
        let start = self.own.name("fmu_start");
        self.line(format!("  parameter Real {start}(fixed = false) \"Time at the start\";"));
        self.write_tick_counters();
        self.line("initial equation");
        self.line(format!("  {start} = time;"));
        self.write_initial_states();
        self.line("equation");
        let before = format!("pre({n})");
        let all = self.inputs.clone();
        let point = self.point(&before, &all);
        self.line(format!("  {started} = not initial();"));
        if is_symbolic {
            self.line(format!("  {dx} = Saltus.FMI.derivatives({point});"));
            self.write_lines("  ", self.each_of(&all_states, |name, k| format!("der({name}) = {dx}[{k}];")));
        } else if has_states {
            let states: Vec<String> = all_states.iter().flat_map(|&s| self.elements(s)).collect();
            let left: Vec<String> = states.iter().map(|s| format!("der({s})")).collect();
            self.line(format!("  {{{}}} = Saltus.FMI.derivatives({point});", left.join(", ")));
        }
        if has_indicators {
            self.line(format!("  {z} = Saltus.FMI.indicators({point}, {n_indicators});"));
            match n_indicators.parse::<usize>() {
                Ok(n) => (1..=n).for_each(|i| self.line(format!("  {positive}[{i}] = {z}[{i}] > 0;"))),
                Err(_) => {
                    let k = self.own.name("fmu_k");
                    self.line(format!("  for {k} in 1:{n_indicators} loop {positive}[{k}] = {z}[{k}] > 0; end for;"));
                }
            }
        }
        self.write_tick_equations(&before);
        self.write_output_equations(&before);
        let mut conditions = vec![started, format!("time >= pre({next})")];
        match n_of_fmu.parse::<usize>() {
            Ok(n) => conditions.extend((1..=n).map(|i| format!("change({positive}[{i}])"))),
            Err(_) => {
                let k = self.own.name("fmu_k");
                let each = format!("if change({positive}[{k}]) then 1 else 0");
                conditions.push(format!("sum({{{each} for {k} in 1:{n_of_fmu}}}) > 0"));
            }
        }
        if has_own {
            conditions.push(format!("not {positive}[{n_indicators}]"));
        }
        conditions.extend(self.tick_conditions());
        for &at in &self.inputs {
            let variable = &self.model.variables[at];
            if !variable.kind.is_float() || is_discrete_float(variable) {
                conditions.extend(self.elements(at).iter().map(|name| format!("change({name})")));
            }
        }
        let with_clocks: Vec<usize> = self.inputs.iter().chain(&self.clocks).copied().collect();
        let point = self.point(&before, &with_clocks);
        self.line(format!("  when {{{}}} then", conditions.join(", ")));
        match has_states {
            false => self.line(format!("    ({n}, {next}, {stop}) = Saltus.FMI.event({point});")),
            true => self.line(format!("    ({n}, {next}, {stop}, {x1}) = Saltus.FMI.event({point});")),
        }
        self.write_lines("    ", self.each_of(&all_states, |name, k| format!("reinit({name}, {x1}[{k}]);")));
        self.line("  end when;");
        self.write_stop(&stop);
    }

    fn write_lines(&mut self, indent: &str, lines: Vec<String>) {
        for line in lines {
            self.line(format!("{indent}{line}"));
        }
    }

    fn write_stop(&mut self, condition: &str) {
        self.line(format!("  when {condition} then"));
        self.line(format!(
            "    terminate({});",
            string(&format!("the FMU {} ends the simulation", self.model.model_name))
        ));
        self.line("  end when;");
    }

    /// States that the FMU computes itself.
    fn write_initial_states(&mut self) {
        let computed: Vec<usize> = self
            .states
            .iter()
            .copied()
            .filter(|&s| self.model.variables[s].initial() != Some(Initial::Exact))
            .collect();
        for at in computed {
            let unknown = self.model.structure.initial_unknowns.iter().find(|u| u.variable == at);
            let point = self.point("0", &self.known_inputs(unknown));
            let lines = self.each(at, |name, k| format!("{name} = Saltus.FMI.number({point}, {}, {k});", at + 1));
            self.write_lines("  ", lines);
        }
    }

    fn write_output_equations(&mut self, before: &str) {
        let (unit, start) = (self.own.name("fmu"), self.own.name("fmu_start"));
        for at in self.shown.clone() {
            let variable = &self.model.variables[at];
            let unknown = self.model.structure.outputs.iter().find(|u| u.variable == at);
            let point = self.point(before, &self.known_inputs(unknown));
            let right = |k: &str| {
                let place = format!("{}, {k}", at + 1);
                match variable.kind {
                    Type::Boolean => format!("Saltus.FMI.presentBoolean({unit}, {before}, {start}, {place})"),
                    kind if !kind.is_float() => {
                        format!("Saltus.FMI.presentInteger({unit}, {before}, {start}, {place})")
                    }
                    _ if is_discrete_float(variable) => {
                        format!("Saltus.FMI.present({unit}, {before}, {start}, {place})")
                    }
                    _ => format!("Saltus.FMI.number({point}, {place})"),
                }
            };
            let lines = self.each(at, |name, k| format!("{name} = {};", right(k)));
            self.write_lines("  ", lines);
        }
    }

    fn write_co_simulation(&mut self) {
        let step = self.own.name("communicationStep");
        let experiment = self.model.default_experiment.clone().unwrap_or_default();
        let fixed = self.model.co_simulation.as_ref().and_then(|cs| cs.fixed_internal_step);
        let span = experiment.stop_time.unwrap_or(1.0) - experiment.start_time.unwrap_or(0.0);
        let usual = experiment.step_size.or(fixed).unwrap_or(if span > 0.0 { span / 500.0 } else { 0.002 });
        self.line(format!(
            "  parameter Real {step}(unit = \"s\") = {} \"Time between communication points\";",
            float(usual)
        ));
        self.write_unit();
        let [n, next, stop, started, reads, served, rereads, reread] =
            ["fmu_n", "fmu_next", "fmu_stop", "fmu_started", "fmu_reads", "fmu_served", "fmu_rereads", "fmu_reread"]
                .map(|w| self.own.name(w));
        self.line(format!("  Integer {n}(start = 0, fixed = true) \"Number of steps\";"));
        self.line(format!("  Integer {reads}(start = 0, fixed = true) \"How often outputs were read\";"));
        self.line(format!("  Integer {served}(start = 0, fixed = true) \"Readings that were followed by a step\";"));
        self.line(format!(
            "  Integer {rereads}(start = 0, fixed = true) \"Events that were handled instead of a step\";"
        ));
        self.line(format!(
            "  Integer {reread}(start = 0, fixed = true) \"Those after which outputs were read again\";"
        ));
        self.line(format!("  discrete Real {next}(start = 1e60, fixed = true) \"Next communication point\";"));
        self.line(format!("  Boolean {stop}(start = false, fixed = true), {started};"));
        let outputs: Vec<(usize, String)> = self.sampled_outputs(&format!("pre({n})"));
        if !outputs.is_empty() {
            self.line("initial equation");
            for (_, equation) in self.sampled_outputs("0") {
                self.line(format!("  {equation}"));
            }
        }
        self.line("equation");
        self.line(format!("  {started} = not initial();"));
        self.line(
            "  // Outputs at a communication point are read first, so that inputs follow them before the step is made.",
        );
        self.line(format!("  when {{{started}, time >= pre({next}), pre({rereads}) > pre({reread})}} then"));
        for (_, equation) in outputs {
            self.line(format!("    {equation}"));
        }
        self.line(format!("    {reads} = pre({reads}) + 1;"));
        self.line(format!("    {reread} = pre({rereads});"));
        self.line("  end when;");
        let numbers = integers(self.inputs.iter().map(|v| v + 1));
        let (unit, values) = (self.own.name("fmu"), self.values(&self.inputs));
        self.line(format!("  when pre({reads}) > pre({served}) and not pre({stop}) then"));
        self.line(format!(
            "    ({n}, {next}, {stop}) = Saltus.FMI.step({unit}, pre({n}), time, {step}, {numbers}, {values});"
        ));
        self.line(format!("    {served} = pre({reads});"));
        self.line(format!("    {rereads} = if {next} > time then pre({rereads}) else pre({rereads}) + 1;"));
        self.line("  end when;");
        // The step that ends the simulation has been made ahead.
        self.write_stop(&format!("pre({stop}) and time >= pre({next})"));
    }

    /// Equations of outputs at a communication point.
    fn sampled_outputs(&self, n: &str) -> Vec<(usize, String)> {
        let mut equations = Vec::new();
        for &at in &self.shown {
            let unknown = self.model.structure.outputs.iter().find(|u| u.variable == at);
            let point = self.point(n, &self.known_inputs(unknown));
            let function = match self.model.variables[at].kind {
                Type::Boolean => "booleanNumber",
                kind if kind.is_float() => "number",
                _ => "integerNumber",
            };
            let lines = self.each(at, |name, k| format!("{name} = Saltus.FMI.{function}({point}, {}, {k});", at + 1));
            equations.extend(lines.into_iter().map(|line| (at, line)));
        }
        equations
    }

    fn write_end(&mut self) {
        let experiment = self.model.default_experiment.clone().unwrap_or_default();
        let mut all = Vec::new();
        for (name, value) in [
            ("StartTime", experiment.start_time),
            ("StopTime", experiment.stop_time),
            ("Tolerance", experiment.tolerance),
            ("Interval", experiment.step_size),
        ] {
            all.extend(value.filter(|v| v.is_finite()).map(|v| format!("{name} = {}", float(v))));
        }
        if !all.is_empty() {
            self.line(format!("  annotation (experiment({}));", all.join(", ")));
        }
        let end = format!("end {};", identifier(self.settings.class));
        self.line(end);
    }
}

fn is_discrete_float(variable: &Variable) -> bool {
    variable.kind.is_float() && variable.variability != Variability::Continuous
}

fn base_type(kind: Type) -> &'static str {
    match kind {
        Type::Boolean => "Boolean",
        kind if kind.is_float() => "Real",
        _ => "Integer",
    }
}

fn connector(kind: Type, direction: &str) -> &'static str {
    match (base_type(kind), direction) {
        ("Real", "Input") => "Saltus.Blocks.RealInput",
        ("Real", _) => "Saltus.Blocks.RealOutput",
        ("Boolean", "Input") => "Saltus.Blocks.BooleanInput",
        ("Boolean", _) => "Saltus.Blocks.BooleanOutput",
        (_, "Input") => "Saltus.FMI.IntegerInput",
        _ => "Saltus.FMI.IntegerOutput",
    }
}

fn comment(variable: &Variable) -> String {
    variable.description.as_deref().filter(|d| !d.is_empty()).map_or_else(String::new, |d| format!(" {}", string(d)))
}

fn integers(numbers: impl Iterator<Item = usize>) -> String {
    let all: Vec<String> = numbers.map(|n| n.to_string()).collect();
    if all.is_empty() { "fill(0, 0)".into() } else { format!("{{{}}}", all.join(", ")) }
}

fn float(value: f64) -> String {
    match value {
        v if v.is_nan() => "0.0".into(),
        f64::INFINITY => format!("{:?}", f64::MAX),
        f64::NEG_INFINITY => format!("{:?}", f64::MIN),
        v => format!("{v:?}"),
    }
}

/// The start value as an expression with the sizes of the variable.
fn start_text(variable: &Variable, sizes: &[u64]) -> Option<String> {
    let words: Vec<String> = match variable.start.as_ref()? {
        Values::Float(v) => v.iter().map(|&x| float(x)).collect(),
        Values::Integer(v) => v.iter().map(i128::to_string).collect(),
        Values::Boolean(v) => v.iter().map(bool::to_string).collect(),
        Values::String(_) | Values::Binary(_) => return None,
    };
    if sizes.is_empty() {
        return words.into_iter().next();
    }
    if words.len() == 1 {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        return Some(format!("fill({}, {})", words[0], sizes.join(", ")));
    }
    Some(nested(&words, sizes))
}

/// `{{1, 2}, {3, 4}}`
fn nested(words: &[String], sizes: &[u64]) -> String {
    let Some((&size, inner)) = sizes.split_first() else {
        return words.first().cloned().unwrap_or_default();
    };
    let width = words.len() / (size.max(1) as usize);
    let parts: Vec<String> = words.chunks(width.max(1)).map(|part| nested(part, inner)).collect();
    let mut text = String::new();
    let _ = write!(text, "{{{}}}", parts.join(", "));
    text
}
