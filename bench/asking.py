# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Are answers in words right, honest and understood?

    PYTHONPATH=. python bench/asking.py [--shared FOLDER] [--quick] [--write docs/questions.md]

where      In each RoomR room, after visit 1: «where is the X» for every label that was seen.
           Right: the first hit is where a thing of that label is (15 cm).
names      Other names of the iTHOR types, each asked of a memory that holds one thing of each type.
           Right: certain, and the first hit is of that type.
absent     Questions for things that are not there, ten in each room: types that it lacks and things
           that no room has. Wrong: an answer that is certain, or does not say that it is not known.
questions  Every question of two public sets is read: answered, or refused with a reason.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from identity.tours import Place, places
from memory_node import Detection, SpatialMemory, View
from memory_node.demo.roomr.sensor import SensorModel
from memory_node.demo.roomr.streams import FALSE_ALARM, EpisodeStream
from memory_node.recall import intent

SHARED = Path(__file__).resolve().parents[2] / 'shared'
NEAR_M = 0.15
NOW_NS = 1_700_000_000 * 10**9
TYPES = (
    'AlarmClock AluminumFoil Apple ArmChair BaseballBat BasketBall Bathtub BathtubBasin Bed '
    'Blinds Book Boots Bottle Bowl Box Bread ButterKnife CD Cabinet Candle CellPhone Chair '
    'Cloth CoffeeMachine CoffeeTable CounterTop CreditCard Cup Curtains Desk DeskLamp Desktop '
    'DiningTable DishSponge DogBed Drawer Dresser Dumbbell Egg Faucet Floor FloorLamp '
    'Footstool Fork Fridge GarbageBag GarbageCan HandTowel HandTowelHolder HousePlant Kettle '
    'KeyChain Knife Ladle Laptop LaundryHamper Lettuce LightSwitch Microwave Mirror Mug '
    'Newspaper Ottoman Painting Pan PaperTowelRoll Pen Pencil PepperShaker Pillow Plate '
    'Plunger Poster Pot Potato RemoteControl RoomDecor Safe SaltShaker ScrubBrush Shelf '
    'ShelvingUnit ShowerCurtain ShowerDoor ShowerGlass ShowerHead SideTable Sink SinkBasin '
    'SoapBar SoapBottle Sofa Spatula Spoon SprayBottle Statue Stool StoveBurner StoveKnob '
    'TVStand TableTopDecor TeddyBear Television TennisRacket TissueBox Toaster Toilet '
    'ToiletPaper ToiletPaperHanger Tomato Towel TowelHolder VacuumCleaner Vase Watch '
    'WateringCan Window WineBottle '
)
NAMES = (
    ('couch', 'Sofa'), ('settee', 'Sofa'), ('refrigerator', 'Fridge'), ('trash can', 'GarbageCan'),
    ('waste bin', 'GarbageCan'), ('dustbin', 'GarbageCan'), ('rubbish bin', 'GarbageCan'),
    ('TV', 'Television'), ('tv set', 'Television'), ('cell phone', 'CellPhone'),
    ('mobile phone', 'CellPhone'), ('smartphone', 'CellPhone'), ('phone', 'CellPhone'),
    ('remote', 'RemoteControl'), ('tv remote', 'RemoteControl'), ('tap', 'Faucet'),
    ('frying pan', 'Pan'), ('skillet', 'Pan'), ('saucepan', 'Pot'),
    ('coffee maker', 'CoffeeMachine'),
    ('espresso machine', 'CoffeeMachine'), ('armchair', 'ArmChair'), ('nightstand', 'SideTable'),
    ('bedside table', 'SideTable'), ('end table', 'SideTable'), ('kitchen table', 'DiningTable'),
    ('cupboard', 'Cabinet'), ('chest of drawers', 'Dresser'), ('worktop', 'CounterTop'),
    ('kitchen counter', 'CounterTop'), ('cushion', 'Pillow'), ('curtains', 'Curtains'),
    ('drapes', 'Curtains'), ('window blinds', 'Blinds'), ('picture', 'Painting'),
    ('potted plant', 'HousePlant'), ('plant', 'HousePlant'), ('houseplant', 'HousePlant'),
    ('standing lamp', 'FloorLamp'), ('table lamp', 'DeskLamp'), ('keys', 'KeyChain'),
    ('notebook computer', 'Laptop'), ('PC', 'Desktop'), ('desktop computer', 'Desktop'),
    ('wristwatch', 'Watch'), ('laundry basket', 'LaundryHamper'), ('sponge', 'DishSponge'),
    ('tissues', 'TissueBox'), ('loo roll', 'ToiletPaper'), ('kitchen roll', 'PaperTowelRoll'),
    ('bar of soap', 'SoapBar'), ('soap dispenser', 'SoapBottle'), ('towel rack', 'TowelHolder'),
    ('toilet paper holder', 'ToiletPaperHanger'), ('hoover', 'VacuumCleaner'),
    ('vacuum', 'VacuumCleaner'),
    ('tin foil', 'AluminumFoil'), ('teddy', 'TeddyBear'), ('tennis racquet', 'TennisRacket'),
    ('bank card', 'CreditCard'), ('sculpture', 'Statue'), ('figurine', 'Statue'),
    ('light switch', 'LightSwitch'), ('bath', 'Bathtub'), ('burner', 'StoveBurner'),
)  # fmt: skip
STRANGE = (
    'unicorn', 'piano', 'dog', 'cat', 'bicycle', 'guitar', 'wheelchair', 'printer',
    'ladder', 'hot dog', 'rocking horse', 'aquarium', 'surfboard', 'coffee', 'umbrella',
    'fire extinguisher', 'paper clip',
    'table tennis table', 'violin', 'top hat',
)  # fmt: skip
FORMS = (
    'Where is the {}?', 'Is there a {}?', 'How many {}s are there?', 'Is the {} still there?',
)  # fmt: skip


