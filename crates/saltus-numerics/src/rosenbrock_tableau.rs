//! Coefficients of stiffly accurate Rosenbrock methods, in the form that needs no product with the Jacobian.
//!
//! Stage `i` solves `(1/(h·γ) − J)·kᵢ = f(t + αᵢ·h, x + Σ aᵢⱼ·kⱼ) + Σ cᵢⱼ/h·kⱼ + h·dᵢ·∂f/∂t`. The last stage is taken at the
//! embedded solution; adding it gives the solution, so that it is also the error estimate. On a step, with `s` from 0 to 1,
//! `x(s) = (1 − s)·x₀ + s·(x₁ + (1 − s)·(D₁ + s·(D₂ + s·D₃)))` with `Dᵢ = Σ denseᵢⱼ·kⱼ`.
//!
//! The order conditions in the tests (Hairer, Wanner: *Solving Ordinary Differential Equations II*, section IV.7) fail if
//! a digit is wrong.

pub(crate) struct Tableau {
    pub order: i32,
    pub gamma: f64,
    /// Row `i` is for stage `i + 1`, counted from 0.
    pub a: &'static [&'static [f64]],
    pub c: &'static [&'static [f64]],
    pub alpha: &'static [f64],
    pub d: &'static [f64],
    pub dense: &'static [&'static [f64]],
}

impl Tableau {
    pub fn stages(&self) -> usize {
        self.alpha.len()
    }
}

/// RODAS of Hairer and Wanner (section IV.10 of their book, table in their code of that name): order 4(3), 6 stages,
/// continuous extension of order 3.
pub(crate) const RODAS4: Tableau = Tableau {
    order: 4,
    gamma: 0.25,
    a: &[
        &[1.544],
        &[0.9466785280815826, 0.2557011698983284],
        &[3.314825187068521, 2.896124015972201, 0.9986419139977817],
        &[1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895],
        &[1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0],
    ],
    c: &[
        &[-5.6688],
        &[-2.430093356833875, -0.2063599157091915],
        &[-0.1073529058151375, -9.594562251023355, -20.47028614809616],
        &[7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616],
        &[8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054],
    ],
    alpha: &[0.0, 0.386, 0.21, 0.63, 1.0, 1.0],
    d: &[0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0],
    dense: &[
        &[10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662, 0.0],
        &[-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872, 0.0],
    ],
};

const RODAS5P_LAST: [f64; 7] =
    [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0, 1.0];

