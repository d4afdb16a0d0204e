//! Any of the integrators as a value: its complete state can be cloned, written and read again.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::auto::Automatic;
use crate::bdf::Bdf;
use crate::dormand_prince::DormandPrince;
use crate::fixed_step::FixedStep;
use crate::integrator::Integrator;
use crate::rosenbrock::Rosenbrock;

#[derive(Clone, Serialize, Deserialize)]
pub enum Method {
    Automatic(Box<Automatic>),
    DormandPrince(Box<DormandPrince>),
    Rosenbrock(Box<Rosenbrock>),
    Bdf(Box<Bdf>),
    FixedStep(Box<FixedStep>),
}

impl Deref for Method {
    type Target = dyn Integrator;

    fn deref(&self) -> &(dyn Integrator + 'static) {
        match self {
            Method::Automatic(method) => method.as_ref(),
            Method::DormandPrince(method) => method.as_ref(),
            Method::Rosenbrock(method) => method.as_ref(),
            Method::Bdf(method) => method.as_ref(),
            Method::FixedStep(method) => method.as_ref(),
        }
    }
}

impl DerefMut for Method {
    fn deref_mut(&mut self) -> &mut (dyn Integrator + 'static) {
        match self {
            Method::Automatic(method) => method.as_mut(),
            Method::DormandPrince(method) => method.as_mut(),
            Method::Rosenbrock(method) => method.as_mut(),
            Method::Bdf(method) => method.as_mut(),
            Method::FixedStep(method) => method.as_mut(),
        }
    }
}
