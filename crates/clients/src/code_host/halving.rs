//! Finds the pull requests that make a request for several of them fail: a group that failed is divided into halves, until the bad one is alone.
//! Pure. If everything fails, it ends after two pull requests that failed alone, so that a host that is down gets few requests.

/// Which pull requests to request next, by their indexes.
#[derive(Debug)]
pub(super) struct Halving {
    /// Not requested yet. The last one is the next.
    pending: Vec<Vec<usize>>,
    /// How many failed alone.
    failed: usize,
    has_success: bool,
}

/// How many must fail alone, before any success, to end it.
const ENOUGH: usize = 2;

impl Halving {
    /// `groups`: the last one is requested first.
    pub(super) fn of<const N: usize>(groups: [Vec<usize>; N]) -> Self {
        let pending = groups.into_iter().filter(|group| !group.is_empty()).collect();
        Self { pending, failed: 0, has_success: false }
    }

    /// The group to request next; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Vec<usize>> {
        match (self.has_success, self.failed) {
            (false, ENOUGH..) => None,
            // One failed alone. Another one alone shows whether the host fails: from the middle of the largest group, far from the first.
            (false, 1..) => self.probe(),
            _ => self.pending.pop(),
        }
    }

    fn probe(&mut self) -> Option<Vec<usize>> {
        let largest = self.pending.iter_mut().max_by_key(|group| group.len())?;
        let one = largest.remove(largest.len() / 2);
        self.pending.retain(|group| !group.is_empty());
        Some(vec![one])
    }

    /// Records that the request for a group succeeded.
    pub(super) const fn succeed(&mut self) {
        self.has_success = true;
    }

    /// Records that the request for a group failed. Returns the pull request that failed alone.
    pub(super) fn fail(&mut self, mut group: Vec<usize>) -> Option<usize> {
        if let [one] = group[..] {
            self.failed += 1;
            return Some(one);
        }
        let second = group.split_off(group.len().div_ceil(2));
        self.pending.extend([second, group]);
        None
    }

    /// What was not requested yet.
    pub(super) fn into_rest(self) -> Vec<usize> {
        self.pending.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Requests `count` pull requests, of which the `bad` ones make each request fail. Returns those that succeeded, those that failed alone, and
    /// the number of requests.
    fn run(count: usize, bad: &BTreeSet<usize>) -> (BTreeSet<usize>, BTreeSet<usize>, usize) {
        let mut halving = Halving::of([(0..count).collect()]);
        let (mut good, mut failed, mut requests) = (BTreeSet::new(), BTreeSet::new(), 0);
        while let Some(group) = halving.next() {
            requests += 1;
            match group.iter().any(|index| bad.contains(index)) {
                true => failed.extend(halving.fail(group)),
                false => {
                    halving.succeed();
                    good.extend(group);
                }
            }
        }
        (good, failed, requests)
    }

    proptest! {
        #[test]
        fn one_bad_pull_request_is_found_and_all_others_succeed(count in 1_usize..=50, bad in 0_usize..50) {
            let bad = BTreeSet::from([bad % count]);
            let (good, failed, requests) = run(count, &bad);
            prop_assert_eq!(&failed, &bad);
            prop_assert_eq!(good.len(), count - 1);
            prop_assert!(requests <= 14, "{}", requests);
        }

        #[test]
        fn several_bad_ones_end_it_only_before_any_success(
            count in 1_usize..=50,
            bad in prop::collection::btree_set(0_usize..50, 0..50),
        ) {
            let bad: BTreeSet<usize> = bad.into_iter().filter(|index| *index < count).collect();
            let (good, failed, requests) = run(count, &bad);
            prop_assert!(failed.is_subset(&bad));
            prop_assert!(requests < 2 * count.max(1) + 2);
            if good.is_empty() {
                prop_assert_eq!(failed.len(), bad.len().min(ENOUGH));
            } else {
                prop_assert_eq!((good.len(), failed.len()), (count - bad.len(), bad.len()));
            }
        }
    }

    #[test]
    fn failing_host_gets_few_requests() {
        let all = (0..50).collect();
        let (good, failed, requests) = run(50, &all);
        assert!(good.is_empty() && failed.len() == ENOUGH && requests <= 8, "{failed:?} {requests}");
    }

    #[test]
    fn last_group_is_first_and_the_rest_is_known() {
        let mut halving = Halving::of([vec![3], Vec::new(), vec![1, 2]]);
        assert_eq!(halving.next(), Some(vec![1, 2]));
        assert_eq!(halving.into_rest(), [3]);
    }
}
