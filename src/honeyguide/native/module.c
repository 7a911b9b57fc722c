/* honeyguide._native: what costs most, in C. Everything here has a twin in Python that is the reference. */

#include "native.h"

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, name##_doc}

static PyMethodDef METHODS[] = {
    METHOD(scan_page),
    METHOD(simhash),
    METHOD(content_blocks),
    METHOD(tag_counts),
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
    if (page_init() < 0 || PyModule_AddIntConstant(module, "VERSION", NATIVE_VERSION) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
