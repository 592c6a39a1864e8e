//! The generated pairs: topics with several ways to say the same, values, and ways to deny it.

/// What is true of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Both say the same.
    Paraphrase,
    /// Both cannot be true.
    Contradiction,
    /// They are about different things.
    Unrelated,
    /// The second says what became of the first.
    Update,
}

#[derive(Debug, Clone)]
pub struct Pair {
    pub topic: usize,
    pub predicate: &'static str,
    pub a: String,
    pub b: String,
    pub truth: Truth,
}

struct Topic {
    predicate: &'static str,
    /// Ways to say that `{}` is the value.
    ways: &'static [&'static str],
    values: &'static [&'static str],
    /// What another value means.
    other: Truth,
    /// Ways to deny it.
    denials: &'static [&'static str],
}

const fn topic(
    predicate: &'static str,
    other: Truth,
    ways: &'static [&'static str],
    denials: &'static [&'static str],
    values: &'static [&'static str],
) -> Topic {
    Topic { predicate, ways, values, other, denials }
}

use Truth::{Contradiction as Excludes, Unrelated as Differs, Update as Changes};

/// Statements as people and models write them: with and without a subject, short and long, in the first half and the second
/// half of the list about equally often.
const TOPICS: &[Topic] = &[
    topic(
        "home",
        Changes,
        &["Lives in {}", "Anna resides in {}", "Her home is in {}", "Anna is living in {}."],
        &["Does not live in {}", "Anna doesn't live in {}"],
        &["Berlin", "Lisbon", "Toronto", "Nairobi"],
    ),
    topic(
        "employer",
        Changes,
        &["Works at {}", "Is employed by {}", "Anna works for {}", "Her employer is {}"],
        &["Does not work at {}", "Anna no longer works for {}"],
        &["Siemens", "Spotify", "Nestlé", "Toyota"],
    ),
    topic(
        "weight",
        Excludes,
        &["Weighs {} kg", "Anna weighs {} kilograms", "Her weight is {}kg", "Body weight: {} kg"],
        &["Does not weigh {} kg"],
        &["72", "75", "68", "81"],
    ),
    topic(
        "height",
        Excludes,
        &["Is {} cm tall", "Anna's height is {} cm", "She is {} centimetres tall", "Height: {} cm"],
        &["Is not {} cm tall"],
        &["172", "168", "181", "175"],
    ),
    topic(
        "age",
        Excludes,
        &["Is {} years old", "Anna is {} years old", "Her age is {} years", "She is {} years of age"],
        &["Is not {} years old"],
        &["34", "35", "41", "29"],
    ),
    topic(
        "children",
        Excludes,
        &["Has {} children", "Anna has {} children", "Is a parent of {} children", "She has {} kids"],
        &["Does not have {} children"],
        &["two", "three", "four", "five"],
    ),
    topic(
        "diet",
        Differs,
        &["Eats {}", "Anna eats {}", "She regularly eats {}", "{} is part of her diet"],
        &["Does not eat {}", "Anna never eats {}", "She doesn't eat {}"],
        &["meat", "cheese", "mushrooms", "lentils"],
    ),
    topic(
        "drink",
        Differs,
        &[
            "Drinks {} every morning",
            "Anna has {} each morning",
            "Every morning she drinks {}",
            "Her morning drink is {}",
        ],
        &["Does not drink {} in the morning", "Never drinks {} in the morning"],
        &["green tea", "black coffee", "orange juice", "oat milk"],
    ),
    topic(
        "allergy",
        Differs,
        &["Is allergic to {}", "Has an allergy to {}", "Anna is allergic to {}", "Suffers from a {} allergy"],
        &["Is not allergic to {}", "Has no allergy to {}"],
        &["peanuts", "pollen", "shellfish", "cats"],
    ),
    topic(
        "colour",
        Changes,
        &[
            "Favourite colour is {}",
            "Anna's favourite colour is {}",
            "Her preferred colour is {}",
            "Likes the colour {} best",
        ],
        &["Favourite colour is not {}"],
        &["blue", "green", "red", "purple"],
    ),
    topic(
        "pet",
        Differs,
        &["Has a {}", "Anna owns a {}", "Keeps a {} as a pet", "She has a pet {}"],
        &["Does not have a {}", "Anna has no {}"],
        &["dog", "cat", "parrot", "rabbit"],
    ),
    topic(
        "partner",
        Changes,
        &["Is married to {}", "Anna's husband is {}", "Her spouse is {}", "{} is her husband"],
        &["Is not married to {}", "Anna is no longer married to {}"],
        &["Tom", "Rafael", "Kenji", "Oliver"],
    ),
    topic(
        "birthday",
        Excludes,
        &["Birthday is on {}", "Anna was born on {}", "Her birthday is {}", "Date of birth: {}"],
        &["Birthday is not on {}"],
        &["5 March 1990", "6 March 1990", "12 July 1988", "1 May 1991"],
    ),
    topic(
        "meeting",
        Excludes,
        &[
            "The team meeting is on {}",
            "The team meets on {}",
            "Team meeting: every {}",
            "The weekly team meeting takes place on {}",
        ],
        &["The team meeting is not on {}"],
        &["Monday", "Tuesday", "Thursday", "Friday"],
    ),
    topic(
        "deadline",
        Excludes,
        &[
            "The deadline is {}",
            "The report is due on {}",
            "The report has to be finished by {}",
            "Deadline of the report: {}",
        ],
        &["The deadline is not {}"],
        &["3 June", "10 June", "17 September", "1 October"],
    ),
    topic(
        "budget",
        Excludes,
        &["The budget is {} euros", "Has a budget of {} euros", "The available budget is €{}", "{} euros are budgeted"],
        &["The budget is not {} euros"],
        &["5000", "7500", "12000", "900"],
    ),
    topic(
        "languages",
        Differs,
        &["Speaks {}", "Anna is fluent in {}", "She can speak {}", "Knows how to speak {}"],
        &["Does not speak {}", "Anna cannot speak {}"],
        &["Spanish", "Finnish", "Turkish", "Swahili"],
    ),
    topic(
        "instrument",
        Differs,
        &["Plays the {}", "Anna can play the {}", "She is a {} player", "Knows how to play the {}"],
        &["Does not play the {}", "Anna doesn't play the {}"],
        &["piano", "violin", "cello", "guitar"],
    ),
    topic(
        "sport",
        Differs,
        &["Enjoys {}", "Likes {} a lot", "Anna is fond of {}", "{} is one of her hobbies"],
        &["Hates {}", "Does not enjoy {}", "Anna dislikes {}"],
        &["tennis", "bouldering", "fencing", "sailing"],
    ),
    topic(
        "commute",
        Changes,
        &["Commutes by {}", "Goes to work by {}", "Anna takes the {} to work", "Her commute is by {}"],
        &["Does not commute by {}", "Never goes to work by {}"],
        &["train", "bike", "bus", "tram"],
    ),
    topic(
        "editor",
        Changes,
        &["Uses {} as editor", "Anna's editor is {}", "Writes code in {}", "Her code editor is {}"],
        &["Does not use {} as editor"],
        &["Emacs", "Neovim", "Zed", "Helix"],
    ),
    topic(
        "indentation",
        Changes,
        &[
            "Indents with {}",
            "Uses {} for indentation",
            "Anna's code is indented with {}",
            "Indentation is done with {}",
        ],
        &["Does not indent with {}"],
        &["tabs", "spaces", "two spaces", "four spaces"],
    ),
    topic(
        "database",
        Changes,
        &[
            "The project uses {}",
            "The project's database is {}",
            "Data of the project is stored in {}",
            "{} is the database of the project",
        ],
        &["The project does not use {}"],
        &["PostgreSQL", "SQLite", "MongoDB", "MySQL"],
    ),
    topic(
        "port",
        Excludes,
        &[
            "The server listens on port {}",
            "The service runs on port {}",
            "Port {} is used by the server",
            "The server's port is {}",
        ],
        &["The server does not listen on port {}"],
        &["8080", "8150", "3000", "5432"],
    ),
    topic(
        "release",
        Excludes,
        &[
            "The release is planned for {}",
            "The release date is {}",
            "The product launches on {}",
            "They will launch on {}",
        ],
        &["The release is not planned for {}"],
        &["4 April", "18 April", "2 May", "30 June"],
    ),
    topic(
        "dose",
        Excludes,
        &[
            "Takes {} mg of ibuprofen",
            "Anna takes ibuprofen, {} mg",
            "Her dose of ibuprofen is {} mg",
            "Ibuprofen dose: {} mg",
        ],
        &["Does not take {} mg of ibuprofen"],
        &["200", "400", "600", "800"],
    ),
    topic(
        "doctor",
        Changes,
        &["Her doctor is {}", "Anna sees {} for check-ups", "{} is Anna's doctor", "Her physician is {}"],
        &["Her doctor is not {}"],
        &["Dr Weber", "Dr Okafor", "Dr Silva", "Dr Tanaka"],
    ),
    topic(
        "sleep",
        Excludes,
        &[
            "Sleeps {} hours a night",
            "Anna sleeps for {} hours each night",
            "Gets {} hours of sleep per night",
            "Her nightly sleep is {} hours",
        ],
        &["Does not sleep {} hours a night"],
        &["7", "8", "6", "9"],
    ),
    topic(
        "wake",
        Excludes,
        &["Gets up at {}", "Anna wakes up at {}", "Her alarm rings at {}", "She is up at {}"],
        &["Does not get up at {}"],
        &["6:30", "7:00", "5:45", "8:15"],
    ),
    topic(
        "seat",
        Changes,
        &[
            "Prefers {} seats",
            "Anna likes to sit on {} seats",
            "Her preferred seat is a {} seat",
            "Books {} seats when flying",
        ],
        &["Does not prefer {} seats"],
        &["window", "aisle", "front", "rear"],
    ),
    topic(
        "music",
        Differs,
        &["Listens to {}", "Anna listens to {} music", "Her kind of music is {}", "Likes to listen to {}"],
        &["Does not listen to {}", "Never listens to {}"],
        &["jazz", "techno", "folk", "opera"],
    ),
    topic(
        "smoking",
        Differs,
        &["Smokes {}", "Anna smokes {}", "She is a smoker of {}", "Has the habit of smoking {}"],
        &["Does not smoke {}", "Stopped smoking {}", "Anna quit smoking {}"],
        &["cigarettes", "cigars", "a pipe", "shisha"],
    ),
    topic(
        "car",
        Changes,
        &["Drives a {}", "Anna's car is a {}", "She owns a {}", "Her vehicle is a {}"],
        &["Does not drive a {}", "Anna no longer drives a {}"],
        &["Volvo", "Tesla", "Fiat", "Honda"],
    ),
    topic(
        "floor",
        Excludes,
        &[
            "The flat is on floor {}",
            "Anna's flat is on the {}th floor",
            "Her apartment is on floor {}",
            "Lives on floor {}",
        ],
        &["The flat is not on floor {}"],
        &["4", "5", "6", "7"],
    ),
    topic(
        "newsletter",
        Differs,
        &[
            "Wants the {} newsletter",
            "Would like to get the newsletter about {}",
            "Anna wants to receive {} news",
            "Wishes to receive the {} newsletter",
        ],
        &["Does not want the {} newsletter"],
        &["gardening", "science", "fashion", "chess"],
    ),
    topic(
        "notifications",
        Excludes,
        &[
            "Wants notifications {}",
            "Notifications should be {}",
            "Anna likes notifications {}",
            "Keep notifications {}",
        ],
        &["Does not want notifications {}"],
        &["enabled", "disabled", "on", "off"],
    ),
    topic(
        "reading",
        Differs,
        &["Is reading {}", "Anna is currently reading {}", "The book she reads now is {}", "Currently reads {}"],
        &["Is not reading {}"],
        &["Dune", "Emma", "Ulysses", "Beloved"],
    ),
    topic(
        "training",
        Excludes,
        &[
            "Trains {} times a week",
            "Anna works out {} times per week",
            "Goes to the gym {} times a week",
            "She has {} workouts each week",
        ],
        &["Does not train {} times a week"],
        &["two", "three", "four", "five"],
    ),
    topic(
        "answer_style",
        Changes,
        &["Prefers {} answers", "Anna likes {} answers", "Give her {} answers", "Answers should be {}"],
        &["Does not like {} answers"],
        &["short", "detailed", "formal", "funny"],
    ),
    topic(
        "holiday",
        Changes,
        &["Spends the holidays in {}", "Goes on holiday to {}", "Anna's holiday destination is {}", "Vacations in {}"],
        &["Does not spend the holidays in {}"],
        &["Crete", "Norway", "Vietnam", "Mexico"],
    ),
];

/// All pairs, always the same.
pub fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (number, topic) in TOPICS.iter().enumerate() {
        let mut push = |a: String, b: String, truth| {
            pairs.push(Pair { topic: number, predicate: topic.predicate, a, b, truth });
        };
        let way = |place: usize, value: usize| {
            topic.ways[place % topic.ways.len()].replace("{}", topic.values[value % topic.values.len()])
        };
        for place in 0..4 {
            push(way(place, place), way(place + 1, place), Truth::Paraphrase);
        }
        for place in 0..2 {
            push(way(place, place), way(place, place + 1), topic.other);
            push(way(place, place + 2), way(place + 1, place + 3), topic.other);
        }
        for (place, denial) in topic.denials.iter().enumerate() {
            push(way(place, place), denial.replace("{}", topic.values[place]), Truth::Contradiction);
        }
        let denied = |place: usize| topic.denials[place].replace("{}", topic.values[0]);
        if topic.denials.len() > 1 {
            push(denied(0), denied(1), Truth::Paraphrase);
        }
        let next = &TOPICS[(number + 3) % TOPICS.len()];
        for place in 0..2 {
            push(way(place, place), next.ways[place].replace("{}", next.values[place]), Truth::Unrelated);
        }
    }
    pairs
}
