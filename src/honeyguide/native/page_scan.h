/* The scan of page.c for one width of characters: CHAR, KIND and NAMED are set by the includer. */

typedef struct {
    const CHAR *source;
    Py_ssize_t length, position;
    /* The page's text, lines ended by '\n', and the text of hidden elements. */
    CHAR *shown, *hidden;
    Py_ssize_t shown_length, hidden_length;
    CHAR *spare; /* room to decode values in */
    Open *open;
    int depth;
    int heads;
    Found *links;
    Py_ssize_t link_count, link_room, group_count;
    Py_ssize_t *waiting;       /* links whose parent is open */
    Py_ssize_t waiting_count, waiting_room, waiting_base;
    Py_ssize_t *anchors;       /* link of each open <a>, or -1 */
    Py_ssize_t anchor_count, anchor_room, anchor_base;
    Line *lines;
    Py_ssize_t line_count, line_room;
    Box *boxes;
    Py_ssize_t box_count, box_room, box; /* `box` is the innermost open one */
    Node *nodes;
    Py_ssize_t node_count, node_room;
    int recording;
    int hidden_level;          /* open elements above the hidden one; -1 when nothing is hidden */
    Py_ssize_t hidden_start;
    Py_ssize_t linked_length, kept_linked_length;
    int linked, kept_linked;
    int boilerplate;
    int unclear;
    Py_ssize_t heading, kept_heading;
    PyObject *headings, *metas, *title, *base, *canonical, *language;
} NAMED(Scan);

#define SCAN NAMED(Scan)

static PyObject *
NAMED(string)(const CHAR *text, Py_ssize_t length)
{
    return PyUnicode_FromKindAndData(KIND, text, length);
}

static int
NAMED(same)(const CHAR *text, Py_ssize_t length, const char *word)
{
    for (Py_ssize_t i = 0; i < length; i++)
        if (word[i] == 0 || text[i] != (CHAR)(unsigned char)word[i])
            return 0;
    return word[length] == 0;
}

/* Where a character, which is ASCII, stands next; `end` where it does not. */
static inline Py_ssize_t
NAMED(find_one)(const CHAR *text, Py_ssize_t from, Py_ssize_t end, CHAR wanted)
{
#if !WIDE
    const CHAR *found = from < end ? memchr(text + from, wanted, (size_t)(end - from)) : NULL;
    return found != NULL ? found - text : end;
#else
    while (from < end && text[from] != wanted)
        from++;
    return from;
#endif
}

/* The text buffer in use. */
#define OUT(s) ((s)->hidden_level < 0 ? (s)->shown : (s)->hidden)
#define OUT_LENGTH(s) ((s)->hidden_level < 0 ? &(s)->shown_length : &(s)->hidden_length)

/* One character of the source with its entity decoded; the serialisation knows five of them. */
static inline CHAR
NAMED(decoded)(const CHAR *source, Py_ssize_t end, Py_ssize_t *position)
{
    Py_ssize_t here = *position, left = end - here;
    const CHAR *at = source + here;
    if (left >= 5 && at[1] == 'a' && at[2] == 'm' && at[3] == 'p' && at[4] == ';') {
        *position += 5;
        return '&';
    }
    if (left >= 4 && at[2] == 't' && at[3] == ';' && (at[1] == 'l' || at[1] == 'g')) {
        *position += 4;
        return at[1] == 'l' ? '<' : '>';
    }
    if (left >= 6 && at[5] == ';') {
        if (at[1] == 'n' && at[2] == 'b' && at[3] == 's' && at[4] == 'p') {
            *position += 6;
            return 0xA0;
        }
        if (at[1] == 'q' && at[2] == 'u' && at[3] == 'o' && at[4] == 't') {
            *position += 6;
            return '"';
        }
    }
    *position += 1;
    return '&';
}

/* A value with its entities decoded, into `spare`; its length. */
static Py_ssize_t
NAMED(decode)(SCAN *s, Range range)
{
    Py_ssize_t position = range.start, end = range.start + range.length, length = 0;
    while (position < end) {
        CHAR c = s->source[position];
        if (c == '&')
            c = NAMED(decoded)(s->source, end, &position);
        else
            position++;
        s->spare[length++] = c;
    }
    return length;
}

/* A value as a string; "" where there is none. NULL on error. */
static PyObject *
NAMED(value)(SCAN *s, Range range)
{
    if (range.start < 0 || range.length == 0)
        return or_none(NULL);
    return NAMED(string)(s->spare, NAMED(decode)(s, range));
}

/* White space folded, none at the ends, nothing invisible, of the first `limit` characters of a value. */
static PyObject *
NAMED(folded_value)(SCAN *s, Range range, Py_ssize_t limit)
{
    if (range.start < 0)
        return or_none(NULL);
    Py_ssize_t length = NAMED(decode)(s, range), out = 0;
    if (length > limit)
        length = limit;
    for (Py_ssize_t i = 0; i < length; i++) {
        CHAR c = s->spare[i];
        if (INVISIBLE(c))
            continue;
        if (!Py_UNICODE_ISSPACE(c))
            s->spare[out++] = c;
        else if (out && s->spare[out - 1] != ' ')
            s->spare[out++] = ' ';
    }
    if (out && s->spare[out - 1] == ' ')
        out--;
    return NAMED(string)(s->spare, out);
}

/* Whether one of the words of a value, split at white space, is in a list; letter case does not count. */
static int
NAMED(has_word)(SCAN *s, Range range, const char *const *words)
{
    if (range.start < 0)
        return 0;
    const CHAR *text = s->source + range.start;
    Py_ssize_t i = 0;
    while (i < range.length) {
        while (i < range.length && Py_UNICODE_ISSPACE(text[i]))
            i++;
        Py_ssize_t start = i;
        char word[16];
        while (i < range.length && !Py_UNICODE_ISSPACE(text[i])) {
            if (i - start < 15)
                word[i - start] = text[i] < 128 ? (char)Py_TOLOWER((char)text[i]) : '?';
            i++;
        }
        if (i == start || i - start > 15)
            continue;
        word[i - start] = 0;
        for (const char *const *known = words; *known; known++)
            if (strcmp(*known, word) == 0)
                return 1;
    }
    return 0;
}

