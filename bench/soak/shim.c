// In front of the C library of a process on trial: what the file in SOAK_CONTROL says, at any moment.
//
// Calls that send over IP sockets, or receive, fail with an errno; and the wall clock is so many seconds off. The machine's own
// clock stays as it is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// As sides.py writes it. `every`: 1: each call fails, 2: every second one.
struct control {
    int32_t send, receive, every, unused;
    int64_t offset_s;
};

static const volatile struct control none = {.every = 1};
static const volatile struct control *control = &none;

__attribute__((constructor)) static void opened(void) {
    const char *path = getenv("SOAK_CONTROL");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof(struct control), PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) control = at;
    close(fd);
}

static int fails(int fd, int32_t error) {
    static int calls;
    if (!error) return 0;
    int kept = errno, domain = 0;
    socklen_t size = sizeof domain;
    int known = getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    errno = kept;
    if (known || (domain != AF_INET && domain != AF_INET6)) return 0;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % control->every) return 0;
    errno = error;
    return 1;
}

#define CALL(type, name, error, parameters, ...)                        \
    type name parameters {                                              \
        static type(*next) parameters;                                  \
        if (!next) next = (type(*) parameters)dlsym(RTLD_NEXT, #name);  \
        return fails(fd, control->error) ? -1 : next(__VA_ARGS__);      \
    }

CALL(ssize_t, sendmsg, send, (int fd, const struct msghdr *m, int flags), fd, m, flags)
CALL(int, sendmmsg, send, (int fd, struct mmsghdr *m, unsigned int n, int flags), fd, m, n, flags)
CALL(ssize_t, send, send, (int fd, const void *b, size_t n, int flags), fd, b, n, flags)
CALL(ssize_t, sendto, send, (int fd, const void *b, size_t n, int flags, const struct sockaddr *a, socklen_t l), fd, b, n, flags,
     a, l)
CALL(ssize_t, recvmsg, receive, (int fd, struct msghdr *m, int flags), fd, m, flags)
CALL(int, recvmmsg, receive, (int fd, struct mmsghdr *m, unsigned int n, int flags, struct timespec *t), fd, m, n, flags, t)
CALL(ssize_t, recv, receive, (int fd, void *b, size_t n, int flags), fd, b, n, flags)
CALL(ssize_t, recvfrom, receive, (int fd, void *b, size_t n, int flags, struct sockaddr *a, socklen_t *l), fd, b, n, flags, a, l)

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = next(clock, at);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += control->offset_s;
    return failed;
}

int gettimeofday(struct timeval *at, void *zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
