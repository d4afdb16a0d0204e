// What other tools accept and libraries still write; each with a warning.
model OlderNotations
  partial model A
    input Real x;
  end A;
  model B
    extends A;
    Real y = 2*x;
  end B;
  model Base
    replaceable model M
      Real u = 1;
    end M;
    M m;
  end Base;
  model Derived
    extends Base;
    model extends M
//                ^ warning[W0154]: expected `redeclare` before a class that extends the inherited one of its name
      Real v = 2*u + time;
    end M;
  end Derived;
  replaceable B b extends A(x = 4*time);
//                ^^^^^^^ warning[W0153]: expected `constrainedby` or `;`, found `extends`
  Derived d;
end OlderNotations;
// at t=1: d.m.v = 3 ± 1e-12 (closed form: 2*1 + 1)
// at t=1: b.y = 8 ± 1e-12 (closed form: 2*4)
