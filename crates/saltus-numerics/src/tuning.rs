//! Numbers that were chosen rather than derived, in one place.
//!
//! Each says where it comes from and what goes wrong without it; the test named with a group is the smallest problem that
//! shows it. Coefficients of methods are not here: they stand with their methods.

/// Newton's method ([`crate::newton`]); `tests/newton.rs`.
pub mod newton {
    /// Least decrease of the residual, as a part of what the tangent promises (Dennis and Schnabel, *Numerical Methods for
    /// Unconstrained Optimization and Nonlinear Equations*, section 6.3).
    pub const ARMIJO: f64 = 1e-4;
    /// Part of a Newton step below which the line search gives up: the residual decreases nowhere along it. Test:
    /// `no_solution_is_an_error_of_bounded_cost`.
    pub const SHORTEST_STEP: f64 = 1e-12;
    /// No variable moves by more than this many times its size in one step: an almost singular Jacobian points to infinity. Test:
    /// `a_diode_is_solved_from_bad_guesses`.
    pub const LONGEST_STEP: f64 = 1e3;
    /// Where a step is longer than that, or begins beside a singular point, one of this length is tried first. Test:
    /// `the_root_beside_a_singular_start_is_found`.
    pub const SHORT: f64 = 1.0;
    /// Bounds of the factor by which the line search shortens a step (Dennis and Schnabel, section 6.3.2).
    pub const BACKTRACKING: (f64, f64) = (0.1, 0.5);
    /// Factor after an evaluation that failed, which says nothing about how much is too much. Test:
    /// `a_root_near_the_end_of_its_domain_is_found`.
    pub const AFTER_FAILURE: f64 = 0.25;
    /// A full step that leaves more than this of the residual may be lengthened: the steps of an exponential are of size 1
    /// however far the root is. Test: `a_diode_is_solved_from_bad_guesses`.
    pub const SLOW: f64 = 0.3;
    /// Doublings of such a step; 2¹² exceeds [`LONGEST_STEP`].
    pub const MOST_DOUBLINGS: u32 = 12;
    /// A doubling must leave less than this of the best residual so far.
    pub const WORTH_DOUBLING: f64 = 0.9;
    /// Contraction of the last step after which its factors are believed for the error that is left.
    pub const QUICK: f64 = 0.1;
    /// Iterations with factors of an earlier call. Test: `warm_starts_need_no_new_jacobian`.
    pub const REUSED_ITERATIONS: u32 = 7;
    /// Contraction above which old factors are discarded: seven iterations at 0.4 gain three digits, no less is worth it.
    pub const WORST_CONTRACTION: f64 = 0.4;
    /// The first step with old factors, in tolerances, that needs no second one as a witness.
    pub const BELIEVED: f64 = 1e-3;
    /// Relative steps of so many units in the last place are rounding, whatever they contract to.
    pub const ROUNDING_ULPS: f64 = 16.0;
    /// If the residual does not decrease after a step of so many tolerances, within these bounds, rounding is to blame and
    /// the point is a solution.
    pub const ROUNDING_TOLERANCES: f64 = 1e3;
    pub const ROUNDING_BOUNDS: (f64, f64) = (1e-10, 1e-6);
    /// Residuals up to this part of the terms of their equations are small. Test: `a_steep_equation_is_not_solved_by_a_tiny_step`.
    pub const SMALL_RESIDUAL: f64 = 1e-8;
    /// … and no larger than so many tolerances where a variable is far below its nominal value: as accurate as it would be in other units. Test:
    /// `solutions_are_as_accurate_in_all_units`.
    pub const CONFIRMED_TOLERANCES: f64 = 10.0;
    /// Residuals up to this part of terms that cancel are rounding. Test: `what_cancellation_leaves_of_a_residual_is_a_solution`.
    pub const ROUNDING_OF_TERMS: f64 = 1e-12;
    /// What one more step may leave of larger ones, and how much longer a step shows that rounding is all that they are. Tests:
    /// `a_steep_equation_is_not_solved_by_a_tiny_step`, `what_rounding_leaves_of_a_residual_is_a_solution`.
    pub const CONFIRMING_DECREASE: f64 = 0.5;
    pub const OVERSHOOT: f64 = 1e3;
    /// Part of the nominal value down to which a variable is made accurate relative to its own value. Test:
    /// `variables_far_below_their_nominal_values_are_accurate`.
    pub const SMALL: f64 = 1e-6;
    /// Steps for that.
    pub const MOST_POLISHING: u32 = 5;
    /// What they may leave of the residuals: these may be rounding by now, but not grow. Test: `solutions_are_as_accurate_in_all_units`.
    pub const POLISHED: f64 = 2.0;
    /// Part of the nominal value below which no variable has a smaller unit. Test: `a_short_circuit_is_solved_in_units_of_what_was_found`.
    pub const SMALLEST_UNIT: f64 = f64::EPSILON;
    /// Variables that are kept where they are, and the part of the largest entry of an equation that keeps one: rounding errors divided by it are small.
    pub const MOST_PINS: usize = 20;
    pub const PIN: f64 = 1e-8;
    /// Largest sparse system for which normal equations are made: they are dense, and cubic.
    pub const LARGEST_NORMAL: usize = 200;
    /// First and last damping of the regularised step, and the factor between two (Levenberg 1944, Marquardt 1963). Test:
    /// `a_singular_but_consistent_system_ends_near_its_start`.
    pub const DAMPING: (f64, f64) = (1e-10, 1e4);
    pub const DAMPING_FACTOR: f64 = 100.0;
    /// Sizes by which a guess is moved away from a singular point, one after the other. Test: `a_singular_start_is_left`.
    pub const NUDGES: [f64; 3] = [1e-4, 1e-2, 1.0];
    /// Variables are moved by amounts that differ by up to this part, so that no symmetry survives.
    pub const UNEVENNESS: f64 = 0.37;
    /// A difference that fails to both sides is tried once more with this part of its step.
    pub const SHORT_DIFFERENCE: f64 = 1e-3;
}

