/* Reads a page's tree, written out as HTML by the tree builder, in one pass.
 *
 * The same as honeyguide/parse/walk.py, which is the reference and what runs where this is not built; the
 * tests hold both to equal answers. The text that comes in is lexbor's own serialisation: every element is
 * closed, attribute values are in double quotes, and only code and the like holds a bare '<'. It still comes
 * from strangers, so nothing here trusts it to be well formed: every read is bounded by the end of the text.
 */

#include "native.h"

#include <string.h>

/* As in walk.py, folding.py, links.py, main_text.py and article.py. */
#define MAX_OCCURRENCES 10000
#define MAX_HEADINGS 100
#define MAX_META 100
#define MAX_PATH 64
#define MAX_PATH_LENGTH 500
#define MAX_LEVELS 1024
#define MAX_HEADING 300
#define MAX_ANCHOR 300
#define MAX_CONTEXT 300
#define MENU_LENGTH 40
#define MENU_LINES 5
#define PROSE 800
#define IDEOGRAPHS 0x2E80
#define LONG 80
#define FEW_LINKS 0.4
#define ENOUGH 500
#define MOST 0.7
#define MOSTLY_LINK 0.8
#define LINKS 2
#define LEAD 15

/* Soft hyphens, control characters and others that nobody sees: as in page.py. */
#define INVISIBLE(c)                                                                                    \
    ((c) < 0x09 || ((c) > 0x0D && (c) < 0x1C) || ((c) >= 0x7F && (c) <= 0x9F && (c) != 0x85) ||         \
     (c) == 0xAD || (Py_UCS4)(c) == 0x200B || (Py_UCS4)(c) == 0x2060 || (Py_UCS4)(c) == 0xFEFF)

#if defined(__GNUC__)
#define VECTORS 1 /* arrays of numbers that are compared at once */
#define BLOCK 16  /* characters looked at together */
#endif

enum {
    BREAKS = 1,       /* starts and ends a line */
    HEADING = 2,
    BOILERPLATE = 4,  /* never holds the main text */
    SPACES = 8,       /* separates words, not lines */
    SKIPPED = 16,     /* its content is not text of the page */
    VOID = 32,        /* has no end tag */
    RAW = 64,         /* its content is written as it is */
    UNCLEAR = 128,    /* behind it, what is markup cannot be told from a tree written out */
    GROUPS = 256,     /* its links belong together */
    BESIDE = 512,     /* is no part of an article */
    TITLES = 1024,    /* a heading of the first order */
};

enum { NOTHING, ANCHOR, AREA, FRAME, IFRAME, IMAGE, BASE, META, RELATION, TITLE, HEAD, SCRIPT };

typedef struct {
    const char *name;
    unsigned short flags;
    unsigned char role;
    PyObject *text; /* the name as a string, made once */
} Tag;

