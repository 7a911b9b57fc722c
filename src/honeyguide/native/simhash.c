/* The fingerprint of honeyguide/text/simhash.py, which tells what it is; both give the same numbers. */

#include "native.h"

#include <string.h>

#define GOLDEN 0x9E3779B97F4A7C15ull
#define BYTE_ONES 0x0101010101010101ull

enum { SEPARATOR, LETTER, ALONE };

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

typedef struct {
    uint64_t bytes[8]; /* eight counters of one byte in each */
    uint32_t counts[64];
    int pending;
} Counter;

static void
flush(Counter *counter)
{
    for (int shift = 0; shift < 8; shift++) {
        for (int byte = 0; byte < 8; byte++)
            counter->counts[8 * byte + shift] += (uint32_t)(counter->bytes[shift] >> (8 * byte)) & 255;
        counter->bytes[shift] = 0;
    }
    counter->pending = 0;
}

static void
add(Counter *counter, uint64_t hash)
{
    for (int shift = 0; shift < 8; shift++)
        counter->bytes[shift] += (hash >> shift) & BYTE_ONES;
    if (++counter->pending == 255)
        flush(counter);
}

/* Add three bits in each of 64 columns: the sum, and what is carried. */
static inline uint64_t
carried(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t differ = *sum ^ a, carry = (*sum & a) | (differ & b);
    *sum = differ ^ b;
    return carry;
}

/* The bits that more than half of the numbers have. Eight numbers are added up column by column before any column is
   counted. */
static uint64_t
majority(const uint64_t *numbers, Py_ssize_t count)
{
    Counter eights = {0}, rest = {0};
    uint64_t ones = 0, twos = 0, fours = 0, answer = 0;
    Py_ssize_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const uint64_t *n = numbers + i;
        uint64_t two = carried(&ones, n[0], n[1]);
        uint64_t four = carried(&twos, two, carried(&ones, n[2], n[3]));
        two = carried(&ones, n[4], n[5]);
        add(&eights, carried(&fours, four, carried(&twos, two, carried(&ones, n[6], n[7]))));
    }
    for (; i < count; i++)
        add(&rest, numbers[i]);
    flush(&eights);
    flush(&rest);
    for (int bit = 0; bit < 64; bit++) {
        uint64_t have = 8 * (uint64_t)eights.counts[bit] + rest.counts[bit] + 4 * (fours >> bit & 1)
                        + 2 * (twos >> bit & 1) + (ones >> bit & 1);
        if (2 * have > (uint64_t)count)
            answer |= 1ull << bit;
    }
    return answer;
}

/* A number for each word of a text, for one width of characters; how many. -1: a character that the table of
   lower case does not know. */
#define WORDS(name, CHAR, CODE)                                                                            \
    static Py_ssize_t name(const CHAR *text, Py_ssize_t length, const unsigned char *classes,              \
                           const uint16_t *lowered, const uint64_t *powers, uint64_t *hashes)              \
    {                                                                                                      \
        (void)lowered;                                                                                     \
        Py_ssize_t words = 0, i = 0;                                                                       \
        while (i < length) {                                                                               \
            unsigned offset = 0;                                                                           \
            uint64_t hash = 0;                                                                             \
            uint32_t code = CODE(text[i]);                                                                 \
            int class = CLASS_OF(code);                                                                    \
            if (class == SEPARATOR) {                                                                      \
                if (code == 0 && text[i] != 0)                                                             \
                    return -1;                                                                             \
                i++;                                                                                       \
                continue;                                                                                  \
            }                                                                                              \
            do {                                                                                           \
                hash += code * powers[offset++ & 63];                                                      \
                i++;                                                                                       \
            } while (class == LETTER && i < length && CLASS_OF(code = CODE(text[i])) == LETTER);           \
            hashes[words++] = hash;                                                                        \
        }                                                                                                  \
        return words;                                                                                      \
    }
#define CLASS_OF(code) (classes[(code) < 0xFFFF ? (code) : 0xFFFF])
#define SAME(code) (code)
#define LOWER(code) (lowered[code])

/* The same for one byte a character where no character is a word of its own, without a jump: where words end, no
   processor can foresee. */
