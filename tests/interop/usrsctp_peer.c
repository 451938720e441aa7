/*
 * usrsctp_peer: one association of usrsctp over UDP (RFC 6951), for interoperability tests.
 *
 *   usrsctp_peer --listen [options]                 wait for one association
 *   usrsctp_peer --connect ADDR[,ADDR] [options]    open one
 *
 *   --bind ADDR        local IPv4 address; repeat it for several paths (default: all addresses)
 *   --udp-port P       local UDP port (default 9899)
 *   --remote-udp P     the peer's UDP port, with --connect (default 9899; a listener learns it)
 *   --sctp-port P      SCTP port of both ends (default 5000)
 *   --send BYTES       send that many bytes of the pattern, then close gracefully
 *   --size N           bytes a message (default 1400; the last one may be shorter; at most 1 MiB)
 *   --expect BYTES     close gracefully only after so many bytes arrived (and all of --send was handed over)
 *   --await-close      never close first: the peer does
 *   --unordered        set the U bit
 *   --pr-ttl MS        partial reliability: lifetime of each message (RFC 3758)
 *   --cmt 0..4         concurrent multipath transfer: 0 off, 1 base, 2 RPv1, 3 RPv2, 4 MPTCP-like (default 0)
 *   --mtu N            IP-level path MTU; discovery is off (default 1400)
 *   --timeout SECONDS  give up after that long (default 30)
 *
 * The pattern: byte i of a stream is (i * 131 + (i >> 8)) & 0xff. The receiver places every message in it: at the
 * offset where the last one ended or, after abandoned messages, at the next multiple of --size that fits (hence both
 * ends are given the same --size where messages may be missing). Unordered messages need not fit.
 *
 * When it listens it says "listening" on stderr. At the end one JSON object goes to stdout:
 *   role, closed ("graceful" | "aborted" | "failed" | "timeout"), error (null or text), seconds (first to last byte),
 *   cpu_seconds (user and system, of this process),
 *   sent | received: { bytes, messages, fnv1a64 (16 hex digits: FNV-1a 64 over the byte stream in the order of sending
 *     or delivery), sum64 (sum of the messages' FNV-1a 64 modulo 2^64: does not depend on the order) },
 *   unplaced (received messages that fit nowhere), abandoned (messages given up by the sender), aborted_partial
 *     (messages begun and never finished), retransmitted_chunks, fast_retransmissions, timeouts, bad_checksums,
 *   paths: [{ address, state, cwnd, srtt_ms, rto_ms, mtu }] as last seen. Bytes a path: see the interfaces' counters.
 *
 * Exit: 0 graceful close and nothing wrong; 1 failed, aborted, unplaced messages or too few bytes; 2 usage; 3 timeout.
 *
 * Two paths need two subnets or source rules: usrsctp lets the kernel's route choose the source address.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Declares usrsctp_sysctl_set_sctp_debug_on, which Debian's library has. */
#define SCTP_DEBUG
#include <usrsctp.h>

enum { EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_TIMEOUT = 3 };
enum { MAX_ADDRESSES = 8, MAX_MESSAGE = 1 << 20, READ_SIZE = 1 << 16, RESYNC_STEPS = 1 << 16 };

struct addresses {
	struct sockaddr_in at[MAX_ADDRESSES];
	int count;
};

struct options {
	struct addresses remote, local;
	bool listen, unordered, await_close;
	uint16_t udp_port, remote_udp, sctp_port;
	uint64_t send, expect, size;
	uint32_t pr_ttl_ms, cmt, mtu, timeout_s;
};

struct half {
	uint64_t bytes, messages, fnv1a, sum;
};

struct path {
	char address[INET_ADDRSTRLEN];
	const char *state;
	struct sctp_paddrinfo info;
};

static struct options opt = {
	.udp_port = 9899, .remote_udp = 9899, .sctp_port = 5000, .size = 1400, .mtu = 1400, .timeout_s = 30,
};

