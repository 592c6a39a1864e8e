//! The replies of several butlers to the same query.

#[derive(Debug)]
pub struct Replies<T> {
    /// The reply of each butler by its name, in the order of the roster.
    pub parts: Vec<(String, T)>,
    /// Butlers that did not respond.
    pub unavailable: Vec<String>,
}