/* Whether a style hides its element: display: none or visibility: hidden. */
static int
NAMED(hides)(const CHAR *text, Py_ssize_t length)
{
    static const char *const property[2] = {"display", "visibility"}, *const setting[2] = {"none", "hidden"};
    for (Py_ssize_t at = 0; at < length; at++) {
        CHAR first = text[at] | 32;
        if (first != 'd' && first != 'v')
            continue;
        int which = first == 'v';
        Py_ssize_t i = at;
        const char *word = property[which];
        while (i < length && *word && text[i] < 128 && (text[i] | 32) == (CHAR)*word)
            i++, word++;
        if (*word)
            continue;
        while (i < length && Py_UNICODE_ISSPACE(text[i]))
            i++;
        if (i >= length || text[i] != ':')
            continue;
        i++;
        while (i < length && Py_UNICODE_ISSPACE(text[i]))
            i++;
        word = setting[which];
        while (i < length && *word && text[i] < 128 && (text[i] | 32) == (CHAR)*word)
            i++, word++;
        if (!*word)
            return 1;
    }
    return 0;
}

/* Whether a class, id or role calls an element something that is no part of an article. */
static int
NAMED(beside)(const CHAR *text, Py_ssize_t length)
{
    char word[LONGEST_BESIDE];
    Py_ssize_t size = 0;
    for (Py_ssize_t i = 0; i <= length; i++) {
        CHAR c = i < length ? text[i] : ' ';
        if (c < 128 && (c | 32) >= 'a' && (c | 32) <= 'z') {
            if (size < LONGEST_BESIDE)
                word[size] = (char)(c | 32);
            size++;
            continue;
        }
        if (size > 1 && size <= LONGEST_BESIDE && is_beside(word, size))
            return 1;
        size = 0;
    }
    return 0;
}

/* -- text ---------------------------------------------------------------------------------------------- */

#ifdef VECTORS
typedef CHAR NAMED(Vector) __attribute__((vector_size(16)));

/* Whether BLOCK characters stay as they are: no entity, nothing invisible, and no white space but single spaces.
   Reads one more. */
static inline int
NAMED(is_plain)(const CHAR *text)
{
    uint64_t odd = 0;
    for (size_t i = 0; i < BLOCK * sizeof(CHAR) / 16; i++) {
        NAMED(Vector) c, next;
        uint64_t halves[2];
        memcpy(&c, text + i * (16 / sizeof(CHAR)), 16);
        memcpy(&next, text + i * (16 / sizeof(CHAR)) + 1, 16);
        __auto_type found = (c < ' ') | (c == '&') | ((c >= 0x7F) & (c <= 0xA0)) | (c == 0xAD) | ((c == ' ') & (next == ' '));
#if WIDE
        found |= (c == 0x1680) | (c - 0x2000 <= 0x0B) | (c - 0x2028 <= 1) | (c == 0x202F) | (c - 0x205F <= 1) |
                 (c == 0x3000) | (c == 0xFEFF);
#endif
        memcpy(halves, &found, 16);
        odd |= halves[0] | halves[1];
    }
    return !odd;
}
#endif

/* Add the source from `position` to `end` to the text, white space folded, nothing invisible. */
static void
NAMED(add_text)(SCAN *s, Py_ssize_t end, int raw)
{
    CHAR *out = OUT(s);
    Py_ssize_t *counter = OUT_LENGTH(s);
    Py_ssize_t length = *counter, before = length, position = s->position;
    const CHAR *source = s->source;
#ifdef VECTORS
    Py_ssize_t looked = position;
#endif
    while (position < end) {
        CHAR c = source[position];
#ifdef VECTORS
        /* A space may follow on one that was written before. The character behind a block is read as well. */
        while (position >= looked && c > ' ' && position + BLOCK < end) {
            if (!NAMED(is_plain)(source + position)) {
                looked = position + BLOCK;
                break;
            }
            memcpy(out + length, source + position, BLOCK * sizeof(CHAR));
            length += BLOCK;
            position += BLOCK;
            c = source[position];
        }
#endif
        if (c > ' ' && c < 0x7F && c != '&') {
            out[length++] = c;
            position++;
            continue;
        }
        if (c == '&' && !raw)
            c = NAMED(decoded)(source, end, &position);
        else
            position++;
        if (INVISIBLE(c))
            continue;
        if (Py_UNICODE_ISSPACE(c)) {
            if (out[length - 1] != ' ' && out[length - 1] != '\n')
                out[length++] = ' ';
        }
        else {
            out[length++] = c;
        }
    }
    *counter = length;
    s->position = position;
    if (s->linked)
        s->linked_length += length - before;
}

static int
NAMED(end_line)(SCAN *s)
{
    CHAR *out = OUT(s);
    Py_ssize_t *length = OUT_LENGTH(s);
    if (out[*length - 1] == '\n')
        return 0;
    if (out[*length - 1] == ' ')
        --*length;
    out[(*length)++] = '\n';
    if (s->hidden_level < 0) {
        if (!GROW(s->lines, s->line_count, s->line_room))
            return -1;
        Line *line = &s->lines[s->line_count++];
        line->end = *length;
        line->linked = s->linked_length;
        line->box = s->box;
        line->place = s->boilerplate ? 2 : s->heading ? 1 : 0;
    }
    s->linked_length = 0;
    return 0;
}

/* The range without white space at its ends. */
static Range
NAMED(stripped)(const CHAR *text, Py_ssize_t start, Py_ssize_t end)
{
    while (start < end && (text[start] == ' ' || text[start] == '\n'))
        start++;
    while (end > start && (text[end - 1] == ' ' || text[end - 1] == '\n'))
        end--;
    Range range = {start, end - start};
    return range;
}

/* At most `limit` characters from the start of a range, whole words where possible. */
static Range
NAMED(first_part)(const CHAR *text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t limit)
{
    Range range = NAMED(stripped)(text, start, end);
    if (range.length > limit) {
        Py_ssize_t cut = limit;
        while (cut > 0 && text[range.start + cut] != ' ' && text[range.start + cut] != '\n')
            cut--;
        range.length = cut ? cut : limit;
    }
    return range;
}

