/* Kills the process instead of its n-th step on files, n being KILLED_AT. For LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>

static int steps;

static void step(void) {
    const char *at = getenv("KILLED_AT");
    if (at && __sync_add_and_fetch(&steps, 1) == atoi(at)) raise(SIGKILL);
}

#define STEP(name, parameters, arguments)                                  \
    int name parameters {                                                  \
        step();                                                            \
        return ((int (*) parameters)dlsym(RTLD_NEXT, #name)) arguments;    \
    }

STEP(rename, (const char *from, const char *to), (from, to))
STEP(link, (const char *from, const char *to), (from, to))
STEP(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
STEP(unlink, (const char *path), (path))
STEP(fsync, (int file), (file))
STEP(fdatasync, (int file), (file))
