//! Propagation, neighbours, placement, the unit-disk graph and movement.

use core::time::Duration;

use strandcast_proto::seeds::Seeds;
use strandcast_radio::placement::{Area, PlacementError, grid, parse_csv, random};
use strandcast_radio::{
    Graph, MediumConfig, Position, Propagation, Radio, RadioConfig, RadioOutput, StationId, check_density,
    mean_power, shadowing,
};
use strandcast_testing::radio::{Net, to};

fn close(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() < share
}

#[test]
fn powers_are_ns2s_at_its_thresholds_and_continuous_at_the_crossover() {
    let medium = MediumConfig::default();
    // ns-2's thresholds for 250 m and 550 m, watts.
    assert!(close(mean_power(&medium, 250.0), 3.652e-10, 1e-3));
    assert!(close(mean_power(&medium, 550.0), 1.559e-11, 1e-3));
    // 4π·1.5²·914e6/c = 86.2 m: Friis and two rays agree there.
    let crossover = 4.0 * core::f64::consts::PI * 2.25 * 914e6 / 299_792_458.0;
    assert!(close(crossover, 86.2, 1e-3));
    assert!(close(mean_power(&medium, crossover - 1e-6), mean_power(&medium, crossover + 1e-6), 1e-6));
    // Twice the distance gives a quarter of the power before the crossover, and a sixteenth after it.
    assert!(close(mean_power(&medium, 40.0), 4.0 * mean_power(&medium, 80.0), 1e-9));
    assert!(close(mean_power(&medium, 100.0), 16.0 * mean_power(&medium, 200.0), 1e-9));
}

#[test]
fn free_space_and_log_distance_follow_their_exponents() {
    let free = MediumConfig { propagation: Propagation::FreeSpace, ..MediumConfig::default() };
    assert!(close(mean_power(&free, 100.0), 100.0 * mean_power(&free, 1000.0), 1e-9));
    let log =
        MediumConfig { propagation: Propagation::LogDistance, exponent: 3.5, ..MediumConfig::default() };
    assert!(close(mean_power(&log, 1.0), mean_power(&free, 1.0), 1e-9));
    assert!(close(mean_power(&log, 10.0), libm::pow(10.0, 3.5) * mean_power(&log, 100.0), 1e-9));
}

#[test]
fn shadowing_is_normal_symmetric_and_a_property_of_the_pair() {
    let sigma = 6.0;
    let draws: Vec<f64> = (0..200u32).flat_map(|a| (0..a).map(move |b| shadowing(42, a, b, sigma))).collect();
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let deviation = libm::sqrt(draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n);
    // 19900 draws: the mean's standard error is 0.043 dB, the deviation's 0.030 dB.
    assert!(mean.abs() < 0.17 && (deviation - sigma).abs() < 0.12, "{mean} dB, {deviation} dB");
    let within = draws.iter().filter(|x| x.abs() < sigma).count() as f64 / n;
    assert!((within - 0.6827).abs() < 0.014, "{within} within one deviation");
    assert_eq!(shadowing(1, 3, 9, sigma), shadowing(1, 9, 3, sigma));
    assert_ne!(shadowing(1, 3, 9, sigma), shadowing(2, 3, 9, sigma));
}

/// A radio's graph of stations that decode each other.
fn radio_graph(config: &RadioConfig, places: &[Position]) -> Graph {
    let radio: Radio<u64> = Radio::new(config, places.to_vec(), &Seeds::new(3, 0), "radio");
    radio.graph()
}

#[test]
fn neighbours_found_by_cells_are_those_found_by_looking_at_all() {
    let mut draws = Seeds::new(5, 0).stream("positions");
    for (n, side) in [(1, 10.0), (2, 5000.0), (40, 1000.0), (300, 4000.0)] {
        let places = random(n, Area { width: side, height: side / 2.0 }, None, 1, &mut draws).expect("any");
        let graph = Graph::unit_disk(&places, 250.0);
        for (a, at) in places.iter().enumerate() {
            let all = (0..n as u32).filter(|&b| b as usize != a && at.distance(places[b as usize]) <= 250.0);
            assert_eq!(graph.neighbours(a), all.collect::<Vec<_>>());
        }
        assert_eq!(radio_graph(&RadioConfig::default(), &places), graph);
        // Shadowing changes the graph, which is still symmetric.
        let mut shadowed = RadioConfig::default();
        shadowed.medium.shadowing = 8.0;
        let other = radio_graph(&shadowed, &places);
        for a in 0..n {
            assert!(other.neighbours(a).iter().all(|&b| other.neighbours(b as usize).contains(&(a as u32))));
        }
        assert!(n < 40 || other != graph);
    }
}

