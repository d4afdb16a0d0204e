//! Object-oriented modeling of hybrid systems, 1993.

use std::f64::consts::PI;

use saltus_sim::{EventCause, EventRecord};

use crate::harness::{Run, all_close, close};
use crate::reference;

/// 2 sin t passes ±1 at 30° and 150° of each half wave.
pub fn limiter(run: &Run) {
    run.follows("limiter.y", 1e-12, |t| (2.0 * t.sin()).clamp(-1.0, 1.0));
    let bends: Vec<f64> = [1, 5, 7, 11, 13, 17, 19].map(|k| k as f64 * PI / 6.0).to_vec();
    all_close("bends", &run.all_events(), &bends, 1e-12);
}

/// Outwards through ±1 at 30°, 210°, 390° and 570°.
pub fn hysteresis(run: &Run) {
    let expected = [1, 7, 13, 19].map(|k| k as f64 * PI / 6.0);
    all_close("switching", &run.jumps("y"), &expected, 1e-12);
    let value = |t: f64| match expected.iter().filter(|e| **e < t).count() {
        0 => 0.0,
        n if n % 2 == 1 => 1.0,
        _ => -1.0,
    };
    run.follows("y", 0.0, value);
}

/// x[k] = 0.2 + 0.8 x[k-1] from 0: 1 - 0.8^k after k evaluations, one each quarter of a second.
pub fn difference_equation(run: &Run) {
    run.follows("x", 1e-12, |t| 1.0 - 0.8_f64.powi((t / 0.25).floor() as i32));
    close("nextTime", run.last("nextTime"), 5.25, 1e-12);
}

/// With the switch closed the capacitor goes to 0.01 A · 100‖20 Ω with time constant 100‖20 Ω · 0.1 µF, else it is
/// discharged through 20 Ω.
pub fn switch_circuit(run: &Run) {
    let (r, c) = (100.0 * 20.0 / 120.0, 0.1e-6);
    let times = [0.0, 1.0e-6, 2.5e-6, 5.0e-6, 9.0e-6, f64::INFINITY];
    let voltage = |t: f64| {
        let mut u = 0.0;
        for (k, span) in times.windows(2).enumerate() {
            let length = t.min(span[1]) - span[0];
            if length <= 0.0 {
                break;
            }
            let (steady, tau) = if k % 2 == 1 { (0.01 * r, r * c) } else { (0.0, 20.0 * c) };
            u = steady + (u - steady) * (-length / tau).exp();
        }
        u
    };
    run.follows("y", 1e-6, voltage);
    all_close("switching", &run.events(), &times[1..5], 1e-18);
}

pub fn rectifier(run: &Run) {
    let times: Vec<f64> = (0..=500).map(|k| k as f64 * 2e-4).collect();
    let (voltage, switching) = reference::rectifier(10.0, 50.0, 1e-3, &times);
    for (t, u) in times.iter().zip(&voltage) {
        close(&format!("y at {t}"), run.at("y", *t), *u, 1e-6);
    }
    let events: Vec<&EventRecord> = run.trajectory().events.iter().filter(|e| e.time > 1e-9).collect();
    all_close("switching", &events.iter().map(|e| e.time).collect::<Vec<_>>(), &switching, 1e-7);
    tells_the_story(&events);
}

/// The paper's log: an expression passes zero, the switch changes, the equations are iterated, another expression follows,
/// they are iterated once more.
fn tells_the_story(events: &[&EventRecord]) {
    for (k, event) in events.iter().enumerate() {
        // It conducts from the start on, so it first opens, then closes, and so on.
        let opens = k % 2 == 0;
        // Which expression became what.
        let expected = if opens { ("Diode.i > 0.0", false) } else { ("Diode.u <= 0.0", false) };
        let became = |cause: &EventCause| matches!(cause, EventCause::Relation { text, value, .. } if (&**text, *value) == expected);
        assert!(event.causes.iter().any(became), "{event:?}");
        // What changed, and how often it was iterated.
        let change = event.changes.iter().find(|c| &*c.variable == "Diode.open").expect("the switch changes");
        assert_eq!((change.before, change.after), if opens { (0.0, 1.0) } else { (1.0, 0.0) });
        assert!((2..=4).contains(&event.rounds), "{} rounds", event.rounds);
    }
}

/// Branches with switch k closed conduct 1/(100 · 2^k) S; the source of 1 V sees their sum in series with 100 Ω. No two
/// positions have the same current, so 1024 currents are 1024 structures of one program.
pub fn ten_switches(run: &Run) {
    let current = |position: u32| {
        let g: f64 = (0..10).filter(|k| position >> k & 1 == 1).map(|k| 1.0 / (100.0 * 2.0_f64.powi(k))).sum();
        if g == 0.0 { 0.0 } else { 1.0 / (100.0 + 1.0 / g) }
    };
    for position in 0..1024 {
        let t = f64::from(position);
        close("position", run.at("position", t), t, 0.0);
        close(&format!("current in position {position}"), run.at("Ri.i", t), current(position), 1e-14);
    }
    assert_eq!(run.timings.iter().filter(|(stage, _)| *stage == "emit").count(), 1);
}
