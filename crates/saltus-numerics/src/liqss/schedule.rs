//! Which of many items is due first: a binary heap in which the time of any item can be changed.

/// A time for each of a fixed number of items; infinite for what is not due.
#[derive(Clone, Debug)]
pub struct Schedule {
    times: Vec<f64>,
    /// Items, each due no earlier than its parent at `(k - 1) / 2`; of the same time the lower number comes first.
    heap: Vec<u32>,
    /// By item its position in the heap.
    place: Vec<u32>,
}

impl Schedule {
    /// Nothing is due.
    pub fn new(n: usize) -> Self {
        let all: Vec<u32> = (0..n as u32).collect();
        Schedule { times: vec![f64::INFINITY; n], heap: all.clone(), place: all }
    }

    /// When an item is due.
    pub fn time(&self, item: usize) -> f64 {
        self.times[item]
    }

    /// The item that is due first, and when; `None` if nothing is due.
    pub fn first(&self) -> Option<(usize, f64)> {
        let &item = self.heap.first()?;
        let time = self.times[item as usize];
        (time < f64::INFINITY).then_some((item as usize, time))
    }

    /// When the first item is due; infinite if none is.
    pub fn first_time(&self) -> f64 {
        self.first().map_or(f64::INFINITY, |(_, time)| time)
    }

    /// An item is due at another time. Not a number counts as never.
    pub fn set(&mut self, item: usize, time: f64) {
        let time = if time.is_nan() { f64::INFINITY } else { time };
        let is_earlier = time < self.times[item];
        self.times[item] = time;
        let place = self.place[item] as usize;
        if is_earlier { self.rise(place) } else { self.sink(place) }
    }

    fn is_before(&self, a: u32, b: u32) -> bool {
        let (ta, tb) = (self.times[a as usize], self.times[b as usize]);
        ta < tb || ta == tb && a < b
    }

    fn put(&mut self, place: usize, item: u32) {
        self.heap[place] = item;
        self.place[item as usize] = place as u32;
    }

    fn rise(&mut self, mut place: usize) {
        let item = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            let above = self.heap[parent];
            if !self.is_before(item, above) {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, item);
    }

    fn sink(&mut self, mut place: usize) {
        let item = self.heap[place];
        loop {
            let left = 2 * place + 1;
            let Some(&(mut below)) = self.heap.get(left) else { break };
            let mut child = left;
            if let Some(&right) = self.heap.get(left + 1)
                && self.is_before(right, below)
            {
                (below, child) = (right, left + 1);
            }
            if !self.is_before(below, item) {
                break;
            }
            self.put(place, below);
            place = child;
        }
        self.put(place, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_the_order_of_their_times_however_these_change() {
        let mut schedule = Schedule::new(50);
        assert_eq!(schedule.first(), None);
        // A generator of Lehmer's kind: reproducible, and every residue occurs.
        let mut seed = 7u64;
        let mut next = || {
            seed = seed * 48271 % 2147483647;
            seed as f64
        };
        for round in 0..5 {
            for item in 0..50 {
                schedule.set(item, if (item + round) % 7 == 0 { f64::INFINITY } else { next() });
            }
        }
        let mut last = 0.0;
        let mut n = 0;
        while let Some((item, time)) = schedule.first() {
            assert!(time >= last);
            (last, n) = (time, n + 1);
            schedule.set(item, f64::INFINITY);
        }
        assert_eq!(n, 43, "those with (item + 4) % 7 = 0 are never due");
    }

    #[test]
    fn of_the_same_time_the_lower_number_comes_first() {
        let mut schedule = Schedule::new(4);
        [3, 1, 2].into_iter().for_each(|item| schedule.set(item, 1.0));
        schedule.set(0, f64::NAN);
        assert_eq!(schedule.first(), Some((1, 1.0)));
        assert_eq!(schedule.time(0), f64::INFINITY);
    }
}
