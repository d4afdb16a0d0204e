//! Finds blocks that do the same with other slots, which become one loop.
//!
//! ```text
//! f[2] := c * (x[1] - x[2])                 run: 4 times  f[2 + i] := c * (x[1 + i] - x[2 + i])
//! a[2] := f[2] - f[3]               ⇒       run: 3 times  a[2 + i] := f[2 + i] - f[3 + i]
//! f[3] := c * (x[2] - x[3])
//! …
//! ```
//!
//! In: the blocks of a section. Out: [`Stretch`]es of them with an order in which the blocks of each run are neighbours. The
//! blocks of a run have the same *depth*, the length of the longest chain of blocks that one needs, so that none of them
//! needs another; from block to block each slot moves on by a *stride* of its own.
//!
//! Only blocks without calls take part, and only stretches in which nothing is loaded before it is stored: these can be
//! evaluated again from their beginning.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use saltus_base::Index;
use saltus_program::{Assign, Block, Op, Section, SlotId, ValueId};

/// Fewer blocks are not worth a loop.
pub(crate) const SHORTEST: usize = 8;
/// The number of blocks in a run is a multiple of this, for vectors.
pub(crate) const LANES: usize = 2;

/// Consecutive blocks with at least one run among them.
#[derive(PartialEq, Debug)]
pub(crate) struct Stretch {
    pub blocks: Range<usize>,
    /// In order of evaluation.
    pub items: Vec<Item>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Item {
    Block(usize),
    Run(Run),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Run {
    /// Number of its first block.
    pub first: usize,
    pub n: usize,
    /// By slot, in the order of [`slots`]: how far it moves from one block to the next.
    pub strides: Vec<isize>,
}

/// Slots that a block loads, in the order of its operations, and then those that it stores.
pub(crate) fn slots(assign: &Assign) -> impl Iterator<Item = SlotId> {
    let loaded = assign.code.ops.iter().filter_map(|op| if let Op::Load(slot) = op { Some(*slot) } else { None });
    loaded.chain(assign.stores.iter().map(|s| s.1))
}

/// All stretches with runs, in order.
pub(crate) fn find(section: &Section, n_slots: usize) -> Vec<Stretch> {
    let mut finder = Finder { section, n_slots, writers: Vec::new() };
    let mut stretches = Vec::new();
    let mut start = 0;
    while start < section.blocks.len() {
        let n = section.blocks[start..].iter().take_while(|b| plain(b).is_some()).count();
        if n >= SHORTEST {
            stretches.extend(finder.stretch(start..start + n));
        }
        start += n + 1;
    }
    stretches
}

/// Operations that need no code of their own: those of all blocks of runs but the first.
pub(crate) fn n_saved(section: &Section, stretches: &[Stretch]) -> u64 {
    let saved = |item: &Item| match item {
        Item::Run(run) => section.blocks.get(run.first).and_then(plain).map_or(0, |a| a.code.ops.len() * (run.n - 1)),
        Item::Block(_) => 0,
    };
    stretches.iter().flat_map(|s| &s.items).map(|item| saved(item) as u64).sum()
}

/// The block if it is an assignment without calls.
fn plain(block: &Block) -> Option<&Assign> {
    match block {
        Block::Assign(assign) if assign.code.calls.is_empty() && !assign.stores.is_empty() => Some(assign),
        _ => None,
    }
}

/// What is known of a block of a stretch.
struct Candidate<'s> {
    number: usize,
    depth: u32,
    shape: u64,
    assign: &'s Assign,
}

struct Finder<'s> {
    section: &'s Section,
    n_slots: usize,
    /// By slot: the block that stores it.
    writers: Vec<Option<u32>>,
}

impl<'s> Finder<'s> {
    fn stretch(&mut self, blocks: Range<usize>) -> Option<Stretch> {
        self.writers.resize(self.n_slots, None);
        let needs = self.note_writers(&blocks).then(|| self.needs(&blocks)).flatten();
        self.forget_writers(&blocks);
        let needs = needs?;
        let runs = runs(self.candidates(&blocks, &needs));
        if runs.is_empty() {
            return None;
        }
        let items = order(&blocks, runs, &needs)?;
        Some(Stretch { blocks, items })
    }

    fn assigns(&self, blocks: &Range<usize>) -> impl Iterator<Item = &'s Assign> + use<'s> {
        self.section.blocks[blocks.clone()].iter().filter_map(plain)
    }

    /// False if a slot is stored twice or does not exist.
    fn note_writers(&mut self, blocks: &Range<usize>) -> bool {
        for (i, assign) in self.assigns(blocks).enumerate() {
            for (_, slot) in &assign.stores {
                match self.writers.get_mut(slot.index()) {
                    Some(place) if place.is_none() => *place = Some(i as u32),
                    _ => return false,
                }
            }
        }
        true
    }