/* Everything below is guarded by `lock`; the sender's thread, the reader and the watchdog share it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct half sent, received;
static uint64_t offset, unplaced, abandoned, aborted_partial;
static struct path paths[MAX_ADDRESSES];
static int path_count;
static bool all_sent, closing, up, lost, shut_down, reported;
static double first_byte, last_byte;
static char error_text[160];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (error_text[0] == '\0')
		vsnprintf(error_text, sizeof error_text, format, args);
	va_end(args);
}

static uint8_t pattern(uint64_t i)
{
	return (uint8_t)(i * 131 + (i >> 8));
}

#define FNV_BASIS 0xcbf29ce484222325u

static uint64_t fnv1a(uint64_t hash, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ data[i]) * 0x100000001b3u;
	return hash;
}

static void count(struct half *half, const uint8_t *data, size_t length)
{
	half->bytes += length;
	half->messages += 1;
	half->fnv1a = fnv1a(half->fnv1a, data, length);
	half->sum += fnv1a(FNV_BASIS, data, length);
	last_byte = now();
	if (first_byte == 0)
		first_byte = last_byte;
}

static void print_half(const char *name, const struct half *half)
{
	printf("\"%s\":{\"bytes\":%llu,\"messages\":%llu,\"fnv1a64\":\"%016llx\",\"sum64\":\"%016llx\"},", name,
	       (unsigned long long)half->bytes, (unsigned long long)half->messages, (unsigned long long)half->fnv1a,
	       (unsigned long long)half->sum);
}

/* Prints the JSON object once; called with `lock` held. */
static void report(const char *closed)
{
	struct sctpstat stat;
	struct rusage usage;

	if (reported)
		return;
	reported = true;
	getrusage(RUSAGE_SELF, &usage);
	usrsctp_get_stat(&stat);
	printf("{\"role\":\"%s\",\"closed\":\"%s\",", opt.listen ? "listen" : "connect", closed);
	if (error_text[0] != '\0')
		printf("\"error\":\"%s\",", error_text);
	else
		printf("\"error\":null,");
	printf("\"seconds\":%.3f,\"cpu_seconds\":%.3f,", last_byte - first_byte,
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6);
	print_half("sent", &sent);
	print_half("received", &received);
	printf("\"unplaced\":%llu,\"abandoned\":%llu,\"aborted_partial\":%llu,", (unsigned long long)unplaced,
	       (unsigned long long)abandoned, (unsigned long long)aborted_partial);
	printf("\"retransmitted_chunks\":%u,\"fast_retransmissions\":%u,\"timeouts\":%u,\"bad_checksums\":%u,\"paths\":[",
	       stat.sctps_sendretransdata, stat.sctps_sendfastretrans, stat.sctps_timodata, stat.sctps_badsum);
	for (int i = 0; i < path_count; i++) {
		const struct sctp_paddrinfo *p = &paths[i].info;
		printf("%s{\"address\":\"%s\",\"state\":\"%s\",\"cwnd\":%u,\"srtt_ms\":%u,\"rto_ms\":%u,\"mtu\":%u}",
		       i ? "," : "", paths[i].address, paths[i].state, p->spinfo_cwnd, p->spinfo_srtt, p->spinfo_rto,
		       p->spinfo_mtu);
	}
	printf("]}\n");
	fflush(stdout);
}

static void *watchdog(void *unused)
{
	(void)unused;
	sleep(opt.timeout_s);
	pthread_mutex_lock(&lock);
	if (reported) /* the association ended in time: only usrsctp's own end takes long */
		_exit(error_text[0] ? EXIT_BROKEN : 0);
	fail("nothing ended within %u s", opt.timeout_s);
	report("timeout");
	_exit(EXIT_TIMEOUT);
}

_Noreturn static void give_up(const char *what)
{
	pthread_mutex_lock(&lock);
	fail("%s: %s", what, strerror(errno));
	fprintf(stderr, "usrsctp_peer: %s\n", error_text);
	report("failed");
	_exit(EXIT_BROKEN);
}

static const char *state_name(int32_t state)
{
	switch (state & (SCTP_ACTIVE | SCTP_INACTIVE | SCTP_UNCONFIRMED)) {
	case SCTP_ACTIVE:
		return "active";
	case SCTP_INACTIVE:
		return "inactive";
	default:
		return "unconfirmed";
	}
}

/* Reads the state of every destination while the association still has them; called with `lock` held. */
static void look_at_paths(struct socket *so)
{
	struct sockaddr *addresses = NULL;
	int found = usrsctp_getpaddrs(so, 0, &addresses);
	int kept = 0;

	if (found <= 0 || addresses == NULL)
		return;
	for (int i = 0; i < found && kept < MAX_ADDRESSES; i++) {
		const struct sockaddr_in *at = (const struct sockaddr_in *)addresses + i;
		struct path *path = &paths[kept];
		socklen_t length = sizeof path->info;

		if (at->sin_family != AF_INET)
			break;
		memset(&path->info, 0, sizeof path->info);
		memcpy(&path->info.spinfo_address, at, sizeof *at);
		if (usrsctp_getsockopt(so, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &path->info, &length) != 0)
			continue;
		inet_ntop(AF_INET, &at->sin_addr, path->address, sizeof path->address);
		path->state = state_name(path->info.spinfo_state);
		kept++;
	}
	if (kept > 0)
		path_count = kept;
	usrsctp_freepaddrs(addresses);
}

