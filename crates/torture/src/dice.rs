//! Chance that can be repeated: the same seed throws the same numbers.

/// SplitMix64. Good enough to choose faults, and small enough to be read.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice of their own for each of many users of one seed.
    pub fn new(seed: u64, who: u64) -> Self {
        let mut dice = Self(seed ^ who.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        dice.next();
        dice
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, without `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low).max(1)
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let place = self.next() as usize;
        if all.is_empty() { None } else { all.get(place % all.len()) }
    }

    /// An index, as often as its weight says.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u64> + Clone) -> usize {
        let mut left = self.between(0, weights.clone().sum());
        for (index, weight) in weights.enumerate() {
            if left < weight {
                return index;
            }
            left -= weight;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_same_seed_throws_the_same_numbers_and_another_does_not() {
        let thrown = |seed, who| {
            let mut dice = Dice::new(seed, who);
            [dice.next(), dice.next(), dice.next()]
        };
        assert_eq!(thrown(1, 2), thrown(1, 2));
        assert_ne!(thrown(1, 2), thrown(1, 3));
        assert_ne!(thrown(1, 2), thrown(2, 2));
    }

    #[test]
    fn an_index_without_weight_is_never_chosen() {
        let mut dice = Dice::new(7, 7);
        let chosen: Vec<usize> = (0..200).map(|_| dice.weighted([0, 3, 0, 1].into_iter())).collect();
        assert!(chosen.iter().all(|index| [1, 3].contains(index)));
        assert!(chosen.contains(&1) && chosen.contains(&3));
    }
}
