//! SPDX licence expressions: `MIT OR (Apache-2.0 WITH LLVM-exception AND ISC)`.

use anyhow::{bail, ensure};

/// Whether the allowed licences satisfy an expression.
///
/// `AND` binds more tightly than `OR`. A licence with an exception must be in the list together with its exception.
/// A slash means `OR`, as in the manifests of older packages.
pub fn is_satisfied(expression: &str, allowed: &[&str]) -> anyhow::Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { words: spaced.split_whitespace().collect(), next: 0, allowed };
    let satisfied = parser.any()?;
    match parser.peek() {
        None => Ok(satisfied),
        Some(word) => bail!("unexpected `{word}` in the licence expression `{expression}`"),
    }
}

struct Parser<'a> {
    words: Vec<&'a str>,
    next: usize,
    allowed: &'a [&'a str],
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.next += usize::from(found);
        found
    }

    fn any(&mut self) -> anyhow::Result<bool> {
        let mut satisfied = self.all()?;
        while self.take("OR") {
            satisfied |= self.all()?;
        }
        Ok(satisfied)
    }

    fn all(&mut self) -> anyhow::Result<bool> {
        let mut satisfied = self.one()?;
        while self.take("AND") {
            satisfied &= self.one()?;
        }
        Ok(satisfied)
    }

    fn one(&mut self) -> anyhow::Result<bool> {
        if self.take("(") {
            let satisfied = self.any()?;
            ensure!(self.take(")"), "a parenthesis is not closed");
            return Ok(satisfied);
        }
        let mut licence = self.name()?.to_owned();
        if self.take("WITH") {
            licence = format!("{licence} WITH {}", self.name()?);
        }
        Ok(self.allowed.contains(&licence.as_str()))
    }

    fn name(&mut self) -> anyhow::Result<&'a str> {
        match self.peek() {
            Some(word) if !["(", ")", "AND", "OR", "WITH"].contains(&word) => {
                self.next += 1;
                Ok(word)
            }
            Some(word) => bail!("`{word}` stands where a licence is expected"),
            None => bail!("the licence expression ends where a licence is expected"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_satisfied;

    const ALLOWED: &[&str] = &["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"];

    #[track_caller]
    fn satisfied(expression: &str) -> bool {
        is_satisfied(expression, ALLOWED).unwrap()
    }

    #[test]
    fn one_side_of_or_is_enough_and_both_sides_of_and_are_needed() {
        assert!(satisfied("MIT"));
        assert!(!satisfied("GPL-3.0-only"));
        assert!(satisfied("GPL-3.0-only OR MIT"));
        assert!(satisfied("GPL-3.0-only/MIT"));
        assert!(satisfied("MIT AND ISC"));
        assert!(!satisfied("MIT AND GPL-3.0-only"));
    }

    #[test]
    fn and_binds_more_tightly_than_or_and_parentheses_change_that() {
        assert!(satisfied("MIT OR ISC AND GPL-3.0-only"));
        assert!(satisfied("GPL-3.0-only AND ISC OR MIT"));
        assert!(!satisfied("(MIT OR ISC) AND GPL-3.0-only"));
        assert!(satisfied("((MIT OR GPL-3.0-only) AND (ISC))"));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        assert!(satisfied("Apache-2.0 WITH LLVM-exception"));
        assert!(!satisfied("Apache-2.0"));
        assert!(!satisfied("MIT WITH LLVM-exception"));
        assert!(!satisfied("GPL-2.0-only WITH Classpath-exception-2.0"));
    }

    #[test]
    fn a_later_version_is_another_licence() {
        assert!(!is_satisfied("LGPL-2.1+", &["LGPL-2.1"]).unwrap());
    }

    #[test]
    fn a_malformed_expression_is_an_error() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC", "AND MIT", "MIT WITH"] {
            assert!(is_satisfied(expression, ALLOWED).is_err(), "{expression}");
        }
    }
}