/// Following a path of solutions ([`crate::continuation`]); `tests/continuation.rs`. Lengths are in sizes of the variables.
pub mod continuation {
    pub const FIRST_STEP: f64 = 0.1;
    /// A path that needs shorter steps ends: it has a kink or the function jumps. Test:
    /// `a_path_that_does_not_arrive_says_how_far_it_came`.
    pub const SMALLEST_STEP: f64 = 1e-7;
    /// Longest step, as a part of the distance from the origin.
    pub const LONGEST_STEP: f64 = 0.5;
    /// Steps, also failed ones. Each of a large system costs more, so that it has fewer.
    pub const MOST_STEPS: f64 = 5_000.0;
    pub const FEWEST_STEPS: f64 = 100.0;
    /// Multiplications for factors, roughly: a second of work.
    pub const MOST_WORK: f64 = 1e9;
    /// Variables this many times as large as usual are on their way to infinity.
    pub const FARTHEST: f64 = 1e8;
    pub const MOST_CORRECTIONS: u32 = 8;
    /// Corrections that converge this quickly are followed by a longer step.
    pub const EASY: u32 = 3;
    /// Corrections that contract no better than this may converge to another branch of the path.
    pub const WORST_CONTRACTION: f64 = 0.5;
    /// Size of the last correction.
    pub const ACCURACY: f64 = 1e-9;
    /// Longest correction, in steps: one longer may have left the branch.
    pub const LONGEST_CORRECTION: f64 = 0.5;
    /// Cosine of the largest angle between tangents at both ends of a step. Test: `a_path_that_turns_back_is_followed`.
    pub const STRAIGHT: f64 = 0.8;
}