static Tag TAGS[] = {
    {"a", 0, ANCHOR, NULL},
    {"address", BREAKS, 0, NULL},
    {"applet", SKIPPED, 0, NULL},
    {"area", VOID, AREA, NULL},
    {"article", BREAKS | GROUPS, 0, NULL},
    {"aside", BREAKS | BOILERPLATE | GROUPS, 0, NULL},
    {"audio", SKIPPED, 0, NULL},
    {"b", 0, 0, NULL},
    {"base", VOID, BASE, NULL},
    {"basefont", VOID, 0, NULL},
    {"bgsound", VOID, 0, NULL},
    {"blockquote", BREAKS | GROUPS, 0, NULL},
    {"body", BREAKS, 0, NULL},
    {"br", VOID | SPACES, 0, NULL},
    {"button", BREAKS | BOILERPLATE, 0, NULL},
    {"canvas", SKIPPED, 0, NULL},
    {"caption", BREAKS, 0, NULL},
    {"center", BREAKS | GROUPS, 0, NULL},
    {"col", VOID, 0, NULL},
    {"datalist", SKIPPED, 0, NULL},
    {"dd", BREAKS, 0, NULL},
    {"details", BREAKS, 0, NULL},
    {"dialog", BREAKS | BOILERPLATE, 0, NULL},
    {"dir", BREAKS | GROUPS, 0, NULL},
    {"div", BREAKS | GROUPS, 0, NULL},
    {"dl", BREAKS | GROUPS, 0, NULL},
    {"dt", BREAKS, 0, NULL},
    {"em", 0, 0, NULL},
    {"embed", VOID, 0, NULL},
    {"fieldset", BREAKS | GROUPS, 0, NULL},
    {"figcaption", BREAKS | BESIDE, 0, NULL},
    {"figure", BREAKS | GROUPS, 0, NULL},
    {"font", 0, 0, NULL},
    {"footer", BREAKS | BOILERPLATE | GROUPS, 0, NULL},
    {"form", BREAKS | BOILERPLATE | GROUPS, 0, NULL},
    {"frame", VOID, FRAME, NULL},
    {"frameset", BREAKS, 0, NULL},
    {"h1", BREAKS | HEADING | TITLES, 0, NULL},
    {"h2", BREAKS | HEADING, 0, NULL},
    {"h3", BREAKS | HEADING, 0, NULL},
    {"h4", BREAKS | HEADING, 0, NULL},
    {"h5", BREAKS | HEADING, 0, NULL},
    {"h6", BREAKS | HEADING, 0, NULL},
    {"head", 0, HEAD, NULL},
    {"header", BREAKS | GROUPS, 0, NULL},
    {"hgroup", BREAKS, 0, NULL},
    {"hr", VOID | BREAKS, 0, NULL},
    {"html", 0, 0, NULL},
    {"i", 0, 0, NULL},
    {"iframe", RAW, IFRAME, NULL},
    {"img", VOID, IMAGE, NULL},
    {"input", VOID | SPACES, 0, NULL},
    {"keygen", VOID, 0, NULL},
    {"legend", BREAKS, 0, NULL},
    {"li", BREAKS, 0, NULL},
    {"link", VOID, RELATION, NULL},
    {"main", BREAKS | GROUPS, 0, NULL},
    {"math", UNCLEAR, 0, NULL},
    {"menu", BREAKS | BOILERPLATE | GROUPS, 0, NULL},
    {"meta", VOID, META, NULL},
    {"nav", BREAKS | BOILERPLATE | GROUPS, 0, NULL},
    {"noembed", SKIPPED | RAW, 0, NULL},
    {"noframes", SKIPPED | RAW, 0, NULL},
    {"noscript", SKIPPED | RAW, 0, NULL},
    {"object", SKIPPED, 0, NULL},
    {"ol", BREAKS | GROUPS, 0, NULL},
    {"option", SPACES, 0, NULL},
    {"p", BREAKS | GROUPS, 0, NULL},
    {"param", VOID, 0, NULL},
    {"plaintext", UNCLEAR, 0, NULL},
    {"pre", BREAKS, 0, NULL},
    {"script", SKIPPED | RAW, SCRIPT, NULL},
    {"search", BREAKS, 0, NULL},
    {"section", BREAKS | GROUPS, 0, NULL},
    {"select", SKIPPED, 0, NULL},
    {"source", VOID, 0, NULL},
    {"span", 0, 0, NULL},
    {"strong", 0, 0, NULL},
    {"style", SKIPPED | RAW, 0, NULL},
    {"summary", BREAKS, 0, NULL},
    {"svg", SKIPPED, 0, NULL},
    {"table", BREAKS | GROUPS, 0, NULL},
    {"tbody", BREAKS, 0, NULL},
    {"td", BREAKS, 0, NULL},
    {"template", SKIPPED, 0, NULL},
    {"textarea", SKIPPED, 0, NULL},
    {"tfoot", BREAKS, 0, NULL},
    {"th", BREAKS, 0, NULL},
    {"thead", BREAKS, 0, NULL},
    {"title", 0, TITLE, NULL},
    {"tr", BREAKS, 0, NULL},
    {"track", VOID, 0, NULL},
    {"ul", BREAKS | GROUPS, 0, NULL},
    {"video", SKIPPED, 0, NULL},
    {"wbr", VOID, 0, NULL},
    {"xmp", RAW, 0, NULL},
};

