//! `cargo xtask fuzz`: simulates mutated models and looks for anything but an orderly end.
//!
//! In: the models of the tests and of the shipped library. Each case takes one of them, changes a few tokens of it (deleted, doubled,
//! exchanged, taken from another model, replaced by extreme numbers) and is simulated by a process of its own with bounded time and
//! memory. Out: the cases that ended by a signal, with an internal error, with an unknown exit code, or not at all, as files below
//! `target/fuzz`. The seed decides about all cases.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

#[derive(clap::Args)]
pub struct Options {
    /// The program.
    #[arg(long, default_value = "target/release/saltus")]
    saltus: PathBuf,
    /// How long to go on.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds after which a case is asked to end; after twice the time it counts as endless.
    #[arg(long, default_value_t = 60)]
    patience: u64,
}

/// Kilobytes of address space that a case may take.
const MEMORY: u64 = 4_000_000;
/// Texts longer than this take too long for what they find.
const LONGEST: usize = 20_000;
/// Changes of one model at most.
const MOST_CHANGES: usize = 3;
/// What stands in for numbers, names and operators.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "1e-308",
    "9223372036854775807",
    "-9223372036854775808",
    "2147483648",
    "1e400",
    "0/0",
    "(1/0)",
    "time",
    "der(x)",
    "pre(x)",
    "sample(0, 1e-9)",
    "{}",
    "{1, 2}",
    "zeros(0)",
    "fill(1, 1000000)",
    "1:0",
    "true",
    "\"\"",
    "end",
    "if",
    "then",
    "each",
    "fixed = true",
    "reinit(x, 0)",
    "delay(x, 1)",
    "initial()",
    "terminal()",
    "noEvent(x)",
    "sqrt(-1)",
    "log(0)",
    "x",
    "[1, 2; 3, 4]",
    ":",
];

pub fn run(root: &Path, options: &Options) -> Result<()> {
    let models = models(root)?;
    let directory = root.join("target/fuzz");
    std::fs::create_dir_all(&directory)?;
    let program = root.join(&options.saltus);
    let mut random = Random(options.seed.wrapping_mul(2).wrapping_add(1));
    let started = Instant::now();
    let (mut n_cases, mut ends, mut findings) = (0u64, [0u64; 4], Vec::new());
    while started.elapsed() < Duration::from_secs(options.seconds) {
        let text = mutated(&models, &mut random);
        let case = directory.join("case.mo");
        std::fs::write(&case, &text)?;
        n_cases += 1;
        match simulate(&program, &directory, Duration::from_secs(options.patience))? {
            End::Orderly(code) => ends[code] += 1,
            End::Bad(why) => {
                let kept = directory.join(format!("finding-{}-{n_cases}.mo", options.seed));
                std::fs::write(&kept, &text)?;
                println!("{}: {why}", kept.display());
                findings.push(kept);
            }
        }
    }
    println!(
        "{n_cases} cases: {} simulated, {} refused, {} wrong usage, {} failed",
        ends[0], ends[1], ends[2], ends[3]
    );
    if !findings.is_empty() {
        bail!("{} cases did not end in order", findings.len());
    }
    Ok(())
}

enum End {
    /// With one of the exit codes of the program.
    Orderly(usize),
    Bad(String),
}

fn simulate(program: &Path, directory: &Path, patience: Duration) -> Result<End> {
    let script = format!("ulimit -v {MEMORY}; exec \"$0\" simulate case.mo --stop-time 2 --intervals 20 -o case.csv");
    let said = directory.join("said.txt");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .arg(program)
        .current_dir(directory)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&said)?)
        .spawn()
        .context("cannot run the program")?;
    let started = Instant::now();
    let mut is_asked = false;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if started.elapsed() > 2 * patience => {
                child.kill()?;
                child.wait()?;
                return Ok(End::Bad(format!("no end after {} s", 2 * patience.as_secs())));
            }
            // A mechanism with a force of 1e19 N takes its time; it must end when it is asked to.
            None if started.elapsed() > patience && !is_asked => {
                is_asked = true;
                Command::new("kill").arg(child.id().to_string()).status()?;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let said = String::from_utf8_lossy(&std::fs::read(&said)?).into_owned();
    let internal = said.lines().find(|line| line.contains("E9999"));
    Ok(match (internal, status.code()) {
        (Some(line), _) => End::Bad(line.to_owned()),
        (None, Some(code @ 0..=3)) => End::Orderly(code as usize),
        _ => End::Bad(format!("{status}: {}", said.lines().next().unwrap_or_default())),
    })
}

