//! Classifier that separates originals from retransmissions, between transport and network layer (Guo, Liu and Lian
//! 2010, §5.1).

use crate::datagram::Class;
use crate::node::Transmission;
use crate::sequence::newer;

/// Classifier with the newest sequence number of each flow.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    newest: Vec<(u32, u32)>,
}

impl Classifier {
    /// Returns the class of a datagram: original if its transmission carries new data. A datagram without a data
    /// transmission is an original.
    pub fn classify(&mut self, transmission: Option<Transmission>) -> Class {
        let Some(Transmission { flow, end }) = transmission else { return Class::Original };
        match self.newest.iter_mut().find(|(known, _)| *known == flow) {
            None => {
                self.newest.push((flow, end));
                Class::Original
            }
            Some((_, newest)) if newer(end, *newest) => {
                *newest = end;
                Class::Original
            }
            Some(_) => Class::Retransmission,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(ends: &[u32]) -> Vec<Class> {
        let mut classifier = Classifier::default();
        ends.iter().map(|end| classifier.classify(Some(Transmission { flow: 1, end: *end }))).collect()
    }

    #[test]
    fn an_old_number_is_a_retransmission() {
        use Class::{Original, Retransmission};
        assert_eq!(
            classes(&[1000, 2000, 3000, 2000, 4000]),
            [Original, Original, Original, Retransmission, Original]
        );
    }

    #[test]
    fn numbers_wrap_at_two_to_the_32() {
        use Class::{Original, Retransmission};
        let before = u32::MAX - 499;
        assert_eq!(classes(&[before, 500, before, 1500]), [Original, Original, Retransmission, Original]);
    }

    #[test]
    fn a_segment_with_one_new_byte_is_original() {
        use Class::{Original, Retransmission};
        assert_eq!(classes(&[2000, 2001, 2001]), [Original, Original, Retransmission]);
    }

    #[test]
    fn after_a_timeout_all_up_to_the_newest_are_retransmissions() {
        use Class::{Original, Retransmission};
        let sent = [1000, 2000, 3000, 4000, 1000, 2000, 3000, 4000, 5000];
        let mut expected = [Original; 9];
        expected[4..8].fill(Retransmission);
        assert_eq!(classes(&sent), expected);
    }

    #[test]
    fn flows_are_apart_and_acknowledgements_are_original() {
        let mut classifier = Classifier::default();
        let mut class = |flow, end| classifier.classify(Some(Transmission { flow, end }));
        assert_eq!((class(1, 9000), class(2, 1000)), (Class::Original, Class::Original));
        assert_eq!(class(1, 8000), Class::Retransmission);
        assert_eq!(classifier.classify(None), Class::Original);
    }
}
