//! Memory for the packed weights.

use memmap2::MmapMut;

use super::packed::Triple;

/// One block of memory for all weights, in huge pages where the system supports them. Every forward pass reads all of
/// it; with small pages it spends a tenth of its time on address translation.
pub struct Arena(MmapMut);

impl Arena {
    pub fn new(triples: usize) -> std::io::Result<Arena> {
        let map = MmapMut::map_anon(triples * size_of::<Triple>())?;
        // Fails on a kernel without huge pages, which only makes it slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Arena(map))
    }

    #[expect(unsafe_code, reason = "the map hands out bytes")]
    pub fn triples(&self) -> &[Triple] {
        // SAFETY: any bit pattern is a valid i32. The map begins at a page boundary and contains only triples.
        unsafe { self.0.align_to().1 }
    }

    #[expect(unsafe_code, reason = "the map hands out bytes")]
    pub fn triples_mut(&mut self) -> &mut [Triple] {
        // SAFETY: as in `triples`, and any i32 is a valid sequence of bytes.
        unsafe { self.0.align_to_mut().1 }
    }
}
