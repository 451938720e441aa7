// A link in real time between two TUN devices: wire ONE_WAY_US JITTER_US ORDERED RATE_BPS QUEUE_US SEED.
//
// Standard input is the TUN device at one end, standard output the one at the other (IFF_TUN | IFF_NO_PI). Each packet is
// delivered ONE_WAY_US + U(0, JITTER_US) after it has left the transmitter; with ORDERED = 0 packets overtake each other,
// else none comes before one that was sent earlier. RATE_BPS = 0: no limit; else a packet that would wait longer than
// QUEUE_US is dropped. At SIGTERM the counters of both directions are printed to standard error, as one line of JSON
// with the names of the emulator (crates/bench/src/bin/tun.rs).
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 65535, AT_ONCE = 64 };

struct packet {
    int64_t due;
    uint64_t number;
    int way, length;
    unsigned char bytes[];
};

static struct way {
    int to;
    int64_t last, free_at, worst;
    uint64_t packets, dropped, unsent, late[3];
} ways[2];

static struct packet **heap;
static size_t held, room;
static volatile sig_atomic_t stop;

static void ended(int signal) {
    (void)signal;
    stop = 1;
}

static int64_t now_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

// Uniform in [0, below); xorshift64*.
static uint64_t state;
static int64_t drawn(int64_t below) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return below ? (int64_t)((state * UINT64_C(2685821657736338717) >> 11) % (uint64_t)below) : 0;
}

static int before(const struct packet *a, const struct packet *b) {
    return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void put(struct packet *packet) {
    if (held == room) {
        room = room ? 2 * room : 1024;
        heap = realloc(heap, room * sizeof *heap);
        if (!heap) abort();
    }
    size_t at = held++;
    while (at && before(packet, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = packet;
}

static struct packet *taken(void) {
    struct packet *first = heap[0], *last = heap[--held];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= held) break;
        if (child + 1 < held && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
    }
    if (held) heap[at] = last;
    return first;
}

static void given(struct packet *packet, int64_t now) {
    struct way *way = &ways[packet->way];
    int64_t late = now - packet->due;
    way->packets++;
    if (late > way->worst) way->worst = late;
    for (int i = 0; i < 3; i++) way->late[i] += late > (int64_t[]){1000000, 5000000, 20000000}[i];
    if (write(way->to, packet->bytes, packet->length) != packet->length) way->unsent++;
    free(packet);
}

static void told(const char *name, const struct way *way, const char *end) {
    fprintf(stderr,
            "\"%s\": {\"delivered\": {\"packets\": %llu}, \"dropped_queue\": {\"packets\": %llu}, \"unsent\": %llu, "
            "\"late\": [%llu, %llu, %llu], \"worst_ms\": %.3f}%s",
            name, (unsigned long long)way->packets, (unsigned long long)way->dropped, (unsigned long long)way->unsent,
            (unsigned long long)way->late[0], (unsigned long long)way->late[1], (unsigned long long)way->late[2],
            way->worst / 1e6, end);
}

int main(int count, char **words) {
    if (count != 7) {
        fprintf(stderr, "usage: wire ONE_WAY_US JITTER_US ORDERED RATE_BPS QUEUE_US SEED\n");
        return 2;
    }
    int64_t one_way = atoll(words[1]) * 1000, jitter = atoll(words[2]) * 1000, rate = atoll(words[4]);
    int64_t queue = atoll(words[5]) * 1000;
    int ordered = atoi(words[3]);
    uint64_t number = 0;
    state = strtoull(words[6], NULL, 10) * UINT64_C(2654435761) + 88172645463325252;
    ways[0].to = 1;
    ways[1].to = 0;
    struct sigaction action = {.sa_handler = ended};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct pollfd ends[2] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLIN}};
    for (int i = 0; i < 2; i++) fcntl(i, F_SETFL, fcntl(i, F_GETFL) | O_NONBLOCK);
    static unsigned char buffer[LARGEST];
    while (!stop) {
        int64_t now = now_ns(), wait = 100000000;
        if (held && heap[0]->due - now < wait) wait = heap[0]->due > now ? heap[0]->due - now : 0;
        struct timespec until = {.tv_sec = 0, .tv_nsec = wait};
        if (ppoll(ends, 2, &until, NULL) < 0 && errno != EINTR) return 1;
        for (int i = 0; i < 2; i++) {
            for (int n = 0; n < AT_ONCE; n++) {
                ssize_t length = read(ends[i].fd, buffer, sizeof buffer);
                if (length <= 0) break;
                struct way *way = &ways[i];
                int64_t came = now_ns(), left = came;
                if (rate) {
                    int64_t begin = way->free_at > came ? way->free_at : came;
                    if (begin - came > queue) {
                        way->dropped++;
                        continue;
                    }
                    left = way->free_at = begin + (int64_t)length * 8 * 1000000000 / rate;
                }
                struct packet *packet = malloc(sizeof *packet + length);
                if (!packet) abort();
                packet->due = left + one_way + drawn(jitter);
                if (ordered && packet->due < way->last) packet->due = way->last;
                way->last = packet->due;
                packet->number = number++;
                packet->way = i;
                packet->length = length;
                memcpy(packet->bytes, buffer, length);
                put(packet);
            }
        }
        now = now_ns();
        while (held && heap[0]->due <= now) given(taken(), now);
    }
    fprintf(stderr, "{");
    told("forward", &ways[0], ", ");
    told("reverse", &ways[1], "}\n");
    return 0;
}
