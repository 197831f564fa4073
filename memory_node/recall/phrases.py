# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The words of questions in English, German, Spanish and Chinese, as tables; see `intent`.

A form is a pattern and what it asks. Its group `x` is everything that is said of the thing; the
group `y`, where there is one, is put behind it. In Chinese the thing comes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_node.model import RelationKind

ON, UNDER, NEAR, INSIDE, BESIDE, AGAINST, PART_OF = (str(kind.value) for kind in (
    RelationKind.ON, RelationKind.UNDER, RelationKind.NEAR, RelationKind.INSIDE,
    RelationKind.BESIDE, RelationKind.AGAINST, RelationKind.PART_OF,
))  # fmt: skip
IN_OR_ON = 'in or on'
"""Spanish `en`: in a place, on a thing."""
NO_RELATION = (
    'a relation that the memory does not hold{}: it knows on, under, inside, near, beside, against '
    'and part of'
)
"""Why a text with a relation of a picture has no answer; of which words, if they are known."""

ARTICLES = re.compile(
    r'^(?:(?:the|a|an|any|some|my|your|our|his|her|their|its|this|that|these|those|all|every|each|'
    r'another|other|der|die|das|den|dem|des|ein|eine|einen|einem|einer|mein|meine|meinen|meinem|'
    r'meiner|irgendein|irgendeine|irgendwelche|el|la|los|las|un|una|unos|unas|mi|mis|algún|alguna|'
    r'algun|of|me|us|exactly|currently|really|actually|just|right|only|also|there|here|now|'
    r'located|possibly|directly|immediately)\b\s*|(?:我的|那个|这个|一个|那把|这把)\s*)+'
)
TAIL = re.compile(
    r'(?:\s+(?:located|placed|kept|stored|situated|positioned|found|now|right now|currently|please|'
    r'at|is|are|that|there|here|again|today|exactly|anywhere|somewhere|around here|so|then|'
    r'gerade|jetzt|bitte|da|dort|hier|ahora|ahí|allí|aquí|por favor|in total|altogether|'
    r'that you know of|visible|in sight|for me))+$'
)
HERE = re.compile(
    r'\s*\b(?:in|inside|of|around|from|throughout)\s+(?:the|this|my|our|that|entire|whole|\s)*'
    r'\s*(?:room|scene|house|home|apartment|flat|building|place|picture|image|photo|video|area|'
    r'space)\b(?!\s+(?:with|next|near|where))|\b(?:in relation|relative|according|compared)(?: to| with) (?:me|my position)\b|'
    r'\bto me\b|\bso (?:that )?(?:i|we) .*$|\b(?:because|in order to) .*$|\b(?:im raum|in diesem raum|im zimmer|im haus|'
    r'en (?:esta|la) (?:habitación|casa|sala))\b|(?:房间里|屋里|这里)'
)
"""The whole of what is remembered: no filter."""

FILLER = re.compile(
    r'\b(?:that is|that are|which is|which are|who is|is it that|being|that was|is there|are there|'
    r'there are|there is|do you (?:see|know of|remember)|do we have|do i have|do you have|'
    r'can you see|can i see|can be seen|do i see|could be found|can be found|am i facing|'
    r'i am facing|gibt es|siehst du|hay|ves|tenemos|hast du gesehen)\b'
)
PLACED = re.compile(
    r'\b(?:located|placed|kept|stored|situated|positioned|found|sitting|lying|laying|hanging|hung|'
    r'standing|resting|mounted|attached|stuck|left|parked|put|plugged|leaning|stacked|laid|seen)\s+'
    r'(?=(?:right |directly |just )?(?:on|in|at|under|below|beneath|underneath|near|next|by|'
    r'beside|above|behind|between|inside|against|from|to|around|over|in front)\b)'
)

