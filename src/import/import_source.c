// SPDX-License-Identifier: MIT OR Apache-2.0
/* Reading and unpacking. A bomb of a gzip is no danger here: nothing is held but two chunks, and
 * what an importer keeps is bounded by its sink. */
#include "import/import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PACKED_BYTES (256u << 10)
#define QUEUE        4u /* chunks between the unpacking thread and the reader */

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };

struct chunk {
	uint8_t *bytes;
	size_t count;
};

struct import_source {
	char *path;
	int fd;
	bool own_fd;
	enum packing packing;
	uint64_t total;
	_Atomic uint64_t packed_read;
	uint8_t packed[PACKED_BYTES];
	size_t packed_at, packed_count;
	z_stream gzip;
	ZSTD_DStream *zstd;
	bool ended;
	uint8_t head[IMPORT_HEAD_BYTES];
	size_t head_at, head_count;
	/* The unpacking thread and its queue. */
	bool threaded, stop, finished;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chunk queue[QUEUE];
	unsigned queue_first, queue_count;
	size_t taken; /* of the first chunk */
	int status;
	struct error error;
};

/* The other end of a pipe is there and has nothing to say yet. */
static bool wait_for_bytes(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

/* Fills `packed` when it is empty; 0 bytes at the end of the file. */
static int read_packed(struct import_source *source, struct error *err)
{
	ssize_t got;

	if (source->packed_at < source->packed_count)
		return STATUS_OK;
	do
		got = read(source->fd, source->packed, sizeof source->packed);
	while (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_bytes(source->fd))));
	if (got < 0)
		return error_set_errno(err, STATUS_IO, "cannot read");
	source->packed_at = 0;
	source->packed_count = (size_t)got;
	atomic_fetch_add(&source->packed_read, (uint64_t)got);
	return STATUS_OK;
}

static uint64_t packed_offset(const struct import_source *source)
{
	return atomic_load(&source->packed_read) - (source->packed_count - source->packed_at);
}

static int read_plain(struct import_source *source, uint8_t *bytes, size_t room, size_t *ret_count,
	struct error *err)
{
	size_t have = source->packed_count - source->packed_at;
	ssize_t got;

	if (have) {
		have = have < room ? have : room;
		memcpy(bytes, source->packed + source->packed_at, have);
		source->packed_at += have;
		*ret_count = have;
		return STATUS_OK;
	}
	do
		got = read(source->fd, bytes, room);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_set_errno(err, STATUS_IO, "cannot read");
	atomic_fetch_add(&source->packed_read, (uint64_t)got);
	*ret_count = (size_t)got;
	return STATUS_OK;
}

static int read_gzip(struct import_source *source, uint8_t *bytes, size_t room, size_t *ret_count,
	struct error *err)
{
	z_stream *gzip = &source->gzip;

	gzip->next_out = bytes;
	gzip->avail_out = (uInt)room;
	while (gzip->avail_out && !source->ended) {
		int result, status = read_packed(source, err);

		if (status != STATUS_OK)
			return status;
		if (source->packed_at == source->packed_count) {
			*ret_count = room - gzip->avail_out;
			return *ret_count ? STATUS_OK
					  : error_set_at(err, STATUS_FORMAT, packed_offset(source),
						    "the gzip data ends early");
		}
		gzip->next_in = source->packed + source->packed_at;
		gzip->avail_in = (uInt)(source->packed_count - source->packed_at);
		result = inflate(gzip, Z_NO_FLUSH);
		source->packed_at = source->packed_count - gzip->avail_in;
		if (result == Z_STREAM_END) {
			/* Another member may follow; anything else behind the end is ignored. */
			status = read_packed(source, err);
			if (status != STATUS_OK)
				return status;
			source->ended = source->packed_at == source->packed_count ||
					source->packed[source->packed_at] != 0x1f ||
					inflateReset(gzip) != Z_OK;
		} else if (result != Z_OK && result != Z_BUF_ERROR) {
			return error_set_at(err, STATUS_FORMAT, packed_offset(source),
				"the gzip data is damaged");
		}
	}
	*ret_count = room - gzip->avail_out;
	return STATUS_OK;
}

