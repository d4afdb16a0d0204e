//! A thread that owns a session: whoever wants to know something hands it a question.
//!
//! A session cannot be shared between threads. There are two desks: one answers pages, where every question takes milliseconds, and one
//! checks and compiles, which may take long. Both are told of every edit, in the same order.

use std::sync::mpsc::{Sender, channel};

use saltus::{Session, guard};

/// Enough for classes as deep as the front end lets them be.
const STACK: usize = 256 << 20;

type Question = Box<dyn FnOnce(&mut Session) + Send>;

#[derive(Clone)]
pub struct Desk {
    questions: Sender<Question>,
}

impl Desk {
    pub fn open(name: &str, mut session: Session) -> std::io::Result<Desk> {
        let (questions, received) = channel::<Question>();
        let work = move || {
            for question in received {
                // What a question did wrong is the matter of whoever waits for its answer.
                let _ = guard::catch(|| question(&mut session));
            }
        };
        std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(work)?;
        Ok(Desk { questions })
    }

    /// Without waiting.
    pub fn tell(&self, work: impl FnOnce(&mut Session) + Send + 'static) {
        let _ = self.questions.send(Box::new(work));
    }

    /// The answer; `None` if a defect of the compiler prevented it.
    pub fn ask<T: Send + 'static>(&self, work: impl FnOnce(&mut Session) -> T + Send + 'static) -> Option<T> {
        let (answer, answered) = channel();
        self.tell(move |session| {
            let _ = answer.send(work(session));
        });
        answered.recv().ok()
    }
}
