//! Numbers as people read them. Pure.

use crate::model::views::ViewCounts;
use crate::ui::charts::scale::per_mille;

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

/// The AI readers' share as a whole percentage; `–` where nobody read. Neither something nor the rest is rounded away.
pub fn ai_share(counts: ViewCounts) -> String {
    let sum = counts.human.saturating_add(counts.ai);
    if sum == 0 {
        return "–".to_owned();
    }
    match (per_mille(counts.ai, sum) + 5) / 10 {
        0 if counts.ai > 0 => "<1%".to_owned(),
        100 if counts.human > 0 => ">99%".to_owned(),
        percent => format!("{percent}%"),
    }
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
    fn a_share_never_claims_none_or_all_wrongly() {
        let share = |human, ai| ai_share(ViewCounts { human, ai, total: 0 });
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(100_000, 1), "<1%");
        assert_eq!(share(1, 100_000), ">99%");
        assert_eq!(share(3, 0), "0%");
        assert_eq!(share(0, 3), "100%");
        assert_eq!(share(2, 1), "33%");
    }
}
