//! The tape on Taylor series: crossing functions as polynomials with a remainder, where value and slope alone are too wide.
//!
//! In: a stretch of time. Out: for the relations that are asked for an [`Expansion`], which is valid over the whole stretch: what happens in its
//! parts is known without another look at the tape. Storage is made when the first expansion is asked for.

use saltus_numerics::Interval;
use saltus_program::BinaryFn;

use super::budget::SERIES;
use super::dual::Dual;
use super::series::{Expansion, ORDER, Series, Units};
use super::tape::{Instruction, Slice, Tape};

/// Series of the operations of a tape.
#[derive(Clone, Default, Debug)]
pub(super) struct Expansions {
    /// In the middle of the stretch.
    middles: Vec<Series>,
    /// Over all of it.
    wholes: Vec<Series>,
    /// What is fixed until the next event is there.
    is_loaded: bool,
}

impl Expansions {
    pub fn forget(&mut self) {
        self.is_loaded = false;
    }

    /// Values over a stretch are also the expansion about its middle.
    fn narrow(&mut self, i: usize) {
        let (middle, whole) = (&self.middles[i], &mut self.wholes[i]);
        if whole.n <= 2 {
            return;
        }
        let mut there = middle.c;
        there[ORDER] = whole.c[ORDER];
        // The last coefficient is known over the stretch, which is where it is needed.
        for k in 0..ORDER {
            for j in (k..ORDER).rev() {
                there[j] = there[j] + there[j + 1].of_either_sign();
            }
        }
        for (whole, there) in whole.c.iter_mut().zip(there).take(ORDER) {
            *whole = whole.intersect(there);
        }
    }
}

/// Of the two series of an operation.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Middle,
    Whole,
}

impl Tape {
    /// The crossing function of one relation.
    pub fn expand(&mut self, relation: usize, t: Interval) -> Option<Expansion> {
        let slice = self.slices[relation].take()?;
        self.work += SERIES * slice.price;
        self.expand_all(&slice.moving, t);
        let expansion = self.expansion(&slice, t);
        self.slices[relation] = Some(slice);
        expansion
    }

    /// All crossing functions that states move, for [`Tape::expanded`].
    pub fn expand_swept(&mut self, t: Interval) {
        let swept = std::mem::take(&mut self.swept);
        self.work += SERIES * self.price_of_swept;
        self.expand_all(&swept, t);
        self.swept = swept;
    }

    /// The crossing function of a relation over the stretch that was expanded last.
    pub fn expanded(&self, relation: usize, t: Interval) -> Option<Expansion> {
        self.expansion(self.slices[relation].as_ref()?, t)
    }

    fn expansion(&self, slice: &Slice, t: Interval) -> Option<Expansion> {
        let of = |all: &[Series]| all[slice.crossing as usize];
        let scale = self.expansions.wholes[slice.scale as usize].c[0].magnitude();
        Expansion::new(t, &of(&self.expansions.middles), &of(&self.expansions.wholes), scale)
    }

    fn expand_all(&mut self, moving: &[u32], t: Interval) {
        if !self.expansions.is_loaded {
            self.load_series();
        }
        let units = Units::of(t);
        for &i in moving {
            let i = i as usize;
            match self.instructions[i] {
                Instruction::Loop(k) => self.expand_loop(k as usize, t, units),
                Instruction::State(state) => self.expand_state(i, state, units),
                _ => {
                    self.expansions.middles[i] = self.series(i, Place::Middle, units);
                    self.expansions.wholes[i] = self.series(i, Place::Whole, units);
                    self.expansions.narrow(i);
                }
            }
        }
    }

    fn load_series(&mut self) {
        let all = &mut self.expansions;
        all.is_loaded = true;
        all.middles.resize(self.instructions.len(), Series::UNKNOWN);
        all.wholes.resize(self.instructions.len(), Series::UNKNOWN);
        for &i in &self.fixed {
            let value = Series::constant(Interval::point(self.numbers[i as usize]));
            (all.middles[i as usize], all.wholes[i as usize]) = (value, value);
        }
    }

    fn expand_state(&mut self, i: usize, state: u32, units: Units) {
        let (there, over) = self.interpolants[state as usize].expand(units.middle, units.radius);
        let cut = |c: [Interval; _]| -> Series {
            let mut all = [Interval::ZERO; ORDER + 1];
            all.iter_mut().zip(c).for_each(|(all, c)| *all = c);
            Series::new(all)
        };
        (self.expansions.middles[i], self.expansions.wholes[i]) = (cut(there), cut(over));
    }

