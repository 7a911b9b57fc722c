/* The pass of tidy.c for one width of characters: CHAR, KIND and NAMED are set by the includer. */

typedef struct {
    const CHAR *source;
    Py_ssize_t length, position;
    CHAR *out;
    Py_ssize_t written, room;
    const Known *open[DEEPEST];
    int depth;
    int anchors, paragraphs, forms, buttons, selects; /* how many are open */
    int too_narrow; /* a reference stands for a character that is wider than all others */
    int no_memory;
} NAMED(Tidy);

#define TIDY NAMED(Tidy)
#define LEFT(t) ((t)->length - (t)->position)
#define AT(t, ahead) ((t)->source[(t)->position + (ahead)])

static int
NAMED(make_room)(TIDY *t, Py_ssize_t more)
{
    if (t->room - t->written >= more)
        return 1;
    Py_ssize_t room = 2 * t->room + more;
    CHAR *bigger = PyMem_RawRealloc(t->out, (size_t)room * sizeof(CHAR));
    if (bigger == NULL) {
        t->no_memory = 1;
        return 0;
    }
    t->out = bigger;
    t->room = room;
    return 1;
}

static int
NAMED(write)(TIDY *t, const char *text)
{
    size_t length = strlen(text);
    if (!NAMED(make_room)(t, (Py_ssize_t)length))
        return 0;
    for (size_t i = 0; i < length; i++)
        t->out[t->written++] = (CHAR)(unsigned char)text[i];
    return 1;
}

static int
NAMED(copy)(TIDY *t, Py_ssize_t start, Py_ssize_t end)
{
    if (!NAMED(make_room)(t, end - start))
        return 0;
    memcpy(t->out + t->written, t->source + start, (size_t)(end - start) * sizeof(CHAR));
    t->written += end - start;
    return 1;
}

