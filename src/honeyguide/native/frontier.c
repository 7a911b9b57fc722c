/* The frontier's heaps: twins of honeyguide/frontier/{pairing_heap,queues,seen}.py, which explain them.
 *
 * The arrays belong to numpy and are lent for one call each. Functions are called as `queues_take` and the
 * like; `honeyguide.compiled` puts them in the place of their twins.
 */

#include "arrays.h"

#include <math.h>
#include <string.h>

typedef struct {
    int32_t *child, *next, *previous, *tie;
    double *key;
    Py_ssize_t size, ties;
} Tree;

typedef struct {
    int32_t *hosts;
    uint8_t *status;
    Tree tree;
} Urls;

typedef struct {
    int32_t *best, *length;
    uint8_t *state, *closed;
    double *penalty;
    Tree ready, timed;
    int64_t *roots;
    uint32_t *joined;
    Py_ssize_t size;
} Hosts;

static int
borrow_tree(Loan *loan, PyObject *tuple, Tree *tree)
{
    BORROW(tree->child, tuple, 0, &tree->size);
    BORROW(tree->next, tuple, 1, NULL);
    BORROW(tree->previous, tuple, 2, NULL);
    BORROW(tree->key, tuple, 3, NULL);
    BORROW(tree->tie, tuple, 4, &tree->ties);
    return 0;
}

static int
borrow_urls(Loan *loan, PyObject *tuple, Urls *urls)
{
    BORROW(urls->hosts, tuple, 0, NULL);
    BORROW(urls->status, tuple, 1, NULL);
    PyObject *tree = item(tuple, 2);
    return tree == NULL ? -1 : borrow_tree(loan, tree, &urls->tree);
}

static int
borrow_hosts(Loan *loan, PyObject *tuple, Hosts *hosts)
{
    BORROW(hosts->best, tuple, 0, &hosts->size);
    BORROW(hosts->length, tuple, 1, NULL);
    BORROW(hosts->state, tuple, 2, NULL);
    BORROW(hosts->closed, tuple, 3, NULL);
    BORROW(hosts->penalty, tuple, 4, NULL);
    PyObject *ready = item(tuple, 5), *timed = item(tuple, 6);
    if (ready == NULL || timed == NULL || borrow_tree(loan, ready, &hosts->ready) < 0)
        return -1;
    /* The two heaps of hosts share their links. */
    hosts->timed = hosts->ready;
    BORROW(hosts->timed.key, timed, 3, NULL);
    BORROW(hosts->timed.tie, timed, 4, &hosts->timed.ties);
    BORROW(hosts->roots, tuple, 7, NULL);
    Py_ssize_t joined;
    BORROW(hosts->joined, tuple, 8, &joined);
    if (joined != hosts->size) {
        PyErr_SetString(PyExc_ValueError, "a count for each host is wanted");
        return -1;
    }
    return 0;
}

/* A whole number from 0 to `size` - 1; -1 on error. */
static Py_ssize_t
index_of(PyObject *number, Py_ssize_t size)
{
    Py_ssize_t value = PyNumber_AsSsize_t(number, PyExc_IndexError);
    if (value == -1 && PyErr_Occurred())
        return -1;
    if (value < 0 || value >= size) {
        PyErr_Format(PyExc_IndexError, "there is no row %zd among %zd", value, size);
        return -1;
    }
    return value;
}

/* -- pairing heap -------------------------------------------------------------------------------------- */

static inline int
before(const Tree *tree, int32_t a, int32_t b)
{
    if (tree->key[a] != tree->key[b])
        return tree->key[a] > tree->key[b];
    return tree->ties ? tree->tie[a] < tree->tie[b] : a < b;
}

static inline int32_t
meld(Tree *tree, int32_t a, int32_t b)
{
    if (a == 0)
        return b;
    if (b == 0)
        return a;
    if (before(tree, b, a)) {
        int32_t swap = a;
        a = b;
        b = swap;
    }
    int32_t first = tree->child[a];
    tree->next[b] = first;
    if (first)
        tree->previous[first] = b;
    tree->previous[b] = a;
    tree->child[a] = b;
    return a;
}

static int32_t
push(Tree *tree, int32_t root, int32_t node)
{
    tree->child[node] = tree->next[node] = 0;
    tree->previous[node] = -1;
    return meld(tree, root, node);
}

static int32_t
pop(Tree *tree, int32_t root)
{
    int32_t first = tree->child[root], stack = 0, result = 0;
    tree->child[root] = tree->next[root] = tree->previous[root] = 0;
    while (first) {
        int32_t a = first, b = tree->next[a];
        first = 0;
        tree->next[a] = 0;
        tree->previous[a] = -1;
        if (b) {
            first = tree->next[b];
            tree->next[b] = 0;
            tree->previous[b] = -1;
        }
        int32_t pair = meld(tree, a, b);
        tree->next[pair] = stack;
        stack = pair;
    }
    while (stack) {
        int32_t pair = stack;
        stack = tree->next[pair];
        tree->next[pair] = 0;
        result = meld(tree, result, pair);
    }
    return result;
}

/* Take a node and all below it out of its place below another one. */
static int32_t
taken_out(Tree *tree, int32_t node)
{
    int32_t above = tree->previous[node], following = tree->next[node];
    if (tree->child[above] == node)
        tree->child[above] = following;
    else
        tree->next[above] = following;
    if (following)
        tree->previous[following] = above;
    tree->next[node] = 0;
    tree->previous[node] = -1;
    return node;
}

/* The same, and its children from it: they are one heap then. */
static int32_t
cut(Tree *tree, int32_t node)
{
    return pop(tree, taken_out(tree, node));
}

static int32_t
remove_node(Tree *tree, int32_t root, int32_t node)
{
    return node == root ? pop(tree, root) : meld(tree, root, cut(tree, node));
}

