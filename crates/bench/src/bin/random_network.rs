//! Prints a random network as a scenario file, for `python3 -m bench networks`.

use strandcast_testing::lab::generator;

const USAGE: &str = "usage: random_network SEED TIME_S WARMUP_S NUMBER";

fn network(words: &[String]) -> Option<String> {
    let [seed, time_s, warmup_s, number] = words else { return None };
    let (seed, number) = (seed.parse().ok()?, number.parse().ok()?);
    Some(generator::network(seed, number, time_s.parse().ok()?, warmup_s.parse().ok()?))
}

fn main() -> Result<(), &'static str> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    print!("{}", network(&words).ok_or(USAGE)?);
    Ok(())
}
