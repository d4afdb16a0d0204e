//! Any text is parsed without a panic; what parses without an error survives formatting.
#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus_base::{FileId, Index, Interner};

fuzz_target!(|text: &str| {
    let mut names = Interner::new();
    let parsed = saltus_syntax::parse(FileId::from_usize(0), text, &mut names);
    if parsed.diagnostics.is_empty() {
        let printed = saltus_syntax::format(&parsed.tree, text, &names);
        assert!(saltus_syntax::same_tokens(text, &printed), "the print has other tokens:\n{printed}");
        assert_eq!(saltus_syntax::comment_texts(text), saltus_syntax::comment_texts(&printed));
    }
});
