//! The filters of the analytics page, as encoded in its URL and in saved views. Pure.

use serde::{Deserialize, Serialize};

use super::choice::{Compare, Order, Sort, Tab};
use crate::day::{Day, DayRange, InvalidDay};
use crate::links;
use crate::paging::PageLimit;
use crate::preset::Preset;
use crate::url_encoding::with_query;

pub const DEFAULT_SIZE: i64 = PageLimit::DEFAULT.get() as i64;

/// The query field of a chosen page, also in the URL of a new batch.
pub const PICK: &str = "pick";
/// The field that selects all pages that match a query string.
pub const MATCHING: &str = "matching";

/// The most chosen pages in a URL: a batch has no more jobs.
pub const PICKED_MAX: usize = 200;

/// The field of a saved view with the name of a preset, so that “last 7 days” moves with the calendar.
const DAYS: &str = "days";

/// How a column shows views by people and by AI agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    Stacked,
    Side,
}

/// The filters as typed; the server validates days, sort and folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalyticsQuery {
    pub from: Option<String>,
    pub to: Option<String>,
    pub compare: Compare,
    pub tab: Tab,
    /// One documentation page, shown with its own report.
    pub path: Option<String>,
    /// A folder whose direct entries are listed; `None` lists all pages.
    pub folder: Option<String>,
    pub q: Option<String>,
    pub sort: Option<String>,
    pub form: Form,
    /// Starts at 1.
    pub page: i64,
    pub limit: i64,
    /// The chosen pages, where no script stores them.
    #[serde(default)]
    pub picked: Vec<String>,
}

/// The days from `from` to `to`, both inclusive: by default up to today, and as many as the default preset has.
pub fn requested_days(from: Option<&str>, to: Option<&str>, today: Day) -> Result<DayRange, InvalidDay> {
    let day = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::parse::<Day>).transpose();
    days_or_default(day(from)?, day(to)?, today)
}

/// The same of parsed days.
pub fn days_or_default(from: Option<Day>, to: Option<Day>, today: Day) -> Result<DayRange, InvalidDay> {
    let to = to.unwrap_or(today);
    DayRange::new(from.unwrap_or(Preset::DEFAULT.range(to).from()), to)
}

impl AnalyticsQuery {
    /// Parses the fields of a URL; `given` returns the value of a field.
    pub fn of(given: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| given(name).filter(|value| !value.trim().is_empty());
        let number =
            |name: &str, default: i64| given(name).and_then(|value| value.parse().ok()).unwrap_or(default);
        Self {
            from: given("from"),
            to: given("to"),
            compare: given("compare").and_then(|word| word.parse().ok()).unwrap_or_default(),
            tab: given("tab").and_then(|word| word.parse().ok()).unwrap_or_default(),
            path: given("path"),
            folder: given("folder"),
            q: given("q"),
            sort: given("sort"),
            form: if given("chart").as_deref() == Some("side") { Form::Side } else { Form::Stacked },
            // The upper bound prevents an overflow of the offset.
            page: number("page", 1).clamp(1, 1_000_000_000),
            limit: number("limit", DEFAULT_SIZE),
            picked: Vec::new(),
        }
    }

    /// With these pages chosen, without duplicates and up to the maximum.
    pub fn picking(self, pages: Vec<String>) -> Self {
        let mut picked: Vec<String> = Vec::new();
        for page in pages {
            if picked.len() < PICKED_MAX && !page.is_empty() && !picked.contains(&page) {
                picked.push(page);
            }
        }
        Self { picked, ..self }
    }

    pub fn offset(&self) -> i64 {
        (self.page - 1).saturating_mul(self.limit.max(0))
    }

    /// The query string of the URL, without the `?`.
    pub fn query_string(&self) -> String {
        self.href("").split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default()
    }

    pub fn href(&self, project: &str) -> String {
        let fields = self.fields();
        let fields = fields.iter().map(|(name, value)| (*name, value.as_str()));
        let fields: Vec<_> = fields.chain(self.picked.iter().map(|page| (PICK, page.as_str()))).collect();
        links::with_query(&links::analytics(project), &fields)
    }

    /// The hidden fields of a form that sets the fields in `but` itself. The form returns to the first page.
    pub fn hidden_fields(&self, but: &[&str]) -> Vec<(&'static str, String)> {
        let picked = self.picked.iter().map(|page| (PICK, page.clone()));
        let first = self.on_page(1).fields().into_iter().chain(picked);
        first.filter(|(name, value)| !value.is_empty() && !but.contains(name)).collect()
    }

    /// The requested days up to today; `None` if they are not a valid range, or all in the future.
    pub fn range(&self, today: Day) -> Option<DayRange> {
        self.requested(today).ok()?.until(today)
    }

