/* Scout's evidence: twins of honeyguide/ordering/scout_evidence.py and scout_words.py, which explain it.
 *
 * The arrays belong to numpy and are lent for one call each. Numbers that point into another array are checked
 * where they are used: a damaged checkpoint must not lead out of it.
 */

#include "scout.h"

#include <math.h>
#include <string.h>

enum { TABLES = 7, NAMED = 128, NEIGHBOURS = 4, REVEALED = 3 };
#define PRIOR 3.0f
#define FEW 2.0f
#define CLIP 5.0

typedef struct {
    float *known; /* worth, likeness, mean worth of its parents */
    int64_t *base;
    Py_ssize_t size;
} Pages;

typedef struct {
    float *values; /* worth and number */
    Py_ssize_t mask;
} Table;

typedef struct {
    Table place, site_path, anchor, url, host, folder, above;
    float *like;
    Py_ssize_t like_mask;
} Sums;

typedef struct {
    Urls urls;
    Pages pages;
    Sums sums;
} Held;

static int
borrow_table(Loan *loan, PyObject *tuple, int place, Table *table)
{
    Py_ssize_t length;
    BORROW(table->values, tuple, place, &length);
    table->mask = length / 2 - 1;
    if (length < 2 || (table->mask & (table->mask + 1))) {
        PyErr_SetString(PyExc_ValueError, "a table has no power of two for its size");
        return -1;
    }
    return 0;
}

static int
borrow_held(Loan *loan, PyObject *tuple, Held *held)
{
    PyObject *urls = item(tuple, 0), *pages = item(tuple, 1), *sums = item(tuple, 2);
    if (urls == NULL || pages == NULL || sums == NULL || borrow_urls(loan, urls, &held->urls) < 0)
        return -1;
    BORROW(held->pages.known, pages, 0, NULL);
    BORROW(held->pages.base, pages, 1, &held->pages.size);
    Table *tables[] = {&held->sums.place, &held->sums.site_path, &held->sums.anchor,
                       &held->sums.url,   &held->sums.host,      &held->sums.folder, &held->sums.above};
    for (int place = 0; place < TABLES; place++)
        if (borrow_table(loan, sums, place, tables[place]) < 0)
            return -1;
    Py_ssize_t length;
    BORROW(held->sums.like, sums, TABLES, &length);
    held->sums.like_mask = length - 1;
    return 0;
}

static inline void
add(Table *table, int64_t place, float worth, float number)
{
    float *sum = &table->values[2 * (place & table->mask)];
    sum[0] += worth;
    sum[1] += number;
}

static inline const float *
get(const Table *table, int64_t place)
{
    return &table->values[2 * (place & table->mask)];
}

static inline int
known_links(const Entry *entry)
{
    int32_t links = entry->links;
    return links < 0 ? 0 : links < LINKS ? links : LINKS;
}

/* Where the places of a link's page begin; -1 where they are forgotten. */
static inline int64_t
base_of(const Held *held, int32_t parent, int64_t oldest)
{
    int64_t base = parent >= 0 && parent < held->pages.size ? held->pages.base[parent] : -1;
    return base >= oldest && base >= 0 ? base : -1;
}

static int
read_float(PyObject *tuple, Py_ssize_t place, double *value)
{
    PyObject *number = item(tuple, place);
    if (number == NULL)
        return -1;
    *value = PyFloat_AsDouble(number);
    return *value == -1.0 && PyErr_Occurred() ? -1 : 0;
}

static int
wanted(Py_ssize_t given, Py_ssize_t needed, const char *name)
{
    if (given == needed)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, needed, given);
    return -1;
}

static int
outside(Py_ssize_t at, Py_ssize_t size)
{
    if (at >= 0 && at < size)
        return 0;
    PyErr_Format(PyExc_IndexError, "there is no entry %zd among %zd", at, size);
    return -1;
}

/* -- evidence ------------------------------------------------------------------------------------------- */

static int
outcome(Loan *loan, PyObject *const *arguments)
{
    Held held;
    double worth, number;
    if (borrow_held(loan, arguments[0], &held) < 0 || read_float(arguments[2], 0, &worth) < 0
        || read_float(arguments[2], 1, &number) < 0)
        return -1;
    Py_ssize_t at = PyNumber_AsSsize_t(arguments[1], PyExc_IndexError);
    int64_t oldest = PyLong_AsLongLong(arguments[3]);
    if (PyErr_Occurred() || outside(at, held.urls.size) < 0)
        return -1;
    const Entry *entry = &held.urls.entries[at];
    const LinkTo *link = entry->link;
    Sums *sums = &held.sums;
    float w = (float)worth, n = (float)number;
    int links = known_links(entry);
    for (int j = 0; j < links; j++) {
        int64_t base = base_of(&held, link[j].parent, oldest);
        if (base >= 0) {
            add(&sums->place, base, w, n);
            add(&sums->place, base + link[j].path, w, n);
            add(&sums->place, base + link[j].near, w, n);
        }
        int before = 0;
        while (before < j && link[before].site_path != link[j].site_path)
            before++;
        if (before == j)
            add(&sums->site_path, link[j].site_path, w, n);
    }
    for (int j = 0; j < WORDS; j++) {
        if (entry->anchor_words[j] >= 0)
            add(&sums->anchor, entry->anchor_words[j], w, n);
        if (entry->url_words[j] >= 0)
            add(&sums->url, entry->url_words[j], w, n);
    }
    add(&sums->host, entry->host, w, n);
    add(&sums->folder, entry->folder, w, n);
    add(&sums->above, entry->above, w, n);
    return 0;
}

