/* Three partitions of scheduled execution (FMI 3.0), and a weighted sum whose length is a structural parameter.
 *
 * References: 1 clock every half second, 2 triggered clock, 3 countdown of a quarter second that clock 2 starts, 4 output clock that ticks at
 * every third activation; 11, 12, 13 ticks of the clocks; 14 input that partition 2 adds to 15 and takes away; 21 length n, 22 weights,
 * 23 their sum, which partition 1 computes.
 */
#include <stdlib.h>
#include <string.h>

typedef struct {
    int ticks[4], total, input, sum, pending, fired;
    unsigned long n;
    double w[8], weight;
    void *environment;
    void (*update)(void *);
} Clocks;

void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *where, _Bool visible, _Bool on, void *environment,
                                        void (*log)(), void (*update)(void *), void (*lock)(void), void (*unlock)(void))
{
    Clocks *c = calloc(1, sizeof(Clocks));
    c->environment = environment;
    c->update = update;
    c->n = 2;
    return c;
}
void fmi3FreeInstance(void *c) { free(c); }
int fmi3EnterConfigurationMode(Clocks *c) { return 0; }
int fmi3ExitConfigurationMode(Clocks *c) { return 0; }
int fmi3EnterInitializationMode(Clocks *c, _Bool has, double tolerance, double start, _Bool has_stop, double stop) { return 0; }
int fmi3ExitInitializationMode(Clocks *c) { return 0; }
int fmi3Terminate(Clocks *c) { return 0; }
int fmi3SetUInt64(Clocks *c, const unsigned *r, size_t n, const unsigned long *x, size_t m) { c->n = *x; return *x > 8 ? 3 : 0; }
int fmi3SetFloat64(Clocks *c, const unsigned *r, size_t n, const double *x, size_t m)
{
    if (*r != 22 || m != c->n)
        return 3;
    memcpy(c->w, x, m * sizeof(double));
    return 0;
}
int fmi3GetFloat64(Clocks *c, const unsigned *r, size_t n, double *x, size_t m) { *x = c->weight; return 0; }
int fmi3SetInt32(Clocks *c, const unsigned *r, size_t n, const int *x, size_t m) { c->input = *x; return 0; }
int fmi3GetInt32(Clocks *c, const unsigned *r, size_t n, int *x, size_t m)
{
    *x = *r == 15 ? c->sum : c->ticks[*r - 10];
    return 0;
}
int fmi3GetClock(Clocks *c, const unsigned *r, size_t n, _Bool *x)
{
    *x = c->fired;
    c->fired = 0;
    return 0;
}
int fmi3GetIntervalDecimal(Clocks *c, const unsigned *r, size_t n, double *interval, int *qualifier)
{
    *interval = 0.25;
    *qualifier = c->pending ? 2 : 0;
    c->pending = 0;
    return 0;
}
int fmi3ActivateModelPartition(Clocks *c, unsigned r, double t)
{
    size_t i;
    c->ticks[r]++;
    if (r == 1)
        for (i = 0, c->weight = 0; i < c->n; i++)
            c->weight += c->w[i];
    if (r == 2) {
        c->sum += c->input;
        c->input = 0;
        c->pending = 1;
    }
    if (++c->total % 3 == 0) {
        c->fired = 1;
        c->update(c->environment);
    }
    return 0;
}
