/* What the files of the extension share. */

#ifndef HONEYGUIDE_NATIVE_H
#define HONEYGUIDE_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* As in honeyguide/native/__init__.py: a module built from other sources is not used. */
#define NATIVE_VERSION 9

/* Something in memory that is read soon. */
#ifdef __GNUC__
#define EXPECT(place) __builtin_prefetch(place)
#else
#define EXPECT(place) ((void)(place))
#endif

extern const char scan_page_doc[];
int page_init(void);
PyObject *scan_page(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char tidied_doc[];
int tidy_init(void);
PyObject *tidied(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char simhash_doc[];
PyObject *simhash(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char content_blocks_doc[];
PyObject *content_blocks(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char tag_counts_doc[];
PyObject *tag_counts(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* links.c */
PyObject *url_plain_urls(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *links_joined(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* search.c */
PyObject *search_has_any(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *main_links_marked(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* arrival.c */
int arrival_init(void);
PyObject *admission_sifted(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *traps_plain(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *zones_linked(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *digest_base32(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* frontier.c */
PyObject *pairing_heap_push(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *pairing_heap_pop(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *pairing_heap_remove(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *pairing_heap_join_evenly(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *pairing_heap_members(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_settle(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_make_ready(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_withdraw(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_enqueue(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_dequeue(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_change_priority(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_change_priorities(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_revisable(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_join_into(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_best_host(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_take(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_schedule(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_park(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_unpark(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_free(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_goes_before(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_best_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_earliest(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_clear_into(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *queues_enqueue_rows(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *seen__find(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *seen__insert(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *seen__rows(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *seen__rows_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *columns_put_records(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *word_table__put(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *word_table__read(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *word_table__mentions(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *word_table__count(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *word_table__frequent(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* scout.c */
PyObject *scout_evidence_add_outcome(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_evidence_add_links(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_evidence_read_scores(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_evidence_set_priorities(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *ridge_descend(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_evidence_promise(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_evidence_that_wait(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_evidence_tell(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_words_enter(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_words_read_site_paths(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_words_read_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_words_take_in_page(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* scout_links.c */
int scout_links_init(void);
PyObject *scout_links_read_links(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_links_note_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *scout_links_note_groups(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* relevance.c */
PyObject *mixture_count_texts(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *mixture_fill(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *mixture_products(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *mixture_add_up(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *tf_cosine_count_phrases(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *tokens_look_up(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *calibrated_compare(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

#endif
