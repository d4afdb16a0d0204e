//! Thresholds that influence each other, among those that are slid along.
//!
//! ```text
//! der(x[i]) = 0.1 - (if x[i] > 0 then 1 else -1)      a hundred of these know nothing of each other: two regions around each
//!                                                     threshold, instead of 2¹⁰⁰ around all of them
//! ```
//!
//! In: the memories and rates of the regions of one group. Out: its shares, the weights of its regions, what it leaves.

use saltus_numerics::filippov::{Dependence, NoLimit, Regions, at_end, within};

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Group {
    /// Positions of its thresholds among all that are slid along.
    pub members: Vec<usize>,
    /// The memory in each region: bit j of its number says that the function of member j is positive there. The functions of other groups
    /// are negative.
    pub memories: Vec<Vec<f64>>,
    pub regions: Regions,
    /// Of the positive side of each threshold.
    shares: Vec<f64>,
    /// Of each region.
    pub parts: Vec<f64>,
    /// The functions at the point evaluated last, by region, then by function.
    z: Vec<f64>,
}

impl Group {
    pub fn new(members: Vec<usize>, memories: Vec<Vec<f64>>, dependence: Option<Dependence>) -> Self {
        let k = members.len();
        let regions = dependence.map_or_else(|| Regions::new(k), Regions::of_dependent);
        Group { shares: vec![0.5; k], parts: vec![0.0; 1 << k], z: vec![0.0; k << k], members, memories, regions }
    }

    pub fn share_of(&self, position: usize) -> Option<f64> {
        self.members.iter().position(|&m| m == position).map(|j| self.shares[j])
    }

    pub fn set_shares(&mut self, all: &[f64]) {
        self.shares = self.members.iter().map(|&m| all.get(m).copied().unwrap_or(0.5)).collect();
    }

    /// What was found in a region, of all thresholds.
    pub fn note(&mut self, region: usize, z: &[f64], rates: &[f64]) {
        let k = self.members.len();
        for (j, &m) in self.members.iter().enumerate() {
            self.z[region * k + j] = z[m];
            self.regions.set_rate(region, j, rates[m]);
        }
    }

    /// The shares that are closest to the end, of the positive and of the negative side.
    pub fn least_shares(&self) -> (f64, f64) {
        if self.regions.are_dependent() {
            // Well before the end of the slide is reached.
            let margin = if self.is_over() { 0.0 } else { self.regions.margin(&self.shares) };
            return (margin, margin);
        }
        let least = |shares: &mut dyn Iterator<Item = f64>| shares.fold(f64::INFINITY, f64::min);
        (least(&mut self.shares.iter().copied()), least(&mut self.shares.iter().map(|w| 1.0 - w)))
    }

    /// Is a threshold left?
    pub fn is_over(&self) -> bool {
        let shares: Vec<f64> = self.shares.iter().map(|&w| at_end(w)).collect();
        self.regions.is_at_end(&shares)
    }

    /// Thresholds that it goes on along, by position among all.
    pub fn kept(&self) -> Vec<usize> {
        self.kept_members().into_iter().map(|j| self.members[j]).collect()
    }

    fn kept_members(&self) -> Vec<usize> {
        let is_over = self.is_over();
        (0..self.shares.len()).filter(|&j| !is_over || self.shares[j] > 0.0 && self.shares[j] < 1.0).collect()
    }

    /// The functions that are positive after some have been left; of those that are kept, the larger share counts.
    pub fn region_entered(&self) -> usize {
        self.shares.iter().enumerate().fold(0, |region, (j, &w)| if w > 0.5 { region | 1 << j } else { region })
    }

    /// The region with the largest part.
    pub fn largest(&self) -> usize {
        self.parts.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(region, _)| region)
    }

    /// Without the thresholds that have been left; those that are kept are numbered anew.
    pub fn reduce(&mut self) {
        let (kept, region, k) = (self.kept_members(), self.region_entered(), self.members.len());
        let place = |inner| within(&kept, inner, region);
        let n = 1usize << kept.len();
        self.memories = (0..n).map(|inner| self.memories[place(inner)].clone()).collect();
        let z = |inner: usize| kept.iter().map(move |&j| place(inner) * k + j);
        self.z = (0..n).flat_map(z).map(|at| self.z[at]).collect();
        self.regions = self.regions.reduced_with_dependence(&kept, region);
        self.shares = kept.iter().map(|&j| self.shares[j]).collect();
        self.parts.truncate(n);
        self.members = (0..kept.len()).collect();
    }

    /// For each function its position, how far it is from zero in all regions alike, and its largest rate.
    pub fn distances(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        let k = self.members.len();
        self.members.iter().enumerate().map(move |(j, &position)| {
            let values = || self.z.iter().skip(j).step_by(k);
            let nearest = values().copied().min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
            let z = if values().all(|z| z * nearest > 0.0) { nearest } else { 0.0 };
            (position, z, self.regions.fastest(j))
        })
    }

    /// Shares for which no function moves; false if there are none, nor a way out.
    pub fn balance(&mut self) -> bool {
        // If nothing keeps a function at zero any more, a share at its end says so.
        if !self.regions.balance(&mut self.shares) && self.go_to_limit().is_err() {
            return false;
        }
        if !self.regions.are_dependent() {
            // Beyond the end of sliding the step is cut off anyway.
            self.shares.iter_mut().for_each(|share| *share = share.clamp(-1.0, 2.0));
        }
        true
    }

    /// Shares where the fast motion comes to rest.
    pub fn go_to_limit(&mut self) -> Result<(), NoLimit> {
        self.shares = self.regions.limit(&self.shares)?;
        Ok(())
    }

    /// The parts of the regions for the present shares.
    pub fn weigh(&mut self) {
        self.parts.clear();
        self.parts.extend(self.regions.parts(&self.shares));
    }

    /// What it adds to a variable that is `first` in its first region.
    pub fn change(&self, slot: usize, first: f64) -> f64 {
        self.memories.iter().zip(&self.parts).skip(1).map(|(m, part)| part * (m[slot] - first)).sum()
    }
}
