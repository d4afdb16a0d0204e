//! Scheduled execution and clocks: what ticks when.

use saltus_fmi::{Causality, ModelDescription, Type};

use super::{Wrapper, comment};

/// Clocks of a model by index: inputs that whoever uses the component triggers, and outputs. Time-based input clocks tick by themselves.
pub(super) fn clocks_of(model: &ModelDescription) -> (Vec<usize>, Vec<usize>) {
    use saltus_fmi::IntervalVariability::Triggered;
    let attributes = |v: &saltus_fmi::Variable| {
        let declared = v.declared_type.as_deref().and_then(|name| model.type_definition(name));
        v.clock.clone().or(declared.and_then(|d| d.clock.clone())).unwrap_or_default()
    };
    let all = |causality: Causality| -> Vec<usize> {
        let is_one = |v: &usize| model.variables[*v].kind == Type::Clock && model.variables[*v].causality == causality;
        (0..model.variables.len()).filter(is_one).collect()
    };
    let triggered = |v: &usize| attributes(&model.variables[*v]).interval == Triggered;
    (all(Causality::Input).into_iter().filter(triggered).collect(), all(Causality::Output))
}

impl Wrapper<'_> {
    /// Connectors of clocks: Booleans, which tick where they become true.
    pub(super) fn write_clocks(&mut self) {
        for (clocks, connector) in [
            (self.clocks.clone(), "Saltus.Blocks.BooleanInput"),
            (self.out_clocks.clone(), "Saltus.Blocks.BooleanOutput"),
        ] {
            for at in clocks {
                let comment = comment(&self.model.variables[at]);
                let comment =
                    if comment.is_empty() { " \"Clock: ticks where it becomes true\"".into() } else { comment };
                let name = self.name(at);
                self.line(format!("  {connector} {name}{comment};"));
            }
        }
    }

    /// Counters of the ticks of output clocks.
    pub(super) fn write_tick_counters(&mut self) {
        if !self.out_clocks.is_empty() {
            let (ticks, n) = (self.own.name("fmu_ticks"), self.out_clocks.len());
            self.line(format!("  Integer {ticks}[{n}](each start = 0, each fixed = true) \"Ticks of output clocks\";"));
        }
    }

    /// An output clock is true in the round in which its counter has changed.
    pub(super) fn write_tick_equations(&mut self, before: &str) {
        let [unit, start, ticks] = ["fmu", "fmu_start", "fmu_ticks"].map(|w| self.own.name(w));
        for (i, at) in self.out_clocks.clone().into_iter().enumerate() {
            let (name, k) = (self.name(at), i + 1);
            self.line(format!("  {ticks}[{k}] = Saltus.FMI.ticks({unit}, {before}, {start}, {});", at + 1));
            self.line(format!("  {name} = {ticks}[{k}] > pre({ticks}[{k}]);"));
        }
    }

    /// `edge(c)` for each input clock.
    pub(super) fn tick_conditions(&self) -> Vec<String> {
        self.clocks.iter().map(|&at| format!("edge({})", self.name(at))).collect()
    }

    pub(super) fn write_scheduled(&mut self) {
        self.write_unit();
        let [n, next, stop, started, start] =
            ["fmu_n", "fmu_next", "fmu_stop", "fmu_started", "fmu_start"].map(|w| self.own.name(w));
        self.line(format!("  Integer {n}(start = 0, fixed = true) \"Number of activations\";"));
        self.line(format!("  discrete Real {next}(start = 1e60, fixed = true) \"Next tick of a time-based clock\";"));
        self.line(format!("  Boolean {stop}(start = false, fixed = true), {started};"));
        self.line(format!("  parameter Real {start}(fixed = false) \"Time at the start\";"));
        self.write_tick_counters();
        self.line("initial equation");
        self.line(format!("  {start} = time;"));
        self.line("equation");
        self.line(format!("  {started} = not initial();"));
        let before = format!("pre({n})");
        self.write_output_equations(&before);
        self.write_tick_equations(&before);
        let mut conditions = vec![started, format!("time >= pre({next})")];
        conditions.extend(self.tick_conditions());
        let inputs: Vec<usize> = self.inputs.iter().chain(&self.clocks).copied().collect();
        let point = self.point(&before, &inputs);
        self.line("  // Inputs count where a clock ticks.");
        self.line(format!("  when {{{}}} then", conditions.join(", ")));
        self.line(format!("    ({n}, {next}, {stop}) = Saltus.FMI.activate({point});"));
        self.line("  end when;");
        self.write_stop(&stop);
    }
}