/* The same from its end. */
static Range
NAMED(last_part)(const CHAR *text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t limit)
{
    Range range = NAMED(stripped)(text, start, end);
    if (range.length > limit) {
        Py_ssize_t stop = range.start + range.length, first = stop - limit - 1, cut = first;
        while (cut < stop && text[cut] != ' ' && text[cut] != '\n')
            cut++;
        cut = cut + 1 < stop ? cut + 1 : first + 1;
        range.start = cut;
        range.length = stop - cut;
    }
    return range;
}

static Py_ssize_t
NAMED(put)(CHAR *restrict out, Py_ssize_t length, const CHAR *restrict text, Range range)
{
    if (length)
        out[length++] = ' ';
    for (Py_ssize_t i = 0; i < range.length; i++) {
        CHAR c = text[range.start + i];
        out[length + i] = c == '\n' ? ' ' : c;
    }
    return length + range.length;
}

static PyObject *
NAMED(part)(const CHAR *text, Range range)
{
    CHAR out[MAX_CONTEXT + 8];
    if (range.length > MAX_CONTEXT)
        range.length = MAX_CONTEXT;
    return NAMED(string)(out, NAMED(put)(out, 0, text, range));
}

/* -- elements ------------------------------------------------------------------------------------------ */

static Py_ssize_t
NAMED(find)(SCAN *s, Py_ssize_t from, const char *mark)
{
    Py_ssize_t size = (Py_ssize_t)strlen(mark);
    for (Py_ssize_t i = from; i + size <= s->length; i++) {
        if (s->source[i] != (CHAR)mark[0])
            continue;
        Py_ssize_t j = 1;
        while (j < size && s->source[i + j] == (CHAR)mark[j])
            j++;
        if (j == size)
            return i;
    }
    return s->length;
}

/* Whether `word`, in small letters, stands at a place in any letter case. */
static int
NAMED(word_at)(SCAN *s, Py_ssize_t at, const char *word)
{
    for (; *word; word++, at++)
        if (at >= s->length || s->source[at] >= 128 || Py_TOLOWER((char)s->source[at]) != *word)
            return 0;
    return 1;
}

/* Where the end tag of a script starts. Between <!-- and -->, a script may name <script> and its end: which of
 * the ends that follow is its own cannot be told from here. */
static Py_ssize_t
NAMED(script_end)(SCAN *s)
{
    int escaped = 0;
    for (Py_ssize_t i = s->position; i < s->length; i++) {
        CHAR c = s->source[i];
        if (c == '-' && escaped && NAMED(word_at)(s, i, "-->"))
            escaped = 0;
        if (c != '<')
            continue;
        if (!escaped && NAMED(word_at)(s, i, "<!--")) {
            escaped = 1;
            i++; /* its dashes may be those of the end */
            continue;
        }
        int closing = NAMED(word_at)(s, i, "</script"), opening = NAMED(word_at)(s, i, "<script");
        if (!closing && !opening)
            continue;
        Py_ssize_t behind = i + (closing ? 8 : 7);
        if (behind < s->length && s->source[behind] != '>' && s->source[behind] != '/'
            && !Py_UNICODE_ISSPACE(s->source[behind]))
            continue;
        if (closing)
            return i;
        if (escaped) {
            s->unclear = 1;
            break;
        }
    }
    return s->length;
}

/* Where the end tag of an element starts whose content is written as it is. */
static Py_ssize_t
NAMED(raw_end)(SCAN *s, Tag *tag)
{
    if (tag->role == SCRIPT)
        return NAMED(script_end)(s);
    char mark[LONGEST_TAG + 4];
    PyOS_snprintf(mark, sizeof mark, "</%s>", tag->name);
    return NAMED(find)(s, s->position, mark);
}

/* Behind the next '>'. */
static Py_ssize_t
NAMED(after_tag)(SCAN *s, Py_ssize_t position)
{
    while (position < s->length && s->source[position] != '>')
        position++;
    return position < s->length ? position + 1 : s->length;
}

/* Move behind a comment or a processing instruction. */
static void
NAMED(skip_comment)(SCAN *s)
{
    if (s->source[s->position] == '?') {
        s->position = NAMED(after_tag)(s, s->position);
        return;
    }
    Py_ssize_t end = NAMED(find)(s, s->position, "-->");
    s->position = end < s->length ? end + 3 : s->length;
}

/* Read the name of a tag at `position`; moves behind it. */
static Tag *
NAMED(read_name)(SCAN *s, Range *name)
{
    const CHAR *source = s->source;
    Py_ssize_t i = s->position;
    char narrow[LONGEST_TAG + 1];
    int short_name = 1;
    name->start = i;
    while (i < s->length && source[i] != ' ' && source[i] != '>' && source[i] != '/') {
        if (i - name->start < LONGEST_TAG && source[i] < 128)
            narrow[i - name->start] = (char)source[i];
        else
            short_name = 0;
        i++;
    }
    name->length = i - name->start;
    s->position = i;
    return short_name && name->length ? tag_named(narrow, name->length) : &OTHER;
}

/* Read the attributes of a tag; moves behind its '>'. Whether the element hides itself. `*beside` is set where it is
   called something that is no part of an article. */
