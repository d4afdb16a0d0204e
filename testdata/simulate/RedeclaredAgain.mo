// What was redeclared as `redeclare replaceable` may be redeclared again, and a redeclaration beats the value that somebody
// nearer gave to the component; in an array each component gets its own element (specification 7.3.2, 7.2.5).
package RedeclaredAgain
  model Part
    parameter Real p = 1;
    Real y = p;
  end Part;
  model Twice
    extends Part;
    parameter Real q = 2;
    Real z = p*q;
  end Twice;
  model Third
    extends Part;
    parameter Real q = 3;
    Real z = p + q;
  end Third;
  record Cable
    parameter Real r = 1;
  end Cable;
  record Thick
    extends Cable;
    parameter Real d = 5;
  end Thick;
  model Base
    replaceable Part part constrainedby Part(p = 10);
    replaceable parameter Cable cable;
    Real r = cable.r;
  end Base;
  model Middle
    extends Base(redeclare replaceable Twice part constrainedby Part(p = 20), cable = Cable(7));
  end Middle;
  model M
    Middle one(redeclare Third part);
    Middle two(redeclare Third part(p = 4, q = 5));
    Middle many[2](redeclare each Third part, redeclare Thick cable = {Thick(1.5), Thick(2.5)});
  end M;
end RedeclaredAgain;
// class: RedeclaredAgain.M
// at t=0: one.part.z = 23 ± 0 (the constraint of Middle sets p = 20, Third has q = 3)
// at t=0: two.part.z = 9 ± 0 (the redeclaration itself says more)
// at t=0: one.r = 7 ± 0 (the value of Middle)
// at t=0: many[2].r = 2.5 ± 0 (the second element of the new value)
// at t=0: many[1].part.y = 20 ± 0 (the constraint of Middle holds in arrays too)
