//! Figures of this process from Linux, under the standard names of Prometheus.

use std::fs;
use std::io::{Error, ErrorKind};
use std::sync::OnceLock;

use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use time::OffsetDateTime;

pub(super) struct Figures {
    pub(super) cpu_seconds: f64,
    pub(super) resident_bytes: f64,
    pub(super) virtual_bytes: f64,
    pub(super) open_files: f64,
    pub(super) most_open_files: f64,
    /// In Unix time.
    pub(super) began_at: f64,
}

/// Positions of fields in `/proc/self/stat`, counted after the command's name, which may contain any character.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;
const BEGAN_TICKS: usize = 19;
const VIRTUAL_BYTES: usize = 20;
const RESIDENT_PAGES: usize = 21;

pub(super) fn figures() -> Result<Figures, Error> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or_else(|| unexpected("/proc/self/stat"))?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let field = |at: usize| {
        let number = fields.get(at).and_then(|field| field.parse::<f64>().ok());
        number.ok_or_else(|| unexpected("/proc/self/stat"))
    };
    let ticks = clock_ticks_per_second() as f64;
    Ok(Figures {
        cpu_seconds: (field(USER_TICKS)? + field(SYSTEM_TICKS)?) / ticks,
        resident_bytes: field(RESIDENT_PAGES)? * page_size() as f64,
        virtual_bytes: field(VIRTUAL_BYTES)?,
        // Without the descriptor that reads the folder.
        open_files: fs::read_dir("/proc/self/fd")?.count().saturating_sub(1) as f64,
        most_open_files: getrlimit(Resource::Nofile).current.map_or(f64::INFINITY, |most| most as f64),
        began_at: began_at(field(BEGAN_TICKS)? / ticks),
    })
}

/// The start of the process in Unix time, from the seconds since the start of the machine. A service may be forbidden
/// to read the boot time. Constant, regardless of later clock changes.
fn began_at(after_boot: f64) -> f64 {
    static BEGAN_AT: OnceLock<f64> = OnceLock::new();
    *BEGAN_AT.get_or_init(|| {
        let up = clock_gettime(ClockId::Boottime);
        let up = up.tv_sec as f64 + up.tv_nsec as f64 / 1e9;
        OffsetDateTime::now_utc().unix_timestamp_nanos() as f64 / 1e9 - (up - after_boot)
    })
}

fn unexpected(file: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{file} has another form than expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_figures_are_plausible() {
        let figures = figures().expect("figures of this process");
        assert!(figures.resident_bytes > 1e6 && figures.resident_bytes <= figures.virtual_bytes);
        assert!(figures.open_files >= 3.0 && figures.open_files <= figures.most_open_files);
        let now = OffsetDateTime::now_utc().unix_timestamp() as f64;
        assert!(figures.began_at <= now + 2.0 && figures.began_at > now - 86_400.0, "{}", figures.began_at);
        assert!(figures.cpu_seconds >= 0.0);
    }
}