static int
NAMED(read_attributes)(SCAN *s, Range *attributes, int *beside)
{
    const CHAR *source = s->source;
    Py_ssize_t i = s->position, length = s->length;
    int hidden = 0;
    while (i < length && source[i] == ' ') {
        Py_ssize_t name = ++i;
        if (i < length) /* a name may start with '=' */
            i++;
        while (i < length && source[i] != '=')
            i++;
        Py_ssize_t name_length = i - name;
        i++;
        if (i >= length || source[i] != '"')
            break;
        Py_ssize_t value = ++i;
        i = NAMED(find_one)(source, i, length, '"');
        Range range = {value, i - value};
        if (i < length)
            i++;
        if (name_length == 6 && NAMED(same)(source + name, 6, "hidden"))
            hidden = 1;
        else if (name_length == 5 && NAMED(same)(source + name, 5, "style"))
            hidden = hidden || NAMED(hides)(source + value, range.length);
        else if (beside != NULL
                 && ((name_length == 5 && NAMED(same)(source + name, 5, "class"))
                     || (name_length == 2 && NAMED(same)(source + name, 2, "id"))
                     || (name_length == 4 && NAMED(same)(source + name, 4, "role"))))
            *beside = *beside || NAMED(beside)(source + value, range.length);
        else if (attributes != NULL && name_length >= 3 && name_length <= 10)
            for (int a = 0; a < ATTRIBUTES; a++)
                if (attributes[a].start < 0 && NAMED(same)(source + name, name_length, ATTRIBUTE_NAMES[a]))
                    attributes[a] = range;
    }
    s->position = NAMED(after_tag)(s, i);
    return hidden;
}

/* Move behind the end tag of an element that was just opened and is not looked into. */
static void
NAMED(skip_element)(SCAN *s, Tag *tag, Range name)
{
    if (tag->flags & VOID)
        return;
    if (tag->flags & RAW) {
        s->position = NAMED(after_tag)(s, NAMED(raw_end)(s, tag));
        return;
    }
    Py_ssize_t level = 1;
    while (s->position < s->length && level) {
        s->position = NAMED(find_one)(s->source, s->position, s->length, '<');
        if (++s->position >= s->length)
            break;
        CHAR c = s->source[s->position];
        if (c == '!' || c == '?') {
            NAMED(skip_comment)(s);
            continue;
        }
        int closing = c == '/';
        if (closing)
            s->position++;
        Range inner;
        Tag *inner_tag = NAMED(read_name)(s, &inner);
        int same = inner.length == name.length
                   && memcmp(s->source + inner.start, s->source + name.start,
                             (size_t)name.length * sizeof(CHAR)) == 0;
        if (closing) {
            s->position = NAMED(after_tag)(s, s->position);
            level -= same;
            continue;
        }
        if (inner_tag->flags & UNCLEAR) {
            s->unclear = 1;
            s->position = s->length;
            return;
        }
        NAMED(read_attributes)(s, NULL, NULL);
        if (same)
            level++;
        else if (inner_tag->flags & RAW)
            s->position = NAMED(after_tag)(s, NAMED(raw_end)(s, inner_tag));
    }
    if (s->position > s->length)
        s->position = s->length;
}

static Py_ssize_t
NAMED(record)(SCAN *s, PyObject *tag, Py_ssize_t parent)
{
    if (!GROW(s->nodes, s->node_count, s->node_room))
        return -1;
    Node *node = &s->nodes[s->node_count];
    node->parent = parent;
    node->start = s->shown_length;
    node->tag = tag;
    Py_INCREF(tag);
    return s->node_count++;
}

/* Names of the open elements below the root and of the link, joined by '/'. */
static PyObject *
NAMED(tag_path)(SCAN *s, Range name)
{
    CHAR out[MAX_PATH_LENGTH];
    Py_ssize_t start = MAX_PATH_LENGTH;
    int lowest = s->depth - MAX_PATH > 1 ? s->depth - MAX_PATH : 1;
    for (int level = s->depth; level >= lowest && start > 0; level--) {
        Range part = level == s->depth ? name : s->open[level].name;
        if (level < s->depth)
            out[--start] = '/';
        for (Py_ssize_t i = part.length; i > 0 && start > 0; i--)
            out[--start] = s->source[part.start + i - 1];
    }
    if (s->depth == 0)
        for (Py_ssize_t i = name.length; i > 0 && start > 0; i--)
            out[--start] = s->source[name.start + i - 1];
    return NAMED(string)(out + start, MAX_PATH_LENGTH - start);
}

/* The innermost open element whose links belong together, numbered at its first link; 0 where there is none. */
static Py_ssize_t
NAMED(group)(SCAN *s)
{
    for (int level = s->depth - 1; level >= 0; level--)
        if (s->open[level].tag->flags & GROUPS) {
            if (s->open[level].group == 0)
                s->open[level].group = ++s->group_count;
            return s->open[level].group;
        }
    return 0;
}

/* Note a link: its index, -1 when the page has too many, -2 on error. */
static Py_ssize_t
NAMED(found)(SCAN *s, PyObject *kind, Range *attributes, int target, Range name, Py_ssize_t node)
{
    if (s->link_count >= MAX_OCCURRENCES)
        return -1;
    if (!GROW(s->links, s->link_count, s->link_room) || !GROW(s->waiting, s->waiting_count, s->waiting_room))
        return -2;
    Found *link = &s->links[s->link_count];
    memset(link, 0, sizeof *link);
    Open *parent = s->depth ? &s->open[s->depth - 1] : NULL;
    Py_ssize_t length = *OUT_LENGTH(s);
    link->kind = kind;
    link->start = link->end = length;
    link->hidden = s->hidden_level >= 0;
    link->depth = s->depth;
    link->node = node;
    link->group = NAMED(group)(s);
    if (link->hidden && s->depth <= s->hidden_level)
        link->parent_start = s->hidden_start;
    else
        link->parent_start = parent ? parent->children : 0;
    link->parent_end = link->parent_start;
    s->link_count++;
    s->waiting[s->waiting_count++] = s->link_count - 1;
    link->href = NAMED(value)(s, attributes[target]);
    link->relation = NAMED(value)(s, attributes[REL]);
    link->media = NAMED(value)(s, attributes[TYPE]);
    Range alternative = attributes[ALT].length > 0 ? attributes[ALT] : attributes[TITLE_ATTRIBUTE];
    link->alternative = NAMED(folded_value)(s, alternative, MAX_ANCHOR);
    if (kind == KIND_A && parent != NULL) {
        if (parent->path == NULL)
            parent->path = NAMED(tag_path)(s, name);
        link->path = parent->path;
        Py_XINCREF(link->path);
    }
    else {
        link->path = NAMED(tag_path)(s, name);
    }
    if (!link->href || !link->relation || !link->media || !link->alternative || !link->path)
        return -2;
    return s->link_count - 1;
}

