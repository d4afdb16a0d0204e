//! The complete state of an instance as one value.

use saltus::container::{self, Content};
use saltus_sim::exchange::ExchangeState;
use serde::{Deserialize, Serialize};

use super::{Book, Instance, Kind, Run, Severity};

#[derive(Clone, Serialize, Deserialize)]
pub struct Saved {
    /// Of the program, by which a state of another FMU is recognised.
    fingerprint: u64,
    model: String,
    book: Book,
    run: SavedRun,
}

#[derive(Clone, Serialize, Deserialize)]
enum SavedRun {
    New,
    Exchange(Box<ExchangeState>),
    Simulation(Box<saltus::State>),
}

impl Saved {
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        container::encode(Content::State, self).map_err(|why| why.to_string())
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Saved, String> {
        container::decode(Content::State, bytes).map_err(|why| why.to_string())
    }
}

impl Instance {
    fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| saltus_program::fingerprint(self.model.program()))
    }

    pub fn save(&mut self) -> Result<Saved, Severity> {
        let run = match &self.run {
            Run::New => Ok(SavedRun::New),
            Run::Exchange(exchange) => exchange.state().map(|state| SavedRun::Exchange(Box::new(state))),
            Run::Simulation(simulation) => simulation.state().map(|state| SavedRun::Simulation(Box::new(state))),
        };
        match run {
            Ok(run) => {
                let (fingerprint, model) = (self.fingerprint(), self.model.name().to_owned());
                Ok(Saved { fingerprint, model, book: self.book.clone(), run })
            }
            Err(why) => Err(self.say(Severity::Error, why.to_string())),
        }
    }

    /// Goes on from a state of an instance of the same FMU.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), Severity> {
        let is_kind = match &saved.run {
            SavedRun::New => true,
            SavedRun::Exchange(_) => self.kind != Kind::CoSimulation,
            SavedRun::Simulation(_) => self.kind == Kind::CoSimulation,
        };
        if saved.fingerprint != self.fingerprint() || !is_kind {
            let text = format!("the state belongs to another FMU or another kind of instance: `{}`", saved.model);
            return Err(self.say(Severity::Error, text));
        }
        self.book = saved.book.clone();
        let restored = match &saved.run {
            SavedRun::New => {
                self.run = Run::New;
                Ok(())
            }
            SavedRun::Exchange(state) => {
                let options = self.experiment().settings(self.model.program());
                self.exchange_with(options).restore(state)
            }
            SavedRun::Simulation(state) => {
                let mut simulation = match std::mem::replace(&mut self.run, Run::New) {
                    Run::Simulation(simulation) => simulation,
                    Run::New | Run::Exchange(_) => Box::new(self.new_simulation()),
                };
                simulation.extend(state.time());
                let restored = simulation.restore(state);
                self.run = Run::Simulation(simulation);
                restored
            }
        };
        restored.map_err(|why| self.say(Severity::Error, why.to_string()))
    }
}