static int32_t
join_evenly(Tree *tree, int32_t root, int32_t other, uint32_t *joined)
{
    int32_t top = meld(tree, root, other);
    if (top != root) {
        *joined = 0;
        return top;
    }
    if (other == 0)
        return top;
    for (uint32_t bits = (*joined)++; bits & 1; bits >>= 1) {
        int32_t first = tree->child[top], second = tree->next[first];
        if (second == 0)
            break;
        int32_t rest = tree->next[second], pair = meld(tree, first, second);
        tree->previous[pair] = top;
        tree->next[pair] = rest;
        tree->child[top] = pair;
        if (rest)
            tree->previous[rest] = pair;
    }
    return top;
}

static Py_ssize_t
members(const Tree *tree, int32_t root, int32_t *found, Py_ssize_t room)
{
    if (root == 0 || room == 0)
        return 0;
    Py_ssize_t count = 1, done = 0;
    found[0] = root;
    while (done < count)
        for (int32_t node = tree->child[found[done++]]; node && count < room; node = tree->next[node])
            found[count++] = node;
    return count;
}

/* -- waiting URLs by host ------------------------------------------------------------------------------ */

#if defined(__GNUC__)
#define PREFETCH(place) __builtin_prefetch(place, 1)
#else
#define PREFETCH(place) ((void)(place))
#endif
#define AHEAD 12

enum { IDLE, TIMED, READY, BUSY, PARKED };
enum { READY_ROOT, TIMED_ROOT };
enum { KEPT, NEW, REPLACED };
enum { FIRST, MAX, SUM, LATEST };

static void
make_ready(Urls *urls, Hosts *hosts, int32_t host)
{
    int32_t best = hosts->best[host];
    hosts->state[host] = READY;
    hosts->ready.key[host] = urls->tree.key[best] - hosts->penalty[host];
    hosts->ready.tie[host] = best;
    hosts->roots[READY_ROOT] = push(&hosts->ready, (int32_t)hosts->roots[READY_ROOT], host);
}

static void
settle(Urls *urls, Hosts *hosts, int32_t host)
{
    int32_t best = hosts->best[host];
    if (hosts->state[host] == READY) {
        if (best && urls->tree.key[best] - hosts->penalty[host] == hosts->ready.key[host]
            && best == hosts->ready.tie[host])
            return;
        hosts->roots[READY_ROOT] = remove_node(&hosts->ready, (int32_t)hosts->roots[READY_ROOT], host);
        hosts->state[host] = IDLE;
        if (best)
            make_ready(urls, hosts, host);
    }
    else if (hosts->state[host] == IDLE && best) {
        hosts->state[host] = TIMED;
        hosts->roots[TIMED_ROOT] = push(&hosts->timed, (int32_t)hosts->roots[TIMED_ROOT], host);
    }
}

static void
withdraw(Hosts *hosts, int32_t host)
{
    if (hosts->state[host] == READY)
        hosts->roots[READY_ROOT] = remove_node(&hosts->ready, (int32_t)hosts->roots[READY_ROOT], host);
    else if (hosts->state[host] == TIMED)
        hosts->roots[TIMED_ROOT] = remove_node(&hosts->timed, (int32_t)hosts->roots[TIMED_ROOT], host);
    hosts->state[host] = IDLE;
}

static void
add_url(Urls *urls, Hosts *hosts, int32_t host, int32_t row)
{
    push(&urls->tree, 0, row);
    hosts->best[host] = join_evenly(&urls->tree, hosts->best[host], row, &hosts->joined[host]);
}

static void
leave(Urls *urls, Hosts *hosts, int32_t host, int32_t row)
{
    if (row == hosts->best[host]) {
        hosts->best[host] = pop(&urls->tree, row);
        hosts->joined[host] = 0;
    }
    else
        hosts->best[host] = join_evenly(&urls->tree, hosts->best[host], cut(&urls->tree, row), &hosts->joined[host]);
}

static void
enqueue(Urls *urls, Hosts *hosts, int32_t row)
{
    int32_t host = urls->hosts[row];
    add_url(urls, hosts, host, row);
    hosts->length[host]++;
    settle(urls, hosts, host);
}

static void
dequeue(Urls *urls, Hosts *hosts, int32_t row)
{
    if (urls->tree.previous[row] == 0)
        return;
    int32_t host = urls->hosts[row];
    leave(urls, hosts, host, row);
    hosts->length[host]--;
    settle(urls, hosts, host);
}

static void
change_priority(Urls *urls, Hosts *hosts, int32_t row, double priority)
{
    Tree *tree = &urls->tree;
    double old = tree->key[row];
    tree->key[row] = priority;
    if (tree->previous[row] == 0 || priority == old)
        return;
    int32_t host = urls->hosts[row], best = hosts->best[host];
    if (priority < old && tree->child[row] == 0)
        ; /* it stays below what it was below, and nothing is below it */
    else if (row == best && priority > old)
        ; /* and the best is still the best */
    else if (priority > old)
        hosts->best[host] = join_evenly(tree, best, taken_out(tree, row), &hosts->joined[host]);
    else {
        leave(urls, hosts, host, row);
        add_url(urls, hosts, host, row);
    }
    settle(urls, hosts, host);
}

static int
goes_before(const Urls *urls, const Hosts *hosts, int32_t one, int32_t other)
{
    int32_t first = hosts->best[one], second = hosts->best[other];
    double mine = urls->tree.key[first] - hosts->penalty[one], yours = urls->tree.key[second] - hosts->penalty[other];
    return mine > yours || (mine == yours && first < second);
}

/* -- what Python calls --------------------------------------------------------------------------------- */

#define URLS_AND_HOSTS                                                                                        \
    Urls urls;                                                                                                \
    Hosts hosts;                                                                                              \
    if (borrow_urls(loan, arguments[0], &urls) < 0 || borrow_hosts(loan, arguments[1], &hosts) < 0)           \
    return NULL

#define INDEX(name, place, size)                                                                              \
    Py_ssize_t name = index_of(arguments[place], size);                                                       \
    if (name < 0)                                                                                             \
    return NULL

#define NUMBER(name, place)                                                                                   \
    double name = PyFloat_AsDouble(arguments[place]);                                                         \
    if (name == -1.0 && PyErr_Occurred())                                                                     \
    return NULL

BODY(pairing_heap_push)
{
    Tree tree;
    if (borrow_tree(loan, arguments[0], &tree) < 0)
        return NULL;
    INDEX(root, 1, tree.size);
    INDEX(node, 2, tree.size);
    return PyLong_FromLong(push(&tree, (int32_t)root, (int32_t)node));
}
FUNCTION(pairing_heap_push, 3)

