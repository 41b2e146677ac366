// SPDX-License-Identifier: MIT OR Apache-2.0
/* A threaded server whose requests wander from thread to thread.
 *
 *     server_threads                       runs as any program does
 *     tacho record -- server_threads       records it
 *
 * A listener on 127.0.0.1 accepts connections and queues them; workers take them from the queue,
 * answer and close; clients in the same program ask for the number of steps of a Collatz sequence.
 *
 * What to look at:
 *     tacho_async_begin/end    one request from accept to answer, on two threads    enqueue(),
 * serve() tacho_flow_begin/end     the arrow from the listener to the worker            enqueue(),
 * serve() TACHO_COUNTER_INT        the length of the queue                              enqueue(),
 * dequeue() tacho_thread_name        "worker 2" instead of a number name_thread()
 *
 * All sums are the same in every run. Exit status: 0 when every answer was right. */
#define _GNU_SOURCE
#include <tacho/tacho.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define WORKERS  4
#define CLIENTS  3
#define REQUESTS 200 /* of each client */
#define TOTAL    (CLIENTS * REQUESTS)

struct job {
	int fd;
	uint64_t id;
};

struct server {
	int listener;
	struct sockaddr_in address;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job queue[TOTAL];
	int head, tail; /* jobs [head, tail) wait */
	int closed;
};

struct client {
	struct server *server;
	int number;
	uint64_t sum;
	int failed;
};

struct worker {
	struct server *server;
	int number;
};

static void name_thread(const char *kind, int number)
{
	char name[16];

	snprintf(name, sizeof name, "%s %d", kind, number);
	tacho_thread_name(name);
}

/* The work: how many steps until 1 is reached. */
static uint32_t collatz(uint32_t start)
{
	TACHO_SCOPE("collatz");
	uint64_t at = start;
	uint32_t steps = 0;

	for (; at > 1; steps++)
		at = at % 2 ? 3 * at + 1 : at / 2;
	TACHO_ARG_INT("steps", steps);
	return steps;
}

/* Small messages over a local connection: all of it or an error. */
static int receive_number(int fd, uint32_t *ret_number)
{
	return recv(fd, ret_number, sizeof *ret_number, MSG_WAITALL) == sizeof *ret_number ? 0 : -1;
}

static int send_number(int fd, uint32_t number)
{
	return send(fd, &number, sizeof number, MSG_NOSIGNAL) == sizeof number ? 0 : -1;
}

/* No call on a socket waits longer than this. */
static void limit_waits(int fd)
{
	const struct timeval limit = { .tv_sec = 10 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static void enqueue(struct server *server, struct job job)
{
	TACHO_SCOPE("enqueue");

	tacho_async_begin("request", job.id);
	tacho_flow_begin("hand over", job.id);
	pthread_mutex_lock(&server->lock);
	server->queue[server->tail++] = job;
	TACHO_COUNTER_INT("queue", "requests", server->tail - server->head);
	pthread_cond_signal(&server->filled);
	pthread_mutex_unlock(&server->lock);
}

/* Returns 0 when the queue is empty for good. */
static int dequeue(struct server *server, struct job *ret_job)
{
	int found;
	TACHO_SCOPE("wait");

	pthread_mutex_lock(&server->lock);
	while (server->head == server->tail && !server->closed)
		pthread_cond_wait(&server->filled, &server->lock);
	found = server->head < server->tail;
	if (found) {
		*ret_job = server->queue[server->head++];
		TACHO_COUNTER_INT("queue", "requests", server->tail - server->head);
	}
	pthread_mutex_unlock(&server->lock);
	return found;
}

static void serve(const struct job *job)
{
	uint32_t number;
	TACHO_SCOPE("serve");

	tacho_flow_end("hand over", job->id);
	TACHO_ARG_INT("request", (int64_t)job->id);
	if (receive_number(job->fd, &number) == 0)
		(void)send_number(job->fd, collatz(number));
	close(job->fd);
	tacho_async_end("request", job->id);
}

static void *worker_run(void *context)
{
	const struct worker *worker = context;
	struct job job;

	name_thread("worker", worker->number);
	while (dequeue(worker->server, &job))
		serve(&job);
	return NULL;
}

static void *listener_run(void *context)
{
	struct server *server = context;

	tacho_thread_name("listener");
	for (uint64_t id = 0; id < TOTAL; id++) {
		int fd;

		TACHO_BEGIN("accept");
		do
			fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		while (fd < 0 && errno == EINTR);
		TACHO_END();
		if (fd < 0)
			break;
		limit_waits(fd);
		enqueue(server, (struct job){ .fd = fd, .id = id });
	}
	pthread_mutex_lock(&server->lock);
	server->closed = 1;
	pthread_cond_broadcast(&server->filled);
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

/* One question and its answer, over a connection of its own. */
static int ask(const struct server *server, uint32_t question, uint32_t *ret_answer)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int status;
	TACHO_SCOPE("ask");

	if (fd < 0)
		return -1;
	limit_waits(fd);
	status = connect(fd, (const struct sockaddr *)&server->address, sizeof server->address);
	if (status == 0)
		status = send_number(fd, question);
	if (status == 0)
		status = receive_number(fd, ret_answer);
	close(fd);
	return status;
}

static void *client_run(void *context)
{
	struct client *client = context;

	name_thread("client", client->number);
	for (uint32_t i = 0; i < REQUESTS && !client->failed; i++) {
		uint32_t answer = 0;

		client->failed = ask(client->server, 1 + i * CLIENTS + (uint32_t)client->number,
					 &answer) != 0;
		client->sum += answer;
	}
	return NULL;
}

/* Listens on a port that the system chooses. */
static int server_open(struct server *server)
{
	socklen_t length = sizeof server->address;
	struct sockaddr *address = (struct sockaddr *)&server->address;

	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server->listener < 0)
		return -1;
	limit_waits(server->listener);
	server->address.sin_family = AF_INET;
	server->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server->listener, address, sizeof server->address) ||
		listen(server->listener, 64) || getsockname(server->listener, address, &length))
		return -1;
	return 0;
}

int main(void)
{
	static struct server server = { .lock = PTHREAD_MUTEX_INITIALIZER,
		.filled = PTHREAD_COND_INITIALIZER };
	struct client clients[CLIENTS] = { 0 };
	struct worker workers[WORKERS];
	pthread_t threads[1 + WORKERS + CLIENTS];
	int count = 0, failed = 0;
	uint64_t sum = 0;

	if (server_open(&server)) {
		perror("server_threads: cannot listen on 127.0.0.1");
		return 1;
	}
	failed |= pthread_create(&threads[count++], NULL, listener_run, &server);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){ .server = &server, .number = i };
		failed |= pthread_create(&threads[count++], NULL, worker_run, &workers[i]);
	}
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = (struct client){ .server = &server, .number = i };
		failed |= pthread_create(&threads[count++], NULL, client_run, &clients[i]);
	}
	if (failed) {
		fprintf(stderr, "server_threads: cannot start a thread\n");
		return 1;
	}
	while (count)
		pthread_join(threads[--count], NULL);
	close(server.listener);
	for (int i = 0; i < CLIENTS; i++) {
		sum += clients[i].sum;
		failed |= clients[i].failed;
	}
	printf("requests %d, sum of answers %llu\n", TOTAL, (unsigned long long)sum);
	return failed;
}
