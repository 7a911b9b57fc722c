/* Page models: twins of honeyguide/relevance/{mixture,calibrated,tf_cosine}.py, which explain them.
 *
 * Sums are added up in the order of the arrays, as their twins do: both give the same numbers to the last bit.
 */

#include "arrays.h"

#include <math.h>

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

static PyObject *
refuse(const char *why)
{
    PyErr_SetString(PyExc_ValueError, why);
    return NULL;
}

static PyObject *
no_such_term(void)
{
    PyErr_SetString(PyExc_IndexError, "a term is not in the vocabulary");
    return NULL;
}

/* -- a heap of texts: honeyguide/relevance/mixture.py -------------------------------------------------- */

/* A text's terms lie in a list of arrays; borrowed for as long as the text is read, there may be thousands. */
static const int64_t *
terms_of(Loan *loan, PyObject *texts, Py_ssize_t place, Py_ssize_t *length)
{
    if (!PyList_Check(texts) || place >= PyList_GET_SIZE(texts)) {
        PyErr_SetString(PyExc_TypeError, "a list of arrays is wanted");
        return NULL;
    }
    return borrow(loan, PyList_GET_ITEM(texts, place), sizeof(int64_t), length, 0);
}

static void
give_back_last(Loan *loan)
{
    PyBuffer_Release(&loan->held[--loan->count]);
}

/* texts, counts */
BODY(mixture_count_texts)
{
    double *counts;
    Py_ssize_t size, length;
    TAKE(counts, 1, &size, 1);
    if (!PyList_Check(arguments[0]))
        return refuse("a list of arrays is wanted");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arguments[0]); i++) {
        const int64_t *terms = terms_of(loan, arguments[0], i, &length);
        if (terms == NULL)
            return NULL;
        for (Py_ssize_t j = 0; j < length; j++) {
            if (terms[j] < 0 || terms[j] >= size)
                return no_such_term();
            counts[terms[j]] += 1.0;
        }
        give_back_last(loan);
    }
    Py_RETURN_NONE;
}
FUNCTION(mixture_count_texts, 2)

/* texts, counts, idf, terms, values, squares */
BODY(mixture_fill)
{
    double *idf, *values, *squares;
    int32_t *found;
    Py_ssize_t size, room, others, texts, length, counted, at = 0;
    TAKE(idf, 2, &size, 0);
    TAKE(found, 3, &room, 1);
    TAKE(values, 4, &others, 1);
    TAKE(squares, 5, &texts, 1);
    if (others != room || !PyList_Check(arguments[0]) || PyList_GET_SIZE(arguments[0]) != texts)
        return refuse("the arrays do not fit");
    for (Py_ssize_t i = 0; i < texts; i++) {
        const int64_t *terms = terms_of(loan, arguments[0], i, &length);
        const double *counts = terms ? (const double *)terms_of(loan, arguments[1], i, &counted) : NULL;
        if (counts == NULL)
            return NULL;
        if (counted != length || length > room - at)
            return refuse("the arrays do not fit");
        double square = 0.0;
        for (Py_ssize_t j = 0; j < length; j++) {
            if (terms[j] < 0 || terms[j] >= size || terms[j] > INT32_MAX)
                return no_such_term();
            found[at + j] = (int32_t)terms[j];
            values[at + j] = counts[j] * idf[terms[j]];
            square += values[at + j] * values[at + j];
        }
        double own = sqrt(square > 0.0 ? square : 1.0);
        for (Py_ssize_t j = 0; j < length; j++)
            values[at + j] /= own;
        squares[i] = square > 0.0 ? 1.0 : 0.0;
        at += length;
        give_back_last(loan);
        give_back_last(loan);
    }
    if (at != room)
        return refuse("the arrays do not fit");
    Py_RETURN_NONE;
}
FUNCTION(mixture_fill, 6)

typedef struct {
    int64_t *ends;
    int32_t *terms;
    double *values;
    Py_ssize_t texts, entries;
} Texts;

static int
borrow_texts(Loan *loan, PyObject *tuple, Texts *texts)
{
    Py_ssize_t others;
    BORROW(texts->ends, tuple, 0, &texts->texts);
    BORROW(texts->terms, tuple, 1, &texts->entries);
    BORROW(texts->values, tuple, 2, &others);
    if (others != texts->entries) {
        refuse("the arrays do not fit");
        return -1;
    }
    return 0;
}

/* texts, weights, found */
BODY(mixture_products)
{
    Texts texts;
    double *weights, *found;
    Py_ssize_t size, room, at = 0;
    if (borrow_texts(loan, arguments[0], &texts) < 0)
        return NULL;
    TAKE(weights, 1, &size, 0);
    TAKE(found, 2, &room, 1);
    if (room != texts.texts)
        return refuse("the arrays do not fit");
    for (Py_ssize_t i = 0; i < texts.texts; i++) {
        double sum = 0.0;
        if (texts.ends[i] > texts.entries)
            return refuse("the arrays do not fit");
        for (; at < texts.ends[i]; at++) {
            if (texts.terms[at] < 0 || texts.terms[at] >= size)
                return no_such_term();
            sum += texts.values[at] * weights[texts.terms[at]];
        }
        found[i] = sum;
    }
    Py_RETURN_NONE;
}
FUNCTION(mixture_products, 3)

/* texts, shares, found */
BODY(mixture_add_up)
{
    Texts texts;
    double *shares, *found;
    Py_ssize_t size, room, at = 0;
    if (borrow_texts(loan, arguments[0], &texts) < 0)
        return NULL;
    TAKE(shares, 1, &room, 0);
    TAKE(found, 2, &size, 1);
    if (room != texts.texts)
        return refuse("the arrays do not fit");
    for (Py_ssize_t i = 0; i < texts.texts; i++) {
        if (texts.ends[i] > texts.entries)
            return refuse("the arrays do not fit");
        for (; at < texts.ends[i]; at++) {
            if (texts.terms[at] < 0 || texts.terms[at] >= size)
                return no_such_term();
            found[texts.terms[at]] += texts.values[at] * shares[i];
        }
    }
    Py_RETURN_NONE;
}
FUNCTION(mixture_add_up, 3)