BODY(pairing_heap_pop)
{
    Tree tree;
    if (borrow_tree(loan, arguments[0], &tree) < 0)
        return NULL;
    INDEX(root, 1, tree.size);
    return PyLong_FromLong(pop(&tree, (int32_t)root));
}
FUNCTION(pairing_heap_pop, 2)

BODY(pairing_heap_remove)
{
    Tree tree;
    if (borrow_tree(loan, arguments[0], &tree) < 0)
        return NULL;
    INDEX(root, 1, tree.size);
    INDEX(node, 2, tree.size);
    return PyLong_FromLong(remove_node(&tree, (int32_t)root, (int32_t)node));
}
FUNCTION(pairing_heap_remove, 3)

BODY(pairing_heap_join_evenly)
{
    Tree tree;
    if (borrow_tree(loan, arguments[0], &tree) < 0)
        return NULL;
    INDEX(root, 1, tree.size);
    INDEX(other, 2, tree.size);
    Py_ssize_t room;
    uint32_t *joined = borrow(loan, arguments[3], sizeof *joined, &room, 1);
    if (joined == NULL)
        return NULL;
    if (room != 1) {
        PyErr_SetString(PyExc_ValueError, "one count is wanted");
        return NULL;
    }
    return PyLong_FromLong(join_evenly(&tree, (int32_t)root, (int32_t)other, joined));
}
FUNCTION(pairing_heap_join_evenly, 4)

BODY(pairing_heap_members)
{
    Tree tree;
    if (borrow_tree(loan, arguments[0], &tree) < 0)
        return NULL;
    INDEX(root, 1, tree.size);
    Py_ssize_t room;
    int32_t *found = borrow(loan, arguments[2], sizeof *found, &room, 1);
    if (found == NULL)
        return NULL;
    return PyLong_FromSsize_t(members(&tree, (int32_t)root, found, room));
}
FUNCTION(pairing_heap_members, 3)

BODY(queues_settle)
{
    URLS_AND_HOSTS;
    INDEX(host, 2, hosts.size);
    settle(&urls, &hosts, (int32_t)host);
    Py_RETURN_NONE;
}
FUNCTION(queues_settle, 3)

BODY(queues_make_ready)
{
    URLS_AND_HOSTS;
    INDEX(host, 2, hosts.size);
    make_ready(&urls, &hosts, (int32_t)host);
    Py_RETURN_NONE;
}
FUNCTION(queues_make_ready, 3)

BODY(queues_withdraw)
{
    Hosts hosts;
    if (borrow_hosts(loan, arguments[0], &hosts) < 0)
        return NULL;
    INDEX(host, 1, hosts.size);
    withdraw(&hosts, (int32_t)host);
    Py_RETURN_NONE;
}
FUNCTION(queues_withdraw, 2)

BODY(queues_enqueue)
{
    URLS_AND_HOSTS;
    INDEX(row, 2, urls.tree.size);
    enqueue(&urls, &hosts, (int32_t)row);
    Py_RETURN_NONE;
}
FUNCTION(queues_enqueue, 3)

BODY(queues_dequeue)
{
    URLS_AND_HOSTS;
    INDEX(row, 2, urls.tree.size);
    dequeue(&urls, &hosts, (int32_t)row);
    Py_RETURN_NONE;
}
FUNCTION(queues_dequeue, 3)

BODY(queues_change_priority)
{
    URLS_AND_HOSTS;
    INDEX(row, 2, urls.tree.size);
    NUMBER(priority, 3);
    change_priority(&urls, &hosts, (int32_t)row, priority);
    Py_RETURN_NONE;
}
FUNCTION(queues_change_priority, 4)

BODY(queues_change_priorities)
{
    URLS_AND_HOSTS;
    Py_ssize_t count, priority_count;
    int64_t *rows = borrow(loan, arguments[2], sizeof *rows, &count, 0);
    double *priorities = rows ? borrow(loan, arguments[3], sizeof *priorities, &priority_count, 0) : NULL;
    if (priorities == NULL)
        return NULL;
    if (priority_count < count) {
        PyErr_SetString(PyExc_ValueError, "there are fewer priorities than rows");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= urls.tree.size) {
            PyErr_SetString(PyExc_IndexError, "a row is out of range");
            return NULL;
        }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i + AHEAD < count) { /* they lie anywhere among millions: fetched while others are dealt with */
            int64_t soon = rows[i + AHEAD];
            PREFETCH(&urls.tree.key[soon]);
            PREFETCH(&urls.tree.previous[soon]);
            PREFETCH(&urls.tree.child[soon]);
            PREFETCH(&urls.hosts[soon]);
        }
        change_priority(&urls, &hosts, (int32_t)rows[i], priorities[i]);
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
FUNCTION(queues_change_priorities, 4)

/* status, priorities as they are, rows, new priorities, below, the number of WAITING, changed, given: how many. */
BODY(queues_revisable)
{
    Py_ssize_t size = 0, old_size = 0, count = 0, counts[3] = {0}, found = 0;
    uint8_t *status = borrow(loan, arguments[0], 1, &size, 0);
    double *old = status ? borrow(loan, arguments[1], sizeof *old, &old_size, 0) : NULL;
    int32_t *rows = old ? borrow(loan, arguments[2], sizeof *rows, &count, 0) : NULL;
    double *priorities = rows ? borrow(loan, arguments[3], sizeof *priorities, &counts[0], 0) : NULL;
    int64_t *changed = priorities ? borrow(loan, arguments[6], sizeof *changed, &counts[1], 1) : NULL;
    double *given = changed ? borrow(loan, arguments[7], sizeof *given, &counts[2], 1) : NULL;
    double below = PyFloat_AsDouble(arguments[4]);
    long waiting = PyLong_AsLong(arguments[5]);
    if (given == NULL || PyErr_Occurred())
        return NULL;
    if (old_size != size || counts[0] != count || counts[1] != count || counts[2] != count) {
        PyErr_SetString(PyExc_ValueError, "the arrays differ in length");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (isnan(priorities[i])) {
            PyErr_SetString(PyExc_ValueError, "a priority is not a number; give every URL a finite one");
            return NULL;
        }
        if (rows[i] < 0 || rows[i] >= size) {
            PyErr_SetString(PyExc_IndexError, "a row is out of range");
            return NULL;
        }
        if (rows[i] > 0 && status[rows[i]] == waiting && old[rows[i]] < below && old[rows[i]] != priorities[i]) {
            changed[found] = rows[i];
            given[found++] = priorities[i];
        }
    }
    return PyLong_FromSsize_t(found);
}
FUNCTION(queues_revisable, 8)

