//! The collector of traces, from the standard variables of OpenTelemetry. The SDK reads most of them (headers, sampler,
//! batches, service name). Values that it would ignore are refused here.

use std::time::Duration;

use url::Url;

use super::error::ConfigError;

/// The collector's URL if only the exporter was chosen.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";

const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

#[derive(Debug)]
pub struct TracesConfig {
    /// The URL of the collector, with its path.
    pub endpoint: Url,
    /// The timeout of one request to the collector.
    pub timeout: Duration,
    /// The maximum number of finished spans in the queue.
    pub queue: usize,
}

impl TracesConfig {
    /// `None`: no traces. `variable` looks up a variable of the environment.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, ConfigError> {
        let set = |name: &str| {
            variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        // The variable for traces takes precedence over the general one.
        let of_traces = |name: &'static str, traces: &'static str| {
            set(traces).map(|value| (traces, value)).or_else(|| set(name).map(|value| (name, value)))
        };
        if set("OTEL_SDK_DISABLED").is_some_and(|disabled| disabled.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let named = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let base = set("OTEL_EXPORTER_OTLP_ENDPOINT");
        match set("OTEL_TRACES_EXPORTER").as_deref() {
            Some("none") => return Ok(None),
            Some("otlp") => {}
            Some(other) => return Err(wrong("OTEL_TRACES_EXPORTER", other, "neither otlp nor none", "otlp")),
            None if named.is_none() && base.is_none() => return Ok(None),
            None => {}
        }
        let endpoint = match named {
            Some(address) => endpoint("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &address, "")?,
            None => {
                let base = base.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned());
                endpoint("OTEL_EXPORTER_OTLP_ENDPOINT", &base, "/v1/traces")?
            }
        };
        let protocol = of_traces("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
        if let Some((name, value)) = protocol.filter(|(_, value)| value != "http/protobuf") {
            return Err(wrong(
                name,
                &value,
                "not what Docket speaks, which is http/protobuf",
                "http/protobuf",
            ));
        }
        let packed = of_traces("OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION");
        if let Some((name, value)) = packed.filter(|(_, value)| !["gzip", "none"].contains(&value.as_str())) {
            return Err(wrong(name, &value, "neither gzip nor none", "gzip"));
        }
        if let Some(sampler) = set("OTEL_TRACES_SAMPLER") {
            check_sampler(&sampler, set("OTEL_TRACES_SAMPLER_ARG").as_deref())?;
        }
        let timeout = of_traces("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT");
        let timeout = timeout.map(|(name, value)| number(name, &value, 1..=60_000)).transpose()?;
        let queue = set("OTEL_BSP_MAX_QUEUE_SIZE");
        let queue =
            queue.map(|value| number("OTEL_BSP_MAX_QUEUE_SIZE", &value, 1..=1_000_000)).transpose()?;
        Ok(Some(Self {
            endpoint,
            timeout: Duration::from_millis(timeout.unwrap_or(10_000)),
            queue: usize::try_from(queue.unwrap_or(2_048)).unwrap_or(usize::MAX),
        }))
    }
}

fn endpoint(name: &str, address: &str, path: &str) -> Result<Url, ConfigError> {
    let example = if path.is_empty() { "http://127.0.0.1:4318/v1/traces" } else { "http://127.0.0.1:4318" };
    let url =
        Url::parse(&format!("{}{path}", address.trim_end_matches(if path.is_empty() { '\0' } else { '/' })));
    match url {
        Ok(url) if !["http", "https"].contains(&url.scheme()) || url.host().is_none() => {
            Err(wrong(name, address, "not an http or https address", example))
        }
        Ok(url) if !url.username().is_empty() || url.password().is_some() => Err(ConfigError(format!(
            "{name} is wrong: it contains credentials, which belong into OTEL_EXPORTER_OTLP_HEADERS. An example: {example}"
        ))),
        Ok(url) => Ok(url),
        Err(error) => Err(wrong(name, address, &format!("not an address ({error})"), example)),
    }
}

fn check_sampler(sampler: &str, argument: Option<&str>) -> Result<(), ConfigError> {
    if !SAMPLERS.contains(&sampler) {
        let all = SAMPLERS.join(", ");
        return Err(wrong(
            "OTEL_TRACES_SAMPLER",
            sampler,
            &format!("none of {all}"),
            "parentbased_traceidratio",
        ));
    }
    let needs_ratio = sampler.ends_with("traceidratio");
    let ratio = argument.and_then(|argument| argument.parse::<f64>().ok());
    if needs_ratio && !ratio.is_some_and(|ratio| (0.0..=1.0).contains(&ratio)) {
        let argument = argument.unwrap_or_default();
        return Err(wrong("OTEL_TRACES_SAMPLER_ARG", argument, "not a number from 0 to 1", "0.1"));
    }
    Ok(())
}

fn number(name: &str, value: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, ConfigError> {
    let (least, most) = (range.start(), range.end());
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| wrong(name, value, &format!("not a whole number from {least} to {most}"), "5000"))
}

fn wrong(name: &str, value: &str, why: &str, example: &str) -> ConfigError {
    ConfigError(format!("{name} is wrong: “{value}” is {why}. An example: {example}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<Option<TracesConfig>, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        TracesConfig::from_environment(variable).map_err(|error| error.0)
    }

    #[test]
    fn only_an_endpoint_enables_traces() {
        let endpoint =
            |variables: &[(&str, &str)]| config(variables).unwrap().map(|config| config.endpoint.to_string());
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");
        assert_eq!(endpoint(&[]), None);
        assert_eq!(endpoint(&[("OTEL_SERVICE_NAME", "x"), ("OTEL_TRACES_SAMPLER", "always_on")]), None);
        assert_eq!(endpoint(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), None);
        assert_eq!(endpoint(&[base]).unwrap(), "http://collector:4318/v1/traces");
        assert_eq!(
            endpoint(&[base, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t.example/x/")]).unwrap(),
            "https://t.example/x/"
        );
        assert_eq!(endpoint(&[("OTEL_TRACES_EXPORTER", "otlp")]).unwrap(), "http://localhost:4318/v1/traces");
        assert_eq!(endpoint(&[base, ("OTEL_TRACES_EXPORTER", "none")]), None);
        assert_eq!(endpoint(&[base, ("OTEL_SDK_DISABLED", "True")]), None);
        assert!(endpoint(&[base, ("OTEL_SDK_DISABLED", "false")]).is_some());
    }

    #[test]
    fn ignored_settings_are_refused_by_name() {
        for (name, value, word) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "http or https"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "nothing", "address"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a:b@collector/", "OTEL_EXPORTER_OTLP_HEADERS"),
            ("OTEL_TRACES_EXPORTER", "jaeger", "otlp"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "whole number"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "whole number"),
            ("OTEL_TRACES_SAMPLER", "sometimes", "parentbased_traceidratio"),
        ] {
            let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:1");
            // The first value of a name counts.
            let error = config(&[(name, value), base]).unwrap_err();
            assert!(error.starts_with(name) && error.contains(word), "{error}");
            assert!(!error.contains("a:b"), "{error}");
        }
        let sampled = |argument: &'static str| {
            config(&[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:1"),
                ("OTEL_TRACES_SAMPLER", "traceidratio"),
                ("OTEL_TRACES_SAMPLER_ARG", argument),
            ])
        };
        assert!(sampled("0.25").is_ok());
        for bad in ["", "2", "-1", "half", "NaN"] {
            assert!(sampled(bad).unwrap_err().starts_with("OTEL_TRACES_SAMPLER_ARG"), "{bad}");
        }
    }
}
