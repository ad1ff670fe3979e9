//! A strict parser for the text format of Prometheus, version 0.0.4.

use std::collections::{BTreeMap, BTreeSet};

pub(super) type Labels = BTreeMap<String, String>;

#[derive(Debug)]
pub(super) struct Exposition {
    /// The type of each family.
    pub(super) families: BTreeMap<String, String>,
    pub(super) samples: Vec<Sample>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: Labels,
    pub(super) value: f64,
}

impl Exposition {
    /// The only value of `name` with these labels and perhaps others.
    pub(super) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let fits = |sample: &&Sample| {
            sample.name == name
                && labels.iter().all(|(label, value)| sample.labels.get(*label).is_some_and(|v| v == value))
        };
        let found: Vec<&Sample> = self.samples.iter().filter(fits).collect();
        let [sample] = found[..] else { panic!("{name} {labels:?}: {found:?}") };
        sample.value
    }

    /// Each series without its value.
    pub(super) fn series(&self) -> BTreeSet<(String, Labels)> {
        self.samples.iter().map(|sample| (sample.name.clone(), sample.labels.clone())).collect()
    }
}

/// Parses a text, or returns its first error.
pub(super) fn read(text: &str) -> Result<Exposition, String> {
    let text = text.strip_suffix('\n').ok_or("the last line does not end")?;
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    let (mut samples, mut series): (Vec<Sample>, BTreeSet<(String, Labels)>) = Default::default();
    let (mut helped, mut family) = (None, String::new());
    for line in text.split('\n') {
        let fault = |what: &str| Err(format!("{what}: {line}"));
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let Some((name, help)) = rest.split_once(' ') else { return fault("no help") };
            if help.trim().is_empty() || helped.is_some() {
                return fault("a help that is empty or not followed by a type");
            }
            helped = Some(name.to_owned());
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let Some((name, kind)) = rest.split_once(' ') else { return fault("no type") };
            if helped.take().as_deref() != Some(name) {
                return fault("a type without the help of the same name before it");
            }
            if !is_name(name) || !["counter", "gauge", "histogram"].contains(&kind) {
                return fault("no name or no type");
            }
            if (kind == "counter") != name.ends_with("_total") {
                return fault("_total is for counters, and counters have it");
            }
            if families.insert(name.to_owned(), kind.to_owned()).is_some() {
                return fault("a family twice");
            }
            family = name.to_owned();
        } else {
            let sample = sample(line).ok_or_else(|| format!("no sample: {line}"))?;
            let suffixes: &[&str] = match families.get(&family).map(String::as_str) {
                Some("histogram") => &["_bucket", "_sum", "_count"],
                Some(_) => &[""],
                None => return fault("a sample without a family"),
            };
            if !suffixes.iter().any(|suffix| sample.name == format!("{family}{suffix}")) {
                return fault("a sample of another family");
            }
            if sample.name.ends_with("_bucket") != sample.labels.contains_key("le") {
                return fault("le is for buckets");
            }
            if !series.insert((sample.name.clone(), sample.labels.clone())) {
                return fault("a series twice");
            }
            samples.push(sample);
        }
    }
    let exposition = Exposition { families, samples };
    histograms(&exposition)?;
    Ok(exposition)
}

/// Buckets are cumulative and in order, and the last is the count.
fn histograms(exposition: &Exposition) -> Result<(), String> {
    let of_kind = exposition.families.iter().filter(|(_, kind)| *kind == "histogram");
    for (family, _) in of_kind {
        let part = |suffix: &str, labels: &Labels| {
            let name = format!("{family}{suffix}");
            exposition.samples.iter().find(|sample| sample.name == name && sample.labels == *labels)
        };
        let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        for sample in exposition.samples.iter().filter(|sample| sample.name == format!("{family}_bucket")) {
            let mut labels = sample.labels.clone();
            let bound = labels.remove("le").as_deref().and_then(number).ok_or("no bound")?;
            buckets.entry(labels).or_default().push((bound, sample.value));
        }
        for (labels, buckets) in buckets {
            let in_order = buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
            let last = buckets.last().filter(|(bound, _)| *bound == f64::INFINITY).map(|(_, count)| *count);
            let count = part("_count", &labels).map(|sample| sample.value);
            if !in_order || last.is_none() || last != count || part("_sum", &labels).is_none() {
                return Err(format!("{family} {labels:?}: {buckets:?}"));
            }
        }
    }
    Ok(())
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(end);
    let (labels, value) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Labels::new(), rest),
    };
    let value = number(value.strip_prefix(' ')?)?;
    (is_name(name)).then(|| Sample { name: name.to_owned(), labels, value })
}

/// The labels up to the closing brace, and the text after it.
fn labels(mut rest: &str) -> Option<(Labels, &str)> {
    let mut labels = Labels::new();
    loop {
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next()? {
                (at, '"') => break at,
                (_, '\\') => value.push(match letters.next()?.1 {
                    'n' => '\n',
                    letter @ ('\\' | '"') => letter,
                    _ => return None,
                }),
                (_, letter) => value.push(letter),
            }
        };
        if !is_name(name) || name.contains(':') || labels.insert(name.to_owned(), value).is_some() {
            return None;
        }
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Some((labels, rest.strip_prefix('}')?)),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    match text {
        "+Inf" => Some(f64::INFINITY),
        "NaN" => Some(f64::NAN),
        text => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

fn is_name(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    text.starts_with(|letter: char| letter.is_ascii_lowercase()) && text.chars().all(fits)
}

#[test]
fn invalid_exposition_is_refused() {
    let good = "# HELP a_total A.\n# TYPE a_total counter\na_total{x=\"1\\\"\"} 2\n# HELP h H.\n# TYPE h histogram\n\
                h_sum 1.5\nh_count 2\nh_bucket{le=\"1.0\"} 1\nh_bucket{le=\"+Inf\"} 2\n";
    assert!(read(good).is_ok(), "{:?}", read(good));
    for (from, to) in [
        ("# HELP a_total A.\n", ""),
        ("# TYPE a_total counter\n", ""),
        ("a_total{x", "b_total{x"),
        ("a_total counter", "a_total gauge"),
        ("} 2\n#", "} two\n#"),
        ("} 2\n#", "}  2\n#"),
        ("\\\"", "\""),
        ("h_count 2", "h_count 3"),
        ("\"1.0\"} 1", "\"1.0\"} 3"),
        ("+Inf", "7"),
        ("h_sum 1.5\n", ""),
        ("h_sum 1.5\n", "h_sum 1.5\nh_sum 1.5\n"),
        ("\"+Inf\"} 2\n", "\"+Inf\"} 2\n# EOF\n"),
        ("\"+Inf\"} 2\n", "\"+Inf\"} 2"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert!(bad != good && read(&bad).is_err(), "{from} {to}");
    }
}
