/* Fields of objects that have them in fixed places, such as links: read a hundred thousand times a second. */

#ifndef HONEYGUIDE_FIELDS_H
#define HONEYGUIDE_FIELDS_H

#include "native.h"

#include <structmember.h>

typedef struct {
    PyObject *name;
    PyTypeObject *type; /* of the object that was asked last; `offset` is where it has the field, or 0 */
    Py_ssize_t offset;
} Field;

/* Where objects of a type have a field, by the type's own description of it; 0 where that does not say. */
static inline Py_ssize_t
offset_in(PyTypeObject *type, PyObject *name)
{
    PyObject *found = PyObject_GetAttr((PyObject *)type, name);
    Py_ssize_t offset = 0;
    if (found == NULL)
        PyErr_Clear();
    else if (Py_IS_TYPE(found, &PyMemberDescr_Type)) {
        const PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
        if (member->type == T_OBJECT_EX)
            offset = member->offset;
    }
    Py_XDECREF(found);
    return offset;
}

/* A field of an object, as a new reference; NULL on error. */
static inline PyObject *
get_field(PyObject *object, Field *field)
{
    if (!Py_IS_TYPE(object, field->type)) {
        field->offset = offset_in(Py_TYPE(object), field->name);
        Py_INCREF(Py_TYPE(object)); /* or another type might get its address */
        Py_XDECREF(field->type);
        field->type = Py_TYPE(object);
    }
    PyObject *value = field->offset ? *(PyObject **)((char *)object + field->offset) : NULL;
    if (value == NULL)
        return PyObject_GetAttr(object, field->name);
    return Py_NewRef(value);
}

#endif
