//! Builds statements over the listed jobs from conditions. Values are bound, never written into the SQL.
//!
//! Every plan scans one source and checks the other conditions for each row. The source is the index with the requested order and every filtered
//! column. Where the order is by number, it is the first set of numbers (the words of a search, a label), part by part.

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Any, AssertSqlSafe, Sqlite};

use super::Dialect;
use base::nfc::nfc;
use model::user::Project;

/// Normalizes a text for comparison with stored texts. No stored text has a zero byte, and PostgreSQL refuses to compare with one.
pub(crate) fn comparable(text: &str) -> String {
    nfc(text).replace('\0', "\u{fffd}")
}

/// The source of listed jobs (as `l`), and the conditions on them.
pub(crate) struct Select {
    dialect: Dialect,
    /// Disjoint: no job is in two of them.
    sources: Vec<Source>,
    number: &'static str,
    scan_by: ScanBy,
    has_set: bool,
    conditions: String,
    project: String,
    /// The number of values that precede these in the whole statement.
    before: usize,
    values: Vec<Value>,
}

/// The source that the statement scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanBy {
    /// The index with the requested order.
    Index,
    /// The first set of numbers, if there is one.
    Set,
    /// As `Set`, but all numbers are collected before anything is looked up or sorted.
    WholeSet,
}

/// A scanned table and the condition on it.
struct Source {
    from: String,
    condition: String,
}

/// A set of job numbers: the union of its parts.
pub(crate) struct Set {
    /// The column of the numbers in every part.
    pub number: &'static str,
    pub parts: Vec<Part>,
}

/// The rows of `table`, aliased `s`, that match `condition`.
pub(crate) struct Part {
    pub table: String,
    pub condition: String,
}

impl Set {
    /// The numbers in a column of one table.
    pub(crate) fn of(table: &str, number: &'static str, condition: String) -> Self {
        Self { number, parts: vec![Part { table: table.to_owned(), condition }] }
    }
}

impl Part {
    /// The numbers that any of `queries` returns in its column `number`, as `column`. Each query runs once: SQLite would otherwise check all
    /// conditions on a number in each of them.
    pub(crate) fn of_numbers(queries: &[&str], column: &str) -> Self {
        let table = format!(
            "(WITH named AS MATERIALIZED (SELECT DISTINCT t.number FROM ({}) t) SELECT number AS {column} FROM named)",
            queries.join(" UNION ALL ")
        );
        Self { table, condition: "TRUE".to_owned() }
    }

    fn numbers(&self, number: &str) -> String {
        format!("SELECT {number} AS number FROM {} s WHERE {}", self.table, self.condition)
    }
}

/// A statement with its values.
pub(crate) struct Statement {
    sql: String,
    values: Vec<Value>,
}

enum Value {
    Text(String),
    Number(i64),
}

impl Select {
    /// All listed jobs of `project`. `before` is the number of values that precede these in the whole statement.
    pub(crate) fn of(dialect: Dialect, project: &str, scan_by: ScanBy, before: usize) -> Self {
        let mut select = Self {
            dialect,
            sources: vec![Source { from: "listed_jobs l".to_owned(), condition: "TRUE".to_owned() }],
            number: "l.number",
            scan_by,
            has_set: false,
            conditions: String::new(),
            project: String::new(),
            before,
            values: Vec::new(),
        };
        select.project = select.bind(project.to_owned());
        select.conditions = format!("l.project = {}", select.project);
        select
    }

    /// Restricts to jobs whose numbers are in `set`.
    pub(crate) fn within(&mut self, set: &Set) {
        let Set { number, parts } = set;
        if self.has_set || self.scan_by == ScanBy::Index {
            let own = self.dialect.unindexed(self.number);
            let parts = parts.iter().map(|part| format!("{own} IN ({})", part.numbers(number)));
            self.and(&format!("({})", parts.collect::<Vec<_>>().join(" OR ")));
        } else if self.scan_by == ScanBy::WholeSet {
            let parts: Vec<_> = parts.iter().map(|part| part.numbers(number)).collect();
            let from = format!(
                "(WITH found AS MATERIALIZED ({}) SELECT number FROM found) s CROSS JOIN listed_jobs l",
                parts.join(" UNION ")
            );
            self.sources = vec![Source { from, condition: "l.number = s.number".to_owned() }];
            self.number = "s.number";
        } else {
            self.sources =
                parts.iter().enumerate().map(|(at, part)| Source::of(part, &parts[..at], number)).collect();
            self.number = number;
        }
        self.has_set = true;
    }

    /// Whether the jobs are already restricted by a set.
    pub(crate) fn has_set(&self) -> bool {
        self.has_set
    }