static void
NAMED(end_waiting)(SCAN *s, int depth)
{
    Py_ssize_t length = *OUT_LENGTH(s);
    while (s->waiting_count > s->waiting_base && s->links[s->waiting[s->waiting_count - 1]].depth > depth)
        s->links[s->waiting[--s->waiting_count]].parent_end = length;
}

static void
NAMED(hide)(SCAN *s)
{
    s->hidden_level = s->depth;
    s->hidden_start = s->hidden_length;
    s->hidden[s->hidden_length++] = '\n';
    s->waiting_base = s->waiting_count;
    s->anchor_base = s->anchor_count;
    s->kept_linked = s->linked;
    s->kept_linked_length = s->linked_length;
    s->kept_heading = s->heading;
}

static void
NAMED(unhide)(SCAN *s)
{
    NAMED(end_waiting)(s, -1);
    s->hidden_level = -1;
    s->waiting_base = 0;
    s->anchor_count = s->anchor_base;
    s->anchor_base = 0;
    s->linked = s->kept_linked;
    s->linked_length = s->kept_linked_length;
    s->heading = s->kept_heading;
}

/* What happens at the end of an element that was looked into. */
static int
NAMED(leave)(SCAN *s, Tag *tag)
{
    if (tag->flags & BREAKS) {
        if (NAMED(end_line)(s) < 0)
            return -1;
        s->box = s->boxes[s->box].parent;
    }
    if (tag->flags & HEADING) {
        if (s->heading && s->hidden_level < 0 && PyList_GET_SIZE(s->headings) < MAX_HEADINGS) {
            Range range = NAMED(first_part)(s->shown, s->heading, s->shown_length, MAX_HEADING);
            if (range.length) {
                PyObject *text = NAMED(part)(s->shown, range);
                if (text == NULL || PyList_Append(s->headings, text) < 0) {
                    Py_XDECREF(text);
                    return -1;
                }
                Py_DECREF(text);
            }
        }
        s->heading = 0;
    }
    else if (tag->flags & BOILERPLATE) {
        s->boilerplate--;
    }
    else if (tag->role == ANCHOR && s->anchor_count > s->anchor_base) {
        Py_ssize_t link = s->anchors[--s->anchor_count];
        if (link >= 0)
            s->links[link].end = *OUT_LENGTH(s);
        s->linked = s->anchor_count > s->anchor_base && s->anchors[s->anchor_count - 1] >= 0;
    }
    else if (tag->role == HEAD) {
        s->heads--;
    }
    return 0;
}

/* Close the innermost open element. */
static int
NAMED(close)(SCAN *s)
{
    Open *element = &s->open[--s->depth];
    NAMED(end_waiting)(s, s->depth);
    Py_CLEAR(element->path);
    if (NAMED(leave)(s, element->tag) < 0)
        return -1;
    if (s->hidden_level == s->depth)
        NAMED(unhide)(s);
    return 0;
}

static int
NAMED(read_title)(SCAN *s, Tag *tag, Range name)
{
    Py_ssize_t end = s->position;
    while (end < s->length && s->source[end] != '<')
        end++;
    if (s->title == NULL && end > s->position) {
        Range range = {s->position, end - s->position};
        s->title = NAMED(value)(s, range);
        if (s->title == NULL)
            return -1;
    }
    NAMED(skip_element)(s, tag, name);
    return 0;
}

static int
NAMED(read_meta)(SCAN *s, Range *attributes)
{
    if (PyList_GET_SIZE(s->metas) >= MAX_META)
        return 0;
    PyObject *name = NAMED(value)(s, attributes[attributes[NAME].length > 0 ? NAME : PROPERTY]);
    PyObject *equivalent = NAMED(value)(s, attributes[EQUIVALENT]);
    PyObject *content = NAMED(value)(s, attributes[CONTENT]);
    PyObject *meta = name && equivalent && content ? PyTuple_Pack(3, name, equivalent, content) : NULL;
    int failed = meta == NULL || PyList_Append(s->metas, meta) < 0;
    Py_XDECREF(name);
    Py_XDECREF(equivalent);
    Py_XDECREF(content);
    Py_XDECREF(meta);
    return failed ? -1 : 0;
}

/* A start tag whose name and attributes have been read. Whether to look into the element; -1 on error. */
static int
NAMED(enter)(SCAN *s, Tag *tag, Range name, Range *attributes, Py_ssize_t node, int beside)
{
    Py_ssize_t link = -1;
    if (tag->flags & BREAKS) {
        if (NAMED(end_line)(s) < 0 || !GROW(s->boxes, s->box_count, s->box_room))
            return -1;
        Box box = {s->box, 0, 0, (unsigned char)beside, (tag->flags & TITLES) != 0, 0};
        s->boxes[s->box = s->box_count++] = box;
    }
    if (tag->flags & HEADING)
        s->heading = *OUT_LENGTH(s);
    else if (tag->flags & BOILERPLATE)
        s->boilerplate++;
    else if (tag->flags & SPACES) {
        CHAR last = OUT(s)[*OUT_LENGTH(s) - 1];
        if (last != ' ' && last != '\n')
            OUT(s)[(*OUT_LENGTH(s))++] = ' ';
    }
    switch (tag->role) {
    case ANCHOR:
        if (attributes[HREF].length > 0)
            link = NAMED(found)(s, KIND_A, attributes, HREF, name, node);
        if (link == -2 || !GROW(s->anchors, s->anchor_count, s->anchor_room))
            return -1;
        s->anchors[s->anchor_count++] = link;
        s->linked = link >= 0;
        return 1;
    case AREA:
        if (attributes[HREF].length > 0)
            link = NAMED(found)(s, KIND_AREA, attributes, HREF, name, node);
        return link == -2 ? -1 : 0;
    case FRAME:
    case IFRAME:
        if (attributes[SRC].length > 0)
            link = NAMED(found)(s, tag->role == FRAME ? KIND_FRAME : KIND_IFRAME, attributes, SRC, name, node);
        return link == -2 ? -1 : 0;
    case IMAGE:
        if (s->anchor_count > s->anchor_base && (link = s->anchors[s->anchor_count - 1]) >= 0
            && attributes[ALT].length > 0) {
            /* A picture's text stands before what the link says of itself. */
            Found *found = &s->links[link];
            if (!found->pictured) {
                PyObject *text = NAMED(folded_value)(s, attributes[ALT], MAX_ANCHOR);
                if (text == NULL)
                    return -1;
                Py_SETREF(found->alternative, text);
                found->pictured = 1;
            }
        }
        return 1;
    case BASE:
        if (s->base == NULL && attributes[HREF].length > 0 && (s->base = NAMED(value)(s, attributes[HREF])) == NULL)
            return -1;
        return 0;
    case META:
        return NAMED(read_meta)(s, attributes);
    case RELATION:
        if (attributes[HREF].length <= 0)
            return 0;
        if (NAMED(has_word)(s, attributes[REL], CANONICAL)) {
            if (s->canonical == NULL && s->heads
                && (s->canonical = NAMED(value)(s, attributes[HREF])) == NULL)
                return -1;
        }
        else if (NAMED(has_word)(s, attributes[REL], RELATIONS)) {
            link = NAMED(found)(s, KIND_LINK, attributes, HREF, name, node);
        }
        return link == -2 ? -1 : 0;
    case HEAD:
        s->heads++;
        return 1;
    case TITLE:
        return 0;
    default:
        return !(tag->flags & SKIPPED);
    }
}