static Py_ssize_t
parted_by_spaces(const Py_UCS1 *text, Py_ssize_t length, const unsigned char *classes, const uint64_t *powers,
                 uint64_t *hashes)
{
    Py_ssize_t words = 0;
    uint64_t hash = 0, offset = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        uint64_t inside = -(uint64_t)(classes[text[i]] == LETTER);
        hashes[words] = hash;
        words += (offset != 0) & (inside == 0);
        hash = (hash + text[i] * powers[offset & 63]) & inside;
        offset = (offset + 1) & inside;
    }
    hashes[words] = hash;
    return words + (offset != 0);
}

WORDS(words_1, Py_UCS1, SAME)
WORDS(words_2, Py_UCS2, SAME)
WORDS(words_4, Py_UCS4, SAME)
WORDS(lowered_1, Py_UCS1, LOWER)
WORDS(lowered_2, Py_UCS2, LOWER)

const char simhash_doc[] =
    "simhash(text, shingle, classes, lowered, /)\n--\n\n"
    "The signed 64-bit fingerprint of a text. `classes` has a byte for each code point, `lowered` its lower case in\n"
    "two bytes, 0 where that is not so simple: None for a text with such a character. Without `lowered` the text\n"
    "is in lower case.";

PyObject *
simhash(PyObject *module, PyObject *const *arguments, Py_ssize_t argument_count)
{
    (void)module;
    if (argument_count != 4 || !PyUnicode_Check(arguments[0]) || !PyBytes_Check(arguments[2])
        || PyBytes_GET_SIZE(arguments[2]) != 0x10000
        || (arguments[3] != Py_None
            && (!PyBytes_Check(arguments[3]) || PyBytes_GET_SIZE(arguments[3]) != 0x20000))) {
        PyErr_SetString(PyExc_TypeError,
                        "simhash(text: str, shingle: int, classes: bytes, lowered: bytes | None)");
        return NULL;
    }
    Py_ssize_t width = PyLong_AsSsize_t(arguments[1]);
    if (width == -1 && PyErr_Occurred())
        return NULL;
    if (PyUnicode_READY(arguments[0]) < 0)
        return NULL;
    const unsigned char *classes = (const unsigned char *)PyBytes_AS_STRING(arguments[2]);
    const void *data = PyUnicode_DATA(arguments[0]);
    Py_ssize_t length = PyUnicode_GET_LENGTH(arguments[0]), words;
    const uint16_t *lowered = NULL;
    if (arguments[3] != Py_None) {
        lowered = (const uint16_t *)PyBytes_AS_STRING(arguments[3]);
        if (PyUnicode_KIND(arguments[0]) == PyUnicode_4BYTE_KIND)
            Py_RETURN_NONE;
    }
    uint64_t *hashes = PyMem_RawMalloc(((size_t)length + 1) * sizeof *hashes), powers[64];
    if (hashes == NULL)
        return PyErr_NoMemory();
    for (int i = 0; i < 64; i++)
        powers[i] = mix((uint64_t)(i + 1) * GOLDEN) | 1;
    switch (PyUnicode_KIND(arguments[0])) {
    case PyUnicode_1BYTE_KIND:
        if (lowered == NULL && memchr(classes, ALONE, 256) == NULL)
            words = parted_by_spaces(data, length, classes, powers, hashes);
        else
            words = (lowered ? lowered_1 : words_1)(data, length, classes, lowered, powers, hashes);
        break;
    case PyUnicode_2BYTE_KIND:
        words = (lowered ? lowered_2 : words_2)(data, length, classes, lowered, powers, hashes);
        break;
    default:
        words = words_4(data, length, classes, lowered, powers, hashes);
    }
    if (words < 0) {
        PyMem_RawFree(hashes);
        Py_RETURN_NONE;
    }
    uint64_t answer = 0;
    if (words) {
        if (width < 1)
            width = 1;
        if (width > words)
            width = words;
        Py_ssize_t count = words - width + 1;
        for (Py_ssize_t i = 0; i < count; i++) {
            uint64_t joined = 0;
            for (Py_ssize_t place = 0; place < width; place++)
                joined = joined * GOLDEN + hashes[i + place];
            hashes[i] = mix(joined);
        }
        answer = majority(hashes, count);
    }
    PyMem_RawFree(hashes);
    return PyLong_FromLongLong((long long)answer);
}
