//! Akaike information criterion: `F(S) = Σ n ln n − Π r`, one unit per free parameter [Akaike 1974].

use super::Description;
use super::likelihood::Penalised;

pub const DESCRIPTION: Description = Description {
    name: "aic",
    title: "Akaike information criterion",
    parameters: &[],
    penalty: Some(penalty),
    on: |data, _| Ok(Box::new(Penalised::new(data, penalty(data.total())))),
};

fn penalty(_cases: f64) -> f64 {
    1.0
}
