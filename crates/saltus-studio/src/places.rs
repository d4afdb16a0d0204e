//! Places for connections: few for strangers, and others for those that have shown the token, which no crowd can take.
//!
//! Every connection begins as a stranger. Where there are too many of them the one that has waited longest for its request goes: a page sends
//! its request at once, so that whoever says nothing makes room for it.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that have not shown the token.
const MOST_STRANGERS: usize = 150;
/// Connections that have.
const MOST_ADMITTED: usize = 150;

#[derive(Default)]
pub struct Places {
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    /// By number: the lowest has waited longest.
    strangers: BTreeMap<u64, Arc<TcpStream>>,
    next: u64,
    n_admitted: usize,
}

impl Taken {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Places {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a stranger; the one that has waited longest may lose its own.
    pub fn take(self: &Arc<Self>, connection: &Arc<TcpStream>) -> Place {
        let mut taken = self.taken();
        while taken.strangers.len() >= MOST_STRANGERS {
            let Some((_, oldest)) = taken.strangers.pop_first() else { break };
            // Its thread ends by itself.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let number = taken.number();
        taken.strangers.insert(number, connection.clone());
        Place { places: self.clone(), kind: Kind::Stranger(number) }
    }
}

enum Kind {
    Stranger(u64),
    Admitted,
}

/// The place of a connection, until it is dropped.
pub struct Place {
    places: Arc<Places>,
    kind: Kind,
}

impl Place {
    /// The connection has shown the token. `false` if it has lost its place, or there are too many of its like.
    pub fn admit(&mut self) -> bool {
        let Kind::Stranger(number) = self.kind else { return true };
        let mut taken = self.places.taken();
        let is_there = taken.n_admitted < MOST_ADMITTED && taken.strangers.remove(&number).is_some();
        if is_there {
            taken.n_admitted += 1;
            self.kind = Kind::Admitted;
        }
        is_there
    }

    /// A request was answered: the next one is waited for from now on.
    pub fn renew(&mut self) {
        let Kind::Stranger(number) = &mut self.kind else { return };
        let mut taken = self.places.taken();
        if let Some(connection) = taken.strangers.remove(number) {
            *number = taken.number();
            taken.strangers.insert(*number, connection);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        match self.kind {
            Kind::Stranger(number) => drop(taken.strangers.remove(&number)),
            Kind::Admitted => taken.n_admitted -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_crowd_takes_no_place_of_those_with_the_token() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let places = Arc::new(Places::default());
        let connect = || {
            let other = TcpStream::connect(address).unwrap();
            let connection = Arc::new(listener.accept().unwrap().0);
            let place = places.take(&connection);
            (other, place, connection)
        };
        let (mut admitted, mut place, _kept) = connect();
        assert!(place.admit() && place.admit());
        let (mut busy, mut of_busy, _) = connect();
        let mut crowd = Vec::new();
        for _ in 0..MOST_STRANGERS - 1 {
            crowd.push(connect());
        }
        // It was just answered: another one has waited longer.
        of_busy.renew();
        crowd.push(connect());
        let is_open = |stream: &mut TcpStream| {
            stream.set_nonblocking(true).unwrap();
            stream.read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        assert!(is_open(&mut admitted) && is_open(&mut busy) && is_open(&mut crowd[1].0));
        assert!(!is_open(&mut crowd[0].0) && !crowd[0].1.admit(), "the oldest has lost its place");
        drop(crowd);
        let taken = places.taken();
        assert_eq!((taken.strangers.len(), taken.n_admitted), (1, 1));
    }
}
