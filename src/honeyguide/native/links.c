/* The links of a page: honeyguide/parse/links.py, and of honeyguide/web/url.py what needs no URL parser. */

#include "native.h"

#include <string.h>

enum { WORD = 1, DOT = 2, QUERY = 4, LOWER = 8, DIGIT = 16 };

static uint8_t kinds[128];

static void
set_kinds(void)
{
    for (int c = 'a'; c <= 'z'; c++)
        kinds[c] = WORD | QUERY | LOWER, kinds[c - 32] = WORD | QUERY;
    for (int c = '0'; c <= '9'; c++)
        kinds[c] = WORD | QUERY | DIGIT;
    kinds['_'] = kinds['~'] = kinds['-'] = WORD | QUERY;
    kinds['.'] = DOT | QUERY;
    for (const char *c = "=&+/,:;@!$()*"; *c; c++)
        kinds[(int)*c] |= QUERY;
}

/* Digits of one part of an address, at most `most` and below `limit`, no 0 in front; -1 when it is not one. */
static long
number(const char *text, Py_ssize_t length, Py_ssize_t most, long limit)
{
    long value = 0;
    if (length < 1 || length > most || (text[0] == '0' && length > 1))
        return -1;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (!(kinds[(int)text[i]] & DIGIT))
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value < limit ? value : -1;
}

/* Whether a host is written as the standard writes it: names without punycode, or four numbers. */
static int
plain_host(const char *text, Py_ssize_t length)
{
    Py_ssize_t labels = 0, numbers = 0, start = 0;
    int letters = 0; /* the last label has nothing else */
    for (Py_ssize_t i = 0; i <= length; i++) {
        if (i < length && text[i] != '.') {
            if (text[i] == '-') {
                if (i == start || i + 1 >= length || text[i + 1] == '-' || text[i + 1] == '.')
                    return 0;
            }
            else if (!(kinds[(int)text[i]] & (LOWER | DIGIT)))
                return 0;
            continue;
        }
        if (i == start)
            return 0;
        labels++;
        numbers += number(text + start, i - start, 3, 256) >= 0;
        letters = 1;
        for (Py_ssize_t j = start; j < i; j++)
            letters &= (kinds[(int)text[j]] & LOWER) != 0;
        start = i + 1;
    }
    return (labels >= 2 && letters) || (labels == 4 && numbers == 4);
}

typedef struct {
    const char *origin, *directory;
    Py_ssize_t origin_length, directory_length;
} Base;

#define LONGEST 1000

/* The canonical URL of a reference that needs no parser (`_PLAIN` in web/url.py); NULL without an error where it
   does. `tidy` is set where parameters may have to go. */
