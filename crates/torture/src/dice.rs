//! Repeatable random numbers: the same seed gives the same sequence.

/// SplitMix64: good enough to choose faults, and needs no dependency.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// A separate sequence for each `stream` of one seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut dice = Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
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

    /// A number from `low` up to, but not including, `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low).max(1)
    }

    /// True once in `n` times on average.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    /// One of the elements, or `None` of an empty slice.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let index = self.next() as usize;
        if all.is_empty() { None } else { all.get(index % all.len()) }
    }

    /// An index, chosen with a probability proportional to its weight.
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
    fn the_same_seed_and_stream_give_the_same_numbers() {
        let numbers = |seed, stream| {
            let mut dice = Dice::new(seed, stream);
            [dice.next(), dice.next(), dice.next()]
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }

    #[test]
    fn an_index_of_weight_zero_is_never_chosen() {
        let mut dice = Dice::new(7, 7);
        let chosen: Vec<usize> = (0..200).map(|_| dice.weighted([0, 3, 0, 1].into_iter())).collect();
        assert!(chosen.iter().all(|index| [1, 3].contains(index)));
        assert!(chosen.contains(&1) && chosen.contains(&3));
    }
}