/* Starts the graceful close once nothing is left to wait for; called with `lock` held. */
static void close_when_done(struct socket *so)
{
	bool mine = opt.send > 0 || opt.expect > 0;

	if (closing || !mine || opt.await_close || !all_sent || received.bytes < opt.expect)
		return;
	closing = true;
	look_at_paths(so);
	/* The peer may have been quicker with its own close: then there is nothing left to shut down. */
	if (usrsctp_shutdown(so, SHUT_WR) != 0 && errno != ENOTCONN)
		fail("shutdown: %s", strerror(errno));
}

static void *sender(void *socket_pointer)
{
	struct socket *so = socket_pointer;
	struct sctp_sendv_spa info = { .sendv_flags = SCTP_SEND_SNDINFO_VALID };
	uint8_t *message = calloc(1, opt.size);
	uint64_t at = 0;

	if (message == NULL)
		give_up("calloc");
	if (opt.unordered)
		info.sendv_sndinfo.snd_flags |= SCTP_UNORDERED;
	if (opt.pr_ttl_ms > 0) {
		info.sendv_flags |= SCTP_SEND_PRINFO_VALID;
		info.sendv_prinfo.pr_policy = SCTP_PR_SCTP_TTL;
		info.sendv_prinfo.pr_value = opt.pr_ttl_ms;
	}
	while (at < opt.send) {
		size_t length = opt.send - at < opt.size ? opt.send - at : opt.size;
		ssize_t taken;

		for (size_t i = 0; i < length; i++)
			message[i] = pattern(at + i);
		taken = usrsctp_sendv(so, message, length, NULL, 0, &info, sizeof info, SCTP_SENDV_SPA, 0);
		pthread_mutex_lock(&lock);
		if (taken != (ssize_t)length) {
			if (!shut_down && !lost)
				fail("send: %s", taken < 0 ? strerror(errno) : "message cut");
			pthread_mutex_unlock(&lock);
			break;
		}
		at += length;
		count(&sent, message, length);
		if (sent.messages % 256 == 0)
			look_at_paths(so);
		pthread_mutex_unlock(&lock);
	}
	free(message);
	pthread_mutex_lock(&lock);
	if (at < opt.send)
		fail("the association ended after %llu bytes sent", (unsigned long long)at);
	all_sent = true;
	close_when_done(so);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static bool fits(uint64_t start, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (data[i] != pattern(start + i))
			return false;
	return true;
}

static void take_message(const uint8_t *data, size_t length)
{
	uint64_t start = offset;

	count(&received, data, length);
	for (int step = 0; step < RESYNC_STEPS; step++, start += opt.size) {
		if (fits(start, data, length)) {
			offset = start + length;
			return;
		}
	}
	unplaced++;
}

static void take_notification(struct socket *so, const uint8_t *data, size_t length, size_t *partial)
{
	union sctp_notification n;

	memset(&n, 0, sizeof n);
	memcpy(&n, data, length < sizeof n ? length : sizeof n);
	switch (n.sn_header.sn_type) {
	case SCTP_ASSOC_CHANGE:
		if (n.sn_assoc_change.sac_state == SCTP_COMM_UP)
			up = true;
		if (n.sn_assoc_change.sac_state == SCTP_COMM_LOST || n.sn_assoc_change.sac_state == SCTP_CANT_STR_ASSOC) {
			lost = true;
			fail("association lost, error %u", n.sn_assoc_change.sac_error);
		}
		if (n.sn_assoc_change.sac_state == SCTP_SHUTDOWN_COMP)
			shut_down = true;
		break;
	case SCTP_SHUTDOWN_EVENT:
		shut_down = true;
		break;
	case SCTP_SEND_FAILED_EVENT:
		abandoned++;
		break;
	case SCTP_PARTIAL_DELIVERY_EVENT:
		*partial = 0;
		aborted_partial++;
		break;
	case SCTP_PEER_ADDR_CHANGE:
		look_at_paths(so);
		break;
	default:
		break;
	}
}

/* Reads until the end of the association. */
static void read_all(struct socket *so)
{
	uint8_t *message = malloc(MAX_MESSAGE + READ_SIZE);
	size_t length = 0;

	if (message == NULL)
		give_up("malloc");
	for (;;) {
		struct sctp_rcvinfo info;
		socklen_t info_length = sizeof info;
		unsigned int info_type = 0;
		int flags = 0;
		ssize_t n = usrsctp_recvv(so, message + length, READ_SIZE, NULL, NULL, &info, &info_length, &info_type, &flags);

		pthread_mutex_lock(&lock);
		if (n <= 0) {
			if (n < 0 && !shut_down && !closing)
				fail("receive: %s", strerror(errno));
			pthread_mutex_unlock(&lock);
			break;
		}
		if (flags & MSG_NOTIFICATION) {
			take_notification(so, message + length, (size_t)n, &length);
		} else {
			length += (size_t)n;
			if (length > MAX_MESSAGE) {
				fail("a message over %d bytes", MAX_MESSAGE);
				pthread_mutex_unlock(&lock);
				break;
			}
			if (flags & MSG_EOR) {
				take_message(message, length);
				length = 0;
				if (received.messages % 256 == 1)
					look_at_paths(so);
				close_when_done(so);
			}
		}
		pthread_mutex_unlock(&lock);
	}
	free(message);
}

static void set(struct socket *so, int name, const void *value, socklen_t length, const char *what)
{
	if (usrsctp_setsockopt(so, IPPROTO_SCTP, name, value, length) != 0)
		give_up(what);
}

static void configure(struct socket *so)
{
	static const uint16_t events[] = { SCTP_ASSOC_CHANGE, SCTP_PEER_ADDR_CHANGE, SCTP_SHUTDOWN_EVENT,
					   SCTP_SEND_FAILED_EVENT, SCTP_PARTIAL_DELIVERY_EVENT };
	struct sctp_udpencaps encaps = { .sue_port = htons(opt.remote_udp) };
	struct sctp_paddrparams path = { .spp_flags = SPP_PMTUD_DISABLE | SPP_HB_ENABLE, .spp_pathmtu = opt.mtu,
					 .spp_hbinterval = 1000 };
	uint32_t on = 1;

	for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
		struct sctp_event event = { .se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = events[i], .se_on = 1 };
		set(so, SCTP_EVENT, &event, sizeof event, "events");
	}
	encaps.sue_address.ss_family = AF_INET;
	path.spp_address.ss_family = AF_INET;
	set(so, SCTP_NODELAY, &on, sizeof on, "no delay");
	set(so, SCTP_PEER_ADDR_PARAMS, &path, sizeof path, "path parameters");
	if (!opt.listen)
		set(so, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps, "encapsulation port");
}

