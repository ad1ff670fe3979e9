//! Formats numbers for people. Pure.

use std::cmp::Ordering;

use model::analytics::choice::Readers;
use model::analytics::pages::VIEWS_MIN;
use model::page_views::ViewCounts;

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The share of AI agents as a whole percentage; `–` without views. A nonzero share is never rounded to 0% or 100%.
pub fn ai_share(counts: ViewCounts) -> String {
    share(counts.ai, counts.readers())
}

/// `12% → 31%`.
pub fn moved(before: ViewCounts, after: ViewCounts) -> String {
    [ai_share(before), ai_share(after)].join(" → ")
}

/// `part` of `whole` as a whole percentage, with the same rules.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    [rounded(part.min(whole).into(), whole.into()).as_str(), "%"].concat()
}

/// The change from `before` to `now` as a signed percentage: `+12%`, `−8%`, `0%`; `new` if `before` is 0. `−100%` only if nothing is left.
pub fn change(now: u64, before: u64) -> String {
    let (difference, sign) = (now.abs_diff(before), sign(now, before));
    match (now, before) {
        (0, 0) => "0%".to_owned(),
        (_, 0) => "new".to_owned(),
        // Growth may be rounded to 100 %; a loss may not, because something is left.
        _ if now > before && percent(difference.into(), before.into()) == 100 => "+100%".to_owned(),
        _ => [sign, rounded(difference.into(), before.into()).as_str(), "%"].concat(),
    }
}

/// `People +1% · AI +38%`; `–` for those with too few views in both periods.
pub fn changes(now: ViewCounts, before: ViewCounts) -> String {
    [Readers::People, Readers::Ai].map(|readers| change_of(readers, now, before)).join(" · ")
}

/// The change by others, after the change by these readers: `· AI +38%`.
pub fn change_beside(readers: Readers, now: ViewCounts, before: ViewCounts) -> String {
    let others = [Readers::People, Readers::Ai].into_iter().filter(|other| *other != readers);
    others.map(|other| ["· ", &change_of(other, now, before)].concat()).collect::<Vec<_>>().join(" ")
}

/// `AI +38%`; `AI –` with too few views in both periods.
fn change_of(readers: Readers, now: ViewCounts, before: ViewCounts) -> String {
    let (now, before) = (readers.of(now), readers.of(before));
    let changed = if now.max(before) < VIEWS_MIN { "–".to_owned() } else { change(now, before) };
    [readers.label(), " ", &changed].concat()
}

/// The sign of the change from `before` to `now`, if there is a change.
pub fn sign<T: Ord>(now: T, before: T) -> &'static str {
    match now.cmp(&before) {
        Ordering::Less => "−",
        Ordering::Equal => "",
        Ordering::Greater => "+",
    }
}

/// The change of the AI share from `before` to `now` in percentage points: `+3 pts`, `−1 pt`, `0 pts`; `None` without
/// views in one of them. The shares are subtracted before they are rounded.
pub fn share_change(now: ViewCounts, before: ViewCounts) -> Option<String> {
    let fraction = |counts: ViewCounts| {
        let whole = counts.readers();
        (whole > 0).then_some((u128::from(counts.ai), u128::from(whole)))
    };
    let ((now, of_now), (before, of_before)) = (fraction(now)?, fraction(before)?);
    let (now, before) = (now * of_before, before * of_now);
    let sign = sign(now, before);
    let points = rounded(now.abs_diff(before), of_now * of_before);
    let unit = if ["1", "<1"].contains(&points.as_str()) { " pt" } else { " pts" };
    Some([sign, &points, unit].concat())
}

/// `part` of `whole` in percent, rounded once; may exceed 100. `0` only if it is none, and `100` only if it is not less: otherwise `<1` or `>99`.
fn rounded(part: u128, whole: u128) -> String {
    match percent(part, whole) {
        0 if part > 0 => "<1".to_owned(),
        100 if part < whole => ">99".to_owned(),
        percent => grouped(percent),
    }
}

