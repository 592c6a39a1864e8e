//! Memory for the packed weights.

use memmap2::MmapMut;

use super::kernel::Piece;

/// One block for all of them, in huge pages where the system has them: every forward pass reads all of it, and with
/// small pages it spends a tenth of its time looking up addresses.
pub struct Arena(MmapMut);

impl Arena {
    pub fn new(pieces: usize) -> std::io::Result<Arena> {
        let map = MmapMut::map_anon(pieces * size_of::<Piece>())?;
        // Refused by a kernel without huge pages, and then merely slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Arena(map))
    }

    #[expect(unsafe_code, reason = "the map hands out bytes")]
    pub fn pieces(&self) -> &[Piece] {
        // SAFETY: any bits are a valid f32, and the map, which begins at a page, holds nothing but pieces.
        unsafe { self.0.align_to().1 }
    }

    #[expect(unsafe_code, reason = "the map hands out bytes")]
    pub fn pieces_mut(&mut self) -> &mut [Piece] {
        // SAFETY: as in `pieces`; and any f32 is valid bytes.
        unsafe { self.0.align_to_mut().1 }
    }
}