/* Whether the source goes on with a word, in small letters; with `any`, in any letter case. */
static int
NAMED(goes_on)(const TIDY *t, Py_ssize_t at, const char *word, int any)
{
    for (; *word; word++, at++) {
        if (at >= t->length)
            return 0;
        CHAR c = t->source[at];
        if (any && c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if (c != (CHAR)(unsigned char)*word)
            return 0;
    }
    return 1;
}

/* A character of text, or of a value, as it is written. */
static int
NAMED(escape)(TIDY *t, CHAR c, int value)
{
    switch (c) {
    case '&':
        return NAMED(write)(t, "&amp;");
    case '<':
        return NAMED(write)(t, "&lt;");
    case '>':
        return NAMED(write)(t, "&gt;");
    case 0xA0:
        return NAMED(write)(t, "&nbsp;");
    case '"':
        if (value)
            return NAMED(write)(t, "&quot;");
        break;
    default:
        break;
    }
    if (!NAMED(make_room)(t, 1))
        return 0;
    t->out[t->written++] = c;
    return 1;
}

/* A character that a reference stands for. */
static int
NAMED(stands_for)(TIDY *t, uint32_t code, int value)
{
#if !WIDE
    if (code > 0xFF) {
        t->too_narrow = 1;
        return 0;
    }
#endif
    return NAMED(escape)(t, (CHAR)code, value);
}

/* What an '&' stands for, moved behind; 0 where a table of all names would be needed. */
static int
NAMED(reference)(TIDY *t, Py_ssize_t *position, Py_ssize_t end, int value)
{
    Py_ssize_t at = *position + 1, behind = at;
    while (behind < end && behind - at < LONGEST_REFERENCE && (IS_LETTER(t->source[behind]) || IS_DIGIT(t->source[behind])))
        behind++;
    if (behind > at && behind < end && t->source[behind] == ';')
        for (size_t i = 0; i < sizeof REFERENCES / sizeof *REFERENCES; i++)
            if (NAMED(goes_on)(t, at, REFERENCES[i].name, 0) && REFERENCES[i].length == behind - at) {
                *position = behind + 1;
                return NAMED(stands_for)(t, REFERENCES[i].code, value);
            }
    if (at < end && t->source[at] == '#') {
        int base = at + 1 < end && (t->source[at + 1] | 32) == 'x' ? 16 : 10, digits = 0;
        uint32_t code = 0;
        for (at += base == 16 ? 2 : 1; at < end && digits < 5; at++, digits++) {
            CHAR c = t->source[at];
            if (IS_DIGIT(c))
                code = code * (uint32_t)base + (uint32_t)(c - '0');
            else if (base == 16 && c < 128 && (c | 32) >= 'a' && (c | 32) <= 'f')
                code = code * 16 + (uint32_t)((c | 32) - 'a' + 10);
            else
                break;
        }
        if (digits == 0 || at >= end || t->source[at] != ';' || code < ' ' || (code > '~' && code < 0xA0)
            || code > 0xD7FF)
            return 0;
        *position = at + 1;
        return NAMED(stands_for)(t, code, value);
    }
    if (at < end && (IS_LETTER(t->source[at]) || IS_DIGIT(t->source[at]))) {
        /* In a value, a name that an equals sign follows stands for itself: that is how queries are written. */
        while (at < end && (IS_LETTER(t->source[at]) || IS_DIGIT(t->source[at])))
            at++;
        if (!value || at >= end || t->source[at] != '=')
            return 0;
    }
    *position += 1;
    return NAMED(escape)(t, '&', value);
}

#ifdef __GNUC__
typedef CHAR NAMED(Several) __attribute__((vector_size(16)));

/* Whether of the 16 bytes at a place the first `count` characters are written as they are. */
static inline int
NAMED(is_plain)(const CHAR *text, Py_ssize_t count, NAMED(Several) *several)
{
    NAMED(Several) c, asked;
    uint64_t halves[2];
    memcpy(&c, text, 16);
    memcpy(&asked, FIRST_BYTES + 16 - count * (Py_ssize_t)sizeof(CHAR), 16);
    __auto_type found = (c == 0) | (c == '&') | (c == '>') | (c == '<') | (c == '"') | (c == '\r') | (c == 0xA0);
#if WIDE
    found |= c >= 0xD800;
#endif
    found &= (__typeof__(found))asked;
    memcpy(halves, &found, 16);
    *several = c;
    return !(halves[0] | halves[1]);
}
#endif

/* Copy text, or a value. */
static int
NAMED(text)(TIDY *t, Py_ssize_t start, Py_ssize_t end, int value)
{
    enum { AT_ONCE = 16 / sizeof(CHAR) };
    if (!NAMED(make_room)(t, end - start + AT_ONCE))
        return 0;
    for (Py_ssize_t at = start; at < end;) {
        Py_ssize_t stop = end - at < AT_ONCE ? end : at + AT_ONCE;
#ifdef __GNUC__
        NAMED(Several) several;
        if (at + AT_ONCE <= t->length && NAMED(is_plain)(t->source + at, stop - at, &several)) {
            if (!NAMED(make_room)(t, AT_ONCE))
                return 0;
            memcpy(t->out + t->written, &several, 16);
            t->written += stop - at;
            at = stop;
            continue;
        }
#endif
        while (at < stop) {
            CHAR c = t->source[at];
            if (c == '&') {
                if (!NAMED(reference)(t, &at, end, value))
                    return 0;
                continue;
            }
#if WIDE
            if (c >= 0xD800 && c <= 0xDFFF)
                return 0;
#endif
            if (c == 0 || (c == '\r' && value))
                return 0;
            at++;
            if (c == '\r') { /* a line end is one character */
                if (at < t->length && t->source[at] == '\n')
                    continue;
                c = '\n';
            }
            if (!NAMED(escape)(t, c, value))
                return 0;
        }
    }
    return 1;
}

static Py_ssize_t
NAMED(next)(const TIDY *t, Py_ssize_t from, CHAR wanted)
{
#if !WIDE
    const CHAR *found = from < t->length ? memchr(t->source + from, wanted, (size_t)(t->length - from)) : NULL;
    return found != NULL ? found - t->source : t->length;
#else
    while (from < t->length && t->source[from] != wanted)
        from++;
    return from;
#endif
}

static void
NAMED(skip_blanks)(TIDY *t)
{
    while (LEFT(t) && IS_BLANK(AT(t, 0)))
        t->position++;
}

/* Read the name of a tag at the position; NULL for one that is not known. */
static const Known *
NAMED(read_tag)(TIDY *t)
{
    char name[LONGEST + 1];
    Py_ssize_t length = 0;
    while (LEFT(t)) {
        CHAR c = AT(t, 0);
        if (IS_BLANK(c) || c == '>' || c == '/')
            break;
        if (length == LONGEST || !(IS_LETTER(c) || IS_DIGIT(c)))
            return NULL;
        name[length++] = (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
        t->position++;
    }
    return length ? known_as(name, length) : NULL;
}

/* Copy the attributes of a tag whose name is written; moves behind its '>'. `*closed` is set for one that ends "/>". */
static int
NAMED(attributes)(TIDY *t, int *closed)
{
    Py_ssize_t names[MOST_ATTRIBUTES][2];
    int count = 0;
    *closed = 0;
    for (;;) {
        NAMED(skip_blanks)(t);
        if (!LEFT(t))
            return 0;
        if (AT(t, 0) == '>') {
            t->position++;
            return NAMED(write)(t, ">");
        }
        if (AT(t, 0) == '/') {
            *closed = 1;
            if (LEFT(t) < 2 || AT(t, 1) != '>')
                return 0;
            t->position++;
            continue;
        }
        if (count == MOST_ATTRIBUTES || !NAMED(make_room)(t, LONGEST_NAME + 4))
            return 0;
        t->out[t->written++] = ' ';
        Py_ssize_t name = t->written, size = 0;
        CHAR *own = t->out + name;
        for (; LEFT(t) && size < LONGEST_NAME; t->position++) {
            CHAR c = AT(t, 0);
            if (c >= 'A' && c <= 'Z')
                c += 'a' - 'A';
            else if (!(IS_SMALL(c) || c == '-' || IS_DIGIT(c) || c == '_' || c == ':' || c == '.' || c == '@'))
                break;
            own[size++] = c;
        }
        if (size == 0 || size == LONGEST_NAME)
            return 0;
        own[size] = '=';
        own[size + 1] = '"';
        t->written += size + 2;
        for (int i = 0; i < count; i++) /* of two of one name the first counts */
            if (names[i][1] == size && memcmp(t->out + names[i][0], own, (size_t)size * sizeof(CHAR)) == 0)
                return 0;
        names[count][0] = name;
        names[count++][1] = size;
        NAMED(skip_blanks)(t);
        if (LEFT(t) && AT(t, 0) == '=') {
            t->position++;
            NAMED(skip_blanks)(t);
            if (!LEFT(t))
                return 0;
            CHAR quote = AT(t, 0);
            Py_ssize_t start = t->position + 1, end;
            if (quote == '"' || quote == '\'') {
                end = NAMED(next)(t, start, quote);
                t->position = end + 1;
            }
            else {
                end = --start;
                while (end < t->length && !IS_BLANK(t->source[end]) && t->source[end] != '>') {
                    CHAR c = t->source[end++];
                    if (c == '"' || c == '\'' || c == '<' || c == '=' || c == '`')
                        return 0;
                }
                if (end == start)
                    return 0;
                t->position = end;
            }
            if (end >= t->length || !NAMED(text)(t, start, end, 1))
                return 0;
        }
        else if (LEFT(t) && AT(t, 0) != '>' && AT(t, 0) != '/' && !IS_BLANK(t->source[t->position - 1]))
            return 0;
        if (!NAMED(write)(t, "\""))
            return 0;
    }
}

/* Whether an element of a kind is found open before one that ends the search: a tag would close it. */
static int
NAMED(would_close)(const TIDY *t, unsigned char kind)
{
    for (int level = t->depth - 1; level >= 0; level--) {
        if (t->open[level]->kind == kind)
            return 1;
        if (t->open[level]->ends_search)
            return 0;
    }
    return 0;
}

/* Whether the tree builder just opens an element here. */
static int
NAMED(fits)(const TIDY *t, const Known *tag)
{
    unsigned char kind = tag->kind, parent = t->open[t->depth - 1]->kind;
    switch (parent) {
    case HEAD:
        return kind == IN_HEAD || kind == SCRIPT || (kind == RAW && tag->name[0] != 'i')
               || (kind == TITLE && tag->name[1] == 'i');
    case TABLE:
        return kind == CAPTION || kind == COLUMNS || kind == SECTION || kind == ROW;
    case COLUMNS:
        return kind == COLUMN;
    case SECTION:
        return kind == ROW;
    case ROW:
        return kind == CELL;
    case SELECT:
        return kind == OPTION || kind == OPTIONS;
    case OPTIONS:
        return kind == OPTION;
    case OPTION:
    case HTML:
        return 0;
    default:
        break;
    }
    switch (kind) {
    case ANCHOR:
        return !t->anchors;
    case HEADING:
        return !t->paragraphs && parent != HEADING;
    case PARAGRAPH:
    case BLOCK:
    case PRE:
    case RULE:
    case TABLE:
        return !t->paragraphs;
    case FORM:
        return !t->paragraphs && !t->forms;
    case BUTTON:
        return !t->buttons;
    case ITEM:
    case ENTRY:
        return !t->paragraphs && !NAMED(would_close)(t, kind);
    case ORDINARY:
    case EMPTY:
    case IN_HEAD:
    case RAW:
    case SCRIPT:
    case SELECT:
        return 1;
    case TITLE:
        return tag->name[1] == 'e'; /* textarea */
    default:
        return 0;
    }
}

/* How many of some elements are open. */
static void
NAMED(count)(TIDY *t, const Known *tag, int change)
{
    switch (tag->kind) {
    case ANCHOR:
        t->anchors += change;
        break;
    case PARAGRAPH:
        t->paragraphs += change;
        break;
    case FORM:
        t->forms += change;
        break;
    case BUTTON:
        t->buttons += change;
        break;
    default:
        break;
    }
}

/* Copy the content of an element that holds no markup, and its end tag. */
static int
NAMED(content)(TIDY *t, const Known *tag)
{
    Py_ssize_t start = t->position, end = start;
    int hidden = 0;
    for (;; end++) {
        end = NAMED(next)(t, end, '<');
        if (end >= t->length)
            return 0;
        if (end + 1 < t->length && t->source[end + 1] == '/' && NAMED(goes_on)(t, end + 2, tag->name, 1))
            break;
        hidden |= NAMED(goes_on)(t, end, "<!--", 0);
        if (tag->kind == TITLE || (hidden && tag->kind == SCRIPT && NAMED(goes_on)(t, end, "<script", 1)))
            return 0; /* behind <!-- a script may name <script> and its end */
    }
    t->position = end + 2 + (Py_ssize_t)strlen(tag->name);
    NAMED(skip_blanks)(t);
    if (!LEFT(t) || AT(t, 0) != '>')
        return 0;
    t->position++;
    if (tag->kind == TITLE) {
        if (start < end && (t->source[start] == '\n' || t->source[start] == '\r'))
            return 0; /* a text area swallows a line end */
        if (!NAMED(text)(t, start, end, 0))
            return 0;
    }
    else {
        for (Py_ssize_t i = start; i < end; i++) {
            CHAR c = t->source[i];
            if (c == 0 || c == '\r')
                return 0;
#if WIDE
            if (c >= 0xD800 && c <= 0xDFFF)
                return 0;
#endif
        }
        if (!NAMED(copy)(t, start, end))
            return 0;
    }
    return NAMED(write)(t, "</") && NAMED(write)(t, tag->name) && NAMED(write)(t, ">");
}

/* Copy a start tag whose name was read; 0 where the tree builder is needed. */
static int
NAMED(start)(TIDY *t, const Known *tag)
{
    int closed;
    if (tag->kind == ROW && t->open[t->depth - 1]->kind == TABLE) {
        if (t->depth == DEEPEST || !NAMED(write)(t, "<tbody>"))
            return 0;
        t->open[t->depth++] = &IMPLIED;
    }
    if (!NAMED(write)(t, "<") || !NAMED(write)(t, tag->name) || !NAMED(attributes)(t, &closed))
        return 0;
    switch (tag->kind) {
    case EMPTY:
    case RULE:
    case IN_HEAD:
    case COLUMN:
        return 1;
    case RAW:
    case SCRIPT:
    case TITLE:
        return !closed && NAMED(content)(t, tag);
    case PRE:
        if (LEFT(t) && AT(t, 0) == '\n')
            t->position++;
        else if (LEFT(t) && AT(t, 0) == '\r')
            return 0;
        break;
    default:
        break;
    }
    if (closed || t->depth == DEEPEST)
        return 0;
    t->open[t->depth++] = tag;
    NAMED(count)(t, tag, 1);
    return 1;
}

/* Behind the '>' of an end tag without attributes; 0 for any other. */
static int
NAMED(end_of_tag)(TIDY *t)
{
    NAMED(skip_blanks)(t);
    if (!LEFT(t) || AT(t, 0) != '>')
        return 0;
    t->position++;
    return 1;
}

/* Copy a comment; `kept` says whether it is below the root. */
static int
NAMED(comment)(TIDY *t, int kept)
{
    Py_ssize_t start = t->position, end = start + 4;
    if (!NAMED(goes_on)(t, start, "<!--", 0) || NAMED(goes_on)(t, end, ">", 0) || NAMED(goes_on)(t, end, "->", 0))
        return 0;
    for (;; end++) {
        end = NAMED(next)(t, end, '-');
        if (end >= t->length || NAMED(goes_on)(t, end, "--!", 0))
            return 0;
        if (NAMED(goes_on)(t, end, "-->", 0))
            break;
    }
    for (Py_ssize_t i = start; i < end; i++) {
        CHAR c = t->source[i];
        if (c == 0 || c == '\r')
            return 0;
#if WIDE
        if (c >= 0xD800 && c <= 0xDFFF)
            return 0;
#endif
    }
    t->position = end + 3;
    return !kept || NAMED(copy)(t, start, end + 3);
}

/* The root, its head, and the start tag of its body. */
static int
NAMED(begin)(TIDY *t)
{
    NAMED(skip_blanks)(t);
    /* Without a doctype, only whether a table closes a paragraph is another matter. */
    if (NAMED(goes_on)(t, t->position, "<!doctype", 1))
        t->position = NAMED(next)(t, t->position, '>') + 1;
    if (t->position >= t->length)
        return 0;
    static const char *const ORDER[] = {"html", "head", "body"};
    for (int which = 0; which < 3; which++) {
        if (which < 2)
            NAMED(skip_blanks)(t);
        while (which < 2 && NAMED(comment)(t, which == 1))
            NAMED(skip_blanks)(t);
        if (LEFT(t) < 2 || AT(t, 0) != '<' || !IS_LETTER(AT(t, 1)))
            return 0;
        t->position++;
        const Known *tag = NAMED(read_tag)(t);
        if (tag == NULL || strcmp(tag->name, ORDER[which]) != 0 || !NAMED(start)(t, tag))
            return 0;
        if (which == 1)
            for (;;) { /* all of the head, and what stands between it and the body */
                Py_ssize_t begin = t->position;
                NAMED(skip_blanks)(t);
                if (LEFT(t) < 4 || AT(t, 0) != '<' || !NAMED(text)(t, begin, t->position, 0))
                    return 0;
                if (AT(t, 1) == '!') {
                    if (!NAMED(comment)(t, 1))
                        return 0;
                    continue;
                }
                int in_head = t->open[t->depth - 1]->kind == HEAD;
                if (AT(t, 1) == '/') {
                    t->position += 2;
                    tag = NAMED(read_tag)(t);
                    if (!in_head || tag == NULL || tag->kind != HEAD || !NAMED(end_of_tag)(t)
                        || !NAMED(write)(t, "</head>"))
                        return 0;
                    t->depth--;
                    continue;
                }
                if (!in_head)
                    break;
                t->position++;
                tag = NAMED(read_tag)(t);
                if (tag == NULL || !NAMED(fits)(t, tag) || !NAMED(start)(t, tag))
                    return 0;
            }
    }
    return 1;
}

/* Up to the end tag of the body, which is not written yet. */
static int
NAMED(body)(TIDY *t)
{
    for (;;) {
        Py_ssize_t end = NAMED(next)(t, t->position, '<');
        if (end + 2 >= t->length)
            return 0;
        const Known *inner = t->open[t->depth - 1];
        if (end > t->position) {
            switch (inner->kind) {
            case TABLE:
            case COLUMNS:
            case SECTION:
            case ROW:
                for (Py_ssize_t i = t->position; i < end; i++)
                    if (!IS_BLANK(t->source[i]))
                        return 0;
                break;
            default:
                break;
            }
            if (!NAMED(text)(t, t->position, end, 0))
                return 0;
        }
        t->position = end;
        CHAR c = AT(t, 1);
        if (c == '!') {
            if (!NAMED(comment)(t, 1))
                return 0;
            continue;
        }
        if (c == '/') {
            t->position += 2;
            const Known *ends = NAMED(read_tag)(t);
            if (inner == &IMPLIED && ends != NULL && ends->kind == TABLE) {
                if (!NAMED(write)(t, "</tbody>"))
                    return 0;
                inner = t->open[--t->depth - 1];
            }
            if (ends != inner || !NAMED(end_of_tag)(t))
                return 0;
            if (inner->kind == BODY)
                return 1;
            if (!NAMED(write)(t, "</") || !NAMED(write)(t, inner->name) || !NAMED(write)(t, ">"))
                return 0;
            t->depth--;
            NAMED(count)(t, inner, -1);
            continue;
        }
        if (!IS_LETTER(c))
            return 0;
        t->position++;
        const Known *tag = NAMED(read_tag)(t);
        if (tag == NULL || !NAMED(fits)(t, tag) || !NAMED(start)(t, tag))
            return 0;
    }
}

/* What follows on the body: white space belongs to it, and comments behind the root to nobody. */
static int
NAMED(finish)(TIDY *t)
{
    int ended = 0;
    for (;;) {
        Py_ssize_t begin = t->position;
        NAMED(skip_blanks)(t);
        if (!NAMED(text)(t, begin, t->position, 0))
            return 0;
        if (!LEFT(t))
            return NAMED(write)(t, "</body></html>");
        if (ended && NAMED(comment)(t, 0))
            continue;
        if (ended || !NAMED(goes_on)(t, t->position, "</html", 1))
            return 0;
        t->position += 6;
        if (!NAMED(end_of_tag)(t))
            return 0;
        ended = 1;
    }
}

static PyObject *
NAMED(tidied)(const CHAR *source, Py_ssize_t length, int *too_narrow)
{
    TIDY t;
    memset(&t, 0, sizeof t);
    t.source = source;
    t.length = length;
    PyObject *answer = NULL;
    if (NAMED(make_room)(&t, length + 256) && NAMED(begin)(&t) && NAMED(body)(&t) && NAMED(finish)(&t))
        answer = PyUnicode_FromKindAndData(KIND, t.out, t.written);
    else if (t.no_memory)
        PyErr_NoMemory();
    else
        answer = Py_NewRef(Py_None);
    *too_narrow = t.too_narrow;
    PyMem_RawFree(t.out);
    return answer;
}

#undef TIDY
#undef LEFT
#undef AT