static PyObject *
plain_url(PyObject *reference, const Base *base, int *tidy)
{
    *tidy = 0;
    if (!PyUnicode_Check(reference) || !PyUnicode_IS_ASCII(reference))
        return NULL;
    Py_ssize_t length = PyUnicode_GET_LENGTH(reference), at = 0, from;
    const char *text = (const char *)PyUnicode_1BYTE_DATA(reference), *head = base->origin;
    Py_ssize_t head_length = base->origin_length;
    if (length == 0 || length >= LONGEST)
        return NULL;
    if (text[0] == 'h' && length > 9 && memcmp(text, "http", 4) == 0 && strchr("s:", text[4]) &&
        (memcmp(text + 4, "://", 3) == 0 || memcmp(text + 4, "s://", 4) == 0)) {
        int secure = text[4] == 's';
        Py_ssize_t host = 7 + secure, colon = -1;
        for (at = host; at < length && text[at] != '/'; at++)
            if (text[at] == ':' && colon < 0)
                colon = at;
        if (at == length || !plain_host(text + host, (colon < 0 ? at : colon) - host))
            return NULL;
        if (colon >= 0) {
            long port = number(text + colon + 1, at - colon - 1, 5, 65536);
            if (port <= 0 || port == (secure ? 443 : 80))
                return NULL;
        }
        head = text;
        head_length = at;
        from = at++;
    }
    else if (text[0] != '/') {
        head = base->directory;
        head_length = base->directory_length;
        while (at + 2 < length && memcmp(text + at, "../", 3) == 0) {
            at += 3;
            if (head_length > base->origin_length + 1) {
                head_length--;
                while (head[head_length - 1] != '/')
                    head_length--;
            }
        }
        if (at == length || !(kinds[(int)text[at]] & WORD))
            return NULL;
        from = at;
    }
    else {
        from = at++;
    }
    /* The path: segments that do not begin with a dot. */
    for (int begins = 1; at < length; at++) {
        uint8_t kind = kinds[(int)text[at]];
        if (text[at] == '/') {
            if (begins)
                return NULL;
            begins = 1;
        }
        else if (kind & WORD || (kind & DOT && !begins))
            begins = 0;
        else
            break;
    }
    if (at < length && text[at] == '?') {
        *tidy = 1;
        for (at++; at < length && kinds[(int)text[at]] & QUERY;)
            at++;
    }
    if (at < length && text[at] != '#')
        return NULL;
    PyObject *url = PyUnicode_New(head_length + at - from, 127);
    if (url == NULL)
        return NULL;
    char *into = (char *)PyUnicode_1BYTE_DATA(url);
    memcpy(into, head, (size_t)head_length);
    memcpy(into + head_length, text + from, (size_t)(at - from));
    return url;
}

static int
read_base(PyObject *origin, PyObject *directory, Base *base)
{
    if (kinds['a'] == 0)
        set_kinds();
    if (!PyUnicode_Check(origin) || !PyUnicode_Check(directory) || !PyUnicode_IS_ASCII(origin) ||
        !PyUnicode_IS_ASCII(directory)) {
        PyErr_SetString(PyExc_TypeError, "origin and directory must be ASCII texts");
        return -1;
    }
    base->origin = (const char *)PyUnicode_1BYTE_DATA(origin);
    base->origin_length = PyUnicode_GET_LENGTH(origin);
    base->directory = (const char *)PyUnicode_1BYTE_DATA(directory);
    base->directory_length = PyUnicode_GET_LENGTH(directory);
    if (base->origin_length < 1 || base->directory_length <= base->origin_length ||
        memcmp(base->origin, base->directory, (size_t)base->origin_length) ||
        base->directory[base->origin_length] != '/' || base->directory[base->directory_length - 1] != '/') {
        PyErr_SetString(PyExc_ValueError, "the directory must be one of the origin");
        return -1;
    }
    return 0;
}

/* references, origin, directory: canonical URLs, None where a parser is needed; and places to tidy. */
PyObject *
url_plain_urls(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    Base base;
    if (count != 3 || !PyList_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "plain_urls takes a list and two texts");
        return NULL;
    }
    if (read_base(arguments[1], arguments[2], &base) < 0)
        return NULL;
    Py_ssize_t size = PyList_GET_SIZE(arguments[0]);
    PyObject *urls = PyList_New(size), *untidy = PyList_New(0);
    if (urls == NULL || untidy == NULL)
        goto fail;
    for (Py_ssize_t i = 0; i < size; i++) {
        int tidy;
        PyObject *url = plain_url(PyList_GET_ITEM(arguments[0], i), &base, &tidy);
        if (url == NULL && PyErr_Occurred())
            goto fail;
        if (url != NULL && tidy) {
            PyObject *place = PyLong_FromSsize_t(i);
            int failed = place == NULL || PyList_Append(untidy, place) < 0;
            Py_XDECREF(place);
            if (failed) {
                Py_DECREF(url);
                goto fail;
            }
        }
        PyList_SET_ITEM(urls, i, url ? url : Py_NewRef(Py_None));
    }
    PyObject *both = PyTuple_Pack(2, urls, untidy);
    Py_DECREF(urls);
    Py_DECREF(untidy);
    return both;