def spoken(label: str) -> str:
    """CoffeeMachine → coffee machine."""
    return re.sub(r'(?<=[a-z])(?=[A-Z])', ' ', label).lower()


def visited(place: Place, seed: int) -> tuple[SpatialMemory, EpisodeStream, set[int]]:
    """A memory after visit 1, the stream with its truth, and the things that were detected."""
    memory = SpatialMemory.open(':memory:')
    stream = EpisodeStream(*place, SensorModel(), seed)
    seen: set[int] = set()
    for shown in stream.visit(1):
        memory.observe(shown.view)
        seen |= {int(t) for t in shown.things if t != FALSE_ALARM}
    return memory, stream, seen


def where(rooms: Sequence[Place], seed: int) -> tuple[int, int, list[str]]:
    """Questions, right ones, and the wrong ones in words."""
    asked = right = 0
    wrong = []
    for place in rooms:
        memory, stream, seen = visited(place, seed)
        truth = stream.truth
        for label in sorted({truth.labels[t] for t in seen}):
            answer = memory.ask(f'Where is the {spoken(label)}?')
            asked += 1
            true = truth.visits[0].center[[t for t in seen if truth.labels[t] == label]]
            first = answer.hits[0].object if answer.hits else None
            off = np.inf if first is None else np.linalg.norm(true - first.center_m, axis=1).min()
            if first is not None and first.label == label and off <= NEAR_M:
                right += 1
            else:
                wrong.append(f'{place[0].name}: {label}: {answer.text[:100]}')
        memory.close()
    return asked, right, wrong


