/* The loop of content_blocks in honeyguide/parse/blocks.py, which tells what a content block is. */

#include "native.h"

const char content_blocks_doc[] =
    "content_blocks(parents, tags, links, alpha, block_tags, minimum_links, /)\n--\n\n"
    "Roots of the content blocks of a tree, in document order.";

PyObject *
content_blocks(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 6 || !PyList_Check(arguments[0]) || !PyList_Check(arguments[1]) || !PyList_Check(arguments[2])
        || !PyAnySet_Check(arguments[4])) {
        PyErr_SetString(PyExc_TypeError, "content_blocks(parents, tags, links, alpha, block_tags, minimum_links)");
        return NULL;
    }
    Py_ssize_t size = PyList_GET_SIZE(arguments[0]);
    double alpha = PyFloat_AsDouble(arguments[3]);
    Py_ssize_t minimum = PyLong_AsSsize_t(arguments[5]);
    if (PyErr_Occurred())
        return NULL;
    if (PyList_GET_SIZE(arguments[1]) != size || PyList_GET_SIZE(arguments[2]) != size) {
        PyErr_SetString(PyExc_ValueError, "the lists differ in length");
        return NULL;
    }
    typedef struct {
        Py_ssize_t parent, links, counted, height;
        char leads, split;
    } Node;
    Node *nodes = PyMem_RawCalloc((size_t)size + 1, sizeof *nodes);
    PyObject *roots = PyList_New(0);
    if (nodes == NULL || roots == NULL) {
        PyErr_NoMemory();
        goto failed;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        nodes[i].parent = PyLong_AsSsize_t(PyList_GET_ITEM(arguments[0], i));
        nodes[i].links = nodes[i].counted = PyLong_AsSsize_t(PyList_GET_ITEM(arguments[2], i));
        if (PyErr_Occurred())
            goto failed;
        if (i && (nodes[i].parent < 0 || nodes[i].parent >= i)) {
            PyErr_SetString(PyExc_ValueError, "a parent must stand before its children");
            goto failed;
        }
    }
    for (Py_ssize_t i = size - 1; i > 0; i--) {
        Node *node = &nodes[i], *parent = &nodes[node->parent];
        int counts = PySet_Contains(arguments[4], PyList_GET_ITEM(arguments[1], i));
        if (counts < 0)
            goto failed;
        if (node->height + counts > parent->height)
            parent->height = node->height + counts;
        if (node->counted >= minimum)
            parent->leads = 1;
        parent->counted += node->counted;
    }
    double threshold = size ? alpha * (double)nodes[0].height : 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        Node *node = &nodes[i];
        if (i && !nodes[node->parent].split)
            continue;
        if (node->leads && (double)node->height >= threshold && !node->links) {
            node->split = 1;
            continue;
        }
        PyObject *number = PyLong_FromSsize_t(i);
        if (number == NULL || PyList_Append(roots, number) < 0) {
            Py_XDECREF(number);
            goto failed;
        }
        Py_DECREF(number);
    }
    PyMem_RawFree(nodes);
    return roots;
failed:
    PyMem_RawFree(nodes);
    Py_XDECREF(roots);
    return NULL;
}