    /// The requested days, also those in the future.
    pub fn requested(&self, today: Day) -> Result<DayRange, InvalidDay> {
        requested_days(self.from.as_deref(), self.to.as_deref(), today)
    }

    /// The query string of a saved view: first page, with the name of a preset in place of its days.
    pub fn to_saved(&self, today: Day) -> String {
        let first = self.on_page(1).picking(Vec::new());
        match self.requested(today).ok().and_then(|range| Preset::of(range, today)) {
            None => first.query_string(),
            Some(preset) => {
                let days = if preset == Preset::DEFAULT { "" } else { preset.word() };
                let rest = first.over(None).query_string();
                let named = with_query("", &[(DAYS, days)]);
                let parts = [named.trim_start_matches('?'), &rest];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&")
            }
        }
    }

    /// The query of a saved view, with presets evaluated for `today`; `given` returns the value of a stored field.
    pub fn of_saved(given: impl Fn(&str) -> Option<String>, today: Day) -> Self {
        let query = Self::of(&given);
        let preset = given(DAYS).and_then(|word| word.parse::<Preset>().ok());
        match preset.map(|preset| preset.range(today)) {
            Some(range) => query.over(Some((range.from().to_string(), range.to().to_string()))),
            None => query,
        }
    }

    pub fn on_page(&self, page: i64) -> Self {
        Self { page, ..self.clone() }
    }

    /// Over other days, from the first page; `None` is the default range. An invalid page size is replaced by the
    /// default.
    pub fn over(&self, days: Option<(String, String)>) -> Self {
        let (from, to) = days.unzip();
        let limit =
            if (1..=i64::from(PageLimit::MAX)).contains(&self.limit) { self.limit } else { DEFAULT_SIZE };
        Self { from, to, page: 1, limit, ..self.clone() }
    }

    /// The order in which a column sorts the rows; `None` on a tab with an order of its own.
    pub fn order(&self) -> Option<Order> {
        self.sort.as_deref().and_then(|sort| sort.parse().ok()).or(self.tab.order())
    }

    /// Whether a search or a folder narrows the pages.
    pub fn is_narrowed(&self) -> bool {
        self.q.is_some() || self.open_folder().is_some()
    }

    /// The open folder, unless it is the root.
    pub fn open_folder(&self) -> Option<&str> {
        self.folder.as_deref().filter(|folder| *folder != "/")
    }

    /// Compared with another period, from the first page.
    pub fn compared_with(&self, compare: Compare) -> Self {
        Self { compare, page: 1, ..self.clone() }
    }

    /// The pages of a tab, in its own order, from the first page.
    pub fn on_tab(&self, tab: Tab) -> Self {
        Self { tab, sort: None, page: 1, ..self.clone() }
    }

    /// Sorted by `by`; reversed if it is the current sort.
    pub fn sorted(&self, by: Sort) -> Self {
        let order = Order { by, reversed: self.order() == Some(Order { by, reversed: false }) };
        let sort = (self.tab.order() != Some(order)).then(|| order.to_string());
        Self { sort, page: 1, ..self.clone() }
    }

    /// With the entries of a folder, or with all pages.
    pub fn in_folder(&self, folder: Option<&str>) -> Self {
        Self { folder: folder.map(str::to_owned), page: 1, ..self.clone() }
    }

    /// Without the search.
    pub fn unsearched(&self) -> Self {
        Self { q: None, page: 1, ..self.clone() }
    }

