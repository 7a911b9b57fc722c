/* Any of a few words in a document: the twin of honeyguide/parse/search.py, and which links stand in the main
 * text: the twin of honeyguide/parse/main_links.py. */

#include "native.h"

#include <string.h>

enum { MOST_WORDS = 16, BLOCK = 16 };

typedef struct {
    const unsigned char *text;
    Py_ssize_t size, part; /* where in the word the three bytes stand that are looked for */
} Word;

/* How often a byte occurs in pages, in classes: rare ones are worth looking for. */
static int
frequency(unsigned char byte)
{
    unsigned char small = byte | 32;
    if (small < 'a' || small > 'z')
        return 4;
    return strchr("etaoinsr", small) != NULL ? 3 : strchr("hldcumpfg", small) != NULL ? 2 : 1;
}

static int
is_there(const Word *words, Py_ssize_t count, const unsigned char *body, Py_ssize_t length, Py_ssize_t here)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t start = here - words[i].part;
        if (start >= 0 && words[i].size <= length - start
            && memcmp(body + start, words[i].text, (size_t)words[i].size) == 0)
            return 1;
    }
    return 0;
}

/* Of each word the rarest three bytes in a row are looked for, letter case aside, in 16 places at once. Words in
 * capitals and in small letters have these in common. */
static int
has_any(const Word *words, Py_ssize_t count, const unsigned char *body, Py_ssize_t length)
{
    unsigned char parts[MOST_WORDS][3];
    int known = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int same = 0;
        for (int k = 0; k < 3; k++)
            parts[known][k] = words[i].text[words[i].part + k] | 32;
        for (int j = 0; j < known; j++)
            same |= memcmp(parts[j], parts[known], 3) == 0;
        known += !same;
    }
    Py_ssize_t here = 0;
#if defined(__GNUC__)
    typedef unsigned char Vector __attribute__((vector_size(BLOCK)));
    Vector wanted[MOST_WORDS][3];
    for (int j = 0; j < known; j++)
        for (int k = 0; k < 3; k++)
            memset(&wanted[j][k], parts[j][k], BLOCK);
    for (; known && here + BLOCK + 2 <= length; here += BLOCK) {
        Vector one, two, three, found = {0};
        uint64_t halves[2];
        memcpy(&one, body + here, BLOCK);
        memcpy(&two, body + here + 1, BLOCK);
        memcpy(&three, body + here + 2, BLOCK);
        one |= 32;
        two |= 32;
        three |= 32;
        for (int j = 0; j < known; j++)
            found |= (Vector)(one == wanted[j][0]) & (Vector)(two == wanted[j][1]) & (Vector)(three == wanted[j][2]);
        memcpy(halves, &found, BLOCK);
        if (!(halves[0] | halves[1]))
            continue;
        for (int i = 0; i < BLOCK; i++)
            if (found[i] && is_there(words, count, body, length, here + i))
                return 1;
    }
#endif
    for (; known && here + 2 < length; here++)
        for (int j = 0; j < known; j++)
            if ((body[here] | 32) == parts[j][0] && (body[here + 1] | 32) == parts[j][1]
                && (body[here + 2] | 32) == parts[j][2] && is_there(words, count, body, length, here))
                return 1;
    return 0;
}

PyObject *
search_has_any(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyBytes_Check(arguments[0]) || !PyTuple_Check(arguments[1])
        || PyTuple_GET_SIZE(arguments[1]) > MOST_WORDS) {
        PyErr_SetString(PyExc_TypeError, "has_any(body: bytes, words: tuple of up to 16)");
        return NULL;
    }
    Word words[MOST_WORDS];
    Py_ssize_t known = PyTuple_GET_SIZE(arguments[1]);
    for (Py_ssize_t i = 0; i < known; i++) {
        PyObject *one = PyTuple_GET_ITEM(arguments[1], i);
        if (!PyBytes_Check(one) || PyBytes_GET_SIZE(one) < 3) {
            PyErr_SetString(PyExc_TypeError, "a word is wanted as bytes, three at least");
            return NULL;
        }
        Word *word = &words[i];
        word->text = (const unsigned char *)PyBytes_AS_STRING(one);
        word->size = PyBytes_GET_SIZE(one);
        word->part = 0;
        for (Py_ssize_t j = 2, least = 99; j < word->size; j++) {
            int often = frequency(word->text[j - 2]) * frequency(word->text[j - 1]) * frequency(word->text[j]);
            if (often < least)
                least = often, word->part = j - 2;
        }
    }
    const unsigned char *body = (const unsigned char *)PyBytes_AS_STRING(arguments[0]);
    return PyBool_FromLong(has_any(words, known, body, PyBytes_GET_SIZE(arguments[0])));
}

