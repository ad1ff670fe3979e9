//! Formats numbers for people. Pure.

use std::cmp::Ordering;

use crate::ui::charts::scale::per_mille;
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
    share(counts.ai, counts.human.saturating_add(counts.ai))
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
    match (per_mille(part, whole) + 5) / 10 {
        0 if part > 0 => "<1%".to_owned(),
        100 if part < whole => ">99%".to_owned(),
        percent => format!("{percent}%"),
    }
}

/// The change from `before` to `now` as a signed percentage: `+12%`, `−8%`, `0%`; `new` if `before` is 0.
pub fn change(now: u64, before: u64) -> String {
    let (difference, sign) = (now.abs_diff(before), sign(now, before));
    match (now, before) {
        (0, 0) => "0%".to_owned(),
        (_, 0) => "new".to_owned(),
        _ if difference == 0 => "0%".to_owned(),
        _ => match percent(difference, before) {
            0 => format!("{sign}<1%"),
            percent => format!("{sign}{}%", grouped(percent)),
        },
    }
}

/// The sign of the change from `before` to `now`, if there is a change.
pub fn sign(now: u64, before: u64) -> &'static str {
    match now.cmp(&before) {
        Ordering::Less => "−",
        Ordering::Equal => "",
        Ordering::Greater => "+",
    }
}

/// The change of the AI share from `before` to `now` in percentage points: `+3 pts`, `−1 pts`, `0 pts`; `None` without
/// views in one of them.
pub fn share_change(now: ViewCounts, before: ViewCounts) -> Option<String> {
    let points = |ViewCounts { human, ai, .. }: ViewCounts| {
        let whole = human.saturating_add(ai);
        (whole > 0).then(|| (per_mille(ai, whole) + 5) / 10)
    };
    let (now, before) = (points(now)?, points(before)?);
    Some(match now.abs_diff(before) {
        0 => "0 pts".to_owned(),
        by => format!("{}{by} pts", if now < before { '−' } else { '+' }),
    })
}

/// `part` of `whole` in percent, rounded; may exceed 100.
fn percent(part: u64, whole: u64) -> u64 {
    let percent = (u128::from(part) * 200 + u128::from(whole)) / (u128::from(whole) * 2);
    u64::try_from(percent).unwrap_or(u64::MAX)
}

/// `1 job`, `2 jobs`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let texts: Vec<_> = [0, 999, 1000, 12_345, 123_456, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(texts, ["0", "999", "1,000", "12,345", "123,456", "1,234,567"]);
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
    fn change_is_signed_and_never_rounded_to_zero() {
        assert_eq!([change(112, 100), change(92, 100), change(7, 7)], ["+12%", "−8%", "0%"]);
        assert_eq!([change(5, 0), change(0, 0), change(0, 5)], ["new", "0%", "−100%"]);
        assert_eq!([change(100_001, 100_000), change(99_999, 100_000)], ["+<1%", "−<1%"]);
        assert_eq!(change(40_000, 1), "+3,999,900%");
        assert_eq!(change(u64::MAX, 1), format!("+{}%", grouped(u64::MAX)));
    }

    #[test]
    fn change_of_a_share_is_in_percentage_points() {
        let counts = |human, ai| ViewCounts { human, ai, total: human + ai };
        assert_eq!(share_change(counts(60, 40), counts(70, 30)).as_deref(), Some("+10 pts"));
        assert_eq!(share_change(counts(70, 30), counts(60, 40)).as_deref(), Some("−10 pts"));
        assert_eq!(share_change(counts(70, 30), counts(7, 3)).as_deref(), Some("0 pts"));
        assert_eq!(share_change(counts(0, 0), counts(7, 3)), None);
    }
}
