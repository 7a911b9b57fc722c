/* What is done for every link of a page that came in: of honeyguide/engine/admission.py the quick look, of
 * honeyguide/web/traps.py which addresses are plain, of honeyguide/web/zones.py who links to whom; and
 * honeyguide/web/digest.py. */

#include "arrays.h"
#include "fields.h"

#include <string.h>

static Field KIND, ID, NOFOLLOW, LANGUAGE, URL;

int
arrival_init(void)
{
    KIND.name = PyUnicode_InternFromString("kind");
    ID.name = PyUnicode_InternFromString("id");
    NOFOLLOW.name = PyUnicode_InternFromString("nofollow");
    LANGUAGE.name = PyUnicode_InternFromString("language");
    URL.name = PyUnicode_InternFromString("url");
    return KIND.name && ID.name && NOFOLLOW.name && LANGUAGE.name && URL.name ? 0 : -1;
}

enum { LEFT_OUT, FINE, ODD };

/* Whether an attribute is true; -1 on error. */
static int
is_true(PyObject *link, Field *field)
{
    PyObject *value = get_field(link, field);
    int found = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    return found;
}

/* What the quick look says of one link; -1 on error. */
static int
looked_at(PyObject *link, PyObject *kinds, PyObject *own, PyObject *judged, PyObject *judge)
{
    PyObject *value = get_field(link, &KIND);
    int found = value == NULL ? -1 : PySequence_Contains(kinds, value);
    Py_XDECREF(value);
    if (found <= 0)
        return found < 0 ? -1 : LEFT_OUT;
    if ((value = get_field(link, &ID)) == NULL)
        return -1;
    found = PyObject_RichCompareBool(value, own, Py_EQ);
    Py_DECREF(value);
    if (found)
        return found < 0 ? -1 : LEFT_OUT;
    if ((found = is_true(link, &NOFOLLOW)) || (found = is_true(link, &LANGUAGE)))
        return found < 0 ? -1 : ODD;
    PyObject *url = get_field(link, &URL);
    if (url == NULL)
        return -1;
    PyObject *reason = PyDict_GetItemWithError(judged, url);
    Py_XINCREF(reason);
    if (reason == NULL && !PyErr_Occurred())
        reason = PyObject_CallOneArg(judge, url);
    Py_DECREF(url);
    Py_XDECREF(reason);
    return reason == NULL ? -1 : reason == Py_None ? FINE : ODD;
}

PyObject *
admission_sifted(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 5 || !PyTuple_Check(arguments[0]) || !PyDict_Check(arguments[3])) {
        PyErr_SetString(PyExc_TypeError, "sifted(links: tuple, kinds, own: int, judged: dict, judge)");
        return NULL;
    }
    PyObject *fine = PyList_New(0), *odd = PyList_New(0), *answer = NULL;
    int failed = fine == NULL || odd == NULL;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(arguments[0]); i++) {
        PyObject *link = PyTuple_GET_ITEM(arguments[0], i);
        int found = looked_at(link, arguments[1], arguments[2], arguments[3], arguments[4]);
        failed = found < 0 || (found != LEFT_OUT && PyList_Append(found == FINE ? fine : odd, link) < 0);
    }
    if (!failed)
        answer = PyTuple_Pack(2, fine, odd);
    Py_XDECREF(fine);
    Py_XDECREF(odd);
    return answer;
}

enum { MOST_SEGMENTS = 64 };

/* Whether a segment is the same as one before it. */
static int
comes_again(const char *const *starts, const Py_ssize_t *lengths, int count)
{
    for (int i = 0; i + 1 < count; i++)
        if (lengths[i] == lengths[count - 1] && !memcmp(starts[i], starts[count - 1], (size_t)lengths[i]))
            return 1;
    return 0;
}

/* Whether there is a year here, with something behind it that goes on like a date. */
static int
is_year(const char *text, const char *end, int after_digit)
{
    if (after_digit || end - text < 5 || (text[0] != '1' && text[0] != '2'))
        return 0;
    for (int i = 1; i < 4; i++)
        if (text[i] < '0' || text[i] > '9')
            return 0;
    return text[4] == '-' || text[4] == '/';
}