RELATIONS: tuple[tuple[str, str], ...] = (
    (r'on the top of|on top of|atop|upon|on to|onto|on', ON),
    (r'auf dem|auf der|auf den|auf die|auf', ON),
    (r'encima del?|sobre', ON),
    (r'inside of|inside|within|into|in', INSIDE),
    (r'innerhalb von|innerhalb|im|in dem|in der|in den', INSIDE),
    (r'dentro del?', INSIDE),
    (r'en', IN_OR_ON),
    (r'underneath|under|below|beneath', UNDER),
    (r'unterhalb von|unterhalb|unter dem|unter der|unter', UNDER),
    (r'debajo del?|bajo', UNDER),
    (r'next to|close to|near to|nearest to|closest to|near by|nearby|near|adjacent to|by|around',
     NEAR),
    (r'nahe bei|bei dem|bei der|beim|in der nähe vo[nm]', NEAR),
    (r'cerca del?', NEAR),
    (r'side by side with|beside|alongside', BESIDE),
    (r'neben dem|neben der|neben', BESIDE),
    (r'al lado del?|junto al?', BESIDE),
    (r'up against|against', AGAINST),
    (r'gegen|direkt an|(?:gelehnt |angelehnt )?an(?= de[rmn]\b| die\b| das\b)', AGAINST),
    (r'(?:apoyad[oa]s? |pegad[oa]s? )?contra|pegad[oa]s? al?|arrimad[oa]s? al?', AGAINST),
    (r'(?:a |the )?parts? of', PART_OF),
    (r'(?:ein |die )?teile? vo[nm]', PART_OF),
    (r'(?:una? |las? )?partes? del?', PART_OF),
)  # fmt: skip
"""Phrase → relation (CH-35)."""


RELATION = re.compile(
    r'(?:^|(?<=\s))(?:(?:right|directly|just|immediately)\s+)?(?:'
    + '|'.join(f'(?P<r{k}>{phrase})' for k, (phrase, _) in enumerate(RELATIONS))
    + r')(?=\s)'
)
NOT_HELD = re.compile(
    r'\b(?:above|over|behind|in front of|between|in between|opposite|across from|facing|'
    r'(?:to |on |at )?(?:the |its )?(?:left|right|other|far|back|front|each|both|same|opposite)'
    r'(?: hand)? sides? of|(?:to|on|at) (?:the |its )?(?:left|right|back|front|bottom)(?: hand)?'
    r'(?: of)?|(?:left|right) of|at the (?:end|corner|edge|back|front|top|bottom|entrance) of|'
    r'(?:in|at) the (?:center|centre|middle|corner)(?: of)?|through|along|outside(?: of)?|'
    r'past|from|hinter|vor dem|vor der|zwischen|über|links von|rechts von|detrás de|delante de|'
    r'entre|a la (?:izquierda|derecha))\b'
)
"""Relations of a picture or of a viewpoint, which the memory does not hold."""
CHINESE_RELATION = re.compile(
    r'(?:(?:紧?靠(?:着|在)|紧靠|靠(?=墙))(?P<against>[^\s，。？?]+?)(?:上|的|$)|'
    r'(?P<y>[^\s，。？?]+?)(?:的)?(?:(?P<part>一?部分|部件|零件)|(?P<on>上面|上边|上)|'
    r'(?P<in>里面|里边|里|中)|(?P<under>下面|下边|底下|下)|(?P<beside>旁边|边上)|(?P<near>附近)))'
    r'(?:的|有|放着|是|$)?'
)

THINGS = frozenset(
    [
        'thing',
        'things',
        'object',
        'objects',
        'item',
        'items',
        'something',
        'anything',
        'everything',
        'stuff',
        'one',
        'ones',
        'it',
        'them',
        'what',
        'there',
        'nothing',
        'etwas',
        'alles',
        'ding',
        'dinge',
        'sachen',
        'algo',
        'todo',
        'cosas',
        'cosa',
        'objetos',
        '东西',
        '什么',
    ]
)
"""Words for whatever there is."""

WHERE, EXISTS, COUNT, STILL, WHEN = 'where', 'exists', 'count', 'still', 'when'
CHANGED, LIST, DIRECTION, DISTANCE = 'changed', 'list', 'direction', 'distance'
ATTRIBUTE, STATE, UNREAD = 'attribute', 'state', 'unread'
KINDS = (
    WHERE, EXISTS, COUNT, STILL, WHEN, CHANGED, LIST, DIRECTION, DISTANCE, ATTRIBUTE, STATE, UNREAD,
)  # fmt: skip

