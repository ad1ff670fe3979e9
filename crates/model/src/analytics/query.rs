//! The filters of the analytics page, as encoded in its URL and in saved views. Pure.

use super::choice::{Compare, Order, Readers, Sort, Tab};
use super::days::{Days, Span};
use crate::ParseError;
use crate::day::{Day, DayRange};
use crate::links;
use crate::paging::PageLimit;
use crate::preset::Preset;

pub const DEFAULT_SIZE: i64 = PageLimit::DEFAULT.get() as i64;

/// The query field of a chosen page, also in the URL of a new batch.
pub const PICK: &str = "pick";
/// The field that selects all pages that match a query string.
pub const MATCHING: &str = "matching";

/// The most chosen pages in a URL: a batch has no more jobs.
pub const PICKED_MAX: usize = 200;

/// The field with the name of a preset, so that “last 7 days” moves with the calendar. It precedes `from` and `to`.
pub const DAYS: &str = "days";

/// How a column shows views by people and by AI agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Stacked,
    Side,
}

/// The filters. The server validates the folder and the page size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyticsQuery {
    pub days: Span,
    pub compare: Compare,
    /// Whose views drive the changes.
    pub readers: Readers,
    pub tab: Tab,
    /// One documentation page, shown with its own report.
    pub path: Option<String>,
    /// A folder whose direct entries are listed; `None` lists all pages.
    pub folder: Option<String>,
    pub q: Option<String>,
    /// `None` is the tab's own order.
    sort: Option<Order>,
    pub form: Form,
    /// Starts at 1.
    pub page: i64,
    pub limit: i64,
    /// The chosen pages, where no script stores them.
    pub picked: Vec<String>,
}

/// A query whose days or whose order cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidQuery {
    /// The sentence for the person who typed it.
    pub problem: ParseError,
    /// The days, if they are invalid.
    pub days: Option<TypedDays>,
    /// The query with the default in place of what is invalid.
    pub rest: AnalyticsQuery,
}

/// Days as typed. Neither, if the name of a preset is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedDays {
    pub from: Option<String>,
    pub to: Option<String>,
}

impl AnalyticsQuery {
    /// All pages over these days.
    pub fn new(days: impl Into<Span>) -> Self {
        let days = days.into();
        Self {
            days,
            compare: days.default_compare(),
            readers: Readers::ON_PAGES,
            tab: Tab::default(),
            path: None,
            folder: None,
            q: None,
            sort: None,
            form: Form::Stacked,
            page: 1,
            limit: DEFAULT_SIZE,
            picked: Vec::new(),
        }
    }

    /// Parses the fields of a URL; `given` returns the value of a field.
    pub fn of(given: impl Fn(&str) -> Option<String>, today: Day) -> Result<Self, Box<InvalidQuery>> {
        let given = |name: &str| given(name).filter(|value| !value.trim().is_empty());
        let rest = Self::without_days_and_order(given, today);
        let query = match Self::span(given, today) {
            Ok(days) => {
                let compare = Self::compare(given).unwrap_or(days.default_compare());
                Self { days, compare, ..rest }
            }
            Err((problem, days)) => {
                return Err(Box::new(InvalidQuery { problem, days: Some(days), rest }));
            }
        };
        match Order::parse(given("sort").as_deref()) {
            Ok(order) => Ok(query.in_order(order)),
            Err(problem) => Err(Box::new(InvalidQuery { problem, days: None, rest: query })),
        }
    }

    fn span(given: impl Fn(&str) -> Option<String>, today: Day) -> Result<Span, (ParseError, TypedDays)> {
        let name = given(DAYS);
        let [from, to] = ["from", "to"].map(|end| given(end).filter(|_| name.is_none()));
        let span = Span::of(name.as_deref(), from.as_deref(), to.as_deref(), today);
        span.map_err(|problem| (problem, TypedDays { from, to }))
    }

    fn compare(given: impl Fn(&str) -> Option<String>) -> Option<Compare> {
        given("compare").and_then(|word| word.parse().ok())
    }

