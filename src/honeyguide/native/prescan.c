/* What honeyguide/parse/prescan.py must know of every document, before it looks closer at the few that need it. */

#include "native.h"

#include <string.h>

const char tag_counts_doc[] =
    "tag_counts(body, /)\n--\n\n"
    "Length of the longest tag, and how many '<' and '</' a document has.";

PyObject *
tag_counts(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 1 || !PyBytes_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "tag_counts(body: bytes)");
        return NULL;
    }
    const char *at = PyBytes_AS_STRING(arguments[0]), *end = at + PyBytes_GET_SIZE(arguments[0]);
    Py_ssize_t longest = 0, starts = 0, ends = 0;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        starts++;
        if (at + 1 < end && at[1] == '/')
            ends++;
        const char *next = at + 1;
        while (next < end && *next != '<' && *next != '>')
            next++;
        if (next - at > longest)
            longest = next - at;
        at = next;
    }
    return Py_BuildValue("nnn", longest, starts, ends);
}