/* urls, hosts, counts, batch, mode, actions, which outcomes are revived, the number of WAITING. */
BODY(queues_join_into)
{
    URLS_AND_HOSTS;
    PyObject *batch = arguments[3];
    if (!PyTuple_Check(batch) || PyTuple_GET_SIZE(batch) != 5) {
        PyErr_SetString(PyExc_TypeError, "a batch is missing");
        return NULL;
    }
    Py_ssize_t size = 0, size_p = 0, size_o = 0, size_h = 0, size_a = 0, size_c = 0, size_r = 0;
    Py_ssize_t known = PyNumber_AsSsize_t(PyTuple_GET_ITEM(batch, 0), PyExc_IndexError);
    long mode = PyLong_AsLong(arguments[4]);
    if (PyErr_Occurred())
        return NULL;
    int64_t *counts = borrow(loan, arguments[2], sizeof *counts, &size_c, 1);
    int32_t *rows = counts ? borrow(loan, PyTuple_GET_ITEM(batch, 1), sizeof *rows, &size, 0) : NULL;
    double *priorities = rows ? borrow(loan, PyTuple_GET_ITEM(batch, 2), sizeof *priorities, &size_p, 0) : NULL;
    uint8_t *outcomes = priorities ? borrow(loan, PyTuple_GET_ITEM(batch, 3), 1, &size_o, 0) : NULL;
    int32_t *places = outcomes ? borrow(loan, PyTuple_GET_ITEM(batch, 4), sizeof *places, &size_h, 0) : NULL;
    uint8_t *actions = places ? borrow(loan, arguments[5], 1, &size_a, 1) : NULL;
    uint8_t *revived = actions ? borrow(loan, arguments[6], 1, &size_r, 0) : NULL;
    long waiting = PyLong_AsLong(arguments[7]);
    if (revived == NULL || PyErr_Occurred())
        return NULL;
    if (size_p != size || size_o != size || size_h != size || size_a != size || size_r != size_c) {
        PyErr_SetString(PyExc_ValueError, "the arrays of a batch differ in length");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        int32_t row = rows[i], host = places[i];
        if (row < 0 || row >= urls.tree.size || host < 0 || host >= hosts.size) {
            PyErr_SetString(PyExc_IndexError, "a row is out of range");
            return NULL;
        }
        double priority = priorities[i];
        int outcome = outcomes[i], status = urls.status[row];
        actions[i] = KEPT;
        if (outcome == waiting && hosts.closed[host])
            outcome = hosts.closed[host];
        if (outcome >= size_c || status >= size_c) {
            PyErr_SetString(PyExc_IndexError, "an outcome is out of range");
            return NULL;
        }
        if (row > known || (outcome == waiting && revived[status])) {
            actions[i] = row > known ? NEW : REPLACED;
            if (row > known)
                known = row;
            else
                counts[status]--;
            counts[outcome]++;
            urls.status[row] = (uint8_t)outcome;
            urls.tree.key[row] = priority;
            if (outcome == waiting) {
                urls.hosts[row] = host;
                enqueue(&urls, &hosts, row);
            }
        }
        else if (status == waiting && outcome == waiting && mode != FIRST) {
            double old = urls.tree.key[row];
            if (mode == MAX && !(priority > old))
                continue;
            if (mode == SUM && !isnan(old + priority))
                priority = old + priority;
            actions[i] = REPLACED;
            if (priority != old)
                change_priority(&urls, &hosts, row, priority);
        }
    }
    Py_RETURN_NONE;
}
FUNCTION(queues_join_into, 8)

BODY(queues_best_host)
{
    URLS_AND_HOSTS;
    NUMBER(now, 2);
    for (int32_t host; (host = (int32_t)hosts.roots[TIMED_ROOT]) && -hosts.timed.key[host] <= now;) {
        hosts.roots[TIMED_ROOT] = pop(&hosts.timed, host);
        hosts.state[host] = IDLE;
        if (hosts.best[host])
            make_ready(&urls, &hosts, host);
    }
    return PyLong_FromLongLong(hosts.roots[READY_ROOT]);
}
FUNCTION(queues_best_host, 3)

BODY(queues_take)
{
    URLS_AND_HOSTS;
    INDEX(host, 2, hosts.size);
    withdraw(&hosts, (int32_t)host);
    hosts.state[host] = BUSY;
    int32_t row = hosts.best[host];
    leave(&urls, &hosts, (int32_t)host, row);
    hosts.length[host]--;
    return PyLong_FromLong(row);
}
FUNCTION(queues_take, 3)

BODY(queues_schedule)
{
    URLS_AND_HOSTS;
    INDEX(host, 2, hosts.size);
    NUMBER(due, 3);
    int release = PyObject_IsTrue(arguments[4]);
    if (release < 0)
        return NULL;
    int busy = hosts.state[host] == BUSY && !release;
    if (!busy)
        withdraw(&hosts, (int32_t)host);
    hosts.timed.key[host] = -due;
    if (!busy)
        settle(&urls, &hosts, (int32_t)host);
    Py_RETURN_NONE;
}
FUNCTION(queues_schedule, 5)

BODY(queues_park)
{
    Hosts hosts;
    if (borrow_hosts(loan, arguments[0], &hosts) < 0)
        return NULL;
    INDEX(host, 1, hosts.size);
    withdraw(&hosts, (int32_t)host);
    hosts.state[host] = PARKED;
    Py_RETURN_NONE;
}
FUNCTION(queues_park, 2)

