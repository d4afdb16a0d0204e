//! Complex numbers and matrices, as far as eigenvectors and matrix pencils need them.

use super::dense::Dense;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    pub const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

    pub fn real(re: f64) -> Complex {
        Complex { re, im: 0.0 }
    }
    pub fn plus(self, o: Complex) -> Complex {
        Complex { re: self.re + o.re, im: self.im + o.im }
    }
    pub fn minus(self, o: Complex) -> Complex {
        Complex { re: self.re - o.re, im: self.im - o.im }
    }
    pub fn scaled(self, s: f64) -> Complex {
        Complex { re: self.re * s, im: self.im * s }
    }
    pub fn times(self, o: Complex) -> Complex {
        Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
    pub fn conjugate(self) -> Complex {
        Complex { re: self.re, im: -self.im }
    }
    pub fn size(self) -> f64 {
        self.re.hypot(self.im)
    }
    pub fn over(self, o: Complex) -> Complex {
        let s = o.size();
        let o = o.scaled(1.0 / s);
        self.times(o.conjugate()).scaled(1.0 / s)
    }
    pub fn square_root(self) -> Complex {
        let size = self.size();
        let re = ((size + self.re) / 2.0).max(0.0).sqrt();
        let im = ((size - self.re) / 2.0).max(0.0).sqrt();
        Complex { re, im: if self.im < 0.0 { -im } else { im } }
    }
}

/// Row-major.
#[derive(Clone)]
pub struct ComplexMatrix {
    pub n: usize,
    items: Vec<Complex>,
}

impl ComplexMatrix {
    pub fn of_real(a: &Dense) -> ComplexMatrix {
        let items = a.clone().into_items().into_iter().map(Complex::real).collect();
        ComplexMatrix { n: a.rows, items }
    }

    /// Turns the rows `i` and `j` so that a column with entries `a` and `b` there gets zero in row `j`.
    pub fn turn_rows(&mut self, i: usize, j: usize, (c, s): (Complex, Complex)) {
        for k in 0..self.n {
            let (x, y) = (self[(i, k)], self[(j, k)]);
            self[(i, k)] = c.conjugate().times(x).plus(s.conjugate().times(y));
            self[(j, k)] = c.times(y).minus(s.times(x));
        }
    }

    /// Turns the columns `i` and `j` so that a row with entries `a` in column `j` and `b` in column `i` gets zero in `i`.
    pub fn turn_columns(&mut self, i: usize, j: usize, (c, s): (Complex, Complex)) {
        for k in 0..self.n {
            let (x, y) = (self[(k, i)], self[(k, j)]);
            self[(k, j)] = c.conjugate().times(y).plus(s.conjugate().times(x));
            self[(k, i)] = c.times(x).minus(s.times(y));
        }
    }

    pub fn norm(&self) -> f64 {
        self.items.iter().fold(0.0f64, |s, c| s.hypot(c.size()))
    }
}

/// The rotation that makes `(a, b)` a multiple of the first unit vector.
pub fn rotation(a: Complex, b: Complex) -> (Complex, Complex) {
    let length = a.size().hypot(b.size());
    if length == 0.0 { (Complex::real(1.0), Complex::ZERO) } else { (a.scaled(1.0 / length), b.scaled(1.0 / length)) }
}

impl std::ops::Index<(usize, usize)> for ComplexMatrix {
    type Output = Complex;
    fn index(&self, (i, j): (usize, usize)) -> &Complex {
        &self.items[i * self.n + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for ComplexMatrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut Complex {
        &mut self.items[i * self.n + j]
    }
}