static int
NAMED(start_tag)(SCAN *s)
{
    Range name, attributes[ATTRIBUTES];
    Tag *tag = NAMED(read_name)(s, &name);
    if (tag->flags & UNCLEAR) {
        s->unclear = 1;
        return -1;
    }
    /* Every element may be hidden; what else its attributes say counts for a few. */
    int wanted = tag->role || s->depth == 0;
    if (wanted)
        for (int a = 0; a < ATTRIBUTES; a++)
            attributes[a].start = -1, attributes[a].length = 0;
    int beside = (tag->flags & BESIDE) != 0;
    int hidden = NAMED(read_attributes)(s, wanted ? attributes : NULL, tag->flags & BREAKS ? &beside : NULL);
    if (s->depth == 0 && s->language == NULL) {
        s->language = NAMED(value)(s, attributes[attributes[LANG].length > 0 ? LANG : XML_LANG]);
        if (s->language == NULL)
            return -1;
    }
    Py_ssize_t node = s->node_count - 1;
    if (s->recording && s->hidden_level < 0) {
        PyObject *text = tag->text;
        Py_XINCREF(text);
        if (text == NULL && (text = NAMED(string)(s->source + name.start, name.length)) == NULL)
            return -1;
        node = NAMED(record)(s, text, s->depth ? s->open[s->depth - 1].node : -1);
        Py_DECREF(text);
        if (node < 0)
            return -1;
    }
    int hides = hidden && s->hidden_level < 0;
    if (hides)
        NAMED(hide)(s);
    int inside = NAMED(enter)(s, tag, name, attributes, node, beside);
    if (inside < 0)
        return -1;
    if (inside && !(tag->flags & VOID) && s->depth < MAX_LEVELS) {
        Open *element = &s->open[s->depth++];
        element->name = name;
        element->tag = tag;
        element->children = *OUT_LENGTH(s);
        element->node = node;
        element->path = NULL;
        element->group = 0;
        if (tag->flags & RAW) {
            Py_ssize_t end = NAMED(raw_end)(s, tag);
            if (end > s->position) {
                if (s->recording && s->hidden_level < 0 && NAMED(record)(s, EMPTY, node) < 0)
                    return -1;
                NAMED(add_text)(s, end, 1);
            }
        }
        return 0;
    }
    if (tag->role == TITLE) {
        if (NAMED(read_title)(s, tag, name) < 0)
            return -1;
    }
    else {
        NAMED(skip_element)(s, tag, name);
    }
    if (inside && NAMED(leave)(s, tag) < 0)
        return -1;
    if (hides)
        NAMED(unhide)(s);
    return 0;
}

static int
NAMED(end_tag)(SCAN *s)
{
    Range name;
    Tag *tag = NAMED(read_name)(s, &name);
    s->position = NAMED(after_tag)(s, s->position);
    if (tag->flags & VOID)
        return 0;
    int level = s->depth - 1;
    while (level >= 0
           && (s->open[level].name.length != name.length
               || memcmp(s->source + s->open[level].name.start, s->source + name.start,
                         (size_t)name.length * sizeof(CHAR)) != 0))
        level--;
    if (level >= 0)
        while (s->depth > level)
            if (NAMED(close)(s) < 0)
                return -1;
    return 0;
}

static int
NAMED(run)(SCAN *s)
{
    while (s->position < s->length) {
        Py_ssize_t end = NAMED(find_one)(s->source, s->position, s->length, '<');
        if (end > s->position && s->depth) {
            if (s->recording && s->hidden_level < 0
                && NAMED(record)(s, EMPTY, s->open[s->depth - 1].node) < 0)
                return -1;
            NAMED(add_text)(s, end, 0);
        }
        s->position = end + 1;
        if (s->position >= s->length)
            break;
        CHAR c = s->source[s->position];
        if (c == '/') {
            s->position++;
            if (NAMED(end_tag)(s) < 0)
                return -1;
        }
        else if (c == '!' || c == '?') {
            NAMED(skip_comment)(s);
        }
        else if (NAMED(start_tag)(s) < 0) {
            return -1;
        }
    }
    while (s->depth)
        if (NAMED(close)(s) < 0)
            return -1;
    return 0;
}

/* -- what is handed back ------------------------------------------------------------------------------- */