/// The texts of all models, as tokens.
fn models(root: &Path) -> Result<Vec<Vec<String>>> {
    let mut paths = Vec::new();
    for place in ["testdata/simulate", "testdata/explain", "library/Saltus/Examples"] {
        collect(&root.join(place), &mut paths)?;
    }
    paths.sort();
    let mut models = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        // A class that is alone has no package around it.
        let alone: Vec<&str> = text.lines().filter(|line| !line.starts_with("within ")).collect();
        if text.len() <= LONGEST && path.file_name().is_none_or(|name| name != "package.mo") {
            models.push(tokens(&alone.join("\n")));
        }
    }
    if models.is_empty() {
        bail!("there are no models to begin with");
    }
    Ok(models)
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "mo") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Words, numbers, texts in quotes and single signs; blanks stay with what is before them, comments to the end of a line are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_word = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        for c in line.chars().chain(['\n']) {
            let goes_on = c.is_whitespace() || is_word && (c.is_alphanumeric() || c == '_');
            match tokens.last_mut() {
                Some(last) if goes_on => last.push(c),
                _ => tokens.push(c.to_string()),
            }
            is_word = c.is_alphanumeric() || c == '_';
        }
    }
    tokens
}

fn mutated(models: &[Vec<String>], random: &mut Random) -> String {
    let mut tokens = models[random.below(models.len())].clone();
    for _ in 0..1 + random.below(MOST_CHANGES) {
        if tokens.is_empty() {
            break;
        }
        let (at, other) = (random.below(tokens.len()), random.below(tokens.len()));
        match random.below(10) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other].clone()),
            2 => tokens.swap(at, other),
            3 => tokens[at] = format!("{} ", EXTREMES[random.below(EXTREMES.len())]),
            4 => {
                // A stretch of another model.
                let donor = &models[random.below(models.len())];
                let from = random.below(donor.len().max(1)).min(donor.len());
                let to = (from + 1 + random.below(12)).min(donor.len());
                tokens.splice(at..at, donor[from..to].iter().cloned());
            }
            5 => {
                // A stretch of the model twice.
                let to = (at + 1 + random.below(30)).min(tokens.len());
                let stretch: Vec<String> = tokens[at..to].to_vec();
                tokens.splice(other..other, stretch);
            }
            // Numbers and names among themselves leave more models that can be simulated.
            6 | 7 => replace_a_number(&mut tokens, random),
            8 => exchange_names(&mut tokens, at),
            _ => drop(tokens.drain(at..(at + 1 + random.below(8)).min(tokens.len()))),
        }
    }
    tokens.concat()
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic())
}

/// Another number for one of those of the model.
fn replace_a_number(tokens: &mut [String], random: &mut Random) {
    let places: Vec<usize> = (0..tokens.len()).filter(|&i| is_number(&tokens[i])).collect();
    if !places.is_empty() {
        tokens[places[random.below(places.len())]] = format!("{} ", EXTREMES[random.below(9)]);
    }
}

/// Exchanges the first name from `at` on with the one behind it.
fn exchange_names(tokens: &mut [String], at: usize) {
    let mut names = (at..tokens.len()).filter(|&i| is_name(&tokens[i]));
    if let (Some(first), Some(second)) = (names.next(), names.next()) {
        tokens.swap(first, second);
    }
}

/// xorshift64*, which is good enough to choose places.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_put_together_are_the_text() {
        assert_eq!(tokens("x = 1.5e3 * y; // note\nend M;").concat(), "x = 1.5e3 * y; \nend M;\n");
    }

    #[test]
    fn the_seed_decides_about_the_cases() {
        let models = [tokens("model M Real x = 1; end M;"), tokens("model N Real y = 2; end N;")];
        let cases = |seed| {
            let mut random = Random(seed);
            (0..20).map(|_| mutated(&models, &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(cases(3), cases(3));
        assert_ne!(cases(3), cases(5));
    }
}
