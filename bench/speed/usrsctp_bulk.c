/*
 * usrsctp_bulk: a bulk transfer by usrsctp over UDP (RFC 6951), to compare with.
 *
 *   usrsctp_bulk receive ADDR UDP-PORT
 *   usrsctp_bulk send ADDR UDP-PORT SECONDS BYTES    BYTES a message; UDP-PORT is the receiver's
 *
 * The receiver prints one line of JSON: "bytes" and "seconds" of the measured part, which begins one second after the
 * first byte, and "total_bytes". Large buffers, ordered reliable messages on one stream, Nagle and debugging off.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Declares usrsctp_sysctl_set_sctp_debug_on, which Debian's library has. */
#define SCTP_DEBUG
#include <usrsctp.h>

enum { SCTP_PORT = 5000, SENDER_UDP = 9900, BUFFER = 4 << 20, MTU = 1500, READ_SIZE = 1 << 16 };

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct socket *open_socket(uint16_t remote_udp)
{
	struct socket *so = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	struct sctp_udpencaps encaps = { .sue_port = htons(remote_udp) };
	struct sctp_paddrparams path = { .spp_flags = SPP_PMTUD_DISABLE, .spp_pathmtu = MTU };
	int buffer = BUFFER, on = 1;

	if (so == NULL)
		die("socket");
	encaps.sue_address.ss_family = AF_INET;
	path.spp_address.ss_family = AF_INET;
	if (usrsctp_setsockopt(so, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) != 0 ||
	    usrsctp_setsockopt(so, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) != 0 ||
	    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on) != 0 ||
	    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path) != 0 ||
	    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps) != 0)
		die("setsockopt");
	return so;
}

static void receive_all(struct sockaddr_in at)
{
	struct socket *listener = open_socket(SENDER_UDP), *so;
	static char buffer[READ_SIZE];
	uint64_t total = 0, warm = 0;
	double begun = 0, last = 0;

	if (usrsctp_bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || usrsctp_listen(listener, 1) != 0)
		die("listen");
	so = usrsctp_accept(listener, NULL, NULL);
	if (so == NULL)
		die("accept");
	for (;;) {
		struct sctp_rcvinfo info;
		socklen_t info_length = sizeof info;
		unsigned int info_type = 0;
		int flags = 0;
		ssize_t n = usrsctp_recvv(so, buffer, sizeof buffer, NULL, NULL, &info, &info_length, &info_type, &flags);

		if (n <= 0)
			break;
		last = now();
		if (total == 0)
			begun = last;
		total += (uint64_t)n;
		if (last - begun < 1)
			warm = total;
	}
	printf("{\"bytes\": %llu, \"seconds\": %.6f, \"total_bytes\": %llu}\n", (unsigned long long)(total - warm),
	       last - begun - 1, (unsigned long long)total);
	fflush(stdout);
}

static void send_all(struct sockaddr_in to, uint16_t udp, double seconds, size_t size)
{
	struct socket *so = open_socket(udp);
	struct sctp_sndinfo info = { 0 };
	char *message = calloc(1, size);
	struct sctp_rcvinfo unused;
	socklen_t unused_length = sizeof unused;
	unsigned int type;
	int flags = 0;
	char rest;
	double end;

	if (message == NULL || usrsctp_connect(so, (struct sockaddr *)&to, sizeof to) != 0)
		die("connect");
	end = now() + seconds;
	while (now() < end)
		if (usrsctp_sendv(so, message, size, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0)
			die("send");
	if (usrsctp_shutdown(so, SHUT_WR) != 0)
		die("shutdown");
	while (usrsctp_recvv(so, &rest, 1, NULL, NULL, &unused, &unused_length, &type, &flags) > 0)
		;
}

int main(int argc, char **argv)
{
	bool sends = argc == 6 && strcmp(argv[1], "send") == 0;
	bool receives = argc == 4 && strcmp(argv[1], "receive") == 0;
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(SCTP_PORT) };
	uint16_t udp;

	if ((!sends && !receives) || inet_pton(AF_INET, argv[2], &at.sin_addr) != 1) {
		fprintf(stderr, "usage: usrsctp_bulk receive ADDR UDP-PORT | send ADDR UDP-PORT SECONDS BYTES\n");
		return 2;
	}
	udp = (uint16_t)atoi(argv[3]);
	usrsctp_init(sends ? SENDER_UDP : udp, NULL, NULL);
	usrsctp_sysctl_set_sctp_debug_on(0); /* Debian's build prints every packet otherwise */
	usrsctp_sysctl_set_sctp_blackhole(2);
	if (sends)
		send_all(at, udp, atof(argv[4]), (size_t)atol(argv[5]));
	else
		receive_all(at);
	_exit(0); /* its own end waits seconds for timers */
}
