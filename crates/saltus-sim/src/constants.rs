//! Constants of the event engine that no theory gives, in one place: what each is for, and where it comes from.
//!
//! Where a test is named, it fails when the constant is far off. Constants without a test are limits on effort, or have been
//! carried over from the time when they stood beside their use; changing one needs a run of the corpus.

// Steps and histories.

/// Points of each step that a history of `delay` keeps: enough for a cubic through the points of one step.
pub(crate) const HISTORY_POINTS: u32 = 4;
/// Distance of the points of a profile of `spatialDistribution`, of its length 1, and how many a step adds at most.
pub(crate) const PROFILE_SPACING: f64 = 0.005;
pub(crate) const MOST_PROFILE_POINTS: u32 = 100;
/// A profile moves no further than this in a step.
pub(crate) const LONGEST_TRANSPORT: f64 = 0.25;

/// Delays shorter than this part of the time span do not shorten steps: no delay may force more than a
/// million steps.
pub(crate) const SHORTEST_DELAY: f64 = 1e-6;

/// Alternating variables named in a message: more do not fit on a line.
pub(crate) const MOST_ALTERNATIVES: usize = 8;

/// A violation of a relation that an event has made smaller by this factor counts as undone. Needed where the equations
/// leave open how stuck elements share a load: the event moves it from one to the other.
pub(crate) const PUT_RIGHT: f64 = 1e-3;

/// Violations that are undone in this way may grow up to this times the magnitude of the operands before the next event.
pub(crate) const LARGEST_SHIFT: f64 = 1e-3;

/// Smallest gap between two such events that still counts as progress, as a part of the time span.
pub(crate) const EVENT_PROGRESS: f64 = 1e-6;

/// Shorter and shorter steps that are tried where the crossing functions cannot be evaluated: each is a quarter of the last, so
/// that 40 of them reach the resolution of time from any step.
pub(crate) const MOST_STEP_RETRIES: u32 = 40;

/// A step in which something cannot be evaluated, or does not hold, is repeated with this part of its length.
pub(crate) const SHORTER: f64 = 0.25;

/// An assertion that fails in a step of this part of the length of the first in which it did fails for another reason than the error of
/// the step: at order 4 that is smaller by twelve digits. Test: `AssertionWithinTolerance.mo`.
pub(crate) const CONVINCING: f64 = 1e-3;

/// Shorter steps that are tried for that, before the run has got beyond the point.
pub(crate) const MOST_ASSERTION_RETRIES: u32 = 60;

/// Instants of one step at which relations of assertions change and the assertions hold; more are noise of an iteration. Test:
/// `assertions: the_noise_of_a_loop_ends_in_a_failed_assertion`.
pub(crate) const MOST_JUDGEMENTS: u32 = 100;

/// With fewer steps than this since the last event, the step size of before is the best guess for the one after it.
pub(crate) const FREQUENT_EVENTS: u64 = 25;

/// How far ahead the direction of a crossing function is looked up along the tangent, as a part of the next step.
pub(crate) const LOOK_AHEAD: f64 = 1e-3;

/// Where a branch ends at its own guard, the event is looked for on the tangent at the threshold and, if rounding puts that on the old
/// side, a little behind it. Test: `EmptiesByRoot.mo`.
pub(crate) const OVERSHOOTS: [f64; 4] = [1.0, 1.0 + 1e-9, 1.0 + 1e-3, 2.0];

// Configurations.

/// How often what jumps is computed with coefficients at the values after it. Those are right after the first time unless they
/// depend on algebraic variables.
pub(crate) const MOST_ENTRY_ROUNDS: usize = 20;

/// What jumps is found when a further round changes it by less than this part.
pub(crate) const ENTRY_CONVERGED: f64 = 1e-13;

/// By how much of its terms a constraint between variables that cannot jump may be violated where it begins to hold, at least: ten times the
/// tolerance otherwise, for that is the error of the integration. Test: `positions_cannot_jump`.
pub(crate) const ENTRY_CONTRADICTION: f64 = 1e-9;

/// Changes of a variable below this part of it are rounding, not jumps.
pub(crate) const LEAST_JUMP: f64 = 1e-9;