/* -- main_links.py ------------------------------------------------------------------------------------- */

enum { ANCHOR = 4, CONTEXT = 5, PATH = 6, FIELDS = 9, LONGEST_LINE = 63 };

/* A new reference to what `places` has of a path, asking `place_of` for a new one; NULL on error. */
static PyObject *
place_of_path(PyObject *places, PyObject *path, PyObject *place_of)
{
    PyObject *place = PyDict_GetItemWithError(places, path);
    if (place != NULL)
        return Py_NewRef(place);
    if (PyErr_Occurred() || (place = PyObject_CallOneArg(place_of, path)) == NULL)
        return NULL;
    if (!PyTuple_Check(place) || PyTuple_GET_SIZE(place) != 2) {
        PyErr_SetString(PyExc_TypeError, "a place is a pair");
        Py_CLEAR(place);
    } else if (PyDict_SetItem(places, path, place) < 0)
        Py_CLEAR(place);
    return place;
}

/* The lines of a text that may be entries of a menu, by what they say. */
typedef struct {
    Py_ssize_t *ends; /* of each line, and of an empty one before the first */
    Py_ssize_t count, room;
    uint32_t *slots; /* number of a line plus one, in a table of open addressing */
    uint32_t mask;
} Lines;

static uint32_t
hash_of(PyObject *text, Py_ssize_t start, Py_ssize_t length)
{
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    uint64_t hash = (uint64_t)length;
    for (Py_ssize_t i = start; i < start + length; i++)
        hash = (hash ^ PyUnicode_READ(kind, data, i)) * 0x9E3779B97F4A7C15ull;
    return (uint32_t)(hash >> 32);
}

static int
same_text(PyObject *text, Py_ssize_t start, PyObject *wanted, Py_ssize_t first, Py_ssize_t length)
{
    int kind = PyUnicode_KIND(text), other = PyUnicode_KIND(wanted);
    const void *data = PyUnicode_DATA(text), *theirs = PyUnicode_DATA(wanted);
    for (Py_ssize_t i = 0; i < length; i++)
        if (PyUnicode_READ(kind, data, start + i) != PyUnicode_READ(other, theirs, first + i))
            return 0;
    return 1;
}

/* Note where the lines of a text end, and enter the short ones; -1 on error. */
static int
lines_of(PyObject *text, Lines *lines)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), at = -1;
    uint32_t size = 64;
    do {
        if (lines->count + 1 >= lines->room) {
            lines->room = lines->room ? 2 * lines->room : 256;
            void *more = PyMem_RawRealloc(lines->ends, (size_t)lines->room * sizeof *lines->ends);
            if (more == NULL)
                goto failed;
            lines->ends = more;
        }
        lines->ends[lines->count++] = at;
        at = PyUnicode_FindChar(text, '\n', at + 1, length, 1);
    } while (at >= 0);
    lines->ends[lines->count] = length;
    while (size < 2 * (uint64_t)lines->count)
        size *= 2;
    lines->slots = PyMem_RawCalloc(size, sizeof *lines->slots);
    if (lines->slots == NULL)
        goto failed;
    lines->mask = size - 1;
    for (Py_ssize_t i = 0; i < lines->count; i++) {
        Py_ssize_t start = lines->ends[i] + 1, line = lines->ends[i + 1] - start;
        if (line > LONGEST_LINE)
            continue;
        uint32_t slot = hash_of(text, start, line) & lines->mask, other;
        while ((other = lines->slots[slot]) != 0) {
            Py_ssize_t known = lines->ends[other - 1] + 1;
            if (lines->ends[other] - known == line && same_text(text, start, text, known, line))
                break; /* a page may say the same thing a hundred thousand times */
            slot = (slot + 1) & lines->mask;
        }
        lines->slots[slot] = (uint32_t)i + 1;
    }
    return 0;
failed:
    PyErr_NoMemory();
    return -1;
}

