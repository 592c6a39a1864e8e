//! The text of a memory stays data: it cannot end a line, a tag or a string in the database.
#![no_main]

use butler_domain::consolidation::prompt::wrap_episode_content;
use butler_domain::text::{flatten_line, preprocess_search_query, preprocess_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let line = flatten_line(text);
    assert!(!line.contains(['\n', '\r']), "a line of its own");
    assert_eq!(flatten_line(&line), line);
    for stored in [preprocess_text(text), preprocess_search_query(text)] {
        assert!(!stored.contains('\0'));
    }
    let wrapped = wrap_episode_content(text);
    assert_eq!(wrapped.matches("</episode_content>").count(), 1, "only our own tag closes it");
    assert_eq!(wrapped.matches("<episode_content>").count(), 1);
});
