// SPDX-License-Identifier: MIT OR Apache-2.0
/* Opening a stranger's SQLite file. */
#include "import/nsys_file.h"

#include "base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC        "SQLite format 3"
#define VALUE_MAX    (256 << 20)
#define COLUMNS_MAX  512
#define SPOOL_BYTES  (256u << 10)
#define HEADER_BYTES 100u

static int spool_open(struct error *err)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "%s/tacho-import-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, STATUS_IO, "cannot unpack into %s", folder);
	unlink(path);
	return fd;
}

static int write_all(int fd, const uint8_t *bytes, size_t count, struct error *err)
{
	while (count) {
		ssize_t done = write(fd, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return error_set_errno(err, STATUS_IO, "cannot unpack");
		bytes += done;
		count -= (size_t)done;
	}
	return STATUS_OK;
}

static int spool(struct nsys_file *file, struct import_source *source, uint64_t limit_bytes,
	struct error *err)
{
	uint8_t *bytes = malloc(SPOOL_BYTES);
	size_t got = 1;
	int status = bytes ? STATUS_OK : error_set(err, STATUS_NOMEM, "out of memory");

	if (status == STATUS_OK) {
		file->spool_fd = spool_open(err);
		status = file->spool_fd < 0 ? file->spool_fd : STATUS_OK;
	}
	while (status == STATUS_OK && got) {
		status = import_source_read(source, bytes, SPOOL_BYTES, &got, err);
		if (status == STATUS_OK)
			status = write_all(file->spool_fd, bytes, got, err);
		file->bytes += got;
		if (status == STATUS_OK && file->bytes > limit_bytes)
			status = error_set_at(err, STATUS_LIMIT, limit_bytes,
				"unpacked it is larger than the memory allowed; raise --max-memory");
	}
	free(bytes);
	return status;
}

/* Whether the path itself is the database, and not something packed. */
static bool is_plain(const char *path, uint64_t *ret_bytes)
{
	char head[sizeof MAGIC] = { 0 };
	struct stat info;
	bool plain = false;
	int fd;

	/* SQLite follows links, and what /proc links to need not have a name. */
	if (strcmp(path, "-") == 0 || strncmp(path, "/proc/", 6) == 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head) {
		plain = memcmp(head, MAGIC, sizeof head) == 0;
		*ret_bytes = (uint64_t)info.st_size;
	}
	close(fd);
	return plain;
}

static void put_uri(struct buffer *uri, const char *path)
{
	buffer_text(uri, "file:");
	for (const char *at = path; *at; at++)
		if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
			(*at >= '0' && *at <= '9') || strchr("/._-", *at))
			buffer_byte(uri, (uint8_t)*at);
		else
			buffer_printf(uri, "%%%02x", (uint8_t)*at);
	buffer_text(uri, "?mode=ro&immutable=1");
	buffer_byte(uri, 0);
}

/* The size that the file's header tells: page size at 16, pages at 28, both big-endian. */
static void find_missing(struct nsys_file *file, const uint8_t *head, size_t count)
{
	uint64_t page, pages;

	if (count < HEADER_BYTES)
		return;
	page = (uint64_t)head[16] << 8 | head[17];
	page = page == 1 ? 65536 : page;
	pages = (uint64_t)head[28] << 24 | (uint64_t)head[29] << 16 | (uint64_t)head[30] << 8 |
		head[31];
	if (page * pages > file->bytes)
		file->missing_bytes = page * pages - file->bytes;
}

static int cannot_open(struct nsys_file *file, int result, struct error *err)
{
	return error_set(err, STATUS_IO, "SQLite cannot open it: %s",
		file->db ? sqlite3_errmsg(file->db) : sqlite3_errstr(result));
}

static int open_path(struct nsys_file *file, const char *path, struct error *err)
{
	struct buffer uri;
	int result;

	buffer_init(&uri);
	put_uri(&uri, path);
	if (!buffer_ok(&uri)) {
		buffer_release(&uri);
		return error_set(err, STATUS_NOMEM, "out of memory");
	}
	result = sqlite3_open_v2((char *)uri.data, &file->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	buffer_release(&uri);
	return result == SQLITE_OK ? STATUS_OK : cannot_open(file, result, err);
}

/* The temporary has no name that SQLite could open, but nobody else can change it either: it is
 * read as memory. */
static int open_spool(struct nsys_file *file, struct error *err)
{
	int result = sqlite3_open_v2(":memory:", &file->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);

	if (file->bytes) {
		file->map =
			mmap(NULL, (size_t)file->bytes, PROT_READ, MAP_PRIVATE, file->spool_fd, 0);
		if (file->map == MAP_FAILED) {
			file->map = NULL;
			return error_set_errno(err, STATUS_NOMEM, "cannot map what was unpacked");
		}
	}
	if (result == SQLITE_OK)
		result =
			sqlite3_deserialize(file->db, "main", file->map, (sqlite3_int64)file->bytes,
				(sqlite3_int64)file->bytes, SQLITE_DESERIALIZE_READONLY);
	return result == SQLITE_OK ? STATUS_OK : cannot_open(file, result, err);
}

static void guard(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_COLUMN, COLUMNS_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA mmap_size=0",
		NULL, NULL, NULL);
}

int nsys_file_open(struct nsys_file *file, struct import_source *source,
	const struct import_sink *sink, struct error *err)
{
	const char *path = import_source_path(source);
	const uint8_t *head;
	size_t count;
	int status;

	*file = (struct nsys_file){ .spool_fd = -1 };
	status = import_source_head(source, &head, &count, err);
	if (status != STATUS_OK)
		return status;
	if (is_plain(path, &file->bytes)) {
		status = open_path(file, path, err);
	} else {
		file->bytes = 0;
		status = spool(file, source, import_sink_room(sink), err);
		if (status == STATUS_OK)
			status = open_spool(file, err);
	}
	if (status != STATUS_OK) {
		nsys_file_close(file);
		return status;
	}
	find_missing(file, head, count);
	guard(file->db);
	return STATUS_OK;
}

void nsys_file_close(struct nsys_file *file)
{
	sqlite3_close(file->db);
	file->db = NULL;
	if (file->map)
		munmap(file->map, (size_t)file->bytes);
	file->map = NULL;
	if (file->spool_fd >= 0)
		close(file->spool_fd);
	file->spool_fd = -1;
}

sqlite3_stmt *nsys_file_query(const struct nsys_file *file, const char *sql, const char *table)
{
	sqlite3_stmt *statement = NULL;
	char *text = sqlite3_mprintf(sql, table);

	if (text && sqlite3_prepare_v2(file->db, text, -1, &statement, NULL) != SQLITE_OK) {
		sqlite3_finalize(statement);
		statement = NULL;
	}
	sqlite3_free(text);
	return statement;
}

bool nsys_file_has(const struct nsys_file *file, const char *table, const char *column)
{
	sqlite3_stmt *statement = nsys_file_query(file, "SELECT * FROM \"%w\" LIMIT 0", table);
	bool found = false;

	for (int i = 0; statement && !found && i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);

		found = name && strcmp(name, column) == 0;
	}
	sqlite3_finalize(statement);
	return found;
}