/// `whole` is not 0.
fn percent(part: u128, whole: u128) -> u64 {
    // Smaller numbers in the same ratio, so that the products do not overflow.
    let divisor = whole / (u128::MAX / 400) + 1;
    let (part, whole) = (part / divisor, whole / divisor);
    u64::try_from((part * 200 + whole) / (whole * 2)).unwrap_or(u64::MAX)
}

/// `1 job`, `2 jobs`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Which rows of a list are shown, if not all.
#[derive(Debug, Clone, Copy)]
pub enum Cut {
    First,
    Newest,
}

/// `2 jobs`, or `newest 200 of 1,340 jobs` if fewer than all are shown.
pub fn counted_of(which: Cut, shown: usize, total: u64, one: &str, many: &str) -> String {
    let (shown, all) = (shown as u64, counted(total, one, many));
    let which = match which {
        Cut::First => "first",
        Cut::Newest => "newest",
    };
    if shown >= total { counted(shown, one, many) } else { format!("{which} {} of {all}", grouped(shown)) }
}

/// With a capital first letter, for the beginning of a line.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn list_that_is_cut_has_its_total() {
        let jobs = |shown, total| counted_of(Cut::Newest, shown, total, "job", "jobs");
        assert_eq!([jobs(1, 1), jobs(200, 200)], ["1 job", "200 jobs"]);
        assert_eq!(jobs(200, 1_340), "newest 200 of 1,340 jobs");
        assert_eq!(capitalized(&counted_of(Cut::First, 10, 50, "page", "pages")), "First 10 of 50 pages");
        assert_eq!(capitalized(""), "");
    }

    #[test]
    fn thousands_are_grouped() {
        let texts: Vec<_> = [0, 999, 1000, 12_345, 123_456, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(texts, ["0", "999", "1,000", "12,345", "123,456", "1,234,567"]);
    }

    /// Views with this share of AI agents.
    fn views(ai: u64, whole: u64) -> ViewCounts {
        ViewCounts { human: whole - ai, ai, total: whole }
    }

    #[test]
    fn nonzero_share_is_never_rounded_to_0_or_100() {
        let share = |human, ai| ai_share(ViewCounts { human, ai, total: 0 });
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(100_000, 1), "<1%");
        assert_eq!(share(1, 100_000), ">99%");
        assert_eq!(share(3, 0), "0%");
        assert_eq!(share(0, 3), "100%");
        assert_eq!(share(2, 1), "33%");
    }

    #[test]
    fn share_is_rounded_once() {
        assert_eq!([share(4_446, 10_000), share(4_450, 10_000), share(4_449, 10_000)], ["44%", "45%", "44%"]);
        assert_eq!([share(9_946, 10_000), share(46, 10_000), share(50, 10_000)], ["99%", "<1%", "1%"]);
    }

    #[test]
    fn change_is_signed_and_never_rounded_to_zero() {
        assert_eq!([change(112, 100), change(92, 100), change(7, 7)], ["+12%", "−8%", "0%"]);
        assert_eq!([change(5, 0), change(0, 0), change(0, 5)], ["new", "0%", "−100%"]);
        assert_eq!([change(100_001, 100_000), change(99_999, 100_000)], ["+<1%", "−<1%"]);
        assert_eq!([change(1_996, 1_000), change(1_994, 1_000)], ["+100%", "+99%"]);
        assert_eq!([change(1, 1_000), change(5, 1_000), change(6, 1_000)], ["−>99%", "−>99%", "−99%"]);
        assert_eq!(change(40_000, 1), "+3,999,900%");
        assert_eq!(change(u64::MAX, 1), format!("+{}%", grouped(u64::MAX)));
    }

    #[test]
    fn changes_of_people_and_ai_are_beside_each_other() {
        let counts = |human, ai| ViewCounts { human, ai, total: human + ai };
        let (before, now) = (counts(200, 100), counts(202, 138));
        assert_eq!(changes(now, before), "People +1% · AI +38%");
        assert_eq!(change_beside(Readers::People, now, before), "· AI +38%");
        assert_eq!(change_beside(Readers::Ai, now, before), "· People +1%");
        assert_eq!(change_beside(Readers::All, now, before), "· People +1% · AI +38%");
        assert_eq!(changes(counts(20, 0), counts(0, 19)), "People new · AI –");
    }

    #[test]
    fn change_of_a_share_is_in_percentage_points() {
        let counts = |human, ai| ViewCounts { human, ai, total: human + ai };
        assert_eq!(share_change(counts(60, 40), counts(70, 30)).as_deref(), Some("+10 pts"));
        assert_eq!(share_change(counts(70, 30), counts(60, 40)).as_deref(), Some("−10 pts"));
        assert_eq!(share_change(counts(70, 30), counts(7, 3)).as_deref(), Some("0 pts"));
        assert_eq!(share_change(counts(0, 0), counts(7, 3)), None);
    }

    #[test]
    fn points_are_subtracted_before_rounding() {
        let change = |now, before| share_change(views(now, 1_000), views(before, 1_000)).unwrap_or_default();
        // From 44.4% to 45.5%, which are shown as 44% and 46%.
        assert_eq!([change(455, 444), change(444, 455)], ["+1 pt", "−1 pt"]);
        // From 44.6% to 45.4%, which are both shown as 45%.
        assert_eq!([change(454, 446), change(448, 446), change(446, 448)], ["+1 pt", "+<1 pt", "−<1 pt"]);
        assert_eq!(
            [change(1_000, 0), change(999, 0), change(0, 1_000)],
            ["+100 pts", "+>99 pts", "−100 pts"]
        );
    }

    #[test]
    fn largest_counts_do_not_overflow() {
        let all = |ai, human| ViewCounts { human, ai, total: u64::MAX };
        let (most, few) = (all(u64::MAX, 0), all(0, u64::MAX));
        assert_eq!(share_change(most, few).as_deref(), Some("+100 pts"));
        assert_eq!(share_change(few, most).as_deref(), Some("−100 pts"));
        assert_eq!(share_change(all(u64::MAX / 2, u64::MAX / 2), few).as_deref(), Some("+50 pts"));
    }

    proptest! {
        #[test]
        fn share_is_the_nearest_percentage((part, whole) in (1..u64::MAX / 200).prop_flat_map(|whole| (0..=whole, Just(whole)))) {
            let text = share(part, whole);
            prop_assert_eq!(text == "0%", part == 0);
            prop_assert_eq!(text == "100%", part == whole);
            let percent = match text.trim_end_matches('%') {
                "<1" => 0,
                ">99" => 100,
                percent => percent.parse::<u64>()?,
            };
            // At most half a percent from the exact value.
            prop_assert!((part * 100).abs_diff(percent * whole) * 2 <= whole, "{part} of {whole}: {text}");
        }

        #[test]
        fn all_is_lost_only_if_nothing_is_left(now in 0..1_000_000u64, before in 1..1_000_000u64) {
            let text = change(now, before);
            prop_assert_eq!(text == "−100%", now == 0, "{} of {}: {}", now, before, text);
            prop_assert_eq!(text == "0%", now == before, "{} of {}: {}", now, before, text);
        }

        #[test]
        fn change_of_a_share_is_the_nearest_number_of_points(
            (now, of_now) in (1..10_000u64).prop_flat_map(|whole| (0..=whole, Just(whole))),
            (before, of_before) in (1..10_000u64).prop_flat_map(|whole| (0..=whole, Just(whole))),
        ) {
            let text = share_change(views(now, of_now), views(before, of_before)).unwrap_or_default();
            let points = match text.trim_end_matches('s').trim_end_matches(" pt").trim_start_matches(['+', '−']) {
                "<1" => 0,
                ">99" => 100,
                points => points.parse::<u64>()?,
            };
            let (apart, whole) = ((now * of_before).abs_diff(before * of_now), of_now * of_before);
            prop_assert!((apart * 100).abs_diff(points * whole) * 2 <= whole, "{text}");
            prop_assert_eq!(text == "0 pts", apart == 0, "{}", text);
            prop_assert_eq!(text.starts_with('−'), now * of_before < before * of_now, "{}", text);
        }
    }
}