    /// The filters for which any text is valid.
    fn without_days_and_order(given: impl Fn(&str) -> Option<String> + Copy, today: Day) -> Self {
        let number =
            |name: &str, default: i64| given(name).and_then(|value| value.parse().ok()).unwrap_or(default);
        Self {
            compare: Self::compare(given).unwrap_or_default(),
            readers: given("readers").and_then(|word| word.parse().ok()).unwrap_or(Readers::ON_PAGES),
            tab: given("tab").and_then(|word| word.parse().ok()).unwrap_or_default(),
            path: given("path"),
            folder: given("folder"),
            q: given("q"),
            form: if given("chart").as_deref() == Some("side") { Form::Side } else { Form::Stacked },
            // The upper bound prevents an overflow of the offset.
            page: number("page", 1).clamp(1, 1_000_000_000),
            limit: number("limit", DEFAULT_SIZE),
            ..Self::new(Days::of(Preset::DEFAULT, today))
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

    /// The requested days up to today; `None` if all are in the future, and for all time.
    pub fn range(&self, today: Day) -> Option<DayRange> {
        self.days.days()?.range().until(today)
    }

    pub fn is_of_all_time(&self) -> bool {
        self.days == Span::AllTime
    }

    /// An error for a part of the pages over all time: only the platform counts that, and only all pages together.
    pub fn must_have_figures(&self) -> Result<(), ParseError> {
        match self.is_of_all_time() && self.needs_history() {
            true => Err(
                "All time has the figures of all pages together. Choose days for a page, a folder, a search or a tab.".into(),
            ),
            false => Ok(()),
        }
    }

    /// The query string of a saved view: its first page, without chosen pages.
    pub fn to_saved(&self) -> String {
        self.on_page(1).picking(Vec::new()).query_string()
    }

    pub fn on_page(&self, page: i64) -> Self {
        Self { page, ..self.clone() }
    }

    /// Over other days, from the first page. The default comparison becomes that of these days. An invalid page size is replaced by the default.
    pub fn over(&self, days: impl Into<Span>) -> Self {
        let days = days.into();
        let is_default = self.compare == self.days.default_compare();
        let compare = if is_default { days.default_compare() } else { self.compare };
        let limit =
            if (1..=i64::from(PageLimit::MAX)).contains(&self.limit) { self.limit } else { DEFAULT_SIZE };
        Self { days, compare, page: 1, limit, ..self.clone() }
    }

    /// The order in which a column sorts the rows; `None` on a tab with an order of its own.
    pub fn order(&self) -> Option<Order> {
        self.sort.or(self.tab.order())
    }

    /// Whether a search or a folder narrows the pages.
    pub fn is_narrowed(&self) -> bool {
        self.q.is_some() || self.open_folder().is_some()
    }

    /// Whether only the daily history can answer: the platform counts the whole project, without paths, folders, searches and changes.
    pub fn needs_history(&self) -> bool {
        self.path.is_some() || self.folder.is_some() || self.q.is_some() || self.tab != Tab::All
    }

    /// All pages of the same days.
    pub fn about_everything(&self) -> Self {
        self.unsearched().about(None).in_folder(None).on_tab(Tab::All)
    }

    /// The open folder, unless it is the root.
    pub fn open_folder(&self) -> Option<&str> {
        self.folder.as_deref().filter(|folder| *folder != "/")
    }

    /// Compared with another period, from the first page.
    pub fn compared_with(&self, compare: Compare) -> Self {
        Self { compare, page: 1, ..self.clone() }
    }

    /// With the changes of these readers, from the first page.
    pub fn of_readers(&self, readers: Readers) -> Self {
        Self { readers, page: 1, ..self.clone() }
    }

    /// The pages of a tab, in its own order, from the first page.
    pub fn on_tab(&self, tab: Tab) -> Self {
        Self { tab, sort: None, page: 1, ..self.clone() }
    }

    /// Sorted by `by`; reversed if it is the current sort.
    pub fn sorted(&self, by: Sort) -> Self {
        let order = Order { by, reversed: self.order() == Some(Order { by, reversed: false }) };
        Self { page: 1, ..self.clone() }.in_order(Some(order))
    }

    fn in_order(self, order: Option<Order>) -> Self {
        Self { sort: order.filter(|order| self.tab.order() != Some(*order)), ..self }
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
    fn fields(&self) -> [(&'static str, String); 13] {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let number =
            |value: i64, default: i64| if value == default { String::new() } else { value.to_string() };
        let chart = if self.form == Form::Side { "side" } else { "" };
        let day = |day: Option<Day>| day.map(|day| day.to_string()).unwrap_or_default();
        let days = self.days.days();
        let sort = self.sort.map(|order| order.to_string());
        let word = |word: &str, default: &str| if word == default { String::new() } else { word.to_owned() };
        [
            (DAYS, self.days.word().unwrap_or_default().to_owned()),
            ("from", day(days.and_then(Days::named_from))),
            ("to", day(days.and_then(Days::named_to))),
            ("compare", word(self.compare.as_str(), self.days.default_compare().as_str())),
            ("readers", word(self.readers.as_str(), Readers::ON_PAGES.as_str())),
            ("tab", word(self.tab.as_str(), Tab::default().as_str())),
            ("path", text(&self.path)),
            ("folder", text(&self.folder)),
            ("q", text(&self.q)),
            ("sort", sort.unwrap_or_default()),
            ("chart", chart.to_owned()),
            ("page", number(self.page, 1)),
            ("limit", number(self.limit, DEFAULT_SIZE)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn today() -> Day {
        day("2026-11-21")
    }

    fn parse(fields: &[(&str, &str)]) -> Result<AnalyticsQuery, Box<InvalidQuery>> {
        let given = |name: &str| {
            fields.iter().find(|(field, _)| *field == name).map(|(_, value)| (*value).to_owned())
        };
        AnalyticsQuery::of(given, today())
    }

    fn query(fields: &[(&str, &str)]) -> AnalyticsQuery {
        parse(fields).unwrap_or_else(|invalid| panic!("{}", invalid.problem))
    }

    #[test]
    fn query_of_a_part_of_the_pages_needs_the_history() {
        for field in ["path", "folder", "q", "tab"] {
            let value = if field == "tab" { "falling" } else { "/guides" };
            let part = query(&[(field, value), ("from", "2026-11-01"), ("sort", "-ai")]);
            assert!(part.needs_history(), "{field}");
            assert!(!part.about_everything().needs_history(), "{field}");
            assert_eq!(part.about_everything().days, part.days);
        }
        let platform = query(&[
            ("from", "2026-11-01"),
            ("compare", "year"),
            ("readers", "ai"),
            ("sort", "-ai"),
            ("page", "2"),
        ]);
        assert!(!platform.needs_history());
    }

    #[test]
    fn invalid_days_leave_the_other_filters() {
        let fields = [("from", "yesterday"), ("to", "2026-11-20"), ("sort", "share"), ("q", "sdk")];
        let Err(invalid) = parse(&fields) else { panic!("the days are invalid") };
        assert_eq!(
            invalid.problem.to_string(),
            "“yesterday” is not a valid date. Use the format 2026-11-21."
        );
        let typed = TypedDays { from: Some("yesterday".to_owned()), to: Some("2026-11-20".to_owned()) };
        assert_eq!(invalid.days, Some(typed));
        assert_eq!(invalid.rest.href("docs"), "/p/docs/analytics?q=sdk");
    }

    #[test]
    fn invalid_order_leaves_the_days() {
        let fields = [("from", "2026-11-01"), ("sort", "odd")];
        let Err(invalid) = parse(&fields) else { panic!("the order is invalid") };
        assert!(invalid.problem.to_string().starts_with("Sort by total"), "{}", invalid.problem);
        assert_eq!((invalid.days, invalid.rest), (None, query(&fields[..1])));
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
        assert_eq!(query.to_saved(), "tab=new");
        assert_eq!(query.export_href("docs", "csv"), "/p/docs/analytics/export.csv?tab=new");
    }

    #[test]
    fn url_contains_every_other_filter() {
        let expected = "?from=2026-11-01&to=2026-11-21&compare=year&readers=all&tab=new&path=/a&folder=/b&q=c%20d&sort=-share&chart=side&page=2&limit=25";
        let fields = [
            ("from", "2026-11-01"),
            ("to", "2026-11-21"),
            ("compare", "year"),
            ("readers", "all"),
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
        let days = DayRange::parse("2026-11-01", "2026-11-21").unwrap_or_else(|error| panic!("{error}"));
        let href = query(&[("page", "3"), ("limit", "25")]).over(Days::from(days)).href("docs");
        assert_eq!(href, "/p/docs/analytics?from=2026-11-01&to=2026-11-21&limit=25");
        for limit in ["0", "251", "-1"] {
            assert_eq!(
                query(&[("limit", limit)]).over(Days::of(Preset::DEFAULT, today())).href("docs"),
                "/p/docs/analytics"
            );
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

    /// The URL that a saved view opens on `today`, and its days.
    fn opened(saved: &str, today: Day) -> (String, Option<DayRange>) {
        let fields: Vec<_> = saved.split('&').filter_map(|field| field.split_once('=')).collect();
        let given = |name: &str| {
            fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.replace("%26", "&"))
        };
        let query = AnalyticsQuery::of(given, today).unwrap_or_else(|invalid| panic!("{}", invalid.problem));
        (query.href("docs"), query.range(today))
    }

    #[test]
    fn preset_stays_a_preset_in_urls_and_saved_views() {
        // On these days, the month to date has as many days as another preset.
        for today in ["2026-11-01", "2026-11-07", "2026-11-28", "2026-12-05"].map(day) {
            for preset in Preset::ALL {
                let chosen = query(&[("sort", "share"), ("page", "3")]).over(Days::of(preset, today));
                let url = chosen.href("docs");
                let name = if preset == Preset::DEFAULT { "" } else { &format!("days={}&", preset.word()) };
                assert_eq!(url, format!("/p/docs/analytics?{name}sort=share"));
                let later = today.plus_days(10);
                let (found, range) = opened(&chosen.to_saved(), later);
                assert_eq!((found, range), (url, Some(preset.range(later))), "{today} {preset:?}");
            }
        }
        assert_eq!(query(&[("folder", "/guides")]).to_saved(), "folder=/guides");
        assert_eq!(
            (query(&[]).to_saved(), query(&[("days", "28")]).to_saved()),
            (String::new(), String::new())
        );
    }

    #[test]
    fn month_is_compared_with_the_same_weekdays_by_default() {
        let month = query(&[("days", "month")]);
        assert_eq!(
            (month.compare, month.href("docs").as_str()),
            (Compare::Month, "/p/docs/analytics?days=month")
        );
        // The days are 1 to 21, and 28 days before.
        let before = month.range(today()).and_then(|range| month.compare.period_before(range));
        assert_eq!(before, Some(DayRange::ending(day("2026-10-24"), 21)));
        let plain = month.compared_with(Compare::Previous);
        assert_eq!(plain.href("docs"), "/p/docs/analytics?days=month&compare=previous");
        assert_eq!(query(&[("days", "month"), ("compare", "previous")]), plain);
        // The default follows the days; what was chosen stays.
        let week = Days::of(Preset::Days7, today());
        assert_eq!(month.over(week).href("docs"), "/p/docs/analytics?days=7");
        assert_eq!(query(&[]).over(Days::of(Preset::LastMonth, today())).compare, Compare::Month);
        let year = month.compared_with(Compare::Year).over(week);
        assert_eq!(year.href("docs"), "/p/docs/analytics?days=7&compare=year");
    }

    #[test]
    fn all_time_has_no_range() {
        let all = query(&[("days", "all"), ("page", "2")]);
        assert!(all.is_of_all_time());
        assert_eq!(
            (all.range(today()), all.href("docs").as_str()),
            (None, "/p/docs/analytics?days=all&page=2")
        );
        assert_eq!(all.over(Days::of(Preset::DEFAULT, today())).href("docs"), "/p/docs/analytics");
    }

    #[test]
    fn name_of_a_preset_precedes_days_and_must_be_known() {
        let both = query(&[("days", "7"), ("from", "yesterday"), ("to", "2026-11-01")]);
        assert_eq!(both.range(today()), Some(Preset::Days7.range(today())));
        let Err(invalid) = parse(&[("days", "week"), ("q", "sdk")]) else { panic!("no preset") };
        assert_eq!(
            invalid.problem.to_string(),
            "The days are today, 7, 28, 90, month, last-month, last-quarter or all."
        );
        assert_eq!(invalid.days, Some(TypedDays { from: None, to: None }));
        assert_eq!(invalid.rest.href("docs"), "/p/docs/analytics?q=sdk");
    }

    #[test]
    fn range_that_ends_in_the_future_has_the_days_up_to_today() {
        let today = today();
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
        assert_eq!(query(&november).to_saved(), "from=2026-11-01&to=2026-11-30");
    }

    #[test]
    fn saved_view_stores_other_days_unchanged() {
        let fields = [("from", "2026-11-02"), ("to", "2026-11-08"), ("q", "a&b")];
        let saved = query(&fields).to_saved();
        assert_eq!(saved, "from=2026-11-02&to=2026-11-08&q=a%26b");
        assert_eq!(opened(&saved, day("2027-01-01")).0, format!("/p/docs/analytics?{saved}"));
    }

    #[test]
    fn form_has_hidden_fields_for_other_filters() {
        let table = query(&[("q", "a\"b"), ("from", "2026-11-01"), ("page", "2")]);
        assert_eq!(table.hidden_fields(&["from", "to"]), [("q", "a\"b".to_owned())]);
    }
}
