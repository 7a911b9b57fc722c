/* What is done for every link of a page that came in: of honeyguide/engine/admission.py the quick look, of
 * honeyguide/web/zones.py who links to whom; and honeyguide/web/digest.py. */

#include "arrays.h"

static PyObject *KIND, *ID, *NOFOLLOW, *LANGUAGE, *URL;

int
arrival_init(void)
{
    KIND = PyUnicode_InternFromString("kind");
    ID = PyUnicode_InternFromString("id");
    NOFOLLOW = PyUnicode_InternFromString("nofollow");
    LANGUAGE = PyUnicode_InternFromString("language");
    URL = PyUnicode_InternFromString("url");
    return KIND && ID && NOFOLLOW && LANGUAGE && URL ? 0 : -1;
}

enum { LEFT_OUT, FINE, ODD };

/* Whether an attribute is true; -1 on error. */
static int
is_true(PyObject *link, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(link, name);
    int found = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    return found;
}

/* What the quick look says of one link; -1 on error. */
static int
looked_at(PyObject *link, PyObject *kinds, PyObject *own, PyObject *judged, PyObject *judge)
{
    PyObject *value = PyObject_GetAttr(link, KIND);
    int found = value == NULL ? -1 : PySequence_Contains(kinds, value);
    Py_XDECREF(value);
    if (found <= 0)
        return found < 0 ? -1 : LEFT_OUT;
    if ((value = PyObject_GetAttr(link, ID)) == NULL)
        return -1;
    found = PyObject_RichCompareBool(value, own, Py_EQ);
    Py_DECREF(value);
    if (found)
        return found < 0 ? -1 : LEFT_OUT;
    if ((found = is_true(link, NOFOLLOW)) || (found = is_true(link, LANGUAGE)))
        return found < 0 ? -1 : ODD;
    PyObject *url = PyObject_GetAttr(link, URL);
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

/* source, chain, targets, row: those that had a chain and have a second page linking to them now. */
PyObject *
zones_linked(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "linked(source, chain, targets, row)");
        return NULL;
    }
    Loan loan = {.count = 0};
    Py_ssize_t size, chains, length;
    PyObject *again = PyList_New(0);
    int32_t *source = again ? borrow(&loan, arguments[0], sizeof *source, &size, 1) : NULL;
    uint8_t *chain = source ? borrow(&loan, arguments[1], sizeof *chain, &chains, 0) : NULL;
    int32_t *targets = chain ? borrow(&loan, arguments[2], sizeof *targets, &length, 0) : NULL;
    long row = targets ? PyLong_AsLong(arguments[3]) : -1;
    int failed = targets == NULL || (row == -1 && PyErr_Occurred());
    for (Py_ssize_t i = 0; !failed && i < length; i++) {
        int32_t target = targets[i];
        if (target < 0 || target >= size || target >= chains) {
            PyErr_SetString(PyExc_IndexError, "a page links to a row that is not there");
            failed = 1;
        } else if (source[target] == 0)
            source[target] = (int32_t)row;
        else if (source[target] > 0 && source[target] != row) {
            source[target] = -1;
            if (chain[target]) {
                PyObject *number = PyLong_FromLong(target);
                failed = number == NULL || PyList_Append(again, number) < 0;
                Py_XDECREF(number);
            }
        }
    }
    give_back(&loan);
    if (failed)
        Py_CLEAR(again);
    return again;
}

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
