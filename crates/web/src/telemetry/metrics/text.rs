//! The two text formats of Prometheus: OpenMetrics, which the library writes, and the older one, which all other tools
//! read. They differ in the names of counters' families and in the last line.

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    OpenMetrics,
    Plain,
}

impl Format {
    /// The format that a scraper requests with its header `Accept`.
    pub fn accepted(accept: Option<&str>) -> Self {
        match accept {
            Some(accept) if accept.contains("application/openmetrics-text") => Self::OpenMetrics,
            _ => Self::Plain,
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    pub(super) fn of(self, open_metrics: String) -> String {
        match self {
            Self::OpenMetrics => open_metrics,
            Self::Plain => plain(&open_metrics),
        }
    }
}

fn plain(open_metrics: &str) -> String {
    let mut written = String::with_capacity(open_metrics.len());
    let mut lines = open_metrics.lines().filter(|line| *line != "# EOF").peekable();
    while let Some(line) = lines.next() {
        let family = |line: &str, what: &str| {
            let (name, rest) = line.strip_prefix(what)?.split_once(' ')?;
            Some((name.to_owned(), rest.to_owned()))
        };
        // The line with the type follows.
        let of_counter =
            lines.peek().and_then(|next| family(next, "# TYPE ")).is_some_and(|(_, kind)| kind == "counter");
        match (family(line, "# HELP "), family(line, "# TYPE ")) {
            (Some((name, help)), _) if of_counter => written += &format!("# HELP {name}_total {help}\n"),
            (_, Some((name, kind))) if kind == "counter" => {
                written += &format!("# TYPE {name}_total {kind}\n")
            }
            _ => {
                written += line;
                written.push('\n');
            }
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str = "# HELP a A gauge.\n# TYPE a gauge\na 1\n# HELP b A counter.\n# TYPE b counter\nb_total{x=\"# EOF\"} 2\n\
                        # HELP c Seconds.\n# TYPE c histogram\nc_sum 1.0\n# EOF\n";

    #[test]
    fn older_format_names_counter_families_like_their_samples() {
        assert_eq!(Format::OpenMetrics.of(BOTH.to_owned()), BOTH);
        assert_eq!(
            Format::Plain.of(BOTH.to_owned()),
            "# HELP a A gauge.\n# TYPE a gauge\na 1\n# HELP b_total A counter.\n# TYPE b_total counter\nb_total{x=\"# EOF\"} 2\n\
             # HELP c Seconds.\n# TYPE c histogram\nc_sum 1.0\n"
        );
    }

    #[test]
    fn scraper_gets_the_requested_format() {
        let prometheus =
            "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert_eq!(Format::accepted(Some(prometheus)), Format::OpenMetrics);
        assert_eq!(Format::accepted(Some("*/*")), Format::Plain);
        assert_eq!(Format::accepted(None), Format::Plain);
    }
}
