// System calls for tests that no test may change for the whole machine. The program under test loads this library before
// all others (LD_PRELOAD).
//
//     FAKE_CLOCK=FILE   the wall clock is as many seconds ahead as the file says (it may change at any time)
//     FAKE_DNS=hang     the look-up of any name that ends with .test never returns

#ifndef FAKE_SYSTEM_H
#define FAKE_SYSTEM_H

// The functions are those of <time.h> and <netdb.h>.

#endif
