use std::time::Duration;

use chrono_tz::Europe::Berlin;
use proptest::prelude::*;

use super::*;
use crate::dates::GivenDate;
use crate::{Clock, SystemClock};

/// A Tuesday, 11:00 in Berlin.
fn now() -> Timestamp {
    "2026-11-17T10:00:00Z".parse().unwrap()
}

fn understand_now(query: &str) -> Understood {
    understand(query, now(), Berlin)
}

fn ignored(query: &str) -> Vec<String> {
    let understood = understand_now(query);
    assert_eq!(understood.window, None, "{query}");
    understood.ignored.into_iter().map(|ignored| ignored.phrase).collect()
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

fn moment(text: &str) -> Option<Timestamp> {
    match text {
        "-" => None,
        "now" => Some(now()),
        text => Some(GivenDate::parse(text, Berlin).unwrap().at),
    }
}

#[test]
fn phrases_of_four_languages_have_exact_windows() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines(include_str!("tests/windows.txt")) {
        let [query, from, to] = line.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let understood = understand_now(query);
        let window = understood.window.as_ref().map(|window| (window.from, window.to));
        if window != Some((moment(from), moment(to))) {
            wrong.push(format!("{line}: {understood:?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 120);
}

#[test]
fn text_that_names_no_time_gives_no_window() {
    let texts: Vec<_> = lines(include_str!("tests/none.txt")).collect();
    let wrong: Vec<_> = texts.iter().filter_map(|text| understand_now(text).window).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(texts.len() >= 60);
}

#[test]
fn the_phrase_is_the_words_of_the_query() {
    let phrase = |query| understand_now(query).window.unwrap().phrase;
    assert_eq!(phrase("What did Anna say in  March 2023, exactly?"), "in  March 2023");
    assert_eq!(phrase("Was war letzten Sommer?"), "letzten Sommer");
    assert_eq!(phrase("Où étais-je l’été dernier ?"), "l’été dernier");
    assert_eq!(phrase("from March to May 2023"), "from March to May 2023");
}

#[test]
fn a_phrase_with_several_meanings_is_ignored_with_a_reason() {
    for (query, phrase) in [
        ("on 03/04/2023", "on 03/04/2023"),
        ("mañana", "mañana"),
        ("a few weeks ago", "a few weeks ago"),
        ("in den letzten Wochen", "in den letzten Wochen"),
        ("what is due until Friday", "until Friday"),
        ("from Monday to Friday", "from Monday to Friday"),
        ("what do I wear in summer", "in summer"),
        ("in 2019 and 2021", "in 2019 and 2021"),
        ("from 2021 to 2019", "from 2021 to 2019"),
        ("in March and May 2023", "in March and May 2023"),
        ("two years before 2020", "before 2020"),
        ("Der Vertrag läuft bis Ende März", "bis Ende März"),
        ("more than two years ago", "two years ago"),
        ("1.2.2023", "1.2.2023"),
        ("hier", "hier"),
    ] {
        assert_eq!(ignored(query), [phrase], "{query}");
    }
    assert!(ignored("before the move").is_empty());
}

#[test]
fn two_windows_that_do_not_combine_are_both_ignored() {
    let understood = understand_now("compare last summer with March 2019");
    assert_eq!(understood.window, None);
    assert_eq!(ignored("compare last summer with March 2019"), ["last summer", "March 2019"]);
    assert!(understood.ignored[0].reason.contains("another time"));
    assert_eq!(ignored(&"yesterday tomorrow ".repeat(50)).len(), MAX_IGNORED);
}

#[test]
fn a_window_begins_and_ends_at_midnight_of_the_zone() {
    let understood = understand("yesterday", "2026-03-30T22:30:00Z".parse().unwrap(), Berlin);
    let window = understood.window.unwrap();
    assert_eq!(window.from.unwrap().to_rfc3339(), "2026-03-29T22:00:00+00:00");
    assert_eq!(window.to.unwrap().to_rfc3339(), "2026-03-30T22:00:00+00:00");
}

#[test]
fn the_last_season_is_over() {
    let summer = |now: &str| understand("last summer", now.parse().unwrap(), Berlin).window.unwrap().from.unwrap();
    assert_eq!(summer("2026-07-01T00:00:00Z").to_rfc3339(), "2025-05-31T22:00:00+00:00");
    assert_eq!(summer("2026-09-01T00:00:00Z").to_rfc3339(), "2026-05-31T22:00:00+00:00");
}

#[test]
fn a_long_query_of_one_repeated_word_is_understood_at_once() {
    // Each of these would be slow if the parser looked ahead without a limit. Unoptimised, the slowest takes 0.1 s.
    for word in ["the ", "early ", "last ", "a few ", "from 5 ", "2023 ", "de la ", "in March, ", "5. ", "- ", "hier "]
    {
        let start = SystemClock.monotonic();
        understand_now(&word.repeat(8192 / word.len()));
        let took = SystemClock.monotonic() - start;
        assert!(took < Duration::from_secs(5), "{word:?} took {took:?}");
    }
}

proptest! {
    #[test]
    fn random_text_never_panics(text in "\\PC{0,80}") {
        understand_now(&text);
    }

    #[test]
    fn random_words_of_time_never_panic(
        words in prop::collection::vec(
            "last|next|the|of|from|to|between|and|since|vor|il|y|a|hace|early|mid-|March|May 5th,|5\\.|31|2023|9999|0|weeks|ago|Q3|l'été|dernier|1990s|Monday,|2023-03|31\\.02\\.2023|–|-|\\.|Feb\\.|29|in|on|für|años|90|zwei|Jahren|months",
            0..12,
        ),
        year in 1..9999i32,
    ) {
        let now = chrono::NaiveDate::from_ymd_opt(year, 2, 28).unwrap().and_hms_opt(12, 0, 0).unwrap().and_utc();
        let understood = understand(&words.join(" "), now, Berlin);
        if let Some(Window { from: Some(from), to: Some(to), .. }) = understood.window {
            prop_assert!(from < to);
        }
    }
}