/* One link of a new page: evidence for a target that waits, and from one that was fetched. */
static void
add_link(Held *held, Py_ssize_t page, Py_ssize_t at, int32_t path, int32_t near, int32_t site)
{
    Entry *entry = &held->urls.entries[at];
    int64_t base = held->pages.base[page];
    if (held->urls.state[at] == FETCHED) {
        int32_t own = entry->page;
        float worth = own >= 0 && own < held->pages.size ? held->pages.known[3 * (Py_ssize_t)own] : 0.0f;
        add(&held->sums.place, base, worth, 1.0f);
        add(&held->sums.place, base + path, worth, 1.0f);
        add(&held->sums.place, base + near, worth, 1.0f);
        if (entry->links >= LINKS)
            return; /* the links that were told its worth stay, so that it can be corrected */
        int links = known_links(entry), before = 0;
        while (before < links && entry->link[before].site_path != site)
            before++;
        if (before == links)
            add(&held->sums.site_path, site, worth, 1.0f);
    }
    LinkTo *link = &entry->link[entry->links++ & (LINKS - 1)];
    link->parent = (int32_t)page;
    link->path = path;
    link->near = near;
    link->site_path = site;
}

/* held, (page, targets, paths, places, sites, first_near) */
static int
new_links(Loan *loan, PyObject *const *arguments)
{
    Held held;
    PyObject *number = item(arguments[1], 0), *last = item(arguments[1], 5);
    if (number == NULL || last == NULL || borrow_held(loan, arguments[0], &held) < 0)
        return -1;
    Py_ssize_t page = PyNumber_AsSsize_t(number, PyExc_IndexError), count, others[2], known;
    int64_t *targets, *places, first_near = PyLong_AsLongLong(last);
    int32_t *paths, *sites;
    if (PyErr_Occurred() || outside(page, held.pages.size) < 0)
        return -1;
    BORROW(targets, arguments[1], 1, &count);
    BORROW(paths, arguments[1], 2, &others[0]);
    BORROW(places, arguments[1], 3, &others[1]);
    BORROW(sites, arguments[1], 4, &known);
    if (others[0] != count || others[1] != count) {
        PyErr_SetString(PyExc_ValueError, "three numbers a link are wanted");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (targets[i] >= 0 && (outside(targets[i], held.urls.size) < 0 || outside(paths[i], known) < 0))
            return -1;
    /* A target that is named again counts once: it is marked while the others are read. */
    uint8_t *state = held.urls.state;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t at = (Py_ssize_t)targets[i];
        if (at < 0 || state[at] & NAMED)
            continue;
        add_link(&held, page, at, paths[i], (int32_t)(first_near + places[i] / NEIGHBOURS), sites[paths[i]]);
        state[at] |= NAMED;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (targets[i] >= 0)
            state[targets[i]] &= (uint8_t)~NAMED;
    return 0;
}

static inline float
rate(const float *sum, float mean, float prior)
{
    return (sum[0] + prior * mean) / (sum[1] + prior);
}

/* What each word of a table says, worked out once a call: many URLs have the same words, and a logarithm takes as
 * long as all else that is done for a word. */
typedef struct {
    uint32_t call; /* in which it was worked out */
    float says;
} Word;

typedef struct {
    Word *words;
    Py_ssize_t room;
    uint32_t call;
} Vocabulary;

static Vocabulary OF_ANCHORS, OF_ADDRESSES;

/* Make room for the words of a table, none of them worked out; -1 on error. */
static int
open_anew(Vocabulary *vocabulary, const Table *table)
{
    if (vocabulary->room <= table->mask || ++vocabulary->call == 0) {
        PyMem_RawFree(vocabulary->words);
        vocabulary->room = table->mask + 1;
        vocabulary->call = 1;
        vocabulary->words = PyMem_RawCalloc((size_t)vocabulary->room, sizeof *vocabulary->words);
        if (vocabulary->words == NULL) {
            vocabulary->room = 0;
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static float
said(const int32_t *words, const Table *table, float mean, const Vocabulary *vocabulary)
{
    float total = 0.0f;
    int known = 0;
    for (int j = 0; j < WORDS; j++)
        if (words[j] >= 0) {
            Word *word = &vocabulary->words[words[j] & table->mask];
            if (word->call != vocabulary->call) {
                /* In double precision: in single, libraries differ in the last bit. */
                word->says = (float)log((double)(rate(get(table, words[j]), mean, FEW) / mean));
                word->call = vocabulary->call;
            }
            total += word->says;
            known++;
        }
    return total / sqrtf((float)(known ? known : 1));
}

/* How much words resemble the best pages so far. */
static float
alike(const int32_t *words, const Sums *sums)
{
    float total = 0.0f;
    int known = 0;
    for (int j = 0; j < WORDS; j++)
        if (words[j] >= 0) {
            total += sums->like[words[j] & sums->like_mask];
            known++;
        }
    return total / sqrtf((float)known + 3.0f);
}

/* How much more than its rate a host or folder may be worth, by how little it was tried. */
static inline double
bound(float rate, float tried, double spread)
{
    double variance = rate * (1.0 - rate);
    return spread * sqrt((variance > 0.0 ? variance : 0.0) / (tried + 1.0));
}

typedef struct {
    float mean;
    double spread, by_host, by_folder;
    int64_t oldest;
} Standing;

typedef struct {
    double start, *weight, *middle, *scale;
} Joining;

static int
read_standing(PyObject *tuple, Standing *standing)
{
    double fetched, mean;
    PyObject *oldest = item(tuple, 2);
    if (oldest == NULL || read_float(tuple, 0, &fetched) < 0 || read_float(tuple, 1, &mean) < 0
        || read_float(tuple, 3, &standing->by_host) < 0 || read_float(tuple, 4, &standing->by_folder) < 0)
        return -1;
    standing->oldest = PyLong_AsLongLong(oldest);
    standing->mean = (float)mean;
    standing->spread = sqrt(log(fetched + 2.0));
    return PyErr_Occurred() ? -1 : 0;
}

static int
borrow_joining(Loan *loan, PyObject *tuple, Joining *joining)
{
    Py_ssize_t columns[3];
    if (read_float(tuple, 0, &joining->start) < 0)
        return -1;
    BORROW(joining->weight, tuple, 1, &columns[0]);
    BORROW(joining->middle, tuple, 2, &columns[1]);
    BORROW(joining->scale, tuple, 3, &columns[2]);
    if (columns[0] != COLUMNS || columns[1] != COLUMNS || columns[2] != COLUMNS) {
        PyErr_Format(PyExc_ValueError, "as many weights as scores are wanted, %d", COLUMNS);
        return -1;
    }
    return 0;
}

/* URLs lie all over memory, and so do the pages and places that their links name. What the next ones need is asked
 * for ahead, in the order in which one thing tells where another is: an entry, the pages of its links, their places. */
enum { ENTRIES_AHEAD = 12, PAGES_AHEAD = 8, PLACES_AHEAD = 4, LINE = 64 };

static inline void
expect_entry(const Urls *urls, Py_ssize_t at)
{
    const char *entry = (const char *)&urls->entries[at];
    for (size_t part = 0; part < sizeof(Entry); part += LINE)
        EXPECT(entry + part);
    EXPECT(&urls->priority[at]);
}

static inline void
expect_pages(const Held *held, const Entry *entry)
{
    const Sums *sums = &held->sums;
    int links = known_links(entry);
    for (int j = 0; j < links; j++) {
        int32_t parent = entry->link[j].parent;
        if (parent >= 0 && parent < held->pages.size) {
            EXPECT(&held->pages.base[parent]);
            EXPECT(&held->pages.known[3 * (Py_ssize_t)parent]);
        }
    }
    EXPECT(get(&sums->folder, entry->folder));
    EXPECT(get(&sums->above, entry->above));
}

static inline void
expect_places(const Held *held, const Entry *entry, int64_t oldest)
{
    int links = known_links(entry);
    for (int j = 0; j < links; j++) {
        int64_t base = base_of(held, entry->link[j].parent, oldest);
        if (base >= 0) {
            EXPECT(get(&held->sums.place, base));
            EXPECT(get(&held->sums.place, base + entry->link[j].near));
        }
    }
}

static void
read_score(const Held *held, Entry *entry, const Standing *standing)
{
    const Sums *sums = &held->sums;
    float mean = standing->mean, *score = entry->scores;
    float best = 0.0f, known[3] = {0.0f, 0.0f, 0.0f}, on_site = 0.0f;
    float page[2] = {0.0f, 0.0f}, list[2] = {0.0f, 0.0f}, beside[2] = {0.0f, 0.0f};
    int links = known_links(entry);
    for (int j = 0; j < links; j++) {
        const LinkTo *link = &entry->link[j];
        int32_t parent = link->parent;
        if (parent >= 0 && parent < held->pages.size) {
            const float *of = &held->pages.known[3 * (Py_ssize_t)parent];
            if (of[0] > best)
                best = of[0];
            for (int column = 0; column < 3; column++)
                known[column] += of[column];
        }
        on_site += rate(get(&sums->site_path, link->site_path), mean, PRIOR);
        int64_t base = base_of(held, parent, standing->oldest);
        if (base < 0)
            continue;
        int64_t near = base + link->near;
        for (int side = 0; side < 2; side++) {
            page[side] += get(&sums->place, base)[side];
            list[side] += get(&sums->place, base + link->path)[side];
            beside[side] += get(&sums->place, near - 1)[side] + get(&sums->place, near)[side]
                            + get(&sums->place, near + 1)[side];
        }
    }
    float share = 1.0f / (float)(links ? links : 1);
    const float *host = get(&sums->host, entry->host), *folder = get(&sums->folder, entry->folder);
    score[0] = best;
    score[1] = known[0] * share;
    score[2] = known[1] * share;
    score[3] = entry->topic[0];
    score[4] = said(entry->anchor_words, &sums->anchor, mean, &OF_ANCHORS);
    score[5] = said(entry->url_words, &sums->url, mean, &OF_ADDRESSES);
    score[6] = rate(beside, mean, PRIOR);
    score[7] = rate(page, mean, PRIOR);
    score[8] = alike(entry->anchor_words, sums);
    score[9] = rate(list, mean, PRIOR);
    score[10] = links ? on_site * share : mean;
    score[11] = known[2] * share;
    score[12] = rate(host, mean, FEW);
    score[13] = rate(folder, rate(get(&sums->above, entry->above), score[12], FEW), FEW);
    score[14] = entry->topic[1];
    score[15] = entry->topic[2];
    score[16] = entry->topic[3];
    score[17] = alike(entry->list_words, sums);
    score[18] = (float)log(1.0 + (double)entry->topic[4]);
    score[19] = entry->topic[5];
    entry->explore = (float)(standing->by_host * bound(score[12], host[1], standing->spread)
                                + standing->by_folder * bound(score[13], folder[1], standing->spread));
}

static void
set_priority(const Urls *urls, Py_ssize_t at, const Joining *joining)
{
    const float *score = urls->entries[at].scores;
    double sum = 0.0;
    for (int column = 0; column < COLUMNS; column++) {
        double z = ((double)score[column] - joining->middle[column]) / joining->scale[column];
        sum += (z > CLIP ? CLIP : z < -CLIP ? -CLIP : z) * joining->weight[column];
    }
    urls->priority[at] = joining->start + urls->entries[at].explore + sum;
}

static int
all_inside(const int64_t *chosen, Py_ssize_t count, Py_ssize_t size)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (outside((Py_ssize_t)chosen[i], size) < 0)
            return 0;
    return 1;
}

/* held, chosen, standing, joining */
static int
scores(Loan *loan, PyObject *const *arguments)
{
    Held held;
    Standing standing;
    Joining joining;
    int64_t *chosen;
    Py_ssize_t count;
    if (borrow_held(loan, arguments[0], &held) < 0
        || (chosen = borrow(loan, arguments[1], sizeof *chosen, &count, 0)) == NULL
        || read_standing(arguments[2], &standing) < 0
        || borrow_joining(loan, arguments[3], &joining) < 0
        || !all_inside(chosen, count, held.urls.size) || open_anew(&OF_ANCHORS, &held.sums.anchor) < 0
        || open_anew(&OF_ADDRESSES, &held.sums.url) < 0)
        return -1;
    Entry *entries = held.urls.entries;
    for (Py_ssize_t i = -ENTRIES_AHEAD; i < count; i++) {
        if (i + ENTRIES_AHEAD < count)
            expect_entry(&held.urls, (Py_ssize_t)chosen[i + ENTRIES_AHEAD]);
        if (i + PAGES_AHEAD >= 0 && i + PAGES_AHEAD < count)
            expect_pages(&held, &entries[chosen[i + PAGES_AHEAD]]);
        if (i + PLACES_AHEAD >= 0 && i + PLACES_AHEAD < count)
            expect_places(&held, &entries[chosen[i + PLACES_AHEAD]], standing.oldest);
        if (i >= 0) {
            read_score(&held, &entries[chosen[i]], &standing);
            set_priority(&held.urls, (Py_ssize_t)chosen[i], &joining);
        }
    }
    return 0;
}

/* urls, chosen, joining */
static int
priorities(Loan *loan, PyObject *const *arguments)
{
    Urls urls;
    Joining joining;
    int64_t *chosen;
    Py_ssize_t count;
    if (borrow_urls(loan, arguments[0], &urls) < 0
        || (chosen = borrow(loan, arguments[1], sizeof *chosen, &count, 0)) == NULL
        || borrow_joining(loan, arguments[2], &joining) < 0 || !all_inside(chosen, count, urls.size))
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        set_priority(&urls, (Py_ssize_t)chosen[i], &joining);
    return 0;
}

/* urls, told, at, tolerance, changed */
BODY(scout_evidence_tell)
{
    Urls urls;
    double *told;
    int64_t *at, *changed;
    Py_ssize_t count, room, known, found = 0;
    double tolerance = PyFloat_AsDouble(arguments[3]);
    if (PyErr_Occurred() || borrow_urls(loan, arguments[0], &urls) < 0)
        return NULL;
    TAKE(told, 1, &known, 1);
    TAKE(at, 2, &count, 0);
    TAKE(changed, 4, &room, 1);
    if (room < count || known != urls.size) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit");
        return NULL;
    }
    if (!all_inside(at, count, urls.size))
        return NULL;
    /* Who comes twice is found twice, as in Python: nobody counts as told before all were looked at. */
    for (Py_ssize_t i = 0; i < count; i++)
        if (urls.state[at[i]] == WAITING && fabs(urls.priority[at[i]] - told[at[i]]) > tolerance)
            changed[found++] = at[i];
    for (Py_ssize_t i = 0; i < found; i++)
        told[changed[i]] = urls.priority[changed[i]];
    return PyLong_FromSsize_t(found);
}
FUNCTION(scout_evidence_tell, 5)

/* urls, targets, waiting */
BODY(scout_evidence_that_wait)
{
    Urls urls;
    int64_t *targets, *waiting;
    Py_ssize_t count, room, found = 0;
    if (borrow_urls(loan, arguments[0], &urls) < 0)
        return NULL;
    TAKE(targets, 1, &count, 0);
    TAKE(waiting, 2, &room, 1);
    if (room < count) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (targets[i] < 0)
            continue;
        if (outside((Py_ssize_t)targets[i], urls.size) < 0)
            return NULL;
        if (urls.state[targets[i]] == WAITING)
            waiting[found++] = targets[i];
    }
    return PyLong_FromSsize_t(found);
}
FUNCTION(scout_evidence_that_wait, 3)

/* urls, waiting */
BODY(scout_evidence_promise)
{
    Urls urls;
    int64_t *waiting;
    Py_ssize_t count;
    double best[REVEALED] = {0.0};
    int new = 0;
    if (borrow_urls(loan, arguments[0], &urls) < 0)
        return NULL;
    TAKE(waiting, 1, &count, 0);
    if (!all_inside(waiting, count, urls.size))
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (urls.entries[waiting[i]].links != 1)
            continue;
        double hope = urls.priority[waiting[i]];
        hope = hope < 0.0 ? 0.0 : hope > 1.0 ? 1.0 : hope;
        new = 1;
        for (int place = 0; place < REVEALED; place++)
            if (hope > best[place]) {
                double less = best[place];
                best[place] = hope;
                hope = less;
            }
    }
    double sum = 0.0; /* the least first */
    for (int place = REVEALED - 1; place >= 0; place--)
        sum += best[place];
    return PyFloat_FromDouble(new ? sum : -1.0);
}
FUNCTION(scout_evidence_promise, 2)

