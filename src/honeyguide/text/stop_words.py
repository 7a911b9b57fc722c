"""Our own lists of words that say nothing about a topic, for English and Chinese.

Written for web pages: besides function words they hold the left-overs of contractions
("don't" gives "don"). Words such as "home" or "page" are not here: they are common, not empty,
and `honeyguide.text.background` knows them.
"""

from __future__ import annotations

_ENGLISH = """
    a about above across after afterwards again against ago all almost alone along already also although
    always am among amongst an and another any anybody anyhow anyone anything anyway anywhere are aren
    around as aside at away
    be became because become becomes becoming been before beforehand behind being below beside besides
    best better between beyond both but by
    came can cannot cant come comes coming could couldn
    did didn do does doesn doing don done down during
    each either else elsewhere enough etc even ever every everybody everyone everything everywhere except
    far few for former formerly from further furthermore
    gave get gets getting give given gives giving go goes going gone got gotten
    had hadn has hasn have haven having he hence her here hereby herein hers herself hi him himself his
    how however
    i ie if in indeed instead into is isn it its itself
    just
    keep keeps kept
    last later latter least less let lets like likely ll
    made mainly make makes making many may maybe me meanwhile might mine more moreover most mostly much
    must mustn my myself
    namely near nearly neither never nevertheless next no nobody none nonetheless noone nor not nothing
    now nowhere
    of off often oh ok okay on once one ones only onto or other others otherwise ought our ours ourselves
    out over overall own
    per perhaps please put
    quite
    rather re really regarding
    said same saw say says see seem seemed seeming seems seen several shall shan she should shouldn since
    so some somebody somehow someone something sometime sometimes somewhere soon still such sure
    take taken takes taking than that the their theirs them themselves then thence there thereafter thereby
    therefore therein thereof these they thing things this those though through throughout thru thus to
    together too took toward towards
    under unless until unto up upon us use used uses using usually
    various ve very via
    want wants was wasn way ways we well went were weren what whatever when whence whenever where whereas
    whereby wherein wherever whether which whichever while whither who whoever whole whom whose why will
    with within without won would wouldn
    yes yet you your yours yourself yourselves
"""

_CHINESE = """
    的 了 和 是 在 有 我 你 他 她 它 们 我们 你们 他们 她们 它们 这 那 这个 那个 这些 那些 这里
    那里 这样 那样 之 与 及 以及 或 或者 而 而且 并 并且 但 但是 不过 因为 所以 因此 由于 如果 虽然 然而 于是
    则 即 若 如 如何 例如 也 都 就 还 又 再 很 更 最 太 不 没 没有 不是 不能 不会 只 只是
    只有 已 已经 正在 曾 将 会 能 能够 可 可以 可能 应 应该 要 需要 想 让 使 把 被 给 对 对于
    关于 从 自 自己 向 往 到 至 于 以 为 为了 由 按 按照 根据 通过 随着 除了 上 下 中 内 外
    里 前 后 时 时候 之后 之前 之间 其 其他 其中 每 各 各种 某 任何 所有 一切 一些 一个 一种 一样 一下 一
    什么 怎么 怎样 为什么 哪 哪些 哪里 谁 几 多少 等 等等 吗 呢 吧 啊 呀 哦 嗯 着 过 地 得 个
    些 种 次 位 件 条 用 使用 进行 作为 成为 做 来 去 说 请 您 此 该 本 当 同 同时 另
    另外 其实 非常 比较 十分 以上 以下
"""

ENGLISH = frozenset(_ENGLISH.split())
CHINESE = frozenset(_CHINESE.split())

BY_LANGUAGE = {"en": ENGLISH, "zh": CHINESE}
