/* A page's links as scout takes them in: twin of honeyguide/ordering/scout_links.py, which explains it. */

#include "fields.h"
#include "scout.h"

#include <string.h>

static Field ID, ANCHOR, TAG_PATH, GROUP;

int
scout_links_init(void)
{
    ID.name = PyUnicode_InternFromString("id");
    ANCHOR.name = PyUnicode_InternFromString("anchor");
    TAG_PATH.name = PyUnicode_InternFromString("tag_path");
    GROUP.name = PyUnicode_InternFromString("group");
    return ID.name && ANCHOR.name && TAG_PATH.name && GROUP.name ? 0 : -1;
}

enum { SPEAKING = 24 };

typedef struct {
    int64_t *targets, *said;
    int32_t *paths, *groups;
    Py_ssize_t count;
} Read;

static int
borrow_read(Loan *loan, PyObject *tuple, Read *read)
{
    Py_ssize_t others[3];
    BORROW(read->targets, tuple, 0, &read->count);
    BORROW(read->said, tuple, 1, &others[0]);
    BORROW(read->paths, tuple, 2, &others[1]);
    BORROW(read->groups, tuple, 3, &others[2]);
    if (others[0] != read->count || others[1] != read->count || others[2] != read->count) {
        PyErr_SetString(PyExc_ValueError, "four numbers a link are wanted");
        return -1;
    }
    return 0;
}

/* The number of `key`. One that has none gets `next`, where that is not negative, and `*fresh` is set. -2 on error,
 * -1 where there is none. */
static int64_t
number_of(PyObject *numbers, PyObject *key, Py_ssize_t next, int *fresh)
{
    PyObject *known = PyDict_GetItemWithError(numbers, key);
    *fresh = 0;
    if (known != NULL) {
        int64_t number = PyLong_AsLongLong(known);
        if (number >= 0)
            return number;
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a number is negative");
        return -2;
    }
    if (PyErr_Occurred())
        return -2;
    if (next < 0)
        return -1;
    PyObject *number = PyLong_FromSsize_t(next);
    int failed = number == NULL || PyDict_SetItem(numbers, key, number) < 0;
    Py_XDECREF(number);
    *fresh = !failed;
    return failed ? -2 : next;
}

typedef struct {
    PyObject *slots, *anchors, *paths, *groups; /* dicts */
    PyObject *links, *texts, *tag_paths;     /* lists of what is new */
    PyObject *list; /* group and tag path of the link before; NULL before the first */
    Py_ssize_t first, most;
} Taking;

/* Whether a link stands in the same list as the one before it, as most do; -1 on error. */
static int
is_next(const Taking *taking, PyObject *group, PyObject *path)
{
    if (taking->list == NULL)
        return 0;
    int same = PyObject_RichCompareBool(PyTuple_GET_ITEM(taking->list, 0), group, Py_EQ);
    return same > 0 ? PyObject_RichCompareBool(PyTuple_GET_ITEM(taking->list, 1), path, Py_EQ) : same;
}

/* Read one link; -1 on error. */
static int
take(Taking *taking, PyObject *link, Read *read, Py_ssize_t place)
{
    PyObject *id = get_field(link, &ID), *anchor = get_field(link, &ANCHOR);
    PyObject *path = get_field(link, &TAG_PATH), *group = get_field(link, &GROUP);
    int fresh, failed = id == NULL || anchor == NULL || path == NULL || group == NULL || !PyUnicode_Check(anchor);
    if (failed && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "an anchor is not a text");
    if (!failed) {
        Py_ssize_t new = PyList_GET_SIZE(taking->links);
        int64_t at = number_of(taking->slots, id, new < taking->most ? taking->first + new : -1, &fresh);
        failed = at == -2 || (fresh && PyList_Append(taking->links, link) < 0);
        read->targets[place] = at;
        read->said[place] = -1;
    }
    if (!failed && read->targets[place] >= 0 && PyUnicode_GET_LENGTH(anchor)) {
        int64_t said = number_of(taking->anchors, anchor, PyDict_GET_SIZE(taking->anchors), &fresh);
        failed = said == -2 || (fresh && PyList_Append(taking->texts, anchor) < 0);
        read->said[place] = said;
    }
    int same = failed ? 0 : is_next(taking, group, path);
    if (same > 0) {
        read->groups[place] = read->groups[place - 1];
        read->paths[place] = read->paths[place - 1];
    }
    else if (!failed && same == 0) {
        int64_t number = number_of(taking->groups, group, PyDict_GET_SIZE(taking->groups), &fresh);
        failed = number == -2 || number > INT32_MAX;
        read->groups[place] = (int32_t)number;
        PyObject *list = failed ? NULL : PyTuple_Pack(2, group, path);
        number = list ? number_of(taking->paths, list, PyDict_GET_SIZE(taking->paths) + 1, &fresh) : -2;
        failed = number == -2 || number > INT32_MAX || (fresh && PyList_Append(taking->tag_paths, path) < 0);
        read->paths[place] = (int32_t)number;
        if (!failed) {
            Py_XSETREF(taking->list, list);
            list = NULL;
        }
        Py_XDECREF(list);
    }
    failed |= same < 0;
    Py_XDECREF(id);
    Py_XDECREF(anchor);
    Py_XDECREF(path);
    Py_XDECREF(group);
    return failed ? -1 : 0;
}

