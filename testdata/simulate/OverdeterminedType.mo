// A type with equalityConstraint makes its variables nodes of the graph of connections, arrays as a whole (specification 9.4).
package OverdeterminedType
  type Angle
    extends Real;
    function equalityConstraint
      input Angle a[:];
      input Angle b[:];
      output Real residue[0];
    algorithm
      for i in 1:size(a, 1) loop
        assert(abs(a[i] - b[i]) < 1e-9, "angles differ");
      end for;
    end equalityConstraint;
  end Angle;
  connector Terminal
    Real v;
    flow Real i;
    Angle theta[1];
  end Terminal;
  model Source
    Terminal t;
  equation
    Connections.root(t.theta);
    t.theta = {2*time};
    t.v = 10;
  end Source;
  model Line
    parameter Real R = 1;
    Terminal a;
    Terminal b;
  equation
    Connections.branch(a.theta, b.theta);
    a.theta = b.theta;
    a.i + b.i = 0;
    a.v - b.v = R*a.i;
  end Line;
  model Load
    Terminal t;
  equation
    t.v = 4*t.i;
  end Load;
  model M
    Source source;
    Line one(R = 2), two(R = 2);
    Load load;
    Boolean isRoot = Connections.isRoot(source.t.theta);
  equation
    // The two lines form a ring: one of the four connections of the angles is broken.
    connect(source.t, one.a);
    connect(source.t, two.a);
    connect(one.b, load.t);
    connect(two.b, load.t);
  end M;
end OverdeterminedType;
// class: OverdeterminedType.M
// at t=1: load.t.v = 8 ± 1e-9 (two lines of 2 in parallel are 1, beside a load of 4)
// at t=1: load.t.theta[1] = 2 ± 1e-9 (the angle of the root)
// at t=1: isRoot = 1 ± 0 (it is declared as the root)