/* A function that answers nothing: `work` says whether it failed. */
#define PROCEDURE(name, needed, work)                                                                         \
    PyObject *name(PyObject *module, PyObject *const *arguments, Py_ssize_t count)                            \
    {                                                                                                         \
        (void)module;                                                                                         \
        if (wanted(count, needed, #name) < 0)                                                                 \
            return NULL;                                                                                      \
        Loan loan = {.count = 0};                                                                             \
        int failed = work(&loan, arguments);                                                                  \
        give_back(&loan);                                                                                     \
        if (failed)                                                                                           \
            return NULL;                                                                                      \
        Py_RETURN_NONE;                                                                                       \
    }

PROCEDURE(scout_evidence_add_outcome, 4, outcome)
PROCEDURE(scout_evidence_add_links, 2, new_links)
PROCEDURE(scout_evidence_read_scores, 4, scores)
PROCEDURE(scout_evidence_set_priorities, 3, priorities)

/* -- weights: honeyguide/text/ridge.py ------------------------------------------------------------------ */

enum { MOST_SCORES = 64 };

/* z, wanted, weight, trust, sweeps */
BODY(ridge_descend)
{
    double *z, *wanted, *weight, trust = PyFloat_AsDouble(arguments[3]);
    Py_ssize_t all, rows, columns;
    long sweeps = PyLong_AsLong(arguments[4]);
    if (PyErr_Occurred())
        return NULL;
    TAKE(z, 0, &all, 0);
    TAKE(wanted, 1, &rows, 0);
    TAKE(weight, 2, &columns, 1);
    if (columns > MOST_SCORES || all != rows * columns) {
        PyErr_Format(PyExc_ValueError, "rows of %zd scores are wanted (at most %d), and as many worths as rows",
                     columns, MOST_SCORES);
        return NULL;
    }
    double products[MOST_SCORES][MOST_SCORES] = {{0.0}}, aim[MOST_SCORES] = {0.0};
    for (Py_ssize_t i = 0; i < rows; i++) {
        const double *row = &z[i * columns];
        for (Py_ssize_t j = 0; j < columns; j++) {
            for (Py_ssize_t k = 0; k < columns; k++)
                products[j][k] += row[j] * row[k];
            aim[j] += row[j] * wanted[i];
        }
    }
    for (Py_ssize_t j = 0; j < columns; j++) {
        products[j][j] += trust;
        aim[j] += trust * weight[j];
    }
    for (long sweep = 0; sweep < sweeps; sweep++)
        for (Py_ssize_t j = 0; j < columns; j++) {
            double told = 0.0;
            for (Py_ssize_t k = 0; k < columns; k++)
                told += products[j][k] * weight[k];
            double found = weight[j] + (aim[j] - told) / products[j][j];
            weight[j] = found > 0.0 ? found : 0.0;
        }
    Py_RETURN_NONE;
}
FUNCTION(ridge_descend, 5)

/* -- words ---------------------------------------------------------------------------------------------- */

#define CRC_START 0xFFFFFFFFu

/* A checksum that is not finished, with more bytes. */
static uint32_t
crc32_on(uint32_t found, const unsigned char *bytes, Py_ssize_t length)
{
    static uint32_t table[256];
    if (table[1] == 0)
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++)
                value = value & 1 ? 0xEDB88320u ^ (value >> 1) : value >> 1;
            table[i] = value;
        }
    for (Py_ssize_t i = 0; i < length; i++)
        found = table[(found ^ bytes[i]) & 255] ^ (found >> 8);
    return found;
}