    /// The folders that contain `path`, outermost first, with their names.
    pub fn folders_above<'a>(&self, path: &'a str) -> impl Iterator<Item = (&'a str, Self)> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        ends.map(|end| {
            let (folder, name) = if end == 0 { ("/", "All folders") } else { (&path[..end], &path[..end]) };
            (name, self.unsearched().about(None).in_folder(Some(folder)))
        })
    }

    /// For the report of one page, or for the table of all pages.
    pub fn about(&self, path: Option<&str>) -> Self {
        Self { path: path.map(str::to_owned), ..self.clone() }
    }

    /// With another page size, from the first page.
    pub fn sized(&self, limit: i64) -> Self {
        Self { limit, page: 1, ..self.clone() }
    }

    /// With the chart in this `form`.
    pub fn with_form(&self, form: Form) -> Self {
        Self { form, ..self.clone() }
    }

    /// The URL that exports every row of the table as a file of this `kind`.
    pub fn export_href(&self, project: &str, kind: &str) -> String {
        let whole = Self {
            page: 1,
            limit: DEFAULT_SIZE,
            form: Form::Stacked,
            path: None,
            picked: Vec::new(),
            ..self.clone()
        };
        let query = whole.query_string();
        let page = links::analytics(project);
        format!("{page}/export.{kind}{}{query}", if query.is_empty() { "" } else { "?" })
    }

    /// Names and values; the value is empty for a default.
    fn fields(&self) -> [(&'static str, String); 11] {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let number =
            |value: i64, default: i64| if value == default { String::new() } else { value.to_string() };
        let chart = if self.form == Form::Side { "side" } else { "" };
        let own = self.tab.order().map(|order| order.to_string());
        let sort = self.sort.clone().filter(|sort| own.as_ref() != Some(sort));
        let word = |word: &str, default: &str| if word == default { String::new() } else { word.to_owned() };
        [
            ("from", text(&self.from)),
            ("to", text(&self.to)),
            ("compare", word(self.compare.as_str(), Compare::default().as_str())),
            ("tab", word(self.tab.as_str(), Tab::default().as_str())),
            ("path", text(&self.path)),
            ("folder", text(&self.folder)),
            ("q", text(&self.q)),
            ("sort", text(&sort)),
            ("chart", chart.to_owned()),
            ("page", number(self.page, 1)),
            ("limit", number(self.limit, DEFAULT_SIZE)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(fields: &[(&str, &str)]) -> AnalyticsQuery {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        AnalyticsQuery::of(|name| {
            fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn url_omits_default_filters() {
        assert_eq!(query(&[]).href("docs"), "/p/docs/analytics");
        let defaults = [("page", "1"), ("limit", "50"), ("sort", "total"), ("chart", "stacked"), ("q", " ")];
        assert_eq!(query(&defaults).href("docs"), "/p/docs/analytics");
        assert_eq!(
            query(&[("page", "3"), ("limit", "25")]).href("docs"),
            "/p/docs/analytics?page=3&limit=25"
        );
    }

    #[test]
    fn chosen_pages_are_in_links_and_forms_but_not_stored() {
        let picked = ["/a", "/b c", "/a", ""].map(str::to_owned).to_vec();
        let query = query(&[("tab", "new"), ("page", "3")]).picking(picked);
        assert_eq!(query.on_page(4).href("docs"), "/p/docs/analytics?tab=new&page=4&pick=/a&pick=/b%20c");
        let hidden = query.hidden_fields(&["q"]);
        assert_eq!(hidden.iter().filter(|(name, _)| *name == PICK).count(), 2, "{hidden:?}");
        assert_eq!(query.to_saved(Day::of(crate::time::Timestamp::from_millis(0))), "tab=new");
        assert_eq!(query.export_href("docs", "csv"), "/p/docs/analytics/export.csv?tab=new");
    }

    #[test]
    fn url_contains_every_other_filter() {
        let expected = "?from=2026-11-01&to=2026-11-21&compare=year&tab=new&path=/a&folder=/b&q=c%20d&sort=-share&chart=side&page=2&limit=25";
        let fields = [
            ("from", "2026-11-01"),
            ("to", "2026-11-21"),
            ("compare", "year"),
            ("tab", "new"),
            ("path", "/a"),
            ("folder", "/b"),
            ("q", "c d"),
            ("sort", "-share"),
            ("chart", "side"),
            ("page", "2"),
            ("limit", "25"),
        ];
        assert_eq!(query(&fields).href("docs"), format!("/p/docs/analytics{expected}"));
    }

    #[test]
    fn offset_is_a_multiple_of_the_page_size() {
        assert_eq!(query(&[("page", "3"), ("limit", "25")]).offset(), 50);
        assert_eq!(query(&[("page", "-7"), ("limit", "x")]).offset(), 0);
        assert!(query(&[("page", "9999999999"), ("limit", "250")]).offset() > 0);
    }

    #[test]
    fn other_days_start_on_the_first_page() {
        let days = ("2026-11-01".to_owned(), "2026-11-21".to_owned());
        let href = query(&[("page", "3"), ("limit", "25")]).over(Some(days)).href("docs");
        assert_eq!(href, "/p/docs/analytics?from=2026-11-01&to=2026-11-21&limit=25");
        for limit in ["0", "251", "-1"] {
            assert_eq!(query(&[("limit", limit)]).over(None).href("docs"), "/p/docs/analytics");
        }
    }

    #[test]
    fn sorting_by_the_same_column_reverses_the_order() {
        let flat = query(&[("page", "3")]);
        assert_eq!(flat.sorted(Sort::Share).href("docs"), "/p/docs/analytics?sort=share");
        assert_eq!(
            flat.sorted(Sort::Share).sorted(Sort::Share).href("docs"),
            "/p/docs/analytics?sort=-share"
        );
        assert_eq!(flat.sorted(Sort::Total).href("docs"), "/p/docs/analytics?sort=-total");
        assert_eq!(flat.sorted(Sort::Share).sorted(Sort::Total).href("docs"), "/p/docs/analytics");
    }

    #[test]
    fn tab_has_its_own_order_until_a_column_is_sorted() {
        let rising = query(&[("sort", "share"), ("page", "2")]).on_tab(Tab::Rising);
        assert_eq!(rising.href("docs"), "/p/docs/analytics?tab=rising");
        let total = rising.sorted(Sort::Total);
        assert_eq!(total.href("docs"), "/p/docs/analytics?tab=rising&sort=total");
        assert_eq!(total.sorted(Sort::Total).href("docs"), "/p/docs/analytics?tab=rising&sort=-total");
        assert_eq!(total.on_tab(Tab::All).href("docs"), "/p/docs/analytics");
        let reversed = rising.sorted(Sort::Difference);
        assert_eq!(reversed.href("docs"), "/p/docs/analytics?tab=rising&sort=-difference");
        assert_eq!(reversed.sorted(Sort::Difference).href("docs"), "/p/docs/analytics?tab=rising");
        let falling = rising.on_tab(Tab::Falling).sorted(Sort::Difference);
        assert_eq!(falling.href("docs"), "/p/docs/analytics?tab=falling&sort=difference");
        assert_eq!(falling.sorted(Sort::Difference).href("docs"), "/p/docs/analytics?tab=falling");
        assert_eq!(rising.on_tab(Tab::Share).order(), None);
    }

    #[test]
    fn export_has_every_row_of_the_table() {
        let table = query(&[("q", "sdk"), ("sort", "ai"), ("page", "3"), ("limit", "25"), ("chart", "side")]);
        assert_eq!(table.export_href("docs", "csv"), "/p/docs/analytics/export.csv?q=sdk&sort=ai");
        assert_eq!(query(&[]).export_href("docs", "json"), "/p/docs/analytics/export.json");
    }

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The URL that a saved view opens on `today`.
    fn opened(saved: &str, today: Day) -> String {
        let fields: Vec<_> = saved.split('&').filter_map(|field| field.split_once('=')).collect();
        let given = |name: &str| {
            fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.replace("%26", "&"))
        };
        AnalyticsQuery::of_saved(given, today).href("docs")
    }

    #[test]
    fn saved_view_stores_the_name_of_a_preset() {
        let (today, later) = (day("2026-11-21"), day("2026-12-05"));
        let saved = |fields: &[(&str, &str)]| query(fields).to_saved(today);
        let days = [("from", "2026-11-15"), ("to", "2026-11-21")];
        let week = saved(&[days[0], days[1], ("sort", "share"), ("page", "3")]);
        assert_eq!(week, "days=7&sort=share");
        assert_eq!(opened(&week, later), "/p/docs/analytics?from=2026-11-29&to=2026-12-05&sort=share");
        let month = saved(&[("from", "2026-11-01"), ("to", "2026-11-21")]);
        assert_eq!(opened(&month, later), "/p/docs/analytics?from=2026-12-01&to=2026-12-05");
        assert_eq!(saved(&[("folder", "/guides")]), "folder=/guides");
        assert_eq!(opened("folder=/guides", later), "/p/docs/analytics?folder=/guides");
        let default = [("from", "2026-10-25"), ("to", "2026-11-21"), ("page", "2")];
        assert_eq!((saved(&[]), saved(&default)), (String::new(), String::new()));
    }

    #[test]
    fn range_that_ends_in_the_future_has_the_days_up_to_today() {
        let today = day("2026-11-21");
        let days = |fields: &[(&str, &str)]| {
            query(fields).range(today).map(|range| [range.from(), range.to()].map(|day| day.to_string()))
        };
        let expected = ["2026-11-01", "2026-11-21"].map(str::to_owned);
        let november = [("from", "2026-11-01"), ("to", "2026-11-30")];
        assert_eq!(days(&november), Some(expected.clone()));
        assert_eq!(days(&november[..1]), Some(expected));
        assert_eq!(days(&[("to", "2026-11-30")]).map(|[from, _]| from).as_deref(), Some("2026-11-03"));
        assert_eq!(days(&[("from", "2026-11-22"), ("to", "2026-11-30")]), None);
        // A saved view stores the days as requested.
        assert_eq!(query(&november).to_saved(today), "from=2026-11-01&to=2026-11-30");
    }

    #[test]
    fn saved_view_stores_other_days_unchanged() {
        let fields = [("from", "2026-11-02"), ("to", "2026-11-08"), ("q", "a&b")];
        let saved = query(&fields).to_saved(day("2026-11-21"));
        assert_eq!(saved, "from=2026-11-02&to=2026-11-08&q=a%26b");
        assert_eq!(opened(&saved, day("2027-01-01")), format!("/p/docs/analytics?{saved}"));
    }

    #[test]
    fn form_has_hidden_fields_for_other_filters() {
        let table = query(&[("q", "a\"b"), ("from", "2026-11-01"), ("page", "2")]);
        assert_eq!(table.hidden_fields(&["from", "to"]), [("q", "a\"b".to_owned())]);
    }
}
