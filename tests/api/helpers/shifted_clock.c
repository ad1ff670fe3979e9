/* Preloaded, it gives a process a wall clock that is CLOCK_SHIFT seconds ahead. Allocates nothing: allocators ask for the time. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    const char *shift = getenv("CLOCK_SHIFT");
    if (result == 0 && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += atol(shift);
    }
    return result;
}
