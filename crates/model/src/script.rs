//! Scripts that are written without spaces between words. Pure.

/// Whether `c` belongs to a script without spaces between words, or to Korean, whose words are searched and compared by their
/// parts. The trigger `index_texts` has the same ranges.
pub fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x2e80..=0xa4cf | 0xac00..=0xd7ff
        | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x20000..=0x3ffff)
}