BODY(queues_unpark)
{
    URLS_AND_HOSTS;
    INDEX(host, 2, hosts.size);
    if (hosts.state[host] == PARKED) {
        hosts.state[host] = IDLE;
        if (hosts.best[host])
            make_ready(&urls, &hosts, (int32_t)host);
    }
    Py_RETURN_NONE;
}
FUNCTION(queues_unpark, 3)

BODY(queues_free)
{
    Hosts hosts;
    Py_ssize_t count;
    if (borrow_hosts(loan, arguments[0], &hosts) < 0)
        return NULL;
    int32_t *parked = borrow(loan, arguments[1], sizeof *parked, &count, 0);
    if (parked == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        if (parked[i] >= 0 && parked[i] < hosts.size && hosts.state[parked[i]] == PARKED)
            hosts.state[parked[i]] = IDLE;
    Py_RETURN_NONE;
}
FUNCTION(queues_free, 2)

BODY(queues_goes_before)
{
    URLS_AND_HOSTS;
    INDEX(one, 2, hosts.size);
    INDEX(other, 3, hosts.size);
    return PyBool_FromLong(goes_before(&urls, &hosts, (int32_t)one, (int32_t)other));
}
FUNCTION(queues_goes_before, 4)

BODY(queues_best_of)
{
    URLS_AND_HOSTS;
    Py_ssize_t count;
    int32_t best = 0, *parked = borrow(loan, arguments[2], sizeof *parked, &count, 0);
    if (parked == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        int32_t host = parked[i];
        if (host > 0 && host < hosts.size && hosts.state[host] == PARKED && hosts.best[host]
            && (best == 0 || goes_before(&urls, &hosts, host, best)))
            best = host;
    }
    return PyLong_FromLong(best);
}
FUNCTION(queues_best_of, 3)

BODY(queues_earliest)
{
    Hosts hosts;
    if (borrow_hosts(loan, arguments[0], &hosts) < 0)
        return NULL;
    NUMBER(now, 1);
    int64_t host = hosts.roots[TIMED_ROOT];
    double due = now;
    if (hosts.roots[READY_ROOT] == 0)
        due = host == 0 ? NAN : -hosts.timed.key[host] > now ? -hosts.timed.key[host] : now;
    return PyFloat_FromDouble(due);
}
FUNCTION(queues_earliest, 2)

/* urls, hosts, host, rows: the rows are not sorted. */
BODY(queues_clear_into)
{
    URLS_AND_HOSTS;
    INDEX(host, 2, hosts.size);
    Py_ssize_t room;
    int32_t *rows = borrow(loan, arguments[3], sizeof *rows, &room, 1);
    if (rows == NULL)
        return NULL;
    Py_ssize_t found = members(&urls.tree, hosts.best[host], rows, room);
    for (Py_ssize_t i = 0; i < found; i++)
        urls.tree.child[rows[i]] = urls.tree.next[rows[i]] = urls.tree.previous[rows[i]] = 0;
    hosts.best[host] = hosts.length[host] = 0;
    if (hosts.state[host] != BUSY)
        withdraw(&hosts, (int32_t)host);
    Py_RETURN_NONE;
}
FUNCTION(queues_clear_into, 4)

/* urls, hosts, size, host_count, the number of WAITING. */
BODY(queues_enqueue_rows)
{
    URLS_AND_HOSTS;
    INDEX(size, 2, urls.tree.size);
    INDEX(host_count, 3, hosts.size + 1);
    INDEX(waiting, 4, 256);
    int sound = 1;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 1; row <= size && sound; row++)
        if (urls.status[row] == waiting) {
            int32_t host = urls.hosts[row];
            sound = host >= 0 && host < hosts.size;
            if (!sound)
                break;
            hosts.best[host] = push(&urls.tree, hosts.best[host], (int32_t)row);
            hosts.length[host]++;
        }
    for (Py_ssize_t host = 1; host < host_count && sound; host++)
        settle(&urls, &hosts, (int32_t)host);
    Py_END_ALLOW_THREADS
    if (!sound) {
        PyErr_SetString(PyExc_IndexError, "a URL waits at a host that is not known");
        return NULL;
    }
    Py_RETURN_NONE;
}
FUNCTION(queues_enqueue_rows, 5)

/* -- fingerprint to row -------------------------------------------------------------------------------- */

typedef struct {
    int32_t *slots;
    int64_t *ids;
    Py_ssize_t slot_count, id_count;
} Seen;

static int
borrow_seen(Loan *loan, PyObject *const *arguments, Seen *seen)
{
    seen->slots = borrow(loan, arguments[0], sizeof *seen->slots, &seen->slot_count, 1);
    seen->ids = seen->slots ? borrow(loan, arguments[1], sizeof *seen->ids, &seen->id_count, 1) : NULL;
    if (seen->ids == NULL)
        return -1;
    if (seen->slot_count < 2 || (seen->slot_count & (seen->slot_count - 1))) {
        PyErr_SetString(PyExc_ValueError, "the number of slots must be a power of two");
        return -1;
    }
    return 0;
}

static Py_ssize_t
find(const Seen *seen, int64_t id)
{
    Py_ssize_t mask = seen->slot_count - 1;
    Py_ssize_t place = (Py_ssize_t)(((uint64_t)id * 0x9E3779B97F4A7C15ull) >> 32) & mask;
    while (seen->slots[place] && seen->ids[seen->slots[place]] != id)
        place = (place + 1) & mask;
    return place;
}

BODY(seen__find)
{
    Seen seen;
    if (borrow_seen(loan, arguments, &seen) < 0)
        return NULL;
    PyObject *number = PyNumber_Index(arguments[2]);
    if (number == NULL)
        return NULL;
    long long id = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (id == -1 && PyErr_Occurred())
        return NULL;
    return PyLong_FromSsize_t(find(&seen, id));
}
FUNCTION(seen__find, 3)