_IS = r'(?:is|are|was|were)'
_MEASURE = 'big|large|tall|wide|long|high|deep|small'
_QUALITY = (
    r'colou?rs?|materials?|shapes?|sizes?|brands?|patterns?|texture|style|kind|type|sort|name|'
    r'price|weight|age|condition|purpose|use|function|model|word|letters?|numbers?|time'
)
_STATES = (
    r'open|opened|closed|shut|on|off|turned on|turned off|switched on|switched off|lit|empty|full|'
    r'clean|dirty|plugged in|unplugged|made|unmade|locked|unlocked|folded|unfolded|up|down|'
    r'occupied|in use|broken|available|running|wet|dry|cluttered|messy|tidy|drawn|flushed'
)
FORMS: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), kind)
    for kind, pattern in (
        # what changed
        (CHANGED, r'^what (?:has |have |is |was |are )?(?:been )?(?:changed|moved|new|different|gone|'
                  r'missing|happened|appeared|disappeared|added|removed)\b(?P<x>.*)$'),
        (CHANGED, r'^(?:what|which) (?:things?|objects?|items?) (?:have |has |were |are |was |is )?'
                  r'(?:been )?(?:changed|moved|new|missing|gone|added|removed)\b(?P<x>.*)$'),
        (CHANGED, r'^(?:has |did |is |was )?(?:anything|something) (?:new|changed?|moved?|different|'
                  r'missing|happened?)\b(?P<x>.*)$'),
        (CHANGED, r'^what (?:did|have) (?:you|i|we) miss(?:ed)?\b(?P<x>.*)$'),
        (CHANGED, r'^was (?:hat sich|ist) (?P<x>.*?)\s*(?:verändert|geändert|neu|anders|passiert)\b(?P<y>.*)$'),
        (CHANGED, r'^qué (?:ha cambiado|cambió|hay de nuevo|hay nuevo|se movió|se ha movido|ha pasado)\b(?P<x>.*)$'),
        (CHANGED, r'^(?P<x>.*?)(?:什么变了|有什么变化|发生了什么|有什么不同|什么改变了|什么动了)(?:了|吗)?$'),
        # is it still there
        (STILL, r'^(?:is|are) (?P<x>.+?) still (?P<y>.+)$'),
        (STILL, r'^(?:is|are) (?P<x>.+?) (?:gone|missing|where (?:it|they) (?:was|were|should be)|'
                r'in (?:its|their) (?:usual )?place)\b(?P<y>.*)$'),
        (STILL, r'^(?:ist|sind|steht|stehen|liegt|liegen|hängt) (?P<x>.+?) (?:immer )?noch (?P<y>.+)$'),
        (STILL, r'^(?:sigue|siguen|está|están) (?:todavía |aún )?(?P<x>.+?) (?:ahí|allí|aquí|todavía|aún)\b(?P<y>.*)$'),
        (STILL, r'^(?:todavía|aún) (?:está|están|sigue|hay) (?P<x>.+)$'),
        (STILL, r'^(?:sigue|siguen) (?P<x>.+)$'),
        (STILL, r'^(?P<x>.+?)(?:还|仍然|是否还)在(?P<y>.*?)(?:吗)?$'),
        # how many
        (COUNT, r'^how man(?:y)?(?: of)? (?P<x>.+)$'),
        (COUNT, r'^(?:is|are|can|could) (?:the |there )?(?:total )?(?:number|amount|count|quantity)s? of (?P<x>.+?)'
                r'(?: an| a)? (?:odd|even|(?:be )?divided|divisible|or)\b.*$'),
        (COUNT, r'^what (?:integer|number|is the (?:number|amount|count|quantity)) (?:of|is the (?:number|'
                r'amount) of)? ?(?P<x>.+)$'),
        (COUNT, r'^count (?P<x>.+)$'),
        (COUNT, r'^wie ?viele? (?P<x>.+)$'),
        (COUNT, r'^cuánt[oa]s? (?P<x>.+)$'),
        (COUNT, r'^(?P<y>.*?)有?(?:多少|几)(?:个|把|张|只|本|台|瓶|件)?(?P<x>.+?)$'),
        # when was it seen
        (WHEN, r'^(?:when|how long ago) (?:did|have) (?:you|i|we|anyone) (?:last )?(?:see|seen|saw|notice|spot) (?P<x>.+?)'
               r'(?: last| the last time)?$'),
        (WHEN, rf'^(?:when|how long ago) {_IS} (?P<x>.+?) (?:last )?(?:seen|there|noticed|spotted)(?: last)?(?P<y>.*)$'),
        (WHEN, r'^when (?:did) (?P<x>.+?) (?:move|moved|disappear|appear|arrive|leave)$'),
        (WHEN, r'^wann (?:hast du|habe ich|wurde|wurden|war|waren) (?P<x>.+?)(?: zuletzt| das letzte mal)?(?: gesehen| da)?$'),
        (WHEN, r'^cuándo (?:viste|vi|has visto|se vio|fue visto|fue vista) (?:por última vez )?(?P<x>.+?)(?: por última vez)?$'),
        (WHEN, r'^(?:你)?(?:上次|最后一次)?(?:是)?(?:什么时候|何时)(?:看到|见到|看见)(?:过|了)?(?P<x>.+?)(?:的)?$'),
        # which way, how far
        (DIRECTION, r'^(?:to |in |from |on )?(?:which|what|whic) (?:direction|way|side|clock direction)s? '
                    r'(?:should|do|would|must|could|can|will|shall|did|does|am|is|are)\b(?P<x>.*)$'),
        (DIRECTION, r'^(?:which|what) (?:direction|way) (?:to|for|towards?) (?P<x>.+)$'),
        (DIRECTION, r'^(?:where|which way|what direction|which direction)(?: way)? (?:should|do|would|must|can|could) i '
                    r'(?:go|turn|look|walk|head|face|move|get)\b(?P<x>.*)$'),
        (DISTANCE, r'^(?:which|what) (?:one |object |thing |item |of these )?(?:is |are |\'s )(?:located )?(?:closer|closest|nearer|'
                   r'nearest|further|farther|furthest|farthest)(?: away)?(?: to| from)?(?: me| my position)?\s*(?:,|:|-)?\s*'
                   r'(?:the )?(?P<x>.+?) or (?P<y>.+)$'),
        (DISTANCE, r'^am i (?:closer|nearer|further|farther)(?: away)? (?:to|from) (?P<x>.+?) or (?P<y>.+)$'),
        (DISTANCE, r'^how (?:far|close|near)(?: away)? (?:is|are|am i|do i have)(?: from| to)? (?P<x>.+)$'),
        (DISTANCE, r'^wie weit (?:ist|sind) (?P<x>.+?)(?: (?:entfernt|weg))?$'),
        (DISTANCE, r'^a qué distancia (?:está|están) (?P<x>.+)$'),
        (DISTANCE, r'^(?P<x>.+?)(?:有|离我|离这里)?(?:有)?多远$'),
        # what it is like
        (ATTRIBUTE, rf'^(?:what|which|whats)(?: is the| is| are the| are)? (?P<a>{_QUALITY})(?: of)?(?: is| are| does| do| was| were| has|'
                    rf' have)\b (?P<x>.+)$'),
        (ATTRIBUTE, rf'^(?:what|which) (?:is|are) (?:the )?(?:main |primary |dominant )?(?P<a>{_QUALITY}) (?:of|on|for|in) (?P<x>.+)$'),
        (ATTRIBUTE, rf'^how (?P<a>{_MEASURE}) (?:is|are) (?P<x>.+)$'),
        (ATTRIBUTE, rf'^what {_IS} (?P<x>.+?) (?P<a>made)(?: out)? (?:of|from|up of)$'),
        (ATTRIBUTE, r'^welche (?P<a>farbe|form|größe) (?:hat|haben) (?P<x>.+)$'),
        (ATTRIBUTE, r'^wie (?P<a>groß|hoch|breit|lang) (?:ist|sind) (?P<x>.+)$'),
        (ATTRIBUTE, r'^de qué (?P<a>color|material|tamaño) (?:es|son) (?P<x>.+)$'),
        (ATTRIBUTE, r'^(?P<x>.+?)是?什么(?P<a>颜色|材料|形状)(?:的)?$'),
        (ATTRIBUTE, r'^(?P<x>.+?)(?P<a>多大|多高)$'),
        # where is it
        (WHERE, rf'^where (?:exactly |else |in the [a-z]+ )?{_IS} (?P<x>.+)$'),
        (WHERE, r'^where (?:did|have|do|had) (?:i|we|you|he|she|they) (?:last )?(?:leave|left|put|place|placed|keep|kept|see|seen|'
                r'find|store|hang|drop|lost?|park|forget)(?:ed)? (?P<x>.+)$'),
        (WHERE, r'^where (?:can|could|do|would|should|might|may|will) (?:i|we|you|one) (?:possibly |usually )?(?:find|see|get|locate|'
                r'grab|pick up|spot|fetch) (?P<x>.+)$'),
        (WHERE, r'^(?:on|in|under|at|inside|near|to)? ?(?:which|what) (?!is\b|are\b|on\b|in\b)(?:[a-z]+ ){1,2}(?:is|are|has|contains|holds) (?P<x>.+?)'
                r' (?:on|in|under|at|located|kept|placed|inside|near)(?: in| on| at)?$'),
        (WHERE, r'^(?:on|in|under|at|inside) (?:which|what) (?:[a-z]+ )?(?:is|are|can i find|did i leave|do i find) (?P<x>.+)$'),
        (WHERE, r"^(?:.*\b)?(?:i am|i'm|im|we are) (?:looking|searching) for (?P<x>.+?)(?:[.,;] .*)?$"),
        (WHERE, r"^(?:i )?(?:cannot|can't|can not|could not|couldn't) find (?P<x>.+?)(?:[.,;] .*)?$"),
        (WHERE, r'^(?:where|find|locate|search for|look for|show me where(?: is| are)?|go to|take me to|bring me|fetch|get me) '
                r'(?!can\b|could\b|should\b|do\b|would\b|to\b|i\b|else\b|you\b)(?P<x>.+)$'),
        (WHERE, r'^(?:have|has|did) (?:you|anyone|anybody) (?:seen|see|noticed?|found|find) (?P<x>.+)$'),
        (WHERE, r'^(?:can|could) you (?:find|locate|see) (?P<x>.+)$'),
        (WHERE, r'^wo (?:ist|sind|liegt|liegen|steht|stehen|hängt|hängen|befindet sich|befinden sich|finde ich|war|waren|'
                r'habe ich|hab ich|kann ich) (?P<x>.+?)(?: (?:hingelegt|gelassen|abgestellt|finden|hingestellt))?$'),
        (WHERE, r'^(?:hast du|hat jemand) (?P<x>.+?) gesehen$'),
        (WHERE, r'^(?:ich )?suche (?P<x>.+)$'),
        (WHERE, r'^d[óo]nde (?:está|están|esta|estan|se encuentra|se encuentran|hay|puse|dejé|he dejado|he puesto|puedo encontrar) '
                r'(?P<x>.+)$'),
        (WHERE, r'^(?:has visto|busco|estoy buscando) (?P<x>.+)$'),
        (WHERE, r'^(?P<x>.+?)(?:放)?在(?:哪里|哪儿|哪|什么地方|何处)(?:呢|啊)?$'),
        (WHERE, r'^(?:我的)?(?P<x>.+?)(?:去)?哪(?:里|儿)?(?:去)?了?$'),
        # what is there
        (LIST, r'^(?:what|which)(?: all| else)? (?:is|are|was|were|lies?|sits?|stands?|hangs?)(?: all| it| else| the)? (?P<x>(?:the )?'
               r'(?:objects?|things?|items?) .+)$'),
        (LIST, r'^(?:what|which) (?:can|could|do|did|does|would|will|should) (?:i|you|we|one|be) (?:possibly )?(?:find|found|see|seen|'
               r'know|remember|notice|have|hold|sense)\b(?P<x>.*)$'),
        (LIST, r'^(?:list|show|name|enumerate|give)(?: me)?(?: all| everything)? ?(?P<x>.*)$'),
        (LIST, r'^(?:is|are) (?:there|their) (?P<x>(?:anything|something|nothing|any (?:thing|object|item)s?)\b.*)$'),
        (LIST, r'^(?:is|are) (?P<x>(?:anything|something|any (?:thing|object|item)s?)\b.*)$'),
        (LIST, r"^(?:there is|there are|theres|there's) (?P<x>something .+?),? what (?:is|are) (?:it|they|that)$"),
        (LIST, r'^what (?:is|are|was|were|\'s|lies|items? (?:is|are)|objects? (?:is|are)|things? (?:is|are))(?: all| else| it| there)? '
               r'(?P<x>(?:[a-z]+ing )?(?:kept |located |placed |found |hanging |lying |sitting |stored |standing |hung |directly |just '
               r'|right |mounted )*(?:on|in|inside|under|underneath|below|beneath|near|next to|beside|by|close to|around|atop|within|'
               r'above|behind|between|in front|to the|at|(?:up )?against|(?:a )?part of|the parts of|over|opposite|adjacent|across|outside|left|along)\b.*)$'),
        (LIST, r'^(?:what|which) (?P<x>(?!is\b|are\b|can\b|do\b|should\b|would\b|could\b|if\b|was\b|time\b)[a-z-]+(?: [a-z-]+)?) '
               r'(?:is|are|was|were|hangs?|lies?|sits?|stands?) (?P<y>.+)$'),
        (LIST, r'^(?:what|which) (?P<x>(?:on|in|inside|under|is left|is right)\b.*)$'),
        (LIST, r'^was (?:ist|liegt|steht|sind|liegen|stehen|hängt|lehnt|lehnen|befindet sich|gibt es|siehst du)\b(?P<x>.*)$'),
        (LIST, r'^(?:qué|que) (?:hay|está|ves|tienes|se encuentra|sabes)\b(?P<x>.*)$'),
        (LIST, r'^(?:qué|que) (?:es|son|forman?) (?P<x>(?:una? |las? )?partes? .+)$'),
        (LIST, r'^(?P<x>.+?)(?:有|是|放着)(?:些)?什么(?:东西)?$'),
        (LIST, r'^有?(?:什么|哪些)(?:东西)?(?:是)?(?P<x>紧?靠.+|.+(?:部分|部件|零件))$'),
        (LIST, r'^what (?:is|are)(?: the)? (?P<x>.*\b(?:thing|object|item|device|furniture|appliance|instrument|machine|stuff)s?\b.*)$'),
        (LIST, r"^(?:what|what's) (?:is |are )?(?P<x>(?:closest|nearest|next) to .+)$"),
        (LIST, r'^what (?:is|are) (?:the )?(?P<x>(?:closest|nearest) .+)$'),
        # is it open
        (STATE, rf'^(?:is|are|was|were) (?P<x>.+?) (?:currently |completely |fully |still |now )?(?P<a>{_STATES})'
                rf'(?:,? or (?:is it |are they )?(?:{_STATES}|not).*)?$'),
        (STATE, r'^(?:ist|sind|steht) (?P<x>.+?) (?P<a>offen|auf|zu|geschlossen|an|aus|leer|voll|sauber)(?: oder .*)?$'),
        (STATE, r'^(?:está|están) (?P<x>.+?) (?P<a>abiert[oa]s?|cerrad[oa]s?|encendid[oa]s?|apagad[oa]s?|vací[oa]s?|llen[oa]s?)(?: o .*)?$'),
        # is there one
        (EXISTS, r'^(?:is|are|was|were) (?:there|their) (?P<x>.+)$'),
        (EXISTS, r'^(?:do|does) (?:you|we|i|this [a-z]+|the [a-z]+) (?:have|see|know(?: of)?|remember|contain|own) (?P<x>.+)$'),
        (EXISTS, r'^gibt es (?P<x>.+)$'),
        (EXISTS, r'^(?:hast du|haben wir|siehst du|kennst du) (?P<x>.+)$'),
        (EXISTS, r'^(?:hay|tenemos|ves|tienes) (?P<x>.+)$'),
        (EXISTS, r'^(?P<y>.*?)有(?:没有)?(?P<x>.+?)(?:吗|没有)?$'),
        (EXISTS, r'^(?:is|are|was|were) (?P<x>(?:the|my|a|an|any|your|our|this|that|there) .+? (?:on|in|inside|under|underneath|below|'
                 r'near|next to|beside|by|close to|within|beneath|on top of|against|part of|above|behind|between|in front of|to my|on my|at my)\b.+)$'),
        (EXISTS, r'^(?:ist|sind|liegt|steht|liegen|stehen) (?P<x>.+? (?:auf|in|im|unter|neben|an|gegen|teil) .+)$'),
        (EXISTS, r'^(?:está|están) (?P<x>.+? (?:en|sobre|debajo|dentro|encima|cerca|al lado|junto|contra) .+)$'),
        (EXISTS, r'^(?:es|son) (?P<x>.+? partes? .+)$'),
        (EXISTS, r'^(?P<x>.+?)(?P<y>紧?靠(?:着|在).+?)吗$'),
        (EXISTS, r'^(?P<x>.+?)在(?P<y>.+?(?:上面|里面|下面|旁边|附近|上|里|下))吗$'),
    )
)  # fmt: skip
"""The first that fits says what is asked."""