static PyObject *
NAMED(link_tuple)(SCAN *s, Found *link)
{
    const CHAR *text = link->hidden ? s->hidden : s->shown;
    CHAR out[MAX_CONTEXT + 8];
    Range anchor = NAMED(first_part)(text, link->start, link->end, MAX_ANCHOR);
    Range before = {0, 0}, after = {0, 0};
    Py_ssize_t room = MAX_CONTEXT - anchor.length;
    if (link->parent_start < link->start && room > 1) {
        before = NAMED(last_part)(text, link->parent_start, link->start, room / 2);
        room -= before.length;
    }
    if (link->parent_end > link->end && room > 0)
        after = NAMED(first_part)(text, link->end, link->parent_end, room);
    Py_ssize_t length = 0;
    if (before.length)
        length = NAMED(put)(out, length, text, before);
    if (anchor.length)
        length = NAMED(put)(out, length, text, anchor);
    if (after.length)
        length = NAMED(put)(out, length, text, after);
    PyObject *anchor_text = anchor.length ? NAMED(part)(text, anchor) : or_none(link->alternative);
    PyObject *context = NULL;
    if (length == anchor.length || length == 0) {
        context = anchor_text;
        Py_XINCREF(context);
    }
    else {
        context = NAMED(string)(out, length);
    }
    PyObject *node = PyLong_FromSsize_t(link->node), *group = PyLong_FromSsize_t(link->group);
    PyObject *tuple = NULL;
    if (anchor_text && context && node && group)
        tuple = PyTuple_Pack(9, link->kind, link->href, link->relation, link->media, anchor_text, context,
                             link->path, node, group);
    Py_XDECREF(anchor_text);
    Py_XDECREF(context);
    Py_XDECREF(node);
    Py_XDECREF(group);
    return tuple;
}

/* Characters of a line; an ideograph counts as three. */
static Py_ssize_t
NAMED(weight)(const CHAR *text, Py_ssize_t size)
{
    Py_ssize_t weight = size;
    for (Py_ssize_t k = 0; KIND > 1 && k < size; k++)
        weight += text[k] >= IDEOGRAPHS ? 2 : 0;
    return weight;
}

/* Where the text of a line starts. */
static inline Py_ssize_t
NAMED(line_start)(SCAN *s, Py_ssize_t line)
{
    return line ? s->lines[line - 1].end : 1;
}

/* Count the prose in each box, of lines that may be kept and whose box is none beside the article; how much there is. */
static Py_ssize_t
NAMED(count_prose)(SCAN *s, const unsigned char *drop)
{
    for (Py_ssize_t i = 0; i < s->box_count; i++)
        s->boxes[i].sum = s->boxes[i].count = 0;
    for (Py_ssize_t i = 0; i < s->line_count; i++) {
        Line *line = &s->lines[i];
        Py_ssize_t first = NAMED(line_start)(s, i), size = line->end - 1 - first;
        Box *box = &s->boxes[line->box];
        if (drop[i] || box->inside || (double)line->linked / (double)size >= FEW_LINKS)
            continue;
        Py_ssize_t weight = NAMED(weight)(s->shown + first, size);
        if (weight >= LONG) {
            box->sum += weight;
            box->count++;
        }
    }
    for (Py_ssize_t i = s->box_count - 1; i > 0; i--) {
        s->boxes[s->boxes[i].parent].sum += s->boxes[i].sum;
        s->boxes[s->boxes[i].parent].count += s->boxes[i].count;
    }
    return s->boxes[0].sum;
}

/* Drop what is no part of the page's article, where it has one, as in article.py. */
static void
NAMED(drop_beside)(SCAN *s, unsigned char *drop)
{
    Box *boxes = s->boxes;
    Py_ssize_t total = NAMED(count_prose)(s, drop), article = 0, start = 0;
    if (total < ENOUGH)
        return;
    for (Py_ssize_t i = 1; i < s->box_count; i++) {
        Box *box = &boxes[i];
        box->inside = box->beside = boxes[box->parent].inside || (box->beside && 2 * box->sum <= total);
    }
    total = NAMED(count_prose)(s, drop);
    if (total < ENOUGH)
        return;
    for (Py_ssize_t i = 1; i < s->box_count; i++)
        if (boxes[i].parent == article && (double)boxes[i].sum >= MOST * (double)total && boxes[i].count > 1)
            article = i;
    for (Py_ssize_t i = 0; i < s->box_count; i++)
        boxes[i].inside = i == article || (i > article && boxes[boxes[i].parent].inside);
    while (start < s->line_count && !boxes[s->lines[start].box].inside)
        start++;
    Py_ssize_t first = start > LEAD ? start - LEAD : 0;
    while (first < start && !boxes[s->lines[first].box].title)
        first++;
    Py_ssize_t run = 0;
    for (Py_ssize_t i = 0; i <= s->line_count; i++) {
        if (i < s->line_count) {
            Box *box = &boxes[s->lines[i].box];
            drop[i] |= box->beside || !(box->inside || (first <= i && i < start));
            Py_ssize_t size = s->lines[i].end - 1 - NAMED(line_start)(s, i);
            if ((double)s->lines[i].linked / (double)size > MOSTLY_LINK) {
                run++;
                continue;
            }
        }
        if (run >= LINKS)
            memset(drop + i - run, 1, (size_t)run);
        run = 0;
    }
}

/* The text without navigation and menus, as in main_text.py; NULL on error. */
static PyObject *
NAMED(main_text)(SCAN *s, PyObject *text)
{
    Py_ssize_t count = s->line_count, words = 0, start = -1, length = 0;
    unsigned char *drop = PyMem_RawCalloc((size_t)count + 1, 1), *menu = PyMem_RawCalloc((size_t)count + 1, 1);
    CHAR *out = s->spare;
    PyObject *answer = NULL;
    if (drop == NULL || menu == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i <= count; i++) {
        if (i < count) {
            Py_ssize_t first = NAMED(line_start)(s, i), size = s->lines[i].end - 1 - first;
            drop[i] = s->lines[i].place == 2;
            if (size <= MENU_LENGTH && (double)s->lines[i].linked / (double)size > MOSTLY_LINK) {
                if (start < 0)
                    start = i;
                continue;
            }
            if (!drop[i])
                words += words < PROSE ? NAMED(weight)(s->shown + first, size) : 0;
        }
        if (start >= 0 && i - start >= MENU_LINES)
            memset(menu + start, 1, (size_t)(i - start));
        start = -1;
    }
    for (Py_ssize_t i = 0; i < count && words >= PROSE; i++)
        drop[i] |= menu[i];
    NAMED(drop_beside)(s, drop);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (drop[i])
            continue;
        Py_ssize_t first = NAMED(line_start)(s, i), size = s->lines[i].end - first;
        memcpy(out + length, s->shown + first, (size_t)size * sizeof(CHAR));
        length += size;
    }
    if (length)
        answer = NAMED(string)(out, length - 1);
    else
        Py_INCREF(answer = text);