BODY(seen__insert)
{
    Seen seen;
    if (borrow_seen(loan, arguments, &seen) < 0)
        return NULL;
    INDEX(size, 2, seen.id_count < seen.slot_count ? seen.id_count : seen.slot_count);
    Py_ssize_t doubles = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 1; row <= size; row++) {
        Py_ssize_t place = find(&seen, seen.ids[row]);
        if (seen.slots[place])
            doubles++;
        else
            seen.slots[place] = (int32_t)row;
    }
    Py_END_ALLOW_THREADS
    return PyLong_FromSsize_t(doubles);
}
FUNCTION(seen__insert, 3)

BODY(seen__rows)
{
    Seen seen;
    if (borrow_seen(loan, arguments, &seen) < 0)
        return NULL;
    Py_ssize_t count, room;
    int64_t *wanted = borrow(loan, arguments[2], sizeof *wanted, &count, 0);
    int32_t *rows = wanted ? borrow(loan, arguments[4], sizeof *rows, &room, 1) : NULL;
    if (rows == NULL)
        return NULL;
    INDEX(size, 3, seen.id_count);
    if (room < count || size + count >= seen.slot_count) {
        PyErr_SetString(PyExc_ValueError, "there is no room for so many");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t place = find(&seen, wanted[i]);
        if (seen.slots[place] == 0) {
            if (++size >= seen.id_count) {
                PyErr_SetString(PyExc_IndexError, "there is no room for another fingerprint");
                return NULL;
            }
            seen.slots[place] = (int32_t)size;
            seen.ids[size] = wanted[i];
        }
        rows[i] = seen.slots[place];
    }
    return PyLong_FromSsize_t(size);
}
FUNCTION(seen__rows, 5)

BODY(seen__rows_of)
{
    Seen seen;
    if (borrow_seen(loan, arguments, &seen) < 0)
        return NULL;
    Py_ssize_t count, room;
    int64_t *wanted = borrow(loan, arguments[2], sizeof *wanted, &count, 0);
    int32_t *rows = wanted ? borrow(loan, arguments[3], sizeof *rows, &room, 1) : NULL;
    if (rows == NULL)
        return NULL;
    if (room < count) {
        PyErr_SetString(PyExc_ValueError, "there is no room for so many");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        rows[i] = seen.slots[find(&seen, wanted[i])];
    Py_RETURN_NONE;
}
FUNCTION(seen__rows_of, 4)

/* -- the log of the columns: honeyguide/store/columns.py ------------------------------------------------ */

enum { RECORD = 25 }; /* row and host of four bytes, fingerprint and priority of eight, status; little-endian */

BODY(columns_put_records)
{
    Py_ssize_t length, sizes[4];
    const char *blob = borrow(loan, arguments[0], 1, &length, 0);
    int64_t *ids = blob ? borrow(loan, arguments[1], sizeof *ids, &sizes[0], 1) : NULL;
    int32_t *hosts = ids ? borrow(loan, arguments[2], sizeof *hosts, &sizes[1], 1) : NULL;
    uint8_t *status = hosts ? borrow(loan, arguments[3], sizeof *status, &sizes[2], 1) : NULL;
    double *priority = status ? borrow(loan, arguments[4], sizeof *priority, &sizes[3], 1) : NULL;
    if (priority == NULL)
        return NULL;
    if (length % RECORD || sizes[1] != sizes[0] || sizes[2] != sizes[0] || sizes[3] != sizes[0]) {
        PyErr_SetString(PyExc_ValueError, "whole records and four columns of one length are wanted");
        return NULL;
    }
    for (const char *at = blob, *end = blob + length; at < end; at += RECORD) {
        int32_t row;
        memcpy(&row, at, sizeof row);
        if (row < 0 || row >= sizes[0]) {
            PyErr_SetString(PyExc_IndexError, "a record is of a row that is not there");
            return NULL;
        }
        memcpy(&hosts[row], at + 4, sizeof *hosts);
        memcpy(&ids[row], at + 8, sizeof *ids);
        memcpy(&priority[row], at + 16, sizeof *priority);
        status[row] = (uint8_t)at[24];
    }
    Py_RETURN_NONE;
}
FUNCTION(columns_put_records, 5)

/* -- words to numbers: honeyguide/text/word_table.py --------------------------------------------------- */

typedef struct {
    int64_t *keys;
    int32_t *values;
    Py_ssize_t size;
} Words;

static int
borrow_words(Loan *loan, PyObject *keys, PyObject *values, Words *words)
{
    Py_ssize_t size;
    words->keys = borrow(loan, keys, sizeof *words->keys, &words->size, 1);
    words->values = words->keys ? borrow(loan, values, sizeof *words->values, &size, 1) : NULL;
    if (words->values == NULL)
        return -1;
    if (size != words->size || size < 2 || (size & (size - 1))) {
        PyErr_SetString(PyExc_ValueError, "the size of a table must be a power of two");
        return -1;
    }
    return 0;
}

static Py_ssize_t
slot(const Words *words, int64_t key)
{
    Py_ssize_t mask = words->size - 1, place = (Py_ssize_t)(key ^ (key >> 29)) & mask;
    while (words->keys[place] && words->keys[place] != key)
        place = (place + 1) & mask;
    return place;
}

BODY(word_table__put)
{
    Words words;
    Py_ssize_t count, numbers_count, fresh = 0;
    if (borrow_words(loan, arguments[0], arguments[1], &words) < 0)
        return NULL;
    int64_t *new = borrow(loan, arguments[2], sizeof *new, &count, 0);
    int32_t *numbers = new ? borrow(loan, arguments[3], sizeof *numbers, &numbers_count, 0) : NULL;
    if (numbers == NULL)
        return NULL;
    if (numbers_count < count || count >= words.size) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (new[i] == 0)
            continue;
        Py_ssize_t place = slot(&words, new[i]);
        fresh += words.keys[place] == 0;
        words.keys[place] = new[i];
        words.values[place] = numbers[i];
    }
    return PyLong_FromSsize_t(fresh);
}
FUNCTION(word_table__put, 4)

/* Letters and digits of ASCII in lower case, bytes of other characters as they are, 0 for what parts words. The
 * compiler makes many at once of it. */
static void
to_letters(const uint8_t *restrict data, Py_ssize_t length, uint8_t *restrict letters)
{
    for (Py_ssize_t i = 0; i < length; i++) {
        uint8_t byte = data[i], small = byte | 32;
        uint8_t letter = (uint8_t)(small - 'a') <= 25, other = (uint8_t)(byte - '0') <= 9 || byte >= 128;
        letters[i] = (uint8_t)((small & -letter) | (byte & -other));
    }
}