/// A relation this close to its threshold, measured by its operands, is at it where a configuration is entered, and how far ahead the
/// motion is followed to decide it, as a part of the time span. Test: `DiodeAcrossCapacitor.mo`.
pub(crate) const ENTRY_BAND: f64 = 1e-10;
pub(crate) const ENTRY_LOOKS: [f64; 3] = [1e-8, 1e-6, 1e-5];

/// The motion has left a threshold when it is further from it than this part of the operands. Test: `PeakRectifier.mo`.
pub(crate) const ENTRY_NOISE: f64 = 1e-13;

/// Configurations that are tried from the same values.
pub(crate) const MOST_TRIED: usize = 64;

/// Relations and switches of which all values are tried.
pub(crate) const MOST_FREE_RELATIONS: usize = 6;

/// Configurations that follow each other at one instant.
pub(crate) const MOST_CHANGES: usize = 100;

/// What a variable moves in this part of the time span is the error of where an event was found, not a jump.
pub(crate) const JUMP_TIME: f64 = 1e-11;

/// Slots of all programs that a run keeps ready: with code and matrices a slot takes a few hundred bytes.
pub(crate) const MOST_PARKED_SLOTS: usize = 1_000_000;

/// Programs of configurations that a run keeps ready.
pub(crate) const MOST_CONFIGURATIONS: usize = 256;

// The search for crossings.

/// Interior points in which each step is looked at, besides its end.
pub(crate) const N_INTERIOR: usize = 3;

/// Looks at one step, however long it is.
pub(crate) const MOST_LOOKS: f64 = 10_000.0;

/// Where a function leaves its threshold it is on one side when it is this many times further from it than rounding makes it. Test:
/// `pulses_of_small_functions_are_found`.
pub(crate) const ROUNDINGS_IN_BAND: f64 = 64.0;

/// Units in the last place of an operand that its enclosure is wide after a few operations: a difference of operands is measured by these, too. Tests:
/// `differences_of_large_states_are_measured_by_them`, `a_threshold_that_is_touched_changes_nothing_for_long`.
pub(crate) const ROUNDINGS_OF_OPERAND: f64 = 256.0;

/// A function that an error of this part of it at most may have made is a magnitude to measure by. Test: `a_function_that_departs_from_exactly_zero_is_measured`.
pub(crate) const DISTINCT: f64 = 0.1;

/// A relation whose band is more than this part of the largest value of its function is told of: where it changes is not known as well as promised. Test:
/// `what_is_small_beside_its_nominal_value_is_told`.
pub(crate) const COARSE: f64 = 1e-9;

/// The widest band around zero, as a part of the magnitude of the operands, to which alternating relations may lead.
pub(crate) const WIDEST_BAND: f64 = 1e-6;

/// A function whose distance from zero is this many times its change in the step needs no closer look.
pub(crate) const FAR: f64 = 3.0;

/// Relations that change within so many units in the last place of time change together.
pub(crate) const TOGETHER_ULPS: f64 = 16.0;

/// They are looked for if their functions are as close to zero as this times the magnitude of their operands.
pub(crate) const TOGETHER_BAND: f64 = 256.0 * f64::EPSILON;

/// A minimum between three looks is worth another one if a parabola through them says that it is less than this part of each. Test:
/// `short_dips_at_the_ends_of_steps_are_found`.
pub(crate) const SMALL_DIP: f64 = 0.25;

/// Looks that are closer to each other than this part of the distance of their neighbours are the same.
pub(crate) const SAME_LOOK: f64 = 1e-3;

/// Evaluations spent on the minimum of a suspicious dip.
pub(crate) const MOST_DIP_STEPS: usize = 40;

// Relations of time alone.

/// Steps of the integrator that are looked ahead: the next one may be longer than it proposes.
pub(crate) const STEPS_AHEAD: f64 = 2.0;

/// Searches that go on for that before a step has to end where they are.
pub(crate) const MOST_EXTENSIONS: u32 = 16;

/// Times near zero are not resolved better than those of this part of the time span.
pub(crate) const LEAST_TIME: f64 = 1e-6;

// Settling events.

/// Keys of time events that are no further apart than this many units in the last place are one event.
pub(crate) const TIME_EVENT_ULPS: f64 = 8.0;

