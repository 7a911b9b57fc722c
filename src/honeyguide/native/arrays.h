/* Arrays of numpy, lent to C for one call each. */

#ifndef HONEYGUIDE_ARRAYS_H
#define HONEYGUIDE_ARRAYS_H

#include "native.h"

#define MOST_BUFFERS 32

typedef struct {
    Py_buffer held[MOST_BUFFERS];
    int count;
} Loan;

static inline void
give_back(Loan *loan)
{
    while (loan->count)
        PyBuffer_Release(&loan->held[--loan->count]);
}

/* Borrow an array of items of `size` bytes; its first item, or NULL on error. */
static inline void *
borrow(Loan *loan, PyObject *array, Py_ssize_t size, Py_ssize_t *length, int writable)
{
    static char nothing[8];
    if (loan->count == MOST_BUFFERS) {
        PyErr_SetString(PyExc_SystemError, "too many arrays");
        return NULL;
    }
    Py_buffer *view = &loan->held[loan->count];
    if (PyObject_GetBuffer(array, view, writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) < 0)
        return NULL;
    loan->count++;
    if (view->itemsize != size) {
        PyErr_Format(PyExc_TypeError, "an array has items of %zd bytes, not %zd", view->itemsize, size);
        return NULL;
    }
    if (length != NULL)
        *length = view->len / size;
    return view->len ? view->buf : nothing;
}

static inline PyObject *
item(PyObject *tuple, Py_ssize_t place)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) <= place) {
        PyErr_SetString(PyExc_TypeError, "a tuple of arrays is missing");
        return NULL;
    }
    return PyTuple_GET_ITEM(tuple, place);
}

#define BORROW(target, tuple, place, length)                                                                  \
    do {                                                                                                      \
        PyObject *array_ = item(tuple, place);                                                                \
        if (array_ == NULL || ((target) = borrow(loan, array_, sizeof *(target), length, 1)) == NULL)         \
            return -1;                                                                                        \
    } while (0)

/* A function that Python calls with `wanted` arguments: its body borrows what it needs, all is given back behind it. */
#define FUNCTION(name, wanted)                                                                                \
    PyObject *name(PyObject *module, PyObject *const *arguments, Py_ssize_t count)                            \
    {                                                                                                         \
        Loan loan = {.count = 0};                                                                             \
        PyObject *answer = NULL;                                                                              \
        (void)module;                                                                                         \
        if (count != (wanted))                                                                                \
            PyErr_Format(PyExc_TypeError, #name " takes %d arguments", wanted);                               \
        else                                                                                                  \
            answer = name##_body(&loan, arguments);                                                           \
        give_back(&loan);                                                                                     \
        return answer;                                                                                        \
    }

#define BODY(name) static PyObject *name##_body(Loan *loan, PyObject *const *arguments)

#define TAKE(target, place, length, writable)                                                                 \
    if (((target) = borrow(loan, arguments[place], sizeof *(target), length, writable)) == NULL)              \
    return NULL

#endif