static int read_zstd(struct import_source *source, uint8_t *bytes, size_t room, size_t *ret_count,
	struct error *err)
{
	ZSTD_outBuffer out = { .dst = bytes, .size = room };

	while (out.pos < out.size) {
		int status = read_packed(source, err);
		ZSTD_inBuffer in = { .src = source->packed,
			.size = source->packed_count,
			.pos = source->packed_at };
		size_t result;

		if (status != STATUS_OK)
			return status;
		in.size = source->packed_count;
		in.pos = source->packed_at;
		if (in.pos == in.size && source->ended)
			break;
		if (in.pos == in.size)
			return out.pos ? (*ret_count = out.pos, STATUS_OK)
				       : error_set_at(err, STATUS_FORMAT, packed_offset(source),
						 "the zstd data ends early");
		result = ZSTD_decompressStream(source->zstd, &out, &in);
		source->packed_at = in.pos;
		if (ZSTD_isError(result))
			return error_set_at(err, STATUS_FORMAT, packed_offset(source),
				"the zstd data is damaged (%s)", ZSTD_getErrorName(result));
		source->ended = result == 0;
	}
	*ret_count = out.pos;
	return STATUS_OK;
}

static int unpack(struct import_source *source, uint8_t *bytes, size_t room, size_t *ret_count,
	struct error *err)
{
	switch (source->packing) {
	case PACKED_GZIP:
		return read_gzip(source, bytes, room, ret_count, err);
	case PACKED_ZSTD:
		return read_zstd(source, bytes, room, ret_count, err);
	case PACKED_NOT:
		break;
	}
	return read_plain(source, bytes, room, ret_count, err);
}

static void *unpack_thread(void *context)
{
	struct import_source *source = context;
	size_t count = 1;
	int status = STATUS_OK;

	while (status == STATUS_OK && count) {
		struct error err = ERROR_INIT;
		uint8_t *bytes = malloc(IMPORT_CHUNK);

		count = 0;
		status = bytes ? unpack(source, bytes, IMPORT_CHUNK, &count, &err)
			       : error_set(&err, STATUS_NOMEM, "out of memory");
		pthread_mutex_lock(&source->lock);
		while (source->queue_count == QUEUE && !source->stop)
			pthread_cond_wait(&source->changed, &source->lock);
		if (source->stop) {
			status = STATUS_BUSY;
			free(bytes);
		} else if (count) {
			source->queue[(source->queue_first + source->queue_count++) % QUEUE] =
				(struct chunk){ .bytes = bytes, .count = count };
		} else {
			free(bytes);
		}
		if (status != STATUS_OK || !count) {
			source->status = status;
			source->error = err;
			source->finished = true;
		}
		pthread_cond_broadcast(&source->changed);
		pthread_mutex_unlock(&source->lock);
	}
	return NULL;
}

static int read_queue(struct import_source *source, uint8_t *bytes, size_t room, size_t *ret_count,
	struct error *err)
{
	struct chunk *chunk;
	size_t count;
	int status = STATUS_OK;

	*ret_count = 0;
	pthread_mutex_lock(&source->lock);
	while (source->queue_count == 0 && !source->finished)
		pthread_cond_wait(&source->changed, &source->lock);
	if (source->queue_count == 0) {
		status = source->status;
		if (status != STATUS_OK && err)
			*err = source->error;
		pthread_mutex_unlock(&source->lock);
		return status;
	}
	chunk = &source->queue[source->queue_first];
	pthread_mutex_unlock(&source->lock);
	/* The chunk is ours: the thread only adds behind it. */
	count = chunk->count - source->taken < room ? chunk->count - source->taken : room;
	memcpy(bytes, chunk->bytes + source->taken, count);
	source->taken += count;
	if (source->taken == chunk->count) {
		free(chunk->bytes);
		pthread_mutex_lock(&source->lock);
		source->queue_first = (source->queue_first + 1) % QUEUE;
		source->queue_count--;
		source->taken = 0;
		pthread_cond_broadcast(&source->changed);
		pthread_mutex_unlock(&source->lock);
	}
	*ret_count = count;
	return STATUS_OK;
}