done:
    PyMem_RawFree(drop);
    PyMem_RawFree(menu);
    return answer;
}

static PyObject *
NAMED(tree)(SCAN *s)
{
    if (!s->recording)
        Py_RETURN_NONE;
    PyObject *text = NAMED(string)(s->shown, s->shown_length);
    PyObject *parents = PyList_New(s->node_count), *tags = PyList_New(s->node_count),
             *starts = PyList_New(s->node_count), *tree = NULL;
    if (!text || !parents || !tags || !starts)
        goto done;
    for (Py_ssize_t i = 0; i < s->node_count; i++) {
        PyObject *parent = PyLong_FromSsize_t(s->nodes[i].parent), *start = PyLong_FromSsize_t(s->nodes[i].start);
        if (parent == NULL || start == NULL) {
            Py_XDECREF(parent);
            Py_XDECREF(start);
            goto done;
        }
        PyList_SET_ITEM(parents, i, parent);
        PyList_SET_ITEM(starts, i, start);
        Py_INCREF(s->nodes[i].tag);
        PyList_SET_ITEM(tags, i, s->nodes[i].tag);
    }
    tree = PyTuple_Pack(4, text, parents, tags, starts);
done:
    Py_XDECREF(text);
    Py_XDECREF(parents);
    Py_XDECREF(tags);
    Py_XDECREF(starts);
    return tree;
}

static PyObject *
NAMED(notes)(SCAN *s)
{
    PyObject *links = PyList_New(s->link_count), *text = NULL, *main = NULL, *tree = NULL, *notes = NULL;
    if (links == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < s->link_count; i++) {
        PyObject *link = NAMED(link_tuple)(s, &s->links[i]);
        if (link == NULL)
            goto done;
        PyList_SET_ITEM(links, i, link);
    }
    /* The text is every line that ended, joined by spaces. */
    Py_ssize_t length = s->line_count ? s->lines[s->line_count - 1].end - 2 : 0;
    const CHAR *restrict shown = s->shown + 1;
    CHAR *restrict spare = s->spare;
    for (Py_ssize_t i = 0; i < length; i++)
        spare[i] = shown[i] == '\n' ? ' ' : shown[i];
    text = NAMED(string)(spare, length);
    main = text ? NAMED(main_text)(s, text) : NULL;
    tree = main ? NAMED(tree)(s) : NULL;
    if (tree != NULL) {
        PyObject *none = EMPTY;
        notes = PyTuple_Pack(10, text, main, links, s->headings, s->metas, s->title ? s->title : none,
                             s->base ? s->base : none, s->canonical ? s->canonical : none,
                             s->language ? s->language : none, tree);
    }
done:
    Py_DECREF(links);
    Py_XDECREF(text);
    Py_XDECREF(main);
    Py_XDECREF(tree);
    return notes;
}

static PyObject *
NAMED(scan)(const CHAR *source, Py_ssize_t length, int blocks)
{
    SCAN s;
    memset(&s, 0, sizeof s);
    s.source = source;
    s.length = length;
    s.recording = blocks;
    s.hidden_level = -1;
    /* No character of the text comes without one of the source, nor does a line end without a tag. */
    size_t room = ((size_t)length + 64) * sizeof(CHAR);
    s.shown = PyMem_RawMalloc(room);
    s.hidden = PyMem_RawMalloc(room);
    s.spare = PyMem_RawMalloc(room);
    s.open = PyMem_RawMalloc(MAX_LEVELS * sizeof *s.open);
    s.headings = PyList_New(0);
    s.metas = PyList_New(0);
    PyObject *notes = NULL;
    if (s.shown && s.hidden && s.spare && s.open && s.headings && s.metas && GROW(s.boxes, s.box_count, s.box_room)) {
        memset(&s.boxes[s.box_count++], 0, sizeof *s.boxes);
        s.shown[s.shown_length++] = '\n';
        if (NAMED(run)(&s) == 0 && !s.unclear)
            notes = NAMED(notes)(&s);
    }
    if (s.unclear && !PyErr_Occurred())
        notes = Py_NewRef(Py_None);
    if (notes == NULL && !PyErr_Occurred())
        PyErr_NoMemory();
    for (int level = 0; level < s.depth; level++)
        Py_XDECREF(s.open[level].path);
    for (Py_ssize_t i = 0; i < s.link_count; i++) {
        Py_XDECREF(s.links[i].href);
        Py_XDECREF(s.links[i].relation);
        Py_XDECREF(s.links[i].media);
        Py_XDECREF(s.links[i].path);
        Py_XDECREF(s.links[i].alternative);
    }
    for (Py_ssize_t i = 0; i < s.node_count; i++)
        Py_XDECREF(s.nodes[i].tag);
    PyMem_RawFree(s.shown);
    PyMem_RawFree(s.hidden);
    PyMem_RawFree(s.spare);
    PyMem_RawFree(s.open);
    PyMem_RawFree(s.links);
    PyMem_RawFree(s.waiting);
    PyMem_RawFree(s.anchors);
    PyMem_RawFree(s.lines);
    PyMem_RawFree(s.boxes);
    PyMem_RawFree(s.nodes);
    Py_XDECREF(s.headings);
    Py_XDECREF(s.metas);
    Py_XDECREF(s.title);
    Py_XDECREF(s.base);
    Py_XDECREF(s.canonical);
    Py_XDECREF(s.language);
    return notes;
}

#undef SCAN
#undef OUT
#undef OUT_LENGTH
