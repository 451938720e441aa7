//! Lists of lost packets (draft-sharabayko-srt, *Packet Sequence List Coding*).

use super::word;

const RANGE: u32 = 1 << 31;

/// Ranges in a coded list of lost packets. Each has its first and its last number. The list ends at the first word that
/// violates the coding.
pub(crate) struct Losses<'a> {
    data: &'a [u8],
}

impl<'a> Losses<'a> {
    pub fn of(data: &'a [u8]) -> Self {
        Losses { data }
    }
}

impl Iterator for Losses<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        let first = word(self.data, 0)?;
        let (range, used) = if first & RANGE == 0 {
            ((first, first), 4)
        } else {
            let last = word(self.data, 4).filter(|last| last & RANGE == 0)?;
            ((first & !RANGE, last), 8)
        };
        self.data = &self.data[used..];
        Some(range)
    }
}

/// Appends ranges of packet numbers as a coded list. Each range takes one or two words.
pub(crate) fn write_losses(out: &mut Vec<u8>, ranges: impl Iterator<Item = (u32, u32)>) {
    for (first, last) in ranges {
        if first == last {
            out.extend_from_slice(&first.to_be_bytes());
        } else {
            out.extend_from_slice(&(first | RANGE).to_be_bytes());
            out.extend_from_slice(&last.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The draft: a single number has first bit 0. For a range, the first number has first bit 1.
    #[test]
    fn lists_are_coded_as_in_the_draft() {
        let mut out = Vec::new();
        write_losses(&mut out, [(1, 1), (3, 9)].into_iter());
        assert_eq!(out, [0, 0, 0, 1, 0x80, 0, 0, 3, 0, 0, 0, 9]);
        assert_eq!(Losses::of(&out).collect::<Vec<_>>(), [(1, 1), (3, 9)]);
    }

    #[test]
    fn a_list_ends_where_its_coding_breaks() {
        let broken = [[0, 0, 0, 1], [0x80, 0, 0, 3], [0x80, 0, 0, 9]].concat();
        assert_eq!(Losses::of(&broken).collect::<Vec<_>>(), [(1, 1)]);
        assert_eq!(Losses::of(&broken[..7]).collect::<Vec<_>>(), [(1, 1)]);
    }
}