static uint32_t
crc32(const unsigned char *bytes, Py_ssize_t length)
{
    return ~crc32_on(CRC_START, bytes, length);
}

/* The bytes of a text; `kept` holds them where they had to be made. */
static const unsigned char *
bytes_of(PyObject *text, Py_ssize_t *length, PyObject **kept)
{
    *kept = NULL;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is wanted");
        return NULL;
    }
    const char *found = PyUnicode_AsUTF8AndSize(text, length);
    if (found == NULL) {
        PyErr_Clear();
        *kept = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
        if (*kept == NULL)
            return NULL;
        *length = PyBytes_GET_SIZE(*kept);
        found = PyBytes_AS_STRING(*kept);
    }
    return (const unsigned char *)found;
}

static int
hex(int c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

enum { MOST_ADDRESS = 512 };

/* Entries of the words of a part of an address, after those found before; the latest `WORDS` different ones. */
static int
words_of(const unsigned char *text, Py_ssize_t length, uint32_t mask, int32_t *found, int known)
{
    unsigned char word[MOST_ADDRESS];
    int size = 0;
    for (Py_ssize_t i = 0; i <= length; i++) {
        int c = i < length ? text[i] : '/';
        if (c == '%' && i + 2 < length && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
            c = 16 * hex(text[i + 1]) + hex(text[i + 2]);
            i += 2;
        }
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 128) {
            word[size++] = (unsigned char)c;
            continue;
        }
        if (size > 1) {
            int32_t entry = (int32_t)(crc32(word, size) & mask);
            int place = 0;
            while (place < known && found[place] != entry)
                place++;
            if (place == known)
                found[known++] = entry;
        }
        size = 0;
    }
    return known;
}

