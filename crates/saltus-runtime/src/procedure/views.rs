//! Parts of arrays and records: `a[2, :]`, `r.x[i].y`, read and written.
//!
//! A [`View`] says where the selected elements are: fixed offsets as far as subscripts are known, and what subscripts
//! add at run time. `a[i, 2]` of a 3×4 array is the element 1 places after the beginning, moved by `(i - 1)*4`.

use saltus_flat::BaseType;
use saltus_procedure::{self as form, PathStep, Register, Subscript};

use super::body::{Body, Cell};
use super::code::{At, Binary, Op};
use super::layout::{Compiled, Place, Unsupported, n_elements};

/// Where something is, from a beginning, in scalars.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shift {
    fixed: u32,
    /// A place of the frame that holds what to add.
    moving: Option<At>,
}

/// Selected elements of a value.
#[derive(Clone, Debug)]
pub struct View {
    at: At,
    base: BaseType,
    start: Shift,
    /// By dimension the selected indices.
    dims: Vec<Vec<Shift>>,
}

impl Shift {
    fn fixed(fixed: usize) -> Shift {
        Shift { fixed: fixed as u32, moving: None }
    }
}

/// The distance of consecutive elements of a dimension without gaps.
fn stride(choices: &[Shift]) -> Compiled<u32> {
    let irregular = Unsupported("a subscript of a selection");
    if choices.iter().any(|c| c.moving.is_some()) || choices.first().is_some_and(|c| c.fixed != 0) {
        return Err(irregular);
    }
    let stride = choices.get(1).map_or(0, |c| c.fixed);
    let is_regular = choices.iter().enumerate().all(|(i, c)| u64::from(c.fixed) == i as u64 * u64::from(stride));
    if is_regular { Ok(stride) } else { Err(irregular) }
}

impl Body<'_, '_> {
    /// A part of an operand.
    pub fn select(&mut self, base: &form::Operand, path: &[PathStep]) -> Compiled<Place> {
        let place = self.value(base)?;
        let view = self.whole(&place)?;
        let view = self.follow(view, path)?;
        self.read(&view)
    }

    /// The elements that an assignment sets.
    pub fn target(&mut self, local: Register, path: &[PathStep]) -> Compiled<View> {
        let place = self.local_place(local)?;
        let view = self.whole(&place)?;
        self.follow(view, path)
    }

    fn follow(&mut self, mut view: View, path: &[PathStep]) -> Compiled<View> {
        for step in path {
            view = match step {
                PathStep::Field { field, .. } => self.field(view, *field)?,
                PathStep::Subscripts { subscripts, .. } => self.index(view, subscripts)?,
            };
        }
        Ok(view)
    }

    pub fn whole(&mut self, place: &Place) -> Compiled<View> {
        let width = self.compiler.layout.width(place.base)?;
        n_elements(&place.dims)?;
        Ok(View { at: place.at, base: place.base, start: Shift::fixed(0), dims: regular(&place.dims, width) })
    }

    fn field(&mut self, view: View, field: u32) -> Compiled<View> {
        let BaseType::Record(id) = view.base else { return Err(Unsupported("a record is expected")) };
        let (offset, base, sizes) = self.compiler.layout.field(id, field)?;
        let width = self.compiler.layout.width(base)?;
        let mut dims = view.dims;
        dims.extend(regular(&sizes, width));
        let start = Shift { fixed: view.start.fixed + offset as u32, ..view.start };
        Ok(View { at: view.at, base, start, dims })
    }

    fn index(&mut self, view: View, subscripts: &[Subscript]) -> Compiled<View> {
        if subscripts.len() > view.dims.len() {
            return Err(Unsupported("too many subscripts"));
        }
        let mut start = view.start;
        let mut dims = Vec::with_capacity(view.dims.len());
        for (d, choices) in view.dims.into_iter().enumerate() {
            match subscripts.get(d) {
                None | Some(Subscript::All) => dims.push(choices),
                Some(Subscript::Index(e)) => {
                    let index = self.scalar(&e.value)?;
                    let shift = self.subscript(&index, &choices)?;
                    start = self.combine(start, shift)?;
                }
                Some(Subscript::Slice(e)) => {
                    let indices = self.value(&e.value)?;
                    if indices.dims.len() != 1 {
                        return Err(Unsupported("a vector of subscripts is expected"));
                    }
                    let elements = self.elements(&indices)?;
                    let shifts = elements
                        .into_iter()
                        .map(|at| self.subscript(&Place::scalar(at, indices.base), &choices))
                        .collect::<Compiled<Vec<Shift>>>()?;
                    dims.push(shifts);
                }
            }
        }
        Ok(View { at: view.at, base: view.base, start, dims })
    }

    fn subscript(&mut self, index: &Place, choices: &[Shift]) -> Compiled<Shift> {
        let at = match index.base {
            BaseType::Integer | BaseType::Enumeration(_) => index.at,
            // `false` and `true` are the first and the second.
            BaseType::Boolean => {
                let one = self.constant(1.0);
                self.binary(Binary::AddInteger, index.at, one)?
            }
            _ => return Err(Unsupported("an Integer subscript is expected")),
        };
        if let Some(x) = self.value_of(at) {
            let position = if x >= 1.0 { x as usize - 1 } else { usize::MAX };
            return choices.get(position).copied().ok_or(Unsupported("a subscript out of range"));
        }
        let stride = stride(choices)?;
        let to = self.temporary(1)?;
        self.emit(Op::Subscript, to, at, At::frame(stride), choices.len() as u32)?;
        Ok(Shift { fixed: 0, moving: Some(to) })
    }