/// A crossing that lies no further before a time event than this many units in the last place belongs to it: neither is located
/// better, and a threshold that the time event moves away in this instant is not crossed. Test: `CrossingAtTimeEvent.mo`.
pub(crate) const SAME_INSTANT_ULPS: f64 = 32.0;

/// Rounds of one event before it is looked whether they come back to where they were.
pub(crate) const SHORT_EVENT: usize = 8;

/// Rounds of one event after which those are the same that differ by [`SAME_AFTER_ROUND`] of each Real.
pub(crate) const LONG_EVENT: usize = 200;

pub(crate) const SAME_AFTER_ROUND: f64 = 1e-9;

/// Evaluations of the initial system after which its `pre` values are taken as they are.
pub(crate) const MOST_INITIAL_ROUNDS: usize = 30;

/// Rounds of one event in which a mixed loop may contradict itself until the next one. A law with hysteresis needs one.
pub(crate) const MOST_PROVISIONAL_ROUNDS: u32 = 4;

pub(crate) const SMALLEST_HOMOTOPY_STEP: f64 = 1e-4;

/// Changes of relations that are kept of one event.
pub(crate) const MOST_FLIPS: usize = 1000;

/// Relative difference of the sides of a surplus initial condition that is more than the accuracy of the solution.
pub(crate) const INITIAL_CONTRADICTION: f64 = 1e-6;

// Events without progress.

/// This many events within [`NO_PROGRESS`] of the time span are chattering.
pub(crate) const MOST_EVENTS_WITHOUT_PROGRESS: u64 = 1_000;

pub(crate) const NO_PROGRESS: f64 = 1e-9;

/// … and within so many units in the last place of time, which is as far as rounding may carry alternating relations. Events that the
/// model wants at given times make progress by themselves. Test: `SamplesFarFromZero.mo`.
pub(crate) const NO_PROGRESS_ULPS: f64 = 4096.0;

/// A relation that changes back this often in a row, each time within [`AT_ONCE`] of the time span, may slide.
pub(crate) const ALTERNATIONS: u32 = 3;

pub(crate) const AT_ONCE: f64 = 1e-5;

/// So many events within that time whose relations all change back may slide along several thresholds: two relations in turn,
/// twice there and back.
pub(crate) const INTERLEAVED: usize = 8;

/// Relations are first held for this part of the time span, and at most for the second.
pub(crate) const SHORTEST_HOLD: f64 = 1e-6;

pub(crate) const LONGEST_HOLD: f64 = 1e-3;

/// An event later than this many holds after the last one begins anew.
pub(crate) const QUIET: f64 = 10.0;

/// Jumps whose times are remembered: the last of many are not where they should be, because of rounding.
pub(crate) const REMEMBERED_JUMPS: usize = 16;

/// After so many steps it is looked whether any state has moved by more than the second of these parts of itself. If none has, and no more than the
/// third of the time span has passed, fifty million more steps would be needed.
pub(crate) const STEPS_OF_REST: u64 = 5_000;

pub(crate) const STILL: f64 = 1e-11;

pub(crate) const SLOW: f64 = 1e-4;

// Jumps to another solution.

/// Distance from the last point of a solution to the first one of another, as part of the time span.
pub(crate) const JUMP_REACH: f64 = 1e-12;

/// Jumps without progress in between reach ten times as far each; so many are tried.
pub(crate) const MOST_JUMPS_IN_A_ROW: i32 = 6;

/// Progress, as part of the time span.
pub(crate) const JUMP_PROGRESS: f64 = 1e-5;

pub(crate) const MOST_BISECTIONS: u32 = 60;

// Sliding and the choice of states.

/// Difference quotients move the states by about this part of their magnitude.
pub(crate) const RELATIVE_MOVE: f64 = 6e-6;

/// How far from its threshold a side is evaluated, as a part of the magnitude of the states: further than rounding and than
/// the second order of what the error of an integration moves it by, nearer than anything that matters.
pub(crate) const SIDE_DISTANCE: f64 = 1e-9;

/// With more states the directions away from thresholds are not worth their evaluations.
pub(crate) const MOST_STATES_APART: usize = 1_000;

/// Thresholds that influence each other and are slid along at once: each doubles the evaluations.
pub(crate) const MOST_SURFACES: usize = 10;

/// With more thresholds it is worth to find out which of them influence each other: up to 16 regions are cheaper.
pub(crate) const SEPARATED: usize = 4;

