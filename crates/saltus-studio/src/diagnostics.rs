//! The messages of the studio.

use saltus_base::{Code, Diagnostic, Span};

/// The studio cannot begin: its target does not exist, or its port is taken.
pub fn no_studio(why: &str) -> Diagnostic {
    Diagnostic::new(Code("E0079"), Span::nowhere(), format!("the studio cannot start: {why}"))
        .hint("name a directory, a file or a class, and leave `--port` out for a free port")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_part_of_the_message() {
        let diagnostic = no_studio("the port is taken");
        assert_eq!(diagnostic.message, "the studio cannot start: the port is taken");
        assert_eq!(diagnostic.hints.len(), 1);
    }
}