#define TAG_COUNT ((int)(sizeof TAGS / sizeof TAGS[0]))
#define LONGEST_TAG 10
#define SLOTS 512

static short SLOT_OF[SLOTS]; /* index into TAGS plus one, by hash */
static Tag OTHER = {"", 0, NOTHING, NULL};

static unsigned
slot_of(const char *name, Py_ssize_t length)
{
    unsigned hash = 2166136261u;
    for (Py_ssize_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ (hash >> 15)) % SLOTS;
}

static Tag *
tag_named(const char *name, Py_ssize_t length)
{
    for (unsigned slot = slot_of(name, length); SLOT_OF[slot]; slot = (slot + 1) % SLOTS) {
        Tag *tag = &TAGS[SLOT_OF[slot] - 1];
        if (strncmp(tag->name, name, (size_t)length) == 0 && tag->name[length] == 0)
            return tag;
    }
    return &OTHER;
}

enum { HREF, SRC, REL, TYPE, ALT, TITLE_ATTRIBUTE, NAME, PROPERTY, EQUIVALENT, CONTENT, LANG, XML_LANG,
       ATTRIBUTES };

static const char *const ATTRIBUTE_NAMES[ATTRIBUTES] = {
    "href", "src", "rel", "type", "alt", "title", "name", "property", "http-equiv", "content", "lang",
    "xml:lang",
};

/* Words by which authors call what is no part of an article, as in article.py. */
static const char *const BESIDES[] = {
    "ad", "ads", "advertisement", "author", "bio", "breadcrumb", "breadcrumbs", "byline", "caption", "comment",
    "comments", "complementary", "consent", "contentinfo", "cookie", "cookies", "footer", "menu", "modal", "nav",
    "navbar", "navigation", "newsletter", "pagination", "popular", "popup", "promo", "recommended", "related",
    "share", "sharing", "sidebar", "social", "sponsored", "subscribe", "tags", "trending",
};

enum { BESIDE_COUNT = sizeof BESIDES / sizeof *BESIDES, LONGEST_BESIDE = 13, BESIDE_SLOTS = 256 };

static unsigned char BESIDE_OF[BESIDE_SLOTS]; /* index into BESIDES plus one, by hash */

static int
is_beside(const char *word, Py_ssize_t length)
{
    for (unsigned slot = slot_of(word, length) % BESIDE_SLOTS; BESIDE_OF[slot]; slot = (slot + 1) % BESIDE_SLOTS) {
        const char *known = BESIDES[BESIDE_OF[slot] - 1];
        if (strncmp(known, word, (size_t)length) == 0 && known[length] == 0)
            return 1;
    }
    return 0;
}

/* Relations of a <link> that lead to pages, as in elements.py; "sitemap" is one more. */
static const char *const RELATIONS[] = {
    "next", "prev", "previous", "first", "last", "start", "contents", "index", "toc", "chapter", "section",
    "subsection", "appendix", "glossary", "up", "home", "top", "alternate", "sitemap", NULL,
};
static const char *const CANONICAL[] = {"canonical", NULL};

static PyObject *KIND_A, *KIND_AREA, *KIND_FRAME, *KIND_IFRAME, *KIND_LINK, *EMPTY;

/* A growing array. */
#define GROW(array, count, room)                                                                   \
    ((count) < (room)                                                                              \
     || (((room) = (room) ? 2 * (room) : 64),                                                      \
         grow((void **)&(array), (size_t)(room) * sizeof *(array))))

static int
grow(void **array, size_t bytes)
{
    void *bigger = PyMem_RawRealloc(*array, bytes);
    if (bigger == NULL)
        return 0;
    *array = bigger;
    return 1;
}

typedef struct {
    Py_ssize_t start, length; /* start is -1 where there is none */
} Range;

typedef struct {
    Range name;
    Tag *tag;
    Py_ssize_t children; /* where the text of its children starts */
    Py_ssize_t node;     /* in the recorded tree */
    PyObject *path;      /* tag path of an anchor directly below, once made */
    Py_ssize_t group;    /* number among the groups of links, once it has one; 0 before */
} Open;