/* The host, folder and folder above of an address, and its words; -1 on error. */
static int
read_address(PyObject *address, uint32_t mask, Entry *entry)
{
    PyObject *kept;
    Py_ssize_t length;
    const unsigned char *url = bytes_of(address, &length, &kept);
    if (url == NULL)
        return -1;
    const unsigned char *end = url + length, *start = end, *c;
    for (c = url; c + 2 < end; c++)
        if (c[0] == ':' && c[1] == '/' && c[2] == '/') {
            start = c + 3;
            break;
        }
    const unsigned char *query = start, *path = start, *last = NULL, *before = NULL;
    while (query < end && *query != '?')
        query++;
    while (path < query && *path != '/')
        path++;
    for (c = start; c < query; c++)
        if (*c == '/') {
            before = last;
            last = c;
        }
    if (last == NULL || last == start)
        last = query;
    if (before == NULL || before == start)
        before = last;
    entry->host = (int32_t)(crc32(start, path - start) & mask);
    entry->folder = (int32_t)(crc32(start, last - start) & mask);
    entry->above = (int32_t)(crc32(start, before - start) & mask);
    int32_t found[MOST_ADDRESS];
    const unsigned char *from = path < query ? path + 1 : query;
    if (query - from > 400)
        from = query - 400;
    Py_ssize_t rest = query < end ? end - query - 1 : 0;
    int known = words_of(from, query - from, mask, found, 0);
    known = words_of(query < end ? query + 1 : end, rest < 100 ? rest : 100, mask, found, known);
    int first = known > WORDS ? known - WORDS : 0;
    for (int j = 0; j < WORDS; j++)
        entry->url_words[j] = first + j < known ? found[first + j] : -1;
    Py_XDECREF(kept);
    return 0;
}

