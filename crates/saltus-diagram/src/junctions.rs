//! Dots where connections branch.
//!
//! In: the connections of a scene. Out: the points at which three or more lines of one connection set meet, away from the connectors:
//!
//! ```text
//! a ──●── b     connect(a, b), and connect(b, c) with a line that is the same as far as the dot
//!     │
//!     c
//! ```
//!
//! Lines that cross have no dot, and neither have lines of different sets that touch each other.

use std::collections::HashMap;

use crate::geometry::Point;
use crate::scene::{Color, Connection, ConnectionKind, Primitive, Scene, Shape};

/// Points of one set that are looked at; the work grows with their square.
const MOST_POINTS: usize = 4000;

/// What counts as the same place, as a part of a unit of the scene.
const NEAR: f64 = 1e-3;

/// Directions that differ by less than this sine are the same.
const SAME_DIRECTION: f64 = 1e-3;

/// Where lines branch.
#[derive(Clone, PartialEq, Debug)]
pub struct Junction {
    pub at: Point,
    pub color: Color,
    pub thickness: f64,
}

struct Path {
    points: Vec<Point>,
    color: Color,
    thickness: f64,
}

/// Dots of a scene, in the order of its connections.
pub fn junctions(scene: &Scene) -> Vec<Junction> {
    sets(&scene.connections).iter().flat_map(|set| branches(set)).collect()
}

/// Lines whose connections share ends.
fn sets(connections: &[Connection]) -> Vec<Vec<Path>> {
    let mut of_name: HashMap<&str, usize> = HashMap::new();
    let mut parent: Vec<usize> = Vec::new();
    for connection in connections {
        for end in [&connection.from, &connection.to] {
            let n = parent.len();
            if *of_name.entry(end).or_insert(n) == n {
                parent.push(n);
            }
        }
        let [a, b] = [&connection.from, &connection.to].map(|end| root(&mut parent, of_name[end.as_str()]));
        parent[b] = a;
    }
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut sets: Vec<Vec<Path>> = Vec::new();
    for connection in connections.iter().filter(|c| c.kind == ConnectionKind::Connect) {
        let Some(Primitive { shape: Shape::Line(line), visible: true, .. }) = &connection.line else { continue };
        // A curve is somewhere between its points.
        if line.smooth {
            continue;
        }
        let set = root(&mut parent, of_name[connection.from.as_str()]);
        let at = *places.entry(set).or_insert(sets.len());
        if at == sets.len() {
            sets.push(Vec::new());
        }
        sets[at].push(Path { points: connection.points(), color: line.color, thickness: line.thickness });
    }
    sets
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

fn branches(set: &[Path]) -> Vec<Junction> {
    let n_points: usize = set.iter().map(|path| path.points.len()).sum();
    if set.len() < 2 || n_points > MOST_POINTS {
        return Vec::new();
    }
    let ends: Vec<Point> =
        set.iter().flat_map(|path| [path.points.first(), path.points.last()]).flatten().copied().collect();
    let mut found: Vec<Junction> = Vec::new();
    for path in set {
        for &at in &path.points {
            let is_known = found.iter().any(|dot| is_near(dot.at, at)) || ends.iter().any(|&end| is_near(end, at));
            if !is_known && directions(set, at) > 2 {
                found.push(Junction { at, color: path.color, thickness: path.thickness });
            }
        }
    }
    found
}

/// In how many directions lines leave a point.
fn directions(set: &[Path], at: Point) -> usize {
    let mut found: Vec<Point> = Vec::new();
    let mut add = |to: Point| {
        let (dx, dy) = (to[0] - at[0], to[1] - at[1]);
        let length = dx.hypot(dy);
        if length < NEAR {
            return;
        }
        let [x, y] = [dx / length, dy / length];
        if !found.iter().any(|[u, v]| (u * y - v * x).abs() < SAME_DIRECTION && u * x + v * y > 0.0) {
            found.push([x, y]);
        }
    };
    for path in set {
        for pair in path.points.windows(2) {
            if is_on(pair[0], pair[1], at) {
                add(pair[0]);
                add(pair[1]);
            }
        }
    }
    found.len()
}

fn is_near(a: Point, b: Point) -> bool {
    (a[0] - b[0]).hypot(a[1] - b[1]) < NEAR
}

/// Is a point on the line from `a` to `b`?
fn is_on(a: Point, b: Point, at: Point) -> bool {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let square = dx * dx + dy * dy;
    let part = if square > 0.0 { (((at[0] - a[0]) * dx + (at[1] - a[1]) * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
    is_near([a[0] + part * dx, a[1] + part * dy], at)
}
