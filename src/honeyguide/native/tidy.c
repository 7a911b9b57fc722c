/* A page written out as its tree would be, without building the tree: only for pages whose tags are all in order.
 *
 * Building a tree and writing it out take a third of the time of parsing a page, and most of what they do is find out
 * that nothing was missing. Here every tag is held against the rules of tree construction (HTML, section 13.2.6): as
 * soon as one would close, open or move anything by itself, or is none that is known here, the page is left to the
 * tree builder. What is given back is equal, character for character, to what the tree builder writes; the tests hold
 * both to that. References are to names of the standard.
 */

#include "native.h"

#include <string.h>

/* What a tag means for the tree. */
enum {
    ORDINARY,   /* no rule of its own */
    ANCHOR,
    PARAGRAPH,
    BLOCK,      /* closes a paragraph */
    HEADING,    /* the same, and another heading */
    PRE,        /* the same, and swallows a line end */
    FORM,
    BUTTON,
    ITEM,       /* li */
    ENTRY,      /* dd, dt */
    EMPTY,      /* without content */
    RULE,       /* hr: without content, closes a paragraph */
    IN_HEAD,    /* the same, and may stand in the head */
    RAW,        /* its content is no markup */
    SCRIPT,
    TITLE,      /* its content is text */
    TABLE,
    CAPTION,
    COLUMNS,
    COLUMN,
    SECTION,    /* tbody, thead, tfoot */
    ROW,
    CELL,
    SELECT,
    OPTIONS,
    OPTION,
    HTML,
    HEAD,
    BODY,
};

typedef struct {
    const char *name;
    unsigned char kind;
    unsigned char ends_search; /* "special", and neither address, div nor p: who looks for an open li stops here */
} Known;

static const Known KNOWN[] = {
    {"a", ANCHOR, 0},        {"abbr", ORDINARY, 0},   {"address", BLOCK, 0},    {"area", EMPTY, 0},
    {"article", BLOCK, 1},   {"aside", BLOCK, 1},     {"audio", ORDINARY, 0},   {"b", ORDINARY, 0},
    {"base", IN_HEAD, 0},    {"bdi", ORDINARY, 0},    {"bdo", ORDINARY, 0},     {"big", ORDINARY, 0},
    {"blockquote", BLOCK, 1}, {"body", BODY, 1},      {"br", EMPTY, 0},         {"button", BUTTON, 1},
    {"canvas", ORDINARY, 0}, {"caption", CAPTION, 1}, {"center", BLOCK, 1},     {"cite", ORDINARY, 0},
    {"code", ORDINARY, 0},   {"col", COLUMN, 1},      {"colgroup", COLUMNS, 1}, {"data", ORDINARY, 0},
    {"dd", ENTRY, 1},        {"del", ORDINARY, 0},    {"details", BLOCK, 1},    {"dfn", ORDINARY, 0},
    {"dir", BLOCK, 1},       {"div", BLOCK, 0},       {"dl", BLOCK, 1},         {"dt", ENTRY, 1},
    {"em", ORDINARY, 0},     {"fieldset", BLOCK, 1},  {"figcaption", BLOCK, 1}, {"figure", BLOCK, 1},
    {"font", ORDINARY, 0},   {"footer", BLOCK, 1},    {"form", FORM, 1},        {"h1", HEADING, 1},
    {"h2", HEADING, 1},      {"h3", HEADING, 1},      {"h4", HEADING, 1},       {"h5", HEADING, 1},
    {"h6", HEADING, 1},      {"head", HEAD, 1},       {"header", BLOCK, 1},     {"hgroup", BLOCK, 1},
    {"hr", RULE, 0},         {"html", HTML, 1},       {"i", ORDINARY, 0},       {"iframe", RAW, 1},
    {"img", EMPTY, 0},       {"input", EMPTY, 0},     {"ins", ORDINARY, 0},     {"kbd", ORDINARY, 0},
    {"label", ORDINARY, 0},  {"legend", ORDINARY, 0}, {"li", ITEM, 1},          {"link", IN_HEAD, 0},
    {"main", BLOCK, 1},      {"map", ORDINARY, 0},    {"mark", ORDINARY, 0},    {"menu", BLOCK, 1},
    {"meta", IN_HEAD, 0},    {"nav", BLOCK, 1},       {"noscript", RAW, 1},     {"ol", BLOCK, 1},
    {"optgroup", OPTIONS, 0}, {"option", OPTION, 0},  {"p", PARAGRAPH, 0},      {"picture", ORDINARY, 0},
    {"pre", PRE, 1},         {"q", ORDINARY, 0},      {"s", ORDINARY, 0},       {"samp", ORDINARY, 0},
    {"script", SCRIPT, 1},   {"section", BLOCK, 1},   {"select", SELECT, 1},    {"small", ORDINARY, 0},
    {"source", EMPTY, 0},    {"span", ORDINARY, 0},   {"strike", ORDINARY, 0},  {"strong", ORDINARY, 0},
    {"style", RAW, 1},       {"sub", ORDINARY, 0},    {"summary", BLOCK, 1},    {"sup", ORDINARY, 0},
    {"table", TABLE, 1},     {"tbody", SECTION, 1},   {"td", CELL, 1},          {"textarea", TITLE, 1},
    {"tfoot", SECTION, 1},   {"th", CELL, 1},         {"thead", SECTION, 1},    {"time", ORDINARY, 0},
    {"title", TITLE, 1},     {"tr", ROW, 1},          {"tt", ORDINARY, 0},      {"u", ORDINARY, 0},
    {"ul", BLOCK, 1},        {"var", ORDINARY, 0},    {"video", ORDINARY, 0},   {"wbr", EMPTY, 0},
};

