"""Generated memories and questions, the same in every run. Every memory is unique, every question has one answer."""

import random

PEOPLE = """Ann Bruno Chloe Dev Emre Fatima Gus Hana Iris Jonas Kofi Lena Mateo Nina Omar Petra Quentin Rosa Sami Tova
Ugo Vera Wen Ximena Yusuf Zoe Alba Bela Carlos Dina Elias Freya Goran Hugo Inga Jamal Kira Luca Mira Noor""".split()
COLOURS = "red green blue yellow white black brown grey purple silver".split()
THINGS = """bicycle suitcase kettle violin ladder tent camera typewriter umbrella saddle telescope lantern teapot globe
anvil canoe easel drum clock compass mirror cradle sledge wheelbarrow harp
trumpet barrel chessboard kite parasol rucksack sewing-machine microscope accordion weathervane rocking-chair hammock
gramophone thermometer snowglobe birdcage fishing-rod tricycle candlestick spinning-wheel dartboard toolbox jewel-box
bookshelf trampoline""".split()
PLACES = """bakery harbour station library school museum orchard bridge hospital theatre market church stadium
castle airport lighthouse vineyard quarry mill garden""".split()
MONTHS = "January February March April May June July August September October November December".split()

# a memory, and a question about it in other words
KINDS = [
    ("{who} left the {colour} {thing} behind the {place} in {month} and paid {sum} francs to get it back.",
     "Where did {who} forget the {colour} {thing}?"),
    ("In {month} {who} bought a {colour} {thing} from a man near the {place} for {sum} francs.",
     "How much did {who} spend on the {colour} {thing}?"),
    ("{who} promised to repair the {colour} {thing} of the {place} before the end of {month}, job number {sum}.",
     "Which {thing} in {colour} does {who} have to mend?"),
    ("The {colour} {thing} that {who} inherited hangs in the {place} since {month} {sum} years ago.",
     "What became of the {colour} {thing} {who} got from the family?"),
    ("{who} dreamed in {month} of a {colour} {thing} floating over the {place}, dream number {sum} in the diary.",
     "Who saw a flying {colour} {thing} while asleep, and was it {who}?"),
]
COMBINATIONS = len(PEOPLE) * len(COLOURS) * len(THINGS)


def memory(number):
    """The memory and the question with this number. Person, colour and thing together are unique."""
    # a step coprime to the number of combinations visits all of them before it repeats one
    spot = number * 7919 % COMBINATIONS
    who, rest = PEOPLE[spot % len(PEOPLE)], spot // len(PEOPLE)
    colour, thing = COLOURS[rest % len(COLOURS)], THINGS[rest // len(COLOURS)]
    dice = random.Random(number)
    words = {"who": who, "colour": colour, "thing": thing, "place": dice.choice(PLACES), "month": dice.choice(MONTHS),
             "sum": dice.randint(3, 999)}
    text, question = KINDS[dice.randrange(len(KINDS))]
    return text.format(**words), question.format(**words)


class Generated:
    """Generated memories, up to the number of combinations."""

    def __init__(self, largest):
        if largest > COMBINATIONS:
            raise SystemExit(f"at most {COMBINATIONS} different memories can be generated")

    def text(self, number):
        return memory(number)[0]

    def questions(self, stored, how_many):
        """Random questions about stored memories, each with the texts that answer it."""
        picked = random.Random(stored).sample(range(stored), min(how_many, stored))
        return [(memory(number)[1], {memory(number)[0]}) for number in picked]
