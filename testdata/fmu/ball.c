/* A ball that bounces on the ground, as an FMU of version 2.0 (-DVERSION=2) or 3.0 (-DVERSION=3); model exchange and, in 2.0, co-simulation.
 *
 * der(h) = v, der(v) = g + f; where h passes 0 downwards v becomes -e*v. y = v + 2*f. n counts the bounces.
 * References: 0 time, 1 h, 2 der(h), 3 v, 4 der(v), 5 g, 6 e, 7 f, 8 y, 9 n, 10 bad.
 * bad > 0: derivatives fail after that time; bad < 0: they are not numbers after that time.
 * wish (12) > 0: the first step that ends there or later asks for an event, at which v grows by 1.
 * Only some descriptions name: 13 late = 3*time, 14 k, an input that changes at events, 15 five = 5*k, and in 3.0 the array 16 {h, v}.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double time, h, v, g, e, f, bad, wish, k;
    int n, has_wished;
    void *environment;
    void (*log)();
} Ball;

static double get(Ball *b, unsigned r)
{
    switch (r) {
    case 0: return b->time;
    case 1: return b->h;
    case 2: return b->v;
    case 3: return b->v;
    case 4: return b->g + b->f;
    case 5: return b->g;
    case 6: return b->e;
    case 7: return b->f;
    case 8: return b->v + 2 * b->f;
    case 10: return b->bad;
    case 12: return b->wish;
    case 11: return b->h;
    case 13: return 3 * b->time;
    case 14: return b->k;
    case 15: return 5 * b->k;
    }
    return 0;
}

static int set(Ball *b, unsigned r, double x)
{
    switch (r) {
    case 1: b->h = x; return 0;
    case 3: b->v = x; return 0;
    case 5: b->g = x; return 0;
    case 6: b->e = x; return 0;
    case 7: b->f = x; return 0;
    case 10: b->bad = x; return 0;
    case 12: b->wish = x; return 0;
    case 14: b->k = x; return 0;
    }
    return 3;
}

static Ball *make(const char *token)
{
    Ball *b;
    if (strcmp(token, "{ball}"))
        return 0;
    b = calloc(1, sizeof(Ball));
    b->h = 1;
    b->g = -10;
    b->e = 0.5;
    return b;
}

static int derivatives(Ball *b, double *dx)
{
    dx[0] = b->v;
    dx[1] = b->g + b->f;
    if (b->bad < 0 && b->time > -b->bad)
        dx[1] = NAN;
    if (b->bad > 0 && b->time > b->bad) {
#if VERSION == 2
        b->log(b->environment, "ball", 3, "error", "the ball is broken");
#else
        b->log(b->environment, 3, "error", "the ball is broken");
#endif
        return 3;
    }
    return 0;
}

/* Is an event due after a step? */
static int wishes(Ball *b) { return b->wish > 0 && b->time >= b->wish && !b->has_wished; }

/* True if the states have changed. */
static int bounce(Ball *b)
{
    if (wishes(b)) {
        b->has_wished = 1;
        b->v += 1;
        return 1;
    }
    if (b->h <= 0 && b->v < 0) {
        b->h = 0;
        b->v = -b->e * b->v;
        b->n++;
        return 1;
    }
    return 0;
}

/* States: copies, in which pointers mean nothing. */
static int save(Ball *b, void **state) { *state = malloc(sizeof(Ball)); memcpy(*state, b, sizeof(Ball)); return 0; }
static int restore(Ball *b, Ball *state)
{
    Ball old = *b;
    *b = *state;
    b->log = old.log;
    b->environment = old.environment;
    return 0;
}
static int forget(void **state) { free(*state); *state = 0; return 0; }
static int size_of(size_t *size) { *size = sizeof(Ball); return 0; }
static int write(Ball *state, char *bytes) { memcpy(bytes, state, sizeof(Ball)); return 0; }
static int read(const char *bytes, size_t n, void **state)
{
    if (n != sizeof(Ball))
        return 3;
    *state = malloc(n);
    memcpy(*state, bytes, n);
    return 0;
}

#if VERSION == 2
int fmi2GetFMUstate(Ball *b, void **state) { return save(b, state); }
int fmi2SetFMUstate(Ball *b, void *state) { return restore(b, state); }
int fmi2FreeFMUstate(Ball *b, void **state) { return forget(state); }
int fmi2SerializedFMUstateSize(Ball *b, void *state, size_t *size) { return size_of(size); }
int fmi2SerializeFMUstate(Ball *b, void *state, char *bytes, size_t n) { return write(state, bytes); }
int fmi2DeSerializeFMUstate(Ball *b, const char *bytes, size_t n, void **state) { return read(bytes, n, state); }
typedef struct { int again, end, nominals, states, has_next; double next; } Info;
typedef struct { void (*log)(); void *(*calloc)(size_t, size_t); void (*free)(void *); void *finished; void *environment; } Callbacks;

