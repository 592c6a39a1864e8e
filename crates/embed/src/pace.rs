//! Whether all cores are worth it: on an idle machine they have a lone text done sooner, on a busy one they wait for
//! each other. Nothing but trying tells which it is.

use std::time::Duration;

/// Every so many turns the way that was slower is tried again, since the machine may have changed.
const TRY_AGAIN: u32 = 16;

/// How much a turn counts that took longer than expected: it may have been one hiccup. A shorter one counts in full,
/// or a machine that has become idle would be believed only after many trials.
const WORSE: f32 = 0.25;

/// Reading the weights takes as long as computing so many tokens does.
const READING: usize = 8;

/// Seconds a token, of late, each way; none before the first turn.
#[derive(Debug, Default)]
pub struct Pace {
    wide: Option<f32>,
    narrow: Option<f32>,
    turns: u32,
}

impl Pace {
    /// Whether to take all cores this time.
    pub fn wide(&mut self) -> bool {
        self.turns = self.turns.wrapping_add(1);
        match (self.wide, self.narrow) {
            (None, _) => true,
            (_, None) => false,
            (Some(wide), Some(narrow)) => (wide <= narrow) != self.turns.is_multiple_of(TRY_AGAIN),
        }
    }

    pub fn took(&mut self, wide: bool, tokens: usize, time: Duration) {
        let cost = time.as_secs_f32() / (tokens + READING) as f32;
        let pace = if wide { &mut self.wide } else { &mut self.narrow };
        *pace = Some(match *pace {
            Some(before) if cost > before => before + (cost - before) * WORSE,
            _ => cost,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of 64 turns take all cores, when that needs `wide` and one core `narrow` milliseconds.
    fn wide_turns(pace: &mut Pace, wide: u64, narrow: u64) -> usize {
        let turn = |_: &usize| {
            let all = pace.wide();
            pace.took(all, 32, Duration::from_millis(if all { wide } else { narrow }));
            all
        };
        (0..64).filter(turn).count()
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_tried_now_and_then() {
        let mut pace = Pace::default();
        let idle = wide_turns(&mut pace, 3, 5);
        assert!((58..64).contains(&idle), "{idle} of 64 on an idle machine");
        let busy = wide_turns(&mut pace, 40, 15);
        assert!((4..12).contains(&busy), "{busy} of 64 on a busy machine");
        let idle = wide_turns(&mut pace, 3, 5);
        assert!(idle > 40, "{idle} of 64 on a machine that is idle again");
    }
}