/* urls, addresses, ids, first, size of tables */
static int
new_entries(Loan *loan, PyObject *const *arguments)
{
    Urls urls;
    int64_t *ids;
    double *told;
    Py_ssize_t sizes[2];
    if (!PyList_Check(arguments[1]) || !PyList_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "a list of addresses is wanted, and one of numbers");
        return -1;
    }
    Py_ssize_t count = PyList_GET_SIZE(arguments[1]), first = PyLong_AsSsize_t(arguments[3]);
    uint32_t mask = (uint32_t)PyLong_AsUnsignedLong(arguments[4]) - 1;
    if (PyErr_Occurred() || borrow_urls(loan, arguments[0], &urls) < 0)
        return -1;
    BORROW(ids, arguments[0], 0, &sizes[0]);
    BORROW(told, arguments[0], 3, &sizes[1]);
    if (sizes[0] != urls.size || sizes[1] != urls.size || PyList_GET_SIZE(arguments[2]) != count || first < 0
        || first > urls.size || count > urls.size - first) {
        PyErr_SetString(PyExc_ValueError, "there is no room for so many addresses");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Entry *entry = &urls.entries[first + i];
        ids[first + i] = PyLong_AsLongLong(PyList_GET_ITEM(arguments[2], i));
        if (PyErr_Occurred() || read_address(PyList_GET_ITEM(arguments[1], i), mask, entry) < 0)
            return -1;
        urls.state[first + i] = WAITING;
        told[first + i] = 0.0;
        entry->links = 0;
        entry->page = -1;
        for (int j = 0; j < TOPICS; j++)
            entry->topic[j] = 0.0f;
        for (int j = 0; j < WORDS; j++)
            entry->anchor_words[j] = entry->list_words[j] = -1;
    }
    return 0;
}