/// The choice between explicit and implicit integration ([`crate::auto`]); `tests/stiff.rs`.
pub mod automatic {
    /// Up to this many states a dense, or sparse, factorisation every step is affordable. Measured with the Brusselator:
    /// dense, BDF wins from 100 to 200 states on; sparse, Rosenbrock is ahead up to 1000 even without events. Test:
    /// `the_automatic_choice_depends_on_size_and_sparsity`.
    pub const MOST_STATES_DENSE: usize = 100;
    pub const MOST_STATES_SPARSE: usize = 1_000;
    /// A little inside the stability domain of Dormand–Prince, as parts of its length on the real axis: there its smooth step size control
    /// settles. Test: `the_automatic_choice_goes_to_the_implicit_method_and_back`.
    pub const STABILITY_BOUND: f64 = 0.85;
    /// Fast solutions that oscillate leave the domain earlier, and let the estimate of `h·|λ|` oscillate: its geometric mean
    /// tells. Test: `the_automatic_choice_notices_stiffness_of_damped_oscillations`.
    pub const MEAN_BOUND: f64 = 2.0 / 3.0;
    /// What the mean begins with, and smaller parts count as.
    pub const FIRST_PART: f64 = 0.3;
    pub const SMALLEST_PART: f64 = 0.11;
    /// Weight of a step in this mean.
    pub const MEAN_WEIGHT: f64 = 1.0 / 16.0;
    /// Steps at the bound that make a system stiff, and steps in a row below it that refute that (Hairer and Wanner,
    /// section IV.2).
    pub const STIFF_STEPS: u32 = 15;
    pub const REFUTING_STEPS: u32 = 6;
    /// Below this part of its stability domain the explicit method could have made the same step.
    pub const EXPLICIT_SUFFICES: f64 = 0.45;
    /// Steps of that kind before the explicit method returns; they double with every return.
    pub const FIRST_PROBATION: u32 = 10;
    pub const LONGEST_PROBATION: u32 = 1_000;
    /// A Rosenbrock method that makes more steps than this without a restart suffers from something that BDF does not mind: a
    /// Jacobian that is not exact. Test: `a_jacobian_that_is_not_exact_does_not_hold_up_the_automatic_choice`.
    pub const LONGEST_RUN: u32 = 2_000;
    /// Steps of a Rosenbrock method after as many steps of BDF as [`LONGEST_RUN`], then twice as many and so on; the second
    /// half is compared with the last steps of BDF. Test: `an_undamped_oscillation_does_not_hold_up_the_automatic_choice`.
    pub const TRIAL_STEPS: u32 = 50;
    /// Its steps, with eight evaluations, a Jacobian and a factorisation, must be longer by this factor than those of BDF.
    pub const WORTH_A_JACOBIAN: f64 = 3.0;
    /// A step that BDF cannot make is left to a Rosenbrock method, but not one after the other: at a pole neither can.
    /// Test: `a_pole_ends_the_automatic_choice`.
    pub const STEPS_BETWEEN_RESCUES: u32 = 100;
    /// First step of the other method, as a part of the way to the limit; its error control finds a better one. Test:
    /// `a_transient_shorter_than_time_can_tell_is_passed`.
    pub const FIRST_OF_RESCUE: f64 = 1e-3;
    /// So many explicit steps are followed by a trial of the implicit method; each trial in vain doubles them. Test:
    /// `stiffness_that_does_not_show_is_found_out_by_trial`.
    pub const FIRST_PATIENCE: u64 = 5_000;
}

/// The choice between orders 5 and 8 ([`crate::explicit`]); `tests/explicit.rs`.
pub mod choice_of_order {
    /// With looser relative tolerances order 8 is not tried. Measured with `FlexibleBeamModelica` of ScalableTestSuite, 16 joints: evaluations of order 8
    /// are 0.49, 0.75 and 1.0 times those of order 5 at 3e-8, 1e-6 and 1e-4.
    pub const TIGHT: f64 = 1e-5;
    /// Steps that the error alone has limited before order 8 is tried; each trial in vain doubles them. Short runs end before: of 150 models of the
    /// standard library four took a fifth more evaluations with 50.
    pub const FIRST_PATIENCE: u32 = 300;
    /// Steps whose progress is compared, and steps of order 8 before that, which find their size.
    pub const COMPARED_STEPS: u32 = 24;
    pub const SETTLING_STEPS: u32 = 8;
    /// Order 8 must get farther by this factor: what it adds up between two evaluations is about twice as much.
    pub const WORTH_THE_CHANGE: f64 = 1.3;
    /// Weight of a step in the share of steps that something hindered.
    pub const WEIGHT: f64 = 1.0 / 16.0;
    /// Above the first share nothing is tried, above the second one order 8 gives up. Test: `short_steps_are_left_to_order_five`.
    pub const HARDLY_HINDERED: f64 = 0.2;
    pub const MOST_HINDERED: f64 = 0.5;
    /// Steps that are as long as wanted differ from that by rounding of time.
    pub const NEARLY: f64 = 0.999;
}

