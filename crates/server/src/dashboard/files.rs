//! The embedded files and the dashboard's routes.

pub struct File {
    /// The path of the URL, with the leading slash.
    pub path: &'static str,
    pub content_type: &'static str,
    pub etag: &'static str,
    /// The name contains a hash of the content, so the file never changes.
    pub immutable: bool,
    pub plain: &'static [u8],
    pub brotli: Option<&'static [u8]>,
    pub gzip: Option<&'static [u8]>,
}

static FILES: &[File] = include!("../../dashboard/files.rs");

/// The first path segments of the dashboard's routes. `web/src/router.test.ts` keeps this list complete.
const PAGES: &[&str] = &[
    "", "memory", "facts", "rules", "search", "inbox", "butlers", "entities", "graph", "timeline", "recall", "settings",
];

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
    fn the_page_and_all_files_it_references_are_embedded() {
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
    fn dashboard_routes_are_distinguished_from_other_paths() {
        for page in ["/", "/memory", "/memory/facts/1", "/butlers/general/memory", "/settings"] {
            assert!(is_page(page), "{page}");
        }
        for other in ["/api/none", "/favicon.ico", "/memoryx", "/assets/none.js"] {
            assert!(!is_page(other), "{other}");
        }
    }
}