/* The next bytes of a word, eight at most, as a number; `*size` of them. Behind the last word there are eight zeros. */
static inline uint64_t
part_of_word(const uint8_t *letters, int *size)
{
    uint64_t part = 0;
#if PY_LITTLE_ENDIAN && defined(__GNUC__)
    memcpy(&part, letters, 8);
    uint64_t zeros = (part - 0x0101010101010101ull) & ~part & 0x8080808080808080ull;
    if (zeros == 0) {
        *size = 8;
        return part;
    }
    *size = __builtin_ctzll(zeros) >> 3;
    return part & ((1ull << (8 * *size)) - 1);
#else
    for (*size = 0; *size < 8 && letters[*size]; ++*size)
        part |= (uint64_t)letters[*size] << (8 * *size);
    return part;
#endif
}

static inline uint64_t
stir(uint64_t hash)
{
    hash *= 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    hash *= 0xbf58476d1ce4e5b9ull;
    return hash ^ (hash >> 29);
}

/* The key of the word at `*start`, moved behind it. */
static inline int64_t
key_of_word(const uint8_t *letters, Py_ssize_t *start, uint64_t seed)
{
    /* Eight bytes at a time: no byte of a word is 0, so what is left says how long it is. */
    int size;
    uint64_t hash = seed, part;
    while ((part = part_of_word(letters + *start, &size)), size == 8) {
        hash = stir(hash ^ part);
        *start += 8;
    }
    *start += size;
    return (int64_t)(stir(hash ^ part) | 1);
}

/* data, keys, values, found, missed, seed: how many words, and how many of them are new. */
BODY(word_table__read)
{
    Words words;
    Py_ssize_t length, room, missed_room, count = 0, misses = 0;
    uint8_t *data = borrow(loan, arguments[0], 1, &length, 0);
    if (data == NULL || borrow_words(loan, arguments[1], arguments[2], &words) < 0)
        return NULL;
    int32_t *found = borrow(loan, arguments[3], sizeof *found, &room, 1);
    int64_t *missed = found ? borrow(loan, arguments[4], sizeof *missed, &missed_room, 1) : NULL;
    if (missed == NULL)
        return NULL;
    uint64_t seed = PyLong_AsUnsignedLongLong(arguments[5]);
    if (seed == (uint64_t)-1 && PyErr_Occurred())
        return NULL;
    if (room < length / 2 + 1) {
        PyErr_SetString(PyExc_ValueError, "there is no room for the words");
        return NULL;
    }
    uint8_t *letters = PyMem_RawMalloc((size_t)length + 8);
    if (letters == NULL)
        return PyErr_NoMemory();
    to_letters(data, length, letters);
    memset(letters + length, 0, 8);
    missed_room /= 4;
    for (Py_ssize_t start = 0; start < length;) {
        if (letters[start] == 0) {
            start++;
            continue;
        }
        Py_ssize_t end = start;
        int64_t key = key_of_word(letters, &end, seed);
        Py_ssize_t place = slot(&words, key);
        if (words.keys[place] == key) {
            found[count] = words.values[place];
            count += found[count] != 0; /* a word that is dropped */
        }
        else {
            found[count] = -1;
            if (misses < missed_room) {
                int64_t *row = missed + 4 * misses;
                row[0] = count;
                row[1] = key;
                row[2] = start;
                row[3] = end;
            }
            misses++;
            count++;
        }
        start = end;
    }
    PyMem_RawFree(letters);
    return Py_BuildValue("nn", count, misses);
}
FUNCTION(word_table__read, 6)

enum { SHORT_TEXT = 4096, NONE_OF_THEM = 0, ONE_OF_THEM = 1, UNSURE = 2 };

/* Whether a text has a word whose number is marked. */
static char
has_marked(PyObject *text, const Words *words, const uint8_t *marked, Py_ssize_t names, uint64_t seed)
{
    uint8_t letters[SHORT_TEXT + 8];
    Py_ssize_t length;
    const char *data = PyUnicode_AsUTF8AndSize(text, &length);
    if (data == NULL || length > SHORT_TEXT) {
        PyErr_Clear(); /* half of a character: Python knows how to read it */
        return UNSURE;
    }
    to_letters((const uint8_t *)data, length, letters);
    memset(letters + length, 0, 8);
    char answer = NONE_OF_THEM;
    for (Py_ssize_t start = 0; start < length;) {
        if (letters[start] == 0) {
            start++;
            continue;
        }
        int64_t key = key_of_word(letters, &start, seed);
        Py_ssize_t place = slot(words, key);
        if (words->keys[place] != key || words->values[place] < 0 || words->values[place] >= names)
            answer = UNSURE;
        else if (marked[words->values[place]])
            return ONE_OF_THEM;
    }
    return answer;
}

/* texts, keys, values, marked, seed */
BODY(word_table__mentions)
{
    Words words;
    uint8_t *marked;
    Py_ssize_t names;
    if (!PyList_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "a list of texts is wanted");
        return NULL;
    }
    if (borrow_words(loan, arguments[1], arguments[2], &words) < 0)
        return NULL;
    TAKE(marked, 3, &names, 0);
    uint64_t seed = PyLong_AsUnsignedLongLong(arguments[4]);
    if (seed == (uint64_t)-1 && PyErr_Occurred())
        return NULL;
    PyObject *answer = PyBytes_FromStringAndSize(NULL, PyList_GET_SIZE(arguments[0]));
    for (Py_ssize_t i = 0; answer != NULL && i < PyList_GET_SIZE(arguments[0]); i++) {
        PyObject *text = PyList_GET_ITEM(arguments[0], i);
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "a list of texts is wanted");
            Py_CLEAR(answer);
        }
        else
            PyBytes_AS_STRING(answer)[i] = has_marked(text, &words, marked, names, seed);
    }
    return answer;
}
FUNCTION(word_table__mentions, 5)

/* Each number once, and how often it occurs, after `different` that are known; how many there are then, or -1.
 * `places` has the place of each among them, from 1 on. */