SIDED: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), kind)
    for kind, pattern in (
        (LIST, r'^(?:what|which)(?: objects?| items?| things?| furniture)?(?: is| are| do i have| lies| stands)?(?: there| it)?'
               r'(?: directly| immediately| located| just| right| placed| the)*(?P<x>)$'),
        (LIST, r'^(?:was (?:ist|liegt|steht)|qué (?:hay|está)|有什么|是什么)(?P<x>)$'),
        (LIST, r'^(?:which|what) (?P<x>[a-z]+(?: [a-z]+)?) (?:is|are)(?: the)?$'),
        (EXISTS, r'^(?:is|are|was|were|ist|sind|está|están) (?P<x>.+)$'),
    )
)  # fmt: skip
"""Further forms, where the text says on which side of whoever asks."""

CLAUSE = re.compile(
    r'\b(?:that|which|who|whose|if|or|i|you|we|so|to|can(?= (?:i|you|we|be|one|he|it)\b)|could|does|do|did|have|has|not|when|while|'
    r'than|more|most|fewer|even|odd|same|each other|where|what|be|been|used|using|blocking|covering|'
    r'besides|except|because|but|is|are|was|were|in relation|facing|number|amount)\b'
)
"""What a thing that is understood has not in its name."""
FUNCTION = re.compile(
    r'\b(?:if|so|where|what|which|how|why|who|i|you|we|he|she|they|is|are|was|were|do|does|did|can (?:i|you|we|be|it)|could|should|would|'
    r'will|there|then|not|true|false|yes|no|ignore|tell|say|print|system|please)\b'
)
"""A text with one of these is no mere name of a thing."""
FIRST_REFUSALS: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r'\b(?:room|space|place|enough space) (?:left )?(?:on|for|to|in which)\b|\benough (?:room|space|chairs|seats)\b',
         'it asks what would fit: the memory holds what was seen, and does not try things out'),
    )
)  # fmt: skip
"""As `REFUSALS`, whatever form fits."""

