/* What external functions may call (Modelica specification, section 12.9.6); the program itself defines it. */
#ifndef MODELICA_UTILITIES_H
#define MODELICA_UTILITIES_H

#include <stdarg.h>
#include <stddef.h>

#if defined(__GNUC__)
#define MODELICA_NORETURNATTR __attribute__((noreturn))
#define MODELICA_FORMATATTR_PRINTF __attribute__((format(printf, 1, 2)))
#define MODELICA_FORMATATTR_VPRINTF __attribute__((format(printf, 1, 0)))
#else
#define MODELICA_NORETURNATTR
#define MODELICA_FORMATATTR_PRINTF
#define MODELICA_FORMATATTR_VPRINTF
#endif
#define MODELICA_NORETURN

#ifdef __cplusplus
extern "C" {
#endif

void ModelicaMessage(const char *string);
void ModelicaFormatMessage(const char *format, ...) MODELICA_FORMATATTR_PRINTF;
void ModelicaVFormatMessage(const char *format, va_list ap) MODELICA_FORMATATTR_VPRINTF;

void ModelicaWarning(const char *string);
void ModelicaFormatWarning(const char *format, ...) MODELICA_FORMATATTR_PRINTF;
void ModelicaVFormatWarning(const char *format, va_list ap) MODELICA_FORMATATTR_VPRINTF;

void ModelicaError(const char *string) MODELICA_NORETURNATTR;
void ModelicaFormatError(const char *format, ...) MODELICA_NORETURNATTR MODELICA_FORMATATTR_PRINTF;
void ModelicaVFormatError(const char *format, va_list ap) MODELICA_NORETURNATTR MODELICA_FORMATATTR_VPRINTF;

char *ModelicaAllocateString(size_t len);
char *ModelicaAllocateStringWithErrorReturn(size_t len);
char *ModelicaDuplicateString(const char *str);
char *ModelicaDuplicateStringWithErrorReturn(const char *str);

#ifdef __cplusplus
}
#endif

#endif