fail:
    Py_XDECREF(urls);
    Py_XDECREF(untidy);
    return NULL;
}

/* -- link elements with the same target, joined: honeyguide/parse/links.py ------------------------------ */

/* Whether an `a` element leads to a page for sure, by the end of its address. */
static int
surely_a_page(PyObject *element, PyObject *url)
{
    static const char *pages[] = {".html", ".htm", ".php", ".asp", ".aspx", ".jsp", ".shtml"};
    if (!PyUnicode_IS_ASCII(element) || PyUnicode_GET_LENGTH(element) != 1 ||
        *(const char *)PyUnicode_1BYTE_DATA(element) != 'a' || !PyUnicode_IS_ASCII(url))
        return 0;
    const char *text = (const char *)PyUnicode_1BYTE_DATA(url), *dot = NULL;
    for (const char *at = text + PyUnicode_GET_LENGTH(url) - 1; at >= text && *at != '/'; at--)
        if (*at == '.' && dot == NULL)
            dot = at;
    if (strchr(text, '?') != NULL)
        return 0;
    if (dot == NULL)
        return 1;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(dot, pages[i]) == 0)
            return 1;
    return 0;
}

/* What a further link element says, behind what was said before; a new reference. */
static PyObject *
said_too(PyObject *before, PyObject *more, Py_ssize_t most)
{
    if (PyUnicode_GET_LENGTH(more) == 0 || PyUnicode_GET_LENGTH(before) >= most)
        return Py_NewRef(before);
    int known = PyUnicode_Contains(before, more);
    if (known)
        return known < 0 ? NULL : Py_NewRef(before);
    PyObject *both = PyUnicode_FromFormat("%U %U", before, more);
    PyObject *stripped = both ? PyObject_CallMethod(both, "strip", NULL) : NULL;
    PyObject *cut = stripped ? PyUnicode_Substring(stripped, 0, most) : NULL;
    Py_XDECREF(both);
    Py_XDECREF(stripped);
    return cut;
}

enum { URL, ANCHOR, CONTEXT, KIND, POSITION, PATH, NOFOLLOW, MAIN, GROUP, FIELDS };

static int
set_item(PyObject *list, Py_ssize_t place, PyObject *value)
{
    return value == NULL ? -1 : PyList_SetItem(list, place, value);
}

/* found, urls, main, (page, kind_of, no_follow, most links, most characters): a list of nine fields for each
   target, as `_Joined` has them. */
