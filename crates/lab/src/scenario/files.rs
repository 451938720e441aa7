//! The files that a scenario refers to.

use super::model::{App, Direction, Flow, Frames, Link, Loss, Scenario};
use super::radio::Placement;
use super::value::{LinkRate, Number, TraceFile};

impl Scenario {
    /// Returns every file to which the scenario refers. A file occurs once for each reference.
    pub fn files(&self) -> Vec<&TraceFile> {
        let mut found = Vec::new();
        for Link { forward, reverse, .. } in self.links.values() {
            for direction in [forward, reverse] {
                of_direction(direction, &mut found);
            }
        }
        for Flow { app, start, .. } in self.flows.values() {
            of_number(start, &mut found);
            match app {
                App::Cbr { rate, .. } | App::Poisson { rate, .. } | App::OnOff { rate, .. } => {
                    of_number(rate, &mut found);
                }
                App::Video(video) => match &video.frames {
                    Frames::Trace { file, .. } => found.push(file),
                    Frames::Live { spacing, .. } => of_number(spacing, &mut found),
                    Frames::Constant { .. } => {}
                },
                App::Bulk { .. } | App::Finite { .. } => {}
            }
        }
        for radio in self.radio.values() {
            if let Placement::File { file, .. } = &radio.place {
                found.push(file);
            }
        }
        self.cross.values().for_each(|cross| of_number(&cross.load, &mut found));
        found
    }
}

fn of_direction<'a>(direction: &'a Direction, found: &mut Vec<&'a TraceFile>) {
    match &direction.rate {
        LinkRate::Number(rate) => of_number(rate, found),
        LinkRate::Opportunities { file } => found.push(file),
        LinkRate::Recorded { files, .. } => found.extend(files),
        LinkRate::Infinite => {}
    }
    of_number(&direction.delay, found);
    for loss in direction.loss.values() {
        match loss {
            Loss::Uniform { rate } => of_number(rate, found),
            Loss::Snr { snr, .. } => of_number(snr, found),
            Loss::List { file, .. } => found.push(file),
            Loss::MarkovByPacket { .. } | Loss::MarkovByTime { .. } => {}
        }
    }
}

fn of_number<'a>(number: &'a Number, found: &mut Vec<&'a TraceFile>) {
    match number {
        Number::Trace { file, .. } => found.push(file),
        Number::Traces { files, .. } => found.extend(files),
        Number::Caused { number, .. } => of_number(number, found),
        Number::Constant(_) | Number::Uniform { .. } | Number::Steps(_) | Number::Drawn { .. } => {}
    }
}
