//! Exact inference against sums over the joint distribution, for random networks with zeros.

use kes_core::inference::{Effort, Factor, Failure, Model, Observations};
use kes_core::rng::Stream;
use kes_core::stop::Stop;

fn random_network(seed: u64, n: usize) -> (Vec<usize>, Vec<Factor>) {
    let mut numbers = Stream::new(seed, 0);
    let states: Vec<usize> = (0..n).map(|_| 1 + numbers.below(3)).collect();
    let factors = (0..n)
        .map(|v| {
            let mut scope: Vec<usize> = (0..v).filter(|_| numbers.below(3) == 0).collect();
            scope.push(v);
            let rows: usize = scope[..scope.len() - 1].iter().map(|&p| states[p]).product();
            let mut table = Vec::new();
            for _ in 0..rows {
                let mut row: Vec<f64> = (0..states[v]).map(|_| numbers.below(4) as f64).collect();
                row[0] += f64::from(u8::from(row.iter().sum::<f64>() == 0.0));
                let sum: f64 = row.iter().sum();
                table.extend(row.iter().map(|p| p / sum));
            }
            Factor { scope, table }
        })
        .collect();
    (states, factors)
}

/// All configurations with their probabilities.
fn joint(states: &[usize], factors: &[Factor]) -> Vec<(Vec<usize>, f64)> {
    let cells: usize = states.iter().product();
    let configuration = |mut cell: usize| {
        let mut codes = vec![0; states.len()];
        for v in (0..states.len()).rev() {
            codes[v] = cell % states[v];
            cell /= states[v];
        }
        codes
    };
    let probability = |codes: &[usize]| {
        let cell = |f: &Factor| f.scope.iter().fold(0, |at, &v| at * states[v] + codes[v]);
        factors.iter().map(|f| f.table[cell(f)]).product()
    };
    (0..cells).map(configuration).map(|codes| (codes.clone(), probability(&codes))).collect()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-12 || (found.is_nan() && expected.is_nan())
}

#[test]
fn sums_over_the_joint_distribution() {
    let stop = Stop::default();
    let effort = Effort { stop: &stop, products: f64::INFINITY };
    for seed in 1..60 {
        let (states, factors) = random_network(seed, 6);
        let all = joint(&states, &factors);
        let model = Model::network(states.clone(), factors).expect("a network");
        let observed = [1, 4];
        for a in 0..states[1] {
            for b in 0..states[4] {
                let codes = [a as i32, b as i32];
                let known = Observations { variables: &observed, codes: &codes, rows: 1 };
                let of = |wanted: &dyn Fn(&[usize]) -> bool| -> f64 {
                    let agrees = |c: &[usize]| c[1] == a && c[4] == b && wanted(c);
                    all.iter().filter(|(c, _)| agrees(c)).map(|(_, p)| p).sum()
                };
                let total = of(&|_| true);
                let logs = model.log_evidence(known, &effort).expect("small");
                assert!(close(logs[0].exp(), total));
                let marginals = model.marginals(known, &effort).expect("small");
                assert_eq!(marginals.is_none(), total == 0.0);
                for v in [0, 2, 3, 5] {
                    let strict = model.posteriors(v, known, true, &effort).expect("small");
                    for state in 0..states[v] {
                        let expected = of(&|c| c[v] == state) / total;
                        assert!(close(strict[state], expected), "{seed} {v}: {strict:?}, {expected}");
                        if let Some(marginals) = &marginals {
                            assert!(close(marginals[v][state], expected));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn limits_are_kept() {
    let n = 40;
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    let mut factors: Vec<Factor> = (0..n).map(|v| Factor { scope: vec![v], table: vec![0.5; 2] }).collect();
    for (i, &(a, b)) in pairs.iter().enumerate() {
        factors.push(Factor { scope: vec![a, b, n + i], table: vec![0.5; 8] });
    }
    let model = Model::network(vec![2; n + pairs.len()], factors).expect("a network");
    let observed: Vec<usize> = (n..n + pairs.len()).collect();
    let codes = vec![0; observed.len()];
    let known = Observations { variables: &observed, codes: &codes, rows: 1 };
    let stop = Stop::default();
    let effort = Effort { stop: &stop, products: f64::INFINITY };
    let failed = model.log_evidence(known, &effort);
    assert!(matches!(failed, Err(Failure::TooLarge { hidden: 40, .. })));
    let some = Observations { variables: &observed[..30], codes: &codes[..30], rows: 1 };
    assert_eq!(model.log_evidence(some, &Effort { stop: &stop, products: 1.0 }), Err(Failure::Long));
    stop.raise();
    assert_eq!(model.log_evidence(some, &effort), Err(Failure::Stopped));
}