def of_every_type() -> SpatialMemory:
    """A memory with one thing of each type, a metre apart, seen twice."""
    memory = SpatialMemory.open(':memory:')
    for stamp in (NOW_NS, NOW_NS + 2 * 10**9):
        memory.observe(View(stamp, 'camera', [
            Detection(label, 0.9, (float(k % 12), float(k // 12), 0.5), (0.2, 0.2, 0.2))
            for k, label in enumerate(TYPES.split())
        ]))  # fmt: skip
    return memory


def names(memory: SpatialMemory) -> tuple[int, int, list[str]]:
    """Names, right ones, and the wrong ones in words."""
    wrong = []
    for name, label in NAMES:
        answer = memory.ask(f'where is the {name}?')
        if not (answer.certain and answer.hits and answer.hits[0].object.label == label):
            wrong.append(f'{name} is {label}: {answer.text[:100]}')
    return len(NAMES), len(NAMES) - len(wrong), wrong


def absent(rooms: Sequence[Place], seed: int, each: int = 10) -> tuple[int, int, list[str]]:
    """Questions, honest replies, and the others in words."""
    asked, wrong = 0, []
    draw = np.random.default_rng(seed)
    for number, place in enumerate(rooms):
        memory, _, _ = visited(place, seed)
        known = {label for obj in memory.objects() for label in obj.labels}
        lacking = [label for label in TYPES.split() if label not in known]
        things = [spoken(label) for label in draw.choice(lacking, each - 2, replace=False)]
        things += [STRANGE[(2 * number + k) % len(STRANGE)] for k in range(2)]
        for k, thing in enumerate(things):
            answer = memory.ask(FORMS[k % len(FORMS)].format(thing))
            asked += 1
            if answer.certain or not answer.text.startswith('I do not know'):
                wrong.append(f'{place[0].name}: {thing}: {answer.text[:100]}')
        memory.close()
    return asked, asked - len(wrong), wrong


def question_sets(shared: Path) -> Iterator[tuple[str, list[str]]]:
    """Name and questions of each set that is there."""
    openeqa = shared / 'data' / 'openeqa' / 'open-eqa-v0.json'
    sqa3d = shared / 'data' / 'sqa3d' / 'v1_balanced_questions_test_scannetv2.json.gz'
    if openeqa.exists():
        yield 'OpenEQA', [item['question'] for item in json.loads(openeqa.read_text())]
    if sqa3d.exists():
        items = json.loads(gzip.decompress(sqa3d.read_bytes()))['questions']
        yield 'SQA3D', [item['question'] for item in items]


PREFACE = (
    '# Which questions are understood', '',
    'Made by `PYTHONPATH=. python bench/asking.py --write docs/questions.md`; do not edit it.', '',
    'Every question of two public sets, OpenEQA (MIT) and the test split of SQA3D (CC BY 4.0),',
    'is read by `memory_node/recall/intent.py`. What is read is answered from what is remembered,',
    'which may well be «I do not know»; the rest is refused with the reason. The scenes of the',
    'sets are not at hand, so this says what is understood, not what is answered right. SQA3D asks',
    'from a standpoint: that is `pose` in the request.', '',
)  # fmt: skip

Row = tuple[str, str]
"""Form, and the reason of a refusal (empty: it is answered)."""


def read_all(questions: Sequence[str]) -> tuple[Counter[Row], dict[Row, str]]:
    """How often each form was read, and the shortest question of each."""
    counts: Counter[Row] = Counter()
    example: dict[Row, str] = {}
    for question in questions:
        reading = intent.read(question, NOW_NS)
        reason = re.sub(r'«.*?»', '…', reading.refusal)
        row = (reading.kind, reason)
        counts[row] += 1
        text = ' '.join(question.split()).replace('|', '/')
        if len(text) < len(example.get(row, text + ' ')) and len(text) > 15:
            example[row] = text
    return counts, example


def table(sets: Sequence[tuple[str, list[str]]]) -> str:
    """The page docs/questions.md."""
    read = {name: read_all(questions) for name, questions in sets}
    totals = {name: len(questions) for name, questions in sets}
    rows: defaultdict[Row, Counter[str]] = defaultdict(Counter)
    for name, (counts, _) in read.items():
        for row, count in counts.items():
            rows[row][name] += count
    ordered = sorted(rows, key=lambda row: (bool(row[1]), -sum(rows[row].values()), row))
    lines = [
        *PREFACE,
        '| | ' + ' | '.join(totals) + ' |', '| --- |' + ' ---: |' * len(totals),
        '| questions | ' + ' | '.join(str(n) for n in totals.values()) + ' |',
    ]  # fmt: skip
    for word, refused in (('answered', False), ('refused with a reason', True)):
        sums = [sum(rows[r][name] for r in ordered if bool(r[1]) is refused) for name in totals]
        shares = [f'{n} ({n / totals[name]:.0%})' for n, name in zip(sums, totals)]
        lines.append(f'| {word} | ' + ' | '.join(shares) + ' |')
    for title, refused in (('Answered', False), ('Refused', True)):
        first = 'Reason' if refused else 'Form'
        lines += ['', f'## {title}', '', f'| {first} | ' + ' | '.join(totals) + ' | For example |',
                  '| --- |' + ' ---: |' * len(totals) + ' --- |']  # fmt: skip
        for row in (r for r in ordered if bool(r[1]) is refused):
            example = min((e[row] for _, e in read.values() if row in e), key=len, default='')
            name = f'{row[1]}' if refused else row[0]
            if refused and row[0] != 'unread':
                name = f'{row[0]}: {name}'
            counts = ' | '.join(str(rows[row][n]) for n in totals)
            lines.append(f'| {name} | {counts} | {example} |')
    return '\n'.join(lines) + '\n'


def main(arguments: Sequence[str] | None = None) -> dict[str, tuple[int, int]]:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--shared', type=Path, default=SHARED, help='folder of data/ and bench/')
    parser.add_argument('--quick', action='store_true', help='two rooms only')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--write', type=Path, metavar='FILE', help='write the table of questions')
    given = parser.parse_args(arguments)
    rooms = places(given.shared, given.quick)
    memory = of_every_type()
    found = {
        'where': where(rooms, given.seed), 'names': names(memory),
        'absent': absent(rooms, given.seed),
    }  # fmt: skip
    memory.close()
    for name, (asked, right, wrong) in found.items():
        print(f'{name}: {right} of {asked} ({right / asked:.3f})')
        for line in wrong[:20]:
            print(f'    {line}')
    sets = list(question_sets(given.shared))
    for name, questions in sets:
        counts, _ = read_all(questions)
        answered = sum(n for (_, reason), n in counts.items() if not reason)
        print(f'{name}: {answered} of {len(questions)} answered, the others refused with a reason')
    if given.write and sets:
        given.write.write_text(table(sets), encoding='utf-8')
    return {name: (asked, right) for name, (asked, right, _) in found.items()}


if __name__ == '__main__':
    main()