/* The body of a table that has rows of its own. */
static const Known IMPLIED = {"tbody", SECTION, 1};

/* The most frequent names of characters. */
static const struct {
    const char *name;
    Py_ssize_t length;
    uint32_t code;
} REFERENCES[] = {
    {"amp", 3, '&'},       {"lt", 2, '<'},         {"gt", 2, '>'},         {"quot", 4, '"'},      {"nbsp", 4, 0xA0},
    {"apos", 4, '\''},     {"copy", 4, 0xA9},      {"reg", 3, 0xAE},       {"laquo", 5, 0xAB},    {"raquo", 5, 0xBB},
    {"middot", 6, 0xB7},   {"times", 5, 0xD7},     {"deg", 3, 0xB0},       {"eacute", 6, 0xE9},   {"egrave", 6, 0xE8},
    {"aacute", 6, 0xE1},   {"agrave", 6, 0xE0},    {"iacute", 6, 0xED},    {"oacute", 6, 0xF3},   {"uacute", 6, 0xFA},
    {"ntilde", 6, 0xF1},   {"ccedil", 6, 0xE7},    {"auml", 4, 0xE4},      {"ouml", 4, 0xF6},     {"uuml", 4, 0xFC},
    {"Auml", 4, 0xC4},     {"Ouml", 4, 0xD6},      {"Uuml", 4, 0xDC},      {"szlig", 5, 0xDF},    {"para", 4, 0xB6},
    {"pound", 5, 0xA3},    {"mdash", 5, 0x2014},   {"ndash", 5, 0x2013},   {"lsquo", 5, 0x2018},  {"rsquo", 5, 0x2019},
    {"ldquo", 5, 0x201C},  {"rdquo", 5, 0x201D},   {"hellip", 6, 0x2026},  {"bull", 4, 0x2022},   {"trade", 5, 0x2122},
    {"larr", 4, 0x2190},   {"rarr", 4, 0x2192},    {"euro", 4, 0x20AC},
};

