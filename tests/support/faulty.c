/* A disk that fails: loaded before the C library (LD_PRELOAD), it spoils chosen writes to files below one folder.
 *
 * fault_arm(folder, kind, at, count): from the at-th call of the kind on, count calls fail (0: all).
 *   kind 0: short writes (half of the bytes are written, and that is said)
 *   kind 1: writes fail with EIO, nothing is written
 *   kind 2: writes fail with ENOSPC, half of the bytes were written
 *   kind 3: fsync and fdatasync fail with EIO
 *   kind 4: the process is killed in the middle of a write
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[4096];
static int kind = -1;
static long at, count, seen;

void fault_arm(const char *where, int what, long first, long many) {
    snprintf(folder, sizeof folder, "%s/", where);
    kind = what, at = first, count = many, seen = 0;
}

long fault_seen(void) { return seen; }

static int below(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int spoil(int fd, int syncs) {
    if (kind < 0 || (kind == 3) != syncs || !below(fd)) return 0;
    seen++;
    return seen >= at && (!count || seen < at + count);
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static ssize_t some(ssize_t (*put)(int, const void *, size_t, off_t), int fd, const void *data, size_t size,
                    off_t offset) {
    size_t half = size / 2;
    if (kind == 1) { errno = EIO; return -1; }
    ssize_t done = half ? put(fd, data, half, offset) : 0;
    if (kind == 4) raise(SIGKILL);
    if (kind == 0 && half) return done;
    if (kind == 0) return put(fd, data, size, offset);
    errno = ENOSPC;
    return -1;
}

static ssize_t plain(int fd, const void *data, size_t size, off_t offset) {
    (void)offset;
    return REAL(write)(fd, data, size);
}

static ssize_t placed(int fd, const void *data, size_t size, off_t offset) {
    return REAL(pwrite64)(fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size) {
    return spoil(fd, 0) ? some(plain, fd, data, size, 0) : REAL(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return spoil(fd, 0) ? some(placed, fd, data, size, offset) : REAL(pwrite)(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    return spoil(fd, 0) ? some(placed, fd, data, size, offset) : REAL(pwrite64)(fd, data, size, offset);
}

int fsync(int fd) {
    if (spoil(fd, 1)) { errno = EIO; return -1; }
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    if (spoil(fd, 1)) { errno = EIO; return -1; }
    return REAL(fdatasync)(fd);
}
