/* honeyguide._native: what costs most, in C. Everything here has a twin in Python that is the reference. */

#include "native.h"

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, name##_doc}

#define TWIN(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef METHODS[] = {
    METHOD(scan_page),
    METHOD(tidied),
    METHOD(simhash),
    METHOD(content_blocks),
    METHOD(tag_counts),
    TWIN(pairing_heap_push),
    TWIN(pairing_heap_pop),
    TWIN(pairing_heap_remove),
    TWIN(pairing_heap_join_evenly),
    TWIN(pairing_heap_members),
    TWIN(queues_settle),
    TWIN(queues_make_ready),
    TWIN(queues_withdraw),
    TWIN(queues_enqueue),
    TWIN(queues_dequeue),
    TWIN(queues_change_priority),
    TWIN(queues_change_priorities),
    TWIN(queues_revisable),
    TWIN(queues_join_into),
    TWIN(queues_best_host),
    TWIN(queues_take),
    TWIN(queues_schedule),
    TWIN(queues_park),
    TWIN(queues_unpark),
    TWIN(queues_free),
    TWIN(queues_goes_before),
    TWIN(queues_best_of),
    TWIN(queues_earliest),
    TWIN(queues_clear_into),
    TWIN(queues_enqueue_rows),
    TWIN(seen__find),
    TWIN(seen__insert),
    TWIN(seen__rows),
    TWIN(seen__rows_of),
#if PY_LITTLE_ENDIAN
    TWIN(columns_put_records),
#endif
    TWIN(search_has_any),
    TWIN(main_links_marked),
    TWIN(admission_sifted),
    TWIN(traps_plain),
    TWIN(zones_linked),
    TWIN(digest_base32),
    TWIN(url_plain_urls),
    TWIN(links_joined),
    TWIN(word_table__put),
    TWIN(word_table__read),
    TWIN(word_table__mentions),
    TWIN(word_table__count),
    TWIN(word_table__frequent),
    TWIN(scout_evidence_add_outcome),
    TWIN(scout_evidence_add_links),
    TWIN(scout_evidence_read_scores),
    TWIN(scout_evidence_set_priorities),
    TWIN(scout_evidence_tell),
    TWIN(scout_evidence_that_wait),
    TWIN(scout_evidence_promise),
    TWIN(ridge_descend),
    TWIN(scout_words_enter),
    TWIN(scout_words_read_site_paths),
    TWIN(scout_words_read_anchors),
    TWIN(scout_words_take_in_page),
    TWIN(scout_links_read_links),
    TWIN(scout_links_note_anchors),
    TWIN(scout_links_note_groups),
    TWIN(mixture_count_texts),
    TWIN(mixture_fill),
    TWIN(mixture_products),
    TWIN(mixture_add_up),
    TWIN(tf_cosine_count_phrases),
    TWIN(tokens_look_up),
    TWIN(calibrated_compare),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "honeyguide._native", "The parts of Honeyguide that are written in C.", -1, METHODS,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    PyObject *module = PyModule_Create(&MODULE);
    if (module == NULL)
        return NULL;
    if (page_init() < 0 || tidy_init() < 0 || arrival_init() < 0 || scout_links_init() < 0
        || PyModule_AddIntConstant(module, "VERSION", NATIVE_VERSION) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