enum { LONGEST_REFERENCE = 8 };
enum { KNOWN_COUNT = sizeof KNOWN / sizeof *KNOWN, LONGEST = 10, SLOTS = 512, DEEPEST = 200, MOST_ATTRIBUTES = 32, LONGEST_NAME = 60 };

static unsigned char SLOT_OF[SLOTS]; /* index into KNOWN plus one, by hash */

static unsigned
slot_of(const char *name, Py_ssize_t length)
{
    unsigned hash = 2166136261u;
    for (Py_ssize_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ (hash >> 15)) % SLOTS;
}

static const Known *
known_as(const char *name, Py_ssize_t length)
{
    for (unsigned slot = slot_of(name, length); SLOT_OF[slot]; slot = (slot + 1) % SLOTS) {
        const Known *known = &KNOWN[SLOT_OF[slot] - 1];
        if (strncmp(known->name, name, (size_t)length) == 0 && known->name[length] == 0)
            return known;
    }
    return NULL;
}

int
tidy_init(void)
{
    if (SLOT_OF[slot_of("a", 1)])
        return 0;
    for (int i = 0; i < KNOWN_COUNT; i++) {
        unsigned slot = slot_of(KNOWN[i].name, (Py_ssize_t)strlen(KNOWN[i].name));
        while (SLOT_OF[slot])
            slot = (slot + 1) % SLOTS;
        SLOT_OF[slot] = (unsigned char)(i + 1);
    }
    return 0;
}

/* From its place 16 - n on, 16 bytes of which the first n are set. */
static const unsigned char FIRST_BYTES[32] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};

/* White space as the tokenizer has it. */
#define IS_BLANK(c) ((c) == ' ' || (c) == '\n' || (c) == '\t' || (c) == '\r' || (c) == '\f')
#define IS_SMALL(c) ((c) >= 'a' && (c) <= 'z')
#define IS_LETTER(c) (IS_SMALL(c) || ((c) >= 'A' && (c) <= 'Z'))
#define IS_DIGIT(c) ((c) >= '0' && (c) <= '9')

#define CHAR Py_UCS1
#define WIDE 0
#define KIND PyUnicode_1BYTE_KIND
#define NAMED(name) name##_1
#include "tidy_scan.h"
#undef CHAR
#undef WIDE
#undef KIND
#undef NAMED

#define CHAR Py_UCS2
#define WIDE 1
#define KIND PyUnicode_2BYTE_KIND
#define NAMED(name) name##_2
#include "tidy_scan.h"
#undef CHAR
#undef KIND
#undef NAMED

#define CHAR Py_UCS4
#define KIND PyUnicode_4BYTE_KIND
#define NAMED(name) name##_4
#include "tidy_scan.h"
#undef CHAR
#undef KIND
#undef NAMED

const char tidied_doc[] =
    "tidied(html, /)\n--\n\nA page as the tree builder would write its tree; None where only that can tell.";

PyObject *
tidied(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 1 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "tidied(html: str)");
        return NULL;
    }
    if (PyUnicode_READY(arguments[0]) < 0)
        return NULL;
    const void *data = PyUnicode_DATA(arguments[0]);
    Py_ssize_t length = PyUnicode_GET_LENGTH(arguments[0]);
    int too_narrow = 0;
    PyObject *answer;
    switch (PyUnicode_KIND(arguments[0])) {
    case PyUnicode_1BYTE_KIND:
        answer = tidied_1(data, length, &too_narrow);
        if (!too_narrow || answer == NULL)
            return answer;
        break;
    case PyUnicode_2BYTE_KIND:
        return tidied_2(data, length, &too_narrow);
    default:
        return tidied_4(data, length, &too_narrow);
    }
    Py_DECREF(answer);
    Py_UCS2 *wide = PyMem_RawMalloc(((size_t)length + 1) * sizeof *wide);
    if (wide == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < length; i++)
        wide[i] = ((const Py_UCS1 *)data)[i];
    answer = tidied_2(wide, length, &too_narrow);
    PyMem_RawFree(wide);
    return answer;
}