/// Step sizes of all methods with error control ([`crate::step_size`]).
pub mod step_size {
    /// A step of so few units in the last place of time is not made smaller. Test: `a_pole_is_an_error_and_no_endless_loop`.
    pub const SMALLEST_STEP_ULPS: f64 = 4.0;
    /// The error of a state that grows without bound is not asked to be smaller than so many units in its last place: rounding is an
    /// error of a few units already, whatever the step. Test: `an_unbounded_state_outgrows_its_absolute_tolerance`.
    pub const ROUNDING_ULPS: f64 = 16.0;
    /// A step longer than the rest of the way divided by this is followed by one as long. Test:
    /// `an_attempt_never_leaves_a_splinter`.
    pub const NEARLY_THERE: f64 = 1.5;
    /// Safety of all step size controllers, and the longest step after one that was rejected (Hairer, Nørsett and Wanner, section
    /// II.4).
    pub const SAFETY: f64 = 0.9;
    pub const AFTER_REJECTION: f64 = 0.9;
    /// Factor after a step that could not be evaluated: there is no hint but "much smaller". Test:
    /// `failing_trial_points_shorten_steps_and_poles_end_the_run`.
    pub const AFTER_FAILURE: f64 = 0.2;
    /// No step is less than this part of the last one.
    pub const MOST_SHRINK: f64 = 0.2;
    /// Smaller error norms count as this, or a constant solution would have infinite steps.
    pub const SMALLEST_ERROR: f64 = 1e-10;
}

/// [`crate::dormand_prince`]: the constants of DOPRI5 and DOP853 (Hairer, Nørsett and Wanner, sections II.4 and II.10).
pub mod dormand_prince {
    /// Exponents of the proportional-integral controller, and the longest step after another one.
    #[derive(Clone, Copy)]
    pub struct Controller {
        pub alpha: f64,
        pub beta: f64,
        pub most_growth: f64,
    }
    pub const FIFTH_ORDER: Controller = Controller { alpha: 0.2 - 0.75 * 0.04, beta: 0.04, most_growth: 10.0 };
    pub const EIGHTH_ORDER: Controller = Controller { alpha: 0.125, beta: 0.0, most_growth: 6.0 };
    /// Least error that the controller remembers.
    pub const REMEMBERED_ERROR: f64 = 1e-4;
    /// How much the estimate of order 3 counts beside that of order 5, both squared.
    pub const THIRD_ORDER_PART: f64 = 0.01;
}

/// [`crate::rosenbrock`]: the constants of RODAS (Hairer and Wanner, section IV.7), but for the last ones.
pub mod rosenbrock {
    pub const MOST_GROWTH: f64 = 6.0;
    /// Least error that the controller remembers.
    pub const REMEMBERED_ERROR: f64 = 1e-2;
    /// A transient so high, in units of the tolerance, is not passed over. Test:
    /// `a_transient_after_an_event_is_not_passed_over`.
    pub const TRANSIENT: f64 = 1.0;
    /// It is stepped through with steps of so many time constants, by steps that are more than twice as long.
    pub const STEP_IN_TRANSIENT: f64 = 2.0;
}

/// [`crate::bdf`]: the constants of `ode15s` (Shampine and Reichelt, 1997), but for those of its iteration.
pub mod bdf {
    pub const NEWTON_ITERATIONS: u32 = 4;
    /// The iteration ends when it leaves an error that moves the error estimate of the step by this part of the tolerance. CVODE has 0.1; with
    /// that a system of which few states move has larger errors at equal tolerance (`testdata/scale/Ladder.mo`, docs/benchmarks.md).
    pub const GOAL: f64 = 0.003;
    /// A rate of contraction is remembered for the steps that follow; one that is measured replaces it, but by no more than this factor at a
    /// time (as in CVODE). Test: `a_rate_is_forgotten_slowly`.
    pub const REMEMBERED: f64 = 0.3;
    /// Worse by this factor with every step that did not measure it, from no less than this: a linear system measures it every few steps. Test:
    /// `a_linear_system_takes_less_than_two_iterations_a_step`.
    pub const AGEING: f64 = 2.0;
    pub const LEAST_RATE: f64 = 0.01;
    /// Factors for another step size or order serve as long as a linear system contracts with them by this rate at least: up to a ratio of
    /// 1.22. Test: `factors_serve_for_nearby_step_sizes`.
    pub const NEAR: f64 = 0.1;
    /// A change below this part of the goal is an end of the iteration, whatever the rate at which it contracts.
    pub const NEGLIGIBLE: f64 = 0.1;
    /// An iteration that contracts slowly, or neither contracts nor grows, is good enough with an error below this part of the
    /// tolerance. Test: `noise_below_the_tolerance_does_not_stop_bdf`.
    pub const SUFFICIENT: f64 = 0.1;
    /// Rates of contraction that are noise, unless a change contains more than this part of the next one. Test:
    /// `small_changes_all_in_one_direction_are_no_convergence`.
    pub const STALLED: std::ops::Range<f64> = 0.5..2.0;
    pub const DRIFTING: f64 = 0.5;
    pub const MOST_GROWTH: f64 = 10.0;
    /// Changes of the step size that are not worth a factorisation.
    pub const ALIKE: std::ops::Range<f64> = 0.9..1.2;
    /// Factor after a step that could not be evaluated.
    pub const AFTER_FAILURE: f64 = 0.3;
}