    fn combine(&mut self, a: Shift, b: Shift) -> Compiled<Shift> {
        let moving = match (a.moving, b.moving) {
            (Some(x), Some(y)) => Some(self.binary(Binary::AddInteger, x, y)?),
            (x, y) => x.or(y),
        };
        Ok(Shift { fixed: a.fixed + b.fixed, moving })
    }

    /// All selected elements in row-major order.
    fn cells(&mut self, view: &View) -> Compiled<Vec<Shift>> {
        let sizes: Vec<usize> = view.dims.iter().map(Vec::len).collect();
        n_elements(&sizes)?;
        let mut cells = vec![view.start];
        for choices in &view.dims {
            let mut next = Vec::with_capacity(cells.len() * choices.len());
            for cell in cells {
                for &choice in choices {
                    next.push(self.combine(cell, choice)?);
                }
            }
            cells = next;
        }
        Ok(cells)
    }

    /// Elements that follow each other, taken together: first shift and scalars.
    fn runs(&mut self, view: &View) -> Compiled<Vec<(Shift, u32)>> {
        let width = self.compiler.layout.width(view.base)? as u32;
        let mut runs: Vec<(Shift, u32)> = Vec::new();
        if width == 0 {
            return Ok(runs);
        }
        for cell in self.cells(view)? {
            match runs.last_mut() {
                Some((first, n)) if first.moving == cell.moving && first.fixed + *n == cell.fixed => *n += width,
                _ => runs.push((cell, width)),
            }
        }
        Ok(runs)
    }

    fn sizes(view: &View) -> Vec<usize> {
        view.dims.iter().map(Vec::len).collect()
    }

    /// The value of the selected elements; those in one piece stay where they are.
    pub fn read(&mut self, view: &View) -> Compiled<Place> {
        let runs = self.runs(view)?;
        let dims = Self::sizes(view);
        match runs.as_slice() {
            [] => return Ok(Place { at: view.at, base: view.base, dims }),
            [(shift, _)] if shift.moving.is_none() => {
                return Ok(Place { at: view.at.plus(shift.fixed), base: view.base, dims });
            }
            _ => {}
        }
        if view.at.is_constant() && runs.iter().all(|(s, _)| s.moving.is_none()) {
            let positions = runs.iter().flat_map(|(s, n)| (0..*n).map(|i| view.at.plus(s.fixed + i)));
            let scalars = positions.map(|at| self.value_of(at)).collect::<Option<Vec<f64>>>();
            let scalars = scalars.ok_or(Unsupported("an unknown constant"))?;
            return Ok(Place { at: self.compiler.store.constants.add(&scalars), base: view.base, dims });
        }
        let at = self.temporary(runs.iter().map(|r| r.1 as usize).sum())?;
        let mut offset = 0;
        for (shift, n) in runs {
            let (to, from) = (at.plus(offset), view.at.plus(shift.fixed));
            match shift.moving {
                Some(moving) => {
                    self.emit(Op::Load, to, from, moving, n)?;
                }
                None => self.copy(to, Cell::fixed(from), n as usize)?,
            }
            offset += n;
        }
        Ok(Place { at, base: view.base, dims })
    }

    /// Sets the selected elements to a value just computed.
    pub fn write(&mut self, view: &View, value: Place) -> Compiled<()> {
        let value = self.converted(value, view.base)?;
        if value.dims != Self::sizes(view) {
            return Err(Unsupported("a value of another size"));
        }
        let mut value = value;
        let mut cell = self.cell(value.at);
        let runs = self.runs(view)?;
        if runs.len() > 1 && !value.at.is_constant() {
            // Elements that are written may still be needed, as in `x[{2, 1}] := x`.
            let size = self.compiler.layout.size(value.base, &value.dims)?;
            let own = self.temporary(size)?;
            self.copy(own, cell, size)?;
            value.at = own;
            cell = Cell::fixed(own);
        }
        let mut offset = 0;
        let is_whole = runs.len() == 1;
        for (shift, n) in runs {
            let to = view.at.plus(shift.fixed);
            let from = if is_whole { cell } else { Cell::fixed(value.at.plus(offset)) };
            match shift.moving {
                Some(moving) => {
                    self.emit(Op::Store, to, from.at, moving, n)?;
                }
                None => self.copy(to, from, n as usize)?,
            }
            offset += n;
        }
        Ok(())
    }
}

/// All indices of dimensions without gaps; `width` scalars each element.
fn regular(sizes: &[usize], width: usize) -> Vec<Vec<Shift>> {
    let mut dims = Vec::with_capacity(sizes.len());
    for (d, &size) in sizes.iter().enumerate() {
        let inner: usize = sizes.iter().skip(d + 1).product();
        dims.push((0..size).map(|i| Shift::fixed(i * inner * width)).collect());
    }
    dims
}