PyObject *
scout_links_read_links(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 5 || !PyDict_Check(arguments[1]) || !PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "read_links(links, slots: dict, anchors: dict, room, read)");
        return NULL;
    }
    Taking taking = {.slots = arguments[1], .anchors = arguments[2]};
    if (!PyTuple_Check(arguments[3]) || !PyArg_ParseTuple(arguments[3], "nn", &taking.first, &taking.most)
        || taking.first < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "the room is a pair of numbers");
        return NULL;
    }
    Loan loan = {.count = 0};
    Read read;
    PyObject *links = PySequence_Fast(arguments[0], "a sequence of links is wanted"), *answer = NULL;
    taking.paths = PyDict_New();
    taking.groups = PyDict_New();
    taking.links = PyList_New(0);
    taking.texts = PyList_New(0);
    taking.tag_paths = PyList_New(0);
    int failed = links == NULL || taking.paths == NULL || taking.groups == NULL || taking.links == NULL
                 || taking.texts == NULL || taking.tag_paths == NULL || borrow_read(&loan, arguments[4], &read) < 0;
    if (!failed && PySequence_Fast_GET_SIZE(links) != read.count) {
        PyErr_SetString(PyExc_ValueError, "four numbers a link are wanted");
        failed = 1;
    }
    for (Py_ssize_t i = 0; !failed && i < PySequence_Fast_GET_SIZE(links) && i < read.count; i++)
        failed = take(&taking, PySequence_Fast_GET_ITEM(links, i), &read, i) < 0;
    if (!failed)
        answer = PyTuple_Pack(3, taking.links, taking.texts, taking.tag_paths);
    give_back(&loan);
    Py_XDECREF(links);
    Py_XDECREF(taking.paths);
    Py_XDECREF(taking.groups);
    Py_XDECREF(taking.links);
    Py_XDECREF(taking.texts);
    Py_XDECREF(taking.tag_paths);
    Py_XDECREF(taking.list);
    return answer;
}

static int
note(Loan *loan, PyObject *const *arguments)
{
    Read read;
    Urls urls;
    float *known_topic;
    int32_t *known_words;
    Py_ssize_t anchors, of_words;
    if (borrow_read(loan, arguments[1], &read) < 0 || borrow_urls(loan, arguments[0], &urls) < 0)
        return -1;
    BORROW(known_topic, arguments[2], 0, &anchors);
    BORROW(known_words, arguments[2], 1, &of_words);
    if (of_words != anchors * WORDS) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit");
        return -1;
    }
    for (Py_ssize_t i = 0; i < read.count; i++)
        if (read.said[i] >= 0
            && (read.said[i] >= anchors || read.targets[i] < 0 || read.targets[i] >= urls.size)) {
            PyErr_SetString(PyExc_IndexError, "a link has no entry");
            return -1;
        }
    /* Who is without words is known before any gets some: of two links to one entry the last one speaks. */
    uint8_t *wordless = PyMem_Malloc((size_t)(read.count ? read.count : 1));
    if (wordless == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < read.count; i++) {
        int64_t at = read.targets[i];
        wordless[i] = read.said[i] >= 0 && urls.entries[at].anchor_words[0] < 0 && urls.state[at] == WAITING;
        if (read.said[i] >= 0 && known_topic[read.said[i]] > urls.entries[at].topic[0])
            urls.entries[at].topic[0] = known_topic[read.said[i]];
    }
    for (Py_ssize_t i = 0; i < read.count; i++)
        for (int j = 0; wordless[i] && j < WORDS; j++)
            urls.entries[read.targets[i]].anchor_words[j] = known_words[read.said[i] * WORDS + j];
    PyMem_Free(wordless);
    return 0;
}