/// [`crate::fixed_step`]; `tests/orders.rs`, `tests/stiff.rs`.
pub mod fixed_step {
    /// Newton iterations of the implicit Euler method: a bound for real time.
    pub const NEWTON_ITERATIONS: u32 = 6;
    /// A Newton step this small, in units of the tolerance, is the last one.
    pub const NEWTON_GOAL: f64 = 1e-3;
    /// A Newton step that is longer than the one before by this factor diverges.
    pub const DIVERGES: f64 = 2.0;
    /// A rest of the grid smaller than this part of a step is left out. Test: `fixed_steps_stay_on_their_grid`.
    pub const SPLINTER: f64 = 1e-6;
}

/// Dense and sparse factorisation, and the choice between them.
pub mod linear {
    /// A pivot of the equilibrated matrix below this many times n·2⁻⁵² is rounding. Test:
    /// `singular_and_invalid_matrices_are_reported`.
    pub const PIVOT_ROUNDING: f64 = 4.0;
    /// The same with complete pivoting, where a system that is singular in exact numbers must be found so after the rounding of
    /// its coefficients, too. Test: `free_variables_keep_their_values`.
    pub const RANK_ROUNDING: f64 = 64.0;
    /// The diagonal is preferred as a pivot if it is at least this part of the largest candidate: other pivots undo the order.
    /// Test: `small_entries_on_the_diagonal_do_not_undo_the_order`.
    pub const DIAGONAL_PREFERENCE: f64 = 1e-3;
    /// A pivot of Markowitz must be at least this part of the largest entry of its column (Duff and Reid's MA28), and so many rows and
    /// columns are looked at for it at most. Test: `small_entries_are_not_pivots`.
    pub const MARKOWITZ_PIVOT: f64 = 0.1;
    pub const MARKOWITZ_LOOKS: u32 = 8;
    /// A reused pivot must be at least this part of the largest entry of its column. Test:
    /// `new_values_reuse_the_pattern_and_a_lost_pivot_is_replaced`.
    pub const REUSED_PIVOT: f64 = 1e-4;
    /// Up to this size dense is faster whatever the filling; above it, fillings above the second number are treated as dense.
    /// Measured with grids and chains.
    pub const LARGEST_ALWAYS_DENSE: usize = 60;
    pub const DENSEST_SPARSE: f64 = 0.2;
    /// Steps of Hager's estimate of the condition; the paper (1984) never needs more.
    pub const CONDITION_STEPS: u32 = 5;
}

/// Jacobians by differences, and the estimate of stiffness from them ([`crate::jacobian`]).
pub mod jacobian {
    /// Products of the power iteration that are skipped, and that are measured.
    pub const SKIPPED_PRODUCTS: i32 = 3;
    pub const MEASURED_PRODUCTS: i32 = 4;
    /// Below so many units in the last place of f a difference would drown in rounding (as in SUNDIALS' CVLS).
    pub const NOISE_ULPS: f64 = 1e3;
    /// A difference over a kink or a jump reaches so far, in tolerances: as far as [`super::bdf::SUFFICIENT`] lets the last change be. Test:
    /// `dry_friction_without_events_is_slid_along`.
    pub const REACH: f64 = super::bdf::SUFFICIENT;
}

/// Location of roots ([`crate::root`]): κ₁ and n₀ of ITP (Oliveira and Takahashi, 2020).
pub mod root {
    /// Truncation towards the middle, as a part of the bracket.
    pub const TRUNCATION: f64 = 0.2;
    /// Bisection steps that ITP may spend beyond plain bisection. Test: `a_jump_costs_no_more_than_bisection`.
    pub const SLACK: i32 = 1;
}

