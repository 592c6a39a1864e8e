use chrono_tz::America::New_York;
use chrono_tz::Europe::Berlin;
use chrono_tz::{Pacific, UTC};
use proptest::prelude::*;

use super::*;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn given(text: &str) -> GivenDate {
    GivenDate::parse(text, UTC).unwrap()
}

#[test]
fn a_date_of_each_precision_has_its_bounds() {
    for (text, at, end) in [
        ("2023", "2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        (" 2023-03 ", "2023-03-01T00:00:00Z", "2023-04-01T00:00:00Z"),
        ("2023-12", "2023-12-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"),
        ("2023-03-05T14:30", "2023-03-05T14:30:00Z", "2023-03-05T14:31:00Z"),
        ("2023-03-05 14:30+02", "2023-03-05T12:30:00Z", "2023-03-05T12:31:00Z"),
        ("2023-03-05 14:30:15", "2023-03-05T14:30:15Z", "2023-03-05T14:30:15Z"),
        ("2023-03-05T14:30:15Z", "2023-03-05T14:30:15Z", "2023-03-05T14:30:15Z"),
        ("2023-03-05t14:30:15.5z", "2023-03-05T14:30:15.5Z", "2023-03-05T14:30:15.5Z"),
        ("2023-03-05T14:30:15.1234567Z", "2023-03-05T14:30:15.123456Z", "2023-03-05T14:30:15.123456Z"),
        ("2023-03-05T14:30:00+02:00", "2023-03-05T12:30:00Z", "2023-03-05T12:30:00Z"),
        ("2023-03-05T14:30:00-0530", "2023-03-05T20:00:00Z", "2023-03-05T20:00:00Z"),
        ("2023-03-05 14:30:00 +01:00", "2023-03-05T13:30:00Z", "2023-03-05T13:30:00Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z", "2017-01-01T00:00:00Z"),
        ("0001", "0001-01-01T00:00:00Z", "0002-01-01T00:00:00Z"),
        ("9999-12-31", "9999-12-31T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
    ] {
        let date = given(text);
        assert_eq!((date.at, date.end), (time(at), time(end)), "{text}");
        assert_eq!(date.text, text.trim());
    }
}

#[test]
fn a_date_without_an_offset_is_in_the_zone() {
    let day = GivenDate::parse("2023-07-05", Berlin).unwrap();
    assert_eq!((day.at, day.end), (time("2023-07-04T22:00:00Z"), time("2023-07-05T22:00:00Z")));
    let year = GivenDate::parse("2023", New_York).unwrap();
    assert_eq!((year.at, year.last()), (time("2023-01-01T05:00:00Z"), time("2024-01-01T04:59:59.999999Z")));
    assert_eq!(GivenDate::parse("0001", Berlin).unwrap().at, FIRST);
}

#[test]
fn a_local_time_that_daylight_saving_skips_or_repeats_is_resolved() {
    let at = |text, zone| GivenDate::parse(text, zone).unwrap().at;
    assert_eq!(at("2026-03-29T02:30:00", Berlin), time("2026-03-29T01:00:00Z"));
    assert_eq!(at("2026-10-25T02:30:00", Berlin), time("2026-10-25T00:30:00Z"));
    assert_eq!(at("2011-12-30", Pacific::Apia), time("2011-12-30T10:00:00Z"), "Samoa skipped this day");
}

#[test]
fn what_is_not_a_date_is_refused_with_examples() {
    for bad in [
        "",
        "foo",
        "now",
        "23",
        "2023-3",
        "2023-13",
        "2023-02-30",
        "2023-03-05T",
        "2023-03-05T14",
        "2023-03-05T25:00",
        "2023-03-05T14:30:61",
        "2023-03-05T14:30:00+2",
        "2023-03-05T14:30:00.",
        "2023-03T14:30",
        "20230305",
        "1700000000",
        "infinity",
        "05.03.2023",
        "2023-03-05-06",
        "2023-03-05x14:30",
        "２０２３",
        "2023-03-0é",
    ] {
        assert!(matches!(GivenDate::parse(bad, UTC), Err(DateError::NotADate(_))), "{bad}");
    }
    assert_eq!(
        GivenDate::parse(" foo ", UTC).unwrap_err().to_string(),
        "is \"foo\", which is not a date; examples: \"2023\", \"2023-03\", \"2023-03-05\", \"2023-03-05T14:30:00+01:00\""
    );
    assert!(GivenDate::parse(&"é".repeat(500), UTC).unwrap_err().to_string().len() < 220);
}

#[test]
fn years_beyond_1_to_9999_are_out_of_range() {
    for bad in
        ["0000", "0000-12-31T23:59:59Z", "12023", "12023-01-01", "-0044", "+12023-01", "9999-12-31T23:59:59-01:00"]
    {
        assert!(matches!(GivenDate::parse(bad, UTC), Err(DateError::OutOfRange(_))), "{bad}");
    }
    assert!(GivenDate::parse("0000", UTC).unwrap_err().to_string().contains("out of range"));
}

#[test]
fn an_instant_is_its_own_last_moment() {
    let instant = GivenDate::instant(time("2026-11-17T10:00:00.25Z"));
    assert_eq!(instant.text, "2026-11-17T10:00:00.250Z");
    assert_eq!((instant.end, instant.last()), (instant.at, instant.at));
    assert_eq!(given("2023").last(), time("2023-12-31T23:59:59.999999Z"));
}

#[test]
fn a_date_is_shown_with_the_precision_it_was_given_with() {
    let shown = |text: &str, zone| brief(GivenDate::parse(text, Berlin).unwrap().at, Some(text), zone);
    assert_eq!(shown("2023", Berlin), "2023");
    assert_eq!(shown("2024-03", Berlin), "Mar 2024");
    assert_eq!(shown("2026-12-01", Berlin), "1 Dec 2026");
    assert_eq!(shown("2026-12-01", UTC), "1 Dec 2026", "a day is the day that was given");
    assert_eq!(shown("2026-12-01T23:30:00Z", Berlin), "2 Dec 2026");
    assert_eq!(brief(time("2026-12-01T23:30:00Z"), None, Berlin), "2 Dec 2026");
}

#[test]
fn the_end_of_a_fact_is_the_start_of_valid_to() {
    let check = |from: Option<&str>, to: Option<&str>| {
        check_interval(from.map(given).as_ref(), to.map(given).as_ref()).map(|end| end.map(|end| end.to_rfc3339()))
    };
    let end = |text: &str| Ok(Some(format!("{text}T00:00:00+00:00")));
    assert_eq!(check(None, None), Ok(None));
    assert_eq!(check(Some("2024"), None), Ok(None));
    assert_eq!(check(None, Some("2024")), end("2024-01-01"));
    assert_eq!(check(Some("2023"), Some("2024")), end("2024-01-01"));
    assert_eq!(check(Some("2024"), Some("2024")), end("2025-01-01"));
    assert_eq!(check(Some("2024-03"), Some("2024")), end("2025-01-01"));
    assert_eq!(check(Some("2024"), Some("2024-03")), end("2024-03-01"));
    assert_eq!(check(Some("2024"), Some("2023")), Err("is \"2023\", which is before valid_from (2024)".to_owned()));
    let instant = "2024-01-01T00:00:00Z";
    assert_eq!(
        check(Some(instant), Some(instant)),
        Err(format!("is \"{instant}\", which is not after valid_from ({instant})"))
    );
}

#[test]
fn a_zone_is_a_name_of_the_iana_database() {
    assert_eq!(zone("Europe/Berlin"), Ok(Berlin));
    assert_eq!(
        zone("Mars/Base"),
        Err("is \"Mars/Base\", which is not a time zone; examples: \"UTC\", \"Europe/Berlin\"".to_owned())
    );
}

proptest! {
    #[test]
    fn parsing_never_panics_and_keeps_the_order(text in "\\PC{0,12}|[0-9TZ:. +-]{0,30}") {
        for zone in [UTC, Berlin, Pacific::Apia] {
            if let Ok(date) = GivenDate::parse(&text, zone) {
                prop_assert!(date.at <= date.last() && date.last() <= date.end && in_range(date.at) && in_range(date.end));
            }
        }
    }
}