#[test]
fn stations_exactly_in_range_receive() {
    let mut net = Net::new(&RadioConfig::default(), &[(0.0, 0.0), (250.0, 0.0), (0.0, 250.001)], 1);
    net.send(0, strandcast_radio::Destination::All, 100);
    net.run(0.1);
    assert_eq!(net.received, [0, 1, 0]);
}

#[test]
fn radios_too_dense_for_memory_are_refused() {
    let medium = MediumConfig::default();
    // All at one place: n (n - 1) neighbours in total, at most 50 million.
    let heap = |n: usize| check_density(&medium, &vec![Position::default(); n]);
    assert_eq!(heap(7071), Ok(()));
    let message = heap(7072).expect_err("50 006 112 neighbours").to_string();
    assert!(message.starts_with("7072 stations have more than 50000000 neighbours in total"), "{message}");
    // An equal number of stations, but spread out: at most 120 neighbours each within 550 m.
    assert_eq!(check_density(&medium, &grid(150, 150, 100.0)), Ok(()));
}

#[test]
fn a_grid_is_laid_row_by_row() {
    let at = |x, y| Position { x, y };
    assert_eq!(grid(2, 2, 200.0), [at(0.0, 0.0), at(200.0, 0.0), at(0.0, 200.0), at(200.0, 200.0)]);
    let graph = Graph::unit_disk(&grid(10, 10, 200.0), 250.0);
    assert!(graph.is_connected());
    // 180 edges; from corner to corner 9 + 9 hops.
    assert_eq!((graph.mean_degree(), graph.hops(0)[99]), (3.6, Some(18)));
}

#[test]
fn random_positions_are_drawn_until_they_are_connected() {
    let area = Area { width: 1000.0, height: 1000.0 };
    let draw = |seed| random(40, area, Some(250.0), 1000, &mut Seeds::new(seed, 0).stream("positions"));
    for seed in 0..20 {
        let places = draw(seed).expect("some draw is connected");
        assert!(Graph::unit_disk(&places, 250.0).is_connected());
        assert!(places.iter().all(|p| (0.0..1000.0).contains(&p.x) && (0.0..1000.0).contains(&p.y)));
    }
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let sparse =
        random(3, Area { width: 1e6, height: 1e6 }, Some(250.0), 5, &mut Seeds::new(1, 0).stream("p"));
    let message = sparse.expect_err("three stations in 1000 km").to_string();
    assert!(
        message.starts_with("3 stations in 1000000 m by 1000000 m were not connected at 250 m in any of 5")
    );
}

#[test]
fn lines_of_csv_are_positions() {
    let read = parse_csv("x,y\n# a comment\n0,0\n 12.5 , -3e2\n\n7,8\r\n").expect("three positions");
    let pairs: Vec<(f64, f64)> = read.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(pairs, [(0.0, 0.0), (12.5, -300.0), (7.0, 8.0)]);
    for (text, line) in
        [("1,2\nx,y", 2), ("1,2\n3", 2), ("1;2", 1), ("1,2,3", 1), ("1,nan", 1), ("\n\n1,inf", 3), ("1,", 1)]
    {
        match parse_csv(text) {
            Err(PlacementError::BadLine { line: found, .. }) => assert_eq!(found, line, "{text:?}"),
            other => panic!("{text:?}: {other:?}"),
        }
    }
    assert_eq!(parse_csv("x,y\n"), Err(PlacementError::Empty));
    assert_eq!(
        parse_csv("1,2\n3,four").expect_err("a word").to_string(),
        "line 2: \"3,four\" is not a position: x and y in metres, separated by a comma"
    );
}

fn walking(speed: (f64, f64), pause: u64) -> RadioConfig {
    let mut config = RadioConfig::default();
    (config.mobility.speed_min, config.mobility.speed_max) = speed;
    config.mobility.pause = Duration::from_secs(pause);
    config
}

#[test]
fn stations_walk_straight_at_their_speed_and_pause() {
    let mut net = Net::new(&walking((10.0, 20.0), 2), &[(500.0, 500.0), (100.0, 100.0)], 4);
    let mut places = Vec::new();
    for _ in 0..6000 {
        net.run(0.1);
        places.push(net.radio.position(StationId(0)));
    }
    let speeds: Vec<f64> = places.windows(2).map(|w| w[0].distance(w[1]) / 0.1).collect();
    assert!(speeds.iter().all(|speed| *speed <= 20.0 + 1e-6), "nothing jumps");
    assert!(speeds[..18].iter().all(|speed| *speed == 0.0), "it pauses 2 s first");
    let whole = speeds.iter().filter(|speed| **speed >= 10.0 - 1e-6).count();
    let still = speeds.iter().filter(|speed| **speed == 0.0).count();
    // A leg of half a kilometre takes some 35 s, a pause 2 s; steps at the ends of legs are neither.
    assert!(whole > 5000 && still > 18 * 8 && whole + still > 5900, "{whole} walking, {still} still");
    assert!(places.iter().all(|p| (0.0..=1000.0).contains(&p.x) && (0.0..=1000.0).contains(&p.y)));
}

