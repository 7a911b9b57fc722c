"""How common words are on the web in general, for users who have no background corpus.

The list is our own judgement, roughly by rank, and the frequencies follow Zipf's law: the word of
rank r stands in about `8000 / (r + 15)` of 1,000 pages, at most 400. It only has to tell the words of
every page ("home", "contact") from the words of a topic; a background corpus is always better.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser
from honeyguide.text.weighting import DocumentFrequencies

DOCUMENTS: Final = 10_000
AVERAGE_LENGTH: Final = 400.0
"""Terms of a web page, stop words not counted."""

_ENGLISH = """
home page contact information time people new search year work help world free privacy policy right
reserve copyright site web news service day email name number part first two three public great good
long high list group state life read find view show call start need know think look back place small
large order change term group case point member follow open include example result system program
company business government country city house family child man woman school university student book
history general national international local community education health development project research
report research data support provide available member area form type set level line word write name
learn area today week month january february march april june july august september october november
december monday tuesday wednesday thursday friday saturday sunday morning night hour minute article
story post comment share link click download upload file image photo picture video audio music game
online internet website computer software technology digital network mobile phone address map
location street north south east west center park room building office department staff team director
president manager author editor user customer client visitor account login password sign register
register subscribe newsletter cookie setting option menu main content navigation skip top bottom left
next previous later archive category tag topic title subject index table content chapter section
introduction overview summary conclusion description detail question answer problem solution issue
reason idea fact opinion review rating guide tip advice resource tool product price cost pay money
buy sell sale offer deal discount market shop store order ship delivery return card credit bank
finance insurance job career employ hire apply application require requirement law legal court
police war military force power energy water air fire earth land sea river mountain tree plant animal
dog food eat drink restaurant recipe kitchen hotel travel trip car road train flight sport play
player win lose score season league club event meeting conference party festival film movie show
television radio magazine newspaper paper publish press release version update latest current
recent early late old young big little short full complete special different important possible
common simple easy hard difficult real true best top popular official original final total major
minor specific particular certain similar related additional extra several million thousand hundred
percent average rate increase decrease grow growth reduce improve create build design develop
produce product process method model theory practice experience skill training course class teach
teacher lesson test exam study science social political economic cultural human body mind heart
hand head eye face hair foot blood doctor hospital medical patient disease treatment drug care
safety security risk protect control manage management plan policy goal success effort action move
run walk turn stop stay leave arrive bring send receive hold carry cut break fall drop raise
lead leader role member person friend love feel happy sorry thank welcome hello dear sir letter
message language english french german spanish chinese american british european african asian
white black red blue green color size weight length height speed distance date age birth death
""".split()  # noqa: SIM905  A list of words reads better as words.

_CHINESE = """
首页 中国 网站 公司 新闻 联系 版权 所有 信息 服务 时间 工作 发展 管理 关于 登录 注册 搜索 下载 更多
产品 技术 问题 方法 学习 大学 学生 社会 经济 国家 政府 国际 市场 企业 项目 系统 数据 网络 文章 内容
图片 视频 评论 发布 相关 推荐 查看 全部 返回 上一页 下一页 电话 邮箱 地址 北京 上海 生活 世界 文化 教育
科技 历史 音乐 电影 游戏 体育 手机 电脑 软件 免费 用户
""".split()  # noqa: SIM905


@lru_cache(maxsize=8)
def _table(languages: tuple[str, ...], stem: bool, segmenter: Segmenter) -> DocumentFrequencies:
    analyser = Analyser(languages, stem, segmenter=segmenter)
    counts: dict[str, int] = {}
    for words in (_ENGLISH, _CHINESE):
        for rank, word in enumerate(words, 1):
            for term in analyser.terms(word):
                counts.setdefault(term, min(4000, 80_000 // (rank + 15)))
    return DocumentFrequencies(DOCUMENTS, counts, AVERAGE_LENGTH)


def background(analyser: Analyser) -> DocumentFrequencies:
    """Built-in document frequencies in the terms of `analyser`.

    Example:
        >>> table = background(Analyser())
        >>> table.idf("home") < table.idf("research") < table.idf("backpropag")
        True
    """
    return _table(analyser.languages, analyser.stem, analyser.segmenter)
