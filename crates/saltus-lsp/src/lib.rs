//! The language server: the protocol around the answers of [`saltus_ide`].
//!
//! Three threads: one reads messages, one owns the session of the questions and answers them, one checks classes with a
//! session of its own ([`worker`]). The principal function is [`serve`]; docs/design/editor.md says why it is built like this.

mod convert;
mod documents;
pub mod project;
mod requests;
mod runs;
mod server;
mod transport;
mod uri;
mod worker;

pub use server::{Settings, serve};