#[test]
fn an_area_without_extent_is_walked_to_and_stayed_at() {
    let mut config = walking((10.0, 10.0), 0);
    (config.mobility.area_x, config.mobility.area_y) = (-30.0, -40.0);
    (config.mobility.area_width, config.mobility.area_height) = (0.0, 0.0);
    let mut net = Net::new(&config, &[(0.0, 0.0), (-30.0, -40.0)], 1);
    // 50 m at 10 m/s.
    net.run(4.9);
    let far = net.radio.position(StationId(0)).distance(Position { x: -30.0, y: -40.0 });
    assert!((far - 1.0).abs() < 1e-6, "{far} m to go");
    net.run(60.0);
    assert!((0..2).all(|id| net.radio.position(StationId(id)) == Position { x: -30.0, y: -40.0 }));
}

#[test]
fn an_area_may_lie_anywhere() {
    let mut config = walking((10.0, 20.0), 0);
    (config.mobility.area_x, config.mobility.area_y) = (-500.0, -50.0);
    (config.mobility.area_width, config.mobility.area_height) = (400.0, 10.0);
    let mut net = Net::new(&config, &[(-500.0, -50.0), (-100.0, -40.0)], 1);
    for _ in 0..3000 {
        net.run(0.1);
        let Position { x, y } = net.radio.position(StationId(0));
        assert!((-500.0..=-100.0).contains(&x) && (-50.0..=-40.0).contains(&y), "{x}, {y}");
    }
}

#[test]
fn neighbours_follow_the_stations() {
    // Both walk in a corner of 50 m, but the second starts far from it.
    let mut config = walking((50.0, 50.0), 0);
    (config.mobility.area_width, config.mobility.area_height) = (50.0, 50.0);
    let mut net = Net::new(&config, &[(0.0, 0.0), (1000.0, 0.0)], 1);
    assert_eq!(net.radio.graph().mean_degree(), 0.0);
    net.saturate(0, to(1), 1000);
    net.run(5.0);
    assert_eq!(net.received[1], 0, "still 750 m away at least");
    net.run(20.0);
    assert_eq!(net.radio.graph().mean_degree(), 1.0);
    assert!(net.received[1] > 1000);
}

#[test]
fn without_mobility_nothing_is_asked_for() {
    let mut out = RadioOutput::default();
    let places = vec![Position::default(); 3];
    let radio: Radio<u64> = Radio::new(&RadioConfig::default(), places, &Seeds::new(1, 0), "radio");
    radio.start(&mut out);
    assert!(out.alarms.is_empty());
    // Stations at one place are in range of each other.
    assert_eq!(radio.graph().mean_degree(), 2.0);
}

#[test]
fn values_that_do_not_go_together_are_refused() {
    let wrong = |change: fn(&mut RadioConfig)| {
        let mut config = RadioConfig::default();
        change(&mut config);
        config.check().expect_err("does not go together").to_string()
    };
    assert!(RadioConfig::default().check().is_ok());
    assert_eq!(wrong(|c| c.medium.sense_range = 100.0), "sense_range is shorter than reception_range");
    assert_eq!(wrong(|c| c.dcf.cw_min = 2000), "cw_max is less than cw_min");
    assert_eq!(wrong(|c| c.mobility.speed_min = 1.0), "speed_max is less than speed_min");
}

#[test]
fn a_configuration_is_set_by_its_keys() {
    use strandcast_keys::Keyed as _;
    let mut config = RadioConfig::default();
    for (key, value) in
        [("data-rate", "5.5"), ("propagation", "free-space"), ("speed-max", "3"), ("slot", "9")]
    {
        assert_eq!(config.set(key, value), Ok(true), "{key}");
        assert_eq!(config.get(key).as_deref(), Some(value));
    }
    assert_eq!(config.dcf.data_rate.bps(), 5_500_000);
    // Every key reads its own output.
    for key in config.keys() {
        let text = config.get(key.name).expect("its value");
        assert_eq!(config.clone().set(key.name, &text), Ok(true), "{} = {text}", key.name);
    }
}
