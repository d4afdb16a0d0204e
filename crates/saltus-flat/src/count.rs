//! Counting scalar unknowns and equations.
