/* What the files of the extension share. */

#ifndef HONEYGUIDE_NATIVE_H
#define HONEYGUIDE_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* As in honeyguide/native/__init__.py: a module built from other sources is not used. */
#define NATIVE_VERSION 1

extern const char scan_page_doc[];
int page_init(void);
PyObject *scan_page(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char simhash_doc[];
PyObject *simhash(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char content_blocks_doc[];
PyObject *content_blocks(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char tag_counts_doc[];
PyObject *tag_counts(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

#endif
