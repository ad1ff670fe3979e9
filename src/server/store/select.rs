//! Builds statements over the listed jobs from conditions. Values are bound, never written into the SQL.
//!
//! Every plan scans one thing and checks the rest for each row. What is scanned is the index with the requested order
//! and every filtered column or, where the order is by number, the first set of numbers (the words of a search, a
//! label).

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Any, AssertSqlSafe, Sqlite};

use super::dialect::Dialect;

/// A text to look for. No text in the database has a zero byte, and PostgreSQL refuses to compare with one.
pub(super) fn comparable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The source of listed jobs (as `l`), and the conditions on them.
pub(super) struct Select {
    dialect: Dialect,
    source: String,
    number: &'static str,
    scan_by: ScanBy,
    has_set: bool,
    conditions: String,
    project: String,
    /// How many values stand before these in the statement that this is a part of.
    before: usize,
    values: Vec<Value>,
}

/// What the statement scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanBy {
    /// The index with the requested order.
    Index,
    /// The first set of numbers, if there is one.
    Set,
    /// The same, but all of it is found before anything is looked up or put in order.
    WholeSet,
}

/// A set of job numbers: a column of those rows of `table`, aliased `s`, that match `condition`.
pub(super) struct Set {
    pub table: &'static str,
    pub number: &'static str,
    pub condition: String,
}

/// A statement with its values.
pub(super) struct Statement {
    sql: String,
    values: Vec<Value>,
}

enum Value {
    Text(String),
    Number(i64),
}

impl Select {
    /// All listed jobs of `project`. `before` is how many values the statement has that this one will be a part of.
    pub(super) fn of(dialect: Dialect, project: &str, scan_by: ScanBy, before: usize) -> Self {
        let mut select = Self {
            dialect,
            source: "listed_jobs l".to_owned(),
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
    pub(super) fn within(&mut self, set: &Set) {
        let Set { table, number, condition } = set;
        if self.has_set || self.scan_by == ScanBy::Index {
            let own = self.dialect.unindexed(self.number);
            self.and(&format!("{own} IN (SELECT {number} FROM {table} s WHERE {condition})"));
        } else if self.scan_by == ScanBy::WholeSet {
            let found = format!("SELECT {number} AS number FROM {table} s WHERE {condition}");
            self.source = format!(
                "(WITH found AS MATERIALIZED ({found}) SELECT number FROM found) s CROSS JOIN listed_jobs l"
            );
            self.number = "s.number";
            self.and("l.number = s.number");
        } else {
            // The query planner keeps the order of tables in a cross join.
            self.source = format!("{table} s CROSS JOIN listed_jobs l");
            self.number = number;
            self.and(&format!("l.number = {number} AND {condition}"));
        }
        self.has_set = true;
    }

    /// Whether the jobs are already restricted by a set.
    pub(super) fn has_set(&self) -> bool {
        self.has_set
    }

    /// The expression for a job's number.
    pub(super) fn number(&self) -> &'static str {
        self.number
    }

    /// The same, for a condition by which the planner should not choose what to scan.
    pub(super) fn unindexed_number(&self) -> String {
        self.dialect.unindexed(self.number)
    }

    /// The placeholder of the project.
    pub(super) fn project(&self) -> &str {
        &self.project
    }

    pub(super) fn and(&mut self, condition: &str) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
    }

    /// Binds a text and returns its placeholder.
    pub(super) fn bind(&mut self, text: impl Into<String>) -> String {
        self.placeholder(Value::Text(comparable(&text.into())))
    }

    /// Binds a number and returns its placeholder.
    pub(super) fn bind_number(&mut self, number: i64) -> String {
        self.placeholder(Value::Number(number))
    }

    /// The statement that selects `columns`, with `tail` for order, groups and limits.
    pub(super) fn statement(self, columns: &str, tail: &str) -> Statement {
        let sql = format!("SELECT {columns} FROM {} WHERE {} {tail}", self.source, self.conditions);
        Statement { sql, values: self.values }
    }

    fn placeholder(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.before + self.values.len())
    }
}

impl Statement {
    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    /// How many values it has.
    pub(super) fn values(&self) -> usize {
        self.values.len()
    }

    /// A statement that `parts` stand in, with their values in this order.
    pub(super) fn around(sql: String, parts: impl IntoIterator<Item = Self>) -> Self {
        Self { sql, values: parts.into_iter().flat_map(|part| part.values).collect() }
    }

    pub(super) fn query(self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql));
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Number(number) => query.bind(number),
        })
    }

    pub(super) fn sqlite_query(self) -> Query<'static, Sqlite, SqliteArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql));
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Number(number) => query.bind(number),
        })
    }

    /// The statement that returns the query plan.
    #[cfg(test)]
    pub(super) fn explained(self) -> Self {
        Self { sql: format!("EXPLAIN QUERY PLAN {}", self.sql), ..self }
    }
}

/// `count` placeholders from `$first` on, for a list in parentheses. An empty list is no valid SQL; NULL equals
/// nothing.
pub(super) fn sql_placeholders(first: usize, count: usize) -> String {
    if count == 0 {
        return "NULL".to_owned();
    }
    (first..first + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

/// Escapes `text` for a LIKE pattern with `ESCAPE '!'`.
pub(super) fn escape_like(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
