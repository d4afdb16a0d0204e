//! Names the front end itself looks for.

use saltus_base::Name;
use saltus_library::Library;

macro_rules! words {
    ($($field:ident = $text:literal),* $(,)?) => {
        #[derive(Clone, Copy)]
        pub struct Words { $(pub $field: Name),* }

        impl Words {
            pub fn new(library: &Library) -> Words {
                Words { $($field: library.intern($text)),* }
            }
        }
    };
}

words! {
    time = "time", start = "start", fixed = "fixed", min = "min", max = "max", nominal = "nominal",
    constructor = "constructor", destructor = "destructor", library = "Library", library_directory = "LibraryDirectory",
    include = "Include", include_directory = "IncludeDirectory",
    hide_result = "HideResult", evaluate = "Evaluate", absolute_value = "absoluteValue",
    experiment = "experiment", start_time = "StartTime", stop_time = "StopTime", interval = "Interval",
    tolerance = "Tolerance", missing_inner_message = "missingInnerMessage", inline = "Inline",
    late_inline = "LateInline", inline_after = "InlineAfterIndexReduction", generate_events = "GenerateEvents",
    smooth_order = "smoothOrder", derivative = "derivative", inverse = "inverse", order = "order",
    no_derivative = "noDerivative", zero_derivative = "zeroDerivative", connections = "Connections",
    dialog = "Dialog", connector_sizing = "connectorSizing", must_be_connected = "mustBeConnected",
    may_only_connect_once = "mayOnlyConnectOnce", single_instance = "singleInstance", test_case = "TestCase", obsolete = "obsolete",
    equality_constraint = "equalityConstraint", external_object = "ExternalObject",
    vendor = "__Saltus", linearized = "linearized", solver = "solver", state_tolerance = "tolerance",
    unassigned_message = "unassignedMessage", excursion = "excursion", transition = "transition", initial_state = "initialState",
}
