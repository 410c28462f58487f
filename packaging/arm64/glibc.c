// Functions of glibc 2.38 that Swift's static libraries from Debian sid call, for Debian 12's glibc 2.36. The C23 variants differ from
// those called here in that they also accept binary numbers (0b1) where the base is 0 or 2.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }

long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }

unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }

unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsscanf(text, format, arguments);
    va_end(arguments);
    return count;
}

size_t strlcpy(char *target, const char *source, size_t size) {
    size_t length = strlen(source);
    if (size > 0) {
        size_t count = length < size ? length : size - 1;
        memcpy(target, source, count);
        target[count] = 0;
    }
    return length;
}

size_t strlcat(char *target, const char *source, size_t size) {
    size_t length = strnlen(target, size);
    return length + (length < size ? strlcpy(target + length, source, size - length) : strlen(source));
}
