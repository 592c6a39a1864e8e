"""Invented episodes: short, varied, and the same in every run."""

PEOPLE = ["Ann", "Bruno", "Chloe", "Dev", "Emre", "Fatima", "Gus", "Hana", "Iris", "Jonas"]
HAPPENINGS = [
    "{a} said that she is allergic to peanuts and carries an injector.",
    "{a} moved to Bern last month and works at the city library now.",
    "The user asked to move the meeting with {a} from Monday to Thursday at ten.",
    "{a} prefers tea over coffee and never drinks after six in the evening.",
    "Booking the train for {a} failed twice until the seat reservation was left out.",
    "{a}'s birthday is on the third of May; {b} plans a surprise party.",
    "{a} takes 20 mg of the blood pressure medicine every morning; the dose was asked first and then logged.",
    "{a} and {b} share a car; it is at the garage until Friday.",
    "The user said: always answer {a} in French, she finds English tiring.",
    "{a} started a pottery course on Wednesdays and likes it very much.",
    "The weather was bad, and nothing else was said about it.",
    "{a} asked {b} for the recipe of the lentil soup; too much salt, she said.",
]


def episode(number):
    people = PEOPLE[number % len(PEOPLE)], PEOPLE[(number * 3 + 1) % len(PEOPLE)]
    text = HAPPENINGS[number % len(HAPPENINGS)].format(a=people[0], b=people[1])
    return f"Session {number}. {text}"