PROCEDURE(scout_words_enter, 5, new_entries)

/* host, paths, entries, size of tables */
static int
site_paths(Loan *loan, PyObject *const *arguments)
{
    uint32_t mask = (uint32_t)PyLong_AsUnsignedLong(arguments[3]) - 1;
    Py_ssize_t room, length;
    PyObject *kept;
    if (PyErr_Occurred())
        return -1;
    int32_t *entries = borrow(loan, arguments[2], sizeof *entries, &room, 1);
    if (entries == NULL)
        return -1;
    if (!PyList_Check(arguments[1]) || PyList_GET_SIZE(arguments[1]) != room) {
        PyErr_SetString(PyExc_ValueError, "as many entries as paths are wanted");
        return -1;
    }
    const unsigned char *host = bytes_of(arguments[0], &length, &kept);
    if (host == NULL)
        return -1;
    uint32_t begun = crc32_on(crc32_on(CRC_START, host, length), (const unsigned char *)" ", 1);
    Py_XDECREF(kept);
    for (Py_ssize_t i = 0; i < room; i++) {
        const unsigned char *path = bytes_of(PyList_GET_ITEM(arguments[1], i), &length, &kept);
        if (path == NULL)
            return -1;
        entries[i] = (int32_t)(~crc32_on(begun, path, length) & mask);
        Py_XDECREF(kept);
    }
    return 0;
}

PROCEDURE(scout_words_read_site_paths, 4, site_paths)

PyObject *
scout_words_read_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (wanted(count, 4, "scout_words_read_anchors") < 0)
        return NULL;
    if (!PyList_Check(arguments[0]) || !PyUnicode_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "a list of terms and a text are wanted");
        return NULL;
    }
    uint32_t mask = (uint32_t)PyLong_AsUnsignedLong(arguments[3]) - 1;
    if (PyErr_Occurred())
        return NULL;
    Loan loan = {.count = 0};
    Py_ssize_t length, row = 0;
    int known = 0;
    int32_t *words = borrow(&loan, arguments[2], sizeof *words, &length, 1);
    if (words == NULL) {
        give_back(&loan);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < length; i++)
        words[i] = -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arguments[0]); i++) {
        PyObject *term = PyList_GET_ITEM(arguments[0], i), *kept;
        if (!PyUnicode_Check(term) || PyUnicode_Compare(term, arguments[1]) == 0) {
            row++;
            known = 0;
            continue;
        }
        if (known == WORDS || row >= length / WORDS)
            continue;
        Py_ssize_t size;
        const unsigned char *bytes = bytes_of(term, &size, &kept);
        if (bytes == NULL) {
            give_back(&loan);
            return NULL;
        }
        int32_t entry = (int32_t)(crc32(bytes, size) & mask), *own = &words[row * WORDS];
        Py_XDECREF(kept);
        int place = 0;
        while (place < known && own[place] != entry)
            place++;
        if (place == known)
            own[known++] = entry;
    }
    give_back(&loan);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(row + 1);
}

