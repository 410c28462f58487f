// alsa-lib writes its complaints to standard error through a variadic handler, which Swift cannot provide. This one
// keeps the last complaint of each thread instead, for the message of the error that follows it.

#ifndef CALSA_MESSAGES_H
#define CALSA_MESSAGES_H

/// Puts the handler in place, for the whole process.
void CALSAMessages_install(void);

/// The last complaint of the calling thread, one line, empty where there was none since CALSAMessages_forget.
const char *CALSAMessages_last(void);

void CALSAMessages_forget(void);

#endif
