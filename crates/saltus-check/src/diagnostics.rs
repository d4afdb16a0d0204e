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
    TWO_WHENS = "E0401", "variable assigned in two when-clauses";
    WHEN_AND_EQUATION = "E0402", "variable determined by a when-clause and by an equation";
    TWO_ALGORITHMS = "E0403", "variable assigned in two algorithm sections";
    BINDING_AND_ASSIGNMENT = "E0404", "variable with a binding is assigned as well";
    ALGORITHM_AND_EQUATION = "E0405", "variable assigned in an algorithm and determined elsewhere";
    PARAMETER_ASSIGNED = "E0406", "parameter assigned during the simulation";

    NO_EVENT_ON_DISCRETE = "E0410", "noEvent on a discrete variable";
    SMOOTH_ON_DISCRETE = "W0410", "smooth on a discrete variable";
    DISCRETE_OUTSIDE_WHEN = "E0411", "discrete Real variable determined outside of when";
    CONTINUOUS_VALUE = "E0412", "Integer, Boolean or String with a value that changes between events";
    PRE_OF_CONTINUOUS = "E0413", "pre, edge or change of a continuous variable outside of when";
    DER_OF_DISCRETE = "E0414", "derivative of a discrete variable";
    DER_OF_NON_REAL = "E0415", "derivative of something that is not Real";
    DER_OF_PARAMETER = "W0416", "derivative of a parameter";

    REINIT_OUTSIDE_WHEN = "E0420", "reinit outside of when";
    REINIT_OF_NON_STATE = "E0421", "reinit of a variable that is no state";
    REINIT_OF_DEPENDENT = "W0421", "reinit of a variable without a derivative";
    REINIT_TWICE = "W0422", "reinit of one state in two places";

    WHEN_LEFT_SIDE = "E0430", "left side in a when-equation is no variable";
    NESTED_WHEN = "E0431", "when inside of when";
    WHEN_IN_INITIAL = "E0432", "when in an initial section";
    WHEN_IN_BRANCH = "E0433", "when under a condition that may change, or in a loop";
    WHEN_BRANCHES_DIFFER = "E0434", "branches of a when-equation determine different variables";
    WHEN_CONDITION_CONTINUOUS = "E0435", "condition of a when changes between events";
    INITIAL_IN_CONDITION = "W0436", "initial() inside a larger when-condition";

    IF_BRANCHES_DIFFER = "E0440", "branches of an if-equation with different numbers of equations";
    IF_WITHOUT_ELSE = "E0441", "if-equation without else";

    TOO_FEW_EQUATIONS = "E0450", "too few equations";
    TOO_MANY_EQUATIONS = "E0451", "too many equations";
    STRUCTURALLY_SINGULAR = "W0452", "equations that cannot determine the variables they contain";

    UNIT_MISMATCH = "W0720", "units do not agree";
    UNIT_SCALE = "W0721", "units of one dimension with different factors";
    UNIT_IN_FUNCTION = "W0722", "argument of an elementary function has a unit";
    UNIT_SYNTAX = "H0723", "unit is no unit expression";

    UNUSED_PARAMETER = "H0730", "parameter is never used";
    UNUSED_VARIABLE = "H0731", "protected variable is never used";
    UNUSED_FUNCTION_INPUT = "H0732", "function input is never used";
    OUTPUT_NEVER_ASSIGNED = "W0733", "function output is never assigned";
    UNUSED_FUNCTION_LOCAL = "H0734", "protected variable of a function is never used";
    UNCONNECTED = "H0735", "connector of a component is not connected";

    MIN_ABOVE_MAX = "W0740", "min is larger than max";
    OUTSIDE_LIMITS = "W0741", "value outside of min and max";
    NOMINAL_ZERO = "W0742", "nominal is zero";
    ATTRIBUTE_SIZE = "W0743", "attribute has another size than its variable";
    FIXED_CONSTANT = "W0744", "fixed on a constant";
    ASSERT_NEVER_HOLDS = "W0745", "assertion that never holds";
    DIVISION_BY_ZERO = "W0746", "division by zero";
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