static Py_ssize_t
count_numbers(PyObject *array, Loan *loan, int32_t *places, Py_ssize_t size, int32_t *distinct, int64_t *counts,
              Py_ssize_t room, Py_ssize_t different)
{
    Py_ssize_t length;
    int32_t *numbers = borrow(loan, array, sizeof *numbers, &length, 0);
    if (numbers == NULL)
        return -1;
    if (room - different < length || length > INT32_MAX - different) {
        PyErr_SetString(PyExc_ValueError, "there is no room for the numbers");
        return -1;
    }
    for (Py_ssize_t i = 0; i < length; i++)
        if (numbers[i] < 0 || numbers[i] >= size) {
            PyErr_SetString(PyExc_IndexError, "a number is too large");
            return -1;
        }
    for (Py_ssize_t i = 0; i < length; i++) {
        int32_t *place = &places[numbers[i]];
        if (*place == 0) {
            distinct[different] = numbers[i];
            counts[different] = 1;
            *place = (int32_t)++different;
        }
        else if (*place > 0 && *place <= different)
            counts[*place - 1]++;
    }
    return different;
}

/* numbers, places, distinct, counts: how many different ones. `places` is all 0 before and after. */
BODY(word_table__count)
{
    Py_ssize_t size, room, counts_room;
    int32_t *places = borrow(loan, arguments[1], sizeof *places, &size, 1);
    int32_t *distinct = places ? borrow(loan, arguments[2], sizeof *distinct, &room, 1) : NULL;
    int64_t *counts = distinct ? borrow(loan, arguments[3], sizeof *counts, &counts_room, 1) : NULL;
    if (counts == NULL)
        return NULL;
    room = counts_room < room ? counts_room : room;
    Py_ssize_t different = count_numbers(arguments[0], loan, places, size, distinct, counts, room, 0);
    if (different < 0)
        return NULL;
    for (Py_ssize_t i = 0; i < different; i++)
        places[distinct[i]] = 0;
    return PyLong_FromSsize_t(different);
}
FUNCTION(word_table__count, 4)

/* The `most` most frequent numbers, the most frequent first; of equally frequent ones, those that came first. */
static int
most_frequent(int32_t *distinct, int64_t *counts, Py_ssize_t different, Py_ssize_t most)
{
    int64_t largest = 0;
    for (Py_ssize_t i = 0; i < different; i++)
        if (counts[i] > largest)
            largest = counts[i];
    Py_ssize_t *starts = PyMem_Calloc((size_t)largest + 2, sizeof *starts);
    int32_t *sorted = PyMem_Malloc((size_t)most * sizeof *sorted);
    int64_t *often = PyMem_Malloc((size_t)most * sizeof *often);
    int fine = starts != NULL && sorted != NULL && often != NULL;
    if (fine) {
        for (Py_ssize_t i = 0; i < different; i++)
            starts[counts[i]]++;
        Py_ssize_t before = 0;
        for (int64_t count = largest; count >= 0; count--) {
            Py_ssize_t own = starts[count];
            starts[count] = before;
            before += own;
        }
        for (Py_ssize_t i = 0; i < different; i++) {
            Py_ssize_t place = starts[counts[i]]++;
            if (place < most) {
                sorted[place] = distinct[i];
                often[place] = counts[i];
            }
        }
        memcpy(distinct, sorted, (size_t)most * sizeof *sorted);
        memcpy(counts, often, (size_t)most * sizeof *often);
    }
    PyMem_Free(starts);
    PyMem_Free(sorted);
    PyMem_Free(often);
    return fine ? 0 : -1;
}

/* 1 + log(count). Most words of a text occur a few times: their logarithms are worked out once. */
static double
weight_of(int64_t count)
{
    static double known[64];
    if (count >= 64)
        return 1.0 + log((double)count);
    if (known[count] == 0.0)
        known[count] = 1.0 + log((double)count);
    return known[count];
}

/* texts, places, distinct, weights: how many are kept, and how many words those are. */
BODY(word_table__frequent)
{
    Py_ssize_t size, most, weights_room, all = 0, different = 0;
    int32_t *places = borrow(loan, arguments[1], sizeof *places, &size, 1);
    int32_t *kept = places ? borrow(loan, arguments[2], sizeof *kept, &most, 1) : NULL;
    double *weights = kept ? borrow(loan, arguments[3], sizeof *weights, &weights_room, 1) : NULL;
    if (weights == NULL)
        return NULL;
    if (!PyTuple_Check(arguments[0]) || PyTuple_GET_SIZE(arguments[0]) > MOST_BUFFERS / 2 || weights_room != most) {
        PyErr_SetString(PyExc_ValueError, "a tuple of few texts is wanted, and as many weights as numbers");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments[0]); i++) {
        Py_ssize_t length = PyObject_Length(PyTuple_GET_ITEM(arguments[0], i));
        if (length < 0)
            return NULL;
        all += length;
    }
    int32_t *distinct = PyMem_Malloc((size_t)(all ? all : 1) * sizeof *distinct);
    int64_t *counts = PyMem_Malloc((size_t)(all ? all : 1) * sizeof *counts), words = 0;
    if (distinct == NULL || counts == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments[0]) && !PyErr_Occurred(); i++) {
        Py_ssize_t now = count_numbers(
            PyTuple_GET_ITEM(arguments[0], i), loan, places, size, distinct, counts, all, different);
        different = now < 0 ? different : now;
    }
    for (Py_ssize_t i = 0; i < different; i++)
        places[distinct[i]] = 0;
    if (!PyErr_Occurred() && different > most) {
        if (most_frequent(distinct, counts, different, most) < 0)
            PyErr_NoMemory();
        different = most;
    }
    for (Py_ssize_t i = 0; i < different && !PyErr_Occurred(); i++) {
        kept[i] = distinct[i];
        weights[i] = weight_of(counts[i]);
        words += counts[i];
    }
    PyMem_Free(distinct);
    PyMem_Free(counts);
    return PyErr_Occurred() ? NULL : Py_BuildValue("nL", different, (long long)words);
}
FUNCTION(word_table__frequent, 4)