void *fmi2Instantiate(const char *name, int type, const char *token, const char *where, Callbacks *c, int visible, int on)
{
    Ball *b = make(token);
    if (b) {
        b->log = c->log;
        b->environment = c->environment;
    } else {
        c->log(c->environment, name, 3, "error", "the token is another one");
    }
    return b;
}
void fmi2FreeInstance(void *b) { free(b); }
int fmi2SetupExperiment(Ball *b, int has, double tolerance, double start, int has_stop, double stop) { b->time = start; return 0; }
int fmi2EnterInitializationMode(Ball *b) { return 0; }
int fmi2ExitInitializationMode(Ball *b) { return 0; }
int fmi2Terminate(Ball *b) { return 0; }
int fmi2GetReal(Ball *b, const unsigned *r, size_t n, double *x) { size_t i; for (i = 0; i < n; i++) x[i] = get(b, r[i]); return 0; }
int fmi2SetReal(Ball *b, const unsigned *r, size_t n, const double *x) { size_t i; for (i = 0; i < n; i++) if (set(b, r[i], x[i])) return 3; return 0; }
int fmi2GetInteger(Ball *b, const unsigned *r, size_t n, int *x) { *x = b->n; return 0; }
int fmi2EnterEventMode(Ball *b) { return 0; }
int fmi2NewDiscreteStates(Ball *b, Info *i) { memset(i, 0, sizeof *i); i->states = bounce(b); return 0; }
int fmi2EnterContinuousTimeMode(Ball *b) { return 0; }
int fmi2CompletedIntegratorStep(Ball *b, int x, int *event, int *end) { *event = wishes(b); *end = 0; return 0; }
int fmi2SetTime(Ball *b, double t) { b->time = t; return 0; }
int fmi2SetContinuousStates(Ball *b, const double *x, size_t n) { b->h = x[0]; b->v = x[1]; return 0; }
int fmi2GetContinuousStates(Ball *b, double *x, size_t n) { x[0] = b->h; x[1] = b->v; return 0; }
int fmi2GetDerivatives(Ball *b, double *dx, size_t n) { return derivatives(b, dx); }
int fmi2GetEventIndicators(Ball *b, double *z, size_t n) { z[0] = b->h; return 0; }
/* Without bounces: exact for a constant force. */
int fmi2DoStep(Ball *b, double t, double step, int x)
{
    double a = b->g + b->f;
    b->h += b->v * step + 0.5 * a * step * step;
    b->v += a * step;
    b->time = t + step;
    return 0;
}
#else
int fmi3GetFMUState(Ball *b, void **state) { return save(b, state); }
int fmi3SetFMUState(Ball *b, void *state) { return restore(b, state); }
int fmi3FreeFMUState(Ball *b, void **state) { return forget(state); }
int fmi3SerializedFMUStateSize(Ball *b, void *state, size_t *size) { return size_of(size); }
int fmi3SerializeFMUState(Ball *b, void *state, char *bytes, size_t n) { return write(state, bytes); }
int fmi3DeserializeFMUState(Ball *b, const char *bytes, size_t n, void **state) { return read(bytes, n, state); }
void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *where, _Bool visible, _Bool on, void *environment, void (*log)())
{
    Ball *b = make(token);
    if (b) {
        b->log = log;
        b->environment = environment;
    }
    return b;
}
void fmi3FreeInstance(void *b) { free(b); }
int fmi3EnterInitializationMode(Ball *b, _Bool has, double tolerance, double start, _Bool has_stop, double stop) { b->time = start; return 0; }
int fmi3ExitInitializationMode(Ball *b) { return 0; }
int fmi3Terminate(Ball *b) { return 0; }
int fmi3GetFloat64(Ball *b, const unsigned *r, size_t n, double *x, size_t m)
{
    size_t i;
    for (i = 0; i < n; i++) {
        if (r[i] == 16) {
            *x++ = b->h;
            *x++ = b->v;
        } else {
            *x++ = get(b, r[i]);
        }
    }
    return 0;
}
int fmi3SetFloat64(Ball *b, const unsigned *r, size_t n, const double *x, size_t m) { size_t i; for (i = 0; i < n; i++) if (set(b, r[i], x[i])) return 3; return 0; }
int fmi3GetInt32(Ball *b, const unsigned *r, size_t n, int *x, size_t m) { *x = b->n; return 0; }
int fmi3EnterEventMode(Ball *b) { return 0; }
int fmi3UpdateDiscreteStates(Ball *b, _Bool *again, _Bool *end, _Bool *nominals, _Bool *states, _Bool *has_next, double *next)
{
    *again = *end = *nominals = *has_next = 0;
    *states = bounce(b);
    return 0;
}
int fmi3EnterContinuousTimeMode(Ball *b) { return 0; }
int fmi3CompletedIntegratorStep(Ball *b, _Bool x, _Bool *event, _Bool *end) { *event = wishes(b); *end = 0; return 0; }
int fmi3SetTime(Ball *b, double t) { b->time = t; return 0; }
int fmi3SetContinuousStates(Ball *b, const double *x, size_t n) { b->h = x[0]; b->v = x[1]; return 0; }
int fmi3GetContinuousStates(Ball *b, double *x, size_t n) { x[0] = b->h; x[1] = b->v; return 0; }
int fmi3GetContinuousStateDerivatives(Ball *b, double *dx, size_t n) { return derivatives(b, dx); }
int fmi3GetEventIndicators(Ball *b, double *z, size_t n) { z[0] = b->h; return 0; }
int fmi3GetDirectionalDerivative(Ball *b, const unsigned *u, size_t nu, const unsigned *k, size_t nk, const double *seed, size_t ns, double *s, size_t nr)
{
    size_t i, j;
    for (i = 0; i < nu; i++) {
        s[i] = 0;
        for (j = 0; j < nk; j++)
            s[i] += (u[i] == 2 && k[j] == 3) || (u[i] == 4 && k[j] == 7) ? seed[j] : 0;
    }
    return 0;
}
#endif
