/* Any of a few words in a document: the twin of honeyguide/parse/search.py, and which links stand in the main
 * text: the twin of honeyguide/parse/main_links.py. */

#include "native.h"

#include <string.h>

enum { MOST_WORDS = 16, HASHES = 1024 };

static unsigned
hashed(unsigned char first, unsigned char second)
{
    return (first * 33u + second) & (HASHES - 1);
}

/* Wu and Manber's search ("A fast algorithm for multi-pattern searching", 1994) with blocks of two bytes: what
 * cannot end the beginning of any word is stepped over. */
PyObject *
search_has_any(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyBytes_Check(arguments[0]) || !PyTuple_Check(arguments[1])
        || PyTuple_GET_SIZE(arguments[1]) > MOST_WORDS) {
        PyErr_SetString(PyExc_TypeError, "has_any(body: bytes, words: tuple of up to 16)");
        return NULL;
    }
    Py_ssize_t words = PyTuple_GET_SIZE(arguments[1]), length = PyBytes_GET_SIZE(arguments[0]), least = 128;
    const unsigned char *body = (const unsigned char *)PyBytes_AS_STRING(arguments[0]);
    const unsigned char *word[MOST_WORDS];
    Py_ssize_t size[MOST_WORDS];
    for (Py_ssize_t i = 0; i < words; i++) {
        PyObject *one = PyTuple_GET_ITEM(arguments[1], i);
        if (!PyBytes_Check(one) || PyBytes_GET_SIZE(one) < 2) {
            PyErr_SetString(PyExc_TypeError, "a word is wanted as bytes, two at least");
            return NULL;
        }
        word[i] = (const unsigned char *)PyBytes_AS_STRING(one);
        size[i] = PyBytes_GET_SIZE(one);
        if (size[i] < least)
            least = size[i];
    }
    unsigned char shift[HASHES];
    memset(shift, (int)least - 1, sizeof shift);
    for (Py_ssize_t i = 0; i < words; i++)
        for (Py_ssize_t j = 0; j + 1 < least; j++) {
            unsigned char *place = &shift[hashed(word[i][j], word[i][j + 1])];
            if (least - 2 - j < *place)
                *place = (unsigned char)(least - 2 - j);
        }
    for (Py_ssize_t end = least - 1; words && end < length;) {
        unsigned step = shift[hashed(body[end - 1], body[end])];
        if (step) {
            end += step;
            continue;
        }
        Py_ssize_t start = end - (least - 1);
        for (Py_ssize_t i = 0; i < words; i++)
            if (size[i] <= length - start && memcmp(body + start, word[i], (size_t)size[i]) == 0)
                Py_RETURN_TRUE;
        end++;
    }
    Py_RETURN_FALSE;
}

/* -- main_links.py ------------------------------------------------------------------------------------- */

enum { ANCHOR = 4, CONTEXT = 5, PATH = 6, FIELDS = 8 };

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

/* The entries of a menu that the main text does not have are not in it. */
static int
look_up_menu(PyObject *found, PyObject *main, PyObject *places, PyObject *main_text, PyObject **lines,
             Py_ssize_t start, Py_ssize_t end)
{
    if (*lines == NULL) {
        PyObject *line_end = PyUnicode_FromString("\n");
        PyObject *parts = line_end != NULL ? PyUnicode_Split(main_text, line_end, -1) : NULL;
        *lines = parts != NULL ? PyFrozenSet_New(parts) : NULL;
        Py_XDECREF(line_end);
        Py_XDECREF(parts);
        if (*lines == NULL)
            return -1;
    }
    for (Py_ssize_t i = start; i < end; i++) {
        if (PyList_GET_ITEM(main, i) != Py_True)
            continue;
        PyObject *link = PyList_GET_ITEM(found, i), *context = PyTuple_GET_ITEM(link, CONTEXT);
        PyObject *place = PyDict_GetItemWithError(places, PyTuple_GET_ITEM(link, PATH));
        if (place == NULL)
            return -1;
        int whole = PyTuple_GET_ITEM(place, 1) == Py_True;
        int there = whole ? PySet_Contains(*lines, context) : PyUnicode_Contains(main_text, context);
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
    PyObject *found = arguments[0], *main_text = arguments[1], *lines = NULL;
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
                PyErr_SetString(PyExc_TypeError, "a link is a tuple of eight");
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
    Py_XDECREF(lines);
    if (!fine) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "a place is missing");
        Py_CLEAR(main);
    }
    return main;
}
