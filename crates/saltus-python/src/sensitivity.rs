//! Runs with other parameters, and how they depend on these ([`saltus::sensitivity`]).

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use saltus::sensitivity::Follower;
use saltus::study::{Worker, for_all};
use saltus_sim::SimError;

use crate::array::Array;
use crate::errors;
use crate::interrupt::interruptible;
use crate::model::RawModel;
use crate::settings::Settings;
use crate::values;

/// Runs one model again and again, with instances that are kept.
#[pyclass(frozen, module = "saltus._saltus")]
pub struct RawFollower {
    follower: Follower,
}

#[pymethods]
impl RawModel {
    /// Runs that give variables at times, with other values of these parameters each.
    fn follower(
        &self,
        py: Python,
        of: Vec<String>,
        by: Vec<String>,
        times: Vec<f64>,
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
    ) -> PyResult<RawFollower> {
        let (model, start) = self.fitting(py, values::read(&self.model, given)?)?;
        let settings = Settings::read(py, settings)?;
        self.check(py, &model, &settings)?;
        let wrong = start.check(&model);
        if !wrong.is_empty() {
            return Err(errors::wrong_values(py, &wrong, &model.sources()));
        }
        let slot = |name: &String| Ok(model.variable(name).map_err(|why| errors::unknown(py, &why))?.slot);
        let wanted = of.iter().map(slot).collect::<PyResult<Vec<_>>>()?;
        let parameter = |name: &String| model.changeable(name).map_err(|why| errors::unchangeable(py, name, &why));
        let parameters = by.iter().map(parameter).collect::<PyResult<Vec<_>>>()?;
        if times.windows(2).any(|two| two[0] > two[1]) || times.iter().any(|t| !t.is_finite()) {
            return Err(errors::wrong_value("times: expected finite times that do not decrease".to_owned()));
        }
        let begins = settings.experiment.settings(model.program()).start_time;
        if let Some(early) = times.first().filter(|time| **time < begins) {
            let message = format!("times: expected times from the start time {begins} on, found {early}");
            return Err(errors::wrong_value(message));
        }
        let follower = Follower {
            settings: settings.experiment,
            engine: settings.engine,
            permissions: self.permissions,
            start,
            wanted,
            parameters,
            times,
            spare: Mutex::default(),
            model,
        };
        Ok(RawFollower { follower })
    }
}

impl RawFollower {
    fn fits(&self, parameters: &[f64]) -> PyResult<()> {
        let is_fine = parameters.len() == self.follower.parameters.len() && parameters.iter().all(|p| p.is_finite());
        let wrong = || errors::wrong_value("parameters: expected a finite number for each".to_owned());
        is_fine.then_some(()).ok_or_else(wrong)
    }

    fn run<T: Send>(
        &self,
        py: Python,
        parameters: &[f64],
        work: impl FnOnce(&Follower, &Arc<AtomicBool>) -> Result<T, SimError> + Send,
    ) -> PyResult<T> {
        self.fits(parameters)?;
        let stop = Arc::new(AtomicBool::new(false));
        let done = interruptible(py, &stop, || work(&self.follower, &stop))?;
        done.map_err(|error| errors::simulation_error(py, &error, &self.follower.model, None))
    }
}

#[pymethods]
impl RawFollower {
    /// The variables at the times, row by row; not-a-number where the run had ended by itself.
    fn values(&self, py: Python, parameters: Vec<f64>) -> PyResult<Array> {
        Ok(Array::own(self.run(py, &parameters, |follower, stop| follower.values(&parameters, stop))?))
    }

    /// The same for several points, on threads; an exception for the first that fails.
    fn values_at(&self, py: Python, points: Vec<Vec<f64>>, jobs: usize) -> PyResult<Vec<Array>> {
        points.iter().try_for_each(|point| self.fits(point))?;
        let stop = Arc::new(AtomicBool::new(false));
        let made: Mutex<Vec<_>> = Mutex::new((0..points.len()).map(|_| None).collect());
        interruptible(py, &stop, || {
            let work = |i: usize, _: &mut Worker| {
                let values = self.follower.values(&points[i], &stop);
                made.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(values);
                Ok(())
            };
            for_all(points.len(), jobs, &stop, &work, &mut |_, _: Result<(), String>| {});
        })?;
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter();
        let value = |values: Option<Result<Vec<f64>, SimError>>| match values {
            Some(Ok(values)) => Ok(Array::own(values)),
            Some(Err(error)) => Err(errors::simulation_error(py, &error, &self.follower.model, None)),
            None => Err(errors::failed(py, "a run ended without a result")),
        };
        made.map(value).collect()
    }

    /// Values (times × variables), derivatives (times × variables × parameters; not-a-number where they are not known), the time up to which they
    /// are, and why not further.
    fn follow(&self, py: Python, parameters: Vec<f64>) -> PyResult<(Array, Array, f64, Option<String>)> {
        let found = self.run(py, &parameters, |follower, stop| follower.follow(&parameters, stop))?;
        Ok((Array::own(found.values), Array::own(found.derivatives), found.valid_until, found.why))
    }
}