static int
is_plain(const char *text, Py_ssize_t length, Py_ssize_t most)
{
    const char *end = text + length, *starts[MOST_SEGMENTS], *start = NULL;
    Py_ssize_t lengths[MOST_SEGMENTS], slashes = 0;
    int segments = 0;
    for (const char *c = length > 8 ? text + 8 : end; c <= end; c++) {
        if (start == NULL) { /* not yet in the path */
            if (c < end && *c == '/') {
                start = c + 1;
                slashes = 1;
            }
            continue;
        }
        if (c == end || *c == '/') {
            if (c > start) {
                if (segments == MOST_SEGMENTS)
                    return 0;
                starts[segments] = start;
                lengths[segments++] = c - start;
                if (comes_again(starts, lengths, segments))
                    return 0;
            }
            start = c + 1;
            slashes += c < end;
            continue;
        }
        if (*c == '?' || *c == '(' || is_year(c, end, c[-1] >= '0' && c[-1] <= '9')
            || (*c == '%' && end - c >= 7 && !memcmp(c, "%252525", 7)))
            return 0;
    }
    return start != NULL && slashes <= most;
}

PyObject *
traps_plain(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 3 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "plain(url: str, longest: int, most: int)");
        return NULL;
    }
    Py_ssize_t longest = PyLong_AsSsize_t(arguments[1]), most = PyLong_AsSsize_t(arguments[2]);
    if (PyErr_Occurred() || PyUnicode_READY(arguments[0]) < 0)
        return NULL;
    Py_ssize_t length = PyUnicode_GET_LENGTH(arguments[0]);
    return PyBool_FromLong(PyUnicode_IS_ASCII(arguments[0]) && length <= longest
                           && is_plain((const char *)PyUnicode_1BYTE_DATA(arguments[0]), length, most));
}

/* Note that page `row` links to one whose only page so far is `*only`; whether that makes them several. */
static int
second(int32_t *only, int32_t row)
{
    if (*only == 0)
        *only = row;
    if (*only < 0 || *only == row)
        return 0;
    *only = -1;
    return 1;
}

/* source, (source and chain of pages), targets, row: those that had a chain and have a second page linking to them. */
BODY(zones_linked)
{
    Py_ssize_t size, pages, chains, length;
    int32_t *source, *own, *targets;
    const uint8_t *chain;
    PyObject *parts[] = {item(arguments[1], 0), item(arguments[1], 1)};
    long row = PyLong_AsLong(arguments[3]);
    if (PyErr_Occurred())
        return NULL;
    TAKE(source, 0, &size, 1);
    TAKE(targets, 2, &length, 0);
    if ((own = borrow(loan, parts[0], sizeof *own, &pages, 1)) == NULL
        || (chain = borrow(loan, parts[1], sizeof *chain, &chains, 0)) == NULL)
        return NULL;
    PyObject *again = PyList_New(0);
    for (Py_ssize_t i = 0; again != NULL && i < length; i++) {
        int32_t target = targets[i];
        Py_ssize_t place = target >= 0 && target < size ? -2 - (Py_ssize_t)source[target] : pages;
        if (place >= pages || place >= chains) {
            PyErr_SetString(PyExc_IndexError, "a page links to a row that is not there");
            Py_CLEAR(again);
        } else if (place < 0)
            second(&source[target], (int32_t)row);
        else if (second(&own[place], (int32_t)row) && chain[place]) {
            PyObject *number = PyLong_FromSsize_t(place);
            if (number == NULL || PyList_Append(again, number) < 0)
                Py_CLEAR(again);
            Py_XDECREF(number);
        }
    }
    return again;
}
FUNCTION(zones_linked, 4)

PyObject *
digest_base32(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 1 || !PyBytes_Check(arguments[0]) || PyBytes_GET_SIZE(arguments[0]) % 5) {
        PyErr_SetString(PyExc_TypeError, "base32(digest: bytes), five or a multiple of it");
        return NULL;
    }
    const unsigned char *digest = (const unsigned char *)PyBytes_AS_STRING(arguments[0]);
    Py_ssize_t groups = PyBytes_GET_SIZE(arguments[0]) / 5;
    PyObject *answer = PyUnicode_New(8 * groups, 127);
    if (answer == NULL)
        return NULL;
    Py_UCS1 *text = PyUnicode_1BYTE_DATA(answer);
    for (Py_ssize_t group = 0; group < groups; group++) {
        uint64_t bits = 0;
        for (int i = 0; i < 5; i++)
            bits = bits << 8 | digest[5 * group + i];
        for (int i = 0; i < 8; i++)
            text[8 * group + i] = (Py_UCS1) "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[bits >> (35 - 5 * i) & 31];
    }
    return answer;
}