PyObject *
links_joined(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    PyObject *page, *kind_of, *no_follow;
    Py_ssize_t most, characters;
    if (count != 4 || !PyList_Check(arguments[0]) || !PyList_Check(arguments[1]) ||
        !(arguments[2] == Py_None || PyList_Check(arguments[2])) || !PyTuple_Check(arguments[3])) {
        PyErr_SetString(PyExc_TypeError, "links_joined takes three lists and a tuple");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments[3], "UOOnn", &page, &kind_of, &no_follow, &most, &characters))
        return NULL;
    PyObject *main = arguments[2] == Py_None ? NULL : arguments[2];
    Py_ssize_t size = PyList_GET_SIZE(arguments[0]);
    if (PyList_GET_SIZE(arguments[1]) != size || (main && PyList_GET_SIZE(main) != size)) {
        PyErr_SetString(PyExc_ValueError, "the lists are not of one length");
        return NULL;
    }
    PyObject *places = PyDict_New(), *joined = PyList_New(0);
    if (places == NULL || joined == NULL)
        goto fail;
    for (Py_ssize_t i = 0; i < size && i < PyList_GET_SIZE(arguments[0]); i++) {
        PyObject *link = PyList_GET_ITEM(arguments[0], i), *url = PyList_GET_ITEM(arguments[1], i);
        if (url == Py_None)
            continue;
        if (!PyTuple_Check(link) || PyTuple_GET_SIZE(link) != 9 || !PyUnicode_Check(url)) {
            PyErr_SetString(PyExc_TypeError, "a link has nine fields");
            goto fail;
        }
        for (Py_ssize_t field = 0; field < 7; field++)
            if (!PyUnicode_Check(PyTuple_GET_ITEM(link, field))) {
                PyErr_SetString(PyExc_TypeError, "a field of a link is not a text");
                goto fail;
            }
        if (PyUnicode_Compare(url, page) == 0)
            continue;
        PyObject *element = PyTuple_GET_ITEM(link, 0), *relation = PyTuple_GET_ITEM(link, 2);
        int ignored = 0, is_main = main == NULL || PyObject_IsTrue(PyList_GET_ITEM(main, i)) > 0;
        if (PyUnicode_GET_LENGTH(relation)) {
            PyObject *said = PyObject_CallOneArg(no_follow, relation);
            if (said == NULL)
                goto fail;
            ignored = PyObject_IsTrue(said) > 0;
            Py_DECREF(said);
        }
        PyObject *entry = PyDict_GetItemWithError(places, url);
        if (entry == NULL && PyErr_Occurred())
            goto fail;
        if (entry != NULL) {
            if (set_item(entry, ANCHOR,
                         said_too(PyList_GET_ITEM(entry, ANCHOR), PyTuple_GET_ITEM(link, 4), characters)) < 0 ||
                set_item(entry, CONTEXT,
                         said_too(PyList_GET_ITEM(entry, CONTEXT), PyTuple_GET_ITEM(link, 5), characters)) < 0)
                goto fail;
            /* A target is followed when one link lets us. */
            if (!ignored && set_item(entry, NOFOLLOW, Py_NewRef(Py_False)) < 0)
                goto fail;
            if (is_main && set_item(entry, MAIN, Py_NewRef(Py_True)) < 0)
                goto fail;
            continue;
        }
        PyObject *kind;
        if (surely_a_page(element, url))
            kind = Py_NewRef(element);
        else
            kind = PyObject_CallFunctionObjArgs(kind_of, element, url, relation, PyTuple_GET_ITEM(link, 3), NULL);
        if (kind == NULL)
            goto fail;
        int wanted = PyUnicode_Check(kind) && PyUnicode_GET_LENGTH(kind) && PyList_GET_SIZE(joined) < most;
        PyObject *position = wanted ? PyLong_FromSsize_t(i) : NULL;
        if (!wanted || position == NULL) {
            Py_DECREF(kind);
            if (wanted)
                goto fail;
            continue;
        }
        entry = PyList_New(FIELDS);
        if (entry == NULL) {
            Py_DECREF(kind);
            Py_DECREF(position);
            goto fail;
        }
        PyList_SET_ITEM(entry, URL, Py_NewRef(url));
        PyList_SET_ITEM(entry, ANCHOR, Py_NewRef(PyTuple_GET_ITEM(link, 4)));
        PyList_SET_ITEM(entry, CONTEXT, Py_NewRef(PyTuple_GET_ITEM(link, 5)));
        PyList_SET_ITEM(entry, KIND, kind);
        PyList_SET_ITEM(entry, POSITION, position);
        PyList_SET_ITEM(entry, PATH, Py_NewRef(PyTuple_GET_ITEM(link, 6)));
        PyList_SET_ITEM(entry, NOFOLLOW, PyBool_FromLong(ignored));
        PyList_SET_ITEM(entry, MAIN, PyBool_FromLong(is_main));
        PyList_SET_ITEM(entry, GROUP, Py_NewRef(PyTuple_GET_ITEM(link, 8)));
        int failed = PyDict_SetItem(places, url, entry) < 0 || PyList_Append(joined, entry) < 0;
        Py_DECREF(entry);
        if (failed)
            goto fail;
    }
    Py_DECREF(places);
    return joined;
fail:
    Py_XDECREF(places);
    Py_XDECREF(joined);
    return NULL;
}
