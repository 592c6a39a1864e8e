//! The table of embedded files.

pub struct File {
    /// As asked for, with the leading slash.
    pub path: &'static str,
    pub content_type: &'static str,
    pub etag: &'static str,
    /// The name changes with the content.
    pub immutable: bool,
    pub plain: &'static [u8],
    pub brotli: Option<&'static [u8]>,
    pub gzip: Option<&'static [u8]>,
}

static FILES: &[File] = include!("../../dashboard/files.rs");

/// The first segments of the pages that the program in the browser shows. `web/src/router.test.ts`
/// keeps the routes there to it.
const PAGES: &[&str] = &["", "memory", "butlers", "entities", "timeline", "recall", "settings"];

pub fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

pub fn index() -> Option<&'static File> {
    find("/index.html")
}

pub fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    PAGES.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_everything_it_names_is_embedded() {
        let html = std::str::from_utf8(index().unwrap().plain).unwrap();
        let named = html.split('"').filter(|word| word.starts_with("/assets/"));
        assert!(named.clone().count() >= 2, "a script and a style sheet");
        for path in named {
            assert!(find(path).unwrap().immutable, "{path}");
        }
    }

    #[test]
    fn the_page_needs_no_inline_script_or_style() {
        let html = std::str::from_utf8(index().unwrap().plain).unwrap();
        assert!(!html.contains("<style") && !html.contains("style=") && !html.contains("<script>"));
    }

    #[test]
    fn pages_are_told_from_other_paths() {
        for page in ["/", "/memory", "/memory/facts/1", "/butlers/general/memory", "/settings"] {
            assert!(is_page(page), "{page}");
        }
        for other in ["/api/none", "/favicon.ico", "/memoryx", "/assets/none.js"] {
            assert!(!is_page(other), "{other}");
        }
    }
}
