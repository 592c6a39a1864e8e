//! The topics of the generated pairs: several ways to say the same, values, and ways to deny it.

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

pub struct Topic {
    /// Two predicates under which it may be stored.
    pub predicates: [&'static str; 2],
    /// Ways to say that `{}` is the value.
    pub ways: &'static [&'static str],
    pub values: &'static [&'static str],
    /// What another value means.
    pub other: Truth,
    /// Ways to deny it.
    pub denials: &'static [&'static str],
}

const fn topic(
    predicates: [&'static str; 2],
    other: Truth,
    ways: &'static [&'static str],
    denials: &'static [&'static str],
    values: &'static [&'static str],
) -> Topic {
    Topic { predicates, ways, values, other, denials }
}

use Truth::{Contradiction as Excludes, Unrelated as Differs, Update as Changes};

/// Statements as people and models write them: with and without a subject, short and long, in the first half and the second
/// half of the list about equally often.
pub const TOPICS: &[Topic] = &[
    topic(
        ["home", "residence"],
        Changes,
        &["Lives in {}", "Anna resides in {}", "Her home is in {}", "Anna is living in {}."],
        &["Does not live in {}", "Anna doesn't live in {}"],
        &["Berlin", "Lisbon", "Toronto", "Nairobi"],
    ),
    topic(
        ["employer", "works_at"],
        Changes,
        &["Works at {}", "Is employed by {}", "Anna works for {}", "Her employer is {}"],
        &["Does not work at {}", "Anna no longer works for {}"],
        &["Siemens", "Spotify", "Nestlé", "Toyota"],
    ),
    topic(
        ["weight", "body_mass"],
        Excludes,
        &["Weighs {} kg", "Anna weighs {} kilograms", "Her weight is {}kg", "Body weight: {} kg"],
        &["Does not weigh {} kg"],
        &["72", "75", "68", "81"],
    ),
    topic(
        ["height", "body_height"],
        Excludes,
        &["Is {} cm tall", "Anna's height is {} cm", "She is {} centimetres tall", "Height: {} cm"],
        &["Is not {} cm tall"],
        &["172", "168", "181", "175"],
    ),
    topic(
        ["age", "years_old"],
        Excludes,
        &["Is {} years old", "Anna is {} years old", "Her age is {} years", "She is {} years of age"],
        &["Is not {} years old"],
        &["34", "35", "41", "29"],
    ),
    topic(
        ["children", "number_of_children"],
        Excludes,
        &["Has {} children", "Anna has {} children", "Is a parent of {} children", "She has {} kids"],
        &["Does not have {} children"],
        &["two", "three", "four", "five"],
    ),
    topic(
        ["diet", "eating_habits"],
        Differs,
        &["Eats {}", "Anna eats {}", "She regularly eats {}", "{} is part of her diet"],
        &["Does not eat {}", "Anna never eats {}", "She doesn't eat {}"],
        &["meat", "cheese", "mushrooms", "lentils"],
    ),
    topic(
        ["drink", "morning_routine"],
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
        ["allergy", "allergic_to"],
        Differs,
        &["Is allergic to {}", "Has an allergy to {}", "Anna is allergic to {}", "Suffers from a {} allergy"],
        &["Is not allergic to {}", "Has no allergy to {}"],
        &["peanuts", "pollen", "shellfish", "cats"],
    ),
    topic(
        ["colour", "favourite_colour"],
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
        ["pet", "animal"],
        Differs,
        &["Has a {}", "Anna owns a {}", "Keeps a {} as a pet", "She has a pet {}"],
        &["Does not have a {}", "Anna has no {}"],
        &["dog", "cat", "parrot", "rabbit"],
    ),
    topic(
        ["partner", "husband"],
        Changes,
        &["Is married to {}", "Anna's husband is {}", "Her spouse is {}", "{} is her husband"],
        &["Is not married to {}", "Anna is no longer married to {}"],
        &["Tom", "Rafael", "Kenji", "Oliver"],
    ),
    topic(
        ["birthday", "date_of_birth"],
        Excludes,
        &["Birthday is on {}", "Anna was born on {}", "Her birthday is {}", "Date of birth: {}"],
        &["Birthday is not on {}"],
        &["5 March 1990", "6 March 1990", "12 July 1988", "1 May 1991"],
    ),
    topic(
        ["meeting", "team_meeting"],
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
        ["deadline", "due_date"],
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
        ["budget", "available_money"],
        Excludes,
        &["The budget is {} euros", "Has a budget of {} euros", "The available budget is €{}", "{} euros are budgeted"],
        &["The budget is not {} euros"],
        &["5000", "7500", "12000", "900"],
    ),
    topic(
        ["languages", "speaks"],
        Differs,
        &["Speaks {}", "Anna is fluent in {}", "She can speak {}", "Knows how to speak {}"],
        &["Does not speak {}", "Anna cannot speak {}"],
        &["Spanish", "Finnish", "Turkish", "Swahili"],
    ),
    topic(
        ["instrument", "musical_skill"],
        Differs,
        &["Plays the {}", "Anna can play the {}", "She is a {} player", "Knows how to play the {}"],
        &["Does not play the {}", "Anna doesn't play the {}"],
        &["piano", "violin", "cello", "guitar"],
    ),
    topic(
        ["sport", "hobby"],
        Differs,
        &["Enjoys {}", "Likes {} a lot", "Anna is fond of {}", "{} is one of her hobbies"],
        &["Hates {}", "Does not enjoy {}", "Anna dislikes {}"],
        &["tennis", "bouldering", "fencing", "sailing"],
    ),
    topic(
        ["commute", "way_to_work"],
        Changes,
        &["Commutes by {}", "Goes to work by {}", "Anna takes the {} to work", "Her commute is by {}"],
        &["Does not commute by {}", "Never goes to work by {}"],
        &["train", "bike", "bus", "tram"],
    ),
    topic(
        ["editor", "development_tool"],
        Changes,
        &["Uses {} as editor", "Anna's editor is {}", "Writes code in {}", "Her code editor is {}"],
        &["Does not use {} as editor"],
        &["Emacs", "Neovim", "Zed", "Helix"],
    ),
    topic(
        ["indentation", "code_style"],
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
        ["database", "data_store"],
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
        ["port", "server_port"],
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
        ["release", "launch_date"],
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
        ["dose", "medication"],
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
        ["doctor", "physician"],
        Changes,
        &["Her doctor is {}", "Anna sees {} for check-ups", "{} is Anna's doctor", "Her physician is {}"],
        &["Her doctor is not {}"],
        &["Dr Weber", "Dr Okafor", "Dr Silva", "Dr Tanaka"],
    ),
    topic(
        ["sleep", "sleep_duration"],
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
        ["wake", "wake_up_time"],
        Excludes,
        &["Gets up at {}", "Anna wakes up at {}", "Her alarm rings at {}", "She is up at {}"],
        &["Does not get up at {}"],
        &["6:30", "7:00", "5:45", "8:15"],
    ),
    topic(
        ["seat", "seat_preference"],
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
        ["music", "listens_to"],
        Differs,
        &["Listens to {}", "Anna listens to {} music", "Her kind of music is {}", "Likes to listen to {}"],
        &["Does not listen to {}", "Never listens to {}"],
        &["jazz", "techno", "folk", "opera"],
    ),
    topic(
        ["smoking", "habit"],
        Differs,
        &["Smokes {}", "Anna smokes {}", "She is a smoker of {}", "Has the habit of smoking {}"],
        &["Does not smoke {}", "Stopped smoking {}", "Anna quit smoking {}"],
        &["cigarettes", "cigars", "a pipe", "shisha"],
    ),
    topic(
        ["car", "vehicle"],
        Changes,
        &["Drives a {}", "Anna's car is a {}", "She owns a {}", "Her vehicle is a {}"],
        &["Does not drive a {}", "Anna no longer drives a {}"],
        &["Volvo", "Tesla", "Fiat", "Honda"],
    ),
    topic(
        ["floor", "apartment_floor"],
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
        ["newsletter", "subscription"],
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
        ["notifications", "notification_setting"],
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
        ["reading", "current_book"],
        Differs,
        &["Is reading {}", "Anna is currently reading {}", "The book she reads now is {}", "Currently reads {}"],
        &["Is not reading {}"],
        &["Dune", "Emma", "Ulysses", "Beloved"],
    ),
    topic(
        ["training", "workouts"],
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
        ["answer_style", "communication_preference"],
        Changes,
        &["Prefers {} answers", "Anna likes {} answers", "Give her {} answers", "Answers should be {}"],
        &["Does not like {} answers"],
        &["short", "detailed", "formal", "funny"],
    ),
    topic(
        ["holiday", "vacation_destination"],
        Changes,
        &["Spends the holidays in {}", "Goes on holiday to {}", "Anna's holiday destination is {}", "Vacations in {}"],
        &["Does not spend the holidays in {}"],
        &["Crete", "Norway", "Vietnam", "Mexico"],
    ),
];

/// The same words under two predicates that make them say different things.
pub const SAME_WORDS: &[([&str; 2], &str)] = &[
    (["birthplace", "holiday_destination"], "A small village near Lisbon"),
    (["learns", "teaches"], "Italian for complete beginners"),
    (["former_employer", "client"], "A software company in Berlin"),
    (["gift_for_mother", "own_wish"], "A red leather handbag"),
    (["lost_item", "favourite_jewellery"], "The silver ring of her grandmother"),
    (["favourite_dish", "last_meal"], "Pasta with fresh wild mushrooms"),
];