static struct socket *open_association(void)
{
	struct socket *so = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	struct socket *accepted;

	if (so == NULL)
		give_up("socket");
	configure(so);
	if (opt.local.count == 0) {
		struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(opt.sctp_port) };
		if (usrsctp_bind(so, (struct sockaddr *)&any, sizeof any) != 0)
			give_up("bind");
	} else if (usrsctp_bindx(so, (struct sockaddr *)opt.local.at, opt.local.count, SCTP_BINDX_ADD_ADDR) != 0) {
		give_up("bind");
	}
	if (!opt.listen) {
		if (usrsctp_connectx(so, (struct sockaddr *)opt.remote.at, opt.remote.count, NULL) != 0)
			give_up("connect");
		return so;
	}
	if (usrsctp_listen(so, 1) != 0)
		give_up("listen");
	fprintf(stderr, "listening\n");
	accepted = usrsctp_accept(so, NULL, NULL);
	if (accepted == NULL)
		give_up("accept");
	usrsctp_close(so);
	return accepted;
}

_Noreturn static void usage(const char *what)
{
	fprintf(stderr, "usrsctp_peer: %s (options: see the head of usrsctp_peer.c)\n", what);
	exit(EXIT_USAGE);
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value < least || value > most)
		usage("a number is out of range or none");
	return value;
}