    fn series(&self, i: usize, place: Place, units: Units) -> Series {
        let all = match place {
            Place::Middle => &self.expansions.middles,
            Place::Whole => &self.expansions.wholes,
        };
        let value = |i: u32| &all[i as usize];
        match self.instructions[i] {
            Instruction::Constant(x) => Series::constant(Interval::point(x)),
            Instruction::Solved(_, place) => *value(place),
            Instruction::Time => {
                let mut c = [Interval::ZERO; ORDER + 1];
                let reach = if place == Place::Whole { units.radius } else { 0.0 };
                (c[0], c[1]) = (Interval::around(units.middle, reach), Interval::point(units.radius));
                Series::new(c)
            }
            Instruction::Unary(function, a) => value(a).unary(function),
            Instruction::Binary(BinaryFn::Mul, a, b) if a == b => value(a).square(),
            Instruction::Binary(function, a, b) => value(a).binary(function, value(b)),
            Instruction::Select(c, a, b) => value(c).select(value(a), value(b)),
            _ => Series::UNKNOWN,
        }
    }

    /// The unknowns of a loop and what follows from them.
    fn expand_loop(&mut self, k: usize, t: Interval, units: Units) {
        for place in [Place::Middle, Place::Whole] {
            let solved = self.begin_loop(k, t, units, place);
            self.follow_guesses(k, place, units);
            if !self.loops[k].is_constant {
                self.factor_expanded(k, place);
            }
            // With constant coefficients all orders follow from the residuals of zero, else one from the other.
            for order in solved..=ORDER {
                if !self.loops[k].is_constant {
                    self.follow_guesses(k, place, units);
                }
                self.solve_order(k, order, place);
            }
            self.follow_guesses(k, place, units);
        }
        for j in 0..self.loops[k].guesses.len() {
            self.expansions.narrow(self.loops[k].guesses[j] as usize);
        }
        for j in 0..self.loops[k].inner.len() {
            self.expansions.narrow(self.loops[k].inner[j] as usize);
        }
    }

    /// Sets the unknowns to zero, or to where they are if that must be known for the coefficients; how many orders that are.
    fn begin_loop(&mut self, k: usize, t: Interval, units: Units, place: Place) -> usize {
        let is_linear = self.loops[k].is_linear;
        if !is_linear {
            for j in 0..self.loops[k].outer.len() {
                let at = self.loops[k].outer[j] as usize;
                self.duals[at] = Dual { value: self.series_mut(at, place).c[0], slope: Interval::ZERO };
            }
            self.enclose_unknowns(k, if place == Place::Whole { t } else { Interval::point(units.middle) });
        }
        for j in 0..self.loops[k].guesses.len() {
            let at = self.loops[k].guesses[j] as usize;
            let mut series = Series { c: [Interval::ZERO; ORDER + 1], n: ORDER + 1 };
            if !is_linear {
                series.c[0] = self.duals[at].value;
            }
            *self.series_mut(at, place) = series;
        }
        usize::from(!is_linear)
    }

    fn series_mut(&mut self, i: usize, place: Place) -> &mut Series {
        match place {
            Place::Middle => &mut self.expansions.middles[i],
            Place::Whole => &mut self.expansions.wholes[i],
        }
    }

    fn follow_guesses(&mut self, k: usize, place: Place, units: Units) {
        for j in 0..self.loops[k].inner.len() {
            let i = self.loops[k].inner[j] as usize;
            *self.series_mut(i, place) = self.series(i, place, units);
        }
    }

    fn solve_order(&mut self, k: usize, order: usize, place: Place) {
        let all = match place {
            Place::Middle => &mut self.expansions.middles,
            Place::Whole => &mut self.expansions.wholes,
        };
        let l = &mut self.loops[k];
        for (right, &at) in l.system.right.iter_mut().zip(&l.residuals) {
            *right = -all[at as usize].c[order];
        }
        l.system.solve();
        for (&at, &x) in l.guesses.iter().zip(&l.system.solution) {
            all[at as usize].c[order] = x;
        }
    }

    fn factor_expanded(&mut self, k: usize, place: Place) {
        let all = match place {
            Place::Middle => &self.expansions.middles,
            Place::Whole => &self.expansions.wholes,
        };
        let l = &mut self.loops[k];
        let n = l.guesses.len();
        for &(row, column, at) in &l.entries {
            l.system.matrix[row as usize * n + column as usize] = all[at as usize].c[0];
        }
        l.system.factor();
    }
}