typedef struct {
    PyObject *kind, *href, *relation, *media, *path, *alternative;
    Py_ssize_t start, end, parent_start, parent_end;
    int depth;
    int hidden;
    int pictured; /* whether a picture below it has given its text */
    Py_ssize_t node, group;
} Found;

typedef struct {
    Py_ssize_t end, linked, box;
    int place;
} Line;

/* An element that starts and ends a line; the first is the page. */
typedef struct {
    Py_ssize_t parent;  /* stands before it */
    Py_ssize_t sum;     /* characters of prose in it */
    Py_ssize_t count;   /* lines of prose in it */
    unsigned char beside, title, inside;
} Box;

typedef struct {
    Py_ssize_t parent, start;
    PyObject *tag; /* owned */
} Node;

static PyObject *
or_none(PyObject *text)
{
    PyObject *value = text ? text : EMPTY;
    Py_INCREF(value);
    return value;
}

#define CHAR Py_UCS1
#define WIDE 0
#define KIND PyUnicode_1BYTE_KIND
#define NAMED(name) name##_1
#include "page_scan.h"
#undef CHAR
#undef WIDE
#undef KIND
#undef NAMED

#define CHAR Py_UCS2
#define WIDE 1
#define KIND PyUnicode_2BYTE_KIND
#define NAMED(name) name##_2
#include "page_scan.h"
#undef CHAR
#undef KIND
#undef NAMED

#define CHAR Py_UCS4
#define KIND PyUnicode_4BYTE_KIND
#define NAMED(name) name##_4
#include "page_scan.h"
#undef CHAR
#undef KIND
#undef NAMED

int
page_init(void)
{
    for (int i = 0; i < TAG_COUNT; i++) {
        Tag *tag = &TAGS[i];
        tag->text = PyUnicode_InternFromString(tag->name);
        if (tag->text == NULL)
            return -1;
        unsigned slot = slot_of(tag->name, (Py_ssize_t)strlen(tag->name));
        while (SLOT_OF[slot])
            slot = (slot + 1) % SLOTS;
        SLOT_OF[slot] = (short)(i + 1);
    }
    for (int i = 0; i < BESIDE_COUNT; i++) {
        unsigned slot = slot_of(BESIDES[i], (Py_ssize_t)strlen(BESIDES[i])) % BESIDE_SLOTS;
        while (BESIDE_OF[slot])
            slot = (slot + 1) % BESIDE_SLOTS;
        BESIDE_OF[slot] = (unsigned char)(i + 1);
    }
    KIND_A = PyUnicode_InternFromString("a");
    KIND_AREA = PyUnicode_InternFromString("area");
    KIND_FRAME = PyUnicode_InternFromString("frame");
    KIND_IFRAME = PyUnicode_InternFromString("iframe");
    KIND_LINK = PyUnicode_InternFromString("link");
    EMPTY = PyUnicode_InternFromString("");
    return KIND_A && KIND_AREA && KIND_FRAME && KIND_IFRAME && KIND_LINK && EMPTY ? 0 : -1;
}

const char scan_page_doc[] =
    "scan_page(html, blocks, /)\n--\n\nThe notes of a page; see honeyguide.parse.notes. None where the tree has to be read.";

PyObject *
scan_page(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "scan_page(html: str, blocks: bool)");
        return NULL;
    }
    if (PyUnicode_READY(arguments[0]) < 0)
        return NULL;
    int blocks = PyObject_IsTrue(arguments[1]);
    if (blocks < 0)
        return NULL;
    const void *data = PyUnicode_DATA(arguments[0]);
    Py_ssize_t length = PyUnicode_GET_LENGTH(arguments[0]);
    switch (PyUnicode_KIND(arguments[0])) {
    case PyUnicode_1BYTE_KIND:
        return scan_1(data, length, blocks);
    case PyUnicode_2BYTE_KIND:
        return scan_2(data, length, blocks);
    default:
        return scan_4(data, length, blocks);
    }
}
