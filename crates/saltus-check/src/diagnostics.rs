//! The codes of this crate, so that none is given twice. The wording, the explanation and the tests of each message
//! stand together in the file of its rule.

use saltus_base::Code;

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $code:literal, $title:literal;)*) => {
        $($(#[$meta])* pub const $name: Code = Code($code);)*

        /// All codes with a title, for the index of messages.
        pub const ALL: &[(Code, &str)] = &[$(($name, $title)),*];
    };
}

codes! {
    /// Two when-clauses may fire at the same instant, and nothing says which assignment wins. Only branches of one
    /// `when … elsewhen …` have an order.
    TWO_WHENS = "E0401", "variable assigned in two when-clauses";
    /// Between its events a when-clause keeps the value of what it assigns, so it determines the variable at all
    /// times and leaves nothing for an equation.
    WHEN_AND_EQUATION = "E0402", "variable determined by a when-clause and by an equation";
    /// An algorithm section determines every variable that it assigns. Two sections are not executed one after the
    /// other.
    TWO_ALGORITHMS = "E0403", "variable assigned in two algorithm sections";
    /// The value in a declaration is an equation that holds at all times, not a start value.
    BINDING_AND_ASSIGNMENT = "E0404", "variable with a binding is assigned as well";
    /// An algorithm section determines every variable that it assigns, at all times.
    ALGORITHM_AND_EQUATION = "E0405", "variable assigned in an algorithm and determined elsewhere";
    /// Parameters and constants keep their values during a simulation.
    PARAMETER_ASSIGNED = "E0406", "parameter assigned during the simulation";
    /// An equation in a when-clause gives its variable the value of the right-hand side at the event. `n = n + 1` has no
    /// solution; the value before the event is `pre(n)`.
    NEEDS_ITSELF = "E0407", "variable computed from its own new value in a when-clause";

    /// `noEvent` evaluates relations of continuous variables without locating an event. What changes at events only
    /// has no such relation.
    NO_EVENT_ON_DISCRETE = "E0410", "noEvent on a discrete variable";
    /// `smooth(p, e)` promises that e is p times continuously differentiable. A discrete variable jumps.
    SMOOTH_ON_DISCRETE = "W0410", "smooth on a discrete variable";
    /// A Real variable with the prefix `discrete` is assigned in a when-clause, because only there a Real value
    /// changes at events only.
    DISCRETE_OUTSIDE_WHEN = "E0411", "discrete Real variable determined outside of when";
    /// Integers, Booleans, Strings and enumerations change at events only. Their value must come from relations,
    /// `integer(…)`, other discrete variables, or from a when-clause.
    CONTINUOUS_VALUE = "E0412", "Integer, Boolean or String with a value that changes between events";
    /// A function generates no events. A result that may change at events only is computed at events only.
    HELD_RESULT = "W0412", "discrete result of a call whose arguments change between events";
    /// `pre(v)` is the value before an event. For a continuous variable that has a meaning in the body of a
    /// when-clause only.
    PRE_OF_CONTINUOUS = "E0413", "pre, edge or change of a continuous variable outside of when";
    /// A variable that changes at events only has no derivative.
    DER_OF_DISCRETE = "E0414", "derivative of a discrete variable";
    /// Only Real expressions can be differentiated.
    DER_OF_NON_REAL = "E0415", "derivative of something that is not Real";
    /// All parameters get their values before a simulation starts, used or not.
    PARAMETER_BY_ZERO = "E0416", "division by zero in the value of a parameter";
    /// A variable of a function has no value until one is assigned, and nothing was assigned on any way that leads here.
    USED_WITHOUT_VALUE = "E0417", "variable of a function is used before it has a value";
    /// On one of the ways through the algorithm nothing is assigned to the variable; then it counts as zero, false or empty.
    USED_PERHAPS_WITHOUT_VALUE = "W0417", "variable of a function may be used before it has a value";
    /// The others have been assigned before; this one counts as zero, false or empty.
    PART_WITHOUT_VALUE = "W0418", "element or field is used before it has a value";
    /// Legal, but always zero, which is hardly ever meant.
    DER_OF_PARAMETER = "W0416", "derivative of a parameter";

    /// `reinit` acts at the events of a when-clause.
    REINIT_OUTSIDE_WHEN = "E0420", "reinit outside of when";
    /// `reinit(x, …)` restarts the integration of x. What is not integrated is computed from its equations and cannot
    /// be set.
    REINIT_OF_NON_STATE = "E0421", "reinit of a variable that is not a state";
    /// `reinit` makes its argument a state; if it is computed from other states, one of them must give way.
    REINIT_OF_DEPENDENT = "W0421", "reinit of a variable without a derivative";
    /// If both are active at one event, the new value is not defined.
    REINIT_TWICE = "W0422", "reinit of one state in two places";
    /// All `reinit`s of an event act together after its equations: each reads the values before. In the Modelica of 1999 they
    /// acted one after the other, and a chain `reinit(x, 10); reinit(y, 2*x)` gave y the value 20.
    REINIT_CHAIN = "H0423", "reinit reads a state that is reset at the same event";

    /// Between the events the variable on the left keeps its value; with an expression on the left it would not be
    /// clear which one that is.
    WHEN_LEFT_SIDE = "E0430", "left side in a when-equation is not a variable";
    /// A when-clause is active at an instant, so a second condition cannot become true inside.
    NESTED_WHEN = "E0431", "when inside of when";
    /// Initial sections hold at one instant. A when-clause that is active there is written `when initial() then`.
    WHEN_IN_INITIAL = "E0432", "when in an initial section";
    /// Which when-clauses exist must not change during the simulation.
    WHEN_IN_BRANCH = "E0433", "when under a condition that may change, or in a loop";
    /// A when-equation is one equation for each variable, whichever branch is active.
    WHEN_BRANCHES_DIFFER = "E0434", "branches of a when-equation determine different variables";
    /// A when-clause becomes active when its condition changes at an event. A condition that changes between events
    /// would never be seen.
    WHEN_CONDITION_CONTINUOUS = "E0435", "condition of a when changes between events";
    /// Only `when initial() then` and `when {…, initial(), …} then` are active during initialization.
    INITIAL_IN_CONDITION = "W0436", "initial() inside a larger when-condition";

    /// The number of equations must not change while the number of unknowns stays the same.
    IF_BRANCHES_DIFFER = "E0440", "branches of an if-equation with different numbers of equations";
    /// Without `else` the variables have no equation while the condition is false.
    IF_WITHOUT_ELSE = "E0441", "if-equation without else";

    /// Each unknown needs an equation. Common causes: an input or connector that is not connected, a forgotten
    /// equation.
    TOO_FEW_EQUATIONS = "E0450", "too few equations";
    /// More equations than unknowns contradict each other or say the same twice. Common causes: a value in the
    /// declaration and an equation for the same variable.
    TOO_MANY_EQUATIONS = "E0451", "too many equations";
    /// The numbers agree, but some equations contain too few unknowns, so that others have no equation.
    STRUCTURALLY_SINGULAR = "W0452", "equations that cannot determine the variables they contain";
    /// Potentials are measured against something. Without a ground, a fixed flange or the like all of them can be shifted by the same
    /// number, so that no value of any of them is the right one.
    FLOATING = "E0453", "potentials without a reference";
    /// Each model and block has as many equations as unknowns by itself, when what its surroundings determine (flow variables of its
    /// connectors, inputs) counts as an equation. Only then can a part be exchanged for another one.
    UNBALANCED_COMPONENT = "W0454", "component with too few or too many equations of its own";

    /// What is added, compared, assigned or equated must have the same dimension.
    UNIT_MISMATCH = "W0720", "units do not agree";
    /// The dimension agrees, but not the factor, as for mm and m. Values are never converted.
    UNIT_SCALE = "W0721", "units of one dimension with different factors";
    /// Exponential, logarithm and trigonometric functions are defined for numbers.
    UNIT_IN_FUNCTION = "W0722", "argument of an elementary function has a unit";
    /// The text does not follow the grammar of unit expressions, so that it cannot be checked.
    UNIT_SYNTAX = "H0723", "unit is not a unit expression";

    /// No expression of the model contains the parameter.
    UNUSED_PARAMETER = "H0730", "parameter is never used";
    /// Nothing reads the variable, and as it is protected it is not for others to see.
    UNUSED_VARIABLE = "H0731", "protected variable is never used";
    /// The result does not depend on the input.
    UNUSED_FUNCTION_INPUT = "H0732", "function input is never used";
    /// The function returns an undefined value.
    OUTPUT_NEVER_ASSIGNED = "W0733", "function output is never assigned";
    /// Nothing reads or assigns the variable.
    UNUSED_FUNCTION_LOCAL = "H0734", "protected variable of a function is never used";
    /// The flow through a connector that is not connected is zero. That may be meant.
    UNCONNECTED = "H0735", "connector of a component is not connected";

    /// No value lies between the limits.
    MIN_ABOVE_MAX = "W0740", "min is larger than max";
    /// The value contradicts the limits that the declaration gives.
    OUTSIDE_LIMITS = "W0741", "value outside of min and max";
    /// Tolerances are relative to the nominal value, so it cannot be zero.
    NOMINAL_ZERO = "W0742", "nominal is zero";
    /// An attribute of an array has one value for all elements or one for each.
    ATTRIBUTE_SIZE = "W0743", "attribute has another size than its variable";
    /// `fixed` tells whether a start value is an initial condition; constants have none.
    FIXED_CONSTANT = "W0744", "fixed on a constant";
    /// The simulation would stop at its start.
    ASSERT_NEVER_HOLDS = "W0745", "assertion that never holds";
    /// The divisor is the literal 0.
    DIVISION_BY_ZERO = "W0746", "division by zero";
    /// The interval between two samples must be positive.
    SAMPLE_INTERVAL = "W0747", "sample with an interval that is not positive";
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_code_is_given_twice() {
        let mut codes: Vec<_> = super::ALL.iter().map(|(c, _)| c.0).collect();
        codes.sort_unstable();
        let n = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), n);
    }
}
