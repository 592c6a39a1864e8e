//! What is known about one person, and questions about it.

use crate::facts::Dice;

pub const SUBJECT: &str = "Runa Vestergaard";

/// Predicate, content and the question that it answers.
pub const KEY: [(&str, &str, &str); 72] = [
    ("diet", "vegetarian since 2015, eats no fish either", "Does {s} eat meat?"),
    ("employer", "works at the city library as an archivist", "Where is {s} employed?"),
    ("sibling", "has a younger brother called Tobias who lives in Lisbon", "Who is in {s}'s family?"),
    ("pet", "keeps two tortoises named Castor and Pollux", "Which animals does {s} have?"),
    ("commute", "takes the 7:40 tram and walks the last kilometre", "How does {s} get to work?"),
    ("allergy", "reacts badly to penicillin", "What can {s} not be given as medicine?"),
    ("hobby", "restores old mechanical typewriters at weekends", "What does {s} do in her free time?"),
    ("birthday", "born on the 3rd of March 1987", "When was {s} born?"),
    ("language", "grew up speaking Danish at home", "What is {s}'s mother tongue?"),
    ("vacation", "spends every August in a hut by a lake in Dalarna", "Where does {s} go in summer?"),
    ("car", "sold her old Saab two years ago", "What does {s} drive?"),
    ("home", "rents a flat on the third floor without a lift", "On which floor is {s}'s apartment?"),
    ("coffee", "drinks it black, never after four in the afternoon", "How does {s} take her coffee?"),
    ("phone", "uses a second-hand Fairphone", "Which mobile does {s} use?"),
    ("bank", "has an account with a cooperative bank", "Where does {s} keep her money?"),
    ("doctor", "sees Dr. Lindqvist once a year", "Who is {s}'s physician?"),
    ("glasses", "is short-sighted and wears contact lenses outdoors", "Does {s} see well?"),
    ("music", "listens to baroque music while cataloguing", "What music does {s} like?"),
    ("instrument", "played the clarinet in the school orchestra", "Did {s} ever play an instrument?"),
    ("sport", "swims a kilometre on Tuesdays", "What exercise does {s} do?"),
    ("school", "went to a grammar school in Aarhus", "Where did {s} go to school?"),
    ("degree", "holds a master's in information science", "What did {s} study?"),
    ("thesis", "wrote about the conservation of wax seals", "What was {s}'s thesis about?"),
    ("boss", "reports to Henrik Dahl", "Who is {s}'s manager?"),
    ("meeting", "has a team meeting on Mondays at nine", "When is {s}'s weekly meeting?"),
    ("laptop", "prefers Linux on an old ThinkPad", "Which operating system does {s} run?"),
    ("plants", "grows tomatoes on the balcony", "What vegetables does {s} grow?"),
    ("cooking", "makes a lentil soup every Sunday", "What soup does {s} make?"),
    ("shoes", "wears size 39", "What shoe size does {s} have?"),
    ("ring", "lost her grandmother's ring in the sea", "What did {s} lose?"),
    ("grandmother", "was brought up partly by her grandmother Inge", "Who raised {s}?"),
    ("church", "sings in the choir of St. Olaf", "Where does {s} sing?"),
    ("accident", "broke her left wrist in 2019", "Which injuries has {s} had?"),
    ("sleep", "goes to bed before eleven", "When does {s} go to sleep?"),
    ("fear", "is afraid of heights", "What is {s} scared of?"),
    ("book", "is reading The Leopard", "Which novel is {s} reading?"),
    ("breakfast", "has rye porridge with honey", "What does {s} eat in the morning?"),
    ("height", "is 1.72 m tall", "How tall is {s}?"),
    ("salary", "earns 38,000 kronor a month before tax", "What is {s}'s income?"),
    ("contact", "wants to be texted rather than called", "What is the best way to reach {s}?"),
    ("hometown", "comes from a fishing village on Funen", "Where does {s} come from?"),
    ("smoking", "gave up cigarettes at thirty", "Does {s} smoke?"),
    ("award", "received the Nordic archive prize in 2021", "What has {s} won?"),
    ("keys", "keeps a spare key at the baker's on the corner", "Who else has a key to {s}'s flat?"),
    ("browser", "has used Firefox for fifteen years", "What does {s} surf the web with?"),
    ("project", "digitises the diaries of a polar explorer", "Which project is {s} in charge of?"),
    ("debt", "paid back her student loan in 2022", "Is {s} still paying for university?"),
    ("hearing", "is almost deaf in the right ear", "Which ear does {s} hear badly with?"),
    ("alarm", "rings at a quarter to six on weekdays", "What time does {s} wake up?"),
    ("abroad", "spent a year in Kraków as an exchange student", "Where was {s} an exchange student?"),
    ("nickname", "friends call her Rue", "Does {s} go by another name?"),
    ("vaccination", "had her last tetanus shot in 2023", "Is {s} protected against tetanus?"),
    ("temper", "falls silent instead of shouting", "What does {s} do when she is angry?"),
    ("desk", "sits by the window in room 214", "Where in the building can I find {s}?"),
    ("address", "lives in Kanalgatan, at number 14", "In which street does {s} live?"),
    ("mentor", "learned bookbinding from old Mr. Aalto", "Who taught {s} to bind books?"),
    ("first_job", "tore tickets at a cinema when she was sixteen", "What was {s}'s first job?"),
    ("social_media", "closed all her accounts in 2020", "Is {s} on Facebook?"),
    ("migraine", "gets headaches from flickering light", "What gives {s} a headache?"),
    ("landlord", "asks 9,200 kronor a month for the flat", "How much is {s}'s rent?"),
    ("ambition", "hopes to run a small museum one day", "What is {s}'s long-term goal?"),
    ("handedness", "writes and cuts with her left hand", "Is {s} left-handed?"),
    ("dentist", "goes to a practice near the harbour", "Where does {s} have her teeth checked?"),
    ("publication", "had an article about iron gall ink in a trade journal", "Which article did {s} write?"),
    ("emergency", "Wenche Moe is to be called first", "Whom should I ring if something happens to {s}?"),
    ("blood_type", "is O negative", "What is {s}'s blood group?"),
    ("television", "has done without one for ten years", "Does {s} have a TV?"),
    ("evening_class", "has been learning Finnish since January", "Which language is {s} learning?"),
    ("contract", "her post is funded until the end of 2028", "Is {s}'s job permanent?"),
    ("childhood_dream", "wanted to become a lighthouse keeper", "What did {s} want to be as a child?"),
    ("laundry", "has the machine in the basement on Thursday evenings", "When does {s} do her washing?"),
    ("habit", "hums when she is nervous", "How can one tell that {s} is nervous?"),
];

