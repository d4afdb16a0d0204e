// A rigid constraint that begins with a state: what goes on jumps by an impulse. Momentum: (1*11 + 3*2)/4.
model MachineLocksRigidly
  connector F
    Real w;
    flow Real t;
  end F;
  model J
    parameter Real I, w0;
    F f;
    Real w(start = w0, fixed = true);
  equation
    f.w = w;
    I*der(w) = f.t;
  end J;
  model Lock
    F a, b;
  equation
    a.w = b.w;
    a.t + b.t = 0;
  end Lock;
  model Off
  end Off;
  J j(I = 1, w0 = 11), l(I = 3, w0 = 2);
  Lock lock;
  Off off;
equation
  initialState(off);
  transition(off, lock, time >= 0.5);
  connect(j.f, lock.a);
  connect(lock.b, l.f);
end MachineLocksRigidly;
// at t=0.4: j.w = 11 ± 1e-12 (closed form)
// at t=1: j.w = 4.25 ± 1e-12 (momentum)
// at t=1: l.w = 4.25 ± 1e-12 (momentum)