/// Schur form, balancing and singular values; `tests/decompositions.rs`.
pub mod decompositions {
    /// QR steps for one block before the solver stops. LAPACK allows 30 for each eigenvalue; a block has two.
    pub const MOST_QR_STEPS: usize = 60;
    /// Every tenth step without success takes an arbitrary shift, which breaks cycles (as LAPACK does). Test:
    /// `a_cyclic_permutation_has_the_roots_of_unity`.
    pub const EXCEPTIONAL_STEP: usize = 10;
    /// Balancing ends long before; the bound is for matrices on which rounding makes it swing.
    pub const MOST_BALANCING_SWEEPS: usize = 100;
    /// A scaling must make the sum of the norms of row and column smaller by this factor (Parlett and Reinsch, 1969).
    pub const WORTHWHILE: f64 = 0.95;
    /// Powers of two beyond these come near overflow.
    pub const LARGEST_EXPONENT: f64 = 500.0;
    /// Sweeps of Jacobi rotations over all pairs of columns. Convergence is quadratic at the end; ten sweeps are many.
    pub const MOST_JACOBI_SWEEPS: usize = 60;
    /// A unit vector that is this small after projection was in the span of the others.
    pub const IN_THE_SPAN: f64 = 1e-8;
}

/// Motion along intersections of surfaces ([`crate::filippov`]), in shares of 1 that move at rates of at most 1; its tests.
pub mod sliding {
    /// First step of the fast motion: short enough to stay in the basin it begins in.
    pub const FIRST_STEP: f64 = 0.05;
    /// Steps grow by this factor, so that at last they are Newton's: rates of 10⁻⁹ would rest after 10⁹ units of time otherwise.
    pub const GROWTH: f64 = 1.1;
    /// Longer ones change nothing more.
    pub const LONGEST_STEP: f64 = 1e12;
    /// Enough steps for the longest one, and for Newton's method after that.
    pub const MOST_STEPS: usize = 500;
    pub const MOST_NEWTON_STEPS: usize = 30;
    /// Rates below this are rest: rounding of difference quotients is larger.
    pub const REST: f64 = 1e-12;
    /// A share that is no further from its end is at its end.
    pub const END: f64 = 1e-12;
    /// Rows that are no longer than this, beside others, depend on them: they come from difference quotients.
    pub const RANK: f64 = 1e-5;
    /// Positions of dependent functions that are further off than this, in widths of their ramps, do not come back.
    pub const AWAY: f64 = 20.0;
    /// Functions that have come as far as this when another one is away are left, too.
    pub const LEFT: f64 = 3.0;
    /// A slide along dependent functions ends this much before nothing keeps them at zero any more: there they have no position.
    pub const OVER: f64 = 1e-9;
    /// Steps until positions are away at a rate of 0.01, and after how many Newton's method is tried.
    pub const MOST_POSITIONS: usize = 40_000;
    pub const POLISHED_EVERY: usize = 40;
    /// Growth of disturbances that is rounding. Test: `shares_that_go_round_have_no_limit`.
    pub const STABLE: f64 = 1e-9;
}

/// Quantised states ([`crate::liqss`]); `tests/liqss.rs`.
pub mod quantised {
    /// Where `|a|·h` is beyond this, `h` being the time to where a line touches its state, a new line begins there: the amplification of one that goes
    /// on to `2h` is `(1 + a·h)/(1 - a·h)`, which changes its sign at `|a|·h = 1`. Test: `stiff_states_take_few_steps`.
    pub const PAST_MEETING: f64 = 0.5;
    /// The first look at a derivative that depends on time otherwise than linearly, and the time over which its slope is taken, as a part of the
    /// longest or of the present look. Test: `a_derivative_of_time_alone_is_looked_at_often_enough`.
    pub const FIRST_LOOK: f64 = 1e-2;
    /// Looks aim at this part of what they may be off by, as steps of other methods do, and change by factors between these.
    pub const LOOK_SAFETY: f64 = 0.7;
    pub const LOOK_SHRINK: f64 = 0.2;
    pub const LOOK_GROWTH: f64 = 2.0;
    /// Differences over time are taken over so many of its units in the last place at least: fewer would be rounding.
    pub const DIFFERENCE_ULPS: f64 = 1e3;
}