static void add_addresses(struct addresses *to, char *list)
{
	for (char *one = strtok(list, ","); one != NULL; one = strtok(NULL, ",")) {
		struct sockaddr_in *at = &to->at[to->count];

		if (to->count == MAX_ADDRESSES)
			usage("too many addresses");
		memset(at, 0, sizeof *at);
		at->sin_family = AF_INET;
		if (inet_pton(AF_INET, one, &at->sin_addr) != 1)
			usage("addresses are IPv4, as 192.0.2.7");
		to->count++;
	}
}

static void parse(int argc, char **argv)
{
	static const struct option names[] = {
		{ "listen", 0, NULL, 'l' },      { "connect", 1, NULL, 'c' },    { "bind", 1, NULL, 'b' },
		{ "udp-port", 1, NULL, 'u' },	  { "remote-udp", 1, NULL, 'r' }, { "sctp-port", 1, NULL, 'p' },
		{ "send", 1, NULL, 's' },	  { "size", 1, NULL, 'n' },	{ "expect", 1, NULL, 'e' },
		{ "await-close", 0, NULL, 'a' },  { "unordered", 0, NULL, 'o' },	{ "pr-ttl", 1, NULL, 't' },
		{ "cmt", 1, NULL, 'm' },	  { "mtu", 1, NULL, 'i' },	{ "timeout", 1, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'l': opt.listen = true; break;
		case 'c': add_addresses(&opt.remote, optarg); break;
		case 'b': add_addresses(&opt.local, optarg); break;
		case 'u': opt.udp_port = (uint16_t)number(optarg, 1, 65535); break;
		case 'r': opt.remote_udp = (uint16_t)number(optarg, 1, 65535); break;
		case 'p': opt.sctp_port = (uint16_t)number(optarg, 1, 65535); break;
		case 's': opt.send = number(optarg, 0, UINT64_MAX); break;
		case 'n': opt.size = number(optarg, 1, MAX_MESSAGE); break;
		case 'e': opt.expect = number(optarg, 0, UINT64_MAX); break;
		case 'a': opt.await_close = true; break;
		case 'o': opt.unordered = true; break;
		case 't': opt.pr_ttl_ms = (uint32_t)number(optarg, 1, UINT32_MAX); break;
		case 'm': opt.cmt = (uint32_t)number(optarg, 0, 4); break;
		case 'i': opt.mtu = (uint32_t)number(optarg, 512, 65535); break;
		case 'w': opt.timeout_s = (uint32_t)number(optarg, 1, 86400); break;
		default: usage("unknown option");
		}
	}
	if (optind != argc || opt.listen == (opt.remote.count > 0))
		usage("give either --listen or --connect");
	for (int i = 0; i < MAX_ADDRESSES; i++) {
		opt.local.at[i].sin_port = htons(opt.sctp_port);
		opt.remote.at[i].sin_port = htons(opt.sctp_port);
	}
}

int main(int argc, char **argv)
{
	pthread_t watch, send_thread;
	struct socket *so;
	int broken;

	parse(argc, argv);
	sent.fnv1a = received.fnv1a = FNV_BASIS;
	all_sent = opt.send == 0;
	if (pthread_create(&watch, NULL, watchdog, NULL) != 0)
		give_up("thread");
	usrsctp_init(opt.udp_port, NULL, NULL);
	usrsctp_sysctl_set_sctp_debug_on(0); /* Debian's build prints every packet otherwise */
	usrsctp_sysctl_set_sctp_cmt_on_off(opt.cmt);
	usrsctp_sysctl_set_sctp_buffer_splitting(opt.cmt > 0); /* else one path's data fills the send buffer */
	so = open_association();
	if (opt.send > 0 && pthread_create(&send_thread, NULL, sender, so) != 0)
		give_up("thread");
	read_all(so);
	if (opt.send > 0)
		pthread_join(send_thread, NULL);

	pthread_mutex_lock(&lock);
	if (!lost && received.bytes < opt.expect)
		fail("%llu of %llu bytes arrived", (unsigned long long)received.bytes, (unsigned long long)opt.expect);
	if (unplaced > 0 && !opt.unordered)
		fail("%llu messages fit nowhere in the pattern", (unsigned long long)unplaced);
	broken = lost || !(shut_down || closing) || error_text[0] != '\0';
	report(lost ? "aborted" : (shut_down || closing) ? "graceful" : "failed");
	pthread_mutex_unlock(&lock);
	usrsctp_close(so);
	for (int i = 0; i < 300 && usrsctp_finish() != 0; i++)
		usleep(10000);
	return broken ? EXIT_BROKEN : 0;
}