/// Rodas5P of Steinebach: *Construction of Rosenbrock–Wanner method Rodas5P and numerical benchmarks within the Julia
/// Differential Equations package*, BIT 2023. Order 5(4), 8 stages, continuous extension of order 4; keeps its order for
/// linear parabolic problems.
pub(crate) const RODAS5P: Tableau = Tableau {
    order: 5,
    gamma: 0.21193756319429014,
    a: &[
        &[3.0],
        &[2.849394379747939, 0.45842242204463923],
        &[-6.954028509809101, 2.489845061869568, -10.358996098473584],
        &[2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
        RODAS5P_LAST.split_at(5).0,
        RODAS5P_LAST.split_at(6).0,
        &RODAS5P_LAST,
    ],
    c: &[
        &[-14.155112264123755],
        &[-17.97296035885952, -2.859693295451294],
        &[147.12150275711716, -1.41221402718213, 71.68940251302358],
        &[165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
        &[24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471],
        &[
            30.91273214028599,
            -3.1208243349937974,
            77.79954646070892,
            34.28646028294783,
            -19.097331116725623,
            -28.087943162872662,
        ],
        &[
            37.80277123390563,
            -3.2571969029072276,
            112.26918849496327,
            66.9347231244047,
            -40.06618937091002,
            -54.66780262877968,
            -9.48861652309627,
        ],
    ],
    alpha: &[0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0],
    d: &[
        0.21193756319429014,
        -0.42387512638858027,
        -0.3384627126235924,
        1.8046452872882734,
        2.325825639765069,
        0.0,
        0.0,
        0.0,
    ],
    dense: &[
        &[
            25.948786856663858,
            -2.5579724845846235,
            10.433815404888879,
            -2.3679251022685204,
            0.524948541321073,
            1.1241088310450404,
            0.4272876194431874,
            -0.17202221070155493,
        ],
        &[
            -9.91568850695171,
            -0.9689944594115154,
            3.0438037242978453,
            -24.495224566215796,
            20.176138334709044,
            15.98066361424651,
            -6.789040303419874,
            -6.710236069923372,
        ],
        &[
            11.419903575922262,
            2.8879645146136994,
            72.92137995996029,
            80.12511834622643,
            -52.072871366152654,
            -59.78993625266729,
            -0.15582684282751913,
            4.883087185713722,
        ],
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    type Matrix = Vec<Vec<f64>>;

    /// The method in its original form: αᵢⱼ, γᵢⱼ, and the weights of the solution and of the embedded one.
    struct Original {
        alpha: Matrix,
        beta: Matrix,
        b: Vec<f64>,
        embedded: Vec<f64>,
    }

    fn product(row: &[f64], matrix: &Matrix) -> Vec<f64> {
        (0..row.len()).map(|j| row.iter().zip(matrix).map(|(r, m)| r * m[j]).sum()).collect()
    }

    fn original(t: &Tableau) -> Original {
        let n = t.stages();
        let entry = |rows: &[&[f64]], i: usize, j: usize| if i > j { rows[i - 1][j] } else { 0.0 };
        // Γ⁻¹ = 1/γ − C is lower triangular: inverted column by column.
        let inverse = |i: usize, j: usize| if i == j { 1.0 / t.gamma } else { -entry(t.c, i, j) };
        let mut gamma = vec![vec![0.0; n]; n];
        for j in 0..n {
            for i in j..n {
                let sum: f64 = (j..i).map(|k| inverse(i, k) * gamma[k][j]).sum();
                gamma[i][j] = (if i == j { 1.0 } else { 0.0 } - sum) * t.gamma;
            }
        }
        let a: Matrix = (0..n).map(|i| (0..n).map(|j| entry(t.a, i, j)).collect()).collect();
        let alpha: Matrix = a.iter().map(|row| product(row, &gamma)).collect();
        let beta = (0..n).map(|i| (0..n).map(|j| alpha[i][j] + gamma[i][j]).collect()).collect();
        let mut weights = a[n - 1].clone();
        let embedded = product(&weights, &gamma);
        weights[n - 1] = 1.0;
        let row_sums: Vec<f64> = gamma.iter().map(|row| row.iter().sum()).collect();
        for i in 0..n {
            assert!((row_sums[i] - t.d[i]).abs() < 2e-13, "d of stage {i}");
            assert!((alpha[i].iter().sum::<f64>() - t.alpha[i]).abs() < 2e-13, "α of stage {i}");
        }
        Original { b: product(&weights, &gamma), alpha, beta, embedded }
    }

    /// Left and right sides of the order conditions for all trees of that many nodes.
    fn conditions(o: &Original, b: &[f64], order: usize) -> Vec<(f64, f64)> {
        let n = b.len();
        let apply = |m: &Matrix, v: &[f64]| -> Vec<f64> {
            m.iter().map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
        };
        let times = |u: &[f64], v: &[f64]| -> Vec<f64> { u.iter().zip(v).map(|(a, b)| a * b).collect() };
        let sum = |v: Vec<f64>| -> f64 { v.iter().zip(b).map(|(a, b)| a * b).sum() };
        let one = vec![1.0; n];
        let (a, be) = (apply(&o.alpha, &one), apply(&o.beta, &one));
        let (a2, bb) = (times(&a, &a), apply(&o.beta, &be));
        let ab = apply(&o.alpha, &be);
        match order {
            1 => vec![(sum(one), 1.0)],
            2 => vec![(sum(be), 1.0 / 2.0)],
            3 => vec![(sum(a2), 1.0 / 3.0), (sum(bb), 1.0 / 6.0)],
            4 => vec![
                (sum(times(&a2, &a)), 1.0 / 4.0),
                (sum(times(&a, &ab)), 1.0 / 8.0),
                (sum(apply(&o.beta, &a2)), 1.0 / 12.0),
                (sum(apply(&o.beta, &bb)), 1.0 / 24.0),
            ],
            _ => vec![
                (sum(times(&a2, &a2)), 1.0 / 5.0),
                (sum(times(&a2, &ab)), 1.0 / 10.0),
                (sum(times(&ab, &ab)), 1.0 / 20.0),
                (sum(times(&a, &apply(&o.alpha, &a2))), 1.0 / 15.0),
                (sum(times(&a, &apply(&o.alpha, &bb))), 1.0 / 30.0),
                (sum(apply(&o.beta, &times(&a2, &a))), 1.0 / 20.0),
                (sum(apply(&o.beta, &times(&a, &ab))), 1.0 / 40.0),
                (sum(apply(&o.beta, &apply(&o.beta, &a2))), 1.0 / 60.0),
                (sum(apply(&o.beta, &apply(&o.beta, &bb))), 1.0 / 120.0),
            ],
        }
    }

    #[test]
    fn order_conditions_hold_for_solution_and_estimate() {
        for tableau in [&RODAS4, &RODAS5P] {
            let o = original(tableau);
            for (weights, order) in [(&o.b, tableau.order), (&o.embedded, tableau.order - 1)] {
                for k in 1..=order as usize {
                    for (i, (left, right)) in conditions(&o, weights, k).into_iter().enumerate() {
                        assert!((left - right).abs() < 1e-11, "order {order}, condition {k}.{i}: {left} ≠ {right}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_methods_do_not_have_one_order_more() {
        // or the order measured elsewhere would prove nothing
        for tableau in [&RODAS4, &RODAS5P] {
            let o = original(tableau);
            let next = conditions(&o, &o.embedded, tableau.order as usize);
            assert!(next.iter().any(|(left, right)| (left - right).abs() > 1e-6));
        }
    }
}
