// What a record constructor takes and what it fills in (specification 12.6): final fields are no arguments, defaults may depend on
// fields that are declared later, and a field that is a record may be left out where each of its own fields has a value.
model RecordConstructors
  record Part
    Real w = 3;
  end Part;
  record Whole
    Real x;
    final Real twice = 2*x;
    Real y = z + 1;
    Real z = 10*x;
    Part part;
  end Whole;
  record Special
    extends Whole(final x = 5);
  end Special;
  function total
    input Whole a = Whole(1);
    input Part p;
    output Real r = a.x + a.twice + a.y + a.z + a.part.w + p.w;
  end total;
  Whole positional = Whole(time, 7, 8);
  Whole named = Whole(x = time, part = Part(4));
  Special special = Special(z = 1);
  Real r = total() + 0*time;
end RecordConstructors;
// at t=1: positional.twice = 2 ± 1e-12 (closed form: 2 x)
// at t=1: positional.y = 7 ± 1e-12 (closed form: the second argument, twice is none)
// at t=1: positional.part.w = 3 ± 1e-12 (closed form: the default of Part)
// at t=1: named.y = 11 ± 1e-12 (closed form: 10 x + 1)
// at t=1: named.part.w = 4 ± 1e-12 (closed form: the argument)
// at t=1: special.twice = 10 ± 1e-12 (closed form: 2*5)
// at t=1: special.y = 2 ± 1e-12 (closed form: z + 1)
// at t=1: r = 30 ± 1e-12 (closed form: 1 + 2 + 11 + 10 + 3 + 3)