/// Rates and variables that differ by less than this part of their size are the same: difference quotients are no better.
pub(crate) const ADDS_UP: f64 = 1e-6;

/// Functions up to this times the magnitude of their operands are zero at the same point: moving the states by [`SIDE_DISTANCE`] may
/// change their relations.
pub(crate) const SAME_POINT: f64 = 1e-8;

/// Thresholds whose normals differ by less than about the root of this are one: difference quotients are no better.
pub(crate) const PARALLEL: f64 = 1e-10;

/// A threshold that is this many times as far away after an event as before it has been moved by the event. Without one the distance is the same but
/// for rounding. Test: `SlidesToMovedThreshold.mo`.
pub(crate) const MOVED_AWAY: f64 = 4.0;

/// States that are off a threshold by no more than this many tolerances of the operands are on it but for the errors of some steps. Test:
/// `slides_along_curves_take_few_steps_with_all_methods`.
pub(crate) const ERRORS_OFF_THRESHOLD: f64 = 10.0;

/// Rounds in which states that have drifted off a threshold are moved back: Newton's method, with one gradient.
pub(crate) const MOST_PROJECTIONS: usize = 5;

/// Rounds in which the states of a region are moved to where its own functions are zero. Test: `BlocksWithoutSliding.mo`.
pub(crate) const MOST_LANDINGS: usize = 3;

/// A function that changes in one region by another part than this of what it changes by in another has other gradients there: that is neither
/// rounding nor the curvature of its threshold.
pub(crate) const UNBENT: std::ops::Range<f64> = 0.5..2.0;

/// A choice is kept until some dummy moves this many times as much as a state.
pub(crate) const WORST_SELECTION: f64 = 3.0;

/// No entry above this is left when a choice is made.
pub(crate) const BEST_SELECTION: f64 = 1.05;

/// Each exchange increases a determinant; more than these are never needed in practice.
pub(crate) const MOST_EXCHANGES: usize = 1_000;

// Steps as long as events permit.

/// Relations of states alone: a step has few looks at them, however well it follows the states.
pub(crate) const FEWEST_STEPS: f64 = 20.0;

/// What depends on time alone is seen by no error estimate: between two looks at it lies at most an output interval,
/// within these parts of the time span.
pub(crate) const FEWEST_LOOKS: f64 = 50.0;

pub(crate) const MOST_TIMED_LOOKS: f64 = 1000.0;

/// Looks are cheaper than steps, yet what is looked at on dense output should not lag behind the states.
pub(crate) const LOOKS_IN_A_STEP: f64 = 4.0;

// Quantised states.

/// A relation whose function is zero at the stop time changes there if it would do so within this many times the rounding of relations, as a part of the
/// time span: a function as slow as an eighth of its operands in the whole of it. Test: `thresholds_that_are_met_at_the_stop_time`.
pub(crate) const THRESHOLD_REACH: f64 = 8.0;

/// How far ahead a crossing function that is not affine is enclosed first, as a part of the longest look.
pub(crate) const FIRST_LOOK: f64 = 1e-2;

/// The next look goes so many times as far where an enclosure said all, and where it said nothing. Test: `relations_that_are_not_linear_are_enclosed`.
pub(crate) const LOOK_GROWTH: f64 = 2.0;
pub(crate) const LOOK_SHRINK: f64 = 0.2;

/// An enclosure that says nothing over this part of the longest look says nothing at all. Test: `what_it_cannot_treat_is_an_error`.
pub(crate) const LEAST_LOOK: f64 = 1e-9;

/// A relation that did not change where it was seen to may go so many times as far before it is looked at again.
pub(crate) const FARTHER_BAND: f64 = 4.0;

/// The root of a function of time alone is off by rounding: one of so many numbers behind it is where its relation has changed.
pub(crate) const MOST_ULPS_BEHIND_ROOT: u32 = 16;

/// Steps of quantised states after which the caller is asked whether to go on.
pub(crate) const STEPS_IN_A_TURN: u32 = 1_000;

/// A relation that changes [`MOST_EVENTS_WITHOUT_PROGRESS`] times within this part of the time span would change a billion times in all of it: chattering.
pub(crate) const CHATTERING_SPAN: f64 = 1e-6;
