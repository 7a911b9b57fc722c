/* Page models: twins of honeyguide/relevance/{mixture,calibrated,tf_cosine}.py, which explain them.
 *
 * Sums are added up in the order of the arrays, as their twins do: both give the same numbers to the last bit.
 */

#include "arrays.h"

#include <math.h>

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

/* -- keywords in a text: honeyguide/relevance/tf_cosine.py --------------------------------------------- */

/* How often a phrase occurs, given by the ranks of its words; words apart from each other count `loose`. */
static double
occurrences(const int32_t *numbers, Py_ssize_t length, const int32_t *ranks, const int64_t *often, PyObject *phrase,
            Py_ssize_t words, double loose)
{
    int64_t least = INT64_MAX, found = 0;
    Py_ssize_t width = PyTuple_Check(phrase) ? PyTuple_GET_SIZE(phrase) : 0;
    int64_t *own = width ? PyMem_Malloc((size_t)width * sizeof *own) : NULL;
    if (own == NULL) {
        refuse("a phrase has words");
        return -1.0;
    }
    for (Py_ssize_t k = 0; k < width; k++) {
        own[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(phrase, k));
        if (own[k] < 1 || own[k] >= words) {
            if (!PyErr_Occurred())
                no_such_term();
            PyMem_Free(own);
            return -1.0;
        }
        if (often[own[k]] < least)
            least = often[own[k]];
    }
    for (Py_ssize_t i = 0; width > 1 && least > 0 && i + width <= length; i++) {
        Py_ssize_t k = 0;
        while (k < width && ranks[numbers[i + k]] == own[k])
            k++;
        found += k == width;
    }
    PyMem_Free(own);
    if (width == 1 || least == 0)
        return (double)least;
    return (double)found + loose * (double)(least > found ? least - found : 0);
}

/* numbers, ranks, phrases, words, loose */
BODY(tf_cosine_count_phrases)
{
    const int32_t *numbers, *ranks;
    Py_ssize_t length, size;
    TAKE(numbers, 0, &length, 0);
    TAKE(ranks, 1, &size, 0);
    Py_ssize_t words = PyNumber_AsSsize_t(arguments[3], PyExc_OverflowError);
    double loose = PyFloat_AsDouble(arguments[4]);
    if (PyErr_Occurred())
        return NULL;
    if (!PyList_Check(arguments[2]) || words < 1 || words > INT32_MAX)
        return refuse("a list of phrases is wanted");
    int64_t *often = PyMem_Calloc((size_t)words, sizeof *often);
    if (often == NULL)
        return PyErr_NoMemory();
    PyObject *found = PyList_New(PyList_GET_SIZE(arguments[2]));
    for (Py_ssize_t i = 0; i < length && found != NULL; i++) {
        if (numbers[i] < 0 || numbers[i] >= size || ranks[numbers[i]] < 0 || ranks[numbers[i]] >= words) {
            no_such_term();
            Py_CLEAR(found);
        }
        else
            often[ranks[numbers[i]]]++;
    }
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(found); i++) {
        double count = occurrences(numbers, length, ranks, often, PyList_GET_ITEM(arguments[2], i), words, loose);
        PyObject *number = PyErr_Occurred() ? NULL : PyFloat_FromDouble(count);
        if (number == NULL)
            Py_CLEAR(found);
        else
            PyList_SET_ITEM(found, i, number);
    }
    PyMem_Free(often);
    return found;
}
FUNCTION(tf_cosine_count_phrases, 5)

/* -- terms in a vocabulary: honeyguide/text/tokens.py -------------------------------------------------- */

/* known, terms, found: the smallest place that was found. */
BODY(tokens_look_up)
{
    const int64_t *known;
    const int32_t *terms;
    int64_t *found, least = INT64_MAX;
    Py_ssize_t size, length, room;
    TAKE(known, 0, &size, 0);
    TAKE(terms, 1, &length, 0);
    TAKE(found, 2, &room, 1);
    if (room != length)
        return refuse("the arrays do not fit");
    for (Py_ssize_t i = 0; i < length; i++) {
        if (terms[i] < 0 || terms[i] >= size)
            return no_such_term();
        found[i] = known[terms[i]];
        if (found[i] < least)
            least = found[i];
    }
    return PyLong_FromLongLong(length ? least : 0);
}
FUNCTION(tokens_look_up, 3)