    /// The expression for a job's number.
    pub(crate) fn number(&self) -> &'static str {
        self.number
    }

    /// The same, for a condition that should not influence which index the planner scans.
    pub(crate) fn unindexed_number(&self) -> String {
        self.dialect.unindexed(self.number)
    }

    /// The placeholder of the project.
    pub(crate) fn project(&self) -> &str {
        &self.project
    }

    pub(crate) fn and(&mut self, condition: &str) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
    }

    /// Binds a text and returns its placeholder.
    pub(crate) fn bind(&mut self, text: impl Into<String>) -> String {
        self.placeholder(Value::Text(comparable(&text.into())))
    }

    /// Binds a number and returns its placeholder.
    pub(crate) fn bind_number(&mut self, number: i64) -> String {
        self.placeholder(Value::Number(number))
    }

    /// The statement that selects `columns`, which aggregate the columns `of` of the jobs `l`.
    pub(crate) fn aggregate(self, columns: &str, of: &str) -> Statement {
        let sql = match &self.sources[..] {
            [source] => self.selected(source, columns),
            sources => {
                let parts: Vec<_> = sources.iter().map(|source| self.selected(source, of)).collect();
                format!("SELECT {columns} FROM ({}) l", parts.join(" UNION ALL "))
            }
        };
        Statement { sql, values: self.values }
    }

    /// The statement that selects `columns` of at most `most` jobs after the first `offset`. `order` gets the expression for a job's number. With
    /// several sources it may use only that expression, and `columns` must name it `number`.
    pub(crate) fn page(
        self,
        columns: &str,
        order: impl Fn(&str) -> String,
        most: usize,
        offset: u64,
    ) -> Statement {
        let by = order(self.number);
        let sql = match &self.sources[..] {
            [source] => {
                format!("{} ORDER BY {by} LIMIT {most} OFFSET {offset}", self.selected(source, columns))
            }
            sources => {
                let first = most as u64 + offset;
                let parts = sources.iter().map(|source| {
                    let part = self.selected(source, columns);
                    format!("SELECT * FROM ({part} ORDER BY {by} LIMIT {first}) part")
                });
                let parts: Vec<_> = parts.collect();
                format!(
                    "{} ORDER BY {} LIMIT {most} OFFSET {offset}",
                    parts.join(" UNION ALL "),
                    order("number")
                )
            }
        };
        Statement { sql, values: self.values }
    }

    fn selected(&self, source: &Source, columns: &str) -> String {
        let Source { from, condition } = source;
        format!("SELECT {columns} FROM {from} WHERE {condition} AND {}", self.conditions)
    }

    fn placeholder(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.before + self.values.len())
    }
}

impl Source {
    /// Scans a part of a set, without the numbers in the parts `before`. The query planner keeps the order of tables in a cross join.
    fn of(part: &Part, before: &[Part], number: &str) -> Self {
        let found_before =
            before.iter().map(|other| format!(" AND {number} NOT IN ({})", other.numbers(number)));
        Self {
            from: format!("{} s CROSS JOIN listed_jobs l", part.table),
            condition: format!(
                "l.number = {number} AND {}{}",
                part.condition,
                found_before.collect::<String>()
            ),
        }
    }
}

impl Statement {
    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    /// The number of values.
    pub(crate) fn values(&self) -> usize {
        self.values.len()
    }

    /// A statement with these values.
    pub(crate) fn of(sql: String, texts: impl IntoIterator<Item = String>) -> Self {
        let text = |text: String| Value::Text(comparable(&text));
        Self { sql, values: texts.into_iter().map(text).collect() }
    }

    /// A statement that contains `parts`, with their values in this order.
    pub(crate) fn around(sql: String, parts: impl IntoIterator<Item = Self>) -> Self {
        Self { sql, values: parts.into_iter().flat_map(|part| part.values).collect() }
    }

    pub(crate) fn query(self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql));
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Number(number) => query.bind(number),
        })
    }

    pub(crate) fn sqlite_query(self) -> Query<'static, Sqlite, SqliteArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql));
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Number(number) => query.bind(number),
        })
    }

    /// The statement that returns the query plan.
    #[cfg(test)]
    pub(crate) fn explained(self) -> Self {
        Self { sql: format!("EXPLAIN QUERY PLAN {}", self.sql), ..self }
    }
}

/// `count` placeholders from `$first` on, for a list in parentheses. An empty list is invalid SQL, so it becomes NULL, which equals nothing.
pub(crate) fn sql_placeholders(first: usize, count: usize) -> String {
    if count == 0 {
        return "NULL".to_owned();
    }
    (first..first + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

/// Binds the ids of `projects`, for a list of [`sql_placeholders`].
pub(crate) fn bind_projects<'q>(
    query: Query<'q, Any, AnyArguments>,
    projects: &'q [Project],
) -> Query<'q, Any, AnyArguments> {
    projects.iter().fold(query, |query, project| query.bind(project.id.as_str()))
}

/// String literals, for a list in parentheses. An empty list becomes NULL, as in [`sql_placeholders`]. The names must contain no quotation marks.
pub(crate) fn sql_list(names: impl IntoIterator<Item = &'static str>) -> String {
    let literals: Vec<_> = names.into_iter().map(|name| format!("'{name}'")).collect();
    if literals.is_empty() { "NULL".to_owned() } else { literals.join(", ") }
}

/// Escapes `text` for a LIKE pattern with `ESCAPE '!'`.
pub(crate) fn escape_like(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
