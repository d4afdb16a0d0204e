//! News for all open pages: a page that listens gets every message from then on.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

#[derive(Default)]
pub struct Hub {
    listeners: Mutex<Vec<Sender<Arc<str>>>>,
}

impl Hub {
    pub fn listen(&self) -> Receiver<Arc<str>> {
        let (sender, receiver) = channel();
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    /// Those who are gone are forgotten.
    pub fn publish(&self, message: &Value) {
        let text: Arc<str> = message.to_string().into();
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.send(text.clone()).is_ok());
    }
}