/* Decides on the packing by the first bytes. */
static int find_packing(struct import_source *source, struct error *err)
{
	static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	int status = read_packed(source, err);

	if (status != STATUS_OK)
		return status;
	if (source->packed_count >= 3 && source->packed[0] == 0x1f && source->packed[1] == 0x8b) {
		source->packing = PACKED_GZIP;
		if (inflateInit2(&source->gzip, 15 + 16) != Z_OK)
			return error_set(err, STATUS_NOMEM, "out of memory");
	} else if (source->packed_count >= 4 && memcmp(source->packed, zstd_magic, 4) == 0) {
		source->packing = PACKED_ZSTD;
		source->zstd = ZSTD_createDStream();
		if (!source->zstd)
			return error_set(err, STATUS_NOMEM, "out of memory");
	}
	return STATUS_OK;
}

int import_source_open(const char *path, struct import_source **ret_source, struct error *err)
{
	struct import_source *source = calloc(1, sizeof *source);
	struct stat info = { 0 };
	int status;

	if (!source)
		return error_set(err, STATUS_NOMEM, "out of memory");
	source->own_fd = strcmp(path, "-") != 0;
	/* Without waiting: a named pipe that nobody writes to is empty, not a reason to hang. */
	source->fd = source->own_fd ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
	source->path = strdup(path);
	pthread_mutex_init(&source->lock, NULL);
	pthread_cond_init(&source->changed, NULL);
	if (source->fd < 0)
		status = error_set_errno(err, STATUS_IO, "cannot open it");
	else if (fstat(source->fd, &info) == 0 && S_ISDIR(info.st_mode))
		status = error_set(err, STATUS_FORMAT, "this is a directory; give a file in it");
	else
		status = find_packing(source, err);
	if (status == STATUS_OK && source->own_fd)
		fcntl(source->fd, F_SETFL, 0);
	if (status != STATUS_OK) {
		import_source_close(source);
		return status;
	}
	source->total = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
	*ret_source = source;
	return STATUS_OK;
}

void import_source_close(struct import_source *source)
{
	if (!source)
		return;
	if (source->threaded) {
		pthread_mutex_lock(&source->lock);
		source->stop = true;
		pthread_cond_broadcast(&source->changed);
		pthread_mutex_unlock(&source->lock);
		pthread_join(source->thread, NULL);
	}
	for (unsigned i = 0; i < source->queue_count; i++)
		free(source->queue[(source->queue_first + i) % QUEUE].bytes);
	if (source->packing == PACKED_GZIP)
		inflateEnd(&source->gzip);
	ZSTD_freeDStream(source->zstd);
	if (source->own_fd && source->fd >= 0)
		close(source->fd);
	pthread_mutex_destroy(&source->lock);
	pthread_cond_destroy(&source->changed);
	free(source->path);
	free(source);
}

int import_source_head(struct import_source *source, const uint8_t **ret_bytes, size_t *ret_count,
	struct error *err)
{
	size_t got = 1;

	while (source->head_at == 0 && source->head_count < sizeof source->head && got) {
		int status = unpack(source, source->head + source->head_count,
			sizeof source->head - source->head_count, &got, err);

		if (status != STATUS_OK && source->head_count == 0)
			return status;
		if (status != STATUS_OK)
			break;
		source->head_count += got;
	}
	*ret_bytes = source->head;
	*ret_count = source->head_count;
	return STATUS_OK;
}

int import_source_read(struct import_source *source, void *bytes, size_t room, size_t *ret_count,
	struct error *err)
{
	size_t count;

	if (source->head_at < source->head_count) {
		count = source->head_count - source->head_at;
		count = count < room ? count : room;
		memcpy(bytes, source->head + source->head_at, count);
		source->head_at += count;
		*ret_count = count;
		return STATUS_OK;
	}
	if (source->packing != PACKED_NOT && !source->threaded)
		source->threaded =
			pthread_create(&source->thread, NULL, unpack_thread, source) == 0;
	if (source->threaded)
		return read_queue(source, bytes, room, ret_count, err);
	return unpack(source, bytes, room, ret_count, err);
}

const char *import_source_path(const struct import_source *source)
{
	return source->path;
}

void import_source_progress(
	const struct import_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = atomic_load(&source->packed_read);
	*ret_total = source->total;
}