/* Whether a text has `wanted` as one of its lines. */
static int
has_line(PyObject *text, const Lines *lines, PyObject *wanted)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(wanted);
    if (length > LONGEST_LINE) { /* no entry of a menu is as long */
        for (Py_ssize_t i = 0; i < lines->count; i++)
            if (lines->ends[i + 1] - lines->ends[i] - 1 == length
                && same_text(text, lines->ends[i] + 1, wanted, 0, length))
                return 1;
        return 0;
    }
    for (uint32_t slot = hash_of(wanted, 0, length) & lines->mask; lines->slots[slot]; slot = (slot + 1) & lines->mask) {
        Py_ssize_t i = lines->slots[slot] - 1, start = lines->ends[i] + 1;
        if (lines->ends[i + 1] - start == length && same_text(text, start, wanted, 0, length))
            return 1;
    }
    return 0;
}

/* The entries of a menu that the main text does not have are not in it. */
static int
look_up_menu(PyObject *found, PyObject *main, PyObject *places, PyObject *main_text, Lines *lines,
             Py_ssize_t start, Py_ssize_t end)
{
    if (lines->slots == NULL && (PyUnicode_READY(main_text) < 0 || lines_of(main_text, lines) < 0))
        return -1;
    for (Py_ssize_t i = start; i < end; i++) {
        if (PyList_GET_ITEM(main, i) != Py_True)
            continue;
        PyObject *link = PyList_GET_ITEM(found, i), *context = PyTuple_GET_ITEM(link, CONTEXT);
        PyObject *place = PyDict_GetItemWithError(places, PyTuple_GET_ITEM(link, PATH));
        if (place == NULL || PyUnicode_READY(context) < 0)
            return -1;
        int whole = PyTuple_GET_ITEM(place, 1) == Py_True;
        int there = whole ? has_line(main_text, lines, context) : PyUnicode_Contains(main_text, context);
        if (there < 0)
            return -1;
        if (!there && PyList_SetItem(main, i, Py_NewRef(Py_False)) < 0)
            return -1;
    }
    return 0;
}

PyObject *
main_links_marked(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !PyList_Check(arguments[0]) || !PyUnicode_Check(arguments[1])
        || !PyTuple_Check(arguments[3])) {
        PyErr_SetString(PyExc_TypeError, "marked(found: list, main_text: str, place_of, rules)");
        return NULL;
    }
    PyObject *found = arguments[0], *main_text = arguments[1];
    Lines lines = {0};
    Py_ssize_t longest, fewest;
    double density;
    if (!PyArg_ParseTuple(arguments[3], "ndn", &longest, &density, &fewest))
        return NULL;
    Py_ssize_t links = PyList_GET_SIZE(found), start = -1;
    PyObject *places = PyDict_New(), *main = PyList_New(links);
    int fine = places != NULL && main != NULL;
    for (Py_ssize_t i = 0; fine && i < links; i++)
        PyList_SET_ITEM(main, i, Py_NewRef(Py_False));
    for (Py_ssize_t i = 0; fine && i <= links; i++) {
        int short_one = 0;
        if (i < links) {
            /* Callbacks may not change the list, but nothing says that they did not. */
            PyObject *link = i < PyList_GET_SIZE(found) ? PyList_GET_ITEM(found, i) : NULL;
            if (link == NULL || !PyTuple_Check(link) || PyTuple_GET_SIZE(link) != FIELDS
                || !PyUnicode_Check(PyTuple_GET_ITEM(link, ANCHOR)) || !PyUnicode_Check(PyTuple_GET_ITEM(link, CONTEXT))
                || !PyUnicode_Check(PyTuple_GET_ITEM(link, PATH))) {
                PyErr_SetString(PyExc_TypeError, "a link is a tuple of nine");
                fine = 0;
                break;
            }
            Py_ssize_t length = PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(link, ANCHOR));
            Py_ssize_t around = PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(link, CONTEXT));
            short_one = 0 < length && length <= longest && (double)length > density * (double)around;
            PyObject *place = place_of_path(places, PyTuple_GET_ITEM(link, PATH), arguments[2]);
            if (place == NULL) {
                fine = 0;
                break;
            }
            if (PyTuple_GET_ITEM(place, 0) == Py_True)
                fine = PyList_SetItem(main, i, Py_NewRef(Py_True)) == 0;
            Py_DECREF(place);
        }
        if (short_one) {
            if (start < 0)
                start = i;
        } else if (start >= 0) {
            if (fine && i - start >= fewest)
                fine = look_up_menu(found, main, places, main_text, &lines, start, i) == 0;
            start = -1;
        }
    }
    Py_XDECREF(places);
    PyMem_RawFree(lines.ends);
    PyMem_RawFree(lines.slots);
    if (!fine) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "a place is missing");
        Py_CLEAR(main);
    }
    return main;
}