    fn forget_writers(&mut self, blocks: &Range<usize>) {
        for (_, slot) in self.assigns(blocks).flat_map(|a| &a.stores) {
            if let Some(place) = self.writers.get_mut(slot.index()) {
                *place = None;
            }
        }
    }

    /// By block of the stretch, which others it needs; `None` if one needs another that follows.
    fn needs(&self, blocks: &Range<usize>) -> Option<Vec<Vec<u32>>> {
        let mut needs = Vec::with_capacity(blocks.len());
        for (i, assign) in self.assigns(blocks).enumerate() {
            let mut of_block = Vec::new();
            for slot in slots(assign).take(slots(assign).count() - assign.stores.len()) {
                match self.writers.get(slot.index())? {
                    Some(writer) if (*writer as usize) < i => of_block.push(*writer),
                    Some(_) => return None,
                    None => {}
                }
            }
            needs.push(of_block);
        }
        Some(needs)
    }

    /// In an order in which the blocks of a run are neighbours.
    fn candidates(&self, blocks: &Range<usize>, needs: &[Vec<u32>]) -> Vec<Candidate<'s>> {
        let mut depths: Vec<u32> = Vec::with_capacity(needs.len());
        for of_block in needs {
            depths.push(of_block.iter().map(|&n| depths[n as usize] + 1).max().unwrap_or(0));
        }
        let candidate = |((number, depth), assign): ((usize, u32), &'s Assign)| {
            let shape = shape(assign);
            Candidate { number, depth, shape, assign }
        };
        let mut candidates: Vec<Candidate> =
            blocks.clone().zip(depths).zip(self.assigns(blocks)).map(candidate).collect();
        candidates.sort_by_key(|c| (c.depth, c.shape, c.assign.stores[0].1));
        candidates
    }
}

/// Odd and without pattern: the golden ratio in 64 bits (Knuth, *The Art of Computer Programming*, section 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Equal for blocks that differ in slots alone; seldom for others.
fn shape(assign: &Assign) -> u64 {
    let mut shape = 0_u64;
    let mut mix = |part: u64| shape = (shape.rotate_left(5) ^ part).wrapping_mul(SPREAD);
    let pair = |a: ValueId, b: ValueId| u64::from(a.0) << 32 | u64::from(b.0);
    for op in &assign.code.ops {
        match *op {
            Op::Const(value) => mix(value.to_bits()),
            Op::Unary(function, a) => {
                mix(1 << 8 | function as u64);
                mix(u64::from(a.0));
            }
            Op::Binary(function, a, b) => {
                mix(2 << 8 | function as u64);
                mix(pair(a, b));
            }
            Op::Select(condition, a, b) => {
                mix(u64::from(condition.0));
                mix(pair(a, b));
            }
            Op::Load(_) => mix(3 << 8),
            Op::Call(_) | Op::Result(..) => {}
        }
    }
    assign.stores.iter().for_each(|s| mix(u64::from(s.0.0)));
    shape
}