/// Predicate and content of facts that no question asks for.
pub const OTHERS: [(&str, &str); 14] = [
    ("insurance", "switched her household insurance in May"),
    ("newspaper", "reads the Sunday edition on paper"),
    ("colleague", "shares her office with Mirjam"),
    ("editor", "writes notes in Emacs org mode"),
    ("calendar", "keeps a paper calendar in the kitchen"),
    ("neighbour", "waters the plants of Mrs. Okafor"),
    ("kitchen", "bought a cast-iron pan last winter"),
    ("wine", "does not like red wine"),
    ("tea", "collects tins of smoked tea"),
    ("clothes", "knits her own sweaters"),
    ("politics", "volunteers at polling stations"),
    ("charity", "donates to the lifeboat association"),
    ("bicycle", "has a blue bicycle with a wooden crate"),
    ("film", "has seen Stalker nine times"),
];

const PREDICATES: [&str; 15] = [
    "meeting",
    "purchase",
    "note",
    "visit",
    "call",
    "email",
    "task",
    "preference",
    "opinion",
    "plan",
    "idea",
    "reminder",
    "order",
    "repair",
    "event",
];
const EVENTS: [&str; 10] = [
    "asked for {thing} on {day}",
    "talked with {person} about {thing}",
    "ordered {thing} for {person}",
    "plans to show {person} the way to {thing} on {day}",
    "thinks {thing} was too expensive",
    "returned {thing} to {person}",
    "wants to repair {thing} before {day}",
    "recommended {thing} to {person}",
    "looked for {thing} in {city}",
    "saw {thing} with {person} in {city}",
];
const THINGS: [&str; 20] = [
    "a desk lamp",
    "the annual report",
    "a box of letters",
    "new shelves",
    "the parish register",
    "a map of the harbour",
    "theatre tickets",
    "a rain jacket",
    "the heating invoice",
    "a set of brushes",
    "an exhibition",
    "a lecture on paper",
    "a film projector",
    "the old catalogue",
    "a train ticket",
    "some envelopes",
    "the photo collection",
    "a museum pass",
    "the guest list",
    "a microphone",
];
const PEOPLE: [&str; 10] = [
    "Henrik",
    "Mirjam",
    "Mrs. Okafor",
    "Jonas",
    "Dr. Lindqvist",
    "Petra",
    "Samuel",
    "Ingrid",
    "the director",
    "a visitor",
];
const DAYS: [&str; 6] = ["Monday", "Friday", "the 4th of June", "Christmas", "next week", "12 October"];
const CITIES: [&str; 5] = ["Malmö", "Odense", "Berlin", "Gothenburg", "Bergen"];

/// Distinct small events of her life, as predicate and content.
pub fn events(number: usize) -> Vec<(String, String)> {
    let mut dice = Dice::new(5);
    let mut events: Vec<(String, String)> = Vec::new();
    while events.len() < number {
        let content = dice.pick(&EVENTS).replace("{thing}", dice.pick(&THINGS)).replace("{person}", dice.pick(&PEOPLE));
        let content = content.replace("{day}", dice.pick(&DAYS)).replace("{city}", dice.pick(&CITIES));
        if events.iter().all(|(_, known)| *known != content) {
            events.push((dice.pick(&PREDICATES).to_owned(), content));
        }
    }
    events
}