REFUSALS: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r'^(?:where am i|am i (?:in|at|inside)\b.*|(?:what|which) (?:type |kind |sort )?(?:of )?(?:room|place|floor|building)\b.*|'
         r'is this\b.*|(?:what|which) room\b.*|in (?:what|which) room\b.*)',
         'it asks what kind of place this is: the memory knows places by the names that somebody gave them'),
        (r'\b(?:how (?:can|do|could|should|would|might|to|i|am|are|is|did|does)|what (?:can|could|should|would|do|might|tool|thing) '
         r'(?:i|we|you|be|one|someone|the|a|use)|where (?:can|could|should|would|do|i|might|you|is a good|else|will)|what (?:else )?'
         r'(?:is|are) (?:it |they |the )?(?:used )?for|i want|i need|i have|i would|is it possible|use(?:d)? (?:to|for)|can be used)\b',
         'it asks what things are good for: the memory holds what is where, not uses'),
        (r'\b(?:see|visible|look|facing|notice|reflection|view)\b',
         'it asks what could be seen from somewhere: lines of sight to things are not computed for questions'),
        (r'\b(?:if i|if you|if there|when i|when you|would|could|can i|can you|can we|can the|can a|can anyone|should|will|might|may i|'
         r'able to|enough|fit|reach|room for|space (?:for|to|on)|room (?:to|on))\b',
         'it asks what would be possible: the memory holds what was seen, and does not try things out'),
        (r'\b(?:colou?rs?|materials?|shapes?|made of|pattern|brand|style|texture|written|text|word|letters?|logo|look like|floral|'
         r'say|says|read|reads|printed|drawn|picture of|design)\b',
         'it asks how things look: the memory holds what is where, and only such qualities as somebody stated'),
        (r'\b(?:who|whom|whose|anyone|anybody|someone|somebody|people|person|live|lives|pets?)\b',
         'it asks about people: the memory does not remember people'),
        (r'\b(?:why|weather|temperature|smell|sound|hear|taste|cost|price|expensive|time is it|season|day or night|outside)\b',
         'it asks for more than where things are'),
        (r'\b(?:left|right|behind|front|above|between|opposite|center|centre|middle|corner|side|end|facing|clock)\b',
         f'it asks for {NO_RELATION.format("")}'),
        (r'^(?:is|are|was|were|does|do|did|has|have|am|which|what|it|the|how)\b',
         'it asks how a thing is: the memory holds what is where, and only such facts as somebody stated'),
    )
)  # fmt: skip
"""Why a text that fits no form has no answer; the first that fits says so."""