fn is_same(a: &Assign, b: &Assign) -> bool {
    let same_op = |(a, b): (&Op, &Op)| match (a, b) {
        (Op::Load(_), Op::Load(_)) => true,
        (Op::Const(a), Op::Const(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    };
    a.code.ops.len() == b.code.ops.len()
        && a.stores.len() == b.stores.len()
        && a.code.ops.iter().zip(&b.code.ops).all(same_op)
        && a.stores.iter().zip(&b.stores).all(|(a, b)| a.0 == b.0)
}

fn strides<'s>(a: &'s Assign, b: &'s Assign) -> impl Iterator<Item = isize> + use<'s> {
    slots(a).zip(slots(b)).map(|(a, b)| b.index() as isize - a.index() as isize)
}

/// A run and the numbers of its blocks.
type Found = (Run, Vec<usize>);

/// The longest runs of neighbouring candidates.
fn runs(candidates: Vec<Candidate>) -> Vec<Found> {
    let follows =
        |a: &Candidate, b: &Candidate| a.depth == b.depth && a.shape == b.shape && is_same(a.assign, b.assign);
    let mut found = Vec::new();
    let mut start = 0;
    while start + 1 < candidates.len() {
        let first = &candidates[start];
        if !follows(first, &candidates[start + 1]) {
            start += 1;
            continue;
        }
        let moves: Vec<isize> = strides(first.assign, candidates[start + 1].assign).collect();
        let goes_on = |pair: &[Candidate]| {
            follows(&pair[0], &pair[1]) && strides(pair[0].assign, pair[1].assign).eq(moves.iter().copied())
        };
        let n = 1 + candidates[start..].windows(2).take_while(|pair| goes_on(pair)).count();
        let whole = n - n % LANES;
        if whole >= SHORTEST {
            let numbers = candidates[start..start + whole].iter().map(|c| c.number).collect();
            found.push((Run { first: first.number, n: whole, strides: moves }, numbers));
            start += whole;
        } else {
            // The last one may be the first of the next run.
            start += n - 1;
        }
    }
    found
}

/// Puts runs and single blocks in an order in which each follows what it needs, as near to the present one as possible.
/// There is one, because what needs something is deeper.
fn order(blocks: &Range<usize>, runs: Vec<Found>, needs: &[Vec<u32>]) -> Option<Vec<Item>> {
    let n = blocks.len();
    let mut item_of: Vec<usize> = (0..n).collect();
    let mut items: Vec<Option<Item>> = blocks.clone().map(|number| Some(Item::Block(number))).collect();
    for (run, numbers) in runs {
        let home = numbers.iter().min().map_or(0, |first| first - blocks.start);
        for number in numbers {
            item_of[number - blocks.start] = home;
            items[number - blocks.start] = None;
        }
        items[home] = Some(Item::Run(run));
    }
    let mut n_missing = vec![0usize; n];
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (block, of_block) in needs.iter().enumerate() {
        for &other in of_block {
            needed_by[item_of[other as usize]].push(item_of[block]);
            n_missing[item_of[block]] += 1;
        }
    }
    let is_ready = |i: &usize| n_missing[*i] == 0;
    let mut ready: BinaryHeap<Reverse<usize>> = (0..n).filter(is_ready).map(Reverse).collect();
    let mut ordered = Vec::new();
    while let Some(Reverse(next)) = ready.pop() {
        ordered.extend(items[next].take());
        for &other in &needed_by[next] {
            n_missing[other] -= 1;
            if n_missing[other] == 0 {
                ready.push(Reverse(other));
            }
        }
    }
    items.iter().all(Option::is_none).then_some(ordered)
}

#[cfg(test)]
mod tests {
    use saltus_base::Span;
    use saltus_program::{BinaryFn, Code};

    use super::*;

    fn slot(i: usize) -> SlotId {
        SlotId::from_usize(i)
    }

    /// `to := a - b`
    fn difference(a: usize, b: usize, to: usize) -> Block {
        let ops = vec![Op::Load(slot(a)), Op::Load(slot(b)), Op::Binary(BinaryFn::Sub, ValueId(0), ValueId(1))];
        let code = Code { ops, calls: vec![] };
        Block::Assign(Assign { code, stores: vec![(ValueId(2), slot(to))], span: Span::nowhere() })
    }

    fn found(blocks: Vec<Block>, n_slots: usize) -> Vec<Stretch> {
        find(&Section { blocks }, n_slots)
    }

    fn run(first: usize, n: usize, strides: [isize; 3]) -> Item {
        Item::Run(Run { first, n, strides: strides.to_vec() })
    }

    #[test]
    fn neighbours_in_two_arrays_are_two_runs() {
        // 10 + i := i - (i + 1), and 30 + i := (10 + i) - (11 + i), in turns.
        let blocks = (0..9).flat_map(|i| {
            let second = (i > 0).then(|| difference(9 + i, 10 + i, 29 + i));
            [Some(difference(i, i + 1, 10 + i)), second].into_iter().flatten()
        });
        let stretches = found(blocks.collect(), 40);
        // Of nine the last is left over; it is block 15.
        let items = vec![run(0, 8, [1, 1, 1]), Item::Block(15), run(2, 8, [1, 1, 1])];
        assert_eq!(stretches, [Stretch { blocks: 0..17, items }]);
    }

    #[test]
    fn each_slot_has_its_own_stride() {
        let blocks = (0..8).map(|i| difference(0, 20 - i, 30 + 3 * i)).collect();
        assert_eq!(found(blocks, 60)[0].items, [run(0, 8, [0, -1, 3])]);
    }

    #[test]
    fn a_chain_of_needs_is_no_run() {
        let blocks = (0..20).map(|i| difference(i, 40, i + 1)).collect();
        assert_eq!(found(blocks, 41), []);
    }

    #[test]
    fn what_is_loaded_before_it_is_stored_stays_in_place() {
        let mut blocks: Vec<Block> = (0..10).map(|i| difference(i, 40, 20 + i)).collect();
        assert_eq!(found(blocks.clone(), 41).len(), 1);
        blocks.push(difference(30, 31, 5));
        assert_eq!(found(blocks, 41), []);
    }

    #[test]
    fn the_order_obeys_needs_between_runs() {
        // Slot 50 needs the run before it, and the run after it needs slot 50.
        let mut blocks: Vec<Block> = (0..8).map(|i| difference(i, 40, 10 + i)).collect();
        blocks.push(difference(10, 17, 50));
        blocks.extend((0..8).map(|i| difference(50, 10 + i, 20 + i)));
        let items = vec![run(0, 8, [1, 0, 1]), Item::Block(8), run(9, 8, [0, 1, 1])];
        assert_eq!(found(blocks, 51), [Stretch { blocks: 0..17, items }]);
    }
}