PyObject *
scout_links_note_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "note_anchors(urls, read, known)");
        return NULL;
    }
    Loan loan = {.count = 0};
    int failed = note(&loan, arguments) < 0;
    give_back(&loan);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* The words that most anchors of a group have, of equals the one met first. */
static void
common_words(const Read *read, const int32_t *next, Py_ssize_t place, const int32_t *known, int32_t *best)
{
    int32_t words[SPEAKING * WORDS], often[SPEAKING * WORDS];
    int different = 0;
    for (int links = 0; place >= 0 && links < SPEAKING; place = next[place], links++)
        for (int j = 0; read->said[place] >= 0 && j < WORDS; j++) {
            int32_t word = known[read->said[place] * WORDS + j];
            int k = 0;
            if (word < 0)
                continue;
            while (k < different && words[k] != word)
                k++;
            if (k == different) {
                words[different] = word;
                often[different++] = 0;
            }
            often[k]++;
        }
    for (int j = 0; j < WORDS; j++) {
        int most = -1;
        for (int k = 0; k < different; k++)
            if (often[k] > 0 && (most < 0 || often[k] > often[most]))
                most = k;
        best[j] = most < 0 ? -1 : words[most];
        if (most >= 0)
            often[most] = 0;
    }
}

static int
groups(Loan *loan, PyObject *const *arguments, int32_t **room)
{
    Read read;
    Urls urls;
    float *known_topic;
    int32_t *known_words;
    Py_ssize_t anchors, of_anchors;
    int64_t first = PyLong_AsLongLong(arguments[3]);
    if ((first == -1 && PyErr_Occurred()) || borrow_read(loan, arguments[1], &read) < 0
        || borrow_urls(loan, arguments[0], &urls) < 0)
        return -1;
    BORROW(known_topic, arguments[2], 0, &anchors);
    BORROW(known_words, arguments[2], 1, &of_anchors);
    if (of_anchors != anchors * WORDS) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit");
        return -1;
    }
    /* Of each group the first and the last link, of each link the next one of its group. */
    int32_t *heads = PyMem_Malloc((size_t)(read.count + 1) * 3 * sizeof *heads);
    if ((*room = heads) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int32_t *tails = heads + read.count + 1, *next = tails + read.count + 1;
    memset(heads, -1, (size_t)(read.count + 1) * 3 * sizeof *heads);
    for (Py_ssize_t i = 0; i < read.count; i++) {
        int32_t group = read.groups[i];
        if (group < 0 || group >= read.count || read.said[i] >= anchors || read.targets[i] >= urls.size) {
            PyErr_SetString(PyExc_IndexError, "a link has no entry");
            return -1;
        }
        if (heads[group] < 0)
            heads[group] = (int32_t)i;
        else
            next[tails[group]] = (int32_t)i;
        tails[group] = (int32_t)i;
    }
    for (Py_ssize_t group = 0; group < read.count && heads[group] >= 0; group++) {
        double total = 0.0;
        Py_ssize_t links = 0;
        int new = 0;
        for (int32_t i = heads[group]; i >= 0; i = next[i], links++) {
            total += read.said[i] >= 0 ? (double)known_topic[read.said[i]] : 0.0;
            new |= read.targets[i] >= 0 && read.targets[i] >= first;
        }
        if (!new)
            continue;
        int32_t best[WORDS];
        common_words(&read, next, heads[group], known_words, best);
        for (int32_t i = heads[group]; i >= 0; i = next[i])
            if (read.targets[i] >= 0 && read.targets[i] >= first) {
                Entry *entry = &urls.entries[read.targets[i]];
                entry->topic[3] = (float)(total / (double)links);
                memcpy(entry->list_words, best, sizeof best);
            }
    }
    return 0;
}

PyObject *
scout_links_note_groups(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "note_groups(urls, read, known, first)");
        return NULL;
    }
    Loan loan = {.count = 0};
    int32_t *room = NULL;
    int failed = groups(&loan, arguments, &room) < 0;
    PyMem_Free(room);
    give_back(&loan);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}
