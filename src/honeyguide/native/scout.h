/* What scout holds of a URL: the records of `Urls.entries` in honeyguide/ordering/scout_evidence.py. */

#ifndef HONEYGUIDE_SCOUT_H
#define HONEYGUIDE_SCOUT_H

#include "arrays.h"

enum { LINKS = 8, WORDS = 8, TOPICS = 6, COLUMNS = 20 };
enum { WAITING = 1, FETCHED = 2 };

typedef struct {
    int32_t parent, path, near, site_path;
} LinkTo;

typedef struct {
    int32_t links, host, folder, above, page, turn;
    float explore, topic[TOPICS]; /* of anchors, of contexts, of the address, of lists, of backlinks, of blocks */
    LinkTo link[LINKS];
    int32_t anchor_words[WORDS], url_words[WORDS], list_words[WORDS];
    float scores[COLUMNS];
} Entry;

typedef struct {
    uint8_t *state;
    double *priority;
    Entry *entries;
    Py_ssize_t size;
} Urls;

static inline int
borrow_urls(Loan *loan, PyObject *tuple, Urls *urls)
{
    Py_ssize_t others[2];
    BORROW(urls->state, tuple, 1, &urls->size);
    BORROW(urls->priority, tuple, 2, &others[0]);
    BORROW(urls->entries, tuple, 4, &others[1]);
    if (others[0] != urls->size || others[1] != urls->size) {
        PyErr_SetString(PyExc_ValueError, "as many entries as URLs are wanted");
        return -1;
    }
    return 0;
}

#endif
