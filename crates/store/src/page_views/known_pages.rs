//! Finds the page that a written path means. The platform reports each path in one form, such as `/guides/setup/`. People write `/guides/setup`,
//! `/Guides/Setup/`, or a percent-encoded form. [`KnownPages::page`] decides.

use std::collections::{BTreeSet, HashMap};
use std::slice::Chunks;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::queries::Snapshot;
use crate::dialect::select::sql_placeholders;
use crate::{Store, StoreError};
use base::blocking;
use base::nfc::{nfc, nfd};
use model::id::ProjectId;
use model::page_path::{readable, without_slash};
use model::selection::Selection;
use model::url_encoding::{decoded, encoded_path};

/// The maximum number of values per statement.
const VALUES_AT_ONCE: usize = 500;

/// The number of written paths whose spellings are computed at once.
const WRITTEN_AT_ONCE: usize = 50;

/// The last stored days whose views decide between pages with similar paths.
const COUNTED_DAYS: i64 = 28;

/// What browsers encode in a path, besides characters that are not ASCII.
const ENCODED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`').add(b'{').add(b'}');

/// $1: the project; the spellings follow.
pub(crate) const BY_SPELLING: &str =
    "SELECT id, path FROM page_paths WHERE project = $1 AND LOWER(RTRIM(path, '/')) IN";

/// The pages of a project whose paths are similar to some written ones.
#[derive(Debug, Default)]
pub struct KnownPages(HashMap<String, Vec<KnownPage>>);

#[derive(Debug)]
struct KnownPage {
    id: i64,
    path: String,
    /// 0 for a page without a similar one.
    views: i64,
}

impl KnownPages {
    /// The stored path of the page that a written path means: the same path, or else the one with the most views whose path differs only in the
    /// slash at the end, case, Unicode form or encoding.
    pub fn page(&self, written: &str) -> Option<&str> {
        let similar = self.0.get(&folded(written))?;
        let exact = |page: &KnownPage| (page.path == written, plain(&page.path) == plain(written));
        let best = similar.iter().max_by(|one, other| {
            (exact(one), one.views, &other.path).cmp(&(exact(other), other.views, &one.path))
        });
        best.map(|page| page.path.as_str())
    }

    /// The labels of the jobs about the page that a written path means: its path, and the forms that jobs have that were started before the page was
    /// known: without or with a slash at the end, with or without percent-encoding, in lowercase. The path of another page is left out. None for a
    /// text without a leading slash, which may be a tag.
    pub fn labels(&self, written: &str) -> Vec<String> {
        if !written.starts_with('/') {
            return Vec::new();
        }
        let page = self.page(written).unwrap_or(written);
        let similar = self.0.get(&folded(written)).map(Vec::as_slice).unwrap_or_default();
        let other = without_slash(page);
        let read = readable(&other).into_owned();
        let (encoded, lower) = (encoded_path(&read), read.to_lowercase());
        let mut labels = vec![nfc(page).into_owned()];
        for label in [written.to_owned(), [&other, "/"].concat(), other, read, encoded, lower] {
            let label = nfc(&label).into_owned();
            if !labels.contains(&label) && !similar.iter().any(|page| nfc(&page.path) == label) {
                labels.push(label);
            }
        }
        labels
    }

    /// Several statements may find the same page.
    fn add(&mut self, page: KnownPage) {
        let similar = self.0.entry(folded(&page.path)).or_default();
        if similar.iter().all(|known| known.id != page.id) {
            similar.push(page);
        }
    }

    fn ids_of_similar(&self) -> Vec<i64> {
        self.0.values().filter(|pages| pages.len() > 1).flatten().map(|page| page.id).collect()
    }
}

impl Store {
    /// The pages of the project that these written paths may mean.
    pub async fn known_pages(
        &self,
        project: &ProjectId,
        written: &[String],
    ) -> Result<KnownPages, StoreError> {
        if written.is_empty() {
            return Ok(KnownPages::default());
        }
        read(&mut *self.pool.acquire().await?, project, written).await
    }
}

impl Snapshot {
    /// As [`Store::known_pages`].
    pub async fn known_pages(&mut self, written: &[String]) -> Result<KnownPages, StoreError> {
        read(&mut self.tx, &self.project, written).await
    }

    /// The selection with the stored path of its page.
    pub async fn known(&mut self, selection: Selection) -> Result<Selection, StoreError> {
        let Selection::Page(written) = &selection else { return Ok(selection) };
        let known = self.known_pages(std::slice::from_ref(written)).await?;
        Ok(known.page(written).map_or(selection.clone(), |page| Selection::Page(page.to_owned())))
    }
}

/// The spellings of written paths, a part at a time: those of all paths of a long batch need much memory.
struct Lookups<'a> {
    written: Chunks<'a, String>,
    spellings: BTreeSet<String>,
}

impl<'a> Lookups<'a> {
    fn of(written: &'a [String]) -> Self {
        Self { written: written.chunks(WRITTEN_AT_ONCE), spellings: BTreeSet::new() }
    }

    /// The values of the next statement; none at the end.
    async fn next(&mut self) -> Vec<String> {
        while self.spellings.len() < VALUES_AT_ONCE
            && let Some(written) = self.written.next()
        {
            let bytes = written.iter().filter(|path| !is_simple(path)).map(String::len).sum();
            let written = written.to_vec();
            let all = move || written.iter().flat_map(|path| spellings(path)).collect::<BTreeSet<_>>();
            self.spellings.extend(blocking::run(bytes, all).await);
        }
        std::iter::from_fn(|| self.spellings.pop_first()).take(VALUES_AT_ONCE).collect()
    }
}

async fn read(
    connection: &mut AnyConnection,
    project: &ProjectId,
    written: &[String],
) -> Result<KnownPages, StoreError> {
    let mut known = KnownPages::default();
    let mut lookups = Lookups::of(written);
    loop {
        let spellings = lookups.next().await;
        if spellings.is_empty() {
            break;
        }
        let sql = format!("{BY_SPELLING} ({})", sql_placeholders(2, spellings.len()));
        let mut query = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str());
        for spelling in &spellings {
            query = query.bind(spelling);
        }
        for row in query.fetch_all(&mut *connection).await? {
            let (id, path) = (row.try_get("id")?, row.try_get::<String, _>("path")?);
            known.add(KnownPage { id, path, views: 0 });
        }
    }
    let views = views(connection, project, &known.ids_of_similar()).await?;
    for page in known.0.values_mut().flatten() {
        page.views = views.get(&page.id).copied().unwrap_or(0);
    }
    Ok(known)
}

/// The views of pages in the last stored days.
async fn views(
    connection: &mut AnyConnection,
    project: &ProjectId,
    ids: &[i64],
) -> Result<HashMap<i64, i64>, StoreError> {
    let mut views = HashMap::new();
    for ids in ids.chunks(VALUES_AT_ONCE) {
        let sql = format!(
            "SELECT v.path_id, CAST(SUM(v.total) AS BIGINT) AS views
             FROM (SELECT day, version FROM history_days WHERE project = $1 ORDER BY day DESC LIMIT {COUNTED_DAYS}) h
             JOIN page_views v ON v.project = $1 AND v.day = h.day AND v.version = h.version AND v.path_id IN ({})
             GROUP BY v.path_id",
            sql_placeholders(2, ids.len())
        );
        let mut query = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str());
        for id in ids {
            query = query.bind(*id);
        }
        for row in query.fetch_all(&mut *connection).await? {
            views.insert(row.try_get("path_id")?, row.try_get("views")?);
        }
    }
    Ok(views)
}

/// The values in the index of the pages that a written path may mean: an index ignores the case of ASCII letters only, and no Unicode form.
fn spellings(written: &str) -> BTreeSet<String> {
    let forms = if is_simple(written) { vec![written.to_owned()] } else { forms(written) };
    let encoded =
        forms.iter().flat_map(|text| [encoded_path(text), utf8_percent_encode(text, ENCODED).to_string()]);
    let all = encoded.chain(forms.iter().cloned()).chain([written.to_owned()]);
    // No stored path has a zero byte, and PostgreSQL refuses to compare with one.
    all.map(|text| text.trim_end_matches('/').to_ascii_lowercase().replace('\0', "\u{fffd}")).collect()
}

/// Whether a path has one form only, apart from the case of ASCII letters.
fn is_simple(path: &str) -> bool {
    path.is_ascii() && !path.contains('%')
}

/// The path in different cases and Unicode forms.
fn forms(written: &str) -> Vec<String> {
    let plain = plain(written);
    let cases = [plain.to_lowercase(), plain.to_uppercase(), capitalized(&plain), plain];
    cases.iter().flat_map(|text| [nfc(text).into_owned(), nfd(text)]).collect()
}

/// The common form of all paths of a page.
fn folded(path: &str) -> String {
    nfc(&plain(path).to_lowercase()).trim_end_matches('/').to_owned()
}

/// A path in NFC, without percent-encoding.
fn plain(path: &str) -> String {
    nfc(&decoded(path)).into_owned()
}

/// A path whose parts begin with capital letters.
fn capitalized(path: &str) -> String {
    let capitalize = |part: &str| {
        let mut rest = part.chars();
        rest.next().map(|first| first.to_uppercase().chain(rest).collect::<String>()).unwrap_or_default()
    };
    path.split('/').map(capitalize).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(pages: &[(&str, i64)]) -> KnownPages {
        let mut known = KnownPages::default();
        for (id, (path, views)) in (1..).zip(pages) {
            known.add(KnownPage { id, path: (*path).to_owned(), views: *views });
        }
        known
    }

    #[test]
    fn written_path_means_the_same_page_or_the_most_viewed_similar_one() {
        let known = known(&[
            ("/x", 1),
            ("/x/", 9),
            ("/X/", 5),
            ("/y/", 0),
            ("/caf%C3%A9/", 0),
            ("/z", 2),
            ("/z/", 2),
        ]);
        for (written, page) in [
            ("/x", Some("/x")),
            ("/X/", Some("/X/")),
            ("/X", Some("/x/")),
            ("/Y", Some("/y/")),
            ("/Z", Some("/z")),
            ("/CAFE\u{301}", Some("/caf%C3%A9/")),
            ("/caf\u{e9}", Some("/caf%C3%A9/")),
            ("/xy", None),
        ] {
            assert_eq!(known.page(written), page, "{written}");
        }
    }

    #[test]
    fn jobs_about_a_page_may_have_its_path_without_the_slash() {
        let pages = known(&[("/x", 1), ("/x/", 9), ("/y/", 0)]);
        assert_eq!(pages.labels("/x/"), ["/x/"], "/x is another page");
        assert_eq!(pages.labels("/x"), ["/x"]);
        assert_eq!(pages.labels("/y/"), ["/y/", "/y"]);
        assert_eq!(pages.labels("/Y"), ["/y/", "/Y", "/y"]);
        assert_eq!(pages.labels("/new"), ["/new", "/new/"]);
        assert_eq!(pages.labels("/"), ["/", "//"]);
        assert_eq!(pages.labels("y"), [""; 0], "a tag");
    }

    #[test]
    fn jobs_about_a_page_may_have_another_form_of_its_path() {
        let pages = known(&[("/Caf%C3%A9/", 1), ("/z", 1), ("/Z", 1)]);
        let forms = ["/Caf%C3%A9/", "/Caf%C3%A9", "/Caf\u{e9}", "/caf\u{e9}"];
        assert_eq!(pages.labels("/Caf%C3%A9/"), forms);
        assert_eq!(pages.labels("/Caf\u{e9}"), [forms[0], forms[2], forms[1], forms[3]]);
        assert_eq!(pages.labels("/New\u{e9}"), ["/New\u{e9}", "/New\u{e9}/", "/New%C3%A9", "/new\u{e9}"]);
        assert_eq!(pages.labels("/Z"), ["/Z", "/Z/"], "/z is another page");
    }

    /// The longest statements and sets of the lookups of these paths, and the number of statements.
    async fn sizes(written: &[String]) -> (usize, usize, usize) {
        let mut lookups = Lookups::of(written);
        let (mut values, mut kept, mut statements) = (0, 0, 0);
        loop {
            let next = lookups.next().await;
            if next.is_empty() {
                return (values, kept, statements);
            }
            (values, kept) = (values.max(next.len()), kept.max(next.len() + lookups.spellings.len()));
            statements += 1;
        }
    }

    #[tokio::test]
    async fn spellings_of_a_long_batch_are_computed_in_parts() {
        let paths = |text: &str| (0..2_000).map(|n| format!("/{}-{n}", text.repeat(60))).collect::<Vec<_>>();
        let (values, kept, statements) = sizes(&paths("\u{fc}\u{e9}")).await;
        assert!(values <= VALUES_AT_ONCE && kept <= VALUES_AT_ONCE + WRITTEN_AT_ONCE * 25, "{values} {kept}");
        assert!(statements <= 2_000 * 25 / VALUES_AT_ONCE + 1, "{statements}");
        // Each has one spelling.
        assert_eq!(sizes(&paths("Ab")).await, (VALUES_AT_ONCE, VALUES_AT_ONCE, 4));
        assert_eq!(sizes(&[]).await, (0, 0, 0));
    }

    #[test]
    fn page_that_two_statements_find_is_known_once() {
        let mut known = known(&[("/a", 1)]);
        known.add(KnownPage { id: 1, path: "/a".to_owned(), views: 0 });
        assert_eq!(known.ids_of_similar(), [0; 0]);
    }

    #[test]
    fn plain_path_has_one_spelling() {
        assert_eq!(spellings("/Guides/Setup/"), BTreeSet::from(["/guides/setup".to_owned()]));
        for stored in ["/caf%c3%a9+(1)", "/caf%c3%a9%2b%281%29", "/caf\u{e9}+(1)"] {
            assert!(spellings("/Caf\u{e9}+(1)/").contains(stored), "{stored}");
        }
        for stored in
            ["/\u{dc}ber", "/\u{fc}ber", "/U\u{308}ber/", "/u\u{308}ber", "/%C3%BCber/", "/%c3%9cBER"]
        {
            let indexed = stored.trim_end_matches('/').to_ascii_lowercase();
            for written in ["/\u{fc}ber", "/\u{dc}BER/", "/U\u{308}ber", "/%C3%BCber"] {
                assert!(spellings(written).contains(&indexed), "{written}: {stored}");
            }
        }
    }
}
