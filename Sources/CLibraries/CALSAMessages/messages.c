#include "CALSAMessages.h"

#include <alsa/asoundlib.h>
#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last[256];

static void keep(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file;
    (void)line;
    (void)function;
    (void)error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last, sizeof last, format, arguments);
    va_end(arguments);
    for (char *place = last; *place; place++) {
        if ((unsigned char)*place < ' ' || *place == 0x7f) *place = ' ';
    }
}

void CALSAMessages_install(void) { snd_lib_error_set_handler(keep); }

const char *CALSAMessages_last(void) { return last; }

void CALSAMessages_forget(void) { last[0] = 0; }
