//! Every example of the shipped library runs without options and is held to numbers from another source: a closed form,
//! a conserved quantity, or an integration of its own in [`reference`].
//!
//! The examples with an intended error are held to their message.

#[path = "examples/e1993.rs"]
mod e1993;
#[path = "examples/e1997.rs"]
mod e1997;
#[path = "examples/e1999.rs"]
mod e1999;
#[path = "examples/e2005.rs"]
mod e2005;
#[path = "examples/e2013.rs"]
mod e2013;
#[path = "examples/friction.rs"]
mod friction;
#[path = "examples/harness.rs"]
mod harness;
#[path = "examples/meta.rs"]
mod meta;
#[path = "examples/parts.rs"]
mod parts;
#[path = "examples/reference.rs"]
mod reference;

use saltus::Session;
use saltus_syntax::ast::ClassKind;

/// One test for each example: its name below `Saltus.Examples`, and what it must show.
macro_rules! examples {
    ($($test:ident: $class:literal => $check:path;)*) => {
        const TESTED: &[&str] = &[$($class),*];
        $(
            #[test]
            fn $test() {
                $check(&harness::run($class));
            }
        )*
    };
}

examples! {
    e1993_limiter: "E1993.Limiter" => e1993::limiter;
    e1993_hysteresis: "E1993.Hysteresis" => e1993::hysteresis;
    e1993_difference_equation: "E1993.DifferenceEquation" => e1993::difference_equation;
    e1993_switch_circuit: "E1993.SwitchCircuit" => e1993::switch_circuit;
    e1993_rectifier: "E1993.Rectifier" => e1993::rectifier;
    e1993_two_blocks: "E1993.TwoBlocks" => friction::two_blocks;
    e1993_ten_switches: "E1993.TenSwitches" => e1993::ten_switches;
    e1993_robot_chain: "E1993.RobotChain" => friction::robot_chain;
    e1997_constrained_pendulum: "E1997.ConstrainedPendulum" => e1997::constrained_pendulum;
    e1997_constrained_pendulum_linear: "E1997.ConstrainedPendulumLinear" => e1997::constrained_pendulum_linear;
    e1997_boundary_value: "E1997.BoundaryValue" => e1997::boundary_value;
    e1997_ball_macroscopic: "E1997.BallMacroscopic" => e1997::ball_macroscopic;
    e1997_ball_microscopic: "E1997.BallMicroscopic" => e1997::ball_microscopic;
    e1997_rough_block: "E1997.RoughBlock" => friction::rough_block;
    e1997_looping_pendulum: "E1997.LoopingPendulum" => e1997::looping_pendulum;
    e1997_pilot_ejection: "E1997.PilotEjection" => e1997::pilot_ejection;
    e1997_cooking_pot: "E1997.CookingPot" => e1997::cooking_pot;
    e1997_reconditioning_plant: "E1997.ReconditioningPlant" => e1997::reconditioning_plant;
    e1997_discrete_controller: "E1997.DiscreteController" => e1997::discrete_controller;
    e1999_sampled_controller: "E1999.SampledController" => e1999::sampled_controller;
    e1999_two_point: "E1999.TwoPoint" => e1999::two_point;
    e1999_test_discrete: "E1999.TestDiscrete" => e1999::test_discrete;
    e1999_fast_and_slow: "E1999.FastAndSlow" => e1999::fast_and_slow;
    e1999_pt1_reset: "E1999.PT1reset" => e1999::pt1_reset;
    e1999_test_pt1: "E1999.TestPT1" => e1999::test_pt1;
    e1999_bouncing_ball_1: "E1999.BouncingBall1" => e1999::bouncing_ball_1;
    e1999_bouncing_ball_2: "E1999.BouncingBall2" => e1999::bouncing_ball_2;
    e1999_rectifier_automaton: "E1999.RectifierAutomaton" => e1999::rectifier;
    e1999_rectifier_complementary: "E1999.RectifierComplementary" => e1999::rectifier;
    e1999_rectifier_curve: "E1999.RectifierCurve" => e1999::rectifier;
    e1999_hysteresis: "E1999.Hysteresis" => e1999::hysteresis;
    e1999_thyristor: "E1999.Thyristor" => e1999::thyristor;
    e1999_friction_simple: "E1999.FrictionSimple" => friction::friction_simple;
    e1999_friction_full: "E1999.FrictionFull" => friction::friction_full;
    e1999_deadlock: "E1999.Deadlock" => e1999::deadlock;
    e1999_loop_at_events: "E1999.LoopAtEvents" => e1999::loop_at_events;
    e2005_bouncing_ball: "E2005.BouncingBall" => e2005::bouncing_ball;
    e2005_event_iteration: "E2005.EventIteration" => e2005::event_iteration;
    e2005_when_or: "E2005.WhenOr" => e2005::when_or;
    e2013_three_branches: "E2013.ThreeBranches" => e2013::three_branches;
    e2013_three_branches_backwards: "E2013.ThreeBranchesBackwards" => e2013::three_branches_backwards;
    e2013_touched_threshold: "E2013.TouchedThreshold" => e2013::touched_threshold;
    e2013_dry_hysteresis: "E2013.DryHysteresis" => e2013::dry_hysteresis;
    e2013_switch_in_loop: "E2013.SwitchInLoop" => e2013::switch_in_loop;
    e2013_halfway_rectifier: "E2013.HalfwayRectifier" => e2013::halfway_rectifier;
    meta_looping_pendulum: "Meta.LoopingPendulum" => meta::looping_pendulum;
    meta_looping_pendulum_damped: "Meta.LoopingPendulumDamped" => meta::looping_pendulum_damped;
    meta_ball_microscopic: "Meta.BallMicroscopic" => meta::ball_microscopic;
    meta_ball_macroscopic: "Meta.BallMacroscopic" => meta::ball_macroscopic;
    meta_ball_both: "Meta.BallBoth" => meta::ball_both;
    meta_constrained_pendulum: "Meta.ConstrainedPendulum" => meta::constrained_pendulum;
    meta_constrained_pendulum_at_pin: "Meta.ConstrainedPendulumAtPin" => meta::constrained_pendulum_at_pin;
    meta_constrained_pendulum_opposite: "Meta.ConstrainedPendulumOpposite" => meta::constrained_pendulum_opposite;
    meta_pilot_ejection: "Meta.PilotEjection" => meta::pilot_ejection;
    meta_reconditioning_plant: "Meta.ReconditioningPlant" => meta::reconditioning_plant;
    meta_cooking_pot: "Meta.CookingPot" => meta::cooking_pot;
    meta_cooking_pot_linearised: "Meta.CookingPotLinearised" => meta::cooking_pot_linearised;
    meta_repeated_linearisation: "Meta.RepeatedLinearisation" => meta::repeated_linearisation;
    meta_rocket_stages: "Meta.RocketStages" => meta::rocket_stages;
    parts_bridge_rectifier: "Parts.BridgeRectifier" => parts::bridge_rectifier;
    parts_commutation: "Parts.Commutation" => parts::commutation;
    parts_zener_limiter: "Parts.ZenerLimiter" => parts::zener_limiter;
    parts_chopper: "Parts.Chopper" => parts::chopper;
    parts_transformers: "Parts.Transformers" => parts::transformers;
    parts_characteristics: "Parts.Characteristics" => parts::characteristics;
    parts_integrators: "Parts.Integrators" => parts::integrators;
    parts_anti_windup: "Parts.AntiWindup" => parts::anti_windup;
    parts_clutch_engagement: "Parts.ClutchEngagement" => parts::clutch_engagement;
    parts_five_clutches: "Parts.FiveClutches" => friction::five_clutches;
    parts_brake_and_hold: "Parts.BrakeAndHold" => parts::brake_and_hold;
    parts_free_wheel: "Parts.FreeWheel" => parts::free_wheel;
    parts_stops: "Parts.Stops" => parts::stops;
    parts_level_control: "Parts.LevelControl" => parts::level_control;
}

#[test]
fn every_example_has_a_test_an_experiment_and_a_description() {
    let session = Session::on_disk();
    let library = session.library();
    let examples = library.find("Saltus.Examples").expect("the package of examples");
    let mut untested = Vec::new();
    for package in library.children(examples) {
        for class in library.children(package) {
            let name = library.qualified_name(class);
            let definition = library.definition(class).expect("a definition");
            if definition.kind != ClassKind::Model || definition.is_partial {
                continue;
            }
            let short = name.strip_prefix("Saltus.Examples.").unwrap_or(&name);
            let text = library.with_sources(|sources| sources.slice(definition.span).to_string());
            if !TESTED.contains(&short) || !text.contains("experiment(StopTime") || !text.contains("Documentation(info")
            {
                untested.push(name);
            }
        }
    }
    assert!(untested.is_empty(), "without test, experiment or documentation: {untested:?}");
}