/* -- a page beside what was learned: honeyguide/relevance/calibrated.py -------------------------------- */

enum { MOST_TOP = 32, ABSENT = -1 };

typedef struct {
    Py_ssize_t number;
    double part;
} Top;

/* Keep the largest parts, the largest first; of equal ones, those that came first. */
static int
keep(Top *top, int kept, int most, Py_ssize_t number, double part)
{
    if (kept == most && part <= top[kept - 1].part)
        return kept;
    int place = kept < most ? kept++ : kept - 1;
    for (; place > 0 && top[place - 1].part < part; place--)
        top[place] = top[place - 1];
    top[place].number = number;
    top[place].part = part;
    return kept;
}

/* known, text, learned, strange, most */
BODY(calibrated_compare)
{
    const int64_t *known;
    int32_t *terms;
    double *counts, *idf, *likeness, *learned;
    Py_ssize_t names, length, counted, size, sizes[2];
    TAKE(known, 0, &names, 0);
    PyObject *text = arguments[1], *arrays = arguments[2];
    PyObject *parts[] = {item(text, 0), item(text, 1), item(arrays, 0), item(arrays, 1), item(arrays, 2)};
    for (int i = 0; i < 5; i++)
        if (parts[i] == NULL)
            return NULL;
    if ((terms = borrow(loan, parts[0], sizeof *terms, &length, 0)) == NULL
        || (counts = borrow(loan, parts[1], sizeof *counts, &counted, 0)) == NULL
        || (idf = borrow(loan, parts[2], sizeof *idf, &size, 0)) == NULL
        || (likeness = borrow(loan, parts[3], sizeof *likeness, &sizes[0], 0)) == NULL
        || (learned = borrow(loan, parts[4], sizeof *learned, &sizes[1], 0)) == NULL)
        return NULL;
    double strange = PyFloat_AsDouble(arguments[3]);
    long most = PyLong_AsLong(arguments[4]);
    if (PyErr_Occurred())
        return NULL;
    if (counted != length || sizes[0] < size || sizes[1] < size || most < 1 || most > MOST_TOP)
        return refuse("the arrays do not fit");
    double *values = PyMem_Malloc((size_t)(length ? length : 1) * sizeof *values);
    if (values == NULL)
        return PyErr_NoMemory();
    double square = 0.0, unknown = 0.0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (terms[i] < 0 || terms[i] >= names || known[terms[i]] < ABSENT) {
            PyMem_Free(values);
            return no_such_term();
        }
        int64_t number = known[terms[i]];
        if (number >= 0 && number < size) {
            values[i] = counts[i] * idf[number];
            square += values[i] * values[i];
        }
        else
            unknown += counts[i] * counts[i];
    }
    double own = sqrt(square + unknown * strange), alike = 0.0, sum = 0.0;
    Top top[MOST_TOP];
    int kept = 0;
    own = own != 0.0 ? own : 1.0;
    for (Py_ssize_t i = 0; i < length; i++) {
        int64_t number = known[terms[i]];
        if (number < 0 || number >= size)
            continue;
        double weight = values[i] / own, part = weight * learned[number];
        alike += weight * likeness[number];
        sum += part;
        if (part > 0.0)
            kept = keep(top, kept, (int)most, (Py_ssize_t)number, part);
    }
    PyMem_Free(values);
    PyObject *best = PyList_New(kept);
    for (int i = 0; i < kept && best != NULL; i++) {
        PyObject *pair = Py_BuildValue("nd", top[i].number, top[i].part);
        if (pair == NULL)
            Py_CLEAR(best);
        else
            PyList_SET_ITEM(best, i, pair);
    }
    return best == NULL ? NULL : Py_BuildValue("ddN", alike, sum, best);
}
FUNCTION(calibrated_compare, 5)