/* Four tables of one size (good, rest, pages, picture) and three totals. */
typedef struct {
    float *good, *rest, *pages, *picture;
    double *totals;
    Py_ssize_t size;
} Vectors;

static int
borrow_vectors(Loan *loan, PyObject *tuple, Vectors *vectors)
{
    Py_ssize_t rest, pages, picture, totals;
    BORROW(vectors->good, tuple, 0, &vectors->size);
    BORROW(vectors->rest, tuple, 1, &rest);
    BORROW(vectors->pages, tuple, 2, &pages);
    BORROW(vectors->picture, tuple, 3, &picture);
    BORROW(vectors->totals, tuple, 4, &totals);
    Py_ssize_t size = vectors->size;
    if (rest != size || pages != size || picture != size || totals != 3 || (size & (size - 1)) || !size) {
        PyErr_SetString(PyExc_ValueError, "four tables of one size and three totals are wanted");
        return -1;
    }
    return 0;
}

/* `1 + log(count)`. Most words of a page come a few times: those logarithms are worked out once. */
static double
weight_of(int32_t count)
{
    static double known[64];
    if (count <= 0 || count >= 64)
        return 1.0 + log(count);
    if (known[count] == 0.0)
        known[count] = 1.0 + log(count);
    return known[count];
}

/* Add a page, given by its different entries, to the sums; its likeness to the picture. */
static double
add_page(const Vectors *vectors, const int32_t *entries, Py_ssize_t known, const int32_t *often, double worth,
         double *weights)
{
    double square = 0.0, found = 0.0;
    vectors->totals[2] += 1.0;
    for (Py_ssize_t i = 0; i < known; i++) {
        int32_t entry = entries[i];
        vectors->pages[entry] += 1.0f;
        EXPECT(&vectors->good[entry]);
        EXPECT(&vectors->rest[entry]);
        EXPECT(&vectors->picture[entry]);
        weights[i] = weight_of(often[entry]) * log1p(vectors->totals[2] / (1.0 + vectors->pages[entry]));
        square += weights[i] * weights[i];
    }
    double length = sqrt(square) > 1e-9 ? sqrt(square) : 1e-9;
    for (Py_ssize_t i = 0; i < known; i++) {
        double weight = weights[i] / length;
        vectors->good[entries[i]] += (float)(worth * weight);
        vectors->rest[entries[i]] += (float)((1.0 - worth) * weight);
        found += weight * vectors->picture[entries[i]];
    }
    vectors->totals[0] += worth;
    vectors->totals[1] += 1.0 - worth;
    return found;
}

PyObject *
scout_words_take_in_page(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (wanted(count, 5, "scout_words_take_in_page") < 0)
        return NULL;
    double worth = PyFloat_AsDouble(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    Loan loan = {.count = 0};
    Vectors vectors;
    Py_ssize_t terms, names = 0, room = 0;
    double found = 0.0;
    const int32_t *numbers = borrow(&loan, arguments[0], sizeof *numbers, &terms, 0), *places = NULL;
    int32_t *often = NULL;
    if (numbers != NULL)
        places = borrow(&loan, arguments[1], sizeof *places, &names, 0);
    if (places != NULL)
        often = borrow(&loan, arguments[4], sizeof *often, &room, 1);
    if (often != NULL && borrow_vectors(&loan, arguments[3], &vectors) == 0) {
        if (room != vectors.size)
            PyErr_SetString(PyExc_ValueError, "counters are wanted, one an entry");
        int fits = 1;
        for (Py_ssize_t i = 0; i < terms && fits; i++)
            fits = numbers[i] >= 0 && numbers[i] < names && places[numbers[i]] >= 0 && places[numbers[i]] < room;
        if (!fits && !PyErr_Occurred())
            PyErr_SetString(PyExc_IndexError, "a term has no entry");
        int32_t *entries = NULL;
        double *weights = NULL;
        if (!PyErr_Occurred() && terms > 0) {
            entries = PyMem_Malloc((size_t)terms * sizeof *entries);
            weights = PyMem_Malloc((size_t)terms * sizeof *weights);
            if (entries == NULL || weights == NULL)
                PyErr_NoMemory();
            else {
                Py_ssize_t known = 0;
                for (Py_ssize_t i = 0; i < terms; i++) {
                    int32_t entry = places[numbers[i]];
                    if (often[entry]++ == 0) {
                        EXPECT(&vectors.pages[entry]);
                        entries[known++] = entry;
                    }
                }
                found = add_page(&vectors, entries, known, often, worth, weights);
                for (Py_ssize_t i = 0; i < known; i++)
                    often[entries[i]] = 0;
            }
        }
        PyMem_Free(entries);
        PyMem_Free(weights);
    }
    give_back(&loan);
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(found);
}
