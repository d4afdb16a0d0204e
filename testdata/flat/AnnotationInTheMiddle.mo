// The annotation of a class belongs to its end. One that stands elsewhere does not end the section around it.
model AnnotationInTheMiddle
  Real x;
protected
  annotation(Icon());
//^^^^^^^^^^^^^^^^^^ warning[W0136]: expected the end of the class behind its annotation, found more
  Real y;
equation
  y = time;
  annotation(experiment(StopTime = 2));
//^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning[W0136]: expected the end of the class behind its annotation, found more
  x = 2*y;
end AnnotationInTheMiddle;
// balance: 2 equations, 2 unknowns
// flat:
// class AnnotationInTheMiddle
//   Real x;
//   protected Real y;
// equation
//   y = time;
//   x = 2.0 * y;
//   annotation(experiment(StopTime = 2.0));
// end AnnotationInTheMiddle;
